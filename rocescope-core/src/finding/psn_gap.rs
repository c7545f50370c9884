//! `psn-gap`: packets were sent that this tap did not see, and their receiver asked for them again.

use super::{Family, FindingDoc, Findings, Scope, View, wording};
use crate::event::{Event, EventKind};
use crate::figure::counted;
use crate::report::{Confidence, Finding, Severity, Where};
use crate::time::SECOND_NS;

/// What `psn-gap` means.
pub static DOC: FindingDoc = FindingDoc {
    id: "psn-gap",
    family: Family::LossAndRepair,
    severity: Severity::Warning,
    scope: Scope::Stream,
    quiet_ns: 30 * SECOND_NS,
    thresholds: &[],
    meaning: "Request packets were lost between their sender and this tap. The PSNs stepped over them, and the \
              requester had to send them again.",
    rule: "The PSN of a stream steps forward over PSNs that no packet carried (a skip), and a NAK (PSN sequence error) \
           names one of them, or they are sent again. Skips inside a repair count like skips beyond the highest PSN. \
           Packets that turn up late are reordering, and packets that are acknowledged without ever being sent again \
           were missed by the capture: neither is counted here. Where no answers are visible, skips that nothing filled \
           are info at low confidence: lost before this tap or missed by the capture.",
    source: "IBTA Volume 1, 9.7.5 (acknowledging requests; NAK, PSN sequence error); Linux rxe_resp.c, check_psn.",
    causes: &[
        "a switch or a NIC in front of the tap dropped packets: a full queue without PFC, or a lossy priority",
        "a bad cable or transceiver: look for errors on the ports between sender and tap",
        "a rate limit or policy that does not know RoCE",
    ],
    what_to_do: &[
        "compare the drop and error counters of every port between the sender and this tap over the times named",
        "check that the packets' DSCP or PCP is mapped to a lossless priority on that path",
        "capture nearer to the sender: if the packets are there, the fault lies between the two taps",
    ],
    when_wrong: "A capture that loses packets itself shows the same steps; there the answers cover the missing PSNs and \
                 nothing is sent again, which is reported as capture-gap.",
};

pub(super) fn on(event: &Event, _: &View<'_>, findings: &mut Findings<'_>) {
    match &event.kind {
        EventKind::Repaired(repair)
            if repair.recovery.lost_before > 0 && !repair.recovery.is_reordering() =>
        {
            findings.raise(&DOC, event.at, &repair.recovery.frames, |finding| {
                finding.count += repair.recovery.lost_before;
                wording::add_cost(finding, repair, true);
                tell(finding);
            });
        }
        EventKind::Unrepaired {
            place: Where::Before,
            lost,
            ..
        } => findings.raise(&DOC, event.at, &[event.frame], |finding| {
            finding.count += lost;
            finding.evidence.add("not_sent_again_packets", *lost);
            tell(finding);
        }),
        EventKind::UnansweredGap { first, psns } => {
            findings.raise(&DOC, event.at, &[event.frame], |finding| {
                finding.count += psns;
                finding.severity = Severity::Info;
                finding.confidence = Confidence::Low;
                finding
                    .evidence
                    .number("first_psn", first.get())
                    .number("psns", finding.count);
                finding.message = format!(
                    "{} no packet here carried: lost before this tap or missed by the capture, which cannot be told \
                     without the answers",
                    counted(finding.count, "PSN that", "PSNs that")
                );
            });
        }
        _ => {}
    }
}

fn tell(finding: &mut Finding) {
    let open = finding.evidence.count("not_sent_again_packets");
    finding.evidence.number("lost_packets", finding.count);
    let lost = counted(finding.count, "request", "requests");
    finding.message = format!("{lost} lost between the sender and this tap");
    if finding.evidence.count("repairs") > 0 {
        finding.message += &format!("; sent again, {}", wording::cost(finding));
    }
    if open > 0 {
        let open = counted(open, "of them was", "of them were");
        finding.message += &format!("; {open} not sent again before the stream ended");
    }
}
