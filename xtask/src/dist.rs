//! `cargo xtask dist`: one static binary that runs on any Linux; operators have no Rust.

use std::env::consts::ARCH;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::workspace::Workspace;
use crate::{debian_rust, process};

/// A capture of the repository that the fresh binary must analyse.
const TRIAL: &str = "tests/traces/loss5_data_write.pcap";

/// Builds by the first road that is open, proves that the file is static and runs, and says where it is.
pub(crate) fn run() -> Result<()> {
    let workspace = Workspace::find()?;
    let (built, libc) = build(&workspace)?;
    let name = format!("rocescope-{}-{ARCH}-linux-{libc}", workspace.version);
    let path = workspace.target.join("dist").join(&name);
    std::fs::create_dir_all(workspace.target.join("dist"))?;
    std::fs::copy(&built, &path).with_context(|| format!("cannot copy {}", built.display()))?;
    verify(&path, &workspace.root.join(TRIAL))?;
    println!(
        "{}: {} octets, static, {libc}",
        path.display(),
        std::fs::metadata(&path)?.len()
    );
    Ok(())
}

/// The three roads: musl with the toolchain in use, musl with Debian's Rust, and glibc where neither is to be had.
fn build(workspace: &Workspace) -> Result<(PathBuf, &'static str)> {
    let musl = format!("{ARCH}-unknown-linux-musl");
    let built = |target: &Path, triple: &str| target.join(triple).join("dist/rocescope");
    if has_target(&musl) {
        process::run(&mut dist(process::cargo(), &musl))?;
        return Ok((built(&workspace.target, &musl), "musl"));
    }
    println!(
        "{musl} is not installed (`rustup target add {musl}` would do); building std for it with Debian's Rust"
    );
    if debian_rust::is_available(debian_rust::MUSL) {
        let target = workspace.target.join("debian");
        process::run(&mut debian_musl(&target, &musl)?)?;
        return Ok((built(&target, &musl), "musl"));
    }
    let gnu = format!("{ARCH}-unknown-linux-gnu");
    println!(
        "no road to musl here: linking glibc statically instead; fit for a trial, not for a release"
    );
    process::run(dist(process::cargo(), &gnu).env("RUSTFLAGS", "-C target-feature=+crt-static"))?;
    Ok((built(&workspace.target, &gnu), "glibc"))
}

fn dist(mut cargo: Command, triple: &str) -> Command {
    cargo.args([
        "build",
        "--package",
        "rocescope",
        "--profile",
        "dist",
        "--locked",
        "--target",
        triple,
    ]);
    cargo
}

/// A target is used where it is installed. To add one changes the toolchain of whoever runs this, so that is left to them.
fn has_target(triple: &str) -> bool {
    let installed = process::output(Command::new("rustup").args(["target", "list", "--installed"]))
        .unwrap_or_default();
    installed.lines().any(|line| line == triple)
}

/// Debian has no `std` for musl, but its sources. The C library and start files are those of musl-tools. Position-dependent,
/// for musl-gcc would write an interpreter into a static-pie binary.
fn debian_musl(target: &Path, triple: &str) -> Result<Command> {
    let libraries = target.join("musl");
    std::fs::create_dir_all(&libraries)?;
    std::fs::copy(debian_rust::LIBUNWIND, libraries.join("libunwind.a"))
        .context("cannot copy libunwind.a")?;
    let variable = format!("CARGO_TARGET_{}", triple.replace('-', "_").to_uppercase());
    let mut command = dist(debian_rust::cargo(target), triple);
    command
        .args(["-Z", "build-std=std,panic_abort"])
        .env(format!("{variable}_LINKER"), "musl-gcc")
        .env(
            format!("{variable}_RUSTFLAGS"),
            format!(
                "-C target-feature=+crt-static -C link-self-contained=no -C relocation-model=static -L native={}",
                libraries.display()
            ),
        );
    Ok(command)
}

/// Fails unless the file needs no loader and no library, starts, and analyses a capture.
fn verify(path: &Path, trial: &Path) -> Result<()> {
    let octets = std::fs::read(path)?;
    ensure!(
        !has_interpreter(&octets).context("not a 64-bit little-endian ELF file")?,
        "{} is not static",
        path.display()
    );
    let version = process::output(Command::new(path).arg("--version"))?;
    println!("{}", version.trim());
    let report = process::output(
        Command::new(path)
            .args(["analyze", "--format", "json"])
            .arg(trial),
    )?;
    let report: serde_json::Value =
        serde_json::from_str(&report).context("its report is not JSON")?;
    ensure!(
        report["totals"]["frames"].as_u64() > Some(0),
        "it saw no frame in {}",
        trial.display()
    );
    Ok(())
}

/// Whether an ELF file asks for a dynamic loader (a program header of type PT_INTERP; elf(5)).
fn has_interpreter(elf: &[u8]) -> Option<bool> {
    const PT_INTERP: u32 = 3;
    if elf.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let half = |at: usize| {
        Some(usize::from(u16::from_le_bytes(
            elf.get(at..at + 2)?.try_into().ok()?,
        )))
    };
    let start = usize::try_from(u64::from_le_bytes(elf.get(32..40)?.try_into().ok()?)).ok()?;
    let (size, count) = (half(54)?, half(56)?);
    for index in 0..count {
        let at = start.checked_add(index * size)?;
        if u32::from_le_bytes(elf.get(at..at.checked_add(4)?)?.try_into().ok()?) == PT_INTERP {
            return Some(true);
        }
    }
    Some(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_binary_asks_for_a_loader() {
        let this = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert_eq!(has_interpreter(&this), Some(true));
        assert_eq!(has_interpreter(&this[..60]), None, "cut");
        assert_eq!(has_interpreter(b"#!/bin/sh\n"), None);
    }
}
