//! The program around the analysis: sources, shards, reports and the command line.

pub mod analysis;
pub mod cli;
pub mod command;
pub mod fail_on;
pub mod filter;
pub mod output;
pub mod progress;
pub mod redact;
pub mod report;
pub mod source;
