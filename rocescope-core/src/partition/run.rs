//! Runs: packets of one stream that followed each other in order, as one input. A frame in order is a run of one.
//!
//! A source that counts in-order Middle packets instead of handing each out (a kernel program at line rate) gives runs; what
//! comes of them equals what comes of the packets.

use super::facts::facts_of;
use super::request::check_length;
use super::{Class, Icrc, PacketInput, Partition, check_icrc};
use crate::flow::ip_id::goes_on;
use crate::flow::stream::{PacketFacts, StreamKey};
use crate::settings::Settings;
use rocescope_wire::{Part, Psn, Role, Transport, TransportPacket};
use std::collections::HashMap;

/// Middle packets of one stream, in order and without a gap.
#[derive(Clone, Debug)]
pub struct Run {
    key: StreamKey,
    v1: bool,
    first: PacketFacts,
    last: PacketFacts,
    packets: u32,
    wire_bytes: u64,
    payload_bytes: u64,
    ecn: [u64; 4],
    icrc: [u64; 3],
    migreq: u64,
}

impl Run {
    /// A run of one, where `input` is a packet that can be part of a run: a whole-headed Middle of SEND or WRITE with no
    /// bad ICRC and no AckReq.
    #[must_use]
    pub fn of(input: &PacketInput<'_>, settings: &Settings) -> Option<Self> {
        let located = input.located;
        let packet = TransportPacket::decode_as(
            located.transport,
            located.wire_len as usize,
            settings.read_0x40_as,
        )?;
        let info = packet.info?;
        let middle = info.part == Part::Middle && info.role == Role::Request;
        let transport = matches!(
            info.transport,
            Transport::Rc | Transport::Uc | Transport::Xrc
        );
        if !middle || !transport || packet.bth.ack_req() || packet.fault().is_some() {
            return None;
        }
        let icrc = input.icrc.unwrap_or_else(|| check_icrc(settings, located));
        if icrc == Icrc::Bad {
            return None;
        }
        let facts = facts_of(input, &packet, icrc);
        let mut run = Self {
            key: StreamKey {
                src: located.src,
                dst: located.dst,
                dest_qpn: packet.dest_qpn(),
            },
            v1: located.carrier == crate::encap::Carrier::RoceV1,
            last: facts.clone(),
            packets: 0,
            wire_bytes: 0,
            payload_bytes: 0,
            ecn: [0; 4],
            icrc: [0; 3],
            migreq: 0,
            first: facts.clone(),
        };
        run.add(facts);
        Some(run)
    }

    /// Takes a run of one in where it goes on; false where it is of another stream, or not the next packet of this one.
    pub fn join(&mut self, next: &Self) -> bool {
        let next_one = next.key == self.key
            && next.first.psn.since(self.last.psn) == 1
            && next.first.opcode == self.last.opcode
            && next.first.port == self.last.port
            && next.first.payload_len == self.last.payload_len
            && goes_on(self.last.ip_id, next.first.ip_id)
            && next.packets == 1;
        if next_one {
            self.add(next.last.clone());
        }
        next_one
    }

    fn add(&mut self, packet: PacketFacts) {
        self.packets += 1;
        self.wire_bytes += u64::from(packet.wire_len);
        self.payload_bytes += u64::from(packet.payload_len);
        self.ecn[usize::from(packet.ecn & 3)] += 1;
        self.icrc[packet.icrc as usize] += 1;
        self.migreq += u64::from(packet.migreq);
        self.last = packet;
    }
}

/// Folds packets into runs as a source at line rate does: Middles that go on beyond the highest PSN of their stream are
/// counted, everything else is handed out, after the runs that were before it between the same hosts.
#[derive(Debug, Default)]
pub struct Fold {
    pending: Vec<Run>,
    /// Latest and highest PSN requested, by stream.
    streams: HashMap<StreamKey, (Psn, Psn)>,
    packets: u64,
}

impl Fold {
    /// The next packet: what it is to `part` now.
    pub fn packet(&mut self, input: &PacketInput<'_>, part: &mut Partition, settings: &Settings) {
        let run = Run::of(input, settings).filter(|run| self.goes_on(run) && part.fills_pmtu(run));
        self.note(input);
        if let Some(run) = &run
            && self.pending.iter_mut().any(|own| own.join(run))
        {
            self.packets += 1;
            return;
        }
        let (src, dst) = (input.located.src, input.located.dst);
        self.pending.retain(|own| {
            let due = (own.key.src, own.key.dst) == (src, dst)
                || (own.key.dst, own.key.src) == (src, dst);
            if due {
                part.run(own);
            }
            !due
        });
        match run {
            Some(run) => self.pending.push(run),
            None => {
                part.packet(input);
            }
        }
    }

    /// The end: what is pending is handed out. Returns how many packets were folded into the run of one before them.
    pub fn finish(self, part: &mut Partition) -> u64 {
        for own in &self.pending {
            part.run(own);
        }
        self.packets
    }

    fn goes_on(&self, run: &Run) -> bool {
        let known = self.streams.get(&run.key);
        known
            .is_some_and(|(latest, highest)| run.first.psn.since(*latest) == 1 && latest == highest)
    }

    fn note(&mut self, input: &PacketInput<'_>) {
        let located = input.located;
        let Some(packet) = TransportPacket::decode(located.transport, located.wire_len as usize)
        else {
            return;
        };
        if packet.info.is_none_or(|info| info.role != Role::Request) {
            return;
        }
        let key = StreamKey {
            src: located.src,
            dst: located.dst,
            dest_qpn: packet.dest_qpn(),
        };
        let (latest, highest) = self
            .streams
            .entry(key)
            .or_insert((packet.psn(), packet.psn()));
        *latest = packet.psn();
        if latest.since(*highest) > 0 {
            *highest = *latest;
        }
    }
}

impl Partition {
    /// Whether the packets of `run` are as long as the path MTU of their stream.
    fn fills_pmtu(&self, run: &Run) -> bool {
        let stream = self.table.find(&run.key).and_then(|id| self.table.get(id));
        stream.is_some_and(|stream| stream.requester.pmtu == run.first.payload_len)
    }

    /// A run of packets, in the order of the input.
    pub fn run(&mut self, run: &Run) {
        if let Some(id) = self.table.find(&run.key)
            && self.run_goes_on(id, run)
        {
            return;
        }
        self.run_packet(run, &run.first);
        if run.packets > 1 {
            let mut rest = run.clone();
            rest.take_first();
            self.run(&rest);
        }
    }

    /// The first packet of a run, on its own: it is not simply the next one of its stream.
    fn run_packet(&mut self, run: &Run, facts: &PacketFacts) {
        self.raised.clear();
        self.now = facts.at;
        self.count_carrier(run.v1, 1);
        let id = self
            .table
            .find(&run.key)
            .unwrap_or_else(|| self.create(run.key, facts));
        self.table.touch(id);
        if !self.holds(id, facts)
            && self.accept_request(id, facts) == Class::New
            && let Some(stream) = self.table.get_mut(id)
        {
            check_length(stream, facts, &mut self.events);
        }
        if !self.events.is_empty() {
            self.detect(id);
        }
    }

    /// The whole run goes on where its sender left off.
    fn run_goes_on(&mut self, id: u32, run: &Run) -> bool {
        self.table.touch(id);
        let Some(stream) = self.table.get_mut(id) else {
            return false;
        };
        let seamless = stream.recent.only_port(run.first.port)
            && stream.held.is_empty()
            && stream.requester.is_seamless(&run.first);
        let payload = run.first.payload_len;
        if payload > stream.requester.pmtu {
            stream.requester.learn_pmtu(payload);
        }
        if !seamless || ![0, payload].contains(&stream.requester.pmtu) {
            return false;
        }
        stream
            .opcodes
            .add_many(run.first.opcode, u64::from(run.packets));
        stream.wire_bytes += run.wire_bytes;
        stream.payload_bytes += run.payload_bytes;
        stream.last_at = stream.last_at.max(run.last.at);
        stream.last_frame = run.last.frame;
        stream.migreq += run.migreq;
        for (own, more) in stream.ecn.iter_mut().zip(run.ecn) {
            *own += more;
        }
        for (own, more) in stream.icrc.iter_mut().zip(run.icrc) {
            *own += more;
        }
        stream.requester.on_run(
            &run.first,
            &run.last,
            run.packets,
            run.payload_bytes,
            &mut self.events,
        );
        stream.requester.repairing.sent(run.last.at);
        stream.recent.push(&run.last);
        self.raised.clear();
        self.now = run.last.at;
        self.count_carrier(run.v1, u64::from(run.packets));
        if !self.events.is_empty() {
            self.detect(id);
        }
        true
    }
}

impl Run {
    /// Takes the first packet out.
    fn take_first(&mut self) {
        let first = &mut self.first;
        self.packets -= 1;
        self.wire_bytes -= u64::from(first.wire_len);
        self.payload_bytes -= u64::from(first.payload_len);
        self.ecn[usize::from(first.ecn & 3)] -= 1;
        self.icrc[first.icrc as usize] -= 1;
        self.migreq -= u64::from(first.migreq);
        first.psn = first.psn.next();
        if self.packets == 1 {
            self.first = self.last.clone();
            return;
        }
        // What lies between first and last is known only in sum: the next packet is taken to be like the first where one
        // such is left.
        first.ecn = left_beside(&self.ecn, first.ecn, self.last.ecn & 3);
        first.icrc = match left_beside(&self.icrc, first.icrc as u8, self.last.icrc as u8) {
            0 => Icrc::Good,
            1 => Icrc::Bad,
            _ => Icrc::Unverifiable,
        };
        first.ip_id = first.ip_id.map(|id| id.wrapping_add(1));
    }
}

/// A kind of which one is left beside the last packet, `like` where possible.
fn left_beside<const KINDS: usize>(counts: &[u64; KINDS], like: u8, last: u8) -> u8 {
    let left = |kind: u8| {
        counts
            .get(usize::from(kind))
            .is_some_and(|count| *count > u64::from(kind == last))
    };
    if left(like & 3) {
        like & 3
    } else {
        (0..KINDS as u8).find(|kind| left(*kind)).unwrap_or(last)
    }
}
