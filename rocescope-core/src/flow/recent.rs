//! The latest packets of a stream, to know a second sighting of one packet when it comes.

use super::stream::PacketFacts;
use crate::Time;
use crate::time::MILLISECOND_NS;
use rocescope_wire::{Opcode, Psn};

/// Packets remembered a stream.
const REMEMBERED: usize = 64;
/// A second sighting at the same point of the network comes within this time.
const SAME_POINT_NS: u64 = MILLISECOND_NS;
/// A second sighting at another point (other TTL, MAC or VLAN) comes within this time.
const OTHER_POINT_NS: u64 = 10 * MILLISECOND_NS;

/// One packet seen: 32 octets.
#[derive(Clone, Copy, Default, Debug)]
struct Seen {
    at: Time,
    /// Opcode in the high octet, PSN in the low three.
    opcode_psn: u32,
    signature: u32,
    path: u32,
    port: u32,
    ip_id: u16,
    len: u16,
}

impl Seen {
    #[inline]
    fn of(packet: &PacketFacts) -> Self {
        Self {
            at: packet.at,
            opcode_psn: u32::from(packet.opcode.0) << 24 | packet.psn.get(),
            signature: packet.signature,
            path: packet.path,
            port: packet.port,
            ip_id: packet.ip_id.unwrap_or(0),
            len: packet.transport_len as u16,
        }
    }
}

/// What is known of an earlier sighting.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sighting {
    /// When it was.
    pub(crate) at: Time,
}

/// The latest packets of a stream. The first three are kept in place; the ring comes with the fourth, so that a million
/// short streams stay small.
#[derive(Clone, Default, Debug)]
pub(crate) struct Recent {
    first: [Seen; 3],
    ring: Option<Box<[Seen; REMEMBERED]>>,
    count: u64,
    /// Ports packets came by: 0, 1, or 2 for several.
    ports: u8,
    /// The port of the latest packet.
    port: u32,
}

impl Recent {
    #[inline]
    pub(crate) fn push(&mut self, packet: &PacketFacts) {
        self.ports = if self.several_ports(packet.port) {
            2
        } else {
            1
        };
        self.port = packet.port;
        let index = self.count as usize % REMEMBERED;
        self.count += 1;
        match &mut self.ring {
            Some(ring) => ring[index] = Seen::of(packet),
            None => self.push_early(index, packet),
        }
    }

    /// The first packets; with the fourth the ring comes.
    fn push_early(&mut self, index: usize, packet: &PacketFacts) {
        let seen = Seen::of(packet);
        match self.first.get_mut(index) {
            Some(slot) => *slot = seen,
            None => {
                let mut ring = Box::new([Seen::default(); REMEMBERED]);
                ring[..3].copy_from_slice(&self.first);
                ring[index] = seen;
                self.ring = Some(ring);
            }
        }
    }

    /// An earlier sighting of the same transmission: same opcode, PSN, length, ICRC (or captured octets) and IP id, recent
    /// enough. Where the sender does not count its IP ids up, only the packet directly before can be one.
    pub(crate) fn sighting(&self, packet: &PacketFacts, ids_count: bool) -> Option<Sighting> {
        let wanted = Seen::of(packet);
        for back in 0..self.count.min(REMEMBERED as u64) {
            if back > 0 && !ids_count {
                return None;
            }
            let seen = self.back(back);
            let age = packet.at.since(seen.at);
            if age > OTHER_POINT_NS {
                return None;
            }
            let other_point = seen.path != wanted.path;
            let same = seen.opcode_psn == wanted.opcode_psn
                && seen.signature == wanted.signature
                && seen.ip_id == wanted.ip_id
                && seen.len == wanted.len;
            if same && (other_point || age <= SAME_POINT_NS) {
                return Some(Sighting { at: seen.at });
            }
        }
        None
    }

    /// Whether the same transmission was captured at another interface or in another file just before.
    pub(crate) fn other_port(&self, packet: &PacketFacts) -> bool {
        if self.ports == 0 || !self.several_ports(packet.port) {
            return false;
        }
        let wanted = Seen::of(packet);
        (0..self.count.min(REMEMBERED as u64))
            .map(|back| self.back(back))
            .any(|seen| {
                seen.port != wanted.port
                    && seen.opcode_psn == wanted.opcode_psn
                    && seen.signature == wanted.signature
                    && seen.ip_id == wanted.ip_id
                    && seen.len == wanted.len
                    && packet.at.since(seen.at) <= OTHER_POINT_NS
            })
    }

    /// Opcode and length from BTH to ICRC of the latest packet with that PSN.
    pub(crate) fn latest(&self, psn: Psn) -> Option<(Opcode, usize)> {
        (0..self.count.min(REMEMBERED as u64))
            .map(|back| self.back(back))
            .find(|seen| seen.opcode_psn & 0x00ff_ffff == psn.get())
            .map(|seen| (Opcode((seen.opcode_psn >> 24) as u8), seen.len.into()))
    }

    /// All packets so far came by `port`.
    #[inline]
    pub(crate) fn only_port(&self, port: u32) -> bool {
        self.ports == 1 && self.port == port
    }

    /// Packets of this stream came by more than one port, `port` included.
    fn several_ports(&self, port: u32) -> bool {
        self.ports > 1 || self.count > 0 && self.port != port
    }

    fn back(&self, back: u64) -> &Seen {
        let index = (self.count - 1 - back) as usize;
        match &self.ring {
            Some(ring) => &ring[index % REMEMBERED],
            None => &self.first[index % 3],
        }
    }
}
