//! pcapng (draft-ietf-opsawg-pcapng): sections of blocks, each section with its own byte order and interfaces.
//!
//! Blocks are walked by their lengths, so that a block that cannot be used costs itself only. Lists of options are taken
//! apart by pcap-parser; their values are read here, for it takes those of big-endian sections as little-endian.

mod order;
mod packet;

use super::facts::{Problem, SourceFacts};
use super::input::Opened;
use super::pieces::{Capture, Format, MAX_RECORD, Rest};
use super::unit::Unit;
use super::{Entry, InterfaceFacts};
use order::Order;
use pcap_parser::{BOM_MAGIC, EPB_MAGIC, IDB_MAGIC, ISB_MAGIC, SHB_MAGIC, SPB_MAGIC};
use rocescope_core::Time;
use rocescope_core::encap::LinkType;
use rocescope_core::time::SECOND_NS;

/// The obsolete Packet Block.
const PB: u32 = 2;
/// Octets of a block without a body: type, length, and length again.
const LEAST_BLOCK: u32 = 12;
/// Most interfaces in a file, over all its sections.
const MOST_INTERFACES: usize = 16_384;
/// Most octets of an interface's name that are kept.
const MOST_NAME: usize = 256;
/// Offsets of more seconds than this (about 270 years) are no dates.
const MOST_OFFSET: u64 = 1 << 33;

/// Codes of options, by the kind of block they stand in.
mod code {
    pub(super) const IF_NAME: u16 = 2;
    pub(super) const IF_TSRESOL: u16 = 9;
    pub(super) const IF_TSOFFSET: u16 = 14;
    pub(super) const PACKET_FLAGS: u16 = 2;
    pub(super) const PACKET_DROPCOUNT: u16 = 4;
    pub(super) const ISB_STARTTIME: u16 = 2;
    pub(super) const ISB_IFDROP: u16 = 5;
    pub(super) const ISB_OSDROP: u16 = 7;
}

/// What is needed of an interface to read its frames.
struct Interface {
    link: LinkType,
    /// Octets of a frame at most; 0 for no limit.
    snaplen: u32,
    /// Nothing where the unit of its times cannot be used.
    unit: Option<Unit>,
    offset_ns: i64,
    /// Time of its last frame.
    previous: Option<Time>,
    /// Time of its last counters, or of its first frame.
    since: Option<Time>,
    /// Frames lost since the last counters, as packet blocks say.
    lost: u64,
    /// Frames lost since the beginning, as the last counters say.
    counted: u64,
}

impl Interface {
    #[inline]
    fn time(&self, (high, low): (u32, u32)) -> Option<Time> {
        let ns = self.unit?.ns(u64::from(high) << 32 | u64::from(low));
        Some(Time(ns.saturating_add_signed(self.offset_ns)))
    }
}

/// The section being read.
#[derive(Default)]
pub(super) struct Pcapng {
    order: Order,
    interfaces: Vec<Interface>,
    /// Index of the first interface of the section.
    first_interface: usize,
}

pub(super) fn open(opened: Opened) -> Capture<Pcapng> {
    opened.into_capture("pcapng", 0, Pcapng::default())
}

/// A whole block, and where it is.
#[derive(Clone, Copy)]
struct Block<'a> {
    kind: u32,
    body: &'a [u8],
    /// Where the body begins in the piece.
    start: usize,
    /// Where the block begins in the stream.
    offset: u64,
}

impl Format for Pcapng {
    fn records(
        &mut self,
        piece: &[u8],
        offset: u64,
        facts: &mut SourceFacts,
        entries: &mut Vec<Entry>,
    ) -> Rest {
        let mut at = 0;
        while let Some((head, _)) = piece
            .get(at..)
            .and_then(|rest| rest.split_first_chunk::<12>())
        {
            let ([kind, length, order], _) = head.as_chunks::<4>() else {
                break;
            };
            let here = offset + at as u64;
            if u32::from_le_bytes(*kind) == SHB_MAGIC && !self.byte_order(*order, here, facts) {
                return Rest {
                    at,
                    stop: true,
                    ..Rest::default()
                };
            }
            let (kind, length) = (self.order.u32(*kind), self.order.u32(*length));
            if length < LEAST_BLOCK {
                facts.problem(
                    Problem::BlockLength,
                    format_args!("block of type {kind:#x} at byte offset {here} has length {length}, below {LEAST_BLOCK}: nothing behind it can be read"),
                );
                return Rest {
                    at,
                    stop: true,
                    ..Rest::default()
                };
            }
            let whole = u64::from(length).next_multiple_of(4);
            let next = usize::try_from(whole)
                .unwrap_or(usize::MAX)
                .saturating_add(at);
            let Some((body, trailer)) = piece
                .get(at + 8..next)
                .and_then(|rest| rest.split_last_chunk::<4>())
            else {
                return partial(kind, whole, at, piece.len(), here, facts);
            };
            let trailer = self.order.u32(*trailer);
            if trailer != length || whole != u64::from(length) {
                facts.problem(
                    Problem::Trailer,
                    format_args!("block of type {kind:#x} at byte offset {here} has length {length} in front and {trailer} behind: {whole} is used"),
                );
            }
            self.block(
                Block {
                    kind,
                    body,
                    start: at + 8,
                    offset: here,
                },
                facts,
                entries,
            );
            at = next;
        }
        Rest {
            at,
            wanted: LEAST_BLOCK as usize,
            ..Rest::default()
        }
    }
}

/// A block that is not whole in the piece: more is read, or it is skipped.
#[cold]
fn partial(
    kind: u32,
    whole: u64,
    at: usize,
    filled: usize,
    here: u64,
    facts: &mut SourceFacts,
) -> Rest {
    let rest = Rest::of_record(at, whole, filled);
    if rest.skip > 0 {
        let most = MAX_RECORD >> 20;
        facts.problem(
            Problem::Huge,
            format_args!("block of type {kind:#x} at byte offset {here} says it has {whole} octets, more than {most} MiB: skipped"),
        );
    }
    rest
}

impl Pcapng {
    /// Takes the byte order of a section from its magic; false where it is none.
    fn byte_order(&mut self, magic: [u8; 4], here: u64, facts: &mut SourceFacts) -> bool {
        match u32::from_le_bytes(magic) {
            BOM_MAGIC => self.order = Order { big_endian: false },
            other if other == BOM_MAGIC.swap_bytes() => self.order = Order { big_endian: true },
            other => {
                facts.problem(
                    Problem::Section,
                    format_args!("section at byte offset {here} has {other:#010x} for a byte-order magic: nothing behind it can be read"),
                );
                return false;
            }
        }
        true
    }

    #[inline]
    fn block(&mut self, block: Block<'_>, facts: &mut SourceFacts, entries: &mut Vec<Entry>) {
        let used = match block.kind {
            EPB_MAGIC => self
                .enhanced_packet(block.body)
                .map(|packet| self.packet(block, &packet, facts, entries)),
            SPB_MAGIC => self
                .simple_packet(block.body)
                .map(|packet| self.packet(block, &packet, facts, entries)),
            PB => self
                .old_packet(block.body)
                .map(|packet| self.packet(block, &packet, facts, entries)),
            IDB_MAGIC => self.interface(block, facts),
            ISB_MAGIC => self.statistics(block, facts, entries),
            SHB_MAGIC => self.section(block, facts),
            _ => Some(()),
        };
        if used.is_none() {
            let Block { kind, offset, .. } = block;
            facts.problem(
                Problem::BlockTooShort,
                format_args!("block of type {kind:#x} at byte offset {offset} is too short for its fixed part: skipped"),
            );
        }
    }

    fn section(&mut self, block: Block<'_>, facts: &mut SourceFacts) -> Option<()> {
        self.first_interface = self.interfaces.len();
        let (major, minor) = (
            self.order.u16_at(block.body, 4)?,
            self.order.u16_at(block.body, 6)?,
        );
        if major != 1 {
            let offset = block.offset;
            facts.problem(
                Problem::Section,
                format_args!(
                    "section at byte offset {offset} is of version {major}.{minor}: read as 1.0"
                ),
            );
        }
        Some(())
    }

    fn interface(&mut self, block: Block<'_>, facts: &mut SourceFacts) -> Option<()> {
        let (order, Block { body, offset, .. }) = (self.order, block);
        let (index, number) = (
            self.interfaces.len(),
            self.interfaces.len() - self.first_interface,
        );
        let link = LinkType(order.u16_at(body, 0)?.into());
        let snaplen = order.u32_at(body, 4)?;
        if index >= MOST_INTERFACES {
            facts.problem(
                Problem::Interfaces,
                format_args!("interface at byte offset {offset} is one more than {MOST_INTERFACES}: its frames are not analysed"),
            );
            return Some(());
        }
        let (mut name, mut unit, mut offset_ns) = (None, Some(Unit::MICROSECOND), 0i64);
        let whole = order.options(body.get(8..).unwrap_or_default(), |code, value| match (code, value) {
            (code::IF_NAME, name_octets) => {
                let kept = name_octets.get(..name_octets.len().min(MOST_NAME)).unwrap_or_default();
                name = Some(String::from_utf8_lossy(kept).into_owned());
            }
            (code::IF_TSRESOL, &[octet]) => {
                unit = Unit::from_tsresol(octet);
                if unit.is_none() {
                    facts.problem(
                        Problem::OptionValue,
                        format_args!("if_tsresol {octet:#04x} of interface {number} at byte offset {offset} is no usable unit of time: its frames take the time of the frame before them"),
                    );
                }
            }
            (code::IF_TSOFFSET, value) => match order.u64(value).map(u64::cast_signed) {
                Some(seconds) if seconds.unsigned_abs() <= MOST_OFFSET => offset_ns = seconds * SECOND_NS as i64,
                seconds => facts.problem(
                    Problem::OptionValue,
                    format_args!("if_tsoffset {} of interface {number} at byte offset {offset} is no usable number of seconds: ignored", seconds.unwrap_or_default()),
                ),
            },
            _ => {}
        });
        if !whole {
            damaged_options(block, facts);
        }
        let new = Interface {
            link,
            snaplen,
            unit,
            offset_ns,
            previous: None,
            since: None,
            lost: 0,
            counted: 0,
        };
        self.interfaces.push(new);
        facts.interfaces.push(InterfaceFacts {
            name,
            link,
            frames: 0,
        });
        Some(())
    }

    fn statistics(
        &mut self,
        block: Block<'_>,
        facts: &mut SourceFacts,
        entries: &mut Vec<Entry>,
    ) -> Option<()> {
        let (order, Block { body, offset, .. }) = (self.order, block);
        let number = order.u32_at(body, 0)?;
        let time = (order.u32_at(body, 4)?, order.u32_at(body, 8)?);
        let index = self.first_interface.saturating_add(number as usize);
        let Some(interface) = self.interfaces.get_mut(index) else {
            facts.problem(
                Problem::Interface,
                format_args!("statistics at byte offset {offset} are of interface {number}, which is not described: ignored"),
            );
            return Some(());
        };
        let (mut start, mut total) = (None, 0u64);
        let whole = order.options(
            body.get(12..).unwrap_or_default(),
            |code, value| match code {
                code::ISB_STARTTIME => start = order.u32_at(value, 0).zip(order.u32_at(value, 4)),
                code::ISB_IFDROP | code::ISB_OSDROP => {
                    total = total.saturating_add(order.u64(value).unwrap_or_default());
                }
                _ => {}
            },
        );
        if !whole {
            damaged_options(block, facts);
        }
        let until = interface
            .time(time)
            .or(interface.previous)
            .unwrap_or_default();
        let start = start
            .filter(|_| interface.counted == 0)
            .and_then(|start| interface.time(start));
        let from = start.or(interface.since).unwrap_or(until);
        // Counters and packet blocks tell of the same frames.
        let lost = total
            .saturating_sub(interface.counted)
            .saturating_sub(interface.lost);
        interface.counted = interface.counted.max(total);
        interface.lost = 0;
        interface.since = Some(until);
        if lost > 0 {
            lose(index, from, until, lost, facts, entries);
        }
        Some(())
    }
}

/// Notes frames that the capture lost.
fn lose(
    interface: usize,
    from: Time,
    until: Time,
    frames: u64,
    facts: &mut SourceFacts,
    entries: &mut Vec<Entry>,
) {
    facts.lost_frames = facts.lost_frames.saturating_add(frames);
    entries.push(Entry::Lost {
        source: 0,
        interface: interface as u32,
        from,
        until,
        frames,
    });
}

#[cold]
fn damaged_options(block: Block<'_>, facts: &mut SourceFacts) {
    let Block { kind, offset, .. } = block;
    facts.problem(
        Problem::Options,
        format_args!("options of the block of type {kind:#x} at byte offset {offset} run past its end: those before are used"),
    );
}
