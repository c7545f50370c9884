//! The headers that carry the transport, and the ICRC over both.

use core::net::IpAddr;

use zerocopy::IntoBytes;

use super::{FrameBuilder, Icrc, Writer};
use crate::Grh;
use crate::icrc::{Carrier, compute};

const UDP: u8 = 17;

impl FrameBuilder<'_> {
    pub(super) const fn ethertype(&self) -> u16 {
        match self.carrier() {
            Carrier::Ipv4 => 0x0800,
            Carrier::Ipv6 => 0x86dd,
            Carrier::Grh => 0x8915,
        }
    }

    /// What carries the transport.
    #[must_use]
    pub const fn carrier(&self) -> Carrier {
        match self.source {
            _ if self.rocev1 => Carrier::Grh,
            IpAddr::V4(_) => Carrier::Ipv4,
            IpAddr::V6(_) => Carrier::Ipv6,
        }
    }

    fn traffic_class(&self) -> u8 {
        self.dscp << 2 | self.ecn & 3
    }

    /// IP and UDP, or GRH.
    pub(super) fn network(&self, out: &mut Writer<'_>) -> Option<()> {
        let transport_len = u16::try_from(self.transport_len()).ok()?;
        if self.rocev1 {
            return out.put(self.grh(transport_len).as_bytes());
        }
        let udp_len = transport_len.checked_add(8)?;
        match (self.source, self.destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                self.ipv4(udp_len, source.octets(), destination.octets(), out)?;
            }
            (IpAddr::V6(source), IpAddr::V6(destination)) => {
                out.put(
                    &(6 << 28 | u32::from(self.traffic_class()) << 20 | self.flow_label & 0xf_ffff)
                        .to_be_bytes(),
                )?;
                out.put(&udp_len.to_be_bytes())?;
                out.put(&[UDP, self.hop_limit])?;
                out.put(&source.octets())?;
                out.put(&destination.octets())?;
            }
            _ => return None,
        }
        for word in [
            self.source_port,
            self.destination_port,
            udp_len,
            self.udp_checksum,
        ] {
            out.put(&word.to_be_bytes())?;
        }
        Some(())
    }

    fn grh(&self, transport_len: u16) -> Grh {
        let gid = |address: IpAddr| match address {
            IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
            IpAddr::V6(address) => address.octets(),
        };
        let (source, destination) = (gid(self.source), gid(self.destination));
        Grh::new(
            self.traffic_class(),
            self.flow_label,
            transport_len,
            self.hop_limit,
            source,
            destination,
        )
    }

    fn ipv4(
        &self,
        udp_len: u16,
        source: [u8; 4],
        destination: [u8; 4],
        out: &mut Writer<'_>,
    ) -> Option<()> {
        const DO_NOT_FRAGMENT: u16 = 0x4000;
        if !self.ipv4_options.len().is_multiple_of(4) || self.ipv4_options.len() > 40 {
            return None;
        }
        let header_len = 20 + self.ipv4_options.len() as u16;
        let at = out.len();
        out.put(&[0x40 | (header_len / 4) as u8, self.traffic_class()])?;
        out.put(&udp_len.checked_add(header_len)?.to_be_bytes())?;
        out.put(&self.ip_id.to_be_bytes())?;
        out.put(&DO_NOT_FRAGMENT.to_be_bytes())?;
        out.put(&[self.hop_limit, UDP, 0, 0])?;
        out.put(&source)?;
        out.put(&destination)?;
        out.put(self.ipv4_options)?;
        let checksum = internet_checksum(out.written().get(at..)?);
        out.set(at + 10, &checksum.to_be_bytes())
    }

    /// The ICRC to write behind `packet`, which is complete but for it and has its BTH at `bth_at`.
    pub(super) fn icrc_of(&self, packet: &[u8], bth_at: usize) -> Option<[u8; 4]> {
        let transport = packet.get(bth_at..)?;
        let unpadded = transport.get(..transport.len().checked_sub(usize::from(self.pad()))?)?;
        let over = |transport| compute(self.carrier(), packet, transport);
        Some(match self.icrc {
            Icrc::Right => over(transport)?.to_le_bytes(),
            Icrc::WithoutPad => over(unpadded)?.to_le_bytes(),
            Icrc::ByteSwapped => over(transport)?.to_be_bytes(),
            Icrc::Value(value) => value.to_le_bytes(),
        })
    }
}

/// Ones' complement of the ones' complement sum of 16-bit words (RFC 1071).
fn internet_checksum(header: &[u8]) -> u16 {
    let (words, _) = header.as_chunks::<2>();
    let sum: u32 = words
        .iter()
        .map(|word| u32::from(u16::from_be_bytes(*word)))
        .sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}
