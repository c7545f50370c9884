//! What a frame says, read without the engine: streams, PSNs and what an answer acknowledges.

use crate::capture::Frame;
use rocescope_core::Address;
use rocescope_core::encap::{Decoded, Ports, locate};
use rocescope_wire::{
    Aeth, AethKind, Operation, Part, Psn, Reth, Role, Transport, TransportPacket,
};
use std::collections::BTreeMap;

/// Source, destination, destination QPN.
pub(crate) type Key = (Address, Address, u32);

/// A packet of the transport.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    pub(crate) key: Key,
    pub(crate) transport: Transport,
    pub(crate) request: bool,
    pub(crate) first: Psn,
    /// Last PSN claimed: that of a READ depends on the path MTU.
    pub(crate) last: Psn,
    /// Last PSN that an answer acknowledges.
    pub(crate) through: Option<Psn>,
    /// A NAK or an RNR NAK.
    pub(crate) refusal: bool,
    dma_len: Option<u32>,
}

impl Packet {
    /// A request of a transport whose PSNs are followed.
    pub(crate) fn is_followed(&self) -> bool {
        self.request && (self.is_reliable() || self.transport == Transport::Uc)
    }

    pub(crate) fn is_reliable(&self) -> bool {
        matches!(self.transport, Transport::Rc | Transport::Xrc)
    }

    /// Goes from the same host to the same host.
    pub(crate) fn same_way(&self, other: &Self) -> bool {
        (self.key.0, self.key.1) == (other.key.0, other.key.1)
    }
}

/// The packet of each frame, `None` for frames that carry none.
pub(crate) fn packets(frames: &[Frame]) -> Vec<Option<Packet>> {
    let mut mtu: BTreeMap<(Address, Address), u32> = BTreeMap::new();
    let mut packets: Vec<Option<Packet>> = frames
        .iter()
        .map(|frame| {
            let Decoded::Roce(located) =
                locate(frame.link, &frame.octets, frame.wire_len, &Ports::default()).decoded
            else {
                return None;
            };
            let packet = TransportPacket::decode(located.transport, located.wire_len as usize)?;
            let info = packet.info?;
            let key = (located.src, located.dst, packet.dest_qpn().get());
            if matches!(info.part, Part::First | Part::Middle) {
                let known = mtu.entry((located.src, located.dst)).or_default();
                *known = (*known).max(packet.payload_len() as u32);
            }
            let (through, refusal) = acknowledges(&packet, info.operation);
            let read = info.operation == Operation::RdmaReadRequest;
            Some(Packet {
                key,
                transport: info.transport,
                request: info.role == Role::Request,
                first: packet.psn(),
                last: packet.psn(),
                through: through.filter(|_| info.role == Role::Response),
                refusal,
                dma_len: packet.reth().filter(|_| read).map(Reth::dma_len),
            })
        })
        .collect();
    for packet in packets.iter_mut().flatten() {
        if let (Some(octets), Some(mtu)) = (packet.dma_len, mtu.get(&(packet.key.1, packet.key.0)))
        {
            packet.last = packet.first.plus(octets.div_ceil(*mtu).max(1) - 1);
        }
    }
    packets
}

fn acknowledges(packet: &TransportPacket<'_>, operation: Operation) -> (Option<Psn>, bool) {
    match operation {
        Operation::RdmaReadResponse | Operation::AtomicAcknowledge => (Some(packet.psn()), false),
        Operation::Acknowledge => match packet.aeth().map(Aeth::kind) {
            Some(AethKind::Ack { .. }) => (Some(packet.psn()), false),
            Some(AethKind::Nak(_) | AethKind::RnrNak { .. }) => {
                (Some(packet.psn().previous()), true)
            }
            _ => (None, false),
        },
        _ => (None, false),
    }
}

/// Every request goes on where the one before ended, and nothing was refused.
pub(crate) fn is_clean(packets: &[Option<Packet>]) -> bool {
    let mut last: BTreeMap<Key, Psn> = BTreeMap::new();
    packets.iter().flatten().all(|packet| {
        let goes_on = !packet.is_followed()
            || last
                .insert(packet.key, packet.last)
                .is_none_or(|last| packet.first.since(last) == 1);
        goes_on && !packet.refusal
    })
}

/// Reliable requests one way and answers the other way.
pub(crate) fn shows_both_directions(packets: &[Option<Packet>]) -> bool {
    let requests = || {
        packets
            .iter()
            .flatten()
            .filter(|packet| packet.is_followed() && packet.is_reliable())
    };
    packets
        .iter()
        .flatten()
        .filter(|packet| packet.through.is_some())
        .any(|answer| {
            requests().any(|request| (request.key.0, request.key.1) == (answer.key.1, answer.key.0))
        })
}
