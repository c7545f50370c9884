//! From frames to the file that the capture is: tunnels, cut frames, pcapng.

use crate::language::{Scenario, Tunnel};
use crate::traffic::{self, Frame};
use rocescope::source::write::{ByteOrder, InterfaceOptions, PacketOptions, PcapngWriter};
use rocescope_core::Time;
use rocescope_core::encap::LinkType;

/// Nanoseconds (10^-9).
const NANOSECONDS: u8 = 9;
const MIRROR: [u8; 4] = [198, 51, 100, 1];
const COLLECTOR: [u8; 4] = [198, 51, 100, 9];

/// The scenario as a pcapng file.
pub(crate) fn pcapng(scenario: &Scenario) -> Result<Vec<u8>, String> {
    let frames = traffic::frames(scenario)?;
    write(scenario, &frames).map_err(|error| error.to_string())
}

fn write(scenario: &Scenario, frames: &[Frame]) -> std::io::Result<Vec<u8>> {
    let capture = &scenario.capture;
    let mut writer = PcapngWriter::new(Vec::new(), ByteOrder::LittleEndian)?;
    let options = InterfaceOptions {
        snaplen: capture.cut.unwrap_or(0) as u32,
        tsresol: Some(NANOSECONDS),
        ..InterfaceOptions::default()
    };
    let interface = writer.interface(LinkType::ETHERNET, &options)?;
    for (sequence, frame) in (0x1000..).zip(frames) {
        let mut octets = frame.octets.clone();
        for tunnel in capture.tunnels.iter().rev() {
            octets = tunnel.wrap(&octets, sequence);
        }
        if !frame.captured {
            continue;
        }
        let wire_len = octets.len() as u32;
        octets.truncate(capture.cut.unwrap_or(usize::MAX));
        let options = PacketOptions {
            lost: frame.dropped,
            ..PacketOptions::default()
        };
        writer.frame(interface, Time(frame.at), wire_len, &octets, &options)?;
    }
    Ok(writer.into_inner())
}

impl Tunnel {
    /// `frame` from Ethernet on as a mirror sends it on.
    fn wrap(self, frame: &[u8], sequence: u32) -> Vec<u8> {
        let (ethertype, packet) = network(frame);
        let inner: u8 = if ethertype == 0x86dd { 41 } else { 4 };
        let gre = |protocol: u16, behind: &[u8]| {
            ipv4(47, &[&[0, 0], &protocol.to_be_bytes()[..], behind].concat())
        };
        let counted = |protocol: u16, header: &[u8]| {
            let flags = [
                0x10,
                0,
                protocol.to_be_bytes()[0],
                protocol.to_be_bytes()[1],
            ];
            ipv4(
                47,
                &[&flags[..], &sequence.to_be_bytes(), header, frame].concat(),
            )
        };
        match self {
            Self::Vxlan => ipv4(
                17,
                &udp(4789, &[&[8, 0, 0, 0, 0, 0, 42, 0], frame].concat()),
            ),
            Self::GreTeb => gre(0x6558, frame),
            Self::GreIp => gre(ethertype, packet),
            Self::IpInIp => ipv4(inner, packet),
            Self::Erspan1 => gre(0x88be, frame),
            Self::Erspan2 => counted(0x88be, &[0x10, 0, 0, 7, 0, 0, 0, 0]),
            Self::Erspan3 => counted(0x22eb, &[0x20, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0]),
        }
    }
}

/// Ethertype and what it announces, behind the VLAN tags.
fn network(frame: &[u8]) -> (u16, &[u8]) {
    let mut at = 12;
    loop {
        let ethertype = u16::from_be_bytes([frame[at], frame[at + 1]]);
        if !matches!(ethertype, 0x8100 | 0x88a8) {
            return (ethertype, &frame[at + 2..]);
        }
        at += 4;
    }
}

/// From the mirror to the collector, from Ethernet on.
fn ipv4(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let [high, low] = (20 + payload.len() as u16).to_be_bytes();
    let ethernet = [2, 0, 0, 0, 1, 2, 2, 0, 0, 0, 1, 1, 8, 0];
    let header = [0x45, 0, high, low, 0, 0, 0, 0, 64, protocol, 0, 0];
    [&ethernet[..], &header, &MIRROR, &COLLECTOR, payload].concat()
}

fn udp(port: u16, payload: &[u8]) -> Vec<u8> {
    let header = [0xd000, port, 8 + payload.len() as u16, 0]
        .map(u16::to_be_bytes)
        .concat();
    [&header, payload].concat()
}
