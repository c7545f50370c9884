//! Traffic out of octets: every eight make one packet, so that a fuzzer reaches deep into the engine.

use rocescope_wire::build::{Fill, FrameBuilder};
use rocescope_wire::{Aeth, Msn, Opcode, OpcodeInfo, Psn, Qpn, Reth};
use std::net::{IpAddr, Ipv4Addr};

/// One frame of the traffic.
pub struct Frame {
    /// Nanoseconds since the epoch.
    pub at: u64,
    /// Octets on the wire.
    pub wire_len: u32,
    /// Octets captured.
    pub octets: Vec<u8>,
}

/// Opcodes that matter to the engine; the rest is for `frame_decode`.
const OPCODES: [u8; 32] = [
    0x00, 0x01, 0x02, 0x04, 0x05, 0x06, 0x07, 0x08, 0x0a, 0x0b, 0x0c, 0x0c, 0x0d, 0x0e, 0x0f, 0x10,
    0x11, 0x11, 0x11, 0x11, 0x12, 0x13, 0x14, 0x17, 0x1c, 0x1d, 0x20, 0x21, 0x24, 0x64, 0x81, 0xa4,
];
const SYNDROMES: [u8; 8] = [0x1f, 0x1f, 0x00, 0x60, 0x60, 0x61, 0x63, 0x2c];
/// Payloads: path MTU 256 or 1024, odd ends, nothing.
const PAYLOADS: [usize; 8] = [256, 256, 1_024, 1_024, 100, 3, 0, 257];
/// Steps of time, ns.
const STEPS: [u64; 8] = [
    0,
    1_000,
    10_000,
    49_000,
    60_000,
    2_000_000,
    30_000_000,
    2_000_000_000,
];
/// Packets of one script at most: time for many scripts.
const MOST: usize = 400;

/// The traffic that `octets` describe. Two queue pairs between two hosts, both directions.
pub fn frames(octets: &[u8]) -> Vec<Frame> {
    let mut at = 1_700_000_000_000_000_000;
    let mut next = [[0x00ff_fff0_u32; 2]; 2];
    let mut ids = [1_u16; 2];
    let mut msn = 0;
    octets
        .chunks_exact(8)
        .take(MOST)
        .filter_map(|words| {
            let [
                kind,
                who,
                jump_high,
                jump_low,
                syndrome,
                payload,
                time,
                length,
            ] = *words
            else {
                return None;
            };
            let opcode = Opcode(OPCODES[usize::from(kind) % OPCODES.len()]);
            let (back, pair) = (usize::from(who & 1), usize::from(who >> 1 & 1));
            let response = opcode.info().is_some_and(OpcodeInfo::is_response);
            let asker = if response { 1 - back } else { back };
            let jump = i16::from_be_bytes([jump_high, jump_low]);
            // Mostly small steps, sometimes far ones.
            let jump = if who & 0x80 == 0 { jump % 4 } else { jump };
            let psn = Psn::new(next[pair][asker].wrapping_add_signed(i32::from(jump)));
            if !response {
                next[pair][asker] = psn.next().get();
            }
            at += STEPS[usize::from(time) % STEPS.len()];
            ids[back] = if who & 0x40 == 0 {
                ids[back].wrapping_add(1)
            } else {
                ids[back]
            };
            msn += u32::from(response);
            let hosts = [Ipv4Addr::new(192, 0, 2, 1), Ipv4Addr::new(192, 0, 2, 2)].map(IpAddr::V4);
            let builder = FrameBuilder {
                source: hosts[back],
                destination: hosts[1 - back],
                source_port: 0xc000 + u16::from(who >> 2 & 1) * pair as u16,
                ip_id: ids[back],
                ecn: payload >> 6,
                opcode,
                dest_qpn: Qpn::new(0x100 + pair as u32 * 2 + back as u32),
                ack_req: time & 0x80 != 0,
                psn,
                aeth: Aeth::new(SYNDROMES[usize::from(syndrome) % SYNDROMES.len()], Msn(msn)),
                reth: Reth::new(u64::from(length) << 8, 7, u32::from(length) * 100),
                payload: Fill::Counting(PAYLOADS[usize::from(payload) % PAYLOADS.len()]),
                ..FrameBuilder::default()
            };
            let mut buffer = [0; 1_500];
            let len = builder.frame(&mut buffer)?;
            if who & 0x20 != 0 {
                // A bit went wrong on the way.
                let hit = 42 + usize::from(syndrome) % (len - 42);
                buffer[hit] ^= 1 << (payload & 7);
            }
            let captured = if who & 0x10 != 0 { len.min(96) } else { len };
            Some(Frame {
                at,
                wire_len: len as u32,
                octets: buffer[..captured].to_vec(),
            })
        })
        .collect()
}
