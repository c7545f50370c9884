//! Answers to the requests of a stream, as the other direction of the pair carries them.
//!
//! ACK, READ response, atomic answer, NAK and RNR NAK each acknowledge every PSN before their own, the first three also
//! their own: one answer may cover many requests.

use super::measured::{Measured, NakPlaces};
use super::read::Response;
use super::requester::{NO_MESSAGE, Requester};
use crate::Time;
use crate::event::{Event, EventKind};
use crate::report::{FrameRef, Where};
use rocescope_wire::{NakCode, Part, Psn, RnrTimer};

/// Asks that a later answer covered before their own came.
const COVERED: usize = 16;

/// One answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer {
    pub(crate) kind: AnswerKind,
    pub(crate) psn: Psn,
    pub(crate) at: Time,
    pub(crate) frame: FrameRef,
}

/// What an answer says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AnswerKind {
    Ack {
        credits: Option<u32>,
    },
    Response {
        payload: u32,
        part: Part,
        older: bool,
    },
    Rnr(RnrTimer),
    Nak(NakCode),
}

/// A NAK (PSN sequence error) that no pass answered yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingNak {
    pub(crate) psn: Psn,
    pub(crate) at: Time,
    pub(crate) frame: FrameRef,
    pub(crate) place: Where,
}

/// An RNR NAK that no pass answered yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingRnr {
    pub(crate) psn: Psn,
    pub(crate) at: Time,
    pub(crate) frame: FrameRef,
}

/// An answer to a request not seen yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ahead {
    pub(crate) psn: Psn,
    pub(crate) at: Time,
    pub(crate) frame: FrameRef,
}

/// What is known of the answers to a stream's requests.
#[derive(Clone, Default, Debug)]
pub(crate) struct Answers {
    pub(crate) count: u64,
    pub(crate) extra: u64,
    pub(crate) awaiting_extra: u64,
    pub(crate) places: NakPlaces,
    pub(crate) fatal: Option<(NakCode, Psn, Time, FrameRef)>,
    pub(crate) last_rnr: Option<(Psn, RnrTimer, Time, FrameRef)>,
    pub(crate) rnr_naks: u64,
    pub(crate) last_at: Option<Time>,
    /// The first of the latest answers that grant no credits.
    pub(crate) no_credits_since: Option<Time>,
    pub(crate) last_nak: Option<(Psn, Time)>,
    covered: [Option<Psn>; COVERED],
    covered_next: usize,
    answered_at: Option<Time>,
    pub(crate) measured: Option<Box<Measured>>,
}

impl Answers {
    /// An ask whose answer was covered by a later one; its own may still come.
    pub(crate) fn covered(&mut self, psn: Psn) {
        self.covered[self.covered_next % COVERED] = Some(psn);
        self.covered_next = (self.covered_next + 1) % COVERED;
    }

    fn take_covered(&mut self, psn: Psn) -> bool {
        match self.covered.iter_mut().find(|own| **own == Some(psn)) {
            Some(own) => own.take().is_some(),
            None => false,
        }
    }

    #[inline]
    pub(crate) fn on_request_after_answer(&mut self, at: Time) {
        if self.answered_at.is_some() {
            self.take_turn(at);
        }
    }

    /// The first request after an answer.
    fn take_turn(&mut self, at: Time) {
        if let Some(answered) = self.answered_at.take() {
            self.measured().turn.record(at.since(answered));
        }
    }

    fn measured(&mut self) -> &mut Measured {
        self.measured.get_or_insert_default()
    }
}

impl Requester {
    /// An answer that is no copy.
    pub(crate) fn on_answer(&mut self, answer: &Answer, out: &mut Vec<Event>) {
        self.answers.count += 1;
        self.answers.last_at = Some(answer.at);
        self.on_time(answer.at, answer.frame, out);
        if !self.started {
            return;
        }
        let through = match answer.kind {
            AnswerKind::Ack { .. } | AnswerKind::Response { .. } => answer.psn,
            AnswerKind::Rnr(_) | AnswerKind::Nak(_) => answer.psn.previous(),
        };
        if through.since(self.first) < -1 {
            return;
        }
        if self
            .answered
            .is_none_or(|answered| answer.psn.since(answered) > 0)
        {
            self.answered = Some(answer.psn);
        }
        let response = match answer.kind {
            AnswerKind::Response {
                payload,
                part,
                older,
            } => {
                self.learn_claims(answer.psn, part, payload);
                Some(self.on_response(answer, older))
            }
            _ => None,
        };
        if response == Some(Response::Repeated) {
            self.repairing.response_came_twice(answer.psn);
        }
        if answer.kind == AnswerKind::Nak(NakCode::PsnSequenceError) {
            self.restore_head(answer.psn, answer.at);
        }
        let beyond = through.since(self.high) > 0;
        if beyond {
            self.ahead = Some(Ahead {
                psn: through,
                at: answer.at,
                frame: answer.frame,
            });
        }
        let covered = if beyond { self.high } else { through };
        let advancing = covered.since(self.acked_or_start()) > 0;
        let exact = self.acknowledge(covered, answer, out);
        match answer.kind {
            AnswerKind::Ack { credits } => {
                self.on_credits(credits, answer, out);
                self.on_ack(answer, advancing, exact);
            }
            AnswerKind::Response { .. } => {}
            AnswerKind::Rnr(timer) => self.on_rnr(answer, timer, out),
            AnswerKind::Nak(NakCode::PsnSequenceError) => {
                self.on_sequence_nak(answer, advancing, out);
            }
            AnswerKind::Nak(code) => {
                self.answers
                    .fatal
                    .get_or_insert((code, answer.psn, answer.at, answer.frame));
                out.push(Event {
                    at: answer.at,
                    frame: answer.frame,
                    kind: EventKind::Nak {
                        code,
                        psn: answer.psn,
                        of_rnr: false,
                    },
                });
            }
        }
        if response.is_none_or(|response| response != Response::Repeated || !advancing) {
            self.close_recovery(covered, answer.at);
        }
        if advancing {
            self.progress = answer.at;
            self.answers.answered_at = Some(answer.at);
        }
    }

    /// What a response tells of the claims of READs: First and Middle tell the PMTU, Last and Only where a READ ends.
    fn learn_claims(&mut self, psn: Psn, part: Part, payload: u32) {
        match part {
            Part::First | Part::Middle => self.learn_pmtu(payload),
            Part::Last | Part::Only => {
                if let Some((before, now)) = self.reads.ends_at(psn, part == Part::Only, payload) {
                    self.revise_claim(before, now);
                }
            }
        }
        if let Part::Middle | Part::Last = part
            && let Some(last) = self.reads.extend(psn)
            && last.since(self.high) == 1
        {
            self.high = last;
            self.cursor = last;
        }
    }

    fn on_response(&mut self, answer: &Answer, older: bool) -> Response {
        let response = self.reads.on_response(answer.psn, older);
        let resent = core::mem::take(&mut self.reads.resent);
        if let Some(open) = self.repairing.current().filter(|_| resent > 0) {
            open.responses_lost.0 += resent;
        }
        if let Response::New {
            asked: Some(asked),
            first,
            last,
        } = response
            && self.repairing.is_quiet()
        {
            let measured = self.answers.measured();
            if first {
                measured.read_first.record(answer.at.since(asked));
            }
            if last {
                measured.read_last.record(answer.at.since(asked));
                measured.message.record(answer.at.since(asked));
            }
        }
        response
    }

    /// Everything through `through` is acknowledged. Whether the answer is the one that a request at its PSN asked for.
    fn acknowledge(&mut self, through: Psn, answer: &Answer, out: &mut Vec<Event>) -> bool {
        if through.since(self.acked_or_start()) <= 0 {
            return false;
        }
        self.acked = Some(through);
        let mut exact = false;
        let mut asked_last = None;
        while let Some(ask) = self
            .asks
            .front()
            .copied()
            .filter(|ask| ask.psn.since(through) <= 0)
        {
            self.asks.pop_front();
            if ask.ack_req {
                asked_last = (!ask.tainted).then_some(ask.at);
                if ask.psn == answer.psn {
                    exact = true;
                } else {
                    self.answers.covered(ask.psn);
                }
            }
            if ask.message_at != NO_MESSAGE && !ask.tainted {
                let waited = answer.at.since(ask.message_at);
                self.answers.measured().message.record(waited);
            }
        }
        if let (Some(asked), AnswerKind::Ack { .. }) = (asked_last, answer.kind) {
            self.answers.measured().ack.record(answer.at.since(asked));
        }
        self.capture_gaps_through(through, answer.at, answer.frame, out);
        self.damaged.take_through(through);
        while let Some(range) = self.excused.take_through(through) {
            self.counts.capture_gap_psns += range.count();
            let kind = EventKind::CaptureGap {
                first: range.first,
                psns: range.count(),
                responses: false,
            };
            out.push(Event {
                at: answer.at,
                frame: answer.frame,
                kind,
            });
        }
        while self.stepped.take_through(through).is_some() {}
        exact
    }

    fn on_credits(&mut self, credits: Option<u32>, answer: &Answer, out: &mut Vec<Event>) {
        if credits == Some(0) {
            self.answers.no_credits_since.get_or_insert(answer.at);
        } else if let Some(since) = self.answers.no_credits_since.take() {
            out.push(Event {
                at: answer.at,
                frame: answer.frame,
                kind: EventKind::CreditStall {
                    ns: answer.at.since(since),
                    credits,
                },
            });
        }
    }

    fn on_ack(&mut self, answer: &Answer, advancing: bool, exact: bool) {
        if exact || self.answers.take_covered(answer.psn) {
            return;
        }
        let unseen = answer.psn.since(self.high) > 0
            || answer.psn.since(self.first) < 0
            || self.holes.contains(answer.psn);
        if unseen {
            return;
        }
        self.answers.extra += 1;
        if !advancing {
            if self.answers.awaiting_extra > 0 {
                self.answers.awaiting_extra -= 1;
                return;
            }
            if let Some(open) = self.repairing.current().filter(|open| open.unjudged > 0) {
                open.unjudged -= 1;
                open.spurious += 1;
                self.counts.spurious_packets += 1;
                return;
            }
        }
        if self.counts.copies_answered < self.counts.mirror_duplicates {
            self.counts.copies_answered += 1;
        }
    }

    fn on_rnr(&mut self, answer: &Answer, timer: RnrTimer, out: &mut Vec<Event>) {
        self.answers.rnr_naks += 1;
        self.answers.last_rnr = Some((answer.psn, timer, answer.at, answer.frame));
        for ask in self
            .asks
            .iter_mut()
            .filter(|ask| ask.psn.since(answer.psn) >= 0)
        {
            ask.tainted = true;
        }
        self.rnr = Some(PendingRnr {
            psn: answer.psn,
            at: answer.at,
            frame: answer.frame,
        });
        out.push(Event {
            at: answer.at,
            frame: answer.frame,
            kind: EventKind::Rnr {
                psn: answer.psn,
                timer,
            },
        });
    }
}
