use core::net::{IpAddr, Ipv4Addr};

use super::*;
use crate::hex::hex;
use crate::vectors::{DREP, DREQ, REJ, REP, REQ, RTU};
use crate::{Psn, Qpn, TransportPacket};

/// The packet a text stands for, with an ICRC of zeros.
fn packet(text: &str) -> [u8; 20 + 256 + 4] {
    let mut octets = [0; 280];
    let text = hex(text);
    octets[..text.len()].copy_from_slice(&text);
    octets
}

fn message(octets: &[u8]) -> CmMessage<'_> {
    let packet = TransportPacket::decode(octets, octets.len()).expect("a BTH is there");
    CmMessage::decode(packet.mad().expect("a MAD")).expect("a CM message")
}

#[test]
fn a_real_req() {
    let octets = packet(REQ);
    let CmMessage::Req(req) = message(&octets) else {
        panic!("a REQ")
    };
    assert_eq!(req.local_comm_id(), Some(0xed9f_6d65));
    assert_eq!(
        req.service_id().and_then(ServiceId::ip),
        Some((PortSpace::Tcp, 7174))
    );
    assert_eq!(req.ca_guid(), Some(0x5054_00ff_feaa_0001));
    assert_eq!(
        (req.qpn(), req.starting_psn()),
        (Some(Qpn::new(0x18)), Some(Psn::new(0x00f3_180b)))
    );
    assert_eq!(
        (req.responder_resources(), req.initiator_depth()),
        (Some(1), Some(1))
    );
    assert_eq!(
        (
            req.retry_count(),
            req.rnr_retry_count(),
            req.max_cm_retries()
        ),
        (Some(7), Some(7), Some(15))
    );
    assert_eq!(
        (
            req.remote_cm_response_timeout(),
            req.local_cm_response_timeout()
        ),
        (Some(20), Some(20))
    );
    assert_eq!(
        (req.service_type(), req.flow_control(), req.srq()),
        (Some(ServiceType::Rc), Some(false), Some(false))
    );
    assert_eq!(
        (req.path_mtu(), req.pkey(), req.qkey()),
        (Some(4096), Some(0xffff), Some(0))
    );
    let path = req.primary_path().expect("whole");
    assert_eq!(
        path.local_gid,
        Ipv4Addr::new(192, 0, 2, 1).to_ipv6_mapped().octets()
    );
    assert_eq!(
        path.remote_gid,
        Ipv4Addr::new(192, 0, 2, 2).to_ipv6_mapped().octets()
    );
    assert_eq!(
        (path.local_lid, path.remote_lid, path.flow_label),
        (0xffff, 0xffff, 0x0001_24f9)
    );
    assert_eq!(
        (path.packet_rate, path.traffic_class, path.hop_limit),
        (0, 0, 64)
    );
    assert_eq!(
        (path.service_level, path.subnet_local, path.ack_timeout),
        (0, false, 19)
    );
    // The source port of the connection's packets, as Linux makes it of the flow label.
    assert_eq!(
        0xc000 | (path.flow_label & 0x3fff) ^ (path.flow_label >> 14),
        58_621
    );
    assert_eq!(req.alternate_path(), Some(Path::default()));
    let ip = req.ip_cm().expect("RDMA-CM made it");
    assert_eq!(
        (ip.version(), ip.ip_version(), ip.source_port()),
        (0, 4, 0x8cad)
    );
    assert_eq!(ip.source(), Some(IpAddr::from([192, 0, 2, 1])));
    assert_eq!(ip.destination(), Some(IpAddr::from([192, 0, 2, 2])));
    assert_eq!(
        (req.private_data().len(), ip.consumer_data()),
        (92, &[0; 56][..])
    );
}

#[test]
fn a_real_rep() {
    let octets = packet(REP);
    let CmMessage::Rep(rep) = message(&octets) else {
        panic!("a REP")
    };
    assert_eq!(
        (rep.local_comm_id(), rep.remote_comm_id()),
        (Some(0x0fc9_8b18), Some(0xed9f_6d65))
    );
    assert_eq!(
        (rep.qpn(), rep.starting_psn()),
        (Some(Qpn::new(0x18)), Some(Psn::new(0x0042_080d)))
    );
    assert_eq!(
        (rep.responder_resources(), rep.initiator_depth()),
        (Some(1), Some(1))
    );
    assert_eq!(
        (rep.target_ack_delay(), rep.failover(), rep.flow_control()),
        (Some(15), Some(0), Some(false))
    );
    assert_eq!((rep.rnr_retry_count(), rep.srq()), (Some(7), Some(false)));
    assert_eq!(
        (rep.ca_guid(), rep.private_data().len()),
        (Some(0x5054_00ff_feaa_0002), 196)
    );
}

#[test]
fn a_real_rej_says_nobody_listens() {
    let octets = packet(REJ);
    let CmMessage::Rej(rej) = message(&octets) else {
        panic!("a REJ")
    };
    assert_eq!(
        (rej.local_comm_id(), rej.remote_comm_id()),
        (Some(0), Some(0xe49f_6d65))
    );
    assert_eq!((rej.message(), rej.info_len()), (Some(0), Some(0)));
    assert_eq!(rej.reason(), Some(RejReason::INVALID_SERVICE_ID));
    assert_eq!(
        rej.reason().and_then(RejReason::name),
        Some("invalid service ID")
    );
    assert_eq!(rej.private_data().len(), 148);
}

#[test]
fn the_end_of_a_real_connection() {
    let octets = packet(DREQ);
    let CmMessage::Dreq(dreq) = message(&octets) else {
        panic!("a DREQ")
    };
    assert_eq!(
        (dreq.local_comm_id(), dreq.remote_comm_id()),
        (Some(0xed9f_6d65), Some(0x0fc9_8b18))
    );
    assert_eq!(dreq.remote_qpn(), Some(Qpn::new(0x18)));
    for (text, name, local) in [(RTU, "RTU", 0xed9f_6d65), (DREP, "DREP", 0x0fc9_8b18)] {
        let octets = packet(text);
        let message = message(&octets);
        assert_eq!(
            (message.name(), message.local_comm_id()),
            (name, Some(local))
        );
        assert_eq!(message.private_data().len(), 224);
    }
}

#[test]
fn transaction_and_class() {
    let octets = packet(REQ);
    let (mad, _) = MadHeader::ref_from_prefix(&octets[20..]).expect("long enough");
    assert_eq!(
        (
            mad.base_version(),
            mad.class(),
            mad.class_version(),
            mad.method()
        ),
        (1, 7, 2, 3)
    );
    assert_eq!(
        (mad.transaction_id(), mad.attribute_id()),
        (0x0000_0004_656d_9fed, attribute::REQ)
    );
    assert_eq!(
        (mad.status(), mad.class_specific(), mad.attribute_modifier()),
        (0, 0, 0)
    );
}

#[test]
fn a_cut_message_keeps_what_is_there() {
    let octets = packet(REQ);
    for captured in 0..octets.len() {
        let Some(packet) = TransportPacket::decode(&octets[..captured], octets.len()) else {
            continue;
        };
        let Some(CmMessage::Req(req)) = packet.mad().and_then(CmMessage::decode) else {
            assert!(captured < 44, "the MAD header is there");
            continue;
        };
        let there = |end: usize| captured >= 20 + 24 + end;
        assert_eq!(req.local_comm_id().is_some(), there(4));
        assert_eq!(req.qpn().is_some(), there(35));
        assert_eq!(req.starting_psn().is_some(), there(47));
        assert_eq!(req.primary_path().is_some(), there(96));
        assert_eq!(req.ip_cm().is_some(), there(140 + 36));
        assert_eq!(
            req.private_data().len(),
            captured.saturating_sub(20 + 24 + 140).min(92)
        );
    }
}

#[test]
fn what_is_no_cm_message() {
    let mut octets = packet(REQ);
    octets[20 + 17] = 0x0f;
    assert_eq!(
        CmMessage::decode(&octets[20..276]),
        None,
        "an unknown attribute"
    );
    let mut octets = packet(REQ);
    octets[21] = 0x03;
    assert_eq!(CmMessage::decode(&octets[20..276]), None, "another class");
    let mut octets = packet(REQ);
    octets[7] = 2;
    let packet = TransportPacket::decode(&octets, 280).expect("a BTH is there");
    assert_eq!(packet.mad(), None, "not for QP 1");
    assert_eq!(ServiceId(0x1000_0000_0106_1c06).ip(), None);
    assert_eq!(
        ServiceId::of_port(PortSpace::Udp, 4420),
        ServiceId(0x0111_1144)
    );
}

#[test]
fn every_octet_string_can_be_read() {
    for attribute in 0..=0x20_u8 {
        for len in 0..300 {
            let mut mad = std::vec![0xff; len];
            for (at, value) in [(1, 7), (16, 0), (17, attribute)] {
                if let Some(octet) = mad.get_mut(at) {
                    *octet = value;
                }
            }
            let Some(message) = CmMessage::decode(&mad) else {
                continue;
            };
            assert!(message.private_data().len() <= 224);
            assert_eq!(message.local_comm_id().is_some(), len >= 28);
            if let CmMessage::Req(req) = message {
                let _ = (
                    req.service_type(),
                    req.path_mtu(),
                    req.ip_cm(),
                    req.alternate_path(),
                );
            }
        }
    }
}
