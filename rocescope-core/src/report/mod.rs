//! What an analysis hands out: the data behind every report, in the shape of the JSON contract `rocescope.report/1`.
//!
//! Keys may be added, never renamed. Times are nanoseconds since the epoch, PSNs and QPNs plain numbers.

pub mod connection;
pub mod finding;
pub mod stream;
pub mod verdict;

use serde::Serialize;
use std::collections::BTreeMap;

pub use connection::{CmFacts, Connection, Latencies, Latency, PairedBy};
pub use finding::{Confidence, EndedBy, Evidence, Finding, FrameRef, Severity, State, Subject};
pub use stream::{
    EcnCounts, IcrcCounts, NakPlaces, Naks, Recovery, Requester, Responder, Stream, Style, Tries,
    Trigger, Where,
};
pub use verdict::Verdict;

/// The name of this contract.
pub const SCHEMA: &str = "rocescope.report/1";

/// One whole report.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    /// Always `rocescope.report/1`.
    pub schema: &'static str,
    /// Which program made it, and how it was called.
    pub tool: Tool,
    /// The inputs, in the order given.
    pub sources: Vec<Source>,
    /// Sums over all inputs.
    pub totals: Totals,
    /// The answer in short.
    pub verdict: Verdict,
    /// One entry a stream (source, destination, destination QPN), ordered by these and then by time.
    pub streams: Vec<Stream>,
    /// Pairs of streams.
    pub connections: Vec<Connection>,
    /// Ports that sent PAUSE or PFC.
    pub ports: Vec<Port>,
    /// What was found, most severe first.
    pub findings: Vec<Finding>,
}

/// The program and its settings, so that a report can be repeated.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tool {
    /// `rocescope`.
    pub name: &'static str,
    /// Version of the program.
    pub version: &'static str,
    /// Command line as given.
    pub arguments: Vec<String>,
    /// Every threshold that differs from its default, by `finding.key`.
    pub settings_changed: BTreeMap<String, String>,
    /// The filter that chose which streams, connections and findings are listed; totals and verdict are of everything.
    pub filter: Option<String>,
    /// Addresses, paths and names are stand-ins.
    pub redacted: bool,
}

/// One input and what it could and could not see.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Source {
    /// Path as given; `-` is standard input.
    pub path: String,
    /// `pcap`, `pcap-ns`, `pcapng`, with `+gzip` or `+zstd` where compressed.
    pub format: String,
    /// Link types of its interfaces, as libpcap numbers them.
    pub link_types: Vec<u32>,
    /// Frames read.
    pub frames: u64,
    /// Octets captured.
    pub captured_bytes: u64,
    /// Octets on the wire, as the capture says.
    pub wire_bytes: u64,
    /// Time of the earliest frame.
    pub first_ns: Option<u64>,
    /// Time of the latest frame.
    pub last_ns: Option<u64>,
    /// Frames of which not all octets were captured.
    pub cut_frames: u64,
    /// Frames the capture itself says it lost.
    pub lost_frames: u64,
    /// Byte offset at which the file breaks off in the middle of a record.
    pub truncated_at: Option<u64>,
    /// Frames whose time is before their predecessor's.
    pub backward_times: u64,
    /// What went wrong while reading, one line each.
    pub problems: Vec<String>,
    /// What this source can see.
    pub vantage: Vantage,
}

/// What a source can and cannot see.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Vantage {
    /// Directions of RC traffic seen: 1 or 2; 0 where there was none.
    pub directions: u8,
    /// One packet in so many, where sampled.
    pub sampled: Option<u64>,
    /// The length all cut frames were cut to, octets.
    pub cut_to: Option<u32>,
    /// Whether PFC frames can be seen here; null where unknown.
    pub pfc_visible: Option<bool>,
    /// The end of the connections this tap is nearer to.
    pub nearer_to: Option<NearerTo>,
    /// Mirrors that sent the frames: the outer source of each tunnel.
    pub mirrors: Vec<String>,
    /// What to know when reading the findings.
    pub notes: Vec<String>,
}

/// One end of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum NearerTo {
    /// The end that sends requests.
    Requester,
    /// The end that answers.
    Responder,
}

/// Sums over all inputs.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Totals {
    /// Frames read.
    pub frames: u64,
    /// RoCE v1 packets.
    pub roce_v1: u64,
    /// RoCE v2 packets.
    pub roce_v2: u64,
    /// Native InfiniBand packets.
    pub infiniband: u64,
    /// iWARP segments.
    pub iwarp: u64,
    /// NVMe/TCP segments.
    pub nvme_tcp: u64,
    /// Congestion notification packets.
    pub cnp: u64,
    /// Priority flow control frames.
    pub pfc: u64,
    /// 802.3x PAUSE frames.
    pub pause: u64,
    /// LLDP frames.
    pub lldp: u64,
    /// Other frames.
    pub other: u64,
    /// Frames too short or too broken to say what they are.
    pub undecodable: u64,
    /// IP fragments that may belong to RoCE: counted, never analysed.
    pub fragments: u64,
    /// RoCE packets with a fault of their own (too short for their headers, pad larger than the payload, ...).
    pub malformed: u64,
    /// Packets captured a second time, at another interface or in another file: not counted again.
    pub second_sightings: u64,
    /// Frames of interfaces whose link type is not known here.
    pub unknown_link_type: u64,
    /// TCP segments among `other`.
    pub tcp: u64,
    /// UDP datagrams to ports that are not RoCE, by port: the 16 busiest.
    pub udp_ports: BTreeMap<u16, u64>,
    /// UDP datagrams to other ports that look like a BTH, by port.
    pub bth_like_ports: BTreeMap<u16, u64>,
    /// State of the ICRCs.
    pub icrc: IcrcCounts,
    /// ECN field of RoCE packets.
    pub ecn: EcnCounts,
    /// Streams seen.
    pub streams: u64,
    /// Streams that had to leave because of `--max-streams`: their counts are in the sums, they are not listed.
    pub evicted_streams: u64,
    /// Streams folded into the sums after five idle minutes: not listed.
    pub idle_streams: u64,
    /// Sums over the requester sides of all streams, listed or not.
    pub requester: RequesterTotals,
}

/// Sums over requester sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RequesterTotals {
    /// Request packets of RC, UC and XRC.
    pub packets: u64,
    /// Octets of their frames on the wire.
    pub wire_bytes: u64,
    /// Messages begun.
    pub messages: u64,
    /// Sent again.
    pub retransmitted_packets: u64,
    /// Octets of frames sent again.
    pub retransmitted_bytes: u64,
    /// Late, but not lost.
    pub reordered_packets: u64,
    /// The same transmission seen twice.
    pub mirror_duplicates: u64,
    /// Never carried by any packet seen.
    pub missing_psns: u64,
    /// Lost between sender and tap.
    pub lost_before: u64,
    /// Lost between tap and receiver: a lower bound.
    pub lost_after: u64,
    /// READ responses and atomic answers lost.
    pub responses_lost: u64,
    /// Damaged before the tap.
    pub damaged: u64,
    /// Time in which connections stood still for a repair, summed over connections, ns.
    pub stalled_ns: u64,
}

/// A port that sent PAUSE or PFC.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Port {
    /// MAC address of the sender.
    pub source_mac: String,
    /// One entry a priority.
    pub priorities: Vec<PausedPriority>,
    /// Link rate, bit/s, where known.
    pub link_bps: Option<u64>,
}

/// Pauses of one priority.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PausedPriority {
    /// Priority, 0 to 7.
    pub priority: u8,
    /// Frames that ask to stop.
    pub xoff: u64,
    /// Frames that allow to go on.
    pub xon: u64,
    /// Time paused, ns.
    pub paused_ns: u64,
    /// Longest pause, ns.
    pub longest_ns: u64,
    /// Share of the capture's time, in millionths.
    pub share: u64,
}
