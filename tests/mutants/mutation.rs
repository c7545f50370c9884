//! What a capture can do to the traffic it records: miss frames, see them twice, change their order.

use crate::capture::Frame;
use crate::packet::Packet;
use rocescope_core::Time;

/// A mutant of a capture.
pub(crate) struct Mutant {
    pub(crate) frames: Vec<Frame>,
    /// Index of each frame in the original.
    pub(crate) origin: Vec<usize>,
    /// Indexes of the pairs that changed places, earlier one first.
    pub(crate) swapped: Vec<(usize, usize)>,
}

impl Mutant {
    fn new(frames: &[Frame], origin: Vec<usize>) -> Self {
        Self {
            frames: origin.iter().map(|index| frames[*index].clone()).collect(),
            origin,
            swapped: Vec::new(),
        }
    }

    /// Its packets, where no pair changed places.
    pub(crate) fn of(&self, packets: &[Option<Packet>]) -> Vec<Option<Packet>> {
        self.origin.iter().map(|index| packets[*index]).collect()
    }

    /// Whether the frame with this index in the original is missing.
    pub(crate) fn lacks(&self, index: usize) -> bool {
        self.origin.binary_search(&index).is_err()
    }
}

/// Indexes of the frames that carry a packet of the transport.
fn carriers(packets: &[Option<Packet>]) -> Vec<usize> {
    (0..packets.len())
        .filter(|index| packets[*index].is_some())
        .collect()
}

/// Without each `k`-th packet.
pub(crate) fn delete(frames: &[Frame], packets: &[Option<Packet>], k: usize) -> Mutant {
    let missing: Vec<usize> = carriers(packets)
        .into_iter()
        .skip(k - 1)
        .step_by(k)
        .collect();
    let kept = (0..frames.len()).filter(|index| missing.binary_search(index).is_err());
    Mutant::new(frames, kept.collect())
}

/// Each packet twice, the second time a microsecond later.
pub(crate) fn double(frames: &[Frame], packets: &[Option<Packet>]) -> Mutant {
    let twice =
        |index: usize| std::iter::repeat_n(index, 1 + usize::from(packets[index].is_some()));
    let mut mutant = Mutant::new(frames, (0..frames.len()).flat_map(twice).collect());
    for index in 1..mutant.frames.len() {
        if mutant.origin[index] == mutant.origin[index - 1] {
            mutant.frames[index].at = Time(mutant.frames[index].at.0 + 1_000);
        }
    }
    mutant
}

/// Each `k`-th packet and the next one change places where both go the same way; times stay in order.
pub(crate) fn swap(frames: &[Frame], packets: &[Option<Packet>], k: usize) -> Mutant {
    let mut mutant = Mutant::new(frames, (0..frames.len()).collect());
    let carriers = carriers(packets);
    let mut at = k - 1;
    while let Some([first, second]) = carriers.get(at..at + 2) {
        let (first, second) = (*first, *second);
        let same_way = packets[first]
            .zip(packets[second])
            .is_some_and(|(one, other)| one.same_way(&other));
        if same_way {
            mutant.frames.swap(first, second);
            (mutant.frames[first].at, mutant.frames[second].at) =
                (frames[first].at, frames[second].at);
            mutant.swapped.push((first, second));
        }
        at += k;
    }
    mutant
}
