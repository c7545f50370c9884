//! `rnr-storm`: the receiver refuses again and again.

use super::{Family, FindingDoc, Findings, Scope, Threshold, View};
use crate::Time;
use crate::event::{Event, EventKind};
use crate::figure::{counted, duration};
use crate::report::Severity;
use crate::time::SECOND_NS;
use std::collections::VecDeque;

/// What `rnr-storm` means.
pub static DOC: FindingDoc = FindingDoc {
    id: "rnr-storm",
    family: Family::Refusals,
    severity: Severity::Warning,
    scope: Scope::Stream,
    quiet_ns: 30 * SECOND_NS,
    thresholds: &[
        Threshold {
            key: "naks",
            unit: "RNR NAKs",
            default: 10,
            min: 2,
            max: 1_000,
            meaning: "Least RNR NAKs to one stream within the window.",
            source: "More than the 7 tries that a limited rnr_retry allows for one message.",
        },
        Threshold {
            key: "window_ns",
            unit: "ns",
            default: SECOND_NS,
            min: 1_000,
            max: 3_600 * SECOND_NS,
            meaning: "The window.",
            source: "Twice the longest RNR timer but one (491.52 ms).",
        },
    ],
    meaning: "The receiver refuses request after request because no receive is posted. The connection lives on tries: rnr_retry 7 \
              means that they never end.",
    rule: "At least `naks` RNR NAKs to one stream within `window_ns`. The count is that of all RNR NAKs of the storm.",
    source: "IBTA Volume 1, 9.7.5 (RNR NAK), rnr_retry 7 is without end; the rxe and Simple-10GbE-RUDP threads on storms with \
             a timer of 0.01 ms.",
    causes: &[
        "the receiving application hangs, or consumes slower than the sender sends",
        "a receive queue too short for the bursts of the sender",
        "a very short RNR timer with rnr_retry 7: the sender hammers a receiver that needs time",
    ],
    what_to_do: &[
        "find out what the receiving process waits for, and deepen its receive queue",
        "raise min_rnr_timer on the receiver if it is near 0.01 ms: the tries cost both ends packets and gain nothing",
        "limit rnr_retry to less than 7 if the application should learn of a stuck peer",
    ],
    when_wrong: "An application that posts receives one by one by design lives with RNR NAKs; then each message comes through at \
                 its next try.",
};

/// Times of the latest RNR NAKs.
#[derive(Clone, Default, Debug)]
pub(crate) struct State {
    recent: VecDeque<Time>,
}

pub(super) fn on(event: &Event, view: &View<'_>, findings: &mut Findings<'_>) {
    let EventKind::Rnr { psn, timer } = event.kind else {
        return;
    };
    let needed = view.threshold(&DOC, "naks");
    let window_ns = view.threshold(&DOC, "window_ns");
    let recent = &mut findings.states().rnr_storm.recent;
    recent.push_back(event.at);
    while recent
        .front()
        .is_some_and(|oldest| event.at.since(*oldest) > window_ns || recent.len() as u64 > needed)
    {
        recent.pop_front();
    }
    if (recent.len() as u64) < needed {
        return;
    }
    let since = recent.front().copied().unwrap_or(event.at);
    findings.raise(&DOC, event.at, &[event.frame], |finding| {
        let begins = finding.count == 0;
        finding.count += if begins { needed } else { 1 };
        if begins {
            finding.first_ns = since.0;
        }
        finding
            .evidence
            .number("timer_ns", timer.nanoseconds())
            .number("psn", psn.get())
            .number("naks_needed", needed)
            .number("window_ns", window_ns);
        let retries = match view.cm().map(|cm| cm.rnr_retry_count) {
            Some(7) => " (rnr_retry 7 by CM: without end)".to_owned(),
            Some(count) => format!(" (rnr_retry {count} by CM)"),
            None => String::new(),
        };
        finding.message = format!(
            "receiver not ready storm: {} in {}, timer {}{retries}; no packet was lost",
            counted(finding.count, "RNR NAK", "RNR NAKs"),
            duration(event.at.0.saturating_sub(finding.first_ns)),
            duration(timer.nanoseconds())
        );
    });
}
