//! `timeout-retransmission`: packets were sent again because no answer came in time.

use super::{Family, FindingDoc, Findings, Scope, View, wording};
use crate::event::{Event, EventKind, Repair};
use crate::figure::{counted, duration};
use crate::report::{Finding, Severity, Trigger, Where};
use crate::time::SECOND_NS;

/// What `timeout-retransmission` means.
pub static DOC: FindingDoc = FindingDoc {
    id: "timeout-retransmission",
    family: Family::LossAndRepair,
    severity: Severity::Warning,
    scope: Scope::Stream,
    quiet_ns: 30 * SECOND_NS,
    thresholds: &[],
    meaning: "The requester sent packets again because its timer ran out: no NAK asked for them. The last packet of a transfer, \
              or its answer, was lost (tail loss), and the queue pair stood still until the timer fired.",
    rule: "The PSN of a stream steps back to the oldest PSN not acknowledged, with no NAK or RNR NAK to answer and no later \
           response that implies one. The count is that of such passes. Stepped over the last time: lost between sender and \
           tap; else the request or its answer was lost after the tap, or its answer before it, which cannot be told apart \
           here. Packets acknowledged before they were sent again are spurious-retransmission.",
    source: "IBTA Volume 1, 9.7.6 (requester, detecting lost acknowledgements and timeouts); Linux rxe_comp.c, retransmit_timer; counter local_ack_timeout_err of mlx5.",
    causes: &[
        "the last packet of a message, or its only packet, was dropped on the path",
        "the ACK or the response was dropped on its way back",
        "the responder is stuck or gone: see retry-exceeded",
        "the timer is shorter than the path and the responder need: see spurious-retransmission",
    ],
    what_to_do: &[
        "compare local_ack_timeout_err on the sender and the drop counters of both directions over the times named",
        "compare the shortest gap with the ACK timeout of the queue pair (4.096 us x 2^timeout): far below it, the NIC retransmits adaptively",
        "capture at the other end too: what passed there tells request loss from answer loss",
    ],
    when_wrong: "A NAK that the capture missed makes a repair look like a timeout; then the gap before it is far shorter than \
                 the ACK timeout of the queue pair.",
};

pub(super) fn on(event: &Event, _: &View<'_>, findings: &mut Findings<'_>) {
    if let EventKind::Repaired(repair) = &event.kind
        && concerns(repair)
    {
        findings.raise(&DOC, event.at, &repair.recovery.frames, |finding| {
            add(finding, repair);
            tell(finding);
        });
    }
}

fn concerns(repair: &Repair) -> bool {
    repair.tries.timeout > 0
        && !matches!(
            repair.recovery.place,
            Where::Spurious | Where::Reordering | Where::Refused
        )
}

fn add(finding: &mut Finding, repair: &Repair) {
    let recovery = &repair.recovery;
    let passes = repair.tries.timeout;
    finding.count += passes;
    let began = recovery.trigger == Trigger::Timeout;
    wording::add_cost(finding, repair, began);
    let evidence = &mut finding.evidence;
    if let Some(gap) = recovery.gaps_ns.iter().min().filter(|_| began) {
        evidence.least("shortest_gap_ns", *gap);
    }
    evidence.most("most_tries", recovery.tries);
    evidence.add("lost_before_tap_packets", recovery.lost_before);
    if recovery.place == Where::AfterOrAnswer {
        evidence.add("request_or_answer_lost", passes);
    }
}

fn tell(finding: &mut Finding) {
    let evidence = &finding.evidence;
    let gap = match evidence.count("shortest_gap_ns") {
        0 => String::new(),
        gap => format!(" ({} at the least)", duration(gap)),
    };
    let mut places = Vec::new();
    match evidence.count("lost_before_tap_packets") {
        0 => {}
        before => places.push(format!(
            "{} lost between the sender and this tap",
            counted(before, "packet", "packets")
        )),
    }
    match evidence.count("request_or_answer_lost") {
        0 => {}
        open => places.push(format!(
            "{} the request or its answer was lost after this tap, or the answer before it",
            counted(open, "time", "times")
        )),
    }
    finding.message = format!(
        "{} without an answer{gap}{}; {}",
        counted(finding.count, "timeout", "timeouts"),
        wording::list(&places),
        wording::sent_again(finding)
    );
}
