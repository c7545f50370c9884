//! The answer side of a stream: counts only; what answers mean is judged where the requests are.

use crate::report;
use rocescope_wire::{Aeth, AethKind, NakCode};
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
    pub(crate) fn on_acknowledge(&mut self, aeth: &Aeth) {
        self.msn = Some(aeth.msn().0);
        match aeth.kind() {
            AethKind::Ack { credits } => {
                self.acks += 1;
                self.credits = credits;
            }
            AethKind::RnrNak { timer } => {
                self.rnr_naks += 1;
                *self.rnr_timers.entry(timer.microseconds_x10()).or_default() += 1;
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
