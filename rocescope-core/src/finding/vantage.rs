//! Findings about what the inputs can and cannot show, made after all of them were read.

use super::{FindingDoc, frames_cut, life, no_roce_seen, one_direction_only, ring_loss, sampled};
use crate::Time;
use crate::outcome::Outcome;
use crate::report::{EndedBy, Finding, Source, State, Subject};

/// What can be said of the whole input only.
#[must_use]
pub fn of_capture(outcome: &Outcome, sources: &[Source]) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(no_roce_seen::of(outcome, sources));
    findings.extend(one_direction_only::of(outcome));
    for (index, source) in sources.iter().enumerate() {
        let index = u16::try_from(index).unwrap_or(u16::MAX);
        findings.extend(frames_cut::of(source, index));
        findings.extend(sampled::of(source, index));
        findings.extend(ring_loss::of(source, index, outcome));
    }
    findings
}

/// A finding about everything in the input, from `first` to `last`.
pub(super) fn capture_finding(doc: &'static FindingDoc, first: Time, last: Time) -> Finding {
    let whom = (Subject::Capture, "capture".to_owned(), "capture".to_owned());
    ended(life::begun(doc, first, whom), last)
}

/// A finding about one source, over its whole time.
pub(super) fn source_finding(doc: &'static FindingDoc, source: &Source, index: u16) -> Finding {
    let name = format!("source {index}");
    let whom = (Subject::Source { source: index }, name.clone(), name);
    let first = Time(source.first_ns.unwrap_or(0));
    ended(
        life::begun(doc, first, whom),
        Time(source.last_ns.unwrap_or(0)),
    )
}

fn ended(mut finding: Finding, last: Time) -> Finding {
    finding.last_ns = last.0.max(finding.first_ns);
    finding.state = State::Resolved;
    finding.ended_by = Some(EndedBy::End);
    finding
}
