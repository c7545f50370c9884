//! The verdict: from streams, connections, findings and coverage to the answer in short.
//!
//! Nothing is said of what could not be seen: a clean verdict names what a fault could have hidden behind.

mod case;
mod coverage;
mod pattern;
mod sentence;
mod side;
mod timer;
mod who;

use crate::report::{Finding, FrameRef, Report, Severity, Subject, Verdict};
use case::Case;
use std::cmp::Reverse;

pub use case::{DEADLY, Loss, is_deadly, one_direction};
pub(crate) use coverage::instead_of_roce;

/// How many streams the verdict names as worst.
const WORST: usize = 3;

/// The verdict over everything in the report; its own `verdict` is not read.
#[must_use]
pub fn verdict(report: &Report) -> Verdict {
    let case = Case::new(report);
    let (stalled_ns, life_ns) = case.stalled_and_life();
    let totals = &report.totals.requester;
    let (since_ns, until_ns) = pattern::span(&case);
    let losses_by_second = pattern::by_second(&case);
    let (middle_losses, tail_losses) = side::middle_and_tail(&case);
    let worst = worst(&case);
    let not_visible = coverage::not_visible(&case);
    let first = first_finding(&case, &worst);
    Verdict {
        sentence: sentence::sentence(&case, &worst, &not_visible),
        lost_per_million: crate::figure::millionths(case.lost(), case.sent()),
        sent_again_millionths: crate::figure::millionths(
            totals.retransmitted_bytes,
            totals.wire_bytes,
        ),
        stalled_ns,
        stalled_millionths: crate::figure::millionths(stalled_ns, life_ns),
        since_ns,
        until_ns,
        pattern: pattern::pattern(&case, &losses_by_second),
        losses_by_second,
        who: who::who(&case),
        side: side::side(&case),
        middle_losses,
        tail_losses,
        timeout: timer::timeout(&case, &worst),
        retries: timer::retries(&case, &worst),
        not_visible: not_visible.iter().map(coverage::Blind::line).collect(),
        frames: first.map_or_else(Vec::new, frames),
        next_step: next_step(&case, first),
        worst,
    }
}

/// The streams that hurt most: dead ones, then by time stalled, then by packets lost.
fn worst(case: &Case<'_>) -> Vec<u64> {
    let mut ranked: Vec<_> = case
        .report
        .streams
        .iter()
        .map(|stream| {
            let severity = case
                .findings_of(stream.id)
                .map(|finding| finding.severity)
                .max();
            let dead = case.death_of(stream.id).is_some();
            (
                Reverse(dead),
                Reverse(stream.requester.stalled_ns),
                Reverse(Loss::of(stream).total()),
                Reverse(severity),
                Reverse(stream.requester.retransmitted_packets),
                stream.id,
            )
        })
        .filter(|(dead, stalled, loss, severity, again, _)| {
            let grave = severity.0 >= Some(Severity::Warning);
            dead.0 || stalled.0 > 0 || loss.0 > 0 || grave || again.0 > 0
        })
        .collect();
    ranked.sort_unstable();
    ranked.into_iter().take(WORST).map(|(.., id)| id).collect()
}

/// The finding to begin with: the gravest of the worst stream, else the gravest of all above `info`.
fn first_finding<'a>(case: &Case<'a>, worst: &[u64]) -> Option<&'a Finding> {
    let of_worst = worst
        .first()
        .into_iter()
        .flat_map(|id| case.findings_of(*id));
    gravest(of_worst).or_else(|| gravest(case.report.findings.iter()))
}

fn gravest<'a>(findings: impl Iterator<Item = &'a Finding>) -> Option<&'a Finding> {
    findings
        .filter(|finding| finding.severity > Severity::Info)
        .min_by_key(|finding| {
            (
                Reverse(is_deadly(finding.id)),
                Reverse(finding.severity),
                Reverse(finding.count),
                finding.first_ns,
            )
        })
}

fn frames(finding: &Finding) -> Vec<FrameRef> {
    finding.frames.iter().copied().take(8).collect()
}

/// A line of advice as a sentence.
fn as_sentence(advice: &str) -> String {
    let mut letters = advice.chars();
    let first = letters.next().map(char::to_uppercase);
    let sentence: String = first.into_iter().flatten().chain(letters).collect();
    match sentence.ends_with('.') {
        true => sentence,
        false => sentence + ".",
    }
}

fn next_step(case: &Case<'_>, first: Option<&Finding>) -> String {
    if let Some(finding) = first {
        return as_sentence(finding.next_step);
    }
    if !case.any_roce() {
        return coverage::where_to_find_roce(case);
    }
    match case.report.findings.iter().find(|finding| matches!(finding.subject, Subject::Capture | Subject::Source { .. })) {
        Some(finding) => as_sentence(finding.next_step),
        None => "If the job is slow all the same, capture at the other end, over a longer time, or look at the hosts: \
                 what this tap saw of the fabric is in order."
            .to_owned(),
    }
}

#[cfg(test)]
mod tests;
