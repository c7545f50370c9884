//! Opcodes of the transport and what they say about a packet: the one table of them.
//!
//! Source: IBTA volume 1 chapter 9.2 and annexes 14 (XRC), 17 (RoCEv2, CNP) and 19 (FLUSH, ATOMIC WRITE), as in the
//! kernel's `ib_pack.h` and rxe's `rxe_opcode.c`. XRC: responses carry no XRCETH.

mod table;

/// First octet of a BTH: transport in the top three bits, operation in the low five. Any octet is a value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Opcode(pub u8);

/// How opcodes 0x40-0x5F are read: IBTA gives them to Reliable Datagram, NVIDIA adapters use them for Dynamically
/// Connected transport.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum RdOrDc {
    /// Reliable Datagram, the standard.
    #[default]
    Rd,
    /// NVIDIA Dynamically Connected, with its own 8-octet header after the BTH.
    Dc,
}

impl Opcode {
    /// What the opcode means by the standard; `None` for reserved and manufacturer opcodes.
    #[inline]
    #[must_use]
    pub fn info(self) -> Option<&'static OpcodeInfo> {
        table::IBTA[usize::from(self.0)].as_ref()
    }

    /// Like [`Opcode::info`], with 0x40-0x5F read as told.
    #[inline]
    #[must_use]
    pub fn info_as(self, reading: RdOrDc) -> Option<&'static OpcodeInfo> {
        if reading == RdOrDc::Dc && self.0 & 0xe0 == 0x40 {
            return table::DC[usize::from(self.0 & 0x1f)].as_ref();
        }
        self.info()
    }

    /// Every opcode the standard names, in order of code.
    pub fn all() -> impl Iterator<Item = &'static OpcodeInfo> {
        table::IBTA.iter().flatten()
    }

    /// The opcodes NVIDIA's Dynamically Connected transport has in place of Reliable Datagram, in order of code.
    pub fn all_dc() -> impl Iterator<Item = &'static OpcodeInfo> {
        table::DC.iter().flatten()
    }

    /// Left to manufacturers (0xC0-0xFF): nothing can be said about what follows the BTH.
    #[must_use]
    pub const fn is_manufacturer(self) -> bool {
        self.0 >= 0xc0
    }
}

/// What is known of an opcode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpcodeInfo {
    /// The octet on the wire.
    pub code: u8,
    /// As in the IBTA table, with underscores: `RC_SEND_FIRST`.
    pub name: &'static str,
    /// Transport service.
    pub transport: Transport,
    /// What is asked or answered.
    pub operation: Operation,
    /// Place of the packet in its message.
    pub part: Part,
    /// Headers between BTH and payload.
    pub headers: Headers,
    /// Who sends it.
    pub role: Role,
    headers_len: u8,
    payload: Payload,
}

impl OpcodeInfo {
    const fn new(
        code: u8,
        name: &'static str,
        transport: Transport,
        operation: Operation,
        part: Part,
        headers: Headers,
    ) -> Self {
        Self {
            code,
            name,
            transport,
            operation,
            part,
            headers,
            role: operation.role(),
            headers_len: headers.len() as u8,
            payload: Payload::of(operation, part),
        }
    }

    /// The opcode itself.
    #[must_use]
    pub const fn opcode(&self) -> Opcode {
        Opcode(self.code)
    }

    /// Octets of all headers between BTH and payload.
    #[inline]
    #[must_use]
    pub const fn headers_len(&self) -> usize {
        self.headers_len as usize
    }

    /// How long the payload may be.
    #[inline]
    #[must_use]
    pub const fn payload(&self) -> Payload {
        self.payload
    }

    /// The packet asks for something: it has a PSN of the sender's own numbering.
    #[must_use]
    pub const fn is_request(&self) -> bool {
        matches!(self.role, Role::Request)
    }

    /// The packet answers: its PSN is in the numbering of the other direction.
    #[must_use]
    pub const fn is_response(&self) -> bool {
        matches!(self.role, Role::Response)
    }
}

/// What the length of a payload can be, without knowing the path MTU.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Payload {
    /// No payload: ACKs, READ requests, atomics.
    None,
    /// At least one octet: First, Middle and Last.
    Some,
    /// Zero or more: Only.
    Any,
    /// Exactly this many octets: ATOMIC WRITE 8, CNP 16.
    Exactly(u8),
}

impl Payload {
    const fn of(operation: Operation, part: Part) -> Self {
        match operation {
            Operation::Send | Operation::RdmaWrite | Operation::RdmaReadResponse => match part {
                Part::Only => Self::Any,
                _ => Self::Some,
            },
            Operation::AtomicWrite => Self::Exactly(8),
            Operation::Cnp => Self::Exactly(16),
            _ => Self::None,
        }
    }
}

/// Transport service of an opcode.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Transport {
    /// Reliable Connection.
    Rc,
    /// Unreliable Connection.
    Uc,
    /// Reliable Datagram.
    Rd,
    /// Unreliable Datagram.
    Ud,
    /// Congestion notification, not a service of a QP.
    Cnp,
    /// Extended Reliable Connection.
    Xrc,
    /// NVIDIA Dynamically Connected.
    Dc,
}

impl Transport {
    /// The usual short name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rc => "RC",
            Self::Uc => "UC",
            Self::Rd => "RD",
            Self::Ud => "UD",
            Self::Cnp => "CNP",
            Self::Xrc => "XRC",
            Self::Dc => "DC",
        }
    }

    /// Answered packet by packet: PSNs are acknowledged and a lost one is repaired.
    #[must_use]
    pub const fn is_reliable(self) -> bool {
        matches!(self, Self::Rc | Self::Rd | Self::Xrc | Self::Dc)
    }
}

/// What a packet asks or answers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Operation {
    /// Octets for a receive buffer of the other side.
    Send,
    /// Octets for memory of the other side.
    RdmaWrite,
    /// Asks for memory of the other side.
    RdmaReadRequest,
    /// Octets a READ asked for; without payload also the answer to FLUSH and ATOMIC WRITE.
    RdmaReadResponse,
    /// ACK, NAK or RNR NAK.
    Acknowledge,
    /// Answer to COMPARE SWAP and FETCH ADD with the value before.
    AtomicAcknowledge,
    /// Atomic compare and swap of 8 octets.
    CompareSwap,
    /// Atomic addition to 8 octets.
    FetchAdd,
    /// Reliable Datagram resynchronisation.
    Resync,
    /// Make earlier writes visible or persistent.
    Flush,
    /// Write 8 octets at once.
    AtomicWrite,
    /// Congestion notification packet.
    Cnp,
}

impl Operation {
    const fn role(self) -> Role {
        match self {
            Self::RdmaReadResponse | Self::Acknowledge | Self::AtomicAcknowledge => Role::Response,
            Self::Cnp => Role::Notification,
            _ => Role::Request,
        }
    }
}

/// Place of a packet in its message.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Part {
    /// Opens a message of several packets.
    First,
    /// Neither opens nor ends it.
    Middle,
    /// Ends it.
    Last,
    /// The whole message.
    Only,
}

impl Part {
    /// First or Only.
    #[must_use]
    pub const fn begins(self) -> bool {
        matches!(self, Self::First | Self::Only)
    }

    /// Last or Only.
    #[must_use]
    pub const fn ends(self) -> bool {
        matches!(self, Self::Last | Self::Only)
    }
}

/// Who sends a packet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Role {
    /// The requester.
    Request,
    /// The responder.
    Response,
    /// Neither: a CNP.
    Notification,
}

/// Set of the headers that can stand between BTH and payload, one bit each, in their order on the wire (lowest first).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Headers(pub u16);

impl Headers {
    /// None.
    pub const EMPTY: Self = Self(0);
    /// Header of NVIDIA's Dynamically Connected transport, 8 octets.
    pub const DCETH: Self = Self(1 << 0);
    /// Reliable Datagram, 4 octets.
    pub const RDETH: Self = Self(1 << 1);
    /// Datagram, 8 octets.
    pub const DETH: Self = Self(1 << 2);
    /// Extended Reliable Connection, 4 octets.
    pub const XRCETH: Self = Self(1 << 3);
    /// FLUSH, 4 octets.
    pub const FETH: Self = Self(1 << 4);
    /// RDMA, 16 octets.
    pub const RETH: Self = Self(1 << 5);
    /// Atomic request, 28 octets.
    pub const ATOMIC_ETH: Self = Self(1 << 6);
    /// Acknowledge, 4 octets.
    pub const AETH: Self = Self(1 << 7);
    /// Answer to an atomic, 8 octets.
    pub const ATOMIC_ACK_ETH: Self = Self(1 << 8);
    /// Immediate data, 4 octets.
    pub const IMM_DT: Self = Self(1 << 9);
    /// R_Key to invalidate, 4 octets.
    pub const IETH: Self = Self(1 << 10);

    const LENGTHS: [u8; 11] = [8, 4, 8, 4, 4, 16, 28, 4, 8, 4, 4];

    /// All of `other` are in the set.
    #[inline]
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both together.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Octets of all headers in the set.
    #[must_use]
    pub const fn len(self) -> usize {
        let mut octets = 0;
        let mut bit = 0;
        while bit < Self::LENGTHS.len() {
            if self.0 & (1 << bit) != 0 {
                octets += Self::LENGTHS[bit] as usize;
            }
            bit += 1;
        }
        octets
    }

    /// No header in the set.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Octets from the end of the BTH to `header`, which is in the set.
    #[inline]
    pub(crate) const fn offset_of(self, header: Self) -> usize {
        let before = self.0 & (header.0 - 1);
        // Nearly always the first header.
        if before == 0 { 0 } else { Self(before).len() }
    }
}

#[cfg(test)]
mod tests;
