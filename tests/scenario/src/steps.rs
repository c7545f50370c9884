//! The verbs of a scenario and what goes with them.

use crate::language::Side;
use crate::values::{Duration, Lose, Psns};
use serde::Deserialize;
use serde::de::{Deserializer, Error};
use std::collections::BTreeMap;

/// One thing that happens.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) verb: Verb,
    pub(crate) with: With,
}

/// What happens. PSNs are those of the wire.
#[derive(Deserialize, Debug)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Verb {
    /// A SEND of so many octets.
    Send(u32),
    /// An RDMA WRITE of so many octets.
    Write(u32),
    /// An RDMA READ request for so many octets.
    Read(u32),
    /// An atomic operation.
    Atomic(Atomic),
    /// A FLUSH of so many octets.
    Flush(u32),
    /// An ATOMIC WRITE of so many octets (8 is right).
    AtomicWrite(u32),
    /// Requests sent before, once more.
    Again(Psns),
    /// An ACK.
    Ack(u32),
    /// A NAK.
    Nak(u32),
    /// An RNR NAK.
    Rnr(u32),
    /// READ responses, atomic answers.
    Respond(Psns),
    /// Congestion notifications, so many.
    Cnp(u32),
    /// A message of the connection manager.
    Cm(CmStep),
    /// A packet of this opcode, whatever its place.
    Packet(String),
    /// Time passes.
    Wait(Duration),
    /// The capture says it dropped so many frames here.
    Dropped(u64),
    /// Requests were sent and answered that are no part of the scenario: their PSNs are used up.
    Skip(u32),
    /// Steps, so many times.
    Repeat(u32),
}

#[derive(Deserialize, Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Atomic {
    FetchAdd,
    CompareSwap,
}

#[derive(Deserialize, Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CmStep {
    Req,
    Rep,
    Rtu,
    Rej,
    Dreq,
    Drep,
}

#[derive(Deserialize, Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Nak {
    PsnSequenceError,
    InvalidRequest,
    RemoteAccessError,
    RemoteOperationalError,
    InvalidRdRequest,
}

/// How it happens.
#[derive(Deserialize, Debug, Default)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(crate) struct With {
    /// Name of the connection; the first one unless given.
    pub(crate) on: Option<String>,
    /// The end that sends this.
    pub(crate) by: Option<Side>,
    /// PSN of a `packet`.
    pub(crate) psn: Option<u32>,
    /// Octets of payload of a `packet`.
    pub(crate) payload: Option<usize>,
    /// AckReq set in every packet.
    pub(crate) ack_req: Option<bool>,
    /// With immediate data.
    pub(crate) immediate: bool,
    /// Code of a NAK; PSN sequence error unless given.
    pub(crate) code: Option<Nak>,
    /// Code of the RNR timer.
    pub(crate) timer: Option<u8>,
    /// Messages completed, as an answer says; counted unless given.
    pub(crate) msn: Option<u32>,
    /// Credit code of an ACK; 31 (no limit) unless given.
    pub(crate) credits: Option<u8>,
    /// The first response is a First (or Only), as of a READ that begins there.
    pub(crate) from_first: bool,
    /// Virtual address of a READ or WRITE.
    pub(crate) va: Option<u64>,
    /// ECN field.
    pub(crate) ecn: Option<u8>,
    /// MigReq set.
    pub(crate) migreq: bool,
    /// Where packets are lost.
    pub(crate) lose: Option<Lose>,
    /// Packets that are captured once more.
    pub(crate) copy: Option<Copies>,
    /// Two packets that change places.
    pub(crate) swap: Option<(u32, u32)>,
    /// Packets that take longer.
    pub(crate) late: Option<Late>,
    /// Packets that arrive at the tap damaged.
    pub(crate) damage: Option<BTreeMap<Damage, Psns>>,
    /// Steps of a `repeat`.
    pub(crate) steps: Vec<Step>,
}

#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub(crate) struct Copies {
    pub(crate) of: Psns,
    /// How long after the first; right behind it unless given.
    #[serde(default)]
    pub(crate) after: Duration,
    /// TTL of the copy, where another mirror took it.
    pub(crate) ttl: Option<u8>,
}

#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub(crate) struct Late {
    pub(crate) psn: Psns,
    pub(crate) by: Duration,
}

#[derive(Deserialize, Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Damage {
    /// Another ICRC than the right one.
    Icrc,
    /// ICRC of the packet without its pad.
    IcrcWithoutPad,
    /// ICRC in the wrong octet order.
    IcrcSwapped,
    /// ICRC 0.
    IcrcZero,
    /// Pad count 3 in a packet without payload.
    Pad,
}

impl Verb {
    /// What each verb may be given beside itself; all may be given `on` and `by`.
    fn takes(&self) -> &'static [&'static str] {
        match self {
            Self::Send(_) | Self::Write(_) => &[
                "ack-req",
                "immediate",
                "va",
                "ecn",
                "migreq",
                "lose",
                "copy",
                "swap",
                "late",
                "damage",
            ],
            Self::Read(_) | Self::Flush(_) => &["va", "ecn", "lose", "copy", "late", "damage"],
            Self::Atomic(_) | Self::AtomicWrite(_) => {
                &["va", "ecn", "lose", "copy", "late", "damage"]
            }
            Self::Again(_) => &["lose", "copy", "swap", "late", "damage"],
            Self::Ack(_) => &[
                "msn", "credits", "migreq", "ecn", "lose", "copy", "late", "damage",
            ],
            Self::Nak(_) => &["code", "msn", "lose", "copy", "late", "damage"],
            Self::Rnr(_) => &["timer", "msn", "lose", "copy", "late", "damage"],
            Self::Respond(_) => &[
                "msn",
                "from-first",
                "ecn",
                "lose",
                "copy",
                "swap",
                "late",
                "damage",
            ],
            Self::Packet(_) => &[
                "psn", "payload", "ack-req", "msn", "va", "lose", "copy", "late", "damage",
            ],
            Self::Cnp(_) | Self::Cm(_) => &["lose"],
            Self::Wait(_) | Self::Dropped(_) | Self::Skip(_) => &[],
            Self::Repeat(_) => &["steps"],
        }
    }
}

const VERBS: &[&str] = &[
    "send",
    "write",
    "read",
    "atomic",
    "flush",
    "atomic-write",
    "again",
    "ack",
    "nak",
    "rnr",
    "respond",
    "cnp",
    "cm",
    "packet",
    "wait",
    "dropped",
    "skip",
    "repeat",
];

impl<'de> Deserialize<'de> for Step {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut rest = toml::Table::deserialize(deserializer)?;
        let verbs: Vec<_> = VERBS
            .iter()
            .filter(|verb| rest.contains_key(**verb))
            .collect();
        let [verb] = verbs[..] else {
            return Err(D::Error::custom(format!(
                "a step says one of {VERBS:?}, this one: {rest}"
            )));
        };
        let value = rest
            .remove(*verb)
            .into_iter()
            .map(|value| ((*verb).to_owned(), value));
        let verb = Verb::deserialize(toml::Table::from_iter(value)).map_err(D::Error::custom)?;
        if let Some(key) = rest.keys().find(|key| {
            !matches!(key.as_str(), "on" | "by") && !verb.takes().contains(&key.as_str())
        }) {
            return Err(D::Error::custom(format!(
                "{verb:?} does not take `{key}` but {:?}",
                verb.takes()
            )));
        }
        Ok(Self {
            verb,
            with: With::deserialize(rest).map_err(D::Error::custom)?,
        })
    }
}
