//! CRC-32 as the ICRC needs it: a short head that was masked on the stack, then the rest of the packet.
//!
//! crc32fast alone takes 39 ns for an ACK of 62 octets, and ACKs are half of all packets; with tables for what is short
//! it is 19 ns, and nothing is lost on long ones.

use crc32fast::Hasher;

/// CRC-32 of eight octets of ones, which stand for the local route header.
const AFTER_LRH: u32 = 0x2144_df1c;

/// From here on the vector instructions of crc32fast win over the tables (measured).
const LONG: usize = 64;

/// CRC-32 over eight octets of ones, `head` and `rest`.
#[inline]
pub(super) fn of(head: &[u8], rest: &[u8]) -> u32 {
    let after_head = tables(AFTER_LRH, head);
    if rest.len() < LONG {
        return tables(after_head, rest);
    }
    let mut hasher = Hasher::new_with_initial(after_head);
    hasher.update(rest);
    hasher.finalize()
}

/// `TABLES[n][octet]`: the register after `octet` and n octets of zeros.
static TABLES: [[u32; 256]; 16] = {
    const POLYNOMIAL: u32 = 0xedb8_8320;
    let mut tables = [[0; 256]; 16];
    let mut octet = 0;
    while octet < 256 {
        let mut register = octet as u32;
        let mut bit = 0;
        while bit < 8 {
            register = if register & 1 == 0 {
                register >> 1
            } else {
                register >> 1 ^ POLYNOMIAL
            };
            bit += 1;
        }
        tables[0][octet] = register;
        octet += 1;
    }
    let mut zeros = 1;
    while zeros < 16 {
        let mut octet = 0;
        while octet < 256 {
            let before = tables[zeros - 1][octet];
            tables[zeros][octet] = before >> 8 ^ tables[0][(before & 0xff) as usize];
            octet += 1;
        }
        zeros += 1;
    }
    tables
};

/// CRC-32 of `octets` after `crc`, sixteen octets at a time.
#[inline]
fn tables(crc: u32, octets: &[u8]) -> u32 {
    let (blocks, rest) = octets.as_chunks::<16>();
    let mut register = blocks.iter().fold(!crc, fold);
    let (words, rest) = rest.as_chunks::<4>();
    for word in words {
        let [a, b, c, d] = (register ^ u32::from_le_bytes(*word)).to_le_bytes();
        register = entry(3, a) ^ entry(2, b) ^ entry(1, c) ^ entry(0, d);
    }
    for octet in rest {
        register = register >> 8 ^ entry(0, register as u8 ^ octet);
    }
    !register
}

#[inline]
fn fold(register: u32, block: &[u8; 16]) -> u32 {
    let mut block = *block;
    for (octet, with) in block.iter_mut().zip(register.to_le_bytes()) {
        *octet ^= with;
    }
    let mut folded = 0;
    for (at, octet) in block.into_iter().enumerate() {
        folded ^= entry(15 - at, octet);
    }
    folded
}

#[inline]
fn entry(zeros: usize, octet: u8) -> u32 {
    TABLES[zeros & 15][usize::from(octet)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equals_crc32fast_at_every_length() {
        let octets: [u8; 200] = core::array::from_fn(|at| (at * 37 + 11) as u8);
        assert_eq!(crc32fast::hash(&[0xff; 8]), AFTER_LRH);
        assert_eq!(AFTER_LRH, !0xdebb_20e3);
        for split in 0..=80 {
            for end in split..=200 {
                let mut hasher = Hasher::new();
                hasher.update(&[0xff; 8]);
                hasher.update(&octets[..end]);
                assert_eq!(
                    of(&octets[..split], &octets[split..end]),
                    hasher.finalize(),
                    "{split} {end}"
                );
            }
        }
    }

    #[test]
    fn the_check_value_of_crc_32() {
        assert_eq!(tables(0, b"123456789"), 0xcbf4_3926);
    }
}
