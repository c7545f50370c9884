//! Since when, and how losses lie in time.

use super::case::{Case, Loss};
use crate::report::verdict::Pattern;
use crate::report::{Recovery, Where};
use crate::time::SECOND_NS;
use std::collections::BTreeMap;

/// Findings whose times are times of loss.
const LOSS_FINDINGS: [&str; 4] = ["psn-gap", "response-loss", "uc-gap", "damaged-packet"];

/// Below so many seconds "always" and "now and then" look alike.
const SHORT_S: u64 = 5;

/// Whether packets were lost, or may have been, at that place.
pub(super) fn is_loss(place: Where) -> bool {
    match place {
        Where::Before
        | Where::After
        | Where::Damaged
        | Where::ResponseBefore
        | Where::ResponseAfter
        | Where::AfterOrAnswer => true,
        Where::Reordering | Where::Refused | Where::Spurious | Where::Unknown => false,
    }
}

/// Losses a second over all streams.
pub(super) fn by_second(case: &Case<'_>) -> BTreeMap<u64, u64> {
    let mut sum = BTreeMap::new();
    for stream in &case.report.streams {
        for (second, lost) in &stream.requester.losses_by_second {
            *sum.entry(*second).or_insert(0) += lost;
        }
    }
    sum
}

/// The first and the latest loss.
pub(super) fn span(case: &Case<'_>) -> (Option<u64>, Option<u64>) {
    let recoveries = case
        .report
        .streams
        .iter()
        .flat_map(|stream| &stream.requester.recoveries);
    let repairs = recoveries
        .filter(|recovery| is_loss(recovery.place))
        .map(|recovery| (recovery.start_ns, ends(recovery)));
    let findings = case
        .report
        .findings
        .iter()
        .filter(|finding| LOSS_FINDINGS.contains(&finding.id));
    let times: Vec<_> = repairs
        .chain(findings.map(|finding| (finding.first_ns, finding.last_ns)))
        .collect();
    (
        times.iter().map(|time| time.0).min(),
        times.iter().map(|time| time.1).max(),
    )
}

fn ends(recovery: &Recovery) -> u64 {
    recovery.end_ns.unwrap_or(recovery.start_ns)
}

/// How losses lie in the life of the streams that lost something; nothing where that life is too short to tell.
pub(super) fn pattern(case: &Case<'_>, losses: &BTreeMap<u64, u64>) -> Option<Pattern> {
    let (first, last) = (losses.keys().next()?, losses.keys().next_back()?);
    if losses.values().sum::<u64>() == 1 {
        return Some(Pattern::OneEvent);
    }
    let hurt = || {
        case.report.streams.iter().filter(|stream| {
            Loss::of(stream).total() > 0 || !stream.requester.losses_by_second.is_empty()
        })
    };
    let begin = hurt().map(|stream| stream.first_ns).min()? / SECOND_NS;
    let end = hurt().map(|stream| stream.last_ns).max()? / SECOND_NS;
    let life = end.saturating_sub(begin) + 1;
    if life < SHORT_S {
        return None;
    }
    let with_loss = losses.values().filter(|lost| **lost > 0).count() as u64;
    Some(if last - first <= 1 {
        Pattern::OneEvent
    } else if with_loss * 2 >= life {
        Pattern::Steady
    } else {
        Pattern::Bursts
    })
}
