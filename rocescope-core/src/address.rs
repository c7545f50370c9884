//! Who sent a packet and who gets it.

use core::fmt;
use serde::{Serialize, Serializer};
use std::net::{Ipv4Addr, Ipv6Addr};

/// The address of one end of a stream: an IP address (a GID is an IPv6 address), or a LID where there is none.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Address {
    /// IPv4 of RoCE v2.
    V4([u8; 4]),
    /// IPv6 of RoCE v2, or the GID of a GRH.
    V6([u8; 16]),
    /// Local identifier of native InfiniBand without a GRH.
    Lid(u16),
}

impl fmt::Display for Address {
    /// IPv6 as in RFC 5952, IPv4-mapped GIDs as `::ffff:192.0.2.1`, LIDs as `lid:7`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::V4(octets) => Ipv4Addr::from(octets).fmt(f),
            Self::V6(octets) => Ipv6Addr::from(octets).fmt(f),
            Self::Lid(lid) => write!(f, "lid:{lid}"),
        }
    }
}

impl Serialize for Address {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Address {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Address".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "description": "IP address, GID as IPv6 address, or lid:N" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_as_the_contract_says() {
        assert_eq!(Address::V4([192, 0, 2, 1]).to_string(), "192.0.2.1");
        let mut mapped = [0; 16];
        mapped[10..].copy_from_slice(&[255, 255, 192, 0, 2, 1]);
        assert_eq!(Address::V6(mapped).to_string(), "::ffff:192.0.2.1");
        assert_eq!(Address::Lid(7).to_string(), "lid:7");
    }
}
