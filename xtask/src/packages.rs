//! Debian packages that bring the programs we call.

use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::process;

/// Something that must be there, and the package that brings it.
pub(crate) struct Need {
    /// A program along PATH, or a file when it begins with `/`.
    pub(crate) thing: &'static str,
    /// Debian package.
    pub(crate) package: &'static str,
    /// What it is needed for.
    pub(crate) purpose: &'static str,
}

impl Need {
    fn is_met(&self) -> bool {
        if self.thing.starts_with('/') {
            std::path::Path::new(self.thing).exists()
        } else {
            process::on_path(self.thing)
        }
    }
}

/// What the tests call.
pub(crate) const TESTS: &[Need] = &[
    Need {
        thing: "cc",
        package: "gcc",
        purpose: "to link, and to build the zstd library",
    },
    Need {
        thing: "tshark",
        package: "tshark",
        purpose: "to compare our decoding frame by frame",
    },
];

/// Installs what is missing when root. Otherwise says what is missing and goes on: tests that need it skip, with a reason.
pub(crate) fn ensure(needs: &[Need]) -> Result<()> {
    let missing: Vec<&Need> = needs.iter().filter(|need| !need.is_met()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    for need in &missing {
        eprintln!(
            "missing: {} ({}), package {}",
            need.thing, need.purpose, need.package
        );
    }
    let packages: Vec<&str> = missing.iter().map(|need| need.package).collect();
    if !process::on_path("apt-get") || !is_root()? {
        eprintln!(
            "to install as root, on Debian or Ubuntu: apt-get install {}",
            packages.join(" ")
        );
        return Ok(());
    }
    if install(&packages).is_err() {
        process::run(Command::new("apt-get").args(["update", "-q"]))?;
        install(&packages)?;
    }
    Ok(())
}

/// As [`ensure`], and fails where something is missing afterwards.
pub(crate) fn require(needs: &[Need]) -> Result<()> {
    ensure(needs)?;
    if let Some(need) = needs.iter().find(|need| !need.is_met()) {
        bail!(
            "{} is missing ({}); package {}",
            need.thing,
            need.purpose,
            need.package
        );
    }
    Ok(())
}

fn install(packages: &[&str]) -> Result<()> {
    process::run(
        Command::new("apt-get")
            .args(["install", "-y", "-q", "--no-install-recommends"])
            .args(packages)
            .env("DEBIAN_FRONTEND", "noninteractive"),
    )
}

fn is_root() -> Result<bool> {
    let id = process::output(Command::new("id").arg("-u")).context("who runs this?")?;
    Ok(id.trim() == "0")
}
