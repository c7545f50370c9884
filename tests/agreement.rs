//! Agreement with tshark, frame by frame and field by field, over the committed captures, every opcode and every CM
//! message. Where the two may differ stands in `agreement/faults.rs`, and nowhere else.
//!
//! `ROCESCOPE_CAPTURES` names a further folder whose captures are compared too.

#![allow(clippy::unwrap_used, reason = "what fails in a test fails the test")]

#[path = "agreement/built.rs"]
mod built;
#[path = "agreement/faults.rs"]
mod faults;
#[path = "agreement/fields.rs"]
mod fields;

use faults::FAULTS;
use fields::{Datum, FIELDS};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;

/// Protocols that tshark looks for in a payload.
const PAYLOAD_DISSECTORS: [&str; 8] = [
    "smc",
    "smb_direct",
    "rpcordma",
    "nvme-rdma",
    "lnet",
    "iser",
    "infiniband_sdp",
    "fcoib",
];

/// Frames by number: ours as a line of `--frames`, tshark's as one value for each of [`FIELDS`].
type Frames<T> = BTreeMap<u64, T>;

/// What came of comparing captures.
#[derive(Default)]
struct Comparison {
    frames: u64,
    values: u64,
    /// How often each of [`FAULTS`] explained a difference.
    excused: BTreeMap<&'static str, u64>,
    differences: Vec<String>,
}

#[test]
fn tshark_agrees_but_for_its_known_faults() {
    let Some(version) = tshark_version() else {
        // Past the capture of the test runner, so that it is not taken for passed.
        let reason = "tshark is not installed; cargo xtask setup installs it";
        writeln!(io::stdout(), "skipped: agreement with tshark: {reason}").unwrap();
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let built = built::write(folder.path()).unwrap();
    let all = compare_all(&captures(built));
    let differences = all.differences.len();
    assert!(
        all.differences.is_empty(),
        "{differences} differences from {version}:\n{}",
        all.differences[..differences.min(40)].join("\n")
    );
    assert!(all.frames > 20_000, "only {} frames compared", all.frames);
    println!(
        "{version}: {} frames, {} values; excused: {:?}",
        all.frames, all.values, all.excused
    );
    let unused: Vec<_> = FAULTS
        .iter()
        .filter(|fault| !all.excused.contains_key(fault.name))
        .map(|fault| fault.name)
        .collect();
    // The list was made for tshark 4.0; a later one may have mended something.
    assert!(
        unused.is_empty() || !version.contains(" 4.0."),
        "exceptions that nothing needs: {unused:?}"
    );
}

fn tshark_version() -> Option<String> {
    let output = Command::new("tshark").arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().next().map(str::to_owned)
}

/// The captures to compare: built, committed, and those of the folder named by the environment.
fn captures(built: PathBuf) -> Vec<PathBuf> {
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/traces");
    let further = std::env::var_os("ROCESCOPE_CAPTURES").map(PathBuf::from);
    let mut all = vec![built];
    for folder in [Some(committed), further].into_iter().flatten() {
        let entries = std::fs::read_dir(&folder)
            .unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        all.extend(entries.map(|entry| entry.unwrap().path()).filter(|path| {
            let name = path.to_string_lossy();
            name.contains(".pcap")
        }));
    }
    all
}

fn compare_all(captures: &[PathBuf]) -> Comparison {
    let next = Mutex::new(captures.iter());
    let all = Mutex::new(Comparison::default());
    thread::scope(|scope| {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let Some(capture) = next.lock().unwrap().next() else {
                        return;
                    };
                    let (ours, theirs) = (ours(capture), theirs(capture));
                    let name = capture.file_name().unwrap().to_string_lossy();
                    all.lock().unwrap().add(&name, &ours, &theirs);
                }
            });
        }
    });
    all.into_inner().unwrap()
}

/// What `--frames` says.
fn ours(capture: &Path) -> Frames<Value> {
    let folder = tempfile::tempdir().unwrap();
    let (report, frames) = (folder.path().join("report"), folder.path().join("frames"));
    let output = Command::new(env!("CARGO_BIN_EXE_rocescope"))
        .args(["analyze", "--format", "json", "--output"])
        .arg(&report)
        .arg("--frames")
        .arg(&frames)
        .arg(capture)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}: {output:?}", capture.display());
    let lines = std::fs::read_to_string(frames).unwrap();
    lines
        .lines()
        .map(|line| {
            let frame: Value = serde_json::from_str(line).unwrap();
            (frame["frame"].as_u64().unwrap(), frame)
        })
        .collect()
}

/// What tshark says.
fn theirs(capture: &Path) -> Frames<Vec<Datum>> {
    let mut command = Command::new("tshark");
    command.arg("-n").arg("-r").arg(capture);
    // The payload is not what is compared; a dissector that takes it for its own and fails hides the ICRC.
    for above in PAYLOAD_DISSECTORS {
        command.args(["--disable-protocol", above]);
    }
    // A fragment is no packet, nor was there a whole one on the wire.
    let packets = "infiniband && !(ip.flags.mf == 1 || ip.frag_offset > 0)";
    command.args(["-o", "ip.defragment:FALSE", "-Y", packets]);
    command.args(["-T", "fields", "-E", "separator=/t"]);
    // tshark names some fields twice, as a header and as the value in it.
    command.args(["-E", "occurrence=f", "-e", "frame.number"]);
    for name in FIELDS.iter().flat_map(|field| field.theirs) {
        command.args(["-e", name]);
    }
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    // The capture ends in the middle of a packet, which is what some of them are for.
    let cut = errors.contains("cut short");
    assert!(output.status.success() || cut, "tshark: {errors}");
    String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(row)
        .collect()
}

/// One line of tshark.
fn row(line: &str) -> (u64, Vec<Datum>) {
    let columns: Vec<_> = line.split('\t').collect();
    let (number, mut rest) = columns.split_first().unwrap();
    let mut values = Vec::new();
    for field in FIELDS {
        let (own, behind) = rest.split_at(field.theirs.len());
        values.push(field.read(own));
        rest = behind;
    }
    (number.parse().unwrap(), values)
}

impl Comparison {
    fn add(&mut self, name: &str, ours: &Frames<Value>, theirs: &Frames<Vec<Datum>>) {
        let none = (Value::Null, vec![None; FIELDS.len()]);
        let numbers: BTreeSet<_> = ours.keys().chain(theirs.keys()).copied().collect();
        for number in numbers {
            self.frames += 1;
            let frame = ours.get(&number).unwrap_or(&none.0);
            let values = theirs.get(&number).unwrap_or(&none.1);
            for (field, theirs) in FIELDS.iter().zip(values) {
                let ours = (field.ours)(frame);
                self.values += u64::from(ours.is_some());
                if ours == *theirs {
                    continue;
                }
                let excuse = FAULTS
                    .iter()
                    .find(|fault| fault.explains(field.name(), frame, ours, *theirs));
                match excuse {
                    Some(fault) => *self.excused.entry(fault.name).or_default() += 1,
                    None => self.differences.push(format!(
                        "{name} frame {number} {}: {ours:x?} here, {theirs:x?} there ({})",
                        field.name(),
                        frame["opcode"]
                    )),
                }
            }
        }
    }
}
