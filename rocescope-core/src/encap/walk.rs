//! The walk through a frame's headers: where it stands, and what it has learnt.

use super::{Carrier, Located, MirrorSequence, Ports, Vlan, Why};
use crate::Address;
use rocescope_wire::Bth;

/// Tunnels followed into one another.
const MAX_TUNNELS: u8 = 4;

/// What a walk ended at. The octets are what is left of the walk.
pub(super) enum Content {
    Roce(Carrier, u16),
    MacControl(u16),
    Lldp,
    Fragment {
        protocol: u8,
        first: bool,
    },
    Udp {
        port: u16,
        looks_like_bth: bool,
    },
    Tcp {
        source_port: u16,
        destination_port: u16,
    },
    Other,
    UnknownLinkType,
}

/// How a walk ends.
pub(super) type Found = Result<Content, Why>;

/// A walk through a frame. Everything learnt stays here and is put together once, for a result that each step handed
/// on would be copied as often.
pub(super) struct Walk<'a, 'p> {
    octets: &'a [u8],
    pub(super) ports: &'p Ports,
    /// Octets behind us.
    pub(super) at: usize,
    /// Where the innermost length says that the packet ends on the wire; may lie beyond what was captured.
    pub(super) end: usize,
    /// Where the innermost IP header or GRH begins.
    pub(super) network_at: usize,
    pub(super) src: Address,
    pub(super) dst: Address,
    pub(super) traffic_class: u8,
    pub(super) hop_limit: u8,
    pub(super) ip_id: Option<u16>,
    pub(super) vlan: Option<Vlan>,
    pub(super) macs: [u8; 12],
    tunnels: u8,
    tunnel_source: Option<Address>,
    pub(super) cut_by_mirror: bool,
    pub(super) mirror: Option<MirrorSequence>,
}

impl<'a, 'p> Walk<'a, 'p> {
    pub(super) fn new(octets: &'a [u8], wire_len: u32, ports: &'p Ports) -> Self {
        Self {
            octets,
            ports,
            at: 0,
            // A source that says less than it captured is not believed.
            end: octets.len().max(wire_len as usize),
            network_at: 0,
            src: Address::Lid(0),
            dst: Address::Lid(0),
            traffic_class: 0,
            hop_limit: 0,
            ip_id: None,
            vlan: None,
            macs: [0; 12],
            tunnels: 0,
            tunnel_source: None,
            cut_by_mirror: false,
            mirror: None,
        }
    }

    /// Captured octets ahead, up to the end of the packet.
    pub(super) fn rest(&self) -> &'a [u8] {
        let until = self.end.min(self.octets.len());
        self.octets.get(self.at..until).unwrap_or_default()
    }

    /// The next `N` octets, and past them.
    pub(super) fn take<const N: usize>(&mut self) -> Result<&'a [u8; N], Why> {
        let header = self.rest().first_chunk().ok_or_else(|| self.missing(N))?;
        self.at += N;
        Ok(header)
    }

    /// Past the next `octets`, captured or not.
    pub(super) fn skip(&mut self, octets: usize) -> Result<(), Why> {
        if octets > self.rest().len() {
            return Err(self.missing(octets));
        }
        self.at += octets;
        Ok(())
    }

    /// Why `octets` more could not be read.
    #[cold]
    pub(super) fn missing(&self, octets: usize) -> Why {
        // Within a tunnel the outer length may be that of the frame a mirror cut.
        if self.at + octets <= self.end || self.tunnels > 0 {
            Why::Cut
        } else {
            Why::Short
        }
    }

    /// A network header says that its packet ends at `end`.
    pub(super) fn ends_at(&mut self, end: usize) {
        self.cut_by_mirror |= self.tunnels > 0 && end > self.end;
        self.end = end;
    }

    /// The addresses walked past are those of a tunnel; another packet follows.
    pub(super) fn enter_tunnel(&mut self) -> Result<(), Why> {
        if self.tunnels == MAX_TUNNELS {
            return Err(Why::TooDeep);
        }
        self.tunnels += 1;
        self.tunnel_source.get_or_insert(self.src);
        self.ip_id = None;
        Ok(())
    }

    pub(super) fn source_mac(&self) -> [u8; 6] {
        let [a, b, c, d, e, f, ..] = self.macs;
        [a, b, c, d, e, f]
    }

    /// The walk stands before a BTH.
    pub(super) fn roce(&self, carrier: Carrier, udp_source_port: u16) -> Found {
        if self.rest().len() < Bth::LEN {
            return Err(self.missing(Bth::LEN));
        }
        Ok(Content::Roce(carrier, udp_source_port))
    }

    pub(super) fn located(&self, carrier: Carrier, udp_source_port: u16) -> Located<'a> {
        let until = self.end.min(self.octets.len());
        Located {
            carrier,
            src: self.src,
            dst: self.dst,
            udp_source_port,
            traffic_class: self.traffic_class,
            hop_limit: self.hop_limit,
            ip_id: self.ip_id,
            vlan: self.vlan,
            macs: self.macs,
            transport: self.rest(),
            // No more than the wire length of a frame or 65,535 beyond the start of an IP packet in it.
            wire_len: u32::try_from(self.end.saturating_sub(self.at)).unwrap_or(u32::MAX),
            network: self.octets.get(self.network_at..until).unwrap_or_default(),
            tunnel_source: self.tunnel_source,
            cut_by_mirror: self.cut_by_mirror,
        }
    }
}
