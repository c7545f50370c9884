//! `duplicate-request`: the network or the sender made copies, and the responder took them.

use super::{Family, FindingDoc, Findings, Scope, View};
use crate::event::{Event, EventKind};
use crate::figure::counted;
use crate::report::Severity;

/// What `duplicate-request` means.
pub static DOC: FindingDoc = FindingDoc {
    id: "duplicate-request",
    family: Family::LossAndRepair,
    severity: Severity::Warning,
    scope: Scope::Stream,
    quiet_ns: 0,
    thresholds: &[],
    meaning: "Copies of request packets reached the responder, which answered them again. The network or the sender made them, not \
              the mirror, and nothing was lost.",
    rule: "Copies of requests are in the capture (same PSN, opcode, length, ICRC and IP id within 1 ms), and more ACKs came than \
           requests asked for, copies of ACKs taken out. The count is that of such extra answers.",
    source: "IBTA Volume 1, 9.7.4 and 9.7.5 (duplicate requests are acknowledged again); Linux rxe_resp.c, duplicate_request; counter \
             duplicate_request of mlx5 and rxe.",
    causes: &[
        "a layer 2 loop, or flooding in a network whose MAC tables move",
        "a device that duplicates packets: a failing link aggregate, a redundancy protocol, an overlay that replicates",
        "a virtual switch or driver on the sender that sends a packet twice",
    ],
    what_to_do: &[
        "follow one of the copies through the network: compare captures before and after each switch",
        "look for MAC moves and for spanning tree or EVPN changes over the times named",
        "compare duplicate_request on the receiver with this count",
    ],
    when_wrong: "A requester whose timer fires within 1 ms would look alike, but its repeats carry new IP ids.",
};

pub(super) fn on(event: &Event, view: &View<'_>, findings: &mut Findings<'_>) {
    if event.kind != EventKind::Closed {
        return;
    }
    let (copies, answered) = view.copies();
    let Some([(at, first), (until, last)]) = view.copy_frames().filter(|_| answered > 0) else {
        return;
    };
    findings.raise(&DOC, at, &[first, last], |finding| {
        finding.count = answered;
        finding.last_ns = until.0;
        finding
            .evidence
            .number("extra_answers", answered)
            .number("request_copies", copies);
        finding.message = format!(
            "{} seen twice, {}: the network or the sender made the copies; nothing was lost or sent again",
            counted(copies, "request", "requests"),
            counted(answered, "copy answered again", "copies answered again")
        );
    });
}
