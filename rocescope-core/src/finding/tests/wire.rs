//! Two hosts and a tap between them.

use crate::encap::{Decoded, LinkType, Ports, locate};
use crate::outcome::{self, Outcome};
use crate::partition::{PacketInput, Partition};
use crate::report::{Finding, FrameRef};
use crate::settings::Settings;
use crate::time::MILLISECOND_NS;
use crate::{Time, finding::vantage};
use rocescope_wire::build::{Fill, FrameBuilder};
use rocescope_wire::{Msn, NakCode, Part, Psn, Qpn, RnrTimer};
use std::sync::Arc;

/// A tap, and the frames that passed it.
pub(super) struct Tap {
    part: Partition,
    settings: Arc<Settings>,
    pub(super) requester: FrameBuilder<'static>,
    pub(super) responder: FrameBuilder<'static>,
    /// Input time.
    pub(super) now: u64,
    frame: u64,
    id: u16,
}

pub(super) fn psn(psn: u32) -> Psn {
    Psn::new(psn)
}

impl Tap {
    pub(super) fn new() -> Self {
        Self::with(Settings::default())
    }

    pub(super) fn with(settings: Settings) -> Self {
        let settings = Arc::new(settings);
        let requester = FrameBuilder {
            dest_qpn: Qpn::new(0x12),
            ..FrameBuilder::default()
        };
        Self {
            part: Partition::new(settings.clone()),
            settings,
            requester,
            responder: requester.reply(Qpn::new(0x34)),
            now: 1_000_000_000,
            frame: 0,
            id: 100,
        }
    }

    /// Time goes on.
    pub(super) fn wait_ms(&mut self, ms: u64) {
        self.now += ms * MILLISECOND_NS;
    }

    /// A frame passes, 10 us after the one before, with the next IP id of its host.
    pub(super) fn pass(&mut self, frame: FrameBuilder<'_>) {
        self.id += 1;
        let ip_id = self.id;
        self.pass_as_it_is(FrameBuilder { ip_id, ..frame }, 10_000);
    }

    /// The same, with its own IP id, `after` ns.
    pub(super) fn pass_as_it_is(&mut self, frame: FrameBuilder<'_>, after: u64) {
        self.now += after;
        self.frame += 1;
        let mut buffer = [0; 2048];
        let len = frame.frame(&mut buffer).unwrap();
        let wire_len = len as u32;
        let ports = Ports::default();
        let frame = locate(LinkType::ETHERNET, &buffer[..len], wire_len, &ports);
        let Decoded::Roce(located) = frame.decoded else {
            panic!("{:?}", frame.decoded)
        };
        self.part.packet(&PacketInput {
            located: &located,
            at: Time(self.now),
            frame: FrameRef {
                source: 0,
                frame: self.frame,
            },
            port: 0,
            wire_len,
            icrc: None,
        });
    }

    pub(super) fn send(&mut self, number: u32) {
        let send = self
            .requester
            .send(Part::Only, psn(number), Fill::Counting(64));
        self.pass(send);
    }

    pub(super) fn ack(&mut self, number: u32) {
        self.pass(self.responder.ack(psn(number), Msn(number)));
    }

    pub(super) fn nak(&mut self, number: u32, code: NakCode) {
        self.pass(self.responder.nak(psn(number), code, Msn(number)));
    }

    pub(super) fn rnr_nak(&mut self, number: u32) {
        // 0.64 ms.
        let timer = RnrTimer(12);
        self.pass(self.responder.rnr_nak(psn(number), timer, Msn(number)));
    }

    /// PSNs `from` to `to`, each sent and acknowledged.
    pub(super) fn talk(&mut self, from: u32, to: u32) {
        for number in from..=to {
            self.send(number);
            self.ack(number);
        }
    }

    /// The input ends.
    pub(super) fn end(self) -> Ended {
        let _ = &self.settings;
        let outcome = outcome::finish(vec![self.part], Time(self.now));
        Ended { outcome }
    }
}

/// What it came to.
pub(super) struct Ended {
    pub(super) outcome: Outcome,
}

impl Ended {
    /// Ids of findings, sorted; those of the whole capture too.
    pub(super) fn ids(&self) -> Vec<&'static str> {
        let of_capture = vantage::of_capture(&self.outcome, &[]);
        let mut ids: Vec<_> = self
            .outcome
            .findings
            .iter()
            .chain(&of_capture)
            .map(|finding| finding.id)
            .collect();
        ids.sort_unstable();
        ids
    }

    #[track_caller]
    pub(super) fn finding(&self, id: &str) -> &Finding {
        let found = self
            .outcome
            .findings
            .iter()
            .find(|finding| finding.id == id);
        found.unwrap_or_else(|| panic!("no {id} among {:?}", self.ids()))
    }
}
