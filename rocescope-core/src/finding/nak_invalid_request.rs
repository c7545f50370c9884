//! `nak-invalid-request`: the responder does not allow such a request.

use super::{Family, FindingDoc, Findings, Scope, View, refusal};
use crate::event::Event;
use crate::report::Severity;
use rocescope_wire::NakCode;

/// What `nak-invalid-request` means.
pub static DOC: FindingDoc = FindingDoc {
    id: "nak-invalid-request",
    family: Family::Refusals,
    severity: Severity::Critical,
    scope: Scope::Stream,
    quiet_ns: 0,
    thresholds: &[],
    meaning: "The responder refused a request as invalid. Both queue pairs go to the error state; sending again would not help.",
    rule: "A NAK of code 1 (syndrome 0x61) answers a request of the stream. What comes after it, silence above all, is its \
           consequence and no finding of its own.",
    source: "IBTA Volume 1, 9.7.5 (NAK codes) and 9.7.4 (validation of requests); Linux rxe_resp.c, AETH_NAK_INVALID_REQ.",
    causes: &[
        "an operation that the responder's queue pair was not set up to take: READ, atomic, FLUSH without the right to",
        "more READs outstanding than the responder agreed to (max_rd_atomic)",
        "a length or opcode order that cannot be: see length-mismatch, pmtu-exceeded and illegal-opcode-order",
        "a message longer than the receive that was posted for it (what hardware answers there)",
        "an atomic whose address is not a multiple of 8",
    ],
    what_to_do: &[
        "look at the request at the PSN named: its opcode, length and place in the message",
        "compare the access flags and limits of the responder's queue pair with what the requester sends",
        "if the peer is of another vendor or driver, look for length and opcode findings beside this one",
    ],
    when_wrong: "Some soft implementations answer with this code where the standard has another one; the request was refused all \
                 the same.",
};

pub(super) fn on(event: &Event, view: &View<'_>, findings: &mut Findings<'_>) {
    let why = "an operation, length or order it does not take";
    refusal::on_fatal(&DOC, NakCode::InvalidRequest, why, event, view, findings);
}
