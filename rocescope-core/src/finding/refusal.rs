//! NAKs that end a queue pair: what the findings about them share.

use super::{FindingDoc, Findings, View, wording};
use crate::event::{Event, EventKind};
use rocescope_wire::NakCode;

/// Raises the finding of `doc` if `event` is a NAK of that code; `why` is what it says of the request.
pub(super) fn on_fatal(
    doc: &'static FindingDoc,
    code: NakCode,
    why: &str,
    event: &Event,
    view: &View<'_>,
    findings: &mut Findings<'_>,
) {
    let EventKind::Nak { code: got, psn, .. } = event.kind else {
        return;
    };
    if got != code {
        return;
    }
    findings.raise(doc, event.at, &[event.frame], |finding| {
        finding.count += 1;
        finding
            .evidence
            .number("psn", psn.get())
            .number("nak_code", code.code());
        wording::put_whom(finding, view);
        finding.message = format!(
            "{}: the responder answered PSN {} with NAK ({code}): {why}; the queue pair is in the error state, {}",
            wording::whom(view),
            psn.get(),
            wording::acknowledged(view)
        );
    });
}
