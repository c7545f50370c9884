//! What RDMA-CM puts into a REQ to make a connection of IP addresses and ports (IBTA annex 11; `cma.c`, `rdma_cm.h`).

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What a REQ or SIDR_REQ asks for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ServiceId(pub u64);

/// Port space of RDMA-CM (`rdma_ucm_port_space`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum PortSpace {
    /// 0x06: connections.
    Tcp,
    /// 0x11: datagrams.
    Udp,
    /// 0x3F: InfiniBand.
    Ib,
    /// Another protocol number.
    Other(u8),
}

impl ServiceId {
    /// Prefix of the service ids RDMA-CM makes of ports.
    const IP_PREFIX: u64 = 0x0000_0000_0100_0000;

    /// The service id of a port.
    #[must_use]
    pub const fn of_port(space: PortSpace, port: u16) -> Self {
        Self(Self::IP_PREFIX | (space.number() as u64) << 16 | port as u64)
    }

    /// Port space and port, if the service id is one RDMA-CM makes of them.
    #[must_use]
    pub const fn ip(self) -> Option<(PortSpace, u16)> {
        if self.0 & !0x00ff_ffff != Self::IP_PREFIX {
            return None;
        }
        Some((PortSpace::from_number((self.0 >> 16) as u8), self.0 as u16))
    }
}

impl PortSpace {
    const fn from_number(number: u8) -> Self {
        match number {
            0x06 => Self::Tcp,
            0x11 => Self::Udp,
            0x3f => Self::Ib,
            other => Self::Other(other),
        }
    }

    /// The number on the wire.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::Tcp => 0x06,
            Self::Udp => 0x11,
            Self::Ib => 0x3f,
            Self::Other(number) => number,
        }
    }
}

/// The 36 octets at the beginning of a REQ's private data, as far as they were captured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IpCm<'a> {
    header: &'a [u8; 36],
    consumer: &'a [u8],
}

impl<'a> IpCm<'a> {
    /// Octets of this header.
    pub const LEN: usize = 36;

    /// Reads the header that `private_data` begins with; `None` if it is not there whole.
    #[must_use]
    pub fn decode(private_data: &'a [u8]) -> Option<Self> {
        let (header, consumer) = private_data.split_first_chunk()?;
        Some(Self { header, consumer })
    }

    /// Major version in the high, minor in the low four bits; 0.
    #[must_use]
    pub const fn version(&self) -> u8 {
        self.header[0]
    }

    /// IP version, 4 or 6.
    #[must_use]
    pub const fn ip_version(&self) -> u8 {
        self.header[1] >> 4
    }

    /// Port of the active side.
    #[must_use]
    pub const fn source_port(&self) -> u16 {
        u16::from_be_bytes([self.header[2], self.header[3]])
    }

    /// Address of the active side; `None` for an IP version other than 4 and 6.
    #[must_use]
    pub fn source(&self) -> Option<IpAddr> {
        let (_, addresses) = self.header.split_first_chunk::<4>()?;
        self.address(addresses.first_chunk()?)
    }

    /// Address of the passive side; `None` for an IP version other than 4 and 6.
    #[must_use]
    pub fn destination(&self) -> Option<IpAddr> {
        self.address(self.header.last_chunk()?)
    }

    /// What the application itself put into the private data.
    #[must_use]
    pub const fn consumer_data(&self) -> &'a [u8] {
        self.consumer
    }

    fn address(&self, octets: &[u8; 16]) -> Option<IpAddr> {
        match self.ip_version() {
            4 => Some(Ipv4Addr::from(*octets.last_chunk()?).into()),
            6 => Some(Ipv6Addr::from(*octets).into()),
            _ => None,
        }
    }
}
