//! `credit-stall`: the responder granted no credits.

use super::{Family, FindingDoc, Findings, Scope, Threshold, View};
use crate::event::{Event, EventKind};
use crate::figure::{counted, duration};
use crate::report::{Confidence, Severity};
use crate::time::{MILLISECOND_NS, SECOND_NS};

/// What `credit-stall` means.
pub static DOC: FindingDoc = FindingDoc {
    id: "credit-stall",
    family: Family::Integrity,
    severity: Severity::Warning,
    scope: Scope::Stream,
    quiet_ns: 30 * SECOND_NS,
    thresholds: &[Threshold {
        key: "stall_ns",
        unit: "ns",
        default: MILLISECOND_NS,
        min: 0,
        max: 3_600 * SECOND_NS,
        meaning: "Least time without credits.",
        source: "Far above a round trip in a data center, so that one receive after the other is not a stall.",
    }],
    meaning: "The responder granted no credits for a while: it had no receive posted, and the requester had to hold its messages \
              back. It is the gentle form of receiver not ready.",
    rule: "An ACK grants 0 credits (end-to-end flow control is on), and the next answer with credits comes `stall_ns` later or \
           more, or never. Only where credits are not 31, which means that there is no limit.",
    source: "IBTA Volume 1, 9.7.7.2 (end-to-end flow control); Linux rdmavt rc.c, credit_table.",
    causes: &[
        "the receiving application posts receives too late or too few of them",
        "a shared receive queue ran dry",
    ],
    what_to_do: &[
        "deepen the receive queue of the receiver, or find out why it posts late",
        "compare the stalls with the pauses that the application sees",
    ],
    when_wrong: "A requester with nothing to send does not mind having no credits: whether it waited cannot be seen.",
};

pub(super) fn on(event: &Event, view: &View<'_>, findings: &mut Findings<'_>) {
    let EventKind::CreditStall { ns, .. } = event.kind else {
        return;
    };
    let least = view.threshold(&DOC, "stall_ns");
    if ns < least {
        return;
    }
    findings.raise(&DOC, event.at, &[event.frame], |finding| {
        finding.count += 1;
        finding.confidence = Confidence::Medium;
        finding.first_ns = finding.first_ns.min(event.at.0.saturating_sub(ns));
        finding
            .evidence
            .add("without_credits_ns", ns)
            .most("longest_ns", ns)
            .number("stall_needed_ns", least);
        finding.message = format!(
            "{} in {}, {} at the longest",
            counted(
                finding.count,
                "time without credits",
                "times without credits"
            ),
            duration(finding.evidence.count("without_credits_ns")),
            duration(finding.evidence.count("longest_ns"))
        );
    });
}
