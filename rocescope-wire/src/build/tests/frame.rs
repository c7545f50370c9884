use std::vec::Vec;

use proptest::prelude::*;
use zerocopy::{FromBytes, IntoBytes};

use crate::aeth::AethKind;
use crate::build::*;
use crate::hex::hex;
use crate::icrc::{Carrier, IcrcState, check};
use crate::vectors::{CNP_CX4LX, ROCEV1_ACK, ROCEV1_WRITE, UC_IPV6, WITHOUT_PAD};
use crate::{Msn, NakCode, Part, RnrTimer, TransportPacket};

fn written(builder: &FrameBuilder<'_>) -> Vec<u8> {
    let mut buffer = std::vec![0xee; 9000];
    let len = builder.frame(&mut buffer).expect("fits");
    buffer.truncate(len);
    buffer
}

#[test]
fn a_cnp_of_hardware_comes_out_the_same() {
    let cnp = FrameBuilder {
        destination_mac: [0xe4, 0x1d, 0x2d, 0xab, 0x2b, 0xc2],
        source_mac: [0x7c, 0xfe, 0x90, 0x64, 0x3b, 0x32],
        source: [0x0a, 0, 0x11, 1].into(),
        destination: [0x0a, 0, 0x12, 1].into(),
        dscp: 48,
        ip_id: 0x718c,
        source_port: 0,
        dest_qpn: Qpn::new(0x118),
        ..FrameBuilder::default()
    }
    .cnp();
    // The adapter sent ECT(0).
    assert_eq!(written(&FrameBuilder { ecn: 2, ..cnp }), hex(CNP_CX4LX));
}

#[test]
fn rocev1_frames_come_out_the_same() {
    let request = FrameBuilder {
        destination_mac: [0x7c, 0xfe, 0x90, 0x75, 0x3c, 0xd8],
        source_mac: [0x7c, 0xfe, 0x90, 0x75, 0x3c, 0xd8],
        source: [15, 0, 0, 2].into(),
        destination: [15, 0, 0, 2].into(),
        rocev1: true,
        migreq: true,
        dest_qpn: Qpn::new(0x10a),
        ..FrameBuilder::default()
    };
    let reth = Reth::new(0x55d4_c072_6000, 0x47b3, 5);
    let write = request.write(
        Part::Only,
        Psn::new(0x00a7_88bc),
        reth,
        Fill::Octets(&[0, 0, 0, 0, 1]),
    );
    assert_eq!(written(&write), hex(ROCEV1_WRITE));
    let ack = request.reply(Qpn::new(0x109)).acknowledge(
        Psn::new(0x00a7_88c0),
        AethKind::from_syndrome(0),
        Msn(5),
    );
    assert_eq!(written(&ack), hex(ROCEV1_ACK));
}

#[test]
fn an_ipv6_frame_comes_out_the_same() {
    let theirs = hex(UC_IPV6);
    let transport =
        TransportPacket::decode(&theirs[62..], theirs.len() - 62).expect("a BTH is there");
    let address =
        |at: usize| IpAddr::from(<[u8; 16]>::try_from(&theirs[at..at + 16]).expect("16 octets"));
    let ours = FrameBuilder {
        destination_mac: [0x24, 0x8a, 0x07, 0xa8, 0xfa, 0x22],
        source_mac: [0x24, 0x8a, 0x07, 0xa8, 0xfa, 0x22],
        source: address(22),
        destination: address(38),
        dscp: 0xe2 >> 2,
        ecn: 0xe2 & 3,
        flow_label: 0x1face,
        hop_limit: 255,
        udp_checksum: 0xe7c5,
        opcode: transport.opcode(),
        dest_qpn: transport.dest_qpn(),
        migreq: transport.bth.migreq(),
        psn: transport.psn(),
        payload: Fill::Octets(transport.payload()),
        pad_count: Some(transport.bth.pad_count()),
        ..FrameBuilder::default()
    };
    assert_eq!(written(&ours), theirs);
}

#[test]
fn vlans_trailer_and_options_are_in_place() {
    let outer = Vlan {
        tpid: 0x88a8,
        pcp: 3,
        dei: false,
        vid: 100,
    };
    let inner = Vlan {
        tpid: 0x8100,
        pcp: 7,
        dei: true,
        vid: 0x0fff,
    };
    let frame = FrameBuilder {
        vlans: &[outer, inner],
        ipv4_options: &[1, 1, 1, 0],
        trailer: &[9, 9, 9, 9],
        ..FrameBuilder::default()
    };
    let octets = written(&frame.ack(Psn::new(1), Msn(1)));
    assert_eq!(
        octets[12..22],
        [0x88, 0xa8, 0x60, 0x64, 0x81, 0x00, 0xff, 0xff, 0x08, 0x00]
    );
    assert_eq!(octets[22], 0x46);
    assert_eq!(octets.len(), 14 + 8 + 24 + 8 + 12 + 4 + 4 + 4);
    let transport = &octets[54..octets.len() - 4];
    assert_eq!(
        check(Carrier::Ipv4, &octets[22..], transport),
        IcrcState::Good
    );
    // The sum over a header with a right checksum is all ones.
    let words = octets[22..46]
        .as_chunks::<2>()
        .0
        .iter()
        .map(|word| u64::from(u16::from_be_bytes(*word)));
    assert_eq!(words.sum::<u64>() % 0xffff, 0);
}

#[test]
fn an_icrc_can_be_wrong_in_known_ways() {
    let base = FrameBuilder {
        payload: Fill::Counting(33),
        ..FrameBuilder::default()
    };
    let icrc = |icrc| {
        let octets = written(&FrameBuilder { icrc, ..base });
        u32::from_le_bytes(*octets.last_chunk().expect("an ICRC"))
    };
    let right = icrc(Icrc::Right);
    assert_eq!(icrc(Icrc::ByteSwapped), right.swap_bytes());
    assert_eq!(icrc(Icrc::Value(7)), 7);
    assert_ne!(icrc(Icrc::WithoutPad), right);
    let theirs = hex(WITHOUT_PAD);
    let ours = FrameBuilder {
        source: [10, 0, 0, 1].into(),
        destination: [10, 0, 0, 2].into(),
        destination_mac: [2, 0, 0, 0, 0, 2],
        source_mac: [2, 0, 0, 0, 0, 1],
        ip_id: 1,
        icrc: Icrc::WithoutPad,
        ..base
    };
    let ours = ours.write(
        Part::Only,
        Psn::new(0x65),
        Reth::new(0x1000, 0x11, 33),
        Fill::Counting(33),
    );
    assert_eq!(written(&ours), theirs);
}

#[test]
fn no_frame_where_there_is_no_room() {
    let frame = FrameBuilder {
        payload: Fill::Counting(100),
        ..FrameBuilder::default()
    };
    let len = written(&frame).len();
    for room in 0..len {
        assert_eq!(frame.frame(&mut std::vec![0; room]), None);
    }
    assert_eq!(frame.frame(&mut std::vec![0; len]), Some(len));
    let mut buffer = std::vec![0; 100_000];
    assert_eq!(
        FrameBuilder {
            payload: Fill::Counting(65_536),
            ..frame
        }
        .frame(&mut buffer),
        None
    );
    assert_eq!(
        FrameBuilder {
            destination: [0_u16; 8].into(),
            ..frame
        }
        .frame(&mut buffer),
        None
    );
    assert_eq!(
        FrameBuilder {
            ipv4_options: &[1],
            ..frame
        }
        .frame(&mut buffer),
        None
    );
}

#[test]
fn ordinary_traffic_by_name() {
    let base = FrameBuilder::default();
    let (psn, msn) = (Psn::new(0x00ab_cdef), Msn(0x0012_3456));
    let atomic = AtomicEth::new(8, 2, 3, 4);
    let fill = Fill::Counting(256);
    for (builder, name) in [
        (base.send(Part::Middle, psn, fill), "RC_SEND_MIDDLE"),
        (
            base.write(Part::Last, psn, Reth::default(), fill),
            "RC_RDMA_WRITE_LAST",
        ),
        (
            base.read_request(psn, Reth::new(1, 2, 3)),
            "RC_RDMA_READ_REQUEST",
        ),
        (
            base.read_response(Part::First, psn, msn, fill),
            "RC_RDMA_READ_RESPONSE_FIRST",
        ),
        (base.compare_swap(psn, atomic), "RC_COMPARE_SWAP"),
        (base.fetch_add(psn, atomic), "RC_FETCH_ADD"),
        (
            base.atomic_acknowledge(psn, msn, 5),
            "RC_ATOMIC_ACKNOWLEDGE",
        ),
        (base.rnr_nak(psn, RnrTimer(14), msn), "RC_ACKNOWLEDGE"),
        (base.cnp(), "CNP"),
        (base.mad(psn, &[0; 256]), "UD_SEND_ONLY"),
    ] {
        let octets = written(&builder);
        let packet =
            TransportPacket::decode(&octets[42..], octets.len() - 42).expect("a BTH is there");
        assert_eq!(packet.info.map(|info| info.name), Some(name));
        assert_eq!(packet.fault(), None, "{name}");
        assert_eq!(
            check(Carrier::Ipv4, &octets[14..], packet.octets()),
            IcrcState::Good,
            "{name}"
        );
    }
    let nak = written(&base.nak(psn, NakCode::RemoteAccessError, msn));
    let nak = TransportPacket::decode(&nak[42..], 20).expect("a BTH is there");
    let aeth = nak.aeth().expect("in every ACKNOWLEDGE");
    assert_eq!(
        (aeth.kind(), aeth.msn()),
        (AethKind::Nak(NakCode::RemoteAccessError), msn)
    );
}

prop_compose! {
    fn any_frame()(
        (opcode, dc, pad, payload_len) in (any::<u8>(), any::<bool>(), 0_u8..4, 0_usize..300),
        flags in any::<[bool; 6]>(),
        (pkey, qpn, psn, tver) in (any::<u16>(), any::<u32>(), any::<u32>(), 0_u8..16),
        carrier in 0..3,
        headers in any::<[u8; 28]>(),
        traffic_class in any::<u8>(),
    ) -> FrameBuilder<'static> {
        let [solicited, migreq, fecn, becn, ack_req, fit] = flags;
        let ipv6 = carrier == 1;
        let address = |last| if ipv6 { IpAddr::from([0xfd00, 0, 0, 0, 0, 0, 0, last]) } else { IpAddr::from([10, 0, 0, last as u8]) };
        fn of<T: FromBytes>(octets: &[u8]) -> T {
            T::read_from_bytes(&octets[..size_of::<T>()]).expect("as long")
        }
        FrameBuilder {
            source: address(1),
            destination: address(2),
            rocev1: carrier == 2,
            dscp: traffic_class >> 2,
            ecn: traffic_class & 3,
            opcode: Opcode(opcode),
            rd_or_dc: if dc { RdOrDc::Dc } else { RdOrDc::Rd },
            pad_count: (!fit).then_some(pad),
            solicited, migreq, fecn, becn, ack_req, pkey, tver,
            dest_qpn: Qpn::new(qpn),
            psn: Psn::new(psn),
            dceth: of(&headers), rdeth: of(&headers[1..]), deth: of(&headers[2..]), xrceth: of(&headers[3..]),
            feth: of(&headers[4..]), reth: of(&headers[5..]), atomic_eth: of(&headers), aeth: of(&headers[6..]),
            atomic_ack_eth: of(&headers[7..]), imm_dt: of(&headers[8..]), ieth: of(&headers[9..]),
            payload: Fill::Counting(payload_len),
            ..FrameBuilder::default()
        }
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read(built in any_frame()) {
        let octets = written(&built);
        let (network_len, carrier) = match built.carrier() {
            Carrier::Ipv4 => (28, Carrier::Ipv4),
            Carrier::Ipv6 => (48, Carrier::Ipv6),
            Carrier::Grh => (40, Carrier::Grh),
        };
        let from_bth = &octets[14 + network_len..];
        prop_assert_eq!(from_bth.len(), built.transport_len());
        let packet = TransportPacket::decode_as(from_bth, from_bth.len(), built.rd_or_dc).expect("a BTH is there");

        prop_assert_eq!(*packet.bth, built.bth());
        prop_assert_eq!(packet.opcode(), built.opcode);
        prop_assert_eq!((packet.dest_qpn(), packet.psn()), (built.dest_qpn, built.psn));
        let headers = packet.headers();
        let read = [
            (Headers::DCETH, packet.dceth().map(IntoBytes::as_bytes), built.dceth.as_bytes()),
            (Headers::RDETH, packet.rdeth().map(IntoBytes::as_bytes), built.rdeth.as_bytes()),
            (Headers::DETH, packet.deth().map(IntoBytes::as_bytes), built.deth.as_bytes()),
            (Headers::XRCETH, packet.xrceth().map(IntoBytes::as_bytes), built.xrceth.as_bytes()),
            (Headers::FETH, packet.feth().map(IntoBytes::as_bytes), built.feth.as_bytes()),
            (Headers::RETH, packet.reth().map(IntoBytes::as_bytes), built.reth.as_bytes()),
            (Headers::ATOMIC_ETH, packet.atomic_eth().map(IntoBytes::as_bytes), built.atomic_eth.as_bytes()),
            (Headers::AETH, packet.aeth().map(IntoBytes::as_bytes), built.aeth.as_bytes()),
            (Headers::ATOMIC_ACK_ETH, packet.atomic_ack_eth().map(IntoBytes::as_bytes), built.atomic_ack_eth.as_bytes()),
            (Headers::IMM_DT, packet.imm_dt().map(IntoBytes::as_bytes), built.imm_dt.as_bytes()),
            (Headers::IETH, packet.ieth().map(IntoBytes::as_bytes), built.ieth.as_bytes()),
        ];
        for (header, read, written) in read {
            prop_assert_eq!(read, headers.contains(header).then_some(written));
        }
        let counting: Vec<u8> = (0..built.payload.len()).map(|at| at as u8).collect();
        prop_assert_eq!(packet.payload(), counting);
        prop_assert_eq!(check(carrier, &octets[14..], packet.octets()), IcrcState::Good);

        // Damage is seen: any octet from the opcode on but the one that is masked.
        for at in (0..from_bth.len()).filter(|&at| at != 4) {
            let mut damaged = octets.clone();
            damaged[14 + network_len + at] ^= 0x10;
            let bad = check(carrier, &damaged[14..], &damaged[14 + network_len..]);
            let is_bad = matches!(bad, IcrcState::Bad { .. });
            prop_assert!(is_bad);
        }
    }
}
