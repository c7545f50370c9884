//! What stands in the headers of a packet, under the names of `rocescope.frame/1`.

use rocescope_core::encap::Carrier;
use rocescope_core::partition::PacketInput;
use rocescope_wire::cm::{Path, Rep, Req, ServiceType};
use rocescope_wire::{CmMessage, MadHeader, Psn, Qpn, RdOrDc, TransportPacket};
use serde_json::{Map, Value, json};
use std::net::Ipv6Addr;

/// Name of this contract.
const SCHEMA: &str = "rocescope.frame/1";

/// All fields of a packet.
pub(super) fn of(input: &PacketInput<'_>, read_0x40_as: RdOrDc) -> Map<String, Value> {
    let located = input.located;
    let mut row = fields(json!({
        "schema": SCHEMA,
        "source": input.frame.source,
        "frame": input.frame.frame,
        "time": input.at.0,
        "src": located.src,
        "dst": located.dst,
        "udp_source_port": located.udp_source_port,
        "carrier": match located.carrier {
            Carrier::RoceV1 => "roce-v1",
            Carrier::RoceV2Ipv4 | Carrier::RoceV2Ipv6 => "roce-v2",
        },
        "length": located.wire_len,
    }));
    let wire_len = located.wire_len as usize;
    let Some(packet) = TransportPacket::decode_as(located.transport, wire_len, read_0x40_as) else {
        return row;
    };
    let qpn = packet.dest_qpn().get();
    let stream = format!("{}>{} {qpn:#x}", located.src, located.dst);
    row.insert("stream".to_owned(), json!(stream));
    row.append(&mut base(&packet));
    row.extend(
        extended(&packet)
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value)),
    );
    if let Some(header) = packet.mad_header() {
        row.insert("mad".to_owned(), management(header));
    }
    if let Some(message) = packet.mad().and_then(CmMessage::decode) {
        row.insert("cm".to_owned(), connection_management(&message));
    }
    row
}

/// The members of an object.
fn fields(object: Value) -> Map<String, Value> {
    match object {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// The base transport header, and what there is of the packet behind its headers.
fn base(packet: &TransportPacket<'_>) -> Map<String, Value> {
    let (bth, opcode) = (packet.bth, packet.opcode().0);
    let name = packet.info.map_or_else(
        || format!("UNKNOWN_{opcode:#04x}"),
        |info| info.name.to_owned(),
    );
    let mut row = fields(json!({
        "opcode": name,
        "opcode_value": opcode,
        "dest_qpn": packet.dest_qpn().get(),
        "psn": packet.psn().get(),
        "ack_req": bth.ack_req(),
        "solicited": bth.solicited(),
        "migreq": bth.migreq(),
        "pad": bth.pad_count(),
        "tver": bth.tver(),
        "pkey": bth.pkey(),
        "fecn": bth.fecn(),
        "becn": bth.becn(),
        "payload": packet.payload_len(),
        "cut": packet.is_cut(),
    }));
    if let Some(fault) = packet.fault() {
        row.insert("fault".to_owned(), json!(fault.to_string()));
    }
    if let Some(icrc) = packet.icrc() {
        row.insert("icrc".to_owned(), json!(icrc));
    }
    row
}

/// The extended headers that were captured.
fn extended(packet: &TransportPacket<'_>) -> impl IntoIterator<Item = (&'static str, Value)> {
    let headers = [
        packet.rdeth().map(|rdeth| ("rdeth", json!({ "ee_context": rdeth.ee_context() }))),
        packet.deth().map(|deth| ("deth", json!({ "qkey": deth.qkey(), "src_qpn": deth.src_qpn().get() }))),
        packet.xrceth().map(|xrceth| ("xrceth", json!({ "srq": xrceth.srq() }))),
        packet.feth().map(|feth| ("feth", json!({ "placement": feth.placement(), "selectivity": feth.selectivity() }))),
        packet.reth().map(|reth| ("reth", json!({ "va": reth.va(), "rkey": reth.rkey(), "dma_len": reth.dma_len() }))),
        packet.atomic_eth().map(|atomic| {
            let fields = json!({ "va": atomic.va(), "rkey": atomic.rkey(), "swap_or_add": atomic.swap_or_add(), "compare": atomic.compare() });
            ("atomic_eth", fields)
        }),
        packet.aeth().map(|aeth| ("aeth", json!({ "syndrome": aeth.syndrome(), "msn": aeth.msn().0 }))),
        packet.atomic_ack_eth().map(|atomic| ("atomic_ack_eth", json!({ "original": atomic.original() }))),
        packet.imm_dt().map(|imm| ("imm_dt", json!(imm.value()))),
        packet.ieth().map(|ieth| ("ieth", json!({ "rkey": ieth.rkey() }))),
    ];
    headers.into_iter().flatten()
}

/// The header of a management datagram.
fn management(header: &MadHeader) -> Value {
    json!({
        "class": header.class(),
        "method": header.method(),
        "status": header.status(),
        "transaction_id": header.transaction_id(),
        "attribute_id": header.attribute_id(),
        "attribute_modifier": header.attribute_modifier(),
    })
}

/// A message of connection management, without its private data.
fn connection_management(message: &CmMessage<'_>) -> Value {
    let mut row = fields(json!({
        "message": message.name(),
        "local_comm_id": message.local_comm_id(),
        "remote_comm_id": message.remote_comm_id(),
    }));
    row.append(&mut fields(match message {
        CmMessage::Req(req) => request(req),
        CmMessage::Rep(rep) => reply(rep),
        CmMessage::Rej(rej) => json!({
            "rejected": rej.message(),
            "info_len": rej.info_len(),
            "reason": rej.reason().map(|reason| reason.0),
        }),
        CmMessage::Mra(mra) => json!({
            "of": mra.message(),
            "service_timeout": mra.service_timeout(),
        }),
        CmMessage::Dreq(dreq) => json!({ "remote_qpn": dreq.remote_qpn().map(Qpn::get) }),
        CmMessage::SidrReq(request) => json!({
            "pkey": request.pkey(),
            "service_id": request.service_id().map(|service| service.0),
        }),
        CmMessage::SidrRep(reply) => json!({
            "status": reply.status(),
            "qpn": reply.qpn().map(Qpn::get),
            "service_id": reply.service_id().map(|service| service.0),
            "qkey": reply.qkey(),
        }),
        CmMessage::Lap(lap) => json!({
            "remote_qpn": lap.remote_qpn().map(Qpn::get),
            "alternate_path": lap.alternate_path().map(|way| path(&way)),
        }),
        CmMessage::Apr(apr) => json!({ "status": apr.status() }),
        CmMessage::Rtu(_) | CmMessage::Drep(_) => json!({}),
    }));
    Value::Object(row)
}

fn request(req: &Req<'_>) -> Value {
    let service_type = req.service_type().map(|service| match service {
        ServiceType::Rc => "RC".to_owned(),
        ServiceType::Uc => "UC".to_owned(),
        ServiceType::Rd => "RD".to_owned(),
        ServiceType::Xrc => "XRC".to_owned(),
        ServiceType::Other(other) => format!("EXTENDED_{other}"),
    });
    let ip_cm = req.ip_cm().map(|ip| {
        json!({
            "version": ip.version(),
            "ip_version": ip.ip_version(),
            "source_port": ip.source_port(),
            "source": ip.source(),
            "destination": ip.destination(),
        })
    });
    json!({
        "service_id": req.service_id().map(|service| service.0),
        "ca_guid": req.ca_guid(),
        "qkey": req.qkey(),
        "qpn": req.qpn().map(Qpn::get),
        "responder_resources": req.responder_resources(),
        "initiator_depth": req.initiator_depth(),
        "service_type": service_type,
        "flow_control": req.flow_control(),
        "psn": req.starting_psn().map(Psn::get),
        "remote_cm_response_timeout": req.remote_cm_response_timeout(),
        "local_cm_response_timeout": req.local_cm_response_timeout(),
        "retry_count": req.retry_count(),
        "rnr_retry_count": req.rnr_retry_count(),
        "max_cm_retries": req.max_cm_retries(),
        "pkey": req.pkey(),
        "path_mtu": req.path_mtu(),
        "srq": req.srq(),
        "primary_path": req.primary_path().map(|way| path(&way)),
        "alternate_path": req.alternate_path().map(|way| path(&way)),
        "ip_cm": ip_cm,
    })
}

fn reply(rep: &Rep<'_>) -> Value {
    json!({
        "qkey": rep.qkey(),
        "qpn": rep.qpn().map(Qpn::get),
        "psn": rep.starting_psn().map(Psn::get),
        "responder_resources": rep.responder_resources(),
        "initiator_depth": rep.initiator_depth(),
        "target_ack_delay": rep.target_ack_delay(),
        "failover": rep.failover(),
        "flow_control": rep.flow_control(),
        "rnr_retry_count": rep.rnr_retry_count(),
        "srq": rep.srq(),
        "ca_guid": rep.ca_guid(),
    })
}

fn path(path: &Path) -> Value {
    json!({
        "local_lid": path.local_lid,
        "remote_lid": path.remote_lid,
        "local_gid": Ipv6Addr::from(path.local_gid),
        "remote_gid": Ipv6Addr::from(path.remote_gid),
        "flow_label": path.flow_label,
        "packet_rate": path.packet_rate,
        "traffic_class": path.traffic_class,
        "hop_limit": path.hop_limit,
        "service_level": path.service_level,
        "subnet_local": path.subnet_local,
        "ack_timeout": path.ack_timeout,
    })
}
