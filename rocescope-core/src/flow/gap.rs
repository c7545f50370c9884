//! What was stepped over and arrived all the same: gaps of the capture.

use super::pass::DIRECTION_SLACK_NS;
use super::ranges::Range;
use super::requester::Requester;
use crate::Time;
use crate::event::{Event, EventKind};
use crate::report::FrameRef;
use rocescope_wire::Psn;

impl Requester {
    /// Steps that an answer covers although nobody asked for those PSNs again: they arrived, the capture missed them.
    pub(crate) fn capture_gaps_through(
        &mut self,
        through: Psn,
        at: Time,
        frame: FrameRef,
        out: &mut Vec<Event>,
    ) {
        // What came out of turn and is not decided about was seen.
        let seen = self
            .undecided_psn()
            .filter(|psn| psn.since(through) <= 0 && self.skipped.contains(*psn));
        if let Some(psn) = seen {
            self.skipped.remove(Range::new(psn, psn));
        }
        while let Some(range) = self.skipped.take_through(through) {
            let named = self
                .answers
                .last_nak
                .is_some_and(|(psn, _)| range.contains(psn));
            if named {
                continue;
            }
            let mut gaps = 0;
            for hole in self.holes.iter() {
                let first = if hole.first.since(range.first) > 0 {
                    hole.first
                } else {
                    range.first
                };
                let last = if hole.last.since(range.last) < 0 {
                    hole.last
                } else {
                    range.last
                };
                if last.since(first) >= 0 {
                    gaps += Range::new(first, last).count();
                }
            }
            if gaps > 0 {
                self.counts.capture_gap_psns += gaps;
                out.push(Event {
                    at,
                    frame,
                    kind: EventKind::CaptureGap {
                        first: range.first,
                        psns: gaps,
                        responses: false,
                    },
                });
            }
        }
        if let Some(psn) = seen {
            self.skipped.insert(Range::new(psn, psn));
        }
    }

    /// An answer ahead of its request: after a while the capture missed the request.
    pub(crate) fn expire_ahead(&mut self, now: Time, frame: FrameRef, out: &mut Vec<Event>) {
        let Some(ahead) = self.ahead else { return };
        if ahead.psn.since(self.high) <= 0 {
            self.ahead = None;
            if ahead.psn.since(self.acked_or_start()) > 0 {
                self.acked = Some(ahead.psn);
                while self
                    .asks
                    .front()
                    .is_some_and(|ask| ask.psn.since(ahead.psn) <= 0)
                {
                    self.asks.pop_front();
                }
                self.capture_gaps_through(ahead.psn, now, frame, out);
                self.close_recovery(ahead.psn, ahead.at);
            }
        } else if now.since(ahead.at) > DIRECTION_SLACK_NS {
            self.close_ahead(out);
        }
    }

    /// The request of an answer never came: a gap of the capture. The PSNs count once, when they are stepped over.
    pub(crate) fn close_ahead(&mut self, out: &mut Vec<Event>) {
        let Some(ahead) = self.ahead.take() else {
            return;
        };
        let missed = Range::new(self.high.next(), ahead.psn);
        if ahead.psn.since(self.high) <= 0 || missed.count() > 1 << 16 {
            return;
        }
        if self.acked_or_start().since(self.high) >= 0
            && self.acked.is_some_and(|acked| acked.since(ahead.psn) >= 0)
        {
            return;
        }
        let known = self.acked.filter(|acked| acked.since(self.high) > 0);
        let first = known.map_or(missed.first, Psn::next);
        self.acked = Some(ahead.psn);
        let psns = Range::new(first, ahead.psn).count();
        self.counts.capture_gap_psns += psns;
        out.push(Event {
            at: ahead.at,
            frame: ahead.frame,
            kind: EventKind::CaptureGap {
                first,
                psns,
                responses: false,
            },
        });
    }

    /// The end: steps that nobody who answers can explain, and responses nobody asked for again.
    pub(crate) fn close_gaps(&mut self, frame: FrameRef, at: Time, out: &mut Vec<Event>) {
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
}
