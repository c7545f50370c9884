//! The program around the analysis: sources, shards, reports and the command line.

pub mod source;
