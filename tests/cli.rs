//! The program from outside: help, exit codes, and errors of one line.

use std::path::Path;
use std::process::{Command, Output, Stdio};

fn rocescope(arguments: &[&str]) -> Output {
    command(arguments).output().expect("the program runs")
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rocescope"));
    command
        .args(arguments)
        .stdin(Stdio::null())
        .env_remove("NO_COLOR");
    command
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

/// Says one line on standard error, nothing on standard output, and ends with 2.
#[track_caller]
fn refuses(arguments: &[&str], line: &str) {
    let output = rocescope(arguments);
    assert_eq!(
        stderr(&output),
        format!("rocescope: {line}\n"),
        "{arguments:?}"
    );
    assert_eq!(
        (output.status.code(), stdout(&output).as_str()),
        (Some(2), ""),
        "{arguments:?}"
    );
}

#[test]
fn help_looks_like_this() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("cli/snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| {
        for (name, arguments) in [
            ("help", &["--help"][..]),
            ("analyze", &["analyze", "--help"]),
            ("explain", &["explain", "--help"]),
            ("explain-psn-gap.txt", &["explain", "psn-gap"]),
            (
                "explain-psn-gap.md",
                &["explain", "psn-gap", "--format", "markdown"],
            ),
            (
                "explain-psn-gap.json",
                &["explain", "psn-gap", "--format", "json"],
            ),
        ] {
            let output = rocescope(arguments);
            assert_eq!(
                (output.status.code(), stderr(&output).as_str()),
                (Some(0), ""),
                "{arguments:?}"
            );
            insta::assert_snapshot!(name, stdout(&output));
        }
    });
}

#[test]
fn text_for_people_fits_80_columns() {
    for arguments in [
        &["--help"][..],
        &["analyze", "--help"],
        &["explain"],
        &["explain", "psn-gap"],
        &["completions", "--help"],
    ] {
        for line in stdout(&rocescope(arguments)).lines() {
            assert!(line.chars().count() <= 80, "{arguments:?}: {line}");
        }
    }
}

#[test]
fn explain_lists_all_findings() {
    let list = stdout(&rocescope(&["explain"]));
    let pages = stdout(&rocescope(&["explain", "--format", "markdown"]));
    let docs: serde_json::Value =
        serde_json::from_slice(&rocescope(&["explain", "--format", "json"]).stdout).unwrap();
    let docs = docs.as_array().unwrap();
    assert!(docs.len() >= 2);
    for doc in docs {
        let id = doc["id"].as_str().unwrap();
        assert!(list.contains(&format!("{id} (")), "{id} is not listed");
        assert!(pages.contains(&format!("## {id}\n")), "{id} has no page");
        assert_eq!(rocescope(&["explain", id]).status.code(), Some(0));
    }
}

#[test]
fn man_page_and_completions_know_every_flag() {
    let help = stdout(&rocescope(&["analyze", "--help"]));
    let flags: Vec<_> = help
        .split_whitespace()
        .filter(|word| word.starts_with("--"))
        .map(|word| word.trim_matches(&['[', ']', ',', ';', ')'][..]))
        .collect();
    assert!(flags.len() > 14, "{flags:?}");
    let man = stdout(&rocescope(&["man"]))
        .replace("\\-", "-")
        .replace("\\", "");
    assert!(man.contains(".TH rocescope 1"), "{man}");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = stdout(&rocescope(&["completions", shell]));
        for flag in &flags {
            let name = if shell == "fish" {
                flag.trim_start_matches("--")
            } else {
                flag
            };
            assert!(script.contains(name), "{shell} does not know {flag}");
        }
    }
    for flag in flags {
        assert!(man.contains(flag), "the man page does not know {flag}");
    }
    assert!(!man.contains("walk"), "hidden commands stay hidden");
}

#[test]
fn mistakes_are_one_line() {
    refuses(
        &["analyse"],
        "unrecognized subcommand 'analyse' tip: a similar subcommand exists: 'analyze'; see rocescope --help",
    );
    refuses(
        &["explain", "no-such"],
        "there is no finding 'no-such'; 'rocescope explain' lists them",
    );
    refuses(
        &["analyze", "-", "-"],
        "standard input (-) can be read only once; name each other input by its path",
    );
    refuses(
        &["analyze", "a", "--frames", "-"],
        "--frames - and the report would both go to standard output; add --output PATH",
    );
    refuses(
        &["analyze", "a", "--output", "a"],
        "a is an input and would be overwritten; choose another name to write to",
    );
    refuses(
        &["analyze", "a", "--frames", "b", "--output", "b"],
        "--frames and --output both name b; choose two names",
    );
    refuses(
        &["analyze", "a", "--filter", "finding no-such"],
        "--filter: there is no finding 'no-such'; 'rocescope explain' lists them",
    );
    refuses(
        &["analyze", "a", "--filter", "qpn x"],
        "invalid value 'qpn x' for '--filter <EXPR>': at character 5: expected a QPN (0 to 0xffffff), found 'x'; see rocescope --help",
    );
    refuses(
        &["analyze", "a", "--tz", "Middle/Earth"],
        "invalid value 'Middle/Earth' for '--tz <utc|local|Area/City>': no such time zone; use utc, local, or a name such as Europe/Berlin; see rocescope --help",
    );
    refuses(
        &["analyze", "a", "--fail-on", "warning,no-such"],
        "invalid value 'warning,no-such' for '--fail-on <SEVERITY|FINDING[,...]>': there is no finding 'no-such'; 'rocescope explain' lists them; see rocescope --help",
    );
    refuses(
        &["analyze", "a", "--set", "psn-gap.no=1"],
        "invalid value 'psn-gap.no=1' for '--set <FINDING.KEY=VALUE>': psn-gap has no threshold to set; see rocescope --help",
    );
}

#[test]
fn no_arguments_print_help_and_fail() {
    let output = rocescope(&[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("analyze"), "{}", stderr(&output));
}

#[test]
fn hostile_arguments_cannot_move_the_cursor() {
    let output = rocescope(&["explain", "a\u{1b}[2J\nb"]);
    assert_eq!(stderr(&output).lines().count(), 1);
    assert!(!stderr(&output).contains('\u{1b}'));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_one_line() {
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let output = command(&["explain"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        stderr(&output),
        "rocescope: standard output: No space left on device (os error 28)\n"
    );
}

#[cfg(unix)]
#[test]
fn a_broken_pipe_ends_quietly() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = command(&["schema"]).stdout(writer).output().unwrap();
    assert_eq!(
        (output.status.code(), stderr(&output).as_str()),
        (Some(0), "")
    );
}

#[test]
fn a_walk_counts_records() {
    let trace =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/traces/rc_read_lat_2k.snap64.pcap");
    let output = rocescope(&["walk", trace.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0));
    assert!(
        stdout(&output).ends_with(" octets captured\n"),
        "{}",
        stdout(&output)
    );
}
