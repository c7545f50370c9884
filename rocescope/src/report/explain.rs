//! `explain`: what a finding means, for people, pages and programs.

use super::{severity_word, text::Page};
use crate::cli::Format;
use rocescope_core::figure::{count, duration};
use rocescope_core::finding::{FindingDoc, REGISTRY, Scope, Threshold};
use std::fmt::Write;

/// All about one finding.
#[must_use]
pub fn explain(doc: &FindingDoc, format: Format) -> String {
    match format {
        Format::Text => as_text(doc),
        Format::Markdown => as_markdown(doc),
        Format::Json => as_json(doc),
    }
}

/// The list of all findings.
#[must_use]
pub fn explain_all(format: Format) -> String {
    match format {
        Format::Text => list_text(),
        Format::Markdown => list_markdown(),
        Format::Json => as_json(&REGISTRY),
    }
}

fn as_json(value: &impl serde::Serialize) -> String {
    let mut out = Vec::new();
    // Writing to memory does not fail, and the docs are plain text.
    let written = super::json(value, &mut out);
    debug_assert!(written.is_ok());
    String::from_utf8(out).unwrap_or_default()
}

fn facts(doc: &FindingDoc) -> Vec<(&'static str, String)> {
    let scope = match doc.scope {
        Scope::Stream => "one stream: source, destination, destination QPN",
        Scope::Source => "one input",
        Scope::Capture => "the whole input",
    };
    let quiet = match doc.quiet_ns {
        0 => "lasts until the input ends".to_owned(),
        ns => format!("{} without new evidence", duration(ns)),
    };
    vec![
        ("family", doc.family.title().to_owned()),
        ("severity", severity_word(doc.severity).to_owned()),
        ("about", scope.to_owned()),
        ("resolved", quiet),
    ]
}

fn threshold(doc: &FindingDoc, threshold: &Threshold) -> String {
    let Threshold {
        key,
        unit,
        default,
        min,
        max,
        meaning,
        source,
    } = threshold;
    format!(
        "{}.{key}: {} {unit} ({} to {}). {meaning} Source: {source}",
        doc.id,
        count(*default),
        count(*min),
        count(*max)
    )
}

fn as_text(doc: &FindingDoc) -> String {
    let mut page = Page::plain();
    page.heading(doc.id);
    for (label, fact) in facts(doc) {
        page.entry(label, &fact);
    }
    for (title, text) in [
        ("Meaning", doc.meaning),
        ("Rule", doc.rule),
        ("Source", doc.source),
    ] {
        page.heading(title);
        page.indented(text);
    }
    if !doc.thresholds.is_empty() {
        page.heading("Thresholds (change with --set)");
        for value in doc.thresholds {
            page.bullet(&threshold(doc, value));
        }
    }
    for (title, points) in [("Causes", doc.causes), ("What to do", doc.what_to_do)] {
        page.heading(title);
        for point in points {
            page.bullet(point);
        }
    }
    page.heading("When it is wrong");
    page.indented(doc.when_wrong);
    page.finish()
}

fn as_markdown(doc: &FindingDoc) -> String {
    let prose = |text: &str| super::Untrusted(text).prose();
    let mut out = format!("## {}\n\n", doc.id);
    for (label, fact) in facts(doc) {
        let _ = writeln!(out, "- {label}: {}", prose(&fact));
    }
    for (title, text) in [
        ("Meaning", doc.meaning),
        ("Rule", doc.rule),
        ("Source", doc.source),
    ] {
        let _ = write!(out, "\n### {title}\n\n{}\n", prose(text));
    }
    if !doc.thresholds.is_empty() {
        out += "\n### Thresholds\n\n";
        for value in doc.thresholds {
            let _ = writeln!(out, "- {}", prose(&threshold(doc, value)));
        }
    }
    for (title, points) in [("Causes", doc.causes), ("What to do", doc.what_to_do)] {
        let _ = write!(out, "\n### {title}\n\n");
        for point in points {
            let _ = writeln!(out, "- {}", prose(point));
        }
    }
    let _ = write!(out, "\n### When it is wrong\n\n{}\n", prose(doc.when_wrong));
    out
}

fn list_text() -> String {
    let mut page = Page::plain();
    let mut family = None;
    for doc in REGISTRY {
        if family != Some(doc.family) {
            page.heading(doc.family.title());
            family = Some(doc.family);
        }
        page.line(&format!(
            "  {} ({}): {}",
            doc.id,
            severity_word(doc.severity),
            doc.summary()
        ));
    }
    page.finish()
}

/// A table of all findings, and under it what there is to say of each.
fn list_markdown() -> String {
    let mut out =
        "# Findings\n\n| finding | family | severity | meaning |\n| --- | --- | --- | --- |\n"
            .to_owned();
    for doc in REGISTRY {
        let summary = super::Untrusted(doc.summary()).prose();
        let _ = writeln!(
            out,
            "| [{}](#{}) | {} | {} | {summary} |",
            doc.id,
            doc.id,
            doc.family.title(),
            severity_word(doc.severity)
        );
    }
    for doc in REGISTRY {
        out.push('\n');
        out += &as_markdown(doc);
    }
    out
}
