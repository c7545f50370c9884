//! Connection management as it bears on streams.

use super::Partition;
use crate::flow::cm::Managed;
use crate::flow::stream::{PacketFacts, StreamKey};
use rocescope_wire::TransportPacket;
use rocescope_wire::cm::CmMessage;

impl Partition {
    /// A MAD: connection management.
    pub(super) fn management(
        &mut self,
        id: u32,
        facts: &PacketFacts,
        packet: &TransportPacket<'_>,
    ) {
        let Some(key) = self.table.get(id).map(|stream| stream.key) else {
            return;
        };
        let Some(message) = packet.mad().and_then(CmMessage::decode) else {
            return;
        };
        match self.cm.on_message(key.src, key.dst, &message) {
            Managed::Connected(streams) => self.connected(streams, facts),
            Managed::Disconnected(streams) => {
                let known: Vec<_> = streams
                    .iter()
                    .filter_map(|key| self.table.find(key))
                    .collect();
                // A queue pair that is not known by its number: the only one between the two hosts, if there is but one.
                let only = || self.unpaired.only_from(key.src, key.dst);
                let ended = if known.is_empty() {
                    only().into_iter().collect()
                } else {
                    known
                };
                for id in ended {
                    if let Some(stream) = self.table.get_mut(id) {
                        stream.disconnected = Some(facts.at);
                    }
                }
            }
            Managed::Nothing => {}
        }
    }

    /// CM set up two queue pairs: whoever used their numbers before is gone.
    fn connected(&mut self, streams: [StreamKey; 2], facts: &PacketFacts) {
        for key in streams {
            if let Some(old) = self.table.find(&key) {
                self.release(old);
                self.table.retire(old);
                if let Some(stream) = self.table.get_mut(old) {
                    stream.disconnected.get_or_insert(facts.at);
                    self.unpaired.remove(old, stream);
                }
            }
        }
    }
}
