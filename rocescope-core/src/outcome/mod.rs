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
    let mut rows = Vec::new();
    let mut strays = Strays::default();
    for (index, part) in parts.iter_mut().enumerate() {
        part.finish(now);
        strays.merge(core::mem::take(&mut part.strays));
        add_packets(&mut outcome.totals, &part.totals);
        outcome.findings.append(&mut part.resolved);
        for id in part.ids() {
            if let Some(stream) = part.table.get(id) {
                rows.push((stream.key, stream.first_at, stream.first_frame, index, id));
            }
        }
    }
    rows.sort_unstable();
    let number: BTreeMap<(usize, u32), u64> = rows
        .iter()
        .enumerate()
        .map(|(number, (_, _, _, part, id))| ((*part, *id), number as u64))
        .collect();
    for (_, _, _, part, id) in &rows {
        let part_of = &parts[*part];
        let Some(stream) = part_of.table.get(*id) else {
            continue;
        };
        let peer = stream.peer.and_then(|peer| part_of.table.get(peer));
        fold(&mut outcome.totals.requester, stream);
        outcome.totals.icrc.merge(&stream.icrc_counts());
        outcome.totals.ecn.merge(&stream.ecn_counts());
        outcome
            .streams
            .push(stream_row(number[&(*part, *id)], stream, peer));
    }
    for (_, _, _, part, id) in &rows {
        let part_of = &parts[*part];
        let Some(stream) = part_of.table.get(*id) else {
            continue;
        };
        let Some(peer_id) = stream.peer else { continue };
        let (own, other) = (number[&(*part, *id)], number.get(&(*part, peer_id)));
        let (Some(other), Some(peer)) = (other, part_of.table.get(peer_id)) else {
            continue;
        };
        if own < *other {
            let connection = outcome.connections.len() as u64;
            outcome.connections.push(connection_row(
                connection,
                [own, *other],
                stream,
                peer,
                part_of,
            ));
        }
    }
    outcome.findings.extend(strays.finding());
    number_findings(&mut outcome);
    outcome
}

/// Orders the findings and gives their subjects the numbers of the streams.
fn number_findings(outcome: &mut Outcome) {
    let mut numbers: BTreeMap<(Address, Address, u32), Vec<(u64, u64)>> = BTreeMap::new();
    for stream in &outcome.streams {
        numbers
            .entry((stream.src, stream.dst, stream.dest_qpn))
            .or_default()
            .push((stream.first_ns, stream.id));
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
    sum.stalled_ns += more.stalled_ns;
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
