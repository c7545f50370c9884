//! `cargo xtask fuzz`: cargo-fuzz on the targets in tests/fuzz.
//!
//! Without a sanitizer: our code has no `unsafe`, and so the stable compiler serves. What is sought are panics (overflow
//! included, debug assertions are on), hangs, and results that differ where they must not.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context as _, Result, bail, ensure};

use crate::workspace::Workspace;
use crate::{packages, process};

const NEEDS: &[packages::Need] = &[packages::Need {
    thing: "c++",
    package: "g++",
    purpose: "to build libFuzzer",
}];

/// What to fuzz, and for how long.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Name of a target in tests/fuzz/targets; all, one after the other, when left out
    target: Option<String>,
    /// Seconds for each target
    #[arg(long, default_value_t = 60)]
    seconds: u32,
}

/// Fuzzes, and fails at the first input that breaks something; cargo-fuzz says where it kept it.
pub(crate) fn run(options: &Options) -> Result<()> {
    packages::require(NEEDS)?;
    if !has_cargo_fuzz() {
        process::run(process::cargo().args(["install", "--locked", "cargo-fuzz"]))?;
    }
    let folder = Workspace::find()?.root.join("tests/fuzz");
    let targets = targets(&folder)?;
    match &options.target {
        Some(target) if targets.contains(target) => fuzz(&folder, target, options.seconds),
        Some(target) => bail!("no fuzz target {target}; there are {}", targets.join(", ")),
        None => targets
            .iter()
            .try_for_each(|target| fuzz(&folder, target, options.seconds)),
    }
}

/// For CI: each target for some seconds where cargo-fuzz can be had. Where not, the seeds were replayed by an ordinary test.
pub(crate) fn briefly(seconds: u32) -> Result<()> {
    if !has_cargo_fuzz()
        && process::run(process::cargo().args(["install", "--locked", "cargo-fuzz"])).is_err()
    {
        println!(
            "no fuzzing: cargo-fuzz cannot be installed here; the tests have replayed the seeds"
        );
        return Ok(());
    }
    run(&Options {
        target: None,
        seconds,
    })
}

fn has_cargo_fuzz() -> bool {
    process::succeeds(process::cargo().args(["fuzz", "--version"]))
}

fn targets(folder: &Path) -> Result<Vec<String>> {
    let list = process::output(
        process::cargo()
            .args(["fuzz", "list", "--fuzz-dir"])
            .arg(folder),
    )?;
    let targets: Vec<String> = list.lines().map(str::to_owned).collect();
    ensure!(
        !targets.is_empty(),
        "no fuzz target in {}",
        folder.display()
    );
    Ok(targets)
}

/// New inputs go to corpus/, which is not kept; the seeds are read only.
fn fuzz(folder: &Path, target: &str, seconds: u32) -> Result<()> {
    let corpus = folder.join("corpus").join(target);
    std::fs::create_dir_all(&corpus)?;
    let mut command = process::cargo();
    command
        .args(["fuzz", "run", "--sanitizer", "none", "--fuzz-dir"])
        .args([
            folder,
            Path::new(target),
            &corpus,
            &folder.join("seeds").join(target),
        ])
        .args(["--", "-timeout=10", "-print_final_stats=1"])
        .arg(format!("-max_total_time={seconds}"));
    eprintln!("fuzzing {target} for {seconds} s");
    let mut child = command
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot start cargo fuzz")?;
    let lines = BufReader::new(child.stderr.take().context("cargo fuzz has no output")?);
    let mut progress = String::new();
    for line in lines.split(b'\n') {
        let line = String::from_utf8_lossy(&line?).into_owned();
        // One line for each new input, and the dictionary that libFuzzer recommends: of interest only to whoever tunes it.
        if line.starts_with('#') && line.contains(" cov: ") {
            progress = line;
        } else if !line.starts_with(['#', '"', '\t']) {
            eprintln!("{line}");
        }
    }
    let status = child.wait()?;
    println!("{target}: {progress}");
    ensure!(
        status.success(),
        "fuzzing {target}: {status}; the input is in tests/fuzz/artifacts"
    );
    Ok(())
}
