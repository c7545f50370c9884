//! `frames-cut`: the capture holds only the beginning of its frames.

use super::{Family, FindingDoc, Scope, vantage};
use crate::figure::{count, counted};
use crate::report::{Finding, Severity, Source};

/// What `frames-cut` means.
pub static DOC: FindingDoc = FindingDoc {
    id: "frames-cut",
    family: Family::Vantage,
    severity: Severity::Info,
    scope: Scope::Source,
    quiet_ns: 0,
    thresholds: &[],
    meaning: "The capture holds only the beginning of some frames. Headers can be read, but the ICRC at the end cannot be \
              checked, so damaged packets cannot be told from whole ones.",
    rule: "The captured length of a frame is smaller than its length on the wire, or a mirror says that it cut the frame.",
    source: "The two lengths in each record of pcap and pcapng (draft-ietf-opsawg-pcap); the T bit of ERSPAN.",
    causes: &[
        "the capture was made with a snapshot length (tcpdump -s, a slice setting of a TAP or broker)",
        "the mirror session of a switch cuts frames to save its own bandwidth",
    ],
    what_to_do: &[
        "capture whole frames for a while (tcpdump -s 0) if damaged packets are suspected",
        "leave it as it is otherwise: loss, repair and refusals are judged from headers",
    ],
    when_wrong: "Some capture programs write the length after padding was removed: frames of 60 octets then look cut by a \
                 few octets while their ICRC is there.",
};

pub(super) fn of(source: &Source, index: u16) -> Option<Finding> {
    if source.cut_frames == 0 {
        return None;
    }
    let mut finding = vantage::source_finding(&DOC, source, index);
    finding.count = source.cut_frames;
    finding.evidence.number("cut_frames", source.cut_frames);
    finding.evidence.number("frames", source.frames);
    let to = source.vantage.cut_to.map_or_else(String::new, |octets| {
        finding.evidence.number("cut_to_bytes", octets);
        format!(" to {} octets", count(octets.into()))
    });
    finding.message = format!(
        "{} of {} cut{to}: no ICRC can be checked there, so damage and loss look alike",
        count(source.cut_frames),
        counted(source.frames, "frame", "frames")
    );
    Some(finding)
}
