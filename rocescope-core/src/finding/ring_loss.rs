//! `ring-loss`: the capture itself lost frames, and says so.

use super::{Family, FindingDoc, Scope, vantage};
use crate::figure::{counted, millionths, share};
use crate::outcome::Outcome;
use crate::report::{Finding, Severity, Source, Subject};

/// What `ring-loss` means.
pub static DOC: FindingDoc = FindingDoc {
    id: "ring-loss",
    family: Family::Vantage,
    severity: Severity::Info,
    scope: Scope::Source,
    quiet_ns: 0,
    thresholds: &[],
    meaning: "The capture lost frames, by its own count. What is missing there is missing in the capture, not on the network.",
    rule: "The source counts frames that it could not keep: drop counts of pcapng (interface statistics, epb_dropcount), gaps in \
           the sequence numbers of a mirror, a full ring. Info; warning where another finding is above info, for its figures \
           may be too low then.",
    source: "draft-ietf-opsawg-pcapng, isb_ifdrop, isb_osdrop and epb_dropcount; sequence numbers of ERSPAN.",
    causes: &[
        "the capturing host or its disk was slower than the traffic",
        "the mirror session was oversubscribed",
    ],
    what_to_do: &[
        "capture less: a snapshot length of 128 octets, fewer ports or hosts, a larger buffer (tcpdump -B)",
        "read loss and message counts as lower bounds",
    ],
    when_wrong: "Some programs count frames that a filter rejected as dropped; then no stream shows a capture-gap.",
};

pub(super) fn of(source: &Source, index: u16, outcome: &Outcome) -> Option<Finding> {
    if source.lost_frames == 0 {
        return None;
    }
    let mut finding = vantage::source_finding(&DOC, source, index);
    finding.count = source.lost_frames;
    let troubled = outcome.findings.iter().any(|other| {
        other.severity > Severity::Info && matches!(other.subject, Subject::Stream { .. })
    });
    if troubled {
        finding.severity = Severity::Warning;
    }
    let all = source.frames.saturating_add(source.lost_frames);
    finding
        .evidence
        .number("lost_frames", source.lost_frames)
        .number("frames", source.frames);
    finding.message = format!(
        "{} lost by the capture itself, by its own count ({} of all)",
        counted(source.lost_frames, "frame", "frames"),
        share(millionths(source.lost_frames, all))
    );
    Some(finding)
}
