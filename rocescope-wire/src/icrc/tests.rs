use std::vec::Vec;

use super::*;
use crate::hex::hex;

/// CNP of a ConnectX-4 Lx (scapy, test/contrib/roce.uts).
const CNP_CX4LX: &str = "\
    e41d2dab2bc27cfe90643b32080045c2003c718c4000401191610a0011010a001201000012b7002800008100ffff40000118\
    000000000000000000000000000000000000000082fd002a";

/// CNP of an article, addresses changed (scapy, test/contrib/roce.uts).
const CNP_ARTICLE: &str = "\
    0002c90000010002c900000208004589003c98c64000201169271616160816161607dbae12b7002800008100ffff400000d2\
    0000000000000000000000000000000000000000e42dad81";

/// RoCEv1 WRITE ONLY with pad 3 (scapy, test/contrib/roce.uts).
const ROCEV1_WRITE: &str = "\
    7cfe90753cd87cfe90753cd889156020000000281b4000000000000000000000ffff0f00000200000000000000000000ffff\
    0f0000020a70ffff0000010a80a788bc000055d4c0726000000047b3000000050000000001000000e3d856bb";

/// RoCEv1 ACK (scapy, test/contrib/roce.uts).
const ROCEV1_ACK: &str = "\
    7cfe90753cd87cfe90753cd889156020000000141b4000000000000000000000ffff0f00000200000000000000000000ffff\
    0f0000021140ffff0000010900a788c00000000525f0c038";

/// UC SEND ONLY over IPv4 (scapy, test/contrib/roce.uts).
const UC_IPV4: &str = "\
    248a07a8fa22248a07a8fa22080045010040047840004011b4d5c0a80007c0a80007c00012b7002caca22460ffff000000d3\
    00cf17104630818be28935d90e9a95505401be885e50000078f353f3";

/// UC SEND ONLY over IPv6 (scapy, test/contrib/roce.uts).
const UC_IPV6: &str = "\
    248a07a8fa22248a07a8fa2286dd6e21face002c11ff20220000000000000000000000001023202300000000000000000000\
    00001024c00012b7002ce7c52460ffff000000d300cf17104630818be28935d90e9a95505401be885e5000003e5b743b";

/// ACK with four octets too many (open-rdma-driver, unit tests).
const OPEN_RDMA_ACK: &str = "\
    214365879abc123456789abc08004500003427000000401155b77f0000017f00000112b712b7002000001100000000000141\
    000004560000012300000000a6918ee5";

/// NAK with four octets too many (open-rdma-driver, unit tests).
const OPEN_RDMA_NAK: &str = "\
    214365879abc123456789abc08004500003427000000401155b77f0000017f00000112b712b7002000001100000000000141\
    0000045660000123000789009a046bda";

/// ACK of a hardware test bench.
const FPGA_ACK: &str = "\
    525400a0e69a1070fd1900950800450000301111400040110000c0a80102c0a8010112b712b7001c00001100ffff00006ef6\
    800000001f00000164b5735f";

/// ACK captured on rxe's loopback before the ICRC was written; bare IPv4.
const RXE_ACK_UNFILLED: &str = "\
    4500003000004000401100007f0000017f000001c46212b7001c00001100ffff00000022000793eb1f00000100000000";

/// ACK with an Ethernet trailer and a placeholder ICRC (a libtins fork's RoCEv2Test).
const LIBTINS_ACK: &str = "\
    0000000000dd12345678abcd0800454b0030f7e700001011ccc38272635300000002cba912b7001c3a0d1100ffff8d000041\
    4800003e1b00000100000000a4c32b491460c5163617beb863dee70d9ae0d3";

/// WRITE ONLY of 33 octets, pad 3, whose ICRC leaves out the pad (what rxe sent before it was fixed).
const WITHOUT_PAD: &str = "\
    020000000002020000000001080045020060000140004011268\
    80a0000010a000002c00012b7004c00000a30ffff0000001180000065000000000000100000000011000000210001020304\
    05060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f2000000014aab952";

/// The carrier, the octets from the network header on, and the transport from BTH to ICRC of an Ethernet frame.
fn split(frame: &[u8]) -> (Carrier, &[u8], &[u8]) {
    let network = &frame[14..];
    let (carrier, header_len) = match frame[12..14] {
        [0x08, 0x00] => (Carrier::Ipv4, usize::from(network[0] & 15) * 4),
        [0x86, 0xdd] => (Carrier::Ipv6, 40),
        _ => (Carrier::Grh, 40),
    };
    if carrier == Carrier::Grh {
        return (carrier, network, &network[header_len..]);
    }
    let udp = &network[header_len..];
    (
        carrier,
        network,
        &udp[8..usize::from(u16::from_be_bytes([udp[4], udp[5]]))],
    )
}

fn state(frame: &[u8]) -> (IcrcState, Option<IcrcHint>) {
    let (carrier, network, transport) = split(frame);
    (
        check(carrier, network, transport),
        hint(carrier, network, transport),
    )
}

fn wire(octets: [u8; 4]) -> u32 {
    u32::from_le_bytes(octets)
}

#[test]
fn frames_of_real_hardware_and_other_programs_are_good() {
    for frame in [
        CNP_CX4LX,
        ROCEV1_WRITE,
        ROCEV1_ACK,
        UC_IPV4,
        UC_IPV6,
        OPEN_RDMA_ACK,
        OPEN_RDMA_NAK,
        FPGA_ACK,
    ] {
        assert_eq!(state(&hex(frame)).0, IcrcState::Good, "{frame}");
    }
}

#[test]
fn bad_ones_say_what_would_be_right() {
    let right = wire([0xda, 0xfc, 0x1b, 0xef]);
    assert_eq!(state(&hex(CNP_ARTICLE)), (IcrcState::Bad { right }, None));

    let bare = [&[0; 12][..], &[0x08, 0x00], &hex(RXE_ACK_UNFILLED)].concat();
    let right = wire([0x26, 0x99, 0xc2, 0x05]);
    assert_eq!(
        state(&bare),
        (IcrcState::Bad { right }, Some(IcrcHint::NotFilled))
    );

    assert!(matches!(
        state(&hex(LIBTINS_ACK)),
        (IcrcState::Bad { .. }, Some(IcrcHint::NotFilled))
    ));
}

#[test]
fn a_buffer_captured_before_it_was_filled_holds_text() {
    // SEND ONLY of 1024 times 0x7b on rxe's loopback, bare IPv4.
    let header =
        hex("4500042c20dd4000401100007f0000017f000001c46212b7041800000400ffff00000021800793eb");
    let packet = [&header[..], &[0x7b; 1024], &hex("300a0a5b")].concat();
    let right = wire([0xb3, 0xce, 0xaa, 0x9f]);
    assert_eq!(
        check(Carrier::Ipv4, &packet, &packet[28..]),
        IcrcState::Bad { right }
    );
    assert_eq!(
        hint(Carrier::Ipv4, &packet, &packet[28..]),
        Some(IcrcHint::Leftover)
    );
}

#[test]
fn without_pad_and_swapped_are_recognised() {
    let right = wire([0xa7, 0x8d, 0x3b, 0x02]);
    let mut frame = hex(WITHOUT_PAD);
    assert_eq!(
        state(&frame),
        (IcrcState::Bad { right }, Some(IcrcHint::WithoutPad))
    );
    let icrc = frame.len() - 4;
    frame[icrc..].copy_from_slice(&right.to_be_bytes());
    assert_eq!(
        state(&frame),
        (IcrcState::Bad { right }, Some(IcrcHint::ByteSwapped))
    );
    frame[icrc..].copy_from_slice(&right.to_le_bytes());
    assert_eq!(state(&frame).0, IcrcState::Good);
}

/// Which octets of an Ethernet frame may change without making the ICRC bad.
fn free(frame: &[u8]) -> Vec<usize> {
    let (carrier, network, transport) = split(frame);
    let transport_at = network.len() - transport.len();
    let good_without = |&at: &usize| {
        let mut changed = network.to_vec();
        changed[at - 14] ^= 0x0f;
        check(carrier, &changed, &changed[transport_at..]) == IcrcState::Good
    };
    (14..frame.len()).filter(good_without).collect()
}

#[test]
fn only_what_routers_and_switches_change_is_free() {
    // Type of service, time to live, header checksum, UDP checksum, FECN and BECN.
    assert_eq!(free(&hex(CNP_CX4LX)), [15, 22, 24, 25, 40, 41, 46]);
    // Traffic class (its low half here), flow label, hop limit, UDP checksum, FECN and BECN.
    assert_eq!(free(&hex(UC_IPV6)), [14, 15, 16, 17, 21, 60, 61, 66]);
    assert_eq!(free(&hex(ROCEV1_ACK)), [14, 15, 16, 17, 21, 58]);
}

#[test]
fn ipv4_options_are_covered() {
    let frame = hex(FPGA_ACK);
    let (_, network, transport) = split(&frame);
    let mut network = [&network[..20], &[1, 1, 1, 0], &network[20..28]].concat();
    network[0] = 0x46;
    let mut transport = transport.to_vec();
    let covered = transport.len() - 4;
    let right = compute(Carrier::Ipv4, &network, &transport[..covered]).expect("whole");
    transport[covered..].copy_from_slice(&right.to_le_bytes());
    assert_eq!(check(Carrier::Ipv4, &network, &transport), IcrcState::Good);
    network[8] ^= 1;
    assert_eq!(check(Carrier::Ipv4, &network, &transport), IcrcState::Good);
    network[21] ^= 2;
    assert!(matches!(
        check(Carrier::Ipv4, &network, &transport),
        IcrcState::Bad { .. }
    ));
}

#[test]
fn what_cannot_be_told_is_not_called_bad() {
    let frame = hex(UC_IPV4);
    let (carrier, network, transport) = split(&frame);
    for len in 0..28 {
        assert_eq!(
            check(carrier, &network[..len], transport),
            IcrcState::Unverifiable
        );
    }
    for len in 0..16 {
        assert_eq!(
            check(carrier, network, &transport[..len]),
            IcrcState::Unverifiable
        );
    }
    let mut fragment = network.to_vec();
    fragment[6] |= 0x20;
    assert_eq!(
        check(carrier, &fragment, transport),
        IcrcState::Unverifiable
    );
    fragment[6] = 0;
    fragment[7] = 1;
    assert_eq!(
        check(carrier, &fragment, transport),
        IcrcState::Unverifiable
    );
    let frame = hex(UC_IPV6);
    let (carrier, network, transport) = split(&frame);
    let mut extended = network.to_vec();
    extended[6] = 0;
    assert_eq!(
        check(carrier, &extended, transport),
        IcrcState::Unverifiable
    );
}

#[test]
#[ignore = "a measurement: run with --release --ignored --nocapture"]
fn nanoseconds_per_frame() {
    use std::hint::black_box;
    use std::time::Instant;
    let network = &hex(UC_IPV4)[14..42];
    for transport_len in [16, 20, 32, 80, 144, 272, 1040, 4112] {
        let transport: Vec<u8> = (0..transport_len).map(|at| at as u8).collect();
        let rounds = 2_000_000;
        let begin = Instant::now();
        for _ in 0..rounds {
            black_box(check(
                black_box(Carrier::Ipv4),
                black_box(network),
                black_box(&transport),
            ));
        }
        let ns = begin.elapsed().as_secs_f64() * 1e9 / f64::from(rounds);
        std::println!("{} octets: {ns:.1} ns", 42 + transport_len);
    }
}
