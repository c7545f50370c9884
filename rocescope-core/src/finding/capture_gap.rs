//! `capture-gap`: the capture missed packets that were on the wire.

use super::life::at_least;
use super::{Family, FindingDoc, Findings, Scope, Threshold, View};
use crate::event::{Event, EventKind};
use crate::figure::{counted, millionths, share};
use crate::report::Severity;
use crate::time::SECOND_NS;

/// What `capture-gap` means.
pub static DOC: FindingDoc = FindingDoc {
    id: "capture-gap",
    family: Family::LossAndRepair,
    severity: Severity::Info,
    scope: Scope::Stream,
    quiet_ns: 30 * SECOND_NS,
    thresholds: &[Threshold {
        key: "share_ppm",
        unit: "packets per million",
        default: 10_000,
        min: 0,
        max: 1_000_000,
        meaning: "Share of a stream's packets from which on so much is missing that other figures suffer: a warning.",
        source: "One in a hundred: beyond it latencies and message counts are off by more than they are worth.",
    }],
    meaning: "Packets that were on the wire are not in the capture. Nothing was lost in the network: the receiver acknowledged \
              them, and nobody sent them again.",
    rule: "PSNs were stepped over, no NAK named them, they were never sent again, and an ACK or response covers them; or an \
           answer came to a PSN that no packet seen carried; or READ responses were stepped over and never asked for again. \
           Warning where more than `share_ppm` of the stream's packets are missing. Not made for UC, UD and one-direction \
           captures, where lost and missed look alike.",
    source: "IBTA Volume 1, 9.7.5 (an ACK covers all PSNs before it); the rustnet and PCAP Analyzer threads on counting \
             retransmissions across capture gaps.",
    causes: &[
        "the mirror port or the capturing host was slower than the traffic",
        "a switch gives mirrored packets a low priority, or mirrors only one member of a link aggregate",
        "a TAP with small buffers, or a filter that does not match all packets",
    ],
    what_to_do: &[
        "look at the drop counters of the capture (tcpdump prints them) and of the mirror port",
        "capture less: a snapshot length of 128 octets, fewer ports, fewer hosts",
        "take rates, latencies and message counts of this stream as lower bounds",
    ],
    when_wrong: "A lost packet whose NAK and repair the capture missed too would look like this; then retransmission counters of \
                 the sender (packet_seq_err) move although nothing is reported here.",
};

pub(super) fn on(event: &Event, view: &View<'_>, findings: &mut Findings<'_>) {
    match event.kind {
        EventKind::CaptureGap {
            first,
            psns,
            responses,
        } => findings.raise(&DOC, event.at, &[event.frame], |finding| {
            finding.count += psns;
            let name = if responses {
                "missed_response_packets"
            } else {
                "missed_request_packets"
            };
            finding.evidence.add(name, psns);
            if finding.evidence.get("first_psn").is_none() {
                finding.evidence.number("first_psn", first.get());
            }
            finding.message = format!(
                "{} missed by the capture: answered, and never sent again; nothing was lost in the network",
                counted(finding.count, "packet", "packets")
            );
        }),
        EventKind::Closed => findings.revise(&DOC, |finding| {
            let seen = view.requests() + view.peer_packets();
            let missed = millionths(finding.count, seen + finding.count);
            let most = view.threshold(&DOC, "share_ppm");
            finding
                .evidence
                .number("missed_share_ppm", missed)
                .number("warning_share_ppm", most);
            if missed > most {
                at_least(finding, Severity::Warning);
                finding.message += &format!("; {} of the connection's packets", share(missed));
            }
        }),
        _ => {}
    }
}
