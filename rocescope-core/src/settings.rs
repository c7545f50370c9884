//! What can be set about an analysis.

use rocescope_wire::RdOrDc;

/// Streams kept unless told otherwise.
pub const DEFAULT_MAX_STREAMS: usize = 262_144;

/// Settings of one analysis.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Check the ICRC of whole frames.
    pub check_icrc: bool,
    /// How opcodes 0x40 to 0x5f are read.
    pub read_0x40_as: RdOrDc,
    /// Streams kept; beyond this the least recently seen leave.
    pub max_streams: usize,
    /// Thresholds that differ from their defaults, by finding and key.
    pub thresholds: crate::thresholds::Thresholds,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            check_icrc: true,
            read_0x40_as: RdOrDc::Rd,
            max_streams: DEFAULT_MAX_STREAMS,
            thresholds: crate::thresholds::Thresholds::default(),
        }
    }
}
