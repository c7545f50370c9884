//! `cargo xtask traces`: goldens from scenarios.

use anyhow::Result;

use crate::process;

/// Runs the integration tests of the program with `ROCESCOPE_BLESS=1`: each test that holds a golden file then writes it
/// instead of comparing. What changed is for `git diff` and a reader to judge.
pub(crate) fn run() -> Result<()> {
    process::run(
        process::cargo()
            .args(["test", "--package", "rocescope", "--test", "*"])
            .env("ROCESCOPE_BLESS", "1"),
    )?;
    process::run(std::process::Command::new("git").args(["status", "--short", "tests"]))
}
