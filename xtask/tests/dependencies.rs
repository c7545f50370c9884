//! Dependencies of the workspace point one way: wire <- core <- rocescope, wire <- ebpf, and xtask on none of ours.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

/// For each package of the workspace: what it depends on, and whether for tests alone.
fn dependencies() -> BTreeMap<String, BTreeSet<(String, bool)>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let mut dependencies = BTreeMap::new();
    for package in metadata["packages"].as_array().expect("packages") {
        let on = package["dependencies"]
            .as_array()
            .expect("dependencies")
            .iter()
            .map(|dependency| {
                (
                    dependency["name"].as_str().expect("name").to_owned(),
                    dependency["kind"] == "dev",
                )
            });
        dependencies.insert(
            package["name"].as_str().expect("name").to_owned(),
            on.collect(),
        );
    }
    dependencies
}

#[test]
fn our_crates_depend_one_way() {
    let dependencies = dependencies();
    let ours: Vec<&str> = dependencies.keys().map(String::as_str).collect();
    let allowed = [
        ("rocescope", &["rocescope-core", "rocescope-wire"][..]),
        ("rocescope-core", &["rocescope-wire"]),
        ("rocescope-ebpf", &["rocescope-wire"]),
        ("rocescope-wire", &[]),
        ("xtask", &[]),
    ];
    assert_eq!(
        ours,
        allowed.map(|(name, _)| name),
        "a new crate of ours needs its place in this table"
    );
    for (name, allowed) in allowed {
        for (on, _) in &dependencies[name] {
            assert!(
                !ours.contains(&on.as_str()) || allowed.contains(&on.as_str()),
                "{name} must not depend on {on}"
            );
        }
    }
}

/// What a library of ours may use decides what it can do: nothing here reads files, clocks or sockets, or writes JSON.
#[test]
fn libraries_use_only_what_they_may() {
    let dependencies = dependencies();
    let allowed = [
        (
            "rocescope-core",
            &[
                "crc32fast",
                "etherparse",
                "foldhash",
                "hashbrown",
                "rocescope-wire",
                "schemars",
                "serde",
                "thiserror",
                "zerocopy",
            ][..],
        ),
        ("rocescope-wire", &["crc32fast", "zerocopy"]),
    ];
    for (name, allowed) in allowed {
        for (on, for_tests) in &dependencies[name] {
            assert!(
                *for_tests || allowed.contains(&on.as_str()),
                "{name} must not depend on {on}"
            );
        }
    }
}
