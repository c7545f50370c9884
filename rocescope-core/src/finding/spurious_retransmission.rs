//! `spurious-retransmission`: packets were sent again that had arrived.

use super::{Family, FindingDoc, Findings, Scope, View, wording};
use crate::event::{Event, EventKind};
use crate::figure::counted;
use crate::report::{Severity, Where};
use crate::time::SECOND_NS;

/// What `spurious-retransmission` means.
pub static DOC: FindingDoc = FindingDoc {
    id: "spurious-retransmission",
    family: Family::LossAndRepair,
    severity: Severity::Warning,
    scope: Scope::Stream,
    quiet_ns: 30 * SECOND_NS,
    thresholds: &[],
    meaning: "The requester sent SEND or RDMA WRITE packets again that the receiver had already. No data was lost: an ACK was \
              lost or late, or the timer is too short.",
    rule: "A SEND or RDMA WRITE packet is sent again after an ACK that covers it passed this tap, or it draws an extra ACK that \
           acknowledges nothing new. The count is that of such packets; each is one duplicate_request of the responder. READs \
           and atomics are never counted, nor repairs of reordering.",
    source: "IBTA Volume 1, 9.7.4 and 9.7.5 (duplicate requests are acknowledged again); Linux rxe_resp.c, duplicate_request; the \
             linux-rdma threads on duplicate resends and on spurious timeouts.",
    causes: &[
        "the ACK was lost between this tap and the requester, or the requester was too busy to take it in time",
        "the ACK timeout of the queue pair is shorter than the path and the responder need",
        "the responder acknowledges late: it is busy, or paused",
    ],
    what_to_do: &[
        "compare the ACK timeout of the queue pair with the answer times of this report: if they are close, raise it",
        "compare duplicate_request on the receiver and local_ack_timeout_err on the sender over the times named",
        "if the timeout is far longer, look for drops of ACKs on the way back from this tap to the requester",
    ],
    when_wrong: "Copies made by the network and answered by the receiver look alike, but they carry the same IP id within 1 ms: \
                 those are duplicate-request.",
};

pub(super) fn on(event: &Event, _: &View<'_>, findings: &mut Findings<'_>) {
    let EventKind::Repaired(repair) = &event.kind else {
        return;
    };
    let recovery = &repair.recovery;
    if repair.spurious == 0 || matches!(recovery.place, Where::Reordering | Where::Refused) {
        return;
    }
    findings.raise(&DOC, event.at, &recovery.frames, |finding| {
        finding.count += repair.spurious;
        wording::add_cost(finding, repair, false);
        finding.evidence.number("packets", finding.count);
        finding.message = format!(
            "{} sent again although the first copy had arrived; no data was lost, {}",
            counted(finding.count, "packet", "packets"),
            wording::cost(finding)
        );
    });
}
