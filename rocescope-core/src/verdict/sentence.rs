//! The verdict in one sentence: the gravest thing first.

use super::case::{Case, Loss};
use super::coverage::{self, Blind};
use super::side;
use crate::figure::{count, counted, duration, share};
use crate::report::{Finding, Recovery, Severity, Stream, Subject};

/// Dead queue pairs before loss, loss before refusals, these before other findings; only then is all well.
pub(super) fn sentence(case: &Case<'_>, worst: &[u64], blind: &[Blind]) -> String {
    if !case.any_roce() {
        return no_roce(case);
    }
    let named: Vec<_> = worst.iter().filter_map(|id| case.stream(*id)).collect();
    dead(case, &named)
        .or_else(|| lossy(case))
        .or_else(|| named.iter().find_map(|stream| disturbed(case, stream)))
        .or_else(|| gravest_other(case))
        .or_else(|| named.iter().find_map(|stream| again(case, stream)))
        .unwrap_or_else(|| clean(case, blind))
}

fn no_roce(case: &Case<'_>) -> String {
    let frames = case.report.totals.frames;
    if frames == 0 {
        return "Nothing to judge: there is no frame in the input.".to_owned();
    }
    let instead = coverage::instead_of_roce(&case.report.totals);
    let instead = if instead.is_empty() {
        "nothing known here".to_owned()
    } else {
        instead
    };
    format!(
        "No RoCE in {}: what is there is {instead}.",
        counted(frames, "frame", "frames")
    )
}

fn dead(case: &Case<'_>, worst: &[&Stream]) -> Option<String> {
    let (stream, finding) = worst
        .iter()
        .find_map(|stream| Some((*stream, case.death_of(stream.id)?)))?;
    let others = case
        .report
        .streams
        .iter()
        .filter(|other| other.id != stream.id && case.death_of(other.id).is_some())
        .count() as u64;
    let mut out = format!("{} {}", case.name(stream), death(case, stream, finding));
    let lost = side::parts(&Loss::of(stream), side::answer_word([stream].into_iter()));
    if !lost.is_empty() {
        out += &format!("; {}", lost.join(", "));
    }
    if others > 0 {
        out += &format!("; {} more", counted(others, "stream", "streams"));
        out += if others == 1 {
            " shares this fate"
        } else {
            " share this fate"
        };
    }
    Some(out + ".")
}

fn death(case: &Case<'_>, stream: &Stream, finding: &Finding) -> String {
    let dying = finding.severity < Severity::Critical;
    let acknowledged = last_acknowledged(case, stream).map_or_else(
        || "no PSN of it was ever acknowledged here".to_owned(),
        |psn| format!("the last PSN acknowledged is {psn}"),
    );
    match finding.id {
        "never-answered" => format!("was never answered: {}", tries(stream)),
        "retry-exceeded" if dying => format!(
            "is still retrying when the capture ends: {}, {acknowledged}",
            tries(stream)
        ),
        "retry-exceeded" => format!(
            "died, retries exceeded: {}, then silence; {acknowledged}",
            tries(stream)
        ),
        "rnr-retry-exceeded" => format!(
            "died, RNR retries exceeded: {} found no receive posted; {acknowledged}",
            counted(stream.requester.tries.rnr, "repeat", "repeats")
        ),
        "nak-invalid-request" => format!("died of a NAK: invalid request; {acknowledged}"),
        "nak-remote-access" => {
            format!("died of a NAK: remote access error (R_Key, address or rights); {acknowledged}")
        }
        "nak-remote-operational" => {
            format!("died of a NAK: remote operational error; {acknowledged}")
        }
        _ => finding.message.trim_end_matches('.').to_owned(),
    }
}

/// The passes of the last recovery, with the time they took.
fn tries(stream: &Stream) -> String {
    let Some(last) = stream.requester.recoveries.last() else {
        return "no answer to it is here".to_owned();
    };
    let waited = last
        .gaps_ns
        .iter()
        .fold(0, |sum: u64, gap| sum.saturating_add(*gap));
    let waited = if waited > 0 {
        format!(" in {}", duration(waited))
    } else {
        String::new()
    };
    format!(
        "PSN {} was sent again {}{waited} without an answer",
        last.first_psn,
        counted(last.tries, "time", "times")
    )
}

fn last_acknowledged(case: &Case<'_>, stream: &Stream) -> Option<u32> {
    let connection = case.connection_of(stream.id)?;
    let index = connection.streams.iter().position(|id| *id == stream.id)?;
    *connection.last_acknowledged.get(index)?
}

fn lossy(case: &Case<'_>) -> Option<String> {
    let weight = |stream: &Stream| {
        (
            Loss::of(stream).total(),
            stream.requester.stalled_ns,
            std::cmp::Reverse(stream.id),
        )
    };
    let stream = case
        .report
        .streams
        .iter()
        .max_by_key(|stream| weight(stream))?;
    let loss = Loss::of(stream);
    if loss.total() == 0 {
        return None;
    }
    let mut parts = side::parts(&loss, side::answer_word([stream].into_iter()));
    if let Some(first) = parts.first_mut()
        && loss.requests() > 0
    {
        let sent = stream.requester.packets + loss.before + loss.unrepaired;
        *first = first
            .replacen(
                " data packet",
                &format!(" of {} data packet", count(sent)),
                1,
            )
            .replacen("packet ", "packets ", 1);
    }
    if stream.requester.broken_messages > 0 {
        let broken = stream.requester.broken_messages;
        let all = stream.requester.messages + broken;
        parts.push(format!(
            "{} of {} broken",
            count(broken),
            counted(all, "message", "messages")
        ));
    }
    let hurt = case
        .report
        .streams
        .iter()
        .filter(|stream| Loss::of(stream).total() > 0)
        .count() as u64;
    let everyone = if hurt > 1 {
        let all = case.report.streams.len() as u64;
        format!(
            " In all {} of {} lost {}.",
            count(hurt),
            counted(all, "stream", "streams"),
            counted(case.lost(), "packet", "packets")
        )
    } else {
        String::new()
    };
    Some(format!(
        "{}: {}{}.{everyone}",
        case.name(stream),
        parts.join(", "),
        cost(case, stream)
    ))
}

/// `; 812.000 ms stalled in 23 repairs`, of the connection or, for lost responses, of the other direction's requests.
fn cost(case: &Case<'_>, stream: &Stream) -> String {
    let connection = case.connection_of(stream.id);
    let both = connection.map_or([Some(stream), None], |connection| {
        connection.streams.map(|id| case.stream(id))
    });
    let repairs: u64 = both
        .iter()
        .flatten()
        .map(|stream| stream.requester.recoveries_total)
        .sum();
    let stalled = connection.map_or(stream.requester.stalled_ns, |connection| {
        connection.stalled_ns.max(stream.requester.stalled_ns)
    });
    if repairs == 0 {
        return match stream.transport {
            "UC" => {
                "; UC repairs nothing, so it cost no time on the wire but the messages".to_owned()
            }
            _ => String::new(),
        };
    }
    if stalled == 0 {
        return format!("; {}", counted(repairs, "repair", "repairs"));
    }
    let life = connection.map_or(0, |connection| connection.life_ns);
    let part = crate::figure::millionths(stalled, life);
    let part = if part > 0 {
        format!(" ({} of its life)", share(part))
    } else {
        String::new()
    };
    format!(
        "; {} stalled in {}{part}",
        duration(stalled),
        counted(repairs, "repair", "repairs")
    )
}

/// A stream that lost nothing and was disturbed all the same.
fn disturbed(case: &Case<'_>, stream: &Stream) -> Option<String> {
    let requester = &stream.requester;
    let name = case.name(stream);
    let open = side::request_or_answer(requester);
    let cost = cost(case, stream);
    if open > 0 {
        let times = counted(open, "timeout", "timeouts");
        return Some(format!(
            "{name}: {times}; the request or its ACK was lost after this tap, or the ACK before it{cost}."
        ));
    }
    if requester.tries.rnr > 0 {
        let times = counted(requester.tries.rnr, "time", "times");
        return Some(format!(
            "{name}: the receiver was not ready {times} (RNR NAK), nothing was lost{cost}."
        ));
    }
    if requester.spurious_packets > 0 {
        let packets = counted(requester.spurious_packets, "packet", "packets");
        return Some(format!(
            "{name}: {packets} sent again although the first copy had arrived: ACKs lost or late behind this tap, or a timer \
             too short; no data was lost{cost}."
        ));
    }
    if requester.reordered_packets > 0 && requester.recoveries.iter().any(Recovery::is_reordering) {
        let packets = counted(requester.reordered_packets, "packet", "packets");
        return Some(format!(
            "{name}: {packets} came out of order and the receiver asked for repeats; nothing was lost{cost}."
        ));
    }
    None
}

/// Packets were sent again, and nothing here says why.
fn again(case: &Case<'_>, stream: &Stream) -> Option<String> {
    let again = stream.requester.retransmitted_packets;
    if again == 0 {
        return None;
    }
    let why = if case.one_direction() {
        ", for only one direction was captured"
    } else {
        ""
    };
    let packets = counted(again, "packet", "packets");
    Some(format!(
        "{}: {packets} sent again; why cannot be seen here{why}{}.",
        case.name(stream),
        cost(case, stream)
    ))
}

fn gravest_other(case: &Case<'_>) -> Option<String> {
    let grave = case
        .report
        .findings
        .iter()
        .filter(|finding| finding.severity > Severity::Info);
    let finding = grave.min_by_key(|finding| {
        (
            std::cmp::Reverse(finding.severity),
            finding.first_ns,
            finding.id,
        )
    })?;
    let message = finding.message.trim_end_matches('.');
    Some(match finding.subject {
        Subject::Stream {
            stream: Some(stream),
            ..
        } => match case.stream(stream) {
            Some(stream) => format!("{}: {message}.", case.name(stream)),
            None => format!("{message}."),
        },
        _ => format!("{message}."),
    })
}

fn clean(case: &Case<'_>, blind: &[Blind]) -> String {
    let totals = &case.report.totals;
    let packets = counted(
        totals.roce_v1 + totals.roce_v2 + totals.infiniband,
        "RoCE packet",
        "RoCE packets",
    );
    let streams = counted(
        case.report.streams.len() as u64 + totals.evicted_streams + totals.idle_streams,
        "stream",
        "streams",
    );
    let shorts: Vec<_> = blind.iter().map(|blind| blind.short).collect();
    let open = if shorts.is_empty() {
        String::new()
    } else {
        format!(" Not visible here: {}.", shorts.join(", "))
    };
    format!("No fault seen: {packets} in {streams}, nothing lost or sent again at this tap.{open}")
}
