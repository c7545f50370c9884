//! Connections and latencies as they leave the analysis.

use serde::Serialize;

/// How two streams were joined.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum PairedBy {
    /// CM REQ and REP were seen.
    Cm,
    /// RDMA netlink on this host.
    Kernel,
    /// Answers fall into the other side's outstanding window.
    Inferred,
}

/// Two streams joined: a QP pair.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Connection {
    /// Number of this connection in the report, from 0.
    pub id: u64,
    /// Ids of the two streams.
    pub streams: [u64; 2],
    /// How they were joined.
    pub paired_by: PairedBy,
    /// QPNs: that of the first stream's receiver, that of the second's.
    pub qpns: [u32; 2],
    /// Service of the CM REQ, such as `tcp:4420`.
    pub service: Option<String>,
    /// What the CM REQ and REP agreed on.
    pub cm: Option<CmFacts>,
    /// Latencies measured at this tap; retransmitted ones left out.
    pub latency_ns: Latencies,
    /// From first to last packet, ns.
    pub life_ns: u64,
    /// Time in which it stood still for a repair, ns.
    pub stalled_ns: u64,
    /// Median time from a request at this tap to its answer, ns: the way to the responder and back.
    pub request_to_answer_ns: Option<u64>,
    /// Median time from an answer at this tap to the next request, ns: the way to the requester and back.
    pub answer_to_request_ns: Option<u64>,
    /// The end this tap is nearer to.
    pub nearer_to: Option<super::NearerTo>,
    /// Acknowledgement timeout in force, ns: from CM, else the shortest gap before a timeout pass.
    pub effective_timeout_ns: Option<u64>,
    /// Last PSN acknowledged, for each of the two streams.
    pub last_acknowledged: [Option<u32>; 2],
}

/// What CM agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CmFacts {
    /// Local ACK timeout of the requester, ns: 4.096 us x 2^t; 0 is none.
    pub ack_timeout_ns: u64,
    /// Retries after a timeout or NAK, 0 to 7.
    pub retry_count: u8,
    /// Retries after an RNR NAK, 0 to 7; 7 is without end.
    pub rnr_retry_count: u8,
    /// Path MTU, octets.
    pub pmtu: u32,
    /// READs and atomics the requester may have outstanding.
    pub initiator_depth: u8,
    /// REJ reason, where it was rejected.
    pub reject_reason: Option<u16>,
    /// DREQ or DREP was seen.
    pub disconnected: bool,
}

/// Latency distributions at this tap.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Latencies {
    /// AckReq packet to ACK.
    pub ack: Option<Latency>,
    /// READ request to first response.
    pub read_first: Option<Latency>,
    /// READ request to last response.
    pub read_last: Option<Latency>,
    /// First packet of a message to its completion.
    pub message: Option<Latency>,
}

/// One latency distribution, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Latency {
    /// Measurements.
    pub count: u64,
    /// Median.
    pub p50: u64,
    /// 90th percentile.
    pub p90: u64,
    /// 99th percentile.
    pub p99: u64,
    /// 99.9th percentile.
    pub p999: u64,
    /// Largest.
    pub max: u64,
}
