//! Octets to values and back for the InfiniBand transport and what carries it over Ethernet.
//!
//! No `std`, no allocation, no panic: the same code runs in userspace and in kernel programs. Decoding judges nothing:
//! unknown values are kept as values, and "how long it was on the wire" and "how much of it was captured" are two lengths
//! everywhere.
#![no_std]

#[cfg(test)]
extern crate std;

pub mod aeth;
pub mod bth;
#[cfg(feature = "build")]
pub mod build;
pub mod cm;
pub mod ext;
pub mod fault;
pub mod grh;
#[cfg(test)]
mod hex;
#[cfg(feature = "icrc")]
pub mod icrc;
pub mod lrh;
pub mod mad;
pub mod opcode;
pub mod psn;
pub mod transport;
#[cfg(test)]
mod vectors;

pub use aeth::{Aeth, AethKind, NakCode, RnrTimer};
pub use bth::Bth;
pub use cm::CmMessage;
pub use ext::{AtomicAckEth, AtomicEth, Dceth, Deth, Feth, Ieth, ImmDt, Rdeth, Reth, Xrceth};
pub use fault::Fault;
pub use grh::Grh;
pub use lrh::Lrh;
pub use mad::MadHeader;
pub use opcode::{Headers, Opcode, OpcodeInfo, Operation, Part, RdOrDc, Role, Transport};
pub use psn::{Msn, Psn, Qpn};
pub use transport::TransportPacket;
