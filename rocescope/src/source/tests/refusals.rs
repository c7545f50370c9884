//! The standard texts of what cannot be opened.

use super::*;

/// The text of the refusal, without the path in front.
fn refusal(octets: &[u8]) -> String {
    let text = open_octets(octets).map(|_| ()).unwrap_err().to_string();
    assert!(!text.contains('\n'));
    text.split_once(": ").unwrap().1.to_owned()
}

#[test]
fn no_such_file() {
    let text = open(Path::new("/nowhere/at/all.pcap"))
        .map(|_| ())
        .unwrap_err()
        .to_string();
    assert_eq!(text, "/nowhere/at/all.pcap: no such file: check the path");
}

#[test]
fn permission_denied() {
    let error = std::io::ErrorKind::PermissionDenied.into();
    let text = SourceError::from_io(Path::new("trace.pcap"), error).to_string();
    assert_eq!(
        text,
        "trace.pcap: permission denied: run as a user who may read it, or change its permissions"
    );
}

#[test]
fn a_directory() {
    let text = open(&std::env::temp_dir())
        .map(|_| ())
        .unwrap_err()
        .to_string();
    assert!(
        text.ends_with(": is a directory: name the capture files in it"),
        "{text}"
    );
}

#[test]
fn an_empty_file() {
    assert!(refusal(b"").starts_with("is empty: the capture was never written"));
    let text = refusal(&gzip(b""));
    assert!(
        text.starts_with("not a capture: it is nothing compressed with gzip: give a pcap"),
        "{text}"
    );
}

#[test]
fn not_a_capture() {
    let cases: [(&[u8], &str); 6] = [
        (b"abc", "it has only 3 octets"),
        (
            b"12:00:00 IP 10.0.0.1 > 10.0.0.2: ...\n",
            "it looks like text",
        ),
        ("gr\u{fc}\u{df}e".as_bytes(), "it looks like text"),
        (
            &[0x7f, b'E', b'L', b'F', 2, 1],
            "it looks like unknown binary data, beginning 7f 45 4c 46",
        ),
        (
            &gzip(b"a log file"),
            "it looks like text compressed with gzip",
        ),
        (
            &gzip(&zstd(b"twice")),
            "it is compressed more than once compressed with gzip",
        ),
    ];
    for (octets, wanted) in cases {
        let text = refusal(octets);
        assert!(
            text.starts_with(&format!(
                "not a capture: {wanted}: give a pcap or pcapng file"
            )),
            "{text}"
        );
    }
    assert!(refusal(&[0x1f, 0x8b, 8, 0]).contains("it is gzip data that cannot be read"));
}

#[test]
fn a_section_header_without_a_byte_order() {
    let text = refusal(&[0x0a, 0x0d, 0x0d, 0x0a, 28, 0, 0, 0, 1, 2, 3, 4]);
    assert!(
        text.contains("begins like pcapng but has no byte-order magic"),
        "{text}"
    );
}

#[test]
fn captures_of_kinds_that_are_not_read() {
    let mut version = as_pcap(ByteOrder::LittleEndian, false);
    version[4] = 3;
    let cases: [(&[u8], &str); 6] = [
        (
            &version,
            "version 3.4 of pcap is not read here: convert it with `editcap",
        ),
        (
            &[0x34, 0xcd, 0xb2, 0xa1, 2, 0],
            "pcap in the modified form of Kuznetzov is not read here",
        ),
        (b"snoop\0\0\0\0\0\0\x02", "snoop is not read here"),
        (
            b"\xfd7zXZ\0",
            "xz compression is not read here: convert it with `xz -d FILE`",
        ),
        (b"BZh91AY", "bzip2 compression is not read here"),
        (b"PK\x03\x04", "a zip archive is not read here"),
    ];
    for (octets, wanted) in cases {
        let text = refusal(octets);
        assert!(text.starts_with(wanted), "{text}");
    }
}
