//! `cargo xtask test`: every test of the workspace, and a list of what was skipped.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use anyhow::{Context as _, Result, bail};

use crate::{packages, process};

/// Sets up and runs `cargo test --workspace`. What cargo prints passes through line by line.
///
/// Two kinds of skipped tests are listed at the end: `#[ignore = "reason"]`, and a test that writes a line with
/// `skipped: NAME: REASON` to its standard output (past the capture of the test runner, with `writeln!`).
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    packages::ensure(packages::TESTS)?;
    let mut command = process::cargo();
    command
        .args(["test", "--workspace", "--no-fail-fast"])
        .args(arguments)
        .stdout(Stdio::piped());
    eprintln!(
        "$ cargo test --workspace --no-fail-fast {}",
        arguments.join(" ")
    );
    let mut child = command.spawn().context("cannot start cargo test")?;
    let lines = BufReader::new(child.stdout.take().context("cargo test has no output")?);
    let mut summary = Summary::default();
    for line in lines.split(b'\n') {
        let line = String::from_utf8_lossy(&line?).into_owned();
        writeln!(std::io::stdout(), "{line}")?;
        summary.read(&line);
    }
    let status = child.wait()?;
    println!("\n{}", summary.text());
    if !status.success() {
        bail!("tests failed: {status}");
    }
    Ok(())
}

/// What a run of `cargo test` came to.
#[derive(Default)]
struct Summary {
    passed: u64,
    failed: u64,
    skipped: Vec<String>,
}

impl Summary {
    fn read(&mut self, line: &str) {
        if let Some(counts) = line.strip_prefix("test result: ") {
            self.passed += count(counts, "passed");
            self.failed += count(counts, "failed");
        } else if let Some((_, reason)) = line.split_once("skipped: ") {
            self.skipped.push(reason.trim().to_owned());
        } else if let Some((name, end)) = line
            .strip_prefix("test ")
            .and_then(|line| line.split_once(" ... ignored"))
        {
            let reason = end.trim_start_matches([',', ' ']);
            let reason = if reason.is_empty() {
                "no reason given"
            } else {
                reason
            };
            self.skipped.push(format!("{name}: {reason}"));
        }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for skipped in &self.skipped {
            text += &format!("not run: {skipped}\n");
        }
        text + &format!(
            "{} passed, {} failed, {} skipped",
            self.passed,
            self.failed,
            self.skipped.len()
        )
    }
}

/// The number before `word` in "ok. 12 passed; 0 failed; ...".
fn count(text: &str, word: &str) -> u64 {
    let words: Vec<&str> = text
        .split([' ', ';', '.'])
        .filter(|part| !part.is_empty())
        .collect();
    words
        .windows(2)
        .find(|pair| pair[1] == word)
        .and_then(|pair| pair[0].parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_tests_are_listed_with_their_reason() {
        let mut summary = Summary::default();
        for line in [
            "test a::b ... ok",
            "test live ... ignored, needs root",
            "test bare ... ignored",
            "test c ... skipped: c: tshark is missing",
            "test result: ok. 12 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.01s",
            "test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s",
        ] {
            summary.read(line);
        }
        assert_eq!(
            summary.text(),
            "not run: live: needs root\nnot run: bare: no reason given\nnot run: c: tshark is missing\n\
             15 passed, 1 failed, 3 skipped"
        );
    }
}
