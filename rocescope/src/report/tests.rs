//! Reports of each kind, as they look.

use super::*;
use jiff::tz::TimeZone;
use rocescope_core::report::Report;

#[path = "../../../tests/report/validate.rs"]
mod validate;

fn as_text(report: &Report) -> String {
    text(report, &Clock::new(report, TimeZone::UTC), Paint::Plain)
}

fn as_markdown(report: &Report) -> String {
    markdown(report, &Clock::new(report, TimeZone::UTC))
}

fn as_json(report: &Report) -> String {
    let mut out = Vec::new();
    json(report, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn kinds() -> [(&'static str, Report); 5] {
    [
        ("clean", sample::clean()),
        ("lossy", sample::lossy()),
        ("no-roce", sample::no_roce()),
        ("one-direction", sample::one_direction()),
        ("dead", sample::dead()),
    ]
}

#[test]
fn reports_look_like_this() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../../tests/report/snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| {
        for (name, report) in kinds() {
            insta::assert_snapshot!(format!("{name}.txt"), as_text(&report));
            insta::assert_snapshot!(format!("{name}.md"), as_markdown(&report));
            insta::assert_snapshot!(format!("{name}.json"), as_json(&report));
        }
    });
}

#[test]
fn text_fits_80_columns() {
    for (name, report) in kinds().into_iter().chain([("hostile", sample::hostile())]) {
        for line in as_text(&report).lines() {
            assert!(line.chars().count() <= 80, "{name}: {line}");
            assert!(!line.ends_with(' '), "{name}: blank at the end of '{line}'");
        }
    }
}

#[test]
fn the_first_ten_lines_answer() {
    let text = as_text(&sample::lossy());
    let first: Vec<_> = text.lines().take(10).collect();
    let first = first
        .join(" ")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    for answer in [
        "QP 0x153 -> 0x2a (192.0.2.1 -> 192.0.2.2)",
        "23 of 2,950 data packets lost between the sender and this tap",
        "812.000 ms stalled in 23 repairs",
        "Not seen damage",
    ] {
        assert!(first.contains(answer), "{answer} is not in: {first}");
    }
}

#[test]
fn the_first_screen_has_its_order() {
    for (name, report) in kinds() {
        let text = as_text(&report);
        let place = |label: &str| text.lines().position(|line| line.starts_with(label));
        let places: Vec<_> = ["Verdict", "Not seen", "Worst", "Next"]
            .into_iter()
            .filter_map(place)
            .collect();
        assert!(
            places.is_sorted()
                && place("Verdict") == Some(0)
                && place("Next").is_some_and(|line| line < 20),
            "{name}: {places:?}"
        );
    }
}

#[test]
fn nothing_hostile_reaches_a_sink() {
    let report = sample::hostile();
    let (text, markdown, json) = (as_text(&report), as_markdown(&report), as_json(&report));
    for (name, out) in [("text", &text), ("markdown", &markdown), ("json", &json)] {
        let acting = out
            .chars()
            .find(|letter| *letter != '\n' && untrusted::is_harmful(*letter));
        assert_eq!(acting, None, "{name} lets a character through");
    }
    assert!(
        !text.lines().any(|line| line.starts_with("|`<script>")),
        "a line was broken"
    );
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        value["sources"][0]["path"], report.sources[0].path,
        "JSON changed the value"
    );
}

/// Outside of code spans no character of the hostile text is markup.
#[test]
fn nothing_hostile_is_markup() {
    let markdown = as_markdown(&sample::hostile());
    assert!(markdown.contains("script"));
    for line in markdown.lines() {
        let mut in_code = 0;
        let mut letters = line.chars().peekable();
        while let Some(letter) = letters.next() {
            if letter == '\\' && in_code == 0 {
                letters.next();
            } else if letter == '`' {
                let mut run = 1;
                while letters.next_if_eq(&'`').is_some() {
                    run += 1;
                }
                in_code = if in_code == run {
                    0
                } else if in_code == 0 {
                    run
                } else {
                    in_code
                };
            } else if in_code == 0 {
                assert!(!matches!(letter, '<' | '[' | '@'), "markup in: {line}");
            }
        }
        assert_eq!(in_code, 0, "a code span is open in: {line}");
    }
}

#[test]
fn colours_only_where_asked_for() {
    let report = sample::lossy();
    let clock = Clock::new(&report, TimeZone::UTC);
    assert!(text(&report, &clock, Paint::Colour).contains("\u{1b}[1;33mWARNING\u{1b}[0m"));
    assert!(!text(&report, &clock, Paint::Plain).contains('\u{1b}'));
}

#[test]
fn no_roce_says_what_is_there_and_what_to_try() {
    let text = as_text(&sample::no_roce())
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    for answer in [
        "No RoCE in 1,234 frames",
        "1,200 TCP segments",
        "34 UDP datagrams (to port 53, 4792)",
        "--udp-port 4792",
    ] {
        assert!(text.contains(answer), "{answer} is not in: {text}");
    }
}

#[test]
fn json_is_what_the_schema_says() {
    let schema = serde_json::to_value(schema()).unwrap();
    for (name, report) in kinds().into_iter().chain([("hostile", sample::hostile())]) {
        let value = serde_json::to_value(&report).unwrap();
        validate::validate(&schema, &value).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn the_schema_refuses_what_is_not_a_report() {
    let schema = serde_json::to_value(schema()).unwrap();
    let value = serde_json::to_value(sample::lossy()).unwrap();
    for (path, wrong) in [
        ("/findings/0/severity", serde_json::json!("bad")),
        ("/streams/0/packets", serde_json::json!("many")),
        ("/streams/0/requester", serde_json::json!({})),
        ("/connections/0/streams", serde_json::json!(0)),
        ("/findings/0/subject/kind", serde_json::json!("nobody")),
        (
            "/streams/0/requester/recoveries/0/where",
            serde_json::json!("nowhere"),
        ),
    ] {
        let mut broken = value.clone();
        *broken.pointer_mut(path).unwrap() = wrong;
        assert!(validate::validate(&schema, &broken).is_err(), "{path}");
    }
}
