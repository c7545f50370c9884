//! `nak-remote-access`: R_Key, address or rights do not fit.

use super::{Family, FindingDoc, Findings, Scope, View, refusal};
use crate::event::Event;
use crate::report::Severity;
use rocescope_wire::NakCode;

/// What `nak-remote-access` means.
pub static DOC: FindingDoc = FindingDoc {
    id: "nak-remote-access",
    family: Family::Refusals,
    severity: Severity::Critical,
    scope: Scope::Stream,
    quiet_ns: 0,
    thresholds: &[],
    meaning: "The responder refused a READ, RDMA WRITE or atomic because the memory it names may not be used so. Both queue pairs \
              go to the error state.",
    rule: "A NAK of code 2 (syndrome 0x62) answers a request of the stream. What comes after it is its consequence and no finding \
           of its own.",
    source: "IBTA Volume 1, 9.7.5 (NAK codes) and 10.6 (memory management, R_Keys); Linux rxe_resp.c, check_rkey.",
    causes: &[
        "the R_Key is wrong or no longer valid: the region was deregistered, or the key was not handed over again after a restart",
        "address and length run beyond the end of the region",
        "the region lacks the right: remote read, remote write or remote atomic",
        "the region belongs to another protection domain than the queue pair",
    ],
    what_to_do: &[
        "compare R_Key, address and length in the RETH of the request named with what the responder registered",
        "look for the moment when the responder deregistered the region: the request may have come after it",
        "look at the application: the network did its part",
    ],
    when_wrong: "A key that was damaged on the way would do the same, but such packets fail their ICRC first.",
};

pub(super) fn on(event: &Event, view: &View<'_>, findings: &mut Findings<'_>) {
    let why = "R_Key, address range or access rights do not fit";
    refusal::on_fatal(&DOC, NakCode::RemoteAccessError, why, event, view, findings);
}
