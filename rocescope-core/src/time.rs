//! Time of the input, in nanoseconds since the epoch.

use serde::Serialize;

/// Nanoseconds since 1970-01-01 UTC. The largest value lies in the year 2554.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Time(pub u64);

/// One millisecond in nanoseconds.
pub const MILLISECOND_NS: u64 = 1_000_000;
/// One second in nanoseconds.
pub const SECOND_NS: u64 = 1_000_000_000;

impl Time {
    /// Nanoseconds from `earlier` to `self`; 0 where time ran backwards.
    #[must_use]
    pub const fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// `ns` nanoseconds later.
    #[must_use]
    pub const fn plus_ns(self, ns: u64) -> Self {
        Self(self.0.saturating_add(ns))
    }
}
