//! Values of flags that need more than a number or a word.

use jiff::tz::TimeZone;
use rocescope_core::finding;
use std::str::FromStr;

/// A time zone by name, found when typed.
#[derive(Clone, Debug)]
pub struct TimeZoneName(pub TimeZone);

impl FromStr for TimeZoneName {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "utc" | "UTC" => Ok(Self(TimeZone::UTC)),
            "local" => TimeZone::try_system().map(Self).map_err(|error| {
                format!("the time zone of this host is not known ({error}); use utc or Area/City")
            }),
            _ => TimeZone::get(name).map(Self).map_err(|_| {
                "no such time zone; use utc, local, or a name such as Europe/Berlin".to_owned()
            }),
        }
    }
}

/// A threshold set by `--set finding.key=value`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Setting {
    /// The finding.
    pub finding: &'static str,
    /// The key of its threshold.
    pub key: &'static str,
    /// The value, in the threshold's unit.
    pub value: u64,
}

impl FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = || "expected FINDING.KEY=VALUE, such as rnr-storm.count=10".to_owned();
        let (name, value) = text.split_once('=').ok_or_else(form)?;
        let (id, key) = name.split_once('.').ok_or_else(form)?;
        let doc = finding::doc(id).ok_or_else(|| unknown_finding(id))?;
        let threshold = doc.threshold(key).ok_or_else(|| no_such_key(doc, key))?;
        let value = value
            .parse::<u64>()
            .map_err(|_| format!("{name} takes a whole number of {}", threshold.unit))?;
        if !(threshold.min..=threshold.max).contains(&value) {
            let (min, max, unit) = (threshold.min, threshold.max, threshold.unit);
            return Err(format!("{name} takes {min} to {max} {unit}"));
        }
        Ok(Self {
            finding: doc.id,
            key: threshold.key,
            value,
        })
    }
}

fn no_such_key(doc: &finding::FindingDoc, key: &str) -> String {
    let keys: Vec<_> = doc
        .thresholds
        .iter()
        .map(|threshold| threshold.key)
        .collect();
    if keys.is_empty() {
        format!("{} has no threshold to set", doc.id)
    } else {
        format!("{} has no {key}; it has {}", doc.id, keys.join(", "))
    }
}

/// What to say of a finding that does not exist.
#[must_use]
pub fn unknown_finding(id: &str) -> String {
    format!("there is no finding '{id}'; 'rocescope explain' lists them")
}
