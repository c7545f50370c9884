//! The answer side of a stream: counts only; what answers mean is judged where the requests are.

use crate::report;
use rocescope_wire::{Aeth, AethKind, NakCode, Operation, TransportPacket};
use std::collections::BTreeMap;

/// Counts of the answer side.
#[derive(Clone, Default, Debug)]
pub(crate) struct Responder {
    pub(crate) packets: u64,
    pub(crate) acks: u64,
    pub(crate) rnr_naks: u64,
    pub(crate) naks: report::Naks,
    pub(crate) read_responses: u64,
    pub(crate) atomic_acks: u64,
    pub(crate) mirror_duplicates: u64,
    pub(crate) credits: Option<u32>,
    pub(crate) msn: Option<u32>,
    pub(crate) rnr_timers: BTreeMap<u32, u64>,
    /// Highest PSN answered: a copy never goes beyond it.
    pub(crate) highest: Option<rocescope_wire::Psn>,
}

impl Responder {
    /// Books what kind of answer a packet is.
    pub(crate) fn count_kind(&mut self, packet: &TransportPacket<'_>) {
        if let Some(aeth) = packet.aeth() {
            self.msn = Some(aeth.msn().0);
        }
        match packet.info.map(|info| info.operation) {
            Some(Operation::RdmaReadResponse) => self.read_responses += 1,
            Some(Operation::AtomicAcknowledge) => self.atomic_acks += 1,
            Some(Operation::Acknowledge) => {
                if let Some(aeth) = packet.aeth() {
                    self.count_acknowledge(aeth);
                }
            }
            _ => {}
        }
    }

    fn count_acknowledge(&mut self, aeth: &Aeth) {
        match aeth.kind() {
            AethKind::Ack { credits } => {
                self.acks += 1;
                self.credits = credits;
            }
            AethKind::RnrNak { timer } => {
                self.rnr_naks += 1;
                *self
                    .rnr_timers
                    .entry(timer.tens_of_microseconds())
                    .or_default() += 1;
            }
            AethKind::Nak(code) => match code {
                NakCode::PsnSequenceError => self.naks.psn_sequence_error += 1,
                NakCode::InvalidRequest => self.naks.invalid_request += 1,
                NakCode::RemoteAccessError => self.naks.remote_access_error += 1,
                NakCode::RemoteOperationalError => self.naks.remote_operational_error += 1,
                NakCode::InvalidRdRequest => self.naks.invalid_rd_request += 1,
                NakCode::Other(_) => self.naks.other += 1,
            },
            AethKind::Reserved(_) => {}
        }
    }
}
