//! Link types of captures.

use super::LinkType;
use super::walk::{Content, Found, Walk};

impl Walk<'_, '_> {
    /// A frame as `link` begins it.
    #[inline]
    pub(super) fn link(&mut self, link: LinkType) -> Found {
        match link {
            LinkType::ETHERNET => self.ethernet(),
            LinkType::RAW => self.ip(),
            LinkType::IPV4 => self.ipv4(),
            LinkType::IPV6 => self.ipv6(),
            LinkType::LINUX_SLL => self.sll(),
            LinkType::LINUX_SLL2 => self.sll2(),
            LinkType::NULL | LinkType::LOOP => self.loopback(),
            _ => Ok(Content::UnknownLinkType),
        }
    }

    /// An address family in host or network byte order, whose numbers differ from system to system: the version of the
    /// IP header behind it says the same and does not.
    fn loopback(&mut self) -> Found {
        self.take::<4>()?;
        self.ip()
    }

    /// Linux cooked capture: packet type, ARPHRD, address length, address, protocol.
    fn sll(&mut self) -> Found {
        let [_, _, _, _, _, address_len, address @ .., high, low] = *self.take::<16>()?;
        self.cooked(address_len, address, u16::from_be_bytes([high, low]))
    }

    /// Version 2: protocol, reserved, interface, ARPHRD, packet type, address length, address.
    fn sll2(&mut self) -> Found {
        let [
            high,
            low,
            _,
            _,
            _,
            _,
            _,
            _,
            _,
            _,
            _,
            address_len,
            address @ ..,
        ] = *self.take::<20>()?;
        self.cooked(address_len, address, u16::from_be_bytes([high, low]))
    }

    fn cooked(&mut self, address_len: u8, address: [u8; 8], protocol: u16) -> Found {
        const MAC_LEN: usize = 6;
        if usize::from(address_len) == MAC_LEN {
            for (to, octet) in self.macs.iter_mut().zip(address).take(MAC_LEN) {
                *to = octet;
            }
        }
        self.ethertype(protocol)
    }
}
