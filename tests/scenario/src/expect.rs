//! What came out beside what must come out.

use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

/// What must come out.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Expect {
    /// Findings that must be made; any other above `info` must not.
    #[serde(default)]
    pub(crate) finding: Vec<ExpectedFinding>,
    /// Findings of severity `info` that must not be made either.
    #[serde(default)]
    pub(crate) absent: Vec<String>,
    /// Words of the verdict's sentence.
    #[serde(default)]
    pub(crate) verdict: Vec<String>,
    /// Words that the verdict's sentence must not contain.
    #[serde(default)]
    pub(crate) verdict_without: Vec<String>,
    /// Words that texts of the JSON report contain, by their path.
    #[serde(default)]
    pub(crate) texts: BTreeMap<String, String>,
    /// Values of the JSON report by their path.
    #[serde(default)]
    pub(crate) values: toml::Table,
}

#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ExpectedFinding {
    pub(crate) id: String,
    pub(crate) severity: String,
    pub(crate) count: Option<u64>,
    pub(crate) confidence: Option<String>,
    /// QPN that the packets of its stream go to.
    pub(crate) dest_qpn: Option<u32>,
    /// Words that the message contains.
    #[serde(default)]
    pub(crate) says: Vec<String>,
    /// Words that the message must not contain.
    #[serde(default)]
    pub(crate) never_says: Vec<String>,
}

/// Every difference, one line each.
pub(crate) fn differences(expect: &Expect, report: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    let empty = Vec::new();
    let found = report["findings"].as_array().unwrap_or(&empty);
    for expected in &expect.finding {
        let mut candidates: Vec<_> = found
            .iter()
            .filter(|finding| is_meant(expected, finding))
            .collect();
        if candidates.len() > 1 && expected.dest_qpn.is_none() {
            // Beside findings of streams: the one of no stream.
            candidates.retain(|finding| finding["subject"]["dest_qpn"].is_null());
        }
        match candidates[..] {
            [] => lines.push(format!("no finding `{}`", expected.id)),
            [one] => compare(expected, one, &mut lines),
            _ => lines.push(format!(
                "`{}` was found {} times; say dest-qpn",
                expected.id,
                candidates.len()
            )),
        }
    }
    for finding in found {
        let listed = expect
            .finding
            .iter()
            .any(|expected| is_meant(expected, finding));
        let id = finding["id"].as_str().unwrap_or_default();
        let forbidden =
            finding["severity"] != "info" || expect.absent.iter().any(|absent| absent == id);
        if forbidden && !listed {
            lines.push(format!(
                "unexpected {} `{id}`: {}",
                finding["severity"], finding["message"]
            ));
        }
    }
    let sentence = report["verdict"]["sentence"].as_str().unwrap_or_default();
    for words in expect
        .verdict
        .iter()
        .filter(|words| !sentence.contains(*words))
    {
        lines.push(format!("the verdict does not say {words:?}: {sentence}"));
    }
    for words in expect
        .verdict_without
        .iter()
        .filter(|words| sentence.contains(*words))
    {
        lines.push(format!("the verdict says {words:?}: {sentence}"));
    }
    for (path, words) in &expect.texts {
        match value(report, path) {
            Ok(Value::String(text)) if text.contains(words) => {}
            Ok(got) => lines.push(format!("{path} does not say {words:?}: {got}")),
            Err(error) => lines.push(format!("{path}: {error}")),
        }
    }
    for (path, expected) in &expect.values {
        let expected = json(expected);
        match value(report, path) {
            Ok(got) if got == expected => {}
            Ok(got) => lines.push(format!("{path} is {got}, not {expected}")),
            Err(error) => lines.push(format!("{path}: {error}")),
        }
    }
    lines
}

fn is_meant(expected: &ExpectedFinding, finding: &Value) -> bool {
    finding["id"] == expected.id.as_str()
        && expected
            .dest_qpn
            .is_none_or(|qpn| finding["subject"]["dest_qpn"] == qpn)
}

fn compare(expected: &ExpectedFinding, finding: &Value, lines: &mut Vec<String>) {
    let id = &expected.id;
    let message = finding["message"].as_str().unwrap_or_default();
    let mut same = |what: &str, expected: Value| {
        if finding[what] != expected {
            lines.push(format!(
                "`{id}`: {what} is {}, not {expected} ({message})",
                finding[what]
            ));
        }
    };
    same("severity", expected.severity.as_str().into());
    if let Some(count) = expected.count {
        same("count", count.into());
    }
    if let Some(confidence) = &expected.confidence {
        same("confidence", confidence.as_str().into());
    }
    for words in expected
        .says
        .iter()
        .filter(|words| !message.contains(*words))
    {
        lines.push(format!("`{id}` does not say {words:?}: {message}"));
    }
    for words in expected
        .never_says
        .iter()
        .filter(|words| message.contains(*words))
    {
        lines.push(format!("`{id}` says {words:?}: {message}"));
    }
}

fn json(value: &toml::Value) -> Value {
    match value {
        // TOML has no null.
        toml::Value::String(text) if text == "null" => Value::Null,
        other => serde_json::to_value(other).unwrap_or_default(),
    }
}

/// The value at `path`: keys with dots between, `[2]` an entry of a list, `[dest_qpn=34]` the only entry with that value,
/// `length` at the end the number of entries.
pub(crate) fn value(report: &Value, path: &str) -> Result<Value, String> {
    let mut at = report;
    for part in path.split('.') {
        if part == "length" {
            return at
                .as_array()
                .map(|list| list.len().into())
                .ok_or(format!("no list before {part}"));
        }
        let (key, selector) = part.split_once('[').map_or((part, None), |(key, rest)| {
            (key, Some(rest.strip_suffix(']').unwrap_or(rest)))
        });
        at = at.get(key).ok_or(format!("there is no {key}"))?;
        if let Some(selector) = selector {
            at = select(at, selector)?;
        }
    }
    Ok(at.clone())
}

fn select<'v>(list: &'v Value, selector: &str) -> Result<&'v Value, String> {
    let entries = list.as_array().ok_or("no list")?;
    let Some((key, wanted)) = selector.split_once('=') else {
        let index: usize = selector
            .parse()
            .map_err(|_| format!("[{selector}] is no number"))?;
        return entries
            .get(index)
            .ok_or(format!("it has {} entries", entries.len()));
    };
    let wanted = match wanted.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16)
            .map_err(|_| format!("[{selector}] has no number"))?
            .to_string(),
        None => wanted.to_owned(),
    };
    let is_wanted = |entry: &&Value| match &entry[key] {
        Value::String(text) => *text == wanted,
        other => serde_json::to_string(other).is_ok_and(|other| other == wanted),
    };
    let fitting: Vec<_> = entries.iter().filter(is_wanted).collect();
    match fitting[..] {
        [one] => Ok(one),
        _ => Err(format!("{} entries have {key} = {wanted}", fitting.len())),
    }
}

/// What `rocescope analyze` makes of a file.
pub(crate) fn report(file: &Path) -> Result<Value, String> {
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

/// What is wrong with an expectation: it is not met, or it is met and marked as pending.
pub(crate) fn verdict(
    name: &str,
    about: &str,
    pending: Option<&str>,
    differences: &[String],
) -> Option<String> {
    match (pending, differences) {
        (None, []) | (Some(_), [_, ..]) => None,
        (None, differences) => Some(format!(
            "{name}: {about}\n    {}",
            differences.join("\n    ")
        )),
        (Some(reason), []) => Some(format!("{name} passes: take away `pending = {reason:?}`")),
    }
}
