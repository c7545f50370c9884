//! Ethernet and what stands between it and the network layer: tags, PPPoE, MPLS.

use super::walk::{Content, Found, Walk};
use super::{Vlan, Why};
use etherparse::Ethernet2HeaderSlice;

const IPV4: u16 = 0x0800;
/// TPID of a C-VLAN, of an S-VLAN, and of stacked tags before IEEE 802.1ad.
const TPIDS: [u16; 3] = [0x8100, 0x88a8, 0x9100];
const IPV6: u16 = 0x86dd;
/// CN-TAG (IEEE 802.1Qau): a reaction point's 16-bit flow identifier, then the type it hides.
const CN_TAG: u16 = 0x22e9;
const MPLS: [u16; 2] = [0x8847, 0x8848];
const PPPOE_SESSION: u16 = 0x8864;
const MAC_CONTROL: u16 = 0x8808;
const ROCE_V1: u16 = 0x8915;
const LLDP: u16 = 0x88cc;

/// Tags, or labels, followed one after another.
const MAX_TAGS: usize = 4;

impl Walk<'_, '_> {
    /// A whole Ethernet frame. Tags and addresses of a frame around it are not its own.
    pub(super) fn ethernet(&mut self) -> Found {
        let header = Ethernet2HeaderSlice::from_slice(self.rest())
            .map_err(|_| self.missing(etherparse::Ethernet2Header::LEN))?;
        let [source, destination] = [header.source(), header.destination()];
        let (to_source, to_destination) = self.macs.split_at_mut(source.len());
        to_source.copy_from_slice(&source);
        to_destination.copy_from_slice(&destination);
        self.vlan = None;
        self.at += header.slice().len();
        self.ethertype(header.ether_type().0)
    }

    /// What an Ethernet type announces.
    pub(super) fn ethertype(&mut self, announced: u16) -> Found {
        let mut ethertype = announced;
        for _ in 0..=MAX_TAGS {
            ethertype = match ethertype {
                IPV4 => return self.ipv4(),
                IPV6 => return self.ipv6(),
                ROCE_V1 => return self.grh(),
                MAC_CONTROL => return self.mac_control(),
                LLDP => return Ok(Content::Lldp),
                PPPOE_SESSION => return self.pppoe(),
                CN_TAG => {
                    let [_, _, high, low] = self.take()?;
                    u16::from_be_bytes([*high, *low])
                }
                tpid if TPIDS.contains(&tpid) => self.vlan_tag()?,
                mpls if MPLS.contains(&mpls) => return self.mpls(),
                _ => return Ok(Content::Other),
            };
        }
        Err(Why::TooDeep)
    }

    /// A tag; the type behind it.
    fn vlan_tag(&mut self) -> Result<u16, Why> {
        let [tci_high, tci_low, high, low] = *self.take()?;
        self.vlan = Some(Vlan::from_tci(u16::from_be_bytes([tci_high, tci_low])));
        Ok(u16::from_be_bytes([high, low]))
    }

    fn mac_control(&self) -> Found {
        let opcode = self.rest().first_chunk().ok_or_else(|| self.missing(2))?;
        Ok(Content::MacControl(u16::from_be_bytes(*opcode)))
    }

    /// PPPoE session (RFC 2516 4): version and type, code 0, session, length; then the PPP protocol.
    fn pppoe(&mut self) -> Found {
        let [_, code, _, _, _, _, high, low] = *self.take()?;
        match (code, u16::from_be_bytes([high, low])) {
            (0, 0x0021) => self.ipv4(),
            (0, 0x0057) => self.ipv6(),
            _ => Ok(Content::Other),
        }
    }

    /// MPLS labels (RFC 3032 2.1) down to the bottom of the stack; nothing names what follows but its first bits.
    fn mpls(&mut self) -> Found {
        for _ in 0..MAX_TAGS {
            let [_, _, bottom, _] = self.take()?;
            if bottom & 1 != 0 {
                return self.ip();
            }
        }
        Err(Why::TooDeep)
    }
}
