//! `retry-exceeded`: a request was repeated until the requester gave up.

use super::unanswered::Unanswered;
use super::{Family, FindingDoc, Findings, Scope, Threshold, View, never_answered};
use crate::event::Event;
use crate::figure::duration;
use crate::report::{Confidence, Severity};

/// What `retry-exceeded` means.
pub static DOC: FindingDoc = FindingDoc {
    id: "retry-exceeded",
    family: Family::LossAndRepair,
    severity: Severity::Critical,
    scope: Scope::Stream,
    quiet_ns: 0,
    thresholds: &[
        Threshold {
            key: "tries",
            unit: "tries",
            default: 3,
            min: 1,
            max: 64,
            meaning: "Least repeats of one PSN without an answer that acknowledges it.",
            source: "retry_cnt goes from 0 to 7; below 3 an ordinary tail loss looks the same.",
        },
        Threshold {
            key: "silence_gaps",
            unit: "longest gaps between tries",
            default: 2,
            min: 1,
            max: 64,
            meaning: "Silence after the last try from which on the requester has given up.",
            source: "Timers at most double from one try to the next.",
        },
    ],
    meaning: "A request was repeated again and again without an answer, then the requester gave up: its queue pair is in the error \
              state. Applications report it as transport retry counter exceeded (status 12, vendor error 129).",
    rule: "At least `tries` passes from one PSN without an answer that acknowledges it, RNR NAKs not counted, then silence of \
           `silence_gaps` times the longest gap between tries, or a CM disconnect. Where the input ends first it is a warning: \
           still retrying when the capture ends. Not made after a NAK that is fatal by itself, nor while an RNR NAK waits. \
           Confidence is low where no packet of the other direction is in the capture.",
    source: "IBTA Volume 1, 9.9.2 (requester errors, transport retry counter); Linux rxe_comp.c, retry_exceeded_err; NCCL issues 426 and 902, \
             openucx/ucx 6000.",
    causes: &[
        "the peer is gone: its process died, its queue pair was destroyed, its host hangs or its port is down",
        "the path is broken in one direction: a route, a GID or VLAN, an ACL, or a switch that drops everything of this flow",
        "heavy loss, so that all tries or all their answers were dropped",
        "the peer sends no NAK where it should (wrong R_Key on some soft implementations): loss and a missing NAK look alike here",
    ],
    what_to_do: &[
        "look at the peer first: is the process alive, is the queue pair in RTS (rdma res show qp), is the port up",
        "check the path of this one flow, by its UDP source port (ECMP) and DSCP, in both directions",
        "capture at the peer: if the requests arrive there, the fault is the peer or the way back",
    ],
    when_wrong: "A tap that stopped seeing the answers (a route changed, only one direction mirrored) looks alike; then other \
                 connections of the same hosts fall silent too while the application goes on.",
};

pub(super) fn on(event: &Event, view: &View<'_>, findings: &mut Findings<'_>) {
    let Some(unanswered) = Unanswered::of(event, view) else {
        return;
    };
    if never_answered::concerns(view) {
        return;
    }
    let frames = &unanswered.repair.recovery.frames;
    findings.raise(&DOC, event.at, frames, |finding| {
        let answers = match view.last_answer() {
            Some(at) => format!(
                "nothing came back for {}, though answers had been seen before",
                duration(view.now().since(at))
            ),
            None => {
                finding.confidence = Confidence::Low;
                "no packet of the other direction is in this capture, so whether anything came back cannot be told"
                    .to_owned()
            }
        };
        unanswered.tell(finding, view, &answers);
    });
}
