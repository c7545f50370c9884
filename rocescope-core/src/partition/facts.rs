//! What the analysis needs of a packet.

use super::PacketInput;
use crate::encap::Located;
use crate::flow::stream::{Icrc, PacketFacts};
use rocescope_wire::{Opcode, Reth, TransportPacket};

/// What the analysis needs of a packet.
#[inline]
pub(super) fn facts_of(
    input: &PacketInput<'_>,
    packet: &TransportPacket<'_>,
    icrc: Icrc,
) -> PacketFacts {
    let located = input.located;
    PacketFacts {
        at: input.at,
        frame: input.frame,
        port: input.port,
        opcode: packet.opcode(),
        info: packet
            .info
            .or_else(|| Opcode::CNP.info())
            .expect("the table knows CNP"),
        psn: packet.psn(),
        ack_req: packet.bth.ack_req(),
        migreq: packet.bth.migreq(),
        signature: signature_of(packet),
        path: path_of(located),
        ip_id: located.ip_id,
        transport_len: located.wire_len,
        wire_len: input.wire_len,
        payload_len: packet.payload_len() as u32,
        dma_len: packet.reth().map(Reth::dma_len),
        ecn: located.traffic_class & 3,
        dscp: located.traffic_class >> 2,
        pcp: located.vlan.map(|vlan| vlan.pcp),
        vlan: located.vlan.map(|vlan| vlan.vid),
        udp_source_port: located.udp_source_port,
        icrc,
    }
}

/// Whether the checksum of an IPv4 header is wrong. None was computed yet where it is zero.
pub(super) fn ip_header_is_damaged(located: &Located<'_>) -> bool {
    let octets = located.network;
    let header_len = octets
        .first()
        .map_or(0, |first| usize::from(first & 15) * 4);
    let Some(header) = octets.get(..header_len).filter(|_| located.ip_id.is_some()) else {
        return false;
    };
    let words = header
        .chunks_exact(2)
        .map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])));
    let sum: u32 = words.sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    let folded = (folded & 0xffff) + (folded >> 16);
    header.get(10..12) != Some(&[0, 0]) && folded != 0xffff
}

/// The ICRC; of a cut frame a checksum of what was captured, without the octet that routers may change.
#[inline]
fn signature_of(packet: &TransportPacket<'_>) -> u32 {
    if let Some(icrc) = packet.icrc() {
        return icrc;
    }
    let octets = packet.octets();
    let mut crc = crc32fast::Hasher::new();
    crc.update(octets.get(..4).unwrap_or_default());
    crc.update(octets.get(5..).unwrap_or_default());
    crc.finalize()
}

/// TTL, MAC addresses and VLAN: they differ between two points of the network.
#[inline]
fn path_of(located: &Located<'_>) -> u32 {
    let [a, b, c, d, e, f, g, h, i, j, k, l] = located.macs;
    let macs = u32::from_ne_bytes([a, b, c, d])
        ^ u32::from_ne_bytes([e, f, g, h]).rotate_left(11)
        ^ u32::from_ne_bytes([i, j, k, l]).rotate_left(22);
    let vlan = located.vlan.map_or(0, |vlan| u32::from(vlan.vid) << 8);
    macs ^ (vlan | u32::from(located.hop_limit)).wrapping_mul(0x9e37_79b1)
}
