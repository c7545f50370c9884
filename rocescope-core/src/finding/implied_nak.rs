//! `implied-nak`: a READ or atomic was asked for again because a later answer came first.

use super::{Family, FindingDoc, Findings, Scope, View, wording};
use crate::event::{Event, EventKind};
use crate::figure::counted;
use crate::report::{Severity, Trigger};
use crate::time::SECOND_NS;

/// What `implied-nak` means.
pub static DOC: FindingDoc = FindingDoc {
    id: "implied-nak",
    family: Family::LossAndRepair,
    severity: Severity::Warning,
    scope: Scope::Stream,
    quiet_ns: 30 * SECOND_NS,
    thresholds: &[],
    meaning: "The requester asked again for a READ or an atomic because an answer to something later came before its own. An \
              answer was lost, and the requester noticed without waiting for its timer.",
    rule: "The PSN of a stream steps back to a READ, atomic, FLUSH or ATOMIC WRITE while a response or ACK with a higher PSN has \
           passed already. The count is that of such passes. Which answers were lost, and on which side of the tap, is \
           response-loss.",
    source: "IBTA Volume 1, 9.7.6 (requester, implied NAK); Linux rxe_comp.c, COMPST_ERROR_RETRY; counter implied_nak_seq_err of mlx5.",
    causes: &[
        "a READ response or an atomic answer was dropped on its way to the requester",
        "responses were reordered, and the requester takes them only in order",
    ],
    what_to_do: &[
        "look at response-loss for the side of the tap, then at the drop counters of the ports there",
        "check that responses ride in a lossless priority too: their DSCP is set by the responder",
    ],
    when_wrong: "A requester that re-issues on its own timer at the same moment looks alike; the gap before the pass is then as \
                 long as its ACK timeout.",
};

pub(super) fn on(event: &Event, _: &View<'_>, findings: &mut Findings<'_>) {
    let EventKind::Repaired(repair) = &event.kind else {
        return;
    };
    let recovery = &repair.recovery;
    if repair.tries.implied_nak == 0 || recovery.is_reordering() {
        return;
    }
    findings.raise(&DOC, event.at, &recovery.frames, |finding| {
        finding.count += repair.tries.implied_nak;
        wording::add_cost(finding, repair, recovery.trigger == Trigger::ImpliedNak);
        finding.message = format!(
            "{} because a later answer came first; {}",
            counted(
                finding.count,
                "READ or atomic asked for again",
                "READs or atomics asked for again"
            ),
            wording::cost(finding)
        );
    });
}
