//! Messages of the connection manager.

use crate::end::Pair;
use crate::language::{Service, Side};
use crate::steps::CmStep;
use rocescope_wire::build::cm::{self, Mad, Rep, Req};
use rocescope_wire::cm::{Path, RejReason, ServiceType};
use rocescope_wire::{Psn, Qpn};

/// The message that connection number `index` says here; `by` disconnects.
pub(super) fn mad(pair: &Pair<'_>, index: u32, message: CmStep, by: Side) -> Mad {
    let of = pair.of;
    let (client, server) = (2 * index + 1, 2 * index + 2);
    let transaction = u64::from(index) + 1;
    let (own, other, other_qpn) = match by {
        Side::Client => (client, server, of.server.qpn),
        Side::Server => (server, client, of.client.qpn),
    };
    match message {
        CmStep::Req => {
            let base = Req::default();
            Req {
                local_comm_id: client,
                qpn: Qpn::new(of.client.qpn),
                starting_psn: Psn::new(of.client.psn),
                initiator_depth: of.cm.initiator_depth,
                responder_resources: of.cm.initiator_depth,
                retry_count: of.cm.retry_count,
                rnr_retry_count: of.cm.rnr_retry_count,
                path_mtu_code: (of.mtu / 128).ilog2() as u8,
                service_type: match of.service {
                    Service::Uc => ServiceType::Uc,
                    Service::Xrc => ServiceType::Xrc,
                    Service::Rc | Service::Ud => ServiceType::Rc,
                },
                primary_path: Path {
                    ack_timeout: of.cm.ack_timeout,
                    ..base.primary_path
                },
                ..base
            }
            .mad(transaction)
        }
        CmStep::Rep => Rep {
            local_comm_id: server,
            remote_comm_id: client,
            qpn: Qpn::new(of.server.qpn),
            starting_psn: Psn::new(of.server.psn),
            rnr_retry_count: of.cm.rnr_retry_count,
            responder_resources: of.cm.initiator_depth,
            initiator_depth: of.cm.initiator_depth,
            ..Rep::default()
        }
        .mad(transaction),
        CmStep::Rtu => cm::rtu(transaction, client, server),
        CmStep::Rej => cm::rej(transaction, server, client, 0, RejReason(28), &[]),
        CmStep::Dreq => cm::dreq(transaction + 0x100, own, other, Qpn::new(other_qpn)),
        CmStep::Drep => cm::drep(transaction + 0x100, own, other),
    }
}
