//! ICRCs: checked, and what becomes of frames in which they are wrong.

use super::{Icrc, Partition};
use crate::encap::{Carrier, Located};
use crate::event::EventKind;
use crate::flow::stream::PacketFacts;
use crate::settings::Settings;
use rocescope_wire::{Role, Transport, TransportPacket, icrc};

impl Partition {
    /// A whole frame with a bad ICRC: any bit of it may be wrong, so it moves nothing and opens no stream.
    pub(super) fn damaged(
        &mut self,
        known: Option<u32>,
        facts: &PacketFacts,
        packet: &TransportPacket<'_>,
        located: &Located<'_>,
    ) {
        let request = facts.info.role == Role::Request;
        let hint = icrc::hint(
            icrc_carrier(located.carrier),
            located.network,
            packet.octets(),
        );
        let event = facts.event(EventKind::BadIcrc { hint, request });
        let Some((id, stream)) = known.and_then(|id| Some((id, self.table.get_mut(id)?))) else {
            self.totals.icrc.bad += 1;
            self.totals.ecn.add(facts.ecn);
            self.strays.add(&event);
            return;
        };
        stream.count(facts);
        if request && matches!(facts.info.transport, Transport::Rc | Transport::Xrc) {
            stream.requester.on_damaged(facts.psn);
        }
        self.events.push(event);
        self.detect(id);
    }
}

/// Checks the ICRC of a located packet.
#[must_use]
pub fn check_icrc(settings: &Settings, located: &Located<'_>) -> Icrc {
    let cut = located.transport.len() < located.wire_len as usize;
    if !settings.check_icrc || cut || located.cut_by_mirror {
        return Icrc::Unverifiable;
    }
    match icrc::check(
        icrc_carrier(located.carrier),
        located.network,
        located.transport,
    ) {
        icrc::IcrcState::Good => Icrc::Good,
        icrc::IcrcState::Bad { .. } => Icrc::Bad,
        icrc::IcrcState::Unverifiable => Icrc::Unverifiable,
    }
}

fn icrc_carrier(carrier: Carrier) -> icrc::Carrier {
    match carrier {
        Carrier::RoceV1 => icrc::Carrier::Grh,
        Carrier::RoceV2Ipv4 => icrc::Carrier::Ipv4,
        Carrier::RoceV2Ipv6 => icrc::Carrier::Ipv6,
    }
}
