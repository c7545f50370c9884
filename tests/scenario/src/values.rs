//! PSNs, durations and places as a scenario writes them.

use serde::Deserialize;
use serde::de::{Deserializer, Error};
use std::collections::BTreeMap;

/// PSNs: `5`, `"5-8"`, `"5-8, 12"`; `"0xfffffe-1"` goes over the wrap.
#[derive(Debug, Clone)]
pub(crate) struct Psns(pub(crate) Vec<u32>);

/// `"67 ms"`, in nanoseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Duration(pub(crate) u64);

/// Where packets are lost: all of the step, or these.
#[derive(Debug, Default)]
pub(crate) struct Lose {
    pub(crate) all: Option<Place>,
    pub(crate) some: BTreeMap<Place, Psns>,
}

#[derive(Deserialize, Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Place {
    /// Between sender and tap.
    Before,
    /// Between tap and receiver.
    After,
    /// Nowhere: the capture missed it.
    Capture,
}

impl<'de> Deserialize<'de> for Lose {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Either {
            All(Place),
            Some(BTreeMap<Place, Psns>),
        }
        Ok(match Either::deserialize(deserializer)? {
            Either::All(place) => Self {
                all: Some(place),
                some: BTreeMap::new(),
            },
            Either::Some(some) => Self { all: None, some },
        })
    }
}

impl Lose {
    pub(crate) fn place(&self, psn: u32) -> Option<Place> {
        let some = self
            .some
            .iter()
            .find(|(_, psns)| psns.contains(psn))
            .map(|(place, _)| *place);
        self.all.or(some)
    }
}

impl Psns {
    pub(crate) fn contains(&self, psn: u32) -> bool {
        self.0.contains(&psn)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut psns = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (mut psn, last) = (number(first)?, number(last)?);
            psns.push(psn);
            while psn != last && psns.len() < 10_000 {
                psn = (psn + 1) & 0xff_ffff;
                psns.push(psn);
            }
        }
        Some(Self(psns))
    }
}

fn number(text: &str) -> Option<u32> {
    let text = text.trim();
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

impl<'de> Deserialize<'de> for Psns {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Either {
            One(u32),
            Text(String),
        }
        match Either::deserialize(deserializer)? {
            Either::One(psn) => Ok(Self(vec![psn])),
            Either::Text(text) => {
                Self::parse(&text).ok_or_else(|| D::Error::custom(format!("no PSNs: {text:?}")))
            }
        }
    }
}

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let duration = || {
            let (count, unit) = text.split_once(' ')?;
            let ns = match unit {
                "ns" => 1,
                "us" => 1_000,
                "ms" => 1_000_000,
                "s" => 1_000_000_000,
                _ => return None,
            };
            Some(Self(count.parse::<u64>().ok()? * ns))
        };
        duration()
            .ok_or_else(|| D::Error::custom(format!("no duration such as \"67 ms\": {text:?}")))
    }
}

impl Psns {
    /// So many from `first` on.
    pub(crate) fn range(first: u32, count: u32) -> impl Iterator<Item = u32> {
        (0..count).map(move |index| (first + index) & 0xff_ffff)
    }
}
