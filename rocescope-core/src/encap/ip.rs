//! The network layer and UDP.

use super::walk::{Content, Found, Walk};
use super::{Carrier, Why};
use crate::Address;
use etherparse::{Ipv4HeaderSlice, Ipv6HeaderSlice, UdpHeaderSlice, err};
use rocescope_wire::{Bth, Grh};
use zerocopy::FromBytes;

const HOP_BY_HOP: u8 = 0;
const IPV4: u8 = 4;
const TCP: u8 = 6;
const UDP: u8 = 17;
const IPV6: u8 = 41;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const GRE: u8 = 47;
const AUTHENTICATION: u8 = 51;
const DESTINATION: u8 = 60;

/// Extension headers followed one after another.
const MAX_EXTENSIONS: usize = 8;

/// Which part of an IP packet.
#[derive(Clone, Copy)]
enum Fragment {
    First,
    Later,
}

impl Walk<'_, '_> {
    /// IP of whichever version it says.
    pub(super) fn ip(&mut self) -> Found {
        match self.rest().first().ok_or_else(|| self.missing(1))? >> 4 {
            4 => self.ipv4(),
            6 => self.ipv6(),
            _ => Ok(Content::Other),
        }
    }

    pub(super) fn ipv4(&mut self) -> Found {
        let header = Ipv4HeaderSlice::from_slice(self.rest()).map_err(|error| match error {
            err::ipv4::HeaderSliceError::Len(len) => self.missing(len.required_len),
            err::ipv4::HeaderSliceError::Content(_) => Why::IpHeader,
        })?;
        let header_len = header.slice().len();
        self.network_at = self.at;
        self.at += header_len;
        match usize::from(header.total_len()) {
            // Segmentation offload leaves it zero: the packet fills the frame.
            0 => {}
            total if total < header_len => return Err(Why::IpLength),
            total => self.ends_at(self.network_at + total),
        }
        self.src = Address::V4(header.source());
        self.dst = Address::V4(header.destination());
        self.traffic_class = header.dcp().value() << 2 | header.ecn().value();
        self.hop_limit = header.ttl();
        self.ip_id = Some(header.identification());
        let fragment = match (header.fragments_offset().value(), header.more_fragments()) {
            (0, false) => None,
            (0, true) => Some(Fragment::First),
            _ => Some(Fragment::Later),
        };
        self.protocol(header.protocol().0, fragment, Carrier::RoceV2Ipv4)
    }

    pub(super) fn ipv6(&mut self) -> Found {
        let header = Ipv6HeaderSlice::from_slice(self.rest()).map_err(|error| match error {
            err::ipv6::HeaderSliceError::Len(len) => self.missing(len.required_len),
            err::ipv6::HeaderSliceError::Content(_) => Why::IpHeader,
        })?;
        self.network_at = self.at;
        self.at += header.slice().len();
        match usize::from(header.payload_length()) {
            // A jumbogram or an offload: the packet fills the frame.
            0 => {}
            payload => self.ends_at(self.at + payload),
        }
        self.src = Address::V6(header.source());
        self.dst = Address::V6(header.destination());
        self.traffic_class = header.traffic_class();
        self.hop_limit = header.hop_limit();
        self.ip_id = None;
        let (protocol, fragment) = self.extensions(header.next_header().0)?;
        self.protocol(protocol, fragment, Carrier::RoceV2Ipv6)
    }

    /// RoCE v1: a GRH, whose payload ends with the ICRC.
    pub(super) fn grh(&mut self) -> Found {
        let Ok((grh, _)) = Grh::ref_from_prefix(self.rest()) else {
            return Err(self.missing(Grh::LEN));
        };
        self.network_at = self.at;
        self.at += Grh::LEN;
        self.ends_at(self.at + usize::from(grh.payload_len()));
        self.src = Address::V6(grh.source());
        self.dst = Address::V6(grh.destination());
        self.traffic_class = grh.traffic_class();
        self.hop_limit = grh.hop_limit();
        self.ip_id = None;
        if grh.next_header() != Grh::NEXT_HEADER_IBA {
            return Ok(Content::Other);
        }
        self.roce(Carrier::RoceV1, 0)
    }

    /// What IP carries. A first fragment of a tunnel holds the head of an inner frame, as a mirror's cut would; one of
    /// UDP or TCP lacks what its own lengths count.
    fn protocol(&mut self, protocol: u8, fragment: Option<Fragment>, carrier: Carrier) -> Found {
        match (protocol, fragment) {
            (UDP, None) => self.udp(carrier),
            (TCP, None) => self.tcp(),
            (GRE, None | Some(Fragment::First)) => self.gre(),
            (IPV4, None | Some(Fragment::First)) => {
                self.enter_tunnel()?;
                self.ipv4()
            }
            (IPV6, None | Some(Fragment::First)) => {
                self.enter_tunnel()?;
                self.ipv6()
            }
            (_, None) => Ok(Content::Other),
            (_, Some(fragment)) => Ok(Content::Fragment {
                protocol,
                first: matches!(fragment, Fragment::First),
            }),
        }
    }

    /// Past IPv6 extension headers (RFC 8200 4, AH: RFC 4302 2.2), to the protocol behind them.
    fn extensions(&mut self, next_header: u8) -> Result<(u8, Option<Fragment>), Why> {
        let mut protocol = next_header;
        let mut fragment = None;
        for _ in 0..=MAX_EXTENSIONS {
            protocol = match protocol {
                HOP_BY_HOP | ROUTING | DESTINATION => self.extension(8)?,
                AUTHENTICATION => self.extension(4)?,
                FRAGMENT => {
                    let [next, _, high, low, ..] = *self.take::<8>()?;
                    fragment = match u16::from_be_bytes([high, low]) {
                        // A whole packet with a fragment header all the same (RFC 6946).
                        bits if bits & 0xfff9 == 0 => None,
                        bits if bits & 0xfff8 == 0 => Some(Fragment::First),
                        _ => Some(Fragment::Later),
                    };
                    next
                }
                _ => return Ok((protocol, fragment)),
            };
            if matches!(fragment, Some(Fragment::Later)) {
                return Ok((protocol, fragment));
            }
        }
        Err(Why::TooDeep)
    }

    /// Past an extension header of 8 octets and so many more `unit`s as it says; the protocol behind it.
    fn extension(&mut self, unit: usize) -> Result<u8, Why> {
        let [next, len] = *self.rest().first_chunk().ok_or_else(|| self.missing(2))?;
        self.skip(8 + usize::from(len) * unit)?;
        Ok(next)
    }

    fn udp(&mut self, carrier: Carrier) -> Found {
        let header = UdpHeaderSlice::from_slice(self.rest())
            .map_err(|len| self.missing(len.required_len))?;
        let length = usize::from(header.length());
        if length < header.slice().len() {
            return Err(Why::UdpLength);
        }
        // A length that reaches beyond the IP packet counts what is not there.
        self.end = self.end.min(self.at + length);
        self.at += header.slice().len();
        let port = header.destination_port();
        if self.ports.roce().contains(&port) {
            return self.roce(carrier, header.source_port());
        }
        if self.ports.vxlan().contains(&port) {
            return self.vxlan(port);
        }
        Ok(Content::Udp {
            port,
            looks_like_bth: self.looks_like_bth(),
        })
    }

    fn tcp(&mut self) -> Found {
        let [source_high, source_low, high, low] = *self.take()?;
        Ok(Content::Tcp {
            source_port: u16::from_be_bytes([source_high, source_low]),
            destination_port: u16::from_be_bytes([high, low]),
        })
    }

    /// Known opcode, version 0, a partition, reserved bits clear, whole words: one in a million of random payloads.
    fn looks_like_bth(&self) -> bool {
        let Some(octets) = self.rest().first_chunk::<{ Bth::LEN }>() else {
            return false;
        };
        let bth: &Bth = zerocopy::transmute_ref!(octets);
        let [_, _, _, _, congestion, _, _, _, ack_req, _, _, _] = octets;
        bth.opcode().info().is_some()
            && bth.tver() == 0
            && bth.pkey() & 0x7fff != 0
            && congestion & 0x3f == 0
            && ack_req & 0x7f == 0
            && (self.end - self.at).is_multiple_of(4)
    }
}
