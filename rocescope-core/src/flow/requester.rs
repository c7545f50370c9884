//! The request side of a stream: high-water, cursor, skips, and what a packet at or behind the high-water is.
//!
//! Sending order is what counts. The *high-water* is the highest PSN requested; the *cursor* is the last PSN of the latest
//! packet in sending order. A step of the cursor over PSNs is a skip, a step back begins a pass of repair.

use super::answer::{Ahead, Answers, PendingNak, PendingRnr};
use super::message::Messages;
use super::pass::{Repairing, answered_by_response};
use super::ranges::{Range, Ranges};
use super::read::Reads;
use super::stream::PacketFacts;
use crate::Time;
use crate::event::{Event, EventKind};
use crate::report;
use crate::time::SECOND_NS;
use rocescope_wire::{Operation, Psn, Transport};
use std::collections::VecDeque;

/// A jump beyond the high-water adds at most this many missing PSNs.
pub(crate) const MOST_MISSING_PER_JUMP: u32 = 4_095;
/// A packet whose lateness is not decided after this time is a retransmission.
const UNDECIDED_NS: u64 = SECOND_NS;
/// Requests that asked for an answer and wait for it, a stream.
const MOST_ASKS: usize = 1_024;

/// A sender that counts its IP ids sends no more than this many other packets in between.
const MOST_ID_STEP: i16 = 4_096;

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

/// How the IP ids of a sender behave.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct IpIds {
    newest: Option<u16>,
    score: i8,
}

impl IpIds {
    /// Whether the sender counts its ids up, packet by packet.
    pub(crate) fn count_up(self) -> bool {
        self.score > 0
    }

    /// Whether `packet` was sent before the newest packet seen.
    pub(crate) fn is_older(self, packet: &PacketFacts) -> bool {
        match (self.newest, packet.ip_id) {
            // A larger step back is another counter or a damaged id, not an order.
            (Some(newest), Some(id)) if self.count_up() => {
                (-MOST_ID_STEP..0).contains(&(id.wrapping_sub(newest) as i16))
            }
            _ => false,
        }
    }

    /// Learns from a packet; `in_order` where its PSN says that it was sent after all others.
    #[inline]
    pub(crate) fn learn(&mut self, packet: &PacketFacts, in_order: bool) {
        let Some(id) = packet.ip_id else { return };
        if let Some(newest) = self.newest {
            let step = id.wrapping_sub(newest) as i16;
            if in_order {
                self.score = if (1..=MOST_ID_STEP).contains(&step) {
                    (self.score + 1).min(100)
                } else {
                    (self.score - 4).max(-100)
                };
            }
            if (-MOST_ID_STEP..0).contains(&step) && self.count_up() {
                return;
            }
        }
        self.newest = Some(id);
    }
}

/// The request side of a stream.
#[derive(Clone, Default, Debug)]
pub(crate) struct Requester {
    pub(crate) counts: Counts,
    pub(crate) tries: report::Tries,
    pub(crate) started: bool,
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
    pub(crate) rnr: Option<PendingRnr>,
    pub(crate) ahead: Option<Ahead>,
    pub(crate) answers: Answers,
    pub(crate) repairing: Repairing,
    undecided: Option<Box<PacketFacts>>,
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

    /// The end: steps that nobody who answers can explain, and responses nobody asked for again.
    pub(crate) fn close_gaps(&mut self, frame: report::FrameRef, at: Time, out: &mut Vec<Event>) {
        let responses = self.reads.close(self.answered);
        if let Some(first) = self.answered.filter(|_| responses > 0) {
            out.push(Event {
                at,
                frame,
                kind: EventKind::CaptureGap {
                    first,
                    psns: responses,
                    responses: true,
                },
            });
        }
        if let Some(since) = self.answers.no_credits_since.take() {
            out.push(Event {
                at,
                frame,
                kind: EventKind::CreditStall {
                    ns: at.since(since),
                    credits: None,
                },
            });
        }
        let unanswered = self.holes.count();
        if self.answers.count == 0
            && !self.unreliable
            && unanswered > 0
            && let Some(hole) = self.holes.iter().next()
        {
            out.push(Event {
                at,
                frame,
                kind: EventKind::UnansweredGap {
                    first: hole.first,
                    psns: unanswered,
                },
            });
        }
    }

    /// A second sighting of a request.
    pub(crate) fn on_copy(&mut self) {
        self.counts.packets += 1;
        self.counts.mirror_duplicates += 1;
    }

    /// A request with a bad ICRC: it moves nothing, but what came of its PSN is known.
    pub(crate) fn on_damaged(&mut self, psn: Psn) {
        if self.started && psn.since(self.high).abs() < 1 << 16 {
            self.damaged.insert(Range::new(psn, psn));
        }
    }

    fn start(&mut self, packet: &PacketFacts) {
        self.started = true;
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
        if jump > 1 {
            let most = (jump.unsigned_abs() - 1).min(MOST_MISSING_PER_JUMP);
            let hole = Range::new(packet.psn.minus(most), packet.psn.previous());
            self.skip(hole, packet, out);
        }
    }

    /// PSNs beyond the high-water that were sent but not seen here.
    fn skip(&mut self, hole: Range, packet: &PacketFacts, out: &mut Vec<Event>) {
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
        if self.capture_lost {
            self.excused.insert(hole);
            return;
        }
        self.skipped.insert(hole);
        self.spare_damaged(hole);
        if let Some(acked) = self.acked {
            self.capture_gaps_through(acked, packet.at, packet.frame, out);
        }
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
    fn claim(&mut self, packet: &PacketFacts) -> Psn {
        match packet.info.operation {
            Operation::Send | Operation::RdmaWrite => packet.psn,
            _ => self
                .reads
                .claim(packet, self.pmtu, !self.repairing.is_quiet()),
        }
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
            if new.since(old) > 0 {
                if self.high == old {
                    self.high = new;
                    self.cursor = new;
                }
            } else if self.high == old {
                self.high = new;
                self.cursor = new;
            } else {
                // It claimed too much: what lies behind it was never carried by a packet seen.
                let rest = Range::new(new.next(), old);
                self.counts.skips += rest.count();
                self.holes.insert(rest);
                self.skipped.insert(rest);
            }
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

    /// A packet at or behind the high-water that is no copy.
    fn behind(&mut self, packet: &PacketFacts, out: &mut Vec<Event>) -> Class {
        let before_first = packet.psn.since(self.first) < 0;
        let skipped =
            self.skipped.contains(packet.psn) || self.holes.contains(packet.psn) || before_first;
        if self.ids.is_older(packet) {
            if skipped || self.repairing.forget_resent_skip(packet.psn) {
                return self.late(packet, out);
            }
            // A packet of a repair, itself late: it moves no cursor.
            self.count_retransmission(packet);
            self.note_late(packet.at);
            return Class::Retransmission;
        }
        let named = self
            .nak
            .as_ref()
            .is_some_and(|nak| packet.psn.since(nak.psn) >= 0);
        if skipped && !self.ids.count_up() && !self.in_pass && !named {
            self.undecided = Some(Box::new(packet.clone()));
            return Class::Undecided;
        }
        if self.unreliable {
            // Nothing is ever sent again on UC: whatever comes behind is late.
            return self.late(packet, out);
        }
        self.retransmission(packet, out);
        Class::Retransmission
    }

    pub(crate) fn count_retransmission(&mut self, packet: &PacketFacts) {
        self.counts.retransmitted_packets += 1;
        self.counts.retransmitted_bytes += u64::from(packet.wire_len);
    }

    fn late(&mut self, packet: &PacketFacts, out: &mut Vec<Event>) -> Class {
        self.counts.reordered_packets += 1;
        self.note_late(packet.at);
        let last = self.claim(packet);
        let own = Range::new(packet.psn, last);
        self.holes.remove(own);
        self.skipped.remove(own);
        self.stepped.remove(own);
        if packet.psn.since(self.first) < 0 {
            self.first = packet.psn;
        }
        if last.since(self.high) > 0 {
            self.high = last;
            self.cursor = last;
        }
        if self.unreliable {
            self.messages.stay_broken();
        } else if packet.ack_req && !self.unreliable {
            self.late_ask(packet);
        }
        out.push(packet.event(EventKind::Late { psn: packet.psn }));
        Class::Late
    }

    fn note_late(&mut self, at: Time) {
        self.last_late = Some(at);
        self.repairing.note_late();
    }

    /// A packet that asked for an answer and came out of turn takes its place among those that wait.
    pub(crate) fn late_ask(&mut self, packet: &PacketFacts) {
        let ask = Ask {
            psn: packet.psn,
            at: packet.at,
            message_at: NO_MESSAGE,
            ack_req: true,
            tainted: true,
        };
        if packet.psn.since(self.acked_or_start()) <= 0 {
            self.answers.covered(packet.psn);
            return;
        }
        let at = self
            .asks
            .iter()
            .rposition(|own| own.psn.since(ask.psn) <= 0)
            .map_or(0, |index| index + 1);
        let known = at
            .checked_sub(1)
            .and_then(|index| self.asks.get(index))
            .is_some_and(|own| own.psn == ask.psn);
        if !known && self.asks.len() < MOST_ASKS {
            self.asks.insert(at, ask);
        }
    }

    /// Decides about a packet that may be late or sent again: late if the next packet goes on beyond the high-water.
    pub(crate) fn decide(&mut self, next: Option<&PacketFacts>, now: Time, out: &mut Vec<Event>) {
        let Some(undecided) = self.undecided.take() else {
            return;
        };
        let goes_on = match next {
            Some(next) => next.psn.since(self.high) > 0,
            None => now.since(undecided.at) <= UNDECIDED_NS || self.nak.is_none(),
        };
        let named = self
            .nak
            .as_ref()
            .is_some_and(|nak| undecided.psn.since(nak.psn) >= 0);
        let class = if goes_on && !named {
            self.late(&undecided, out)
        } else {
            self.retransmission(&undecided, out);
            Class::Retransmission
        };
        out.push(undecided.event(EventKind::Decided(class)));
    }

    /// Everything that only time or the end decides.
    pub(crate) fn on_time(&mut self, now: Time, frame: report::FrameRef, out: &mut Vec<Event>) {
        if self
            .undecided
            .as_ref()
            .is_some_and(|undecided| now.since(undecided.at) > UNDECIDED_NS)
        {
            self.decide(None, now, out);
        }
        self.settle(now, out);
        self.expire_ahead(now, frame, out);
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
