//! `no-roce-seen`: there is no RoCE in the input.

use super::{Family, FindingDoc, Scope, vantage};
use crate::Time;
use crate::figure::counted;
use crate::outcome::Outcome;
use crate::report::{Finding, Severity, Source};

/// What `no-roce-seen` means.
pub static DOC: FindingDoc = FindingDoc {
    id: "no-roce-seen",
    family: Family::Vantage,
    severity: Severity::Info,
    scope: Scope::Capture,
    quiet_ns: 0,
    thresholds: &[],
    meaning: "No RoCE packet is in the input. That says nothing about the network: RoCE may have been elsewhere.",
    rule: "No frame holds RoCE v1 (Ethertype 0x8915), RoCE v2 (UDP port 4791 or a port named with --udp-port) or native \
           InfiniBand. What was there instead is in the message.",
    source: "IBTA Volume 1, annexes A16 (RoCE v1) and A17 (RoCE v2); libpcap PR 585 and libvma issue 1036 on traffic that a host \
             does not see.",
    causes: &[
        "the capture was made on a host with hardware RoCE: it bypasses the network stack, and tcpdump does not see it",
        "the application fell back to TCP, or speaks iWARP",
        "RoCE v2 runs on another UDP port, or inside a tunnel that is not known here",
        "the mirror or the filter did not match the traffic",
    ],
    what_to_do: &[
        "capture where RoCE passes: a mirror port or TAP, or the NIC's RDMA sniffer instead of tcpdump on the host",
        "name the port with --udp-port if RoCE v2 does not use 4791 there",
        "check with the RDMA counters of the NIC that there was RoCE traffic at that time",
    ],
    when_wrong: "A capture whose frames were cut before the UDP header holds RoCE that cannot be recognized.",
};

pub(super) fn of(outcome: &Outcome, sources: &[Source]) -> Option<Finding> {
    let totals = &outcome.totals;
    if totals.roce_v1 + totals.roce_v2 + totals.infiniband > 0 {
        return None;
    }
    let first = sources.iter().filter_map(|source| source.first_ns).min();
    let last = sources.iter().filter_map(|source| source.last_ns).max();
    let first = Time(first.unwrap_or(0));
    let mut finding = vantage::capture_finding(&DOC, first, Time(last.unwrap_or(0)));
    finding.count = 1;
    finding.evidence.number("frames", totals.frames);
    let instead = crate::verdict::instead_of_roce(totals);
    let frames = counted(totals.frames, "frame", "frames");
    finding.message = match instead.as_str() {
        "" => format!("no RoCE in {frames}"),
        instead => format!("no RoCE in {frames}; what is there is {instead}"),
    };
    Some(finding)
}
