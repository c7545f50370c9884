//! `never-answered`: a peer that never said anything.

use super::unanswered::Unanswered;
use super::{Family, FindingDoc, Findings, Scope, View};
use crate::event::Event;
use crate::report::{Confidence, Severity};

/// What `never-answered` means.
pub static DOC: FindingDoc = FindingDoc {
    id: "never-answered",
    family: Family::LossAndRepair,
    severity: Severity::Critical,
    scope: Scope::Stream,
    quiet_ns: 0,
    thresholds: &[],
    meaning: "The first requests of a connection were repeated until the requester gave up, and nothing was ever answered. This \
              is wrong addressing or a dead peer rather than loss.",
    rule: "As retry-exceeded, with its thresholds, and the connection had no answer in this capture although packets of the \
           other direction between the same hosts are in it.",
    source: "IBTA Volume 1, 9.9.2 (requester errors, transport retry counter); NCCL issues 426, 1405 and 1814 (wrong GID index, no route).",
    causes: &[
        "the peer's queue pair is not ready to receive, or another one than the requester believes",
        "a wrong GID index, VLAN or route: packets arrive nowhere, or with an address that the peer does not own",
        "UDP port 4791 is filtered on the way, or RoCE v1 and v2 are mixed up",
        "an MTU on the path that is smaller than the packets",
    ],
    what_to_do: &[
        "check that both ends name each other's QPN, GID and RoCE version (show_gids, rdma res show qp)",
        "try the path with packets of this size, DSCP and VLAN; check filters on UDP port 4791",
        "capture at the peer: if the requests arrive, see why it does not answer",
    ],
    when_wrong: "A capture that began after the connection fell silent holds no answer either, though there were some before.",
};

/// Whether a queue pair that was not answered never was, although answers could have been seen.
pub(super) fn concerns(view: &View<'_>) -> bool {
    view.answers() == 0 && view.reverse_visible()
}

pub(super) fn on(event: &Event, view: &View<'_>, findings: &mut Findings<'_>) {
    let Some(unanswered) = Unanswered::of(event, view).filter(|_| concerns(view)) else {
        return;
    };
    let frames = &unanswered.repair.recovery.frames;
    findings.raise(&DOC, event.at, frames, |finding| {
        if view.paired_by().is_none() {
            finding.confidence = Confidence::Medium;
        }
        unanswered.tell(
            finding,
            view,
            "nothing was ever answered, though the other direction of these hosts is visible",
        );
    });
}
