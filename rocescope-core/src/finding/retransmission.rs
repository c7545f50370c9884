//! `retransmission`: packets were sent again because the receiver asked for them.

use super::{Family, FindingDoc, Findings, Scope, View, wording};
use crate::event::{Event, EventKind, Repair};
use crate::figure::counted;
use crate::report::{Confidence, Finding, Severity, Trigger, Where};
use crate::time::SECOND_NS;

/// What `retransmission` means.
pub static DOC: FindingDoc = FindingDoc {
    id: "retransmission",
    family: Family::LossAndRepair,
    severity: Severity::Warning,
    scope: Scope::Stream,
    quiet_ns: 30 * SECOND_NS,
    thresholds: &[],
    meaning: "The requester sent packets again because a NAK (PSN sequence error) asked for them. Loss in the middle of a \
              transfer looks like this; loss at its end is a timeout.",
    rule: "The PSN of a stream steps back to a NAK (PSN sequence error) that no pass answered yet. The count is that of such \
           passes. The place of the loss is what the cursor did the last time it went over the PSN of the NAK: stepped over \
           it, lost between sender and tap; carried it, lost between tap and receiver (at least one packet: several losses \
           behind one NAK look like one); carried it with a bad ICRC, damaged before the tap. Repairs after an RNR NAK, \
           repairs of late packets and copies made by mirrors are not counted. Without answers the reason of a step back \
           cannot be told: such repairs count here at medium confidence.",
    source: "IBTA Volume 1, 9.7.5 (NAK, PSN sequence error); Linux rxe_comp.c (completer_retry_err), rxe_resp.c \
             (out_of_seq_request); counter packet_seq_err of mlx5.",
    causes: &[
        "packets are dropped on the path: see psn-gap and the places in the message for the side of the tap",
        "packets are damaged on the path: see damaged-packet",
        "the receiver's NIC drops packets it cannot place: its counters out_of_sequence and rx_discards show it",
    ],
    what_to_do: &[
        "look at the side of the tap that the message names: port drop counters, PFC configuration, errors of cables",
        "compare with out_of_sequence on the receiver and packet_seq_err on the sender over the same time",
        "if the style is go-back-n, each loss costs everything in flight behind it: check what the NIC can do",
    ],
    when_wrong: "A receiver that gives up on reordering asks for packets that are only late; where the late packets pass this \
                 tap it is reported as reordering, where they are reordered behind it, it looks like loss after the tap.",
};

pub(super) fn on(event: &Event, view: &View<'_>, findings: &mut Findings<'_>) {
    match &event.kind {
        EventKind::Repaired(repair) if concerns(repair) => {
            let frames = &repair.recovery.frames;
            findings.raise(&DOC, event.at, frames, |finding| {
                add(finding, repair);
                tell(finding, view);
            });
        }
        EventKind::Unrepaired { place, lost, .. } if *place != Where::Before => {
            let name = match place {
                Where::Damaged => "damaged_before_tap_packets",
                _ => "lost_after_tap_packets",
            };
            findings.raise(&DOC, event.at, &[event.frame], |finding| {
                finding.count += 1;
                finding.evidence.add("naks_without_repair", 1);
                finding.evidence.add(name, *lost);
                tell(finding, view);
            });
        }
        _ => {}
    }
}

fn concerns(repair: &Repair) -> bool {
    repair.tries.nak + repair.tries.unknown > 0 && !repair.recovery.is_reordering()
}

fn add(finding: &mut Finding, repair: &Repair) {
    let recovery = &repair.recovery;
    finding.count += repair.tries.nak + repair.tries.unknown;
    let began = matches!(recovery.trigger, Trigger::Nak | Trigger::Unknown);
    wording::add_cost(finding, repair, began);
    let evidence = &mut finding.evidence;
    evidence.add("nak_passes", repair.tries.nak);
    evidence.add("unexplained_passes", repair.tries.unknown);
    evidence.add("lost_before_tap_packets", recovery.lost_before);
    evidence.add("lost_after_tap_packets", repair.lost_after);
    evidence.add("damaged_before_tap_packets", repair.damaged);
}

fn tell(finding: &mut Finding, view: &View<'_>) {
    let evidence = &finding.evidence;
    let unexplained = evidence.count("unexplained_passes");
    let what = if unexplained == finding.count {
        finding.confidence = Confidence::Medium;
        format!(
            "sent again {}, for a reason that cannot be told without the answers",
            counted(finding.count, "time", "times")
        )
    } else {
        format!(
            "sent again {} after NAK (PSN sequence error)",
            counted(finding.count, "time", "times")
        )
    };
    finding.message = format!(
        "{what}{}; {}",
        wording::list(&places(finding, view)),
        wording::sent_again(finding)
    );
}

fn places(finding: &Finding, view: &View<'_>) -> Vec<String> {
    let of = |name| finding.evidence.count(name);
    let packets = |number| counted(number, "packet", "packets");
    let mut places = Vec::new();
    match of("lost_before_tap_packets") {
        0 => {}
        before => places.push(format!(
            "{} lost between the sender and this tap",
            packets(before)
        )),
    }
    match of("lost_after_tap_packets") {
        0 => {}
        after => places.push(format!(
            "at least {} lost between this tap and the receiver{}",
            packets(after),
            wording::or_damaged(view)
        )),
    }
    match of("damaged_before_tap_packets") {
        0 => {}
        damaged => places.push(format!("{} damaged before this tap", packets(damaged))),
    }
    places
}
