//! The report for people: a verdict first, then why, at most 80 columns wide.

mod page;
mod tables;

use super::{Clock, Untrusted, block, words};
use rocescope_core::figure::{count, counted};
use rocescope_core::report::{Finding, Report, Severity};
use std::collections::BTreeMap;

pub(super) use page::Page;
pub use page::Paint;

/// Findings written out; of the rest the ids are counted.
const FINDINGS: usize = 40;

/// The report as text.
#[must_use]
pub fn text(report: &Report, clock: &Clock, paint: Paint) -> String {
    let mut page = Page::new(paint);
    first_screen(&mut page, report);
    verdict_block(&mut page, report, clock);
    findings(&mut page, report, clock);
    tables::tables(&mut page, report);
    sources(&mut page, report, clock);
    page.finish()
}

/// The verdict, what could not be seen, the three worst connections, the next step: in this order.
fn first_screen(page: &mut Page, report: &Report) {
    let verdict = &report.verdict;
    page.item(
        page.paint().bold("Verdict"),
        "Verdict",
        &Untrusted(&verdict.sentence).to_string(),
    );
    if !verdict.not_visible.is_empty() {
        let shorts: Vec<_> = verdict
            .not_visible
            .iter()
            .map(|line| line.split_once(": ").map_or(&**line, |(short, _)| short))
            .collect();
        page.item(
            page.paint().bold("Not seen"),
            "Not seen",
            &Untrusted(&shorts.join("; ")).to_string(),
        );
    }
    for (index, id) in verdict.worst.iter().enumerate() {
        let Some(stream) = words::stream_of(report, *id) else {
            continue;
        };
        let pair =
            rocescope_core::figure::qp_pair(words::sender_qpn(report, stream), stream.dest_qpn);
        let name = format!(
            "{pair} ({} -> {}): {}",
            stream.src,
            stream.dst,
            words::damage_of(report, stream)
        );
        let label = if index == 0 { "Worst" } else { "" };
        page.item(
            page.paint().bold(label),
            label,
            &format!("{}. {name}", index + 1),
        );
    }
    page.item(page.paint().bold("Next"), "Next", &next(report));
    if let Some(filter) = &report.tool.filter {
        let filter = format!(
            "only what matches: {}; totals and verdict are of everything",
            Untrusted(filter)
        );
        page.item(page.paint().bold("Filter"), "Filter", &filter);
    }
    if report.tool.redacted {
        page.item(
            page.paint().bold("Redacted"),
            "Redacted",
            "addresses, paths and names are stand-ins",
        );
    }
}

fn next(report: &Report) -> String {
    let verdict = &report.verdict;
    let step = Untrusted(&verdict.next_step).to_string();
    if verdict.frames.is_empty() {
        return step;
    }
    format!(
        "{step} Frames to open: {}.",
        words::frames(report, &verdict.frames)
    )
}

fn verdict_block(page: &mut Page, report: &Report, clock: &Clock) {
    let lines = block::verdict_block(report, clock);
    if !lines.is_empty() {
        page.heading("The verdict in full");
        for (label, answer) in lines {
            page.answer(label, &Untrusted(&answer).to_string());
        }
    }
    if !report.verdict.not_visible.is_empty() {
        page.heading("What this capture cannot tell");
        for line in &report.verdict.not_visible {
            page.bullet(&Untrusted(line).to_string());
        }
    }
}

fn findings(page: &mut Page, report: &Report, clock: &Clock) {
    if report.findings.is_empty() {
        return;
    }
    page.heading("Findings");
    let mut ordered: Vec<&Finding> = report.findings.iter().collect();
    ordered.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let (shown, rest) = ordered.split_at(ordered.len().min(FINDINGS));
    for finding in shown {
        one_finding(page, report, finding, clock);
    }
    if !rest.is_empty() {
        let mut ids: BTreeMap<&str, u64> = BTreeMap::new();
        for finding in rest {
            *ids.entry(finding.id).or_insert(0) += 1;
        }
        let ids: Vec<_> = ids
            .iter()
            .map(|(id, number)| format!("{id} {}", count(*number)))
            .collect();
        page.line(&format!(
            "and {} more: {}. --filter or --format json shows them.",
            count(rest.len() as u64),
            ids.join(", ")
        ));
    }
}

fn one_finding(page: &mut Page, report: &Report, finding: &Finding, clock: &Clock) {
    let word = words::severity_word(finding.severity).to_uppercase();
    let painted = match finding.severity {
        Severity::Critical => page.paint().red(&word),
        Severity::Warning => page.paint().yellow(&word),
        Severity::Info => page.paint().blue(&word),
    };
    let head = format!("{}: {}", finding.id, Untrusted(&finding.message));
    page.item(painted, &word, &head);
    let mut entry = |label: &str, text: &str| page.entry(label, text);
    entry(
        "whom",
        &Untrusted(&words::subject(report, &finding.subject)).to_string(),
    );
    entry("seen", &words::seen(finding, clock));
    if let Some(timeline) = words::timeline(report, finding, clock) {
        entry("tries", &timeline);
    }
    if !finding.evidence.0.is_empty() {
        entry(
            "evidence",
            &Untrusted(&words::evidence(finding)).to_string(),
        );
    }
    if !finding.frames.is_empty() {
        entry("frames", &words::frames(report, &finding.frames));
    }
    entry(
        "sure",
        &format!("confidence {}", words::confidence_word(finding.confidence)),
    );
    entry("next", finding.next_step);
}

fn sources(page: &mut Page, report: &Report, clock: &Clock) {
    page.heading("Sources");
    for source in &report.sources {
        page.bullet(&format!(
            "{}: {}",
            Untrusted(&source.path),
            Untrusted(&words::source_line(source, clock))
        ));
        for problem in source.problems.iter().chain(&source.vantage.notes) {
            page.entry("note", &Untrusted(problem).to_string());
        }
    }
    let totals = &report.totals;
    let kinds = [
        ("RoCE v2", totals.roce_v2),
        ("RoCE v1", totals.roce_v1),
        ("InfiniBand", totals.infiniband),
        ("CNP", totals.cnp),
        ("PFC", totals.pfc),
        ("PAUSE", totals.pause),
        ("LLDP", totals.lldp),
        ("iWARP", totals.iwarp),
        ("NVMe/TCP", totals.nvme_tcp),
        ("IP fragments", totals.fragments),
        ("malformed", totals.malformed),
        ("undecodable", totals.undecodable),
        ("other", totals.other),
    ];
    let kinds: Vec<_> = kinds
        .iter()
        .filter(|(_, number)| *number > 0)
        .map(|(kind, number)| format!("{kind} {}", count(*number)))
        .collect();
    page.entry(
        "total",
        &format!(
            "{}: {}",
            counted(totals.frames, "frame", "frames"),
            kinds.join(", ")
        ),
    );
    page.entry(
        "tool",
        &format!(
            "{} {} {}",
            report.tool.name,
            report.tool.version,
            Untrusted(&report.tool.arguments.join(" "))
        ),
    );
    let settings: Vec<_> = report
        .tool
        .settings_changed
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    if !settings.is_empty() {
        page.entry("changed", &Untrusted(&settings.join(", ")).to_string());
    }
}
