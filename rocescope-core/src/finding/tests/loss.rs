//! Loss, repair, and what only looks like it.

use super::wire::{Tap, psn};
use crate::report::{Confidence, Severity};
use rocescope_wire::build::{Fill, FrameBuilder};
use rocescope_wire::{Msn, NakCode, Opcode, Part, Qpn};

/// Sends `number` again `tries` times, `gap_ms` apart.
fn repeat(tap: &mut Tap, number: u32, tries: u32, gap_ms: u64) {
    for _ in 0..tries {
        tap.wait_ms(gap_ms);
        tap.send(number);
    }
}

#[test]
fn a_healthy_stream_gives_nothing() {
    let mut tap = Tap::new();
    tap.talk(0, 50);
    assert!(tap.end().ids().is_empty());
}

#[test]
fn tries_then_silence_is_death() {
    let mut tap = Tap::new();
    tap.talk(0, 9);
    tap.send(10);
    repeat(&mut tap, 10, 3, 5);
    tap.wait_ms(11);
    let end = tap.end();
    assert_eq!(end.ids(), ["retry-exceeded", "timeout-retransmission"]);
    let died = end.finding("retry-exceeded");
    assert_eq!(
        (died.severity, died.confidence, died.count),
        (Severity::Critical, Confidence::High, 3)
    );
    for part in [
        "QP 0x34 -> 0x12",
        "192.0.2.1 -> 192.0.2.2",
        "UDP source port 49152",
        "DSCP 0",
        "PSN 10 was sent again 3 times",
        "nothing came back",
        "the last PSN acknowledged is 9",
    ] {
        assert!(died.message.contains(part), "{part}: {}", died.message);
    }
}

#[test]
fn tries_to_the_end_of_the_input_are_no_death_yet() {
    let mut tap = Tap::new();
    tap.talk(0, 9);
    tap.send(10);
    repeat(&mut tap, 10, 3, 5);
    tap.wait_ms(9);
    let end = tap.end();
    let trying = end.finding("retry-exceeded");
    assert_eq!(trying.severity, Severity::Warning);
    assert!(
        trying
            .message
            .contains("still retrying when the capture ends")
    );
}

#[test]
fn two_tries_are_an_ordinary_tail_loss() {
    let mut tap = Tap::new();
    tap.talk(0, 9);
    tap.send(10);
    repeat(&mut tap, 10, 2, 5);
    tap.wait_ms(100);
    assert_eq!(tap.end().ids(), ["timeout-retransmission"]);
}

#[test]
fn silence_in_sight_of_the_other_direction_is_never_answered() {
    let mut tap = Tap::new();
    tap.send(10);
    // The other host says something else.
    let other = FrameBuilder {
        source_port: 50_000,
        ..tap.responder.reply(Qpn::new(1))
    };
    let other = other.reply(Qpn::new(0x99));
    tap.pass(other.send(Part::Only, psn(77), Fill::Counting(8)));
    repeat(&mut tap, 10, 4, 5);
    tap.wait_ms(100);
    let end = tap.end();
    let never = end.finding("never-answered");
    assert_eq!(
        (never.severity, never.confidence),
        (Severity::Critical, Confidence::Medium)
    );
    assert!(!end.ids().contains(&"retry-exceeded"));
}

#[test]
fn silence_with_nothing_from_the_other_side_is_uncertain() {
    let mut tap = Tap::new();
    tap.send(10);
    repeat(&mut tap, 10, 4, 5);
    tap.wait_ms(100);
    let end = tap.end();
    assert_eq!(
        end.ids(),
        ["one-direction-only", "retransmission", "retry-exceeded"]
    );
    let died = end.finding("retry-exceeded");
    assert_eq!(died.confidence, Confidence::Low);
    assert!(!died.message.contains("nothing came back"));
}

#[test]
fn a_skip_that_a_nak_names_was_lost_before_the_tap() {
    let mut tap = Tap::new();
    tap.talk(0, 9);
    tap.send(10);
    for number in [12, 13] {
        tap.send(number);
    }
    tap.nak(11, NakCode::PsnSequenceError);
    for number in [11, 12, 13] {
        tap.send(number);
    }
    tap.ack(13);
    tap.wait_ms(100);
    tap.talk(14, 20);
    let end = tap.end();
    assert_eq!(end.ids(), ["psn-gap", "retransmission"]);
    assert_eq!(end.finding("psn-gap").count, 1);
    assert_eq!(end.finding("retransmission").evidence.count("packets"), 3);
}

#[test]
fn what_passed_and_is_asked_for_again_was_lost_after_the_tap() {
    let mut tap = Tap::new();
    tap.talk(0, 9);
    for number in [10, 11, 12] {
        tap.send(number);
    }
    tap.nak(11, NakCode::PsnSequenceError);
    for number in [11, 12] {
        tap.send(number);
    }
    tap.ack(12);
    tap.wait_ms(100);
    tap.talk(13, 20);
    let end = tap.end();
    assert_eq!(end.ids(), ["retransmission"]);
    let message = &end.finding("retransmission").message;
    assert!(
        message.contains("at least 1 packet lost between this tap and the receiver"),
        "{message}"
    );
    assert!(!message.contains("frames cut"), "{message}");
}

#[test]
fn a_skip_that_is_acknowledged_was_missed_by_the_capture() {
    let mut tap = Tap::new();
    tap.talk(0, 99);
    tap.send(101);
    tap.ack(101);
    tap.talk(102, 300);
    let end = tap.end();
    assert_eq!(end.ids(), ["capture-gap"]);
    assert_eq!(end.finding("capture-gap").severity, Severity::Info);
}

#[test]
fn many_missed_packets_are_a_warning() {
    let mut tap = Tap::new();
    tap.talk(0, 99);
    tap.send(120);
    tap.ack(120);
    tap.talk(121, 140);
    let end = tap.end();
    let gap = end.finding("capture-gap");
    assert_eq!((gap.severity, gap.count), (Severity::Warning, 20));
}

#[test]
fn acknowledged_and_sent_again_is_spurious() {
    let mut tap = Tap::new();
    tap.talk(0, 9);
    tap.wait_ms(20);
    tap.talk(9, 9);
    tap.wait_ms(100);
    tap.talk(10, 20);
    let end = tap.end();
    assert_eq!(end.ids(), ["spurious-retransmission"]);
    let packets = end
        .finding("spurious-retransmission")
        .evidence
        .count("packets");
    assert_eq!(packets, 1);
}

/// PSN 11 is overtaken by 12.
fn overtaken(tap: &mut Tap) {
    tap.talk(0, 9);
    let ids = [1000, 1002, 1001, 1003];
    for (number, ip_id) in [10, 12, 11, 13].into_iter().zip(ids) {
        let send = tap
            .requester
            .send(Part::Only, psn(number), Fill::Counting(64));
        tap.pass_as_it_is(FrameBuilder { ip_id, ..send }, 10_000);
    }
}

#[test]
fn late_packets_that_nobody_asks_for_are_information() {
    let mut tap = Tap::new();
    overtaken(&mut tap);
    tap.ack(13);
    let end = tap.end();
    assert_eq!(end.ids(), ["reordering"]);
    let late = end.finding("reordering");
    assert_eq!((late.severity, late.count), (Severity::Info, 1));
    assert!(late.message.contains("takes packets out of order"));
}

#[test]
fn late_packets_that_are_asked_for_again_are_still_no_loss() {
    let mut tap = Tap::new();
    overtaken(&mut tap);
    tap.nak(11, NakCode::PsnSequenceError);
    for (number, ip_id) in [(11, 1004), (12, 1005), (13, 1006)] {
        let send = tap
            .requester
            .send(Part::Only, psn(number), Fill::Counting(64));
        tap.pass_as_it_is(FrameBuilder { ip_id, ..send }, 10_000);
    }
    tap.ack(13);
    let end = tap.end();
    assert_eq!(end.ids(), ["reordering"]);
    let late = end.finding("reordering");
    assert_eq!(late.severity, Severity::Warning);
    assert_eq!(late.evidence.count("naks"), 1);
}

#[test]
fn what_a_later_nak_acknowledges_came_late_behind_the_tap() {
    let mut tap = Tap::new();
    tap.talk(0, 9);
    for number in 10..=15 {
        tap.send(number);
    }
    tap.nak(11, NakCode::PsnSequenceError);
    tap.nak(13, NakCode::PsnSequenceError);
    for number in 11..=15 {
        tap.send(number);
    }
    tap.ack(15);
    tap.wait_ms(100);
    tap.talk(16, 20);
    let end = tap.end();
    assert_eq!(end.ids(), ["reordering"]);
    let late = end.finding("reordering");
    assert_eq!((late.count, late.evidence.count("naks")), (1, 1));
}

#[test]
fn copies_that_are_answered_are_the_networks() {
    for (answers, id) in [(2, "duplicate-request"), (1, "mirror-duplicate")] {
        let mut tap = Tap::new();
        tap.talk(0, 9);
        let send = FrameBuilder {
            ip_id: 500,
            ..tap.requester.send(Part::Only, psn(10), Fill::Counting(64))
        };
        tap.pass_as_it_is(send, 10_000);
        tap.pass_as_it_is(send, 10_000);
        for _ in 0..answers {
            tap.ack(10);
        }
        let end = tap.end();
        assert_eq!(end.ids(), [id]);
        assert_eq!(end.finding(id).count, 1);
    }
}

/// UC SENDs of one packet each; PSNs of `skipped` are not seen, or late.
fn datagrams(numbers: &[u32]) -> Vec<&'static str> {
    let mut tap = Tap::new();
    for (order, number) in numbers.iter().enumerate() {
        let send = FrameBuilder {
            payload: Fill::Counting(64),
            ip_id: 100 + *number as u16,
            ..tap.requester.of(Opcode::UC_SEND_ONLY, psn(*number))
        };
        tap.pass_as_it_is(send, 1_000 + order as u64);
    }
    tap.end().ids()
}

#[test]
fn a_gap_of_uc_counts_unless_it_is_filled() {
    assert!(datagrams(&[1, 2, 3, 4]).is_empty());
    assert_eq!(datagrams(&[1, 2, 4, 5]), ["uc-gap"]);
    assert_eq!(datagrams(&[1, 2, 4, 3, 5]), ["reordering"]);
    assert_eq!(datagrams(&[1, 2, 5, 3, 6]), ["reordering", "uc-gap"]);
}

#[test]
fn one_direction_makes_no_claim_of_loss() {
    let mut tap = Tap::new();
    for number in [0, 1, 2, 4, 5] {
        tap.send(number);
    }
    let end = tap.end();
    assert_eq!(end.ids(), ["one-direction-only", "psn-gap"]);
    let gap = end.finding("psn-gap");
    assert_eq!(
        (gap.severity, gap.confidence),
        (Severity::Info, Confidence::Low)
    );
    assert!(gap.message.contains("or missed by the capture"));
}

#[test]
fn a_response_asked_for_again_was_lost_on_its_way() {
    use rocescope_wire::Reth;
    let mut tap = Tap::new();
    let read = |tap: &Tap, number| {
        tap.requester
            .read_request(psn(number), Reth::new(0x1000, 1, 64))
    };
    let answer = |tap: &Tap, number| {
        tap.responder
            .read_response(Part::Only, psn(number), Msn(1), Fill::Counting(64))
    };
    for number in 0..3 {
        tap.pass(read(&tap, number));
    }
    for number in [0, 2] {
        tap.pass(answer(&tap, number));
    }
    tap.pass(read(&tap, 1));
    for number in [1, 2] {
        tap.pass(answer(&tap, number));
    }
    let end = tap.end();
    assert_eq!(end.ids(), ["implied-nak", "response-loss"]);
    let lost = &end.finding("response-loss").message;
    assert!(
        lost.starts_with("1 response lost between the responder and this tap"),
        "{lost}"
    );
}
