//! Octets of a packet: whatever they are, everything can be asked of them, and no length exceeds what is there.

use rocescope_wire::icrc::{self, Carrier};
use rocescope_wire::{CmMessage, RdOrDc, TransportPacket};

/// Two octets of length on the wire, then a packet of the transport, which is also taken for its own network header.
pub fn frame_decode(octets: &[u8]) {
    let Some((length, octets)) = octets.split_first_chunk() else {
        return;
    };
    let wire_len = usize::from(u16::from_be_bytes(*length));
    for reading in [RdOrDc::Rd, RdOrDc::Dc] {
        if let Some(packet) = TransportPacket::decode_as(octets, wire_len, reading) {
            look_at(&packet);
        }
    }
    if let Some((network, transport)) = octets.split_at_checked(48) {
        for carrier in [Carrier::Ipv4, Carrier::Ipv6, Carrier::Grh] {
            let _ = icrc::check(carrier, network, transport);
            let _ = icrc::hint(carrier, network, transport);
        }
    }
}

fn look_at(packet: &TransportPacket<'_>) {
    assert!(packet.octets().len() <= packet.wire_len());
    assert!(packet.payload().len() <= packet.payload_len());
    assert!(packet.payload_len() <= packet.wire_len());
    if let Some(info) = packet.info {
        assert_eq!(info.code, packet.opcode().0);
    }
    let _ = (packet.reth(), packet.aeth().map(rocescope_wire::Aeth::kind));
    let _ = (packet.atomic_eth(), packet.atomic_ack_eth());
    let _ = (
        packet.imm_dt(),
        packet.ieth(),
        packet.deth(),
        packet.rdeth(),
    );
    let _ = (packet.xrceth(), packet.feth(), packet.dceth());
    let _ = (packet.icrc(), packet.fault(), format!("{packet:?}"));
    if let Some(message) = packet.mad().and_then(CmMessage::decode) {
        assert!(message.private_data().len() < packet.octets().len());
        let _ = (message.local_comm_id(), message.remote_comm_id());
        let _ = format!("{message:?}");
        if let CmMessage::Req(request) = message {
            let _ = (request.service_type(), request.path_mtu());
            let _ = request
                .ip_cm()
                .map(|ip| (ip.source(), ip.destination(), ip.source_port()));
        }
    }
}
