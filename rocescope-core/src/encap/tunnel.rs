//! Tunnels and mirrors: VXLAN, GRE, ERSPAN. IP in IP needs no header of its own.

use super::walk::{Content, Found, Walk};
use super::{MirrorSequence, Vlan};

/// Types in a GRE header beside those of Ethernet: transparent Ethernet bridging, ERSPAN I and II, ERSPAN III.
const BRIDGED_ETHERNET: u16 = 0x6558;
const ERSPAN: u16 = 0x88be;
const ERSPAN_III: u16 = 0x22eb;

/// GRE flags (RFC 2784, RFC 2890; source routing: RFC 1701) and version.
const CHECKSUM: u16 = 0x8000;
const SOURCE_ROUTE: u16 = 0x4000;
const KEY: u16 = 0x2000;
const SEQUENCE: u16 = 0x1000;
const VERSION: u16 = 0x0007;

/// First word of ERSPAN II and III (draft-foschiano-erspan; `erspan.h`, `enum erspan_encap_type`).
const TRUNCATED: u16 = 0x0400;
const SESSION: u16 = 0x03ff;
const ENCAPSULATION: u16 = 0x1800;
const TAG_TAKEN_OFF: u16 = 0x1000;

impl Walk<'_, '_> {
    /// VXLAN (RFC 7348 5). Without its I flag there is no network to belong to, and the port carries something else.
    pub(super) fn vxlan(&mut self, port: u16) -> Found {
        let [flags, _, _, _, _, _, _, _] = *self.take()?;
        if flags & 0x08 == 0 {
            return Ok(Content::Udp {
                port,
                looks_like_bth: false,
            });
        }
        self.enter_tunnel()?;
        self.ethernet()
    }

    pub(super) fn gre(&mut self) -> Found {
        let [high, low, type_high, type_low] = *self.take()?;
        let flags = u16::from_be_bytes([high, low]);
        if flags & (SOURCE_ROUTE | VERSION) != 0 {
            return Ok(Content::Other);
        }
        self.enter_tunnel()?;
        for option in [CHECKSUM, KEY] {
            if flags & option != 0 {
                self.take::<4>()?;
            }
        }
        let sequence = match flags & SEQUENCE {
            0 => None,
            _ => Some(u32::from_be_bytes(*self.take()?)),
        };
        match u16::from_be_bytes([type_high, type_low]) {
            BRIDGED_ETHERNET => self.ethernet(),
            ERSPAN => match sequence {
                None => self.ethernet(),
                Some(sequence) => self.erspan_ii(sequence),
            },
            ERSPAN_III => self.erspan_iii(sequence),
            // The numbers of a tunnel that is no mirror are not kept: a gap there is loss on the way of the traffic.
            ethertype => self.ethertype(ethertype),
        }
    }

    fn erspan_ii(&mut self, sequence: u32) -> Found {
        let [a, b, c, d, _, _, _, _] = *self.take()?;
        let flags = self.mirrored([a, b, c, d], Some(sequence));
        let found = self.ethernet();
        // The mirror may put the tag of the frame into its own header.
        if self.vlan.is_none() && flags & ENCAPSULATION == TAG_TAKEN_OFF {
            self.vlan = Some(Vlan {
                pcp: c >> 5,
                dei: false,
                vid: u16::from_be_bytes([a, b]) & 0x0fff,
            });
        }
        found
    }

    /// ERSPAN III: the first word, a timestamp, a security group, and what kind of frame follows.
    fn erspan_iii(&mut self, sequence: Option<u32>) -> Found {
        let [a, b, c, d, _, _, _, _, _, _, high, low] = *self.take()?;
        self.mirrored([a, b, c, d], sequence);
        let kind = u16::from_be_bytes([high, low]);
        if kind & 1 != 0 {
            // The platform's own subheader.
            self.take::<8>()?;
        }
        match kind >> 10 & 0x1f {
            0 => self.ethernet(),
            2 => {
                self.vlan = None;
                self.macs = [0; 12];
                self.ip()
            }
            _ => Ok(Content::Other),
        }
    }

    /// What the first word of ERSPAN II and III says; its low half.
    fn mirrored(&mut self, [_, _, high, low]: [u8; 4], sequence: Option<u32>) -> u16 {
        let flags = u16::from_be_bytes([high, low]);
        self.cut_by_mirror |= flags & TRUNCATED != 0;
        // The outermost mirror is the one whose frames are captured.
        if let (None, Some(sequence)) = (self.mirror, sequence) {
            self.mirror = Some(MirrorSequence {
                source: self.src,
                destination: self.dst,
                session: flags & SESSION,
                sequence,
            });
        }
        flags
    }
}
