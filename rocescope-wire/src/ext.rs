//! The extended headers between BTH and payload (IBTA volume 1, 9.3; `ib_hdrs.h`, `rxe_hdr.h`).

use zerocopy::byteorder::big_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::Qpn;

/// Declares a header of big-endian words with a constructor and an accessor for each.
macro_rules! header {
    ($(#[$about:meta])* $name:ident { $($(#[$what:meta])* $field:ident: $word:ident = $value:ty,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
        #[repr(C)]
        pub struct $name {
            $($field: $word,)+
        }

        impl $name {
            /// Octets of this header.
            pub const LEN: usize = size_of::<Self>();

            /// A header with these values.
            #[must_use]
            pub fn new($($field: $value),+) -> Self {
                Self { $($field: $word::new($field)),+ }
            }

            $(
                $(#[$what])*
                #[inline]
                #[must_use]
                pub const fn $field(&self) -> $value {
                    self.$field.get()
                }
            )+
        }
    };
}

header! {
    /// RDMA extended transport header, 16 octets: the memory a READ or WRITE is for.
    Reth {
        /// Virtual address of the first octet.
        va: U64 = u64,
        /// Key of the memory region.
        rkey: U32 = u32,
        /// Octets of the whole message; the standard allows up to 2^31.
        dma_len: U32 = u32,
    }
}

header! {
    /// Atomic extended transport header, 28 octets.
    AtomicEth {
        /// Virtual address of the 8 octets, a multiple of 8.
        va: U64 = u64,
        /// Key of the memory region.
        rkey: U32 = u32,
        /// Value to put there (COMPARE SWAP) or to add (FETCH ADD).
        swap_or_add: U64 = u64,
        /// COMPARE SWAP: value that must be there; 0 in FETCH ADD.
        compare: U64 = u64,
    }
}

header! {
    /// Atomic acknowledge extended transport header, 8 octets.
    AtomicAckEth {
        /// Value before the operation.
        original: U64 = u64,
    }
}

header! {
    /// Immediate data, 4 octets, for the completion queue of the receiver.
    ImmDt {
        /// The value, as a big-endian number.
        value: U32 = u32,
    }
}

header! {
    /// Invalidate extended transport header, 4 octets.
    Ieth {
        /// Key the receiver is to invalidate.
        rkey: U32 = u32,
    }
}

/// Declares a header that is one 32-bit word, the upper part reserved.
macro_rules! word {
    ($(#[$about:meta])* $name:ident) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
        #[repr(C)]
        pub struct $name(U32);

        impl $name {
            /// Octets of this header.
            pub const LEN: usize = size_of::<Self>();
        }
    };
}

word! {
    /// Reliable datagram extended transport header, 4 octets.
    Rdeth
}

impl Rdeth {
    /// The low 24 bits of `eec` as context.
    #[must_use]
    pub fn new(eec: u32) -> Self {
        Self(U32::new(eec & 0x00ff_ffff))
    }

    /// End-to-end context, 24 bits.
    #[must_use]
    pub const fn ee_context(&self) -> u32 {
        self.0.get() & 0x00ff_ffff
    }
}

word! {
    /// Extended reliable connection header, 4 octets (annex 14).
    Xrceth
}

impl Xrceth {
    /// The low 24 bits of `srq` as number of the shared receive queue.
    #[must_use]
    pub fn new(srq: u32) -> Self {
        Self(U32::new(srq & 0x00ff_ffff))
    }

    /// Number of the shared receive queue, 24 bits.
    #[must_use]
    pub const fn srq(&self) -> u32 {
        self.0.get() & 0x00ff_ffff
    }
}

word! {
    /// FLUSH extended transport header, 4 octets (annex 19; `rxe_hdr.h`).
    Feth
}

impl Feth {
    /// Low 4 bits of `placement`, low 2 bits of `selectivity`.
    #[must_use]
    pub fn new(placement: u8, selectivity: u8) -> Self {
        Self(U32::new(
            u32::from(selectivity & 3) << 4 | u32::from(placement & 0x0f),
        ))
    }

    /// Placement types asked for, 4 bits: 1 global visibility, 2 persistence.
    #[must_use]
    pub const fn placement(&self) -> u8 {
        self.0.get() as u8 & 0x0f
    }

    /// What is flushed, 2 bits: 0 the range of the RETH, 1 the whole memory region.
    #[must_use]
    pub const fn selectivity(&self) -> u8 {
        self.0.get() as u8 >> 4 & 3
    }
}

/// Datagram extended transport header, 8 octets.
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
pub struct Deth {
    qkey: U32,
    src_qpn: U32,
}

impl Deth {
    /// Octets of this header.
    pub const LEN: usize = size_of::<Self>();

    /// A header with these values.
    #[must_use]
    pub fn new(qkey: u32, src_qpn: Qpn) -> Self {
        Self {
            qkey: U32::new(qkey),
            src_qpn: U32::new(src_qpn.get()),
        }
    }

    /// Key the receiving queue pair must hold.
    #[must_use]
    pub const fn qkey(&self) -> u32 {
        self.qkey.get()
    }

    /// Queue pair the packet comes from.
    #[inline]
    #[must_use]
    pub const fn src_qpn(&self) -> Qpn {
        Qpn::new(self.src_qpn.get())
    }
}

/// Extra header of NVIDIA's Dynamically Connected transport, 8 octets; its layout is not published.
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
pub struct Dceth(pub [u8; 8]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_those_of_the_opcode_table() {
        use crate::Headers;
        for (header, len) in [
            (Headers::DCETH, size_of::<Dceth>()),
            (Headers::RDETH, Rdeth::LEN),
            (Headers::DETH, Deth::LEN),
            (Headers::XRCETH, Xrceth::LEN),
            (Headers::FETH, Feth::LEN),
            (Headers::RETH, Reth::LEN),
            (Headers::ATOMIC_ETH, AtomicEth::LEN),
            (Headers::AETH, crate::Aeth::LEN),
            (Headers::ATOMIC_ACK_ETH, AtomicAckEth::LEN),
            (Headers::IMM_DT, ImmDt::LEN),
            (Headers::IETH, Ieth::LEN),
        ] {
            assert_eq!(header.len(), len);
        }
    }

    #[test]
    fn fields_are_big_endian_and_in_place() {
        let octets: [u8; 28] = core::array::from_fn(|at| at as u8);
        let reth = Reth::ref_from_prefix(&octets).expect("long enough").0;
        assert_eq!(
            (reth.va(), reth.rkey(), reth.dma_len()),
            (0x0001_0203_0405_0607, 0x0809_0a0b, 0x0c0d_0e0f)
        );
        let atomic = AtomicEth::ref_from_prefix(&octets).expect("long enough").0;
        assert_eq!(atomic.swap_or_add(), 0x0c0d_0e0f_1011_1213);
        assert_eq!(atomic.compare(), 0x1415_1617_1819_1a1b);
        assert_eq!(
            AtomicEth::new(
                atomic.va(),
                atomic.rkey(),
                atomic.swap_or_add(),
                atomic.compare()
            ),
            *atomic
        );
        let deth = Deth::ref_from_prefix(&octets).expect("long enough").0;
        assert_eq!(
            (deth.qkey(), deth.src_qpn()),
            (0x0001_0203, Qpn::new(0x0005_0607))
        );
        let feth = Feth::read_from_bytes(&[0, 0, 0, 0x12]).expect("4 octets");
        assert_eq!((feth.placement(), feth.selectivity()), (2, 1));
        assert_eq!(Feth::new(2, 1), feth);
        assert_eq!(Xrceth::new(0xff12_3456).srq(), 0x0012_3456);
        assert_eq!(Rdeth::new(7).ee_context(), 7);
    }
}
