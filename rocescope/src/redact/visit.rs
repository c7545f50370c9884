//! Every place of a report that holds an address, a path or a name.

use super::names::Names;
use rocescope_core::Address;
use rocescope_core::report::finding::EvidenceValue;
use rocescope_core::report::{Finding, Report, Source, Subject};
use std::collections::BTreeSet;
use std::path::Path;

/// Flags whose value is a path.
const PATH_FLAGS: [&str; 3] = ["--output", "-o", "--frames"];

/// Gives numbers to addresses in their order, and stand-ins to paths.
pub(super) fn learn(report: &Report, names: &mut Names) {
    let streams = report
        .streams
        .iter()
        .flat_map(|stream| [stream.src, stream.dst]);
    let findings = report
        .findings
        .iter()
        .flat_map(|finding| match finding.subject {
            Subject::Stream { src, dst, .. } => vec![src, dst],
            Subject::Source { .. } | Subject::Capture => Vec::new(),
        });
    let addresses: BTreeSet<Address> = streams.chain(findings).collect();
    for address in addresses {
        names.address(address);
    }
    for (index, source) in report.sources.iter().enumerate() {
        names.word(
            &source.path,
            &stand_in_of(&source.path, &format!("trace-{}", index + 1)),
        );
    }
    for (index, source) in report.sources.iter().enumerate() {
        if let Some(name) = Path::new(&source.path)
            .file_name()
            .and_then(|name| name.to_str())
        {
            names.word(name, &stand_in_of(name, &format!("trace-{}", index + 1)));
        }
    }
    let mut paths = 0;
    let mut learn_path = |path: &str| {
        if names.knows(path) {
            return;
        }
        paths += 1;
        names.word(path, &stand_in_of(path, &format!("path-{paths}")));
    };
    let arguments = &report.tool.arguments;
    for (index, argument) in arguments.iter().enumerate() {
        let before = index
            .checked_sub(1)
            .and_then(|index| arguments.get(index))
            .map(String::as_str);
        match argument.split_once('=') {
            Some((flag, path)) if PATH_FLAGS.contains(&flag) => learn_path(path),
            _ if before.is_some_and(|flag| PATH_FLAGS.contains(&flag)) => learn_path(argument),
            _ if argument.contains(['/', '\\'])
                && !argument.starts_with('-')
                && !argument.contains(' ') =>
            {
                learn_path(argument);
            }
            _ => {}
        }
    }
}

/// The stand-in with the endings of captures and reports, which say what it is.
fn stand_in_of(path: &str, stand_in: &str) -> String {
    if path == "-" {
        return path.to_owned();
    }
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let known = ["pcap", "pcapng", "cap", "gz", "zst", "json", "md", "txt"];
    let endings: Vec<_> = name
        .split('.')
        .skip(1)
        .filter(|ending| known.contains(ending))
        .collect();
    let mut out = stand_in.to_owned();
    for ending in endings {
        out.push('.');
        out.push_str(ending);
    }
    out
}

/// Puts the stand-ins in.
pub(super) fn replace(report: &mut Report, names: &mut Names) {
    for stream in &mut report.streams {
        stream.src = names.address(stream.src);
        stream.dst = names.address(stream.dst);
    }
    for finding in &mut report.findings {
        self::finding(finding, names);
    }
    for source in &mut report.sources {
        self::source(source, names);
    }
    for port in &mut report.ports {
        port.source_mac = names.mac(&port.source_mac);
    }
    for connection in &mut report.connections {
        if let Some(service) = &mut connection.service {
            *service = names.sentence(service);
        }
    }
    let verdict = &mut report.verdict;
    let who = verdict.who.as_mut().map(|who| &mut who.value);
    let answers = [
        &mut verdict.side,
        &mut verdict.timeout,
        &mut verdict.retries,
    ]
    .into_iter()
    .flatten();
    let sentences = [&mut verdict.sentence, &mut verdict.next_step]
        .into_iter()
        .chain(who)
        .chain(answers);
    for sentence in sentences.chain(&mut verdict.not_visible) {
        *sentence = names.sentence(sentence);
    }
    let tool = &mut report.tool;
    for text in tool.arguments.iter_mut().chain(&mut tool.filter) {
        *text = names.sentence(text);
    }
}

fn finding(finding: &mut Finding, names: &mut Names) {
    if let Subject::Stream { src, dst, .. } = &mut finding.subject {
        *src = names.address(*src);
        *dst = names.address(*dst);
    }
    for text in [
        &mut finding.key,
        &mut finding.fingerprint,
        &mut finding.message,
    ] {
        *text = names.sentence(text);
    }
    for (_, value) in &mut finding.evidence.0 {
        if let EvidenceValue::Text(text) = value {
            *text = names.sentence(text);
        }
    }
}

fn source(source: &mut Source, names: &mut Names) {
    source.path = names.sentence(&source.path);
    let vantage = &mut source.vantage;
    for text in source
        .problems
        .iter_mut()
        .chain(&mut vantage.mirrors)
        .chain(&mut vantage.notes)
    {
        *text = names.sentence(text);
    }
}
