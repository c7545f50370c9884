//! Thresholds: defaults stand in the doc of their finding; what `--set finding.key=value` changes stands here.

use crate::finding;
use std::collections::BTreeMap;

/// Changed thresholds.
#[derive(Clone, Debug, Default)]
pub struct Thresholds {
    changed: BTreeMap<(&'static str, &'static str), u64>,
}

/// Why a threshold could not be set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SetError {
    /// There is no such finding.
    NoFinding,
    /// The finding has no such threshold; these it has.
    NoKey(Vec<&'static str>),
    /// The value is out of range.
    OutOfRange {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
    },
}

impl Thresholds {
    /// Changes `finding.key`.
    ///
    /// # Errors
    /// Where there is no such finding or key, or the value is out of its range.
    pub fn set(&mut self, id: &str, key: &str, value: u64) -> Result<(), SetError> {
        let doc = finding::doc(id).ok_or(SetError::NoFinding)?;
        let keys = || {
            doc.thresholds
                .iter()
                .map(|threshold| threshold.key)
                .collect()
        };
        let threshold = doc.threshold(key).ok_or_else(|| SetError::NoKey(keys()))?;
        if !(threshold.min..=threshold.max).contains(&value) {
            return Err(SetError::OutOfRange {
                min: threshold.min,
                max: threshold.max,
            });
        }
        self.changed.insert((doc.id, threshold.key), value);
        Ok(())
    }

    /// The value in force of `key` of the finding of `doc`.
    #[must_use]
    pub fn get(&self, doc: &'static finding::FindingDoc, key: &'static str) -> u64 {
        let default = || doc.threshold(key).map_or(0, |threshold| threshold.default);
        self.changed
            .get(&(doc.id, key))
            .copied()
            .unwrap_or_else(default)
    }

    /// What differs from the defaults, as `finding.key` and value.
    #[must_use]
    pub fn changed(&self) -> BTreeMap<String, String> {
        self.changed
            .iter()
            .map(|((id, key), value)| (format!("{id}.{key}"), value.to_string()))
            .collect()
    }
}
