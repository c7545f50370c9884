//! READs and atomics under way, and their responses: each claims PSNs of the request space and is answered in them.

use super::ranges::{Range, Ranges};
use super::stream::PacketFacts;
use crate::Time;
use rocescope_wire::{Psn, opcode::Operation};
use std::collections::VecDeque;

/// READs and atomics remembered a stream.
const MOST_READS: usize = 512;
/// The latest ones are kept although they are answered, for late and repeated responses.
const KEPT: usize = 32;
/// PSNs one READ can claim here: far more than any does, and a quarter of the number space, so that order stays defined.
const MOST_CLAIMED: u32 = 1 << 22;

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
    /// Octets asked for, where the claim still depends on the PMTU; see [`Claim`].
    claim: Claim,
    at: Time,
    /// Sent again: no latency is measured from it.
    tainted: bool,
}

impl Read {
    fn range(&self) -> Range {
        Range::new(self.first, self.last)
    }

    fn contains(&self, psn: Psn) -> bool {
        self.range().contains(psn)
    }
}

/// What is known of how many PSNs a READ claims.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Claim {
    /// It is certain.
    Certain,
    /// Its octets are known, the PMTU is not.
    Octets(u32),
    /// The frame was cut before the DMA length.
    Unknown,
}

/// Why a READ or atomic was sent again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reissue {
    /// Its response was stepped over here: lost between responder and tap.
    Skipped,
    /// Its response passed here: lost between tap and requester.
    Seen,
    /// Those before it passed here, it and all behind it did not: one at least was lost between responder and tap.
    Tail,
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

/// READs and atomics of a stream, and the cursor over their responses.
#[derive(Clone, Default, Debug)]
pub(crate) struct Reads {
    list: VecDeque<Read>,
    /// Last response in sending order.
    cursor: Option<Psn>,
    /// Highest response seen.
    highest: Option<Psn>,
    /// The requester asked again from here; the responder did not step back yet.
    restart: Option<Psn>,
    /// The last time the cursor went over these responses it stepped over them.
    skipped: Ranges,
    provisional: Option<Psn>,
    /// The PMTU is no smaller: a response carried as many octets.
    pmtu_at_least: u32,
    /// Responses that were stepped over and came again, not booked yet.
    pub(crate) resent: u64,
    pub(crate) counts: ResponseCounts,
}

impl Reads {
    /// A new request: the last PSN it claims. A READ claims one a response, at least one (rxe `rxe_requester`).
    pub(crate) fn claim(&mut self, packet: &PacketFacts, pmtu: u32, tainted: bool) -> Psn {
        let pmtu_at_least = pmtu.max(self.pmtu_at_least).max(256);
        let claim = match (packet.info.operation, packet.dma_len) {
            (Operation::RdmaReadRequest, None) => Claim::Unknown,
            (Operation::RdmaReadRequest, Some(octets)) if pmtu == 0 && octets > pmtu_at_least => {
                Claim::Octets(octets)
            }
            _ => Claim::Certain,
        };
        let read = packet.info.operation == Operation::RdmaReadRequest && claim == Claim::Certain;
        let count = if read {
            packet
                .dma_len
                .unwrap_or(0)
                .div_ceil(pmtu_at_least)
                .clamp(1, MOST_CLAIMED)
        } else {
            1
        };
        let last = packet.psn.plus(count - 1);
        self.provisional = (claim != Claim::Certain).then_some(packet.psn);
        if self.list.len() >= MOST_READS {
            self.list.pop_front();
        }
        self.list.push_back(Read {
            first: packet.psn,
            last,
            claim,
            at: packet.at,
            tainted,
        });
        last
    }

    /// A request that came late: where its claim is open it goes through `until`, for the next request was seen before.
    pub(crate) fn claim_late(&mut self, packet: &PacketFacts, pmtu: u32, until: Psn) -> Psn {
        let provisional = self.provisional;
        let last = self.claim(packet, pmtu, false);
        self.provisional = provisional;
        match self.list.back_mut() {
            Some(read) if read.claim != Claim::Certain && until.since(last) > 0 => {
                read.last = until;
                until
            }
            _ => last,
        }
    }

    /// A request that came late begins at `psn`, so an open claim that goes over it ends before it: its last PSN before
    /// and now.
    pub(crate) fn ends_before(&mut self, psn: Psn) -> Option<(Psn, Psn)> {
        let read =
            self.list.iter_mut().rev().find(|read| {
                read.claim != Claim::Certain && read.contains(psn) && read.first != psn
            })?;
        let before = core::mem::replace(&mut read.last, psn.previous());
        Some((before, read.last))
    }

    /// A response of `payload` octets is the last one of its READ, whose claim may have been open: its last PSN before
    /// and now.
    pub(crate) fn ends_at(&mut self, psn: Psn, only: bool, payload: u32) -> Option<(Psn, Psn)> {
        self.pmtu_at_least = self.pmtu_at_least.max(payload);
        let read = self.list.iter_mut().rev().find(|read| {
            if only {
                read.first == psn
            } else {
                psn.since(read.first) > 0
            }
        })?;
        if read.claim == Claim::Certain {
            return None;
        }
        read.claim = Claim::Certain;
        self.provisional.take_if(|first| *first == read.first);
        let before = core::mem::replace(&mut read.last, psn);
        (before != psn).then_some((before, psn))
    }

    /// No claim waits for the next request.
    #[inline]
    pub(crate) fn is_certain(&self) -> bool {
        self.provisional.is_none()
    }

    /// The next request is at `next`: how many PSNs the READ before it claimed, where that was open.
    pub(crate) fn resolve(&mut self, next: Psn) -> Option<Psn> {
        let first = self.provisional.take()?;
        let read = self
            .list
            .iter_mut()
            .rev()
            .find(|read| read.first == first)?;
        let claimed = u32::try_from(next.since(first))
            .ok()
            .filter(|claimed| (1..=MOST_CLAIMED).contains(claimed))?;
        read.last = first.plus(claimed - 1);
        Some(read.last)
    }

    /// A response right behind the claim of the latest READ, whose length is not known: it belongs to it.
    pub(crate) fn extend(&mut self, psn: Psn) -> Option<Psn> {
        let read = self
            .list
            .back_mut()
            .filter(|read| read.claim != Claim::Certain && psn.since(read.last) == 1)?;
        read.last = psn;
        Some(psn)
    }

    /// The PMTU is known now: what every READ with a provisional claim really claims, as (last before, last now).
    pub(crate) fn revise(&mut self, pmtu: u32) -> Vec<(Psn, Psn)> {
        let mut revised = Vec::new();
        for read in &mut self.list {
            if let Claim::Octets(octets) = read.claim {
                let last = read
                    .first
                    .plus(octets.div_ceil(pmtu).clamp(1, MOST_CLAIMED) - 1);
                read.claim = Claim::Certain;
                self.provisional.take_if(|first| *first == read.first);
                if last != read.last {
                    revised.push((read.last, last));
                    read.last = last;
                }
            }
        }
        revised
    }

    /// A request sent again from `psn`: why, how many of the responses it asks for again were stepped over, and the last
    /// PSN it claims; where the request is known.
    pub(crate) fn reissue(&mut self, psn: Psn, begins_pass: bool) -> Option<(Reissue, u64, Psn)> {
        let read = self.list.iter_mut().rev().find(|read| read.contains(psn))?;
        read.tainted = true;
        let last = read.last;
        let why = if self.skipped.contains(psn) {
            Reissue::Skipped
        } else if self.highest.is_some_and(|highest| highest.since(psn) >= 0) {
            Reissue::Seen
        } else if psn != read.first && self.highest == Some(psn.previous()) {
            Reissue::Tail
        } else {
            Reissue::Silent
        };
        let skipped = self.skipped.remove(Range::new(psn, last));
        if begins_pass || self.restart.is_some_and(|restart| psn.since(restart) < 0) {
            self.restart = Some(psn);
        }
        Some((why, skipped, last))
    }

    /// Whether the response `psn` is still to come.
    pub(crate) fn awaits(&self, psn: Psn) -> bool {
        self.skipped.contains(psn)
            || self.restart.is_some_and(|restart| psn.since(restart) >= 0)
            || self.list.iter().any(|read| read.contains(psn))
                && self.highest.is_none_or(|highest| highest.since(psn) < 0)
    }

    /// All requests from `psn` on were sent again or refused: no latency is measured from them.
    pub(crate) fn taint_from(&mut self, psn: Psn) {
        for read in self
            .list
            .iter_mut()
            .rev()
            .take_while(|read| read.last.since(psn) >= 0)
        {
            read.tainted = true;
        }
    }

    /// A response at `psn`; `older` where its IP id says that it was sent before the newest answer seen.
    pub(crate) fn on_response(&mut self, psn: Psn, older: bool) -> Response {
        let Some(index) = self.list.iter().rposition(|read| read.contains(psn)) else {
            return Response::Unclaimed;
        };
        let own = Range::new(psn, psn);
        let seen = self.highest.is_some_and(|highest| highest.since(psn) >= 0)
            && !self.skipped.contains(psn);
        let back = self.cursor.is_some_and(|cursor| cursor.since(psn) >= 0);
        if back && self.skipped.contains(psn) && (older || self.restart.is_none()) {
            self.skipped.remove(own);
            self.counts.reordered += 1;
            return Response::Late;
        }
        if back {
            if let Some(restart) = self.restart.take_if(|restart| psn.since(*restart) >= 0) {
                self.step_over(restart, psn);
            }
        } else {
            let from = self.cursor.map_or(self.list[0].first, Psn::next);
            self.step_over(from, psn);
        }
        // Stepped over once more since it was asked for again, and here it is: that one was lost too.
        self.resent += self.skipped.remove(own);
        self.cursor = Some(psn);
        if self.highest.is_none_or(|highest| psn.since(highest) > 0) {
            self.highest = Some(psn);
        }
        if seen {
            self.counts.repeated += 1;
            return Response::Repeated;
        }
        let read = self.list[index];
        self.retire();
        Response::New {
            asked: (!read.tainted).then_some(read.at),
            first: psn == read.first,
            last: psn == read.last,
        }
    }

    /// The cursor goes from `from` to `psn`: what READs claim in between was stepped over.
    fn step_over(&mut self, from: Psn, psn: Psn) {
        if psn.since(from) <= 0 {
            return;
        }
        for read in &self.list {
            let first = if read.first.since(from) > 0 {
                read.first
            } else {
                from
            };
            let last = if read.last.since(psn) < 0 {
                read.last
            } else {
                psn.previous()
            };
            if last.since(first) >= 0 {
                self.counts.skips += Range::new(first, last).count();
                self.skipped.insert(Range::new(first, last));
            }
        }
    }

    /// Lets go of requests answered long ago; their skipped responses were never asked for again.
    fn retire(&mut self) {
        while self.list.len() > KEPT {
            let Some(front) = self.list.front().copied() else {
                return;
            };
            let Some(highest) = self.highest else { return };
            if highest.since(front.last) < 0
                || self
                    .restart
                    .is_some_and(|restart| front.last.since(restart) >= 0)
            {
                return;
            }
            self.counts.gaps += self.skipped.remove(front.range());
            self.list.pop_front();
        }
    }

    /// Nothing before can be ordered with what comes.
    pub(crate) fn forget(&mut self) {
        self.list.clear();
        self.skipped.clear();
        (self.cursor, self.highest, self.restart, self.provisional) = (None, None, None, None);
    }

    /// The end: skipped responses that a later answer proves to have been taken are gaps of the capture.
    pub(crate) fn close(&mut self, answered: Option<Psn>) -> u64 {
        let Some(answered) = answered else {
            return self.counts.gaps;
        };
        for read in &self.list {
            let asked_again = self
                .restart
                .is_some_and(|restart| read.last.since(restart) >= 0);
            if answered.since(read.last) > 0 && !asked_again {
                self.counts.gaps += self.skipped.remove(read.range());
            }
        }
        self.counts.gaps
    }
}
