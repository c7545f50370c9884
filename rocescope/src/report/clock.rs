//! Points in time: in a time zone, and as seconds since the first frame.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use rocescope_core::report::Report;

/// Prints the times of one report.
#[derive(Clone, Debug)]
pub struct Clock {
    origin_ns: u64,
    zone: TimeZone,
}

impl Clock {
    /// A clock that counts from the first frame of all sources.
    #[must_use]
    pub fn new(report: &Report, zone: TimeZone) -> Self {
        let frames = report.sources.iter().filter_map(|source| source.first_ns);
        let first = frames
            .chain(report.streams.iter().map(|stream| stream.first_ns))
            .min();
        Self {
            origin_ns: first.unwrap_or(0),
            zone,
        }
    }

    /// `2026-03-01T10:00:00.123456Z`; another zone has its offset instead of the Z.
    #[must_use]
    pub fn date(&self, ns: u64) -> String {
        let Ok(time) = Timestamp::from_nanosecond(i128::from(ns)) else {
            return format!("{ns} ns");
        };
        if self.zone == TimeZone::UTC {
            return time.strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string();
        }
        time.to_zoned_datetime(self.zone.clone())
            .strftime("%Y-%m-%dT%H:%M:%S.%6f%:z")
            .to_string()
    }

    /// Seconds since the first frame: `+1.234567 s`.
    #[must_use]
    pub fn offset(&self, ns: u64) -> String {
        let (sign, distance) = if ns >= self.origin_ns {
            ('+', ns - self.origin_ns)
        } else {
            ('-', self.origin_ns - ns)
        };
        let microseconds = distance / 1000;
        format!(
            "{sign}{}.{:06} s",
            microseconds / 1_000_000,
            microseconds % 1_000_000
        )
    }

    /// Both: `2026-03-01T10:00:00.123456Z (+1.234567 s)`.
    #[must_use]
    pub fn at(&self, ns: u64) -> String {
        format!("{} ({})", self.date(ns), self.offset(ns))
    }

    /// The second since the first frame in which a second of the epoch begins, at least 0.
    #[must_use]
    pub fn second(&self, epoch_second: u64) -> u64 {
        epoch_second.saturating_sub(self.origin_ns / rocescope_core::time::SECOND_NS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(zone: TimeZone) -> Clock {
        Clock {
            origin_ns: 1_700_000_000_000_000_000,
            zone,
        }
    }

    #[test]
    fn utc_has_a_z_and_other_zones_their_offset() {
        let ns = 1_700_000_001_234_567_891;
        assert_eq!(
            clock(TimeZone::UTC).at(ns),
            "2023-11-14T22:13:21.234567Z (+1.234567 s)"
        );
        let zone = TimeZone::fixed(jiff::tz::offset(1));
        assert_eq!(clock(zone).date(ns), "2023-11-14T23:13:21.234567+01:00");
    }

    #[test]
    fn any_number_is_a_time() {
        assert_eq!(
            clock(TimeZone::UTC).date(u64::MAX),
            "2554-07-21T23:34:33.709551Z"
        );
        assert_eq!(
            clock(TimeZone::UTC).offset(1_699_999_999_999_999_000),
            "-0.000001 s"
        );
    }
}
