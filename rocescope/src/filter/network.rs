//! Addresses and networks of a filter.

use rocescope_core::Address;
use std::fmt;
use std::net::IpAddr;

/// An address, or all addresses that share its first bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Network {
    address: Address,
    /// Bits that count; all of them for a single address.
    prefix: u8,
}

impl Network {
    /// An address alone or with a prefix length; nothing where that is too long.
    #[must_use]
    pub fn new(address: Address, prefix: Option<u8>) -> Option<Self> {
        let bits = bits(&address);
        let prefix = prefix.unwrap_or(bits);
        (prefix <= bits).then_some(Self { address, prefix })
    }

    /// Reads `192.0.2.1`, `192.0.2.0/24`, an IPv6 address with or without prefix length, or `lid:7`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(lid) = text.strip_prefix("lid:") {
            return Self::new(Address::Lid(lid.parse().ok()?), None);
        }
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix.parse().ok()?)),
            None => (text, None),
        };
        let address = match address.parse().ok()? {
            IpAddr::V4(address) => Address::V4(address.octets()),
            IpAddr::V6(address) => Address::V6(address.octets()),
        };
        Self::new(address, prefix)
    }

    /// Whether the address is in it. An IPv4-mapped GID counts as its IPv4 address.
    #[must_use]
    pub fn contains(&self, address: &Address) -> bool {
        match (self.address, *address) {
            (Address::V4(ours), Address::V4(theirs)) => same_bits(&ours, &theirs, self.prefix),
            (Address::V6(ours), Address::V6(theirs)) => same_bits(&ours, &theirs, self.prefix),
            (Address::V4(ours), Address::V6(theirs)) => {
                mapped(&theirs).is_some_and(|theirs| same_bits(&ours, &theirs, self.prefix))
            }
            (ours, theirs) => ours == theirs,
        }
    }
}

fn bits(address: &Address) -> u8 {
    match address {
        Address::V4(_) => 32,
        Address::V6(_) => 128,
        Address::Lid(_) => 16,
    }
}

fn same_bits(ours: &[u8], theirs: &[u8], prefix: u8) -> bool {
    let mut left = u32::from(prefix);
    ours.iter().zip(theirs).all(|(ours, theirs)| {
        let here = left.min(8);
        left -= here;
        (ours ^ theirs).checked_shr(8 - here).unwrap_or(0) == 0
    })
}

/// The IPv4 address of an IPv4-mapped GID.
fn mapped(octets: &[u8; 16]) -> Option<[u8; 4]> {
    std::net::Ipv6Addr::from(*octets)
        .to_ipv4_mapped()
        .map(|address| address.octets())
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.address.fmt(f)?;
        if self.prefix < bits(&self.address) {
            write!(f, "/{}", self.prefix)
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contains(network: &str, address: &str) -> bool {
        Network::parse(network)
            .unwrap()
            .contains(&Network::parse(address).unwrap().address)
    }

    #[test]
    fn a_prefix_counts_bits_not_octets() {
        assert!(contains("192.0.2.0/25", "192.0.2.127"));
        assert!(!contains("192.0.2.0/25", "192.0.2.128"));
        assert!(contains("0.0.0.0/0", "203.0.113.9"));
        assert!(contains("2001:db8::/33", "2001:db8:7fff::1"));
        assert!(!contains("2001:db8::/33", "2001:db8:8000::1"));
        assert!(!contains("192.0.2.1", "192.0.2.2"));
        assert!(contains("lid:7", "lid:7") && !contains("lid:7", "lid:8"));
    }

    #[test]
    fn a_mapped_gid_is_its_ipv4_address() {
        assert!(contains("192.0.2.0/24", "::ffff:192.0.2.9"));
        assert!(!contains("192.0.2.0/24", "2001:db8::1"));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in [
            "",
            "192.0.2.1/33",
            "2001:db8::/129",
            "192.0.2",
            "lid:",
            "lid:70000",
            "192.0.2.1/",
            "host",
        ] {
            assert!(Network::parse(text).is_none(), "{text}");
        }
    }
}
