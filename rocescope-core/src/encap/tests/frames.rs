//! Frames by hand.

use super::*;

pub(super) const LINKS: &[LinkType] = &[
    LinkType::NULL,
    LinkType::ETHERNET,
    LinkType::RAW,
    LinkType::LOOP,
    LinkType::LINUX_SLL,
    LinkType::IPV4,
    LinkType::IPV6,
    LinkType::LINUX_SLL2,
];

pub(super) const SOURCE_V6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);
pub(super) const DESTINATION_V6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 2);

/// Destination and source, in the order of the wire.
pub(super) const MACS: [u8; 12] = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];

fn packet(addresses: Option<[Ipv6Addr; 2]>, rocev1: bool, ipv4_options: &[u8]) -> Vec<u8> {
    let plain = FrameBuilder::default();
    let addresses = addresses.map(|pair| pair.map(IpAddr::V6));
    let [source, destination] = addresses.unwrap_or([plain.source, plain.destination]);
    let stream = FrameBuilder {
        source,
        destination,
        rocev1,
        ipv4_options,
        dscp: 26,
        hop_limit: 61,
        ip_id: 0x1234,
        source_port: 0xc123,
        ..plain
    };
    let mut buffer = [0; 256];
    let write = stream.write(
        Part::Only,
        Psn::new(7),
        Reth::new(8, 9, 50),
        Fill::Counting(50),
    );
    let len = write.packet(&mut buffer).unwrap();
    buffer[..len].to_vec()
}

/// An RC WRITE ONLY with a right ICRC, from its IPv4 header on.
pub(super) fn ipv4_packet() -> Vec<u8> {
    packet(None, false, &[])
}

/// The same over IPv6.
pub(super) fn ipv6_packet() -> Vec<u8> {
    packet(Some([SOURCE_V6, DESTINATION_V6]), false, &[])
}

/// The same over RoCE v1.
pub(super) fn grh_packet() -> Vec<u8> {
    packet(Some([SOURCE_V6, DESTINATION_V6]), true, &[])
}

pub(super) fn ethernet(ethertype: u16, payload: &[u8]) -> Vec<u8> {
    [&MACS[..], &ethertype.to_be_bytes(), payload].concat()
}

/// From [`OUTER`] to 198.51.100.9.
pub(super) fn ipv4(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let [high, low] = u16::try_from(20 + payload.len()).unwrap().to_be_bytes();
    let addresses = [198, 51, 100, 1, 198, 51, 100, 9];
    let header = [0x45, 0, high, low, 0, 0, 0, 0, 64, protocol, 0, 0];
    [&header[..], &addresses, payload].concat()
}

pub(super) fn ipv6(next_header: u8, payload: &[u8]) -> Vec<u8> {
    let [high, low] = u16::try_from(payload.len()).unwrap().to_be_bytes();
    let header = [0x60, 0, 0, 0, high, low, next_header, 64];
    [
        &header[..],
        &SOURCE_V6.octets(),
        &DESTINATION_V6.octets(),
        payload,
    ]
    .concat()
}

pub(super) fn udp(port: u16, payload: &[u8]) -> Vec<u8> {
    let length = u16::try_from(8 + payload.len()).unwrap();
    let header = [0xd000, port, length, 0].map(u16::to_be_bytes).concat();
    [&header, payload].concat()
}

pub(super) fn vxlan(payload: &[u8]) -> Vec<u8> {
    udp(4789, &[&[8, 0, 0, 0, 0, 0, 1, 0][..], payload].concat())
}

pub(super) fn gre(ethertype: u16, payload: &[u8]) -> Vec<u8> {
    [&[0, 0][..], &ethertype.to_be_bytes(), payload].concat()
}

/// ERSPAN II with this first word, as a whole frame.
pub(super) fn erspan_ii(word: u32, sequence: u32, payload: &[u8]) -> Vec<u8> {
    let header = [0x1000_88be, sequence, word, 0]
        .map(u32::to_be_bytes)
        .concat();
    ethernet(0x0800, &ipv4(47, &[&header, payload].concat()))
}

/// ERSPAN III with this first and last word, and the platform's subheader if that says so.
pub(super) fn erspan_iii(word: u32, sequence: u32, last: u32, payload: &[u8]) -> Vec<u8> {
    let header = [0x1000_22eb, sequence, word, 0xffff_ffff, last]
        .map(u32::to_be_bytes)
        .concat();
    let subheader: &[u8] = if last & 1 == 1 { &[0xff; 8] } else { &[] };
    ethernet(0x0800, &ipv4(47, &[&header, subheader, payload].concat()))
}

/// A way from a link layer to one RoCE packet.
#[derive(Clone, Debug)]
pub(super) struct Way {
    pub(super) name: &'static str,
    pub(super) link: LinkType,
    pub(super) frame: Vec<u8>,
    pub(super) tunnel_source: Option<Address>,
}

/// Every way there is, alone and one in the other.
pub(super) fn ways() -> Vec<Way> {
    let (v4, v6, grh) = (ipv4_packet(), ipv6_packet(), grh_packet());
    let inner = ethernet(0x0800, &v4);
    let inner_v6 = [&MACS[..], &hex("8100600586dd"), &v6].concat();
    let sll = hex("0004000100060200000000010000");
    let sll2 = hex("08000000000000020001040602000000000100 00");
    let on_ethernet =
        |ethertype, head: &str, packet: &[u8]| ethernet(ethertype, &[&hex(head), packet].concat());
    let deep = erspan_ii(
        0x1000_0001,
        9,
        &ethernet(
            0x0800,
            &ipv4(
                17,
                &vxlan(&ethernet(0x86dd, &ipv6(47, &gre(0x0800, &ipv4(4, &v4))))),
            ),
        ),
    );
    let plain: Vec<(_, _, Vec<u8>)> = vec![
        ("Ethernet", LinkType::ETHERNET, inner.clone()),
        (
            "IPv4 options",
            LinkType::RAW,
            packet(None, false, &[1, 1, 1, 0]),
        ),
        (
            "VLAN",
            LinkType::ETHERNET,
            on_ethernet(0x8100, "7064 0800", &v4),
        ),
        ("VLAN, IPv6", LinkType::ETHERNET, inner_v6.clone()),
        (
            "four tags",
            LinkType::ETHERNET,
            on_ethernet(0x9100, "0001 88a8 0002 8100 0003 8100 0004 0800", &v4),
        ),
        (
            "CN-TAG",
            LinkType::ETHERNET,
            on_ethernet(0x8100, "6001 22e9 1234 0800", &v4),
        ),
        (
            "PPPoE",
            LinkType::ETHERNET,
            on_ethernet(0x8864, "1100 0001 0099 0021", &v4),
        ),
        (
            "PPPoE, IPv6",
            LinkType::ETHERNET,
            on_ethernet(0x8864, "1100 0001 0099 0057", &v6),
        ),
        (
            "MPLS",
            LinkType::ETHERNET,
            on_ethernet(0x8847, "00010040 00020140", &v6),
        ),
        (
            "RoCE v1, VLAN",
            LinkType::ETHERNET,
            on_ethernet(0x8100, "6001 8915", &grh),
        ),
        ("raw IPv4", LinkType::RAW, v4.clone()),
        ("raw IPv6", LinkType::RAW, v6.clone()),
        ("IPv4", LinkType::IPV4, v4.clone()),
        ("IPv6", LinkType::IPV6, v6.clone()),
        ("NULL", LinkType::NULL, [&[2, 0, 0, 0][..], &v4].concat()),
        ("LOOP", LinkType::LOOP, [&[0, 0, 0, 24][..], &v6].concat()),
        (
            "SLL",
            LinkType::LINUX_SLL,
            [&sll[..], &hex("0800"), &v4].concat(),
        ),
        ("SLL2", LinkType::LINUX_SLL2, [&sll2[..], &v4].concat()),
    ];
    let tunnelled = vec![
        ("VXLAN", ethernet(0x0800, &ipv4(17, &vxlan(&inner)))),
        (
            "VXLAN, VLAN",
            ethernet(0x0800, &ipv4(17, &vxlan(&inner_v6))),
        ),
        ("GRE, IPv4", ethernet(0x0800, &ipv4(47, &gre(0x0800, &v4)))),
        ("GRE, IPv6", ethernet(0x0800, &ipv4(47, &gre(0x86dd, &v6)))),
        (
            "GRE, Ethernet",
            ethernet(0x0800, &ipv4(47, &gre(0x6558, &inner))),
        ),
        (
            "GRE with options",
            ethernet(
                0x0800,
                &ipv4(
                    47,
                    &[&hex("b0006558 00000000 00000001 00000002"), &inner[..]].concat(),
                ),
            ),
        ),
        (
            "ERSPAN I",
            ethernet(0x0800, &ipv4(47, &gre(0x88be, &inner))),
        ),
        ("ERSPAN II", erspan_ii(0x1000_0001, 1, &inner)),
        ("ERSPAN III", erspan_iii(0x2000_0001, 1, 0, &inner)),
        (
            "ERSPAN III, subheader",
            erspan_iii(0x2000_0001, 1, 1, &inner),
        ),
        (
            "ERSPAN III, bare IP",
            erspan_iii(0x2000_0001, 1, 2 << 10, &v6),
        ),
        ("IP in IP", ethernet(0x0800, &ipv4(4, &v4))),
        ("IPv6 in IP", ethernet(0x0800, &ipv4(41, &v6))),
        ("four tunnels", deep),
    ];
    let v6_tunnel = ethernet(0x86dd, &ipv6(4, &v4));
    let way = |name, link, frame, tunnel_source| Way {
        name,
        link,
        frame,
        tunnel_source,
    };
    plain
        .into_iter()
        .map(|(name, link, frame)| way(name, link, frame, None))
        .chain(
            tunnelled
                .into_iter()
                .map(|(name, frame)| way(name, LinkType::ETHERNET, frame, Some(OUTER))),
        )
        .chain([way(
            "IP in IPv6",
            LinkType::ETHERNET,
            v6_tunnel,
            Some(Address::V6(SOURCE_V6.octets())),
        )])
        .collect()
}

/// What stood in front of [`CASE_PACKET`] in frames of the field: name, link type, octets, VLAN, in a tunnel.
pub(super) const CASES: [(&str, LinkType, &str, Option<u16>, bool); 12] = [
    (
        "plain",
        LinkType::ETHERNET,
        "0200000000020200000000010800",
        None,
        false,
    ),
    (
        "QinQ",
        LinkType::ETHERNET,
        "02000000000202000000000188a80064810060c80800",
        Some(200),
        false,
    ),
    (
        "PPPoE",
        LinkType::ETHERNET,
        "020000000002020000000001886411000001006e0021",
        None,
        false,
    ),
    (
        "SLL",
        LinkType::LINUX_SLL,
        "00000001000602000000000100000800",
        None,
        false,
    ),
    (
        "SLL2",
        LinkType::LINUX_SLL2,
        "0800000000000003000100060200000000010000",
        None,
        false,
    ),
    ("raw IP", LinkType::RAW, "", None, false),
    (
        "VXLAN",
        LinkType::ETHERNET,
        "02000000000202000000000108004500009e000140004011264c0a0000010a000002c35012b5008a00000800000000006400\
         0200000000020200000000010800",
        None,
        true,
    ),
    (
        "GRE, Ethernet",
        LinkType::ETHERNET,
        "02000000000202000000000108004500009200014000402f263a0a0000010a00000200006558\
         0200000000020200000000010800",
        None,
        true,
    ),
    (
        "GRE, IP",
        LinkType::ETHERNET,
        "02000000000202000000000108004500008400014000402f26480a0000010a00000200000800",
        None,
        true,
    ),
    (
        "ERSPAN II",
        LinkType::ETHERNET,
        "02000000000202000000000108004500009e00014000402f262e0a0000010a000002100088be000000011064000100000000\
         0200000000020200000000010800",
        None,
        true,
    ),
    (
        "ERSPAN III",
        LinkType::ETHERNET,
        "0200000000020200000000010800450000a200014000402f262a0a0000010a000002100022eb00000002206400011234567800000000\
         0200000000020200000000010800",
        None,
        true,
    ),
    (
        "IP in IP",
        LinkType::ETHERNET,
        "02000000000202000000000108004500008000014000400426770a0000010a000002",
        None,
        true,
    ),
];

/// RC SEND ONLY of 64 octets from 10.0.0.1 to 10.0.0.2.
pub(super) const CASE_PACKET: &str = "4503006c000140004011267b0a0000010a000002c00012b7005800000400ffff000000118000004d\
    000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f\
    303132333435363738393a3b3c3d3e3fe637bd94";

/// Octets from hexadecimal digits; spaces mean nothing.
pub(super) fn hex(digits: &str) -> Vec<u8> {
    let digits: Vec<u32> = digits
        .chars()
        .filter(|digit| !digit.is_whitespace())
        .map(|digit| digit.to_digit(16).unwrap())
        .collect();
    digits
        .chunks(2)
        .map(|pair| u8::try_from(pair[0] << 4 | pair[1]).unwrap())
        .collect()
}
