//! Debian's Rust (rustc-web): a road to targets whose standard library rustup cannot bring here.
//!
//! It is a whole compiler of its own under /usr/bin, with a prebuilt `core` for BPF and the sources of `std`. It shares
//! no target folder with the compiler in use.

use std::path::Path;
use std::process::Command;

use crate::packages::{self, Need};

const COMPILER: Need = Need {
    thing: "/usr/share/doc/rustc-web",
    package: "rustc-web",
    purpose: "a compiler with the sources of its std",
};
const CARGO: Need = Need {
    thing: "/usr/share/doc/cargo-web",
    package: "cargo-web",
    purpose: "cargo for that compiler",
};

/// What a build for bpfel-unknown-none takes.
pub(crate) const BPF: &[Need] = &[
    COMPILER,
    CARGO,
    Need {
        thing: "/usr/share/doc/libstd-rust-web-dev-bpf",
        package: "libstd-rust-web-dev-bpf",
        purpose: "`core` for BPF",
    },
];

/// What a static build on musl takes. The unwinder is LLVM's, for the one of GCC asks for functions of glibc.
pub(crate) const MUSL: &[Need] = &[
    COMPILER,
    CARGO,
    Need {
        thing: "/usr/share/doc/rust-web-src",
        package: "rust-web-src",
        purpose: "sources of `std`",
    },
    Need {
        thing: "musl-gcc",
        package: "musl-tools",
        purpose: "the musl C library",
    },
    Need {
        thing: LIBUNWIND,
        package: "libunwind-14-dev",
        purpose: "a static unwinder",
    },
];

/// LLVM's static unwinder.
pub(crate) const LIBUNWIND: &str = "/usr/lib/llvm-14/lib/libunwind.a";

/// Installs what is missing where it can; whether all is there.
pub(crate) fn is_available(needs: &[Need]) -> bool {
    match packages::require(needs) {
        Ok(()) => true,
        Err(error) => {
            eprintln!("{error:#}");
            false
        }
    }
}

/// Debian's cargo and compiler, kept apart from the toolchain that runs this program. Unstable options are allowed to this
/// child alone.
pub(crate) fn cargo(target: &Path) -> Command {
    let mut command = Command::new("/usr/bin/cargo");
    command
        .env("RUSTC", "/usr/bin/rustc")
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_TARGET_DIR", target);
    for inherited in [
        "CARGO",
        "LD_LIBRARY_PATH",
        "RUSTUP_TOOLCHAIN",
        "RUSTFLAGS",
        "RUSTC_WRAPPER",
    ] {
        command.env_remove(inherited);
    }
    command
}
