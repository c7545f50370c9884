//! READs and atomics under way, and their responses: each claims PSNs of the request space and is answered in them.

use super::ranges::{Range, Ranges};
use super::stream::PacketFacts;
use crate::Time;
use rocescope_wire::{Psn, opcode::Operation};
use std::collections::VecDeque;

/// READs and atomics remembered a stream.
const MOST_READS: usize = 512;
/// Answered ones are kept this many deep, for late and repeated responses.
const KEPT_ANSWERED: usize = 32;

/// Counts of the responses to this stream's requests.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct ResponseCounts {
    pub(crate) repeated: u64,
    pub(crate) reordered: u64,
    pub(crate) skips: u64,
    pub(crate) lost_before: u64,
    pub(crate) lost_after: u64,
    pub(crate) gaps: u64,
}

/// One READ, atomic, FLUSH or ATOMIC WRITE.
#[derive(Clone, Copy, Debug)]
struct Read {
    first: Psn,
    last: Psn,
    /// The PMTU was known when it was sent, or is by now.
    sure: bool,
    dma_len: u32,
    at: Time,
    /// The next response in order.
    next: Psn,
    /// Highest response seen.
    seen: Option<Psn>,
    /// Sent again: no latency is measured from it.
    tainted: bool,
}

impl Read {
    fn contains(&self, psn: Psn) -> bool {
        Range::new(self.first, self.last).contains(psn)
    }

    fn is_answered(&self) -> bool {
        self.next.since(self.last) > 0
    }
}

/// A READ whose count of PSNs is not known yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Provisional {
    pub(crate) first: Psn,
    pub(crate) dma_len: u32,
}

/// Why a READ or atomic was sent again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reissue {
    /// Its response was stepped over here: lost between responder and tap.
    Skipped(u64),
    /// Its response passed here: lost between tap and requester.
    Seen,
    /// No response to it was due yet: the request or the response was lost.
    Silent,
}

/// What a response was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Response {
    /// The next one, or one after a step over others.
    New {
        /// Time of the request, where a latency may be measured.
        asked: Option<Time>,
        /// The first one of its request.
        first: bool,
        /// The last one.
        last: bool,
    },
    /// It filled a step: late.
    Late,
    /// It was seen before.
    Repeated,
    /// No request seen claims it.
    Unclaimed,
}

/// READs and atomics of a stream.
#[derive(Clone, Default, Debug)]
pub(crate) struct Reads {
    list: VecDeque<Read>,
    skipped: Ranges,
    provisional: Option<Provisional>,
    pub(crate) counts: ResponseCounts,
}

impl Reads {
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// READs and atomics sent and not answered.
    pub(crate) fn outstanding(&self) -> usize {
        self.list.iter().filter(|read| !read.is_answered()).count()
    }

    pub(crate) fn take_provisional(&mut self) -> Option<Provisional> {
        self.provisional.take()
    }

    /// A new request: the last PSN it claims. READs claim one a response, at least one (facts of `rxe_comp`, IBTA 9.4.4).
    pub(crate) fn claim(&mut self, packet: &PacketFacts, pmtu: u32, tainted: bool) -> Psn {
        let read = packet.info.operation == Operation::RdmaReadRequest;
        let dma_len = if read { packet.dma_len.unwrap_or(0) } else { 0 };
        let sure = !read || pmtu > 0 || dma_len <= 256;
        let count = if sure { dma_len.div_ceil(pmtu.max(256)).max(1) } else { 1 };
        let last = packet.psn.plus(count.min(1 << 22) - 1);
        if !sure {
            self.provisional = Some(Provisional { first: packet.psn, dma_len });
        }
        if self.list.len() >= MOST_READS {
            self.list.pop_front();
        }
        let next = packet.psn;
        self.list.push_back(Read { first: packet.psn, last, sure, dma_len, at: packet.at, next, seen: None, tainted });
        last
    }

    pub(crate) fn revise_last(&mut self, first: Psn, last: Psn) {
        if let Some(read) = self.list.iter_mut().rev().find(|read| read.first == first) {
            read.last = last;
        }
    }

    /// The PMTU is known now: what every READ with a provisional claim really claims, as (first, last before, last now).
    pub(crate) fn revise_all(&mut self, pmtu: u32) -> Vec<(Psn, Psn, Psn)> {
        self.provisional = None;
        let mut revised = Vec::new();
        for read in self.list.iter_mut().filter(|read| !read.sure) {
            let last = read.first.plus(read.dma_len.div_ceil(pmtu).max(1) - 1);
            read.sure = true;
            if last != read.last {
                revised.push((read.first, read.last, last));
                read.last = last;
            }
        }
        revised
    }

    /// A request sent again from `psn`: why, and the last PSN it claims where the request is known.
    pub(crate) fn reissue(&mut self, psn: Psn) -> Option<(Reissue, Psn)> {
        let read = self.list.iter_mut().rev().find(|read| read.contains(psn))?;
        let rest = Range::new(psn, read.last);
        let why = if self.skipped.contains(psn) {
            Reissue::Skipped(0)
        } else if read.seen.is_some_and(|seen| seen.since(psn) >= 0) {
            Reissue::Seen
        } else {
            Reissue::Silent
        };
        let (last, skipped) = (read.last, self.skipped.remove(rest));
        read.next = psn;
        read.tainted = true;
        Some((if let Reissue::Skipped(_) = why { Reissue::Skipped(skipped) } else { why }, last))
    }

    /// Whether the response `psn` is still to come.
    pub(crate) fn awaits(&self, psn: Psn) -> bool {
        self.list.iter().rev().find(|read| read.contains(psn)).is_some_and(|read| read.next.since(psn) <= 0)
    }

    /// Whether `psn` belongs to a READ, an atomic or another request that is answered by a response.
    pub(crate) fn claims(&self, psn: Psn) -> bool {
        self.list.iter().rev().any(|read| read.contains(psn))
    }

    /// All requests at or behind `psn` were sent again or refused: no latency is measured from them.
    pub(crate) fn taint_from(&mut self, psn: Psn) {
        for read in self.list.iter_mut().filter(|read| read.last.since(psn) >= 0 && !read.is_answered()) {
            read.tainted = true;
        }
    }

    /// A response at `psn`.
    pub(crate) fn on_response(&mut self, psn: Psn) -> Response {
        let Some(index) = self.list.iter().rposition(|read| read.contains(psn)) else { return Response::Unclaimed };
        self.step_over_earlier(index);
        let skipped = self.skipped.contains(psn);
        let read = &mut self.list[index];
        let step = psn.since(read.next);
        let seen_before = read.seen.is_some_and(|seen| seen.since(psn) >= 0) && !skipped;
        if step < 0 {
            if skipped {
                self.skipped.remove(Range::new(psn, psn));
                self.counts.reordered += 1;
                return Response::Late;
            }
            self.counts.repeated += 1;
            return Response::Repeated;
        }
        let first = psn == read.first && read.seen.is_none();
        if step > 0 {
            let over = Range::new(read.next, psn.previous());
            self.counts.skips += over.count();
            self.skipped.insert(over);
        }
        self.skipped.remove(Range::new(psn, psn));
        let read = &mut self.list[index];
        read.next = psn.next();
        if read.seen.is_none_or(|seen| psn.since(seen) > 0) {
            read.seen = Some(psn);
        }
        if seen_before {
            self.counts.repeated += 1;
        }
        let (last, asked) = (psn == read.last, (!read.tainted).then_some(read.at));
        self.retire();
        if seen_before { Response::Repeated } else { Response::New { asked, first, last } }
    }

    /// A response to a later request: what earlier ones still wait for was stepped over.
    fn step_over_earlier(&mut self, index: usize) {
        let this = self.list[index].first;
        for read in self.list.iter_mut().filter(|read| read.last.since(this) < 0 && !read.is_answered()) {
            let rest = Range::new(read.next, read.last);
            self.counts.skips += rest.count();
            self.skipped.insert(rest);
            read.next = read.last.next();
        }
    }

    /// Lets go of requests answered long ago; their skipped responses were never asked for again.
    fn retire(&mut self) {
        while self.list.len() > KEPT_ANSWERED && self.list.front().is_some_and(Read::is_answered) {
            if let Some(read) = self.list.pop_front() {
                self.counts.gaps += self.skipped.remove(Range::new(read.first, read.last));
            }
        }
    }

    /// The end: skipped responses that a later answer proves to have been taken are gaps of the capture.
    pub(crate) fn close(&mut self, answered: Option<Psn>) -> u64 {
        let Some(answered) = answered else { return self.counts.gaps };
        for read in &self.list {
            if answered.since(read.last) > 0 {
                self.counts.gaps += self.skipped.remove(Range::new(read.first, read.last));
            }
        }
        self.counts.gaps
    }
}
