//! Captures as lists of frames, and the analysis of them from end to end.

pub(crate) mod traffic;

use clap::Parser;
use indicatif::ProgressBar;
use rocescope::cli::{Analyze, Cli, Command};
use rocescope::source::write::{ByteOrder, InterfaceOptions, PacketOptions, PcapngWriter};
use rocescope::source::{self, Batch, Entry};
use rocescope_core::Time;
use rocescope_core::encap::LinkType;
use rocescope_core::report::{Report, Requester, Stream};
use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// One captured frame.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Frame {
    pub(crate) at: Time,
    pub(crate) interface: u32,
    pub(crate) link: LinkType,
    pub(crate) wire_len: u32,
    pub(crate) octets: Vec<u8>,
}

/// A capture by the name of its file.
#[derive(Clone, Debug)]
pub(crate) struct Capture {
    pub(crate) name: String,
    pub(crate) frames: Vec<Frame>,
}

/// The captures beside the tests, and those of the folder that `ROCESCOPE_CAPTURES` names.
pub(crate) fn captures() -> Vec<Capture> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/traces");
    let other = std::env::var_os("ROCESCOPE_CAPTURES").map(PathBuf::from);
    let mut paths: Vec<PathBuf> = other
        .into_iter()
        .chain([own])
        .flat_map(|folder| fs::read_dir(folder).expect("folder of captures"))
        .map(|entry| entry.expect("entry").path())
        .filter(|path| is_capture(path))
        .collect();
    paths.sort_by_key(|path| path.file_name().map(ToOwned::to_owned));
    paths.dedup_by_key(|path| path.file_name().map(ToOwned::to_owned));
    paths.iter().map(|path| Capture::read(path)).collect()
}

fn is_capture(path: &Path) -> bool {
    path.extension().is_some_and(|end| {
        ["pcap", "pcapng", "gz", "zst"]
            .iter()
            .any(|known| end == *known)
    })
}

impl Capture {
    /// All frames of a file.
    pub(crate) fn read(path: &Path) -> Self {
        let mut source = source::open(path).expect("a capture");
        let (mut batch, mut frames) = (Batch::default(), Vec::new());
        while source.read_batch(&mut batch) {
            for entry in &batch.entries {
                if let Entry::Frame(frame) = entry {
                    frames.push(Frame {
                        at: frame.at,
                        interface: frame.interface,
                        link: frame.link,
                        wire_len: frame.wire_len,
                        octets: batch.octets_of(frame).to_vec(),
                    });
                }
            }
        }
        let name = path
            .file_name()
            .expect("name")
            .to_string_lossy()
            .into_owned();
        Self { name, frames }
    }
}

/// Writes frames as pcapng with times in nanoseconds.
pub(crate) fn write(path: &Path, frames: &[Frame]) {
    let out = BufWriter::new(fs::File::create(path).expect("created"));
    let mut writer = PcapngWriter::new(out, ByteOrder::LittleEndian).expect("written");
    let last = frames
        .iter()
        .map(|frame| frame.interface)
        .max()
        .unwrap_or(0);
    for number in 0..=last {
        let link = frames
            .iter()
            .find(|frame| frame.interface == number)
            .map_or(LinkType::ETHERNET, |frame| frame.link);
        let nanoseconds = InterfaceOptions {
            tsresol: Some(9),
            ..InterfaceOptions::default()
        };
        writer.interface(link, &nanoseconds).expect("written");
    }
    for frame in frames {
        let (at, len) = (frame.at, frame.wire_len);
        writer
            .frame(
                frame.interface,
                at,
                len,
                &frame.octets,
                &PacketOptions::default(),
            )
            .expect("written");
    }
    writer.into_inner().flush().expect("written");
}

/// What `rocescope analyze ARGUMENTS` works on.
pub(crate) fn options(arguments: &[&str]) -> Analyze {
    let line = ["rocescope", "analyze"].iter().chain(arguments);
    match Cli::try_parse_from(line).expect("arguments").command {
        Command::Analyze(options) => *options,
        _ => unreachable!("the command is analyze"),
    }
}

/// The report of `rocescope analyze ARGUMENTS`, and what could not be read.
pub(crate) fn analyze(arguments: &[&str]) -> (Report, Vec<String>) {
    rocescope::analysis::run(&options(arguments), &ProgressBar::hidden()).expect("analysed")
}

/// The report of these frames, by way of a file.
pub(crate) fn report_of(frames: &[Frame]) -> Report {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("capture.pcapng");
    write(&path, frames);
    let (report, unreadable) = analyze(&["--threads", "1", path.to_str().expect("UTF-8")]);
    assert!(unreadable.is_empty(), "{unreadable:?}");
    report
}

/// The report as JSON, as it is printed.
pub(crate) fn json(report: &Report) -> String {
    let mut out = Vec::new();
    rocescope::report::json(report, &mut out).expect("JSON");
    String::from_utf8(out).expect("UTF-8")
}

/// The sum of a count over the request sides.
pub(crate) fn sum(report: &Report, count: impl Fn(&Requester) -> u64) -> u64 {
    report
        .streams
        .iter()
        .map(|stream| count(&stream.requester))
        .sum()
}

/// Loss in the report, wherever it stands.
pub(crate) fn lost(stream: &Stream) -> u64 {
    let (requests, answers) = (&stream.requester, &stream.responder);
    requests.lost_before + requests.lost_after + answers.lost_before + answers.lost_after
}
