//! `cargo xtask`: everything a developer or CI runs, in Rust.

fn main() {}
