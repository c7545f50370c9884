//! Frames no lab capture has: every opcode over every carrier, every CM message.

use rocescope::source::write::{ByteOrder, PcapWriter};
use rocescope_core::Time;
use rocescope_core::encap::LinkType;
use rocescope_wire::build::cm::{self, Rep, Req};
use rocescope_wire::build::{Fill, FrameBuilder};
use rocescope_wire::cm::{Path as CmPath, PortSpace, RejReason, ServiceId, ServiceType};
use rocescope_wire::opcode::Payload;
use rocescope_wire::{
    Aeth, AtomicAckEth, AtomicEth, Deth, Feth, Ieth, ImmDt, Msn, Opcode, OpcodeInfo, Psn, Qpn,
    Rdeth, Reth, Xrceth, mad,
};
use std::fs::File;
use std::io::{self, BufWriter};
use std::net::{IpAddr, Ipv6Addr};
use std::path::{Path, PathBuf};

/// Writes them into a capture in `folder`.
pub(crate) fn write(folder: &Path) -> io::Result<PathBuf> {
    let path = folder.join("built.pcap");
    let out = BufWriter::new(File::create(&path)?);
    let mut writer = PcapWriter::new(out, LinkType::ETHERNET, ByteOrder::LittleEndian, true)?;
    let mads = messages();
    let packets = opcodes().chain(mads.iter().map(|mad| carrier(0).mad(Psn::new(7), mad)));
    let mut buffer = [0; 4096];
    for (at, packet) in (1..).zip(packets) {
        let len = packet.frame(&mut buffer).expect("fits");
        writer.frame(Time(at * 1_000_000), len as u32, &buffer[..len])?;
    }
    writer.into_inner().into_inner()?;
    Ok(path)
}

/// RoCE v2 over IPv4 and IPv6, and RoCE v1.
fn carrier<'a>(kind: u32) -> FrameBuilder<'a> {
    let v6 = |host| IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, host));
    let v4 = FrameBuilder::default();
    match kind {
        0 => v4,
        1 => FrameBuilder {
            source: v6(1),
            destination: v6(2),
            ..v4
        },
        _ => FrameBuilder { rocev1: true, ..v4 },
    }
}

/// Every opcode, with a different value in every field.
fn opcodes<'a>() -> impl Iterator<Item = FrameBuilder<'a>> {
    (0..3 * 256).map(|number: u32| FrameBuilder {
        opcode: Opcode((number / 3) as u8),
        solicited: number & 1 != 0,
        migreq: number & 2 != 0,
        fecn: number & 4 != 0,
        becn: number & 8 != 0,
        ack_req: number & 16 != 0,
        pkey: 0x8000 | number as u16,
        dest_qpn: Qpn::new(0x10_0000 + number),
        psn: Psn::new(0xab_0000 + number),
        rdeth: Rdeth::new(0x33_4455),
        deth: Deth::new(0x1122_3344, Qpn::new(0x55_6677)),
        xrceth: Xrceth::new(0x12_3456),
        feth: Feth::new(3, 1),
        reth: Reth::new(0x0123_4567_89ab_cdef, 0x1234_5678, 1000 + number),
        atomic_eth: AtomicEth::new(
            0x1000,
            0x8765_4321,
            0x1111_2222_3333_4444,
            0x5555_6666_7777_8888,
        ),
        aeth: Aeth::new((number % 128) as u8, Msn(0x10_2030)),
        atomic_ack_eth: AtomicAckEth::new(0x9999_aaaa_bbbb_cccc),
        imm_dt: ImmDt::new(0xc0de_0001),
        ieth: Ieth::new(0xfeed_0001),
        payload: payload(Opcode((number / 3) as u8)),
        ..carrier(number % 3)
    })
}

/// As much as the opcode allows; of an odd length where it can be, so that there is a pad.
fn payload<'a>(opcode: Opcode) -> Fill<'a> {
    Fill::Counting(match opcode.info().map(OpcodeInfo::payload) {
        Some(Payload::None) | None => 0,
        Some(Payload::Exactly(octets)) => octets.into(),
        Some(Payload::Some | Payload::Any) => 117,
    })
}

/// Every CM message, with a different value in every field.
fn messages() -> Vec<[u8; mad::MAD_LEN]> {
    // Over IPv4 tshark shows the last four octets only.
    let gid = |host| {
        std::net::Ipv4Addr::new(192, 0, 2, host)
            .to_ipv6_mapped()
            .octets()
    };
    let way = |seed: u8| CmPath {
        local_lid: 0x1000 + u16::from(seed),
        remote_lid: 0x2000 + u16::from(seed),
        local_gid: gid(seed),
        remote_gid: gid(seed + 1),
        flow_label: 0x1_2345 + u32::from(seed),
        packet_rate: 0x09,
        traffic_class: 0x68 + seed,
        hop_limit: 60 + seed,
        service_level: 5,
        subnet_local: true,
        ack_timeout: 14,
    };
    let request = Req {
        local_comm_id: 0x1234_5678,
        service_id: ServiceId(0x1000_0000_0000_0042),
        ca_guid: 0x1122_3344_5566_7788,
        qpn: Qpn::new(0xab_cdef),
        starting_psn: Psn::new(0x12_3456),
        responder_resources: 16,
        initiator_depth: 8,
        cm_response_timeouts: (18, 17),
        retry_count: 3,
        rnr_retry_count: 5,
        max_cm_retries: 9,
        pkey: 0x8001,
        path_mtu_code: 3,
        srq: true,
        primary_path: way(1),
        alternate_path: way(7),
        ..Req::default()
    };
    let v6 = |host| IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, host));
    let with = |service_type| Req {
        service_type,
        ..request
    };
    let (local, remote) = (0x1111_2222, 0x3333_4444);
    vec![
        request.mad(1),
        with(ServiceType::Uc).mad(2),
        with(ServiceType::Xrc).mad(3),
        Req {
            service_id: ServiceId::of_port(PortSpace::Tcp, 4420),
            ip_cm: Some((4660, [192, 0, 2, 1].into(), [192, 0, 2, 2].into())),
            ..request
        }
        .mad(4),
        Req {
            service_id: ServiceId::of_port(PortSpace::Udp, 4421),
            ip_cm: Some((4661, v6(1), v6(2))),
            ..request
        }
        .mad(5),
        Rep {
            local_comm_id: local,
            remote_comm_id: remote,
            qpn: Qpn::new(0x65_4321),
            starting_psn: Psn::new(0xfe_dcba),
            responder_resources: 4,
            initiator_depth: 2,
            target_ack_delay: 21,
            rnr_retry_count: 6,
            srq: true,
            ca_guid: 0x8877_6655_4433_2211,
            ..Rep::default()
        }
        .mad(7),
        cm::rej(8, local, remote, 1, RejReason(28), &[1, 2, 3]),
        cm::rtu(9, local, remote),
        cm::dreq(10, local, remote, Qpn::new(0x77_8899)),
        cm::drep(11, local, remote),
        cm::mra(12, local, remote, 1, 19),
        cm::sidr_req(13, local, 0x8002, ServiceId(0x1_0006)),
        cm::sidr_rep(
            14,
            local,
            0,
            Qpn::new(0x44_5566),
            ServiceId(0x1_0006),
            0x1357_9bdf,
        ),
        cm::lap(15, local, remote, Qpn::new(0x22_3344), &way(3)),
        cm::apr(16, local, remote, 2),
    ]
}
