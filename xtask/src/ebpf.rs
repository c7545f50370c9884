//! `cargo xtask ebpf`: the kernel side.

use anyhow::Result;

use crate::workspace::Workspace;
use crate::{debian_rust, process};

/// There are no kernel programs yet: they come with the live source. What can be held today is that the crate they share
/// with us, rocescope-wire, compiles for their target; Debian packages a `core` for it.
pub(crate) fn run() -> Result<()> {
    println!("no kernel programs yet: they come with the live source");
    if !debian_rust::is_available(debian_rust::BPF) {
        println!(
            "not checked: rocescope-wire for bpfel-unknown-none (needs root and Debian's rustc-web)"
        );
        return Ok(());
    }
    let target = Workspace::find()?.target.join("debian");
    process::run(
        debian_rust::cargo(&target)
            .args([
                "build",
                "--package",
                "rocescope-wire",
                "--no-default-features",
            ])
            .args(["--target", "bpfel-unknown-none"]),
    )?;
    println!("rocescope-wire builds for bpfel-unknown-none");
    Ok(())
}
