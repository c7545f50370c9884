//! The report for tickets and wikis.

use super::{Clock, Untrusted, block, words};
use rocescope_core::figure::{count, duration, millionths, qp_pair, share};
use rocescope_core::report::{Finding, Report, Stream};
use rocescope_core::verdict::Loss;
use std::fmt::Write;

/// Rows of one table and findings written out; what is beyond is counted.
const ROWS: usize = 40;

/// The report as Markdown (CommonMark with tables).
#[must_use]
pub fn markdown(report: &Report, clock: &Clock) -> String {
    let mut out = String::new();
    head(&mut out, report);
    verdict_block(&mut out, report, clock);
    findings(&mut out, report, clock);
    streams(&mut out, report);
    sources(&mut out, report, clock);
    out
}

fn prose(text: &str) -> String {
    Untrusted(text).prose()
}

fn head(out: &mut String, report: &Report) {
    let verdict = &report.verdict;
    let _ = write!(out, "# RoCE verdict\n\n**{}**\n", prose(&verdict.sentence));
    if !verdict.not_visible.is_empty() {
        let _ = write!(out, "\nNot seen:\n\n");
        for line in &verdict.not_visible {
            let _ = writeln!(out, "- {}", prose(line));
        }
    }
    if !verdict.worst.is_empty() {
        let _ = write!(out, "\nWorst:\n\n");
        for (index, stream) in verdict
            .worst
            .iter()
            .filter_map(|id| words::stream_of(report, *id))
            .enumerate()
        {
            let _ = writeln!(
                out,
                "{}. {}: {}",
                index + 1,
                prose(&name(report, stream)),
                prose(&words::damage_of(report, stream))
            );
        }
    }
    let _ = write!(out, "\nNext: {}", prose(&verdict.next_step));
    if !verdict.frames.is_empty() {
        let _ = write!(
            out,
            " Frames to open: {}.",
            words::frames(report, &verdict.frames)
        );
    }
    out.push('\n');
    if let Some(filter) = &report.tool.filter {
        let _ = write!(
            out,
            "\nOnly what matches {} is listed; totals and verdict are of everything.\n",
            Untrusted(filter).code_span()
        );
    }
    if report.tool.redacted {
        out.push_str("\nRedacted: addresses, paths and names are stand-ins.\n");
    }
}

fn name(report: &Report, stream: &Stream) -> String {
    format!(
        "{} ({} -> {})",
        qp_pair(words::sender_qpn(report, stream), stream.dest_qpn),
        stream.src,
        stream.dst
    )
}

fn verdict_block(out: &mut String, report: &Report, clock: &Clock) {
    let lines = block::verdict_block(report, clock);
    if lines.is_empty() {
        return;
    }
    out.push_str("\n## The verdict in full\n\n| question | answer |\n| --- | --- |\n");
    for (label, answer) in lines {
        let _ = writeln!(out, "| {label} | {} |", prose(&answer));
    }
}

fn findings(out: &mut String, report: &Report, clock: &Clock) {
    if report.findings.is_empty() {
        return;
    }
    out.push_str("\n## Findings\n");
    let mut ordered: Vec<&Finding> = report.findings.iter().collect();
    ordered.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    for finding in ordered.iter().take(ROWS) {
        one_finding(out, report, finding, clock);
    }
    more(out, ordered.len(), "findings");
}

fn one_finding(out: &mut String, report: &Report, finding: &Finding, clock: &Clock) {
    let _ = write!(
        out,
        "\n### {}: {}\n\n{}\n\n",
        words::severity_word(finding.severity),
        finding.id,
        prose(&finding.message)
    );
    let mut point = |label: &str, text: &str| {
        let _ = writeln!(out, "- {label}: {text}");
    };
    point("whom", &prose(&words::subject(report, &finding.subject)));
    point("seen", &words::seen(finding, clock));
    if let Some(timeline) = words::timeline(report, finding, clock) {
        point("tries", &prose(&timeline));
    }
    if !finding.evidence.0.is_empty() {
        point("evidence", &prose(&words::evidence(finding)));
    }
    if !finding.frames.is_empty() {
        point("frames", &words::frames(report, &finding.frames));
    }
    point("confidence", words::confidence_word(finding.confidence));
    point("next", &prose(finding.next_step));
}

fn more(out: &mut String, all: usize, what: &str) {
    if all > ROWS {
        let _ = write!(
            out,
            "\nAnd {} more {what}: `--filter` chooses, `--format json` has all.\n",
            count((all - ROWS) as u64)
        );
    }
}

fn streams(out: &mut String, report: &Report) {
    if report.streams.is_empty() {
        return;
    }
    out.push_str("\n## Streams\n\n| stream | kind | packets | lost | per million | sent again | stalled | UDP port | DSCP |\n");
    out.push_str("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    let mut ordered: Vec<&Stream> = report.streams.iter().collect();
    ordered.sort_by_key(|stream| {
        (
            std::cmp::Reverse(Loss::of(stream).total()),
            std::cmp::Reverse(stream.packets),
            stream.id,
        )
    });
    for stream in ordered.iter().take(ROWS) {
        let lost = Loss::of(stream).total();
        let requester = &stream.requester;
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            prose(&name(report, stream)),
            stream.transport,
            count(stream.packets),
            count(lost),
            count(millionths(lost, Loss::sent(stream))),
            share(millionths(requester.retransmitted_bytes, stream.wire_bytes)),
            duration(requester.stalled_ns),
            stream.udp_source_port,
            stream.dscp
        );
    }
    more(out, report.streams.len(), "streams");
}

fn sources(out: &mut String, report: &Report, clock: &Clock) {
    out.push_str("\n## Sources\n\n");
    for source in &report.sources {
        let _ = writeln!(
            out,
            "- {}: {}",
            Untrusted(&source.path).code_span(),
            prose(&words::source_line(source, clock))
        );
        for problem in source.problems.iter().chain(&source.vantage.notes) {
            let _ = writeln!(out, "  - {}", prose(problem));
        }
    }
    let tool = &report.tool;
    let _ = write!(
        out,
        "\n{} {}, called as {}\n",
        tool.name,
        tool.version,
        Untrusted(&tool.arguments.join(" ")).code_span()
    );
    if !tool.settings_changed.is_empty() {
        let settings: Vec<_> = tool
            .settings_changed
            .iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        let _ = write!(
            out,
            "\nChanged settings: {}\n",
            Untrusted(&settings.join(", ")).code_span()
        );
    }
}
