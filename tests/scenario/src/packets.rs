//! What each verb sends.

use crate::end::{Request, opcode};
use crate::language::{Service, Side};
use crate::steps::{Nak, With};
use crate::traffic::{Packet, Result, Stage};
use crate::values::Psns;
use rocescope_wire::build::{Fill, FrameBuilder};
use rocescope_wire::{
    Aeth, AethKind, AtomicAckEth, AtomicEth, Feth, Msn, NakCode, Opcode, Psn, Reth,
};

const RKEY: u32 = 0x1234;
const VA: u64 = 0x10_0000;

impl<'s> Stage<'s> {
    /// A SEND or WRITE, whose opcodes begin at `operation`.
    pub(crate) fn message(
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
                    .unwrap_or(part >= 2 && matches!(service, Service::Rc | Service::Xrc)),
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
    pub(crate) fn single(
        &mut self,
        by: (usize, Side),
        operation: u8,
        octets: u32,
        with: &With,
    ) -> Result<()> {
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
    pub(crate) fn again(&mut self, by: (usize, Side), psns: &Psns) -> Result<Vec<Packet<'s>>> {
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
    pub(crate) fn answer(
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
    pub(crate) fn respond(&mut self, by: (usize, Side), psns: &Psns, with: &With) -> Result<()> {
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
    pub(crate) fn packet(
        &mut self,
        by: Option<Side>,
        on: usize,
        name: &str,
        with: &With,
    ) -> Result<()> {
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
}

pub(crate) fn ack(with: &With) -> AethKind {
    match Aeth::new(with.credits.unwrap_or(31), Msn(0)).kind() {
        AethKind::Ack { credits } => AethKind::Ack { credits },
        other => other,
    }
}

pub(crate) fn nak_code(with: &With) -> NakCode {
    match with.code.unwrap_or(Nak::PsnSequenceError) {
        Nak::PsnSequenceError => NakCode::PsnSequenceError,
        Nak::InvalidRequest => NakCode::InvalidRequest,
        Nak::RemoteAccessError => NakCode::RemoteAccessError,
        Nak::RemoteOperationalError => NakCode::RemoteOperationalError,
        Nak::InvalidRdRequest => NakCode::InvalidRdRequest,
    }
}
