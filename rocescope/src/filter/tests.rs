use super::*;
use crate::report::sample;
use proptest::prelude::*;
use rocescope_core::Address;
use rocescope_core::report::Report;

fn shown(filter: &str, mut report: Report) -> (Vec<u64>, Vec<u64>, Vec<&'static str>) {
    filter.parse::<Filter>().unwrap().select(&mut report);
    assert!(report.tool.filter.is_some());
    (
        report.streams.iter().map(|stream| stream.id).collect(),
        report
            .connections
            .iter()
            .map(|connection| connection.id)
            .collect(),
        report.findings.iter().map(|finding| finding.id).collect(),
    )
}

#[test]
fn every_term_chooses() {
    let both = (vec![0, 1], vec![0], vec!["psn-gap", "frames-cut"]);
    let nothing = (vec![], vec![], vec!["frames-cut"]);
    for filter in [
        "host 192.0.2.1",
        "src 192.0.2.1",
        "dst 192.0.2.0/24",
        "qpn 0x153",
        "qpn 42",
        "dqpn 0x2a",
        "port 49194",
        "dscp 0x1a",
        "opcode rc_rdma_write_middle",
        "not vlan 7",
        "not (host 198.51.100.0/24 or qpn 9)",
        "src 192.0.2.1 and finding psn-gap or src 192.0.2.1",
    ] {
        assert_eq!(shown(filter, sample::lossy()), both, "{filter}");
    }
    for filter in [
        "host 198.51.100.1",
        "priority 3",
        "vlan 7",
        "service tcp:1",
        "dqpn 9",
        "opcode CNP",
    ] {
        assert_eq!(shown(filter, sample::lossy()), nothing, "{filter}");
    }
}

#[test]
fn findings_choose_themselves_and_their_streams() {
    assert_eq!(
        shown("finding psn-gap", sample::lossy()),
        (vec![0, 1], vec![0], vec!["psn-gap"])
    );
    assert_eq!(
        shown("severity warning", sample::lossy()),
        (vec![0, 1], vec![0], vec!["psn-gap"])
    );
    assert_eq!(
        shown("severity critical", sample::lossy()),
        (vec![], vec![], vec![])
    );
    assert_eq!(
        shown("finding frames-cut", sample::lossy()),
        (vec![], vec![], vec!["frames-cut"])
    );
    assert_eq!(
        shown("dqpn 0x153 and not finding psn-gap", sample::lossy()).0,
        [0, 1]
    );
    assert_eq!(shown("service 4420", sample::dead()).2, ["retry-exceeded"]);
}

#[test]
fn a_finding_whose_stream_left_is_still_chosen_by_what_it_says() {
    let mut report = sample::lossy();
    report.streams.clear();
    report.connections.clear();
    assert_eq!(
        shown("src 192.0.2.1 and qpn 0x153", report.clone()).2,
        ["psn-gap", "frames-cut"]
    );
    assert_eq!(shown("dst 192.0.2.1", report).2, ["frames-cut"]);
}

#[test]
fn totals_and_verdict_stay() {
    let before = sample::lossy();
    let mut after = before.clone();
    "qpn 1".parse::<Filter>().unwrap().select(&mut after);
    assert_eq!(after.totals.requester, before.totals.requester);
    assert_eq!(after.verdict.sentence, before.verdict.sentence);
    assert!(after.streams.is_empty());
}

#[test]
fn mistakes_are_shown_where_they_are() {
    for (text, message) in [
        (
            "",
            "at character 1: expected host, src, dst, qpn, dqpn, port, vlan, priority, dscp, service, opcode, finding or severity, not, or (, found the end",
        ),
        (
            "qpn",
            "at character 4: expected a QPN (0 to 0xffffff), found the end",
        ),
        (
            "qpn 0x1000000",
            "at character 5: expected a QPN (0 to 0xffffff), found '0x1000000'",
        ),
        (
            "qpn +5",
            "at character 5: expected a QPN (0 to 0xffffff), found '+5'",
        ),
        (
            "src 10.0.0.1 qpn 3",
            "at character 14: expected and, or, or the end, found 'qpn'",
        ),
        (
            "(src 10.0.0.1",
            "at character 14: expected and, or, or ), found the end",
        ),
        (
            "vlan 4096",
            "at character 6: expected a VID (0 to 4095), found '4096'",
        ),
        (
            "priority 8",
            "at character 10: expected a PCP (0 to 7), found '8'",
        ),
        (
            "dscp 64",
            "at character 6: expected a DSCP (0 to 63), found '64'",
        ),
        (
            "severity bad",
            "at character 10: expected info, warning or critical, found 'bad'",
        ),
        (
            "src 10.0.0.300",
            "at character 5: expected an address or a network, such as 192.0.2.0/24, found '10.0.0.300'",
        ),
        (
            "service ü and bad",
            "at character 15: expected host, src, dst, qpn, dqpn, port, vlan, priority, dscp, service, opcode, finding or severity, not, or (, found 'bad'",
        ),
    ] {
        assert_eq!(
            text.parse::<Filter>().unwrap_err().to_string(),
            message,
            "{text}"
        );
    }
}

#[test]
fn depth_and_length_are_bounded() {
    assert!(
        format!("{}qpn 1{}", "(".repeat(63), ")".repeat(63))
            .parse::<Filter>()
            .is_ok()
    );
    assert!(
        format!("{}qpn 1{}", "(".repeat(100_000), ")".repeat(100_000))
            .parse::<Filter>()
            .is_err()
    );
    assert!("not ".repeat(100_000).parse::<Filter>().is_err());
    let long = "qpn 1 or ".repeat(1_001) + "qpn 1";
    assert!(
        long.parse::<Filter>()
            .unwrap_err()
            .to_string()
            .contains("at most 1,000 terms")
    );
}

fn address() -> impl Strategy<Value = Network> {
    prop_oneof![
        (any::<[u8; 4]>(), 0..=32_u8).prop_map(|(octets, prefix)| Network::new(
            Address::V4(octets),
            Some(prefix)
        )
        .unwrap()),
        (any::<[u8; 16]>(), 0..=128_u8).prop_map(|(octets, prefix)| Network::new(
            Address::V6(octets),
            Some(prefix)
        )
        .unwrap()),
        any::<u16>().prop_map(|lid| Network::new(Address::Lid(lid), None).unwrap()),
    ]
}

fn term() -> impl Strategy<Value = Term> {
    prop_oneof![
        address().prop_map(Term::Host),
        address().prop_map(Term::Src),
        address().prop_map(Term::Dst),
        (0..1_u32 << 24).prop_map(Term::Qpn),
        (0..1_u32 << 24).prop_map(Term::Dqpn),
        any::<u16>().prop_map(Term::Port),
        (0..4096_u16).prop_map(Term::Vlan),
        (0..8_u8).prop_map(Term::Priority),
        (0..64_u8).prop_map(Term::Dscp),
        "[^ ()\\s]{1,12}".prop_map(Term::Service),
        "[A-Z_]{1,20}".prop_map(Term::Opcode),
        "[a-z-]{1,20}".prop_map(Term::Finding),
        prop_oneof![
            Just(Severity::Info),
            Just(Severity::Warning),
            Just(Severity::Critical)
        ]
        .prop_map(Term::Severity),
    ]
}

fn filter() -> impl Strategy<Value = Filter> {
    term()
        .prop_map(Filter::Term)
        .prop_recursive(6, 40, 2, |inner| {
            prop_oneof![
                (inner.clone(), inner.clone())
                    .prop_map(|(left, right)| Filter::And(Box::new(left), Box::new(right))),
                (inner.clone(), inner.clone())
                    .prop_map(|(left, right)| Filter::Or(Box::new(left), Box::new(right))),
                inner.prop_map(|inner| Filter::Not(Box::new(inner))),
            ]
        })
}

proptest! {
    #[test]
    fn what_prints_parses_to_the_same(filter in filter()) {
        prop_assert_eq!(filter.to_string().parse::<Filter>(), Ok(filter));
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,60}|[a-z0-9()/x: ]{0,60}") {
        if let Ok(filter) = text.parse::<Filter>() {
            filter.select(&mut sample::lossy());
        }
    }
}
