//! The kernel side of rocescope. The programs are built for the BPF target alone; on a host this is empty, so that
//! workspace-wide builds, lints and tests work.

fn main() {}
