//! Passes of repair: what triggered them, and where the packet was lost.

use super::answer::PendingNak;
use super::ranges::{Range, Ranges};
use super::read::Reissue;
use super::recovery::{KEPT_DETAILS, Open};
use super::requester::Requester;
use super::stream::PacketFacts;
use crate::Time;
use crate::event::Event;
use crate::report::{FrameRef, Recovery, Style, Tries, Trigger, Where};
use crate::time::MILLISECOND_NS;
use rocescope_wire::{Operation, Psn};

/// Late packets this long before a NAK make it reordering, where the round trip is not known.
pub(crate) const REORDER_NS: u64 = 20 * MILLISECOND_NS;
/// The order between the two directions is not trusted below this.
pub(crate) const DIRECTION_SLACK_NS: u64 = 50_000;

/// Why a pass began.
struct Cause {
    trigger: Trigger,
    place: Where,
    /// The first PSN of the pass as the sender began it: what lies before the packet seen was lost again.
    from: Psn,
    nak: Option<(FrameRef, Time)>,
}

impl Requester {
    /// A packet sent again.
    pub(crate) fn retransmission(&mut self, packet: &PacketFacts, out: &mut Vec<Event>) {
        self.count_retransmission(packet);
        let step = packet.psn.since(self.cursor);
        if !self.in_pass || step <= 0 {
            self.begin_pass(packet, out);
        } else if step > 1 {
            self.step_in_pass(packet);
        }
        self.void_nak(packet);
        let last = self.resend(packet);
        self.in_pass = last.since(self.high) < 0 || packet.psn.since(self.high) <= 0;
        if last.since(self.high) > 0 {
            self.high = last;
        }
        self.cursor = last;
    }

    /// Books one packet of a repair. Returns the last PSN it claims.
    fn resend(&mut self, packet: &PacketFacts) -> Psn {
        let response = answered_by_response(packet.info.operation);
        let last = if response {
            self.resend_read(packet)
        } else {
            packet.psn
        };
        let own = Range::new(packet.psn, last);
        if self.holes.remove(own) > 0 {
            self.messages.count += u64::from(packet.info.part.ends());
        }
        self.stepped.remove(own);
        self.damaged.remove(own);
        if packet.ack_req
            && !response
            && !self.unreliable
            && packet.psn.since(self.acked_or_start()) > 0
        {
            self.late_ask(packet);
        }
        let was_skipped = self.skipped.remove(own) > 0;
        let acked = self.acked.is_some_and(|acked| acked.since(packet.psn) >= 0);
        let paired = self.paired;
        if let Some(open) = self.repairing.open.as_deref_mut() {
            open.recovery.packets += 1;
            open.recovery.bytes += u64::from(packet.wire_len);
            if was_skipped {
                open.resent_skips.insert(Range::new(packet.psn, packet.psn));
            }
            if !response && paired && acked {
                open.spurious += 1;
            } else if !response {
                open.unjudged += 1;
            }
        }
        if !response && acked && paired {
            self.counts.spurious_packets += 1;
            self.answers.awaiting_extra += 1;
        }
        last
    }

    fn resend_read(&mut self, packet: &PacketFacts) -> Psn {
        let first_of_pass = self
            .repairing
            .open
            .as_ref()
            .is_some_and(|open| open.last_frame == packet.frame);
        let Some((why, before, last)) = self.reads.reissue(packet.psn, first_of_pass) else {
            return self.reads.claim(packet, self.pmtu, true);
        };
        let after = u64::from(why == Reissue::Seen && first_of_pass);
        if !self.paired {
            return last;
        }
        if let Some(open) = self.repairing.open.as_deref_mut() {
            if first_of_pass {
                open.tail = (why == Reissue::Tail).then_some(packet.psn);
                open.responses_lost.0 += u64::from(why == Reissue::Tail);
            }
            open.responses_lost.0 += before;
            open.responses_lost.1 += after;
            if first_of_pass
                && open.recovery.trigger != Trigger::Nak
                && open.recovery.trigger != Trigger::Rnr
            {
                match why {
                    Reissue::Skipped | Reissue::Tail => {
                        open.recovery.place = Where::ResponseBefore;
                    }
                    Reissue::Seen => open.recovery.place = Where::ResponseAfter,
                    Reissue::Silent => {}
                }
            }
        }
        last
    }

    /// The cursor steps back: a pass begins.
    fn begin_pass(&mut self, packet: &PacketFacts, out: &mut Vec<Event>) {
        let cause = self.cause(packet);
        if self.repairing.open.is_none() {
            self.finish_settling(out);
            self.open_recovery(packet, &cause);
        }
        self.lose_head(packet, &cause);
        let gap = packet.at.since(self.repairing.last_sent);
        for ask in self
            .asks
            .iter_mut()
            .rev()
            .take_while(|ask| ask.psn.since(packet.psn) >= 0)
        {
            ask.tainted = true;
        }
        self.reads.taint_from(packet.psn);
        let Some(open) = self.repairing.open.as_deref_mut() else {
            return;
        };
        open.recovery.tries += 1;
        (open.last_try, open.last_frame) = (packet.at, packet.frame);
        open.last_psn = packet.psn;
        for tries in [&mut open.tries, &mut self.tries] {
            match cause.trigger {
                Trigger::Nak => tries.nak += 1,
                Trigger::Rnr => tries.rnr += 1,
                Trigger::Timeout => tries.timeout += 1,
                Trigger::ImpliedNak => tries.implied_nak += 1,
                Trigger::Unknown => tries.unknown += 1,
            }
        }
        if packet.psn.since(Psn::new(open.recovery.first_psn)) < 0 {
            open.recovery.first_psn = packet.psn.get();
        }
        match cause.place {
            Where::After => open.lost_after += 1,
            Where::Damaged => open.damaged += 1,
            _ => {}
        }
        open.longest_gap_ns = open.longest_gap_ns.max(gap);
        if open.recovery.gaps_ns.len() < KEPT_DETAILS {
            open.recovery.gaps_ns.push(gap);
        }
        for frame in cause
            .nak
            .map(|(frame, _)| frame)
            .into_iter()
            .chain([packet.frame])
        {
            if open.recovery.frames.len() < KEPT_DETAILS {
                open.recovery.frames.push(frame);
            }
        }
        if let (Some((_, at)), Some(late)) = (cause.nak, self.last_late) {
            open.late |= at.since(late) <= REORDER_NS;
        }
    }

    fn open_recovery(&mut self, packet: &PacketFacts, cause: &Cause) {
        let acked = self.acked.is_some_and(|acked| acked.since(packet.psn) >= 0);
        let stalled_from = if acked {
            self.repairing.last_sent
        } else {
            self.progress
        };
        self.repairing.open = Some(Box::new(Open {
            recovery: Recovery {
                trigger: cause.trigger,
                first_psn: cause.from.get(),
                tries: 0,
                packets: 0,
                bytes: 0,
                start_ns: packet.at.0,
                end_ns: None,
                // Becomes a duration when it closes.
                stalled_ns: stalled_from.max(self.repairing.last_end).0.min(packet.at.0),
                style: Style::GoBackN,
                place: cause.place,
                lost_before: 0,
                gaps_ns: Vec::new(),
                frames: Vec::new(),
            },
            tries: Tries::default(),
            last_try: packet.at,
            last_frame: packet.frame,
            last_psn: packet.psn,
            resent_skips: Ranges::default(),
            lost_again: 0,
            lost_after: 0,
            damaged: 0,
            longest_gap_ns: 0,
            responses_lost: (0, 0),
            tail: None,
            head: None,
            spurious: 0,
            unjudged: 0,
            late: false,
            selective: false,
            response: answered_by_response(packet.info.operation),
            closed: None,
            settles: Time(0),
        }));
        self.counts.recoveries += 1;
    }

    /// What triggered a pass that starts at `packet`: the first reason that fits.
    fn cause(&mut self, packet: &PacketFacts) -> Cause {
        let start = packet.psn;
        if !self.paired {
            return Cause {
                trigger: Trigger::Unknown,
                place: Where::Unknown,
                from: start,
                nak: None,
            };
        }
        if let Some(rnr) = self.rnr.take_if(|rnr| start.since(rnr.psn) >= 0) {
            return Cause {
                trigger: Trigger::Rnr,
                place: Where::Refused,
                from: rnr.psn,
                nak: Some((rnr.frame, rnr.at)),
            };
        }
        if let Some(nak) = self.take_nak(start) {
            return Cause {
                trigger: Trigger::Nak,
                place: nak.place,
                from: nak.psn,
                nak: Some((nak.frame, nak.at)),
            };
        }
        let response = answered_by_response(packet.info.operation);
        if response
            && self
                .answered
                .is_some_and(|answered| answered.since(start) > 0)
        {
            return Cause {
                trigger: Trigger::ImpliedNak,
                place: Where::Unknown,
                from: start,
                nak: None,
            };
        }
        let oldest = self.acked_or_start().next();
        let from = if start.since(oldest) > 0 && !response {
            oldest
        } else {
            start
        };
        let place = if self.acked.is_some_and(|acked| acked.since(start) >= 0) && !response {
            Where::Spurious
        } else if self.was_skipped(from) {
            Where::Before
        } else if !response && self.asks.is_empty() {
            // No packet seen here was owed an answer: the one that asked was lost before this tap, or never sent.
            Where::Unknown
        } else {
            Where::AfterOrAnswer
        };
        Cause {
            trigger: Trigger::Timeout,
            place,
            from,
            nak: None,
        }
    }

    /// The NAK that a pass from `start` answers.
    fn take_nak(&mut self, start: Psn) -> Option<PendingNak> {
        let fits = |nak: &mut PendingNak| start.since(nak.psn) >= 0;
        let earlier = self.earlier_nak.take_if(fits);
        self.nak.take_if(fits).or(earlier)
    }

    /// Whether the cursor stepped over `psn` the last time it went by. A step on the way back from a repair was a loss
    /// then, not a selective repair.
    pub(crate) fn was_skipped(&mut self, psn: Psn) -> bool {
        let stepped = self.stepped.iter().find(|range| range.contains(psn));
        if let Some(rest) = stepped {
            let lost = Range::new(psn, rest.last);
            self.stepped.remove(rest);
            self.counts.skips += lost.count();
            self.skipped.insert(lost);
            if let Some(open) = self.repairing.current() {
                open.selective = false;
            }
        }
        self.skipped.contains(psn)
    }

    /// The sender began the pass before the first packet of it seen here: those in between were lost again.
    fn lose_head(&mut self, packet: &PacketFacts, cause: &Cause) {
        if packet.psn.since(cause.from) > 0 {
            let head = Range::new(cause.from, packet.psn.previous());
            let again = self.skip_again(head);
            if let Some(open) = self.repairing.open.as_deref_mut() {
                open.head = (cause.trigger == Trigger::Timeout).then_some((head, again));
            }
        }
    }

    /// A step inside a pass.
    fn step_in_pass(&mut self, packet: &PacketFacts) {
        let over = Range::new(self.cursor.next(), packet.psn.previous());
        if self.holes.contains(packet.psn) && !self.holes.touches(over) {
            self.stepped.insert(over);
            if let Some(open) = self.repairing.open.as_deref_mut() {
                open.selective = true;
            }
        } else {
            self.skip_again(over);
        }
    }

    /// PSNs of a repair that were sent but not seen here. Returns how many of them had been lost before.
    fn skip_again(&mut self, over: Range) -> u64 {
        let again: u64 = self.skipped.remove(over);
        self.counts.skips += over.count();
        self.skipped.insert(over);
        self.spare_damaged(over);
        if let Some(open) = self.repairing.open.as_deref_mut() {
            open.lost_again += again;
        }
        again
    }

    /// A pass under way that goes over the PSN of a NAK answers it; what was in flight behind that PSN does not.
    fn void_nak(&mut self, packet: &PacketFacts) {
        let cursor = self.cursor;
        let crosses = |psn: Psn| packet.psn.since(psn) >= 0 && cursor.since(psn) < 0;
        if let Some(nak) = self.nak.take_if(|nak| crosses(nak.psn))
            && let Some(open) = self.repairing.open.as_deref_mut()
        {
            match nak.place {
                Where::After => open.lost_after += 1,
                Where::Damaged => open.damaged += 1,
                _ => {}
            }
        }
        self.rnr.take_if(|rnr| crosses(rnr.psn));
    }
}

/// READs, atomics, FLUSH and ATOMIC WRITE are answered by a response, SEND and WRITE by an ACK.
pub(crate) fn answered_by_response(operation: Operation) -> bool {
    !matches!(operation, Operation::Send | Operation::RdmaWrite)
}
