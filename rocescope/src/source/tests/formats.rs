//! The same frames in every format; what only one format can say.

use super::*;
use rocescope_core::report;

#[test]
fn the_same_frames_in_every_format() {
    let wanted = drain(open(&trace()).unwrap());
    assert_eq!(wanted.facts.format, "pcap");
    assert!(wanted.frames.len() > 100 && wanted.facts.problems().is_empty());
    let offset = InterfaceOptions {
        tsresol: Some(9),
        tsoffset: Some(-3_600),
        ..InterfaceOptions::default()
    };
    let binary = InterfaceOptions {
        tsresol: Some(0x80 | 32),
        ..InterfaceOptions::default()
    };
    let variants = [
        ("pcap", as_pcap(ByteOrder::LittleEndian, false)),
        ("pcap", as_pcap(ByteOrder::BigEndian, false)),
        ("pcap-ns", as_pcap(ByteOrder::LittleEndian, true)),
        ("pcap-ns", as_pcap(ByteOrder::BigEndian, true)),
        (
            "pcapng",
            as_pcapng(ByteOrder::LittleEndian, &InterfaceOptions::default()),
        ),
        ("pcapng", as_pcapng(ByteOrder::BigEndian, &offset)),
        ("pcapng", as_pcapng(ByteOrder::LittleEndian, &binary)),
    ];
    for (format, octets) in variants {
        for (plus, octets) in [
            ("", octets.clone()),
            ("+gzip", gzip(&octets)),
            ("+zstd", zstd(&octets)),
        ] {
            let read = read(&octets);
            assert_eq!(read.facts.format, format!("{format}{plus}"));
            assert!(
                read.facts.problems().is_empty(),
                "{:?}",
                read.facts.problems()
            );
            assert_eq!(essence(&read), essence(&wanted), "{format}{plus}");
            let (got, want) = (
                report::Source::from(&read.facts),
                report::Source::from(&wanted.facts),
            );
            assert_eq!(
                (got.frames, got.captured_bytes, got.wire_bytes),
                (want.frames, want.captured_bytes, want.wire_bytes)
            );
            assert_eq!(
                (got.first_ns, got.last_ns, got.cut_frames),
                (want.first_ns, want.last_ns, want.cut_frames)
            );
            assert_eq!((got.vantage.cut_to, got.link_types), (Some(64), vec![1]));
        }
    }
}

#[test]
fn what_only_pcapng_says() {
    for order in [ByteOrder::LittleEndian, ByteOrder::BigEndian] {
        let read = read(&small_pcapng(order));
        let frames: Vec<_> = read
            .frames
            .iter()
            .map(|(f, octets)| (f.number, f.at.0, f.direction, octets.len()))
            .collect();
        assert_eq!(
            frames,
            [
                (1, 1_000_000_000, Direction::Inbound, 60),
                (2, 1_000_000_000, Direction::Unknown, 7),
                (3, 2_000_000_000, Direction::Unknown, 5)
            ]
        );
        let lost = |from, until, frames| Entry::Lost {
            source: 0,
            interface: 0,
            from: Time(from),
            until: Time(until),
            frames,
        };
        // Two of the five that the counters tell of were told by the first packet.
        assert_eq!(
            read.lost,
            [
                lost(1_000_000_000, 1_000_000_000, 2),
                lost(1_000_000_000, 3_000_000_000, 3)
            ]
        );
        assert_eq!(
            (
                read.facts.lost_frames,
                read.facts.untimed_frames,
                read.facts.cut_frames()
            ),
            (5, 1, 1)
        );
        assert_eq!(read.facts.interfaces[0].name.as_deref(), Some("eth0"));
    }
}
