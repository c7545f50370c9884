//! What each command does.

mod analyze;
mod print;

use crate::cli::{Cli, Command};
use anyhow::Result;
use std::ffi::OsString;
use std::process::ExitCode;

/// Done, nothing at or above `--fail-on`.
const DONE: u8 = 0;
/// Something was at or above `--fail-on`.
const FOUND: u8 = 1;
/// Wrong usage, unreadable input, or an output that cannot be written.
const FAILED: u8 = 2;

/// Runs the command line and says how it ended; errors go to standard error, one line each.
#[must_use]
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let code = match <Cli as clap::Parser>::try_parse_from(&arguments) {
        Ok(cli) => match dispatch(cli.command, &arguments) {
            Ok(code) => code,
            Err(error) => {
                complain(&format!("{error:#}"));
                FAILED
            }
        },
        Err(error) => usage(&error),
    };
    ExitCode::from(code)
}

fn dispatch(command: Command, arguments: &[OsString]) -> Result<u8> {
    match command {
        Command::Analyze(options) => analyze::analyze(&options, arguments),
        Command::Explain(options) => print::explain(&options),
        Command::Completions { shell } => print::completions(shell),
        Command::Man => print::man(),
        Command::Schema => print::schema(),
        Command::Walk { file } => analyze::walk(&file),
    }
}

/// One line on standard error. What cannot be written there cannot be said anywhere.
fn complain(what: &str) {
    use std::io::Write;
    let _ = writeln!(
        std::io::stderr(),
        "rocescope: {}",
        crate::report::Untrusted(what)
    );
}

/// Help and version go to standard output; a mistake becomes one line.
fn usage(error: &clap::Error) -> u8 {
    use clap::error::ErrorKind::{
        DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion,
    };
    match error.kind() {
        DisplayHelp | DisplayVersion => {
            let _ = error.print();
            DONE
        }
        DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
            FAILED
        }
        _ => {
            complain(&one_line(&error.render().to_string()));
            FAILED
        }
    }
}

/// What clap says in several lines, in one, without the usage.
fn one_line(text: &str) -> String {
    let said = text
        .lines()
        .map(str::trim)
        .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
    let parts: Vec<_> = said.filter(|line| !line.is_empty()).collect();
    let line = parts.join(" ");
    let line = line.strip_prefix("error: ").unwrap_or(&line);
    format!("{line}; see rocescope --help")
}
