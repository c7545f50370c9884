//! The base transport header.

use zerocopy::byteorder::big_endian::{U16, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::{Opcode, Psn, Qpn};

/// Base transport header, 12 octets, first of every packet of the transport (IBTA volume 1, 9.2; `rxe_hdr.h`).
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
pub struct Bth {
    opcode: u8,
    flags: u8,
    pkey: U16,
    // FECN, BECN and 6 reserved bits; then the 24 bits of the QPN.
    congestion_and_qpn: U32,
    // AckReq and 7 reserved bits; then the 24 bits of the PSN.
    ack_req_and_psn: U32,
}

impl Bth {
    /// Octets of a BTH.
    pub const LEN: usize = size_of::<Self>();

    const SOLICITED: u8 = 0x80;
    const MIGREQ: u8 = 0x40;
    const FECN: u32 = 0x8000_0000;
    const BECN: u32 = 0x4000_0000;
    const ACK_REQ: u32 = 0x8000_0000;

    /// A header with nothing set but these.
    #[must_use]
    pub fn new(opcode: Opcode, pkey: u16, dest_qpn: Qpn, psn: Psn) -> Self {
        Self {
            opcode: opcode.0,
            flags: 0,
            pkey: U16::new(pkey),
            congestion_and_qpn: U32::new(dest_qpn.get()),
            ack_req_and_psn: U32::new(psn.get()),
        }
    }

    /// What the packet is.
    #[inline]
    #[must_use]
    pub const fn opcode(&self) -> Opcode {
        Opcode(self.opcode)
    }

    /// Solicited event: the receiver is to be woken.
    #[must_use]
    pub const fn solicited(&self) -> bool {
        self.flags & Self::SOLICITED != 0
    }

    /// Migration state of the path: set = migrated.
    #[must_use]
    pub const fn migreq(&self) -> bool {
        self.flags & Self::MIGREQ != 0
    }

    /// Octets of zeros between payload and ICRC, 0 to 3.
    #[inline]
    #[must_use]
    pub const fn pad_count(&self) -> u8 {
        self.flags >> 4 & 3
    }

    /// Version of the transport header; only 0 exists.
    #[inline]
    #[must_use]
    pub const fn tver(&self) -> u8 {
        self.flags & 0x0f
    }

    /// Partition key; bit 15 = full membership.
    #[must_use]
    pub const fn pkey(&self) -> u16 {
        self.pkey.get()
    }

    /// Forward explicit congestion notification (the packet met congestion; InfiniBand fabrics).
    #[must_use]
    pub const fn fecn(&self) -> bool {
        self.congestion_and_qpn.get() & Self::FECN != 0
    }

    /// Backward explicit congestion notification (the receiver of this packet is to slow down; set in every CNP).
    #[must_use]
    pub const fn becn(&self) -> bool {
        self.congestion_and_qpn.get() & Self::BECN != 0
    }

    /// QP the packet is for.
    #[inline]
    #[must_use]
    pub const fn dest_qpn(&self) -> Qpn {
        Qpn::new(self.congestion_and_qpn.get())
    }

    /// The requester wants an acknowledgement.
    #[inline]
    #[must_use]
    pub const fn ack_req(&self) -> bool {
        self.ack_req_and_psn.get() & Self::ACK_REQ != 0
    }

    /// Packet sequence number: of the sender's own numbering in requests, of the other side's in responses.
    #[inline]
    #[must_use]
    pub const fn psn(&self) -> Psn {
        Psn::new(self.ack_req_and_psn.get())
    }

    /// With the solicited event bit as told.
    #[must_use]
    pub const fn with_solicited(mut self, set: bool) -> Self {
        self.flags = with(self.flags, Self::SOLICITED, set);
        self
    }

    /// With MigReq as told.
    #[must_use]
    pub const fn with_migreq(mut self, set: bool) -> Self {
        self.flags = with(self.flags, Self::MIGREQ, set);
        self
    }

    /// With the low 2 bits of `octets` as pad count.
    #[must_use]
    pub const fn with_pad_count(mut self, octets: u8) -> Self {
        self.flags = self.flags & 0xcf | (octets & 3) << 4;
        self
    }

    /// With the low 4 bits of `version` as transport version.
    #[must_use]
    pub const fn with_tver(mut self, version: u8) -> Self {
        self.flags = self.flags & 0xf0 | version & 0x0f;
        self
    }

    /// With FECN and BECN as told.
    #[must_use]
    pub fn with_congestion(mut self, fecn: bool, becn: bool) -> Self {
        let qpn = self.congestion_and_qpn.get() & !(Self::FECN | Self::BECN);
        let bits = if fecn { Self::FECN } else { 0 } | if becn { Self::BECN } else { 0 };
        self.congestion_and_qpn = U32::new(qpn | bits);
        self
    }

    /// With AckReq as told.
    #[must_use]
    pub fn with_ack_req(mut self, set: bool) -> Self {
        let psn = self.ack_req_and_psn.get() & !Self::ACK_REQ;
        self.ack_req_and_psn = U32::new(psn | if set { Self::ACK_REQ } else { 0 });
        self
    }
}

const fn with(flags: u8, bit: u8, set: bool) -> u8 {
    if set { flags | bit } else { flags & !bit }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_where_the_wire_has_them() {
        let octets = [
            0x0a, 0xf5, 0x12, 0x34, 0xc0, 0xab, 0xcd, 0xef, 0x80, 0x01, 0x02, 0x03,
        ];
        let bth = Bth::read_from_bytes(&octets).expect("12 octets");
        assert_eq!(bth.opcode(), Opcode::RC_RDMA_WRITE_ONLY);
        assert!(bth.solicited() && bth.migreq() && bth.fecn() && bth.becn() && bth.ack_req());
        assert_eq!((bth.pad_count(), bth.tver(), bth.pkey()), (3, 5, 0x1234));
        assert_eq!(
            (bth.dest_qpn(), bth.psn()),
            (Qpn::new(0x00ab_cdef), Psn::new(0x0001_0203))
        );
        let written = Bth::new(bth.opcode(), 0x1234, bth.dest_qpn(), bth.psn())
            .with_solicited(true)
            .with_migreq(true)
            .with_pad_count(3)
            .with_tver(5)
            .with_congestion(true, true)
            .with_ack_req(true);
        assert_eq!(written.as_bytes(), octets);
    }

    #[test]
    fn each_flag_stands_alone() {
        let zero = Bth::default();
        assert_eq!(zero.with_solicited(true).as_bytes()[1], 0x80);
        assert_eq!(zero.with_migreq(true).as_bytes()[1], 0x40);
        assert_eq!(zero.with_congestion(true, false).as_bytes()[4], 0x80);
        assert_eq!(zero.with_congestion(false, true).as_bytes()[4], 0x40);
        assert_eq!(zero.with_ack_req(true).as_bytes()[8], 0x80);
        assert_eq!(zero.with_ack_req(true).with_ack_req(false), zero);
    }
}
