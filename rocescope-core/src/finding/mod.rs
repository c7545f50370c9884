//! What can be found: one file a finding, each with its doc. `rocescope explain ID` prints these docs.

pub mod bad_icrc;
pub mod capture_gap;
pub mod credit_stall;
pub mod damaged_packet;
pub mod duplicate_request;
pub mod frames_cut;
pub mod illegal_opcode_order;
pub mod implied_nak;
pub mod length_mismatch;
pub mod life;
pub mod mirror_duplicate;
pub mod nak_invalid_request;
pub mod nak_remote_access;
pub mod nak_remote_operational;
pub mod never_answered;
pub mod no_roce_seen;
pub mod one_direction_only;
pub mod pmtu_exceeded;
pub mod psn_gap;
mod refusal;
pub mod reordering;
pub mod response_loss;
pub mod retransmission;
pub mod retry_exceeded;
pub mod ring_loss;
pub mod rnr_nak;
pub mod rnr_retry_exceeded;
pub mod rnr_storm;
pub mod sampled;
pub mod spurious_retransmission;
pub mod timeout_retransmission;
pub mod uc_gap;
mod unanswered;
pub mod vantage;
mod view;
mod wording;

pub use life::{Findings, OpenFinding};
pub use view::View;

pub(crate) use bad_icrc::Strays;
pub(crate) use life::States;

use crate::event::Event;
use crate::report::Severity;
use serde::Serialize;

/// The docs of all findings, ordered by family as design and reports list them.
pub static REGISTRY: &[&FindingDoc] = &[
    &psn_gap::DOC,
    &retransmission::DOC,
    &spurious_retransmission::DOC,
    &timeout_retransmission::DOC,
    &implied_nak::DOC,
    &retry_exceeded::DOC,
    &never_answered::DOC,
    &reordering::DOC,
    &capture_gap::DOC,
    &mirror_duplicate::DOC,
    &duplicate_request::DOC,
    &uc_gap::DOC,
    &response_loss::DOC,
    &damaged_packet::DOC,
    &rnr_nak::DOC,
    &rnr_storm::DOC,
    &rnr_retry_exceeded::DOC,
    &nak_invalid_request::DOC,
    &nak_remote_access::DOC,
    &nak_remote_operational::DOC,
    &bad_icrc::DOC,
    &illegal_opcode_order::DOC,
    &length_mismatch::DOC,
    &pmtu_exceeded::DOC,
    &credit_stall::DOC,
    &no_roce_seen::DOC,
    &one_direction_only::DOC,
    &frames_cut::DOC,
    &sampled::DOC,
    &ring_loss::DOC,
];

/// A detector: shown every event of a stream.
type Detector = fn(&Event, &View<'_>, &mut Findings<'_>);

/// Those that look at streams.
static DETECTORS: &[Detector] = &[
    psn_gap::on,
    retransmission::on,
    spurious_retransmission::on,
    timeout_retransmission::on,
    implied_nak::on,
    retry_exceeded::on,
    never_answered::on,
    reordering::on,
    capture_gap::on,
    mirror_duplicate::on,
    duplicate_request::on,
    uc_gap::on,
    response_loss::on,
    damaged_packet::on,
    rnr_nak::on,
    rnr_storm::on,
    rnr_retry_exceeded::on,
    nak_invalid_request::on,
    nak_remote_access::on,
    nak_remote_operational::on,
    bad_icrc::on,
    illegal_opcode_order::on,
    length_mismatch::on,
    pmtu_exceeded::on,
    credit_stall::on,
];

/// The doc of that finding.
#[must_use]
pub fn doc(id: &str) -> Option<&'static FindingDoc> {
    REGISTRY.iter().copied().find(|doc| doc.id == id)
}

/// Shows an event of a stream to every detector of that scope.
pub fn on_event(event: &Event, view: &View<'_>, findings: &mut Findings<'_>) {
    for detector in DETECTORS {
        detector(event, view, findings);
    }
}

/// All there is to say about one finding.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct FindingDoc {
    /// Stable kebab-case name: file name, JSON value and argument of `rocescope explain`.
    pub id: &'static str,
    /// What kind of trouble it is.
    pub family: Family,
    /// The severity it has unless its rule says otherwise.
    pub severity: Severity,
    /// Whom it is about.
    pub scope: Scope,
    /// Input time without new evidence after which it is resolved, ns; 0 where it lasts until the input ends.
    pub quiet_ns: u64,
    /// Values that `--set ID.KEY=VALUE` changes.
    pub thresholds: &'static [Threshold],
    /// What it means; the first sentence stands for it in lists.
    pub meaning: &'static str,
    /// When it is made.
    pub rule: &'static str,
    /// Where the rule comes from: clause of a standard, kernel file, or public thread.
    pub source: &'static str,
    /// What brings it about, most likely first.
    pub causes: &'static [&'static str],
    /// What to do, in this order.
    pub what_to_do: &'static [&'static str],
    /// What it looks like when it is wrong.
    pub when_wrong: &'static str,
}

impl FindingDoc {
    /// The first sentence of the meaning.
    #[must_use]
    pub fn summary(&self) -> &'static str {
        self.meaning
            .split_once(". ")
            .map_or(self.meaning, |(first, _)| first)
            .trim_end_matches('.')
    }

    /// The threshold of that key.
    #[must_use]
    pub fn threshold(&self, key: &str) -> Option<&'static Threshold> {
        self.thresholds
            .iter()
            .find(|threshold| threshold.key == key)
    }
}

/// What kind of trouble a finding is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// Loss and its repair.
    LossAndRepair,
    /// The receiver said no.
    Refusals,
    /// Packets that are not what they should be.
    Integrity,
    /// What this source can and cannot see.
    Vantage,
}

impl Family {
    /// Its heading.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::LossAndRepair => "Loss and repair",
            Self::Refusals => "Refusals",
            Self::Integrity => "Integrity",
            Self::Vantage => "Vantage",
        }
    }
}

/// Whom a finding is about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// One direction: source, destination, destination QPN.
    Stream,
    /// One input.
    Source,
    /// The whole capture.
    Capture,
}

/// A value that a rule compares with.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Threshold {
    /// Its name; together with the finding the `finding.key` of `--set`.
    pub key: &'static str,
    /// Its unit, such as `ns` or `packets`.
    pub unit: &'static str,
    /// Its value unless set.
    pub default: u64,
    /// The smallest value allowed.
    pub min: u64,
    /// The largest value allowed.
    pub max: u64,
    /// What it is compared with.
    pub meaning: &'static str,
    /// Why it has this default.
    pub source: &'static str,
}

#[cfg(test)]
mod tests;
