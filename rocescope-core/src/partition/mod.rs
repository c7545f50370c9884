//! One of the 64 parts the state is cut into, by unordered address pair: all streams, connections and findings between two
//! hosts meet here, and no part asks another one.

mod answer;
mod damage;
mod facts;
mod life;
mod management;
mod request;
mod reuse;
mod run;
#[cfg(test)]
mod tests;

use crate::Time;
use crate::encap::{Carrier, Located};
use crate::event::{Event, EventKind};
use crate::finding::{self, Findings, Strays, View};
use crate::flow::cm::CmBook;
use crate::flow::pairing::Unpaired;
use crate::flow::stream::{PacketFacts, Stream, StreamKey};
use crate::flow::table::Table;
use crate::report::{EcnCounts, Finding, FrameRef, IcrcCounts, PairedBy, RequesterTotals, Subject};
use crate::settings::Settings;
use facts::facts_of;
use rocescope_wire::{Fault, Opcode, Qpn, Role, Transport, TransportPacket};
use std::sync::Arc;

pub use crate::flow::requester::Class;
pub use crate::flow::stream::Icrc;
pub use damage::check_icrc;
pub use run::{Fold, Run};

/// Times in which a capture lost frames, remembered.
const MOST_LOST: usize = 64;

/// A packet of the transport as it comes from a source.
#[derive(Clone, Copy, Debug)]
pub struct PacketInput<'a> {
    /// Where the transport begins, and what is around it.
    pub located: &'a Located<'a>,
    /// When the frame was captured.
    pub at: Time,
    /// Which frame it is.
    pub frame: FrameRef,
    /// Source and interface, as one number.
    pub port: u32,
    /// Octets of the frame on the wire.
    pub wire_len: u32,
    /// State of its ICRC, where somebody checked it already.
    pub icrc: Option<Icrc>,
}

/// What a packet was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Fewer octets than a BTH.
    Undecodable,
    /// Captured at another interface or in another file before: not counted again.
    SecondSighting,
    /// A whole frame with a bad ICRC.
    Damaged,
    /// Headers that cannot be relied on.
    Malformed,
    /// A request.
    Request(Class),
    /// An answer.
    Answer,
    /// A second sighting of an answer.
    AnswerCopy,
    /// A datagram, a notification, or of a transport without state here.
    Other,
}

/// Sums over the packets of a partition.
#[derive(Clone, Copy, Default, Debug)]
pub struct PacketTotals {
    pub(crate) roce_v1: u64,
    pub(crate) roce_v2: u64,
    pub(crate) cnp: u64,
    pub(crate) undecodable: u64,
    pub(crate) malformed: u64,
    pub(crate) second_sightings: u64,
    /// Of packets without a stream and of streams that left.
    pub(crate) icrc: IcrcCounts,
    /// Of packets without a stream and of streams that left.
    pub(crate) ecn: EcnCounts,
    pub(crate) streams: u64,
    pub(crate) evicted: u64,
    pub(crate) idle: u64,
    pub(crate) folded: RequesterTotals,
}

/// The state of the pairs of hosts that fall into this part.
#[derive(Debug)]
pub struct Partition {
    pub(crate) settings: Arc<Settings>,
    pub(crate) table: Table,
    pub(crate) unpaired: Unpaired,
    pub(crate) cm: CmBook,
    pub(crate) totals: PacketTotals,
    pub(crate) resolved: Vec<Finding>,
    /// Bad ICRCs of streams that are not known.
    pub(crate) strays: Strays,
    /// Time of the input.
    pub(crate) now: Time,
    /// Times in which the capture lost frames.
    lost: Vec<(Time, Time)>,
    events: Vec<Event>,
    /// Findings the latest packet was evidence for.
    raised: Vec<&'static str>,
    /// Packets whose class was left open, now decided.
    decided: Vec<(FrameRef, Class)>,
}

impl Partition {
    /// An empty part.
    #[must_use]
    pub fn new(settings: Arc<Settings>) -> Self {
        Self {
            settings,
            table: Table::default(),
            unpaired: Unpaired::default(),
            cm: CmBook::default(),
            totals: PacketTotals::default(),
            resolved: Vec::new(),
            strays: Strays::default(),
            now: Time::default(),
            lost: Vec::new(),
            events: Vec::new(),
            raised: Vec::new(),
            decided: Vec::new(),
        }
    }

    /// Streams held.
    #[must_use]
    pub fn streams(&self) -> usize {
        self.table.len()
    }

    /// The capture lost frames between `from` and `until`: what is missing there is missing here, not on the network.
    pub fn lost(&mut self, from: Time, until: Time) {
        if self.lost.len() == MOST_LOST {
            self.lost.remove(0);
        }
        self.lost.push((from, until));
    }

    /// Findings that the latest packet was evidence for.
    #[must_use]
    pub fn raised(&self) -> &[&'static str] {
        &self.raised
    }

    /// Takes out the packets whose class was left open and is decided now.
    pub fn take_decided(&mut self) -> Vec<(FrameRef, Class)> {
        core::mem::take(&mut self.decided)
    }

    /// One packet, in the order of the input.
    pub fn packet(&mut self, input: &PacketInput<'_>) -> Verdict {
        self.raised.clear();
        self.now = input.at;
        let located = input.located;
        let reading = self.settings.read_0x40_as;
        let Some(packet) =
            TransportPacket::decode_as(located.transport, located.wire_len as usize, reading)
        else {
            self.totals.undecodable += 1;
            return Verdict::Undecodable;
        };
        let icrc = input
            .icrc
            .unwrap_or_else(|| check_icrc(&self.settings, located));
        let facts = facts_of(input, &packet, icrc);
        let key = StreamKey {
            src: located.src,
            dst: located.dst,
            dest_qpn: packet.dest_qpn(),
        };
        let known = self.table.find(&key);
        self.count(located.carrier);
        if icrc != Icrc::Bad
            && let Some(id) = known
            && packet.fault().is_none()
            && self.goes_on(id, &facts, &packet)
        {
            return Verdict::Request(Class::New);
        }
        self.consider(input, known, key, &facts, &packet)
    }

    /// A request that goes on where its sender left off, with nothing open on its stream: nearly all of a healthy network.
    /// False where it is anything else; then nothing was done.
    #[inline]
    fn goes_on(&mut self, id: u32, facts: &PacketFacts, packet: &TransportPacket<'_>) -> bool {
        self.table.touch(id);
        let Some(stream) = self.table.get_mut(id) else {
            return false;
        };
        let seamless = facts.info.role == Role::Request
            && stream.recent.only_port(facts.port)
            && stream.held.is_empty()
            && stream.requester.is_seamless(facts);
        if !seamless {
            return false;
        }
        stream.count(facts);
        stream.requester.on_seamless(facts, &mut self.events);
        stream.requester.repairing.sent(facts.at);
        stream.recent.push(facts);
        request::check(stream, facts, packet, &mut self.events);
        if !self.events.is_empty() {
            self.detect(id);
        }
        true
    }

    /// A packet that is not simply the next one.
    fn consider(
        &mut self,
        input: &PacketInput<'_>,
        known: Option<u32>,
        key: StreamKey,
        facts: &PacketFacts,
        packet: &TransportPacket<'_>,
    ) -> Verdict {
        if self.is_second_sighting(known, facts) {
            self.totals.second_sightings += 1;
            self.uncount(input.located.carrier);
            return Verdict::SecondSighting;
        }
        self.totals.cnp += u64::from(facts.opcode == Opcode::CNP);
        if facts.icrc == Icrc::Bad {
            self.totals.malformed += u64::from(packet.fault().is_some());
            self.damaged(known, facts, packet, input.located);
            return Verdict::Damaged;
        }
        let id = known.unwrap_or_else(|| self.create(key, facts));
        self.table.touch(id);
        let behind = self
            .table
            .get(id)
            .is_some_and(|stream| stream.requester.is_behind(facts));
        let mut facts = std::borrow::Cow::Borrowed(facts);
        if behind && facts::ip_header_is_damaged(input.located) {
            // A flipped bit may be in the id, and a wrong id makes order out of nothing.
            facts.to_mut().ip_id = None;
        }
        let facts = facts.as_ref();
        let verdict = match packet.fault() {
            Some(fault) => self.faulty(id, facts, packet, fault),
            None => self.dispatch(id, facts, packet),
        };
        if !self.events.is_empty() {
            self.detect(id);
        }
        verdict
    }

    /// A packet with a fault of its own: it counts, and where its headers hold it takes part.
    fn faulty(
        &mut self,
        id: u32,
        facts: &PacketFacts,
        packet: &TransportPacket<'_>,
        fault: Fault,
    ) -> Verdict {
        self.totals.malformed += 1;
        self.events.push(facts.event(EventKind::Malformed(fault)));
        if !fault.is_in_headers() {
            return self.dispatch(id, facts, packet);
        }
        if let Some(stream) = self.table.get_mut(id) {
            stream.count(facts);
        }
        Verdict::Malformed
    }

    #[inline]
    fn count(&mut self, carrier: Carrier) {
        match carrier {
            Carrier::RoceV1 => self.totals.roce_v1 += 1,
            Carrier::RoceV2Ipv4 | Carrier::RoceV2Ipv6 => self.totals.roce_v2 += 1,
        }
    }

    fn count_carrier(&mut self, v1: bool, packets: u64) {
        let total = if v1 {
            &mut self.totals.roce_v1
        } else {
            &mut self.totals.roce_v2
        };
        *total += packets;
    }

    /// The packet was counted when it was captured first.
    fn uncount(&mut self, carrier: Carrier) {
        match carrier {
            Carrier::RoceV1 => self.totals.roce_v1 -= 1,
            Carrier::RoceV2Ipv4 | Carrier::RoceV2Ipv6 => self.totals.roce_v2 -= 1,
        }
    }

    fn create(&mut self, key: StreamKey, facts: &PacketFacts) -> u32 {
        self.totals.streams += 1;
        let id = self.table.insert(Box::new(Stream::new(key, facts)));
        if matches!(facts.info.transport, Transport::Rc | Transport::Xrc) {
            if let Some(other) = self
                .cm
                .partner(&key)
                .and_then(|other| self.table.find(&other))
            {
                self.pair(id, other, PairedBy::Cm);
            } else if let Some(stream) = self.table.get(id) {
                self.unpaired.insert(id, stream);
            }
        }
        id
    }

    /// The same transmission, captured at another interface or in another file before.
    fn is_second_sighting(&self, known: Option<u32>, facts: &PacketFacts) -> bool {
        let Some(stream) = known.and_then(|id| self.table.get(id)) else {
            return false;
        };
        stream.recent.other_port(facts)
    }

    fn dispatch(&mut self, id: u32, facts: &PacketFacts, packet: &TransportPacket<'_>) -> Verdict {
        match (facts.info.role, facts.info.transport) {
            (Role::Request, Transport::Rc | Transport::Xrc | Transport::Uc) => {
                self.request(id, facts, packet)
            }
            (Role::Response, Transport::Rc | Transport::Xrc) => self.response(id, facts, packet),
            (_, transport) => {
                if let Some(stream) = self.table.get_mut(id) {
                    stream.count(facts);
                    stream.cnps += u64::from(transport == Transport::Cnp);
                    if let Some(deth) = packet.deth() {
                        stream.count_source_qpn(deth.src_qpn());
                    }
                }
                if transport == Transport::Ud && packet.dest_qpn() == Qpn::GSI {
                    self.management(id, facts, packet);
                }
                Verdict::Other
            }
        }
    }

    /// Hands the events of `id` to the detectors.
    pub(crate) fn detect(&mut self, id: u32) {
        let events = core::mem::take(&mut self.events);
        let Some(stream) = self.table.get_mut(id) else {
            return;
        };
        let mut open = core::mem::take(&mut stream.open_findings);
        let mut states = stream.detectors.take();
        if let Some(stream) = self.table.get(id) {
            let peer = stream.peer.and_then(|peer| self.table.get(peer));
            let view = View {
                stream,
                peer,
                table: &self.table,
                cm: &self.cm,
                settings: &self.settings,
                now: self.now,
            };
            let subject = || view.subject();
            let mut findings = Findings {
                open: &mut open,
                resolved: &mut self.resolved,
                raised: &mut self.raised,
                states: &mut states,
                subject: &subject,
            };
            for event in &events {
                if let EventKind::Decided(class) = event.kind {
                    self.decided.push((event.frame, class));
                }
                finding::on_event(event, &view, &mut findings);
            }
        }
        if let Some(stream) = self.table.get_mut(id) {
            stream.open_findings = open;
            stream.detectors = states;
        }
        self.events = events;
        self.events.clear();
    }
}

/// A subject for a stream, with its name inside the run and that of its hosts.
pub(crate) fn subject_of(stream: &Stream, peer: Option<&Stream>) -> (Subject, String, String) {
    let key = &stream.key;
    let subject = Subject::Stream {
        stream: None,
        src: key.src,
        dst: key.dst,
        dest_qpn: key.dest_qpn.get(),
        src_qpn: peer.map(|peer| peer.key.dest_qpn.get()),
        udp_source_port: stream.udp_source_port,
        dscp: stream.dscp,
        paired_by: stream.paired_by,
    };
    let name = format!(
        "{}>{} qpn {:#x} at {}",
        key.src,
        key.dst,
        key.dest_qpn.get(),
        stream.first_at.0
    );
    let hosts = if key.src <= key.dst {
        format!("{} {}", key.src, key.dst)
    } else {
        format!("{} {}", key.dst, key.src)
    };
    (subject, name, hosts)
}
