//! `cargo xtask generate`: files that the program prints and the repository keeps.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::process;
use crate::workspace::Workspace;

/// Arguments of the program, and where its output stands under rocescope/generated/.
const FILES: &[(&[&str], &str)] = &[
    (&["schema"], "rocescope.report.schema.json"),
    (&["man"], "rocescope.1"),
    (&["completions", "bash"], "completions/rocescope.bash"),
    (&["completions", "zsh"], "completions/_rocescope"),
    (&["completions", "fish"], "completions/rocescope.fish"),
    (&["explain", "--format", "markdown"], "findings.md"),
];

/// Builds and runs the program for each file, and writes it or, with `check`, compares it.
pub(crate) fn run(check: bool) -> Result<()> {
    let workspace = Workspace::find()?;
    process::run(process::cargo().args(["build", "--package", "rocescope"]))?;
    let program = workspace.target.join("debug/rocescope");
    let folder = workspace.root.join("rocescope/generated");
    let mut differing = Vec::new();
    for (arguments, name) in FILES {
        let text = process::output(Command::new(&program).args(*arguments))?;
        let path = folder.join(name);
        if std::fs::read_to_string(&path).is_ok_and(|old| old == text) {
            continue;
        }
        if check {
            differing.push(*name);
        } else {
            write(&path, &text)?;
            println!("wrote rocescope/generated/{name}");
        }
    }
    if !differing.is_empty() {
        bail!(
            "not what the program prints now: {}; run `cargo xtask generate`",
            differing.join(", ")
        );
    }
    println!("{} generated files are current", FILES.len());
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
