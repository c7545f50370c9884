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
            let slow = drain(read_from("-", Drops(Cursor::new(octets))).unwrap());
            assert_eq!(
                essence(&slow),
                essence(&wanted),
                "{format}{plus} from a pipe"
            );
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

#[test]
fn sections_have_their_own_byte_order_and_interfaces() {
    let mut writer = PcapngWriter::new(Vec::new(), ByteOrder::LittleEndian).unwrap();
    let unit = |tsresol| InterfaceOptions {
        tsresol: Some(tsresol),
        ..InterfaceOptions::default()
    };
    writer.interface(LinkType::ETHERNET, &unit(3)).unwrap();
    let second = writer.interface(LinkType::LINUX_SLL, &unit(12)).unwrap();
    writer
        .frame(0, Time(5_000_000), 1, &[1], &PacketOptions::default())
        .unwrap();
    writer
        .frame(second, Time(4_000_001), 1, &[2], &PacketOptions::default())
        .unwrap();
    writer.section(ByteOrder::BigEndian).unwrap();
    writer.interface(LinkType::RAW, &unit(0x80 | 8)).unwrap();
    let outbound = PacketOptions {
        direction: Direction::Outbound,
        ..PacketOptions::default()
    };
    writer
        .frame(0, Time(1_500_000_000), 0, &[], &outbound)
        .unwrap();
    let read = read(&writer.into_inner());
    let frames: Vec<_> = read
        .frames
        .iter()
        .map(|(f, _)| (f.at.0, f.interface, f.link, f.direction))
        .collect();
    assert_eq!(
        frames,
        [
            (5_000_000, 0, LinkType::ETHERNET, Direction::Unknown),
            (4_000_001, 1, LinkType::LINUX_SLL, Direction::Unknown),
            (1_500_000_000, 2, LinkType::RAW, Direction::Outbound),
        ]
    );
    assert_eq!(
        (
            read.facts.backward_times(),
            read.facts.first(),
            read.facts.last()
        ),
        (1, Some(Time(4_000_001)), Some(Time(1_500_000_000)))
    );
    assert_eq!(report::Source::from(&read.facts).link_types, [1, 113, 101]);
}

#[test]
fn the_obsolete_packet_block_and_its_drops() {
    let mut writer = PcapngWriter::new(Vec::new(), ByteOrder::LittleEndian).unwrap();
    writer
        .interface(LinkType::ETHERNET, &InterfaceOptions::default())
        .unwrap();
    let block = |drops: u16, at: u32| {
        let mut octets = [[0; 2], drops.to_le_bytes()].concat();
        octets.extend(
            [0, at, 3, 9]
                .iter()
                .flat_map(|word: &u32| word.to_le_bytes()),
        );
        [octets, vec![1, 2, 3, 0]].concat()
    };
    for (drops, at) in [(0, 10), (6, 20), (u16::MAX, 30)] {
        writer.block(2, &[&block(drops, at)]).unwrap();
    }
    let read = read(&writer.into_inner());
    assert!(
        read.frames
            .iter()
            .all(|(f, octets)| *octets == [1, 2, 3] && f.wire_len == 9)
    );
    assert_eq!(read.frames.len(), 3);
    let lost = Entry::Lost {
        source: 0,
        interface: 0,
        from: Time(10_000),
        until: Time(20_000),
        frames: 6,
    };
    assert_eq!((read.lost, read.facts.cut_to()), (vec![lost], Some(3)));
}

#[test]
fn counters_tell_of_what_was_lost_since_the_last_ones() {
    let mut writer = PcapngWriter::new(Vec::new(), ByteOrder::BigEndian).unwrap();
    writer
        .interface(LinkType::ETHERNET, &InterfaceOptions::default())
        .unwrap();
    writer
        .frame(0, Time(1_000), 1, &[0], &PacketOptions::default())
        .unwrap();
    for (at, dropped) in [(5_000, 3), (6_000, 3), (9_000, 10)] {
        writer.statistics(0, Time(at), dropped).unwrap();
    }
    let lost = |from, until, frames| Entry::Lost {
        source: 0,
        interface: 0,
        from: Time(from),
        until: Time(until),
        frames,
    };
    assert_eq!(
        read(&writer.into_inner()).lost,
        [lost(1_000, 5_000, 3), lost(6_000, 9_000, 7)]
    );
}

#[test]
fn an_unknown_link_type_costs_its_interface_only() {
    let mut writer = PcapngWriter::new(Vec::new(), ByteOrder::LittleEndian).unwrap();
    let named = InterfaceOptions {
        name: Some("X"),
        ..InterfaceOptions::default()
    };
    writer.interface(LinkType(147), &named).unwrap();
    writer
        .interface(LinkType::ETHERNET, &InterfaceOptions::default())
        .unwrap();
    for interface in [0, 1, 0] {
        writer
            .frame(interface, Time(1), 1, &[0], &PacketOptions::default())
            .unwrap();
    }
    let read = read(&writer.into_inner());
    assert_eq!(read.frames.len(), 3);
    let [line] = read.facts.problems().try_into().unwrap();
    assert!(
        line.ends_with(
            ": link type 147 of interface 0 (X) is not known here: 2 frames not analysed"
        ),
        "{line}"
    );
}

#[test]
fn the_high_bits_of_a_link_type_are_not_part_of_it() {
    let link = LinkType(0x2400_0000 | 1);
    let mut writer = PcapWriter::new(Vec::new(), link, ByteOrder::LittleEndian, false).unwrap();
    writer.frame(Time(1_000), 0, &[]).unwrap();
    let read = read(&writer.into_inner());
    assert_eq!(
        (read.frames[0].0.link, read.frames[0].0.len),
        (LinkType::ETHERNET, 0)
    );
}

#[test]
fn entries_stay_small() {
    assert_eq!(size_of::<Entry>(), 40);
}

#[test]
fn the_walk_counts_what_the_source_counts() {
    let read = drain(open(&trace()).unwrap());
    let counts = super::super::walk::walk(&trace()).unwrap();
    assert_eq!(counts, (read.facts.frames(), read.facts.captured_bytes()));
}

/// Captures of other projects, where there are any: none makes it panic, and those for pcapng readers are read whole.
#[test]
fn public_captures() {
    let Some(folder) = std::env::var_os("ROCESCOPE_PUBLIC_CAPTURES") else {
        return;
    };
    let mut folders = vec![PathBuf::from(folder)];
    let mut count = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let Ok(source) = open(&path) else { continue };
            let read = drain(source);
            count += 1;
            let described = path.with_extension("txt");
            if let (true, Ok(text)) = (
                path.extension().is_some_and(|ext| ext == "pcapng"),
                std::fs::read_to_string(described),
            ) {
                let of = |kind: &str| {
                    text.lines()
                        .find_map(|line| line.trim().strip_prefix(kind)?.trim().parse().ok())
                };
                let frames: u64 = of("EPB:").unwrap_or(0) + of("SPB:").unwrap_or(0u64);
                assert_eq!(read.facts.frames(), frames, "{}", path.display());
                assert_eq!(read.facts.truncated_at, None, "{}", path.display());
            }
        }
    }
    assert!(count > 0);
}
