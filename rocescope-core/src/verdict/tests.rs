//! Verdicts over reports made by hand.

use super::verdict;
use crate::Address;
use crate::report::verdict::Pattern;
use crate::report::{Report, Severity, Stream, Where};
use crate::time::SECOND_NS;

#[path = "../../../tests/report/sample.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod sample;

use sample::{A, B, START_NS, answers, connection, finding, report, source, stream};

fn sentence(report: &Report) -> &str {
    &report.verdict.sentence
}

fn of(streams: Vec<Stream>) -> Report {
    let frames = streams.iter().map(|stream| stream.packets).sum();
    report(vec![source("a.pcap", frames, 2)], streams, vec![], vec![])
}

fn host(number: u8) -> Address {
    Address::V4([192, 0, 2, number])
}

/// A stream of 1,000 packets of which so many were lost before the tap.
fn losing(id: u64, src: u8, dst: u8, lost: u64) -> Stream {
    let mut stream = stream(
        id,
        host(src),
        host(dst),
        0x100 + u32::try_from(id).unwrap(),
        1_000,
    );
    stream.requester.lost_before = lost;
    stream
}

fn who(report: &Report) -> (&'static str, &str, u64, u64) {
    let who = report.verdict.who.as_ref().unwrap();
    (who.factor, &who.value, who.losses, who.of)
}

#[test]
fn loss_names_pair_kind_side_share_and_cost() {
    let lossy = sample::lossy();
    assert_eq!(
        sentence(&lossy),
        "QP 0x153 -> 0x2a (192.0.2.1 -> 192.0.2.2): 23 of 2,950 data packets lost between the sender and this tap; \
         812.000 ms stalled in 23 repairs (10.1 % of its life)."
    );
    let verdict = &lossy.verdict;
    assert_eq!(verdict.lost_per_million, 23 * 1_000_000 / 2_950);
    assert_eq!((verdict.middle_losses, verdict.tail_losses), (22, 1));
    assert_eq!(verdict.since_ns, Some(START_NS));
    assert_eq!(verdict.worst, [0]);
    assert!(
        verdict
            .side
            .as_ref()
            .is_some_and(|side| side.ends_with("nearer to the requester"))
    );
}

#[test]
fn a_dead_queue_pair_outranks_loss() {
    let lossy = losing(0, 1, 2, 500);
    let dead = stream(1, A, B, 0x99, 10);
    for (id, words) in [
        ("never-answered", "was never answered"),
        ("retry-exceeded", "died, retries exceeded"),
        ("rnr-retry-exceeded", "died, RNR retries exceeded"),
        ("nak-remote-access", "died of a NAK: remote access error"),
        ("nak-invalid-request", "died of a NAK: invalid request"),
        (
            "nak-remote-operational",
            "died of a NAK: remote operational error",
        ),
    ] {
        let death = finding(id, Severity::Critical, &dead, None, "It died.");
        let report = report(
            vec![source("a.pcap", 1_010, 2)],
            vec![lossy.clone(), dead.clone()],
            vec![],
            vec![death],
        );
        assert!(
            sentence(&report).starts_with("QP ? -> 0x99 (192.0.2.1 -> 192.0.2.2) "),
            "{}",
            sentence(&report)
        );
        assert!(
            sentence(&report).contains(words),
            "{id}: {}",
            sentence(&report)
        );
        assert_eq!(report.verdict.worst, [1, 0]);
    }
}

#[test]
fn still_retrying_is_not_dead() {
    let mut dying = sample::dead();
    dying.findings[0].severity = Severity::Warning;
    let said = verdict(&dying).sentence;
    assert!(
        said.contains("is still retrying when the capture ends") && !said.contains("died"),
        "{said}"
    );
}

#[test]
fn lost_answers_are_called_by_their_name_and_their_way() {
    let mut responses = answers(0, A, B, 1, 0);
    responses.responder.packets = 800;
    responses.responder.read_responses = 800;
    responses.responder.lost_before = 21;
    let report = of(vec![responses.clone()]);
    assert!(
        sentence(&report).contains("21 READ responses lost between the responder and this tap"),
        "{}",
        sentence(&report)
    );
    responses.responder.read_responses = 0;
    responses.responder.atomic_acks = 800;
    responses.responder.lost_before = 0;
    responses.responder.lost_after = 1;
    let report = of(vec![responses]);
    assert!(
        sentence(&report).contains("1 atomic answer lost between this tap and the requester"),
        "{}",
        sentence(&report)
    );
}

#[test]
fn refusals_late_packets_and_early_timers_are_not_loss() {
    let mut refused = stream(0, A, B, 1, 100);
    refused.requester.tries.rnr = 31;
    refused.requester.recoveries_total = 31;
    refused.requester.stalled_ns = SECOND_NS;
    let mut spurious = stream(0, A, B, 1, 100);
    spurious.requester.spurious_packets = 17;
    spurious.requester.stalled_ns = SECOND_NS;
    let mut late = sample::lossy().streams.remove(0);
    late.requester.lost_before = 0;
    late.requester.reordered_packets = 48;
    for recovery in &mut late.requester.recoveries {
        recovery.place = Where::Reordering;
    }
    for (stream, words) in [
        (
            refused,
            "the receiver was not ready 31 times (RNR NAK), nothing was lost",
        ),
        (
            spurious,
            "17 packets sent again although the first copy had arrived",
        ),
        (
            late,
            "48 packets came out of order and the receiver asked for repeats; nothing was lost",
        ),
    ] {
        let report = of(vec![stream]);
        assert!(sentence(&report).contains(words), "{}", sentence(&report));
        assert_eq!(report.verdict.lost_per_million, 0);
        assert_eq!(
            (report.verdict.middle_losses, report.verdict.tail_losses),
            (0, 0)
        );
        assert!(report.verdict.side.is_none() && report.verdict.who.is_none());
    }
}

#[test]
fn uc_is_hedged() {
    let mut datagrams = stream(0, A, B, 1, 986);
    datagrams.transport = "UC";
    datagrams.requester.missing_psns = 14;
    datagrams.requester.messages = 46;
    datagrams.requester.broken_messages = 14;
    let report = of(vec![datagrams]);
    let said = sentence(&report);
    assert!(said.contains("14 of 1,000 data packets lost before this tap or missed by the capture, 14 of 60 messages broken"), "{said}");
}

#[test]
fn clean_says_what_it_could_not_see() {
    let mut clean = sample::clean();
    assert!(
        sentence(&clean)
            .starts_with("No fault seen: 3,320 RoCE packets in 2 streams, nothing lost"),
        "{}",
        sentence(&clean)
    );
    assert_eq!(
        clean.verdict.not_visible.len(),
        1,
        "{:?}",
        clean.verdict.not_visible
    );
    clean.sources[0].vantage.directions = 1;
    clean.sources[0].cut_frames = 7;
    clean.sources[0].lost_frames = 8;
    clean.sources[0].truncated_at = Some(99);
    clean.totals.fragments = 3;
    let verdict = verdict(&clean);
    for short in [
        "answers",
        "frames lost by the capture",
        "the end",
        "damage",
        "pauses",
        "IP fragments",
    ] {
        assert!(
            verdict.sentence.contains(short),
            "{short}: {}",
            verdict.sentence
        );
        assert!(
            verdict
                .not_visible
                .iter()
                .any(|line| line.starts_with(short)),
            "{short}"
        );
    }
}

#[test]
fn a_pair_a_sender_or_a_priority_is_named_and_chance_is_not() {
    let spread = of((0..6)
        .map(|id| {
            losing(
                id,
                1 + u8::try_from(id % 3).unwrap(),
                4 + u8::try_from(id / 3).unwrap(),
                5,
            )
        })
        .collect());
    assert_eq!(who(&spread), ("everyone", "", 30, 30));

    let sender = of(vec![
        losing(0, 1, 2, 9),
        losing(1, 1, 3, 8),
        losing(2, 2, 3, 0),
        losing(3, 3, 2, 0),
        losing(4, 2, 1, 1),
    ]);
    assert_eq!(who(&sender), ("sender", "192.0.2.1", 17, 18));

    let pair = of(vec![
        losing(0, 1, 2, 9),
        losing(1, 1, 3, 0),
        losing(2, 2, 3, 0),
        losing(3, 3, 2, 0),
    ]);
    assert_eq!(who(&pair), ("pair", "192.0.2.1 -> 192.0.2.2", 9, 9));

    let mut streams: Vec<_> = (0..6)
        .map(|id| {
            losing(
                id,
                1 + u8::try_from(id % 3).unwrap(),
                4 + u8::try_from(id / 3).unwrap(),
                0,
            )
        })
        .collect();
    for stream in &mut streams {
        stream.pcp = Some(if stream.id % 2 == 0 { 3 } else { 0 });
        stream.requester.lost_before = if stream.id % 2 == 0 { 5 } else { 0 };
    }
    assert_eq!(who(&of(streams)), ("priority", "3", 15, 15));

    // Four paths between two hosts, one of them loses.
    let path = of((0..4)
        .map(|id| losing(id, 1, 2, if id == 2 { 7 } else { 0 }))
        .collect());
    let (factor, value, losses, all) = who(&path);
    assert_eq!((factor, losses, all), ("udp-source-port", 7, 7));
    assert!(value.ends_with("(192.0.2.1 -> 192.0.2.2)"), "{value}");
}

#[test]
fn the_pattern_is_of_the_time_in_which_the_stream_lived() {
    let with = |losses: &[(u64, u64)], seconds: u64| {
        let mut stream = losing(0, 1, 2, losses.iter().map(|(_, lost)| lost).sum());
        stream.last_ns = START_NS + seconds * SECOND_NS;
        stream.requester.losses_by_second = losses
            .iter()
            .map(|(second, lost)| (START_NS / SECOND_NS + second, *lost))
            .collect();
        of(vec![stream]).verdict.pattern
    };
    assert_eq!(with(&[(3, 1)], 60), Some(Pattern::OneEvent));
    assert_eq!(with(&[(3, 9), (4, 2)], 60), Some(Pattern::OneEvent));
    assert_eq!(with(&[(3, 9), (30, 2), (31, 2)], 60), Some(Pattern::Bursts));
    assert_eq!(
        with(&[(0, 1), (1, 1), (3, 1), (5, 1), (7, 1), (9, 1)], 9),
        Some(Pattern::Steady)
    );
    assert_eq!(with(&[(0, 1), (1, 1)], 2), None);
}

#[test]
fn a_timer_shorter_than_the_answer_time_is_named() {
    let mut dead = sample::dead();
    let ack = crate::report::Latency {
        count: 9,
        p50: 600_000_000,
        ..Default::default()
    };
    dead.connections[0].latency_ns.ack = Some(ack);
    let said = verdict(&dead).timeout.unwrap();
    assert_eq!(
        said,
        "536.871 ms (from CM: 4.096 us x 2^17); too short: answers take 600.000 ms at this tap (median)"
    );
    dead.connections[0].cm = None;
    dead.connections[0].effective_timeout_ns = Some(400_000_000);
    let said = verdict(&dead).timeout.unwrap();
    assert!(
        said.starts_with("400.000 ms (the shortest gap before a timeout pass); too short"),
        "{said}"
    );
    assert!(verdict(&dead).retries.is_none());
}

#[test]
fn streams_that_left_count_in_the_sums() {
    let mut report = of(vec![losing(0, 1, 2, 3)]);
    report.totals.requester.lost_before = 10;
    report.totals.requester.packets = 10_000;
    report.totals.evicted_streams = 9;
    let verdict = verdict(&report);
    assert_eq!(verdict.lost_per_million, 10 * 1_000_000 / 10_010);
    assert!(
        verdict
            .not_visible
            .iter()
            .any(|line| line.starts_with("details of streams that left: 9"))
    );
}

#[test]
fn an_empty_report_has_a_verdict() {
    let empty = report(vec![], vec![], vec![], vec![]);
    assert_eq!(
        sentence(&empty),
        "Nothing to judge: there is no frame in the input."
    );
    let joined = connection(0, [&stream(7, A, B, 1, 1), &stream(8, B, A, 2, 1)]);
    // Ids that point nowhere are skipped, not followed.
    let broken = report(vec![], vec![], vec![joined], vec![]);
    assert!(broken.verdict.worst.is_empty());
}

#[test]
fn repeats_without_a_reason_in_sight_are_no_health() {
    let report = sample::one_direction();
    assert_eq!(
        sentence(&report),
        "QP ? -> 0x2a (192.0.2.1 -> 192.0.2.2): 12 packets sent again; why cannot be seen here, for only one direction \
         was captured; 2 repairs."
    );
}
