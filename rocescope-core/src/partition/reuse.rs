//! A queue pair number that is used anew: the old stream ends, a new one takes over its key.
//!
//! CM says so, or the PSN of a message start lies far from the high-water and the answers' MSN starts again near 0. Until
//! the answers tell, packets are held back.

use super::Partition;
use crate::flow::stream::{PacketFacts, Stream};
use crate::report::PairedBy;

/// A jump of this many PSNs at the start of a message may mean a new owner of the QPN.
const REUSE_JUMP: i32 = 1 << 16;
/// Packets held back until it is known.
const MOST_HELD: usize = 256;
/// "Near 0" for the message sequence number of a new connection.
const YOUNG_MSN: u32 = 64;

impl Partition {
    /// Whether the packet is held back because it may belong to a new owner of the QPN.
    pub(super) fn holds(&mut self, id: u32, facts: &PacketFacts) -> bool {
        let Some(stream) = self.table.get_mut(id) else {
            return false;
        };
        if !stream.requester.started {
            return false;
        }
        let jump = facts.psn.since(stream.requester.high);
        let far = !(-REUSE_JUMP..=REUSE_JUMP).contains(&jump);
        if let Some(last) = stream.held.last() {
            let near = (-REUSE_JUMP..=REUSE_JUMP).contains(&facts.psn.since(last.psn));
            if far && near && stream.held.len() < MOST_HELD {
                stream.held.push(facts.clone());
                return true;
            }
            self.release(id);
            return false;
        }
        if stream.disconnected.is_some() && jump != 1 && facts.info.part.begins() && far {
            let new = self.renew(id, facts);
            self.accept_request(new, facts);
            return true;
        }
        if far && facts.info.part.begins() && (stream.peer.is_some() || stream.paired_by.is_some())
        {
            stream.held.push(facts.clone());
            return true;
        }
        false
    }

    /// What was held back belongs to the old owner after all.
    pub(crate) fn release(&mut self, id: u32) {
        let Some(stream) = self.table.get_mut(id) else {
            return;
        };
        for facts in core::mem::take(&mut stream.held) {
            self.accept_held(id, &facts);
        }
    }

    /// An answer decides about packets held back: if its message sequence number starts anew, so did the connection.
    /// Returns the new stream of answers.
    pub(super) fn reuse_by_answer(
        &mut self,
        answers: u32,
        facts: &PacketFacts,
        msn: Option<u32>,
    ) -> Option<u32> {
        let requests = self.table.get(answers)?.peer?;
        let held = &self.table.get(requests)?.held;
        let (first, last) = (held.first()?.psn, held.last()?.psn);
        if facts.psn.since(first) < 0 || facts.psn.since(last) > 0 {
            return None;
        }
        if msn.is_none_or(|msn| msn > YOUNG_MSN) {
            self.release(requests);
            return None;
        }
        let held = core::mem::take(&mut self.table.get_mut(requests)?.held);
        let new_answers = self.renew(answers, facts);
        let new_requests = self.renew(requests, held.first()?);
        for facts in held {
            self.accept_held(new_requests, &facts);
        }
        self.pair(new_requests, new_answers, PairedBy::Inferred);
        Some(new_answers)
    }

    /// A packet that was held back takes part at last.
    fn accept_held(&mut self, id: u32, facts: &PacketFacts) {
        let class = self.accept_request(id, facts);
        self.decided.push((facts.frame, class));
    }

    /// A new stream takes over the key of `id`.
    pub(crate) fn renew(&mut self, id: u32, facts: &PacketFacts) -> u32 {
        let Some(key) = self.table.get(id).map(|stream| stream.key) else {
            return id;
        };
        self.table.retire(id);
        if let Some(stream) = self.table.get(id) {
            self.unpaired.remove(id, stream);
        }
        self.totals.streams += 1;
        let new = self.table.insert(Box::new(Stream::new(key, facts)));
        if let Some(stream) = self.table.get(new) {
            self.unpaired.insert(new, stream);
        }
        new
    }
}
