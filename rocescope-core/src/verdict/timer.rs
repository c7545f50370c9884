//! The acknowledgement timer beside the answer time, and the retry counts in force.

use super::case::Case;
use crate::figure::duration;
use crate::report::{Connection, Stream};

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
        .find_map(|stream| sentence(case.connection_of(stream.id)?))
}

fn sentence(connection: &Connection) -> Option<String> {
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
    let answer = connection
        .latency_ns
        .ack
        .or(connection.latency_ns.read_last);
    let beside = match answer {
        None => "no undisturbed answer was seen to compare with".to_owned(),
        Some(answer) if timer < answer.p50.saturating_mul(TIGHT) => {
            format!(
                "too short: answers take {} at this tap (median)",
                duration(answer.p50)
            )
        }
        Some(answer) => format!("answers take {} at this tap (median)", duration(answer.p50)),
    };
    Some(format!("{} ({source}); {beside}", duration(timer)))
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
