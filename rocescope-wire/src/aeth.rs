//! The acknowledge extended header: ACK, RNR NAK and NAK, with credits, timers and codes.

use core::fmt;

use zerocopy::byteorder::big_endian::U32;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::Msn;

/// Acknowledge extended transport header, 4 octets (IBTA volume 1, 9.7.5; `ib_hdrs.h`).
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
pub struct Aeth(U32);

/// What an AETH says.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AethKind {
    /// Everything up to the PSN is done.
    Ack {
        /// Receive buffers the responder still has, in messages; `None` = no limit, end-to-end flow control is off.
        credits: Option<u32>,
    },
    /// Receiver not ready: send the PSN again after the timer.
    RnrNak {
        /// How long to wait.
        timer: RnrTimer,
    },
    /// Refused.
    Nak(NakCode),
    /// A syndrome the standard keeps free; the octet as it was.
    Reserved(u8),
}

/// Why a request was refused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum NakCode {
    /// Code 0: a PSN ahead of the expected one, so something before it is missing.
    PsnSequenceError,
    /// Code 1: a request that is not allowed so (length, opcode order, alignment).
    InvalidRequest,
    /// Code 2: R_Key, address or rights do not fit.
    RemoteAccessError,
    /// Code 3: the responder cannot go on.
    RemoteOperationalError,
    /// Code 4: not for this Reliable Datagram channel.
    InvalidRdRequest,
    /// Codes 5 to 31, reserved.
    Other(u8),
}

/// Code of an RNR timer, 0 to 31.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RnrTimer(pub u8);

/// Credits by code 0 to 30 (`credit_table` of the kernel's rdmavt `rc.c`); 31 is no limit.
static CREDITS: [u16; 31] = [
    0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536,
    2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768,
];

/// RNR timers by code in units of 10 microseconds (`ib_rnr_timeout` of `ib_verbs.h`).
static RNR_TIMERS: [u32; 32] = [
    65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536,
    2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
];

impl Aeth {
    /// Octets of an AETH.
    pub const LEN: usize = size_of::<Self>();

    /// A header with this syndrome; see [`AethKind::syndrome`].
    #[must_use]
    pub fn new(syndrome: u8, msn: Msn) -> Self {
        Self(U32::new(u32::from(syndrome) << 24 | msn.0 & 0x00ff_ffff))
    }

    /// An ACK without limit of credits.
    #[must_use]
    pub fn ack(msn: Msn) -> Self {
        Self::new(0x1f, msn)
    }

    /// Bits 6-5 kind, bits 4-0 credits, timer or code.
    #[inline]
    #[must_use]
    pub const fn syndrome(&self) -> u8 {
        (self.0.get() >> 24) as u8
    }

    /// Messages the responder has completed.
    #[inline]
    #[must_use]
    pub const fn msn(&self) -> Msn {
        Msn(self.0.get() & 0x00ff_ffff)
    }

    /// What the syndrome says.
    #[inline]
    #[must_use]
    pub fn kind(&self) -> AethKind {
        AethKind::from_syndrome(self.syndrome())
    }
}

impl AethKind {
    /// What a syndrome octet says.
    #[must_use]
    pub fn from_syndrome(syndrome: u8) -> Self {
        let value = syndrome & 0x1f;
        match syndrome >> 5 {
            0 => Self::Ack {
                credits: CREDITS
                    .get(usize::from(value))
                    .map(|&credits| u32::from(credits)),
            },
            1 => Self::RnrNak {
                timer: RnrTimer(value),
            },
            3 => Self::Nak(NakCode::from_code(value)),
            _ => Self::Reserved(syndrome),
        }
    }

    /// The octet that says this. Credits that no code stands for become the next lower code.
    #[must_use]
    pub fn syndrome(self) -> u8 {
        match self {
            Self::Ack { credits: None } => 0x1f,
            Self::Ack {
                credits: Some(credits),
            } => CREDITS
                .partition_point(|&step| u32::from(step) <= credits)
                .saturating_sub(1) as u8,
            Self::RnrNak { timer } => 0x20 | timer.0 & 0x1f,
            Self::Nak(code) => 0x60 | code.code(),
            Self::Reserved(syndrome) => syndrome,
        }
    }
}

impl NakCode {
    /// From the low 5 bits of a syndrome.
    #[must_use]
    pub const fn from_code(code: u8) -> Self {
        match code {
            0 => Self::PsnSequenceError,
            1 => Self::InvalidRequest,
            2 => Self::RemoteAccessError,
            3 => Self::RemoteOperationalError,
            4 => Self::InvalidRdRequest,
            other => Self::Other(other),
        }
    }

    /// The low 5 bits of the syndrome.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::PsnSequenceError => 0,
            Self::InvalidRequest => 1,
            Self::RemoteAccessError => 2,
            Self::RemoteOperationalError => 3,
            Self::InvalidRdRequest => 4,
            Self::Other(code) => code & 0x1f,
        }
    }
}

impl fmt::Display for NakCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PsnSequenceError => "PSN sequence error",
            Self::InvalidRequest => "invalid request",
            Self::RemoteAccessError => "remote access error",
            Self::RemoteOperationalError => "remote operational error",
            Self::InvalidRdRequest => "invalid RD request",
            Self::Other(code) => return write!(f, "reserved NAK code {code}"),
        })
    }
}

impl RnrTimer {
    /// The wait in units of 10 microseconds: 1 (code 1) to 65,536 (code 0).
    #[must_use]
    pub fn tens_of_microseconds(self) -> u32 {
        RNR_TIMERS[usize::from(self.0 & 0x1f)]
    }

    /// The wait in nanoseconds: 10,000 (code 1) to 655,360,000 (code 0).
    #[must_use]
    pub fn nanoseconds(self) -> u64 {
        u64::from(self.tens_of_microseconds()) * 10_000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_syndrome_goes_there_and_back() {
        for syndrome in 0..=255 {
            assert_eq!(AethKind::from_syndrome(syndrome).syndrome(), syndrome);
        }
    }

    #[test]
    fn the_codes_of_the_standard() {
        let aeth = Aeth::new(0x60, Msn(0x00a9_d0bd));
        assert_eq!(aeth.as_bytes(), [0x60, 0xa9, 0xd0, 0xbd]);
        assert_eq!((aeth.syndrome(), aeth.msn()), (0x60, Msn(0x00a9_d0bd)));
        assert_eq!(aeth.kind(), AethKind::Nak(NakCode::PsnSequenceError));
        assert_eq!(
            AethKind::from_syndrome(0x62),
            AethKind::Nak(NakCode::RemoteAccessError)
        );
        assert_eq!(
            AethKind::from_syndrome(0x7f),
            AethKind::Nak(NakCode::Other(31))
        );
        assert_eq!(
            AethKind::from_syndrome(0x1f),
            AethKind::Ack { credits: None }
        );
        assert_eq!(
            AethKind::from_syndrome(0x1b),
            AethKind::Ack {
                credits: Some(12288)
            }
        );
        assert_eq!(
            AethKind::from_syndrome(0x00),
            AethKind::Ack { credits: Some(0) }
        );
        assert_eq!(AethKind::from_syndrome(0x40), AethKind::Reserved(0x40));
        assert_eq!(AethKind::from_syndrome(0x80), AethKind::Reserved(0x80));
        assert_eq!(AethKind::Ack { credits: Some(5) }.syndrome(), 4);
    }

    #[test]
    fn timers_in_nanoseconds() {
        for (code, ns) in [
            (0, 655_360_000),
            (1, 10_000),
            (12, 640_000),
            (14, 1_280_000),
            (25, 61_440_000),
            (31, 491_520_000),
        ] {
            assert_eq!(RnrTimer(code).nanoseconds(), ns);
        }
        // From 1 on, each second code is twice as long.
        for code in 2..30 {
            assert_eq!(
                RnrTimer(code + 2).nanoseconds(),
                2 * RnrTimer(code).nanoseconds()
            );
        }
    }
}
