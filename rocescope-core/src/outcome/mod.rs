//! From the state of all parts to a report.

mod rows;

use crate::finding::Strays;
use crate::flow::stream::Stream;
use crate::partition::{PacketTotals, Partition};
use crate::report::{
    self, Connection, EndedBy, Finding, RequesterTotals, Severity, Subject, Totals,
};
use crate::{Address, Time};
use rows::{connection_row, stream_row};
use std::collections::BTreeMap;

/// Findings listed in full; more are only counted.
const MOST_FINDINGS: usize = 10_000;

/// What the analysis of an input came to.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Sums.
    pub totals: Totals,
    /// Streams, ordered by source, destination, destination QPN and time.
    pub streams: Vec<report::Stream>,
    /// Pairs of streams.
    pub connections: Vec<Connection>,
    /// Findings, the most severe first.
    pub findings: Vec<Finding>,
    /// Findings beyond the 10,000 listed, by id.
    pub findings_only_counted: BTreeMap<&'static str, u64>,
}

/// Ends the analysis of all parts at `now`, the time of the input's end.
#[must_use]
pub fn finish(mut parts: Vec<Partition>, now: Time) -> Outcome {
    let mut outcome = Outcome::default();
    let mut places = Vec::new();
    let mut strays = Strays::default();
    for (index, part) in parts.iter_mut().enumerate() {
        part.finish(now);
        strays.merge(core::mem::take(&mut part.strays));
        add_packets(&mut outcome.totals, &part.totals);
        outcome.findings.append(&mut part.resolved);
        for id in part.ids() {
            if let Some(stream) = part.table.get(id) {
                let order = (stream.key, stream.first_at, stream.first_frame);
                places.push((order, Place { part: index, id }));
            }
        }
    }
    places.sort_unstable_by_key(|(order, place)| (*order, *place));
    let places: Vec<Place> = places.into_iter().map(|(_, place)| place).collect();
    let numbers = Numbers::of(&parts, &places);
    add_connections(&mut outcome, &parts, &places, &numbers);
    add_streams(&mut outcome, &mut parts, &places, &numbers);
    outcome.findings.extend(strays.finding());
    number_findings(&mut outcome);
    outcome
}

/// Where a stream is kept.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    part: usize,
    id: u32,
}

/// The numbers of streams in the report.
struct Numbers(Vec<Vec<u64>>);

impl Numbers {
    fn of(parts: &[Partition], places: &[Place]) -> Self {
        let mut numbers: Vec<Vec<u64>> = parts
            .iter()
            .map(|part| vec![0; part.table.streams.len()])
            .collect();
        for (number, place) in places.iter().enumerate() {
            numbers[place.part][place.id as usize] = number as u64;
        }
        Self(numbers)
    }

    fn get(&self, place: Place) -> u64 {
        self.0[place.part][place.id as usize]
    }
}

fn add_connections(
    outcome: &mut Outcome,
    parts: &[Partition],
    places: &[Place],
    numbers: &Numbers,
) {
    for place in places {
        let part = &parts[place.part];
        let Some(stream) = part.table.get(place.id) else {
            continue;
        };
        let Some(peer_id) = stream.peer else { continue };
        let Some(peer) = part.table.get(peer_id) else {
            continue;
        };
        let both = [
            numbers.get(*place),
            numbers.get(Place {
                id: peer_id,
                ..*place
            }),
        ];
        if both[0] < both[1] {
            let connection = outcome.connections.len() as u64;
            outcome
                .connections
                .push(connection_row(connection, both, stream, peer, part));
        }
    }
}

/// Adds the rows of streams. Each stream is let go as soon as no row needs it, so that a million of them are not held twice.
fn add_streams(
    outcome: &mut Outcome,
    parts: &mut [Partition],
    places: &[Place],
    numbers: &Numbers,
) {
    outcome.streams.reserve_exact(places.len());
    for place in places {
        let table = &mut parts[place.part].table;
        let Some(stream) = table.get(place.id) else {
            continue;
        };
        let (number, peer) = (numbers.get(*place), stream.peer);
        fold(&mut outcome.totals.requester, stream);
        outcome.totals.icrc.merge(&stream.icrc_counts());
        outcome.totals.ecn.merge(&stream.ecn_counts());
        outcome.streams.push(stream_row(
            number,
            stream,
            peer.and_then(|peer| table.get(peer)),
        ));
        let waits = peer.is_some_and(|id| numbers.get(Place { id, ..*place }) > number);
        if !waits {
            for done in peer.into_iter().chain([place.id]) {
                table.streams[done as usize] = None;
            }
        }
    }
}

/// Orders the findings and gives their subjects the numbers of the streams.
fn number_findings(outcome: &mut Outcome) {
    let mut numbers: BTreeMap<(Address, Address, u32), Vec<(u64, u64)>> = BTreeMap::new();
    for finding in &outcome.findings {
        if let Subject::Stream {
            src, dst, dest_qpn, ..
        } = finding.subject
        {
            numbers.entry((src, dst, dest_qpn)).or_default();
        }
    }
    for stream in &outcome.streams {
        if let Some(known) = numbers.get_mut(&(stream.src, stream.dst, stream.dest_qpn)) {
            known.push((stream.first_ns, stream.id));
        }
    }
    for finding in &mut outcome.findings {
        if let Subject::Stream {
            stream,
            src,
            dst,
            dest_qpn,
            ..
        } = &mut finding.subject
        {
            let known = numbers.get(&(*src, *dst, *dest_qpn));
            let owner = known.and_then(|list| {
                list.iter()
                    .rev()
                    .find(|(first, _)| *first <= finding.first_ns)
                    .or(list.first())
            });
            *stream = owner.map(|(_, id)| *id);
        }
    }
    order(&mut outcome.findings);
    for finding in outcome
        .findings
        .drain(MOST_FINDINGS.min(outcome.findings.len())..)
    {
        *outcome.findings_only_counted.entry(finding.id).or_default() += 1;
    }
}

/// Orders findings: the most severe first, then by time.
pub fn order(findings: &mut [Finding]) {
    findings.sort_by(|a, b| {
        let by = |finding: &Finding| (std::cmp::Reverse(finding.severity), finding.first_ns);
        by(a)
            .cmp(&by(b))
            .then_with(|| a.id.cmp(b.id))
            .then_with(|| a.key.cmp(&b.key))
    });
}

/// Adds the packets of a part to the sums.
fn add_packets(totals: &mut Totals, part: &PacketTotals) {
    totals.roce_v1 += part.roce_v1;
    totals.roce_v2 += part.roce_v2;
    totals.cnp += part.cnp;
    totals.undecodable += part.undecodable;
    totals.malformed += part.malformed;
    totals.second_sightings += part.second_sightings;
    totals.streams += part.streams;
    totals.evicted_streams += part.evicted;
    totals.idle_streams += part.idle;
    totals.icrc.merge(&part.icrc);
    totals.ecn.merge(&part.ecn);
    add_requester(&mut totals.requester, &part.folded);
}

fn add_requester(sum: &mut RequesterTotals, more: &RequesterTotals) {
    sum.packets += more.packets;
    sum.wire_bytes += more.wire_bytes;
    sum.messages += more.messages;
    sum.retransmitted_packets += more.retransmitted_packets;
    sum.retransmitted_bytes += more.retransmitted_bytes;
    sum.reordered_packets += more.reordered_packets;
    sum.mirror_duplicates += more.mirror_duplicates;
    sum.missing_psns += more.missing_psns;
    sum.lost_before += more.lost_before;
    sum.lost_after += more.lost_after;
    sum.responses_lost += more.responses_lost;
    sum.damaged += more.damaged;
    sum.stalled_ns = sum.stalled_ns.saturating_add(more.stalled_ns);
}

/// Adds a stream to the sums.
pub(crate) fn fold(sum: &mut RequesterTotals, stream: &Stream) {
    let requests = &stream.requester;
    let counts = &requests.counts;
    let request_bytes = if counts.packets > 0 {
        stream.wire_bytes
    } else {
        0
    };
    add_requester(
        sum,
        &RequesterTotals {
            packets: counts.packets,
            wire_bytes: request_bytes,
            messages: requests.messages.count,
            retransmitted_packets: counts.retransmitted_packets,
            retransmitted_bytes: counts.retransmitted_bytes,
            reordered_packets: counts.reordered_packets,
            mirror_duplicates: counts.mirror_duplicates,
            missing_psns: requests.missing_psns(),
            lost_before: counts.lost_before,
            lost_after: counts.lost_after,
            responses_lost: requests.reads.counts.lost_before + requests.reads.counts.lost_after,
            damaged: counts.damaged,
            stalled_ns: counts.stalled_ns,
        },
    );
}

impl Partition {
    /// Ids of all streams.
    pub(crate) fn ids(&self) -> Vec<u32> {
        (0..self.table.streams.len() as u32)
            .filter(|id| self.table.get(*id).is_some())
            .collect()
    }

    /// Settles and closes everything.
    fn finish(&mut self, now: Time) {
        let mut ids = self.ids();
        ids.sort_by_key(|id| {
            self.table
                .get(*id)
                .map(|stream| (stream.key, stream.first_at, stream.first_frame))
        });
        for id in &ids {
            self.settle_stream(*id, now);
        }
        for id in &ids {
            self.close_stream(*id, now, EndedBy::End);
        }
    }
}

/// Whether any finding is at or above `severity`.
#[must_use]
pub fn any_at_least(findings: &[Finding], severity: Severity) -> bool {
    findings.iter().any(|finding| finding.severity >= severity)
}
