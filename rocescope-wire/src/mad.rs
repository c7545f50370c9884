//! Management datagrams: the header all of them begin with.

use zerocopy::byteorder::big_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::{Qpn, Transport, TransportPacket};

/// Octets of a management datagram.
pub const MAD_LEN: usize = 256;

/// Header of a management datagram, 24 octets (IBTA volume 1, 13.4; `ib_mad_hdr` of `ib_mad.h`).
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
pub struct MadHeader {
    base_version: u8,
    class: u8,
    class_version: u8,
    method: u8,
    status: U16,
    class_specific: U16,
    transaction_id: U64,
    attribute_id: U16,
    reserved: U16,
    attribute_modifier: U32,
}

impl MadHeader {
    /// Octets of a MAD header.
    pub const LEN: usize = size_of::<Self>();
    /// Management class of communication management.
    pub const CLASS_CM: u8 = 0x07;
    /// Method Send, which all CM messages have.
    pub const METHOD_SEND: u8 = 0x03;

    /// Header of a CM message.
    #[must_use]
    pub fn cm(attribute_id: u16, transaction_id: u64) -> Self {
        Self {
            base_version: 1,
            class: Self::CLASS_CM,
            class_version: 2,
            method: Self::METHOD_SEND,
            transaction_id: U64::new(transaction_id),
            attribute_id: U16::new(attribute_id),
            ..Self::default()
        }
    }

    /// Version of the format, 1.
    #[must_use]
    pub const fn base_version(&self) -> u8 {
        self.base_version
    }

    /// Management class: who is spoken to.
    #[must_use]
    pub const fn class(&self) -> u8 {
        self.class
    }

    /// Version of the class; CM has 2.
    #[must_use]
    pub const fn class_version(&self) -> u8 {
        self.class_version
    }

    /// Method; bit 7 set = a response.
    #[must_use]
    pub const fn method(&self) -> u8 {
        self.method
    }

    /// Status of a response, 0 = no error.
    #[must_use]
    pub const fn status(&self) -> u16 {
        self.status.get()
    }

    /// Two octets each class uses its own way.
    #[must_use]
    pub const fn class_specific(&self) -> u16 {
        self.class_specific.get()
    }

    /// Transaction: a CM conversation (REQ, REP, RTU and so on) has one.
    #[must_use]
    pub const fn transaction_id(&self) -> u64 {
        self.transaction_id.get()
    }

    /// What is spoken about; in CM the kind of message.
    #[must_use]
    pub const fn attribute_id(&self) -> u16 {
        self.attribute_id.get()
    }

    /// Details of the attribute.
    #[must_use]
    pub const fn attribute_modifier(&self) -> u32 {
        self.attribute_modifier.get()
    }
}

impl<'a> TransportPacket<'a> {
    /// The captured part of the management datagram in this packet: the payload of a datagram for QP 0 or 1.
    #[must_use]
    pub fn mad(&self) -> Option<&'a [u8]> {
        let is_datagram = self
            .info
            .is_some_and(|info| info.transport == Transport::Ud);
        (is_datagram && self.dest_qpn() <= Qpn::GSI).then(|| self.payload())
    }

    /// The header of that management datagram, if it was captured whole.
    #[must_use]
    pub fn mad_header(&self) -> Option<&'a MadHeader> {
        let (header, _) = MadHeader::ref_from_prefix(self.mad()?).ok()?;
        Some(header)
    }
}
