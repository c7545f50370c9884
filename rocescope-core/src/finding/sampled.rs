//! `sampled`: the source passes on one packet in so many.

use super::{Family, FindingDoc, Scope, vantage};
use crate::figure::count;
use crate::report::{Finding, Severity, Source};

/// What `sampled` means.
pub static DOC: FindingDoc = FindingDoc {
    id: "sampled",
    family: Family::Vantage,
    severity: Severity::Info,
    scope: Scope::Source,
    quiet_ns: 0,
    thresholds: &[],
    meaning: "The source passes on one packet in so many. Loss, repair and latency cannot be judged from it: every gap may be the \
              sampling.",
    rule: "The source says of itself that it samples: a mirror session or flow export with a sampling rate.",
    source: "sFlow version 5, sampling_rate of a flow sample; the session configuration of ERSPAN mirrors.",
    causes: &["the mirror session or flow export is set to a sampling rate above 1"],
    what_to_do: &[
        "mirror every packet of fewer hosts or queue pairs instead of some packets of all",
        "use this capture for shares (who, which DSCP, how much CE), not for loss",
    ],
    when_wrong: "A source that samples without saying so is not noticed; it shows capture-gap on every stream.",
};

pub(super) fn of(source: &Source, index: u16) -> Option<Finding> {
    let every = source.vantage.sampled?;
    let mut finding = vantage::source_finding(&DOC, source, index);
    finding.count = 1;
    finding.evidence.number("sampled_one_in", every);
    finding.message = format!(
        "one packet in {} is here: loss and repair cannot be judged",
        count(every)
    );
    Some(finding)
}
