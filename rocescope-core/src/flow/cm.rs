//! What connection management said between two hosts: which queue pairs belong together, and on what terms.

use super::stream::StreamKey;
use crate::Address;
use crate::report::CmFacts;
use rocescope_wire::Qpn;
use rocescope_wire::cm::{CmMessage, PortSpace, Rep, Req, ServiceId};
use std::collections::HashMap;

/// Conversations remembered a partition; beyond this no new ones are.
const MOST_CONVERSATIONS: usize = 65_536;
/// One unit of CM's timeouts, in tenths of a nanosecond: 4.096 us.
const TIMEOUT_UNIT_NS: u64 = 4_096;

/// One REQ and what came of it.
#[derive(Clone, Debug)]
pub(crate) struct Conversation {
    active: Address,
    passive: Address,
    active_qpn: Qpn,
    passive_qpn: Option<Qpn>,
    active_id: Option<u32>,
    passive_id: Option<u32>,
    pub(crate) service: Option<String>,
    pub(crate) facts: CmFacts,
}

impl Conversation {
    /// The two streams of its connection, once both queue pairs are known.
    fn streams(&self) -> Option<[StreamKey; 2]> {
        let passive_qpn = self.passive_qpn?;
        let (active, passive) = (self.active, self.passive);
        Some([
            StreamKey {
                src: active,
                dst: passive,
                dest_qpn: passive_qpn,
            },
            StreamKey {
                src: passive,
                dst: active,
                dest_qpn: self.active_qpn,
            },
        ])
    }
}

/// What a CM message changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Managed {
    /// Two queue pairs belong together from now on; older users of their numbers are gone.
    Connected([StreamKey; 2]),
    /// The connection of these streams is over.
    Disconnected([StreamKey; 2]),
    /// Nothing for the streams.
    Nothing,
}

/// The conversations of a partition.
#[derive(Default, Debug)]
pub(crate) struct CmBook {
    list: Vec<Conversation>,
    /// Latest conversation by host and queue pair.
    by_qpn: HashMap<(Address, Qpn), usize, foldhash::fast::FixedState>,
    /// Conversation by the active side and its communication id.
    by_id: HashMap<(Address, u32), usize, foldhash::fast::FixedState>,
    /// REQs beyond the limit.
    pub(crate) not_kept: u64,
}

impl CmBook {
    /// The conversation that set up the queue pair `qpn` of `host`.
    pub(crate) fn of(&self, host: Address, qpn: Qpn) -> Option<&Conversation> {
        self.by_qpn
            .get(&(host, qpn))
            .and_then(|index| self.list.get(*index))
    }

    /// The other direction of the stream `key`, where CM set up both queue pairs.
    pub(crate) fn partner(&self, key: &StreamKey) -> Option<StreamKey> {
        let [forth, back] = self.of(key.dst, key.dest_qpn)?.streams()?;
        [(forth, back), (back, forth)]
            .into_iter()
            .find(|(own, _)| own == key)
            .map(|(_, other)| other)
    }

    /// A message from `src` to `dst`.
    pub(crate) fn on_message(
        &mut self,
        src: Address,
        dst: Address,
        message: &CmMessage<'_>,
    ) -> Managed {
        match message {
            CmMessage::Req(req) => self.on_req(src, dst, req),
            CmMessage::Rep(rep) => self.on_rep(src, dst, rep),
            CmMessage::Rej(rej) => {
                let index = rej
                    .remote_comm_id()
                    .and_then(|id| self.by_id.get(&(dst, id)).copied());
                if let (Some(conversation), Some(reason)) = (
                    index.and_then(|index| self.list.get_mut(index)),
                    rej.reason(),
                ) {
                    conversation.facts.reject_reason = Some(reason.0);
                }
                Managed::Nothing
            }
            CmMessage::Dreq(_) | CmMessage::Drep(_) => self.on_disconnect(src, dst, message),
            _ => Managed::Nothing,
        }
    }

    /// A request; one sent again changes nothing.
    fn on_req(&mut self, src: Address, dst: Address, req: &Req<'_>) -> Managed {
        let Some(qpn) = req.qpn() else {
            return Managed::Nothing;
        };
        let again = self
            .of(src, qpn)
            .is_some_and(|known| known.active_id == req.local_comm_id() && known.active == src);
        if again {
            return Managed::Nothing;
        }
        if self.list.len() >= MOST_CONVERSATIONS {
            self.not_kept += 1;
            return Managed::Nothing;
        }
        let timeout = req.primary_path().map_or(0, |path| path.ack_timeout);
        let index = self.list.len();
        self.list.push(Conversation {
            active: src,
            passive: dst,
            active_qpn: qpn,
            passive_qpn: None,
            active_id: req.local_comm_id(),
            passive_id: None,
            service: req.service_id().map(service_name),
            facts: CmFacts {
                ack_timeout_ns: if timeout == 0 {
                    0
                } else {
                    TIMEOUT_UNIT_NS << timeout.min(31)
                },
                retry_count: req.retry_count().unwrap_or(0),
                rnr_retry_count: req.rnr_retry_count().unwrap_or(0),
                pmtu: req.path_mtu().map_or(0, u32::from),
                initiator_depth: req.initiator_depth().unwrap_or(0),
                reject_reason: None,
                disconnected: false,
            },
        });
        self.by_qpn.insert((src, qpn), index);
        if let Some(id) = req.local_comm_id() {
            self.by_id.insert((src, id), index);
        }
        Managed::Nothing
    }

    fn on_rep(&mut self, src: Address, dst: Address, rep: &Rep<'_>) -> Managed {
        let index = rep
            .remote_comm_id()
            .and_then(|id| self.by_id.get(&(dst, id)).copied());
        let (Some(index), Some(qpn)) = (index, rep.qpn()) else {
            return Managed::Nothing;
        };
        let Some(conversation) = self.list.get_mut(index) else {
            return Managed::Nothing;
        };
        if conversation.passive_qpn == Some(qpn) {
            return Managed::Nothing;
        }
        conversation.passive_qpn = Some(qpn);
        conversation.passive_id = rep.local_comm_id();
        let streams = conversation.streams();
        self.by_qpn.insert((src, qpn), index);
        streams.map_or(Managed::Nothing, Managed::Connected)
    }

    fn on_disconnect(&mut self, src: Address, dst: Address, message: &CmMessage<'_>) -> Managed {
        let (local, remote) = (message.local_comm_id(), message.remote_comm_id());
        let of_active =
            |host: Address, id: Option<u32>| id.and_then(|id| self.by_id.get(&(host, id)).copied());
        let Some(index) = of_active(src, local).or_else(|| of_active(dst, remote)) else {
            return ended_unseen(src, dst, message);
        };
        let Some(conversation) = self.list.get_mut(index) else {
            return Managed::Nothing;
        };
        let fits =
            conversation.passive_id.is_none() || [local, remote].contains(&conversation.passive_id);
        if !fits || conversation.facts.disconnected {
            return Managed::Nothing;
        }
        conversation.facts.disconnected = true;
        conversation
            .streams()
            .map_or(Managed::Nothing, Managed::Disconnected)
    }
}

/// A connection that was set up before the capture began: a DREQ names the queue pair of its receiver.
fn ended_unseen(src: Address, dst: Address, message: &CmMessage<'_>) -> Managed {
    let CmMessage::Dreq(dreq) = message else {
        return Managed::Nothing;
    };
    let stream = |dest_qpn| StreamKey { src, dst, dest_qpn };
    dreq.remote_qpn()
        .map(stream)
        .map_or(Managed::Nothing, |key| Managed::Disconnected([key; 2]))
}

/// `tcp:4420` for a port of RDMA-CM, else the number.
fn service_name(service: ServiceId) -> String {
    match service.ip() {
        Some((PortSpace::Tcp, port)) => format!("tcp:{port}"),
        Some((PortSpace::Udp, port)) => format!("udp:{port}"),
        Some((PortSpace::Ib, port)) => format!("ib:{port}"),
        Some((PortSpace::Other(number), port)) => format!("{number}:{port}"),
        None => format!("{:#018x}", service.0),
    }
}
