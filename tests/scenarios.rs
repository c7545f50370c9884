//! Scenarios in words: each file of `scenario/` says what happened on the wire and what must come out. Their captures are
//! kept in `traces/scenario/`. `scenario/README.md` has the words.

#[path = "scenario/src/capture.rs"]
mod capture;
#[path = "scenario/src/cm.rs"]
mod cm;
#[path = "scenario/src/end.rs"]
mod end;
#[path = "scenario/src/expect.rs"]
mod expect;
#[path = "scenario/src/language.rs"]
mod language;
#[path = "scenario/src/packets.rs"]
mod packets;
#[path = "scenario/src/steps.rs"]
mod steps;
#[path = "scenario/src/traffic.rs"]
mod traffic;
#[path = "scenario/src/values.rs"]
mod values;

use language::Scenario;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests")
}

/// Name and content of every scenario, in the order of names.
fn scenarios() -> Vec<(String, Scenario)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(tests().join("scenario")).expect("tests/scenario") {
        let path = entry.expect("an entry").path();
        if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            let name = path
                .file_stem()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            let text = fs::read_to_string(&path).expect("readable");
            let scenario =
                toml::from_str(&text).unwrap_or_else(|error| panic!("{name}.toml: {error}"));
            all.push((name, scenario));
        }
    }
    all.sort_by(|(one, _), (other, _)| one.cmp(other));
    assert!(!all.is_empty(), "no scenarios");
    all
}

fn trace(name: &str) -> PathBuf {
    tests()
        .join("traces/scenario")
        .join(name)
        .with_extension("pcapng")
}

fn report(file: &Path) -> Result<serde_json::Value, String> {
    let output = Command::new(env!("CARGO_BIN_EXE_rocescope"))
        .args(["analyze", "--format", "json"])
        .arg(file)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(format!(
            "{}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        ));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())
}

#[test]
fn captures_are_what_the_words_make() {
    let bless = std::env::var_os("ROCESCOPE_BLESS").is_some();
    let mut stale = Vec::new();
    let mut expected = Vec::new();
    for (name, scenario) in scenarios() {
        let octets =
            capture::pcapng(&scenario).unwrap_or_else(|error| panic!("{name}.toml: {error}"));
        let file = trace(&name);
        if fs::read(&file).is_ok_and(|kept| kept == octets) {
        } else if bless {
            fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            fs::write(&file, octets).expect("writable");
        } else {
            stale.push(name.clone());
        }
        expected.push(file);
    }
    for entry in fs::read_dir(tests().join("traces/scenario")).expect("traces/scenario") {
        let path = entry.expect("an entry").path();
        if !expected.contains(&path) {
            if bless {
                fs::remove_file(&path).expect("removable");
            } else {
                stale.push(format!("{} has no scenario", path.display()));
            }
        }
    }
    assert!(
        stale.is_empty(),
        "`cargo xtask traces` writes anew: {stale:#?}"
    );
}

#[test]
fn every_scenario_gives_what_it_must() {
    let mut failures = Vec::new();
    for (name, scenario) in scenarios() {
        let differences = match report(&trace(&name)) {
            Ok(report) => expect::differences(&scenario.expect, &report),
            Err(error) => vec![error],
        };
        match (&scenario.pending, differences.is_empty()) {
            (None, true) | (Some(_), false) => {}
            (None, false) => failures.push(format!(
                "{name}: {}\n    {}",
                scenario.about,
                differences.join("\n    ")
            )),
            (Some(reason), true) => {
                failures.push(format!("{name} passes: take away `pending = {reason:?}`"));
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} scenarios fail\n\n{}\n",
        failures.len(),
        failures.join("\n\n")
    );
}
