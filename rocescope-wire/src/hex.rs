//! Octets written as text, for tests.

use std::vec::Vec;

/// The octets that `text` spells, two digits each.
pub(crate) fn hex(text: &str) -> Vec<u8> {
    assert!(text.len().is_multiple_of(2), "two digits for each octet");
    let octet = |at| u8::from_str_radix(&text[at..at + 2], 16).expect("hexadecimal digits");
    (0..text.len()).step_by(2).map(octet).collect()
}
