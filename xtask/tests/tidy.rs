//! What the whole tree must hold: sizes, names, and what may stand where.

use std::fs;
use std::path::{Path, PathBuf};

/// Lines of a Rust file that a reader can still keep in mind.
const MOST_LINES: usize = 450;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask is in the workspace")
        .to_owned()
}

/// Every file of the tree that is neither built nor generated, by its path from the root.
fn files() -> Vec<(String, Vec<u8>)> {
    let root = root();
    let mut files = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("folder") {
            let path = entry.expect("entry").path();
            let name = path
                .file_name()
                .and_then(|name| name.to_str())
                .expect("names are UTF-8");
            if path.is_dir() {
                if ![".git", "target", "generated", "corpus", "artifacts"].contains(&name) {
                    folders.push(path);
                }
            } else if path.is_file() && !is_scratch(name) {
                let relative = path
                    .strip_prefix(&root)
                    .expect("below the root")
                    .to_str()
                    .expect("UTF-8")
                    .to_owned();
                files.push((relative, fs::read(&path).expect("file")));
            }
        }
    }
    files.sort();
    assert!(
        files.iter().any(|(path, _)| path == "Cargo.toml"),
        "the tree was read"
    );
    files
}

/// Left by git worktrees and by tests that differ.
fn is_scratch(name: &str) -> bool {
    name == ".git" || name.ends_with(".pending-snap") || name.ends_with(".snap.new")
}

fn rust_files() -> impl Iterator<Item = (String, String)> {
    files()
        .into_iter()
        .filter(|(path, _)| path.ends_with(".rs"))
        .map(|(path, octets)| (path, String::from_utf8(octets).expect("source is UTF-8")))
}

#[test]
fn rust_files_are_short() {
    let long: Vec<String> = rust_files()
        .filter(|(_, text)| text.lines().count() > MOST_LINES)
        .map(|(path, text)| format!("{path}: {} lines", text.lines().count()))
        .collect();
    assert!(long.is_empty(), "over {MOST_LINES} lines: {long:#?}");
}

#[test]
fn names_say_what_is_inside() {
    let empty = [
        "util", "utils", "helper", "helpers", "manager", "common", "misc",
    ];
    for (path, _) in files() {
        for part in Path::new(&path)
            .iter()
            .filter_map(|part| Path::new(part).file_stem()?.to_str())
        {
            let says_nothing = part.split(['_', '-']).any(|word| empty.contains(&word));
            assert!(
                !says_nothing,
                "{path}: \"{part}\" says nothing of what is inside"
            );
        }
    }
}

#[test]
fn no_path_of_a_machine_is_named() {
    let forbidden = [
        concat!("/wo", "rk/"),
        concat!("../sha", "red"),
        concat!("/ro", "ot/"),
        concat!("/ho", "me/"),
    ];
    for (path, octets) in files() {
        for literal in forbidden {
            let found = octets
                .windows(literal.len())
                .any(|window| window == literal.as_bytes());
            assert!(!found, "{path} names {literal}");
        }
    }
}

/// Time comes with the input, and only the program knows files, sockets and threads.
#[test]
fn libraries_touch_nothing_outside() {
    let outside = [
        "std::fs",
        "std::net::Tcp",
        "std::net::Udp",
        "std::thread",
        "std::process",
        "std::env",
        "std::io",
        "Instant::now",
        "SystemTime",
        "println!",
        "eprintln!",
        "dbg!",
    ];
    let libraries = ["rocescope-core/src/", "rocescope-wire/src/"];
    let in_library = |path: &str| libraries.iter().any(|library| path.starts_with(library));
    let is_test = |path: &str| path.ends_with("/tests.rs") || path.contains("/tests/");
    for (path, text) in rust_files().filter(|(path, _)| in_library(path) && !is_test(path)) {
        for (index, line) in text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim_start().starts_with("//"))
        {
            for name in outside {
                assert!(
                    !line.contains(name),
                    "{path}:{}: {name} in a library without outside",
                    index + 1
                );
            }
        }
    }
}

#[test]
fn unsafe_code_stays_where_the_kernel_is() {
    let permits = [
        concat!("allow(uns", "afe_code"),
        concat!("expect(uns", "afe_code"),
    ];
    let homes = ["rocescope-ebpf/", "rocescope/src/source/ring"];
    for (path, text) in
        rust_files().filter(|(path, _)| !homes.iter().any(|home| path.starts_with(home)))
    {
        assert!(
            !permits.iter().any(|permit| text.contains(permit)),
            "{path} permits unsafe code"
        );
    }
}

/// ARCHITECTURE.md names files, folders and tests; none of them may have gone.
#[test]
fn every_name_in_the_map_exists() {
    let map = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("the map");
    let sources: Vec<String> = rust_files().map(|(_, text)| text).collect();
    let (text, rules) = map.split_once("## Rules").expect("rules");
    let (rules, rest) = rules.split_once("## ").expect("a section after the rules");
    for path in quoted(text)
        .chain(quoted(rest))
        .filter(|name| name.contains('/') && !name.contains(' '))
    {
        assert!(
            root().join(path).exists(),
            "{path} is on the map and not in the tree"
        );
    }
    let tests: Vec<&str> = rules
        .lines()
        .filter_map(|row| row.rsplit('|').nth(1))
        .flat_map(quoted)
        .collect();
    assert!(tests.len() > 10, "the table of rules was read");
    for test in tests {
        let definition = format!("fn {test}(");
        assert!(
            sources.iter().any(|source| source.contains(&definition)),
            "no test {test}"
        );
    }
}

/// What stands between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}
