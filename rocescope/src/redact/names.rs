//! Stand-ins, each given once.

use rocescope_core::Address;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// 198.18.0.0/15, for benchmarks (RFC 2544): 131,071 hosts.
const BENCHMARK: u32 = 0xc612_0000;
const BENCHMARK_HOSTS: u32 = 0x1_ffff;
/// 240.0.0.0/4, reserved: the hosts beyond.
const RESERVED: u32 = 0xf000_0000;
/// 233.252.0.0/24, multicast for documents (RFC 5771).
const MULTICAST: u32 = 0xe9fc_0000;

/// What stands for what.
#[derive(Default)]
pub(super) struct Names {
    addresses: BTreeMap<Address, Address>,
    /// Stand-ins given so far, for each kind of address.
    given: BTreeMap<Kind, u32>,
    macs: BTreeMap<String, String>,
    /// Paths and other names, as they stand in sentences.
    words: BTreeMap<String, String>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    V4,
    V4Multicast,
    V6,
    V6LinkLocal,
    V6Multicast,
    Lid,
}

impl Names {
    /// The stand-in of an address.
    pub(super) fn address(&mut self, address: Address) -> Address {
        if let Some(known) = self.addresses.get(&address) {
            return *known;
        }
        let stand_in = self.invent(address);
        self.addresses.insert(address, stand_in);
        stand_in
    }

    fn invent(&mut self, address: Address) -> Address {
        match address {
            Address::V4(octets) => {
                let kind = if Ipv4Addr::from(octets).is_multicast() {
                    Kind::V4Multicast
                } else {
                    Kind::V4
                };
                let number = self.next(kind);
                let host = match kind {
                    Kind::V4Multicast => MULTICAST.wrapping_add(number),
                    _ if number <= BENCHMARK_HOSTS => BENCHMARK + number,
                    _ => RESERVED.wrapping_add(number),
                };
                Address::V4(host.to_be_bytes())
            }
            Address::V6(octets) => self.invent_v6(Ipv6Addr::from(octets)),
            Address::Lid(_) => {
                Address::Lid(u16::try_from(self.next(Kind::Lid)).unwrap_or(u16::MAX))
            }
        }
    }

    fn invent_v6(&mut self, address: Ipv6Addr) -> Address {
        if let Some(v4) = address.to_ipv4_mapped()
            && let Address::V4(stand_in) = self.address(Address::V4(v4.octets()))
        {
            return Address::V6(Ipv4Addr::from(stand_in).to_ipv6_mapped().octets());
        }
        let (kind, prefix) = match address.octets() {
            [0xff, ..] => (Kind::V6Multicast, [0xff0e, 0xdb8]),
            [0xfe, second, ..] if second & 0xc0 == 0x80 => (Kind::V6LinkLocal, [0xfe80, 0]),
            _ => (Kind::V6, [0x2001, 0xdb8]),
        };
        let number = self.next(kind);
        let [high, low] =
            [number >> 16, number & 0xffff].map(|half| u16::try_from(half).unwrap_or_default());
        Address::V6(Ipv6Addr::new(prefix[0], prefix[1], 0, 0, 0, 0, high, low).octets())
    }

    fn next(&mut self, kind: Kind) -> u32 {
        let number = self.given.entry(kind).or_insert(0);
        *number = number.saturating_add(1);
        *number
    }

    /// The stand-in of a MAC address in colon notation.
    pub(super) fn mac(&mut self, mac: &str) -> String {
        let number = self.macs.len() + 1;
        let [.., a, b, c] = number.to_be_bytes();
        self.macs
            .entry(mac.to_ascii_lowercase())
            .or_insert_with(|| format!("02:00:00:{a:02x}:{b:02x}:{c:02x}"))
            .clone()
    }

    /// Has a word replaced wherever it stands in sentences; the first stand-in given to it stays.
    pub(super) fn word(&mut self, word: &str, stand_in: &str) {
        if !word.is_empty() && word != "-" {
            self.words
                .entry(word.to_owned())
                .or_insert_with(|| stand_in.to_owned());
        }
    }

    /// Whether that word has a stand-in.
    pub(super) fn knows(&self, word: &str) -> bool {
        self.words.contains_key(word)
    }

    /// A sentence with stand-ins for all paths and names known, and for all addresses whether known or not.
    pub(super) fn sentence(&mut self, text: &str) -> String {
        let mut text = text.to_owned();
        let mut words: Vec<_> = self.words.iter().collect();
        // Longer ones first: a path before its last part.
        words.sort_by_key(|(word, _)| (std::cmp::Reverse(word.len()), (*word).clone()));
        for (word, stand_in) in words {
            text = text.replace(word.as_str(), stand_in);
        }
        self.addresses_in(&text)
    }

    fn addresses_in(&mut self, text: &str) -> String {
        let in_address = |letter: char| letter.is_ascii_hexdigit() || matches!(letter, '.' | ':');
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find(in_address) {
            let (before, from) = rest.split_at(start);
            let end = from
                .find(|letter| !in_address(letter))
                .unwrap_or(from.len());
            let (run, behind) = from.split_at(end);
            out.push_str(before);
            out.push_str(&self.run(run, before));
            rest = behind;
        }
        out.push_str(rest);
        out
    }

    /// A run of digits, dots and colons: an address, perhaps with punctuation around it or a port behind it, or no address.
    fn run(&mut self, run: &str, before: &str) -> String {
        let trimmed = run.trim_end_matches(['.', ':']);
        // `fe80::` ends in colons of its own.
        let candidates = [run, trimmed, run.trim_end_matches('.')];
        for candidate in candidates {
            if let Some(stand_in) = self.whole(candidate, before) {
                return stand_in + run.strip_prefix(candidate).unwrap_or_default();
            }
        }
        match trimmed.rsplit_once(':') {
            Some((host, port))
                if port.parse::<u16>().is_ok() && host.parse::<Ipv4Addr>().is_ok() =>
            {
                let stand_in = self.whole(host, before).unwrap_or_default();
                format!(
                    "{stand_in}:{port}{}",
                    run.strip_prefix(trimmed).unwrap_or_default()
                )
            }
            _ => run.to_owned(),
        }
    }

    fn whole(&mut self, text: &str, before: &str) -> Option<String> {
        // The last letter of `lid:7` is a digit to whom looks for addresses.
        if let (true, Some(lid)) = (before.ends_with("li"), text.strip_prefix("d:")) {
            let stand_in = self.address(Address::Lid(lid.parse().ok()?));
            return stand_in.to_string().strip_prefix("li").map(str::to_owned);
        }
        if is_mac(text) {
            return Some(self.mac(text));
        }
        let address = match text.parse().ok()? {
            IpAddr::V4(address) => Address::V4(address.octets()),
            IpAddr::V6(address) => Address::V6(address.octets()),
        };
        Some(self.address(address).to_string())
    }
}

fn is_mac(text: &str) -> bool {
    let parts: Vec<_> = text.split(':').collect();
    parts.len() == 6
        && parts
            .iter()
            .all(|part| part.len() == 2 && part.bytes().all(|digit| digit.is_ascii_hexdigit()))
}
