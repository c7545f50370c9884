//! `--frames`: one JSON object for each packet of the transport (`rocescope.frame/1`), written when its class is settled.

use rocescope_core::encap::Carrier;
use rocescope_core::partition::{Class, PacketInput, Verdict};
use rocescope_core::report::FrameRef;
use rocescope_wire::{CmMessage, Psn, Qpn, TransportPacket};
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Name of this contract.
const SCHEMA: &str = "rocescope.frame/1";

/// One packet and what it was taken for.
pub(super) struct Classified {
    frame: FrameRef,
    class: Option<&'static str>,
    row: Map<String, Value>,
}

impl Classified {
    pub(super) fn new(
        input: &PacketInput<'_>,
        verdict: Verdict,
        findings: &[&'static str],
    ) -> Self {
        let mut row = decoded(input);
        row.insert("findings".to_owned(), json!(findings));
        Self {
            frame: input.frame,
            class: class_of(verdict),
            row,
        }
    }
}

/// The word for a verdict; nothing while it is open.
fn class_of(verdict: Verdict) -> Option<&'static str> {
    Some(match verdict {
        Verdict::Undecodable => "undecodable",
        Verdict::SecondSighting => "second-sighting",
        Verdict::Damaged => "damaged",
        Verdict::Malformed => "malformed",
        Verdict::Request(class) => return request_class(class),
        Verdict::Answer => "answer",
        Verdict::AnswerCopy => "mirror-duplicate",
        Verdict::Other => "other",
    })
}

fn request_class(class: Class) -> Option<&'static str> {
    match class {
        Class::New => Some("new"),
        Class::Copy => Some("mirror-duplicate"),
        Class::Late => Some("reordered"),
        Class::Retransmission => Some("retransmission"),
        Class::Undecided => None,
    }
}

/// Where the lines go, and those that wait for an earlier one to be settled.
pub(super) struct Lines {
    out: BufWriter<Box<dyn Write>>,
    waiting: VecDeque<Classified>,
}

impl Lines {
    /// Opens `path`; `-` is standard output.
    ///
    /// # Errors
    /// Where the file cannot be made.
    pub(super) fn create(path: &Path) -> anyhow::Result<Self> {
        use anyhow::Context;
        let out: Box<dyn Write> = if path == Path::new("-") {
            Box::new(io::stdout())
        } else {
            Box::new(File::create(path).with_context(|| format!("--frames {}", path.display()))?)
        };
        Ok(Self {
            out: BufWriter::new(out),
            waiting: VecDeque::new(),
        })
    }

    /// Takes in packets and late decisions; writes all that are settled, in the order of the input.
    pub(super) fn write(
        &mut self,
        packets: impl Iterator<Item = Classified>,
        decided: impl Iterator<Item = (FrameRef, Class)>,
    ) -> io::Result<()> {
        self.waiting.extend(packets);
        for (frame, class) in decided {
            if let Some(own) = self.waiting.iter_mut().find(|own| own.frame == frame) {
                own.class = request_class(class);
            }
        }
        while let Some(first) = self.waiting.pop_front_if(|own| own.class.is_some()) {
            self.line(first)?;
        }
        Ok(())
    }

    fn line(&mut self, mut packet: Classified) -> io::Result<()> {
        packet.row.insert(
            "class".to_owned(),
            json!(packet.class.unwrap_or("undecided")),
        );
        serde_json::to_writer(&mut self.out, &packet.row)?;
        self.out.write_all(b"\n")
    }

    /// The end: whatever still waits is written.
    pub(super) fn finish(mut self) -> io::Result<()> {
        while let Some(packet) = self.waiting.pop_front() {
            self.line(packet)?;
        }
        self.out.flush()
    }
}

/// All fields of a packet.
fn decoded(input: &PacketInput<'_>) -> Map<String, Value> {
    let located = input.located;
    let mut row = Map::new();
    let mut set = |name: &str, value: Value| {
        row.insert(name.to_owned(), value);
    };
    set("schema", json!(SCHEMA));
    set("source", json!(input.frame.source));
    set("frame", json!(input.frame.frame));
    set("time", json!(input.at.0));
    set("src", json!(located.src));
    set("dst", json!(located.dst));
    set("udp_source_port", json!(located.udp_source_port));
    set(
        "carrier",
        json!(match located.carrier {
            Carrier::RoceV1 => "roce-v1",
            Carrier::RoceV2Ipv4 | Carrier::RoceV2Ipv6 => "roce-v2",
        }),
    );
    set("length", json!(located.wire_len));
    let Some(packet) = TransportPacket::decode(located.transport, located.wire_len as usize) else {
        return row;
    };
    let bth = packet.bth;
    set(
        "stream",
        json!(format!(
            "{}>{} {:#x}",
            located.src,
            located.dst,
            packet.dest_qpn().get()
        )),
    );
    set(
        "opcode",
        json!(packet.info.map_or_else(
            || format!("UNKNOWN_{:#04x}", packet.opcode().0),
            |info| info.name.to_owned()
        )),
    );
    set("opcode_value", json!(packet.opcode().0));
    set("dest_qpn", json!(packet.dest_qpn().get()));
    set("psn", json!(packet.psn().get()));
    set("ack_req", json!(bth.ack_req()));
    set("solicited", json!(bth.solicited()));
    set("migreq", json!(bth.migreq()));
    set("pad", json!(bth.pad_count()));
    set("tver", json!(bth.tver()));
    set("pkey", json!(bth.pkey()));
    set("payload", json!(packet.payload_len()));
    if let Some(fault) = packet.fault() {
        set("fault", json!(fault.to_string()));
    }
    for (name, value) in extended(&packet) {
        set(name, value);
    }
    if let Some(message) = packet.mad().and_then(CmMessage::decode) {
        set("cm", connection_management(&message));
    }
    row
}

/// The extended headers that were captured.
fn extended(packet: &TransportPacket<'_>) -> Vec<(&'static str, Value)> {
    let headers = [
        packet.reth().map(|reth| ("reth", json!({ "va": reth.va(), "rkey": reth.rkey(), "dma_len": reth.dma_len() }))),
        packet.aeth().map(|aeth| ("aeth", json!({ "syndrome": aeth.syndrome(), "msn": aeth.msn().0 }))),
        packet.atomic_eth().map(|atomic| {
            let fields = json!({ "va": atomic.va(), "rkey": atomic.rkey(), "swap_or_add": atomic.swap_or_add(), "compare": atomic.compare() });
            ("atomic_eth", fields)
        }),
        packet.atomic_ack_eth().map(|atomic| ("atomic_ack_eth", json!({ "original": atomic.original() }))),
        packet.imm_dt().map(|imm| ("imm_dt", json!(imm.value()))),
        packet.ieth().map(|ieth| ("ieth", json!({ "rkey": ieth.rkey() }))),
        packet.deth().map(|deth| ("deth", json!({ "qkey": deth.qkey(), "src_qpn": deth.src_qpn().get() }))),
        packet.xrceth().map(|xrceth| ("xrceth", json!({ "srq": xrceth.srq() }))),
    ];
    headers.into_iter().flatten().collect()
}

/// The fields of a CM message that name a connection.
fn connection_management(message: &CmMessage<'_>) -> Value {
    let mut fields = json!({
        "message": message.name(),
        "local_comm_id": message.local_comm_id(),
        "remote_comm_id": message.remote_comm_id(),
    });
    let more = match message {
        CmMessage::Req(req) => json!({
            "service_id": req.service_id().map(|service| service.0),
            "qpn": req.qpn().map(Qpn::get),
            "psn": req.starting_psn().map(Psn::get),
            "qkey": req.qkey(),
            "retry_count": req.retry_count(),
            "rnr_retry_count": req.rnr_retry_count(),
            "path_mtu": req.path_mtu(),
            "responder_resources": req.responder_resources(),
            "initiator_depth": req.initiator_depth(),
            "pkey": req.pkey(),
            "ack_timeout": req.primary_path().map(|path| path.ack_timeout),
        }),
        CmMessage::Rep(rep) => json!({
            "qpn": rep.qpn().map(Qpn::get),
            "psn": rep.starting_psn().map(Psn::get),
            "rnr_retry_count": rep.rnr_retry_count(),
        }),
        CmMessage::Rej(rej) => json!({ "reason": rej.reason().map(|reason| reason.0) }),
        CmMessage::Dreq(dreq) => json!({ "remote_qpn": dreq.remote_qpn().map(Qpn::get) }),
        _ => json!({}),
    };
    if let (Value::Object(fields), Value::Object(more)) = (&mut fields, more) {
        fields.extend(more);
    }
    fields
}
