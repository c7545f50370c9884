//! The acknowledgement timer beside the answer time, and the retry counts in force.

use super::case::Case;
use crate::figure::duration;
use crate::report::{Connection, Recovery, Stream, Trigger, Where};

/// A timer this many times the median answer time is in no hurry; below, it fires while answers are under way.
const TIGHT: u64 = 2;

/// The timer of the worst connection that waited for it; nothing where none is known.
pub(super) fn timeout(case: &Case<'_>, worst: &[u64]) -> Option<String> {
    let waited = |stream: &&Stream| stream.requester.tries.timeout > 0;
    let of_worst = worst
        .iter()
        .filter_map(|id| case.stream(*id))
        .filter(waited);
    let others = case.report.streams.iter().filter(waited);
    of_worst
        .chain(others)
        .find_map(|stream| sentence(case, case.connection_of(stream.id)?))
}

fn sentence(case: &Case<'_>, connection: &Connection) -> Option<String> {
    let from_cm = connection
        .cm
        .map(|cm| cm.ack_timeout_ns)
        .filter(|timeout| *timeout > 0);
    let timer = from_cm.or(connection.effective_timeout_ns)?;
    let source = if from_cm.is_some() {
        exponent(timer)
    } else {
        "the shortest gap before a timeout pass".to_owned()
    };
    let recoveries = connection
        .streams
        .iter()
        .filter_map(|id| case.stream(*id))
        .flat_map(|stream| &stream.requester.recoveries);
    let faster = shortest_gap(recoveries.clone()).filter(|gap| *gap < timer / TIGHT);
    let in_force = faster.unwrap_or(timer);
    let faster = faster.map_or_else(String::new, |gap| {
        format!(
            ", but repeats come {} after (faster than the timer: adaptive retransmission)",
            duration(gap)
        )
    });
    let beside = match answer_time(connection, recoveries) {
        None => "no undisturbed answer was seen to compare with".to_owned(),
        Some((answer, how)) => {
            let verdict = if in_force < answer.saturating_mul(TIGHT) {
                "too short: "
            } else {
                ""
            };
            format!(
                "{verdict}answers take {} at this tap ({how})",
                duration(answer)
            )
        }
    };
    Some(format!("{} ({source}){faster}; {beside}", duration(timer)))
}

/// The shortest time in which a repair without a NAK began.
fn shortest_gap<'a>(recoveries: impl Iterator<Item = &'a Recovery>) -> Option<u64> {
    recoveries
        .filter(|recovery| recovery.trigger == Trigger::Timeout)
        .flat_map(|recovery| recovery.gaps_ns.iter().copied())
        .min()
}

/// How long answers take; where none was undisturbed, how long the first one took that made repeats needless.
fn answer_time<'a>(
    connection: &Connection,
    recoveries: impl Iterator<Item = &'a Recovery>,
) -> Option<(u64, &'static str)> {
    let latency = &connection.latency_ns;
    let median = latency.ack.or(latency.read_last);
    let needless = || {
        recoveries
            .filter(|recovery| recovery.place == Where::Spurious)
            .map(|recovery| recovery.stalled_ns)
            .min()
            .map(|least| (least, "the least in needless repairs"))
    };
    median
        .map(|answer| (answer.p50, "median"))
        .or_else(needless)
}

/// CM's encoding of that timer.
fn exponent(timer_ns: u64) -> String {
    let steps = (timer_ns / 4096).checked_ilog2().unwrap_or(0);
    format!("from CM: 4.096 us x 2^{steps}")
}

/// Retry counts of the worst connection whose CM was seen.
pub(super) fn retries(case: &Case<'_>, worst: &[u64]) -> Option<String> {
    let cm = worst
        .iter()
        .filter_map(|id| case.connection_of(*id))
        .chain(&case.report.connections)
        .find_map(|connection| connection.cm)?;
    let rnr = match cm.rnr_retry_count {
        7 => "without end".to_owned(),
        count => count.to_string(),
    };
    Some(format!(
        "{} after a timeout or NAK, {rnr} after an RNR NAK (from CM)",
        cm.retry_count
    ))
}
