//! The seeds of the fuzz targets, and whatever once broke one, through the same functions, without a fuzzer.

use std::fs;
use std::path::Path;

#[path = "fuzz/src/lib.rs"]
#[allow(unreachable_pub, reason = "a library of its own for the fuzzer")]
mod targets;

fn replay(name: &str, target: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../tests/fuzz/seeds")
        .join(name);
    let mut seeds = 0;
    for entry in
        fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
    {
        let path = entry.expect("entry").path();
        let octets = fs::read(&path).expect("seed");
        target(&octets);
        for end in 0..octets.len().min(256) {
            target(&octets[..end]);
        }
        seeds += 1;
    }
    assert!(seeds > 0, "no seed in {}", folder.display());
}

#[test]
fn file_readers() {
    replay("file_readers", targets::file_readers);
}

#[test]
fn frame_decode() {
    replay("frame_decode", targets::frame_decode);
}

#[test]
fn engine() {
    replay("engine", targets::engine);
}

#[test]
fn differential() {
    replay("differential", targets::differential);
}
