//! `nak-remote-operational`: the responder cannot go on.

use super::{Family, FindingDoc, Findings, Scope, View, refusal};
use crate::event::Event;
use crate::report::Severity;
use rocescope_wire::NakCode;

/// What `nak-remote-operational` means.
pub static DOC: FindingDoc = FindingDoc {
    id: "nak-remote-operational",
    family: Family::Refusals,
    severity: Severity::Critical,
    scope: Scope::Stream,
    quiet_ns: 0,
    thresholds: &[],
    meaning: "The responder met a fault of its own while it carried out a request. Both queue pairs go to the error state.",
    rule: "A NAK of code 3 (syndrome 0x63) answers a request of the stream. What comes after it is its consequence and no finding \
           of its own.",
    source: "IBTA Volume 1, 9.7.5 (NAK codes) and 9.9.3 (responder errors); Linux rxe_resp.c, AETH_NAK_REM_OP_ERR.",
    causes: &[
        "soft RoCE: the message is longer than the receive that was posted for it",
        "the responder's receive names memory that it may not write: a wrong local key or length",
        "a fault inside the responder's NIC or driver",
    ],
    what_to_do: &[
        "compare the length of the message named with the receives that the responder posts",
        "look at the completion queue and kernel log of the responder: the local error stands there",
    ],
    when_wrong: "Hardware answers a message that is too long with invalid request; which of the two it is depends on the responder.",
};

pub(super) fn on(event: &Event, view: &View<'_>, findings: &mut Findings<'_>) {
    let why = "a fault of its own, such as a receive too short for the message";
    refusal::on_fatal(
        &DOC,
        NakCode::RemoteOperationalError,
        why,
        event,
        view,
        findings,
    );
}
