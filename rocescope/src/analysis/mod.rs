//! From sources to a report: frames are located, shared out over the parts of the analysis, and what they came to is put
//! together.

mod frames;
mod intake;
mod shard;

use crate::cli::{Analyze, Family0x40, Switch};
use crate::source::{Batch, Merge};
use anyhow::{Context, Result};
use indicatif::ProgressBar;
use intake::Intake;
use rocescope_core::encap::Ports;
use rocescope_core::finding::vantage;
use rocescope_core::outcome::{self, Outcome};
use rocescope_core::report::{NearerTo, Report, SCHEMA, Source, Tool, Verdict};
use rocescope_core::settings::Settings;
use rocescope_core::verdict;
use rocescope_wire::RdOrDc;
use shard::{Shards, Threads};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Analyses `options.traces` as far as they can be read. The second value says what could not be read at all, one line each.
///
/// # Errors
/// Where the frames asked for by `--frames` cannot be written.
pub fn run(options: &Analyze, bar: &ProgressBar) -> Result<(Report, Vec<String>)> {
    let (mut merge, errors) = Merge::open(&options.traces);
    let unreadable = errors.iter().map(ToString::to_string).collect();
    let settings = Arc::new(settings(options));
    let mut intake = Intake::new(ports(options));
    let mut lines = options
        .frames
        .as_deref()
        .map(frames::Lines::create)
        .transpose()?;
    let threads = if lines.is_some() {
        Threads::one()
    } else {
        Threads::of(options.threads)
    };
    let mut shards = Shards::new(&settings, intake.ports(), threads, lines.is_some());
    let mut batch = Batch::default();
    let mut read = 0;
    while merge.read_batch(&mut batch) {
        intake.batch(batch, &mut shards);
        if let Some(lines) = &mut lines {
            let (packets, decided) = shards.take_classified();
            lines
                .write(packets.into_iter(), decided.into_iter())
                .context("--frames")?;
        }
        if let Some((now, _)) = merge.progress() {
            bar.inc(now - read);
            read = now;
        }
        batch = shards.spare_batch();
    }
    let parts = shards.finish();
    let outcome = outcome::finish(parts, intake.last_at());
    if let Some(lines) = lines {
        lines.finish().context("--frames")?;
    }
    let mut sources: Vec<Source> = merge.facts().map(Source::from).collect();
    Ok((
        report(outcome, &intake, &mut sources, &settings),
        unreadable,
    ))
}

/// Analyses everything `merge` gives, on so many threads, with no side effects: for tests and fuzzing.
#[must_use]
pub fn of(merge: &mut Merge, settings: Settings, threads: u16) -> Report {
    let settings = Arc::new(settings);
    let mut intake = Intake::new(Ports::default());
    let mut shards = Shards::new(&settings, intake.ports(), Threads::of(Some(threads)), false);
    let mut batch = Batch::default();
    while merge.read_batch(&mut batch) {
        intake.batch(batch, &mut shards);
        batch = shards.spare_batch();
    }
    let outcome = outcome::finish(shards.finish(), intake.last_at());
    let mut sources: Vec<Source> = merge.facts().map(Source::from).collect();
    report(outcome, &intake, &mut sources, &settings)
}

fn settings(options: &Analyze) -> Settings {
    let mut settings = Settings {
        check_icrc: options.icrc == Switch::On,
        read_0x40_as: match options.read_0x40_as {
            Family0x40::Rd => RdOrDc::Rd,
            Family0x40::Dc => RdOrDc::Dc,
        },
        max_streams: options.max_streams as usize,
        ..Settings::default()
    };
    for setting in &options.set {
        // The command line knows only findings and keys that exist, and values in range.
        let _ = settings
            .thresholds
            .set(setting.finding, setting.key, setting.value);
    }
    settings
}

fn ports(options: &Analyze) -> Ports {
    let ports = options
        .udp_port
        .iter()
        .fold(Ports::default(), |ports, port| ports.with_roce(*port));
    options
        .vxlan_port
        .iter()
        .fold(ports, |ports, port| ports.with_vxlan(*port))
}

/// Puts together what the parts, the intake and the sources know.
fn report(
    mut outcome: Outcome,
    intake: &Intake,
    sources: &mut [Source],
    settings: &Settings,
) -> Report {
    intake.add_to(&mut outcome.totals, sources);
    for source in sources.iter_mut() {
        source.vantage.directions = directions(&outcome);
        source.vantage.nearer_to = nearer_to(&outcome);
        if !settings.check_icrc {
            source
                .vantage
                .notes
                .push("ICRC was not checked (--icrc off): damaged packets look whole".to_owned());
        }
    }
    let found = vantage::of_capture(&outcome, sources);
    outcome.findings.extend(found);
    outcome::order(&mut outcome.findings);
    let mut report = Report {
        schema: SCHEMA,
        tool: Tool {
            settings_changed: settings.thresholds.changed(),
            ..Tool::default()
        },
        sources: sources.to_vec(),
        totals: outcome.totals,
        verdict: Verdict::default(),
        streams: outcome.streams,
        connections: outcome.connections,
        ports: Vec::new(),
        findings: outcome.findings,
    };
    if settings.max_streams != rocescope_core::settings::DEFAULT_MAX_STREAMS {
        report
            .tool
            .settings_changed
            .insert("max-streams".to_owned(), settings.max_streams.to_string());
    }
    if !settings.check_icrc {
        report
            .tool
            .settings_changed
            .insert("icrc".to_owned(), "off".to_owned());
    }
    report.verdict = verdict::verdict(&report);
    report
}

/// Directions of reliable traffic seen between the same two hosts.
fn directions(outcome: &Outcome) -> u8 {
    let reliable = outcome
        .streams
        .iter()
        .filter(|stream| matches!(stream.transport, "RC" | "XRC"));
    let pairs: BTreeSet<_> = reliable.map(|stream| (stream.src, stream.dst)).collect();
    match pairs.iter().any(|(src, dst)| pairs.contains(&(*dst, *src))) {
        true => 2,
        false => u8::from(!pairs.is_empty()),
    }
}

/// The end that most connections say the tap is nearer to.
fn nearer_to(outcome: &Outcome) -> Option<NearerTo> {
    let count = |end| {
        outcome
            .connections
            .iter()
            .filter(|connection| connection.nearer_to == Some(end))
            .count()
    };
    let (requester, responder) = (count(NearerTo::Requester), count(NearerTo::Responder));
    match requester.cmp(&responder) {
        std::cmp::Ordering::Greater => Some(NearerTo::Requester),
        std::cmp::Ordering::Less => Some(NearerTo::Responder),
        std::cmp::Ordering::Equal => None,
    }
}
