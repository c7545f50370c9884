//! The global route header: what carries RoCEv1, and InfiniBand packets between subnets.

use zerocopy::byteorder::big_endian::{U16, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Global route header, 40 octets, in the shape of an IPv6 header (IBTA volume 1, 8.3; `ib_pack.h`).
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
pub struct Grh {
    version_class_flow: U32,
    payload_len: U16,
    next_header: u8,
    hop_limit: u8,
    source: [u8; 16],
    destination: [u8; 16],
}

impl Grh {
    /// Octets of a GRH.
    pub const LEN: usize = size_of::<Self>();
    /// Next header: the InfiniBand transport.
    pub const NEXT_HEADER_IBA: u8 = 0x1b;

    /// A header of version 6 that announces a BTH; `payload_len` counts from BTH to ICRC, `flow_label` has 20 bits.
    #[must_use]
    pub fn new(
        traffic_class: u8,
        flow_label: u32,
        payload_len: u16,
        hop_limit: u8,
        source: [u8; 16],
        destination: [u8; 16],
    ) -> Self {
        Self {
            version_class_flow: U32::new(
                6 << 28 | u32::from(traffic_class) << 20 | flow_label & 0x000f_ffff,
            ),
            payload_len: U16::new(payload_len),
            next_header: Self::NEXT_HEADER_IBA,
            hop_limit,
            source,
            destination,
        }
    }

    /// IP version, 6.
    #[must_use]
    pub const fn ip_version(&self) -> u8 {
        (self.version_class_flow.get() >> 28) as u8
    }

    /// Traffic class: DSCP and ECN.
    #[must_use]
    pub const fn traffic_class(&self) -> u8 {
        (self.version_class_flow.get() >> 20) as u8
    }

    /// Flow label, 20 bits.
    #[must_use]
    pub const fn flow_label(&self) -> u32 {
        self.version_class_flow.get() & 0x000f_ffff
    }

    /// Octets after this header through the ICRC.
    #[must_use]
    pub const fn payload_len(&self) -> u16 {
        self.payload_len.get()
    }

    /// What follows; [`Grh::NEXT_HEADER_IBA`] for a BTH.
    #[must_use]
    pub const fn next_header(&self) -> u8 {
        self.next_header
    }

    /// Hop limit.
    #[must_use]
    pub const fn hop_limit(&self) -> u8 {
        self.hop_limit
    }

    /// Source GID.
    #[must_use]
    pub const fn source(&self) -> [u8; 16] {
        self.source
    }

    /// Destination GID.
    #[must_use]
    pub const fn destination(&self) -> [u8; 16] {
        self.destination
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hex::hex;

    #[test]
    fn grh_of_a_real_rocev1_frame() {
        let octets =
            hex("6020000000281b4000000000000000000000ffff0f00000200000000000000000000ffff0f000002");
        let grh = Grh::read_from_bytes(&octets).expect("40 octets");
        assert_eq!(
            (grh.ip_version(), grh.traffic_class(), grh.flow_label()),
            (6, 2, 0)
        );
        assert_eq!(
            (grh.payload_len(), grh.next_header(), grh.hop_limit()),
            (40, Grh::NEXT_HEADER_IBA, 64)
        );
        assert_eq!(grh.source()[10..], [0xff, 0xff, 15, 0, 0, 2]);
        assert_eq!(
            Grh::new(2, 0, 40, 64, grh.source(), grh.destination()).as_bytes(),
            octets
        );
        assert_eq!(Grh::new(0xff, 0, 0, 0, [0; 16], [0; 16]).flow_label(), 0);
        assert_eq!(
            Grh::new(0, 0xffff_ffff, 0, 0, [0; 16], [0; 16]).traffic_class(),
            0
        );
    }
}
