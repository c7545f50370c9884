//! The whole analysis: whatever the traffic, nothing panics, and the counts of a report add up.

use super::script::{self, Frame};
use rocescope::analysis;
use rocescope::source::write::{
    ByteOrder, InterfaceOptions, PacketOptions, PcapWriter, PcapngWriter,
};
use rocescope::source::{Merge, read_from};
use rocescope_core::Time;
use rocescope_core::encap::{Decoded, LinkType, Ports, locate};
use rocescope_core::outcome;
use rocescope_core::partition::{Fold, PacketInput, Partition};
use rocescope_core::report::{FrameRef, Report};
use rocescope_core::settings::Settings;
use std::io::Cursor;
use std::sync::Arc;

/// Traffic out of `octets`, analysed.
pub fn engine(octets: &[u8]) {
    let frames = script::frames(octets);
    let report = analyse(pcap(&frames), 1);
    let seen: u64 = report.streams.iter().map(|stream| stream.packets).sum();
    let totals = &report.totals;
    assert_eq!(totals.frames, frames.len() as u64);
    assert!(seen <= totals.roce_v1 + totals.roce_v2);
    for stream in &report.streams {
        let requester = &stream.requester;
        let behind = requester.retransmitted_packets
            + requester.reordered_packets
            + requester.mirror_duplicates;
        assert!(behind <= requester.packets, "{requester:?}");
        assert!(requester.packets + stream.responder.packets <= stream.packets);
        assert!(requester.missing_psns <= requester.skips, "{requester:?}");
        assert!(requester.recoveries.len() as u64 <= requester.recoveries_total);
        let kinds: u64 = stream.opcodes.values().sum();
        assert_eq!(kinds, stream.packets);
    }
    for finding in &report.findings {
        assert!(
            finding.count > 0 && finding.first_ns <= finding.last_ns,
            "{finding:?}"
        );
        assert!(!finding.message.is_empty() && !finding.message.contains('\n'));
    }
    let _ = serde_json::to_string(&report).expect("plain data");
}

/// The same traffic in other clothes: re-encoded, over several threads, and with packets in order folded into runs.
pub fn differential(octets: &[u8]) {
    let frames = script::frames(octets);
    let plain = analyse(pcap(&frames), 1);
    let expected = comparable(&plain);
    assert_eq!(
        expected,
        comparable(&analyse(pcapng(&frames), 1)),
        "as pcapng"
    );
    assert_eq!(
        expected,
        comparable(&analyse(pcap(&frames), 3)),
        "over three threads"
    );
    let (packets, runs) = (in_one_part(&frames, false), in_one_part(&frames, true));
    assert_eq!(packets, runs, "folded into runs");
}

fn analyse(capture: Vec<u8>, threads: u16) -> Report {
    let source = read_from("fuzz", Cursor::new(capture)).expect("a capture of our own");
    analysis::of(&mut Merge::new(vec![source]), Settings::default(), threads)
}

fn comparable(report: &Report) -> String {
    let all = (
        &report.totals,
        &report.verdict,
        &report.streams,
        &report.connections,
        &report.findings,
    );
    serde_json::to_string(&all).expect("plain data")
}

fn pcap(frames: &[Frame]) -> Vec<u8> {
    let mut out = PcapWriter::new(
        Vec::new(),
        LinkType::ETHERNET,
        ByteOrder::LittleEndian,
        true,
    )
    .expect("memory");
    for frame in frames {
        out.frame(Time(frame.at), frame.wire_len, &frame.octets)
            .expect("memory");
    }
    out.into_inner()
}

fn pcapng(frames: &[Frame]) -> Vec<u8> {
    let mut out = PcapngWriter::new(Vec::new(), ByteOrder::BigEndian).expect("memory");
    let options = InterfaceOptions {
        tsresol: Some(9),
        ..InterfaceOptions::default()
    };
    let interface = out.interface(LinkType::ETHERNET, &options).expect("memory");
    for frame in frames {
        out.frame(
            interface,
            Time(frame.at),
            frame.wire_len,
            &frame.octets,
            &PacketOptions::default(),
        )
        .expect("memory");
    }
    out.into_inner()
}

fn in_one_part(frames: &[Frame], folded: bool) -> String {
    let settings = Arc::new(Settings::default());
    let (mut part, mut fold) = (Partition::new(settings.clone()), Fold::default());
    let mut last = Time(0);
    for (index, frame) in frames.iter().enumerate() {
        last = Time(frame.at);
        let located = locate(
            LinkType::ETHERNET,
            &frame.octets,
            frame.wire_len,
            &Ports::default(),
        );
        let Decoded::Roce(located) = located.decoded else {
            continue;
        };
        let input = PacketInput {
            located: &located,
            at: Time(frame.at),
            frame: FrameRef {
                source: 0,
                frame: index as u64 + 1,
            },
            port: 0,
            wire_len: frame.wire_len,
            icrc: None,
        };
        if folded {
            fold.packet(&input, &mut part, &settings);
        } else {
            part.packet(&input);
        }
    }
    fold.finish(&mut part);
    let outcome = outcome::finish(vec![part], last);
    serde_json::to_string(&(
        &outcome.totals,
        &outcome.streams,
        &outcome.connections,
        &outcome.findings,
    ))
    .expect("plain data")
}
