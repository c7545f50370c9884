//! Connection management: how two hosts tell each other their QPs (IBTA volume 1, chapter 12; `ibta_vol1_c12.h`).
//!
//! Messages are views over what was captured of them: an accessor gives `None` where its field was cut off.

use zerocopy::FromBytes;

use crate::MadHeader;

mod ip;
mod message;
mod reject;

pub use ip::{IpCm, PortSpace, ServiceId};
pub use message::{
    Apr, Drep, Dreq, Lap, Mra, Path, Rej, Rep, Req, Rtu, ServiceType, SidrRep, SidrReq,
};
pub use reject::RejReason;

/// Attribute ids of the messages (`ib_cm.h`, `CM_*_ATTR_ID`).
pub mod attribute {
    /// Connection request.
    pub const REQ: u16 = 0x10;
    /// Message receipt acknowledgement.
    pub const MRA: u16 = 0x11;
    /// Reject.
    pub const REJ: u16 = 0x12;
    /// Reply to a connection request.
    pub const REP: u16 = 0x13;
    /// Ready to use.
    pub const RTU: u16 = 0x14;
    /// Disconnect request.
    pub const DREQ: u16 = 0x15;
    /// Reply to a disconnect request.
    pub const DREP: u16 = 0x16;
    /// Service id resolution request.
    pub const SIDR_REQ: u16 = 0x17;
    /// Service id resolution reply.
    pub const SIDR_REP: u16 = 0x18;
    /// Load alternate path.
    pub const LAP: u16 = 0x19;
    /// Alternate path response.
    pub const APR: u16 = 0x1a;
}

/// A CM message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CmMessage<'a> {
    /// Connection request.
    Req(Req<'a>),
    /// Message receipt acknowledgement: wait, an answer will come.
    Mra(Mra<'a>),
    /// Reject.
    Rej(Rej<'a>),
    /// Reply to a connection request.
    Rep(Rep<'a>),
    /// Ready to use.
    Rtu(Rtu<'a>),
    /// Disconnect request.
    Dreq(Dreq<'a>),
    /// Reply to a disconnect request.
    Drep(Drep<'a>),
    /// Service id resolution request: the QP of a datagram service.
    SidrReq(SidrReq<'a>),
    /// Service id resolution reply.
    SidrRep(SidrRep<'a>),
    /// Load alternate path.
    Lap(Lap<'a>),
    /// Alternate path response.
    Apr(Apr<'a>),
}

impl<'a> CmMessage<'a> {
    /// Reads the message in a MAD, of which the header at least must be there
    /// (see [`TransportPacket::mad`](crate::TransportPacket::mad)). `None` if it is no CM message, or of an unknown
    /// kind.
    #[must_use]
    pub fn decode(mad: &'a [u8]) -> Option<Self> {
        let (header, data) = MadHeader::ref_from_prefix(mad).ok()?;
        if header.class() != MadHeader::CLASS_CM {
            return None;
        }
        let data = data
            .get(..crate::mad::MAD_LEN - MadHeader::LEN)
            .unwrap_or(data);
        Some(match header.attribute_id() {
            attribute::REQ => Self::Req(Req(data)),
            attribute::MRA => Self::Mra(Mra(data)),
            attribute::REJ => Self::Rej(Rej(data)),
            attribute::REP => Self::Rep(Rep(data)),
            attribute::RTU => Self::Rtu(Rtu(data)),
            attribute::DREQ => Self::Dreq(Dreq(data)),
            attribute::DREP => Self::Drep(Drep(data)),
            attribute::SIDR_REQ => Self::SidrReq(SidrReq(data)),
            attribute::SIDR_REP => Self::SidrRep(SidrRep(data)),
            attribute::LAP => Self::Lap(Lap(data)),
            attribute::APR => Self::Apr(Apr(data)),
            _ => return None,
        })
    }

    /// Name of the message: `REQ`, `REP`, ...
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Req(_) => "REQ",
            Self::Mra(_) => "MRA",
            Self::Rej(_) => "REJ",
            Self::Rep(_) => "REP",
            Self::Rtu(_) => "RTU",
            Self::Dreq(_) => "DREQ",
            Self::Drep(_) => "DREP",
            Self::SidrReq(_) => "SIDR_REQ",
            Self::SidrRep(_) => "SIDR_REP",
            Self::Lap(_) => "LAP",
            Self::Apr(_) => "APR",
        }
    }

    /// Communication id of the sender; in SIDR the id of the request.
    #[must_use]
    pub fn local_comm_id(&self) -> Option<u32> {
        self.word(0)
    }

    /// Communication id of the receiver, as far as the message has one. 0 in a REJ whose sender knows none.
    #[must_use]
    pub fn remote_comm_id(&self) -> Option<u32> {
        match self {
            Self::Req(_) | Self::SidrReq(_) | Self::SidrRep(_) => None,
            _ => self.word(4),
        }
    }

    /// What the application added, as far as it was captured. Applications fill it up with zeros: its length is fixed
    /// for each kind of message.
    #[must_use]
    pub fn private_data(&self) -> &'a [u8] {
        match self {
            Self::Req(message) => message.private_data(),
            Self::Mra(message) => message.private_data(),
            Self::Rej(message) => message.private_data(),
            Self::Rep(message) => message.private_data(),
            Self::Rtu(message) => message.private_data(),
            Self::Dreq(message) => message.private_data(),
            Self::Drep(message) => message.private_data(),
            Self::SidrReq(message) => message.private_data(),
            Self::SidrRep(message) => message.private_data(),
            Self::Lap(message) => message.private_data(),
            Self::Apr(message) => message.private_data(),
        }
    }

    fn word(&self, at: usize) -> Option<u32> {
        let (Self::Req(Req(data))
        | Self::Mra(Mra(data))
        | Self::Rej(Rej(data))
        | Self::Rep(Rep(data))
        | Self::Rtu(Rtu(data))
        | Self::Dreq(Dreq(data))
        | Self::Drep(Drep(data))
        | Self::SidrReq(SidrReq(data))
        | Self::SidrRep(SidrRep(data))
        | Self::Lap(Lap(data))
        | Self::Apr(Apr(data))) = self;
        message::octets(data, at).map(u32::from_be_bytes)
    }
}

#[cfg(test)]
mod tests;
