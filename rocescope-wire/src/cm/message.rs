//! The fields of each message. Offsets are within the CM data, behind the 24 octets of the MAD header.

use super::{IpCm, RejReason, ServiceId};
use crate::{Psn, Qpn};

/// The octets at `at`, if they were captured.
pub(super) fn octets<const N: usize>(data: &[u8], at: usize) -> Option<[u8; N]> {
    data.get(at..)?.first_chunk().copied()
}

/// Declares a view: for each field how many octets at which offset, and the value they stand for; before them how much
/// private data there is, and where.
macro_rules! message {
    ($(#[$about:meta])* $name:ident, private data $private_len:literal @ $private_at:literal {
        $($(#[$what:meta])* $field:ident: $value:ty = |$octets:pat_param| $len:literal @ $at:literal => $read:expr;)*
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub struct $name<'a>(pub(super) &'a [u8]);

        impl<'a> $name<'a> {
            $(
                $(#[$what])*
                #[must_use]
                pub fn $field(&self) -> Option<$value> {
                    let $octets = octets::<$len>(self.0, $at)?;
                    Some($read)
                }
            )*

            #[doc = concat!("What the application added, ", $private_len, " octets unless cut.")]
            #[must_use]
            pub fn private_data(&self) -> &'a [u8] {
                let data = self.0.get($private_at..).unwrap_or_default();
                data.get(..$private_len).unwrap_or(data)
            }
        }
    };
}

/// Transport service a REQ asks for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ServiceType {
    /// Reliable Connection.
    Rc,
    /// Unreliable Connection.
    Uc,
    /// Reliable Datagram.
    Rd,
    /// Extended Reliable Connection.
    Xrc,
    /// An extended transport type without name; the 3 bits.
    Other(u8),
}

message! {
    /// Connection request: the active side gives its QPN and the first PSN it will send.
    Req, private data 92 @ 140 {
        /// Communication id of the active side.
        local_comm_id: u32 = |o| 4 @ 0 => u32::from_be_bytes(o);
        /// What the passive side is asked for.
        service_id: ServiceId = |o| 8 @ 8 => ServiceId(u64::from_be_bytes(o));
        /// GUID of the active side's adapter.
        ca_guid: u64 = |o| 8 @ 16 => u64::from_be_bytes(o);
        /// Q_Key, for datagram services.
        qkey: u32 = |o| 4 @ 28 => u32::from_be_bytes(o);
        /// QP of the active side: packets *to* it come from the passive side.
        qpn: Qpn = |[a, b, c]| 3 @ 32 => Qpn::new(u32::from_be_bytes([0, a, b, c]));
        /// READs and atomics the active side lets be outstanding towards itself.
        responder_resources: u8 = |[o]| 1 @ 35 => o;
        /// READs and atomics the active side will have outstanding.
        initiator_depth: u8 = |[o]| 1 @ 39 => o;
        /// How long the active side waits for an answer of the passive one: 4.096 us x 2^n.
        remote_cm_response_timeout: u8 = |[o]| 1 @ 43 => o >> 3;
        /// End-to-end flow control by credits.
        flow_control: bool = |[o]| 1 @ 43 => o & 1 != 0;
        /// First PSN of the active side's requests.
        starting_psn: Psn = |[a, b, c]| 3 @ 44 => Psn::new(u32::from_be_bytes([0, a, b, c]));
        /// How long the active side may take to answer: 4.096 us x 2^n.
        local_cm_response_timeout: u8 = |[o]| 1 @ 47 => o >> 3;
        /// Tries after a timeout or NAK before the connection is given up, 0 to 7.
        retry_count: u8 = |[o]| 1 @ 47 => o & 7;
        /// Partition key.
        pkey: u16 = |o| 2 @ 48 => u16::from_be_bytes(o);
        /// Code of the path MTU: 1 = 256 to 5 = 4096; see [`Req::path_mtu`].
        path_mtu_code: u8 = |[o]| 1 @ 50 => o >> 4;
        /// Tries after an RNR NAK, 0 to 6; 7 = without end.
        rnr_retry_count: u8 = |[o]| 1 @ 50 => o & 7;
        /// Tries to send a CM message.
        max_cm_retries: u8 = |[o]| 1 @ 51 => o >> 4;
        /// The QP takes its receive buffers from a shared queue.
        srq: bool = |[o]| 1 @ 51 => o & 8 != 0;
        /// Path the connection begins on.
        primary_path: Path = |o| 44 @ 52 => Path::of_req(&o);
        /// Second path; all zero if there is none.
        alternate_path: Path = |o| 44 @ 96 => Path::of_req(&o);
    }
}

impl<'a> Req<'a> {
    /// Transport service asked for.
    #[must_use]
    pub fn service_type(&self) -> Option<ServiceType> {
        let [service] = octets(self.0, 43)?;
        Some(match service >> 1 & 3 {
            0 => ServiceType::Rc,
            1 => ServiceType::Uc,
            2 => ServiceType::Rd,
            // Extended: 1 is XRC (`cm_req_get_qp_type` of the kernel's cm_msgs.h).
            _ => match octets::<1>(self.0, 51)?[0] & 7 {
                1 => ServiceType::Xrc,
                other => ServiceType::Other(other),
            },
        })
    }

    /// Path MTU in octets; `None` if it was cut off or its code is reserved.
    #[must_use]
    pub fn path_mtu(&self) -> Option<u16> {
        let code = self.path_mtu_code()?;
        (1..=5).contains(&code).then(|| 128 << code)
    }

    /// The header RDMA-CM puts before the application's private data if the service id is one of its port spaces.
    #[must_use]
    pub fn ip_cm(&self) -> Option<IpCm<'a>> {
        self.service_id()?.ip()?;
        IpCm::decode(self.private_data())
    }
}

message! {
    /// Message receipt acknowledgement: the answer takes longer.
    Mra, private data 222 @ 10 {
        /// Communication id of the sender.
        local_comm_id: u32 = |o| 4 @ 0 => u32::from_be_bytes(o);
        /// Communication id of the receiver.
        remote_comm_id: u32 = |o| 4 @ 4 => u32::from_be_bytes(o);
        /// What was received: 0 REQ, 1 REP, 2 LAP.
        message: u8 = |[o]| 1 @ 8 => o >> 6;
        /// Time the answer may take: 4.096 us x 2^n.
        service_timeout: u8 = |[o]| 1 @ 9 => o >> 3;
    }
}

message! {
    /// Reject: no connection.
    Rej, private data 148 @ 84 {
        /// Communication id of the sender; 0 if it made none.
        local_comm_id: u32 = |o| 4 @ 0 => u32::from_be_bytes(o);
        /// Communication id of the receiver.
        remote_comm_id: u32 = |o| 4 @ 4 => u32::from_be_bytes(o);
        /// What is rejected: 0 REQ, 1 REP, 2 no message.
        message: u8 = |[o]| 1 @ 8 => o >> 6;
        /// Octets of additional information that count, 0 to 72.
        info_len: u8 = |[o]| 1 @ 9 => o >> 1;
        /// Why.
        reason: RejReason = |o| 2 @ 10 => RejReason(u16::from_be_bytes(o));
        /// Additional information.
        info: [u8; 72] = |o| 72 @ 12 => o;
    }
}

message! {
    /// Reply to a connection request: the passive side gives its QPN and the first PSN it will send.
    Rep, private data 196 @ 36 {
        /// Communication id of the passive side.
        local_comm_id: u32 = |o| 4 @ 0 => u32::from_be_bytes(o);
        /// Communication id of the active side.
        remote_comm_id: u32 = |o| 4 @ 4 => u32::from_be_bytes(o);
        /// Q_Key, for datagram services.
        qkey: u32 = |o| 4 @ 8 => u32::from_be_bytes(o);
        /// QP of the passive side: packets *to* it come from the active side.
        qpn: Qpn = |[a, b, c]| 3 @ 12 => Qpn::new(u32::from_be_bytes([0, a, b, c]));
        /// First PSN of the passive side's requests.
        starting_psn: Psn = |[a, b, c]| 3 @ 20 => Psn::new(u32::from_be_bytes([0, a, b, c]));
        /// READs and atomics the passive side lets be outstanding towards itself.
        responder_resources: u8 = |[o]| 1 @ 24 => o;
        /// READs and atomics the passive side will have outstanding.
        initiator_depth: u8 = |[o]| 1 @ 25 => o;
        /// Time the passive side may take to acknowledge: 4.096 us x 2^n.
        target_ack_delay: u8 = |[o]| 1 @ 26 => o >> 3;
        /// What became of the alternate path: 0 accepted, 1 not supported, 2 rejected.
        failover: u8 = |[o]| 1 @ 26 => o >> 1 & 3;
        /// End-to-end flow control by credits.
        flow_control: bool = |[o]| 1 @ 26 => o & 1 != 0;
        /// Tries after an RNR NAK, 0 to 6; 7 = without end.
        rnr_retry_count: u8 = |[o]| 1 @ 27 => o >> 5;
        /// The QP takes its receive buffers from a shared queue.
        srq: bool = |[o]| 1 @ 27 => o & 0x10 != 0;
        /// GUID of the passive side's adapter.
        ca_guid: u64 = |o| 8 @ 28 => u64::from_be_bytes(o);
    }
}

message! {
    /// Ready to use: the active side has the reply.
    Rtu, private data 224 @ 8 {
        /// Communication id of the sender.
        local_comm_id: u32 = |o| 4 @ 0 => u32::from_be_bytes(o);
        /// Communication id of the receiver.
        remote_comm_id: u32 = |o| 4 @ 4 => u32::from_be_bytes(o);
    }
}

message! {
    /// Disconnect request.
    Dreq, private data 220 @ 12 {
        /// Communication id of the sender.
        local_comm_id: u32 = |o| 4 @ 0 => u32::from_be_bytes(o);
        /// Communication id of the receiver.
        remote_comm_id: u32 = |o| 4 @ 4 => u32::from_be_bytes(o);
        /// QP of the receiver.
        remote_qpn: Qpn = |[a, b, c]| 3 @ 8 => Qpn::new(u32::from_be_bytes([0, a, b, c]));
    }
}

message! {
    /// Reply to a disconnect request.
    Drep, private data 224 @ 8 {
        /// Communication id of the sender.
        local_comm_id: u32 = |o| 4 @ 0 => u32::from_be_bytes(o);
        /// Communication id of the receiver.
        remote_comm_id: u32 = |o| 4 @ 4 => u32::from_be_bytes(o);
    }
}

message! {
    /// Service id resolution request: which QP serves this.
    SidrReq, private data 216 @ 16 {
        /// Id of the request.
        request_id: u32 = |o| 4 @ 0 => u32::from_be_bytes(o);
        /// Partition key.
        pkey: u16 = |o| 2 @ 4 => u16::from_be_bytes(o);
        /// What is asked for.
        service_id: ServiceId = |o| 8 @ 8 => ServiceId(u64::from_be_bytes(o));
    }
}

message! {
    /// Service id resolution reply.
    SidrRep, private data 136 @ 96 {
        /// Id of the request.
        request_id: u32 = |o| 4 @ 0 => u32::from_be_bytes(o);
        /// 0 = the QPN is valid; else why not.
        status: u8 = |[o]| 1 @ 4 => o;
        /// Octets of additional information that count.
        info_len: u8 = |[o]| 1 @ 5 => o;
        /// QP that serves it.
        qpn: Qpn = |[a, b, c]| 3 @ 8 => Qpn::new(u32::from_be_bytes([0, a, b, c]));
        /// What was asked for.
        service_id: ServiceId = |o| 8 @ 12 => ServiceId(u64::from_be_bytes(o));
        /// Q_Key of the QP.
        qkey: u32 = |o| 4 @ 20 => u32::from_be_bytes(o);
        /// Additional information.
        info: [u8; 72] = |o| 72 @ 24 => o;
    }
}

message! {
    /// Load alternate path.
    Lap, private data 168 @ 64 {
        /// Communication id of the sender.
        local_comm_id: u32 = |o| 4 @ 0 => u32::from_be_bytes(o);
        /// Communication id of the receiver.
        remote_comm_id: u32 = |o| 4 @ 4 => u32::from_be_bytes(o);
        /// QP of the receiver.
        remote_qpn: Qpn = |[a, b, c]| 3 @ 12 => Qpn::new(u32::from_be_bytes([0, a, b, c]));
        /// How long the sender waits for an answer: 4.096 us x 2^n.
        remote_cm_response_timeout: u8 = |[o]| 1 @ 15 => o >> 3;
        /// The path to load.
        alternate_path: Path = |o| 44 @ 20 => Path::of_lap(&o);
    }
}

message! {
    /// Alternate path response.
    Apr, private data 148 @ 84 {
        /// Communication id of the sender.
        local_comm_id: u32 = |o| 4 @ 0 => u32::from_be_bytes(o);
        /// Communication id of the receiver.
        remote_comm_id: u32 = |o| 4 @ 4 => u32::from_be_bytes(o);
        /// Octets of additional information that count.
        info_len: u8 = |[o]| 1 @ 8 => o;
        /// 0 = loaded; else why not.
        status: u8 = |[o]| 1 @ 9 => o;
        /// Additional information.
        info: [u8; 72] = |o| 72 @ 12 => o;
    }
}

/// A path between the two ports, as a REQ or LAP describes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Path {
    /// LID of the sender's port; 0xFFFF on RoCE.
    pub local_lid: u16,
    /// LID of the receiver's port.
    pub remote_lid: u16,
    /// GID of the sender's port; an IPv4 address is ::ffff:a.b.c.d.
    pub local_gid: [u8; 16],
    /// GID of the receiver's port.
    pub remote_gid: [u8; 16],
    /// Flow label, 20 bits; Linux makes the UDP source port from it.
    pub flow_label: u32,
    /// Code of the packet rate, 6 bits.
    pub packet_rate: u8,
    /// Traffic class.
    pub traffic_class: u8,
    /// Hop limit.
    pub hop_limit: u8,
    /// Service level, 4 bits; on RoCE the priority.
    pub service_level: u8,
    /// The path does not leave the subnet.
    pub subnet_local: bool,
    /// Time without acknowledgement until a packet is sent again: 4.096 us x 2^n, and up to four times that.
    pub ack_timeout: u8,
}

impl Path {
    fn of_req(octets: &[u8; 44]) -> Self {
        let [.., flow0, flow1, flow2, rate, class, hops, level, timeout] = *octets;
        Self::new(
            octets,
            [flow0, flow1, flow2],
            [class, hops, rate, level, timeout],
        )
    }

    fn of_lap(octets: &[u8; 44]) -> Self {
        let [.., flow0, flow1, flow2, class, hops, rate, level, timeout] = *octets;
        Self::new(
            octets,
            [flow0, flow1, flow2],
            [class, hops, rate, level, timeout],
        )
    }

    /// LIDs and GIDs from the beginning of `octets`; the rest stands in another order in REQ and LAP.
    fn new(octets: &[u8; 44], flow: [u8; 3], [class, hops, rate, level, timeout]: [u8; 5]) -> Self {
        let lid = |at| self::octets(octets, at).map_or(0, u16::from_be_bytes);
        let gid = |at| self::octets(octets, at).unwrap_or_default();
        Self {
            local_lid: lid(0),
            remote_lid: lid(2),
            local_gid: gid(4),
            remote_gid: gid(20),
            flow_label: u32::from_be_bytes([0, flow[0], flow[1], flow[2]]) >> 4,
            packet_rate: rate & 0x3f,
            traffic_class: class,
            hop_limit: hops,
            service_level: level >> 4,
            subnet_local: level & 8 != 0,
            ack_timeout: timeout >> 3,
        }
    }
}
