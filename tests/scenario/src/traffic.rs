//! From steps to frames: who sent which packet when, and whether the tap saw it.

use crate::cm;
use crate::end::{EndState, Pair, pair, vlans};
use crate::language::{Connection, Host, IpId, Scenario, Side};
use crate::packets::{ack, nak_code};
use crate::steps::{Atomic, CmStep, Copies, Damage, Step, Verb, With};
use crate::values::Place;
use rocescope_wire::build::{FrameBuilder, Icrc, Vlan};
use rocescope_wire::{AethKind, Psn, RnrTimer};
use std::collections::BTreeMap;

/// 2026-01-01T00:00:00Z.
const START_NS: u64 = 1_767_225_600_000_000_000;
/// Between packets of one end.
const PACE_NS: u64 = 1_000;
/// Between a packet and one that the other end sends after it.
const TURN_NS: u64 = 100_000;

/// A frame on the wire at the tap.
pub(crate) struct Frame {
    pub(crate) at: u64,
    pub(crate) octets: Vec<u8>,
    /// The capture has it.
    pub(crate) captured: bool,
    /// Frames that the capture says it dropped before this one.
    pub(crate) dropped: Option<u64>,
}

pub(crate) struct Packet<'f> {
    pub(crate) psn: u32,
    pub(crate) frame: FrameBuilder<'f>,
}

pub(crate) type Result<T> = std::result::Result<T, String>;

/// Plays the steps and gives the frames at the tap in the order of time.
pub(crate) fn frames(scenario: &Scenario) -> Result<Vec<Frame>> {
    let connections = match &scenario.connection[..] {
        [] => &[Connection::default()],
        some => some,
    };
    let vlans: Vec<Vec<Vlan>> = connections.iter().map(vlans).collect();
    let mut stage = Stage::new(scenario, connections, &vlans)?;
    stage.play(&scenario.steps)?;
    let mut frames = stage.frames;
    frames.sort_by_key(|frame| frame.at);
    Ok(frames)
}

pub(crate) struct Stage<'s> {
    hosts: BTreeMap<&'s str, (Host, u16)>,
    pub(crate) pairs: Vec<Pair<'s>>,
    only: Option<Side>,
    now: u64,
    last: Option<(usize, Side)>,
    dropped: Option<u64>,
    frames: Vec<Frame>,
}

impl<'s> Stage<'s> {
    fn new(
        scenario: &'s Scenario,
        connections: &'s [Connection],
        vlans: &'s [Vec<Vlan>],
    ) -> Result<Self> {
        let mut hosts: BTreeMap<&str, (Host, u16)> = BTreeMap::new();
        for (name, address) in [("a", [192, 0, 2, 1]), ("b", [192, 0, 2, 2])] {
            let address = address.into();
            hosts.insert(
                name,
                (
                    Host {
                        address,
                        ip_id: IpId::Counting,
                        ttl: 64,
                    },
                    0x100,
                ),
            );
        }
        for (name, host) in &scenario.host {
            hosts.insert(name, (host.clone(), 0x100));
        }
        let pairs = connections
            .iter()
            .zip(vlans)
            .map(|(of, vlans)| pair(of, vlans, &hosts))
            .collect::<Result<_>>()?;
        Ok(Self {
            hosts,
            pairs,
            only: scenario.capture.only,
            now: START_NS,
            last: None,
            dropped: None,
            frames: Vec::new(),
        })
    }

    fn play(&mut self, steps: &[Step]) -> Result<()> {
        for step in steps {
            self.step(step)
                .map_err(|error| format!("{:?}: {error}", step.verb))?;
        }
        Ok(())
    }

    fn step(&mut self, step: &Step) -> Result<()> {
        let with = &step.with;
        let on = match &with.on {
            None => 0,
            Some(name) => self
                .pairs
                .iter()
                .position(|pair| pair.of.name == *name)
                .ok_or("no such connection")?,
        };
        let client = (on, with.by.unwrap_or(Side::Client));
        let server = (on, with.by.unwrap_or(Side::Server));
        match &step.verb {
            Verb::Wait(duration) => self.now += duration.0,
            Verb::Dropped(frames) => self.dropped = Some(*frames),
            Verb::Repeat(times) => {
                for _ in 0..*times {
                    self.play(&with.steps)?;
                }
            }
            Verb::Skip(packets) => {
                for _ in 0..*packets {
                    self.end(client).skip();
                }
            }
            Verb::Send(octets) => self.message(client, 0x00, *octets, with)?,
            Verb::Write(octets) => self.message(client, 0x06, *octets, with)?,
            Verb::Read(octets) => self.single(client, 0x0c, *octets, with)?,
            Verb::Flush(octets) => self.single(client, 0x1c, *octets, with)?,
            Verb::AtomicWrite(octets) => self.single(client, 0x1d, *octets, with)?,
            Verb::Atomic(Atomic::CompareSwap) => self.single(client, 0x13, 8, with)?,
            Verb::Atomic(Atomic::FetchAdd) => self.single(client, 0x14, 8, with)?,
            Verb::Again(psns) => {
                let packets = self.again(client, psns)?;
                self.emit(client, packets, with)?;
            }
            Verb::Ack(psn) => self.answer(server, *psn, ack(with), 1, with)?,
            Verb::Nak(psn) => self.answer(server, *psn, AethKind::Nak(nak_code(with)), 0, with)?,
            Verb::Rnr(psn) => {
                let timer = RnrTimer(with.timer.ok_or("an RNR NAK has a timer")?);
                self.answer(server, *psn, AethKind::RnrNak { timer }, 0, with)?;
            }
            Verb::Respond(psns) => self.respond(server, psns, with)?,
            Verb::Cnp(count) => {
                let frame = self.end(server).frame.cnp();
                self.emit(
                    server,
                    (0..*count).map(|_| Packet { psn: 0, frame }).collect(),
                    with,
                )?;
            }
            Verb::Packet(name) => self.packet(with.by, on, name, with)?,
            Verb::Cm(message) => {
                let by = match message {
                    CmStep::Req | CmStep::Rtu | CmStep::Dreq => client,
                    CmStep::Rep | CmStep::Rej | CmStep::Drep => server,
                };
                let mad = cm::mad(&self.pairs[on], on as u32, *message, by.1);
                let frame = self.end(by).frame.mad(Psn::new(0), &mad);
                self.emit(by, vec![Packet { psn: 0, frame }], with)?;
            }
        }
        Ok(())
    }

    pub(crate) fn end(&mut self, (on, side): (usize, Side)) -> &mut EndState<'s> {
        match side {
            Side::Client => &mut self.pairs[on].client,
            Side::Server => &mut self.pairs[on].server,
        }
    }

    /// Packets of one step go out: numbered by their host, changed, delayed, lost and copied on the way.
    pub(crate) fn emit<'f>(
        &mut self,
        by: (usize, Side),
        mut packets: Vec<Packet<'f>>,
        with: &With,
    ) -> Result<()> {
        check_psns(&packets, with)?;
        if self.last.is_some_and(|last| last != by) {
            self.now += TURN_NS;
        }
        self.last = Some(by);
        let host = self.end(by).host;
        for packet in &mut packets {
            let (host, id) = self.hosts.get_mut(host).ok_or("no such host")?;
            *id = if host.ip_id == IpId::Counting {
                id.wrapping_add(1)
            } else {
                *id
            };
            packet.frame.ip_id = if host.ip_id == IpId::Zero { 0 } else { *id };
            packet.frame.migreq |= with.migreq;
            packet.frame.ecn = with.ecn.unwrap_or(packet.frame.ecn);
            damage(packet, with);
        }
        if let Some((one, other)) = with.swap {
            let place = |psn| packets.iter().position(|packet| packet.psn == psn);
            if let (Some(one), Some(other)) = (place(one), place(other)) {
                packets.swap(one, other);
            }
        }
        for packet in &packets {
            self.now += PACE_NS;
            self.pass(by.1, packet, with)?;
        }
        Ok(())
    }

    /// One packet on its way past the tap.
    fn pass(&mut self, by: Side, packet: &Packet<'_>, with: &With) -> Result<()> {
        let place = with.lose.as_ref().and_then(|lose| lose.place(packet.psn));
        if place == Some(Place::Before) || self.only.is_some_and(|only| only != by) {
            return Ok(());
        }
        let late = with
            .late
            .as_ref()
            .filter(|late| late.psn.contains(packet.psn))
            .map_or(0, |late| late.by.0);
        let at = self.now + late;
        let mut see = |at, frame: FrameBuilder<'_>| {
            let mut buffer = vec![0; 9000];
            let length = frame.frame(&mut buffer).ok_or("a packet does not fit")?;
            buffer.truncate(length);
            let dropped = self.dropped.take();
            self.frames.push(Frame {
                at,
                octets: buffer,
                captured: place != Some(Place::Capture),
                dropped,
            });
            Ok::<_, String>(())
        };
        see(at, packet.frame)?;
        match &with.copy {
            Some(Copies { of, after, ttl }) if of.contains(packet.psn) => {
                let hop_limit = ttl.unwrap_or(packet.frame.hop_limit);
                see(
                    at + after.0,
                    FrameBuilder {
                        hop_limit,
                        ..packet.frame
                    },
                )
            }
            _ => Ok(()),
        }
    }
}

fn damage(packet: &mut Packet<'_>, with: &With) {
    for (kind, psns) in with.damage.iter().flatten() {
        if !psns.contains(packet.psn) {
            continue;
        }
        match kind {
            Damage::Icrc => packet.frame.icrc = Icrc::Value(0xdead_beef),
            Damage::IcrcWithoutPad => packet.frame.icrc = Icrc::WithoutPad,
            Damage::IcrcSwapped => packet.frame.icrc = Icrc::ByteSwapped,
            Damage::IcrcZero => packet.frame.icrc = Icrc::Value(0),
            Damage::Pad => packet.frame.pad_count = Some(3),
        }
    }
}

/// A step that names a PSN it does not send is a mistake of its writer.
fn check_psns(packets: &[Packet<'_>], with: &With) -> Result<()> {
    let lost = with.lose.iter().flat_map(|lose| lose.some.values());
    let damaged = with.damage.iter().flat_map(BTreeMap::values);
    let copied = with
        .copy
        .iter()
        .map(|copy| &copy.of)
        .chain(with.late.iter().map(|late| &late.psn));
    let swapped = with.swap.iter().flat_map(|(one, other)| [*one, *other]);
    let named = lost
        .chain(damaged)
        .chain(copied)
        .flat_map(|psns| psns.0.iter().copied())
        .chain(swapped);
    for psn in named {
        if !packets.iter().any(|packet| packet.psn == psn) {
            return Err(format!("it does not send PSN {psn}"));
        }
    }
    Ok(())
}
