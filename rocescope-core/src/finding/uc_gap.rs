//! `uc-gap`: packets of an unreliable connection are missing.

use super::{Family, FindingDoc, Findings, Scope, Threshold, View};
use crate::Time;
use crate::event::{Event, EventKind};
use crate::figure::counted;
use crate::report::{Confidence, Finding, FrameRef, Severity};
use crate::time::{MILLISECOND_NS, SECOND_NS};
use rocescope_wire::Psn;

/// What `uc-gap` means.
pub static DOC: FindingDoc = FindingDoc {
    id: "uc-gap",
    family: Family::LossAndRepair,
    severity: Severity::Warning,
    scope: Scope::Stream,
    quiet_ns: 30 * SECOND_NS,
    thresholds: &[Threshold {
        key: "late_ns",
        unit: "ns",
        default: 20 * MILLISECOND_NS,
        min: 0,
        max: 10 * SECOND_NS,
        meaning: "Time for a late packet to fill the gap.",
        source: "As for RC: several times the round trip of a data center.",
    }],
    meaning: "PSNs of an unreliable connection were stepped over: packets were lost before this tap or missed by the capture. UC \
              repairs nothing: the receiver drops every message with a gap without a word.",
    rule: "The PSN of a UC stream steps forward over PSNs that no packet carried, and no late packet fills the gap within \
           `late_ns`. The count is that of PSNs; a message with a gap is broken up to the next First or Only. No answer can \
           tell loss from a gap of the capture, hence the hedged words.",
    source: "IBTA Volume 1, 9.8.2 (unreliable connection); Linux rxe_resp.c, check_psn for UC; NVIDIA forum topic 358441.",
    causes: &[
        "a switch or a NIC in front of the tap dropped packets",
        "the capture missed packets: compare with its own drop counters",
    ],
    what_to_do: &[
        "compare the sender's packet counters with the number of packets here to tell loss from a gap of the capture",
        "look at the drop counters of the ports between the sender and this tap",
        "if the application cannot bear broken messages, use RC",
    ],
    when_wrong: "A capture that loses packets makes the same gaps while the receiver gets everything.",
};

/// Gaps remembered until it is certain that no late packet fills them.
const MOST_PENDING: usize = 64;

/// Gaps of a stream that a late packet may still fill.
#[derive(Clone, Default, Debug)]
pub(crate) struct State {
    pending: Vec<Gap>,
}

#[derive(Clone, Copy, Debug)]
struct Gap {
    first: Psn,
    psns: u64,
    filled: u64,
    at: Time,
    frame: FrameRef,
}

impl Gap {
    fn contains(&self, psn: Psn) -> bool {
        u64::try_from(psn.since(self.first)).is_ok_and(|step| step < self.psns)
    }
}

pub(super) fn on(event: &Event, view: &View<'_>, findings: &mut Findings<'_>) {
    if !view.is_unreliable() {
        return;
    }
    let late_ns = view.threshold(&DOC, "late_ns");
    match event.kind {
        EventKind::Late { psn } => {
            let pending = &mut findings.states().uc_gap.pending;
            if let Some(gap) = pending.iter_mut().find(|gap| gap.contains(psn)) {
                gap.filled += 1;
            }
        }
        EventKind::UcGap { first, psns } => {
            settle(findings, view, |gap, count| {
                event.at.since(gap.at) > late_ns || count > MOST_PENDING
            });
            findings.states().uc_gap.pending.push(Gap {
                first,
                psns,
                filled: 0,
                at: event.at,
                frame: event.frame,
            });
        }
        EventKind::Closed => settle(findings, view, |_, _| true),
        _ => {}
    }
}

/// Raises the finding for the oldest gaps while `due` says so of a gap and the number of those that wait.
fn settle(findings: &mut Findings<'_>, view: &View<'_>, due: impl Fn(&Gap, usize) -> bool) {
    let mut pending = core::mem::take(&mut findings.states().uc_gap.pending);
    let waiting = pending.len();
    let settled = pending
        .iter()
        .enumerate()
        .take_while(|(index, gap)| due(gap, waiting - index))
        .count();
    for gap in pending.drain(..settled) {
        let missing = gap.psns.saturating_sub(gap.filled);
        if missing > 0 {
            findings.raise(&DOC, gap.at, &[gap.frame], |finding| {
                finding.confidence = Confidence::Medium;
                finding.count += missing;
                finding.evidence.add("gaps", 1);
                tell(finding, view);
            });
        }
    }
    findings.states().uc_gap.pending = pending;
}

fn tell(finding: &mut Finding, view: &View<'_>) {
    let (broken, whole) = (view.broken_messages(), view.messages());
    finding
        .evidence
        .number("missing_packets", finding.count)
        .number("broken_messages", broken)
        .number("whole_messages", whole);
    finding.message = format!(
        "{} in {} lost before this tap or missed by the capture; {} seen in part, {} whole; UC repairs nothing",
        counted(finding.count, "packet", "packets"),
        counted(finding.evidence.count("gaps"), "gap", "gaps"),
        counted(broken, "message", "messages"),
        crate::figure::count(whole)
    );
}
