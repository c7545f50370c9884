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

    fn check_icrc(&self, located: &Located<'_>, packet: &TransportPacket<'_>) -> Icrc {
        if !self.settings.check_icrc || packet.is_cut() || located.cut_by_mirror {
            return Icrc::Unverifiable;
        }
        match icrc::check(
            icrc_carrier(located.carrier),
            located.network,
            packet.octets(),
        ) {
            icrc::IcrcState::Good => Icrc::Good,
            icrc::IcrcState::Bad { .. } => Icrc::Bad,
            icrc::IcrcState::Unverifiable => Icrc::Unverifiable,
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

    /// A MAD: connection management.
    fn management(&mut self, id: u32, facts: &PacketFacts, packet: &TransportPacket<'_>) {
        let Some(key) = self.table.get(id).map(|stream| stream.key) else {
            return;
        };
        let Some(message) = packet.mad().and_then(CmMessage::decode) else {
            return;
        };
        match self.cm.on_message(key.src, key.dst, &message) {
            Managed::Connected(streams) => self.connected(streams, facts),
            Managed::Disconnected(streams) => {
                for key in streams {
                    if let Some(stream) =
                        self.table.find(&key).and_then(|id| self.table.get_mut(id))
                    {
                        stream.disconnected = Some(facts.at);
                    }
                }
            }
            Managed::Nothing => {}
        }
    }

    /// CM set up two queue pairs: whoever used their numbers before is gone.
    fn connected(&mut self, streams: [StreamKey; 2], facts: &PacketFacts) {
        for key in streams {
            if let Some(old) = self.table.find(&key) {
                self.release(old);
                self.table.retire(old);
                if let Some(stream) = self.table.get_mut(old) {
                    stream.disconnected.get_or_insert(facts.at);
                    self.unpaired.remove(old, stream);
                }
            }
        }
    }

    fn request(&mut self, id: u32, facts: &PacketFacts, packet: &TransportPacket<'_>) {
        if self.holds(id, facts) {
            return;
        }
        self.accept_request(id, facts);
        self.check_request(facts, packet, id);
    }

    fn accept_request(&mut self, id: u32, facts: &PacketFacts) {
        let Some(stream) = self.table.get_mut(id) else {
            return;
        };
        stream.count(facts);
        if stream.requester.is_behind(facts)
            && let Some(sighting) = stream
                .recent
                .sighting(facts, stream.requester.ids.count_up())
            && !stream.requester.asked_again_since(facts.psn, sighting.at)
        {
            stream.requester.on_copy(sighting);
            stream.count_copy(facts);
            return;
        }
        stream.requester.on_request(facts, &mut self.events);
        stream.requester.repairing.sent(facts.at);
        stream.recent.push(facts);
    }

    /// What a request says of itself that cannot be.
    fn check_request(&mut self, facts: &PacketFacts, packet: &TransportPacket<'_>, id: u32) {
        let Some(stream) = self.table.get_mut(id) else {
            return;
        };
        let info = facts.info;
        if matches!(info.part, Part::First | Part::Middle) {
            stream.requester.learn_pmtu(facts.payload_len);
        }
        let pmtu = stream.requester.pmtu;
        let wrong = pmtu > 0
            && facts.payload_len != pmtu
            && matches!(info.part, Part::First | Part::Middle);
        let exceeds = pmtu > 0 && facts.payload_len > pmtu;
        let empty = info.part == Part::Last && facts.payload_len == 0;
        if wrong || exceeds || empty {
            self.events.push(facts.event(EventKind::Length {
                payload: facts.payload_len,
                pmtu,
                exceeds,
            }));
        }
        if let Some(reth) = packet.reth() {
            let (va, dma_len) = (reth.va(), reth.dma_len());
            if dma_len > 1 << 31
                || (dma_len > 0 && va.checked_add(u64::from(dma_len) - 1).is_none())
            {
                self.events
                    .push(facts.event(EventKind::AddressRange { va, dma_len }));
            }
        }
    }

    fn response(&mut self, id: u32, facts: &PacketFacts, packet: &TransportPacket<'_>) {
        let msn = packet.aeth().map(|aeth| aeth.msn().0);
        let id = self.reuse_by_answer(id, facts, msn).unwrap_or(id);
        let Some(stream) = self.table.get_mut(id) else {
            return;
        };
        stream.count(facts);
        let advances = stream
            .responder
            .highest
            .is_none_or(|highest| facts.psn.since(highest) > 0);
        if !advances
            && stream
                .recent
                .sighting(facts, stream.requester.ids.count_up())
                .is_some()
        {
            stream.responder.packets += 1;
            stream.responder.mirror_duplicates += 1;
            stream.count_copy(facts);
            stream.responder.count_kind(packet);
            return;
        }
        let older = stream.requester.ids.is_older(facts);
        stream.requester.ids.learn(facts, advances);
        if advances {
            stream.responder.highest = Some(facts.psn);
        }
        stream.recent.push(facts);
        stream.responder.packets += 1;
        stream.responder.count_kind(packet);
        let Some(kind) = kind_of(facts, packet, older) else {
            return;
        };
        let answer = Answer {
            kind,
            psn: facts.psn,
            at: facts.at,
            frame: facts.frame,
        };
        self.answer(id, answer);
    }

    /// An answer goes to the requests it answers, once it is known whose they are.
    fn answer(&mut self, id: u32, answer: Answer) {
        let Some(stream) = self.table.get_mut(id) else {
            return;
        };
        if let Some(peer) = stream.peer {
            self.give_answer(peer, &answer);
            return;
        }
        pairing::wait(stream, &answer);
        if let Some(other) = pairing::court(&mut self.table.streams, &self.unpaired, id, &answer) {
            self.pair(id, other, PairedBy::Inferred);
        }
    }

    fn give_answer(&mut self, requests_of: u32, answer: &Answer) {
        // Events of this packet so far belong to the stream that carries it.
        let carried = core::mem::take(&mut self.events);
        if let Some(stream) = self.table.get_mut(requests_of) {
            stream.requester.on_answer(answer, &mut self.events);
        }
        if !self.events.is_empty() {
            self.detect(requests_of);
        }
        self.events = carried;
    }

    /// Joins two streams; the answers that waited reach their requests now.
    pub(crate) fn pair(&mut self, a: u32, b: u32, by: PairedBy) {
        let Some((one, other)) = self.table.pair_mut(a, b) else {
            return;
        };
        if one.peer.is_some() || other.peer.is_some() {
            return;
        }
        (one.peer, other.peer) = (Some(b), Some(a));
        (one.paired_by, other.paired_by) = (Some(by), Some(by));
        (one.requester.paired, other.requester.paired) = (true, true);
        self.unpaired.remove(a, one);
        self.unpaired.remove(b, other);
        let agreed = self
            .cm
            .of(one.key.dst, one.key.dest_qpn)
            .map_or(0, |conversation| conversation.facts.pmtu);
        let pmtu = one
            .requester
            .pmtu
            .max(other.requester.pmtu)
            .max(if by == PairedBy::Cm { agreed } else { 0 });
        one.requester.learn_pmtu(pmtu);
        other.requester.learn_pmtu(pmtu);
        let (from_one, from_other) = (one.courting.take(), other.courting.take());
        for answer in from_one.into_iter().flat_map(|courting| courting.waiting) {
            self.give_answer(b, &answer);
        }
        for answer in from_other.into_iter().flat_map(|courting| courting.waiting) {
            self.give_answer(a, &answer);
        }
    }

    // Reuse of a QPN --------------------------------------------------------------------------------------------------

    /// Whether the packet is held back because it may belong to a new owner of the QPN.
    fn holds(&mut self, id: u32, facts: &PacketFacts) -> bool {
        let Some(stream) = self.table.get_mut(id) else {
            return false;
        };
        if !stream.requester.started {
            return false;
        }
        let jump = facts.psn.since(stream.requester.high);
        let far = !(-REUSE_JUMP..=REUSE_JUMP).contains(&jump);
        if let Some(last) = stream.held.last() {
            let near = (-REUSE_JUMP..=REUSE_JUMP).contains(&facts.psn.since(last.psn));
            if far && near && stream.held.len() < MOST_HELD {
                stream.held.push(facts.clone());
                return true;
            }
            self.release(id);
            return false;
        }
        if stream.disconnected.is_some() && jump != 1 && facts.info.part.begins() && far {
            let new = self.renew(id, facts);
            self.accept_request(new, facts);
            return true;
        }
        if far && facts.info.part.begins() && (stream.peer.is_some() || stream.paired_by.is_some())
        {
            stream.held.push(facts.clone());
            return true;
        }
        false
    }

    /// What was held back belongs to the old owner after all.
    pub(crate) fn release(&mut self, id: u32) {
        let Some(stream) = self.table.get_mut(id) else {
            return;
        };
        for facts in core::mem::take(&mut stream.held) {
            self.accept_request(id, &facts);
        }
    }

    /// An answer decides about packets held back: if its message sequence number starts anew, so did the connection.
    /// Returns the new stream of answers.
    fn reuse_by_answer(
        &mut self,
        answers: u32,
        facts: &PacketFacts,
        msn: Option<u32>,
    ) -> Option<u32> {
        let requests = self.table.get(answers)?.peer?;
        let held = &self.table.get(requests)?.held;
        let (first, last) = (held.first()?.psn, held.last()?.psn);
        if facts.psn.since(first) < 0 || facts.psn.since(last) > 0 {
            return None;
        }
        if msn.is_none_or(|msn| msn > YOUNG_MSN) {
            self.release(requests);
            return None;
        }
        let held = core::mem::take(&mut self.table.get_mut(requests)?.held);
        let new_answers = self.renew(answers, facts);
        let new_requests = self.renew(requests, held.first()?);
        for facts in held {
            self.accept_request(new_requests, &facts);
        }
        self.pair(new_requests, new_answers, PairedBy::Inferred);
        Some(new_answers)
    }

    /// A new stream takes over the key of `id`.
    pub(crate) fn renew(&mut self, id: u32, facts: &PacketFacts) -> u32 {
        let Some(key) = self.table.get(id).map(|stream| stream.key) else {
            return id;
        };
        self.table.retire(id);
        if let Some(stream) = self.table.get(id) {
            self.unpaired.remove(id, stream);
        }
        self.totals.streams += 1;
        let new = self.table.insert(Box::new(Stream::new(key, facts)));
        if let Some(stream) = self.table.get(new) {
            self.unpaired.insert(new, stream);
        }
        new
    }

    // Detectors -------------------------------------------------------------------------------------------------------

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

    // The end ---------------------------------------------------------------------------------------------------------

    /// Settles everything open on a stream as it stands.
    pub(crate) fn settle_stream(&mut self, id: u32, now: Time) {
        self.release(id);
        let Some(stream) = self.table.get_mut(id) else {
            return;
        };
        let requests = &mut stream.requester;
        requests.decide(None, now, &mut self.events);
        requests.finish_repairs(now, &mut self.events);
        requests.close_ahead(&mut self.events);
        requests.close_gaps(stream.last_frame, stream.last_at, &mut self.events);
        if !self.events.is_empty() {
            self.detect(id);
        }
    }

    /// Tells the detectors that a stream is over, and ends its findings.
    pub(crate) fn close_stream(&mut self, id: u32, now: Time, by: EndedBy) {
        let Some(stream) = self.table.get(id) else {
            return;
        };
        self.events.push(Event {
            at: stream.last_at,
            frame: stream.last_frame,
            kind: EventKind::Closed,
        });
        self.detect(id);
        if let Some(stream) = self.table.get_mut(id) {
            let open = core::mem::take(&mut stream.open_findings);
            self.resolved
                .extend(open.into_iter().map(|open| open.end(now, by)));
        }
    }

    /// Lets the least recently seen streams go until `quota` are left; their counts go into the sums.
    pub fn trim(&mut self, quota: usize, now: Time) {
        while self.table.len() > quota {
            let Some(id) = self.table.oldest() else {
                return;
            };
            self.evict(id, now);
            self.totals.evicted += 1;
        }
    }

    fn evict(&mut self, id: u32, now: Time) {
        self.settle_stream(id, now);
        self.close_stream(id, now, EndedBy::Closed);
        if let Some(stream) = self.table.get(id) {
            self.unpaired.remove(id, stream);
        }
        let Some(stream) = self.table.remove(id) else {
            return;
        };
        if let Some(peer) = stream.peer.and_then(|peer| self.table.get_mut(peer)) {
            peer.peer = None;
        }
        crate::outcome::fold(&mut self.totals.folded, &stream);
    }
}

fn icrc_carrier(carrier: Carrier) -> icrc::Carrier {
    match carrier {
        Carrier::RoceV1 => icrc::Carrier::Grh,
        Carrier::RoceV2Ipv4 => icrc::Carrier::Ipv4,
        Carrier::RoceV2Ipv6 => icrc::Carrier::Ipv6,
    }
}

/// What a response packet says; `None` where it was cut before its AETH or says nothing known.
fn kind_of(facts: &PacketFacts, packet: &TransportPacket<'_>, older: bool) -> Option<AnswerKind> {
    let payload = facts.payload_len;
    match facts.info.operation {
        Operation::RdmaReadResponse => {
            let teaches_pmtu = matches!(facts.info.part, Part::First | Part::Middle);
            Some(AnswerKind::Response {
                payload,
                teaches_pmtu,
                older,
            })
        }
        Operation::AtomicAcknowledge => Some(AnswerKind::Response {
            payload: 0,
            teaches_pmtu: false,
            older,
        }),
        Operation::Acknowledge => match packet.aeth()?.kind() {
            AethKind::Ack { credits } => Some(AnswerKind::Ack { credits }),
            AethKind::RnrNak { timer } => Some(AnswerKind::Rnr(timer)),
            AethKind::Nak(code) => Some(AnswerKind::Nak(code)),
            AethKind::Reserved(_) => None,
        },
        _ => None,
    }
}

/// What the analysis needs of a packet.
#[inline]
fn facts_of(input: &PacketInput<'_>, packet: &TransportPacket<'_>, icrc: Icrc) -> PacketFacts {
    let located = &input.located;
    PacketFacts {
        at: input.at,
        frame: input.frame,
        port: input.port,
        opcode: packet.opcode(),
        info: packet
            .info
            .or_else(|| CNP.info())
            .expect("the table knows CNP"),
        psn: packet.psn(),
        ack_req: packet.bth.ack_req(),
        migreq: packet.bth.migreq(),
        signature: signature_of(packet),
        path: path_of(located),
        ip_id: located.ip_id,
        transport_len: located.wire_len,
        wire_len: input.wire_len,
        payload_len: packet.payload_len() as u32,
        dma_len: packet.reth().map(Reth::dma_len),
        ecn: located.traffic_class & 3,
        dscp: located.traffic_class >> 2,
        pcp: located.vlan.map(|vlan| vlan.pcp),
        vlan: located.vlan.map(|vlan| vlan.vid),
        udp_source_port: located.udp_source_port,
        icrc,
    }
}

/// The ICRC; of a cut frame a checksum of what was captured, without the octet that routers may change.
#[inline]
fn signature_of(packet: &TransportPacket<'_>) -> u32 {
    if let Some(icrc) = packet.icrc() {
        return icrc;
    }
    let octets = packet.octets();
    let mut crc = crc32fast::Hasher::new();
    crc.update(octets.get(..4).unwrap_or_default());
    crc.update(octets.get(5..).unwrap_or_default());
    crc.finalize()
}

/// TTL, MAC addresses and VLAN: they differ between two points of the network.
#[inline]
fn path_of(located: &Located<'_>) -> u32 {
    let [a, b, c, d, e, f, g, h, i, j, k, l] = located.macs;
    let macs = u32::from_ne_bytes([a, b, c, d])
        ^ u32::from_ne_bytes([e, f, g, h]).rotate_left(11)
        ^ u32::from_ne_bytes([i, j, k, l]).rotate_left(22);
    let vlan = located.vlan.map_or(0, |vlan| u32::from(vlan.vid) << 8);
    macs ^ (vlan | u32::from(located.hop_limit)).wrapping_mul(0x9e37_79b1)
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
