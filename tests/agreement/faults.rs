//! What tshark 4.0 is known to get wrong: the only differences there may be.

use super::fields::{Datum, at};
use serde_json::Value;

/// A known fault.
pub(crate) struct Fault {
    /// Name, for messages.
    pub(crate) name: &'static str,
    /// Fields of tshark it shows in; a name that ends in a dot stands for all that begin with it.
    pub(crate) fields: &'static [&'static str],
    /// Whether it explains a difference: our frame, our value, tshark's.
    pub(crate) shows: fn(&Value, Datum, Datum) -> bool,
}

impl Fault {
    /// It explains this difference.
    pub(crate) fn explains(&self, field: &str, frame: &Value, ours: Datum, theirs: Datum) -> bool {
        let named = |name: &&str| field == *name || name.ends_with('.') && field.starts_with(*name);
        self.fields.iter().any(named) && (self.shows)(frame, ours, theirs)
    }
}

/// Name of the opcode.
fn opcode(frame: &Value) -> &str {
    frame["opcode"].as_str().unwrap_or_default()
}

/// The opcode is one of RD, or reserved among them.
fn is_rd(frame: &Value) -> bool {
    at(frame, "/opcode_value").is_some_and(|opcode| opcode & 0xe0 == 0x40)
}

/// All fields behind the BTH but those of management datagrams.
const BEHIND_BTH: &[&str] = &[
    "_ws.col.Info",
    "data.len",
    "infiniband.aeth.",
    "infiniband.atomicacketh.",
    "infiniband.atomiceth.",
    "infiniband.deth.",
    "infiniband.ieth",
    "infiniband.immdt",
    "infiniband.invariant.crc",
    "infiniband.rdeth.",
    "infiniband.reth.",
];

/// All of them.
pub(crate) const FAULTS: &[Fault] = &[
    Fault {
        // The pad is not taken off the payload.
        name: "pad-in-payload",
        fields: &["data.len"],
        shows: |frame, ours, theirs| {
            let pad = at(frame, "/pad").filter(|pad| *pad > 0);
            pad.zip(ours)
                .is_some_and(|(pad, octets)| theirs == Some(octets + pad))
        },
    },
    Fault {
        // A payload whose first octets could be an ethertype is dissected as that protocol.
        name: "payload-as-ethernet",
        fields: &["data.len"],
        shows: |frame, _, theirs| {
            frame["cut"] == false && opcode(frame) == "RC_SEND_ONLY" && theirs.is_none()
        },
    },
    Fault {
        // A RoCE v2 frame that the capture cut is called malformed, with a word on the LRH it does not have; its
        // payload is not shown, and of a MAD nothing is read.
        name: "cut-is-malformed",
        fields: &[
            "_ws.col.Info",
            "data.len",
            "infiniband.mad.",
            "infiniband.cm.",
        ],
        shows: |frame, ours, theirs| {
            frame["cut"] == true
                && if ours.is_none() {
                    theirs == Some(1)
                } else {
                    theirs.is_none()
                }
        },
    },
    Fault {
        // CNP: 0x80 stands in the table in place of 0x81, so that it is an unknown opcode without payload and ICRC.
        name: "cnp",
        fields: &["infiniband.invariant.crc", "data.len"],
        shows: |frame, _, theirs| opcode(frame) == "CNP" && theirs.is_none(),
    },
    Fault {
        // XRC: only the opcode's name is known; no XRCETH, nor any header behind it, is read.
        name: "xrc",
        fields: BEHIND_BTH,
        shows: |frame, _, theirs| opcode(frame).starts_with("XRC_") && theirs.is_none(),
    },
    Fault {
        // RD: all of 0x40 to 0x5F is read as NVIDIA's DC, with 8 more octets of BTH.
        name: "rd-is-dc",
        fields: BEHIND_BTH,
        shows: |frame, _, _| is_rd(frame),
    },
    Fault {
        // And what is reserved there is called malformed as it should be, but without its BTH.
        name: "reserved-rd",
        fields: &["infiniband.bth.", "infiniband.reserved"],
        shows: |frame, _, theirs| {
            is_rd(frame) && opcode(frame).starts_with("UNKNOWN_") && theirs.is_none()
        },
    },
    Fault {
        // FLUSH and ATOMIC WRITE are newer than its table.
        name: "new-opcodes",
        fields: &["infiniband.reth.", "infiniband.invariant.crc", "data.len"],
        shows: |frame, _, theirs| {
            matches!(opcode(frame), "RC_FLUSH" | "RC_ATOMIC_WRITE") && theirs.is_none()
        },
    },
    Fault {
        // An opcode that does not exist is not called malformed; what follows the BTH, the ICRC with it, is not read.
        name: "unknown-opcode",
        fields: &["_ws.col.Info", "infiniband.invariant.crc", "data.len"],
        shows: |frame, _, theirs| opcode(frame).starts_with("UNKNOWN_") && theirs.is_none(),
    },
    Fault {
        // Lengths and the version are not checked: the AETH of a packet too short for one is read out of its ICRC, and
        // a packet with one of these faults is not called malformed, or loses its ICRC.
        name: "length-unchecked",
        fields: &[
            "_ws.col.Info",
            "infiniband.aeth.",
            "infiniband.invariant.crc",
        ],
        shows: |frame, ours, theirs| {
            frame.get("fault").is_some() && (ours.is_none() || theirs.is_none())
        },
    },
    Fault {
        // UDP with fewer octets than a BTH is called malformed InfiniBand; to us it is no packet of the transport.
        name: "no-bth",
        fields: &["_ws.col.Info"],
        shows: |frame, _, _| frame.is_null(),
    },
    Fault {
        // REQ: the flow label is cut to its upper 12 bits, and the packet rate read out of it.
        name: "req-flow-label",
        fields: &[
            "infiniband.cm.req.prim_flowlabel",
            "infiniband.cm.req.alt_flowlabel",
        ],
        shows: |_, ours, theirs| ours.is_some_and(|label| theirs == Some(label >> 8)),
    },
    Fault {
        // As before.
        name: "req-packet-rate",
        fields: &[
            "infiniband.cm.req.prim_pktrate",
            "infiniband.cm.req.alt_pktrate",
        ],
        shows: |frame, _, theirs| {
            let paths = [
                "/cm/primary_path/flow_label",
                "/cm/alternate_path/flow_label",
            ];
            paths
                .iter()
                .any(|path| at(frame, path).map(|label| label >> 12 & 0x3f) == theirs)
        },
    },
    Fault {
        // MRA, SIDR REQ, SIDR REP, LAP and APR are named, not read.
        name: "cm-messages",
        fields: &["infiniband.cm."],
        shows: |frame, _, theirs| {
            let message = frame["cm"]["message"].as_str().unwrap_or_default();
            matches!(message, "MRA" | "SIDR_REQ" | "SIDR_REP" | "LAP" | "APR") && theirs.is_none()
        },
    },
];
