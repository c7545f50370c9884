//! What this capture cannot tell.

use super::case::Case;
use crate::figure::{count, counted};
use crate::report::Totals;

/// One thing that could not be seen.
pub(super) struct Blind {
    /// One or two words, for a list in a sentence.
    pub(super) short: &'static str,
    why: String,
}

impl Blind {
    fn new(short: &'static str, why: impl Into<String>) -> Self {
        Self {
            short,
            why: why.into(),
        }
    }

    /// The whole line: what, and why.
    pub(super) fn line(&self) -> String {
        format!("{}: {}", self.short, self.why)
    }
}

/// Everything that could not be seen, what weighs most first.
pub(super) fn not_visible(case: &Case<'_>) -> Vec<Blind> {
    let mut blind = Vec::new();
    if case.any_roce() {
        directions(case, &mut blind);
    }
    missing_frames(case, &mut blind);
    damage(case, &mut blind);
    if case.any_roce() {
        unpaired(case, &mut blind);
        lower_bound(case, &mut blind);
        pauses(case, &mut blind);
        marks(case, &mut blind);
    }
    unread(case, &mut blind);
    blind
}

fn directions(case: &Case<'_>, blind: &mut Vec<Blind>) {
    if case.one_direction() {
        blind.push(Blind::new(
            "answers",
            "only one direction was captured, so that lost, missed and merely late packets look alike",
        ));
    }
}

fn missing_frames(case: &Case<'_>, blind: &mut Vec<Blind>) {
    let sources = &case.report.sources;
    let lost = sources
        .iter()
        .fold(0, |sum: u64, source| sum.saturating_add(source.lost_frames));
    if lost > 0 {
        blind.push(Blind::new(
            "frames lost by the capture",
            format!("{}, by its own count", count(lost)),
        ));
    }
    if let Some(every) = sources.iter().find_map(|source| source.vantage.sampled) {
        blind.push(Blind::new(
            "what was not sampled",
            format!(
                "one packet in {} is here; loss cannot be counted",
                count(every)
            ),
        ));
    }
    for source in sources {
        if let Some(offset) = source.truncated_at {
            blind.push(Blind::new(
                "the end",
                format!("{} breaks off at octet {}", source.path, count(offset)),
            ));
        }
    }
}

fn damage(case: &Case<'_>, blind: &mut Vec<Blind>) {
    let cut: u64 = case
        .report
        .sources
        .iter()
        .map(|source| source.cut_frames)
        .sum();
    let totals = &case.report.totals;
    if cut > 0 {
        let to = case
            .report
            .sources
            .iter()
            .find_map(|source| source.vantage.cut_to);
        let to = to.map_or_else(String::new, |octets| format!(" to {octets} octets"));
        blind.push(Blind::new(
            "damage",
            format!(
                "{} of {} are cut{to}, so that no ICRC can be checked there",
                count(cut),
                counted(totals.frames, "frame", "frames")
            ),
        ));
    } else if totals.icrc.unverifiable > 0 {
        let packets = counted(totals.icrc.unverifiable, "packet", "packets");
        blind.push(Blind::new(
            "damage",
            format!("the ICRC of {packets} was not checked or is not there"),
        ));
    }
}

fn unpaired(case: &Case<'_>, blind: &mut Vec<Blind>) {
    let unpaired = case
        .report
        .streams
        .iter()
        .filter(|stream| {
            matches!(stream.transport, "RC" | "XRC") && case.connection_of(stream.id).is_none()
        })
        .count() as u64;
    if unpaired > 0 {
        blind.push(Blind::new(
            "sender QPNs",
            format!(
                "of {}: no CM and no answers that fit",
                counted(unpaired, "stream", "streams")
            ),
        ));
    }
}

fn lower_bound(case: &Case<'_>, blind: &mut Vec<Blind>) {
    if case.loss().after > 0 {
        blind.push(Blind::new(
            "every loss after the tap",
            "several behind one NAK show as one: the count is a lower bound",
        ));
    }
}

fn pauses(case: &Case<'_>, blind: &mut Vec<Blind>) {
    let sources = &case.report.sources;
    let seen = case.report.totals.pfc + case.report.totals.pause > 0;
    if seen
        || (!sources.is_empty()
            && sources
                .iter()
                .all(|source| source.vantage.pfc_visible == Some(true)))
    {
        return;
    }
    blind.push(Blind::new(
        "pauses",
        "no PFC or PAUSE frame is here; NICs and most mirrors keep them to themselves",
    ));
}

fn marks(case: &Case<'_>, blind: &mut Vec<Blind>) {
    let ecn = &case.report.totals.ecn;
    if ecn.not_ect > 0 && ecn.ect0 + ecn.ect1 + ecn.ce == 0 {
        blind.push(Blind::new(
            "congestion marks",
            "no packet is ECN-capable, so that switches drop instead of marking",
        ));
    }
}

fn unread(case: &Case<'_>, blind: &mut Vec<Blind>) {
    let totals = &case.report.totals;
    if totals.fragments > 0 {
        blind.push(Blind::new(
            "IP fragments",
            format!("{}, counted but not read", count(totals.fragments)),
        ));
    }
    if totals.unknown_link_type > 0 {
        blind.push(Blind::new(
            "interfaces of unknown link type",
            counted(totals.unknown_link_type, "frame", "frames"),
        ));
    }
    if totals.undecodable > 0 {
        blind.push(Blind::new("undecodable frames", count(totals.undecodable)));
    }
    let left = totals.evicted_streams + totals.idle_streams;
    if left > 0 {
        blind.push(Blind::new(
            "details of streams that left",
            format!("{}: in the sums, but not listed", count(left)),
        ));
    }
}

/// What stood in the capture instead of RoCE: `1,200 TCP segments, 30 UDP datagrams (port 53: 20)`.
pub(crate) fn instead_of_roce(totals: &Totals) -> String {
    let mut parts = Vec::new();
    let mut part = |number: u64, singular: &str, plural: &str| {
        if number > 0 {
            parts.push(counted(number, singular, plural));
        }
    };
    part(totals.tcp, "TCP segment", "TCP segments");
    part(totals.iwarp, "iWARP segment", "iWARP segments");
    part(totals.nvme_tcp, "NVMe/TCP segment", "NVMe/TCP segments");
    part(totals.pfc, "PFC frame", "PFC frames");
    part(totals.pause, "PAUSE frame", "PAUSE frames");
    part(totals.lldp, "LLDP frame", "LLDP frames");
    part(totals.fragments, "IP fragment", "IP fragments");
    part(
        totals.undecodable,
        "undecodable frame",
        "undecodable frames",
    );
    part(
        totals.unknown_link_type,
        "frame of an unknown link type",
        "frames of an unknown link type",
    );
    if let Some(udp) = udp(totals) {
        parts.push(udp);
    }
    if parts.is_empty() && totals.other > 0 {
        parts.push(counted(totals.other, "other frame", "other frames"));
    }
    parts.join(", ")
}

fn udp(totals: &Totals) -> Option<String> {
    let ports = totals.udp_ports.iter();
    let mut ports: Vec<_> = ports.map(|(port, number)| (*number, *port)).collect();
    ports.sort_by_key(|(number, port)| (std::cmp::Reverse(*number), *port));
    let sum = ports.iter().map(|(number, _)| number).sum();
    let busiest: Vec<_> = ports
        .iter()
        .take(3)
        .map(|(_, port)| port.to_string())
        .collect();
    (sum > 0).then(|| {
        format!(
            "{} (to port {})",
            counted(sum, "UDP datagram", "UDP datagrams"),
            busiest.join(", ")
        )
    })
}

/// The UDP port that most looks like RoCE on another port.
fn likely_port(case: &Case<'_>) -> Option<u16> {
    let ports = &case.report.totals.bth_like_ports;
    ports
        .iter()
        .max_by_key(|(port, number)| (**number, std::cmp::Reverse(**port)))
        .map(|(port, _)| *port)
}

/// What to try where no RoCE was seen.
pub(super) fn where_to_find_roce(case: &Case<'_>) -> String {
    let totals = &case.report.totals;
    if let Some(port) = likely_port(case) {
        return format!(
            "Try --udp-port {port}: datagrams to that port look like RoCE v2 (a BTH and its ICRC)."
        );
    }
    if totals.unknown_link_type > 0 && totals.unknown_link_type == totals.frames {
        return "Capture on an Ethernet interface: the link type of this file is not one that carries RoCE.".to_owned();
    }
    if totals.fragments > 0 {
        return "Lower the path MTU of the QPs or raise that of the link: fragmented RoCE cannot be read by any NIC.".to_owned();
    }
    if totals.iwarp > 0 {
        return "This host speaks iWARP (RDMA over TCP): loss and repair are TCP's; see tcp.analysis in Wireshark.".to_owned();
    }
    "Capture where RoCE passes: a mirror port or TAP, or the NIC's RDMA sniffer; hardware RoCE bypasses the host's network \
     stack, so that tcpdump on the host does not see it. If RoCE v2 uses another UDP port, name it with --udp-port."
        .to_owned()
}
