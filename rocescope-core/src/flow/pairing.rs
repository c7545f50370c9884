//! Which two streams are the two directions of one connection.
//!
//! Evidence in this order: CM REQ and REP; the UDP source port, which drivers compute from both QPNs and so is the same in
//! both directions; that there is no other candidate between the two hosts; the share of answers that fall into the other
//! side's outstanding window.

use super::answer::Answer;
use super::stream::{Courting, MOST_WAITING, Stream};
use crate::Address;
use rocescope_wire::Qpn;
use std::collections::HashMap;

/// Candidates looked at for one answer.
const MOST_CANDIDATES: usize = 64;
/// Answers before the share decides.
const LEAST_ANSWERS: u32 = 3;
/// The best candidate has this many times the answers of the next.
const LEAST_LEAD: u32 = 2;

/// Streams that wait for their other direction, by what they share with it.
#[derive(Default, Debug)]
pub(crate) struct Unpaired {
    by_port: HashMap<(Address, Address, u16), Vec<u32>, foldhash::fast::FixedState>,
    by_hosts: HashMap<(Address, Address), Vec<u32>, foldhash::fast::FixedState>,
}

impl Unpaired {
    pub(crate) fn insert(&mut self, id: u32, stream: &Stream) {
        let (src, dst) = (stream.key.src, stream.key.dst);
        self.by_port
            .entry((src, dst, stream.udp_source_port))
            .or_default()
            .push(id);
        let recent = self.by_hosts.entry((src, dst)).or_default();
        if recent.len() >= MOST_CANDIDATES {
            recent.remove(0);
        }
        recent.push(id);
    }

    pub(crate) fn remove(&mut self, id: u32, stream: &Stream) {
        let (src, dst) = (stream.key.src, stream.key.dst);
        if let Some(list) = self.by_port.get_mut(&(src, dst, stream.udp_source_port)) {
            if let Some(at) = list.iter().rposition(|own| *own == id) {
                list.remove(at);
            }
            if list.is_empty() {
                self.by_port.remove(&(src, dst, stream.udp_source_port));
            }
        }
        if let Some(list) = self.by_hosts.get_mut(&(src, dst)) {
            list.retain(|own| *own != id);
            if list.is_empty() {
                self.by_hosts.remove(&(src, dst));
            }
        }
    }

    /// Streams of the other direction with the same UDP source port.
    fn same_port(&self, stream: &Stream) -> &[u32] {
        let list = self
            .by_port
            .get(&(stream.key.dst, stream.key.src, stream.udp_source_port));
        list.map_or(&[], |list| {
            &list[list.len().saturating_sub(MOST_CANDIDATES)..]
        })
    }

    /// How many streams of the same direction share the UDP source port.
    fn rivals(&self, stream: &Stream) -> usize {
        self.by_port
            .get(&(stream.key.src, stream.key.dst, stream.udp_source_port))
            .map_or(0, Vec::len)
    }

    /// The only stream of the other direction, where there is but one of this direction too.
    fn only_other(&self, stream: &Stream) -> Option<u32> {
        let (src, dst) = (stream.key.src, stream.key.dst);
        self.only_from(src, dst)
            .and_then(|_| self.only_from(dst, src))
    }

    /// The only stream from `src` to `dst` that waits for its other direction.
    pub(crate) fn only_from(&self, src: Address, dst: Address) -> Option<u32> {
        match self.by_hosts.get(&(src, dst)).map(Vec::as_slice) {
            Some([only]) => Some(*only),
            _ => None,
        }
    }

    fn other_direction(&self, stream: &Stream) -> &[u32] {
        self.by_hosts
            .get(&(stream.key.dst, stream.key.src))
            .map_or(&[], Vec::as_slice)
    }
}

/// The UDP source port that Linux computes from the two QPNs of a connection (`rdma_calc_flow_label`,
/// `rdma_flow_label_to_udp_sport` in `ib_verbs.h`).
pub(crate) fn port_of(a: Qpn, b: Qpn) -> u16 {
    let mut label = u64::from(a.get()) * u64::from(b.get());
    label ^= label >> 20;
    label ^= label >> 40;
    let label = (label & 0xf_ffff) as u32;
    0xc000 | ((label & 0x3fff) ^ (label >> 14)) as u16
}

/// Keeps an answer of `stream` until it is known whose requests it answers.
pub(crate) fn wait(stream: &mut Stream, answer: &Answer) {
    let courting = stream.courting.get_or_insert_default();
    if courting.waiting.len() < MOST_WAITING {
        courting.waiting.push(*answer);
    }
}

/// Looks for the other direction of `streams[id]`, which carries `answer`.
pub(crate) fn court(
    streams: &mut [Option<Box<Stream>>],
    unpaired: &Unpaired,
    id: u32,
    answer: &Answer,
) -> Option<u32> {
    let stream = streams.get(id as usize)?.as_deref()?;
    let port = stream.udp_source_port;
    let fits = |candidate: u32| {
        streams
            .get(candidate as usize)
            .and_then(Option::as_deref)
            .is_some_and(|other| in_window(other, answer))
    };
    let same_port = unpaired.same_port(stream);
    if port != 0 {
        let mut fitting = same_port
            .iter()
            .copied()
            .filter(|candidate| fits(*candidate));
        if let (Some(only), None) = (fitting.next(), fitting.next())
            && same_port.len() == 1
            && unpaired.rivals(stream) <= 1
        {
            return Some(only);
        }
        let by_qpns = |candidate: &u32| {
            let other = streams.get(*candidate as usize).and_then(Option::as_deref);
            other.is_some_and(|other| port_of(other.key.dest_qpn, stream.key.dest_qpn) == port)
        };
        let mut named = same_port
            .iter()
            .copied()
            .filter(|candidate| fits(*candidate))
            .filter(by_qpns);
        if let (Some(only), None) = (named.next(), named.next()) {
            return Some(only);
        }
    }
    if let Some(only) = unpaired.only_other(stream).filter(|only| fits(*only)) {
        return Some(only);
    }
    let candidates = if port != 0 && !same_port.is_empty() {
        same_port
    } else {
        unpaired.other_direction(stream)
    };
    let fitting: Vec<u32> = candidates
        .iter()
        .copied()
        .filter(|candidate| fits(*candidate))
        .collect();
    let stream = streams.get_mut(id as usize)?.as_deref_mut()?;
    score(stream.courting.get_or_insert_default(), &fitting)
}

/// Books an answer for the candidates whose window it falls into.
fn score(courting: &mut Courting, fitting: &[u32]) -> Option<u32> {
    courting.answers += 1;
    for candidate in fitting {
        if let Some((_, count)) = courting.scores.iter_mut().find(|(own, _)| own == candidate) {
            *count += 1;
        } else if courting.scores.len() < MOST_CANDIDATES {
            courting.scores.push((*candidate, 1));
        }
    }
    let (best, count) = courting
        .scores
        .iter()
        .copied()
        .max_by_key(|(id, count)| (*count, std::cmp::Reverse(*id)))?;
    let next = courting
        .scores
        .iter()
        .filter(|(own, _)| *own != best)
        .map(|(_, count)| *count)
        .max()
        .unwrap_or(0);
    (count >= LEAST_ANSWERS && count >= LEAST_LEAD * next).then_some(best)
}

/// Whether `answer` answers something that `other` asked.
fn in_window(other: &Stream, answer: &Answer) -> bool {
    let requests = &other.requester;
    requests.started
        && !other.retired
        && !requests.unreliable
        && answer.psn.since(requests.first) >= 0
        && answer.psn.since(requests.high) <= 0
}
