//! How streams end: settled, closed, and let go where there are too many.

use super::Partition;
use crate::Time;
use crate::event::{Event, EventKind};
use crate::report::EndedBy;

impl Partition {
    /// Settles everything open on a stream as it stands.
    pub(crate) fn settle_stream(&mut self, id: u32, now: Time) {
        self.now = now;
        self.release(id);
        let Some(stream) = self.table.get_mut(id) else {
            return;
        };
        let requests = &mut stream.requester;
        requests.decide(None, now, &mut self.events);
        requests.finish_repairs(now, &mut self.events);
        requests.close_ahead(&mut self.events);
        requests.close_gaps(stream.last_frame, stream.last_at, &mut self.events);
        if !self.events.is_empty() {
            self.detect(id);
        }
    }

    /// Tells the detectors that a stream is over, and ends its findings.
    pub(crate) fn close_stream(&mut self, id: u32, now: Time, by: EndedBy) {
        self.now = now;
        let Some(stream) = self.table.get(id) else {
            return;
        };
        self.events.push(Event {
            at: stream.last_at,
            frame: stream.last_frame,
            kind: EventKind::Closed,
        });
        self.detect(id);
        if let Some(stream) = self.table.get_mut(id) {
            let open = core::mem::take(&mut stream.open_findings);
            self.resolved
                .extend(open.into_iter().map(|open| open.end(now, by)));
        }
    }

    /// Lets the least recently seen streams go until `quota` are left; their counts go into the sums.
    pub fn trim(&mut self, quota: usize, now: Time) {
        while self.table.len() > quota {
            let Some(id) = self.table.oldest() else {
                return;
            };
            self.evict(id, now);
            self.totals.evicted += 1;
        }
    }

    fn evict(&mut self, id: u32, now: Time) {
        self.settle_stream(id, now);
        self.close_stream(id, now, EndedBy::Closed);
        if let Some(stream) = self.table.get(id) {
            self.unpaired.remove(id, stream);
        }
        let Some(stream) = self.table.remove(id) else {
            return;
        };
        if let Some(peer) = stream.peer.and_then(|peer| self.table.get_mut(peer)) {
            peer.peer = None;
        }
        crate::outcome::fold(&mut self.totals.folded, &stream);
        self.totals.icrc.merge(&stream.icrc_counts());
        self.totals.ecn.merge(&stream.ecn_counts());
    }
}
