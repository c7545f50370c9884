//! `length-mismatch`: a packet whose lengths contradict each other.

use super::{Family, FindingDoc, Findings, Scope, View};
use crate::event::{Event, EventKind};
use crate::figure::{count, counted};
use crate::report::Severity;
use crate::time::SECOND_NS;
use rocescope_wire::Fault;

/// What `length-mismatch` means.
pub static DOC: FindingDoc = FindingDoc {
    id: "length-mismatch",
    family: Family::Integrity,
    severity: Severity::Warning,
    scope: Scope::Stream,
    quiet_ns: 30 * SECOND_NS,
    thresholds: &[],
    meaning: "Packets carry lengths that their opcode does not allow: payload where there is none, too little, a wrong pad count, \
              or a DMA length that cannot be. A responder refuses them as invalid or drops them.",
    rule: "First and Middle carry exactly the path MTU, Last at least one octet, ATOMIC WRITE exactly 8, ACKs and READ requests \
           none; length from BTH to ICRC is a multiple of 4 with a pad count that fits; the DMA length is at most 2^31 and its \
           range does not pass the end of the address space. Lengths are those on the wire: a cut frame is not malformed. Payload \
           above the path MTU is pmtu-exceeded.",
    source: "IBTA Volume 1, 9.7.4 (validation of requests, length) and 9.2 (BTH, pad count); Linux rxe_resp.c, check_length, and \
             rxe_mr.c, mr_check_range.",
    causes: &[
        "a fault in the sender's NIC, driver or soft implementation",
        "two ends that disagree about the path MTU of the queue pair",
        "a device on the way that pads or cuts packets",
    ],
    what_to_do: &[
        "look at the frames named, and for a NAK (invalid request) after them",
        "compare the path MTU that both ends of the queue pair are set to",
        "report it to the vendor of the sender with the capture",
    ],
    when_wrong: "A path MTU learned from another packet of the stream may itself be wrong if that packet was.",
};

pub(super) fn on(event: &Event, _: &View<'_>, findings: &mut Findings<'_>) {
    let (name, what) = match &event.kind {
        EventKind::Length {
            payload,
            pmtu,
            exceeds: false,
        } => ("payload_packets", payload_text(*payload, *pmtu)),
        EventKind::AddressRange { va, dma_len } => {
            ("dma_length_packets", range_text(*va, *dma_len))
        }
        EventKind::Malformed(fault) if is_of_length(*fault) => {
            ("malformed_packets", fault.to_string())
        }
        _ => return,
    };
    findings.raise(&DOC, event.at, &[event.frame], |finding| {
        finding.count += 1;
        finding.evidence.add(name, 1);
        if finding.count == 1 {
            finding.evidence.text("first", what.clone());
        }
        finding.message = format!(
            "{}, the latest: {what}",
            counted(
                finding.count,
                "packet with a length that cannot be",
                "packets with a length that cannot be"
            )
        );
    });
}

fn payload_text(payload: u32, pmtu: u32) -> String {
    if pmtu == 0 {
        format!(
            "{} of payload in a First or Middle packet, which is no path MTU",
            counted(payload.into(), "octet", "octets")
        )
    } else {
        format!(
            "{} of payload in a First or Middle packet at a path MTU of {}",
            counted(payload.into(), "octet", "octets"),
            count(pmtu.into())
        )
    }
}

fn range_text(va: u64, dma_len: u32) -> String {
    if dma_len > 1 << 31 {
        return format!(
            "DMA length {}, at most 2^31 is allowed",
            count(dma_len.into())
        );
    }
    format!(
        "{} from address {va:#x} reach the end of the address space",
        counted(dma_len.into(), "octet", "octets")
    )
}

/// Not the opcodes and versions that nobody knows: these are counted in `totals.malformed`.
fn is_of_length(fault: Fault) -> bool {
    !matches!(fault, Fault::TransportVersion(_) | Fault::UnknownOpcode(_))
}
