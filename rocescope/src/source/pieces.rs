//! Octets in pieces, and the one loop that all file formats share.

use super::facts::{Problem, SourceFacts, count};
use super::{Batch, Entry, Source};
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Octets read at a time. Measured beside a memory map: equal for small frames, and safe when the file changes.
pub const PIECE: usize = 256 << 10;
/// Octets decompressed at a time.
const STEP: usize = 8 << 10;
/// The largest record that is read, octets: the piece grows up to it, larger records are skipped.
pub const MAX_RECORD: usize = 16 << 20;

/// Reads once; no octets, a failure, end up in `end`.
pub(super) fn read_once(input: &mut impl Read, octets: &mut [u8], end: &mut Option<End>) -> usize {
    loop {
        match input.read(octets) {
            Ok(0) => *end = Some(End::Whole),
            Ok(count) => return count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => *end = Some(End::Failed(error)),
        }
        return 0;
    }
}

/// How the octets of an input end.
pub(super) enum End {
    Whole,
    Failed(io::Error),
}

/// The octets of a capture, in pieces.
pub(super) struct Pieces {
    input: Box<dyn Read + Send>,
    /// Decompressed while read: in small steps, for a step in which the data turns out to be damaged is lost.
    decompressed: bool,
    /// The part of the last piece that was not used up: it begins the next.
    carry: Vec<u8>,
    /// Offset in the stream of the first octet of the carry.
    offset: u64,
    /// Octets to drop before the next piece.
    skip: u64,
    /// Octets without which the next record is not whole.
    wanted: usize,
    end: Option<End>,
}

impl Pieces {
    /// The octets of `input`, of which `head` was read already, and perhaps its `end`.
    pub(super) fn new(
        input: Box<dyn Read + Send>,
        decompressed: bool,
        head: Vec<u8>,
        end: Option<End>,
    ) -> Self {
        Self {
            input,
            decompressed,
            carry: head,
            offset: 0,
            skip: 0,
            wanted: 0,
            end,
        }
    }

    /// What was read and not used.
    pub(super) fn front(&self) -> &[u8] {
        &self.carry
    }

    /// How the input ended, if it did.
    pub(super) fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// Drops octets from the front, at most all of it.
    pub(super) fn drop_front(&mut self, octets: usize) {
        let octets = octets.min(self.carry.len());
        self.carry.drain(..octets);
        self.offset += octets as u64;
    }

    /// Begins `octets` with the carry, reads behind it, and gives the count of octets that are there.
    fn fill(&mut self, octets: &mut Vec<u8>) -> usize {
        let size = PIECE.max(self.wanted).max(self.carry.len() + 1);
        if octets.len() < size {
            octets.resize(size, 0);
        }
        while self.skip > 0 && self.end.is_none() {
            let room = size.min(usize::try_from(self.skip).unwrap_or(size));
            let count = read_once(
                &mut self.input,
                octets.get_mut(..room).unwrap_or_default(),
                &mut self.end,
            );
            self.skip = self.skip.saturating_sub(count as u64);
            self.offset += count as u64;
        }
        let mut filled = self.carry.len();
        if let Some(begin) = octets.get_mut(..filled) {
            begin.copy_from_slice(&self.carry);
        }
        // What a pipe gives is handed on at once; whole pieces are made of what is decompressed.
        let enough = if self.decompressed {
            size
        } else {
            self.wanted.max(filled + 1)
        };
        while self.end.is_none() && filled < enough {
            let until = if self.decompressed {
                size.min(filled + STEP)
            } else {
                size
            };
            let room = octets.get_mut(filled..until).unwrap_or_default();
            filled += read_once(&mut self.input, room, &mut self.end);
        }
        filled
    }

    /// Keeps what a format left of the piece.
    fn keep(&mut self, piece: &[u8], rest: &Rest) {
        let left = piece.get(rest.at..).unwrap_or_default();
        self.carry.clear();
        self.carry.extend_from_slice(left);
        self.offset += (piece.len() - left.len()) as u64;
        self.skip = rest.skip;
        self.wanted = rest.wanted;
    }
}

/// Where a format stopped in a piece.
#[derive(Default)]
pub(super) struct Rest {
    /// First octet that was not used up.
    pub(super) at: usize,
    /// Octets from there that make the next record whole.
    pub(super) wanted: usize,
    /// Octets behind the piece to drop.
    pub(super) skip: u64,
    /// Nothing behind can be read.
    pub(super) stop: bool,
}

impl Rest {
    /// What is left at `at` of a piece of `filled` octets, where a record of `length` octets begins that is not whole.
    pub(super) fn of_record(at: usize, length: u64, filled: usize) -> Self {
        match usize::try_from(length) {
            Ok(wanted) if wanted <= MAX_RECORD => Self {
                at,
                wanted,
                ..Self::default()
            },
            _ => Self {
                at: filled,
                skip: length.saturating_sub((filled - at) as u64),
                ..Self::default()
            },
        }
    }
}

/// A file format: from a piece to entries.
pub(super) trait Format: Send {
    /// Appends the entries of all records that are whole in `piece`, which begins at `offset` of the stream.
    fn records(
        &mut self,
        piece: &[u8],
        offset: u64,
        facts: &mut SourceFacts,
        entries: &mut Vec<Entry>,
    ) -> Rest;
}

/// A capture file being read.
pub(super) struct Capture<F> {
    pieces: Pieces,
    pub(super) facts: SourceFacts,
    format: F,
    over: bool,
    read: Arc<AtomicU64>,
    size: Option<u64>,
}

impl<F: Format> Capture<F> {
    /// A capture of which `pieces` are to be read; `read` counts the octets of the file, which has `size`.
    pub(super) fn new(
        pieces: Pieces,
        facts: SourceFacts,
        format: F,
        read: Arc<AtomicU64>,
        size: Option<u64>,
    ) -> Self {
        Self {
            pieces,
            facts,
            format,
            over: false,
            read,
            size,
        }
    }
}

impl<F: Format> Source for Capture<F> {
    fn read_batch(&mut self, batch: &mut Batch) -> bool {
        batch.entries.clear();
        while !self.over && batch.entries.is_empty() {
            let filled = self.pieces.fill(&mut batch.octets);
            if self.pieces.skip == 0 {
                let piece = batch.octets.get(..filled).unwrap_or_default();
                let (facts, entries) = (&mut self.facts, &mut batch.entries);
                let rest = self
                    .format
                    .records(piece, self.pieces.offset, facts, entries);
                self.pieces.keep(piece, &rest);
                self.over = rest.stop;
            }
            if let (false, Some(end)) = (self.over, &self.pieces.end) {
                self.over = true;
                let inside = !self.pieces.carry.is_empty() || self.pieces.skip > 0;
                let offset = self.pieces.offset + self.pieces.carry.len() as u64;
                end_of_input(end, inside, offset, &mut self.facts);
            }
        }
        !batch.entries.is_empty()
    }

    fn facts(&self) -> &SourceFacts {
        &self.facts
    }

    fn progress(&self) -> Option<(u64, u64)> {
        self.size
            .map(|size| (self.read.load(Ordering::Relaxed), size))
    }
}

/// Says how the input ended; `inside` a record or not.
fn end_of_input(end: &End, inside: bool, offset: u64, facts: &mut SourceFacts) {
    let frames = count(facts.frames(), "frame");
    match end {
        End::Whole if !inside => return,
        End::Whole => facts.problem(
            Problem::Cut,
            format_args!("breaks off in the middle of a record at byte offset {offset}: {frames} before it analysed"),
        ),
        End::Failed(error) if error.kind() == io::ErrorKind::UnexpectedEof => facts.problem(
            Problem::Cut,
            format_args!("its compressed data breaks off at byte offset {offset} of the capture: {frames} before it analysed"),
        ),
        End::Failed(error) => facts.problem(
            Problem::Read,
            format_args!("cannot be read behind byte offset {offset} of the capture ({error}): {frames} before it analysed"),
        ),
    }
    facts.truncated_at = Some(offset);
}
