//! From steps to frames: who sent which packet when, and whether the tap saw it.

use super::language::{
    Atomic, CmStep, Connection, Copies, Damage, Host, IpId, Nak, Place, Psns, Scenario, Service,
    Side, Step, Verb, With,
};
use rocescope_wire::build::{Fill, FrameBuilder, Icrc, Vlan};
use rocescope_wire::{
    Aeth, AethKind, AtomicAckEth, AtomicEth, Deth, Feth, Msn, NakCode, Opcode, Psn, Qpn, Reth,
    RnrTimer, Xrceth,
};
use std::collections::BTreeMap;

#[path = "cm.rs"]
mod cm;

/// 2026-01-01T00:00:00Z.
const START_NS: u64 = 1_767_225_600_000_000_000;
/// Between packets of one end.
const PACE_NS: u64 = 1_000;
/// Between a packet and one that the other end sends after it.
const TURN_NS: u64 = 100_000;
const RKEY: u32 = 0x1234;
const VA: u64 = 0x10_0000;

/// A frame on the wire at the tap.
pub(crate) struct Frame {
    pub(crate) at: u64,
    pub(crate) octets: Vec<u8>,
    /// The capture has it.
    pub(crate) captured: bool,
    /// Frames that the capture says it dropped before this one.
    pub(crate) dropped: Option<u64>,
}

/// What a request was, for its answers and repeats. A READ has one for each PSN it claims.
#[derive(Clone, Copy)]
struct Request<'s> {
    frame: FrameBuilder<'s>,
    first: u32,
    last: u32,
}

/// One end of a connection, as it sends.
struct EndState<'s> {
    /// What all its packets have.
    frame: FrameBuilder<'s>,
    host: &'s str,
    next_psn: u32,
    sent: BTreeMap<u32, Request<'s>>,
    /// Last PSN of each message, in order.
    messages: Vec<u32>,
    /// Messages it had completed as responder before.
    completed: u32,
}

struct Pair<'s> {
    of: &'s Connection,
    client: EndState<'s>,
    server: EndState<'s>,
}

struct Packet<'f> {
    psn: u32,
    frame: FrameBuilder<'f>,
}

type Result<T> = std::result::Result<T, String>;

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

fn vlans(connection: &Connection) -> Vec<Vlan> {
    let outer = connection.vlan.len().saturating_sub(1);
    let tag = |(index, tag): (usize, &super::language::VlanTag)| Vlan {
        tpid: if index < outer { 0x88a8 } else { 0x8100 },
        pcp: tag.priority,
        dei: false,
        vid: tag.id,
    };
    connection.vlan.iter().enumerate().map(tag).collect()
}

struct Stage<'s> {
    hosts: BTreeMap<&'s str, (Host, u16)>,
    pairs: Vec<Pair<'s>>,
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

    fn end(&mut self, (on, side): (usize, Side)) -> &mut EndState<'s> {
        match side {
            Side::Client => &mut self.pairs[on].client,
            Side::Server => &mut self.pairs[on].server,
        }
    }

    /// A SEND or WRITE, whose opcodes begin at `operation`.
    fn message(
        &mut self,
        by: (usize, Side),
        operation: u8,
        octets: u32,
        with: &With,
    ) -> Result<()> {
        let (mtu, service) = (self.pairs[by.0].of.mtu, self.pairs[by.0].of.service);
        let count = octets.div_ceil(mtu).max(1);
        let first = self.end(by).next_psn;
        let immediate = u8::from(with.immediate);
        let mut packets = Vec::new();
        for index in 0..count {
            let part = match (index, index + 1 == count) {
                (0, true) => 4 + immediate,
                (0, false) => 0,
                (_, false) => 1,
                (_, true) => 2 + immediate,
            };
            let psn = (first + index) & 0xff_ffff;
            let frame = FrameBuilder {
                opcode: opcode(service, operation + part),
                psn: Psn::new(psn),
                ack_req: with
                    .ack_req
                    .unwrap_or(part >= 2 && matches!(service, Service::RC | Service::XRC)),
                reth: Reth::new(with.va.unwrap_or(VA), RKEY, octets),
                payload: Fill::Counting(octets.saturating_sub(index * mtu).min(mtu) as usize),
                ..self.end(by).frame
            };
            packets.push(Packet { psn, frame });
        }
        self.end(by).remember(&packets);
        self.emit(by, packets, with)
    }

    /// A request of one packet; a READ claims the PSNs of its responses.
    fn single(&mut self, by: (usize, Side), operation: u8, octets: u32, with: &With) -> Result<()> {
        let (mtu, service) = (self.pairs[by.0].of.mtu, self.pairs[by.0].of.service);
        let claimed = if operation == 0x0c {
            octets.div_ceil(mtu).max(1)
        } else {
            1
        };
        let end = self.end(by);
        let first = end.next_psn;
        let last = (first + claimed - 1) & 0xff_ffff;
        let va = with.va.unwrap_or(VA);
        let frame = FrameBuilder {
            opcode: opcode(service, operation),
            psn: Psn::new(first),
            ack_req: true,
            reth: Reth::new(va, RKEY, octets),
            atomic_eth: AtomicEth::new(va, RKEY, 1, 0),
            feth: Feth::new(1, 0),
            payload: Fill::Counting(if operation == 0x1d {
                octets as usize
            } else {
                0
            }),
            ..end.frame
        };
        for psn in Psns::range(first, claimed) {
            end.sent.insert(psn, Request { frame, first, last });
        }
        end.messages.push(last);
        end.next_psn = (last + 1) & 0xff_ffff;
        self.emit(by, vec![Packet { psn: first, frame }], with)
    }

    /// Requests as they were sent first; a READ from the PSN on.
    fn again(&mut self, by: (usize, Side), psns: &Psns) -> Result<Vec<Packet<'s>>> {
        let mtu = self.pairs[by.0].of.mtu;
        let end = self.end(by);
        let mut packets = Vec::new();
        let mut covered = None;
        for psn in &psns.0 {
            let request = end
                .sent
                .get(psn)
                .ok_or(format!("PSN {psn} was never sent"))?;
            if covered == Some(request.first) && request.first != request.last {
                continue;
            }
            covered = Some(request.first);
            let offset = psn.wrapping_sub(request.first) & 0xff_ffff;
            let (whole, octets) = (request.frame.reth, offset * mtu);
            let rest = Reth::new(
                whole.va() + u64::from(octets),
                whole.rkey(),
                whole.dma_len().saturating_sub(octets),
            );
            let reth = if request.first == request.last {
                whole
            } else {
                rest
            };
            let frame = FrameBuilder {
                psn: Psn::new(*psn),
                reth,
                ..request.frame
            };
            packets.push(Packet { psn: *psn, frame });
        }
        Ok(packets)
    }

    /// An ACKNOWLEDGE; a completed message at `psn` counts where `own` is 1.
    fn answer(
        &mut self,
        by: (usize, Side),
        psn: u32,
        kind: AethKind,
        own: i32,
        with: &With,
    ) -> Result<()> {
        let msn = self.msn(by, psn, own, with);
        let service = self.pairs[by.0].of.service;
        let frame = FrameBuilder {
            opcode: opcode(service, 0x11),
            ..self.end(by).frame.acknowledge(Psn::new(psn), kind, msn)
        };
        self.emit(by, vec![Packet { psn, frame }], with)
    }

    /// Messages of the other end completed through `psn`, or before it.
    fn msn(&mut self, by: (usize, Side), psn: u32, own: i32, with: &With) -> Msn {
        let before = self.end(by).completed;
        let asked = self.end((by.0, by.1.other()));
        let done = |last: &&u32| Psn::new(**last).since(Psn::new(psn)) < own;
        let done = asked.messages.iter().filter(done).count() as u32;
        Msn(with.msn.unwrap_or(before + done))
    }

    /// READ responses, atomic answers, answers to FLUSH and ATOMIC WRITE, by what was asked.
    fn respond(&mut self, by: (usize, Side), psns: &Psns, with: &With) -> Result<()> {
        let (mtu, service) = (self.pairs[by.0].of.mtu, self.pairs[by.0].of.service);
        let mut packets = Vec::new();
        for (index, psn) in psns.0.iter().enumerate() {
            let asked = self.end((by.0, by.1.other()));
            let request = *asked
                .sent
                .get(psn)
                .ok_or(format!("PSN {psn} was never asked for"))?;
            let msn = self.msn(by, request.last, 1, with);
            let first = *psn == request.first || (index == 0 && with.from_first);
            let (operation, octets) = match request.frame.opcode.0 & 0x1f {
                0x0c => {
                    let offset = (psn.wrapping_sub(request.first) & 0xff_ffff) * mtu;
                    let part = match (first, *psn == request.last) {
                        (true, true) => 0x10,
                        (true, false) => 0x0d,
                        (false, false) => 0x0e,
                        (false, true) => 0x0f,
                    };
                    (
                        part,
                        request.frame.reth.dma_len().saturating_sub(offset).min(mtu),
                    )
                }
                0x13 | 0x14 => (0x12, 0),
                0x1c | 0x1d => (0x10, 0),
                _ => return Err(format!("PSN {psn} is answered by an ACK")),
            };
            let frame = FrameBuilder {
                opcode: opcode(service, operation),
                psn: Psn::new(*psn),
                aeth: Aeth::ack(msn),
                atomic_ack_eth: AtomicAckEth::new(7),
                payload: Fill::Counting(octets as usize),
                ..self.end(by).frame
            };
            packets.push(Packet { psn: *psn, frame });
        }
        self.emit(by, packets, with)
    }

    /// A packet by its opcode. Without a PSN it is the next request.
    fn packet(&mut self, by: Option<Side>, on: usize, name: &str, with: &With) -> Result<()> {
        let info = (0..=u8::MAX)
            .filter_map(|code| Opcode(code).info())
            .find(|info| info.name == name)
            .ok_or("no such opcode")?;
        let usual = if info.is_response() {
            Side::Server
        } else {
            Side::Client
        };
        let by = (on, by.unwrap_or(usual));
        let end = self.end(by);
        let psn = with.psn.unwrap_or(end.next_psn);
        let payload = Fill::Counting(with.payload.unwrap_or(0));
        let frame = FrameBuilder {
            opcode: info.opcode(),
            psn: Psn::new(psn),
            ack_req: with
                .ack_req
                .unwrap_or(info.part.ends() && info.is_request()),
            reth: Reth::new(with.va.unwrap_or(VA), RKEY, payload.len() as u32),
            aeth: Aeth::ack(Msn(with.msn.unwrap_or(0))),
            payload,
            ..end.frame
        };
        let packets = vec![Packet { psn, frame }];
        if with.psn.is_none() {
            end.remember(&packets);
        }
        self.emit(by, packets, with)
    }

    /// Packets of one step go out: numbered by their host, changed, delayed, lost and copied on the way.
    fn emit<'f>(
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

impl<'s> EndState<'s> {
    /// The packets of the next message.
    fn remember(&mut self, packets: &[Packet<'s>]) {
        for packet in packets {
            let (first, last) = (packet.psn, packet.psn);
            self.sent.insert(
                packet.psn,
                Request {
                    frame: packet.frame,
                    first,
                    last,
                },
            );
            self.next_psn = (last + 1) & 0xff_ffff;
        }
        self.messages
            .extend(packets.last().map(|packet| packet.psn));
    }

    fn skip(&mut self) {
        self.messages.push(self.next_psn);
        self.next_psn = (self.next_psn + 1) & 0xff_ffff;
    }
}

fn pair<'s>(
    of: &'s Connection,
    vlans: &'s [Vlan],
    hosts: &BTreeMap<&'s str, (Host, u16)>,
) -> Result<Pair<'s>> {
    let side = |end: &'s super::language::End, usual: &'s str| {
        let name = end.host.as_deref().unwrap_or(usual);
        let (name, (host, _)) = hosts.get_key_value(name).ok_or(format!("no host {name}"))?;
        Ok::<_, String>((*name, host.clone()))
    };
    let (client_name, client) = side(&of.client, "a")?;
    let (server_name, server) = side(&of.server, "b")?;
    let base = FrameBuilder {
        vlans,
        source: client.address,
        destination: server.address,
        rocev1: of.rocev1,
        dscp: of.dscp,
        ecn: of.ecn,
        hop_limit: client.ttl,
        source_port: of.client.port.unwrap_or(of.port),
        dest_qpn: Qpn::new(of.server.qpn),
        xrceth: Xrceth::new(1),
        deth: Deth::new(0x1111_1111, Qpn::new(of.client.qpn)),
        ..FrameBuilder::default()
    };
    let back = FrameBuilder {
        hop_limit: server.ttl,
        source_port: of.server.port.unwrap_or(of.port),
        deth: Deth::new(0x1111_1111, Qpn::new(of.server.qpn)),
        ..base.reply(Qpn::new(of.client.qpn))
    };
    let end = |frame, host, end: &super::language::End| EndState {
        frame,
        host,
        next_psn: end.psn,
        sent: BTreeMap::new(),
        messages: Vec::new(),
        completed: end.msn,
    };
    Ok(Pair {
        of,
        client: end(base, client_name, &of.client),
        server: end(back, server_name, &of.server),
    })
}

/// The opcode of an operation in a transport service (IBTA volume 1, table 38).
fn opcode(service: Service, operation: u8) -> Opcode {
    Opcode(match service {
        Service::RC => operation,
        Service::UC => 0x20 | operation,
        Service::UD => 0x60 | operation,
        Service::XRC => 0xa0 | operation,
    })
}

fn ack(with: &With) -> AethKind {
    match Aeth::new(with.credits.unwrap_or(31), Msn(0)).kind() {
        AethKind::Ack { credits } => AethKind::Ack { credits },
        other => other,
    }
}

fn nak_code(with: &With) -> NakCode {
    match with.code.unwrap_or(Nak::PsnSequenceError) {
        Nak::PsnSequenceError => NakCode::PsnSequenceError,
        Nak::InvalidRequest => NakCode::InvalidRequest,
        Nak::RemoteAccessError => NakCode::RemoteAccessError,
        Nak::RemoteOperationalError => NakCode::RemoteOperationalError,
        Nak::InvalidRdRequest => NakCode::InvalidRdRequest,
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

impl Psns {
    fn range(first: u32, count: u32) -> impl Iterator<Item = u32> {
        (0..count).map(move |index| (first + index) & 0xff_ffff)
    }
}
