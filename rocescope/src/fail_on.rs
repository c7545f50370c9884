//! `--fail-on`: which findings make the exit code 1.

use crate::cli;
use rocescope_core::finding;
use rocescope_core::report::{Finding, Severity};
use std::str::FromStr;

/// The findings that count as failure.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FailOn {
    severity: Option<Severity>,
    ids: Vec<&'static str>,
}

impl FailOn {
    /// Whether one of the findings is at or above the severity, or has one of the ids.
    #[must_use]
    pub fn met_by(&self, findings: &[Finding]) -> bool {
        findings.iter().any(|finding| {
            self.severity.is_some_and(|least| finding.severity >= least)
                || self.ids.contains(&finding.id)
        })
    }
}

impl FromStr for FailOn {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut fail_on = Self::default();
        for word in text.split(',').map(str::trim) {
            match word {
                "never" => {}
                "" => return Err("expected a severity or a finding between the commas".to_owned()),
                _ => match severity(word) {
                    Some(severity) => {
                        fail_on.severity = Some(
                            fail_on
                                .severity
                                .map_or(severity, |least| least.min(severity)),
                        );
                    }
                    None => fail_on.ids.push(
                        finding::doc(word)
                            .ok_or_else(|| cli::unknown_finding(word))?
                            .id,
                    ),
                },
            }
        }
        Ok(fail_on)
    }
}

/// The severity of that name.
#[must_use]
pub fn severity(word: &str) -> Option<Severity> {
    match word {
        "info" => Some(Severity::Info),
        "warning" => Some(Severity::Warning),
        "critical" => Some(Severity::Critical),
        _ => None,
    }
}
