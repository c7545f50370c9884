//! The fields both programs name, each under its name there and here.

use serde_json::Value;
use std::net::IpAddr;

/// A value either program gives: a number, a flag (0 or 1), or an address as its 128 bits.
pub(crate) type Datum = Option<u128>;

/// One field.
pub(crate) struct Field {
    /// Names tshark has for it; the first that is there counts.
    pub(crate) theirs: &'static [&'static str],
    /// How tshark writes it.
    pub(crate) written: Written,
    /// Ours, from a line of `--frames`.
    pub(crate) ours: fn(&Value) -> Datum,
}

/// How tshark writes a value in `-T fields`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    /// Decimal, hexadecimal behind `0x`, or `True` and `False`.
    Number,
    /// Octets in hexadecimal.
    Octets,
    /// An IP address.
    Address,
    /// The Info column: 1 where it says that the packet is malformed.
    Info,
}

impl Field {
    /// Reads what tshark wrote into the columns of this field.
    pub(crate) fn read(&self, columns: &[&str]) -> Datum {
        let text = *columns.iter().find(|column| !column.is_empty())?;
        let value = match self.written {
            Written::Number => number(text),
            Written::Octets => u128::from_str_radix(text, 16).ok(),
            Written::Address => text.parse().ok().map(address),
            Written::Info => return text.contains("[Malformed Packet").then_some(1),
        };
        Some(value.unwrap_or_else(|| panic!("{}: tshark wrote {text}", self.name())))
    }

    /// The name to speak of it.
    pub(crate) fn name(&self) -> &'static str {
        self.theirs[0]
    }
}

fn number(text: &str) -> Option<u128> {
    match text {
        "True" => Some(1),
        "False" => Some(0),
        _ => text.strip_prefix("0x").map_or_else(
            || text.parse().ok(),
            |hex| u128::from_str_radix(hex, 16).ok(),
        ),
    }
}

fn address(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

/// Our value at `pointer`.
pub(crate) fn at(frame: &Value, pointer: &str) -> Datum {
    match frame.pointer(pointer)? {
        Value::Bool(flag) => Some(u128::from(*flag)),
        Value::Number(number) => number.as_u64().map(u128::from),
        Value::String(text) => Some(address(text.parse().expect(pointer))),
        _ => None,
    }
}

/// The message of connection management, if it is this one.
fn cm(frame: &Value, message: &str, pointer: &str) -> Datum {
    let cm = frame.get("cm")?;
    (cm["message"] == message).then(|| at(cm, pointer))?
}

/// Declares fields: names of tshark, how it writes them, and ours.
macro_rules! fields {
    ($($($theirs:literal)|+ $written:ident = |$frame:ident| $ours:expr;)*) => {
        &[$(Field { theirs: &[$($theirs),+], written: Written::$written, ours: |$frame| $ours },)*]
    };
}

/// All fields that are compared.
pub(crate) const FIELDS: &[Field] = fields! {
    "infiniband.bth.opcode" Number = |f| at(f, "/opcode_value");
    "infiniband.bth.destqp" Number = |f| at(f, "/dest_qpn");
    "infiniband.bth.psn" Number = |f| at(f, "/psn");
    "infiniband.bth.a" Number = |f| at(f, "/ack_req");
    "infiniband.bth.p_key" Number = |f| at(f, "/pkey");
    "infiniband.bth.se" Number = |f| at(f, "/solicited");
    "infiniband.bth.m" Number = |f| at(f, "/migreq");
    "infiniband.bth.padcnt" Number = |f| at(f, "/pad");
    "infiniband.bth.tver" Number = |f| at(f, "/tver");
    // FECN and BECN are the upper two bits of the octet that tshark calls reserved.
    "infiniband.reserved" Octets = |f| Some(at(f, "/fecn")? << 7 | at(f, "/becn")? << 6);
    "infiniband.invariant.crc" Number = |f| at(f, "/icrc").map(|icrc| u128::from((icrc as u32).swap_bytes()));
    "data.len" Number = |f| match f.get("mad") {
        // A management datagram is not data to tshark.
        Some(_) => None,
        None => at(f, "/payload").filter(|octets| *octets > 0),
    };
    "_ws.col.Info" Info = |f| f.get("fault").map(|_| 1);

    "infiniband.rdeth.eecnxt" Number = |f| at(f, "/rdeth/ee_context");
    "infiniband.deth.q_key" Number = |f| at(f, "/deth/qkey");
    "infiniband.deth.srcqp" Number = |f| at(f, "/deth/src_qpn");
    "infiniband.reth.va" Number = |f| at(f, "/reth/va").or_else(|| at(f, "/atomic_eth/va"));
    "infiniband.reth.r_key" Number = |f| at(f, "/reth/rkey").or_else(|| at(f, "/atomic_eth/rkey"));
    "infiniband.reth.dmalen" Number = |f| at(f, "/reth/dma_len");
    "infiniband.atomiceth.swapdt" Number = |f| at(f, "/atomic_eth/swap_or_add");
    "infiniband.atomiceth.cmpdt" Number = |f| at(f, "/atomic_eth/compare");
    "infiniband.aeth.syndrome" Number = |f| at(f, "/aeth/syndrome");
    "infiniband.aeth.msn" Number = |f| at(f, "/aeth/msn");
    "infiniband.atomicacketh.origremdt" Number = |f| at(f, "/atomic_ack_eth/original");
    "infiniband.immdt" Octets = |f| at(f, "/imm_dt");
    "infiniband.ieth" Octets = |f| at(f, "/ieth/rkey");

    "infiniband.mad.mgmtclass" Number = |f| at(f, "/mad/class");
    "infiniband.mad.method" Number = |f| at(f, "/mad/method");
    "infiniband.mad.status" Number = |f| at(f, "/mad/status");
    "infiniband.mad.transactionid" Number = |f| at(f, "/mad/transaction_id");
    "infiniband.mad.attributeid" Number = |f| at(f, "/mad/attribute_id");
    "infiniband.mad.attributemodifier" Number = |f| at(f, "/mad/attribute_modifier");

    "infiniband.cm.req" | "infiniband.cm.rep" | "infiniband.cm.rtu.localcommid" | "infiniband.cm.rej.localcommid"
        | "infiniband.cm.dreq.localcommid" | "infiniband.cm.drsp.localcommid" Number = |f| at(f, "/cm/local_comm_id");
    "infiniband.cm.rep.remotecommid" | "infiniband.cm.rtu.remotecommid" | "infiniband.cm.rej.remotecommid"
        | "infiniband.cm.dreq.remotecommid" | "infiniband.cm.drsp.remotecommid" Number = |f| at(f, "/cm/remote_comm_id");
    "infiniband.cm.req.serviceid.protocol" Number = |f| Some(service_of_port(f)? >> 16 & 0xff);
    "infiniband.cm.req.serviceid.dport" Number = |f| Some(service_of_port(f)? & 0xffff);
    "infiniband.cm.req.serviceid" Number = |f| cm(f, "REQ", "/service_id");
    "infiniband.cm.req.localcaguid" Number = |f| cm(f, "REQ", "/ca_guid");
    "infiniband.cm.req.localqkey" Number = |f| cm(f, "REQ", "/qkey");
    "infiniband.cm.req.localqpn" Number = |f| cm(f, "REQ", "/qpn");
    "infiniband.cm.req.responderres" Number = |f| cm(f, "REQ", "/responder_resources");
    "infiniband.cm.req.initdepth" Number = |f| cm(f, "REQ", "/initiator_depth");
    "infiniband.cm.req.remoteresptout" Number = |f| cm(f, "REQ", "/remote_cm_response_timeout");
    "infiniband.cm.req.transpsvctype" Number = |f| service_type(f);
    "infiniband.cm.req.e2eflowctrl" Number = |f| cm(f, "REQ", "/flow_control");
    "infiniband.cm.req.startpsn" Number = |f| cm(f, "REQ", "/psn");
    "infiniband.cm.req.localresptout" Number = |f| cm(f, "REQ", "/local_cm_response_timeout");
    "infiniband.cm.req.retrcount" Number = |f| cm(f, "REQ", "/retry_count");
    "infiniband.cm.req.pkey" Number = |f| cm(f, "REQ", "/pkey");
    "infiniband.cm.req.pppmtu" Number = |f| cm(f, "REQ", "/path_mtu").map(|mtu| u128::from((mtu / 128).ilog2()));
    "infiniband.cm.req.rnrretrcount" Number = |f| cm(f, "REQ", "/rnr_retry_count");
    "infiniband.cm.req.maxcmretr" Number = |f| cm(f, "REQ", "/max_cm_retries");
    "infiniband.cm.req.srq" Number = |f| cm(f, "REQ", "/srq");
    "infiniband.cm.req.prim_locallid" Number = |f| cm(f, "REQ", "/primary_path/local_lid");
    "infiniband.cm.req.prim_remotelid" Number = |f| cm(f, "REQ", "/primary_path/remote_lid");
    "infiniband.cm.req.prim_localgid" | "infiniband.cm.req.prim_localgid_ipv4" Address
        = |f| cm(f, "REQ", "/primary_path/local_gid");
    "infiniband.cm.req.prim_remotegid" | "infiniband.cm.req.prim_remotegid_ipv4" Address
        = |f| cm(f, "REQ", "/primary_path/remote_gid");
    "infiniband.cm.req.prim_flowlabel" Number = |f| cm(f, "REQ", "/primary_path/flow_label");
    "infiniband.cm.req.prim_pktrate" Number = |f| cm(f, "REQ", "/primary_path/packet_rate");
    "infiniband.cm.req.prim_tfcclass" Number = |f| cm(f, "REQ", "/primary_path/traffic_class");
    "infiniband.cm.req.prim_hoplim" Number = |f| cm(f, "REQ", "/primary_path/hop_limit");
    "infiniband.cm.req.prim_sl" Number = |f| cm(f, "REQ", "/primary_path/service_level");
    "infiniband.cm.req.prim_subnetlocal" Number = |f| cm(f, "REQ", "/primary_path/subnet_local");
    "infiniband.cm.req.prim_localacktout" Number = |f| cm(f, "REQ", "/primary_path/ack_timeout");
    "infiniband.cm.req.alt_locallid" Number = |f| cm(f, "REQ", "/alternate_path/local_lid");
    "infiniband.cm.req.alt_remotelid" Number = |f| cm(f, "REQ", "/alternate_path/remote_lid");
    "infiniband.cm.req.alt_localgid" Octets = |f| cm(f, "REQ", "/alternate_path/local_gid");
    "infiniband.cm.req.alt_remotegid" Octets = |f| cm(f, "REQ", "/alternate_path/remote_gid");
    "infiniband.cm.req.alt_flowlabel" Number = |f| cm(f, "REQ", "/alternate_path/flow_label");
    "infiniband.cm.req.alt_pktrate" Number = |f| cm(f, "REQ", "/alternate_path/packet_rate");
    "infiniband.cm.req.alt_tfcclass" Number = |f| cm(f, "REQ", "/alternate_path/traffic_class");
    "infiniband.cm.req.alt_hoplim" Number = |f| cm(f, "REQ", "/alternate_path/hop_limit");
    "infiniband.cm.req.alt_sl" Number = |f| cm(f, "REQ", "/alternate_path/service_level");
    "infiniband.cm.req.alt_subnetlocal" Number = |f| cm(f, "REQ", "/alternate_path/subnet_local");
    "infiniband.cm.req.alt_localacktout" Number = |f| cm(f, "REQ", "/alternate_path/ack_timeout");
    "infiniband.cm.req.ip_cm.ipv" Number = |f| cm(f, "REQ", "/ip_cm/ip_version");
    "infiniband.cm.req.ip_cm.sport" Number = |f| cm(f, "REQ", "/ip_cm/source_port");
    "infiniband.cm.req.ip_cm.sip6" | "infiniband.cm.req.ip_cm.sip4" Address = |f| cm(f, "REQ", "/ip_cm/source");
    "infiniband.cm.req.ip_cm.dip6" | "infiniband.cm.req.ip_cm.dip4" Address = |f| cm(f, "REQ", "/ip_cm/destination");

    "infiniband.cm.rep.localqkey" Number = |f| cm(f, "REP", "/qkey");
    "infiniband.cm.rep.localqpn" Number = |f| cm(f, "REP", "/qpn");
    "infiniband.cm.rep.startpsn" Number = |f| cm(f, "REP", "/psn");
    "infiniband.cm.rep.respres" Number = |f| cm(f, "REP", "/responder_resources");
    "infiniband.cm.rep.initdepth" Number = |f| cm(f, "REP", "/initiator_depth");
    "infiniband.cm.rep.tgtackdelay" Number = |f| cm(f, "REP", "/target_ack_delay");
    "infiniband.cm.rep.failoveracc" Number = |f| cm(f, "REP", "/failover");
    "infiniband.cm.rep.e2eflowctrl" Number = |f| cm(f, "REP", "/flow_control");
    "infiniband.cm.rep.rnrretrcount" Number = |f| cm(f, "REP", "/rnr_retry_count");
    "infiniband.cm.rep.srq" Number = |f| cm(f, "REP", "/srq");
    "infiniband.cm.rep.localcaguid" Number = |f| cm(f, "REP", "/ca_guid");

    "infiniband.cm.rej.msgrej" Number = |f| cm(f, "REJ", "/rejected");
    "infiniband.cm.rej.rejinfolen" Number = |f| cm(f, "REJ", "/info_len");
    "infiniband.cm.rej.reason" Number = |f| cm(f, "REJ", "/reason");
    "infiniband.cm.req.remoteqpneecn" Number = |f| cm(f, "DREQ", "/remote_qpn");
};

/// The service id of a REQ, where RDMA-CM made it of a port.
fn service_of_port(frame: &Value) -> Datum {
    cm(frame, "REQ", "/service_id").filter(|id| id >> 24 == 1)
}

/// The transport service of a REQ as its two bits.
fn service_type(frame: &Value) -> Datum {
    let cm = frame.get("cm").filter(|cm| cm["message"] == "REQ")?;
    match cm["service_type"].as_str()? {
        "RC" => Some(0),
        "UC" => Some(1),
        "RD" => Some(2),
        _ => Some(3),
    }
}
