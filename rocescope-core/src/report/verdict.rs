//! The answer in short: how much, what it cost, since when, who, which side, and what this capture cannot tell.

use super::FrameRef;
use serde::Serialize;
use std::collections::BTreeMap;

/// The verdict over the whole input.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Verdict {
    /// The verdict in one sentence.
    pub sentence: String,
    /// How much: lost or damaged packets per million requests and responses sent.
    pub lost_per_million: u64,
    /// How much: octets sent again, in millionths of all request octets.
    pub sent_again_millionths: u64,
    /// What it cost: time stalled, summed over connections, ns.
    pub stalled_ns: u64,
    /// What it cost: the part of the connections' summed life, in millionths.
    pub stalled_millionths: u64,
    /// Since when: the first loss.
    pub since_ns: Option<u64>,
    /// The latest loss.
    pub until_ns: Option<u64>,
    /// Steady, bursts, or one event.
    pub pattern: Option<Pattern>,
    /// Losses a second, seconds since the epoch.
    pub losses_by_second: BTreeMap<u64, u64>,
    /// Who: the factor that explains most.
    pub who: Option<Who>,
    /// Which side, in words.
    pub side: Option<String>,
    /// Middle losses: a NAK named them.
    pub middle_losses: u64,
    /// Tail losses: only a timer found them.
    pub tail_losses: u64,
    /// Acknowledgement timeout in force beside the answer time seen, in words.
    pub timeout: Option<String>,
    /// Retry counts in force, in words, where CM was seen.
    pub retries: Option<String>,
    /// What this capture cannot tell, one line each.
    pub not_visible: Vec<String>,
    /// Streams that hurt most, worst first: at most three.
    pub worst: Vec<u64>,
    /// Frames to open first.
    pub frames: Vec<FrameRef>,
    /// What to do next.
    pub next_step: String,
}

/// How losses lie in time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// In most of the time.
    Steady,
    /// In several bursts.
    Bursts,
    /// Once.
    OneEvent,
}

/// The factor that explains most losses.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Who {
    /// `sender`, `receiver`, `pair`, `udp-source-port`, `priority`, `dscp`, or `everyone`.
    pub factor: &'static str,
    /// Its value, such as an address.
    pub value: String,
    /// Losses that carry it.
    pub losses: u64,
    /// All losses.
    pub of: u64,
    /// Streams that carry it and lost something.
    pub streams: u64,
    /// Streams that carry it.
    pub streams_with_it: u64,
}
