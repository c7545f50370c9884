//! Latencies of a connection at this tap.

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
