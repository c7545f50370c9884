//! IP identifications: where a sender counts them up, they give the order in which it sent.

use super::stream::PacketFacts;

/// A sender that counts its IP ids sends no more than this many other packets in between.
const MOST_ID_STEP: i16 = 4_096;

/// Whether `id` may be that of the packet sent after `before`: the same, or a little further on.
pub(crate) fn goes_on(before: Option<u16>, id: Option<u16>) -> bool {
    match (before, id) {
        (Some(before), Some(id)) => (0..=MOST_ID_STEP).contains(&(id.wrapping_sub(before) as i16)),
        (before, id) => before == id,
    }
}

/// How the IP ids of a sender behave.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct IpIds {
    newest: Option<u16>,
    score: i8,
}

impl IpIds {
    /// Whether the sender counts its ids up, packet by packet.
    pub(crate) fn count_up(self) -> bool {
        self.score > 0
    }

    /// Whether `packet` was sent before the newest packet seen.
    pub(crate) fn is_older(self, packet: &PacketFacts) -> bool {
        match (self.newest, packet.ip_id) {
            // A larger step back is another counter or a damaged id, not an order.
            (Some(newest), Some(id)) if self.count_up() => {
                (-MOST_ID_STEP..0).contains(&(id.wrapping_sub(newest) as i16))
            }
            _ => false,
        }
    }

    /// Learns from the last of `packets` packets in order that follow the newest.
    pub(crate) fn learn_many(&mut self, last: &PacketFacts, packets: u32) {
        if packets == 0 || last.ip_id.is_none() {
            return;
        }
        let counted = last.ip_id != self.newest;
        self.newest = last.ip_id;
        for _ in 0..packets.min(200) {
            self.score = if counted {
                (self.score + 1).min(100)
            } else {
                (self.score - 4).max(-100)
            };
        }
    }

    /// Learns from a packet; `in_order` where its PSN says that it was sent after all others.
    #[inline]
    pub(crate) fn learn(&mut self, packet: &PacketFacts, in_order: bool) {
        let Some(id) = packet.ip_id else { return };
        if let Some(newest) = self.newest {
            let step = id.wrapping_sub(newest) as i16;
            if in_order {
                self.score = if (1..=MOST_ID_STEP).contains(&step) {
                    (self.score + 1).min(100)
                } else {
                    (self.score - 4).max(-100)
                };
            }
            // What PSNs say was sent last was: a higher id before it had a flipped bit.
            if !in_order && (-MOST_ID_STEP..0).contains(&step) && self.count_up() {
                return;
            }
        }
        self.newest = Some(id);
    }
}
