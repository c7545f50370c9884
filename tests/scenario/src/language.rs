//! The words of a scenario. `../README.md` explains them to those who write one.

use serde::Deserialize;
use serde::de::{Deserializer, Error};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// One file: what happened on the wire and what must come out.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Scenario {
    /// What happened, in a sentence or two.
    pub(crate) about: String,
    /// Why this fails today: it must fail until the mark is taken away.
    pub(crate) pending: Option<String>,
    #[serde(default)]
    pub(crate) host: BTreeMap<String, Host>,
    #[serde(default)]
    pub(crate) connection: Vec<Connection>,
    #[serde(default)]
    pub(crate) capture: Capture,
    pub(crate) steps: Vec<Step>,
    pub(crate) expect: Expect,
}

#[derive(Deserialize, Debug, Clone)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Host {
    pub(crate) address: IpAddr,
    #[serde(default)]
    pub(crate) ip_id: IpId,
    /// Hop limit or TTL at the tap.
    #[serde(default = "ttl")]
    pub(crate) ttl: u8,
}

fn ttl() -> u8 {
    64
}

/// How a host numbers its IPv4 packets.
#[derive(Deserialize, Debug, Clone, Copy, Default, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum IpId {
    #[default]
    Counting,
    Zero,
    Constant,
}

#[derive(Deserialize, Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Service {
    #[default]
    RC,
    UC,
    XRC,
    UD,
}

/// A QP pair. The client is the end that sends requests unless a step says otherwise.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(crate) struct Connection {
    pub(crate) name: String,
    pub(crate) service: Service,
    pub(crate) client: End,
    pub(crate) server: End,
    /// Path MTU, octets.
    pub(crate) mtu: u32,
    /// UDP source port, both ways.
    pub(crate) port: u16,
    pub(crate) dscp: u8,
    /// 0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE.
    pub(crate) ecn: u8,
    pub(crate) vlan: Vec<VlanTag>,
    pub rocev1: bool,
    pub(crate) cm: Cm,
}

impl Default for Connection {
    fn default() -> Self {
        Self {
            name: String::new(),
            service: Service::RC,
            client: End {
                qpn: 0x11,
                ..End::default()
            },
            server: End {
                qpn: 0x22,
                ..End::default()
            },
            mtu: 256,
            port: 0xc123,
            dscp: 26,
            ecn: 2,
            vlan: Vec::new(),
            rocev1: false,
            cm: Cm::default(),
        }
    }
}

/// One end of a connection.
#[derive(Deserialize, Debug, Default)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(crate) struct End {
    /// Name of the host; the client is on `a` and the server on `b` unless said otherwise.
    pub(crate) host: Option<String>,
    pub(crate) qpn: u32,
    /// PSN of the first request this end sends in the scenario.
    pub(crate) psn: u32,
    /// Messages this end has completed before the scenario begins.
    pub(crate) msn: u32,
    /// Its own UDP source port.
    pub(crate) port: Option<u16>,
}

#[derive(Deserialize, Debug, Clone, Copy)]
#[serde(deny_unknown_fields)]
pub(crate) struct VlanTag {
    pub(crate) id: u16,
    #[serde(default)]
    pub(crate) priority: u8,
}

/// What CM agrees on.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(crate) struct Cm {
    /// Code: 4.096 us x 2^n.
    pub(crate) ack_timeout: u8,
    pub(crate) retry_count: u8,
    pub(crate) rnr_retry_count: u8,
    pub(crate) initiator_depth: u8,
}

impl Default for Cm {
    fn default() -> Self {
        Self {
            ack_timeout: 14,
            retry_count: 7,
            rnr_retry_count: 7,
            initiator_depth: 8,
        }
    }
}

/// The tap.
#[derive(Deserialize, Debug, Default)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(crate) struct Capture {
    /// Only what this end sends is captured.
    pub(crate) only: Option<Side>,
    /// Octets kept of a frame.
    pub(crate) cut: Option<usize>,
    /// Tunnels in which a mirror brings the frames, the outer first.
    pub(crate) tunnels: Vec<Tunnel>,
}

#[derive(Deserialize, Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Tunnel {
    Vxlan,
    GreTeb,
    GreIp,
    IpInIp,
    Erspan1,
    Erspan2,
    Erspan3,
}

#[derive(Deserialize, Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Side {
    Client,
    Server,
}

impl Side {
    pub(crate) fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}

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

/// PSNs: `5`, `"5-8"`, `"5-8, 12"`; `"0xfffffe-1"` goes over the wrap.
#[derive(Debug, Clone)]
pub(crate) struct Psns(pub(crate) Vec<u32>);

/// `"67 ms"`, in nanoseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Duration(pub(crate) u64);

/// What must come out.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Expect {
    /// Findings that must be made; any other above `info` must not.
    #[serde(default)]
    pub(crate) finding: Vec<ExpectedFinding>,
    /// Findings of severity `info` that must not be made either.
    #[serde(default)]
    pub(crate) absent: Vec<String>,
    /// Words of the verdict's sentence.
    #[serde(default)]
    pub(crate) verdict: Vec<String>,
    /// Words that the verdict's sentence must not contain.
    #[serde(default)]
    pub(crate) verdict_without: Vec<String>,
    /// Values of the JSON report by their path.
    #[serde(default)]
    pub(crate) values: toml::Table,
}

#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ExpectedFinding {
    pub(crate) id: String,
    pub(crate) severity: String,
    pub(crate) count: Option<u64>,
    pub(crate) confidence: Option<String>,
    /// QPN that the packets of its stream go to.
    pub(crate) dest_qpn: Option<u32>,
    /// Words that the message contains.
    #[serde(default)]
    pub(crate) says: Vec<String>,
    /// Words that the message must not contain.
    #[serde(default)]
    pub(crate) never_says: Vec<String>,
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
