//! RC traffic to measure with: classic pcap, requests and acknowledgements in both directions, right ICRCs.

use std::io::{self, Write};

/// How much of what.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    /// Frames in the file.
    pub(super) frames: u32,
    /// Octets of payload in a request. 0 makes SEND Only packets, every 16th acknowledged; otherwise WRITE messages of
    /// 16 packets, each message acknowledged.
    pub(super) payload: u16,
    /// Connections, between the same two hosts.
    pub(super) qps: u32,
}

const PACKETS_PER_MESSAGE: u32 = 16;
const SEND_ONLY: u8 = 0x04;
const WRITE_FIRST: u8 = 0x06;
const WRITE_MIDDLE: u8 = 0x07;
const WRITE_LAST: u8 = 0x08;
const ACKNOWLEDGE: u8 = 0x11;

/// Writes the file: one frame each microsecond, the connections in turn.
pub(super) fn write(out: &mut impl Write, shape: Shape) -> io::Result<()> {
    for field in [0xa1b2_c3d4, 0x0004_0002, 0, 0, 262_144, 1_u32] {
        out.write_all(&field.to_le_bytes())?;
    }
    let crc = Crc32::new();
    let mut connections: Vec<Connection> = (0..shape.qps).map(Connection::new).collect();
    let payload: Vec<u8> = (0..=u8::MAX).cycle().take(shape.payload.into()).collect();
    let mut frame = Vec::new();
    let (mut written, mut turn) = (0, 0_u32);
    while written < shape.frames {
        let connection = &mut connections[(turn % shape.qps) as usize];
        turn += 1;
        let ip_id = turn as u16;
        let message_ends = connection.request(&mut frame, ip_id, &payload, &crc);
        record(out, &mut written, &frame)?;
        if message_ends && written < shape.frames {
            connection.acknowledge(&mut frame, ip_id, &crc);
            record(out, &mut written, &frame)?;
        }
        connection.psn = (connection.psn + 1) & 0xff_ffff;
    }
    Ok(())
}

fn record(out: &mut impl Write, written: &mut u32, frame: &[u8]) -> io::Result<()> {
    let length = frame.len() as u32;
    for field in [
        1_700_000_000 + *written / 1_000_000,
        *written % 1_000_000,
        length,
        length,
    ] {
        out.write_all(&field.to_le_bytes())?;
    }
    *written += 1;
    out.write_all(frame)
}

struct Connection {
    index: u32,
    psn: u32,
    msn: u32,
    packet_of_message: u32,
}

impl Connection {
    fn new(index: u32) -> Self {
        Self {
            index,
            psn: 0x1_0000 * (index % 200),
            msn: 0,
            packet_of_message: 0,
        }
    }

    /// The next request packet; whether it asks for an acknowledgement.
    fn request(&mut self, frame: &mut Vec<u8>, ip_id: u16, payload: &[u8], crc: &Crc32) -> bool {
        let first = self.packet_of_message == 0;
        let last = self.packet_of_message == PACKETS_PER_MESSAGE - 1;
        self.packet_of_message = (self.packet_of_message + 1) % PACKETS_PER_MESSAGE;
        let opcode = match (payload.is_empty(), first, last) {
            (true, _, _) => SEND_ONLY,
            (_, true, _) => WRITE_FIRST,
            (_, _, true) => WRITE_LAST,
            _ => WRITE_MIDDLE,
        };
        let mut body = Vec::with_capacity(16 + payload.len());
        if opcode == WRITE_FIRST {
            body.extend((0x7f00_0000_0000 + u64::from(self.index) * 65_536).to_be_bytes());
            body.extend((0x1000 + self.index).to_be_bytes());
            body.extend((payload.len() as u32 * PACKETS_PER_MESSAGE).to_be_bytes());
        }
        body.extend(payload);
        let bth = bth(opcode, payload.len(), 0x200 + self.index, last, self.psn);
        build(
            frame,
            Way::There,
            self.source_port(),
            ip_id,
            &[&bth, &body],
            crc,
        );
        if last {
            let messages = if payload.is_empty() {
                PACKETS_PER_MESSAGE
            } else {
                1
            };
            self.msn = (self.msn + messages) & 0xff_ffff;
        }
        last
    }

    /// The acknowledgement of the current PSN, with the credit count that means "no credits".
    fn acknowledge(&self, frame: &mut Vec<u8>, ip_id: u16, crc: &Crc32) {
        let bth = bth(ACKNOWLEDGE, 0, 0x100 + self.index, false, self.psn);
        let aeth = (0x1f00_0000 | self.msn).to_be_bytes();
        build(
            frame,
            Way::Back,
            self.source_port(),
            ip_id,
            &[&bth, &aeth],
            crc,
        );
    }

    fn source_port(&self) -> u16 {
        49_152 + (self.index % 16_000) as u16
    }
}

#[derive(Clone, Copy)]
enum Way {
    There,
    Back,
}

fn bth(opcode: u8, payload: usize, qpn: u32, ack_request: bool, psn: u32) -> [u8; 12] {
    let pad = (payload.wrapping_neg() & 3) as u8;
    let mut bth = [opcode, pad << 4, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0];
    bth[4..8].copy_from_slice(&qpn.to_be_bytes());
    bth[8..12].copy_from_slice(&(u32::from(ack_request) << 31 | psn).to_be_bytes());
    bth
}

/// Offsets of the frame: Ethernet 14, IPv4 20, UDP 8, then the transport.
const IP: usize = 14;
const UDP: usize = 34;
const BTH: usize = 42;

fn build(
    frame: &mut Vec<u8>,
    way: Way,
    source_port: u16,
    ip_id: u16,
    transport: &[&[u8]],
    crc: &Crc32,
) {
    let (a, b) = ([10, 0, 0, 1], [10, 0, 0, 2]);
    let (mac_a, mac_b) = ([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]);
    let (src, dst, macs) = match way {
        Way::There => (a, b, [mac_b, mac_a]),
        Way::Back => (b, a, [mac_a, mac_b]),
    };
    let length: usize = transport.iter().map(|part| part.len()).sum();
    let padded = length.next_multiple_of(4);
    let udp_length = (8 + padded + 4) as u16;
    frame.clear();
    frame.extend(macs.as_flattened());
    frame.extend([0x08, 0x00, 0x45, 0x02]);
    frame.extend((20 + udp_length).to_be_bytes());
    frame.extend(ip_id.to_be_bytes());
    frame.extend([0x40, 0x00, 64, 17, 0, 0]);
    frame.extend(src);
    frame.extend(dst);
    frame.extend(source_port.to_be_bytes());
    frame.extend(4791_u16.to_be_bytes());
    frame.extend(udp_length.to_be_bytes());
    frame.extend([0, 0]);
    transport.iter().for_each(|part| frame.extend(*part));
    frame.resize(BTH + padded, 0);
    let icrc = icrc(frame, crc);
    let checksum = checksum(&frame[IP..UDP]);
    frame[IP + 10..IP + 12].copy_from_slice(&checksum.to_be_bytes());
    frame.extend(icrc.to_le_bytes());
}

/// CRC-32 over eight octets of ones and the packet from the IP header on, with the fields a router may change as ones
/// (InfiniBand Architecture Annex A17, 17.9).
fn icrc(frame: &[u8], crc: &Crc32) -> u32 {
    let mut head = [0xff; 8 + 28 + 12];
    head[8..].copy_from_slice(&frame[IP..BTH + 12]);
    for masked in [1, 8, 10, 11, 26, 27, 32] {
        head[8 + masked] = 0xff;
    }
    !crc.update(crc.update(u32::MAX, &head), &frame[BTH + 12..])
}

/// The Internet checksum of an IPv4 header whose checksum field is zero (RFC 1071).
fn checksum(header: &[u8]) -> u16 {
    let sum: u32 = header
        .chunks(2)
        .map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]))
        .sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    !(((folded & 0xffff) + (folded >> 16)) as u16)
}

/// The CRC-32 of Ethernet, by table.
struct Crc32([u32; 256]);

impl Crc32 {
    fn new() -> Self {
        let entry = |index: usize| {
            (0..8).fold(index as u32, |crc, _| {
                if crc & 1 == 1 {
                    crc >> 1 ^ 0xedb8_8320
                } else {
                    crc >> 1
                }
            })
        };
        Self(std::array::from_fn(entry))
    }

    fn update(&self, crc: u32, octets: &[u8]) -> u32 {
        octets.iter().fold(crc, |crc, octet| {
            crc >> 8 ^ self.0[usize::from(crc as u8 ^ octet)]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(shape: Shape) -> Vec<u8> {
        let mut out = Vec::new();
        write(&mut out, shape).unwrap();
        out
    }

    #[test]
    fn crc_gives_the_check_value() {
        assert_eq!(!Crc32::new().update(u32::MAX, b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn frames_have_the_lengths_asked_for() {
        let lengths = |file: &[u8]| {
            let (mut rest, mut lengths) = (&file[24..], Vec::new());
            while let Some(field) = rest.get(8..12) {
                let length = u32::from_le_bytes(field.try_into().unwrap());
                lengths.push(length);
                rest = &rest[16 + length as usize..];
            }
            lengths
        };
        let small = lengths(&file(Shape {
            frames: 34,
            payload: 0,
            qps: 1,
        }));
        assert_eq!(small.len(), 34);
        assert_eq!(small.iter().filter(|length| **length == 58).count(), 32);
        assert_eq!([small[16], small[33]], [62, 62]);
        let full = lengths(&file(Shape {
            frames: 17,
            payload: 1024,
            qps: 1,
        }));
        assert_eq!(full, [&[1098][..], &[1082; 15], &[62]].concat());
    }

    #[test]
    fn header_checksum_sums_to_ones() {
        let file = file(Shape {
            frames: 1,
            payload: 0,
            qps: 1,
        });
        let header = &file[24 + 16 + IP..24 + 16 + UDP];
        assert_eq!(checksum(header), 0);
    }
}
