//! From the state of all parts to a report.

use crate::finding::Strays;
use crate::flow::requester::Requester;
use crate::flow::stream::Stream;
use crate::partition::{PacketTotals, Partition};
use crate::report::{
    self, Connection, EndedBy, Finding, Latencies, NearerTo, RequesterTotals, Severity, Subject,
    Totals,
};
use crate::{Address, Time};
use std::collections::BTreeMap;

/// Findings listed in full; more are only counted.
const MOST_FINDINGS: usize = 10_000;
/// Measurements before a tap is said to be nearer to one end.
const LEAST_TURNS: u64 = 8;
/// One end is nearer if its share of the round trip is this many times smaller.
const NEARER_FACTOR: u64 = 3;

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

fn stream_row(id: u64, stream: &Stream, peer: Option<&Stream>) -> report::Stream {
    let transport = stream
        .opcodes
        .iter()
        .max_by_key(|(opcode, count)| (*count, std::cmp::Reverse(opcode.0)));
    let transport = transport
        .and_then(|(opcode, _)| opcode.info())
        .map_or("unknown", |info| info.transport.name());
    let opcodes = stream.opcodes.iter().map(|(opcode, count)| {
        (
            opcode.info().map_or_else(
                || format!("UNKNOWN_{:#04x}", opcode.0),
                |info| info.name.to_owned(),
            ),
            count,
        )
    });
    let mut by_name: BTreeMap<String, u64> = BTreeMap::new();
    for (name, count) in opcodes {
        *by_name.entry(name).or_default() += count;
    }
    report::Stream {
        id,
        src: stream.key.src,
        dst: stream.key.dst,
        dest_qpn: stream.key.dest_qpn.get(),
        transport,
        packets: stream.packets(),
        wire_bytes: stream.wire_bytes,
        payload_bytes: stream.payload_bytes,
        first_ns: stream.first_at.0,
        last_ns: stream.last_at.0,
        udp_source_port: stream.udp_source_port,
        dscp: stream.dscp,
        pcp: stream.pcp,
        vlan: stream.vlan,
        migreq_packets: stream.migreq,
        opcodes: by_name,
        requester: requester_row(&stream.requester),
        responder: responder_row(stream, peer.map(|peer| &peer.requester)),
        ecn: stream.ecn_counts(),
        icrc: stream.icrc_counts(),
        cnps: stream.cnps,
        source_qpns: stream.source_qpns.clone(),
    }
}

/// Operations in the order in which the request side counts them.
const OPERATIONS: [&str; 6] = [
    "SEND",
    "RDMA_WRITE",
    "RDMA_READ",
    "ATOMIC",
    "FLUSH",
    "ATOMIC_WRITE",
];

fn requester_row(requests: &Requester) -> report::Requester {
    let counts = &requests.counts;
    let places = &requests.answers.places;
    report::Requester {
        packets: counts.packets,
        messages: requests.messages.count,
        broken_messages: requests.messages.broken_count,
        operations: OPERATIONS
            .iter()
            .zip(requests.messages.operations)
            .filter(|(_, count)| *count > 0)
            .map(|(name, count)| (*name, count))
            .collect(),
        message_sizes: requests
            .messages
            .sizes
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
            .map(|(power, count)| (1u64 << power, u64::from(*count)))
            .collect(),
        first_psn: requests.started.then(|| requests.first.get()),
        highest_psn: requests.started.then(|| requests.high.get()),
        pmtu: Some(requests.pmtu).filter(|pmtu| *pmtu > 0),
        retransmitted_packets: counts.retransmitted_packets,
        retransmitted_bytes: counts.retransmitted_bytes,
        reordered_packets: counts.reordered_packets,
        mirror_duplicates: counts.mirror_duplicates,
        copies_answered: counts.copies_answered,
        missing_psns: requests.missing_psns(),
        skips: counts.skips,
        capture_gap_psns: counts.capture_gap_psns,
        lost_before: counts.lost_before,
        lost_after: counts.lost_after,
        damaged: counts.damaged,
        spurious_packets: counts.spurious_packets,
        recoveries_total: counts.recoveries,
        tries: requests.tries,
        nak_places: report::NakPlaces {
            before: places.before,
            after: places.after,
            damaged: places.damaged,
            reordering: places.reordering,
            unknown: places.unknown,
            of_rnr: places.of_rnr,
            advancing: places.advancing,
        },
        stalled_ns: counts.stalled_ns,
        recoveries: requests
            .repairing
            .first
            .iter()
            .chain(&requests.repairing.last)
            .cloned()
            .collect(),
        losses_by_second: requests.losses_by_second.clone(),
    }
}

fn responder_row(stream: &Stream, answered: Option<&Requester>) -> report::Responder {
    let own = &stream.responder;
    let responses = answered
        .map(|requests| requests.reads.counts)
        .unwrap_or_default();
    report::Responder {
        packets: own.packets,
        acks: own.acks,
        rnr_naks: own.rnr_naks,
        naks: own.naks,
        read_responses: own.read_responses,
        atomic_acks: own.atomic_acks,
        repeated_responses: responses.repeated,
        mirror_duplicates: own.mirror_duplicates,
        reordered_packets: responses.reordered,
        response_skips: responses.skips,
        lost_before: responses.lost_before,
        lost_after: responses.lost_after,
        extra_answers: answered.map_or(0, |requests| requests.answers.extra),
        credits_last: own.credits,
        msn_last: own.msn,
        rnr_timers_10us: own.rnr_timers.clone(),
    }
}

fn connection_row(
    id: u64,
    streams: [u64; 2],
    one: &Stream,
    other: &Stream,
    part: &Partition,
) -> Connection {
    let conversation = part.cm.of(one.key.dst, one.key.dest_qpn);
    let sides = [&one.requester, &other.requester];
    let mut measured = crate::flow::answer::Measured::default();
    for side in sides {
        if let Some(own) = &side.answers.measured {
            measured.ack.merge(&own.ack);
            measured.read_first.merge(&own.read_first);
            measured.read_last.merge(&own.read_last);
            measured.message.merge(&own.message);
            measured.turn.merge(&own.turn);
        }
    }
    let ask = if measured.ack.count() > 0 {
        &measured.ack
    } else {
        &measured.read_first
    };
    let timeout = sides
        .iter()
        .flat_map(|side| side.repairing.first.iter().chain(&side.repairing.last));
    let shortest = timeout
        .filter(|recovery| recovery.trigger == report::Trigger::Timeout)
        .filter_map(|recovery| recovery.gaps_ns.iter().min().copied())
        .min();
    let cm = conversation.map(|conversation| conversation.facts);
    let first = one.first_at.min(other.first_at);
    let last = one.last_at.max(other.last_at);
    Connection {
        id,
        streams,
        paired_by: one.paired_by.unwrap_or(report::PairedBy::Inferred),
        qpns: [one.key.dest_qpn.get(), other.key.dest_qpn.get()],
        service: conversation.and_then(|conversation| conversation.service.clone()),
        cm,
        latency_ns: Latencies {
            ack: measured.ack.report(),
            read_first: measured.read_first.report(),
            read_last: measured.read_last.report(),
            message: measured.message.report(),
        },
        life_ns: last.since(first),
        stalled_ns: one.requester.counts.stalled_ns + other.requester.counts.stalled_ns,
        request_to_answer_ns: ask.median(),
        answer_to_request_ns: measured.turn.median(),
        nearer_to: nearer(ask, &measured.turn),
        effective_timeout_ns: cm
            .map(|cm| cm.ack_timeout_ns)
            .filter(|timeout| *timeout > 0)
            .or(shortest),
        last_acknowledged: sides.map(|side| side.acked.map(rocescope_wire::Psn::get)),
    }
}

/// The end with the smaller share of the round trip.
fn nearer(
    ask: &crate::histogram::Histogram,
    turn: &crate::histogram::Histogram,
) -> Option<NearerTo> {
    if ask.count() < LEAST_TURNS || turn.count() < LEAST_TURNS {
        return None;
    }
    let (ask, turn) = (ask.median()?, turn.median()?);
    if turn.saturating_mul(NEARER_FACTOR) < ask {
        Some(NearerTo::Requester)
    } else if ask.saturating_mul(NEARER_FACTOR) < turn {
        Some(NearerTo::Responder)
    } else {
        None
    }
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
