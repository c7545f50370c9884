use super::*;
use proptest::prelude::*;
use rocescope_wire::build::{Fill, FrameBuilder};
use rocescope_wire::icrc::{self, IcrcState};
use rocescope_wire::{Part, Psn, Reth};
use std::net::{IpAddr, Ipv6Addr};

mod frames;
mod refused;

use frames::*;

const OUTER: Address = Address::V4([198, 51, 100, 1]);

fn decode(link: LinkType, octets: &[u8]) -> Frame<'_> {
    let wire_len = u32::try_from(octets.len()).unwrap();
    locate(link, octets, wire_len, &Ports::default())
}

#[track_caller]
fn roce(link: LinkType, octets: &[u8]) -> Located<'_> {
    match decode(link, octets).decoded {
        Decoded::Roce(located) => located,
        other => panic!("{other:?}"),
    }
}

fn icrc_of(located: &Located<'_>) -> IcrcState {
    let carrier = match located.carrier {
        Carrier::RoceV1 => icrc::Carrier::Grh,
        Carrier::RoceV2Ipv4 => icrc::Carrier::Ipv4,
        Carrier::RoceV2Ipv6 => icrc::Carrier::Ipv6,
    };
    icrc::check(carrier, located.network, located.transport)
}

#[test]
fn every_field_is_found() {
    let packet = ipv4_packet();
    let tags = [0x88, 0xa8, 0x20, 0x64, 0x81, 0x00, 0x70, 0xc8, 0x08, 0x00];
    let frame = [&MACS[..], &tags, &packet, &[0xaa; 7]].concat();
    let located = roce(LinkType::ETHERNET, &frame);
    assert_eq!(located.carrier, Carrier::RoceV2Ipv4);
    assert_eq!(located.src, Address::V4([192, 0, 2, 1]));
    assert_eq!(located.dst, Address::V4([192, 0, 2, 2]));
    assert_eq!(located.udp_source_port, 0xc123);
    assert_eq!(located.traffic_class, 26 << 2 | 2);
    assert_eq!(located.hop_limit, 61);
    assert_eq!(located.ip_id, Some(0x1234));
    let vlan = Vlan {
        pcp: 3,
        dei: true,
        vid: 200,
    };
    assert_eq!(located.vlan, Some(vlan));
    assert_eq!(located.macs, [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2]);
    assert_eq!(located.transport, &packet[28..]);
    assert_eq!(located.wire_len as usize, packet.len() - 28);
    assert_eq!(located.network, packet);
    assert_eq!(located.tunnel_source, None);
    assert!(!located.cut_by_mirror);
}

#[test]
fn ipv6_and_grh_give_their_fields() {
    for (frame, carrier, port, headers) in [
        (
            ethernet(0x86dd, &ipv6_packet()),
            Carrier::RoceV2Ipv6,
            0xc123,
            48,
        ),
        (ethernet(0x8915, &grh_packet()), Carrier::RoceV1, 0, 40),
    ] {
        let located = roce(LinkType::ETHERNET, &frame);
        assert_eq!(located.carrier, carrier);
        assert_eq!(located.src, Address::V6(SOURCE_V6.octets()));
        assert_eq!(located.dst, Address::V6(DESTINATION_V6.octets()));
        assert_eq!(located.udp_source_port, port);
        assert_eq!(located.traffic_class, 26 << 2 | 2);
        assert_eq!(located.hop_limit, 61);
        assert_eq!(located.ip_id, None);
        assert_eq!(located.network, &frame[14..]);
        assert_eq!(located.transport, &frame[14 + headers..]);
        assert_eq!(icrc_of(&located), IcrcState::Good);
    }
}

#[test]
fn every_way_leads_to_the_same_packet() {
    for Way {
        name,
        link,
        frame,
        tunnel_source,
    } in ways()
    {
        let padded = [&frame[..], &[0x55; 9]].concat();
        for frame in [&frame, &padded] {
            let located = roce(link, frame);
            assert_eq!(icrc_of(&located), IcrcState::Good, "{name}");
            assert_eq!(located.tunnel_source, tunnel_source, "{name}");
            assert_eq!(located.wire_len as usize, located.transport.len(), "{name}");
            let port = if located.carrier == Carrier::RoceV1 {
                0
            } else {
                0xc123
            };
            assert_eq!(located.udp_source_port, port, "{name}");
            assert!(!located.cut_by_mirror, "{name}");
        }
    }
}

#[test]
fn a_cut_takes_octets_and_changes_nothing_else() {
    for Way {
        name, link, frame, ..
    } in ways()
    {
        let whole = roce(link, &frame);
        let wire_len = u32::try_from(frame.len()).unwrap();
        let mut located = 0;
        for cut in 0..frame.len() {
            match locate(link, &frame[..cut], wire_len, &Ports::default()).decoded {
                Decoded::Roce(part) => {
                    located += 1;
                    assert!(whole.transport.starts_with(part.transport), "{name} {cut}");
                    assert!(whole.network.starts_with(part.network), "{name} {cut}");
                    let transport = part.transport;
                    let with_octets = Located {
                        transport: whole.transport,
                        network: whole.network,
                        ..part
                    };
                    assert_eq!(
                        format!("{with_octets:?}"),
                        format!("{whole:?}"),
                        "{name} {cut}"
                    );
                    assert_eq!(frame.len() - cut, whole.transport.len() - transport.len());
                }
                Decoded::Undecodable(Why::Cut) => assert_eq!(located, 0, "{name} {cut}"),
                other => panic!("{name} cut to {cut}: {other:?}"),
            }
        }
        assert_eq!(
            located,
            whole.transport.len() - 12,
            "{name}: from a whole BTH on"
        );
    }
}

#[test]
fn frames_of_the_field() {
    for (name, link, outer, vlan, tunnelled) in CASES {
        for trailer in ["", "a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1", "ff9f26a5"] {
            let frame = hex(&[outer, CASE_PACKET, trailer].concat());
            let located = roce(link, &frame);
            assert_eq!(icrc_of(&located), IcrcState::Good, "{name}");
            assert_eq!(located.src, Address::V4([10, 0, 0, 1]), "{name}");
            assert_eq!(located.wire_len, 80, "{name}");
            assert_eq!(located.transport.len(), 80, "{name}");
            assert_eq!(located.vlan.map(|vlan| vlan.vid), vlan, "{name}");
            let source = tunnelled.then_some(Address::V4([10, 0, 0, 1]));
            assert_eq!(located.tunnel_source, source, "{name}");
        }
    }
}

#[test]
fn lengths_of_zero_reach_to_the_end_of_the_frame() {
    let mut v4 = ethernet(0x0800, &ipv4_packet());
    v4[16..18].fill(0);
    assert_eq!(
        roce(LinkType::ETHERNET, &v4).wire_len as usize,
        v4.len() - 42
    );
    let mut v6 = ethernet(0x86dd, &ipv6_packet());
    v6[18..20].fill(0);
    assert_eq!(
        roce(LinkType::ETHERNET, &v6).wire_len as usize,
        v6.len() - 62
    );
    // What the frame had on the wire counts, not what was captured of it.
    let cut = locate(
        LinkType::ETHERNET,
        &v4[..80],
        u32::try_from(v4.len()).unwrap(),
        &Ports::default(),
    );
    assert!(
        matches!(cut.decoded, Decoded::Roce(Located { wire_len, .. }) if wire_len as usize == v4.len() - 42)
    );
}

#[test]
fn mirrors_give_their_numbers_whatever_they_carry() {
    let number = |session, sequence| MirrorSequence {
        source: OUTER,
        destination: Address::V4([198, 51, 100, 9]),
        session,
        sequence,
    };
    let frame = erspan_ii(0x1000_0000 | 5, 77, &ethernet(0x0800, &ipv4_packet()));
    assert_eq!(
        decode(LinkType::ETHERNET, &frame).mirror,
        Some(number(5, 77))
    );
    let arp = erspan_iii(0x2000_03ff, u32::MAX, 0, &ethernet(0x0806, &[0; 28]));
    let frame = decode(LinkType::ETHERNET, &arp);
    assert!(matches!(frame.decoded, Decoded::Other));
    assert_eq!(frame.mirror, Some(number(0x3ff, u32::MAX)));
    // A tunnel that counts is no mirror.
    let teb = ipv4(
        47,
        &[
            &[0x10, 0, 0x65, 0x58, 0, 0, 0, 9][..],
            &ethernet(0x0800, &ipv4_packet()),
        ]
        .concat(),
    );
    assert_eq!(decode(LinkType::RAW, &teb).mirror, None);
}

#[test]
fn a_cut_by_the_mirror_is_told() {
    let frame = ethernet(0x0800, &ipv4_packet());
    let half = &frame[..70];
    // The T bit; and without it, an inner length that the outer packet does not hold.
    for word in [0x1000_0405, 0x1000_0005] {
        let mirrored = erspan_ii(word, 1, half);
        let located = roce(LinkType::ETHERNET, &mirrored);
        assert!(located.cut_by_mirror);
        assert_eq!(located.transport, &frame[42..70]);
        assert_eq!(located.wire_len as usize, frame.len() - 42);
    }
    assert!(roce(LinkType::ETHERNET, &erspan_ii(0x1000_0405, 1, &frame)).cut_by_mirror);
    // The first fragment of a tunnel: the same.
    let mut first = erspan_ii(0x1000_0005, 1, half);
    first[20] = 0x20;
    assert!(roce(LinkType::ETHERNET, &first).cut_by_mirror);
}

#[test]
fn the_tag_that_a_mirror_took_off_is_put_back() {
    let vlan = |word| {
        roce(
            LinkType::ETHERNET,
            &erspan_ii(word, 1, &ethernet(0x0800, &ipv4_packet())),
        )
        .vlan
    };
    let tag = Vlan {
        pcp: 3,
        dei: false,
        vid: 100,
    };
    assert_eq!(vlan(0x1064_7005), Some(tag));
    assert_eq!(
        vlan(0x1064_6005),
        None,
        "the mirror says that there was none"
    );
}

#[test]
fn ports_by_option() {
    let mut frame = ethernet(0x0800, &ipv4_packet());
    frame[36..38].copy_from_slice(&5000_u16.to_be_bytes());
    let wire_len = u32::try_from(frame.len()).unwrap();
    let other = locate(LinkType::ETHERNET, &frame, wire_len, &Ports::default());
    assert!(matches!(
        other.decoded,
        Decoded::Udp {
            port: 5000,
            looks_like_bth: true
        }
    ));
    let ports = Ports::default().with_roce(5000);
    assert_eq!(ports.roce(), [4791, 5000]);
    assert!(matches!(
        locate(LinkType::ETHERNET, &frame, wire_len, &ports).decoded,
        Decoded::Roce(_)
    ));

    let vxlan = ipv4(
        17,
        &udp(
            8472,
            &[
                &[8, 0, 0, 0, 0, 0, 1, 0][..],
                &ethernet(0x0800, &ipv4_packet()),
            ]
            .concat(),
        ),
    );
    let wire_len = u32::try_from(vxlan.len()).unwrap();
    let other = locate(LinkType::RAW, &vxlan, wire_len, &Ports::default());
    assert!(matches!(
        other.decoded,
        Decoded::Udp {
            port: 8472,
            looks_like_bth: false
        }
    ));
    let ports = Ports::default().with_vxlan(8472);
    assert!(matches!(
        locate(LinkType::RAW, &vxlan, wire_len, &ports).decoded,
        Decoded::Roce(_)
    ));
}

proptest! {
    #[test]
    fn no_octets_and_no_link_type_panic(
        link in prop_oneof![proptest::sample::select(LINKS), any::<u32>().prop_map(LinkType)],
        octets in proptest::collection::vec(any::<u8>(), 0..200),
        wire_len: u32,
    ) {
        holds(link, &octets, wire_len);
    }

    /// Octets that differ a little from a frame walk further than chance does.
    #[test]
    fn no_damaged_frame_panics(
        way in proptest::sample::select(ways()),
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut: prop::sample::Index,
    ) {
        let mut octets = way.frame;
        let wire_len = u32::try_from(octets.len()).unwrap();
        for (at, octet) in damage {
            let at = at.index(octets.len());
            octets[at] = octet;
        }
        holds(way.link, &octets, wire_len);
        holds(way.link, &octets[..cut.index(octets.len())], wire_len);
    }
}

/// What is true of any frame.
fn holds(link: LinkType, octets: &[u8], wire_len: u32) {
    let ports = Ports::default();
    if let Decoded::Roce(located) = locate(link, octets, wire_len, &ports).decoded {
        assert!(located.transport.len() >= 12);
        assert!(located.transport.len() <= located.wire_len as usize);
        assert!(located.network.ends_with(located.transport));
    }
    if let Some(located) = plain::locate(octets, &ports) {
        let walked = walk(LinkType::ETHERNET, octets, wire_len, &ports).decoded;
        assert_eq!(
            format!("{:?}", Decoded::Roce(located)),
            format!("{walked:?}")
        );
    }
}

#[test]
fn the_short_way_and_the_walk_agree() {
    let plain_ways = ways()
        .into_iter()
        .filter(|way| plain::locate(&way.frame, &Ports::default()).is_some());
    assert_eq!(
        plain_ways.map(|way| way.name).collect::<Vec<_>>(),
        ["Ethernet", "VLAN"]
    );
    for way in ways() {
        let wire_len = u32::try_from(way.frame.len()).unwrap();
        for cut in 0..=way.frame.len() {
            holds(way.link, &way.frame[..cut], wire_len);
        }
        // Every bit of every header turned.
        for bit in 0..8 * way.frame.len().min(120) {
            let mut frame = way.frame.clone();
            frame[bit / 8] ^= 1 << (bit % 8);
            holds(way.link, &frame, wire_len);
        }
    }
}
