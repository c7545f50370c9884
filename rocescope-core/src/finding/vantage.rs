//! Findings about what the inputs can and cannot show, made after all of them were read.

use crate::outcome::Outcome;
use crate::report::{Finding, Source};

/// What can be said of the whole input only.
#[must_use]
pub fn of_capture(outcome: &Outcome, sources: &[Source]) -> Vec<Finding> {
    let _ = (outcome, sources);
    Vec::new()
}
