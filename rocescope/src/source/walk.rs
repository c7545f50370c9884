//! The yardstick of `cargo xtask bench`: a walk over the records of a pcap file that does nothing with them.
//!
//! It reads in the same pieces as a source does, so that what a source costs beyond it is its own work.

use super::pcap::FILE_HEADER;
use super::pieces::PIECE;
use pcap_parser::pcap::{parse_pcap_frame, parse_pcap_frame_be};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Steps over the records of an uncompressed pcap file, none of them larger than a piece; the frames and the octets captured of them.
///
/// # Errors
/// Those of reading, and [`io::ErrorKind::InvalidData`] for anything but a pcap file.
pub fn walk(path: &Path) -> io::Result<(u64, u64)> {
    let mut file = File::open(path)?;
    let mut header = [0; FILE_HEADER];
    file.read_exact(&mut header)?;
    match header {
        [0xd4, 0xc3, 0xb2, 0xa1, ..] | [0x4d, 0x3c, 0xb2, 0xa1, ..] => records::<false>(&mut file),
        [0xa1, 0xb2, 0xc3, 0xd4, ..] | [0xa1, 0xb2, 0x3c, 0x4d, ..] => records::<true>(&mut file),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

fn records<const BIG_ENDIAN: bool>(file: &mut File) -> io::Result<(u64, u64)> {
    let parse = if BIG_ENDIAN {
        parse_pcap_frame_be
    } else {
        parse_pcap_frame
    };
    let mut octets = vec![0; PIECE];
    let (mut frames, mut captured) = (0, 0);
    let mut begin = 0;
    loop {
        let count = file.read(octets.get_mut(begin..).unwrap_or_default())?;
        if count == 0 {
            return Ok((frames, captured));
        }
        let filled = begin + count;
        let mut left = octets.get(..filled).unwrap_or_default();
        while let Ok((next, record)) = parse(left) {
            frames += 1;
            captured += u64::from(record.caplen);
            left = next;
        }
        begin = left.len();
        octets.copy_within(filled - begin..filled, 0);
    }
}
