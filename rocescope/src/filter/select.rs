//! What of a report a filter lets through.

use super::{Filter, Term};
use rocescope_core::Address;
use rocescope_core::report::{Connection, Finding, Report, Stream, Subject};
use std::collections::{BTreeMap, BTreeSet};

impl Filter {
    /// Keeps what the filter chooses: streams that match, their connections with both streams, and findings that match.
    ///
    /// A term that says nothing about a finding (an address about a whole file) neither keeps nor drops it, so that
    /// coverage stays in sight. Totals and verdict stay as they are, and the report names the filter.
    pub fn select(&self, report: &mut Report) {
        let index = Index::new(report);
        let mut shown: BTreeSet<u64> = index
            .streams
            .values()
            .filter(|stream| self.holds(&index.about(stream)) == Some(true))
            .map(|stream| stream.id)
            .collect();
        let findings: Vec<bool> = report
            .findings
            .iter()
            .map(|finding| self.holds(&index.about_finding(finding)) != Some(false))
            .collect();
        let connections: Vec<bool> = report
            .connections
            .iter()
            .map(|connection| connection.streams.iter().any(|id| shown.contains(id)))
            .collect();
        drop(index);
        keep(&mut report.findings, &findings);
        keep(&mut report.connections, &connections);
        shown.extend(
            report
                .connections
                .iter()
                .flat_map(|connection| connection.streams),
        );
        report.streams.retain(|stream| shown.contains(&stream.id));
        report.tool.filter = Some(self.to_string());
    }

    /// True, false, or nothing where it cannot be asked (Kleene's logic).
    fn holds(&self, about: &About<'_>) -> Option<bool> {
        match self {
            Self::Term(term) => term.holds(about),
            Self::Not(inner) => inner.holds(about).map(|holds| !holds),
            Self::And(left, right) => match (left.holds(about), right.holds(about)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (left, right) => Some(left? && right?),
            },
            Self::Or(left, right) => match (left.holds(about), right.holds(about)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (left, right) => Some(left? || right?),
            },
        }
    }
}

fn keep<T>(items: &mut Vec<T>, flags: &[bool]) {
    let mut flags = flags.iter();
    items.retain(|_| flags.next().copied().unwrap_or(false));
}

/// A stream or a finding, with what belongs to it. What is not known is left out.
#[derive(Default)]
struct About<'a> {
    flow: Option<Flow>,
    stream: Option<&'a Stream>,
    connection: Option<&'a Connection>,
    findings: Vec<&'a Finding>,
}

/// What both a stream and the subject of a finding say.
struct Flow {
    src: Address,
    dst: Address,
    dest_qpn: u32,
    src_qpn: Option<u32>,
    udp_source_port: u16,
    dscp: u8,
}

struct Index<'a> {
    streams: BTreeMap<u64, &'a Stream>,
    connections: BTreeMap<u64, &'a Connection>,
    findings: BTreeMap<u64, Vec<&'a Finding>>,
}

impl<'a> Index<'a> {
    fn new(report: &'a Report) -> Self {
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
        let joined =
            |connection: &'a Connection| connection.streams.map(|stream| (stream, connection));
        Self {
            streams: report
                .streams
                .iter()
                .map(|stream| (stream.id, stream))
                .collect(),
            connections: report.connections.iter().flat_map(joined).collect(),
            findings,
        }
    }

    fn about(&self, stream: &'a Stream) -> About<'a> {
        let connection = self.connections.get(&stream.id).copied();
        let peer = connection
            .and_then(|connection| connection.streams.into_iter().find(|id| *id != stream.id));
        let flow = Flow {
            src: stream.src,
            dst: stream.dst,
            dest_qpn: stream.dest_qpn,
            src_qpn: peer
                .and_then(|id| self.streams.get(&id))
                .map(|peer| peer.dest_qpn),
            udp_source_port: stream.udp_source_port,
            dscp: stream.dscp,
        };
        let findings = self.findings.get(&stream.id).cloned().unwrap_or_default();
        About {
            flow: Some(flow),
            stream: Some(stream),
            connection,
            findings,
        }
    }

    fn about_finding(&self, finding: &'a Finding) -> About<'a> {
        let Subject::Stream {
            stream,
            src,
            dst,
            dest_qpn,
            src_qpn,
            udp_source_port,
            dscp,
            ..
        } = finding.subject
        else {
            return About {
                findings: vec![finding],
                ..About::default()
            };
        };
        // The stream itself may have left: then the finding still says whom it is about.
        let about = stream
            .and_then(|stream| self.streams.get(&stream))
            .map(|stream| self.about(stream))
            .unwrap_or_default();
        let flow = Flow {
            src,
            dst,
            dest_qpn,
            src_qpn,
            udp_source_port,
            dscp,
        };
        About {
            flow: Some(flow),
            findings: vec![finding],
            ..about
        }
    }
}

impl Term {
    fn holds(&self, about: &About<'_>) -> Option<bool> {
        Some(match self {
            Self::Finding(id) => about.findings.iter().any(|finding| finding.id == id),
            Self::Severity(least) => about
                .findings
                .iter()
                .any(|finding| finding.severity >= *least),
            Self::Vlan(vid) => about.stream?.vlan == Some(*vid),
            Self::Priority(pcp) => about.stream?.pcp == Some(*pcp),
            Self::Opcode(name) => about
                .stream?
                .opcodes
                .keys()
                .any(|opcode| opcode.eq_ignore_ascii_case(name)),
            Self::Service(word) => {
                about.stream?;
                let service = about
                    .connection
                    .and_then(|connection| connection.service.as_deref());
                service.is_some_and(|service| is_service(service, word))
            }
            _ => self.holds_for(about.flow.as_ref()?),
        })
    }

    fn holds_for(&self, flow: &Flow) -> bool {
        match self {
            Self::Host(network) => network.contains(&flow.src) || network.contains(&flow.dst),
            Self::Src(network) => network.contains(&flow.src),
            Self::Dst(network) => network.contains(&flow.dst),
            Self::Qpn(qpn) => flow.dest_qpn == *qpn || flow.src_qpn == Some(*qpn),
            Self::Dqpn(qpn) => flow.dest_qpn == *qpn,
            Self::Port(port) => flow.udp_source_port == *port,
            Self::Dscp(dscp) => flow.dscp == *dscp,
            _ => false,
        }
    }
}

/// `tcp:4420` is named in full or by its port.
fn is_service(service: &str, word: &str) -> bool {
    service == word
        || service
            .split_once(':')
            .is_some_and(|(_, port)| port == word)
}
