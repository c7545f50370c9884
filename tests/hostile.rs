//! Captures that are cut, damaged or made up: the analysis tells what is left, in clear lines, and never falls over.

#[allow(dead_code, reason = "shared with other tests")]
mod capture;

use capture::{Capture, Frame, analyze, captures, json, write};
use proptest::prelude::*;
use rocescope_core::encap::{Decoded, Ports, locate};
use rocescope_core::report::Report;
use rocescope_wire::TransportPacket;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Files up to this size are cut at every octet.
const SMALL: usize = 8 << 10;
/// Places at which a larger file is cut.
const PLACES: usize = 60;

fn trace(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../tests/traces")
        .join(name)
}

/// The report, or the one line that says why there is none.
fn outcome(path: &Path) -> Result<Report, String> {
    let (report, mut unreadable) = analyze(&["--threads", "1", path.to_str().expect("UTF-8")]);
    assert!(unreadable.len() <= 1, "{unreadable:?}");
    match unreadable.pop() {
        Some(line) => Err(line),
        None => Ok(report),
    }
}

/// One line for people: what and where, and nothing that moves a cursor.
#[track_caller]
fn is_clear(line: &str, path: &Path) {
    let named = line.contains(path.to_str().expect("UTF-8"));
    let plain = !line.chars().any(char::is_control) && line.len() > 20;
    assert!(named && plain, "{line:?}");
}

/// Cuts a file everywhere, or at many places: whatever lies before the cut is analysed.
fn cut(name: &str) {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join(name);
    let octets = fs::read(trace(name)).expect("capture");
    let whole = Capture::read(&trace(name)).frames.len() as u64;
    let step = if octets.len() <= SMALL {
        1
    } else {
        octets.len() / PLACES
    };
    let mut before = 0;
    // An odd step goes through all places within a record.
    for len in (0..octets.len()).step_by(step | 1) {
        fs::write(&path, &octets[..len]).expect("written");
        match outcome(&path) {
            Ok(report) => {
                let frames = report.totals.frames;
                assert!(
                    (before..=whole).contains(&frames),
                    "{name} to {len}: {frames} frames after {before}"
                );
                before = frames;
                for problem in &report.sources[0].problems {
                    assert!(!problem.contains('\n') && problem.len() > 20, "{problem:?}");
                }
                json(&report);
            }
            Err(line) => {
                is_clear(&line, &path);
                assert!(
                    before == 0,
                    "{name} to {len}: nothing is left of {before} frames: {line}"
                );
            }
        }
    }
    assert!(before > 0, "{name}: nothing was read of any part");
}

#[test]
fn cut_captures_are_analysed_up_to_the_cut() {
    for name in [
        "nak_access_read_oob.pcap",
        "rdmacm_connect_refused.pcap",
        "crafted_malformed.pcap",
        "ucx_perftest_rc.pcap",
        "rc_read_lat_2k.pcap.zst",
        "rc_read_lat_2k.pcapng.gz",
        "fmt_dumpcap_two_if_write.pcapng",
        "loss1_data_send.pcap",
    ] {
        cut(name);
    }
}

fn run(arguments: &[&str], path: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_rocescope"))
        .arg("analyze")
        .args(arguments)
        .arg(path)
        .stdin(Stdio::null())
        .output()
        .expect("the program runs")
}

#[test]
fn cut_captures_end_the_program_with_0_or_2() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("cut.pcapng");
    let octets = fs::read(trace("fmt_dumpcap_two_if_write.pcapng")).expect("capture");
    for len in [0, 1, 4, 11, 12, 27, 28, 60, 100, 200, 1_000, 5_001, 50_003] {
        fs::write(&path, &octets[..len]).expect("written");
        let output = run(&[], &path);
        let told = String::from_utf8(output.stderr).expect("UTF-8");
        match output.status.code() {
            Some(0) => assert_eq!(told, "", "cut to {len}"),
            Some(2) => {
                assert!(output.stdout.is_empty(), "cut to {len}");
                assert_eq!(told.lines().count(), 1, "cut to {len}: {told}");
                is_clear(told.trim_end(), &path);
            }
            other => panic!("cut to {len}: {other:?} {told}"),
        }
    }
}

/// Decodes the first `len` octets of a frame as a capture that keeps no more would.
fn decode(frame: &Frame, len: usize) {
    let octets = &frame.octets[..len];
    if let Decoded::Roce(located) =
        locate(frame.link, octets, frame.wire_len, &Ports::default()).decoded
    {
        assert!(located.transport.len() <= located.wire_len as usize);
        if let Some(packet) = TransportPacket::decode(located.transport, located.wire_len as usize)
        {
            assert!(packet.payload_len() <= packet.wire_len());
            let _ = (
                packet.fault(),
                packet.aeth(),
                packet.reth(),
                packet.payload(),
            );
        }
    }
}

#[test]
fn every_truncation_of_every_frame_decodes() {
    let mut frames = 0;
    for capture in captures() {
        let octets: usize = capture.frames.iter().map(|frame| frame.octets.len()).sum();
        if octets > 60 << 10 {
            continue;
        }
        for frame in &capture.frames {
            frames += 1;
            (0..=frame.octets.len()).for_each(|len| decode(frame, len));
        }
    }
    assert!(frames > 1_000, "{frames} frames");
}

#[test]
fn captures_of_frames_cut_to_any_length_are_analysed() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("cut.pcapng");
    for name in [
        "nak_access_read_oob.pcap",
        "rdmacm_rping.pcap",
        "rocegen_cas.pcap",
        "duplicate_send.pcap",
    ] {
        let frames = Capture::read(&trace(name)).frames;
        for kept in 0..=130 {
            let cut: Vec<Frame> = frames
                .iter()
                .map(|frame| Frame {
                    octets: frame.octets[..kept.min(frame.octets.len())].to_vec(),
                    ..frame.clone()
                })
                .collect();
            write(&path, &cut);
            let report = outcome(&path).expect("a capture");
            assert_eq!(
                report.totals.frames,
                frames.len() as u64,
                "{name} cut to {kept}"
            );
        }
    }
}

/// A small capture of each kind.
fn kinds() -> Vec<Vec<u8>> {
    [
        "nak_access_read_oob.pcap",
        "rdmacm_connect_refused.pcap",
        "crafted_malformed.pcap",
        "ucx_perftest_rc.pcap",
        "rocegen_cas.pcap",
        "rdmacm_rping.pcap",
        "rnr_retry_exceeded.pcap",
    ]
    .iter()
    .map(|name| fs::read(trace(name)).expect("capture"))
    .collect()
}

fn analyse_octets(octets: &[u8]) {
    let file = tempfile::NamedTempFile::new().expect("file");
    fs::write(file.path(), octets).expect("written");
    match outcome(file.path()) {
        Ok(report) => {
            json(&report);
        }
        Err(line) => is_clear(&line, file.path()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn flipped_octets_are_analysed(
        kind in 0usize..7,
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..60),
    ) {
        let mut octets = kinds().swap_remove(kind);
        for (at, value) in flips {
            let at = at.index(octets.len());
            octets[at] = value;
        }
        analyse_octets(&octets);
    }

    #[test]
    fn frames_in_any_order_are_analysed(
        kind in 0usize..7,
        moves in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u64>()), 1..200),
    ) {
        let original = tempfile::NamedTempFile::new().expect("file");
        fs::write(original.path(), &kinds()[kind]).expect("written");
        let mut frames = Capture::read(original.path()).frames;
        for (from, to, at) in moves {
            let (from, to) = (from.index(frames.len()), to.index(frames.len()));
            frames.swap(from, to);
            if at % 8 == 0 {
                frames[from].at = rocescope_core::Time(at);
            } else if at % 8 == 1 {
                let copy = frames[to].clone();
                frames[from] = copy;
            }
        }
        write(original.path(), &frames);
        let report = outcome(original.path()).expect("a capture");
        prop_assert_eq!(report.totals.frames, frames.len() as u64);
        json(&report);
    }
}
