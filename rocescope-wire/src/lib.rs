//! Octets to values and back for the InfiniBand transport and what carries it over Ethernet.
//!
//! No `std`, no allocation, no panic: the same code runs in userspace and in kernel programs. Decoding judges nothing:
//! unknown values are kept as values, and "how long it was on the wire" and "how much of it was captured" are two lengths
//! everywhere.
#![no_std]

pub mod psn;

pub use psn::{Msn, Psn, Qpn};
