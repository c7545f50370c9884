//! From a path to octets: opening, decompressing, recognising.

use super::SourceError;
use super::facts::SourceFacts;
use super::pieces::{Capture, End, Format, PIECE, Pieces, read_once};
use flate2::bufread::MultiGzDecoder;
use pcap_parser::pcap::{PcapHeader, parse_pcap_header};
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

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

/// Looks through the compression of `input`, which is called `path`.
pub(super) fn from_reader(
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
        Pieces::new(Box::new(input), false, head, end)
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
        Pieces::new(input, true, head, end)
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

impl Opened {
    /// Recognises the capture by its first octets.
    pub(super) fn kind(&self) -> Result<Kind, SourceError> {
        let head = self.pieces.front();
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
        match (head.len(), Compression::of(head), self.pieces.end()) {
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
        self.pieces.drop_front(begin);
        let plus = if self.compression == Compression::None {
            ""
        } else {
            "+"
        };
        let facts = SourceFacts::new(
            self.path,
            format!("{name}{plus}{}", self.compression.name()),
        );
        Capture::new(self.pieces, facts, format, self.read, self.size)
    }

    /// Whether the file is shorter than `octets`.
    pub(super) fn is_shorter_than(&self, octets: usize) -> bool {
        self.pieces.front().len() < octets
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
