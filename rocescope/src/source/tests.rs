//! Captures of every format and with every damage, made by the writer.

use super::write::{ByteOrder, InterfaceOptions, PacketOptions, PcapWriter, PcapngWriter};
use super::{
    Batch, Direction, Entry, FrameEntry, Source, SourceError, SourceFacts, open, read_from,
};
use rocescope_core::Time;
use rocescope_core::encap::LinkType;
use std::io::{Cursor, Write as _};
use std::path::{Path, PathBuf};

mod damage;
mod formats;
mod refusals;

/// What was read: frames with their octets, losses, and the facts.
struct Read {
    frames: Vec<(FrameEntry, Vec<u8>)>,
    lost: Vec<Entry>,
    facts: SourceFacts,
}

fn drain(mut source: Box<dyn Source>) -> Read {
    let (mut batch, mut frames, mut lost) = (Batch::default(), Vec::new(), Vec::new());
    while source.read_batch(&mut batch) {
        assert!(!batch.entries.is_empty());
        for entry in &batch.entries {
            match entry {
                Entry::Frame(frame) => {
                    assert_eq!(batch.octets_of(frame).len(), frame.len as usize);
                    frames.push((*frame, batch.octets_of(frame).to_vec()));
                }
                Entry::Lost { .. } => lost.push(*entry),
            }
        }
    }
    assert!(!source.read_batch(&mut batch), "the end is the end");
    Read {
        frames,
        lost,
        facts: source.facts().clone(),
    }
}

fn open_octets(octets: &[u8]) -> Result<Read, SourceError> {
    read_from("trace", Cursor::new(octets.to_vec())).map(drain)
}

fn read(octets: &[u8]) -> Read {
    open_octets(octets).unwrap()
}

/// What of a frame must be equal in all formats.
fn essence(read: &Read) -> Vec<(u64, Time, LinkType, u32, Vec<u8>)> {
    read.frames
        .iter()
        .map(|(f, octets)| (f.number, f.at, f.link, f.wire_len, octets.clone()))
        .collect()
}

fn trace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/traces/rc_read_lat_2k.snap64.pcap")
}

/// The frames of the trace as pcap.
fn as_pcap(order: ByteOrder, nanoseconds: bool) -> Vec<u8> {
    let mut writer = PcapWriter::new(Vec::new(), LinkType::ETHERNET, order, nanoseconds).unwrap();
    for (frame, octets) in drain(open(&trace()).unwrap()).frames {
        writer.frame(frame.at, frame.wire_len, &octets).unwrap();
    }
    writer.into_inner()
}

/// The frames of the trace as pcapng.
fn as_pcapng(order: ByteOrder, options: &InterfaceOptions<'_>) -> Vec<u8> {
    let mut writer = PcapngWriter::new(Vec::new(), order).unwrap();
    writer.interface(LinkType::ETHERNET, options).unwrap();
    for (frame, octets) in drain(open(&trace()).unwrap()).frames {
        writer
            .frame(
                0,
                frame.at,
                frame.wire_len,
                &octets,
                &PacketOptions::default(),
            )
            .unwrap();
    }
    writer.into_inner()
}

/// Gives one octet at a time, as a slow pipe does.
struct Drops(Cursor<Vec<u8>>);

impl std::io::Read for Drops {
    fn read(&mut self, octets: &mut [u8]) -> std::io::Result<usize> {
        let room = octets.len().min(1);
        self.0.read(&mut octets[..room])
    }
}

fn gzip(octets: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(octets).unwrap();
    encoder.finish().unwrap()
}

fn zstd(octets: &[u8]) -> Vec<u8> {
    zstd::encode_all(octets, 1).unwrap()
}

/// A small pcapng file with a bit of everything.
fn small_pcapng(order: ByteOrder) -> Vec<u8> {
    let mut writer = PcapngWriter::new(Vec::new(), order).unwrap();
    let named = InterfaceOptions {
        name: Some("eth0"),
        ..InterfaceOptions::default()
    };
    writer.interface(LinkType::ETHERNET, &named).unwrap();
    let packet = PacketOptions {
        comments: &["hello"],
        direction: Direction::Inbound,
        lost: Some(2),
    };
    writer
        .frame(0, Time(1_000_000_000), 64, &[1; 60], &packet)
        .unwrap();
    writer.simple_frame(7, &[2; 7]).unwrap();
    writer.block(0x0bad, &[&[0; 8]]).unwrap();
    writer
        .frame(
            0,
            Time(2_000_000_000),
            5,
            &[3; 5],
            &PacketOptions::default(),
        )
        .unwrap();
    writer.statistics(0, Time(3_000_000_000), 5).unwrap();
    writer.into_inner()
}
