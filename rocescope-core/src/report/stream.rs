//! Streams, connections and recoveries as they leave the analysis.

use super::FrameRef;
use crate::Address;
use serde::Serialize;
use std::collections::BTreeMap;

/// One direction: source, destination, destination QPN.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stream {
    /// Number of this stream in the report, from 0.
    pub id: u64,
    /// Sender.
    pub src: Address,
    /// Receiver.
    pub dst: Address,
    /// Queue pair of the receiver.
    pub dest_qpn: u32,
    /// `RC`, `UC`, `UD`, `RD`, `XRC`, `CNP` or `unknown`: that of most of its packets.
    pub transport: &'static str,
    /// Packets.
    pub packets: u64,
    /// Octets of their frames on the wire.
    pub wire_bytes: u64,
    /// Octets of payload, without pad.
    pub payload_bytes: u64,
    /// Time of the first packet.
    pub first_ns: u64,
    /// Time of the latest packet.
    pub last_ns: u64,
    /// UDP source port of the first packet; 0 for RoCE v1.
    pub udp_source_port: u16,
    /// DSCP of the first packet.
    pub dscp: u8,
    /// PCP of the first packet's innermost VLAN tag.
    pub pcp: Option<u8>,
    /// VID of the first packet's innermost VLAN tag.
    pub vlan: Option<u16>,
    /// Packets with MigReq set: hardware sets it, Soft-RoCE does not.
    pub migreq_packets: u64,
    /// Packets by opcode.
    pub opcodes: BTreeMap<String, u64>,
    /// The requests it carries.
    pub requester: Requester,
    /// The answers it carries, to requests of the other direction.
    pub responder: Responder,
    /// ECN field.
    pub ecn: EcnCounts,
    /// State of the ICRCs.
    pub icrc: IcrcCounts,
    /// Congestion notification packets it carries.
    pub cnps: u64,
    /// UD: packets by source QPN, the first 64.
    pub source_qpns: BTreeMap<u32, u64>,
}

/// Requests of a stream: packets of its own PSN space.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Requester {
    /// Request packets.
    pub packets: u64,
    /// Messages begun, each counted once.
    pub messages: u64,
    /// UC: messages of which a packet was lost or not seen.
    pub broken_messages: u64,
    /// Messages by operation.
    pub operations: BTreeMap<&'static str, u64>,
    /// Messages by size: upper bound in octets (a power of two), count.
    pub message_sizes: BTreeMap<u64, u64>,
    /// PSN of the first packet.
    pub first_psn: Option<u32>,
    /// Highest PSN requested; a READ claims the PSNs of its responses.
    pub highest_psn: Option<u32>,
    /// Path MTU, octets.
    pub pmtu: Option<u32>,
    /// Sent again.
    pub retransmitted_packets: u64,
    /// Octets of the frames sent again.
    pub retransmitted_bytes: u64,
    /// Late, but not lost.
    pub reordered_packets: u64,
    /// The same transmission seen twice.
    pub mirror_duplicates: u64,
    /// Copies that the responder answered: the network or the sender made them.
    pub copies_answered: u64,
    /// PSNs at or behind `highest_psn` that no packet seen carried.
    pub missing_psns: u64,
    /// PSNs stepped over, beyond the high-water and inside repairs.
    pub skips: u64,
    /// Skipped PSNs that were delivered all the same: the capture missed them.
    pub capture_gap_psns: u64,
    /// Lost between sender and tap.
    pub lost_before: u64,
    /// Lost between tap and receiver: a lower bound.
    pub lost_after: u64,
    /// Damaged before the tap: the ICRC was bad.
    pub damaged: u64,
    /// Sent again although the first copy had arrived.
    pub spurious_packets: u64,
    /// All recoveries.
    pub recoveries_total: u64,
    /// Passes by what triggered them.
    pub tries: Tries,
    /// NAKs (PSN sequence error) by where they put the loss.
    pub nak_places: NakPlaces,
    /// Time in which the stream stood still for a repair, ns.
    pub stalled_ns: u64,
    /// The first 32 and the last 32 recoveries.
    pub recoveries: Vec<Recovery>,
    /// Losses a second of input time (epoch-aligned): seconds since the epoch, packets lost; at most 600.
    pub losses_by_second: BTreeMap<u64, u64>,
}

/// NAKs (PSN sequence error) of a stream's requests by where they put the loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NakPlaces {
    /// The packet they name was not seen here: between sender and tap.
    pub before: u64,
    /// It was seen here: between tap and receiver.
    pub after: u64,
    /// It was seen here with a bad ICRC.
    pub damaged: u64,
    /// Packets came late just before: it was reordered.
    pub reordering: u64,
    /// None of these: it was not due here yet.
    pub unknown: u64,
    /// They only repeat an RNR NAK.
    pub of_rnr: u64,
    /// Beyond everything acknowledged before (`rcvd_seq_err` of rxe).
    pub advancing: u64,
}

/// Passes of repair by trigger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tries {
    /// After a NAK (PSN sequence error).
    pub nak: u64,
    /// After an RNR NAK.
    pub rnr: u64,
    /// After the acknowledgement timer.
    pub timeout: u64,
    /// After an answer beyond a missing one.
    #[serde(rename = "implied-nak")]
    pub implied_nak: u64,
    /// Not visible here.
    pub unknown: u64,
}

/// Why a pass of repair began.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Trigger {
    /// NAK (PSN sequence error).
    Nak,
    /// Receiver not ready.
    Rnr,
    /// The acknowledgement timer.
    Timeout,
    /// An answer beyond a missing READ response or atomic answer.
    ImpliedNak,
    /// Not visible here.
    Unknown,
}

/// What a sender sends again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Style {
    /// Everything from the first PSN on.
    GoBackN,
    /// Only what was missing.
    Selective,
}

/// Where a packet was lost, as seen from this tap.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Where {
    /// Between the sender of the request and the tap.
    Before,
    /// Between the tap and the receiver of the request.
    After,
    /// Seen here with a bad ICRC: damaged before the tap.
    Damaged,
    /// Not lost: late.
    Reordering,
    /// Not lost: refused.
    Refused,
    /// Not lost: the first copy was acknowledged.
    Spurious,
    /// A READ response or atomic answer, between responder and tap.
    ResponseBefore,
    /// A READ response or atomic answer, between tap and requester.
    ResponseAfter,
    /// The request or its answer after the tap, or the answer before it.
    AfterOrAnswer,
    /// Cannot be told from here.
    Unknown,
}

/// One episode of repair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Recovery {
    /// What began its first pass.
    pub trigger: Trigger,
    /// The first PSN sent again.
    pub first_psn: u32,
    /// Passes.
    pub tries: u64,
    /// Packets sent again.
    pub packets: u64,
    /// Octets of their frames.
    pub bytes: u64,
    /// First step back.
    pub start_ns: u64,
    /// The answer that covers it; null while it is open when the input ends.
    pub end_ns: Option<u64>,
    /// Time without progress: from the last new packet or answer before it to its end, ns.
    pub stalled_ns: u64,
    /// What was sent again.
    pub style: Style,
    /// Where the packet was lost.
    #[serde(rename = "where")]
    pub place: Where,
    /// Packets lost between sender and tap within it.
    pub lost_before: u64,
    /// Gap before each pass, ns: the first 16.
    pub gaps_ns: Vec<u64>,
    /// Frames that began its passes, and the NAK: at most 16.
    pub frames: Vec<FrameRef>,
}

impl Recovery {
    /// Whether nothing was lost: the receiver asked for what was only late.
    #[must_use]
    pub fn is_reordering(&self) -> bool {
        self.place == Where::Reordering
    }
}

/// Answers of a stream.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Responder {
    /// Answer packets.
    pub packets: u64,
    /// ACKs.
    pub acks: u64,
    /// Receiver-not-ready NAKs.
    pub rnr_naks: u64,
    /// Other NAKs by code.
    pub naks: Naks,
    /// READ responses.
    pub read_responses: u64,
    /// Atomic answers.
    pub atomic_acks: u64,
    /// READ responses and atomic answers seen before.
    pub repeated_responses: u64,
    /// Copies of answers.
    pub mirror_duplicates: u64,
    /// Answers that came late.
    pub reordered_packets: u64,
    /// Responses stepped over.
    pub response_skips: u64,
    /// Responses lost between responder and tap.
    pub lost_before: u64,
    /// Responses lost between tap and requester.
    pub lost_after: u64,
    /// Answers beyond the requests that asked for one.
    pub extra_answers: u64,
    /// Credits of the last ACK; null where it says "no limit".
    pub credits_last: Option<u32>,
    /// Message sequence number of the last answer.
    pub msn_last: Option<u32>,
    /// RNR timers advertised: microseconds x 10, count.
    pub rnr_timers_10us: BTreeMap<u32, u64>,
}

/// NAKs by code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Naks {
    /// 0x60.
    pub psn_sequence_error: u64,
    /// 0x61.
    pub invalid_request: u64,
    /// 0x62.
    pub remote_access_error: u64,
    /// 0x63.
    pub remote_operational_error: u64,
    /// 0x64.
    pub invalid_rd_request: u64,
    /// Any other code.
    pub other: u64,
}

/// ECN field, packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EcnCounts {
    /// 00.
    pub not_ect: u64,
    /// 10.
    pub ect0: u64,
    /// 01.
    pub ect1: u64,
    /// 11.
    pub ce: u64,
}

impl EcnCounts {
    /// One more packet with this ECN field.
    pub(crate) fn add(&mut self, ecn: u8) {
        match ecn & 3 {
            0 => self.not_ect += 1,
            1 => self.ect1 += 1,
            2 => self.ect0 += 1,
            _ => self.ce += 1,
        }
    }

    /// Adds other counts.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.not_ect += other.not_ect;
        self.ect0 += other.ect0;
        self.ect1 += other.ect1;
        self.ce += other.ce;
    }
}

impl IcrcCounts {
    /// Adds other counts.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.good += other.good;
        self.bad += other.bad;
        self.unverifiable += other.unverifiable;
    }
}

/// ICRC states, packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IcrcCounts {
    /// Whole frame, right ICRC.
    pub good: u64,
    /// Whole frame, wrong ICRC.
    pub bad: u64,
    /// Cut, rewritten, or not checked.
    pub unverifiable: u64,
}
