//! Sets of PSNs kept as ranges.

use rocescope_wire::Psn;

/// Most ranges one set keeps: the oldest leave first, and the caller counts them.
const MOST: usize = 256;

/// PSNs `first` to `last`, both included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Range {
    pub(crate) first: Psn,
    pub(crate) last: Psn,
}

impl Range {
    pub(crate) fn new(first: Psn, last: Psn) -> Self {
        Self { first, last }
    }

    /// PSNs in it, at least 1.
    pub(crate) fn count(self) -> u64 {
        u64::from(self.last.since(self.first).max(0).unsigned_abs()) + 1
    }

    pub(crate) fn contains(self, psn: Psn) -> bool {
        psn.since(self.first) >= 0 && self.last.since(psn) >= 0
    }
}

/// A set of PSNs, oldest first. All members lie within half the number space.
#[derive(Clone, Default, Debug)]
pub(crate) struct Ranges(Vec<Range>);

impl Ranges {
    /// PSNs in the set.
    pub(crate) fn count(&self) -> u64 {
        self.0.iter().map(|range| range.count()).sum()
    }

    pub(crate) fn contains(&self, psn: Psn) -> bool {
        self.0.iter().rev().any(|range| range.contains(psn))
    }

    /// Whether any member lies in `range`.
    pub(crate) fn touches(&self, range: Range) -> bool {
        self.0
            .iter()
            .any(|own| own.first.since(range.last) <= 0 && own.last.since(range.first) >= 0)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Range> + '_ {
        self.0.iter().copied()
    }

    /// Adds `range`. Returns what had to leave to keep the set small.
    pub(crate) fn insert(&mut self, range: Range) -> Option<Range> {
        self.remove(range);
        let at = self
            .0
            .iter()
            .rposition(|own| own.last.since(range.first) < 0)
            .map_or(0, |index| index + 1);
        if let Some(before) = at.checked_sub(1).and_then(|index| self.0.get_mut(index))
            && before.last.next() == range.first
        {
            before.last = range.last;
            return None;
        }
        self.0.insert(at, range);
        (self.0.len() > MOST).then(|| self.0.remove(0))
    }

    /// Takes `range` out. Returns how many members left.
    pub(crate) fn remove(&mut self, range: Range) -> u64 {
        if self.0.is_empty() {
            return 0;
        }
        let mut removed = 0;
        let mut index = 0;
        while index < self.0.len() {
            let own = self.0[index];
            let (first, last) = (later(own.first, range.first), earlier(own.last, range.last));
            if last.since(first) < 0 {
                index += 1;
                continue;
            }
            removed += Range::new(first, last).count();
            let head =
                (first.since(own.first) > 0).then(|| Range::new(own.first, first.previous()));
            let tail = (own.last.since(last) > 0).then(|| Range::new(last.next(), own.last));
            match (head, tail) {
                (None, None) => {
                    self.0.remove(index);
                    continue;
                }
                (Some(part), None) | (None, Some(part)) => self.0[index] = part,
                (Some(head), Some(tail)) => {
                    self.0[index] = head;
                    self.0.insert(index + 1, tail);
                    index += 1;
                }
            }
            index += 1;
        }
        removed
    }

    /// Takes out everything at or before `psn`, oldest first.
    pub(crate) fn take_through(&mut self, psn: Psn) -> Option<Range> {
        let first = *self.0.first()?;
        if first.first.since(psn) > 0 {
            return None;
        }
        let taken = Range::new(first.first, earlier(first.last, psn));
        self.remove(taken);
        Some(taken)
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

fn later(a: Psn, b: Psn) -> Psn {
    if a.since(b) > 0 { a } else { b }
}

fn earlier(a: Psn, b: Psn) -> Psn {
    if a.since(b) < 0 { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn range(first: u32, last: u32) -> Range {
        Range::new(Psn::new(first), Psn::new(last))
    }

    #[test]
    fn keeps_across_the_wrap() {
        let mut set = Ranges::default();
        set.insert(range(0x00ff_fffe, 2));
        assert_eq!(set.count(), 5);
        assert!(set.contains(Psn::new(0)));
        assert_eq!(set.remove(range(0, 0)), 1);
        assert_eq!(
            set.take_through(Psn::new(1)),
            Some(range(0x00ff_fffe, 0x00ff_ffff))
        );
        assert_eq!(set.take_through(Psn::new(1)), Some(range(1, 1)));
        assert_eq!(set.take_through(Psn::new(1)), None);
        assert_eq!(set.count(), 1);
    }

    proptest! {
        #[test]
        fn equals_a_plain_set(steps in prop::collection::vec((any::<bool>(), 0u32..200, 0u32..9), 0..60)) {
            let base = 0x00ff_ff80;
            let (mut set, mut plain) = (Ranges::default(), BTreeSet::new());
            for (insert, first, length) in steps {
                let own = range(base + first, base.wrapping_add(first + length));
                if insert {
                    set.insert(own);
                    plain.extend(first..=first + length);
                } else {
                    let mut removed = 0;
                    for psn in first..=first + length { removed += u64::from(plain.remove(&psn)); }
                    prop_assert_eq!(set.remove(own), removed);
                }
                prop_assert_eq!(set.count(), plain.len() as u64);
                for psn in 0..210 { prop_assert_eq!(set.contains(Psn::new(base + psn)), plain.contains(&psn)); }
            }
        }
    }
}
