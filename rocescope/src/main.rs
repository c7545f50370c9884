//! `rocescope`: see `rocescope --help`.

fn main() {}
