//! `analyze`: from inputs to a report and an exit code.

use super::{DONE, FAILED, FOUND, complain};
use crate::cli::{Analyze, Colour, Format};
use crate::report::{self, Clock, Paint};
use crate::{output, progress, redact};
use anyhow::{Context, Result, bail};
use rocescope_core::report::Report;
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::path::Path;

pub(super) fn analyze(options: &Analyze, arguments: &[OsString]) -> Result<u8> {
    check(options)?;
    let bar = progress::bar(&options.traces);
    let analysis = crate::analysis::run(options, &bar);
    bar.finish_and_clear();
    let (mut report, unreadable) = analysis?;
    for line in &unreadable {
        complain(line);
    }
    // Nothing could be read: a report about nothing would look like one about an empty network.
    if !unreadable.is_empty() && unreadable.len() == options.traces.len() {
        return Ok(FAILED);
    }
    report.tool.name = "rocescope";
    report.tool.version = env!("CARGO_PKG_VERSION");
    report.tool.arguments = arguments
        .iter()
        .skip(1)
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect();
    let failed = options.fail_on.met_by(&report.findings);
    if let Some(filter) = &options.filter {
        filter.select(&mut report);
    }
    if options.redact {
        redact::redact(&mut report);
    }
    write(options, &report)?;
    Ok(if !unreadable.is_empty() {
        FAILED
    } else if failed {
        FOUND
    } else {
        DONE
    })
}

/// `walk`: reads the records and does nothing with them.
pub(super) fn walk(file: &Path) -> Result<u8> {
    let (frames, octets) =
        crate::source::walk::walk(file).with_context(|| file.display().to_string())?;
    let counts = format!("{frames} frames, {octets} octets captured\n");
    output::to_stdout(|out| out.write_all(counts.as_bytes())).context("standard output")?;
    Ok(DONE)
}

/// Mistakes that no single flag shows.
fn check(options: &Analyze) -> Result<()> {
    let is_dash = |path: &Path| path == Path::new("-");
    if options.traces.iter().filter(|trace| is_dash(trace)).count() > 1 {
        bail!("standard input (-) can be read only once; name each other input by its path");
    }
    let frames = options.frames.as_deref();
    let output = options.output.as_deref().filter(|path| !is_dash(path));
    if frames.is_some_and(is_dash) && output.is_none() {
        bail!("--frames - and the report would both go to standard output; add --output PATH");
    }
    for written in [frames, output].into_iter().flatten() {
        if let Some(trace) = options
            .traces
            .iter()
            .find(|trace| !is_dash(trace) && same_file(trace, written))
        {
            bail!(
                "{} is an input and would be overwritten; choose another name to write to",
                trace.display()
            );
        }
    }
    if let (Some(frames), Some(output)) = (frames, output)
        && same_file(frames, output)
    {
        bail!(
            "--frames and --output both name {}; choose two names",
            output.display()
        );
    }
    for id in options
        .filter
        .iter()
        .flat_map(crate::filter::Filter::findings)
    {
        if rocescope_core::finding::doc(id).is_none() {
            bail!("--filter: {}", crate::cli::unknown_finding(id));
        }
    }
    Ok(())
}

fn same_file(one: &Path, other: &Path) -> bool {
    one == other
        || matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

fn write(options: &Analyze, report: &Report) -> Result<()> {
    let clock = Clock::new(report, options.tz.0.clone());
    let output = options
        .output
        .as_deref()
        .filter(|path| *path != Path::new("-"));
    let paint = paint(options.color, output.is_none());
    let print = |out: &mut dyn Write| match options.format {
        Format::Text => out.write_all(report::text(report, &clock, paint).as_bytes()),
        Format::Markdown => out.write_all(report::markdown(report, &clock).as_bytes()),
        Format::Json => report::json(report, out),
    };
    match output {
        Some(path) => output::to_file(path, print).with_context(|| path.display().to_string()),
        None => output::to_stdout(print).context("standard output"),
    }
}

/// Colours on a terminal, unless `NO_COLOR` is set to something (no-color.org).
fn paint(colour: Colour, to_stdout: bool) -> Paint {
    let unwanted = || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    match colour {
        Colour::Always => Paint::Colour,
        Colour::Auto if to_stdout && std::io::stdout().is_terminal() && !unwanted() => {
            Paint::Colour
        }
        Colour::Auto | Colour::Never => Paint::Plain,
    }
}
