//! Log-linear histograms of durations.

use crate::report::Latency;

/// Sub-buckets a power of two: a value is known to 1/16.
const SUB: usize = 16;
const BUCKETS: usize = 40 * SUB;

/// Durations in ns: exact below 16 ns, within 6.25 % above. Made with the first value.
#[derive(Clone, Default, Debug)]
pub(crate) struct Histogram {
    counts: Option<Box<[u32; BUCKETS]>>,
    count: u64,
    max: u64,
}

impl Histogram {
    pub(crate) fn record(&mut self, ns: u64) {
        self.count += 1;
        self.max = self.max.max(ns);
        let counts = self.counts.get_or_insert_with(|| Box::new([0; BUCKETS]));
        let slot = &mut counts[bucket(ns)];
        *slot = slot.saturating_add(1);
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The value that `millionths` of the values do not exceed, within the resolution.
    fn quantile(&self, millionths: u64) -> u64 {
        let Some(counts) = &self.counts else { return 0 };
        let rank = (u128::from(self.count) * u128::from(millionths))
            .div_ceil(1_000_000)
            .max(1) as u64;
        let mut seen = 0;
        for (index, count) in counts.iter().enumerate() {
            seen += u64::from(*count);
            if seen >= rank {
                return upper_bound(index).min(self.max);
            }
        }
        self.max
    }

    pub(crate) fn median(&self) -> Option<u64> {
        (self.count > 0).then(|| self.quantile(500_000))
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        let Some(theirs) = &other.counts else { return };
        self.count += other.count;
        self.max = self.max.max(other.max);
        let counts = self.counts.get_or_insert_with(|| Box::new([0; BUCKETS]));
        for (own, their) in counts.iter_mut().zip(theirs.iter()) {
            *own = own.saturating_add(*their);
        }
    }

    pub(crate) fn report(&self) -> Option<Latency> {
        (self.count > 0).then(|| Latency {
            count: self.count,
            p50: self.quantile(500_000),
            p90: self.quantile(900_000),
            p99: self.quantile(990_000),
            p999: self.quantile(999_000),
            max: self.max,
        })
    }
}

fn bucket(ns: u64) -> usize {
    if ns < SUB as u64 {
        return ns as usize;
    }
    let power = ns.ilog2() as usize;
    let sub = (ns >> (power - 4)) as usize & (SUB - 1);
    ((power - 3) * SUB + sub).min(BUCKETS - 1)
}

fn upper_bound(index: usize) -> u64 {
    if index < SUB {
        return index as u64;
    }
    let (power, sub) = (index / SUB + 3, (index % SUB) as u64);
    ((SUB as u64 + sub + 1) << (power - 4)) - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_value_lies_within_its_bucket(ns in 0u64..1 << 42) {
            let upper = upper_bound(bucket(ns));
            prop_assert!(upper >= ns);
            prop_assert!(upper - ns <= ns / 16 + 1);
        }
    }

    #[test]
    fn quantiles_of_a_ramp() {
        let mut histogram = Histogram::default();
        for ns in 1..=1_000 {
            histogram.record(ns * 1_000);
        }
        let report = histogram.report().expect("values were recorded");
        assert_eq!((report.count, report.max), (1_000, 1_000_000));
        assert!((500_000..540_000).contains(&report.p50));
        assert!((990_000..=1_000_000).contains(&report.p99));
    }
}
