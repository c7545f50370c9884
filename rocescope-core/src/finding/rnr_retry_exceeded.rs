//! `rnr-retry-exceeded`: the receiver was not ready for so long that the requester gave up.

use super::{Family, FindingDoc, Findings, Scope, Threshold, View, wording};
use crate::event::{Event, EventKind};
use crate::figure::{counted, duration};
use crate::report::{Finding, Severity};
use crate::time::{MILLISECOND_NS, SECOND_NS};

/// What `rnr-retry-exceeded` means.
pub static DOC: FindingDoc = FindingDoc {
    id: "rnr-retry-exceeded",
    family: Family::Refusals,
    severity: Severity::Critical,
    scope: Scope::Stream,
    quiet_ns: 0,
    thresholds: &[
        Threshold {
            key: "silence_timers",
            unit: "RNR timers",
            default: 10,
            min: 1,
            max: 1_000,
            meaning: "Silence after the last RNR NAK, in units of the timer it carries.",
            source: "A requester that goes on does so after one timer; hosts are sometimes late.",
        },
        Threshold {
            key: "silence_ns",
            unit: "ns",
            default: 100 * MILLISECOND_NS,
            min: 0,
            max: 3_600 * SECOND_NS,
            meaning: "Least silence, however short the timer is.",
            source: "Timers begin at 0.01 ms, far below what a busy host needs.",
        },
    ],
    meaning: "The receiver was not ready each time the requester tried, and the requester gave up: its queue pair is in the error \
              state. Applications report RNR retry counter exceeded (status 13). It is no packet loss.",
    rule: "The last RNR NAK is not followed by another try, but by silence of `silence_timers` times its timer and at least \
           `silence_ns`, or by a CM disconnect.",
    source: "IBTA Volume 1, 9.7.5 (RNR NAK) and 9.9.2 (requester errors, RNR retry counter); Linux rxe_comp.c, retry_rnr_exceeded_err; kernel counter \
             rnr_nak_retry_err.",
    causes: &[
        "the receiving application never posted the receive: it hangs, failed, or expects fewer messages",
        "rnr_retry is small and the receiver slow: set-up races, a paused virtual machine, a debugger",
    ],
    what_to_do: &[
        "look at the receiving application first: why was no receive posted at that time",
        "raise rnr_retry (7 is without end) or min_rnr_timer if the receiver only needs more time",
    ],
    when_wrong: "A requester that had nothing else to do and whose owner closed it at this moment looks alike.",
};

pub(super) fn on(event: &Event, view: &View<'_>, findings: &mut Findings<'_>) {
    if event.kind != EventKind::Closed || view.fatal_nak().is_some() {
        return;
    }
    let Some((psn, timer, at, frame)) = view.pending_rnr() else {
        return;
    };
    let timers = view.threshold(&DOC, "silence_timers");
    let needed_ns = timer
        .nanoseconds()
        .saturating_mul(timers)
        .max(view.threshold(&DOC, "silence_ns"));
    let silence_ns = view.now().since(view.last_at().max(at));
    let disconnected = view.disconnected().is_some_and(|closed| closed >= at);
    if silence_ns < needed_ns && !disconnected {
        return;
    }
    findings.raise(&DOC, at, &[frame], |finding| {
        finding.count = view.rnr_naks();
        let end = if silence_ns < needed_ns {
            "the connection was closed (CM disconnect)".to_owned()
        } else {
            format!("silence for {}", duration(silence_ns))
        };
        finding.message = format!(
            "{}: PSN {} was refused until the requester gave up: {} in all (timer {}), then {end}; no receive was posted, \
             nothing was lost; {}",
            wording::whom(view),
            psn.get(),
            counted(finding.count, "RNR NAK", "RNR NAKs"),
            duration(timer.nanoseconds()),
            wording::acknowledged(view)
        );
        finding
            .evidence
            .number("psn", psn.get())
            .number("rnr_naks", finding.count)
            .number("timer_ns", timer.nanoseconds())
            .number("silence_ns", silence_ns)
            .number("silence_needed_ns", needed_ns);
        put_retries(finding, view);
        wording::put_whom(finding, view);
    });
}

fn put_retries(finding: &mut Finding, view: &View<'_>) {
    if let Some(cm) = view.cm() {
        finding
            .evidence
            .number("rnr_retry_count", cm.rnr_retry_count);
    }
}
