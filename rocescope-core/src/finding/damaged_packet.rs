//! `damaged-packet`: a packet with a bad ICRC cost a repair.

use super::{Family, FindingDoc, Findings, Scope, View, wording};
use crate::event::{Event, EventKind};
use crate::figure::counted;
use crate::report::{Finding, Severity, Where};
use crate::time::SECOND_NS;

/// What `damaged-packet` means.
pub static DOC: FindingDoc = FindingDoc {
    id: "damaged-packet",
    family: Family::LossAndRepair,
    severity: Severity::Warning,
    scope: Scope::Stream,
    quiet_ns: 30 * SECOND_NS,
    thresholds: &[],
    meaning: "A packet passed this tap with a bad ICRC, the receiver threw it away and asked for it again. It was damaged between \
              its sender and this tap, not dropped.",
    rule: "A NAK (PSN sequence error) names a PSN that last passed here in a frame whose ICRC is bad. Only whole frames can be \
           checked: where frames are cut, such packets count as lost after the tap.",
    source: "IBTA Volume 1, 7.8.1 (invariant CRC) and 9.7.5 (NAK, PSN sequence error); Linux rxe_icrc.c, rxe_icrc_check.",
    causes: &[
        "a bad cable, transceiver or port whose errors the Ethernet FCS does not catch, because a switch computes it anew",
        "memory errors in a switch or NIC",
        "a device that rewrites packets and does not correct the ICRC",
    ],
    what_to_do: &[
        "look for FCS and symbol errors on every port between the sender and this tap",
        "capture nearer to the sender until the bad ICRCs vanish: the fault lies in between",
    ],
    when_wrong: "A capture on the sender itself may see packets before the NIC fills in the ICRC; then no NAK follows, and only \
                 bad-icrc is reported.",
};

pub(super) fn on(event: &Event, _: &View<'_>, findings: &mut Findings<'_>) {
    match &event.kind {
        EventKind::Repaired(repair) if repair.damaged > 0 && !repair.recovery.is_reordering() => {
            findings.raise(&DOC, event.at, &repair.recovery.frames, |finding| {
                finding.count += repair.damaged;
                wording::add_cost(finding, repair, true);
                tell(finding);
            });
        }
        EventKind::Unrepaired {
            place: Where::Damaged,
            lost,
            ..
        } => findings.raise(&DOC, event.at, &[event.frame], |finding| {
            finding.count += lost;
            tell(finding);
        }),
        _ => {}
    }
}

fn tell(finding: &mut Finding) {
    finding.message = format!(
        "{} damaged between the sender and this tap (bad ICRC) and asked for again; {}",
        counted(finding.count, "packet", "packets"),
        wording::cost(finding)
    );
}
