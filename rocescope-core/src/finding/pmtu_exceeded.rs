//! `pmtu-exceeded`: a packet with more payload than the path MTU.

use super::{Family, FindingDoc, Findings, Scope, View};
use crate::event::{Event, EventKind};
use crate::figure::{count, counted};
use crate::report::Severity;
use crate::time::SECOND_NS;

/// What `pmtu-exceeded` means.
pub static DOC: FindingDoc = FindingDoc {
    id: "pmtu-exceeded",
    family: Family::Integrity,
    severity: Severity::Warning,
    scope: Scope::Stream,
    quiet_ns: 30 * SECOND_NS,
    thresholds: &[],
    meaning: "Packets carry more payload than the path MTU of their queue pair. A responder refuses them as invalid.",
    rule: "The payload of a packet is larger than the path MTU, which is known from CM, from First and Middle packets, or from \
           READ responses of the connection.",
    source: "IBTA Volume 1, 9.7.4 (validation of requests, length); Linux rxe_resp.c, check_length.",
    causes: &[
        "two ends that are set to different path MTUs",
        "a fault in the sender's NIC, driver or soft implementation",
    ],
    what_to_do: &[
        "compare the path MTU that both ends of the queue pair are set to (ibv_devinfo, the CM REQ)",
        "look for a NAK (invalid request) after the frames named",
    ],
    when_wrong: "A path MTU that was learned from a single wrong packet is wrong for all others.",
};

pub(super) fn on(event: &Event, _: &View<'_>, findings: &mut Findings<'_>) {
    let EventKind::Length {
        payload,
        pmtu,
        exceeds: true,
    } = event.kind
    else {
        return;
    };
    findings.raise(&DOC, event.at, &[event.frame], |finding| {
        finding.count += 1;
        finding
            .evidence
            .most("largest_payload_bytes", payload.into())
            .number("pmtu_bytes", pmtu);
        finding.message = format!(
            "{} than the path MTU of {} octets, up to {}",
            counted(
                finding.count,
                "packet with more payload",
                "packets with more payload"
            ),
            count(pmtu.into()),
            count(finding.evidence.count("largest_payload_bytes"))
        );
    });
}
