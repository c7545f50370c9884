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
        let differences = match expect::report(&trace(&name)) {
            Ok(report) => expect::differences(&scenario.expect, &report),
            Err(error) => vec![error],
        };
        failures.extend(expect::verdict(
            &name,
            &scenario.about,
            scenario.pending.as_deref(),
            &differences,
        ));
    }
    assert!(
        failures.is_empty(),
        "{} scenarios fail\n\n{}\n",
        failures.len(),
        failures.join("\n\n")
    );
}

/// Why the text is no scenario, or cannot be played.
#[track_caller]
fn refused(steps: &str) -> String {
    let text = format!("about = \"\"\nsteps = [{steps}]\n[expect]\n");
    match toml::from_str::<Scenario>(&text) {
        Err(error) => error.to_string(),
        Ok(scenario) => capture::pcapng(&scenario).expect_err("it was played"),
    }
}

#[test]
fn mistakes_of_the_writer_are_refused() {
    for (steps, why) in [
        ("{ sent = 5 }", "a step says one of"),
        ("{ send = 5, ack = 1 }", "a step says one of"),
        ("{ ack = 1, timer = 12 }", "does not take `timer`"),
        (
            "{ send = 5, lose = { before = 7 } }",
            "it does not send PSN 7",
        ),
        ("{ again = 3 }", "PSN 3 was never sent"),
        ("{ rnr = 3 }", "an RNR NAK has a timer"),
        ("{ wait = \"5\" }", "no duration"),
        ("{ respond = \"x\" }", "no PSNs"),
        ("{ send = 5, on = \"two\" }", "no such connection"),
        ("{ packet = \"RC_SEND\" }", "no such opcode"),
    ] {
        let error = refused(steps);
        assert!(error.contains(why), "{steps}: {error}");
    }
    let unknown = toml::from_str::<Scenario>("about = \"\"\nsteps = []\nwhy = 1\n[expect]\n");
    assert!(unknown.is_err_and(|error| error.to_string().contains("`why`")));
}

#[test]
fn what_differs_is_said() {
    let report = serde_json::json!({
        "verdict": { "sentence": "all is well" },
        "streams": [{ "dest_qpn": 34, "packets": 7 }],
        "findings": [
            { "id": "psn-gap", "severity": "warning", "count": 2, "message": "2 lost", "subject": {} },
            { "id": "frames-cut", "severity": "info", "count": 1, "message": "cut", "subject": {} },
        ],
    });
    for (expect, differences) in [
        (
            "finding = [{ id = \"psn-gap\", severity = \"warning\", count = 2, says = [\"lost\"] }]",
            0,
        ),
        ("", 1),
        (
            "finding = [{ id = \"psn-gap\", severity = \"info\", count = 3, says = [\"won\"] }]",
            3,
        ),
        ("finding = [{ id = \"uc-gap\", severity = \"info\" }]", 2),
        (
            "finding = [{ id = \"psn-gap\", severity = \"warning\" }]\nabsent = [\"frames-cut\"]",
            1,
        ),
        (
            "finding = [{ id = \"psn-gap\", severity = \"warning\" }]\nverdict = [\"ill\"]\nverdict-without = [\"well\"]",
            2,
        ),
        (
            "finding = [{ id = \"psn-gap\", severity = \"warning\" }]\n[values]\n\"streams[dest_qpn=0x22].packets\" = 8\n\
             \"streams[dest_qpn=0x22].packet\" = 7\n\"streams[1].packets\" = 7\n\"streams.length\" = 1",
            3,
        ),
    ] {
        let expected = toml::from_str(expect).expect("TOML");
        let lines = expect::differences(&expected, &report);
        assert_eq!(lines.len(), differences, "{expect}\n{lines:#?}");
    }
}
