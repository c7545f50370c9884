//! The local route header of native InfiniBand.

use zerocopy::byteorder::big_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Local route header, 8 octets (IBTA volume 1, 7.7; `ib_pack.h`).
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    Debug,
    Default,
    FromBytes,
    IntoBytes,
    KnownLayout,
    Immutable,
    Unaligned,
)]
#[repr(C)]
pub struct Lrh {
    lane_and_version: u8,
    level_and_next: u8,
    dlid: U16,
    packet_len: U16,
    slid: U16,
}

/// What follows a local route header (`IB_LNH_*`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum NextHeader {
    /// A raw packet with an ethertype.
    RawEthertype,
    /// A raw IPv6 packet.
    RawIpv6,
    /// A BTH.
    Bth,
    /// A GRH and a BTH.
    Grh,
}

impl Lrh {
    /// Octets of an LRH.
    pub const LEN: usize = size_of::<Self>();

    /// Virtual lane, 0 to 15.
    #[must_use]
    pub const fn virtual_lane(&self) -> u8 {
        self.lane_and_version >> 4
    }

    /// Link version, 0.
    #[must_use]
    pub const fn link_version(&self) -> u8 {
        self.lane_and_version & 0x0f
    }

    /// Service level, 0 to 15.
    #[must_use]
    pub const fn service_level(&self) -> u8 {
        self.level_and_next >> 4
    }

    /// What follows.
    #[must_use]
    pub const fn next_header(&self) -> NextHeader {
        match self.level_and_next & 3 {
            0 => NextHeader::RawEthertype,
            1 => NextHeader::RawIpv6,
            2 => NextHeader::Bth,
            _ => NextHeader::Grh,
        }
    }

    /// Destination LID.
    #[must_use]
    pub const fn dlid(&self) -> u16 {
        self.dlid.get()
    }

    /// Source LID.
    #[must_use]
    pub const fn slid(&self) -> u16 {
        self.slid.get()
    }

    /// Octets from this header through the ICRC (the wire counts words of four).
    #[must_use]
    pub const fn packet_len(&self) -> usize {
        (self.packet_len.get() & 0x07ff) as usize * 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_where_the_wire_has_them() {
        let lrh = Lrh::read_from_bytes(&[0x70, 0x53, 0x12, 0x34, 0xf8, 0x48, 0x56, 0x78])
            .expect("8 octets");
        assert_eq!(
            (lrh.virtual_lane(), lrh.link_version(), lrh.service_level()),
            (7, 0, 5)
        );
        assert_eq!(
            (lrh.next_header(), lrh.dlid(), lrh.slid()),
            (NextHeader::Grh, 0x1234, 0x5678)
        );
        assert_eq!(lrh.packet_len(), 0x48 * 4);
    }
}
