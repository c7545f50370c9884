//! Messages of the request side: where they begin and end, how large they are, and which were broken.

use super::stream::PacketFacts;
use crate::Time;
use rocescope_wire::{OpcodeInfo, Operation};

/// Messages of a stream, and the one under way.
#[derive(Clone, Default, Debug)]
pub(crate) struct Messages {
    /// The packet before, for the order within a message.
    before: Option<&'static OpcodeInfo>,
    /// When the message under way began.
    begun: Time,
    /// Its octets so far.
    octets: u64,
    /// A packet of it was stepped over, or its start was not seen.
    broken: bool,
    /// Seen to their end.
    pub(crate) count: u64,
    /// UC: those of which a packet was stepped over.
    pub(crate) broken_count: u64,
    /// By size: index n is up to 2^n octets.
    pub(crate) sizes: [u32; 32],
    pub(crate) operations: [u64; 6],
}

/// What a packet meant for its message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Step {
    /// When the whole message that it ends began.
    pub(crate) whole: Option<Time>,
    /// The packet before it, where this one cannot follow it.
    pub(crate) wrong_after: Option<u8>,
}

impl Messages {
    /// The stream begins, perhaps in the middle of a message.
    pub(crate) fn start(&mut self, packet: &PacketFacts) {
        self.broken = !packet.info.part.begins();
    }

    /// A packet beyond the high-water; `seamless` where no PSN was stepped over before it.
    #[inline]
    pub(crate) fn step(&mut self, packet: &PacketFacts, seamless: bool, unreliable: bool) -> Step {
        let info = packet.info;
        let before = self.before.replace(info);
        let wrong_after = match before {
            Some(before) if seamless && !follows(before, info) => Some(before.code),
            _ => None,
        };
        if !seamless {
            self.step_over(before, info, unreliable);
        }
        if info.part.begins() {
            self.begun = packet.at;
            self.octets = 0;
            self.broken = false;
            self.operations[operation_index(info.operation)] += 1;
        }
        self.octets += u64::from(packet.payload_len);
        let whole = info.part.ends() && !self.broken;
        if info.part.ends() {
            // A reliable sender sends again what is missing: its messages are whole in the end.
            self.count += u64::from(whole || !unreliable);
        }
        if whole {
            let octets = packet
                .dma_len
                .map_or(self.octets, |asked| u64::from(asked).max(self.octets));
            let class = u64::BITS - octets.saturating_sub(1).leading_zeros();
            self.sizes[(class as usize).min(31)] += 1;
        }
        Step {
            whole: whole.then_some(self.begun),
            wrong_after,
        }
    }

    /// PSNs were stepped over between `before` and `info`.
    fn step_over(&mut self, before: Option<&OpcodeInfo>, info: &OpcodeInfo, unreliable: bool) {
        let Some(before) = before else { return };
        let in_message = !before.part.ends();
        if in_message && !self.broken || !in_message && !info.part.begins() {
            self.broken = true;
            self.broken_count += u64::from(unreliable);
        }
    }

    /// More Middle packets of the message under way.
    pub(crate) fn add_octets(&mut self, octets: u64) {
        self.octets += octets;
    }

    /// A late packet of UC: its message stays broken.
    pub(crate) fn stay_broken(&mut self) {
        self.broken = true;
    }
}

/// Operations as counted: SEND, RDMA WRITE, RDMA READ, atomics, FLUSH, ATOMIC WRITE.
fn operation_index(operation: Operation) -> usize {
    match operation {
        Operation::Send => 0,
        Operation::RdmaWrite => 1,
        Operation::RdmaReadRequest => 2,
        Operation::CompareSwap | Operation::FetchAdd => 3,
        Operation::Flush => 4,
        _ => 5,
    }
}

/// Whether a packet may follow the one before it on its queue pair (rxe `check_op_seq`).
#[inline]
fn follows(before: &OpcodeInfo, now: &OpcodeInfo) -> bool {
    if before.part.ends() {
        now.part.begins()
    } else {
        !now.part.begins() && before.operation == now.operation
    }
}
