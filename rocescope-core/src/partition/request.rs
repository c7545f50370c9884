//! Request packets on their way to the request side of their stream.

use super::{Class, Partition, Verdict};
use crate::event::EventKind;
use crate::flow::stream::PacketFacts;
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
        if class == Class::New {
            self.check_request(facts, packet, id);
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
