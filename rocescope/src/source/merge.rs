//! Several sources as one, merged by time.
//!
//! Each source keeps its own order, also where its times run backwards: of all sources, the one whose next frame is
//! earliest goes first, at equal times the one given first. Looked ahead is one batch a source. A source alone is handed
//! through untouched; only where there are more is each frame copied, into the one buffer of the merged batch.

use super::pieces::PIECE;
use super::{Batch, Entry, FrameEntry, Source, SourceError, SourceFacts, open};
use rocescope_core::Time;
use std::path::Path;

/// Most sources at once: their index is a `u16`, and each holds a file open and a batch.
const MOST_SOURCES: usize = 1 << 12;
/// Entries of a merged batch at most.
const MOST_ENTRIES: usize = 8 << 10;

/// Sources merged by time.
pub struct Merge {
    lanes: Vec<Lane>,
}

/// A source and what of it was read ahead.
struct Lane {
    source: Box<dyn Source>,
    batch: Batch,
    /// Index of the next entry of the batch.
    next: usize,
    over: bool,
}

impl Lane {
    /// Reads on where all read ahead is used up.
    fn look_ahead(&mut self) {
        if !self.over && self.next >= self.batch.entries.len() {
            self.next = 0;
            self.over = !self.source.read_batch(&mut self.batch);
        }
    }

    /// Time of the next entry. What was lost goes out at once, for it must not hold up the frames behind it.
    fn time(&self) -> Option<Time> {
        self.batch.entries.get(self.next).map(|entry| match entry {
            Entry::Frame(frame) => frame.at,
            Entry::Lost { .. } => Time(0),
        })
    }

    /// Moves the next entry to `merged`.
    fn hand_over(&mut self, index: u16, merged: &mut Batch) {
        let Some(entry) = self.batch.entries.get(self.next) else {
            return;
        };
        merged.entries.push(match *entry {
            Entry::Frame(frame) => {
                let start = merged.octets.len() as u32;
                merged
                    .octets
                    .extend_from_slice(self.batch.octets_of(&frame));
                Entry::Frame(FrameEntry {
                    source: index,
                    start,
                    ..frame
                })
            }
            Entry::Lost {
                interface,
                from,
                until,
                frames,
                ..
            } => Entry::Lost {
                source: index,
                interface,
                from,
                until,
                frames,
            },
        });
        self.next += 1;
        self.look_ahead();
    }
}

impl Merge {
    /// Merges these sources, at most 4096 of them; an entry's `source` is the index here.
    #[must_use]
    pub fn new(sources: Vec<Box<dyn Source>>) -> Self {
        let lane = |source| Lane {
            source,
            batch: Batch::default(),
            next: 0,
            over: false,
        };
        Self {
            lanes: sources.into_iter().take(MOST_SOURCES).map(lane).collect(),
        }
    }

    /// Opens all that can be opened, and says why the others cannot.
    #[must_use]
    pub fn open<P: AsRef<Path>>(paths: &[P]) -> (Self, Vec<SourceError>) {
        let (mut sources, mut errors) = (Vec::new(), Vec::new());
        for path in paths {
            match open(path.as_ref()) {
                Ok(_) if sources.len() >= MOST_SOURCES => {
                    errors.push(SourceError::TooMany {
                        path: path.as_ref().display().to_string(),
                        most: MOST_SOURCES,
                    });
                }
                Ok(source) => sources.push(source),
                Err(error) => errors.push(error),
            }
        }
        (Self::new(sources), errors)
    }

    /// Replaces the contents of `merged` by the next entries of all sources; false when all have ended.
    pub fn read_batch(&mut self, merged: &mut Batch) -> bool {
        if let [alone] = self.lanes.as_mut_slice() {
            return alone.source.read_batch(merged);
        }
        merged.entries.clear();
        merged.octets.clear();
        self.lanes.iter_mut().for_each(Lane::look_ahead);
        while let Some((first, until)) = self.first() {
            let Some(lane) = self.lanes.get_mut(first) else {
                break;
            };
            // The same source goes on while no other can have anything earlier: files written one after another cost no search.
            while lane
                .time()
                .is_some_and(|time| until.is_none_or(|until| (time, first) < until))
            {
                if merged.octets.len() >= PIECE || merged.entries.len() >= MOST_ENTRIES {
                    return true;
                }
                lane.hand_over(first as u16, merged);
            }
        }
        !merged.entries.is_empty()
    }

    /// The source whose next entry is earliest, and the key of the next best.
    fn first(&self) -> Option<(usize, Option<(Time, usize)>)> {
        let (mut best, mut second) = (None, None);
        for (index, lane) in self.lanes.iter().enumerate() {
            let Some(time) = lane.time() else { continue };
            let key = Some((time, index));
            if best.is_none() || key < best {
                (best, second) = (key, best);
            } else if second.is_none() || key < second {
                second = key;
            }
        }
        best.map(|(_, index)| (index, second))
    }

    /// What is known about each source so far, in the order given.
    pub fn facts(&self) -> impl Iterator<Item = &SourceFacts> {
        self.lanes.iter().map(|lane| lane.source.facts())
    }

    /// Octets read of all files and their size, as stored; nothing where a size is not known.
    #[must_use]
    pub fn progress(&self) -> Option<(u64, u64)> {
        self.lanes
            .iter()
            .map(|lane| lane.source.progress())
            .try_fold((0, 0), |(read, size), each| {
                each.map(|(more, of)| (read + more, size + of))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::super::write::{ByteOrder, PcapWriter};
    use super::*;
    use rocescope_core::encap::LinkType;

    /// A pcap file with a one-octet frame at each of the times.
    fn file(times: &[u64]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        let out = std::io::BufWriter::new(file.reopen().unwrap());
        let mut writer =
            PcapWriter::new(out, LinkType::ETHERNET, ByteOrder::BigEndian, true).unwrap();
        for at in times {
            writer.frame(Time(*at), 1, &[*at as u8]).unwrap();
        }
        file
    }

    /// Source, number and time of all frames.
    fn merged(files: &[tempfile::NamedTempFile]) -> Vec<(u16, u64, u64)> {
        let paths: Vec<_> = files.iter().map(tempfile::NamedTempFile::path).collect();
        let (mut merge, errors) = Merge::open(&paths);
        assert!(errors.is_empty());
        let (mut batch, mut frames) = (Batch::default(), Vec::new());
        while merge.read_batch(&mut batch) {
            for entry in &batch.entries {
                let Entry::Frame(frame) = entry else {
                    panic!("nothing was lost")
                };
                assert_eq!(batch.octets_of(frame), [frame.at.0 as u8]);
                frames.push((frame.source, frame.number, frame.at.0));
            }
        }
        let (read, size) = merge.progress().unwrap();
        assert_eq!(read, size);
        assert_eq!(
            merge.facts().map(SourceFacts::frames).sum::<u64>(),
            frames.len() as u64
        );
        frames
    }

    #[test]
    fn the_earliest_first_and_of_equals_the_first_given() {
        let files = [file(&[10, 30, 40]), file(&[]), file(&[20, 30, 35])];
        let wanted = [
            (0, 1, 10),
            (2, 1, 20),
            (0, 2, 30),
            (2, 2, 30),
            (2, 3, 35),
            (0, 3, 40),
        ];
        assert_eq!(merged(&files), wanted);
    }

    #[test]
    fn a_source_keeps_its_order() {
        let files = [file(&[10, 40, 20, 50]), file(&[30, 45])];
        let wanted = [
            (0, 1, 10),
            (1, 1, 30),
            (0, 2, 40),
            (0, 3, 20),
            (1, 2, 45),
            (0, 4, 50),
        ];
        assert_eq!(merged(&files), wanted);
    }

    #[test]
    fn many_batches_of_many_frames() {
        let times = |of: u64| (0..30_000).map(|n| n * 7 + of).collect::<Vec<_>>();
        let files = [file(&times(3)), file(&times(1)), file(&times(5))];
        let frames = merged(&files);
        assert_eq!(frames.len(), 90_000);
        assert!(frames.is_sorted_by_key(|(.., at)| *at));
    }

    #[test]
    fn what_cannot_be_opened_is_told_and_the_rest_read() {
        let good = file(&[1, 2]);
        let (merge, errors) = Merge::open(&[good.path(), Path::new("/nowhere/x.pcap")]);
        assert_eq!((merge.facts().count(), errors.len()), (1, 1));
        assert!(errors[0].to_string().contains("no such file"));
    }
}
