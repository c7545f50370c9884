//! Frames that a mirror sent and nobody captured.

use crate::Address;

/// A mirrored frame's number in its ERSPAN session (GRE sequence number, RFC 2890 2.2).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MirrorSequence {
    /// The switch that mirrors.
    pub source: Address,
    /// Where it sends the copies.
    pub destination: Address,
    /// ERSPAN session, 10 bits.
    pub session: u16,
    /// Sequence number, one more for each mirrored frame, wraps.
    pub sequence: u32,
}

/// The sequence numbers of mirror sessions, for their gaps are loss of the capture.
///
/// Memory is bounded: the session idle for longest makes room for a new one, and begins anew when it comes back.
#[derive(Debug, Default)]
pub struct MirrorSequences {
    sessions: Vec<Session>,
    frames: u64,
}

/// Numbers behind the highest that a late frame may have and still be told from one seen before.
const WINDOW: u32 = 1024;
/// A larger step forward is no loss but a session that began anew, or two counters in one session.
const MAX_STEP: u32 = 1 << 24;
const MAX_SESSIONS: usize = 64;

#[derive(Debug)]
struct Session {
    source: Address,
    destination: Address,
    session: u16,
    highest: u32,
    /// A number out of reach: where the session began anew, if the next one follows it.
    anew: Option<u32>,
    /// One bit for each number of the window, at the number modulo the window: seen, or not to be missed.
    seen: [u64; WINDOW as usize / 64],
    last_used: u64,
}

impl MirrorSequences {
    /// Takes a frame's number and returns by how much it changes the frames lost: a step forward adds what it skips, a
    /// late frame takes back itself, anything else is 0 (in order, seen before, first of a session or a session anew).
    #[must_use]
    pub fn on(&mut self, mirror: &MirrorSequence) -> i64 {
        self.frames += 1;
        let known = self.sessions.iter_mut().find(|session| {
            session.session == mirror.session
                && session.source == mirror.source
                && session.destination == mirror.destination
        });
        if let Some(session) = known {
            session.last_used = self.frames;
            return session.on(mirror.sequence);
        }
        self.begin(mirror);
        0
    }

    fn begin(&mut self, mirror: &MirrorSequence) {
        let session = Session {
            source: mirror.source,
            destination: mirror.destination,
            session: mirror.session,
            highest: mirror.sequence,
            anew: None,
            seen: [u64::MAX; WINDOW as usize / 64],
            last_used: self.frames,
        };
        if self.sessions.len() < MAX_SESSIONS {
            self.sessions.push(session);
        } else if let Some(idle) = self.sessions.iter_mut().min_by_key(|known| known.last_used) {
            *idle = session;
        }
    }
}

impl Session {
    fn on(&mut self, sequence: u32) -> i64 {
        let behind = self.highest.wrapping_sub(sequence);
        let ahead = sequence.wrapping_sub(self.highest);
        if behind < WINDOW {
            self.anew = None;
            let late = !self.is_seen(sequence);
            self.mark(sequence, true);
            return -i64::from(late);
        }
        if ahead <= MAX_STEP {
            self.anew = None;
            return self.forward(sequence);
        }
        match self.anew.replace(sequence) {
            Some(anew) if sequence.wrapping_sub(anew).wrapping_sub(1) < WINDOW => {
                self.anew = None;
                self.highest = anew;
                self.seen.fill(u64::MAX);
                self.forward(sequence)
            }
            _ => 0,
        }
    }

    fn forward(&mut self, sequence: u32) -> i64 {
        let lost = sequence.wrapping_sub(self.highest).wrapping_sub(1);
        for skipped in 1..=lost.min(WINDOW - 1) {
            self.mark(sequence.wrapping_sub(skipped), false);
        }
        self.mark(sequence, true);
        self.highest = sequence;
        lost.into()
    }

    fn is_seen(&self, sequence: u32) -> bool {
        let (word, bit) = place(sequence);
        self.seen.get(word).is_none_or(|word| word & bit != 0)
    }

    fn mark(&mut self, sequence: u32, seen: bool) {
        let (word, bit) = place(sequence);
        if let Some(word) = self.seen.get_mut(word) {
            *word = if seen { *word | bit } else { *word & !bit };
        }
    }
}

fn place(sequence: u32) -> (usize, u64) {
    let index = sequence % WINDOW;
    ((index / 64) as usize, 1 << (index % 64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number(session: u16, sequence: u32) -> MirrorSequence {
        MirrorSequence {
            source: Address::V4([192, 0, 2, 1]),
            destination: Address::V4([192, 0, 2, 9]),
            session,
            sequence,
        }
    }

    fn lost(sequences: impl IntoIterator<Item = u32>) -> i64 {
        let mut mirrors = MirrorSequences::default();
        sequences
            .into_iter()
            .map(|sequence| mirrors.on(&number(1, sequence)))
            .sum()
    }

    #[test]
    fn gaps_are_lost_and_late_frames_are_not() {
        assert_eq!(lost([5, 6, 7]), 0);
        assert_eq!(lost([5, 9]), 3);
        assert_eq!(lost([5, 9, 7]), 2);
        assert_eq!(lost([5, 9, 7, 7, 6, 8, 8]), 0);
        assert_eq!(lost([5, 4, 3]), 0, "before the capture began");
        assert_eq!(lost([u32::MAX - 1, 2]), 3, "over the wrap");
        assert_eq!(lost([u32::MAX - 1, 2, u32::MAX, 1, 0]), 0);
        assert_eq!(lost([0, 0, 0, 0]), 0, "a mirror that does not count");
    }

    #[test]
    fn a_session_that_begins_anew_lost_nothing() {
        assert_eq!(lost([5_000_000, 1, 2, 3]), 0);
        assert_eq!(lost([5_000_000, 1, 2, 4]), 1);
        assert_eq!(lost([5, 0x8000_0000, 0x8000_0002]), 1);
        assert_eq!(lost([0, MAX_STEP]), i64::from(MAX_STEP) - 1);
        assert_eq!(lost([0, MAX_STEP + 1]), 0);
        assert_eq!(
            lost([0, 2000, 10, 2001]),
            1999,
            "10 is too old to tell whether it was missed"
        );
        let two_counters = (0..100).flat_map(|at| [at, 50_000_000 + at]);
        assert_eq!(lost(two_counters), 0);
    }

    #[test]
    fn sessions_count_apart_and_are_bounded() {
        let mut mirrors = MirrorSequences::default();
        assert_eq!(mirrors.on(&number(1, 1)), 0);
        assert_eq!(mirrors.on(&number(2, 100)), 0);
        assert_eq!(mirrors.on(&number(1, 2)), 0);
        assert_eq!(mirrors.on(&number(2, 103)), 2);
        for session in 3..=1000 {
            assert_eq!(mirrors.on(&number(session, 7)), 0);
        }
        assert_eq!(mirrors.sessions.len(), MAX_SESSIONS);
        assert_eq!(mirrors.on(&number(1, 50)), 0, "forgotten");
        assert_eq!(mirrors.on(&number(1000, 9)), 1, "the latest ones are kept");
    }

    proptest! {
        /// Of a run of numbers from anywhere, with some left out and the rest within the window of their place, what is
        /// left out between the first and the last is lost.
        #[test]
        fn what_never_comes_is_lost(
            start: u32,
            keep in proptest::collection::vec(any::<bool>(), 2..300),
            swaps in proptest::collection::vec((0_usize..300, 0_usize..300), 0..50),
        ) {
            let mut sent: Vec<u32> = (0..).zip(&keep).filter(|(_, keep)| **keep).map(|(at, _)| at).collect();
            prop_assume!(sent.len() >= 2);
            let expected = i64::from(sent[sent.len() - 1] - sent[0]) + 1 - i64::try_from(sent.len()).unwrap();
            // The first stays in its place, for what comes before it is not known to be missing.
            let inner = &mut sent[1..];
            for (a, b) in swaps {
                let len = inner.len();
                inner.swap(a % len, b % len);
            }
            prop_assert_eq!(lost(sent.into_iter().map(|at| start.wrapping_add(at))), expected);
        }
    }
}
