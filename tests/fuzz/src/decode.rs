//! Octets of a frame: whatever they are, everything can be asked of them, and no length exceeds what is there.

use rocescope_core::encap::{self, Carrier, Decoded, LinkType, Located, Ports};
use rocescope_wire::{CmMessage, RdOrDc, TransportPacket, icrc};

const LINKS: [LinkType; 8] = [
    LinkType::ETHERNET,
    LinkType::RAW,
    LinkType::NULL,
    LinkType::LOOP,
    LinkType::LINUX_SLL,
    LinkType::LINUX_SLL2,
    LinkType::IPV4,
    LinkType::IPV6,
];

/// One octet of link type, one of how many octets the capture cut off, then a frame.
pub fn frame_decode(octets: &[u8]) {
    let [link, cut, frame @ ..] = octets else {
        return;
    };
    let link = LINKS[usize::from(*link) % LINKS.len()];
    let wire_len = frame.len() as u32 + u32::from(*cut);
    match encap::locate(link, frame, wire_len, &Ports::default()).decoded {
        Decoded::Roce(located) => roce(&located, wire_len),
        Decoded::MacControl { octets, .. } | Decoded::Lldp { octets, .. } => {
            assert!(octets.len() <= frame.len());
        }
        Decoded::UnknownLinkType => panic!("{link:?} is known"),
        _ => {}
    }
}

fn roce(located: &Located<'_>, frame_wire_len: u32) {
    let Located {
        transport,
        network,
        wire_len,
        ..
    } = *located;
    assert!(transport.len() >= 12, "a whole BTH");
    assert!(transport.len() as u32 <= wire_len);
    assert!(network.ends_with(transport));
    assert!(transport.len() as u32 <= frame_wire_len);
    let carrier = match located.carrier {
        Carrier::RoceV1 => icrc::Carrier::Grh,
        Carrier::RoceV2Ipv4 => icrc::Carrier::Ipv4,
        Carrier::RoceV2Ipv6 => icrc::Carrier::Ipv6,
    };
    let _ = icrc::check(carrier, network, transport);
    let _ = icrc::hint(carrier, network, transport);
    for reading in [RdOrDc::Rd, RdOrDc::Dc] {
        let packet = TransportPacket::decode_as(transport, wire_len as usize, reading);
        look_at(&packet.expect("a BTH is there"));
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
