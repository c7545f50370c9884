use super::*;
use crate::aeth::{AethKind, NakCode};

/// Octets of a packet with this opcode and flags octet; every octet after the first two is its own index.
fn octets<const N: usize>(opcode: u8, flags: u8) -> [u8; N] {
    core::array::from_fn(|at| match at {
        0 => opcode,
        1 => flags,
        other => other as u8,
    })
}

#[test]
fn every_opcode_length_and_pad_can_be_read() {
    for opcode in 0..=255 {
        for pad in 0..=3 {
            let octets = octets::<80>(opcode, pad << 4);
            for wire_len in 0..=80 {
                for captured in 0..=80 {
                    every_accessor(&octets[..captured], wire_len, RdOrDc::Rd);
                }
                every_accessor(&octets, wire_len, RdOrDc::Dc);
            }
        }
    }
}

fn every_accessor(octets: &[u8], wire_len: usize, reading: RdOrDc) {
    let decoded = TransportPacket::decode_as(octets, wire_len, reading);
    let Some(packet) = decoded else {
        assert!(octets.len().min(wire_len) < 12, "a BTH is there");
        return;
    };
    let read = [
        packet.dceth().map(size_of_val),
        packet.rdeth().map(size_of_val),
        packet.deth().map(size_of_val),
        packet.xrceth().map(size_of_val),
        packet.feth().map(size_of_val),
        packet.reth().map(size_of_val),
        packet.atomic_eth().map(size_of_val),
        packet.aeth().map(size_of_val),
        packet.atomic_ack_eth().map(size_of_val),
        packet.imm_dt().map(size_of_val),
        packet.ieth().map(size_of_val),
    ];
    let headers: usize = read.iter().flatten().sum();
    let pad = usize::from(packet.bth.pad_count());
    assert!(packet.payload().len() <= packet.payload_len());
    assert!(packet.octets().len() <= wire_len);
    match packet.fault() {
        Some(Fault::ShortForHeaders { .. } | Fault::PadWithoutPayload(_)) => {
            assert_eq!(packet.payload_len(), 0);
        }
        Some(Fault::UnknownOpcode(_)) => assert_eq!(headers, 0),
        _ if !packet.is_cut() => {
            // All of it is accounted for, and nothing twice.
            assert_eq!(12 + headers + packet.payload_len() + pad + 4, wire_len);
            assert_eq!(packet.payload().len(), packet.payload_len());
            assert!(packet.icrc().is_some());
        }
        _ => assert_eq!(packet.icrc(), None),
    }
}

#[test]
fn headers_of_a_reliable_datagram_write() {
    let octets = octets::<64>(0x4b, 0);
    let packet = TransportPacket::decode(&octets, 64).expect("a BTH is there");
    assert_eq!(packet.rdeth().map(Rdeth::ee_context), Some(0x000d_0e0f));
    assert_eq!(packet.deth().map(Deth::qkey), Some(0x1011_1213));
    assert_eq!(packet.reth().map(Reth::va), Some(0x1819_1a1b_1c1d_1e1f));
    assert_eq!(packet.imm_dt().map(ImmDt::value), Some(0x2829_2a2b));
    assert_eq!(packet.payload(), &octets[44..60]);
    assert_eq!(packet.icrc(), Some(0x3f3e_3d3c));
    assert_eq!(packet.fault(), None);
}

#[test]
fn dynamically_connected_has_its_header_first() {
    let octets = octets::<44>(0x4a, 0);
    let rd = TransportPacket::decode(&octets, 44).expect("a BTH is there");
    let dc = TransportPacket::decode_as(&octets, 44, RdOrDc::Dc).expect("a BTH is there");
    assert_eq!(rd.info.map(|info| info.name), Some("RD_RDMA_WRITE_ONLY"));
    assert_eq!(dc.info.map(|info| info.name), Some("DC_RDMA_WRITE_ONLY"));
    assert_eq!(dc.reth().map(Reth::va), Some(0x1415_1617_1819_1a1b));
    assert_eq!(dc.dceth().map(|dceth| dceth.0[0]), Some(12));
    assert_eq!(dc.payload_len(), 4);
}

#[test]
fn captured_is_not_on_the_wire() {
    let octets = octets::<48>(0x0a, 0x30);
    // Cut inside the RETH: on the wire all is well.
    let cut = TransportPacket::decode(&octets[..20], 64).expect("a BTH is there");
    assert!(cut.is_cut() && cut.reth().is_none() && cut.icrc().is_none());
    assert_eq!(
        (cut.payload_len(), cut.payload().len(), cut.fault()),
        (29, 0, None)
    );
    // Cut inside the payload.
    let cut = TransportPacket::decode(&octets[..40], 64).expect("a BTH is there");
    assert_eq!((cut.payload_len(), cut.payload().len()), (29, 12));
    // Octets behind the ICRC are no part of it.
    let padded = TransportPacket::decode(&octets, 36).expect("a BTH is there");
    assert_eq!(
        (padded.payload(), padded.octets().len()),
        (&octets[28..29], 36)
    );
}

#[test]
fn an_icrc_is_no_header() {
    // WRITE ONLY that ends after half a RETH, and ACK without its AETH: what follows the BTH is the ICRC.
    let octets = octets::<32>(0x0a, 0);
    let short = TransportPacket::decode(&octets, 28).expect("a BTH is there");
    assert_eq!(short.reth(), None);
    assert_eq!(
        short.fault(),
        Some(Fault::ShortForHeaders {
            wire_len: 28,
            needed: 32
        })
    );
    let octets = self::octets::<16>(0x11, 0);
    let short = TransportPacket::decode(&octets, 16).expect("a BTH is there");
    assert_eq!(short.aeth(), None);
    assert!(short.fault().is_some_and(Fault::is_in_headers));
}

#[test]
fn faults_are_named() {
    let fault = |opcode, flags, wire_len| {
        TransportPacket::decode(&octets::<64>(opcode, flags), wire_len)
            .expect("a BTH is there")
            .fault()
    };
    assert_eq!(fault(0x04, 0x0f, 16), Some(Fault::TransportVersion(15)));
    assert_eq!(fault(0x04, 0x05, 13), Some(Fault::TransportVersion(5)));
    assert_eq!(fault(0x1f, 0x00, 16), Some(Fault::UnknownOpcode(0x1f)));
    assert_eq!(fault(0xff, 0x00, 48), Some(Fault::UnknownOpcode(0xff)));
    assert_eq!(fault(0x04, 0x30, 16), Some(Fault::PadWithoutPayload(3)));
    assert_eq!(
        fault(0x04, 0x00, 14),
        Some(Fault::ShortForHeaders {
            wire_len: 14,
            needed: 16
        })
    );
    assert_eq!(fault(0x11, 0x00, 24), Some(Fault::PayloadNotAllowed(4)));
    assert_eq!(fault(0x0c, 0x00, 36), Some(Fault::PayloadNotAllowed(4)));
    assert_eq!(fault(0x1c, 0x00, 36), None);
    assert_eq!(fault(0x1d, 0x00, 32), Some(Fault::AtomicWriteLength(0)));
    assert_eq!(fault(0x1d, 0x00, 40), None);
    assert_eq!(
        fault(0x12, 0x00, 20),
        Some(Fault::ShortForHeaders {
            wire_len: 20,
            needed: 28
        })
    );
    assert_eq!(fault(0x12, 0x00, 28), None);
    assert_eq!(
        fault(0x64, 0x00, 16),
        Some(Fault::ShortForHeaders {
            wire_len: 16,
            needed: 24
        })
    );
    assert_eq!(fault(0x81, 0x00, 32), None);
    assert_eq!(fault(0x81, 0x00, 16), Some(Fault::CnpLength(0)));
    assert_eq!(fault(0x02, 0x00, 16), Some(Fault::PayloadMissing));
    assert_eq!(fault(0x04, 0x00, 16), None);
    assert_eq!(fault(0x04, 0x00, 17), Some(Fault::Unaligned(17)));
    assert_eq!(fault(0x04, 0x30, 20), None);
}

#[test]
fn a_nak_reads_as_one() {
    let octets = [
        0x11, 0, 0xff, 0xff, 0, 0, 0, 5, 0, 0, 0, 9, 0x62, 0, 0, 3, 1, 2, 3, 4,
    ];
    let packet = TransportPacket::decode(&octets, 20).expect("a BTH is there");
    assert_eq!(
        packet.aeth().map(Aeth::kind),
        Some(AethKind::Nak(NakCode::RemoteAccessError))
    );
    assert_eq!(
        (packet.dest_qpn(), packet.psn(), packet.icrc()),
        (Qpn::new(5), Psn::new(9), Some(0x0403_0201))
    );
}

#[test]
#[ignore = "a measurement: run with --release --ignored --nocapture"]
fn nanoseconds_per_packet() {
    use std::hint::black_box;
    let rounds = 20_000_000;
    for (name, opcode, wire_len) in [
        ("SEND ONLY", 0x04, 48),
        ("WRITE ONLY", 0x0a, 48),
        ("ACK", 0x11, 20),
    ] {
        let octets = octets::<48>(opcode, 0);
        let begin = std::time::Instant::now();
        for _ in 0..rounds {
            let packet = TransportPacket::decode(black_box(&octets), black_box(wire_len))
                .expect("a BTH is there");
            black_box((
                packet.psn(),
                packet.payload_len(),
                packet.fault(),
                packet.aeth(),
                packet.reth(),
            ));
        }
        let ns = begin.elapsed().as_secs_f64() * 1e9 / f64::from(rounds);
        std::println!("{name}: {ns:.1} ns to decode, judge and read");
    }
}
