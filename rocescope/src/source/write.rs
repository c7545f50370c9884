//! Writing captures: pcap and pcapng.
//!
//! Times are rounded to the unit of the file or interface. Octets beyond what the formats can hold (2^32) are an error.

mod pcapng;

use rocescope_core::Time;
use rocescope_core::encap::LinkType;
use rocescope_core::time::SECOND_NS;
use std::io::{self, Write};

pub use pcapng::{InterfaceOptions, PacketOptions, PcapngWriter};

/// Octets of one frame that are allowed for in headers: what libpcap takes at most.
const SNAPLEN: u32 = 262_144;

/// The order in which a file holds the octets of a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ByteOrder {
    /// The low octet first.
    #[default]
    LittleEndian,
    /// The high octet first.
    BigEndian,
}

impl ByteOrder {
    fn u16(self, value: u16) -> [u8; 2] {
        if self == Self::BigEndian {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        }
    }

    fn u32(self, value: u32) -> [u8; 4] {
        if self == Self::BigEndian {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        }
    }

    fn u64(self, value: u64) -> [u8; 8] {
        if self == Self::BigEndian {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        }
    }

    fn words<const N: usize>(self, words: [u32; N]) -> Vec<u8> {
        words.into_iter().flat_map(|word| self.u32(word)).collect()
    }
}

/// Writes a pcap file.
#[derive(Debug)]
pub struct PcapWriter<W> {
    out: W,
    order: ByteOrder,
    nanoseconds: bool,
}

impl<W: Write> PcapWriter<W> {
    /// Writes the header of the file; with `nanoseconds` times are exact, else rounded down to microseconds.
    ///
    /// # Errors
    /// Those of writing.
    pub fn new(
        mut out: W,
        link: LinkType,
        order: ByteOrder,
        nanoseconds: bool,
    ) -> io::Result<Self> {
        let magic: u32 = if nanoseconds {
            0xa1b2_3c4d
        } else {
            0xa1b2_c3d4
        };
        out.write_all(&order.u32(magic))?;
        out.write_all(&order.u16(2))?;
        out.write_all(&order.u16(4))?;
        out.write_all(&order.words([0, 0, SNAPLEN, link.0]))?;
        Ok(Self {
            out,
            order,
            nanoseconds,
        })
    }

    /// Writes one frame of `wire_len` octets, of which `octets` were captured.
    ///
    /// # Errors
    /// Those of writing, and [`io::ErrorKind::InvalidInput`] for a time after 2106 or a frame of 2^32 octets.
    pub fn frame(&mut self, at: Time, wire_len: u32, octets: &[u8]) -> io::Result<()> {
        let seconds = u32::try_from(at.0 / SECOND_NS).map_err(|_| io::ErrorKind::InvalidInput)?;
        let fraction = at.0 % SECOND_NS / if self.nanoseconds { 1 } else { 1_000 };
        let len = length(octets)?;
        self.out
            .write_all(&self.order.words([seconds, fraction as u32, len, wire_len]))?;
        self.out.write_all(octets)
    }

    /// Gives the output back.
    pub fn into_inner(self) -> W {
        self.out
    }
}

fn length(octets: &[u8]) -> io::Result<u32> {
    u32::try_from(octets.len()).map_err(|_| io::ErrorKind::InvalidInput.into())
}
