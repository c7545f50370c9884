//! Capture files as batches of frames: pcap and pcapng, plain or compressed with gzip or zstd, from a file or standard input.
//!
//! A file is read in pieces of 256 KiB, and entries point into the piece: no octet of a frame is copied but those of the
//! one record that straddles two pieces. Nothing a file says is trusted: what cannot be used becomes one line among the
//! problems of its [`SourceFacts`], and everything readable before it, and behind it where the next record can be found, is kept.

mod error;
mod facts;
mod input;
pub mod merge;

mod pcap;
mod pcapng;
mod pieces;
#[cfg(test)]
mod tests;
mod unit;
pub mod walk;
pub mod write;

use rocescope_core::Time;
use rocescope_core::encap::LinkType;
use std::io::Read;
use std::path::Path;

pub use error::SourceError;
pub use facts::{InterfaceFacts, SourceFacts};
pub use merge::Merge;
pub use pieces::{MAX_RECORD, PIECE};

/// The way a frame went through the interface that captured it, where the capture says so.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Direction {
    /// Not said.
    #[default]
    Unknown,
    /// Received by the interface.
    Inbound,
    /// Sent by the interface.
    Outbound,
}

/// One captured frame: what is known beside its octets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrameEntry {
    /// Number of the frame in its source, from 1, as Wireshark counts.
    pub number: u64,
    /// Time of capture.
    pub at: Time,
    /// Interface: index into [`SourceFacts::interfaces`]. It counts on over the sections of a pcapng file.
    pub interface: u32,
    /// Link type of the interface. It may be one that is not known here: such frames are handed out and counted like any other.
    pub link: LinkType,
    /// Where the octets of the frame begin in the octets of the batch.
    pub start: u32,
    /// Octets captured.
    pub len: u32,
    /// Octets on the wire, never below `len`.
    pub wire_len: u32,
    /// Index of the source among those that were merged; 0 for a source alone.
    pub source: u16,
    /// Which way it went.
    pub direction: Direction,
}

/// One entry of a batch, in the order of the source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Entry {
    /// A captured frame.
    Frame(FrameEntry),
    /// The capture itself says that it lost frames.
    Lost {
        /// Index of the source among those that were merged; 0 for a source alone.
        source: u16,
        /// Interface: index into [`SourceFacts::interfaces`].
        interface: u32,
        /// The frames were lost after this time.
        from: Time,
        /// The frames were lost before this time. It may lie before frames already handed out: counters come late.
        until: Time,
        /// How many.
        frames: u64,
    },
}

/// A piece of a capture and what is in it. Made once and filled again and again.
#[derive(Debug, Default)]
pub struct Batch {
    /// Octets of the capture. Only those that entries point to have a meaning: the rest is left from the batch before.
    pub octets: Vec<u8>,
    /// What was found, in order.
    pub entries: Vec<Entry>,
}

impl Batch {
    /// The captured octets of a frame of this batch; nothing for an entry of another batch.
    #[must_use]
    #[inline]
    pub fn octets_of(&self, frame: &FrameEntry) -> &[u8] {
        let start = frame.start as usize;
        self.octets
            .get(start..start + frame.len as usize)
            .unwrap_or(&[])
    }
}

/// Where frames come from.
pub trait Source: Send {
    /// Replaces the contents of `batch` by the next entries; false at the end of the source, when nothing was added.
    /// What goes wrong while reading ends the source and is told in its facts.
    fn read_batch(&mut self, batch: &mut Batch) -> bool;

    /// What is known about the source so far; complete at its end.
    fn facts(&self) -> &SourceFacts;

    /// Octets read of the file and its size, both as stored (compressed); nothing where the size is not known.
    fn progress(&self) -> Option<(u64, u64)>;
}

/// Opens a capture; `-` is standard input. Format and compression are recognised by content, never by name.
///
/// # Errors
/// [`SourceError`] where the file cannot be read or is not a capture. A damaged or cut capture is no error.
pub fn open(path: &Path) -> Result<Box<dyn Source>, SourceError> {
    recognise(input::open(path)?)
}

/// Reads a capture from anything that gives octets; `name` stands for a path in facts and errors.
///
/// # Errors
/// As [`open`].
pub fn read_from(
    name: &str,
    input: impl Read + Send + 'static,
) -> Result<Box<dyn Source>, SourceError> {
    recognise(input::from_reader(Path::new(name), input, None)?)
}

fn recognise(opened: input::Opened) -> Result<Box<dyn Source>, SourceError> {
    match opened.kind()? {
        input::Kind::Pcap(header) => Ok(Box::new(pcap::open(opened, &header))),
        input::Kind::Pcapng => Ok(Box::new(pcapng::open(opened))),
    }
}
