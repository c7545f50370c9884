//! `reordering`: packets came out of order and were not lost.

use super::life::at_least;
use super::{Family, FindingDoc, Findings, Scope, View, wording};
use crate::event::{Event, EventKind};
use crate::figure::counted;
use crate::report::{Confidence, Finding, Severity};
use crate::time::SECOND_NS;

/// What `reordering` means.
pub static DOC: FindingDoc = FindingDoc {
    id: "reordering",
    family: Family::LossAndRepair,
    severity: Severity::Info,
    scope: Scope::Stream,
    quiet_ns: 30 * SECOND_NS,
    thresholds: &[],
    meaning: "Packets of a stream passed this tap out of the order in which they were sent. None of them was lost.",
    rule: "A packet carries a PSN that was stepped over and not seen since, and its IP id is older than its predecessor's where \
           the sender counts ids up; without such ids, no repair is under way, no NAK named it yet, and the next packet goes on \
           beyond the highest PSN. Info where the receiver never asked for a late packet: it takes them out of order. Warning \
           where NAKs resulted, or on UC, where the message of a late packet is broken. A NAK less than 20 ms after a late \
           packet belongs to the reordering and is not loss.",
    source: "IBTA Volume 1, 9.7.5 (a responder in order answers with a PSN sequence error); mlx5 out-of-order by default, UCX \
             PR 10149 and NVIDIA/nccl 850 on adaptive routing.",
    causes: &[
        "adaptive routing or packet spraying: packets of one queue pair take several paths",
        "a link aggregate or ECMP group that hashes packet by packet, or whose members changed",
        "a capture from several ports or receive queues, merged in the wrong order",
    ],
    what_to_do: &[
        "where NAKs resulted: check that the receiver's NIC is set to take packets out of order if the fabric sprays them",
        "where none did: nothing, but read loss figures of tools that only look at PSN steps with care",
        "compare out_of_sequence on the receiver: if it stays, the receiver takes them out of order",
    ],
    when_wrong: "Two mirror ports or several capture queues reorder by themselves; then no NAK follows, as with receivers that \
                 take packets out of order.",
};

pub(super) fn on(event: &Event, view: &View<'_>, findings: &mut Findings<'_>) {
    match &event.kind {
        EventKind::Late { .. } => findings.raise(&DOC, event.at, &[event.frame], |finding| {
            finding.count += 1;
            finding.evidence.number("late_packets", finding.count);
            if view.is_unreliable() {
                at_least(finding, Severity::Warning);
            }
            tell(finding, view);
        }),
        EventKind::Repaired(repair) if repair.recovery.is_reordering() => {
            findings.amend(&DOC, event.at, &repair.recovery.frames, |finding| {
                wording::add_cost(finding, repair, true);
                finding.evidence.add("naks", repair.tries.nak);
                finding.evidence.add("spurious_packets", repair.spurious);
                at_least(finding, Severity::Warning);
                tell(finding, view);
            });
        }
        _ => {}
    }
}

fn tell(finding: &mut Finding, view: &View<'_>) {
    let late = match finding.count {
        0 => "packets came late to the receiver, none of them lost".to_owned(),
        late => format!(
            "{} came out of order, none of them lost",
            counted(late, "packet", "packets")
        ),
    };
    finding.confidence = if view.answers_visible() || view.is_unreliable() {
        Confidence::High
    } else {
        Confidence::Medium
    };
    finding.message = if finding.evidence.count("repairs") > 0 {
        format!(
            "{late}; the receiver asked for late packets again ({}): {}",
            counted(finding.evidence.count("naks"), "NAK", "NAKs"),
            wording::sent_again(finding)
        )
    } else if view.is_unreliable() {
        format!("{late} here; a UC receiver drops the message of a late packet")
    } else if view.answers_visible() {
        format!(
            "{late}; the receiver takes packets out of order (adaptive routing, selective repeat)"
        )
    } else {
        format!("{late}; answers are not visible, so what the receiver made of it is not either")
    };
}
