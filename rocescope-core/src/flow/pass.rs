//! Passes of repair: what triggered them, what they cost, and where the packet was lost.

use super::ranges::{Range, Ranges};
use super::read::Reissue;
use super::requester::Requester;
use super::stream::PacketFacts;
use crate::Time;
use crate::event::{Event, EventKind, Repair};
use crate::report::{FrameRef, Recovery, Style, Tries, Trigger, Where};
use crate::time::MILLISECOND_NS;
use rocescope_wire::{Psn, opcode::Operation};
use std::collections::VecDeque;

/// A repair is settled this long after the answer that covers it: late packets and extra answers still change its reading.
const SETTLE_NS: u64 = 20 * MILLISECOND_NS;
/// Late packets this long before a NAK make it reordering, where the round trip is not known.
pub(crate) const REORDER_NS: u64 = 20 * MILLISECOND_NS;
/// The order between the two directions is not trusted below this.
pub(crate) const DIRECTION_SLACK_NS: u64 = 50_000;
/// Recoveries reported at either end of a stream's life.
const KEPT: usize = 32;
/// Frames and gaps kept a recovery.
const KEPT_DETAILS: usize = 16;

/// A recovery under way.
#[derive(Clone, Debug)]
pub(crate) struct Open {
    recovery: Recovery,
    tries: Tries,
    last_try: Time,
    last_frame: FrameRef,
    /// PSNs sent again that had been stepped over.
    resent_skips: Ranges,
    /// PSNs stepped over again: their earlier loss is certain.
    lost_again: u64,
    /// NAKs for packets that were seen here.
    lost_after: u64,
    damaged: u64,
    longest_gap_ns: u64,
    responses_lost: (u64, u64),
    pub(crate) spurious: u64,
    /// SEND and WRITE packets sent again of which no extra answer was seen.
    pub(crate) unjudged: u64,
    /// Late packets belong to it.
    late: bool,
    selective: bool,
    /// What was sent again first is answered by a response.
    response: bool,
    closed: Option<Time>,
}

/// The repairs of a stream.
#[derive(Clone, Default, Debug)]
pub(crate) struct Repairing {
    open: Option<Box<Open>>,
    settling: Option<Box<Open>>,
    pub(crate) first: Vec<Recovery>,
    pub(crate) last: VecDeque<Recovery>,
    last_sent: Time,
}

impl Repairing {
    /// No recovery is open.
    pub(crate) fn is_quiet(&self) -> bool {
        self.open.is_none()
    }

    /// No recovery is open or waits to be settled.
    #[inline]
    pub(crate) fn is_settled(&self) -> bool {
        self.open.is_none() && self.settling.is_none()
    }

    pub(crate) fn current(&mut self) -> Option<&mut Open> {
        self.open.as_deref_mut().or(self.settling.as_deref_mut())
    }

    pub(crate) fn sent(&mut self, at: Time) {
        self.last_sent = at;
    }

    /// The cursor steps from inside a pass to beyond the high-water.
    pub(crate) fn step_to_end(&mut self, in_pass: bool) {
        if let Some(open) = self.current().filter(|_| in_pass) {
            open.selective = true;
        }
    }

    /// A late original of a PSN that was taken for lost.
    pub(crate) fn forget_resent_skip(&mut self, psn: Psn) -> bool {
        self.current().is_some_and(|open| {
            let known = open.resent_skips.remove(Range::new(psn, psn)) > 0;
            open.late |= known;
            known
        })
    }

    /// A packet came late: what is being repaired may never have been lost.
    pub(crate) fn note_late(&mut self) {
        if let Some(open) = self.current() {
            open.late = true;
        }
    }

    fn keep(&mut self, recovery: &Recovery) {
        if self.first.len() < KEPT {
            self.first.push(recovery.clone());
            return;
        }
        if self.last.len() == KEPT {
            self.last.pop_front();
        }
        self.last.push_back(recovery.clone());
    }
}

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
            if !response && paired {
                if acked {
                    open.spurious += 1;
                } else {
                    open.unjudged += 1;
                }
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
            open.responses_lost.0 += before;
            open.responses_lost.1 += after;
            if first_of_pass
                && open.recovery.trigger != Trigger::Nak
                && open.recovery.trigger != Trigger::Rnr
            {
                match why {
                    Reissue::Skipped => open.recovery.place = Where::ResponseBefore,
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
                stalled_ns: stalled_from.0.min(packet.at.0),
                style: Style::GoBackN,
                place: cause.place,
                lost_before: 0,
                gaps_ns: Vec::new(),
                frames: Vec::new(),
            },
            tries: Tries::default(),
            last_try: packet.at,
            last_frame: packet.frame,
            resent_skips: Ranges::default(),
            lost_again: 0,
            lost_after: 0,
            damaged: 0,
            longest_gap_ns: 0,
            responses_lost: (0, 0),
            spurious: 0,
            unjudged: 0,
            late: false,
            selective: false,
            response: answered_by_response(packet.info.operation),
            closed: None,
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
        if let Some(nak) = self.nak.take_if(|nak| start.since(nak.psn) >= 0) {
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
            self.skip_again(Range::new(cause.from, packet.psn.previous()));
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

    /// PSNs of a repair that were sent but not seen here.
    fn skip_again(&mut self, over: Range) {
        let again: u64 = self.skipped.remove(over);
        self.counts.skips += over.count();
        self.skipped.insert(over);
        self.spare_damaged(over);
        if let Some(open) = self.repairing.open.as_deref_mut() {
            open.lost_again += again;
        }
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

    /// An answer that acknowledges every PSN through `through`: it may end the open recovery.
    pub(crate) fn close_recovery(&mut self, through: Psn, at: Time) {
        let Some(open) = self.repairing.open.as_deref_mut() else {
            return;
        };
        let first = Psn::new(open.recovery.first_psn);
        if through.since(first) < 0 || (open.response && self.reads.awaits(first)) {
            return;
        }
        open.closed = Some(at);
        open.recovery.end_ns = Some(at.0);
        open.recovery.stalled_ns = at.0.saturating_sub(open.recovery.stalled_ns);
        self.repairing.settling = self.repairing.open.take();
    }

    /// A NAK that arrived a moment after the pass it asked for belongs to it.
    pub(crate) fn claim_pass(&mut self, nak: &super::answer::PendingNak) -> bool {
        let Some(open) = self.repairing.open.as_deref_mut() else {
            return false;
        };
        let early = nak.at.since(open.last_try) <= DIRECTION_SLACK_NS && open.last_try <= nak.at;
        let fits = Psn::new(open.recovery.first_psn).since(nak.psn) >= 0;
        if !early || !fits || open.tries.nak > 0 {
            return false;
        }
        if open.tries.timeout > 0 {
            open.tries.timeout -= 1;
            self.tries.timeout -= 1;
        } else if open.tries.unknown > 0 {
            open.tries.unknown -= 1;
            self.tries.unknown -= 1;
        } else {
            return false;
        }
        open.tries.nak += 1;
        self.tries.nak += 1;
        open.recovery.trigger = Trigger::Nak;
        if open.recovery.place == Where::AfterOrAnswer {
            open.recovery.place = Where::After;
            open.lost_after += 1;
        }
        true
    }

    /// Settles a recovery that closed long enough ago.
    pub(crate) fn settle(&mut self, now: Time, out: &mut Vec<Event>) {
        let due = |open: &Open| {
            open.closed
                .is_some_and(|closed| now.since(closed) > SETTLE_NS)
        };
        if self.repairing.settling.as_deref().is_some_and(due) {
            self.finish_settling(out);
        }
    }

    pub(crate) fn finish_settling(&mut self, out: &mut Vec<Event>) {
        if let Some(open) = self.repairing.settling.take() {
            self.finish(*open, out);
        }
    }

    /// The stream is over: everything open is settled as it stands.
    pub(crate) fn finish_repairs(&mut self, at: Time, out: &mut Vec<Event>) {
        self.finish_settling(out);
        if let Some(mut open) = self.repairing.open.take() {
            open.recovery.stalled_ns = at.0.saturating_sub(open.recovery.stalled_ns);
            self.finish(*open, out);
        }
        if let Some(nak) = self.nak.take() {
            self.leave_unrepaired(&nak, out);
        }
    }

    /// Nothing was sent again before the end, but the NAK is proof of a loss.
    fn leave_unrepaired(&mut self, nak: &super::answer::PendingNak, out: &mut Vec<Event>) {
        let lost = match nak.place {
            Where::Before => self
                .skipped
                .iter()
                .find(|range| range.contains(nak.psn))
                .map_or(1, |range| Range::new(nak.psn, range.last).count()),
            Where::After | Where::Damaged => 1,
            _ => return,
        };
        match nak.place {
            Where::Before => self.counts.lost_before += lost,
            Where::After => self.counts.lost_after += lost,
            _ => self.counts.damaged += lost,
        }
        self.count_losses(nak.at, lost);
        out.push(Event {
            at: nak.at,
            frame: nak.frame,
            kind: EventKind::Unrepaired {
                psn: nak.psn,
                place: nak.place,
                lost,
            },
        });
    }

    fn finish(&mut self, open: Open, out: &mut Vec<Event>) {
        let Open {
            mut recovery,
            tries,
            last_try,
            mut resent_skips,
            lost_again,
            mut lost_after,
            damaged,
            longest_gap_ns,
            responses_lost,
            spurious,
            late,
            selective,
            closed,
            ..
        } = open;
        if selective {
            recovery.style = Style::Selective;
        }
        let mut lost_before = if self.paired {
            resent_skips.count() + lost_again
        } else {
            0
        };
        resent_skips.clear();
        if late
            && matches!(
                recovery.place,
                Where::Before | Where::After | Where::AfterOrAnswer
            )
        {
            recovery.place = Where::Reordering;
        }
        if late || recovery.place == Where::Reordering {
            (lost_before, lost_after) = (0, 0);
        }
        if spurious > 0 && spurious == recovery.packets && recovery.place == Where::AfterOrAnswer {
            recovery.place = Where::Spurious;
        }
        recovery.lost_before = lost_before;
        self.counts.lost_before += lost_before;
        self.counts.lost_after += lost_after;
        self.counts.damaged += damaged;
        self.reads.counts.lost_before += responses_lost.0;
        self.reads.counts.lost_after += responses_lost.1;
        self.counts.stalled_ns += recovery.stalled_ns;
        self.count_losses(
            Time(recovery.start_ns),
            lost_before + lost_after + damaged + responses_lost.0 + responses_lost.1,
        );
        self.repairing.keep(&recovery);
        let at = closed.unwrap_or(last_try);
        let frame = recovery.frames.last().copied().unwrap_or(FrameRef {
            source: 0,
            frame: 0,
        });
        let repair = Repair {
            spurious,
            lost_after,
            damaged,
            longest_gap_ns,
            responses_lost,
            tries,
            open: closed.is_none(),
            last_try,
            recovery,
        };
        out.push(Event {
            at,
            frame,
            kind: EventKind::Repaired(Box::new(repair)),
        });
    }
}

/// READs, atomics, FLUSH and ATOMIC WRITE are answered by a response, SEND and WRITE by an ACK.
pub(crate) fn answered_by_response(operation: Operation) -> bool {
    !matches!(operation, Operation::Send | Operation::RdmaWrite)
}
