//! Request packets on their way to the request side of their stream.

use super::Partition;
use crate::event::EventKind;
use crate::flow::requester::Class;
use crate::flow::stream::PacketFacts;
use rocescope_wire::{Part, TransportPacket};

impl Partition {
    fn request(&mut self, id: u32, facts: &PacketFacts, packet: &TransportPacket<'_>) {
        if self.holds(id, facts) {
            return;
        }
        self.accept_request(id, facts);
        self.check_request(facts, packet, id);
    }

    fn accept_request(&mut self, id: u32, facts: &PacketFacts) {
        let Some(stream) = self.table.get_mut(id) else {
            return;
        };
        stream.count(facts);
        if stream.requester.is_behind(facts)
            && let Some(sighting) = stream
                .recent
                .sighting(facts, stream.requester.ids.count_up())
            && !stream.requester.asked_again_since(facts.psn, sighting.at)
        {
            stream.requester.on_copy(sighting);
            stream.count_copy(facts);
            return;
        }
        stream.requester.on_request(facts, &mut self.events);
        stream.requester.repairing.sent(facts.at);
        stream.recent.push(facts);
    }

    /// What a request says of itself that cannot be.
    fn check_request(&mut self, facts: &PacketFacts, packet: &TransportPacket<'_>, id: u32) {
        let Some(stream) = self.table.get_mut(id) else {
            return;
        };
        let info = facts.info;
        if matches!(info.part, Part::First | Part::Middle) {
            stream.requester.learn_pmtu(facts.payload_len);
        }
        let pmtu = stream.requester.pmtu;
        let wrong = pmtu > 0
            && facts.payload_len != pmtu
            && matches!(info.part, Part::First | Part::Middle);
        let exceeds = pmtu > 0 && facts.payload_len > pmtu;
        let empty = info.part == Part::Last && facts.payload_len == 0;
        if wrong || exceeds || empty {
            self.events.push(facts.event(EventKind::Length {
                payload: facts.payload_len,
                pmtu,
                exceeds,
            }));
        }
        if let Some(reth) = packet.reth() {
            let (va, dma_len) = (reth.va(), reth.dma_len());
            if dma_len > 1 << 31
                || (dma_len > 0 && va.checked_add(u64::from(dma_len) - 1).is_none())
            {
                self.events
                    .push(facts.event(EventKind::AddressRange { va, dma_len }));
            }
        }
    }
}
