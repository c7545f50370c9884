//! The yardstick of `cargo xtask bench`: a walk over the records of a pcap file that does nothing with them.
//!
//! It reads in the same pieces as a source does, so that what a source costs beyond it is its own work.

use super::input::PIECE;
use super::pcap::{FILE_HEADER, RECORD_HEADER, RecordHeader};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Steps over the records of an uncompressed pcap file; the frames and the octets captured of them.
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
    let mut octets = vec![0; PIECE];
    let (mut frames, mut captured) = (0, 0);
    let mut begin = 0;
    loop {
        let count = file.read(octets.get_mut(begin..).unwrap_or_default())?;
        if count == 0 {
            return Ok((frames, captured));
        }
        let piece = octets.get(..begin + count).unwrap_or_default();
        let mut at = 0;
        while let Some(header) = RecordHeader::at::<BIG_ENDIAN>(piece, at) {
            let next = at + RECORD_HEADER + header.len as usize;
            if next > piece.len() {
                break;
            }
            frames += 1;
            captured += u64::from(header.len);
            at = next;
        }
        octets.copy_within(at..begin + count, 0);
        begin = begin + count - at;
    }
}
