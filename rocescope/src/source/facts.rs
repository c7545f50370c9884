//! What is known about a source beside its frames.

use crate::report::Untrusted;
use rocescope_core::Time;
use rocescope_core::encap::LinkType;
use rocescope_core::report::{self, Vantage};
use std::fmt;

/// Lines about interfaces of unknown link types before they are summed up.
const UNKNOWN_LINK_LINES: usize = 8;

/// An interface that captured.
#[derive(Clone, Debug)]
pub struct InterfaceFacts {
    /// Its name, where the capture says it.
    pub name: Option<String>,
    /// Its link type.
    pub link: LinkType,
    /// Frames captured by it.
    pub frames: u64,
}

/// What goes wrong in a capture; one line a kind, with the first place and how many more there were.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Problem {
    /// The file breaks off.
    Cut,
    /// Reading or decompressing failed.
    Read,
    /// A captured length above the length on the wire.
    LengthAboveWire,
    /// A fraction of a second of one second or more.
    Fraction,
    /// A record larger than any buffer.
    Huge,
    /// A frame longer than the block it is in.
    FrameAboveBlock,
    /// A block length that leads nowhere.
    BlockLength,
    /// The two lengths of a block differ.
    Trailer,
    /// A block too short for its fixed part.
    BlockTooShort,
    /// A section that cannot be read.
    Section,
    /// Options that run past their block.
    Options,
    /// An option that cannot be used.
    OptionValue,
    /// A frame of an interface that was never described.
    Interface,
    /// Too many interfaces.
    Interfaces,
}

/// Sums over the frames of a source.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tally {
    pub(super) frames: u64,
    captured: u64,
    wire: u64,
    first: u64,
    last: u64,
    previous: u64,
    backward: u64,
    cut: u64,
    cut_least: u32,
    cut_most: u32,
}

impl Tally {
    const NONE: Self = Self {
        frames: 0,
        captured: 0,
        wire: 0,
        first: u64::MAX,
        last: 0,
        previous: 0,
        backward: 0,
        cut: 0,
        cut_least: u32::MAX,
        cut_most: 0,
    };

    /// Counts one frame and gives its number.
    #[inline]
    pub(super) fn frame(&mut self, len: u32, wire_len: u32) -> u64 {
        self.frames += 1;
        self.captured += u64::from(len);
        self.wire += u64::from(wire_len);
        if len < wire_len {
            self.cut += 1;
            self.cut_least = self.cut_least.min(len);
            self.cut_most = self.cut_most.max(len);
        }
        self.frames
    }

    /// Takes the time of a frame in.
    #[inline]
    pub(super) fn time(&mut self, at: u64) {
        self.backward += u64::from(at < self.previous);
        self.previous = at;
        self.first = self.first.min(at);
        self.last = self.last.max(at);
    }

    /// Time of the frame before.
    pub(super) fn previous(&self) -> Time {
        Time(self.previous)
    }

    /// Whether any frame had a time.
    pub(super) fn timed(&self) -> bool {
        self.first <= self.last
    }
}

/// What is known about a source; complete when the source has ended.
#[derive(Clone, Debug)]
pub struct SourceFacts {
    /// Path as given; `-` is standard input.
    pub path: String,
    /// `pcap`, `pcap-ns`, `pcapng`, with `+gzip` or `+zstd` where compressed.
    pub format: String,
    /// Interfaces in the order of the file.
    pub interfaces: Vec<InterfaceFacts>,
    /// Frames the capture itself says it lost.
    pub lost_frames: u64,
    /// Offset in octets (of what was decompressed) at which the capture breaks off.
    pub truncated_at: Option<u64>,
    /// Frames without a time of their own: they take that of the frame before them.
    pub untimed_frames: u64,
    pub(super) tally: Tally,
    problems: Vec<(Problem, String, u64)>,
}

impl SourceFacts {
    pub(super) fn new(path: String, format: String) -> Self {
        Self {
            path,
            format,
            interfaces: Vec::new(),
            lost_frames: 0,
            truncated_at: None,
            untimed_frames: 0,
            tally: Tally::NONE,
            problems: Vec::new(),
        }
    }

    /// Frames read.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.tally.frames
    }

    /// Octets captured of all frames.
    #[must_use]
    pub fn captured_bytes(&self) -> u64 {
        self.tally.captured
    }

    /// Octets of all frames on the wire.
    #[must_use]
    pub fn wire_bytes(&self) -> u64 {
        self.tally.wire
    }

    /// Time of the earliest frame.
    #[must_use]
    pub fn first(&self) -> Option<Time> {
        self.tally.timed().then_some(Time(self.tally.first))
    }

    /// Time of the latest frame.
    #[must_use]
    pub fn last(&self) -> Option<Time> {
        self.tally.timed().then_some(Time(self.tally.last))
    }

    /// Frames of which not all octets were captured.
    #[must_use]
    pub fn cut_frames(&self) -> u64 {
        self.tally.cut
    }

    /// The one length that all cut frames share, octets.
    #[must_use]
    pub fn cut_to(&self) -> Option<u32> {
        (self.tally.cut_least == self.tally.cut_most).then_some(self.tally.cut_least)
    }

    /// Frames whose time lies before that of the frame before them.
    #[must_use]
    pub fn backward_times(&self) -> u64 {
        self.tally.backward
    }

    /// Notes a problem: its line is kept for the first of a kind, the others are counted.
    #[cold]
    pub(super) fn problem(&mut self, kind: Problem, line: fmt::Arguments<'_>) {
        match self.problems.iter_mut().find(|(known, ..)| *known == kind) {
            Some((.., more)) => *more += 1,
            None => self
                .problems
                .push((kind, format!("{}: {line}", self.path), 0)),
        }
    }

    /// What went wrong, one line each: file, place, what it means.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        let mut lines = self.unknown_links();
        if self.untimed_frames > 0 {
            let (path, frames) = (&self.path, count(self.untimed_frames, "frame"));
            lines.push(format!(
                "{path}: {frames} without a time: taken to be of the time of the frame before"
            ));
        }
        lines.extend(self.problems.iter().map(|(_, line, more)| match more {
            0 => line.clone(),
            more => format!("{line} ({more} more like it)"),
        }));
        lines
    }

    fn unknown_links(&self) -> Vec<String> {
        let unknown = || {
            self.interfaces
                .iter()
                .enumerate()
                .filter(|(_, i)| i.frames > 0 && !is_known(i.link))
        };
        let mut lines: Vec<_> = unknown()
            .take(UNKNOWN_LINK_LINES)
            .map(|(index, interface)| {
                let name = interface.name.as_ref().map(|name| format!(" ({})", Untrusted(name))).unwrap_or_default();
                let (path, LinkType(link)) = (&self.path, interface.link);
                let frames = count(interface.frames, "frame");
                format!("{path}: link type {link} of interface {index}{name} is not known here: {frames} not analysed")
            })
            .collect();
        let (more, frames) = unknown()
            .skip(UNKNOWN_LINK_LINES)
            .fold((0, 0), |(n, f), (_, i)| (n + 1, f + i.frames));
        if more > 0 {
            let (path, more, frames) = (
                &self.path,
                count(more, "more interface"),
                count(frames, "frame"),
            );
            lines.push(format!(
                "{path}: {more} of unknown link types: {frames} not analysed"
            ));
        }
        lines
    }
}

impl From<&SourceFacts> for report::Source {
    fn from(facts: &SourceFacts) -> Self {
        let mut link_types = Vec::new();
        for interface in &facts.interfaces {
            if !link_types.contains(&interface.link.0) {
                link_types.push(interface.link.0);
            }
        }
        Self {
            path: facts.path.clone(),
            format: facts.format.clone(),
            link_types,
            frames: facts.frames(),
            captured_bytes: facts.captured_bytes(),
            wire_bytes: facts.wire_bytes(),
            first_ns: facts.first().map(|at| at.0),
            last_ns: facts.last().map(|at| at.0),
            cut_frames: facts.cut_frames(),
            lost_frames: facts.lost_frames,
            truncated_at: facts.truncated_at,
            backward_times: facts.backward_times(),
            problems: facts.problems(),
            vantage: Vantage {
                cut_to: facts.cut_to(),
                ..Vantage::default()
            },
        }
    }
}

/// `1 frame`, `2 frames`.
pub(super) fn count(number: u64, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{plural}")
}

/// Whether frames of this link type can be analysed.
fn is_known(link: LinkType) -> bool {
    const KNOWN: [LinkType; 8] = [
        LinkType::NULL,
        LinkType::ETHERNET,
        LinkType::RAW,
        LinkType::LOOP,
        LinkType::LINUX_SLL,
        LinkType::IPV4,
        LinkType::IPV6,
        LinkType::LINUX_SLL2,
    ];
    KNOWN.contains(&link)
}
