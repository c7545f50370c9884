//! The request side of a stream: high-water, cursor, skips, and what a packet at or behind the high-water is.
//!
//! Sending order is what counts. The *high-water* is the highest PSN requested; the *cursor* is the last PSN of the latest
//! packet in sending order. A step of the cursor over PSNs is a skip, a step back begins a pass of repair.

use super::answer::{Ahead, Answers, PendingNak, PendingRnr};
use super::ip_id::IpIds;
use super::message::Messages;
use super::pass::answered_by_response;
use super::ranges::{Range, Ranges};
use super::read::Reads;
use super::recovery::Repairing;
use super::stream::PacketFacts;
use crate::Time;
use crate::event::{Event, EventKind};
use crate::report;
use crate::time::SECOND_NS;
use rocescope_wire::{Operation, Psn, Transport};
use std::collections::VecDeque;

/// A jump beyond the high-water adds at most this many missing PSNs.
pub(crate) const MOST_MISSING_PER_JUMP: u32 = 4_095;
/// Requests that asked for an answer and wait for it, a stream.
pub(super) const MOST_ASKS: usize = 1_024;

/// Order between PSNs is kept within a quarter of the number space: further apart, one of them is damaged or another
/// connection's.
pub(super) const FAR: i32 = 1 << 22;

/// Counts of the request side.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Counts {
    pub(crate) packets: u64,
    pub(crate) retransmitted_packets: u64,
    pub(crate) retransmitted_bytes: u64,
    pub(crate) reordered_packets: u64,
    pub(crate) mirror_duplicates: u64,
    pub(crate) copies_answered: u64,
    pub(crate) skips: u64,
    pub(crate) capture_gap_psns: u64,
    pub(crate) lost_before: u64,
    pub(crate) lost_after: u64,
    pub(crate) damaged: u64,
    pub(crate) spurious_packets: u64,
    pub(crate) recoveries: u64,
    pub(crate) stalled_ns: u64,
    /// Missing PSNs whose ranges had to leave the set.
    pub(crate) missing_folded: u64,
}

/// No message ends here.
pub(crate) const NO_MESSAGE: Time = Time(u64::MAX);

/// A request that asked for an answer, or ends a message: 24 octets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask {
    pub(crate) psn: Psn,
    pub(crate) at: Time,
    /// First packet of its message, where this ends one; else [`NO_MESSAGE`].
    pub(crate) message_at: Time,
    /// AckReq was set.
    pub(crate) ack_req: bool,
    /// Sent again or refused: no latency is measured from it (Karn).
    pub(crate) tainted: bool,
}

/// The request side of a stream.
#[derive(Clone, Default, Debug)]
pub(crate) struct Requester {
    pub(crate) counts: Counts,
    pub(crate) tries: report::Tries,
    pub(crate) started: bool,
    /// The PSN of the first packet.
    pub(crate) origin: Psn,
    /// The first PSN of the order that is kept; it is that of the first packet until the sender jumps far ahead.
    pub(crate) first: Psn,
    /// Highest PSN requested.
    pub(crate) high: Psn,
    /// Last PSN of the latest packet in sending order.
    pub(crate) cursor: Psn,
    /// Highest PSN acknowledged.
    pub(crate) acked: Option<Psn>,
    /// Highest PSN any answer carried.
    pub(crate) answered: Option<Psn>,
    /// Path MTU in octets; 0 while unknown.
    pub(crate) pmtu: u32,
    pub(crate) ids: IpIds,
    /// Whether answers to these requests can be seen: the stream is one of a pair.
    pub(crate) paired: bool,
    pub(crate) unreliable: bool,
    /// A pass of repair is under way: it has not gone beyond the high-water yet.
    pub(crate) in_pass: bool,
    pub(crate) messages: Messages,
    pub(crate) last_new: Time,
    /// When the oldest request not acknowledged was sent, or the latest advancing answer came.
    pub(crate) progress: Time,
    pub(crate) last_late: Option<Time>,
    /// Never carried by any packet seen.
    pub(crate) holes: Ranges,
    /// The last time the cursor went over these it stepped over them.
    pub(crate) skipped: Ranges,
    /// Stepped over on the way back from a repair: selective, or the tail of a pass that was lost.
    pub(crate) stepped: Ranges,
    /// Seen here with a bad ICRC.
    pub(crate) damaged: Ranges,
    /// Stepped over while the capture lost frames.
    pub(crate) excused: Ranges,
    /// The capture lost frames since the packet before.
    capture_lost: bool,
    pub(crate) asks: VecDeque<Ask>,
    pub(crate) reads: Reads,
    pub(crate) nak: Option<PendingNak>,
    /// One before it, at a lower PSN, to which the requester may answer first.
    pub(crate) earlier_nak: Option<PendingNak>,
    pub(crate) rnr: Option<PendingRnr>,
    pub(crate) ahead: Option<Ahead>,
    pub(crate) answers: Answers,
    pub(crate) repairing: Repairing,
    pub(super) undecided: Option<Box<PacketFacts>>,
    pub(crate) losses_by_second: std::collections::BTreeMap<u64, u64>,
}

/// What a request packet was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// Beyond the high-water.
    New,
    /// The same transmission again.
    Copy,
    /// Late, not lost.
    Late,
    /// Sent again.
    Retransmission,
    /// Not decided yet.
    Undecided,
}

impl Requester {
    /// The PSN before the oldest one not acknowledged.
    pub(crate) fn acked_or_start(&self) -> Psn {
        self.acked.unwrap_or(self.first.previous())
    }

    pub(crate) fn is_behind(&self, packet: &PacketFacts) -> bool {
        self.started && packet.psn.since(self.high) <= 0
    }

    /// Whether `packet` goes on where the sender left off, and nothing is open that it could touch.
    #[inline]
    pub(crate) fn is_seamless(&self, packet: &PacketFacts) -> bool {
        self.started
            && packet.psn.since(self.high) == 1
            && self.cursor == self.high
            && self.repairing.is_settled()
            && self.undecided.is_none()
            && self.reads.is_certain()
    }

    /// A packet that is seamless.
    #[inline]
    pub(crate) fn on_seamless(&mut self, packet: &PacketFacts, out: &mut Vec<Event>) {
        self.counts.packets += 1;
        self.ids.learn(packet, true);
        self.go_on(packet, true, out);
    }

    /// Middle packets that follow each other, the first of them seamless.
    pub(crate) fn on_run(
        &mut self,
        first: &PacketFacts,
        last: &PacketFacts,
        packets: u32,
        payload_bytes: u64,
        out: &mut Vec<Event>,
    ) {
        self.counts.packets += u64::from(packets);
        self.ids.learn(first, true);
        self.ids.learn_many(last, packets - 1);
        self.go_on(first, true, out);
        self.messages
            .add_octets(payload_bytes - u64::from(first.payload_len));
        self.high = last.psn;
        self.cursor = last.psn;
        self.last_new = last.at;
    }

    /// A request packet in frame order that is no copy.
    pub(crate) fn on_request(
        &mut self,
        packet: &PacketFacts,
        capture_lost: bool,
        out: &mut Vec<Event>,
    ) -> Class {
        self.capture_lost = capture_lost;
        self.counts.packets += 1;
        self.decide(Some(packet), packet.at, out);
        self.settle(packet.at, out);
        if !self.started {
            self.start(packet);
        }
        self.expire_ahead(packet.at, packet.frame, out);
        if self.is_behind(packet) {
            let class = self.behind(packet, out);
            self.ids.learn(packet, false);
            return class;
        }
        self.ids.learn(packet, true);
        self.advance(packet, out);
        Class::New
    }

    /// Whether a NAK or RNR NAK asked for `psn` again since `at`.
    pub(crate) fn asked_again_since(&self, psn: Psn, at: Time) -> bool {
        let nak = self.answers.last_nak;
        let rnr = self.answers.last_rnr.map(|(asked, _, at, _)| (asked, at));
        [nak, rnr]
            .into_iter()
            .flatten()
            .any(|(asked, asked_at)| asked_at >= at && psn.since(asked) >= 0)
    }

    fn start(&mut self, packet: &PacketFacts) {
        self.started = true;
        self.origin = packet.psn;
        self.first = packet.psn;
        self.high = packet.psn.previous();
        self.cursor = self.high;
        self.unreliable = packet.info.transport == Transport::Uc;
        self.messages.start(packet);
        self.progress = packet.at;
        self.last_new = packet.at;
    }

    /// A packet beyond the high-water.
    fn advance(&mut self, packet: &PacketFacts, out: &mut Vec<Event>) {
        self.resolve_provisional(packet.psn);
        let jump = packet.psn.since(self.high);
        let seamless = jump == 1 && self.cursor == self.high;
        if !seamless {
            self.step_over(packet, jump, out);
        }
        self.go_on(packet, seamless, out);
    }

    /// The sender goes on beyond the high-water.
    #[inline]
    fn go_on(&mut self, packet: &PacketFacts, seamless: bool, out: &mut Vec<Event>) {
        if self.acked_or_start() == self.high {
            self.progress = packet.at;
        }
        self.in_pass = false;
        let last = self.claim(packet);
        self.high = last;
        self.cursor = last;
        self.answers.on_request_after_answer(packet.at);
        self.message(packet, seamless, out);
        self.last_new = packet.at;
    }

    /// The cursor goes beyond the high-water over PSNs.
    fn step_over(&mut self, packet: &PacketFacts, jump: i32, out: &mut Vec<Event>) {
        if self.cursor != self.high {
            // Behind the high-water: sent before, so either the sender repairs selectively or the rest of its pass was lost.
            let rest = Range::new(self.cursor.next(), self.high);
            self.stepped.insert(rest);
            self.repairing.step_to_end(self.in_pass);
        }
        if jump > FAR {
            self.begin_anew(packet);
        }
        if jump > 1 {
            let most = (jump.unsigned_abs() - 1).min(MOST_MISSING_PER_JUMP);
            let hole = Range::new(packet.psn.minus(most), packet.psn.previous());
            self.skip(hole, packet, out);
        }
    }

    /// The sender jumped so far ahead that nothing before can be ordered with what comes.
    fn begin_anew(&mut self, packet: &PacketFacts) {
        self.counts.missing_folded += self.holes.count();
        for set in [
            &mut self.holes,
            &mut self.skipped,
            &mut self.stepped,
            &mut self.damaged,
            &mut self.excused,
        ] {
            set.clear();
        }
        self.first = packet.psn;
        (self.acked, self.answered) = (None, None);
        (self.nak, self.rnr, self.ahead) = (None, None, None);
        self.asks.clear();
        self.reads.forget();
    }

    /// PSNs beyond the high-water that were sent but not seen here.
    fn skip(&mut self, mut hole: Range, packet: &PacketFacts, out: &mut Vec<Event>) {
        self.counts.skips += hole.count();
        if let Some(folded) = self.holes.insert(hole) {
            self.counts.missing_folded += folded.count();
        }
        if self.unreliable {
            out.push(packet.event(EventKind::UcGap {
                first: hole.first,
                psns: hole.count(),
            }));
            return;
        }
        if let Some(acked) = self.acked.filter(|acked| acked.since(hole.first) >= 0) {
            // Answers came first, and what they acknowledged counts as a gap of the capture already.
            hole.first = acked.next();
        }
        if hole.last.since(hole.first) < 0 {
            return;
        }
        if self.capture_lost {
            self.excused.insert(hole);
            return;
        }
        self.skipped.insert(hole);
        self.spare_damaged(hole);
    }

    /// What was stepped over because its frame had a bad ICRC was not lost before this tap, it was damaged.
    pub(crate) fn spare_damaged(&mut self, over: Range) {
        for range in self
            .damaged
            .iter()
            .filter(|range| over.contains(range.first))
        {
            self.skipped.remove(range);
        }
    }

    /// The last PSN that `packet` claims.
    pub(super) fn claim(&mut self, packet: &PacketFacts) -> Psn {
        match packet.info.operation {
            Operation::Send | Operation::RdmaWrite => packet.psn,
            _ => self
                .reads
                .claim(packet, self.pmtu, !self.repairing.is_quiet()),
        }
    }

    /// The last PSN that a late packet claims: an open claim goes as far as nothing was seen behind it.
    pub(super) fn claim_late(&mut self, packet: &PacketFacts) -> Psn {
        if let Operation::Send | Operation::RdmaWrite = packet.info.operation {
            return packet.psn;
        }
        let hole = self.holes.iter().find(|hole| hole.contains(packet.psn));
        let until = match hole {
            Some(hole) => hole.last,
            None if packet.psn.since(self.first) < 0 => self.first.previous(),
            None => packet.psn,
        };
        self.reads.claim_late(packet, self.pmtu, until)
    }

    /// A READ whose claim was open: the next request tells how many PSNs it claimed, so no skip is made from it.
    fn resolve_provisional(&mut self, next: Psn) {
        if let Some(last) = self
            .reads
            .resolve(next)
            .filter(|last| last.since(self.high) > 0)
        {
            self.high = last;
            self.cursor = last;
        }
    }

    /// A First or Middle payload tells the path MTU.
    pub(crate) fn learn_pmtu(&mut self, payload: u32) {
        if payload <= self.pmtu || !payload.is_power_of_two() || !(256..=4_096).contains(&payload) {
            return;
        }
        self.pmtu = payload;
        for (old, new) in self.reads.revise(payload) {
            self.revise_claim(old, new);
        }
    }

    /// A READ claims through `new`, not `old`.
    pub(crate) fn revise_claim(&mut self, old: Psn, new: Psn) {
        if self.high == old {
            self.high = new;
            self.cursor = new;
        } else if new.since(old) > 0 {
            let more = Range::new(old.next(), new);
            self.holes.remove(more);
            self.skipped.remove(more);
        } else {
            // It claimed too much: what lies behind it was never carried by a packet seen.
            let rest = Range::new(new.next(), old);
            self.counts.skips += rest.count();
            self.holes.insert(rest);
            self.skipped.insert(rest);
        }
    }

    /// What a packet beyond the high-water means for its message, and whether it waits for an answer.
    #[inline]
    fn message(&mut self, packet: &PacketFacts, seamless: bool, out: &mut Vec<Event>) {
        let step = self.messages.step(packet, seamless, self.unreliable);
        if let Some(before) = step.wrong_after {
            out.push(packet.event(EventKind::OpcodeOrder {
                before,
                opcode: packet.opcode.0,
            }));
        }
        if self.unreliable
            || !(packet.ack_req || packet.info.part.ends())
            || answered_by_response(packet.info.operation)
        {
            return;
        }
        if self.asks.len() >= MOST_ASKS {
            self.asks.pop_front();
        }
        self.asks.push_back(Ask {
            psn: packet.psn,
            at: packet.at,
            message_at: step.whole.unwrap_or(NO_MESSAGE),
            ack_req: packet.ack_req,
            tainted: !self.repairing.is_quiet(),
        });
    }

    /// PSNs at or behind the high-water that no packet seen carried.
    pub(crate) fn missing_psns(&self) -> u64 {
        self.holes.count() + self.counts.missing_folded
    }

    /// Books `lost` packets at `at`.
    pub(crate) fn count_losses(&mut self, at: Time, lost: u64) {
        if lost == 0 {
            return;
        }
        *self.losses_by_second.entry(at.0 / SECOND_NS).or_default() += lost;
        if self.losses_by_second.len() > 600 {
            self.losses_by_second.pop_first();
        }
    }
}
