//! Small captures made from bug reports and field stories, and frames printed in public, with what a correct analysis says
//! of each: `traces/cases/cases.toml`.

#[path = "scenario/src/expect.rs"]
mod expect;

use expect::Expect;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    case: Vec<Case>,
    vector: Vec<Vector>,
}

/// A capture and what must be said of it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    file: String,
    about: String,
    pending: Option<String>,
    expect: Expect,
}

/// One frame and the state of its ICRC.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Vector {
    file: String,
    about: String,
    /// `good` or `bad`.
    icrc: String,
    /// What the wrong value looks like.
    hint: Option<String>,
    opcode: String,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/traces/cases")
}

fn table() -> Table {
    let text = fs::read_to_string(folder().join("cases.toml")).expect("cases.toml");
    toml::from_str(&text).unwrap_or_else(|error| panic!("cases.toml: {error}"))
}

#[test]
fn every_case_gives_its_verdict() {
    let mut failures = Vec::new();
    for case in table().case {
        let differences = match expect::report(&folder().join(&case.file)) {
            Ok(report) => expect::differences(&case.expect, &report),
            Err(error) => vec![error],
        };
        let pending = case.pending.as_deref();
        failures.extend(expect::verdict(
            &case.file,
            &case.about,
            pending,
            &differences,
        ));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn every_vector_has_its_icrc_state() {
    for vector in table().vector {
        let name = format!("{}: {}", vector.file, vector.about);
        let report = expect::report(&folder().join(&vector.file)).expect("a report");
        let states = &report["totals"]["icrc"];
        let count = |state: &str| states[state].as_u64();
        let good = u64::from(vector.icrc == "good");
        assert_eq!(
            (count("good"), count("bad"), count("unverifiable")),
            (Some(good), Some(1 - good), Some(0)),
            "{name}"
        );
        let opcodes = &report["streams"][0]["opcodes"];
        // A frame with a wrong ICRC opens no stream.
        assert_eq!(opcodes[&vector.opcode] == 1, good == 1, "{name}: {opcodes}");
        let bad = report["findings"]
            .as_array()
            .and_then(|all| all.iter().find(|finding| finding["id"] == "bad-icrc"));
        let message = bad.and_then(|finding| finding["message"].as_str());
        assert_eq!(message.is_some(), good == 0, "{name}");
        if let Some(hint) = &vector.hint {
            assert!(
                message.is_some_and(|message| message.contains(hint)),
                "{name}: {message:?}"
            );
        }
    }
}

#[test]
fn every_file_is_in_the_table() {
    let table = table();
    let listed: BTreeSet<String> = (table.case.into_iter().map(|case| case.file))
        .chain(table.vector.into_iter().map(|vector| vector.file))
        .collect();
    let files: BTreeSet<String> = fs::read_dir(folder())
        .expect("tests/traces/cases")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .filter(|name| !name.ends_with(".toml"))
        .collect();
    assert_eq!(files, listed);
}
