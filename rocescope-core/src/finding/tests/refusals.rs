//! What the receiver refuses.

use super::wire::{Tap, psn};
use crate::report::Severity;
use crate::settings::Settings;
use rocescope_wire::{AethKind, Msn, NakCode};

#[test]
fn silence_after_a_fatal_nak_is_its_consequence() {
    for (code, id) in [
        (NakCode::InvalidRequest, "nak-invalid-request"),
        (NakCode::RemoteAccessError, "nak-remote-access"),
        (NakCode::RemoteOperationalError, "nak-remote-operational"),
    ] {
        let mut tap = Tap::new();
        tap.talk(0, 9);
        tap.send(10);
        tap.nak(10, code);
        tap.wait_ms(1_000);
        let end = tap.end();
        assert_eq!(end.ids(), [id]);
        let refused = end.finding(id);
        assert_eq!(refused.severity, Severity::Critical);
        assert!(refused.message.contains("answered PSN 10"));
        assert!(refused.message.ends_with("the last PSN acknowledged is 9"));
    }
}

/// The receiver refuses PSN 10 `times` times.
fn refuse(tap: &mut Tap, times: u32) {
    tap.talk(0, 9);
    for _ in 0..times {
        tap.send(10);
        tap.rnr_nak(10);
        tap.wait_ms(1);
    }
}

#[test]
fn silence_after_the_last_refusal_is_death_and_no_loss() {
    let mut tap = Tap::new();
    refuse(&mut tap, 4);
    tap.wait_ms(100);
    let end = tap.end();
    assert_eq!(end.ids(), ["rnr-nak", "rnr-retry-exceeded"]);
    let died = end.finding("rnr-retry-exceeded");
    assert_eq!((died.severity, died.count), (Severity::Critical, 4));
    assert!(died.message.contains("timer 640.000 us"));
}

#[test]
fn a_receiver_that_gets_ready_cost_time_only() {
    let mut tap = Tap::new();
    refuse(&mut tap, 4);
    tap.talk(10, 20);
    tap.wait_ms(1_000);
    let end = tap.end();
    assert_eq!(end.ids(), ["rnr-nak"]);
    let refused = end.finding("rnr-nak");
    assert_eq!((refused.severity, refused.count), (Severity::Warning, 4));
    assert!(refused.message.contains("nothing was lost"));
}

#[test]
fn refusals_without_end_are_a_storm_while_tries_go_on() {
    let mut tap = Tap::new();
    refuse(&mut tap, 30);
    let end = tap.end();
    assert_eq!(end.ids(), ["rnr-nak", "rnr-storm"]);
    assert_eq!(end.finding("rnr-storm").count, 30);
}

#[test]
fn the_storm_begins_where_its_threshold_says() {
    let storm = |times, naks| {
        let mut settings = Settings::default();
        settings.thresholds.set("rnr-storm", "naks", naks).unwrap();
        let mut tap = Tap::with(settings);
        refuse(&mut tap, times);
        tap.end().ids().contains(&"rnr-storm")
    };
    assert!(!storm(4, 5));
    assert!(storm(5, 5));
}

#[test]
fn a_nak_behind_a_refusal_belongs_to_it() {
    let mut tap = Tap::new();
    tap.talk(0, 9);
    for number in [10, 11, 12] {
        tap.send(number);
    }
    tap.rnr_nak(10);
    tap.nak(10, NakCode::PsnSequenceError);
    tap.wait_ms(1);
    for number in [10, 11, 12] {
        tap.send(number);
    }
    tap.ack(12);
    tap.wait_ms(100);
    tap.talk(13, 14);
    assert_eq!(tap.end().ids(), ["rnr-nak"]);
}

#[test]
fn no_credits_for_long_is_a_stall() {
    let stalled = |ms| {
        let mut tap = Tap::new();
        tap.talk(0, 9);
        tap.send(10);
        let without = AethKind::Ack { credits: Some(0) };
        tap.pass(tap.responder.acknowledge(psn(10), without, Msn(10)));
        tap.wait_ms(ms);
        tap.talk(11, 12);
        tap.end().ids()
    };
    assert!(stalled(0).is_empty());
    assert_eq!(stalled(5), ["credit-stall"]);
}
