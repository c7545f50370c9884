//! The report, indexed for the questions of the verdict.

use crate::report::{Connection, Finding, Report, Severity, Stream, Subject};
use std::collections::BTreeMap;

/// Findings that say a queue pair is dead.
pub const DEADLY: [&str; 6] = [
    "never-answered",
    "retry-exceeded",
    "rnr-retry-exceeded",
    "nak-invalid-request",
    "nak-remote-access",
    "nak-remote-operational",
];

/// Whether a finding of that id says that a queue pair is dead.
#[must_use]
pub fn is_deadly(id: &str) -> bool {
    DEADLY.contains(&id)
}

/// What a stream lost, by kind and side of the tap, packets.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Loss {
    /// Requests, between sender and tap.
    pub before: u64,
    /// Requests, between tap and receiver: a lower bound.
    pub after: u64,
    /// Requests damaged before the tap.
    pub damaged: u64,
    /// READ responses and atomic answers, between responder and tap.
    pub answers_before: u64,
    /// READ responses and atomic answers, between tap and requester.
    pub answers_after: u64,
    /// UC: lost before the tap, or missed by the capture.
    pub unrepaired: u64,
}

impl Loss {
    /// Of one stream: its requests, and the answers it carries.
    #[must_use]
    pub fn of(stream: &Stream) -> Self {
        let (requester, responder) = (&stream.requester, &stream.responder);
        let uc = stream.transport == "UC";
        Self {
            before: if uc { 0 } else { requester.lost_before },
            after: requester.lost_after,
            damaged: requester.damaged,
            answers_before: responder.lost_before,
            answers_after: responder.lost_after,
            unrepaired: if uc {
                requester.lost_before.max(requester.missing_psns)
            } else {
                0
            },
        }
    }

    /// All of it.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.requests() + self.answers()
    }

    /// Requests only.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.before + self.after + self.damaged + self.unrepaired
    }

    /// READ responses and atomic answers only.
    #[must_use]
    pub fn answers(&self) -> u64 {
        self.answers_before + self.answers_after
    }

    /// Packets of that stream that could be lost: those seen, and those lost before the tap.
    #[must_use]
    pub fn sent(stream: &Stream) -> u64 {
        let loss = Self::of(stream);
        let responses = stream.responder.read_responses + stream.responder.atomic_acks;
        stream.requester.packets + responses + loss.before + loss.unrepaired + loss.answers_before
    }

    fn plus(self, other: Self) -> Self {
        Self {
            before: self.before + other.before,
            after: self.after + other.after,
            damaged: self.damaged + other.damaged,
            answers_before: self.answers_before + other.answers_before,
            answers_after: self.answers_after + other.answers_after,
            unrepaired: self.unrepaired + other.unrepaired,
        }
    }
}

/// A report with the ways through it.
pub(super) struct Case<'a> {
    pub(super) report: &'a Report,
    streams: BTreeMap<u64, &'a Stream>,
    connections: BTreeMap<u64, &'a Connection>,
    findings: BTreeMap<u64, Vec<&'a Finding>>,
}

impl<'a> Case<'a> {
    pub(super) fn new(report: &'a Report) -> Self {
        let mut connections = BTreeMap::new();
        for connection in &report.connections {
            for stream in connection.streams {
                connections.insert(stream, connection);
            }
        }
        let mut findings: BTreeMap<u64, Vec<&Finding>> = BTreeMap::new();
        for finding in &report.findings {
            if let Subject::Stream {
                stream: Some(stream),
                ..
            } = finding.subject
            {
                findings.entry(stream).or_default().push(finding);
            }
        }
        let streams = report
            .streams
            .iter()
            .map(|stream| (stream.id, stream))
            .collect();
        Self {
            report,
            streams,
            connections,
            findings,
        }
    }

    pub(super) fn stream(&self, id: u64) -> Option<&'a Stream> {
        self.streams.get(&id).copied()
    }

    pub(super) fn connection_of(&self, stream: u64) -> Option<&'a Connection> {
        self.connections.get(&stream).copied()
    }

    pub(super) fn findings_of(&self, stream: u64) -> impl Iterator<Item = &'a Finding> {
        self.findings.get(&stream).into_iter().flatten().copied()
    }

    /// The gravest finding that says this stream's queue pair is dead or dying.
    pub(super) fn death_of(&self, stream: u64) -> Option<&'a Finding> {
        self.findings_of(stream)
            .filter(|finding| is_deadly(finding.id) && finding.severity > Severity::Info)
            .max_by_key(|finding| finding.severity)
    }

    /// Queue pair of the sender of that stream: what the other stream of its connection is sent to.
    pub(super) fn sender_qpn(&self, stream: &Stream) -> Option<u32> {
        let [first, second] = self.connection_of(stream.id)?.streams;
        let other = if first == stream.id { second } else { first };
        self.stream(other).map(|other| other.dest_qpn)
    }

    /// `QP 0x153 -> 0x2a (192.0.2.1 -> 192.0.2.2)`.
    pub(super) fn name(&self, stream: &Stream) -> String {
        let pair = crate::figure::qp_pair(self.sender_qpn(stream), stream.dest_qpn);
        format!("{pair} ({} -> {})", stream.src, stream.dst)
    }

    pub(super) fn loss(&self) -> Loss {
        let listed = self
            .report
            .streams
            .iter()
            .map(Loss::of)
            .fold(Loss::default(), Loss::plus);
        // Streams that had to leave are in the totals only.
        let totals = &self.report.totals.requester;
        Loss {
            before: listed
                .before
                .max(totals.lost_before.saturating_sub(listed.unrepaired)),
            after: listed.after.max(totals.lost_after),
            damaged: listed.damaged.max(totals.damaged),
            ..listed
        }
    }

    /// Everything lost or damaged, also answers of streams that had to leave.
    pub(super) fn lost(&self) -> u64 {
        let loss = self.loss();
        loss.total()
            .max(loss.requests() + self.report.totals.requester.responses_lost)
    }

    /// Requests and responses sent: those seen, and those lost before the tap.
    pub(super) fn sent(&self) -> u64 {
        let loss = self.loss();
        let responses = self
            .report
            .streams
            .iter()
            .map(|stream| stream.responder.read_responses + stream.responder.atomic_acks)
            .sum::<u64>();
        let seen = self
            .report
            .streams
            .iter()
            .map(|stream| stream.requester.packets)
            .sum::<u64>();
        seen.max(self.report.totals.requester.packets)
            + responses
            + loss.before
            + loss.unrepaired
            + loss.answers_before
    }

    /// Time stalled and time lived, summed over connections, and over streams without one.
    pub(super) fn stalled_and_life(&self) -> (u64, u64) {
        let connections = self
            .report
            .connections
            .iter()
            .map(|connection| (connection.stalled_ns, connection.life_ns));
        let single = self
            .report
            .streams
            .iter()
            .filter(|stream| !self.connections.contains_key(&stream.id))
            .map(|stream| {
                (
                    stream.requester.stalled_ns,
                    stream.last_ns.saturating_sub(stream.first_ns),
                )
            });
        let (stalled, life) = connections
            .chain(single)
            .fold((0, 0), |sum: (u64, u64), add| {
                (sum.0.saturating_add(add.0), sum.1.saturating_add(add.1))
            });
        (stalled.max(self.report.totals.requester.stalled_ns), life)
    }

    pub(super) fn any_roce(&self) -> bool {
        let totals = &self.report.totals;
        totals.roce_v1 + totals.roce_v2 + totals.infiniband > 0 || !self.report.streams.is_empty()
    }

    pub(super) fn one_direction(&self) -> bool {
        one_direction(self.report)
    }
}

/// Whether only one direction of RC traffic was captured, in every source.
#[must_use]
pub fn one_direction(report: &Report) -> bool {
    let sources = report
        .sources
        .iter()
        .map(|source| source.vantage.directions);
    let mut directions = sources.filter(|count| *count > 0).peekable();
    directions.peek().is_some() && directions.all(|count| count == 1)
}
