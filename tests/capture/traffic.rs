//! Traffic of many connections, some with a lost packet, as a capture file of any length.

use rocescope::source::write::{ByteOrder, PcapWriter};
use rocescope_core::Time;
use rocescope_core::encap::LinkType;
use rocescope_wire::build::{Fill, FrameBuilder};
use rocescope_wire::{Msn, NakCode, Part, Psn, Qpn};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Connections between a frame of one and its next.
const BETWEEN: u32 = 50;
/// Frames of a connection at most.
const MOST_FRAMES: u32 = 7;

/// One connection after another, each of two streams of three packets, [`BETWEEN`] of them at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Traffic {
    pub(crate) connections: u32,
    /// Pairs of hosts that they are spread over.
    pub(crate) pairs: u32,
    /// Each of these many connections loses a packet in front of the tap; 0 for none.
    pub(crate) lossy_every: u32,
}

impl Traffic {
    /// Connections that lose a packet.
    pub(crate) fn lossy(&self) -> u32 {
        self.connections.checked_div(self.lossy_every).unwrap_or(0)
    }

    /// Packets in all.
    pub(crate) fn packets(&self) -> u64 {
        u64::from(self.connections) * 6 + u64::from(self.lossy())
    }

    /// Writes it as pcap, a microsecond from frame to frame.
    pub(crate) fn write(&self, path: &Path) {
        let out = BufWriter::new(File::create(path).expect("created"));
        let mut writer = PcapWriter::new(out, LinkType::ETHERNET, ByteOrder::LittleEndian, true)
            .expect("written");
        let (mut octets, mut at) = ([0; 256], 1_700_000_000_000_000_000);
        for turn in 0..self.connections + BETWEEN * MOST_FRAMES {
            for step in 0..MOST_FRAMES {
                let connection = turn.checked_sub(step * BETWEEN);
                let known = connection.filter(|connection| *connection < self.connections);
                let Some(frame) = known.and_then(|connection| self.frame(connection, step)) else {
                    continue;
                };
                let len = frame.frame(&mut octets).expect("fits");
                at += 1_000;
                writer
                    .frame(Time(at), len as u32, &octets[..len])
                    .expect("written");
            }
        }
        writer.into_inner().flush().expect("written");
    }

    fn frame(&self, connection: u32, step: u32) -> Option<FrameBuilder<'static>> {
        let [_, high, middle, low] = (connection % self.pairs).to_be_bytes();
        let number = connection / self.pairs;
        let requester = FrameBuilder {
            source: [10, high, middle, low].into(),
            destination: [11, high, middle, low].into(),
            dest_qpn: Qpn::new(0x100 + number),
            source_port: 0xc000 | (number & 0x3fff) as u16,
            ..FrameBuilder::default()
        };
        let responder = requester.reply(Qpn::new(0x80_0100 + number));
        let psn = |step| Psn::new(connection).plus(step);
        let send = |step| requester.send(Part::Only, psn(step), Fill::Counting(16));
        let ack = |step| responder.ack(psn(step), Msn(step + 1));
        let lossy = self.lossy_every > 0 && connection % self.lossy_every == self.lossy_every - 1;
        match (step, lossy) {
            (0, _) => Some(send(0)),
            (1, _) => Some(ack(0)),
            (2 | 5, true) | (4, false) => Some(send(2)),
            (3, true) => Some(responder.nak(psn(1), NakCode::PsnSequenceError, Msn(1))),
            (4, true) | (2, false) => Some(send(1)),
            (6, true) | (5, false) => Some(ack(2)),
            (3, false) => Some(ack(1)),
            _ => None,
        }
    }
}
