//! `cargo xtask bench`: speed and memory of whole processes, ours and others, in one run on the same files.
//!
//! The commands of a round follow one another, and rounds repeat, so that a busy moment of the machine hits all alike.

mod measure;
mod traffic;

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use measure::Spread;
use traffic::Shape;

use crate::workspace::Workspace;
use crate::{packages, process};

const NEEDS: &[packages::Need] = &[
    packages::Need {
        thing: "tshark",
        package: "tshark",
        purpose: "to compare with",
    },
    packages::Need {
        thing: "capinfos",
        package: "wireshark-common",
        purpose: "to compare with",
    },
];

/// How often to measure.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Rounds of all commands but tshark
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Rounds of tshark, which takes a minute and more
    #[arg(long, default_value_t = 1)]
    tshark_rounds: usize,
}

/// A kind of generated capture and what is asked of us on it: how many times faster than tshark at least, and how many
/// times as long as the bare walk at most; with ICRC checked, and without.
struct Kind {
    name: &'static str,
    shape: Shape,
    times_tshark: [f64; 2],
    times_walk: [f64; 2],
}

const KINDS: [Kind; 2] = [
    Kind {
        name: "small",
        shape: Shape {
            frames: 4_000_000,
            payload: 0,
            qps: 64,
        },
        times_tshark: [90.0, 120.0],
        times_walk: [7.0, 5.0],
    },
    Kind {
        name: "full-size",
        shape: Shape {
            frames: 1_000_000,
            payload: 1024,
            qps: 64,
        },
        times_tshark: [45.0, 60.0],
        times_walk: [2.5, 2.0],
    },
];

/// With two threads the time of one, divided by at least this.
const TWO_THREADS: f64 = 1.5;
/// Peak memory of 4 million frames over that of 1 million, at most.
const MEMORY: f64 = 1.05;

/// What is measured.
#[derive(Clone, Copy, PartialEq)]
enum Subject {
    Checked,
    Unchecked,
    Threaded,
    Walk,
    Capinfos,
    Tshark,
}

/// In the order of a round, which is the order of the variants.
const SUBJECTS: [(Subject, &str); 6] = [
    (Subject::Checked, "analyze"),
    (Subject::Unchecked, "analyze --icrc off"),
    (Subject::Threaded, "analyze --threads 2"),
    (Subject::Walk, "bare walk"),
    (Subject::Capinfos, "capinfos -c"),
    (Subject::Tshark, "tshark -z io,stat,0"),
];

/// Generates, builds, measures, and prints a table and the ratios asked for. A ratio that is missed does not fail the run.
pub(crate) fn run(options: &Options) -> Result<()> {
    packages::require(NEEDS)?;
    let workspace = Workspace::find()?;
    process::run(process::cargo().args(["build", "--release", "--package", "rocescope"]))?;
    let program = workspace.target.join("release/rocescope");
    let folder = workspace.target.join("bench");
    for kind in &KINDS {
        let file = generated(&folder, kind.shape)?;
        speed(&program, kind, &file, options)?;
    }
    memory(&program, &folder)
}

/// The file of this shape; kept from an earlier run where it is whole.
fn generated(folder: &Path, shape: Shape) -> Result<PathBuf> {
    let path = folder.join(format!(
        "rc-{}x{}-{}qps.pcap",
        shape.frames, shape.payload, shape.qps
    ));
    if path.exists() {
        return Ok(path);
    }
    eprintln!("generating {}", path.display());
    std::fs::create_dir_all(folder)?;
    let unfinished = path.with_extension("unfinished");
    let mut out = BufWriter::with_capacity(1 << 20, File::create(&unfinished)?);
    traffic::write(&mut out, shape)
        .and_then(|()| out.flush())
        .context("cannot write the capture")?;
    std::fs::rename(&unfinished, &path)?;
    Ok(path)
}

fn command(subject: Subject, program: &Path, file: &Path) -> Command {
    let (program, arguments): (&Path, &[&str]) = match subject {
        Subject::Checked => (program, &["analyze", "--format", "json", "--threads", "1"]),
        Subject::Unchecked => (
            program,
            &[
                "analyze",
                "--format",
                "json",
                "--threads",
                "1",
                "--icrc",
                "off",
            ],
        ),
        Subject::Threaded => (program, &["analyze", "--format", "json", "--threads", "2"]),
        Subject::Walk => (program, &["walk"]),
        Subject::Capinfos => (Path::new("capinfos"), &["-c"]),
        Subject::Tshark => (Path::new("tshark"), &["-q", "-z", "io,stat,0", "-r"]),
    };
    let mut command = Command::new(program);
    command.args(arguments).arg(file);
    command
}

fn speed(program: &Path, kind: &Kind, file: &Path, options: &Options) -> Result<()> {
    std::io::copy(&mut File::open(file)?, &mut std::io::sink())?; // into the page cache, for all alike
    let mut times: [Vec<Duration>; SUBJECTS.len()] = Default::default();
    for round in 0..options.rounds.max(options.tshark_rounds) {
        for ((subject, name), times) in SUBJECTS.iter().zip(&mut times) {
            let rounds = if *subject == Subject::Tshark {
                options.tshark_rounds
            } else {
                options.rounds
            };
            if round < rounds {
                eprintln!("{} frames, round {}: {name}", kind.name, round + 1);
                times.push(measure::time(&mut command(*subject, program, file))?);
            }
        }
    }
    let octets = std::fs::metadata(file)?.len();
    println!(
        "\n{} {} frames, {} QPs, {octets} octets",
        kind.shape.frames, kind.name, kind.shape.qps
    );
    println!(
        "{:<22} {:>7} {:>10} {:>10} {:>10} {:>10}",
        "", "rounds", "least s", "median s", "most s", "ns/frame"
    );
    let mut medians = [0.0; SUBJECTS.len()];
    for (((_, name), times), median) in SUBJECTS.iter().zip(&times).zip(&mut medians) {
        let Some(spread) = measure::spread(times) else {
            bail!("no rounds of {name}")
        };
        print_spread(name, times.len(), spread, kind.shape.frames);
        *median = spread.median.as_secs_f64();
    }
    print_ratios(kind, |subject| medians[subject as usize]);
    Ok(())
}

fn print_spread(name: &str, rounds: usize, spread: Spread, frames: u32) {
    let [least, median, most] =
        [spread.least, spread.median, spread.greatest].map(|time| time.as_secs_f64());
    let per_frame = median * 1e9 / f64::from(frames);
    println!("{name:<22} {rounds:>7} {least:>10.3} {median:>10.3} {most:>10.3} {per_frame:>10.1}");
}

/// The ratios asked for, of medians.
fn print_ratios(kind: &Kind, median: impl Fn(Subject) -> f64) {
    use Subject::{Capinfos, Checked, Threaded, Tshark, Unchecked, Walk};
    for (index, (subject, icrc)) in [(Checked, "ICRC checked"), (Unchecked, "ICRC off")]
        .into_iter()
        .enumerate()
    {
        let [faster, slower] = [
            median(Tshark) / median(subject),
            median(subject) / median(Walk),
        ];
        at_least(
            &format!("{icrc}: times as fast as tshark"),
            faster,
            kind.times_tshark[index],
        );
        at_most(
            &format!("{icrc}: times the bare walk"),
            slower,
            kind.times_walk[index],
        );
    }
    at_most(
        "ICRC off: times capinfos",
        median(Unchecked) / median(Capinfos),
        1.0,
    );
    at_least(
        "one thread over two",
        median(Checked) / median(Threaded),
        TWO_THREADS,
    );
}

fn memory(program: &Path, folder: &Path) -> Result<()> {
    let small = KINDS[0].shape;
    let mut peaks = Vec::new();
    println!();
    for shape in [
        Shape {
            frames: small.frames / 4,
            ..small
        },
        small,
    ] {
        let file = generated(folder, shape)?;
        let peak = measure::peak_memory_kib(&mut command(Subject::Checked, program, &file))?;
        println!(
            "peak memory of analyze, {} small frames: {peak} KiB",
            shape.frames
        );
        peaks.push(peak as f64);
    }
    at_most("memory of 4 times the frames", peaks[1] / peaks[0], MEMORY);
    Ok(())
}

fn at_least(what: &str, value: f64, wanted: f64) {
    println!(
        "{what:<40} {value:>8.2}  at least {wanted:<6} {}",
        verdict(value >= wanted)
    );
}

fn at_most(what: &str, value: f64, wanted: f64) {
    println!(
        "{what:<40} {value:>8.2}  at most  {wanted:<6} {}",
        verdict(value <= wanted)
    );
}

fn verdict(ok: bool) -> &'static str {
    if ok { "ok" } else { "MISSED" }
}
