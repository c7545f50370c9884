//! The unit of a timestamp: how many nanoseconds one count is.

use rocescope_core::time::SECOND_NS;

/// The unit of a count of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unit {
    /// One count is so many nanoseconds.
    Multiply(u64),
    /// So many counts are one nanosecond.
    Divide(u64),
    /// 2^n counts are one second.
    Shift(u32),
}

impl Unit {
    /// Microseconds: what a pcapng interface counts in that says nothing (draft-ietf-opsawg-pcapng, if_tsresol).
    pub(super) const MICROSECOND: Self = Self::Multiply(1_000);

    /// The unit of an if_tsresol octet: 10^-n s, or with the top bit set 2^-n s.
    /// Nothing for units so fine that 64 bits do not count to one second: no writer means them.
    pub(super) fn from_tsresol(octet: u8) -> Option<Self> {
        let exponent = u32::from(octet & 0x7f);
        if octet & 0x80 != 0 {
            return (exponent < 64).then_some(Self::Shift(exponent));
        }
        match exponent {
            0..=9 => Some(Self::Multiply(10u64.pow(9 - exponent))),
            10..=19 => Some(Self::Divide(10u64.pow(exponent - 9))),
            _ => None,
        }
    }

    /// Nanoseconds in `count` counts; the largest value where they do not fit.
    #[inline]
    pub(super) fn ns(self, count: u64) -> u64 {
        match self {
            Self::Multiply(by) => count.saturating_mul(by),
            Self::Divide(by) => count / by.max(1),
            Self::Shift(n) => {
                let ns = (u128::from(count) * u128::from(SECOND_NS))
                    .checked_shr(n)
                    .unwrap_or(0);
                u64::try_from(ns).unwrap_or(u64::MAX)
            }
        }
    }

    /// Counts in `ns` nanoseconds, so that [`Unit::ns`] gives them back where the unit is fine enough.
    pub(super) fn count(self, ns: u64) -> u64 {
        match self {
            Self::Multiply(by) => ns / by.max(1),
            Self::Divide(by) => ns.saturating_mul(by),
            Self::Shift(n) => {
                let count = u128::from(ns)
                    .checked_shl(n)
                    .unwrap_or(u128::MAX)
                    .div_ceil(u128::from(SECOND_NS));
                u64::try_from(count).unwrap_or(u64::MAX)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resolutions() {
        assert_eq!(Unit::from_tsresol(6), Some(Unit::MICROSECOND));
        assert_eq!(Unit::from_tsresol(9).unwrap().ns(17), 17);
        assert_eq!(Unit::from_tsresol(0).unwrap().ns(17), 17 * SECOND_NS);
        assert_eq!(Unit::from_tsresol(12).unwrap().ns(17_999), 17);
        assert_eq!(Unit::from_tsresol(0x8a).unwrap().ns(512), SECOND_NS / 2);
        assert_eq!(Unit::from_tsresol(0x80).unwrap().ns(3), 3 * SECOND_NS);
        assert_eq!(
            Unit::from_tsresol(0x88).unwrap().ns(257),
            SECOND_NS + SECOND_NS / 256
        );
        assert_eq!(
            Unit::from_tsresol(0xbf).unwrap().ns(u64::MAX),
            2 * SECOND_NS - 1
        );
    }

    #[test]
    fn no_octet_and_no_count_overflow() {
        for octet in 0..=u8::MAX {
            let Some(unit) = Unit::from_tsresol(octet) else {
                continue;
            };
            for count in [0, 1, u64::MAX / 2, u64::MAX] {
                unit.ns(count);
                unit.count(count);
            }
        }
        for octet in [0x7f, 0x14, 0xff, 0xc0] {
            assert_eq!(Unit::from_tsresol(octet), None);
        }
    }

    #[test]
    fn counts_come_back() {
        let ns = 1_700_000_000_123_456_789;
        for octet in [9, 0x9e] {
            let unit = Unit::from_tsresol(octet).unwrap();
            assert_eq!(unit.ns(unit.count(ns)), ns);
        }
    }
}
