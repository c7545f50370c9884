//! Where the workspace and its target folder are.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::process;

/// Folders of the workspace.
pub(crate) struct Workspace {
    /// Folder of the root manifest.
    pub(crate) root: PathBuf,
    /// Target folder, wherever the environment or a configuration put it.
    pub(crate) target: PathBuf,
    /// Version shared by all packages.
    pub(crate) version: String,
}

impl Workspace {
    /// Asks `cargo metadata`.
    pub(crate) fn find() -> Result<Self> {
        let text = process::output(process::cargo().args([
            "metadata",
            "--no-deps",
            "--format-version",
            "1",
        ]))?;
        let metadata: Value = serde_json::from_str(&text).context("cargo metadata is not JSON")?;
        let text = |value: &Value, key: &str| -> Result<String> {
            Ok(value[key]
                .as_str()
                .with_context(|| format!("cargo metadata names no {key}"))?
                .to_owned())
        };
        let program = metadata["packages"]
            .as_array()
            .and_then(|packages| {
                packages
                    .iter()
                    .find(|package| package["name"] == "rocescope")
            })
            .context("cargo metadata names no package rocescope")?;
        Ok(Self {
            root: text(&metadata, "workspace_root")?.into(),
            target: text(&metadata, "target_directory")?.into(),
            version: text(program, "version")?,
        })
    }
}
