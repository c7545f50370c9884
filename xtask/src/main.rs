//! `cargo xtask`: everything a developer or CI runs, in Rust.
//!
//! It depends on no crate of the workspace: whatever is generated is printed by the program itself, and run from here.

mod bench;
mod ci;
mod debian_rust;
mod dist;
mod ebpf;
mod fuzz;
mod generate;
mod packages;
mod process;
mod test_run;
mod traces;
mod workspace;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Builds, tests, measures and packs rocescope.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Install what the tests need (Debian packages, as root); otherwise print what is missing
    Setup,
    /// Set up, run every test of the workspace, list what was skipped and why
    Test {
        /// Arguments for `cargo test`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Everything that must hold before a change lands
    Ci,
    /// Build the kernel programs
    Ebpf,
    /// Write the golden reports and traces of the tests again, from what the program says now
    Traces,
    /// Measure speed and memory on generated captures, beside tshark, capinfos and a bare walk
    Bench(bench::Options),
    /// Fuzz one target, or each in turn, from the seeds in tests/fuzz/seeds
    Fuzz(fuzz::Options),
    /// Build one static binary that runs on any Linux
    Dist,
    /// Write JSON Schema, man page, completions and the text of the findings, as the program prints them
    Generate {
        /// Compare instead of writing, and fail where they differ
        #[arg(long)]
        check: bool,
    },
}

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<()> {
    match command {
        Command::Setup => packages::ensure(packages::TESTS),
        Command::Test { arguments } => test_run::run(&arguments),
        Command::Ci => ci::run(),
        Command::Ebpf => ebpf::run(),
        Command::Traces => traces::run(),
        Command::Bench(options) => bench::run(&options),
        Command::Fuzz(options) => fuzz::run(&options),
        Command::Dist => dist::run(),
        Command::Generate { check } => generate::run(check),
    }
}
