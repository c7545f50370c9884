//! Packets that are not what they should be.

use super::wire::{Tap, psn};
use crate::report::Severity;
use rocescope_wire::build::{Fill, FrameBuilder, Icrc};
use rocescope_wire::{NakCode, Part, Reth};

/// A SEND of 33 octets, which needs a pad, with this ICRC.
fn with_icrc(tap: &mut Tap, number: u32, icrc: Icrc) {
    let send = tap
        .requester
        .send(Part::Only, psn(number), Fill::Counting(33));
    tap.pass(FrameBuilder { icrc, ..send });
}

#[test]
fn known_mistakes_of_an_icrc_are_named() {
    for (icrc, words, severity) in [
        (
            Icrc::WithoutPad,
            "computed without the pad",
            Severity::Warning,
        ),
        (
            Icrc::ByteSwapped,
            "with its octets swapped",
            Severity::Warning,
        ),
        (
            Icrc::Value(0),
            "captured before the NIC filled it in",
            Severity::Info,
        ),
        (
            Icrc::Value(u32::from_le_bytes(*b"text")),
            "what the buffer held before",
            Severity::Info,
        ),
    ] {
        let mut tap = Tap::new();
        with_icrc(&mut tap, 0, icrc);
        let end = tap.end();
        let bad = end.finding("bad-icrc");
        assert_eq!((bad.count, bad.severity), (1, severity), "{icrc:?}");
        assert!(bad.message.contains(words), "{}", bad.message);
    }
}

#[test]
fn text_by_chance_is_damage_where_other_packets_are_right() {
    let mut tap = Tap::new();
    tap.talk(0, 9);
    with_icrc(&mut tap, 10, Icrc::Value(u32::from_le_bytes(*b"text")));
    let end = tap.end();
    let bad = end.finding("bad-icrc");
    assert_eq!(bad.severity, Severity::Warning);
    assert!(!bad.message.contains("before the NIC"), "{}", bad.message);
}

#[test]
fn a_damaged_packet_that_is_asked_for_again_was_not_lost() {
    let mut tap = Tap::new();
    tap.talk(0, 9);
    tap.send(10);
    with_icrc(&mut tap, 11, Icrc::Value(0xdead_beef));
    tap.send(12);
    tap.nak(11, NakCode::PsnSequenceError);
    for number in [11, 12] {
        tap.send(number);
    }
    tap.ack(12);
    tap.wait_ms(100);
    tap.talk(13, 20);
    let end = tap.end();
    assert_eq!(end.ids(), ["bad-icrc", "damaged-packet", "retransmission"]);
    assert_eq!(end.finding("damaged-packet").count, 1);
    let again = &end.finding("retransmission").message;
    assert!(
        again.contains("1 packet damaged before this tap"),
        "{again}"
    );
}

#[test]
fn lengths_and_order_are_held_to_their_rules() {
    let write = |tap: &Tap, part, number, octets| {
        tap.requester.write(
            part,
            psn(number),
            Reth::new(0x1000, 1, 3000),
            Fill::Counting(octets),
        )
    };
    let cases: [(&str, &[(Part, usize)]); 5] = [
        (
            "length-mismatch",
            &[(Part::First, 1024), (Part::Middle, 512)],
        ),
        ("length-mismatch", &[(Part::First, 1024), (Part::Last, 0)]),
        ("pmtu-exceeded", &[(Part::First, 1024), (Part::Last, 1028)]),
        (
            "illegal-opcode-order",
            &[(Part::First, 1024), (Part::First, 1024)],
        ),
        (
            "illegal-opcode-order",
            &[(Part::Only, 8), (Part::Middle, 1024)],
        ),
    ];
    for (id, packets) in cases {
        let mut tap = Tap::new();
        tap.talk(0, 2);
        for (number, (part, octets)) in (3..).zip(packets) {
            tap.pass(write(&tap, *part, number, *octets));
        }
        assert!(tap.end().ids().contains(&id), "{id} {packets:?}");
    }
    let mut tap = Tap::new();
    tap.talk(0, 2);
    for (number, (part, octets)) in [(Part::First, 1024), (Part::Middle, 1024), (Part::Last, 952)]
        .into_iter()
        .enumerate()
    {
        tap.pass(write(&tap, part, 3 + number as u32, octets));
    }
    assert!(tap.end().ids().is_empty());
}

#[test]
fn order_is_not_judged_across_a_skip() {
    let mut tap = Tap::new();
    tap.talk(0, 2);
    let middle = tap
        .requester
        .send(Part::Middle, psn(5), Fill::Counting(1024));
    tap.pass(middle);
    assert!(!tap.end().ids().contains(&"illegal-opcode-order"));
}
