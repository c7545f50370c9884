//! One direction of a queue pair: source, destination, destination QPN. RC and UC packets carry no more than that.

use super::answer::Answer;
use super::recent::Recent;
use super::requester::Requester;
use super::responder::Responder;
use crate::event::{Event, EventKind};
use crate::report::{EcnCounts, FrameRef, IcrcCounts, PairedBy};
use crate::{Address, Time};
use rocescope_wire::{Opcode, OpcodeInfo, Psn, Qpn};
use std::collections::BTreeMap;

/// UD: source QPNs counted a stream.
const MOST_SOURCE_QPNS: usize = 64;
/// Answers kept while the pair is not known.
pub(crate) const MOST_WAITING: usize = 64;

/// What names a stream.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct StreamKey {
    pub(crate) src: Address,
    pub(crate) dst: Address,
    pub(crate) dest_qpn: Qpn,
}

/// State of a packet's ICRC.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Icrc {
    /// Right.
    Good,
    /// Wrong, of a whole frame.
    Bad,
    /// Cut, rewritten by a tunnel, or not checked.
    Unverifiable,
}

/// What the analysis needs of a packet.
#[derive(Clone, Debug)]
pub(crate) struct PacketFacts {
    pub(crate) at: Time,
    pub(crate) frame: FrameRef,
    /// Source and interface: where it was captured.
    pub(crate) port: u32,
    pub(crate) opcode: Opcode,
    pub(crate) info: &'static OpcodeInfo,
    pub(crate) psn: Psn,
    pub(crate) ack_req: bool,
    pub(crate) migreq: bool,
    /// ICRC, or a checksum of the captured octets of a cut frame.
    pub(crate) signature: u32,
    /// TTL, MAC addresses and VLAN: the point of the network.
    pub(crate) path: u32,
    pub(crate) ip_id: Option<u16>,
    /// Octets from BTH to ICRC.
    pub(crate) transport_len: u32,
    /// Octets of the frame.
    pub(crate) wire_len: u32,
    pub(crate) payload_len: u32,
    /// DMA length of the RETH.
    pub(crate) dma_len: Option<u32>,
    /// ECN field.
    pub(crate) ecn: u8,
    pub(crate) dscp: u8,
    pub(crate) pcp: Option<u8>,
    pub(crate) vlan: Option<u16>,
    pub(crate) udp_source_port: u16,
    pub(crate) icrc: Icrc,
}

impl PacketFacts {
    pub(crate) fn event(&self, kind: EventKind) -> Event {
        Event {
            at: self.at,
            frame: self.frame,
            kind,
        }
    }
}

/// Packets by opcode: the few that a stream uses, in place.
#[derive(Clone, Default, Debug)]
pub(crate) struct OpcodeCounts {
    codes: [u8; 8],
    counts: [u64; 8],
    rest: BTreeMap<u8, u64>,
}

impl OpcodeCounts {
    #[inline]
    pub(crate) fn add(&mut self, opcode: Opcode) {
        for (code, count) in self.codes.iter_mut().zip(&mut self.counts) {
            if *code == opcode.0 && *count > 0 {
                *count += 1;
                return;
            }
            if *count == 0 {
                (*code, *count) = (opcode.0, 1);
                return;
            }
        }
        *self.rest.entry(opcode.0).or_default() += 1;
    }

    /// `packets` with this opcode.
    pub(crate) fn add_many(&mut self, opcode: Opcode, packets: u64) {
        self.add(opcode);
        let inline = self
            .codes
            .iter()
            .zip(&mut self.counts)
            .find(|(code, count)| **code == opcode.0 && **count > 0);
        match inline {
            Some((_, count)) => *count += packets - 1,
            None => *self.rest.entry(opcode.0).or_default() += packets - 1,
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (Opcode, u64)> + '_ {
        let inline = self.codes.iter().zip(&self.counts);
        inline
            .filter(|(_, count)| **count > 0)
            .chain(&self.rest)
            .map(|(code, count)| (Opcode(*code), *count))
    }
}

/// Candidates for the other direction, by the answers that fit.
#[derive(Clone, Default, Debug)]
pub(crate) struct Courting {
    /// Answers until the pair is known.
    pub(crate) waiting: Vec<Answer>,
    /// Streams and how many answers lie in their window.
    pub(crate) scores: Vec<(u32, u32)>,
    pub(crate) answers: u32,
}

/// One direction.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    pub(crate) key: StreamKey,
    pub(crate) opcodes: OpcodeCounts,
    pub(crate) wire_bytes: u64,
    pub(crate) payload_bytes: u64,
    pub(crate) first_at: Time,
    pub(crate) last_at: Time,
    pub(crate) last_frame: FrameRef,
    pub(crate) first_frame: FrameRef,
    pub(crate) ecn: [u64; 4],
    pub(crate) icrc: [u64; 3],
    pub(crate) cnps: u64,
    pub(crate) migreq: u64,
    pub(crate) udp_source_port: u16,
    pub(crate) dscp: u8,
    pub(crate) pcp: Option<u8>,
    pub(crate) vlan: Option<u16>,
    pub(crate) peer: Option<u32>,
    pub(crate) paired_by: Option<PairedBy>,
    /// Its QP number is used anew, or the connection was closed by CM.
    pub(crate) retired: bool,
    pub(crate) disconnected: Option<Time>,
    pub(crate) requester: Requester,
    pub(crate) responder: Responder,
    pub(crate) recent: Recent,
    pub(crate) courting: Option<Box<Courting>>,
    /// Packets that may belong to a new owner of the QPN.
    pub(crate) held: Vec<PacketFacts>,
    pub(crate) source_qpns: BTreeMap<u32, u64>,
    /// First and latest copy.
    pub(crate) copy_frames: Option<[(Time, FrameRef); 2]>,
    pub(crate) open_findings: Vec<crate::finding::OpenFinding>,
    /// What detectors keep of it.
    pub(crate) detectors: Option<Box<crate::finding::States>>,
    /// When it was last moved to the front of the table.
    pub(crate) epoch: u32,
    pub(crate) previous: u32,
    pub(crate) next: u32,
}

impl Stream {
    pub(crate) fn new(key: StreamKey, packet: &PacketFacts) -> Self {
        Self {
            key,
            opcodes: OpcodeCounts::default(),
            wire_bytes: 0,
            payload_bytes: 0,
            first_at: packet.at,
            last_at: packet.at,
            first_frame: packet.frame,
            last_frame: packet.frame,
            ecn: [0; 4],
            icrc: [0; 3],
            cnps: 0,
            migreq: 0,
            udp_source_port: packet.udp_source_port,
            dscp: packet.dscp,
            pcp: packet.pcp,
            vlan: packet.vlan,
            peer: None,
            paired_by: None,
            retired: false,
            disconnected: None,
            requester: Requester::default(),
            responder: Responder::default(),
            recent: Recent::default(),
            courting: None,
            held: Vec::new(),
            source_qpns: BTreeMap::new(),
            copy_frames: None,
            open_findings: Vec::new(),
            detectors: None,
            epoch: u32::MAX,
            previous: u32::MAX,
            next: u32::MAX,
        }
    }

    /// Books a packet.
    #[inline]
    pub(crate) fn count(&mut self, packet: &PacketFacts) {
        self.opcodes.add(packet.opcode);
        self.wire_bytes += u64::from(packet.wire_len);
        self.payload_bytes += u64::from(packet.payload_len);
        if packet.at > self.last_at {
            self.last_at = packet.at;
        }
        self.last_frame = packet.frame;
        self.ecn[usize::from(packet.ecn & 3)] += 1;
        self.icrc[packet.icrc as usize] += 1;
        self.migreq += u64::from(packet.migreq);
    }

    /// Books a second sighting of a packet.
    pub(crate) fn count_copy(&mut self, packet: &PacketFacts) {
        let now = (packet.at, packet.frame);
        let first = self.copy_frames.map_or(now, |[first, _]| first);
        self.copy_frames = Some([first, now]);
    }

    /// Packets by ECN field.
    pub(crate) fn ecn_counts(&self) -> EcnCounts {
        EcnCounts {
            not_ect: self.ecn[0],
            ect1: self.ecn[1],
            ect0: self.ecn[2],
            ce: self.ecn[3],
        }
    }

    /// Packets by state of their ICRC.
    pub(crate) fn icrc_counts(&self) -> IcrcCounts {
        IcrcCounts {
            good: self.icrc[0],
            bad: self.icrc[1],
            unverifiable: self.icrc[2],
        }
    }

    pub(crate) fn packets(&self) -> u64 {
        self.icrc.iter().sum()
    }

    pub(crate) fn count_source_qpn(&mut self, qpn: Qpn) {
        if self.source_qpns.len() < MOST_SOURCE_QPNS || self.source_qpns.contains_key(&qpn.get()) {
            *self.source_qpns.entry(qpn.get()).or_default() += 1;
        }
    }
}
