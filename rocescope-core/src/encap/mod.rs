//! From a captured frame to where the InfiniBand transport begins: link layers, VLANs, IP, UDP and tunnels.
//!
//! [`locate`] is the way in. What was captured and what was on the wire stay two lengths: a frame that the capture or a
//! mirror cut is located as long as its BTH is whole, and is not malformed. Inner lengths win over outer ones, for
//! Ethernet pads, captures keep an FCS, offloads leave lengths zero and mirrors cut.

mod ethernet;
mod ip;
mod link;
mod mirror;
mod plain;
mod ports;
#[cfg(test)]
mod tests;
mod tunnel;
mod walk;

pub use mirror::{MirrorSequence, MirrorSequences};
pub use ports::Ports;

use crate::Address;
use walk::{Content, Walk};

/// Link type of a capture, as numbered by libpcap's LINKTYPE registry. Any number is a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LinkType(pub u32);

impl LinkType {
    /// NULL: BSD loopback, four octets of address family in host byte order.
    pub const NULL: Self = Self(0);
    /// Ethernet.
    pub const ETHERNET: Self = Self(1);
    /// Raw IP, version in the first four bits.
    pub const RAW: Self = Self(101);
    /// LOOP: OpenBSD loopback, address family in network byte order.
    pub const LOOP: Self = Self(108);
    /// Linux cooked capture.
    pub const LINUX_SLL: Self = Self(113);
    /// Raw IPv4.
    pub const IPV4: Self = Self(228);
    /// Raw IPv6.
    pub const IPV6: Self = Self(229);
    /// Linux cooked capture, version 2.
    pub const LINUX_SLL2: Self = Self(276);
}

/// What carries the transport.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Carrier {
    /// RoCE v1: ethertype 0x8915 and a GRH.
    RoceV1,
    /// RoCE v2 over IPv4.
    RoceV2Ipv4,
    /// RoCE v2 over IPv6.
    RoceV2Ipv6,
}

/// The innermost VLAN tag in front of the transport.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Vlan {
    /// Priority code point, 0 to 7.
    pub pcp: u8,
    /// Drop eligible indicator.
    pub dei: bool,
    /// VLAN identifier, 0 to 4095.
    pub vid: u16,
}

impl Vlan {
    /// Tag control information (IEEE 802.1Q 9.6).
    const fn from_tci(tci: u16) -> Self {
        Self {
            pcp: (tci >> 13) as u8,
            dei: tci & 0x1000 != 0,
            vid: tci & 0x0fff,
        }
    }
}

/// A packet of the InfiniBand transport, located in its frame. Slices hold what was captured; lengths what was on the wire.
#[derive(Clone, Copy, Debug)]
pub struct Located<'a> {
    /// What carries it.
    pub carrier: Carrier,
    /// Sender: IP address or GID.
    pub src: Address,
    /// Receiver: IP address or GID.
    pub dst: Address,
    /// UDP source port; 0 for RoCE v1.
    pub udp_source_port: u16,
    /// IPv4 TOS, IPv6 or GRH traffic class: DSCP in the high six bits, ECN in the low two.
    pub traffic_class: u8,
    /// TTL or hop limit.
    pub hop_limit: u8,
    /// Identification of the IPv4 header.
    pub ip_id: Option<u16>,
    /// Innermost VLAN tag.
    pub vlan: Option<Vlan>,
    /// Source, then destination MAC of the innermost Ethernet header, six octets each, zero where there is none.
    pub macs: [u8; 12],
    /// Captured octets from the BTH on, at most `wire_len`.
    pub transport: &'a [u8],
    /// Octets from the BTH through the ICRC on the wire, by the UDP (or IP, or GRH) length.
    pub wire_len: u32,
    /// Captured octets from the innermost IP header or GRH to the end of `transport`: what the ICRC covers.
    pub network: &'a [u8],
    /// Sender of the outermost tunnel header: part of the vantage.
    pub tunnel_source: Option<Address>,
    /// A mirror cut the frame: it says so (T bit of ERSPAN), or carries less than the inner IP header announces.
    pub cut_by_mirror: bool,
}

/// One frame, decoded as far as the transport.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// What the frame holds.
    pub decoded: Decoded<'a>,
    /// Its number in the mirror session that brought it, whatever it holds: a gap there is loss of the capture.
    pub mirror: Option<MirrorSequence>,
}

/// What a frame holds.
#[derive(Clone, Copy, Debug)]
pub enum Decoded<'a> {
    /// RoCE with at least a whole BTH.
    Roce(Located<'a>),
    /// MAC control (IEEE 802.3 31B): PAUSE, PFC.
    MacControl {
        /// Sender.
        source_mac: [u8; 6],
        /// 0x0001 PAUSE, 0x0101 PFC.
        opcode: u16,
        /// Captured octets from the opcode on, padding included.
        octets: &'a [u8],
    },
    /// LLDP (IEEE 802.1AB).
    Lldp {
        /// Sender.
        source_mac: [u8; 6],
        /// Captured octets from the first TLV on, padding included.
        octets: &'a [u8],
    },
    /// A fragment of an IP packet whose transport cannot be read from it: counted, never analysed.
    Fragment {
        /// IP protocol.
        protocol: u8,
        /// The one with the transport header.
        first: bool,
    },
    /// UDP to a port that is none of [`Ports`].
    Udp {
        /// Destination port.
        port: u16,
        /// The payload could be a BTH: RoCE on an unusual port, or chance where few packets say so.
        looks_like_bth: bool,
    },
    /// TCP.
    Tcp {
        /// Source port.
        source_port: u16,
        /// Destination port.
        destination_port: u16,
    },
    /// Anything else.
    Other,
    /// The link type is none of [`LinkType`]'s constants.
    UnknownLinkType,
    /// Headers that cannot be read.
    Undecodable(Why),
}

/// Why a frame cannot be decoded.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Why {
    /// The capture, or a mirror, cut the frame within its headers.
    Cut,
    /// The frame, or a length in it, ends within the headers.
    Short,
    /// IP header of another version, or shorter than an IP header.
    IpHeader,
    /// IP length shorter than the header.
    IpLength,
    /// UDP length below 8.
    UdpLength,
    /// More VLAN tags, MPLS labels, extension headers or tunnels than are followed.
    TooDeep,
}

impl core::fmt::Display for Why {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Cut => "cut within the headers",
            Self::Short => "ends within the headers",
            Self::IpHeader => "malformed IP header",
            Self::IpLength => "IP length shorter than its header",
            Self::UdpLength => "UDP length below 8",
            Self::TooDeep => "too many tags, labels, extension headers or tunnels",
        })
    }
}

/// Finds the transport in the captured `octets` of a frame that had `wire_len` octets on the wire.
#[must_use]
pub fn locate<'a>(link: LinkType, octets: &'a [u8], wire_len: u32, ports: &Ports) -> Frame<'a> {
    if link == LinkType::ETHERNET
        && let Some(located) = plain::locate(octets, ports)
    {
        return Frame {
            decoded: Decoded::Roce(located),
            mirror: None,
        };
    }
    walk(link, octets, wire_len, ports)
}

fn walk<'a>(link: LinkType, octets: &'a [u8], wire_len: u32, ports: &Ports) -> Frame<'a> {
    let mut walk = Walk::new(octets, wire_len, ports);
    let decoded = match walk.link(link) {
        Ok(Content::Roce(carrier, udp_source_port)) => {
            Decoded::Roce(walk.located(carrier, udp_source_port))
        }
        Ok(Content::MacControl(opcode)) => Decoded::MacControl {
            source_mac: walk.source_mac(),
            opcode,
            octets: walk.rest(),
        },
        Ok(Content::Lldp) => Decoded::Lldp {
            source_mac: walk.source_mac(),
            octets: walk.rest(),
        },
        Ok(Content::Fragment { protocol, first }) => Decoded::Fragment { protocol, first },
        Ok(Content::Udp {
            port,
            looks_like_bth,
        }) => Decoded::Udp {
            port,
            looks_like_bth,
        },
        Ok(Content::Tcp {
            source_port,
            destination_port,
        }) => Decoded::Tcp {
            source_port,
            destination_port,
        },
        Ok(Content::Other) => Decoded::Other,
        Ok(Content::UnknownLinkType) => Decoded::UnknownLinkType,
        Err(why) => Decoded::Undecodable(why),
    };
    Frame {
        decoded,
        mirror: walk.mirror,
    }
}
