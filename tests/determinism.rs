//! The same input gives the same report, byte for byte: again, on any number of threads, in any format, in pieces, and
//! from two taps.

#[allow(dead_code, reason = "shared with other tests")]
mod capture;

use capture::traffic::Traffic;
use capture::{Capture, Frame, analyze, captures, json, write};
use flate2::write::GzEncoder;
use rocescope::source::write::{ByteOrder, PcapWriter};
use rocescope_core::Time;
use rocescope_core::report::Report;
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn trace(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../tests/traces")
        .join(name)
}

fn report(arguments: &[&str], files: &[&Path]) -> Report {
    let files = files.iter().map(|file| file.to_str().expect("UTF-8"));
    let arguments: Vec<&str> = arguments.iter().copied().chain(files).collect();
    let (report, unreadable) = analyze(&arguments);
    assert!(unreadable.is_empty(), "{unreadable:?}");
    report
}

/// What the program prints of one file, without what names the input: `sources`, and the arguments.
fn printed(file: &Path, input: Option<&[u8]>) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_rocescope"))
        .args(["analyze", "--format", "json"])
        .arg(file)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut stdin = child.stdin.take().expect("piped");
    let input = input.map(<[u8]>::to_vec);
    let feeder = std::thread::spawn(move || stdin.write_all(&input.unwrap_or_default()));
    let output = child.wait_with_output().expect("the program ends");
    feeder
        .join()
        .expect("fed")
        .expect("all of the input was taken");
    assert_eq!(output.status.code(), Some(0), "{}", file.display());
    let mut report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    report["sources"] = Value::Null;
    report["tool"]["arguments"] = Value::Null;
    report.to_string()
}

fn forget_frames(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, value| !(name == "frames" && value.is_array()));
            fields.values_mut().for_each(forget_frames);
        }
        Value::Array(values) => values.iter_mut().for_each(forget_frames),
        _ => {}
    }
}

#[track_caller]
fn equal(what: &str, one: &str, other: &str) {
    let differ = one
        .lines()
        .zip(other.lines())
        .find(|(one, other)| one != other);
    assert!(one == other, "{what}: {differ:#?}");
}

#[test]
fn again_and_on_any_number_of_threads() {
    let folder = tempfile::tempdir().expect("folder");
    for capture in captures() {
        let path = folder.path().join("capture.pcapng");
        write(&path, &capture.frames);
        let first = json(&report(&["--threads", "1"], &[&path]));
        for threads in ["1", "2", "7"] {
            let again = json(&report(&["--threads", threads], &[&path]));
            equal(&format!("{} on {threads}", capture.name), &first, &again);
        }
    }
}

#[test]
fn with_many_streams_with_and_without_eviction() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("many.pcap");
    let traffic = Traffic {
        connections: 6_000,
        pairs: 300,
        lossy_every: 100,
    };
    traffic.write(&path);
    for limit in ["64", "3000", "262144"] {
        let on = |threads| report(&["--max-streams", limit, "--threads", threads], &[&path]);
        let first = on("1");
        assert_eq!(
            first.totals.evicted_streams > 0,
            limit != "262144",
            "{limit}"
        );
        let first = json(&first);
        for threads in ["1", "2", "7"] {
            equal(
                &format!("{limit} streams on {threads}"),
                &first,
                &json(&on(threads)),
            );
        }
    }
}

#[test]
fn in_any_format() {
    let folder = tempfile::tempdir().expect("folder");
    let original = trace("loss5_atomic_after_tap.pcap");
    let octets = fs::read(&original).expect("capture");
    let frames = Capture::read(&original).frames;
    let wanted = printed(&original, None);
    let pcap = |order, nanoseconds| {
        let mut writer =
            PcapWriter::new(Vec::new(), frames[0].link, order, nanoseconds).expect("written");
        for frame in &frames {
            writer
                .frame(frame.at, frame.wire_len, &frame.octets)
                .expect("written");
        }
        writer.into_inner()
    };
    let pcapng = {
        let path = folder.path().join("as.pcapng");
        write(&path, &frames);
        fs::read(&path).expect("written")
    };
    let mut gzip = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&octets).expect("compressed");
    for (name, octets) in [
        ("micro.pcap", pcap(ByteOrder::LittleEndian, false)),
        ("nano.pcap", pcap(ByteOrder::LittleEndian, true)),
        ("big.pcap", pcap(ByteOrder::BigEndian, false)),
        ("bignano.pcap", pcap(ByteOrder::BigEndian, true)),
        (
            "zstd.pcap.zst",
            zstd::encode_all(octets.as_slice(), 1).expect("compressed"),
        ),
        (
            "zstd.pcapng.zst",
            zstd::encode_all(pcapng.as_slice(), 1).expect("compressed"),
        ),
        ("as.pcapng", pcapng),
        ("gzip.pcap.gz", gzip.finish().expect("compressed")),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, &octets).expect("written");
        equal(name, &wanted, &printed(&path, None));
        equal(
            &format!("{name} from standard input"),
            &wanted,
            &printed(Path::new("-"), Some(&octets)),
        );
    }
}

/// Every other stretch of about `stretch` frames; a stretch ends only where time goes on.
fn apart(frames: &[Frame], stretch: usize) -> [Vec<Frame>; 2] {
    let (mut files, mut turn, mut since) = ([Vec::new(), Vec::new()], 0, 0);
    for (index, frame) in frames.iter().enumerate() {
        if since >= stretch && index > 0 && frames[index - 1].at < frame.at {
            (turn, since) = (1 - turn, 0);
        }
        since += 1;
        files[turn].push(frame.clone());
    }
    files
}

#[test]
fn in_two_files_that_are_merged() {
    let folder = tempfile::tempdir().expect("folder");
    let [whole, one, other] = ["whole", "one", "other"].map(|name| folder.path().join(name));
    for name in [
        "loss1_data_send.pcap",
        "reorder_write.pcap",
        "loss5_readresp_read.pcap",
        "rnr_send_late_receiver.pcap",
        "rocegen_32qp_write.pcap",
        "nvme_rdma_io.pcap",
    ] {
        let frames = Capture::read(&trace(name)).frames;
        assert!(
            frames.is_sorted_by_key(|frame| frame.at),
            "{name}: time runs backwards"
        );
        write(&whole, &frames);
        let wanted = without_files(&report(&["--threads", "2"], &[&whole]));
        for stretch in [frames.len() / 2 + 1, 40, 1] {
            let [first, second] = apart(&frames, stretch);
            write(&one, &first);
            write(&other, &second);
            let merged = report(&["--threads", "2"], &[&one, &other]);
            assert_eq!(merged.totals.frames, frames.len() as u64, "{name}");
            equal(
                &format!("{name} in stretches of {stretch}"),
                &wanted,
                &without_files(&merged),
            );
        }
    }
}

#[test]
fn from_two_taps() {
    let folder = tempfile::tempdir().expect("folder");
    let [one, other] = ["one", "other"].map(|name| folder.path().join(name));
    for name in [
        "rocegen_32qp_write.pcap",
        "rc_atomic_fadd_bw.pcap",
        "loss5_atomic_after_tap.pcap",
        "loss1_data_send.pcap",
        "rc_send_bw_odd_size_mtu1024.pcap",
    ] {
        let frames = Capture::read(&trace(name)).frames;
        write(&one, &frames);
        // It ends before the first one, for the end of the input is a time in reports.
        let later = |frame: &Frame| Frame {
            at: Time(frame.at.0 + 700),
            ..frame.clone()
        };
        let until = frames
            .iter()
            .rposition(|frame| frame.at.0 + 700 < frames[frames.len() - 1].at.0);
        let second: Vec<Frame> = frames[..until.map_or(0, |last| last + 1)]
            .iter()
            .map(later)
            .collect();
        write(&other, &second);
        let alone = report(&[], &[&one]);
        let both = report(&[], &[&one, &other]);
        let again = report(&[], &[&other]);
        let packets = again.totals.roce_v1 + again.totals.roce_v2;
        assert_eq!(both.totals.second_sightings, packets, "{name}");
        assert!(
            both.findings
                .iter()
                .all(|finding| finding.id != "mirror-duplicate"),
            "{name}"
        );
        equal(name, &without_files(&alone), &without_files(&both));
    }
}

/// Streams, connections and what was found about them: all that does not tell one file from two.
fn without_files(report: &Report) -> String {
    let mut report: Value = serde_json::from_str(&json(report)).expect("JSON");
    forget_frames(&mut report);
    let findings = report["findings"].as_array_mut().expect("findings");
    findings.retain(|finding| finding["subject"]["dest_qpn"].is_number());
    format!(
        "{:#}\n{:#}\n{:#}",
        report["streams"], report["connections"], report["findings"]
    )
}
