//! Rows of a report: streams, their two sides, and connections.

use crate::flow::requester::Requester;
use crate::flow::stream::Stream;
use crate::partition::Partition;
use crate::report::{self, Connection, Latencies, NearerTo};
use std::collections::BTreeMap;

/// Measurements before a tap is said to be nearer to one end.
const LEAST_TURNS: u64 = 8;
/// One end is nearer if its share of the round trip is this many times smaller.
const NEARER_FACTOR: u64 = 3;

pub(super) fn stream_row(id: u64, stream: &Stream, peer: Option<&Stream>) -> report::Stream {
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
        first_psn: requests.started.then(|| requests.origin.get()),
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

pub(super) fn connection_row(
    id: u64,
    streams: [u64; 2],
    one: &Stream,
    other: &Stream,
    part: &Partition,
) -> Connection {
    let conversation = part.cm.of(one.key.dst, one.key.dest_qpn);
    let sides = [&one.requester, &other.requester];
    let mut measured = crate::flow::measured::Measured::default();
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
        stalled_ns: (one.requester.counts.stalled_ns)
            .saturating_add(other.requester.counts.stalled_ns),
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
