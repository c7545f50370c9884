//! The analysis: frames and time in, events and findings out.
//!
//! No clock, no thread, no file, no `unsafe`: time comes with the input, so the same input gives the same output.
#![forbid(unsafe_code)]

// The reports made by hand name this crate as their users do.
#[cfg(test)]
extern crate self as rocescope_core;

pub mod address;
pub mod budget;
pub mod encap;
pub mod event;
pub mod figure;
pub mod finding;
mod flow;
mod histogram;
pub mod outcome;
pub mod partition;
pub mod report;
pub mod settings;
pub mod thresholds;
pub mod time;
pub mod verdict;

pub use address::Address;
pub use time::Time;
