//! What is fuzzed, one function a target. An ordinary test of the program runs the same functions over the seeds.

use rocescope_wire::TransportPacket;

/// Any octets as a packet of the transport: every header can be asked for, and no length exceeds what is there.
pub fn frame_decode(octets: &[u8]) {
    let Some((length, octets)) = octets.split_first_chunk() else { return };
    let wire_len = usize::from(u16::from_be_bytes(*length));
    if let Some(packet) = TransportPacket::decode(octets, wire_len) {
        look_at(&packet);
    }
}

fn look_at(packet: &TransportPacket<'_>) {
    assert!(packet.payload().len() <= packet.payload_len());
    assert!(packet.payload_len() <= packet.wire_len());
    let _ = (packet.reth(), packet.aeth().map(|aeth| aeth.kind()), packet.atomic_eth(), packet.atomic_ack_eth());
    let _ = (packet.imm_dt(), packet.ieth(), packet.deth(), packet.rdeth(), packet.xrceth(), packet.feth(), packet.dceth());
    let _ = (packet.icrc(), packet.fault(), format!("{packet:?}"));
}
