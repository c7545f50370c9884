//! What a capture does to the traffic it records is never told as a fault of the network: frames missed, seen twice, or in
//! another order, over every clean capture.

#[allow(dead_code, reason = "shared with other tests")]
mod capture;
#[path = "mutants/expected.rs"]
mod expected;
#[path = "mutants/mutation.rs"]
mod mutation;
#[path = "mutants/packet.rs"]
mod packet;

use capture::{Capture, captures, lost, report_of};
use mutation::Mutant;
use packet::{Key, Packet, is_clean, packets, shows_both_directions};
use rocescope_core::report::{Report, Severity, Stream, Subject};
use std::collections::{BTreeMap, BTreeSet};

const EVERY: [usize; 4] = [3, 7, 13, 29];

/// Captures in which the timer of an emulated host fired although nothing was lost, and how many packets it sent again.
const SPURIOUS: [(&str, u64); 4] = [
    ("ibv_rc_pingpong.pcap", 4),
    ("rc_send_lat_mtu256_1k.pcap", 4),
    ("rc_send_lat_small.pcap", 1),
    ("rc_write_lat_small.pcap", 17),
];

/// Findings that blame the network or a host.
const BLAMING: [&str; 9] = [
    "psn-gap",
    "retransmission",
    "spurious-retransmission",
    "timeout-retransmission",
    "implied-nak",
    "retry-exceeded",
    "never-answered",
    "response-loss",
    "duplicate-request",
];

/// A capture, what its frames say, and what the analysis said of it.
struct Original {
    name: String,
    frames: Vec<capture::Frame>,
    packets: Vec<Option<Packet>>,
    report: Report,
}

impl Original {
    fn new(capture: Capture) -> Self {
        let Capture { name, frames } = capture;
        let (packets, report) = (packets(&frames), report_of(&frames));
        Self {
            name,
            frames,
            packets,
            report,
        }
    }
}

/// Captures without a repair or a refusal that have requests to follow.
fn clean() -> impl Iterator<Item = Original> {
    let originals = captures().into_iter().map(Original::new);
    originals.filter(|original| {
        let followed = original.packets.iter().flatten().any(Packet::is_followed);
        followed && is_clean(&original.packets)
    })
}

fn reliable() -> impl Iterator<Item = Original> {
    clean().filter(|original| shows_both_directions(&original.packets))
}

fn key(stream: &Stream) -> Key {
    (stream.src, stream.dst, stream.dest_qpn)
}

/// A count of each stream that has any.
fn counts(report: &Report, count: impl Fn(&Stream) -> u64) -> BTreeMap<Key, u64> {
    let mut counts = BTreeMap::new();
    for stream in &report.streams {
        let count = count(stream);
        if count > 0 {
            *counts.entry(key(stream)).or_default() += count;
        }
    }
    counts
}

/// The streams that a finding is about.
fn streams_with(report: &Report, id: &str) -> BTreeSet<Key> {
    let about = report.findings.iter().filter(|finding| finding.id == id);
    about
        .filter_map(|finding| match &finding.subject {
            Subject::Stream {
                src, dst, dest_qpn, ..
            } => Some((*src, *dst, *dest_qpn)),
            _ => None,
        })
        .collect()
}

/// The streams that have a count.
fn streams_of(counts: &BTreeMap<Key, u64>) -> BTreeSet<Key> {
    counts.keys().copied().collect()
}

/// All that went wrong in one run of a property: every mutant is looked at before it fails.
#[derive(Default)]
struct Failures(Vec<String>);

impl Failures {
    fn check(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.0.push(what());
        }
    }

    fn equal<T: PartialEq + std::fmt::Debug>(
        &mut self,
        name: &str,
        what: &str,
        found: &T,
        wanted: &T,
    ) {
        self.check(found == wanted, || {
            format!("{name}: {what}: {found:?}, not {wanted:?}")
        });
    }

    /// Nothing was sent again, and nothing was lost.
    fn blameless(&mut self, name: &str, report: &Report) {
        let none = BTreeMap::new();
        self.equal(
            name,
            "retransmitted",
            &counts(report, |stream| stream.requester.retransmitted_packets),
            &none,
        );
        self.equal(
            name,
            "spurious",
            &counts(report, |stream| stream.requester.spurious_packets),
            &none,
        );
        self.equal(name, "lost", &counts(report, lost), &none);
        let blaming: Vec<_> = report
            .findings
            .iter()
            .map(|finding| finding.id)
            .filter(|id| BLAMING.contains(id))
            .collect();
        self.equal(name, "blames", &blaming, &Vec::new());
    }

    #[track_caller]
    fn none(self) {
        assert!(
            self.0.is_empty(),
            "{} failures:\n{}",
            self.0.len(),
            self.0.join("\n")
        );
    }
}

/// The mutants of a capture for every k.
fn mutants<'a>(
    original: &'a Original,
    mutate: impl Fn(&[capture::Frame], &[Option<Packet>], usize) -> Mutant + 'a,
) -> impl Iterator<Item = (String, Mutant, Report)> + 'a {
    EVERY.into_iter().map(move |k| {
        let mutant = mutate(&original.frames, &original.packets, k);
        let report = report_of(&mutant.frames);
        (format!("{} every {k}", original.name), mutant, report)
    })
}

#[test]
fn clean_captures_are_clean() {
    let mut failures = Failures::default();
    let mut seen = 0;
    for original in clean() {
        seen += 1;
        failures.blameless(&original.name, &original.report);
        let late = counts(&original.report, |stream| {
            stream.requester.reordered_packets
        });
        failures.equal(&original.name, "reordered", &late, &BTreeMap::new());
        let copies = counts(&original.report, |stream| {
            stream.requester.mirror_duplicates
        });
        failures.equal(&original.name, "copies", &copies, &BTreeMap::new());
        let gaps = counts(&original.report, |stream| {
            stream.requester.missing_psns + stream.requester.capture_gap_psns
        });
        failures.equal(&original.name, "gaps", &gaps, &BTreeMap::new());
        let severe: Vec<_> = original
            .report
            .findings
            .iter()
            .filter(|finding| finding.severity > Severity::Info)
            .map(|finding| finding.id)
            .collect();
        failures.equal(&original.name, "above info", &severe, &Vec::new());
    }
    assert!(seen > 0, "no clean capture");
    failures.none();
}

#[test]
fn missed_frames_are_gaps_of_the_capture() {
    let mut failures = Failures::default();
    for original in reliable() {
        let partners = expected::partners(&original.report);
        for (name, mutant, report) in mutants(&original, mutation::delete) {
            if !shows_both_directions(&mutant.of(&original.packets)) {
                continue;
            }
            failures.blameless(&name, &report);
            let wanted = expected::acknowledged_unseen(&original.packets, &mutant, &partners);
            let gaps = counts(&report, |stream| stream.requester.capture_gap_psns);
            failures.equal(&name, "capture gaps", &gaps, &wanted);
            let told = streams_with(&report, "capture-gap");
            failures.check(told.is_superset(&streams_of(&wanted)), || {
                format!("{name}: capture-gap on {told:?}, not {wanted:?}")
            });
        }
    }
    failures.none();
}

#[test]
fn frames_seen_twice_are_copies() {
    let mut failures = Failures::default();
    for original in clean() {
        let name = format!("{} twice", original.name);
        let report = report_of(&mutation::double(&original.frames, &original.packets).frames);
        failures.blameless(&name, &report);
        let wanted = counts(&original.report, |stream| stream.requester.packets);
        let copies = counts(&report, |stream| stream.requester.mirror_duplicates);
        failures.equal(&name, "copies of requests", &copies, &wanted);
        let wanted = counts(&original.report, |stream| stream.responder.packets);
        let copies = counts(&report, |stream| stream.responder.mirror_duplicates);
        failures.equal(&name, "copies of answers", &copies, &wanted);
        let answered = counts(&report, |stream| {
            stream.requester.copies_answered + stream.responder.extra_answers
        });
        failures.equal(&name, "extra answers", &answered, &BTreeMap::new());
        let gaps = counts(&report, |stream| {
            stream.requester.missing_psns + stream.requester.capture_gap_psns
        });
        failures.equal(&name, "gaps", &gaps, &BTreeMap::new());
        let doubled = streams_of(&counts(&original.report, |stream| {
            stream.requester.packets + stream.responder.packets
        }));
        let told = streams_with(&report, "mirror-duplicate");
        failures.equal(&name, "mirror-duplicate", &told, &doubled);
    }
    failures.none();
}

#[test]
fn frames_out_of_order_are_late() {
    let mut failures = Failures::default();
    for original in clean() {
        for (name, mutant, report) in mutants(&original, mutation::swap) {
            failures.blameless(&name, &report);
            let wanted = expected::changed_places(&original.packets, &mutant);
            let late = counts(&report, |stream| stream.requester.reordered_packets);
            failures.equal(&name, "late", &late, &wanted);
            let gaps = counts(&report, |stream| {
                stream.requester.missing_psns + stream.requester.capture_gap_psns
            });
            failures.equal(&name, "gaps", &gaps, &BTreeMap::new());
            let told = streams_with(&report, "reordering");
            failures.equal(&name, "reordering", &told, &streams_of(&wanted));
        }
    }
    failures.none();
}

#[test]
fn missed_frames_of_unreliable_connections_are_lost_or_missed() {
    let mut failures = Failures::default();
    for original in clean() {
        let unreliable = |stream: &&Stream| stream.transport == "UC";
        if !original
            .report
            .streams
            .iter()
            .any(|stream| unreliable(&stream))
        {
            continue;
        }
        for (name, mutant, report) in mutants(&original, mutation::delete) {
            failures.blameless(&name, &report);
            let wanted = expected::unreliable_gaps(&original.packets, &mutant);
            let missing = counts(&report, |stream| {
                stream.requester.missing_psns * u64::from(unreliable(&stream))
            });
            failures.equal(&name, "missing", &missing, &wanted);
            let gap = report
                .findings
                .iter()
                .find(|finding| finding.id == "uc-gap");
            failures.equal(&name, "uc-gap", &gap.is_some(), &!wanted.is_empty());
            failures.check(
                gap.is_none_or(|gap| gap.message.contains("missed by the capture")),
                || format!("{name}: uc-gap is sure that the network lost it"),
            );
        }
    }
    failures.none();
}

#[test]
fn repairs_stay_what_they_were() {
    let mut failures = Failures::default();
    let mut seen = 0;
    let known = |name: &str| {
        SPURIOUS
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, packets)| *packets)
    };
    for capture in captures() {
        let Some(packets) = known(&capture.name) else {
            continue;
        };
        seen += 1;
        let original = Original::new(capture);
        let again =
            |report: &Report| capture::sum(report, |requests| requests.retransmitted_packets);
        let lost = |report: &Report| report.streams.iter().map(lost).sum::<u64>();
        let mut check = |name: &str, report: &Report, fewer: bool| {
            let found = again(report);
            failures.check(found == packets || fewer && found < packets, || {
                format!("{name}: {found} sent again, not {packets}")
            });
            failures.equal(name, "lost", &lost(report), &0);
        };
        check(&original.name, &original.report, false);
        let twice = mutation::double(&original.frames, &original.packets);
        check(
            &format!("{} twice", original.name),
            &report_of(&twice.frames),
            false,
        );
        for (name, _, report) in mutants(&original, mutation::delete) {
            check(&format!("{name} deleted"), &report, true);
        }
        for (name, _, report) in mutants(&original, mutation::swap) {
            check(&format!("{name} swapped"), &report, false);
        }
    }
    assert_eq!(seen, SPURIOUS.len(), "captures with repairs");
    failures.none();
}
