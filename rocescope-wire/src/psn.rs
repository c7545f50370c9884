//! The 24-bit numbers of the transport: packet sequence numbers, message sequence numbers and queue pair numbers.

/// Packet sequence number, 24 bits, serial: it wraps, so it has no order, only a distance.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Psn(u32);

impl Psn {
    /// The low 24 bits of `value`.
    #[must_use]
    pub const fn new(value: u32) -> Self {
        Self(value & 0x00ff_ffff)
    }

    /// The number, 0 to 2^24 - 1.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }

    /// Packets from `earlier` to `self`, in -2^23..2^23; negative if `self` is the older one
    /// (`psn_compare` of the Linux rxe driver).
    #[must_use]
    pub const fn since(self, earlier: Self) -> i32 {
        ((self.0.wrapping_sub(earlier.0) << 8) as i32) >> 8
    }

    /// `packets` further on.
    #[must_use]
    pub const fn plus(self, packets: u32) -> Self {
        Self::new(self.0.wrapping_add(packets))
    }

    /// `packets` back.
    #[must_use]
    pub const fn minus(self, packets: u32) -> Self {
        Self::new(self.0.wrapping_sub(packets))
    }

    /// The number after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        self.plus(1)
    }

    /// The number before this one.
    #[must_use]
    pub const fn previous(self) -> Self {
        self.minus(1)
    }
}

/// Message sequence number of an AETH: messages the responder completed, 24 bits, serial.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Msn(pub u32);

/// Queue pair number, 24 bits. 0 and 1 are management (SMI, GSI); 0xFFFFFF is multicast.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Qpn(u32);

impl Qpn {
    /// The general services interface: CM and other MADs.
    pub const GSI: Self = Self(1);
    /// Destination of multicast packets.
    pub const MULTICAST: Self = Self(0x00ff_ffff);

    /// The low 24 bits of `value`.
    #[must_use]
    pub const fn new(value: u32) -> Self {
        Self(value & 0x00ff_ffff)
    }

    /// The number, 0 to 2^24 - 1.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_wraps_at_24_bits() {
        assert_eq!(Psn::new(2).since(Psn::new(0x00ff_fffe)), 4);
        assert_eq!(Psn::new(0x00ff_fffe).since(Psn::new(2)), -4);
        assert_eq!(Psn::new(0x0080_0000).since(Psn::new(0)), -0x0080_0000);
        assert_eq!(Psn::new(0x007f_ffff).since(Psn::new(0)), 0x007f_ffff);
        assert_eq!(Psn::new(0x00ff_ffff).next(), Psn::new(0));
        assert_eq!(Psn::new(0).previous(), Psn::new(0x00ff_ffff));
    }
}
