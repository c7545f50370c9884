//! Sentences and columns that text and Markdown share.

use super::Clock;
use rocescope_core::figure::{count, counted, duration, millionths, qp_pair, share};
use rocescope_core::report::finding::EvidenceValue;
use rocescope_core::report::verdict::{Pattern, Who};
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

/// The lines of the verdict block, in the order people ask: label and answer.
pub(super) fn verdict_block(report: &Report, clock: &Clock) -> Vec<(&'static str, String)> {
    let verdict = &report.verdict;
    let mut lines = Vec::new();
    if !any_trouble(report) {
        return lines;
    }
    lines.push((
        "How much",
        format!(
            "{} lost or damaged per million, {} of the octets sent again",
            count(verdict.lost_per_million),
            share(verdict.sent_again_millionths)
        ),
    ));
    lines.push((
        "What it cost",
        format!(
            "{} stalled, {} of the life of all connections",
            duration(verdict.stalled_ns),
            share(verdict.stalled_millionths)
        ),
    ));
    if let Some(since) = verdict.since_ns {
        let until = verdict
            .until_ns
            .filter(|until| *until > since)
            .map_or_else(String::new, |until| {
                format!(" until {}", clock.offset(until))
            });
        lines.push(("Since when", format!("{}{until}", clock.at(since))));
        if !verdict.losses_by_second.is_empty() {
            lines.push(("Pattern", pattern(report, clock)));
        }
    }
    if let Some(who) = &verdict.who {
        lines.push(("Who", who_words(report, who)));
    }
    if let Some(side) = &verdict.side {
        lines.push(("Which side", side.clone()));
    }
    if verdict.middle_losses + verdict.tail_losses > 0 {
        lines.push((
            "Found by",
            format!(
                "a NAK or later answer {}, only a timer {}",
                counted(verdict.middle_losses, "time", "times"),
                counted(verdict.tail_losses, "time", "times")
            ),
        ));
    }
    if let Some(timeout) = &verdict.timeout {
        lines.push(("Timeout", timeout.clone()));
    }
    if let Some(retries) = &verdict.retries {
        lines.push(("Retries", retries.clone()));
    }
    lines
}

fn any_trouble(report: &Report) -> bool {
    let verdict = &report.verdict;
    verdict.lost_per_million > 0
        || verdict.sent_again_millionths > 0
        || verdict.stalled_ns > 0
        || !verdict.worst.is_empty()
}

fn pattern(report: &Report, clock: &Clock) -> String {
    let verdict = &report.verdict;
    let word = match verdict.pattern {
        Some(Pattern::Steady) => "steady",
        Some(Pattern::Bursts) => "bursts",
        Some(Pattern::OneEvent) => "one event",
        None => "too short to tell",
    };
    match sparkline(report, clock) {
        Some(line) => format!("{word}; losses per second {line}"),
        None => word.to_owned(),
    }
}

/// Losses over time, at most 40 columns of equal width: `+0 s |..#:| +12 s, at most 9`.
fn sparkline(report: &Report, clock: &Clock) -> Option<String> {
    const COLUMNS: u64 = 40;
    const LEVELS: [char; 9] = ['·', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let losses = &report.verdict.losses_by_second;
    let second = |ns: u64| ns / rocescope_core::time::SECOND_NS;
    let sources = || report.sources.iter();
    let first = sources()
        .filter_map(|source| source.first_ns)
        .min()
        .map_or(*losses.keys().next()?, second);
    let last = sources()
        .filter_map(|source| source.last_ns)
        .max()
        .map_or(*losses.keys().next_back()?, second);
    let seconds = last.saturating_sub(first) + 1;
    let width = seconds.div_ceil(COLUMNS);
    let mut columns = vec![0_u64; usize::try_from(seconds.div_ceil(width)).ok()?];
    for (at, lost) in losses {
        if let Some(column) =
            columns.get_mut(usize::try_from(at.saturating_sub(first) / width).ok()?)
        {
            *column += lost;
        }
    }
    let peak = *columns.iter().max()?;
    let level = |lost: u64| match peak {
        0 => 0,
        _ => usize::try_from((lost * 8).div_ceil(peak)).unwrap_or(8),
    };
    let line: String = columns
        .iter()
        .map(|lost| LEVELS.get(level(*lost)).copied().unwrap_or('█'))
        .collect();
    let bucket = if width > 1 {
        format!(" in {width} s")
    } else {
        String::new()
    };
    Some(format!(
        "{line} (+{} to +{} s, at most {}{bucket})",
        clock.second(first),
        clock.second(last),
        count(peak)
    ))
}

fn who_words(report: &Report, who: &Who) -> String {
    let factor = match who.factor {
        "udp-source-port" => "UDP source port (one ECMP path)",
        "everyone" => {
            return format!(
                "everyone: no sender, receiver, path or priority stands out; {} of {} lost something",
                count(who.streams),
                counted(who.streams_with_it, "stream", "streams")
            );
        }
        "pair" if only_one_pair(report) => {
            return format!(
                "{}, the only pair here: nothing to compare it with",
                who.value
            );
        }
        factor => factor,
    };
    format!(
        "{factor} {}: {} of {}, in {} of its {}",
        who.value,
        count(who.losses),
        counted(who.of, "loss", "losses"),
        count(who.streams),
        counted(who.streams_with_it, "stream", "streams")
    )
}

fn only_one_pair(report: &Report) -> bool {
    let mut pairs = report
        .streams
        .iter()
        .map(|stream| (stream.src.min(stream.dst), stream.src.max(stream.dst)));
    let first = pairs.next();
    first.is_some_and(|first| pairs.all(|pair| pair == first))
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
