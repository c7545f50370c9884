//! How many streams the parts may hold together, decided at points of the input that do not depend on threads.

/// Streams beyond the limit before it is enforced, at least.
const LEAST_SLACK: usize = 1_024;

/// The limit of streams over all parts. Packets are counted: each can open one stream, so the number of streams need only
/// be asked for when it could have grown beyond the limit.
#[derive(Clone, Debug)]
pub struct Budget {
    limit: usize,
    /// Packets' worth of streams at which the parts are asked.
    due: usize,
    at_most: usize,
}

impl Budget {
    /// A limit of `max_streams`.
    #[must_use]
    pub fn new(max_streams: usize) -> Self {
        Self {
            limit: max_streams,
            due: max_streams + (max_streams / 8).max(LEAST_SLACK),
            at_most: 0,
        }
    }

    /// One more packet. True where the parts must be asked how many streams they hold, before the next packet.
    #[inline]
    pub fn packet(&mut self) -> bool {
        self.at_most += 1;
        self.at_most > self.due
    }

    /// The parts hold `counts` streams: how many each may keep. The fullest parts give up theirs first.
    pub fn settle(&mut self, counts: &[usize]) -> Option<usize> {
        let total: usize = counts.iter().sum();
        self.at_most = total.min(self.limit);
        if total <= self.limit {
            return None;
        }
        let mut sorted = counts.to_vec();
        sorted.sort_unstable();
        let mut left = self.limit;
        for (index, count) in sorted.iter().enumerate() {
            let share = left / (sorted.len() - index);
            if *count > share {
                return Some(share);
            }
            left -= count;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_kept_fits_the_limit(counts in prop::collection::vec(0usize..5_000, 1..64), limit in 64usize..20_000) {
            let quota = Budget::new(limit).settle(&counts);
            let kept: usize = counts.iter().map(|count| (*count).min(quota.unwrap_or(usize::MAX))).sum();
            prop_assert!(kept <= limit);
            prop_assert!(quota.is_some() || counts.iter().sum::<usize>() <= limit);
            if let Some(quota) = quota {
                let one_more: usize = counts.iter().map(|count| (*count).min(quota + 1)).sum();
                prop_assert!(one_more > limit, "more could have been kept");
            }
        }
    }
}
