//! Octets of a file: whatever they are, frames are numbered in turn, none is longer than it was on the wire, and the
//! facts add up to what was handed out.

use std::io::Cursor;

use rocescope::source::{self, Batch, Entry};

/// Any octets as a capture file.
pub fn file_readers(octets: &[u8]) {
    let mut source = match source::read_from("fuzz", Cursor::new(octets.to_vec())) {
        Ok(source) => source,
        Err(error) => {
            assert!(!error.to_string().contains('\n'), "one line: {error}");
            return;
        }
    };
    let mut batch = Batch::default();
    let (mut frames, mut captured, mut on_wire, mut lost) = (0, 0, 0, 0);
    while source.read_batch(&mut batch) {
        for entry in &batch.entries {
            match entry {
                Entry::Frame(frame) => {
                    frames += 1;
                    assert_eq!(frame.number, frames);
                    assert_eq!(batch.octets_of(frame).len(), frame.len as usize);
                    assert!(frame.len <= frame.wire_len);
                    assert!((frame.interface as usize) < source.facts().interfaces.len());
                    captured += u64::from(frame.len);
                    on_wire += u64::from(frame.wire_len);
                }
                Entry::Lost { frames, .. } => lost = u64::saturating_add(lost, *frames),
            }
        }
    }
    assert!(!source.read_batch(&mut batch), "the end is the end");
    let facts = source.facts();
    assert_eq!(
        (facts.frames(), facts.captured_bytes(), facts.wire_bytes()),
        (frames, captured, on_wire)
    );
    assert_eq!(facts.lost_frames, lost);
    assert!(facts.problems().iter().all(|line| !line.contains('\n')));
}
