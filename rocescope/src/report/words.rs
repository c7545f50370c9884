//! Sentences and columns that text and Markdown share.

use super::Clock;
use rocescope_core::figure::{count, counted, duration, millionths, qp_pair, share};
use rocescope_core::report::finding::EvidenceValue;
use rocescope_core::report::{
    Confidence, Connection, EndedBy, Finding, PairedBy, Recovery, Report, Severity, State, Stream,
    Style, Subject, Trigger,
};
use rocescope_core::verdict::Loss;

/// Its name in JSON and on the command line.
#[must_use]
pub fn severity_word(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "info",
        Severity::Warning => "warning",
        Severity::Critical => "critical",
    }
}

pub(super) fn confidence_word(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::Low => "low",
        Confidence::Medium => "medium",
        Confidence::High => "high",
    }
}

fn paired_word(paired: PairedBy) -> &'static str {
    match paired {
        PairedBy::Cm => "paired by CM",
        PairedBy::Kernel => "paired by the kernel",
        PairedBy::Inferred => "paired by inference",
    }
}

/// Whom a finding is about, with all that names it on other tools: QPNs, addresses, UDP source port, DSCP.
pub(super) fn subject(report: &Report, subject: &Subject) -> String {
    match subject {
        Subject::Stream {
            src,
            dst,
            dest_qpn,
            src_qpn,
            udp_source_port,
            dscp,
            paired_by,
            ..
        } => {
            let port = if *udp_source_port == 0 {
                "RoCE v1".to_owned()
            } else {
                format!("UDP source port {udp_source_port}")
            };
            let paired = paired_by.map_or("sender QPN not known", paired_word);
            format!(
                "{} | {src} -> {dst} | {port} | DSCP {dscp} | {paired}",
                qp_pair(*src_qpn, *dest_qpn)
            )
        }
        Subject::Source { source } => match report.sources.get(usize::from(*source)) {
            Some(source) => source.path.clone(),
            None => format!("source {source}"),
        },
        Subject::Capture => "the whole input".to_owned(),
    }
}

/// When a finding was seen, how often, and how it ended.
pub(super) fn seen(finding: &Finding, clock: &Clock) -> String {
    let times = counted(finding.count, "time", "times");
    let ended = match (finding.state, finding.ended_by) {
        (State::Open, _) => ", still open",
        (State::Resolved, Some(EndedBy::Quiet)) => ", then quiet",
        (State::Resolved, Some(EndedBy::Closed)) => ", until the stream was closed",
        (State::Resolved, _) => "",
    };
    if finding.first_ns == finding.last_ns {
        format!("{times}, at {}{ended}", clock.at(finding.first_ns))
    } else {
        format!(
            "{times}, {} to {}{ended}",
            clock.at(finding.first_ns),
            clock.at(finding.last_ns)
        )
    }
}

/// Measured values: `lost_packets 23, longest_gap 1.200 ms`.
pub(super) fn evidence(finding: &Finding) -> String {
    let parts: Vec<_> = finding
        .evidence
        .0
        .iter()
        .map(|(name, value)| evidence_value(name, value))
        .collect();
    parts.join(", ")
}

fn evidence_value(name: &str, value: &EvidenceValue) -> String {
    let number = |number: &i64| match (name.ends_with("_ns"), u64::try_from(*number)) {
        (true, Ok(ns)) => duration(ns),
        (false, Ok(number)) if !name.contains("psn") && !name.contains("port") => count(number),
        _ => number.to_string(),
    };
    let label = name.strip_suffix("_ns").unwrap_or(name).replace('_', " ");
    match value {
        EvidenceValue::Number(value) => format!("{label} {}", number(value)),
        EvidenceValue::Numbers(values) => format!(
            "{label} [{}]",
            values.iter().map(number).collect::<Vec<_>>().join(", ")
        ),
        EvidenceValue::Text(text) => format!("{label} {text}"),
    }
}

/// Frame numbers, by source where there are several.
pub(super) fn frames(report: &Report, frames: &[rocescope_core::report::FrameRef]) -> String {
    let many = report.sources.len() > 1;
    let one = |frame: &rocescope_core::report::FrameRef| {
        if many {
            format!("{}:{}", frame.source, frame.frame)
        } else {
            frame.frame.to_string()
        }
    };
    frames.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// The tries of a queue pair that died: the last recovery of its stream, with the gap before each pass.
pub(super) fn timeline(report: &Report, finding: &Finding, clock: &Clock) -> Option<String> {
    let Subject::Stream {
        stream: Some(stream),
        ..
    } = finding.subject
    else {
        return None;
    };
    if !rocescope_core::verdict::is_deadly(finding.id) {
        return None;
    }
    let stream = report
        .streams
        .iter()
        .find(|candidate| candidate.id == stream)?;
    let last = stream.requester.recoveries.last()?;
    let gaps: Vec<_> = last.gaps_ns.iter().map(|gap| duration(*gap)).collect();
    let gaps = if gaps.is_empty() {
        String::new()
    } else {
        format!(", after {}", gaps.join(", "))
    };
    Some(format!(
        "PSN {} sent again {} from {} on{gaps} ({})",
        last.first_psn,
        counted(last.tries, "time", "times"),
        clock.offset(last.start_ns),
        recovery_words(last)
    ))
}

fn recovery_words(recovery: &Recovery) -> String {
    let trigger = match recovery.trigger {
        Trigger::Nak => "after a NAK",
        Trigger::Rnr => "after an RNR NAK",
        Trigger::Timeout => "after a timeout",
        Trigger::ImpliedNak => "after an implied NAK",
        Trigger::Unknown => "trigger not visible",
    };
    let style = match recovery.style {
        Style::GoBackN => "go-back-n",
        Style::Selective => "selective",
    };
    let end = if recovery.end_ns.is_some() {
        ""
    } else {
        ", never acknowledged"
    };
    format!("{trigger}, {style}{end}")
}

/// Figures of a stream's requests in one line: what was lost, repaired, and what it cost.
pub(super) fn damage_of(report: &Report, stream: &Stream) -> String {
    let connection = connection_of(report, stream);
    let requester = &stream.requester;
    let lost = Loss::of(stream).total();
    let mut parts = Vec::new();
    if lost > 0 {
        let rate = millionths(lost, Loss::sent(stream));
        parts.push(format!(
            "{} lost ({} per million)",
            count(lost),
            count(rate)
        ));
    }
    if requester.retransmitted_packets > 0 {
        parts.push(format!(
            "{} sent again",
            count(requester.retransmitted_packets)
        ));
    }
    if requester.recoveries_total > 0 {
        parts.push(counted(requester.recoveries_total, "repair", "repairs"));
    }
    let stalled = connection.map_or(requester.stalled_ns, |connection| {
        connection.stalled_ns.max(requester.stalled_ns)
    });
    if stalled > 0 {
        let life = connection.map_or(
            stream.last_ns.saturating_sub(stream.first_ns),
            |connection| connection.life_ns,
        );
        let part = millionths(stalled, life);
        parts.push(format!(
            "stalled {} ({} of its life)",
            duration(stalled),
            share(part)
        ));
    }
    let mut ids: Vec<_> = findings_of(report, stream.id)
        .map(|finding| finding.id)
        .collect();
    ids.dedup();
    if !ids.is_empty() {
        parts.push(ids.join(", "));
    }
    parts.join("; ")
}

pub(super) fn findings_of(report: &Report, id: u64) -> impl Iterator<Item = &Finding> {
    report.findings.iter().filter(
        move |finding| matches!(finding.subject, Subject::Stream { stream, .. } if stream == Some(id)),
    )
}

pub(super) fn connection_of<'a>(report: &'a Report, stream: &Stream) -> Option<&'a Connection> {
    report
        .connections
        .iter()
        .find(|connection| connection.streams.contains(&stream.id))
}

pub(super) fn stream_of(report: &Report, id: u64) -> Option<&Stream> {
    report.streams.iter().find(|stream| stream.id == id)
}

/// Queue pair of the sender of a stream, where the pair is known.
pub(super) fn sender_qpn(report: &Report, stream: &Stream) -> Option<u32> {
    let connection = connection_of(report, stream)?;
    let peer = connection.streams.into_iter().find(|id| *id != stream.id)?;
    stream_of(report, peer).map(|peer| peer.dest_qpn)
}

/// What a source is, in one line.
pub(super) fn source_line(source: &rocescope_core::report::Source, clock: &Clock) -> String {
    let mut line = format!(
        "{}, {}",
        source.format,
        counted(source.frames, "frame", "frames")
    );
    if let (Some(first), Some(last)) = (source.first_ns, source.last_ns) {
        line += &format!(
            ", from {} over {}",
            clock.at(first),
            duration(last.saturating_sub(first))
        );
    }
    if source.backward_times > 0 {
        line += &format!(
            ", {} with a time before the last one",
            counted(source.backward_times, "frame", "frames")
        );
    }
    if !source.vantage.mirrors.is_empty() {
        line += &format!(", mirrored by {}", source.vantage.mirrors.join(", "));
    }
    line
}
