//! What the analysis of a stream notices: the edges that detectors listen to. A packet in order makes none.

use crate::Time;
use crate::report::{FrameRef, Recovery, Where};
use rocescope_wire::{Fault, NakCode, Psn, RnrTimer, icrc::IcrcHint};

/// Something that happened on a stream.
#[derive(Clone, PartialEq, Debug)]
pub struct Event {
    /// When.
    pub at: Time,
    /// The frame that showed it.
    pub frame: FrameRef,
    /// What.
    pub kind: EventKind,
}

/// What happened.
#[derive(Clone, PartialEq, Debug)]
pub enum EventKind {
    /// An episode of repair is over (or the input is), and what it was is settled.
    Repaired(Box<Repair>),
    /// What a packet was is known at last.
    Decided(crate::partition::Class),
    /// A request came late: reordered, not lost.
    Late {
        /// Its PSN.
        psn: Psn,
    },
    /// PSNs were acknowledged or answered that no packet seen carried, and nothing was sent again: the capture missed them.
    CaptureGap {
        /// The first of them.
        first: Psn,
        /// How many.
        psns: u64,
        /// They are READ responses or atomic answers.
        responses: bool,
    },
    /// UC: PSNs were stepped over.
    UcGap {
        /// The first of them.
        first: Psn,
        /// How many.
        psns: u64,
    },
    /// PSNs were stepped over beyond the high-water and nothing that answers is visible.
    UnansweredGap {
        /// The first of them.
        first: Psn,
        /// How many.
        psns: u64,
    },
    /// A NAK arrived for this stream's requests.
    Nak {
        /// Its code.
        code: NakCode,
        /// Its PSN.
        psn: Psn,
        /// It only repeats an RNR NAK at the same PSN.
        of_rnr: bool,
    },
    /// An RNR NAK arrived for this stream's requests.
    Rnr {
        /// Its PSN.
        psn: Psn,
        /// The wait it asks for.
        timer: RnrTimer,
    },
    /// A whole frame with a bad ICRC.
    BadIcrc {
        /// What the wrong value looks like.
        hint: Option<IcrcHint>,
        /// Of a request.
        request: bool,
    },
    /// A packet with a fault of its own.
    Malformed(Fault),
    /// A packet that cannot follow the one before it within its message.
    OpcodeOrder {
        /// Opcode before.
        before: u8,
        /// Opcode of this packet.
        opcode: u8,
    },
    /// A payload that does not fit its opcode and the path MTU.
    Length {
        /// Octets of payload.
        payload: u32,
        /// Path MTU, octets.
        pmtu: u32,
        /// Larger than the path MTU.
        exceeds: bool,
    },
    /// A DMA length or an address range that cannot be: longer than 2^31, or beyond the end of the address space.
    AddressRange {
        /// First address.
        va: u64,
        /// Octets.
        dma_len: u32,
    },
    /// A NAK (PSN sequence error) after which nothing was sent again before the stream was over.
    Unrepaired {
        /// Its PSN.
        psn: Psn,
        /// Where the packet was lost.
        place: Where,
        /// How many were: exact before the tap, else at least one.
        lost: u64,
    },
    /// The responder granted no credits for a while, or to the end.
    CreditStall {
        /// From the answer without credits to the first one with some, ns.
        ns: u64,
        /// Credits that ended it; none where the stream is over.
        credits: Option<u32>,
    },
    /// The stream is over: end of input, eviction, idleness, or its QPN is used anew. `at` is its last packet.
    Closed,
}

/// A settled recovery with what its report does not hold.
#[derive(Clone, PartialEq, Debug)]
pub struct Repair {
    /// As reported.
    pub recovery: Recovery,
    /// SEND and WRITE packets of it that had arrived before.
    pub spurious: u64,
    /// NAKs for packets that had passed here whole.
    pub lost_after: u64,
    /// NAKs for packets that had passed here with a bad ICRC.
    pub damaged: u64,
    /// Longest gap before a pass, ns.
    pub longest_gap_ns: u64,
    /// Responses lost, before the tap and after it.
    pub responses_lost: (u64, u64),
    /// Passes by trigger.
    pub tries: crate::report::Tries,
    /// Input ended (or the stream was closed) before an answer covered it.
    pub open: bool,
    /// Time of the latest pass.
    pub last_try: Time,
}
