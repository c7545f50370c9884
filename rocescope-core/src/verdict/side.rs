//! Which side of the tap, and whether a NAK or only a timer found the loss.

use super::case::{Case, Loss};
use super::pattern::is_loss;
use crate::figure::counted;
use crate::report::{NearerTo, Requester, Stream, Trigger, Where};

/// What was lost, in words with counts: `23 data packets lost between the sender and this tap`.
pub(super) fn parts(loss: &Loss, answers: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut part = |number: u64, what: &str, plural: &str, rest: &str| {
        if number > 0 {
            parts.push(format!("{} {rest}", counted(number, what, plural)));
        }
    };
    part(
        loss.before,
        "data packet",
        "data packets",
        "lost between the sender and this tap",
    );
    part(
        loss.after,
        "data packet",
        "data packets",
        "lost between this tap and the receiver",
    );
    part(
        loss.damaged,
        "data packet",
        "data packets",
        "damaged before this tap (bad ICRC)",
    );
    part(
        loss.unrepaired,
        "data packet",
        "data packets",
        "lost before this tap or missed by the capture",
    );
    let plural = format!("{answers}s");
    part(
        loss.answers_before,
        answers,
        &plural,
        "lost between the responder and this tap",
    );
    part(
        loss.answers_after,
        answers,
        &plural,
        "lost between this tap and the requester",
    );
    parts
}

/// What the answers of those streams are called.
pub(super) fn answer_word<'a>(streams: impl Iterator<Item = &'a Stream>) -> &'static str {
    let (mut reads, mut atomics) = (0, 0);
    for stream in streams.filter(|stream| Loss::of(stream).answers() > 0) {
        reads += stream.responder.read_responses;
        atomics += stream.responder.atomic_acks;
    }
    match (reads, atomics) {
        (_, 0) => "READ response",
        (0, _) => "atomic answer",
        _ => "READ or atomic answer",
    }
}

/// Repairs after which it is open whether the request or its answer was lost; at least so many.
pub(super) fn request_or_answer(requester: &Requester) -> u64 {
    requester
        .recoveries
        .iter()
        .filter(|recovery| recovery.place == Where::AfterOrAnswer)
        .count() as u64
}

/// Which side, over all streams.
pub(super) fn side(case: &Case<'_>) -> Option<String> {
    let streams = &case.report.streams;
    let mut parts = parts(&case.loss(), answer_word(streams.iter()));
    let open: u64 = streams
        .iter()
        .map(|stream| request_or_answer(&stream.requester))
        .sum();
    if open > 0 {
        parts.push(format!(
            "{} a request or its answer after this tap, or the answer before it",
            counted(open, "time", "times")
        ));
    }
    if parts.is_empty() {
        return None;
    }
    let hedge = if case.one_direction() {
        " (or missed by the capture: only one direction is here)"
    } else {
        ""
    };
    let nearer = nearer(case).map_or("", |end| match end {
        NearerTo::Requester => "; this tap is nearer to the requester",
        NearerTo::Responder => "; this tap is nearer to the responder",
    });
    Some(format!("{}{hedge}{nearer}", parts.join(", ")))
}

/// The end this tap is nearer to, where the connections that lost something agree.
fn nearer(case: &Case<'_>) -> Option<NearerTo> {
    let hurt = |id: &u64| {
        case.stream(*id).is_some_and(|stream| {
            Loss::of(stream).total() > 0 || request_or_answer(&stream.requester) > 0
        })
    };
    let mut ends = case
        .report
        .connections
        .iter()
        .filter(|connection| connection.streams.iter().any(hurt))
        .filter_map(|connection| connection.nearer_to);
    let first = ends.next()?;
    ends.all(|end| end == first).then_some(first)
}

/// Losses that a NAK or a later answer named, and losses that only a timer found.
pub(super) fn middle_and_tail(case: &Case<'_>) -> (u64, u64) {
    case.report
        .streams
        .iter()
        .map(|stream| repairs(&stream.requester))
        .fold((0, 0), |sum, add| (sum.0 + add.0, sum.1 + add.1))
}

fn repairs(requester: &Requester) -> (u64, u64) {
    let lossy = |triggers: &[Trigger]| {
        let of = |place, trigger: &Trigger| is_loss(place) && triggers.contains(trigger);
        requester
            .recoveries
            .iter()
            .filter(|recovery| of(recovery.place, &recovery.trigger))
            .count() as u64
    };
    let (middle, tail) = (
        lossy(&[Trigger::Nak, Trigger::ImpliedNak]),
        lossy(&[Trigger::Timeout]),
    );
    if requester.recoveries_total <= requester.recoveries.len() as u64 || middle + tail == 0 {
        return (middle, tail);
    }
    // Not all recoveries are listed; NAKs are counted exactly by where they put the loss.
    let naks =
        requester.nak_places.before + requester.nak_places.after + requester.nak_places.damaged;
    (naks + requester.tries.implied_nak, requester.tries.timeout)
}
