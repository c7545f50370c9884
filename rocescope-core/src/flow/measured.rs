//! What is measured of the answers to a stream's requests: latencies at this tap, and where NAKs put the losses.

use crate::histogram::Histogram;

/// Latencies at this tap: made with the first measurement.
#[derive(Clone, Default, Debug)]
pub(crate) struct Measured {
    pub(crate) ack: Histogram,
    pub(crate) read_first: Histogram,
    pub(crate) read_last: Histogram,
    pub(crate) message: Histogram,
    /// From an answer to the next request.
    pub(crate) turn: Histogram,
}

/// NAKs (PSN sequence error) by what they say of the place of the loss.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct NakPlaces {
    pub(crate) before: u64,
    pub(crate) after: u64,
    pub(crate) damaged: u64,
    pub(crate) reordering: u64,
    pub(crate) unknown: u64,
    pub(crate) of_rnr: u64,
    /// Beyond everything acknowledged before (`rcvd_seq_err` of rxe).
    pub(crate) advancing: u64,
}
