//! The words of a scenario. `../README.md` explains them to those who write one.

use crate::expect::Expect;
use crate::steps::Step;
use serde::Deserialize;
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
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Service {
    #[default]
    Rc,
    Uc,
    Xrc,
    Ud,
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
            service: Service::Rc,
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
