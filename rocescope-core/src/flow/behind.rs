//! Packets at or behind the high-water that are no copies: late, or sent again.

use super::ranges::Range;
use super::requester::{Ask, Class, FAR, MOST_ASKS, NO_MESSAGE, Requester};
use super::stream::PacketFacts;
use crate::Time;
use crate::event::{Event, EventKind};
use crate::report;
use crate::time::SECOND_NS;
use rocescope_wire::Psn;

/// A packet whose lateness is not decided after this time is a retransmission.
const UNDECIDED_NS: u64 = SECOND_NS;

impl Requester {
    /// A packet at or behind the high-water that is no copy.
    pub(super) fn behind(&mut self, packet: &PacketFacts, out: &mut Vec<Event>) -> Class {
        if self.high.since(packet.psn) > FAR {
            // No order to anything: it counts, and moves nothing.
            self.count_retransmission(packet);
            return Class::Retransmission;
        }
        let older = self.ids.is_older(packet);
        let named = self
            .nak
            .as_ref()
            .is_some_and(|nak| packet.psn.since(nak.psn) >= 0);
        let may_be_late = older || !self.ids.count_up() && !self.in_pass && !named;
        if may_be_late && let Some((before, now)) = self.reads.ends_before(packet.psn) {
            self.revise_claim(before, now);
        }
        let unseen = self.holes.contains(packet.psn) || packet.psn.since(self.first) < 0;
        if older {
            if unseen || self.repairing.forget_resent_skip(packet.psn) {
                return self.late(packet, out);
            }
            // A packet of a repair, itself late: it moves no cursor.
            self.skipped.remove(Range::new(packet.psn, packet.psn));
            self.count_retransmission(packet);
            self.note_late(packet.at);
            return Class::Retransmission;
        }
        if may_be_late && (unseen || self.skipped.contains(packet.psn)) {
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

    pub(super) fn late(&mut self, packet: &PacketFacts, out: &mut Vec<Event>) -> Class {
        self.counts.reordered_packets += 1;
        self.note_late(packet.at);
        let last = self.claim_late(packet);
        let own = Range::new(packet.psn, last);
        self.holes.remove(own);
        self.skipped.remove(own);
        self.stepped.remove(own);
        if packet.psn.since(self.first) < 0 {
            if self.origin == self.first {
                self.origin = packet.psn;
            }
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

    /// The PSN of a packet that may be late or sent again.
    pub(crate) fn undecided_psn(&self) -> Option<Psn> {
        self.undecided.as_ref().map(|packet| packet.psn)
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
}
