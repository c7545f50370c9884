//! The report held to what the kernel counted, and to what was done to the traffic (tests/traces/README.md).

#![allow(clippy::unwrap_used, reason = "what fails in a test fails the test")]

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Counters of rxe, both hosts together.
const KERNEL: [&str; 5] = [
    "out_of_seq_request",
    "rcvd_seq_err",
    "rcvd_rnr_err",
    "completer_retry_err",
    "duplicate_request",
];

/// Captures that hold their whole run: RoCE packets, and the counters in the order of [`KERNEL`].
#[rustfmt::skip]
const WHOLE: &[(&str, u64, [u64; 5])] = &[
    ("duplicate_send.pcap", 1450, [0, 0, 0, 0, 50]),
    ("ecn_ce_marked_send_dscp26.pcap", 540, [0, 0, 0, 0, 0]),
    ("fmt_any_sll_write.pcap.gz", 200, [0, 0, 0, 0, 0]),
    ("fmt_snaplen96_write.pcap", 200, [0, 0, 0, 0, 0]),
    ("ibv_rc_pingpong.pcap", 408, [0, 0, 0, 4, 4]),
    ("ibv_uc_pingpong.pcap.gz", 200, [0, 0, 0, 0, 0]),
    ("ibv_ud_pingpong.pcap.gz", 200, [0, 0, 0, 0, 0]),
    ("ipv6_rc_read_lat.pcap", 120, [0, 0, 0, 0, 0]),
    ("ipv6_rdmacm_rping.pcap", 101, [0, 0, 0, 0, 0]),
    ("ipv6_ud_send_lat.pcap", 120, [0, 0, 0, 0, 0]),
    ("loss3_uc_write.pcap", 465, [0, 0, 0, 0, 0]),
    ("loss5_ack_write.pcap", 743, [0, 0, 0, 0, 0]),
    ("loss5_atomic_after_tap.pcap", 349, [5, 0, 0, 5, 0]),
    ("nak_access_read_oob.pcap", 2, [0, 0, 0, 0, 0]),
    ("nak_access_write_oob.pcap", 11, [0, 0, 0, 0, 0]),
    ("nak_access_write_rkey.pcap", 10, [0, 0, 0, 0, 0]),
    ("nak_invreq_noperm_read.pcap", 2, [0, 0, 0, 0, 0]),
    ("nak_remop_send_toolong.pcap", 10, [0, 0, 0, 0, 0]),
    ("nvme_rdma_discover.pcap", 77, [0, 0, 0, 0, 0]),
    ("nvme_rdma_io.pcap", 638, [0, 0, 0, 0, 0]),
    ("peer_exit_midsend.pcap", 1866, [0, 0, 0, 3, 0]),
    ("rc_atomic_fadd_bw.pcap", 400, [0, 0, 0, 0, 0]),
    ("rc_read_bw_mtu512_4k.pcap.gz", 540, [0, 0, 0, 0, 0]),
    ("rc_read_lat_2k.cut_midpacket.pcap", 300, [0, 0, 0, 0, 0]),
    ("rc_read_lat_2k.pcap.zst", 300, [0, 0, 0, 0, 0]),
    ("rc_read_lat_2k.pcapng.gz", 300, [0, 0, 0, 0, 0]),
    ("rc_read_lat_2k.snap64.pcap", 300, [0, 0, 0, 0, 0]),
    ("rc_send_bw_bidir_mtu512_3k.pcap.gz", 560, [0, 0, 0, 0, 0]),
    ("rc_send_bw_odd_size_mtu1024.pcap", 180, [0, 0, 0, 0, 0]),
    ("rc_send_lat_mtu256_1k.pcap", 508, [0, 0, 0, 1, 4]),
    ("rc_send_lat_small.pcap", 802, [0, 0, 0, 1, 1]),
    ("rc_write_lat_small.pcap", 834, [0, 0, 0, 17, 17]),
    ("rdmacm_connect_refused.pcap", 2, [0, 0, 0, 0, 0]),
    ("rdmacm_rping.pcap", 125, [0, 0, 0, 0, 0]),
    ("rdmacm_send_bw.pcap.gz", 154, [0, 0, 0, 0, 0]),
    ("rdmacm_ucmatose.pcap", 180, [0, 0, 0, 0, 0]),
    ("rnr_retry_exceeded.pcap", 28, [4, 0, 4, 1, 0]),
    ("rnr_send_late_long_timer.pcap", 712, [31, 0, 31, 1, 0]),
    ("rnr_send_late_receiver.pcap", 1331, [36, 0, 36, 1, 0]),
    ("rocegen_32qp_write.pcap", 1600, [0, 0, 0, 0, 0]),
    ("rocegen_cas.pcap", 100, [0, 0, 0, 0, 0]),
    ("rocegen_fadd.pcap", 100, [0, 0, 0, 0, 0]),
    ("rocegen_psn_wrap_read.pcap.gz", 180, [0, 0, 0, 0, 0]),
    ("rocegen_psn_wrap_write.pcap.gz", 180, [0, 0, 0, 0, 0]),
    ("rocegen_send_imm.pcap", 120, [0, 0, 0, 0, 0]),
    ("rocegen_send_solicited.pcap", 40, [0, 0, 0, 0, 0]),
    ("rocegen_uc_write_imm.pcap.gz", 200, [0, 0, 0, 0, 0]),
    ("ucx_perftest_rc.pcap", 18, [0, 0, 0, 0, 0]),
    ("vlan100_rc_read_bw.pcap", 200, [0, 0, 0, 0, 0]),
];

/// Figures by name.
type Figures = &'static [(&'static str, u64)];

/// What else must be seen, also of captures that hold the first packets of a run only: figures, summed over all streams
/// (`/` leads into a group), and the findings above `info`, all of them.
#[rustfmt::skip]
const SEEN: &[(&str, Figures, &[&str])] = &[
    ("loss1_data_send.pcap", &[("requester/nak_places/before", 17), ("requester/tries/nak", 17),
        ("responder/naks/psn_sequence_error", 17), ("requester/lost_after", 0)],
        &["psn-gap", "retransmission"]),
    ("loss5_data_write.pcap", &[("requester/nak_places/before", 23), ("requester/tries/nak", 23),
        ("responder/naks/psn_sequence_error", 23), ("requester/lost_after", 0), ("requester/missing_psns", 0)],
        &["psn-gap", "retransmission", "timeout-retransmission"]),
    ("loss5_data_send_after_tap.pcap", &[("requester/nak_places/after", 22), ("requester/lost_after", 22),
        ("requester/lost_before", 0), ("responder/naks/psn_sequence_error", 22)],
        &["retransmission", "timeout-retransmission"]),
    ("loss20_send_retry.pcap", &[("requester/nak_places/after", 42), ("requester/lost_after", 42),
        ("requester/lost_before", 0), ("responder/naks/psn_sequence_error", 42)],
        &["retransmission", "timeout-retransmission"]),
    ("loss5_readresp_read.pcap", &[("requester/tries/implied-nak + requester/tries/timeout", 21), ("requester/lost_before", 0),
        ("requester/lost_after", 0), ("responder/lost_before", 123), ("responder/lost_after", 0)],
        &["implied-nak", "response-loss"]),
    ("loss5_atomic_after_tap.pcap", &[("requester/nak_places/after", 5), ("requester/lost_after", 5), ("requester/tries/nak", 5),
        ("requester/lost_before", 0)],
        &["retransmission"]),
    ("loss5_ack_write.pcap", &[("responder/acks", 143), ("requester/messages", 150), ("requester/retransmitted_packets", 0),
        ("requester/recoveries_total", 0), ("responder/lost_before", 0), ("responder/lost_after", 0)],
        &[]),
    ("loss3_uc_write.pcap", &[("requester/missing_psns", 14), ("requester/skips", 14), ("requester/messages", 46),
        ("requester/retransmitted_packets", 0)],
        &["uc-gap"]),
    ("reorder_write.pcap", &[("requester/nak_places/reordering", 48), ("responder/naks/psn_sequence_error", 48),
        ("requester/lost_before", 0), ("requester/lost_after", 0), ("requester/missing_psns", 0)],
        &["reordering"]),
    ("duplicate_send.pcap", &[("requester/mirror_duplicates", 50), ("requester/copies_answered", 50),
        ("responder/extra_answers", 50), ("requester/retransmitted_packets", 0), ("requester/lost_before", 0), ("requester/lost_after", 0)],
        &["duplicate-request"]),
    // One flip hit an IP address, so that its packet never came by in this stream; the others cannot be told: frames cut.
    ("corrupt_write.pcap.gz", &[("requester/nak_places/after", 25), ("requester/nak_places/reordering", 0),
        ("requester/lost_before", 1), ("responder/naks/psn_sequence_error", 25)],
        &["psn-gap", "retransmission", "timeout-retransmission"]),
    ("corrupt_write_head400.pcap", &[("requester/nak_places/damaged", 5), ("requester/damaged", 5),
        ("responder/naks/psn_sequence_error", 5), ("requester/lost_before", 0), ("requester/lost_after", 0)],
        &["bad-icrc", "damaged-packet", "retransmission"]),
    ("rnr_retry_exceeded.pcap", &[("responder/rnr_naks", 4), ("requester/nak_places/of_rnr", 4), ("requester/tries/rnr", 3),
        ("requester/lost_before", 0), ("requester/lost_after", 0)],
        &["rnr-nak", "rnr-retry-exceeded"]),
    ("rnr_send_late_long_timer.pcap", &[("responder/rnr_naks", 31), ("requester/nak_places/of_rnr", 31), ("requester/tries/rnr", 31),
        ("requester/lost_before", 0), ("requester/lost_after", 0)],
        &["rnr-nak", "rnr-storm"]),
    ("rnr_send_late_receiver.pcap", &[("responder/rnr_naks", 36), ("requester/nak_places/of_rnr", 36), ("requester/tries/rnr", 36),
        ("requester/lost_before", 0), ("requester/lost_after", 0)],
        &["rnr-nak", "rnr-storm"]),
    ("peer_exit_midsend.pcap", &[("requester/tries/timeout", 3), ("requester/messages", 338), ("requester/lost_before", 0)],
        &["retry-exceeded", "timeout-retransmission"]),
    ("ibv_rc_pingpong.pcap", &[("requester/spurious_packets", 4), ("requester/retransmitted_packets", 4),
        ("requester/lost_before", 0), ("requester/lost_after", 0)],
        &["spurious-retransmission"]),
    ("rc_send_lat_mtu256_1k.pcap", &[("requester/spurious_packets", 4), ("requester/retransmitted_packets", 4),
        ("requester/lost_before", 0), ("requester/lost_after", 0)],
        &["spurious-retransmission"]),
    ("rc_send_lat_small.pcap", &[("requester/spurious_packets", 1), ("requester/retransmitted_packets", 1),
        ("requester/lost_before", 0), ("requester/lost_after", 0)],
        &["spurious-retransmission"]),
    ("rc_write_lat_small.pcap", &[("requester/spurious_packets", 17), ("requester/retransmitted_packets", 17),
        ("requester/lost_before", 0), ("requester/lost_after", 0)],
        &["spurious-retransmission"]),
    ("nak_access_read_oob.pcap", &[("responder/naks/remote_access_error", 1)],
        &["nak-remote-access"]),
    ("nak_access_write_oob.pcap", &[("responder/naks/remote_access_error", 1)],
        &["nak-remote-access"]),
    ("nak_access_write_rkey.pcap", &[("responder/naks/remote_access_error", 1)],
        &["nak-remote-access"]),
    ("nak_invreq_noperm_read.pcap", &[("responder/naks/invalid_request", 1)],
        &["nak-invalid-request"]),
    ("nak_remop_send_toolong.pcap", &[("responder/naks/remote_operational_error", 1)],
        &["nak-remote-operational"]),
];

/// What a run without any retry, duplicate or sequence error has none of.
const CLEAN: &[&str] = &[
    "requester/retransmitted_packets",
    "requester/reordered_packets",
    "requester/mirror_duplicates",
    "requester/missing_psns",
    "requester/capture_gap_psns",
    "requester/lost_before",
    "requester/lost_after",
    "requester/damaged",
    "requester/spurious_packets",
    "requester/recoveries_total",
    "responder/repeated_responses",
    "responder/mirror_duplicates",
    "responder/lost_before",
    "responder/lost_after",
    "responder/extra_answers",
];

/// The JSON report of a committed capture.
fn report(capture: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/traces");
    let output = Command::new(env!("CARGO_BIN_EXE_rocescope"))
        .args(["analyze", "--format", "json"])
        .arg(path.join(capture))
        .output()
        .unwrap();
    assert!(output.status.success(), "{capture}: {output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A figure summed over all streams, or several of them.
fn figure(report: &Value, names: &str) -> u64 {
    let streams = report["streams"].as_array().unwrap();
    let of = |name: &str| -> u64 {
        let pointer = format!("/{name}");
        let values = streams.iter().map(|stream| {
            let side = &stream[name.split('/').next().unwrap()];
            let value = stream.pointer(&pointer);
            assert!(side.is_null() || value.is_some(), "no figure {name}");
            value.map_or(0, |value| value.as_u64().unwrap())
        });
        values.sum()
    };
    names.split(" + ").map(of).sum()
}

/// RoCE packets of a report.
fn packets(report: &Value) -> u64 {
    let totals = &report["totals"];
    totals["roce_v1"].as_u64().unwrap() + totals["roce_v2"].as_u64().unwrap()
}

/// The findings that are not for information only.
fn above_info(report: &Value) -> BTreeSet<&str> {
    let findings = report["findings"].as_array().unwrap().iter();
    findings
        .filter(|finding| finding["severity"] != "info")
        .map(|finding| finding["id"].as_str().unwrap())
        .collect()
}

#[test]
fn whole_runs_equal_the_counters_of_the_kernel() {
    let mut wrong = Vec::new();
    for (capture, roce, kernel) in WHOLE {
        let report = report(capture);
        let of = |name| figure(&report, name);
        let mut seen = [
            of("responder/naks/psn_sequence_error"),
            of("requester/nak_places/advancing"),
            of("responder/rnr_naks"),
            of("requester/tries/nak + requester/tries/timeout + requester/tries/implied-nak"),
            of("responder/extra_answers"),
        ];
        if kernel[2] > 0 {
            // Where there were RNR NAKs, `completer_retry_err` of rxe is not the number of tries.
            seen[3] = kernel[3];
        }
        for ((name, seen), counted) in KERNEL.iter().zip(seen).zip(kernel) {
            if seen != *counted {
                wrong.push(format!("{capture}: {name} {counted}, seen {seen}"));
            }
        }
        if packets(&report) != *roce {
            wrong.push(format!("{capture}: {} packets of {roce}", packets(&report)));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn what_was_done_to_the_traffic_is_seen() {
    let mut wrong = Vec::new();
    for (capture, figures, findings) in SEEN {
        let report = report(capture);
        for (name, expected) in *figures {
            let seen = figure(&report, name);
            if seen != *expected {
                wrong.push(format!("{capture}: {name} {seen}, not {expected}"));
            }
        }
        let raised = above_info(&report);
        if raised != BTreeSet::from_iter(findings.iter().copied()) {
            wrong.push(format!("{capture}: {raised:?}, not {findings:?}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn clean_runs_are_clean() {
    let disturbed = |capture: &str| SEEN.iter().any(|(other, ..)| *other == capture);
    let clean = WHOLE
        .iter()
        .filter(|(capture, _, kernel)| kernel.iter().sum::<u64>() == 0 && !disturbed(capture));
    let mut wrong = Vec::new();
    let mut captures = 0;
    for (capture, ..) in clean {
        captures += 1;
        let report = report(capture);
        for name in CLEAN {
            let seen = figure(&report, name);
            if seen != 0 {
                wrong.push(format!("{capture}: {name} {seen}"));
            }
        }
        for finding in above_info(&report) {
            wrong.push(format!("{capture}: {finding}"));
        }
    }
    assert!(captures > 25, "only {captures}");
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
