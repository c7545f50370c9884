//! Reports made by hand: one of each kind a person meets.

use rocescope_core::Address;
use rocescope_core::report::CmFacts;
use rocescope_core::report::{
    Confidence, Connection, EndedBy, Evidence, Finding, FrameRef, Latencies, Latency, PairedBy,
    Recovery, Report, Requester, SCHEMA, Severity, Source, State, Stream, Style, Subject, Tool,
    Totals, Trigger, Vantage, Where,
};
use std::collections::BTreeMap;

/// 2026-03-01T10:00:00.25Z.
pub(crate) const START_NS: u64 = 1_772_359_200_250_000_000;
const SECOND_NS: u64 = 1_000_000_000;
const MILLISECOND_NS: u64 = 1_000_000;

pub(crate) const A: Address = Address::V4([192, 0, 2, 1]);
pub(crate) const B: Address = Address::V4([192, 0, 2, 2]);

/// A stream that carries nothing of note for eight seconds.
pub(crate) fn stream(id: u64, src: Address, dst: Address, dest_qpn: u32, packets: u64) -> Stream {
    Stream {
        id,
        src,
        dst,
        dest_qpn,
        transport: "RC",
        packets,
        wire_bytes: packets * 1082,
        payload_bytes: packets * 1024,
        first_ns: START_NS,
        last_ns: START_NS + 8 * SECOND_NS,
        udp_source_port: 49_152 + u16::try_from(dest_qpn % 1000).unwrap(),
        dscp: 26,
        pcp: None,
        vlan: None,
        migreq_packets: packets,
        opcodes: BTreeMap::from([("RC_RDMA_WRITE_MIDDLE".to_owned(), packets)]),
        requester: Requester {
            packets,
            messages: packets / 8,
            first_psn: Some(100),
            ..Requester::default()
        },
        responder: Default::default(),
        ecn: Default::default(),
        icrc: Default::default(),
        cnps: 0,
        source_qpns: BTreeMap::new(),
    }
}

/// A stream of answers.
pub(crate) fn answers(id: u64, src: Address, dst: Address, dest_qpn: u32, acks: u64) -> Stream {
    let mut stream = stream(id, src, dst, dest_qpn, acks);
    stream.opcodes = BTreeMap::from([("RC_ACKNOWLEDGE".to_owned(), acks)]);
    stream.requester = Requester::default();
    stream.responder.packets = acks;
    stream.responder.acks = acks;
    stream.wire_bytes = acks * 62;
    stream.payload_bytes = 0;
    stream
}

pub(crate) fn connection(id: u64, streams: [&Stream; 2]) -> Connection {
    Connection {
        id,
        streams: streams.map(|stream| stream.id),
        paired_by: PairedBy::Inferred,
        qpns: streams.map(|stream| stream.dest_qpn),
        service: None,
        cm: None,
        latency_ns: Latencies::default(),
        life_ns: 8 * SECOND_NS,
        stalled_ns: streams
            .iter()
            .map(|stream| stream.requester.stalled_ns)
            .sum(),
        request_to_answer_ns: Some(180_000),
        answer_to_request_ns: Some(20_000),
        nearer_to: None,
        effective_timeout_ns: None,
        last_acknowledged: [None, None],
    }
}

pub(crate) fn finding(
    id: &'static str,
    severity: Severity,
    of: &Stream,
    src_qpn: Option<u32>,
    message: &str,
) -> Finding {
    Finding {
        id,
        severity,
        confidence: Confidence::High,
        subject: Subject::Stream {
            stream: Some(of.id),
            src: of.src,
            dst: of.dst,
            dest_qpn: of.dest_qpn,
            src_qpn,
            udp_source_port: of.udp_source_port,
            dscp: of.dscp,
            paired_by: src_qpn.map(|_| PairedBy::Inferred),
        },
        key: format!("{id}/{}/{}/{:#x}", of.src, of.dst, of.dest_qpn),
        fingerprint: format!("{id}/{}/{}", of.src, of.dst),
        state: State::Resolved,
        ended_by: Some(EndedBy::End),
        count: 23,
        first_ns: START_NS + SECOND_NS,
        last_ns: START_NS + 6 * SECOND_NS,
        frames: (0..6)
            .map(|number| FrameRef {
                source: 0,
                frame: 40 + number * 17,
            })
            .collect(),
        message: message.to_owned(),
        next_step: "Compare the drop counters of every port between the sender and this tap over these times.",
        evidence: Evidence::default(),
    }
}

pub(crate) fn source(path: &str, frames: u64, directions: u8) -> Source {
    Source {
        path: path.to_owned(),
        format: "pcap".to_owned(),
        link_types: vec![1],
        frames,
        captured_bytes: frames * 1082,
        wire_bytes: frames * 1082,
        first_ns: Some(START_NS),
        last_ns: Some(START_NS + 8 * SECOND_NS),
        vantage: Vantage {
            directions,
            pfc_visible: None,
            ..Vantage::default()
        },
        ..Source::default()
    }
}

/// A report over these streams; sums and verdict are made from them.
pub(crate) fn report(
    sources: Vec<Source>,
    streams: Vec<Stream>,
    connections: Vec<Connection>,
    findings: Vec<Finding>,
) -> Report {
    let mut totals = Totals {
        streams: streams.len() as u64,
        ..Totals::default()
    };
    totals.frames = sources.iter().map(|source| source.frames).sum();
    totals.roce_v2 = streams.iter().map(|stream| stream.packets).sum();
    totals.other = totals.frames - totals.roce_v2;
    totals.icrc.good = totals.roce_v2;
    totals.ecn.ect0 = totals.roce_v2;
    for stream in &streams {
        let (sum, requester) = (&mut totals.requester, &stream.requester);
        sum.packets += requester.packets;
        sum.wire_bytes += if requester.packets > 0 {
            stream.wire_bytes
        } else {
            0
        };
        sum.messages += requester.messages;
        sum.retransmitted_packets += requester.retransmitted_packets;
        sum.retransmitted_bytes += requester.retransmitted_bytes;
        sum.lost_before += requester.lost_before;
        sum.lost_after += requester.lost_after;
        sum.stalled_ns += requester.stalled_ns;
    }
    let tool = Tool {
        name: "rocescope",
        version: "0.1.0",
        arguments: vec![
            "analyze".to_owned(),
            sources
                .first()
                .map(|source| source.path.clone())
                .unwrap_or_default(),
        ],
        ..Tool::default()
    };
    let mut report = Report {
        schema: SCHEMA,
        tool,
        sources,
        totals,
        verdict: Default::default(),
        streams,
        connections,
        ports: Vec::new(),
        findings,
    };
    report.verdict = rocescope_core::verdict::verdict(&report);
    report
}

/// Nothing wrong, both directions, whole frames.
pub(crate) fn clean() -> Report {
    let (requests, replies) = (stream(0, A, B, 0x2a, 2_950), answers(1, B, A, 0x153, 370));
    let mut joined = connection(0, [&requests, &replies]);
    joined.latency_ns.ack = Some(Latency {
        count: 370,
        p50: 181_000,
        p90: 210_000,
        p99: 350_250,
        p999: 410_000,
        max: 911_004,
    });
    report(
        vec![source("clean.pcap", 3_330, 2)],
        vec![requests, replies],
        vec![joined],
        vec![],
    )
}

/// Data lost before the tap; one loss at the tail.
pub(crate) fn lossy() -> Report {
    let (mut requests, mut replies) = (stream(0, A, B, 0x2a, 2_927), answers(1, B, A, 0x153, 370));
    let requester = &mut requests.requester;
    requester.lost_before = 23;
    requester.skips = 23;
    requester.retransmitted_packets = 310;
    requester.retransmitted_bytes = 310 * 1082;
    requester.recoveries_total = 23;
    requester.tries.nak = 22;
    requester.tries.timeout = 1;
    requester.stalled_ns = 812 * MILLISECOND_NS;
    requester.losses_by_second = (0..8)
        .map(|second| {
            (
                START_NS / SECOND_NS + second,
                [1, 2, 9, 4, 0, 3, 3, 1][usize::try_from(second).unwrap()],
            )
        })
        .collect();
    requester.recoveries = (0..23)
        .map(|number| Recovery {
            trigger: if number == 22 {
                Trigger::Timeout
            } else {
                Trigger::Nak
            },
            first_psn: 120 + 7 * number,
            tries: 1,
            packets: 13,
            bytes: 13 * 1082,
            start_ns: START_NS + u64::from(number) * 300 * MILLISECOND_NS,
            end_ns: Some(START_NS + u64::from(number) * 300 * MILLISECOND_NS + 35 * MILLISECOND_NS),
            stalled_ns: 35 * MILLISECOND_NS,
            style: Style::GoBackN,
            place: Where::Before,
            lost_before: 1,
            gaps_ns: vec![if number == 22 {
                65 * MILLISECOND_NS
            } else {
                MILLISECOND_NS
            }],
            frames: vec![],
        })
        .collect();
    replies.responder.naks.psn_sequence_error = 22;
    let mut gap = finding(
        "psn-gap",
        Severity::Warning,
        &requests,
        Some(0x153),
        "23 packets were lost between 192.0.2.1 and this tap.",
    );
    gap.evidence
        .number("lost_packets", 23)
        .number("longest_stall_ns", 65 * MILLISECOND_NS)
        .numbers("psns", vec![120, 127, 134]);
    let mut joined = connection(0, [&requests, &replies]);
    joined.effective_timeout_ns = Some(65 * MILLISECOND_NS);
    joined.nearer_to = Some(rocescope_core::report::NearerTo::Requester);
    joined.latency_ns.ack = Some(Latency {
        count: 348,
        p50: 181_000,
        p90: 210_000,
        p99: 350_250,
        p999: 410_000,
        max: 911_004,
    });
    let mut source = source("loss5_data_write.pcap", 3_330, 2);
    source.cut_frames = 3_300;
    source.vantage.cut_to = Some(128);
    let cut = Finding {
        subject: Subject::Source { source: 0 },
        frames: vec![],
        count: 3_300,
        next_step: "Capture whole frames (tcpdump -s 0) if damaged packets are suspected.",
        ..finding(
            "frames-cut",
            Severity::Info,
            &requests,
            None,
            "3,300 of 3,330 frames are cut to 128 octets.",
        )
    };
    report(
        vec![source],
        vec![requests, replies],
        vec![joined],
        vec![gap, cut],
    )
}

/// TCP and something that looks like RoCE on another port.
pub(crate) fn no_roce() -> Report {
    let mut report = report(vec![source("web.pcap", 1_234, 0)], vec![], vec![], vec![]);
    report.totals.tcp = 1_200;
    report.totals.udp_ports = BTreeMap::from([(53, 20), (4792, 14)]);
    report.totals.bth_like_ports = BTreeMap::from([(4792, 14)]);
    report.verdict = rocescope_core::verdict::verdict(&report);
    report
}

/// Requests only.
pub(crate) fn one_direction() -> Report {
    let mut requests = stream(0, A, B, 0x2a, 500);
    requests.requester.retransmitted_packets = 12;
    requests.requester.retransmitted_bytes = 12 * 1082;
    requests.requester.recoveries_total = 2;
    requests.requester.tries.unknown = 2;
    let mut only = Finding {
        subject: Subject::Capture,
        frames: vec![],
        next_step: "Mirror both directions of the port.",
        ..finding(
            "one-direction-only",
            Severity::Info,
            &requests,
            None,
            "Only one direction of RC traffic is here.",
        )
    };
    only.count = 1;
    only.last_ns = only.first_ns;
    report(
        vec![source("ingress.pcapng", 500, 1)],
        vec![requests],
        vec![],
        vec![only],
    )
}

/// A queue pair that gave up, over IPv6 with long addresses.
pub(crate) fn dead() -> Report {
    let [a, b] = [1_u8, 2].map(|host| {
        Address::V6([
            0x20, 1, 0xd, 0xb8, 0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0xf0, 0x11, 0x11, 0x22,
            host,
        ])
    });
    let (mut requests, replies) = (
        stream(0, a, b, 0xff_fff1, 1_000),
        answers(1, b, a, 0xff_fff2, 100),
    );
    let requester = &mut requests.requester;
    requester.retransmitted_packets = 7;
    requester.retransmitted_bytes = 7 * 1082;
    requester.recoveries_total = 1;
    requester.tries.timeout = 7;
    requester.stalled_ns = 3_758 * MILLISECOND_NS;
    requester.recoveries = vec![Recovery {
        trigger: Trigger::Timeout,
        first_psn: 16_777_215,
        tries: 7,
        packets: 7,
        bytes: 7 * 1082,
        start_ns: START_NS + 4 * SECOND_NS,
        end_ns: None,
        stalled_ns: 3_758 * MILLISECOND_NS,
        style: Style::GoBackN,
        place: Where::AfterOrAnswer,
        lost_before: 0,
        gaps_ns: vec![536_870_912; 7],
        frames: vec![FrameRef {
            source: 0,
            frame: 990,
        }],
    }];
    let died = finding(
        "retry-exceeded",
        Severity::Critical,
        &requests,
        Some(0xff_fff2),
        "PSN 16777215 was sent 8 times, then silence.",
    );
    let mut joined = connection(0, [&requests, &replies]);
    joined.paired_by = PairedBy::Cm;
    joined.service = Some("tcp:4420".to_owned());
    joined.last_acknowledged = [Some(16_777_214), None];
    joined.cm = Some(CmFacts {
        ack_timeout_ns: 4096 << 17,
        retry_count: 7,
        rnr_retry_count: 7,
        pmtu: 1024,
        initiator_depth: 16,
        reject_reason: None,
        disconnected: false,
    });
    report(
        vec![source("peer_exit.pcapng", 1_100, 2)],
        vec![requests, replies],
        vec![joined],
        vec![died],
    )
}

/// Every text field filled with what should never reach a terminal or a page as it is.
pub(crate) fn hostile() -> Report {
    let evil = "x\u{1b}[2J\u{202e}\n|`<script>[a](http://e.x) @all\u{2028}\u{7}\\";
    let mut report = lossy();
    report.sources[0].path = evil.to_owned();
    report.sources[0].problems = vec![evil.to_owned()];
    report.sources[0].vantage.notes = vec![evil.to_owned()];
    report.sources[0].vantage.mirrors = vec![evil.to_owned()];
    report.sources[0].truncated_at = Some(77);
    report.connections[0].service = Some(evil.to_owned());
    report.findings[0].message = evil.to_owned();
    report.findings[0].evidence.text("name", evil);
    report.findings[0].key = evil.to_owned();
    report.ports = vec![rocescope_core::report::Port {
        source_mac: evil.to_owned(),
        ..Default::default()
    }];
    report.tool.arguments.push(evil.to_owned());
    report
        .tool
        .settings_changed
        .insert(evil.to_owned(), evil.to_owned());
    report.tool.filter = Some(evil.to_owned());
    report.verdict = rocescope_core::verdict::verdict(&report);
    report.verdict.next_step = evil.to_owned();
    report.verdict.sentence = evil.to_owned();
    report.verdict.side = Some(evil.to_owned());
    report
}
