use std::vec::Vec;

use super::*;
use crate::hex::hex;
use crate::vectors::*;

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
