//! One of the 64 parts the state is cut into, by unordered address pair: all streams, connections and findings between two
//! hosts meet here, and no part asks another one.

use crate::Time;
use crate::encap::{Carrier, Located};
use crate::event::{Event, EventKind};
use crate::finding::{self, Findings, View};
use crate::flow::answer::{Answer, AnswerKind};
use crate::flow::cm::{CmBook, Managed};
use crate::flow::pairing::{self, Unpaired};
use crate::flow::stream::{Icrc, PacketFacts, Stream, StreamKey};
use crate::flow::table::Table;
use crate::report::{
    EcnCounts, EndedBy, Finding, FrameRef, IcrcCounts, PairedBy, RequesterTotals, Subject,
};
use crate::settings::Settings;
use rocescope_wire::{
    AethKind, Opcode, Operation, Part, Qpn, Reth, Role, Transport, TransportPacket, cm::CmMessage,
    icrc,
};
use std::sync::Arc;

const CNP: Opcode = Opcode(0x81);
/// A jump of this many PSNs at the start of a message may mean a new owner of the QPN.
pub(crate) const REUSE_JUMP: i32 = 1 << 16;
/// Packets held back until it is known.
const MOST_HELD: usize = 256;
/// "Near 0" for the message sequence number of a new connection.
const YOUNG_MSN: u32 = 64;

/// A packet of the transport as it comes from a source.
#[derive(Clone, Copy, Debug)]
pub struct PacketInput<'a> {
    /// Where the transport begins, and what is around it.
    pub located: Located<'a>,
    /// When the frame was captured.
    pub at: Time,
    /// Which frame it is.
    pub frame: FrameRef,
    /// Source and interface, as one number.
    pub port: u32,
    /// Octets of the frame on the wire.
    pub wire_len: u32,
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
    pub(crate) icrc: IcrcCounts,
    pub(crate) ecn: EcnCounts,
    pub(crate) streams: u64,
    pub(crate) evicted: u64,
    pub(crate) idle: u64,
    pub(crate) folded: RequesterTotals,
    /// Frames with a bad ICRC whose stream is not known.
    pub(crate) bad_without_stream: u64,
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
    events: Vec<Event>,
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
            events: Vec::new(),
        }
    }

    /// Streams held.
    #[must_use]
    pub fn streams(&self) -> usize {
        self.table.len()
    }

    /// One packet, in the order of the input.
    pub fn packet(&mut self, input: &PacketInput<'_>) {
        let located = &input.located;
        let reading = self.settings.read_0x40_as;
        let Some(packet) =
            TransportPacket::decode_as(located.transport, located.wire_len as usize, reading)
        else {
            self.totals.undecodable += 1;
            return;
        };
        let icrc = self.check_icrc(located, &packet);
        let facts = facts_of(input, &packet, icrc);
        let key = StreamKey {
            src: located.src,
            dst: located.dst,
            dest_qpn: packet.dest_qpn(),
        };
        let known = self.table.find(&key);
        if self.is_second_sighting(known, &facts) {
            self.totals.second_sightings += 1;
            return;
        }
        self.count(located.carrier, &facts);
        if icrc == Icrc::Bad {
            self.damaged(known, &facts, &packet, located);
            return;
        }
        let id = known.unwrap_or_else(|| self.create(key, &facts));
        self.table.touch(id);
        match packet.fault() {
            Some(fault) => {
                self.totals.malformed += 1;
                self.events.push(facts.event(EventKind::Malformed(fault)));
                if fault.is_in_headers() {
                    if let Some(stream) = self.table.get_mut(id) {
                        stream.count(&facts);
                    }
                } else {
                    self.dispatch(id, &facts, &packet);
                }
            }
            None => self.dispatch(id, &facts, &packet),
        }
        if !self.events.is_empty() {
            self.detect(id);
        }
    }

    fn count(&mut self, carrier: Carrier, facts: &PacketFacts) {
        let totals = &mut self.totals;
        match carrier {
            Carrier::RoceV1 => totals.roce_v1 += 1,
            Carrier::RoceV2Ipv4 | Carrier::RoceV2Ipv6 => totals.roce_v2 += 1,
        }
        totals.cnp += u64::from(facts.opcode == CNP);
        match facts.icrc {
            Icrc::Good => totals.icrc.good += 1,
            Icrc::Bad => totals.icrc.bad += 1,
            Icrc::Unverifiable => totals.icrc.unverifiable += 1,
        }
        match facts.ecn & 3 {
            0 => totals.ecn.not_ect += 1,
            1 => totals.ecn.ect1 += 1,
            2 => totals.ecn.ect0 += 1,
            _ => totals.ecn.ce += 1,
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

    /// A whole frame with a bad ICRC: any bit of it may be wrong, so it moves nothing and opens no stream.
    fn damaged(
        &mut self,
        known: Option<u32>,
        facts: &PacketFacts,
        packet: &TransportPacket<'_>,
        located: &Located<'_>,
    ) {
        let Some(stream) = known.and_then(|id| self.table.get_mut(id)) else {
            self.totals.bad_without_stream += 1;
            return;
        };
        stream.count(facts);
        let request = facts.info.role == Role::Request;
        if request && matches!(facts.info.transport, Transport::Rc | Transport::Xrc) {
            stream.requester.on_damaged(facts.psn);
        }
        let hint = icrc::hint(
            icrc_carrier(located.carrier),
            located.network,
            packet.octets(),
        );
        self.events
            .push(facts.event(EventKind::BadIcrc { hint, request }));
        if let Some(id) = known {
            self.detect(id);
        }
    }

    fn dispatch(&mut self, id: u32, facts: &PacketFacts, packet: &TransportPacket<'_>) {
        match (facts.info.role, facts.info.transport) {
            (Role::Request, Transport::Rc | Transport::Xrc | Transport::Uc) => {
                self.request(id, facts, packet);
            }
            (Role::Response, Transport::Rc | Transport::Xrc) => self.response(id, facts, packet),
            (_, transport) => {
                let Some(stream) = self.table.get_mut(id) else {
                    return;
                };
                stream.count(facts);
                stream.cnps += u64::from(transport == Transport::Cnp);
                if let Some(deth) = packet.deth() {
                    stream.count_source_qpn(deth.src_qpn());
                }
                if facts.info.transport == Transport::Ud && packet.dest_qpn() == Qpn::GSI {
                    self.management(id, facts, packet);
                }
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
        if let Some(stream) = self.table.get(id) {
            let peer = stream.peer.and_then(|peer| self.table.get(peer));
            let view = View::new(stream, peer, &self.settings);
            let subject = || view.subject();
            let mut findings = Findings {
                open: &mut open,
                resolved: &mut self.resolved,
                subject: &subject,
            };
            for event in &events {
                finding::on_event(event, &view, &mut findings);
            }
        }
        if let Some(stream) = self.table.get_mut(id) {
            stream.open_findings = open;
        }
        self.events = events;
        self.events.clear();
    }
}


fn icrc_carrier(carrier: Carrier) -> icrc::Carrier {
    match carrier {
        Carrier::RoceV1 => icrc::Carrier::Grh,
        Carrier::RoceV2Ipv4 => icrc::Carrier::Ipv4,
        Carrier::RoceV2Ipv6 => icrc::Carrier::Ipv6,
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
