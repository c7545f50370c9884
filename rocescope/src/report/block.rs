//! The verdict in full: how much, what it cost, since when, who, which side.

use super::Clock;
use rocescope_core::figure::{count, counted, duration, share};
use rocescope_core::report::Report;
use rocescope_core::report::verdict::{Pattern, Who};

/// The lines of the verdict block, in the order people ask: label and answer.
pub(in crate::report) fn verdict_block(
    report: &Report,
    clock: &Clock,
) -> Vec<(&'static str, String)> {
    let verdict = &report.verdict;
    let mut lines = Vec::new();
    if !any_trouble(report) {
        return lines;
    }
    lines.push(("How much", how_much(report)));
    if verdict.stalled_ns > 0 {
        lines.push((
            "What it cost",
            format!(
                "{} stalled, {} of the life of all connections",
                duration(verdict.stalled_ns),
                share(verdict.stalled_millionths)
            ),
        ));
    }
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

fn how_much(report: &Report) -> String {
    let verdict = &report.verdict;
    let lost = match verdict.lost_per_million {
        0 if rocescope_core::verdict::one_direction(report) => {
            "losses cannot be counted from one direction".to_owned()
        }
        lost => format!("{} lost or damaged per million", count(lost)),
    };
    format!(
        "{lost}, {} of the octets sent again",
        share(verdict.sent_again_millionths)
    )
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
