//! Episodes of repair: open, settling, and what is kept of those that are over.

use super::answer::PendingNak;
use super::pass::DIRECTION_SLACK_NS;
use super::ranges::{Range, Ranges};
use super::requester::Requester;
use crate::Time;
use crate::event::{Event, EventKind, Repair};
use crate::report::{FrameRef, Recovery, Style, Tries, Trigger, Where};
use crate::time::MILLISECOND_NS;
use rocescope_wire::Psn;
use std::collections::VecDeque;

/// A repair is settled this long after the answer that covers it: late packets and extra answers still change its reading.
const SETTLE_NS: u64 = 20 * MILLISECOND_NS;
/// Recoveries reported at either end of a stream's life.
const KEPT: usize = 32;
/// Frames and gaps kept a recovery.
pub(super) const KEPT_DETAILS: usize = 16;

/// A recovery under way.
#[derive(Clone, Debug)]
pub(crate) struct Open {
    pub(super) recovery: Recovery,
    pub(super) tries: Tries,
    pub(super) last_try: Time,
    pub(super) last_frame: FrameRef,
    /// PSN of the first packet seen of the latest pass.
    pub(super) last_psn: Psn,
    /// PSNs sent again that had been stepped over.
    pub(super) resent_skips: Ranges,
    /// PSNs stepped over again: their earlier loss is certain.
    pub(super) lost_again: u64,
    /// NAKs for packets that were seen here.
    pub(super) lost_after: u64,
    pub(super) damaged: u64,
    pub(super) longest_gap_ns: u64,
    pub(super) responses_lost: (u64, u64),
    /// A READ was asked for again from here, behind the last response seen.
    pub(super) tail: Option<Psn>,
    /// What a pass without a NAK was taken to have begun with although it was not seen, and how much of it was lost again.
    pub(super) head: Option<(Range, u64)>,
    pub(crate) spurious: u64,
    /// SEND and WRITE packets sent again of which no extra answer was seen.
    pub(crate) unjudged: u64,
    /// Late packets belong to it.
    pub(super) late: bool,
    pub(super) selective: bool,
    /// What was sent again first is answered by a response.
    pub(super) response: bool,
    pub(super) closed: Option<Time>,
    /// Closed: no answer to any of its packets is due after this.
    pub(super) settles: Time,
}

/// The repairs of a stream.
#[derive(Clone, Default, Debug)]
pub(crate) struct Repairing {
    pub(super) open: Option<Box<Open>>,
    pub(super) settling: Option<Box<Open>>,
    pub(crate) first: Vec<Recovery>,
    pub(crate) last: VecDeque<Recovery>,
    pub(super) last_sent: Time,
    /// When the latest recovery ended: one stands still only once.
    pub(super) last_end: Time,
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

    /// Whether a pass was made after `at`.
    pub(crate) fn tried_since(&self, at: Time) -> bool {
        let latest = [&self.open, &self.settling];
        let mut latest = latest.into_iter().flatten();
        latest.any(|open| open.last_try > at)
    }

    /// A pass that began less than the trust in the order between directions ago sent `psn` again, which had been lost.
    pub(crate) fn just_repaired(&self, psn: Psn, at: Time) -> bool {
        self.open.as_deref().is_some_and(|open| {
            at.since(open.last_try) <= DIRECTION_SLACK_NS && open.resent_skips.contains(psn)
        })
    }

    /// The responder was slow, and nothing was lost: the response that was asked for again came twice.
    pub(crate) fn response_came_twice(&mut self, psn: Psn) {
        if let Some(open) = self.current()
            && open.tail.take_if(|tail| *tail == psn).is_some()
        {
            open.responses_lost.0 -= 1;
            open.recovery.place = Where::AfterOrAnswer;
        }
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

impl Requester {
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
        self.repairing.last_end = at;
        // The answer to the last packet takes as long as the first answer took to come, and copies are answered too.
        let waited = at.0.saturating_sub(open.recovery.stalled_ns);
        open.settles = at.max(open.last_try.plus_ns(waited)).plus_ns(SETTLE_NS);
        open.recovery.end_ns = Some(at.0);
        open.recovery.stalled_ns = at.0.saturating_sub(open.recovery.stalled_ns);
        self.repairing.settling = self.repairing.open.take();
    }

    /// A NAK that arrived a moment after the pass it asked for belongs to it.
    pub(crate) fn claim_pass(&mut self, nak: &PendingNak) -> bool {
        let Some(open) = self.repairing.open.as_deref_mut() else {
            return false;
        };
        let early = nak.at.since(open.last_try) <= DIRECTION_SLACK_NS && open.last_try <= nak.at;
        let fits = open.last_psn.since(nak.psn) >= 0;
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
        open.recovery.first_psn = nak.psn.get();
        open.recovery.place = nak.place;
        match nak.place {
            Where::After => open.lost_after += 1,
            Where::Damaged => open.damaged += 1,
            _ => {}
        }
        true
    }

    /// The NAK that a pass under way answers came after it: the pass began at its PSN, not before.
    pub(crate) fn restore_head(&mut self, nak: Psn, at: Time) {
        let Some(open) = self.repairing.open.as_deref_mut() else {
            return;
        };
        let early = at.since(open.last_try) <= DIRECTION_SLACK_NS;
        let Some((head, again)) = open
            .head
            .take_if(|(head, _)| early && nak.since(head.last) > 0)
        else {
            return;
        };
        open.lost_again -= again;
        self.counts.skips -= head.count();
        self.skipped.remove(head);
    }

    /// Answers are visible from now on and none came before: no NAK asked for the passes so far.
    pub(crate) fn no_answer_before(&mut self) {
        let Some(open) = self.repairing.open.as_deref_mut() else {
            return;
        };
        let passes = core::mem::take(&mut open.tries.unknown);
        open.tries.timeout += passes;
        self.tries.timeout += passes;
        self.tries.unknown -= passes;
        if open.recovery.trigger == Trigger::Unknown {
            let first = Psn::new(open.recovery.first_psn);
            open.recovery.trigger = Trigger::Timeout;
            open.recovery.place = if open.resent_skips.contains(first) {
                Where::Before
            } else {
                Where::AfterOrAnswer
            };
        }
    }

    /// Settles a recovery that closed long enough ago.
    pub(crate) fn settle(&mut self, now: Time, out: &mut Vec<Event>) {
        let due = |open: &Open| now > open.settles;
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
    fn leave_unrepaired(&mut self, nak: &PendingNak, out: &mut Vec<Event>) {
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

    pub(super) fn finish(&mut self, open: Open, out: &mut Vec<Event>) {
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
        self.counts.stalled_ns = self.counts.stalled_ns.saturating_add(recovery.stalled_ns);
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
