//! Tables of connections and streams, by the hosts they join.

use super::page::{Page, WIDTH};
use rocescope_core::Address;
use rocescope_core::figure::{count, counted, duration, millionths, qpn, share};
use rocescope_core::report::{Connection, Latency, Report, Stream};
use rocescope_core::verdict::Loss;
use std::collections::BTreeMap;

/// Rows of one table; what is beyond is counted.
const ROWS: usize = 40;

pub(super) fn tables(page: &mut Page, report: &Report) {
    let streams: BTreeMap<u64, &Stream> = report
        .streams
        .iter()
        .map(|stream| (stream.id, stream))
        .collect();
    connections(page, report, &streams);
    latencies(page, report, &streams);
    self::streams(page, report);
    pauses(page, report);
}

/// Rows under the hosts they join.
struct Table<'a> {
    page: &'a mut Page,
    hosts: Option<(Address, Address)>,
}

impl Table<'_> {
    fn row(&mut self, hosts: (Address, Address), arrow: &str, row: &str) {
        if self.hosts != Some(hosts) {
            self.page.line(&format!("{} {arrow} {}", hosts.0, hosts.1));
            self.hosts = Some(hosts);
        }
        debug_assert!(row.chars().count() <= WIDTH, "{row}");
        self.page.push(row);
    }
}

/// Widths of the columns of each table: together at most 80 with the blanks between and the indentation.
const CONNECTION: [usize; 7] = [19, 8, 7, 7, 7, 13, 8];
const LATENCY: [usize; 7] = [19, 10, 7, 9, 9, 9, 9];
const STREAM: [usize; 10] = [8, 7, 8, 8, 8, 7, 6, 6, 5, 4];

/// One row: the first column to the left, numbers to the right.
fn columns(widths: &[usize], cells: &[&str]) -> String {
    let mut row = " ".to_owned();
    for (index, (width, cell)) in widths.iter().zip(cells).enumerate() {
        row += &if index == 0 {
            format!(" {cell:<width$}")
        } else {
            format!(" {cell:>width$}")
        };
    }
    row
}

fn rest(page: &mut Page, all: usize, what: &str) {
    if all > ROWS {
        page.line(&format!(
            "and {} more {what}: --filter chooses, --format json has all",
            count((all - ROWS) as u64)
        ));
    }
}

fn hosts(connection: &Connection, streams: &BTreeMap<u64, &Stream>) -> Option<(Address, Address)> {
    let first = streams.get(&connection.streams[0])?;
    Some((first.src, first.dst))
}

/// The QPNs as the heading names the hosts: the left host's first.
fn pair(connection: &Connection) -> String {
    format!("{} - {}", qpn(connection.qpns[1]), qpn(connection.qpns[0]))
}

/// Connections that cost most first.
fn connections(page: &mut Page, report: &Report, streams: &BTreeMap<u64, &Stream>) {
    if report.connections.is_empty() {
        return;
    }
    page.heading("Connections");
    page.push(&columns(
        &CONNECTION,
        &[
            "QPs",
            "packets",
            "lost",
            "per M",
            "again",
            "stalled ms",
            "life",
        ],
    ));
    let cost = |connection: &&Connection| {
        let lost: u64 = connection
            .streams
            .iter()
            .filter_map(|id| streams.get(id))
            .map(|stream| Loss::of(stream).total())
            .sum();
        (
            std::cmp::Reverse(connection.stalled_ns),
            std::cmp::Reverse(lost),
            connection.id,
        )
    };
    let mut ordered: Vec<&Connection> = report.connections.iter().collect();
    ordered.sort_by_key(cost);
    let all = ordered.len();
    ordered.truncate(ROWS);
    let mut table = Table { page, hosts: None };
    for connection in ordered {
        let Some(hosts) = hosts(connection, streams) else {
            continue;
        };
        table.row(hosts, "-", &connection_row(connection, streams));
    }
    rest(page, all, "connections");
}

fn connection_row(connection: &Connection, streams: &BTreeMap<u64, &Stream>) -> String {
    let both = || {
        connection
            .streams
            .iter()
            .filter_map(|id| streams.get(id).copied())
    };
    let packets: u64 = both().map(|stream| stream.packets).sum();
    let lost: u64 = both().map(|stream| Loss::of(stream).total()).sum();
    let sent: u64 = both().map(Loss::sent).sum();
    let (again, bytes) = both().fold((0, 0), |sum, stream| {
        (
            sum.0 + stream.requester.retransmitted_bytes,
            sum.1 + stream.wire_bytes,
        )
    });
    columns(
        &CONNECTION,
        &[
            &pair(connection),
            &short(packets),
            &short(lost),
            &short(millionths(lost, sent)),
            &share(millionths(again, bytes)),
            &milliseconds(connection.stalled_ns),
            &share(millionths(connection.stalled_ns, connection.life_ns)),
        ],
    )
}

/// A number in at most six columns: `999999`, `12.3M`, `4.5G`.
fn short(number: u64) -> String {
    match number {
        0..1_000_000 => number.to_string(),
        1_000_000..1_000_000_000 => format!("{}.{}M", number / 1_000_000, number / 100_000 % 10),
        _ => format!("{}.{}G", number / 1_000_000_000, number / 100_000_000 % 10),
    }
}

/// Latencies at this tap, of connections that have some.
fn latencies(page: &mut Page, report: &Report, streams: &BTreeMap<u64, &Stream>) {
    let all: Vec<_> = report
        .connections
        .iter()
        .filter_map(|connection| Some((connection, hosts(connection, streams)?)))
        .flat_map(|(connection, hosts)| {
            rows(connection).map(move |(name, latency)| (connection, hosts, name, latency))
        })
        .collect();
    if all.is_empty() {
        return;
    }
    page.heading("Answer times at this tap, not at the sender; repairs left out (ms)");
    page.push(&columns(
        &LATENCY,
        &["QPs", "what", "count", "median", "99 %", "99.9 %", "max"],
    ));
    let mut table = Table { page, hosts: None };
    for (connection, hosts, name, latency) in all.iter().take(ROWS) {
        let [p50, p99, p999, max] =
            [latency.p50, latency.p99, latency.p999, latency.max].map(milliseconds);
        let row = columns(
            &LATENCY,
            &[
                &pair(connection),
                name,
                &short(latency.count),
                &p50,
                &p99,
                &p999,
                &max,
            ],
        );
        table.row(*hosts, "-", &row);
    }
    rest(page, all.len(), "rows");
}

fn rows(connection: &Connection) -> impl Iterator<Item = (&'static str, Latency)> + use<> {
    let latency = &connection.latency_ns;
    [
        ("ACK", latency.ack),
        ("READ first", latency.read_first),
        ("READ last", latency.read_last),
        ("message", latency.message),
    ]
    .into_iter()
    .filter_map(|(name, latency)| Some((name, latency?)))
}

fn milliseconds(ns: u64) -> String {
    let microseconds = ns.saturating_add(500) / 1000;
    match microseconds {
        0..10_000_000 => format!("{}.{:03}", microseconds / 1000, microseconds % 1000),
        _ => (microseconds / 1000).to_string(),
    }
}

/// Streams with most packets first.
fn streams(page: &mut Page, report: &Report) {
    if report.streams.is_empty() {
        return;
    }
    page.heading("Streams");
    page.push(&columns(
        &STREAM,
        &[
            "to QP", "kind", "packets", "requests", "answers", "again", "NAK", "RNR", "port",
            "DSCP",
        ],
    ));
    let mut ordered: Vec<&Stream> = report.streams.iter().collect();
    ordered.sort_by_key(|stream| {
        (
            std::cmp::Reverse(Loss::of(stream).total()),
            std::cmp::Reverse(stream.packets),
            stream.id,
        )
    });
    let mut table = Table { page, hosts: None };
    for stream in ordered.iter().take(ROWS) {
        table.row((stream.src, stream.dst), "->", &stream_row(stream));
    }
    rest(page, report.streams.len(), "streams");
}

fn stream_row(stream: &Stream) -> String {
    let naks = &stream.responder.naks;
    let naks = naks.psn_sequence_error
        + naks.invalid_request
        + naks.remote_access_error
        + naks.remote_operational_error
        + naks.invalid_rd_request
        + naks.other;
    columns(
        &STREAM,
        &[
            &qpn(stream.dest_qpn),
            stream.transport,
            &short(stream.packets),
            &short(stream.requester.packets),
            &short(stream.responder.packets),
            &short(stream.requester.retransmitted_packets),
            &short(naks),
            &short(stream.responder.rnr_naks),
            &stream.udp_source_port.to_string(),
            &stream.dscp.to_string(),
        ],
    )
}

fn pauses(page: &mut Page, report: &Report) {
    if report.ports.is_empty() {
        return;
    }
    page.heading("Ports that sent pauses");
    for port in report.ports.iter().take(ROWS) {
        page.line(&super::Untrusted(&port.source_mac).to_string());
        for paused in &port.priorities {
            let stops = counted(paused.xoff, "stop", "stops");
            let text = format!(
                "{stops}, {} go on, paused {}, longest {}, {} of the time",
                count(paused.xon),
                duration(paused.paused_ns),
                duration(paused.longest_ns),
                share(paused.share)
            );
            page.entry(&format!("priority {}", paused.priority), &text);
        }
    }
    rest(page, report.ports.len(), "ports");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_fits_its_column() {
        for number in [
            0,
            999_999,
            1_000_000,
            999_999_999,
            1_000_000_000,
            99_999_999_999,
        ] {
            assert!(short(number).len() <= 6, "{number}");
        }
        assert_eq!(short(12_345_678), "12.3M");
        assert_eq!(milliseconds(812_000_499), "812.000");
        assert_eq!(milliseconds(10_000_000_000), "10000");
    }
}
