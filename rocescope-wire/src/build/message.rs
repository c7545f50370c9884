//! The packets of ordinary traffic by name: each method keeps addresses, ports and marks and sets the rest.

use super::{Fill, FrameBuilder};
use crate::aeth::AethKind;
use crate::{
    Aeth, AtomicAckEth, AtomicEth, Deth, Msn, NakCode, Opcode, Part, Psn, Qpn, Reth, RnrTimer,
};

impl<'a> FrameBuilder<'a> {
    /// The other direction: addresses and MACs changed over, for the QP `dest_qpn`. Linux senders keep the UDP source
    /// port the same both ways, and so does this.
    #[must_use]
    pub const fn reply(&self, dest_qpn: Qpn) -> Self {
        Self {
            destination_mac: self.source_mac,
            source_mac: self.destination_mac,
            source: self.destination,
            destination: self.source,
            dest_qpn,
            ..*self
        }
    }

    /// Any packet of this opcode: AckReq clear, no payload.
    #[must_use]
    pub const fn of(&self, opcode: Opcode, psn: Psn) -> Self {
        Self {
            opcode,
            psn,
            ack_req: false,
            payload: Fill::Counting(0),
            ..*self
        }
    }

    /// RC SEND; Last and Only ask for an acknowledgement.
    #[must_use]
    pub const fn send(&self, part: Part, psn: Psn, payload: Fill<'a>) -> Self {
        let opcode = match part {
            Part::First => Opcode::RC_SEND_FIRST,
            Part::Middle => Opcode::RC_SEND_MIDDLE,
            Part::Last => Opcode::RC_SEND_LAST,
            Part::Only => Opcode::RC_SEND_ONLY,
        };
        Self {
            payload,
            ack_req: part.ends(),
            ..self.of(opcode, psn)
        }
    }

    /// RC RDMA WRITE; `reth` is written in First and Only. Last and Only ask for an acknowledgement.
    #[must_use]
    pub const fn write(&self, part: Part, psn: Psn, reth: Reth, payload: Fill<'a>) -> Self {
        let opcode = match part {
            Part::First => Opcode::RC_RDMA_WRITE_FIRST,
            Part::Middle => Opcode::RC_RDMA_WRITE_MIDDLE,
            Part::Last => Opcode::RC_RDMA_WRITE_LAST,
            Part::Only => Opcode::RC_RDMA_WRITE_ONLY,
        };
        Self {
            reth,
            payload,
            ack_req: part.ends(),
            ..self.of(opcode, psn)
        }
    }

    /// RC RDMA READ request.
    #[must_use]
    pub const fn read_request(&self, psn: Psn, reth: Reth) -> Self {
        Self {
            reth,
            ..self.of(Opcode::RC_RDMA_READ_REQUEST, psn)
        }
    }

    /// RC RDMA READ response; Middle carries no MSN.
    #[must_use]
    pub fn read_response(&self, part: Part, psn: Psn, msn: Msn, payload: Fill<'a>) -> Self {
        let opcode = match part {
            Part::First => Opcode::RC_RDMA_READ_RESPONSE_FIRST,
            Part::Middle => Opcode::RC_RDMA_READ_RESPONSE_MIDDLE,
            Part::Last => Opcode::RC_RDMA_READ_RESPONSE_LAST,
            Part::Only => Opcode::RC_RDMA_READ_RESPONSE_ONLY,
        };
        Self {
            aeth: Aeth::ack(msn),
            payload,
            ..self.of(opcode, psn)
        }
    }

    /// RC ATOMIC COMPARE SWAP.
    #[must_use]
    pub const fn compare_swap(&self, psn: Psn, atomic_eth: AtomicEth) -> Self {
        Self {
            atomic_eth,
            ..self.of(Opcode::RC_COMPARE_SWAP, psn)
        }
    }

    /// RC ATOMIC FETCH ADD.
    #[must_use]
    pub const fn fetch_add(&self, psn: Psn, atomic_eth: AtomicEth) -> Self {
        Self {
            atomic_eth,
            ..self.of(Opcode::RC_FETCH_ADD, psn)
        }
    }

    /// RC ATOMIC ACKNOWLEDGE with the value before.
    #[must_use]
    pub fn atomic_acknowledge(&self, psn: Psn, msn: Msn, original: u64) -> Self {
        let atomic_ack_eth = AtomicAckEth::new(original);
        Self {
            aeth: Aeth::ack(msn),
            atomic_ack_eth,
            ..self.of(Opcode::RC_ATOMIC_ACKNOWLEDGE, psn)
        }
    }

    /// RC ACKNOWLEDGE that says this.
    #[must_use]
    pub fn acknowledge(&self, psn: Psn, kind: AethKind, msn: Msn) -> Self {
        Self {
            aeth: Aeth::new(kind.syndrome(), msn),
            ..self.of(Opcode::RC_ACKNOWLEDGE, psn)
        }
    }

    /// ACK without limit of credits.
    #[must_use]
    pub fn ack(&self, psn: Psn, msn: Msn) -> Self {
        self.acknowledge(psn, AethKind::Ack { credits: None }, msn)
    }

    /// NAK.
    #[must_use]
    pub fn nak(&self, psn: Psn, code: NakCode, msn: Msn) -> Self {
        self.acknowledge(psn, AethKind::Nak(code), msn)
    }

    /// RNR NAK.
    #[must_use]
    pub fn rnr_nak(&self, psn: Psn, timer: RnrTimer, msn: Msn) -> Self {
        self.acknowledge(psn, AethKind::RnrNak { timer }, msn)
    }

    /// CNP for the QP `dest_qpn`: BECN set, PSN 0, 16 octets of zeros, Not-ECT.
    #[must_use]
    pub const fn cnp(&self) -> Self {
        let payload = Fill::Octets(&[0; 16]);
        Self {
            becn: true,
            ecn: 0,
            solicited: false,
            migreq: false,
            payload,
            ..self.of(Opcode::CNP, Psn::new(0))
        }
    }

    /// UD SEND ONLY.
    #[must_use]
    pub const fn datagram(&self, psn: Psn, deth: Deth, payload: Fill<'a>) -> Self {
        Self {
            deth,
            payload,
            ..self.of(Opcode::UD_SEND_ONLY, psn)
        }
    }

    /// A management datagram from the general services interface of one host to the other's, as CM sends them; make
    /// the MAD with [`cm`](super::cm).
    #[must_use]
    pub fn mad(&self, psn: Psn, mad: &'a [u8]) -> Self {
        /// The well-known Q_Key of QP 1.
        const QKEY_GSI: u32 = 0x8001_0000;
        let deth = Deth::new(QKEY_GSI, Qpn::GSI);
        Self {
            dest_qpn: Qpn::GSI,
            ..self.datagram(psn, deth, Fill::Octets(mad))
        }
    }
}
