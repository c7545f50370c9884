//! `bad-icrc`: whole frames whose ICRC is wrong.

use super::{Family, FindingDoc, Findings, Scope, View};
use crate::event::{Event, EventKind};
use crate::figure::{count, counted};
use crate::report::{Finding, Severity};
use crate::time::SECOND_NS;
use rocescope_wire::icrc::IcrcHint;

/// What `bad-icrc` means.
pub static DOC: FindingDoc = FindingDoc {
    id: "bad-icrc",
    family: Family::Integrity,
    severity: Severity::Warning,
    scope: Scope::Stream,
    quiet_ns: 30 * SECOND_NS,
    thresholds: &[],
    meaning: "Packets carry an invariant CRC that does not fit their octets. They were damaged, rewritten on the way, computed \
              wrongly by their sender, or captured before it was computed; a receiver drops them.",
    rule: "The ICRC of a whole frame, computed over IP, UDP and transport with the variable fields as ones, differs from the one it \
           carries. Cut frames and fragments cannot be checked. Such a packet is counted but moves nothing else, for the wrong bit \
           may be in its PSN or QPN. Known mistakes are named where the value fits one exactly; values that were not filled in \
           yet are info.",
    source: "IBTA Volume 1, 7.8.1 and annex A17 (invariant CRC); Linux rxe_icrc.c; SoftRoCE/rxe-dev issue 30 and PR 44, and the \
             linux-rdma threads on its octet order.",
    causes: &[
        "bits flipped on the way: a bad cable, transceiver, or memory of a switch",
        "a device that rewrites addresses or fields without correcting the ICRC: NAT, a tunnel end",
        "an old soft implementation that leaves out the pad, or sends the high octet first",
        "a capture on the sender, before its NIC filled in the ICRC",
    ],
    what_to_do: &[
        "see whether all packets of one sender are wrong (a matter of software or of the place of capture) or few (damage)",
        "for damage look for FCS and symbol errors on the ports between sender and tap",
        "for software update the driver of the sender, or pass --icrc off if the capture is known to be rewritten",
    ],
    when_wrong: "A capture made on the sending host sees packets before the NIC finished them: all its ICRCs are wrong and all are \
                 right on the wire.",
};

/// Hints by the name of their count.
const HINTS: [(&str, &str); 4] = [
    (
        "without_pad_packets",
        "matches the ICRC computed without the pad (old rxe)",
    ),
    (
        "byte_swapped_packets",
        "matches the right ICRC with its octets swapped (big-endian rxe)",
    ),
    (
        "not_filled_packets",
        "the ICRC is zero: captured before the NIC filled it in",
    ),
    (
        "leftover_packets",
        "the ICRC is what the buffer held before: captured before the NIC filled it in",
    ),
];

/// Bad frames whose stream is not known.
#[derive(Clone, Default, Debug)]
pub(crate) struct Strays {
    pub(crate) frames: u64,
    hints: [u64; 4],
    pub(crate) first: Option<Event>,
    pub(crate) last: Option<Event>,
}

impl Strays {
    /// Books one.
    pub(crate) fn add(&mut self, event: &Event) {
        if let EventKind::BadIcrc { hint, .. } = event.kind {
            self.frames += 1;
            if let Some(index) = hint.map(index_of) {
                self.hints[index] += 1;
            }
            self.first.get_or_insert_with(|| event.clone());
            self.last = Some(event.clone());
        }
    }

    /// Adds those of another part.
    pub(crate) fn merge(&mut self, other: Self) {
        self.frames += other.frames;
        for (sum, more) in self.hints.iter_mut().zip(other.hints) {
            *sum += more;
        }
        let order = |event: &Event| (event.at, event.frame);
        self.first = [self.first.take(), other.first]
            .into_iter()
            .flatten()
            .min_by_key(order);
        self.last = [self.last.take(), other.last]
            .into_iter()
            .flatten()
            .max_by_key(order);
    }

    /// The finding they make.
    pub(crate) fn finding(&self) -> Option<Finding> {
        let (first, last) = (self.first.as_ref()?, self.last.as_ref()?);
        let mut finding = super::vantage::capture_finding(&DOC, first.at, last.at);
        finding.frames = vec![first.frame];
        if last.frame != first.frame {
            finding.frames.push(last.frame);
        }
        finding.count = self.frames;
        for ((name, _), number) in HINTS.iter().zip(self.hints) {
            finding.evidence.add(name, number);
        }
        tell(&mut finding, 0);
        finding.message += "; no stream is known that they belong to";
        Some(finding)
    }
}

pub(super) fn on(event: &Event, view: &View<'_>, findings: &mut Findings<'_>) {
    let EventKind::BadIcrc { hint, .. } = event.kind else {
        return;
    };
    findings.raise(&DOC, event.at, &[event.frame], |finding| {
        finding.count += 1;
        if let Some((name, _)) = hint.and_then(|hint| HINTS.get(index_of(hint))) {
            finding.evidence.add(name, 1);
        }
        tell(finding, view.icrc_good());
    });
}

fn index_of(hint: IcrcHint) -> usize {
    match hint {
        IcrcHint::WithoutPad => 0,
        IcrcHint::ByteSwapped => 1,
        IcrcHint::NotFilled => 2,
        IcrcHint::Leftover => 3,
    }
}

/// `good`: whole frames of the sender whose ICRC is right.
fn tell(finding: &mut Finding, good: u64) {
    let of = |name| finding.evidence.count(name);
    let unfilled = of("not_filled_packets") + of("leftover_packets");
    // Two of a hundred damaged packets look like leftovers by chance: only a sender all of whose packets do is believed.
    let before_the_nic = good == 0 && unfilled == finding.count;
    let mut hints = Vec::new();
    for (index, (name, words)) in HINTS.iter().enumerate() {
        let number = of(name);
        let believed = index < 3 || before_the_nic;
        if number == 0 || !believed {
            continue;
        }
        hints.push(if number == finding.count {
            (*words).to_owned()
        } else {
            format!("{} {words}", count(number))
        });
    }
    finding.severity = if before_the_nic {
        Severity::Info
    } else {
        Severity::Warning
    };
    finding.evidence.number("good_packets", good);
    finding.message = format!(
        "{} with a bad ICRC",
        counted(finding.count, "packet", "packets")
    );
    if !hints.is_empty() {
        finding.message += &format!(": {}", hints.join(", "));
    }
}
