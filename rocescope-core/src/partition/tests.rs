//! What a part makes of packets that a capture missed, or saw in another order.

use super::{PacketInput, Partition};
use crate::Time;
use crate::encap::{Decoded, LinkType, Ports, locate};
use crate::outcome::{self, Outcome};
use crate::report::{FrameRef, Requester};
use crate::settings::Settings;
use rocescope_wire::build::{Fill, FrameBuilder};
use rocescope_wire::{Msn, Part, Psn, Qpn, Reth};
use std::sync::Arc;

/// A tap between a requester and a responder.
struct Tap {
    part: Partition,
    frames: u64,
    now: Time,
    ip_ids_count: bool,
}

impl Tap {
    fn new() -> Self {
        Self {
            part: Partition::new(Arc::new(Settings::default())),
            frames: 0,
            now: Time(1_000_000_000),
            ip_ids_count: false,
        }
    }

    fn wait_us(&mut self, us: u64) {
        self.now = Time(self.now.0 + us * 1_000);
    }

    /// One frame, 10 us after the one before.
    fn sees(&mut self, frame: FrameBuilder<'_>) {
        self.wait_us(10);
        self.frames += 1;
        let mut octets = [0; 2_048];
        let len = frame.frame(&mut octets).expect("fits");
        let octets = &octets[..len];
        let located = locate(LinkType::ETHERNET, octets, len as u32, &Ports::default());
        let Decoded::Roce(located) = located.decoded else {
            panic!("{located:?}")
        };
        self.part.packet(&PacketInput {
            located: &located,
            at: self.now,
            frame: FrameRef {
                source: 0,
                frame: self.frames,
            },
            port: 0,
            wire_len: len as u32,
            icrc: None,
        });
    }

    fn send(&mut self, psn: u32) {
        let ip_id = if self.ip_ids_count { psn as u16 } else { 0 };
        self.send_with_id(psn, ip_id);
    }

    fn send_with_id(&mut self, psn: u32, ip_id: u16) {
        let requester = FrameBuilder {
            ip_id,
            ..requester()
        };
        self.sees(requester.send(Part::Only, Psn::new(psn), Fill::Counting(64)));
    }

    fn ack(&mut self, psn: u32) {
        self.sees(responder().ack(Psn::new(psn), Msn(psn)));
    }

    fn read(&mut self, psn: u32, octets: u32) {
        self.sees(requester().read_request(Psn::new(psn), Reth::new(0x1000, 1, octets)));
    }

    /// Responses of one READ of `octets`, 1024 at most each.
    fn responses(&mut self, first: u32, octets: u32) {
        let count = octets.div_ceil(1_024);
        for index in 0..count {
            let part = match (index == 0, index + 1 == count) {
                (true, true) => Part::Only,
                (true, false) => Part::First,
                (false, true) => Part::Last,
                (false, false) => Part::Middle,
            };
            let payload = Fill::Counting(octets.min(1_024) as usize);
            self.sees(responder().read_response(part, Psn::new(first + index), Msn(1), payload));
        }
    }

    fn ends(self) -> Requester {
        let Outcome { streams, .. } = outcome::finish(vec![self.part], self.now);
        let requests = streams.into_iter().map(|stream| stream.requester);
        let mut requests = requests.filter(|requests| requests.packets > 0);
        requests.next().expect("requests")
    }
}

fn requester() -> FrameBuilder<'static> {
    FrameBuilder::default()
}

fn responder() -> FrameBuilder<'static> {
    requester().reply(Qpn::new(0x34))
}

#[test]
fn reads_that_change_places_before_the_pmtu_is_known_are_late() {
    let mut tap = Tap::new();
    for psn in [0, 16, 8, 24] {
        tap.read(psn, 8_192);
    }
    for first in [0, 8, 16, 24] {
        tap.responses(first, 8_192);
    }
    let requests = tap.ends();
    assert_eq!(requests.reordered_packets, 1);
    assert_eq!(requests.retransmitted_packets, 0);
    assert_eq!(requests.missing_psns + requests.capture_gap_psns, 0);
}

#[test]
fn the_first_two_reads_may_change_places() {
    let mut tap = Tap::new();
    for psn in [8, 0, 16] {
        tap.read(psn, 8_192);
    }
    for first in [0, 8, 16] {
        tap.responses(first, 8_192);
    }
    let requests = tap.ends();
    assert_eq!((requests.reordered_packets, requests.missing_psns), (1, 0));
}

#[test]
fn an_only_response_tells_where_its_read_ends() {
    let mut tap = Tap::new();
    for psn in [0, 1, 2] {
        if psn != 1 {
            tap.read(psn, 512);
        }
        tap.responses(psn, 512);
    }
    let requests = tap.ends();
    assert_eq!((requests.missing_psns, requests.capture_gap_psns), (1, 1));
}

#[test]
fn once_the_pmtu_is_known_no_request_closes_a_claim() {
    let mut tap = Tap::new();
    tap.read(0, 8_192);
    tap.responses(0, 8_192);
    tap.responses(8, 8_192);
    tap.read(16, 8_192);
    tap.responses(16, 8_192);
    let requests = tap.ends();
    assert_eq!((requests.missing_psns, requests.capture_gap_psns), (8, 8));
}

#[test]
fn a_gap_told_by_an_answer_counts_once_and_is_no_loss() {
    let mut tap = Tap::new();
    tap.send(0);
    tap.ack(0);
    tap.ack(1);
    tap.wait_us(10_000);
    tap.send(2);
    tap.wait_us(10_000);
    tap.send(2);
    tap.ack(2);
    let requests = tap.ends();
    assert_eq!((requests.missing_psns, requests.capture_gap_psns), (1, 1));
    assert_eq!(
        (requests.retransmitted_packets, requests.lost_before),
        (1, 0)
    );
}

#[test]
fn a_packet_out_of_turn_is_no_gap_before_it_is_decided() {
    let mut tap = Tap::new();
    tap.send(0);
    tap.ack(0);
    tap.send(2);
    tap.send(1);
    tap.ack(2);
    tap.send(3);
    let requests = tap.ends();
    assert_eq!(
        (requests.reordered_packets, requests.capture_gap_psns),
        (1, 0)
    );
    assert_eq!(requests.missing_psns, 0);
}

#[test]
fn a_repair_that_changes_order_is_still_a_repair() {
    let mut tap = Tap::new();
    tap.ip_ids_count = true;
    for psn in 0..4 {
        tap.send(psn);
    }
    tap.wait_us(100_000);
    for (psn, ip_id) in [(1, 4), (3, 6), (2, 5)] {
        tap.send_with_id(psn, ip_id);
    }
    let requests = tap.ends();
    assert_eq!(
        (requests.retransmitted_packets, requests.reordered_packets),
        (3, 0)
    );
}
