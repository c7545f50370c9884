use super::names::Names;
use super::redact;
use crate::report::{json, sample};
use rocescope_core::Address;
use rocescope_core::report::Report;

fn as_json(report: &Report) -> String {
    let mut out = Vec::new();
    json(report, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// A report with addresses and names in every place that can hold one.
fn telling() -> Report {
    let mut report = sample::lossy();
    report.sources[0].path = "/srv/carol/acme-leaf7.pcap.gz".to_owned();
    report.sources[0].problems =
        vec!["acme-leaf7.pcap.gz: breaks off; sent by 192.0.2.77.".to_owned()];
    report.sources[0].vantage.notes =
        vec!["mirror at fe80::aabb:1, MAC 00:53:00:AA:BB:CC, port 192.0.2.1:4791".to_owned()];
    report.sources[0].vantage.mirrors = vec!["203.0.113.9".to_owned()];
    report.tool.filter = Some("host 192.0.2.0/24 and src ::ffff:192.0.2.1".to_owned());
    report.tool.arguments = [
        "analyze",
        "/srv/carol/acme-leaf7.pcap.gz",
        "--output=acme.md",
        "--frames",
        "acme-frames",
        "--redact",
    ]
    .map(str::to_owned)
    .to_vec();
    report.findings[0]
        .evidence
        .text("who", "asked by 192.0.2.2");
    report.ports = vec![rocescope_core::report::Port {
        source_mac: "00:53:00:aa:bb:cc".to_owned(),
        ..Default::default()
    }];
    report.verdict = rocescope_core::verdict::verdict(&report);
    report
}

#[test]
fn nothing_telling_stays() {
    let mut report = telling();
    redact(&mut report);
    let json = as_json(&report);
    for telling in [
        "192.0.2.",
        "203.0.113.",
        "fe80::aabb",
        "aa:bb:cc",
        "AA:BB:CC",
        "acme",
        "carol",
    ] {
        assert!(!json.contains(telling), "{telling} is still in: {json}");
    }
    assert!(report.tool.redacted);
}

#[test]
fn one_host_has_one_stand_in_everywhere() {
    let mut report = telling();
    redact(&mut report);
    assert_eq!(report.streams[0].src.to_string(), "198.18.0.1");
    assert_eq!(report.streams[1].src.to_string(), "198.18.0.2");
    assert!(
        report
            .verdict
            .sentence
            .contains("(198.18.0.1 -> 198.18.0.2)"),
        "{}",
        report.verdict.sentence
    );
    assert!(
        report.findings[0].key.contains("198.18.0.1/198.18.0.2"),
        "{}",
        report.findings[0].key
    );
    assert_eq!(report.sources[0].path, "trace-1.pcap.gz");
    assert!(
        report.sources[0].problems[0].starts_with("trace-1.pcap.gz: breaks off; sent by 198.18.0.")
    );
    assert!(report.sources[0].problems[0].ends_with('.'));
    assert_eq!(
        report.sources[0].vantage.notes[0],
        "mirror at fe80::1, MAC 02:00:00:00:00:01, port 198.18.0.1:4791"
    );
    assert_eq!(report.ports[0].source_mac, "02:00:00:00:00:01");
    assert_eq!(
        report.tool.arguments[1..],
        [
            "trace-1.pcap.gz",
            "--output=path-1.md",
            "--frames",
            "path-2",
            "--redact"
        ]
    );
    assert!(
        report
            .tool
            .filter
            .as_ref()
            .unwrap()
            .ends_with("src ::ffff:198.18.0.1")
    );
}

#[test]
fn the_same_report_gives_the_same_stand_ins_and_all_else_stays() {
    let (mut one, mut two) = (telling(), telling());
    redact(&mut one);
    redact(&mut two);
    assert_eq!(as_json(&one), as_json(&two));
    assert_eq!(
        one.verdict.lost_per_million,
        telling().verdict.lost_per_million
    );
    assert_eq!(one.findings[0].frames, telling().findings[0].frames);
    assert_eq!(one.streams[0].dest_qpn, 0x2a);
}

#[test]
fn what_is_no_address_stays() {
    let mut names = Names::default();
    for text in [
        "rocescope 0.1.0, 4.096 us x 2^14, PSN 16777215, 2026-03-01T10:00:00.250000Z",
        "QP 0x153 -> 0x2a: 23 of 2,950 (10.1 %): added, faced, dead: beef.",
        "tcp:4420 and 12:34",
    ] {
        assert_eq!(names.sentence(text), text);
    }
}

#[test]
fn kinds_of_addresses_stay_kinds() {
    let mut names = Names::default();
    for (address, stand_in) in [
        ("10.1.2.3", "198.18.0.1"),
        ("::ffff:10.1.2.3", "::ffff:198.18.0.1"),
        ("224.0.0.1", "233.252.0.1"),
        ("2001:4860::8888", "2001:db8::1"),
        ("fe80::1234:5678", "fe80::1"),
        ("ff02::1", "ff0e:db8::1"),
        ("lid:77", "lid:1"),
    ] {
        assert_eq!(names.sentence(address), stand_in);
    }
    let many: std::collections::BTreeSet<_> = (0..200_000_u32)
        .map(|host| names.address(Address::V4((0x0a00_0000 + host).to_be_bytes())))
        .collect();
    assert_eq!(many.len(), 200_000, "two hosts share a stand-in");
}
