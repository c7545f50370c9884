use proptest::prelude::*;

use crate::build::cm;
use crate::build::cm::Mad;
use crate::cm::{CmMessage, Path, PortSpace, RejReason, ServiceId, ServiceType};
use crate::hex::hex;
use crate::vectors::{DREP, DREQ, REJ, REP, REQ, RTU};
use crate::{Psn, Qpn};

/// The MAD of a captured packet.
fn captured(text: &str) -> Mad {
    let octets = hex(text);
    let mut mad = [0; 256];
    mad[..octets.len() - 20].copy_from_slice(&octets[20..]);
    mad
}

const TRANSACTION: u64 = 0x0000_0004_656d_9fed;
const ACTIVE: u32 = 0xed9f_6d65;
const PASSIVE: u32 = 0x0fc9_8b18;

#[test]
fn a_connection_of_linux_comes_out_the_same() {
    let gid = |last| {
        core::net::Ipv4Addr::new(192, 0, 2, last)
            .to_ipv6_mapped()
            .octets()
    };
    let base = cm::Req::default();
    let req = cm::Req {
        local_comm_id: ACTIVE,
        service_id: ServiceId::of_port(PortSpace::Tcp, 7174),
        ca_guid: 0x5054_00ff_feaa_0001,
        qpn: Qpn::new(0x18),
        starting_psn: Psn::new(0x00f3_180b),
        primary_path: Path {
            local_gid: gid(1),
            remote_gid: gid(2),
            flow_label: 0x0001_24f9,
            ..base.primary_path
        },
        ip_cm: Some((0x8cad, [192, 0, 2, 1].into(), [192, 0, 2, 2].into())),
        ..base
    };
    assert_eq!(req.mad(TRANSACTION), captured(REQ));
    let rep = cm::Rep {
        local_comm_id: PASSIVE,
        remote_comm_id: ACTIVE,
        qpn: Qpn::new(0x18),
        starting_psn: Psn::new(0x0042_080d),
        ca_guid: 0x5054_00ff_feaa_0002,
        ..cm::Rep::default()
    };
    assert_eq!(rep.mad(TRANSACTION), captured(REP));
    assert_eq!(cm::rtu(TRANSACTION, ACTIVE, PASSIVE), captured(RTU));
    assert_eq!(
        cm::dreq(TRANSACTION, ACTIVE, PASSIVE, Qpn::new(0x18)),
        captured(DREQ)
    );
    assert_eq!(cm::drep(TRANSACTION, PASSIVE, ACTIVE), captured(DREP));
    let rej = cm::rej(
        0x0000_0004_656d_9fe4,
        0,
        0xe49f_6d65,
        0,
        RejReason::INVALID_SERVICE_ID,
        &[],
    );
    assert_eq!(rej, captured(REJ));
}

#[test]
fn the_other_messages_go_there_and_back() {
    let mad = cm::mra(1, 2, 3, 1, 21);
    let Some(CmMessage::Mra(mra)) = CmMessage::decode(&mad) else {
        panic!("an MRA")
    };
    assert_eq!(
        (mra.local_comm_id(), mra.remote_comm_id()),
        (Some(2), Some(3))
    );
    assert_eq!((mra.message(), mra.service_timeout()), (Some(1), Some(21)));

    let service_id = ServiceId(0x1234_5678_9abc_def0);
    let mad = cm::sidr_req(1, 2, 0x8001, service_id);
    let Some(CmMessage::SidrReq(sidr)) = CmMessage::decode(&mad) else {
        panic!("a SIDR_REQ")
    };
    assert_eq!(
        (sidr.request_id(), sidr.pkey(), sidr.service_id()),
        (Some(2), Some(0x8001), Some(service_id))
    );

    let mad = cm::sidr_rep(1, 2, 3, Qpn::new(0x00ab_cdef), service_id, 5);
    let Some(CmMessage::SidrRep(sidr)) = CmMessage::decode(&mad) else {
        panic!("a SIDR_REP")
    };
    assert_eq!(
        (sidr.request_id(), sidr.status(), sidr.qkey()),
        (Some(2), Some(3), Some(5))
    );
    assert_eq!(
        (sidr.qpn(), sidr.service_id()),
        (Some(Qpn::new(0x00ab_cdef)), Some(service_id))
    );

    let mad = cm::apr(1, 2, 3, 4);
    let Some(CmMessage::Apr(apr)) = CmMessage::decode(&mad) else {
        panic!("an APR")
    };
    assert_eq!(
        (apr.local_comm_id(), apr.remote_comm_id(), apr.status()),
        (Some(2), Some(3), Some(4))
    );
}

prop_compose! {
    fn any_path()(
        (local_lid, remote_lid, flow_label) in (any::<u16>(), any::<u16>(), 0..0x0010_0000_u32),
        (local_gid, remote_gid) in any::<([u8; 16], [u8; 16])>(),
        (packet_rate, traffic_class, hop_limit) in (0..0x40_u8, any::<u8>(), any::<u8>()),
        (service_level, subnet_local, ack_timeout) in (0..16_u8, any::<bool>(), 0..32_u8),
    ) -> Path {
        Path {
            local_lid, remote_lid, local_gid, remote_gid, flow_label, packet_rate, traffic_class, hop_limit,
            service_level, subnet_local, ack_timeout,
        }
    }
}

proptest! {
    #[test]
    fn paths_go_there_and_back(first in any_path(), second in any_path(), qpn in any::<u32>()) {
        let req = cm::Req { primary_path: first, alternate_path: second, ..cm::Req::default() };
        let mad = req.mad(9);
        let Some(CmMessage::Req(req)) = CmMessage::decode(&mad) else { panic!("a REQ") };
        prop_assert_eq!((req.primary_path(), req.alternate_path()), (Some(first), Some(second)));
        let mad = cm::lap(9, 1, 2, Qpn::new(qpn), &first);
        let Some(CmMessage::Lap(lap)) = CmMessage::decode(&mad) else { panic!("a LAP") };
        prop_assert_eq!((lap.alternate_path(), lap.remote_qpn()), (Some(first), Some(Qpn::new(qpn))));
    }

    #[test]
    fn requests_go_there_and_back(
        (ids, qpn, psn) in (any::<[u32; 2]>(), any::<u32>(), any::<u32>()),
        (retry, rnr, cm_retries, mtu) in (0..8_u8, 0..8_u8, 0..16_u8, 0..16_u8),
        (depth, resources, timeouts, srq) in (any::<u8>(), any::<u8>(), (0..32_u8, 0..32_u8), any::<bool>()),
        service in 0..5_u8,
        private_data in proptest::collection::vec(any::<u8>(), 0..120),
    ) {
        let service_type = match service {
            0 => ServiceType::Rc,
            1 => ServiceType::Uc,
            2 => ServiceType::Rd,
            3 => ServiceType::Xrc,
            other => ServiceType::Other(other),
        };
        let req = cm::Req {
            local_comm_id: ids[0], qpn: Qpn::new(qpn), starting_psn: Psn::new(psn), retry_count: retry,
            rnr_retry_count: rnr, max_cm_retries: cm_retries, path_mtu_code: mtu, initiator_depth: depth,
            responder_resources: resources, cm_response_timeouts: timeouts, srq, service_type,
            private_data: &private_data, ..cm::Req::default()
        };
        let mad = req.mad(7);
        let Some(CmMessage::Req(req)) = CmMessage::decode(&mad) else { panic!("a REQ") };
        prop_assert_eq!((req.local_comm_id(), req.qpn()), (Some(ids[0]), Some(Qpn::new(qpn))));
        prop_assert_eq!((req.starting_psn(), req.srq()), (Some(Psn::new(psn)), Some(srq)));
        prop_assert_eq!((req.retry_count(), req.rnr_retry_count()), (Some(retry), Some(rnr)));
        prop_assert_eq!((req.max_cm_retries(), req.path_mtu_code()), (Some(cm_retries), Some(mtu)));
        prop_assert_eq!((req.initiator_depth(), req.responder_resources()), (Some(depth), Some(resources)));
        let read = req.remote_cm_response_timeout().zip(req.local_cm_response_timeout());
        prop_assert_eq!((read, req.service_type()), (Some(timeouts), Some(service_type)));
        let kept = private_data.len().min(92);
        prop_assert_eq!(&req.private_data()[..kept], &private_data[..kept]);

        let rep = cm::Rep {
            local_comm_id: ids[0], remote_comm_id: ids[1], qpn: Qpn::new(qpn), starting_psn: Psn::new(psn),
            rnr_retry_count: rnr, srq, target_ack_delay: timeouts.0, ..cm::Rep::default()
        };
        let mad = rep.mad(7);
        let Some(CmMessage::Rep(rep)) = CmMessage::decode(&mad) else { panic!("a REP") };
        prop_assert_eq!((rep.local_comm_id(), rep.remote_comm_id()), (Some(ids[0]), Some(ids[1])));
        prop_assert_eq!((rep.qpn(), rep.starting_psn()), (Some(Qpn::new(qpn)), Some(Psn::new(psn))));
        prop_assert_eq!((rep.rnr_retry_count(), rep.srq()), (Some(rnr), Some(srq)));
        prop_assert_eq!(rep.target_ack_delay(), Some(timeouts.0));
    }
}
