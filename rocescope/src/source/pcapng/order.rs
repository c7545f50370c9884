//! The order of octets in a section, and what depends on it.

use pcap_parser::PcapError;
use pcap_parser::nom::Err;
use pcap_parser::pcapng::{parse_option_be, parse_option_le};

/// End of a list of options, opt_endofopt.
const END: u16 = 0;

/// The order of octets in a section.
#[derive(Clone, Copy, Default)]
pub(super) struct Order {
    pub(super) big_endian: bool,
}

impl Order {
    #[inline]
    pub(super) fn u32(self, octets: [u8; 4]) -> u32 {
        if self.big_endian {
            u32::from_be_bytes(octets)
        } else {
            u32::from_le_bytes(octets)
        }
    }

    pub(super) fn u16_at(self, octets: &[u8], at: usize) -> Option<u16> {
        let octets = *octets.get(at..)?.first_chunk()?;
        Some(if self.big_endian {
            u16::from_be_bytes(octets)
        } else {
            u16::from_le_bytes(octets)
        })
    }

    pub(super) fn u32_at(self, octets: &[u8], at: usize) -> Option<u32> {
        Some(self.u32(*octets.get(at..)?.first_chunk()?))
    }

    pub(super) fn u64(self, octets: &[u8]) -> Option<u64> {
        let octets = octets.try_into().ok()?;
        Some(if self.big_endian {
            u64::from_be_bytes(octets)
        } else {
            u64::from_le_bytes(octets)
        })
    }

    /// Calls `each` with the code and value of every option; false where an option runs past the end.
    pub(super) fn options(self, mut octets: &[u8], mut each: impl FnMut(u16, &[u8])) -> bool {
        while !octets.is_empty() {
            let parse = if self.big_endian {
                parse_option_be
            } else {
                parse_option_le
            };
            let Ok::<_, Err<PcapError<&[u8]>>>((rest, option)) = parse(octets) else {
                return false;
            };
            if option.code.0 == END {
                break;
            }
            each(option.code.0, option.as_bytes().unwrap_or_default());
            octets = rest;
        }
        true
    }
}
