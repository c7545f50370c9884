//! `mirror-duplicate`: the capture holds packets twice.

use super::{Family, FindingDoc, Findings, Scope, View};
use crate::event::{Event, EventKind};
use crate::figure::counted;
use crate::report::{Confidence, Severity};

/// What `mirror-duplicate` means.
pub static DOC: FindingDoc = FindingDoc {
    id: "mirror-duplicate",
    family: Family::LossAndRepair,
    severity: Severity::Info,
    scope: Scope::Stream,
    quiet_ns: 0,
    thresholds: &[],
    meaning: "The same transmission is in the capture twice: the mirror made the copy, not the network. It is no retransmission.",
    rule: "Same PSN, opcode, length and ICRC (of cut frames: all captured octets that routers do not change), same IP id, within \
           1 ms, or within 10 ms where TTL, MAC or VLAN prove two points of capture, and no NAK for it in between; the responder \
           did not answer the copies. Where answers are not visible a copy made by the network looks the same, which is said.",
    source: "A retransmission carries a new IP id where the sender counts ids, a copy the same; mirror sessions in both \
             directions copy each packet at ingress and at egress.",
    causes: &[
        "a mirror session copies a packet at ingress and again at egress, or on two ports of its path",
        "a capture on the any device, or on an interface and the VLAN or bond above it",
    ],
    what_to_do: &[
        "mirror each link in one direction only, or one port only; packet rates of this capture are too high as they are",
        "nothing else: copies move no other figure of this report",
    ],
    when_wrong: "A sender that repeats a packet within 1 ms with the same IP id would look alike; a responder that takes such \
                 copies answers them, which is duplicate-request.",
};

pub(super) fn on(event: &Event, view: &View<'_>, findings: &mut Findings<'_>) {
    if event.kind != EventKind::Closed {
        return;
    }
    let (requests, answered) = view.copies();
    let unanswered = requests - answered.min(requests);
    let answers = view.answer_copies();
    // A few extra answers do not make the network the author of a mirror's many copies, nor the other way round.
    let mirrored = if answered * 2 > requests {
        0
    } else {
        unanswered
    };
    let Some([(at, first), (until, last)]) = view.copy_frames().filter(|_| mirrored + answers > 0)
    else {
        return;
    };
    findings.raise(&DOC, at, &[first, last], |finding| {
        finding.count = mirrored + answers;
        finding.last_ns = until.0;
        finding.evidence.add("request_copies", mirrored);
        finding.evidence.add("answer_copies", answers);
        let copies = counted(finding.count, "packet", "packets");
        finding.message = format!("{copies} captured twice");
        if view.answers_visible() {
            finding.message += ": the receiver did not answer the copies, so the mirror made them";
        } else {
            finding.confidence = Confidence::Medium;
            finding.message +=
                "; cannot tell a network duplicate from one of the mirror without answers";
        }
    });
}
