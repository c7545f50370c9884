//! pcap, the classic format (draft-ietf-opsawg-pcap): a file header of 24 octets, then records of 16 octets and a frame.

use super::facts::{Problem, SourceFacts};
use super::input::{Capture, Format, MAX_RECORD, Opened, Rest};
use super::{Direction, Entry, FrameEntry, InterfaceFacts};
use pcap_parser::pcap::PcapHeader;
use rocescope_core::Time;
use rocescope_core::encap::LinkType;
use rocescope_core::time::SECOND_NS;

/// Octets of the file header.
pub(super) const FILE_HEADER: usize = 24;
/// Octets of a record's header.
pub(super) const RECORD_HEADER: usize = 16;

/// What the file header says.
pub(super) struct Pcap {
    link: LinkType,
    big_endian: bool,
    /// Nanoseconds of one count of the fraction.
    fraction_ns: u32,
    /// The file breaks off in its header.
    headless: bool,
}

pub(super) fn open(opened: Opened, header: &PcapHeader) -> Capture<Pcap> {
    let nanoseconds = header.is_nanosecond_precision();
    // The high 16 bits hold the length of a captured FCS, and flags.
    let link = LinkType(header.network.0.cast_unsigned() & 0xffff);
    let headless = opened.is_shorter_than(FILE_HEADER);
    let fraction_ns = if nanoseconds { 1 } else { 1_000 };
    let format = Pcap {
        link,
        big_endian: header.is_bigendian(),
        fraction_ns,
        headless,
    };
    let begin = if headless { 0 } else { FILE_HEADER };
    let mut capture =
        opened.into_capture(if nanoseconds { "pcap-ns" } else { "pcap" }, begin, format);
    if !headless {
        capture.facts.interfaces.push(InterfaceFacts {
            name: None,
            link,
            frames: 0,
        });
    }
    capture
}

/// The header of a record.
#[derive(Clone, Copy)]
pub(super) struct RecordHeader {
    pub(super) seconds: u32,
    pub(super) fraction: u32,
    pub(super) len: u32,
    pub(super) wire_len: u32,
}

impl RecordHeader {
    /// Reads the header at `at`.
    #[inline]
    pub(super) fn at<const BIG_ENDIAN: bool>(octets: &[u8], at: usize) -> Option<Self> {
        let (fields, _) = octets
            .get(at..)?
            .first_chunk::<RECORD_HEADER>()?
            .as_chunks::<4>();
        let [seconds, fraction, len, wire_len] = *fields else {
            return None;
        };
        let read = if BIG_ENDIAN {
            u32::from_be_bytes
        } else {
            u32::from_le_bytes
        };
        Some(Self {
            seconds: read(seconds),
            fraction: read(fraction),
            len: read(len),
            wire_len: read(wire_len),
        })
    }
}

impl Format for Pcap {
    fn records(
        &mut self,
        piece: &[u8],
        offset: u64,
        facts: &mut SourceFacts,
        entries: &mut Vec<Entry>,
    ) -> Rest {
        if self.headless {
            return Rest {
                wanted: FILE_HEADER,
                ..Rest::default()
            };
        }
        let before = facts.frames();
        let rest = if self.big_endian {
            self.walk::<true>(piece, offset, facts, entries)
        } else {
            self.walk::<false>(piece, offset, facts, entries)
        };
        if let Some(interface) = facts.interfaces.first_mut() {
            interface.frames += facts.tally.frames - before;
        }
        rest
    }
}

impl Pcap {
    fn walk<const BIG_ENDIAN: bool>(
        &self,
        piece: &[u8],
        offset: u64,
        facts: &mut SourceFacts,
        entries: &mut Vec<Entry>,
    ) -> Rest {
        let fractions = SECOND_NS as u32 / self.fraction_ns;
        let mut tally = facts.tally;
        let mut at = 0;
        let mut rest = Rest {
            wanted: RECORD_HEADER,
            ..Rest::default()
        };
        while let Some(header) = RecordHeader::at::<BIG_ENDIAN>(piece, at) {
            let start = at + RECORD_HEADER;
            let next = start + header.len as usize;
            let odd = header.len > header.wire_len || header.fraction >= fractions;
            if odd || next > piece.len() {
                if next > piece.len() {
                    rest = Rest::of_record(at, (next - at) as u64, piece.len());
                    if rest.skip > 0 {
                        huge(&header, offset + at as u64, facts);
                    }
                    at = rest.at;
                    break;
                }
                strange(&header, fractions, offset + at as u64, facts);
            }
            let wire_len = header.wire_len.max(header.len);
            let time = u64::from(header.seconds) * SECOND_NS
                + u64::from(header.fraction) * u64::from(self.fraction_ns);
            tally.time(time);
            let number = tally.frame(header.len, wire_len);
            entries.push(Entry::Frame(FrameEntry {
                number,
                at: Time(time),
                interface: 0,
                link: self.link,
                start: start as u32,
                len: header.len,
                wire_len,
                source: 0,
                direction: Direction::Unknown,
            }));
            at = next;
        }
        facts.tally = tally;
        Rest { at, ..rest }
    }
}

/// A record too large to be read.
#[cold]
fn huge(header: &RecordHeader, offset: u64, facts: &mut SourceFacts) {
    let (len, most) = (header.len, MAX_RECORD >> 20);
    facts.problem(
        Problem::Huge,
        format_args!("record at byte offset {offset} says it holds {len} octets, more than {most} MiB: skipped"),
    );
}

/// A record that contradicts itself and can be used nevertheless.
#[cold]
fn strange(header: &RecordHeader, fractions: u32, offset: u64, facts: &mut SourceFacts) {
    let RecordHeader {
        fraction,
        len,
        wire_len,
        ..
    } = *header;
    if len > wire_len {
        facts.problem(
            Problem::LengthAboveWire,
            format_args!("record at byte offset {offset} holds {len} octets of a frame of {wire_len}: taken as a whole frame of {len}"),
        );
    }
    if fraction >= fractions {
        facts.problem(
            Problem::Fraction,
            format_args!("record at byte offset {offset} has a fraction of {fraction} of {fractions} of a second: added as it is"),
        );
    }
}
