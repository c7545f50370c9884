//! Files that are cut, damaged or hostile.

use super::*;
use proptest::prelude::*;

/// The one problem there is.
fn problem(read: &Read) -> String {
    let mut problems = read.facts.problems();
    assert_eq!(problems.len(), 1, "{problems:?}");
    problems.remove(0)
}

/// A pcapng file of one section: a described interface, then `blocks`.
fn pcapng(blocks: impl FnOnce(&mut PcapngWriter<Vec<u8>>)) -> Vec<u8> {
    let mut writer = PcapngWriter::new(Vec::new(), ByteOrder::LittleEndian).unwrap();
    writer
        .interface(LinkType::ETHERNET, &InterfaceOptions::default())
        .unwrap();
    blocks(&mut writer);
    writer.into_inner()
}

fn good_frame(writer: &mut PcapngWriter<Vec<u8>>) {
    writer
        .frame(
            0,
            Time(1_000_000_000),
            4,
            &[7; 4],
            &PacketOptions::default(),
        )
        .unwrap();
}

/// The fixed part of an Enhanced Packet Block.
fn fixed(interface: u32, len: u32, wire_len: u32) -> Vec<u8> {
    [interface, 0, 0, len, wire_len]
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .collect()
}

#[test]
fn a_cut_file_is_read_up_to_the_cut() {
    let pcap = as_pcap(ByteOrder::LittleEndian, false)[..2_000].to_vec();
    let files = [
        pcap,
        small_pcapng(ByteOrder::LittleEndian),
        small_pcapng(ByteOrder::BigEndian),
    ];
    for whole in files {
        let wanted = essence(&read(&whole));
        for cut in 4..whole.len() {
            let read = read(&whole[..cut]);
            let got = essence(&read);
            assert_eq!(got, wanted[..got.len()], "cut at {cut}");
            let at = read.facts.truncated_at;
            assert!(
                at.is_none() || at == Some(cut as u64),
                "cut at {cut}: {at:?}"
            );
            let told = read
                .facts
                .problems()
                .iter()
                .any(|line| line.contains("breaks off"));
            assert_eq!(at.is_some(), told);
        }
    }
}

#[test]
fn a_cut_compressed_file_is_read_up_to_the_cut() {
    let plain = as_pcap(ByteOrder::LittleEndian, false);
    let wanted = essence(&read(&plain));
    // A block of zstd, up to 128 KiB of the capture, is whole or nothing.
    for (whole, least) in [(gzip(&plain), wanted.len() / 2), (zstd(&plain), 0)] {
        let mut most = 0;
        for cut in (0..whole.len()).step_by(97).skip(1) {
            let Ok(read) = open_octets(&whole[..cut]) else {
                continue;
            };
            let got = essence(&read);
            assert_eq!(got, wanted[..got.len()], "cut at {cut}");
            assert!(read.facts.truncated_at.is_some());
            assert!(problem(&read).contains("compressed data breaks off at byte offset"));
            most = most.max(got.len());
        }
        assert!(most >= least, "{most} frames");
    }
}

#[test]
fn a_gzip_file_with_rubbish_behind_it_keeps_its_frames() {
    let plain = as_pcap(ByteOrder::LittleEndian, false);
    let read = read(&[gzip(&plain), b"rubbish of many octets".to_vec()].concat());
    assert_eq!(essence(&read), essence(&super::read(&plain)));
    assert!(problem(&read).contains("cannot be read behind byte offset"));
}

#[test]
fn damaged_gzip_data_cost_little_before_the_damage() {
    let plain = as_pcap(ByteOrder::LittleEndian, false);
    let mut damaged = gzip(&plain);
    let middle = damaged.len() / 2;
    damaged[middle..middle + 8].fill(0xff);
    let read = read(&damaged);
    let (got, wanted) = (essence(&read), essence(&super::read(&plain)));
    let same = got
        .iter()
        .zip(&wanted)
        .take_while(|(got, wanted)| got == wanted)
        .count();
    assert!(same > wanted.len() / 8, "{same} of {}", wanted.len());
    assert!(!read.facts.problems().is_empty());
}

#[test]
fn gzip_files_one_behind_the_other_are_one() {
    let plain = as_pcap(ByteOrder::LittleEndian, false);
    let (front, back) = plain.split_at(1_001);
    let read = read(&[gzip(front), gzip(back)].concat());
    assert_eq!(essence(&read), essence(&super::read(&plain)));
    assert!(read.facts.problems().is_empty());
}

#[test]
fn a_large_record_grows_the_piece_and_a_huge_one_is_skipped() {
    let mut writer = PcapWriter::new(
        Vec::new(),
        LinkType::ETHERNET,
        ByteOrder::LittleEndian,
        true,
    )
    .unwrap();
    for (at, len) in [(1, 5), (2, 3 << 20), (3, 17 << 20), (4, 6)] {
        writer
            .frame(Time(at), len, &vec![at as u8; len as usize])
            .unwrap();
    }
    let file = writer.into_inner();
    let read = read(&file);
    let frames: Vec<_> = read
        .frames
        .iter()
        .map(|(f, octets)| (f.at.0, octets.len()))
        .collect();
    assert_eq!(frames, [(1, 5), (2, 3 << 20), (4, 6)]);
    assert!(problem(&read).contains("more than 16 MiB: skipped"));
    assert_eq!(read.facts.truncated_at, None);
    let cut = super::read(&file[..file.len() - (10 << 20)]);
    assert_eq!(
        (cut.frames.len(), cut.facts.truncated_at),
        (2, Some(file.len() as u64 - (10 << 20)))
    );
}

#[test]
fn hostile_pcap_records() {
    let mut file = as_pcap(ByteOrder::LittleEndian, false);
    let frames = read(&file).frames.len();
    // First record: captured length above the length on the wire, and 2 s of microseconds.
    file[24 + 12..24 + 16].copy_from_slice(&3u32.to_le_bytes());
    file[24 + 4..24 + 8].copy_from_slice(&2_000_000u32.to_le_bytes());
    let odd = read(&file);
    assert_eq!((odd.frames.len(), odd.frames[0].0.wire_len), (frames, 64));
    assert_eq!(odd.facts.problems().len(), 2);
    assert_eq!(odd.facts.backward_times(), 1);
    // All that is left is one record.
    file[24 + 8..24 + 12].copy_from_slice(&u32::MAX.to_le_bytes());
    let huge = read(&file);
    assert_eq!(
        (huge.frames.len(), huge.facts.truncated_at),
        (0, Some(file.len() as u64))
    );
    assert!(
        huge.facts.problems()[0].contains("record at byte offset 24 says it has 4294967311 octets")
    );
}

#[test]
fn block_lengths_that_lead_nowhere_end_the_reading() {
    for length in [0u32, 1, 11] {
        let mut file = pcapng(good_frame);
        let at = file.len();
        file.extend([6u32.to_le_bytes(), length.to_le_bytes(), [9; 4]].concat());
        let read = read(&file);
        assert_eq!((read.frames.len(), read.facts.truncated_at), (1, None));
        let line = problem(&read);
        assert!(
            line.contains(&format!(
                "type 0x6 at byte offset {at} has length {length}, below 12"
            )),
            "{line}"
        );
    }
}

#[test]
fn a_block_whose_lengths_differ_is_used_and_the_next_found() {
    let mut file = pcapng(good_frame);
    let end = file.len();
    file[end - 4..].copy_from_slice(&77u32.to_le_bytes());
    file.extend(&pcapng(good_frame)[48..]);
    let read = read(&file);
    assert_eq!(read.frames.len(), 2);
    assert!(problem(&read).contains("in front and 77 behind"));
}

#[test]
fn blocks_that_contradict_themselves_cost_themselves_only() {
    type Make = fn(&mut PcapngWriter<Vec<u8>>) -> std::io::Result<()>;
    let cases: [(Make, usize, &str); 6] = [
        (
            |w| w.block(6, &[&[0; 16]]),
            1,
            "type 0x6 at byte offset 48 is too short for its fixed part",
        ),
        (
            |w| w.block(6, &[&fixed(82, 0, 0)]),
            1,
            "frame at byte offset 48 is of interface 82",
        ),
        (
            |w| w.block(6, &[&fixed(0, u32::MAX, u32::MAX), &[1; 8]]),
            2,
            "room for 8",
        ),
        (
            |w| w.block(6, &[&fixed(0, 4, 2), &[1; 4]]),
            2,
            "holds 4 octets of a frame of 2",
        ),
        (
            |w| w.block(6, &[&fixed(0, 4, 4), &[1; 4], &[4, 0, 255, 255]]),
            2,
            "run past its end",
        ),
        (
            |w| w.block(5, &[&[9, 0, 0, 0], &[0; 8]]),
            1,
            "statistics at byte offset 48 are of interface 9",
        ),
    ];
    for (make, frames, text) in cases {
        let read = read(&pcapng(|writer| {
            make(writer).unwrap();
            good_frame(writer);
        }));
        assert_eq!(read.frames.len(), frames, "{text}");
        let line = problem(&read);
        assert!(line.contains(text), "{line}");
        assert_eq!(read.frames.last().unwrap().1, [7; 4]);
    }
}

#[test]
fn units_of_time_that_cannot_be_used_cost_the_times_only() {
    for octet in [0xffu8, 0x7f, 0x14, 0xc0] {
        let read = read(&pcapng(|writer| {
            let option = [9, 0, 1, 0, octet, 0, 0, 0];
            writer
                .block(1, &[&[1, 0, 0, 0, 0, 0, 0, 0], &option])
                .unwrap();
            writer
                .block(
                    6,
                    &[
                        &[1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0],
                        &[4, 0, 0, 0, 4, 0, 0, 0],
                        &[5; 4],
                    ],
                )
                .unwrap();
            good_frame(writer);
        }));
        // The first usable time is given to what came before it.
        assert!(read.frames.iter().all(|(f, _)| f.at == Time(1_000_000_000)));
        assert_eq!(read.frames.len(), 2);
        assert!(problem(&read).contains(&format!("if_tsresol {octet:#04x} of interface 1")));
    }
}

#[test]
fn a_second_section_without_a_byte_order_ends_the_reading() {
    let mut file = pcapng(good_frame);
    let section = [0x0a, 0x0d, 0x0d, 0x0a, 28, 0, 0, 0, 1, 2, 3, 4];
    file.extend(section);
    file.extend([0; 16]);
    let read = read(&file);
    assert_eq!(read.frames.len(), 1);
    assert!(problem(&read).contains("for a byte-order magic"));
}

#[test]
fn interfaces_are_bounded() {
    let read = read(&pcapng(|writer| {
        for link in 0..20_000u16 {
            let [low, high] = link.to_le_bytes();
            writer.block(1, &[&[low, high, 0, 0, 0, 0, 0, 0]]).unwrap();
        }
        writer.block(6, &[&fixed(19_000, 4, 4), &[1; 4]]).unwrap();
        good_frame(writer);
    }));
    assert_eq!(
        (read.frames.len(), read.facts.interfaces.len()),
        (1, 16_384)
    );
    assert_eq!(read.facts.problems().len(), 2);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn no_octets_make_it_panic(
        kind in 0usize..5,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
    ) {
        let mut file = match kind {
            0 => as_pcap(ByteOrder::LittleEndian, false)[..1_000].to_vec(),
            1 => as_pcap(ByteOrder::BigEndian, true)[..1_000].to_vec(),
            2 => small_pcapng(ByteOrder::LittleEndian),
            3 => small_pcapng(ByteOrder::BigEndian),
            _ => gzip(&small_pcapng(ByteOrder::BigEndian)),
        };
        for (index, octet) in &changes {
            let at = index.index(file.len());
            file[at] = *octet;
        }
        if let Ok(read) = open_octets(&file) {
            let numbers: Vec<_> = read.frames.iter().map(|(f, _)| f.number).collect();
            prop_assert_eq!(numbers, (1..=read.facts.frames()).collect::<Vec<_>>());
            prop_assert!(read.frames.iter().all(|(f, _)| f.len <= f.wire_len));
        }
    }

    #[test]
    fn blocks_of_any_content_make_no_panic(
        blocks in prop::collection::vec((0u32..7, prop::collection::vec(any::<u8>(), 0..80)), 0..12),
    ) {
        let file = pcapng(|writer| {
            for (kind, body) in &blocks {
                writer.block(*kind, &[body, &vec![0; body.len().wrapping_neg() % 4]]).unwrap();
            }
            good_frame(writer);
        });
        let read = read(&file);
        prop_assert_eq!(&read.frames.last().unwrap().1, &[7; 4]);
    }
}
