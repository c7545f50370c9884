//! Answers on their way from the stream that carries them to the requests they answer.

use super::{Partition, Verdict};
use crate::event::{Event, EventKind};
use crate::flow::answer::{Answer, AnswerKind};
use crate::flow::pairing;
use crate::flow::stream::PacketFacts;
use crate::report::PairedBy;
use rocescope_wire::transport::ICRC_LEN;
use rocescope_wire::{AethKind, Bth, NakCode, Operation, Part, TransportPacket};

/// Octets of pad a packet may have.
const MOST_PAD: u32 = 3;
/// Streams whose path MTU is compared with, so that many refusals cost no more than many streams.
const MOST_COMPARED: usize = 1_024;

impl Partition {
    pub(super) fn response(
        &mut self,
        id: u32,
        facts: &PacketFacts,
        packet: &TransportPacket<'_>,
    ) -> Verdict {
        let msn = packet.aeth().map(|aeth| aeth.msn().0);
        let id = self.reuse_by_answer(id, facts, msn).unwrap_or(id);
        let Some(stream) = self.table.get_mut(id) else {
            return Verdict::Answer;
        };
        let peer = stream.peer;
        stream.count(facts);
        let advances = stream
            .responder
            .highest
            .is_none_or(|highest| facts.psn.since(highest) > 0);
        let ids_count = stream.requester.ids.count_up();
        let sighting = match advances {
            true => None,
            false => stream.recent.sighting(facts, ids_count),
        };
        // Asked again, a responder says the same again: without IP ids that tell the two apart it is no copy.
        let asked_again = sighting.is_some_and(|sighting| {
            let requests = peer.and_then(|peer| self.table.get(peer));
            !ids_count
                && requests
                    .is_some_and(|requests| requests.requester.repairing.tried_since(sighting.at))
        });
        let Some(stream) = self.table.get_mut(id) else {
            return Verdict::Answer;
        };
        if sighting.is_some() && !asked_again {
            stream.responder.packets += 1;
            stream.responder.mirror_duplicates += 1;
            stream.count_copy(facts);
            stream.responder.count_kind(packet);
            return Verdict::AnswerCopy;
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
            return Verdict::Answer;
        };
        let answer = Answer {
            kind,
            psn: facts.psn,
            at: facts.at,
            frame: facts.frame,
        };
        self.answer(id, answer);
        Verdict::Answer
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
        if answer.kind == AnswerKind::Nak(NakCode::InvalidRequest) {
            self.events
                .extend(self.refused_for_its_length(requests_of, answer));
        }
        if !self.events.is_empty() {
            self.detect(requests_of);
        }
        self.events = carried;
    }

    /// An Only that its receiver refused, of a queue pair whose path MTU is not known, although larger than that of every
    /// other queue pair between these hosts.
    fn refused_for_its_length(&self, requests_of: u32, answer: &Answer) -> Option<Event> {
        let stream = self.table.get(requests_of)?;
        let (opcode, transport_len) = stream.recent.latest(answer.psn)?;
        let info = opcode.info().filter(|info| info.part == Part::Only)?;
        let payload = transport_len.checked_sub(info.headers_len() + Bth::LEN + ICRC_LEN)?;
        let payload = payload as u32;
        let others = self.table.streams.iter().flatten().take(MOST_COMPARED);
        let pmtu = others
            .filter(|other| (other.key.src, other.key.dst) == (stream.key.src, stream.key.dst))
            .map(|other| other.requester.pmtu)
            .max()
            .filter(|pmtu| *pmtu > 0 && payload.saturating_sub(MOST_PAD) > *pmtu)?;
        (stream.requester.pmtu == 0).then_some(Event {
            at: answer.at,
            frame: answer.frame,
            kind: EventKind::Length {
                payload,
                pmtu,
                exceeds: true,
            },
        })
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
        if other.responder.packets <= 1 {
            one.requester.no_answer_before();
        }
        if one.responder.packets <= 1 {
            other.requester.no_answer_before();
        }
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
}

/// What a response packet says; `None` where it was cut before its AETH or says nothing known.
fn kind_of(facts: &PacketFacts, packet: &TransportPacket<'_>, older: bool) -> Option<AnswerKind> {
    let payload = facts.payload_len;
    match facts.info.operation {
        Operation::RdmaReadResponse => Some(AnswerKind::Response {
            payload,
            part: facts.info.part,
            older,
        }),
        Operation::AtomicAcknowledge => Some(AnswerKind::Response {
            payload: 0,
            part: Part::Only,
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
