//! `response-loss`: answers to READs or atomics were lost.

use super::{Family, FindingDoc, Findings, Scope, View, wording};
use crate::event::{Event, EventKind};
use crate::figure::counted;
use crate::report::{Finding, Severity};
use crate::time::SECOND_NS;

/// What `response-loss` means.
pub static DOC: FindingDoc = FindingDoc {
    id: "response-loss",
    family: Family::LossAndRepair,
    severity: Severity::Warning,
    scope: Scope::Stream,
    quiet_ns: 30 * SECOND_NS,
    thresholds: &[],
    meaning: "READ responses or atomic answers were lost on their way from the responder to the requester. The requester had to \
              ask for them again.",
    rule: "A READ or atomic is asked for again from a PSN whose response this tap did not see although it saw later ones (lost \
           between responder and tap), or did see (lost between tap and requester). Skipped responses that nobody asks for \
           again were missed by the capture: capture-gap. The stream named is that of the requests.",
    source: "IBTA Volume 1, 9.7.5 (READ responses) and 9.7.6 (requester, implied NAK); Linux rxe_resp.c, find_resource.",
    causes: &[
        "a port on the way back dropped responses: READ traffic meets in the port of the one requester (incast)",
        "responses ride in another priority than requests, one without PFC",
        "a bad cable or transceiver on that side",
    ],
    what_to_do: &[
        "compare drop counters of the ports between the responder and the requester, on the side that the message names",
        "check DSCP and priority of the responses: the responder sets them, not the requester",
    ],
    when_wrong: "A requester that is out of memory or of order drops responses itself; at this tap that is loss between tap and \
                 requester.",
};

pub(super) fn on(event: &Event, view: &View<'_>, findings: &mut Findings<'_>) {
    let EventKind::Repaired(repair) = &event.kind else {
        return;
    };
    let (before, after) = repair.responses_lost;
    if before + after == 0 || repair.recovery.is_reordering() {
        return;
    }
    findings.raise(&DOC, event.at, &repair.recovery.frames, |finding| {
        finding.count += before + after;
        wording::add_cost(finding, repair, true);
        finding.evidence.add("lost_before_tap_packets", before);
        finding.evidence.add("lost_after_tap_packets", after);
        tell(finding, view);
    });
}

fn tell(finding: &mut Finding, view: &View<'_>) {
    let before = finding.evidence.count("lost_before_tap_packets");
    let after = finding.evidence.count("lost_after_tap_packets");
    let responses = |number| counted(number, "response", "responses");
    let mut places = Vec::new();
    if before > 0 {
        places.push(format!(
            "{} lost between the responder and this tap",
            responses(before)
        ));
    }
    if after > 0 {
        places.push(format!(
            "at least {} lost between this tap and the requester{}",
            responses(after),
            wording::or_damaged(view)
        ));
    }
    finding.message = format!(
        "{}; asked for again, {}",
        places.join(", "),
        wording::cost(finding)
    );
}
