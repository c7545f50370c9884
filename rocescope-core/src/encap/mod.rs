//! From a captured frame to where the InfiniBand transport begins: link layers, VLANs, IP, UDP and tunnels.

use crate::Address;

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
    /// Source and destination MAC of the innermost Ethernet header, six octets each, zero where there is none.
    pub macs: [u8; 12],
    /// Captured octets from the BTH on, at most `wire_len`.
    pub transport: &'a [u8],
    /// Octets from the BTH through the ICRC on the wire, by the UDP (or IP, or GRH) length.
    pub wire_len: u32,
    /// Captured octets from the innermost IP header or GRH on: what the ICRC covers.
    pub network: &'a [u8],
    /// Sender of the outermost tunnel header: part of the vantage.
    pub tunnel_source: Option<Address>,
    /// A tunnel or mirror said that it cut the frame.
    pub cut_by_mirror: bool,
}
