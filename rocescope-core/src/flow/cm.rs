//! What connection management said between two hosts: which queue pairs belong together, and on what terms.

use super::stream::StreamKey;
use crate::Address;
use crate::Time;
use crate::report::CmFacts;
use rocescope_wire::Qpn;
use std::collections::HashMap;

/// Conversations remembered a partition; the oldest leave.
const MOST_CONVERSATIONS: usize = 65_536;

/// One REQ and what came of it.
#[derive(Clone, Debug)]
pub(crate) struct Conversation {
    pub(crate) active: Address,
    pub(crate) passive: Address,
    pub(crate) active_qpn: Qpn,
    pub(crate) passive_qpn: Option<Qpn>,
    active_id: u32,
    passive_id: Option<u32>,
    pub(crate) service: Option<String>,
    pub(crate) facts: CmFacts,
    pub(crate) at: Time,
}

/// The conversations of a partition.
#[derive(Default, Debug)]
pub(crate) struct CmBook {
    list: Vec<Conversation>,
    /// Latest conversation by host and queue pair.
    by_qpn: HashMap<(Address, Qpn), usize, foldhash::fast::FixedState>,
}

impl CmBook {
    /// The conversation that set up the queue pair `qpn` of `host`.
    pub(crate) fn of(&self, host: Address, qpn: Qpn) -> Option<&Conversation> {
        self.by_qpn.get(&(host, qpn)).and_then(|index| self.list.get(*index))
    }

    fn of_mut(&mut self, host: Address, qpn: Qpn) -> Option<&mut Conversation> {
        self.by_qpn.get(&(host, qpn)).and_then(|index| self.list.get_mut(*index))
    }

    /// The other direction of the stream `key`, where CM set up both queue pairs.
    pub(crate) fn partner(&self, key: &StreamKey) -> Option<StreamKey> {
        let conversation = self.of(key.dst, key.dest_qpn)?;
        let other_qpn = if conversation.active == key.dst { conversation.passive_qpn? } else { conversation.active_qpn };
        Some(StreamKey { src: key.dst, dst: key.src, dest_qpn: other_qpn })
    }
}
