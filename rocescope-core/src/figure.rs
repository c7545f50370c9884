//! How numbers print for people: one way everywhere, in findings, verdicts and reports.

/// A whole number with a comma between thousands: `2,950`.
#[must_use]
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number and its noun: `1 packet`, `2,950 packets`.
#[must_use]
pub fn counted(number: u64, singular: &str, plural: &str) -> String {
    format!(
        "{} {}",
        count(number),
        if number == 1 { singular } else { plural }
    )
}

/// A duration in microseconds below one millisecond, in milliseconds from there on, with three decimals: `812.000 ms`.
#[must_use]
pub fn duration(ns: u64) -> String {
    if ns < crate::time::MILLISECOND_NS {
        thousandths(ns, "us")
    } else {
        // To the nearest microsecond; half up.
        thousandths(ns.saturating_add(500) / 1000, "ms")
    }
}

fn thousandths(value: u64, unit: &str) -> String {
    format!("{}.{:03} {unit}", count(value / 1000), value % 1000)
}

/// A share given in millionths, in percent: `9.4 %`; what is not nothing never prints as 0.
#[must_use]
pub fn share(millionths: u64) -> String {
    match millionths {
        0 => "0 %".to_owned(),
        1..1_000 => "< 0.1 %".to_owned(),
        _ => format!("{}.{} %", millionths / 10_000, millionths / 1_000 % 10),
    }
}

/// `part` of `whole` in millionths; 0 of nothing.
#[must_use]
pub fn millionths(part: u64, whole: u64) -> u64 {
    let whole = u128::from(whole);
    (u128::from(part) * 1_000_000)
        .checked_div(whole)
        .map_or(0, |share| u64::try_from(share).unwrap_or(u64::MAX))
}

/// A rate in bit/s with an SI prefix and three significant digits: `25.0 Gbit/s`.
#[must_use]
pub fn rate(bits_per_second: u64) -> String {
    const UNITS: [&str; 5] = ["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"];
    let mut scale = 1_u64;
    let mut unit = 0;
    while bits_per_second / scale >= 1000 && unit + 1 < UNITS.len() {
        scale *= 1000;
        unit += 1;
    }
    let whole = bits_per_second / scale;
    let hundredths = bits_per_second % scale * 100 / scale;
    let unit = UNITS.get(unit).copied().unwrap_or("bit/s");
    match whole {
        _ if scale == 1 => format!("{whole} {unit}"),
        0..10 => format!("{whole}.{hundredths:02} {unit}"),
        10..100 => format!("{whole}.{} {unit}", hundredths / 10),
        _ => format!("{} {unit}", count(whole)),
    }
}

/// A QPN as perftest and the kernel print it: `0x2a`.
#[must_use]
pub fn qpn(qpn: u32) -> String {
    format!("{qpn:#x}")
}

/// The two queue pairs of a stream, sender first; `?` where the sender's is not known: `QP 0x153 -> 0x2a`.
#[must_use]
pub fn qp_pair(sender: Option<u32>, receiver: u32) -> String {
    format!(
        "QP {} -> {receiver:#x}",
        sender.map_or_else(|| "?".to_owned(), qpn)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(
            ["0", "999", "1,000", "1,234,567"],
            [0, 999, 1000, 1_234_567].map(count).map(String::leak)
        );
        assert_eq!(counted(1, "packet", "packets"), "1 packet");
    }

    #[test]
    fn durations_have_three_decimals_and_the_unit_of_their_size() {
        assert_eq!(duration(0), "0.000 us");
        assert_eq!(duration(999_999), "999.999 us");
        assert_eq!(duration(1_000_000), "1.000 ms");
        assert_eq!(duration(812_000_499), "812.000 ms");
        assert_eq!(duration(u64::MAX), "18,446,744,073,709.551 ms");
    }

    #[test]
    fn a_small_share_is_not_zero() {
        assert_eq!(share(0), "0 %");
        assert_eq!(share(1), "< 0.1 %");
        assert_eq!(share(94_100), "9.4 %");
        assert_eq!(share(1_000_000), "100.0 %");
        assert_eq!(millionths(1, 0), 0);
        assert_eq!(millionths(u64::MAX, 1), u64::MAX);
    }

    #[test]
    fn rates_take_the_prefix_of_their_size() {
        assert_eq!(rate(0), "0 bit/s");
        assert_eq!(rate(1_500), "1.50 kbit/s");
        assert_eq!(rate(25_000_000_000), "25.0 Gbit/s");
        assert_eq!(rate(400_000_000_000), "400 Gbit/s");
    }

    #[test]
    fn an_unknown_sender_prints_as_such() {
        assert_eq!(qp_pair(Some(0x153), 0x2a), "QP 0x153 -> 0x2a");
        assert_eq!(qp_pair(None, 1), "QP ? -> 0x1");
    }
}
