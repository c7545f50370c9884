//! pcap, the classic format (draft-ietf-opsawg-pcap): a file header of 24 octets, then records of 16 octets and a frame.
//!
//! Records are taken apart by pcap-parser: own reading of their headers was measured beside it and is not faster
//! (17 ns a record of 62 octets each, with reading the file).

use super::facts::{Problem, SourceFacts};
use super::input::Opened;
use super::pieces::{Capture, Format, MAX_RECORD, Rest};
use super::{Direction, Entry, FrameEntry, InterfaceFacts};
use pcap_parser::PcapError;
use pcap_parser::nom::{Err, Needed};
use pcap_parser::pcap::{LegacyPcapBlock, PcapHeader, parse_pcap_frame, parse_pcap_frame_be};
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
        let parse = if BIG_ENDIAN {
            parse_pcap_frame_be
        } else {
            parse_pcap_frame
        };
        let mut tally = facts.tally;
        let mut left = piece;
        let rest = loop {
            let at = piece.len() - left.len();
            let record = match parse(left) {
                Ok((next, record)) => {
                    left = next;
                    record
                }
                Err(error) => break partial(&error, at, piece.len(), offset, facts),
            };
            let (len, wire_len) = (record.caplen, record.origlen);
            if len > wire_len || record.ts_usec >= fractions {
                strange(&record, fractions, offset + at as u64, facts);
            }
            let wire_len = wire_len.max(len);
            let time = u64::from(record.ts_sec) * SECOND_NS
                + u64::from(record.ts_usec) * u64::from(self.fraction_ns);
            tally.time(time);
            entries.push(Entry::Frame(FrameEntry {
                number: tally.frame(len, wire_len),
                at: Time(time),
                interface: 0,
                link: self.link,
                start: (at + RECORD_HEADER) as u32,
                len,
                wire_len,
                source: 0,
                direction: Direction::Unknown,
            }));
        };
        facts.tally = tally;
        rest
    }
}

/// A record that is not whole in the piece: more is read, or it is skipped.
#[cold]
fn partial(
    error: &Err<PcapError<&[u8]>>,
    at: usize,
    filled: usize,
    offset: u64,
    facts: &mut SourceFacts,
) -> Rest {
    let missing = match error {
        Err::Incomplete(Needed::Size(octets)) => octets.get(),
        _ => 1,
    };
    let length = (filled - at).saturating_add(missing) as u64;
    let rest = Rest::of_record(at, length, filled);
    if rest.skip > 0 {
        let (here, most) = (offset + at as u64, MAX_RECORD >> 20);
        facts.problem(
            Problem::Huge,
            format_args!(
                "record at byte offset {here} says it has {length} octets, more than {most} MiB: skipped"
            ),
        );
    }
    rest
}

/// A record that contradicts itself and can be used nevertheless.
#[cold]
fn strange(record: &LegacyPcapBlock<'_>, fractions: u32, offset: u64, facts: &mut SourceFacts) {
    let LegacyPcapBlock {
        ts_usec: fraction,
        caplen: len,
        origlen: wire_len,
        ..
    } = *record;
    if len > wire_len {
        facts.problem(
            Problem::LengthAboveWire,
            format_args!(
                "record at byte offset {offset} holds {len} octets of a frame of {wire_len}: taken as a whole frame of {len}"
            ),
        );
    }
    if fraction >= fractions {
        facts.problem(
            Problem::Fraction,
            format_args!(
                "record at byte offset {offset} has a fraction of {fraction} of {fractions} of a second: added as it is"
            ),
        );
    }
}
