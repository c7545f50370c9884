//! From a path to octets in pieces: opening, decompressing, recognising, and the one loop that all file formats share.

use super::facts::{Problem, SourceFacts};
use super::{Batch, Entry, Source, SourceError};
use flate2::bufread::MultiGzDecoder;
use pcap_parser::pcap::{PcapHeader, parse_pcap_header};
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Octets read at a time. Measured beside a memory map: equal for small frames, and safe when the file changes.
pub const PIECE: usize = 256 << 10;
/// The largest record that is read, octets: the piece grows up to it, larger records are skipped.
pub const MAX_RECORD: usize = 16 << 20;
/// Octets looked at to recognise a file.
const HEAD: usize = 512;

/// Opened and not yet recognised.
pub(super) struct Opened {
    path: String,
    compression: Compression,
    pieces: Pieces,
    read: Arc<AtomicU64>,
    size: Option<u64>,
}

/// What the first octets say.
pub(super) enum Kind {
    Pcap(PcapHeader),
    Pcapng,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Compression {
    None,
    Gzip,
    Zstd,
}

impl Compression {
    fn of(head: &[u8]) -> Self {
        match head {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Self::Zstd,
            _ => Self::None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }
}

/// Counts the octets that come from the file itself.
struct Counted<R> {
    input: R,
    read: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, octets: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(octets)?;
        self.read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// Opens `path` and looks through its compression.
pub(super) fn open(path: &Path) -> Result<Opened, SourceError> {
    if path == Path::new("-") {
        return from_reader(path, io::stdin(), None);
    }
    let file = File::open(path).map_err(|error| SourceError::from_io(path, error))?;
    let about = file
        .metadata()
        .map_err(|error| SourceError::from_io(path, error))?;
    if about.is_dir() {
        return Err(SourceError::Directory {
            path: path.display().to_string(),
        });
    }
    from_reader(path, file, about.is_file().then_some(about.len()))
}

fn from_reader(
    path: &Path,
    input: impl Read + Send + 'static,
    size: Option<u64>,
) -> Result<Opened, SourceError> {
    let read = Arc::new(AtomicU64::new(0));
    let mut input = Counted {
        input,
        read: Arc::clone(&read),
    };
    let (head, end) = read_head(&mut input);
    if head.is_empty() {
        return Err(match end {
            Some(End::Failed(error)) => SourceError::from_io(path, error),
            _ => SourceError::Empty {
                path: path.display().to_string(),
            },
        });
    }
    let compression = Compression::of(&head);
    let pieces = if compression == Compression::None {
        Pieces {
            end,
            ..Pieces::new(Box::new(input), head)
        }
    } else {
        let stored = BufReader::with_capacity(PIECE, Cursor::new(head).chain(input));
        let mut input: Box<dyn Read + Send> = match compression {
            Compression::Zstd => Box::new(
                zstd::stream::read::Decoder::with_buffer(stored)
                    .map_err(|error| SourceError::from_io(path, error))?,
            ),
            _ => Box::new(MultiGzDecoder::new(stored)),
        };
        let (head, end) = read_head(&mut input);
        Pieces {
            end,
            ..Pieces::new(input, head)
        }
    };
    Ok(Opened {
        path: path.display().to_string(),
        compression,
        pieces,
        read,
        size,
    })
}

fn read_head(input: &mut impl Read) -> (Vec<u8>, Option<End>) {
    let mut head = Vec::with_capacity(HEAD);
    let mut buffer = [0; HEAD];
    let mut end = None;
    while head.len() < HEAD && end.is_none() {
        let room = HEAD - head.len();
        let count = read_once(input, buffer.get_mut(..room).unwrap_or_default(), &mut end);
        head.extend_from_slice(buffer.get(..count).unwrap_or_default());
    }
    (head, end)
}

/// Reads once; no octets, a failure, end up in `end`.
fn read_once(input: &mut impl Read, octets: &mut [u8], end: &mut Option<End>) -> usize {
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

impl Opened {
    /// Recognises the capture by its first octets.
    pub(super) fn kind(&self) -> Result<Kind, SourceError> {
        let head = self.pieces.carry.as_slice();
        let path = self.path.clone();
        let unsupported = |what: String, convert| {
            Err(SourceError::Unsupported {
                path: path.clone(),
                what,
                convert,
            })
        };
        match head {
            [0xa1, 0xb2, 0xc3, 0xd4, ..]
            | [0xa1, 0xb2, 0x3c, 0x4d, ..]
            | [0xd4, 0xc3, 0xb2, 0xa1, ..]
            | [0x4d, 0x3c, 0xb2, 0xa1, ..] => match parse_pcap_header(head) {
                Ok((_, header)) if header.version_major != 2 => {
                    let (major, minor) = (header.version_major, header.version_minor);
                    unsupported(
                        format!("version {major}.{minor} of pcap"),
                        "editcap -F pcap OLD NEW",
                    )
                }
                Ok((_, header)) => Ok(Kind::Pcap(header)),
                // Only the end of the file can be missing: a capture cut in its header, with no frame before the cut.
                Err(_) => Ok(Kind::Pcap(PcapHeader::new())),
            },
            [0x0a, 0x0d, 0x0d, 0x0a, rest @ ..] => match rest.get(4..8) {
                None | Some([0x1a, 0x2b, 0x3c, 0x4d] | [0x4d, 0x3c, 0x2b, 0x1a]) => {
                    Ok(Kind::Pcapng)
                }
                Some(_) => Err(SourceError::NotACapture {
                    path,
                    looks: "begins like pcapng but has no byte-order magic".into(),
                }),
            },
            [0xa1, 0xb2, 0xcd, 0x34, ..] | [0x34, 0xcd, 0xb2, 0xa1, ..] => unsupported(
                "pcap in the modified form of Kuznetzov".into(),
                "editcap -F pcap OLD NEW",
            ),
            [b's', b'n', b'o', b'o', b'p', 0, 0, 0, ..] => {
                unsupported("snoop".into(), "editcap -F pcap OLD NEW")
            }
            [0xfd, b'7', b'z', b'X', b'Z', ..] => {
                unsupported("xz compression".into(), "xz -d FILE")
            }
            [b'B', b'Z', b'h', ..] => unsupported("bzip2 compression".into(), "bzip2 -d FILE"),
            [0x04, 0x22, 0x4d, 0x18, ..] => unsupported("lz4 compression".into(), "lz4 -d FILE"),
            [b'P', b'K', 3, 4, ..] => unsupported("a zip archive".into(), "unzip FILE"),
            _ => Err(SourceError::NotACapture {
                path,
                looks: self.looks(head),
            }),
        }
    }

    fn looks(&self, head: &[u8]) -> String {
        let inside = match self.compression {
            Compression::None => String::new(),
            other => format!(" compressed with {}", other.name()),
        };
        let hex = head
            .iter()
            .take(4)
            .map(|octet| format!("{octet:02x}"))
            .collect::<Vec<_>>()
            .join(" ");
        match (head.len(), Compression::of(head), &self.pieces.end) {
            (0, _, Some(End::Failed(error))) => format!(
                "is {} data that cannot be read: {error}",
                self.compression.name()
            ),
            (0, ..) => format!("is nothing{inside}"),
            (1..4, ..) => format!("has only {} octets{inside}", head.len()),
            (_, Compression::Gzip | Compression::Zstd, _) => {
                format!("is compressed more than once{inside}")
            }
            _ if looks_like_text(head) => format!("looks like text{inside}"),
            _ => format!("looks like unknown binary data{inside}, beginning {hex}"),
        }
    }

    /// Makes the source that reads with `format`, after the first `begin` octets; `name` as in [`SourceFacts::format`].
    pub(super) fn into_capture<F: Format>(
        mut self,
        name: &str,
        begin: usize,
        format: F,
    ) -> Capture<F> {
        let begin = begin.min(self.pieces.carry.len());
        self.pieces.carry.drain(..begin);
        self.pieces.offset = begin as u64;
        let plus = if self.compression == Compression::None {
            ""
        } else {
            "+"
        };
        Capture {
            facts: SourceFacts::new(
                self.path,
                format!("{name}{plus}{}", self.compression.name()),
            ),
            pieces: self.pieces,
            format,
            over: false,
            read: self.read,
            size: self.size,
        }
    }

    /// Whether the file is shorter than `octets`.
    pub(super) fn is_shorter_than(&self, octets: usize) -> bool {
        self.pieces.carry.len() < octets
    }
}

fn looks_like_text(head: &[u8]) -> bool {
    let valid = match std::str::from_utf8(head) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    };
    valid
        && head
            .iter()
            .all(|octet| *octet >= b' ' || matches!(octet, b'\t' | b'\n' | b'\r' | 0x1b))
}

/// How the octets of an input end.
enum End {
    Whole,
    Failed(io::Error),
}

/// The octets of a capture, in pieces.
struct Pieces {
    input: Box<dyn Read + Send>,
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
    fn new(input: Box<dyn Read + Send>, head: Vec<u8>) -> Self {
        Self {
            input,
            carry: head,
            offset: 0,
            skip: 0,
            wanted: 0,
            end: None,
        }
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
            self.skip -= count as u64;
            self.offset += count as u64;
        }
        let mut filled = self.carry.len();
        if let Some(begin) = octets.get_mut(..filled) {
            begin.copy_from_slice(&self.carry);
        }
        while self.end.is_none() {
            filled += read_once(
                &mut self.input,
                octets.get_mut(filled..size).unwrap_or_default(),
                &mut self.end,
            );
            if filled >= self.wanted {
                break;
            }
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

impl<F: Format> Source for Capture<F> {
    fn read_batch(&mut self, batch: &mut Batch) -> bool {
        batch.entries.clear();
        while !self.over && batch.entries.is_empty() {
            let filled = self.pieces.fill(&mut batch.octets);
            let piece = batch.octets.get(..filled).unwrap_or_default();
            let rest = self.format.records(
                piece,
                self.pieces.offset,
                &mut self.facts,
                &mut batch.entries,
            );
            self.pieces.keep(piece, &rest);
            self.over = rest.stop;
            if let (false, Some(end)) = (rest.stop, &self.pieces.end) {
                self.over = true;
                let inside = !self.pieces.carry.is_empty() || self.pieces.skip > 0;
                end_of_input(
                    end,
                    inside,
                    self.pieces.offset + self.pieces.carry.len() as u64,
                    &mut self.facts,
                );
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
    let frames = facts.frames();
    match end {
        End::Whole if !inside => return,
        End::Whole => facts.problem(
            Problem::Cut,
            format_args!("breaks off in the middle of a record at byte offset {offset}: {frames} frames before it are analysed"),
        ),
        End::Failed(error) if error.kind() == io::ErrorKind::UnexpectedEof => facts.problem(
            Problem::Cut,
            format_args!("its compressed data breaks off at byte offset {offset} of the capture: {frames} frames before it are analysed"),
        ),
        End::Failed(error) => facts.problem(
            Problem::Read,
            format_args!("cannot be read behind byte offset {offset} of the capture ({error}): {frames} frames before it are analysed"),
        ),
    }
    facts.truncated_at = Some(offset);
}
