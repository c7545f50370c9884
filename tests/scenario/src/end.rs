//! The two ends of a connection.

use crate::language::{Connection, End, Host, Service, VlanTag};
use crate::traffic::{Packet, Result};
use rocescope_wire::build::{FrameBuilder, Vlan};
use rocescope_wire::{Deth, Opcode, Qpn, Xrceth};
use std::collections::BTreeMap;

/// What a request was, for its answers and repeats. A READ has one for each PSN it claims.
#[derive(Clone, Copy)]
pub(crate) struct Request<'s> {
    pub(crate) frame: FrameBuilder<'s>,
    pub(crate) first: u32,
    pub(crate) last: u32,
}

/// One end of a connection, as it sends.
pub(crate) struct EndState<'s> {
    /// What all its packets have.
    pub(crate) frame: FrameBuilder<'s>,
    pub(crate) host: &'s str,
    pub(crate) next_psn: u32,
    pub(crate) sent: BTreeMap<u32, Request<'s>>,
    /// Last PSN of each message, in order.
    pub(crate) messages: Vec<u32>,
    /// Messages it had completed as responder before.
    pub(crate) completed: u32,
}

pub(crate) struct Pair<'s> {
    pub(crate) of: &'s Connection,
    pub(crate) client: EndState<'s>,
    pub(crate) server: EndState<'s>,
}

pub(crate) fn vlans(connection: &Connection) -> Vec<Vlan> {
    let outer = connection.vlan.len().saturating_sub(1);
    let tag = |(index, tag): (usize, &VlanTag)| Vlan {
        tpid: if index < outer { 0x88a8 } else { 0x8100 },
        pcp: tag.priority,
        dei: false,
        vid: tag.id,
    };
    connection.vlan.iter().enumerate().map(tag).collect()
}

impl<'s> EndState<'s> {
    /// The packets of the next message.
    pub(crate) fn remember(&mut self, packets: &[Packet<'s>]) {
        for packet in packets {
            let (first, last) = (packet.psn, packet.psn);
            self.sent.insert(
                packet.psn,
                Request {
                    frame: packet.frame,
                    first,
                    last,
                },
            );
            self.next_psn = (last + 1) & 0xff_ffff;
        }
        self.messages
            .extend(packets.last().map(|packet| packet.psn));
    }

    pub(crate) fn skip(&mut self) {
        self.messages.push(self.next_psn);
        self.next_psn = (self.next_psn + 1) & 0xff_ffff;
    }
}

pub(crate) fn pair<'s>(
    of: &'s Connection,
    vlans: &'s [Vlan],
    hosts: &BTreeMap<&'s str, (Host, u16)>,
) -> Result<Pair<'s>> {
    let side = |end: &'s End, usual: &'s str| {
        let name = end.host.as_deref().unwrap_or(usual);
        let (name, (host, _)) = hosts.get_key_value(name).ok_or(format!("no host {name}"))?;
        Ok::<_, String>((*name, host.clone()))
    };
    let (client_name, client) = side(&of.client, "a")?;
    let (server_name, server) = side(&of.server, "b")?;
    let base = FrameBuilder {
        vlans,
        source: client.address,
        destination: server.address,
        rocev1: of.rocev1,
        dscp: of.dscp,
        ecn: of.ecn,
        hop_limit: client.ttl,
        source_port: of.client.port.unwrap_or(of.port),
        dest_qpn: Qpn::new(of.server.qpn),
        xrceth: Xrceth::new(1),
        deth: Deth::new(0x1111_1111, Qpn::new(of.client.qpn)),
        ..FrameBuilder::default()
    };
    let back = FrameBuilder {
        hop_limit: server.ttl,
        source_port: of.server.port.unwrap_or(of.port),
        deth: Deth::new(0x1111_1111, Qpn::new(of.server.qpn)),
        ..base.reply(Qpn::new(of.client.qpn))
    };
    let end = |frame, host, end: &End| EndState {
        frame,
        host,
        next_psn: end.psn,
        sent: BTreeMap::new(),
        messages: Vec::new(),
        completed: end.msn,
    };
    Ok(Pair {
        of,
        client: end(base, client_name, &of.client),
        server: end(back, server_name, &of.server),
    })
}

/// The opcode of an operation in a transport service (IBTA volume 1, table 38).
pub(crate) fn opcode(service: Service, operation: u8) -> Opcode {
    Opcode(match service {
        Service::Rc => operation,
        Service::Uc => 0x20 | operation,
        Service::Ud => 0x60 | operation,
        Service::Xrc => 0xa0 | operation,
    })
}
