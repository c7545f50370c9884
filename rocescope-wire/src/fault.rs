//! What can be wrong with a packet of the transport.

use core::fmt;

/// Something in a packet that the standard does not allow. The fields that could be read stay readable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Fault {
    /// Shorter on the wire than BTH, the opcode's headers and ICRC.
    ShortForHeaders {
        /// Octets on the wire, BTH to ICRC.
        wire_len: usize,
        /// Least octets for this opcode.
        needed: usize,
    },
    /// The pad count is larger than what lies between headers and ICRC.
    PadWithoutPayload(u8),
    /// Transport header version other than 0.
    TransportVersion(u8),
    /// Reserved or manufacturer opcode.
    UnknownOpcode(u8),
    /// Octets of payload in a packet that has none (ACK, READ request, atomic, FLUSH).
    PayloadNotAllowed(usize),
    /// A First, Middle or Last without payload.
    PayloadMissing,
    /// ATOMIC WRITE with a payload other than 8 octets.
    AtomicWriteLength(usize),
    /// CNP with other than its 16 reserved octets.
    CnpLength(usize),
    /// Length, BTH to ICRC, that is no multiple of 4: the pad count does not fit.
    Unaligned(usize),
}

impl Fault {
    /// The headers themselves cannot be relied on. Otherwise they can, and only the length breaks a rule.
    #[must_use]
    pub const fn is_in_headers(self) -> bool {
        matches!(
            self,
            Self::ShortForHeaders { .. } | Self::TransportVersion(_) | Self::UnknownOpcode(_)
        )
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ShortForHeaders { wire_len, needed } => {
                write!(
                    f,
                    "{wire_len} octets from BTH to ICRC, but this opcode needs at least {needed}"
                )
            }
            Self::PadWithoutPayload(pad) => {
                write!(f, "pad count {pad}, but no room for it before the ICRC")
            }
            Self::TransportVersion(version) => {
                write!(f, "transport version {version}, only 0 exists")
            }
            Self::UnknownOpcode(code) if *code >= 0xc0 => {
                write!(f, "manufacturer opcode {code:#04x}")
            }
            Self::UnknownOpcode(code) => write!(f, "reserved opcode {code:#04x}"),
            Self::PayloadNotAllowed(octets) => {
                write!(f, "{octets} octets of payload where this opcode has none")
            }
            Self::PayloadMissing => {
                f.write_str("no payload, but a First, Middle or Last packet carries some")
            }
            Self::AtomicWriteLength(octets) => {
                write!(f, "ATOMIC WRITE of {octets} octets, it must have 8")
            }
            Self::CnpLength(octets) => {
                write!(f, "CNP with {octets} octets after the BTH, it must have 16")
            }
            Self::Unaligned(wire_len) => {
                write!(
                    f,
                    "{wire_len} octets from BTH to ICRC, not a multiple of 4: wrong pad count"
                )
            }
        }
    }
}

impl core::error::Error for Fault {}
