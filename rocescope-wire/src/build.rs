//! Writers: whole frames with right lengths, checksums and ICRC, for tests and scenarios.
//!
//! A [`FrameBuilder`] is a plain value: name the fields that matter, leave the rest as [`Default`] has them, derive
//! frames from one another, write each into a buffer.
//!
//! ```
//! use rocescope_wire::build::{Fill, FrameBuilder};
//! use rocescope_wire::{Msn, NakCode, Opcode, Part, Psn, Qpn, Reth};
//!
//! let requester = FrameBuilder {
//!     source: [192, 0, 2, 1].into(),
//!     destination: [192, 0, 2, 2].into(),
//!     dest_qpn: Qpn::new(0x12),
//!     ..FrameBuilder::default()
//! };
//! let responder = requester.reply(Qpn::new(0x34));
//!
//! let mut buffer = [0; 2048];
//! // By name: a WRITE FIRST of a message of 3000 octets, a NAK, ...
//! let write = requester.write(Part::First, Psn::new(7), Reth::new(0x1000, 0xabcd, 3000), Fill::Counting(1024));
//! let len = write.frame(&mut buffer).expect("fits");
//! assert_eq!(len, 14 + 20 + 8 + 12 + 16 + 1024 + 4);
//! let nak = responder.nak(Psn::new(8), NakCode::PsnSequenceError, Msn(3));
//! assert_eq!(nak.frame(&mut buffer), Some(62));
//! // By field: anything, also what no adapter would send.
//! let odd = FrameBuilder { opcode: Opcode(0x1f), tver: 15, ecn: 3, ..requester };
//! assert_eq!(odd.frame(&mut buffer), Some(58));
//! ```

use core::net::{IpAddr, Ipv4Addr};

use crate::{
    Aeth, AtomicAckEth, AtomicEth, Bth, Dceth, Deth, Feth, Headers, Ieth, ImmDt, Opcode, Psn, Qpn,
    RdOrDc, Rdeth, Reth, Xrceth,
};

pub mod cm;
mod message;
mod network;
mod writer;

use writer::Writer;

/// UDP destination port of RoCEv2.
pub const ROCE_PORT: u16 = 4791;

/// One frame on Ethernet. See [`build`](self) for how to use it.
///
/// [`Default`]: IPv4, 192.0.2.1 to 192.0.2.2, UDP source port 0xC000, TTL 64, ECT(0), RC SEND ONLY without payload,
/// P_Key 0xFFFF, destination QPN 0x11, PSN 0, every flag clear, extended headers zero but for an AETH that says ACK
/// without limit of credits, right ICRC.
#[derive(Clone, Copy, Debug)]
pub struct FrameBuilder<'a> {
    /// Ethernet destination.
    pub destination_mac: [u8; 6],
    /// Ethernet source.
    pub source_mac: [u8; 6],
    /// VLAN tags, outer first.
    pub vlans: &'a [Vlan],
    /// Source address. With RoCEv1 an IPv4 address becomes the GID ::ffff:a.b.c.d.
    pub source: IpAddr,
    /// Destination address, of the same family as the source.
    pub destination: IpAddr,
    /// RoCEv1: ethertype 0x8915 and a GRH in place of IP and UDP.
    pub rocev1: bool,
    /// DSCP, 6 bits.
    pub dscp: u8,
    /// ECN, 2 bits: 0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE.
    pub ecn: u8,
    /// TTL or hop limit.
    pub hop_limit: u8,
    /// IPv4 identification.
    pub ip_id: u16,
    /// IPv4 options, a multiple of 4 octets, at most 40.
    pub ipv4_options: &'a [u8],
    /// Flow label of IPv6 and GRH, 20 bits.
    pub flow_label: u32,
    /// UDP source port.
    pub source_port: u16,
    /// UDP destination port.
    pub destination_port: u16,
    /// UDP checksum as it is; RoCE sends 0.
    pub udp_checksum: u16,
    /// Opcode.
    pub opcode: Opcode,
    /// Solicited event.
    pub solicited: bool,
    /// MigReq.
    pub migreq: bool,
    /// Pad count; `None` = what the payload needs. So many zeros are written too.
    pub pad_count: Option<u8>,
    /// Transport version.
    pub tver: u8,
    /// Partition key.
    pub pkey: u16,
    /// FECN.
    pub fecn: bool,
    /// BECN.
    pub becn: bool,
    /// QP the packet is for.
    pub dest_qpn: Qpn,
    /// Acknowledge request.
    pub ack_req: bool,
    /// Packet sequence number.
    pub psn: Psn,
    /// Headers to write; `None` = those of the opcode. The values are in the fields below.
    pub headers: Option<Headers>,
    /// How opcodes 0x40-0x5F are meant.
    pub rd_or_dc: RdOrDc,
    /// Dynamically Connected header.
    pub dceth: Dceth,
    /// Reliable datagram header.
    pub rdeth: Rdeth,
    /// Datagram header.
    pub deth: Deth,
    /// Extended reliable connection header.
    pub xrceth: Xrceth,
    /// FLUSH header.
    pub feth: Feth,
    /// RDMA header.
    pub reth: Reth,
    /// Atomic header.
    pub atomic_eth: AtomicEth,
    /// Acknowledge header.
    pub aeth: Aeth,
    /// Atomic acknowledge header.
    pub atomic_ack_eth: AtomicAckEth,
    /// Immediate data.
    pub imm_dt: ImmDt,
    /// Invalidate header.
    pub ieth: Ieth,
    /// Payload.
    pub payload: Fill<'a>,
    /// ICRC.
    pub icrc: Icrc,
    /// Octets behind the ICRC: Ethernet padding, a captured FCS.
    pub trailer: &'a [u8],
}

/// A VLAN tag.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Vlan {
    /// Tag protocol: 0x8100, 0x88A8.
    pub tpid: u16,
    /// Priority, 3 bits.
    pub pcp: u8,
    /// Drop eligible.
    pub dei: bool,
    /// VLAN, 12 bits.
    pub vid: u16,
}

/// What a payload is made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fill<'a> {
    /// These octets.
    Octets(&'a [u8]),
    /// So many octets, each one more than the one before, from 0.
    Counting(usize),
}

/// Which ICRC to write.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Icrc {
    /// The right one.
    #[default]
    Right,
    /// The one of the packet without its pad.
    WithoutPad,
    /// The right one, high octet first.
    ByteSwapped,
    /// This value, low octet first.
    Value(u32),
}

impl Default for FrameBuilder<'_> {
    fn default() -> Self {
        Self {
            destination_mac: [0x02, 0, 0, 0, 0, 0x02],
            source_mac: [0x02, 0, 0, 0, 0, 0x01],
            vlans: &[],
            source: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
            destination: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2)),
            rocev1: false,
            dscp: 0,
            ecn: 2,
            hop_limit: 64,
            ip_id: 0,
            ipv4_options: &[],
            flow_label: 0,
            source_port: 0xc000,
            destination_port: ROCE_PORT,
            udp_checksum: 0,
            opcode: Opcode::RC_SEND_ONLY,
            solicited: false,
            migreq: false,
            pad_count: None,
            tver: 0,
            pkey: 0xffff,
            fecn: false,
            becn: false,
            dest_qpn: Qpn::new(0x11),
            ack_req: false,
            psn: Psn::new(0),
            headers: None,
            rd_or_dc: RdOrDc::Rd,
            dceth: Dceth::default(),
            rdeth: Rdeth::default(),
            deth: Deth::default(),
            xrceth: Xrceth::default(),
            feth: Feth::default(),
            reth: Reth::default(),
            atomic_eth: AtomicEth::default(),
            aeth: Aeth::ack(crate::Msn(0)),
            atomic_ack_eth: AtomicAckEth::default(),
            imm_dt: ImmDt::default(),
            ieth: Ieth::default(),
            payload: Fill::Counting(0),
            icrc: Icrc::Right,
            trailer: &[],
        }
    }
}

impl Fill<'_> {
    /// Octets of payload.
    #[must_use]
    pub const fn len(&self) -> usize {
        match self {
            Self::Octets(octets) => octets.len(),
            Self::Counting(octets) => *octets,
        }
    }

    /// No payload.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn write(&self, out: &mut Writer<'_>) -> Option<()> {
        match self {
            Self::Octets(octets) => out.put(octets),
            Self::Counting(octets) => {
                for (value, octet) in out.take(*octets)?.iter_mut().enumerate() {
                    *octet = value as u8;
                }
                Some(())
            }
        }
    }
}

impl FrameBuilder<'_> {
    /// Writes the frame at the beginning of `buffer` and returns its length. `None` if it does not fit there, is longer
    /// than IP or GRH can say, its addresses are of two families, or its IPv4 options have no length IPv4 can say.
    pub fn frame(&self, buffer: &mut [u8]) -> Option<usize> {
        let mut out = Writer::new(buffer);
        out.put(&self.destination_mac)?;
        out.put(&self.source_mac)?;
        for vlan in self.vlans {
            let dei = u16::from(vlan.dei) << 12;
            out.put(&vlan.tpid.to_be_bytes())?;
            out.put(&(u16::from(vlan.pcp & 7) << 13 | dei | vlan.vid & 0x0fff).to_be_bytes())?;
        }
        out.put(&self.ethertype().to_be_bytes())?;
        self.packet_to(&mut out)?;
        Some(out.len())
    }

    /// Like [`FrameBuilder::frame`], from the IP or GRH header on: without Ethernet header and VLAN tags.
    pub fn packet(&self, buffer: &mut [u8]) -> Option<usize> {
        let mut out = Writer::new(buffer);
        self.packet_to(&mut out)?;
        Some(out.len())
    }

    fn packet_to(&self, out: &mut Writer<'_>) -> Option<()> {
        let network_at = out.len();
        self.network(out)?;
        let bth_at = out.len();
        self.transport(out)?;
        let icrc = self.icrc_of(out.written().get(network_at..)?, bth_at - network_at)?;
        out.put(&icrc)?;
        out.put(self.trailer)
    }

    /// Octets from BTH to ICRC.
    #[must_use]
    pub fn transport_len(&self) -> usize {
        let pad = usize::from(self.pad());
        Bth::LEN + self.headers().len() + self.payload.len() + pad + crate::transport::ICRC_LEN
    }

    /// Octets of pad.
    fn pad(&self) -> u8 {
        self.pad_count
            .map_or((self.payload.len().wrapping_neg() & 3) as u8, |pad| pad & 3)
    }

    fn headers(&self) -> Headers {
        let of_opcode = || {
            self.opcode
                .info_as(self.rd_or_dc)
                .map_or(Headers::EMPTY, |info| info.headers)
        };
        self.headers.unwrap_or_else(of_opcode)
    }

    fn bth(&self) -> Bth {
        Bth::new(self.opcode, self.pkey, self.dest_qpn, self.psn)
            .with_solicited(self.solicited)
            .with_migreq(self.migreq)
            .with_pad_count(self.pad())
            .with_tver(self.tver)
            .with_congestion(self.fecn, self.becn)
            .with_ack_req(self.ack_req)
    }

    /// BTH to pad.
    fn transport(&self, out: &mut Writer<'_>) -> Option<()> {
        use zerocopy::IntoBytes;
        out.put(self.bth().as_bytes())?;
        let values = [
            (Headers::DCETH, self.dceth.as_bytes()),
            (Headers::RDETH, self.rdeth.as_bytes()),
            (Headers::DETH, self.deth.as_bytes()),
            (Headers::XRCETH, self.xrceth.as_bytes()),
            (Headers::FETH, self.feth.as_bytes()),
            (Headers::RETH, self.reth.as_bytes()),
            (Headers::ATOMIC_ETH, self.atomic_eth.as_bytes()),
            (Headers::AETH, self.aeth.as_bytes()),
            (Headers::ATOMIC_ACK_ETH, self.atomic_ack_eth.as_bytes()),
            (Headers::IMM_DT, self.imm_dt.as_bytes()),
            (Headers::IETH, self.ieth.as_bytes()),
        ];
        let headers = self.headers();
        for (_, octets) in values
            .iter()
            .filter(|(header, _)| headers.contains(*header))
        {
            out.put(octets)?;
        }
        self.payload.write(out)?;
        out.take(usize::from(self.pad()))?.fill(0);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    mod cm;
    mod frame;
}
