//! `cargo xtask ci`: everything that must hold before a change lands.

use std::time::Instant;

use anyhow::{Result, bail};

use crate::{ebpf, fuzz, generate, process, test_run};

type Step = (&'static str, fn() -> Result<()>);

const STEPS: &[Step] = &[
    ("format", format),
    ("lints", lints),
    ("docs", docs),
    ("wire without std", wire),
    ("wire in the kernel", ebpf::run),
    ("tests", || test_run::run(&[])),
    ("generated files", || generate::run(true)),
    ("fuzz", || fuzz::briefly(20)),
];

/// Runs every step, also after one failed, and says at the end which failed and what each took.
pub(crate) fn run() -> Result<()> {
    let mut failed = 0;
    let mut lines = Vec::new();
    for (name, step) in STEPS {
        eprintln!("\n== {name}");
        let start = Instant::now();
        let result = step();
        let verdict = match &result {
            Ok(()) => "ok".to_owned(),
            Err(error) => {
                failed += 1;
                format!("FAILED: {error:#}")
            }
        };
        eprintln!("== {name}: {verdict}");
        lines.push(format!(
            "{name:<20} {:>5} s  {verdict}",
            start.elapsed().as_secs()
        ));
    }
    println!("\n{}", lines.join("\n"));
    if failed > 0 {
        bail!("{failed} of {} steps failed", STEPS.len());
    }
    Ok(())
}

fn format() -> Result<()> {
    process::run(process::cargo().args(["fmt", "--all", "--check"]))
}

fn lints() -> Result<()> {
    process::run(process::cargo().args([
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ]))
}

fn docs() -> Result<()> {
    process::run(
        process::cargo()
            .args(["doc", "--workspace", "--no-deps"])
            .env("RUSTDOCFLAGS", "-D warnings"),
    )
}

/// Each combination that a dependent uses must build by itself, not only by what others switch on.
fn wire() -> Result<()> {
    for features in ["", "icrc", "build"] {
        process::run(
            process::cargo()
                .args([
                    "check",
                    "--package",
                    "rocescope-wire",
                    "--no-default-features",
                ])
                .args(["--features", features]),
        )?;
    }
    Ok(())
}
