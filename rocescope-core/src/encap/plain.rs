//! The way nearly every packet takes, at once: Ethernet, at most one tag, IPv4 without options, UDP to a RoCE port.
//!
//! Everything stands at an offset known to the compiler, so one comparison of lengths serves all headers. Measured on a
//! busy 2-core virtual machine over 831 frames of 54 to 174 octets, nanoseconds a packet: 7 here, cut frames the same;
//! 21 by the walk of the other modules, which takes etherparse's header slices; 30 by etherparse's strict slicing of
//! whole packets.

use super::{Carrier, Located, Ports, Vlan};
use crate::Address;
use rocescope_wire::Bth;

const ETHERNET_LEN: usize = 14;
const TAG_LEN: usize = 4;
const IPV4_LEN: usize = 20;
const UDP_LEN: usize = 8;

/// What a walk would find, or `None` where a walk has to look: anything else, and lengths that do not fit.
#[inline]
pub(super) fn locate<'a>(octets: &'a [u8], ports: &Ports) -> Option<Located<'a>> {
    let (ethernet, payload) = octets.split_first_chunk::<ETHERNET_LEN>()?;
    let (vlan, packet) = match [ethernet[12], ethernet[13]] {
        [0x08, 0x00] => (None, payload),
        [0x81, 0x00] => {
            let ([high, low, 0x08, 0x00], packet) = payload.split_first_chunk::<TAG_LEN>()? else {
                return None;
            };
            (
                Some(Vlan::from_tci(u16::from_be_bytes([*high, *low]))),
                packet,
            )
        }
        _ => return None,
    };
    let head = packet.first_chunk::<{ IPV4_LEN + UDP_LEN + Bth::LEN }>()?;
    let half = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
    let [total, fragment, udp_length] = [half(2), half(6), half(24)].map(usize::from);
    let whole = head[0] == 0x45 && head[9] == 17 && fragment & 0x3fff == 0;
    let fits = udp_length >= UDP_LEN + Bth::LEN && udp_length + IPV4_LEN <= total;
    if !(whole && fits && ports.carry_roce(half(22))) {
        return None;
    }
    let network = packet.get(..IPV4_LEN + udp_length).unwrap_or(packet);
    let [d0, d1, d2, d3, d4, d5, s0, s1, s2, s3, s4, s5, _, _] = *ethernet;
    Some(Located {
        carrier: Carrier::RoceV2Ipv4,
        src: Address::V4([head[12], head[13], head[14], head[15]]),
        dst: Address::V4([head[16], head[17], head[18], head[19]]),
        udp_source_port: half(20),
        traffic_class: head[1],
        hop_limit: head[8],
        ip_id: Some(half(4)),
        vlan,
        macs: [s0, s1, s2, s3, s4, s5, d0, d1, d2, d3, d4, d5],
        transport: network.get(IPV4_LEN + UDP_LEN..).unwrap_or_default(),
        wire_len: (udp_length - UDP_LEN) as u32,
        network,
        tunnel_source: None,
        cut_by_mirror: false,
    })
}
