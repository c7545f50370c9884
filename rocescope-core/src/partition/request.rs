//! Request packets on their way to the request side of their stream.

use super::{Class, Partition, Verdict};
use crate::event::{Event, EventKind};
use crate::flow::stream::{PacketFacts, Stream};
use rocescope_wire::{Part, TransportPacket};

impl Partition {
    pub(super) fn request(
        &mut self,
        id: u32,
        facts: &PacketFacts,
        packet: &TransportPacket<'_>,
    ) -> Verdict {
        if self.holds(id, facts) {
            return Verdict::Request(Class::Undecided);
        }
        let class = self.accept_request(id, facts);
        if class == Class::New
            && let Some(stream) = self.table.get_mut(id)
        {
            check(stream, facts, packet, &mut self.events);
        }
        Verdict::Request(class)
    }

    pub(super) fn accept_request(&mut self, id: u32, facts: &PacketFacts) -> Class {
        let Some(stream) = self.table.get_mut(id) else {
            return Class::New;
        };
        stream.count(facts);
        let requests = &mut stream.requester;
        if requests.is_behind(facts)
            && let Some(sighting) = stream.recent.sighting(facts, requests.ids.count_up())
            && !requests.asked_again_since(facts.psn, sighting.at)
        {
            requests.on_copy();
            stream.count_copy(facts);
            return Class::Copy;
        }
        let capture_lost = self
            .lost
            .iter()
            .any(|(from, until)| *until >= requests.last_new && *from <= facts.at);
        let class = requests.on_request(facts, capture_lost, &mut self.events);
        requests.repairing.sent(facts.at);
        stream.recent.push(facts);
        class
    }
}

/// What a request says of itself that cannot be.
#[inline(always)]
pub(super) fn check(
    stream: &mut Stream,
    facts: &PacketFacts,
    packet: &TransportPacket<'_>,
    events: &mut Vec<Event>,
) {
    check_length(stream, facts, events);
    if let Some(reth) = packet.reth() {
        let (va, dma_len) = (reth.va(), reth.dma_len());
        if dma_len > 1 << 31 || (dma_len > 0 && va.checked_add(u64::from(dma_len)).is_none()) {
            events.push(facts.event(EventKind::AddressRange { va, dma_len }));
        }
    }
}

/// A payload that does not fit opcode and path MTU.
#[inline(always)]
pub(super) fn check_length(stream: &mut Stream, facts: &PacketFacts, events: &mut Vec<Event>) {
    let (info, payload) = (facts.info, facts.payload_len);
    let inner = matches!(info.part, Part::First | Part::Middle);
    if inner && payload > stream.requester.pmtu {
        stream.requester.learn_pmtu(payload);
    }
    let pmtu = stream.requester.pmtu;
    let exceeds = payload > pmtu;
    // A First or Middle that taught no path MTU has a length that none allows.
    let wrong = inner && payload > 0 && payload != pmtu || pmtu > 0 && exceeds;
    if wrong {
        events.push(facts.event(EventKind::Length {
            payload,
            pmtu,
            exceeds: exceeds && pmtu > 0,
        }));
    }
}
