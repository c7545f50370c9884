//! `one-direction-only`: of a conversation only one side was captured.

use super::{Family, FindingDoc, Scope, vantage};
use crate::Address;
use crate::Time;
use crate::figure::{count, counted};
use crate::outcome::Outcome;
use crate::report::{Finding, Severity};
use std::collections::{BTreeMap, BTreeSet};

/// What `one-direction-only` means.
pub static DOC: FindingDoc = FindingDoc {
    id: "one-direction-only",
    family: Family::Vantage,
    severity: Severity::Info,
    scope: Scope::Capture,
    quiet_ns: 0,
    thresholds: &[],
    meaning: "Reliable traffic of some hosts was captured in one direction only. Without the answers lost, missed and merely late \
              packets look alike there, and nothing is said about which it was.",
    rule: "At least 3 RC or XRC packets lead from one host to another, and no RC or XRC packet leads back. The count is that of such pairs of \
           hosts. Not made for UC, UD and CM, which need no answers.",
    source: "libpcap PR 1532 and libvma issue 1036 on sniffers that show one direction.",
    causes: &[
        "a mirror session of one direction (ingress or egress only)",
        "requests and answers take different paths, and the tap is on one of them",
        "an RDMA sniffer that shows only what the NIC sends or only what it receives",
        "the other side never answered at all",
    ],
    what_to_do: &[
        "mirror both directions of the port, or both paths, and give both files to one analysis",
        "until then rely on the counters of the NICs for loss: packet_seq_err, out_of_sequence, local_ack_timeout_err",
    ],
    when_wrong: "A connection whose peer is dead looks like half a capture; retry-exceeded at low confidence stands beside it then.",
};

/// A single stray packet, such as one whose address was damaged, says nothing about the capture.
const LEAST_PACKETS: u64 = 3;

pub(super) fn of(outcome: &Outcome) -> Option<Finding> {
    let reliable = || {
        outcome
            .streams
            .iter()
            .filter(|stream| matches!(stream.transport, "RC" | "XRC"))
    };
    let mut ways: BTreeMap<(Address, Address), u64> = BTreeMap::new();
    for stream in reliable() {
        *ways.entry((stream.src, stream.dst)).or_default() += stream.packets;
    }
    let is_single = |(src, dst): (Address, Address), packets: u64| {
        packets >= LEAST_PACKETS && !ways.contains_key(&(dst, src))
    };
    let single: BTreeSet<_> = ways
        .iter()
        .filter(|(way, packets)| is_single(**way, **packets))
        .map(|(way, _)| *way)
        .collect();
    let concerned = || reliable().filter(|stream| single.contains(&(stream.src, stream.dst)));
    let first = concerned().map(|stream| stream.first_ns).min()?;
    let last = concerned().map(|stream| stream.last_ns).max()?;
    let (src, dst) = single.first()?;
    let answered = ways
        .keys()
        .filter(|(src, dst)| ways.contains_key(&(*dst, *src)));
    let pairs = ways.len() - answered.count() / 2;
    let mut finding = vantage::capture_finding(&DOC, Time(first), Time(last));
    finding.count = single.len() as u64;
    finding
        .evidence
        .number("host_pairs_one_direction", single.len())
        .number("host_pairs", pairs);
    let others = match single.len() - 1 {
        0 => String::new(),
        others => format!(" and {} more", count(others as u64)),
    };
    finding.message = format!(
        "{} of {} of hosts in one direction only ({src} -> {dst}{others}): without the answers, lost, missed and late packets \
         look alike",
        count(single.len() as u64),
        counted(pairs as u64, "pair", "pairs")
    );
    Some(finding)
}
