//! Words and sums that several findings share.

use super::View;
use crate::event::Repair;
use crate::figure::{counted, duration, qp_pair};
use crate::report::Finding;

/// Whom it is about, in full: `QP 0x11 -> 0x12 (192.0.2.1 -> 192.0.2.2, UDP source port 50321, DSCP 26)`.
pub(super) fn whom(view: &View<'_>) -> String {
    let (src, dst, dest_qpn) = view.ends();
    let port = match view.udp_source_port() {
        0 => String::new(),
        port => format!(", UDP source port {port}"),
    };
    format!(
        "{} ({src} -> {dst}{port}, DSCP {})",
        qp_pair(view.src_qpn(), dest_qpn),
        view.dscp()
    )
}

/// The same as values of evidence.
pub(super) fn put_whom(finding: &mut Finding, view: &View<'_>) {
    let (_, _, dest_qpn) = view.ends();
    if let Some(src_qpn) = view.src_qpn() {
        finding.evidence.number("sender_qpn", src_qpn);
    }
    finding
        .evidence
        .number("receiver_qpn", dest_qpn)
        .number("udp_source_port", view.udp_source_port())
        .number("dscp", view.dscp());
    if let Some(psn) = view.last_acknowledged() {
        finding.evidence.number("last_acknowledged_psn", psn.get());
    }
}

/// What was acknowledged: `the last PSN acknowledged is 41`.
pub(super) fn acknowledged(view: &View<'_>) -> String {
    view.last_acknowledged().map_or_else(
        || "no PSN of it was ever acknowledged here".to_owned(),
        |psn| format!("the last PSN acknowledged is {}", psn.get()),
    )
}

/// Adds what a repair cost; packets and octets only where it `began` for the finding's reason, so that no packet counts
/// in two findings of a kind.
pub(super) fn add_cost(finding: &mut Finding, repair: &Repair, began: bool) {
    let recovery = &repair.recovery;
    finding.first_ns = finding.first_ns.min(recovery.start_ns);
    let evidence = &mut finding.evidence;
    evidence.add("repairs", 1);
    evidence.add("packets", if began { recovery.packets } else { 0 });
    evidence.add("bytes", if began { recovery.bytes } else { 0 });
    evidence.add("stalled_ns", recovery.stalled_ns);
}

/// What [`add_cost`] added up: `812.400 ms stalled in 23 repairs`.
pub(super) fn cost(finding: &Finding) -> String {
    format!(
        "{} stalled in {}",
        duration(finding.evidence.count("stalled_ns")),
        counted(finding.evidence.count("repairs"), "repair", "repairs")
    )
}

/// What was sent again and what it cost: `563 packets sent again, 92.110 ms stalled in 17 repairs`. Repairs that began for
/// another reason have no packets here.
pub(super) fn sent_again(finding: &Finding) -> String {
    match finding.evidence.count("packets") {
        0 => cost(finding),
        packets => format!(
            "{} sent again, {}",
            counted(packets, "packet", "packets"),
            cost(finding)
        ),
    }
}

/// The places of losses: `: 3 packets lost ..., 1 packet damaged ...`.
pub(super) fn list(places: &[String]) -> String {
    if places.is_empty() {
        String::new()
    } else {
        format!(": {}", places.join(", "))
    }
}

/// Where frames are cut, damage looks like loss.
pub(super) fn or_damaged(view: &View<'_>) -> &'static str {
    if view.icrc_unverifiable() > 0 {
        ", or damaged: frames cut"
    } else {
        ""
    }
}
