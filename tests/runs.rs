//! In-order Middle packets folded into runs give the same outcome as the packets themselves.

use rocescope::source::{Batch, Entry, open};
use rocescope_core::Time;
use rocescope_core::encap::{Decoded, Located, Ports, locate};
use rocescope_core::outcome;
use rocescope_core::partition::{Fold, PacketInput, Partition};
use rocescope_core::report::FrameRef;
use rocescope_core::settings::Settings;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Shows every packet of the transport in `path`, and gives the time of the last frame.
fn each_packet(path: &Path, mut show: impl FnMut(&PacketInput<'_>)) -> Time {
    let mut source = open(path).expect("the file was opened before");
    let (mut batch, ports, mut last) = (Batch::default(), Ports::default(), Time(0));
    while source.read_batch(&mut batch) {
        for entry in &batch.entries {
            let Entry::Frame(frame) = entry else { continue };
            last = last.max(frame.at);
            let octets = batch.octets_of(frame);
            if let Decoded::Roce(located) =
                locate(frame.link, octets, frame.wire_len, &ports).decoded
            {
                show(&input(&located, frame));
            }
        }
    }
    last
}

fn input<'a>(located: &'a Located<'a>, frame: &rocescope::source::FrameEntry) -> PacketInput<'a> {
    let number = FrameRef {
        source: 0,
        frame: frame.number,
    };
    PacketInput {
        located,
        at: frame.at,
        frame: number,
        port: frame.interface,
        wire_len: frame.wire_len,
        icrc: None,
    }
}

fn report(part: Partition, last: Time) -> String {
    let outcome = outcome::finish(vec![part], last);
    let all = (
        &outcome.totals,
        &outcome.streams,
        &outcome.connections,
        &outcome.findings,
    );
    serde_json::to_string_pretty(&all).expect("plain data")
}

/// The report with runs, and the packets that were folded.
fn folded(path: &Path, settings: &Arc<Settings>) -> (String, u64) {
    let (mut part, mut fold) = (Partition::new(settings.clone()), Fold::default());
    let last = each_packet(path, |input| fold.packet(input, &mut part, settings));
    let packets = fold.finish(&mut part);
    (report(part, last), packets)
}

fn captures() -> Vec<PathBuf> {
    let mut folders = vec![PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../tests/traces"
    ))];
    folders.extend(std::env::var_os("ROCESCOPE_CAPTURES").map(PathBuf::from));
    let files = folders
        .iter()
        .filter_map(|folder| std::fs::read_dir(folder).ok())
        .flatten()
        .flatten();
    let mut paths: Vec<PathBuf> = files
        .map(|file| file.path())
        .filter(|path| path.is_file() && open(path).is_ok())
        .collect();
    paths.sort();
    paths
}

#[test]
fn runs_give_what_their_packets_give() {
    let settings = Arc::new(Settings::default());
    let mut total = 0;
    for path in captures() {
        let mut part = Partition::new(settings.clone());
        let last = each_packet(&path, |input| {
            part.packet(input);
        });
        let plain = report(part, last);
        let (with_runs, folded) = folded(&path, &settings);
        total += folded;
        assert!(
            plain == with_runs,
            "{}: {}",
            path.display(),
            first_difference(&plain, &with_runs)
        );
    }
    assert!(total > 0, "no capture has a run");
}

fn first_difference(one: &str, other: &str) -> String {
    let lines = one.lines().zip(other.lines()).enumerate();
    lines
        .filter(|(_, (one, other))| one != other)
        .take(6)
        .map(|(line, (one, other))| format!("\n  line {line}: {one} | {other}"))
        .collect()
}
