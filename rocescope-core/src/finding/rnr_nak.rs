//! `rnr-nak`: the receiver had no receive posted.

use super::{Family, FindingDoc, Findings, Scope, View, wording};
use crate::event::{Event, EventKind};
use crate::figure::{counted, duration};
use crate::report::{Finding, Severity, Trigger};
use crate::time::SECOND_NS;

/// What `rnr-nak` means.
pub static DOC: FindingDoc = FindingDoc {
    id: "rnr-nak",
    family: Family::Refusals,
    severity: Severity::Warning,
    scope: Scope::Stream,
    quiet_ns: 30 * SECOND_NS,
    thresholds: &[],
    meaning: "The receiver refused requests for a while because no receive was posted (receiver not ready). Nothing was lost: the \
              requester waits for the timer in the NAK and sends again.",
    rule: "An RNR NAK answers a request of the stream. The count is that of RNR NAKs. A NAK (PSN sequence error) at the same \
           PSN, and the packets sent again after it, belong to it and are neither loss nor retransmission.",
    source: "IBTA Volume 1, 9.7.5 (RNR NAK and its timer codes); Linux rxe_resp.c, send_rnr_err; SPDK issues 2429 and 1444.",
    causes: &[
        "the receiving application posts receives too late or too few of them: it is busy, or its queue is too short",
        "a shared receive queue ran dry",
        "on-demand paging on the receiver has to fetch a page first",
    ],
    what_to_do: &[
        "look at the receiver's application, not at the network: deepen its receive queue, or post receives earlier",
        "compare out_of_buffer on the receiver and rnr_nak_retry_err on the sender over the times named",
        "if waits dominate, lower the receiver's min_rnr_timer",
    ],
    when_wrong: "The AETH of a packet with a flipped bit could say so; such packets have a bad ICRC and are not read, unless \
                 frames are cut.",
};

pub(super) fn on(event: &Event, view: &View<'_>, findings: &mut Findings<'_>) {
    match &event.kind {
        EventKind::Rnr { psn, timer } => {
            findings.raise(&DOC, event.at, &[event.frame], |finding| {
                finding.count += 1;
                finding.evidence.number("timer_ns", timer.nanoseconds());
                if finding.evidence.get("first_psn").is_none() {
                    finding.evidence.number("first_psn", psn.get());
                }
                if let Some(cm) = view.cm() {
                    finding
                        .evidence
                        .number("rnr_retry_count", cm.rnr_retry_count);
                }
                tell(finding);
            });
        }
        EventKind::Repaired(repair) if repair.tries.rnr > 0 => {
            let began = repair.recovery.trigger == Trigger::Rnr;
            findings.amend(&DOC, event.at, &repair.recovery.frames, |finding| {
                wording::add_cost(finding, repair, began);
                tell(finding);
            });
        }
        _ => {}
    }
}

fn tell(finding: &mut Finding) {
    let timer = finding.evidence.count("timer_ns");
    finding.message = format!(
        "{} because no receive was posted (RNR NAK, timer {}); nothing was lost",
        counted(finding.count, "request refused", "requests refused"),
        duration(timer)
    );
    if finding.evidence.count("repairs") > 0 {
        finding.message += &format!("; {}", wording::sent_again(finding));
    }
}
