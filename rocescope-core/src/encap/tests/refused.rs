//! What is no RoCE, and what cannot be read.

use super::*;

#[track_caller]
fn why(link: LinkType, octets: &[u8]) -> Why {
    match decode(link, octets).decoded {
        Decoded::Undecodable(why) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn other_traffic_is_named() {
    let decoded = |frame: &[u8]| format!("{:?}", decode(LinkType::ETHERNET, frame).decoded);
    let tcp = ethernet(0x0800, &ipv4(6, &hex("0bb8 1144 00000000")));
    assert_eq!(
        decoded(&tcp),
        "Tcp { source_port: 3000, destination_port: 4420 }"
    );
    let dns = ethernet(
        0x0800,
        &ipv4(17, &udp(53, &hex("1234 0100 0001 0000 0000 0000"))),
    );
    assert_eq!(decoded(&dns), "Udp { port: 53, looks_like_bth: false }");
    let no_vni = ethernet(0x0800, &ipv4(17, &udp(4789, &[0; 60])));
    assert_eq!(
        decoded(&no_vni),
        "Udp { port: 4789, looks_like_bth: false }"
    );
    for other in [
        ethernet(0x0806, &[0; 28]),
        ethernet(0x0027, &[0x42; 39]),
        ethernet(0x0800, &ipv4(1, &[0; 8])),
        ethernet(0x0800, &ipv4(47, &hex("3001 880b 0000 0000"))),
        ethernet(0x8864, &hex("1109 0000 0000 0021")),
    ] {
        assert_eq!(decoded(&other), "Other");
    }
    assert!(matches!(
        decode(LinkType(147), &tcp).decoded,
        Decoded::UnknownLinkType
    ));
}

#[test]
fn mac_control_and_lldp_are_told_apart() {
    let pfc = ethernet(0x8808, &hex("0101 0008 0000 0000 0000 ffff 0000"));
    let Decoded::MacControl {
        source_mac,
        opcode,
        octets,
    } = decode(LinkType::ETHERNET, &pfc).decoded
    else {
        panic!("no MAC control");
    };
    assert_eq!((source_mac, opcode), ([2, 0, 0, 0, 0, 1], 0x0101));
    assert_eq!(octets, &pfc[14..]);
    let pause = ethernet(0x8808, &hex("0001 ffff"));
    assert!(matches!(
        decode(LinkType::ETHERNET, &pause).decoded,
        Decoded::MacControl { opcode: 1, .. }
    ));
    assert_eq!(why(LinkType::ETHERNET, &pause[..15]), Why::Short);
    let lldp = ethernet(0x88cc, &hex("0207 04"));
    assert!(matches!(
        decode(LinkType::ETHERNET, &lldp).decoded,
        Decoded::Lldp {
            source_mac: [2, 0, 0, 0, 0, 1],
            octets: [2, 7, 4]
        }
    ));
}

#[test]
fn fragments_are_counted_and_never_read() {
    let fragment = |flags: u8, low: u8| {
        let mut frame = ethernet(0x0800, &ipv4_packet());
        frame[20..22].copy_from_slice(&[flags, low]);
        format!("{:?}", decode(LinkType::ETHERNET, &frame).decoded)
    };
    assert_eq!(fragment(0x20, 0), "Fragment { protocol: 17, first: true }");
    assert_eq!(fragment(0x00, 1), "Fragment { protocol: 17, first: false }");
    assert_eq!(
        fragment(0x3f, 0xff),
        "Fragment { protocol: 17, first: false }"
    );
    assert!(fragment(0x40, 0).starts_with("Roce"));

    let fragment = |header: &str| {
        let v6 = ipv6(44, &[&hex(header), &ipv6_packet()[40..]].concat());
        format!("{:?}", decode(LinkType::RAW, &v6).decoded)
    };
    assert_eq!(
        fragment("1100 0001 00000007"),
        "Fragment { protocol: 17, first: true }"
    );
    assert_eq!(
        fragment("1100 0008 00000007"),
        "Fragment { protocol: 17, first: false }"
    );
    assert!(fragment("1100 0000 00000007").starts_with("Roce"));
    // What stands behind the header of a later fragment is no header.
    assert_eq!(
        fragment("3c00 0008 00000007"),
        "Fragment { protocol: 60, first: false }"
    );
}

#[test]
fn extension_headers_are_walked() {
    let udp = &ipv6_packet()[40..];
    for (next_header, headers) in [
        (0, "1100 000000000000"),
        (
            0,
            "2b00 000000000000 3c01 000000000000 0000000000000000 1100 000000000000",
        ),
        (51, "1104 0000 00000001 00000002 000000000000000000000000"),
    ] {
        let packet = ipv6(next_header, &[&hex(headers), udp].concat());
        let located = roce(LinkType::RAW, &packet);
        assert_eq!(located.transport, &udp[8..]);
        assert_eq!(located.network, packet);
        assert_eq!(icrc_of(&located), IcrcState::Unverifiable);
    }
    let endless = ipv6(0, &[0; 200]);
    assert_eq!(why(LinkType::RAW, &endless), Why::TooDeep);
}

#[test]
fn lengths_that_lie() {
    let frame = ethernet(0x0800, &ipv4_packet());
    let with = |at: usize, value: u16| {
        let mut frame = frame.clone();
        frame[at..at + 2].copy_from_slice(&value.to_be_bytes());
        frame
    };
    let whole = frame.len() - 42;
    // UDP says more than IP: IP is right. IP says more than there is: the rest was cut.
    assert_eq!(
        roce(LinkType::ETHERNET, &with(38, 0xffff)).wire_len as usize,
        whole
    );
    let long = with(16, 0xffff);
    let located = roce(LinkType::ETHERNET, &long);
    assert_eq!(
        (located.transport.len(), located.wire_len as usize),
        (whole, whole)
    );
    // UDP says less than IP: what follows is no RoCE.
    let short = with(38, 8 + 16);
    let located = roce(LinkType::ETHERNET, &short);
    assert_eq!((located.transport.len(), located.wire_len), (16, 16));

    for length in 0..8 {
        assert_eq!(why(LinkType::ETHERNET, &with(38, length)), Why::UdpLength);
    }
    for length in 8..20 {
        assert_eq!(why(LinkType::ETHERNET, &with(38, length)), Why::Short);
    }
    for length in 1..20 {
        assert_eq!(why(LinkType::ETHERNET, &with(16, length)), Why::IpLength);
    }
    for length in 20..28 + 12 {
        assert_eq!(why(LinkType::ETHERNET, &with(16, length)), Why::Short);
    }
    for version_and_length in [0x05, 0x44, 0x55, 0x65] {
        let frame = with(14, version_and_length << 8);
        assert_eq!(why(LinkType::ETHERNET, &frame), Why::IpHeader);
    }
}

#[test]
fn depth_is_bounded() {
    let nested = |tunnels| (0..tunnels).fold(ipv4_packet(), |inner, _| ipv4(4, &inner));
    assert_eq!(roce(LinkType::RAW, &nested(4)).tunnel_source, Some(OUTER));
    assert_eq!(why(LinkType::RAW, &nested(5)), Why::TooDeep);
    let tags = ethernet(0x8100, &[&[0, 1, 0x81, 0].repeat(4)[..], &[0; 60]].concat());
    assert_eq!(why(LinkType::ETHERNET, &tags), Why::TooDeep);
    let labels = ethernet(0x8847, &[0; 60]);
    assert_eq!(why(LinkType::ETHERNET, &labels), Why::TooDeep);
}
