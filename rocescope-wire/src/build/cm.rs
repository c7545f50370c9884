//! Writers of CM messages: each gives a whole MAD, ready for [`FrameBuilder::mad`](super::FrameBuilder::mad).

use core::net::IpAddr;

use zerocopy::IntoBytes;

use crate::cm::{IpCm, Path, PortSpace, RejReason, ServiceId, ServiceType, attribute};
use crate::mad::MAD_LEN;
use crate::{MadHeader, Psn, Qpn};

/// A management datagram.
pub type Mad = [u8; MAD_LEN];

/// A MAD that is filled field by field; what does not fit is cut off.
struct Draft(Mad);

impl Draft {
    fn new(attribute_id: u16, transaction_id: u64) -> Self {
        let mut mad = [0; MAD_LEN];
        let (header, _) = mad.split_at_mut(MadHeader::LEN);
        header.copy_from_slice(MadHeader::cm(attribute_id, transaction_id).as_bytes());
        Self(mad)
    }

    /// Puts `octets` at `at` of the CM data.
    fn put(mut self, at: usize, octets: &[u8]) -> Self {
        let to = self.0.get_mut(MadHeader::LEN + at..).unwrap_or_default();
        for (to, octet) in to.iter_mut().zip(octets) {
            *to = *octet;
        }
        self
    }

    fn word(self, at: usize, value: u32) -> Self {
        self.put(at, &value.to_be_bytes())
    }

    /// The low 24 bits of `value`.
    fn three(self, at: usize, value: u32) -> Self {
        let [_, octets @ ..] = value.to_be_bytes();
        self.put(at, &octets)
    }

    /// LIDs and GIDs, and behind them the rest in the order of the message.
    fn path(self, at: usize, path: &Path, rest: [u8; 5]) -> Self {
        self.put(at, &path.local_lid.to_be_bytes())
            .put(at + 2, &path.remote_lid.to_be_bytes())
            .put(at + 4, &path.local_gid)
            .put(at + 20, &path.remote_gid)
            .three(at + 36, path.flow_label << 4)
            .put(at + 39, &rest)
    }

    fn path_of_req(self, at: usize, path: &Path) -> Self {
        let [class, hops, rate, level, timeout] = small_fields(path);
        self.path(at, path, [rate, class, hops, level, timeout])
    }

    fn path_of_lap(self, at: usize, path: &Path) -> Self {
        let fields = small_fields(path);
        self.path(at, path, fields)
    }
}

/// Traffic class, hop limit, rate, level and timeout as they are packed.
const fn small_fields(path: &Path) -> [u8; 5] {
    let subnet_local = if path.subnet_local { 8 } else { 0 };
    let level = path.service_level << 4 | subnet_local;
    [
        path.traffic_class,
        path.hop_limit,
        path.packet_rate & 0x3f,
        level,
        path.ack_timeout << 3,
    ]
}

/// Connection request. [`Default`]: a reliable connection as Linux RDMA-CM asks for it, path MTU 4096, all tries 7,
/// responder timeouts 20, ACK timeout 19.
#[derive(Clone, Copy, Debug)]
pub struct Req<'a> {
    /// Communication id of the active side.
    pub local_comm_id: u32,
    /// What is asked for.
    pub service_id: ServiceId,
    /// GUID of the adapter.
    pub ca_guid: u64,
    /// QP of the active side.
    pub qpn: Qpn,
    /// First PSN the active side will send.
    pub starting_psn: Psn,
    /// READs and atomics it lets be outstanding.
    pub responder_resources: u8,
    /// READs and atomics it will have outstanding.
    pub initiator_depth: u8,
    /// Transport service.
    pub service_type: ServiceType,
    /// Response timeouts, remote and local: 4.096 us x 2^n.
    pub cm_response_timeouts: (u8, u8),
    /// Tries after a timeout or NAK, 0 to 7.
    pub retry_count: u8,
    /// Tries after an RNR NAK, 0 to 7.
    pub rnr_retry_count: u8,
    /// Tries to send a CM message, 0 to 15.
    pub max_cm_retries: u8,
    /// Partition key.
    pub pkey: u16,
    /// Code of the path MTU: 1 = 256 to 5 = 4096.
    pub path_mtu_code: u8,
    /// Shared receive queue.
    pub srq: bool,
    /// Path the connection begins on.
    pub primary_path: Path,
    /// Second path.
    pub alternate_path: Path,
    /// The header of RDMA-CM; written if given: source port, source and destination address.
    pub ip_cm: Option<(u16, IpAddr, IpAddr)>,
    /// The application's private data; behind the header of RDMA-CM if there is one.
    pub private_data: &'a [u8],
}

impl Default for Req<'_> {
    fn default() -> Self {
        Self {
            local_comm_id: 1,
            service_id: ServiceId::of_port(PortSpace::Tcp, 4420),
            ca_guid: 0,
            qpn: Qpn::new(0x11),
            starting_psn: Psn::new(0),
            responder_resources: 1,
            initiator_depth: 1,
            service_type: ServiceType::Rc,
            cm_response_timeouts: (20, 20),
            retry_count: 7,
            rnr_retry_count: 7,
            max_cm_retries: 15,
            pkey: 0xffff,
            path_mtu_code: 5,
            srq: false,
            primary_path: Path {
                local_lid: 0xffff,
                remote_lid: 0xffff,
                hop_limit: 64,
                ack_timeout: 19,
                ..Path::default()
            },
            alternate_path: Path::default(),
            ip_cm: None,
            private_data: &[],
        }
    }
}

impl Req<'_> {
    /// The MAD.
    #[must_use]
    pub fn mad(&self, transaction_id: u64) -> Mad {
        let (service, extended) = match self.service_type {
            ServiceType::Rc => (0, 0),
            ServiceType::Uc => (1, 0),
            ServiceType::Rd => (2, 0),
            ServiceType::Xrc => (3, 1),
            ServiceType::Other(other) => (3, other & 7),
        };
        let (remote_timeout, local_timeout) = self.cm_response_timeouts;
        let srq = if self.srq { 8 } else { 0 };
        let draft = Draft::new(attribute::REQ, transaction_id)
            .word(0, self.local_comm_id)
            .put(8, &self.service_id.0.to_be_bytes())
            .put(16, &self.ca_guid.to_be_bytes())
            .three(32, self.qpn.get())
            .put(35, &[self.responder_resources])
            .put(39, &[self.initiator_depth])
            .put(43, &[remote_timeout << 3 | service << 1])
            .three(44, self.starting_psn.get())
            .put(47, &[local_timeout << 3 | self.retry_count & 7])
            .put(48, &self.pkey.to_be_bytes())
            .put(50, &[self.path_mtu_code << 4 | self.rnr_retry_count & 7])
            .put(51, &[self.max_cm_retries << 4 | srq | extended])
            .path_of_req(52, &self.primary_path)
            .path_of_req(96, &self.alternate_path);
        const PRIVATE_DATA: usize = 140;
        let Some((source_port, source, destination)) = self.ip_cm else {
            return draft.put(PRIVATE_DATA, self.private_data).0;
        };
        draft
            .put(PRIVATE_DATA, &ip_cm(source_port, source, destination))
            .put(PRIVATE_DATA + IpCm::LEN, self.private_data)
            .0
    }
}

/// The header of RDMA-CM: version 0, IP version of `source`.
fn ip_cm(source_port: u16, source: IpAddr, destination: IpAddr) -> [u8; IpCm::LEN] {
    let address = |address: IpAddr| match address {
        IpAddr::V4(address) => u128::from(address.to_bits()),
        IpAddr::V6(address) => address.to_bits(),
    };
    let ip_version = if source.is_ipv4() { 4 } else { 6 };
    let [high, low] = source_port.to_be_bytes();
    let mut header = [0; IpCm::LEN];
    let fields = [0, ip_version << 4, high, low].into_iter();
    let addresses = address(source)
        .to_be_bytes()
        .into_iter()
        .chain(address(destination).to_be_bytes());
    for (to, octet) in header.iter_mut().zip(fields.chain(addresses)) {
        *to = octet;
    }
    header
}

/// Reply to a connection request. [`Default`]: RNR tries 7, target ACK delay 15.
#[derive(Clone, Copy, Debug)]
pub struct Rep<'a> {
    /// Communication id of the passive side.
    pub local_comm_id: u32,
    /// Communication id of the active side.
    pub remote_comm_id: u32,
    /// QP of the passive side.
    pub qpn: Qpn,
    /// First PSN the passive side will send.
    pub starting_psn: Psn,
    /// READs and atomics it lets be outstanding.
    pub responder_resources: u8,
    /// READs and atomics it will have outstanding.
    pub initiator_depth: u8,
    /// Time it may take to acknowledge: 4.096 us x 2^n.
    pub target_ack_delay: u8,
    /// Tries after an RNR NAK, 0 to 7.
    pub rnr_retry_count: u8,
    /// Shared receive queue.
    pub srq: bool,
    /// GUID of the adapter.
    pub ca_guid: u64,
    /// The application's private data.
    pub private_data: &'a [u8],
}

impl Default for Rep<'_> {
    fn default() -> Self {
        Self {
            local_comm_id: 2,
            remote_comm_id: 1,
            qpn: Qpn::new(0x12),
            starting_psn: Psn::new(0),
            responder_resources: 1,
            initiator_depth: 1,
            target_ack_delay: 15,
            rnr_retry_count: 7,
            srq: false,
            ca_guid: 0,
            private_data: &[],
        }
    }
}

impl Rep<'_> {
    /// The MAD.
    #[must_use]
    pub fn mad(&self, transaction_id: u64) -> Mad {
        let srq = if self.srq { 0x10 } else { 0 };
        of_both(
            attribute::REP,
            transaction_id,
            self.local_comm_id,
            self.remote_comm_id,
        )
        .three(12, self.qpn.get())
        .three(20, self.starting_psn.get())
        .put(24, &[self.responder_resources, self.initiator_depth])
        .put(
            26,
            &[self.target_ack_delay << 3, self.rnr_retry_count << 5 | srq],
        )
        .put(28, &self.ca_guid.to_be_bytes())
        .put(36, self.private_data)
        .0
    }
}

/// A message that begins with both communication ids.
fn of_both(attribute_id: u16, transaction_id: u64, local: u32, remote: u32) -> Draft {
    Draft::new(attribute_id, transaction_id)
        .word(0, local)
        .word(4, remote)
}

/// Message receipt acknowledgement of `message` (0 REQ, 1 REP, 2 LAP): the answer may take 4.096 us x 2^`timeout`.
#[must_use]
pub fn mra(transaction_id: u64, local: u32, remote: u32, message: u8, timeout: u8) -> Mad {
    of_both(attribute::MRA, transaction_id, local, remote)
        .put(8, &[message << 6, timeout << 3])
        .0
}

/// Reject of `message` (0 REQ, 1 REP, 2 none).
#[must_use]
pub fn rej(
    transaction_id: u64,
    local: u32,
    remote: u32,
    message: u8,
    reason: RejReason,
    private_data: &[u8],
) -> Mad {
    of_both(attribute::REJ, transaction_id, local, remote)
        .put(8, &[message << 6])
        .put(10, &reason.0.to_be_bytes())
        .put(84, private_data)
        .0
}

/// Ready to use.
#[must_use]
pub fn rtu(transaction_id: u64, local: u32, remote: u32) -> Mad {
    of_both(attribute::RTU, transaction_id, local, remote).0
}

/// Disconnect request for the receiver's QP `remote_qpn`.
#[must_use]
pub fn dreq(transaction_id: u64, local: u32, remote: u32, remote_qpn: Qpn) -> Mad {
    of_both(attribute::DREQ, transaction_id, local, remote)
        .three(8, remote_qpn.get())
        .0
}

/// Reply to a disconnect request.
#[must_use]
pub fn drep(transaction_id: u64, local: u32, remote: u32) -> Mad {
    of_both(attribute::DREP, transaction_id, local, remote).0
}

/// Service id resolution request.
#[must_use]
pub fn sidr_req(transaction_id: u64, request_id: u32, pkey: u16, service_id: ServiceId) -> Mad {
    Draft::new(attribute::SIDR_REQ, transaction_id)
        .word(0, request_id)
        .put(4, &pkey.to_be_bytes())
        .put(8, &service_id.0.to_be_bytes())
        .0
}

/// Service id resolution reply; `status` 0 = `qpn` is valid.
#[must_use]
pub fn sidr_rep(
    transaction_id: u64,
    request_id: u32,
    status: u8,
    qpn: Qpn,
    service_id: ServiceId,
    qkey: u32,
) -> Mad {
    Draft::new(attribute::SIDR_REP, transaction_id)
        .word(0, request_id)
        .put(4, &[status])
        .three(8, qpn.get())
        .put(12, &service_id.0.to_be_bytes())
        .word(20, qkey)
        .0
}

/// Load alternate path of the receiver's QP `remote_qpn`.
#[must_use]
pub fn lap(transaction_id: u64, local: u32, remote: u32, remote_qpn: Qpn, path: &Path) -> Mad {
    of_both(attribute::LAP, transaction_id, local, remote)
        .three(12, remote_qpn.get())
        .path_of_lap(20, path)
        .0
}

/// Alternate path response; `status` 0 = loaded.
#[must_use]
pub fn apr(transaction_id: u64, local: u32, remote: u32, status: u8) -> Mad {
    of_both(attribute::APR, transaction_id, local, remote)
        .put(9, &[status])
        .0
}
