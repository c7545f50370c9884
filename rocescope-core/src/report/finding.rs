//! Findings as they leave the analysis.

use crate::Address;
use serde::{Serialize, Serializer, ser::SerializeMap};

/// How much a finding matters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Good to know.
    Info,
    /// Costs something.
    Warning,
    /// Breaks something.
    Critical,
}

/// How sure the evidence makes it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// A hint.
    Low,
    /// The likely reading.
    Medium,
    /// Follows from what was seen.
    High,
}

/// Where a finding is in its life.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// New evidence may still come.
    Open,
    /// Over.
    Resolved,
}

/// What ended a finding.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum EndedBy {
    /// No new evidence for the quiet time while the subject could be seen.
    Quiet,
    /// The end of the input.
    End,
    /// The stream was evicted, idle, or its QP number was used anew.
    Closed,
}

/// A frame of an input.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FrameRef {
    /// Index into `sources`.
    pub source: u16,
    /// Number in that source, from 1, as Wireshark counts.
    pub frame: u64,
}

/// Whom a finding is about.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Subject {
    /// One direction.
    Stream {
        /// Id of the stream; null where it is not listed any more.
        stream: Option<u64>,
        /// Sender.
        src: Address,
        /// Receiver.
        dst: Address,
        /// Queue pair of the receiver.
        dest_qpn: u32,
        /// Queue pair of the sender, where the pair is known.
        src_qpn: Option<u32>,
        /// UDP source port; 0 for RoCE v1.
        udp_source_port: u16,
        /// DSCP of its packets.
        dscp: u8,
        /// How the pair was found; null while it is not.
        paired_by: Option<super::PairedBy>,
    },
    /// One input.
    Source {
        /// Index into `sources`.
        source: u16,
    },
    /// Everything in the input.
    Capture,
}

/// One value of evidence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EvidenceValue {
    /// A number; its unit is in its name.
    Number(i64),
    /// A list of numbers.
    Numbers(Vec<i64>),
    /// A word or a sentence.
    Text(String),
}

impl Serialize for EvidenceValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => serializer.serialize_i64(*number),
            Self::Numbers(numbers) => numbers.serialize(serializer),
            Self::Text(text) => serializer.serialize_str(text),
        }
    }
}

/// Named values behind a finding, in the order of importance.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Evidence(pub Vec<(&'static str, EvidenceValue)>);

impl Evidence {
    /// Adds or replaces a number.
    pub fn number(&mut self, name: &'static str, value: impl TryInto<i64>) -> &mut Self {
        self.set(
            name,
            EvidenceValue::Number(value.try_into().unwrap_or(i64::MAX)),
        )
    }

    /// Adds or replaces a text.
    pub fn text(&mut self, name: &'static str, value: impl Into<String>) -> &mut Self {
        self.set(name, EvidenceValue::Text(value.into()))
    }

    /// Adds or replaces a list of numbers.
    pub fn numbers(&mut self, name: &'static str, values: Vec<i64>) -> &mut Self {
        self.set(name, EvidenceValue::Numbers(values))
    }

    /// Adds `more` to a number that starts at 0; a number of nothing is not listed.
    pub fn add(&mut self, name: &'static str, more: u64) -> &mut Self {
        if more > 0 {
            self.number(name, self.count(name).saturating_add(more));
        }
        self
    }

    /// A number that counts something; 0 where there is none.
    #[must_use]
    pub fn count(&self, name: &str) -> u64 {
        match self.get(name) {
            Some(EvidenceValue::Number(number)) => u64::try_from(*number).unwrap_or(0),
            _ => 0,
        }
    }

    /// The smaller of `value` and what stands there.
    pub fn least(&mut self, name: &'static str, value: u64) -> &mut Self {
        let known = self.get(name).is_some().then(|| self.count(name));
        self.number(name, known.map_or(value, |known| known.min(value)))
    }

    /// The larger of `value` and what stands there.
    pub fn most(&mut self, name: &'static str, value: u64) -> &mut Self {
        let known = self.count(name);
        self.number(name, known.max(value))
    }

    /// The value of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&EvidenceValue> {
        self.0
            .iter()
            .find(|(key, _)| *key == name)
            .map(|(_, value)| value)
    }

    fn set(&mut self, name: &'static str, value: EvidenceValue) -> &mut Self {
        match self.0.iter_mut().find(|(key, _)| *key == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name, value)),
        }
        self
    }
}

impl Serialize for Evidence {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Evidence {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Evidence".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "object",
            "description": "Named values behind a finding; the unit is in the name",
            "additionalProperties": { "type": ["integer", "string", "array"], "items": { "type": "integer" } }
        })
    }
}

/// One thing found, with its evidence.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// Stable name; `rocescope explain ID` tells all about it.
    pub id: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// How sure it is.
    pub confidence: Confidence,
    /// Whom it is about.
    pub subject: Subject,
    /// Identity inside this run: id and full subject.
    pub key: String,
    /// Identity across runs: id and host pair, without QPNs.
    pub fingerprint: String,
    /// Open or resolved.
    pub state: State,
    /// What ended it.
    pub ended_by: Option<EndedBy>,
    /// How often it was seen.
    pub count: u64,
    /// First evidence.
    pub first_ns: u64,
    /// Latest evidence.
    pub last_ns: u64,
    /// Frames that show it: at most 16, the first ones and the last ones.
    pub frames: Vec<FrameRef>,
    /// One sentence of what happened.
    pub message: String,
    /// What to look at next.
    pub next_step: &'static str,
    /// Measured values and thresholds.
    pub evidence: Evidence,
}
