//! `illegal-opcode-order`: packets of a message in an order that cannot be.

use super::{Family, FindingDoc, Findings, Scope, View};
use crate::event::{Event, EventKind};
use crate::figure::counted;
use crate::report::Severity;
use crate::time::SECOND_NS;
use rocescope_wire::Opcode;

/// What `illegal-opcode-order` means.
pub static DOC: FindingDoc = FindingDoc {
    id: "illegal-opcode-order",
    family: Family::Integrity,
    severity: Severity::Warning,
    scope: Scope::Stream,
    quiet_ns: 30 * SECOND_NS,
    thresholds: &[],
    meaning: "Two packets in a row cannot follow each other in one stream: a Middle or Last without its First, or a First or Only \
              inside a message. A responder refuses the second as invalid.",
    rule: "Judged between two packets with consecutive PSNs beyond the highest PSN: after First or Middle comes Middle or Last of \
           the same operation, after Last or Only comes First or Only. Never judged across a skip, inside a repair, or at the \
           start of the capture.",
    source: "IBTA Volume 1, 9.7.4 (validation of requests, opcode sequence); Linux rxe_resp.c, check_op_seq.",
    causes: &[
        "a fault in the sender's NIC, driver or soft implementation",
        "two queue pairs that send to one QPN: a number used anew while packets of its old owner are still on the way",
    ],
    what_to_do: &[
        "look at the two frames named, and for a NAK (invalid request) after them",
        "report it to the vendor of the sender with the capture",
    ],
    when_wrong: "A capture merged from several queues in the wrong order could show it; then reordering is reported as well.",
};

pub(super) fn on(event: &Event, _: &View<'_>, findings: &mut Findings<'_>) {
    let EventKind::OpcodeOrder { before, opcode } = event.kind else {
        return;
    };
    findings.raise(&DOC, event.at, &[event.frame], |finding| {
        finding.count += 1;
        if finding.count == 1 {
            finding
                .evidence
                .text("opcode", name(opcode))
                .text("opcode_before", name(before));
        }
        finding.message = format!(
            "{}, such as {} right after {}",
            counted(
                finding.count,
                "packet out of the order of its message",
                "packets out of the order of their messages"
            ),
            name(opcode),
            name(before)
        );
    });
}

fn name(opcode: u8) -> String {
    Opcode(opcode)
        .info()
        .map_or_else(|| format!("{opcode:#04x}"), |info| info.name.to_owned())
}
