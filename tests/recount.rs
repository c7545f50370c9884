//! The report held to a second, slow and simple count of the same capture, which shares no code with the first: octets
//! at fixed places, sets of PSNs.

#![allow(clippy::unwrap_used, reason = "what fails in a test fails the test")]

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;
use std::path::Path;
use std::process::Command;

/// Captures that are counted differently: damaged packets are no requests to the report, but have a PSN like any other
/// here; malformed ones are not read here; and where the length of a READ was cut off, only the report looks for it
/// elsewhere.
const OTHERWISE: [&str; 3] = [
    "corrupt_write_head400.pcap",
    "crafted_malformed.pcap",
    "rc_read_lat_2k.snap64.pcap",
];

/// A packet of the transport.
struct Packet {
    key: (IpAddr, IpAddr, u64),
    opcode: u8,
    psn: i64,
    dma_len: u64,
    /// Octets between BTH and ICRC.
    body: u64,
}

/// What is counted of one direction.
#[derive(Default, PartialEq, Eq, Debug)]
struct Count {
    packets: u64,
    opcodes: BTreeMap<u8, u64>,
    requests: u64,
    first: u64,
    highest: u64,
    behind: u64,
    missing: u64,
}

/// The packets of a little-endian pcap file of Ethernet frames.
fn packets(file: &[u8]) -> Vec<Packet> {
    let mut rest = &file[24..];
    let mut packets = Vec::new();
    while rest.len() >= 16 {
        let len = u32::from_le_bytes(rest[8..12].try_into().unwrap()) as usize;
        let Some(frame) = rest.get(16..16 + len) else {
            break;
        };
        packets.extend(packet(frame));
        rest = &rest[16 + len..];
    }
    packets
}

fn big_endian(octets: &[u8]) -> u64 {
    octets
        .iter()
        .fold(0, |sum, octet| sum << 8 | u64::from(*octet))
}

fn packet(frame: &[u8]) -> Option<Packet> {
    let tag = if frame.get(12..14)? == [0x81, 0x00] {
        4
    } else {
        0
    };
    let ip = frame.get(14 + tag..)?;
    let address = |at: usize, len: usize| -> Option<IpAddr> {
        let octets = ip.get(at..at + len)?;
        Some(match len {
            4 => IpAddr::from(<[u8; 4]>::try_from(octets).unwrap()),
            _ => IpAddr::from(<[u8; 16]>::try_from(octets).unwrap()),
        })
    };
    let (src, dst, header) = match frame[12 + tag..14 + tag] {
        [0x08, 0x00] if ip.get(9) == Some(&17) => (
            address(12, 4)?,
            address(16, 4)?,
            usize::from(ip[0] & 15) * 4,
        ),
        [0x86, 0xdd] if ip.get(6) == Some(&17) => (address(8, 16)?, address(24, 16)?, 40),
        _ => return None,
    };
    let udp = ip.get(header..)?;
    if udp.get(2..4)? != 4791_u16.to_be_bytes() {
        return None;
    }
    let bth = udp.get(8..)?;
    Some(Packet {
        key: (src, dst, big_endian(bth.get(5..8)?)),
        opcode: bth[0],
        psn: big_endian(bth.get(9..12)?) as i64,
        dma_len: bth.get(24..28).map_or(0, big_endian),
        body: big_endian(udp.get(4..6)?) - 8 - 12 - 4,
    })
}

/// Answers, by the operation of RC: READ responses, ACKNOWLEDGE, ATOMIC ACKNOWLEDGE.
fn is_answer(opcode: u8) -> bool {
    matches!(opcode, 0x0d..=0x12)
}

/// `to` behind `from`, over 24 bits.
fn distance(from: i64, to: i64) -> i64 {
    (to - from + (1 << 23)).rem_euclid(1 << 24) - (1 << 23)
}

fn count(packets: &[Packet]) -> HashMap<(IpAddr, IpAddr, u64), Count> {
    // A READ RESPONSE FIRST (with an AETH) or MIDDLE is as long as the path MTU.
    let full = packets.iter().filter_map(|packet| match packet.opcode {
        0x0d => Some(packet.body - 4),
        0x0e => Some(packet.body),
        _ => None,
    });
    let pmtu = full.max().unwrap_or(u64::MAX);
    let mut counts: HashMap<_, Count> = HashMap::new();
    let mut seen: HashMap<_, BTreeSet<i64>> = HashMap::new();
    for packet in packets {
        let count = counts.entry(packet.key).or_default();
        count.packets += 1;
        *count.opcodes.entry(packet.opcode).or_default() += 1;
        // Datagrams have no PSNs to follow.
        if is_answer(packet.opcode) || packet.opcode >> 5 > 1 {
            continue;
        }
        let seen = seen.entry(packet.key).or_default();
        if count.requests == 0 {
            count.first = packet.psn as u64;
            count.highest = (packet.psn - 1).rem_euclid(1 << 24) as u64;
        }
        count.requests += 1;
        let psns = match packet.opcode {
            0x0c => packet.dma_len.div_ceil(pmtu).max(1) as i64,
            _ => 1,
        };
        count.behind += u64::from(distance(count.highest as i64, packet.psn) <= 0);
        let last = (packet.psn + psns - 1).rem_euclid(1 << 24);
        if distance(count.highest as i64, last) > 0 {
            count.highest = last as u64;
        }
        // By their distance from the first, so that the set has an order.
        let start = distance(count.first as i64, packet.psn);
        seen.extend(start..start + psns);
    }
    for (key, seen) in seen {
        let count = counts.get_mut(&key).unwrap();
        // The first to come may have come late.
        let start = *seen.first().unwrap();
        let end = distance(count.first as i64, count.highest as i64);
        count.missing = (start..=end).filter(|at| !seen.contains(at)).count() as u64;
        count.first = (count.first as i64 + start).rem_euclid(1 << 24) as u64;
    }
    counts
}

/// The same figures from the report.
fn reported(stream: &Value, numbers: &HashMap<String, u8>) -> Count {
    let requester = &stream["requester"];
    let of = |name: &str| requester[name].as_u64().unwrap_or(0);
    let opcodes = stream["opcodes"].as_object().unwrap();
    Count {
        packets: stream["packets"].as_u64().unwrap(),
        opcodes: opcodes
            .iter()
            .map(|(name, count)| (numbers[name], count.as_u64().unwrap()))
            .collect(),
        requests: of("packets"),
        first: of("first_psn"),
        highest: of("highest_psn"),
        behind: of("retransmitted_packets") + of("reordered_packets") + of("mirror_duplicates"),
        missing: of("missing_psns"),
    }
}

/// The report of a capture, and the number of each opcode's name as `--frames` gives them.
fn analyze(capture: &Path) -> (Value, HashMap<String, u8>) {
    let folder = tempfile::tempdir().unwrap();
    let frames = folder.path().join("frames");
    let output = Command::new(env!("CARGO_BIN_EXE_rocescope"))
        .args(["analyze", "--format", "json", "--frames"])
        .args([&frames, capture])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}: {output:?}", capture.display());
    let lines = std::fs::read_to_string(frames).unwrap();
    let numbers = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|frame| {
            let number = frame["opcode_value"].as_u64().unwrap();
            (frame["opcode"].as_str().unwrap().to_owned(), number as u8)
        })
        .collect();
    (serde_json::from_slice(&output.stdout).unwrap(), numbers)
}

#[test]
fn a_slow_count_comes_to_the_same() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/traces");
    let mut wrong = Vec::new();
    let mut streams = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.ends_with(".pcap") || OTHERWISE.contains(&&*name) {
            continue;
        }
        let mut slow = count(&packets(&std::fs::read(&path).unwrap()));
        let (report, numbers) = analyze(&path);
        for stream in report["streams"].as_array().unwrap() {
            let address = |name: &str| stream[name].as_str().unwrap().parse().unwrap();
            let qpn = stream["dest_qpn"].as_u64().unwrap();
            let key = (address("src"), address("dst"), qpn);
            let (ours, slow) = (reported(stream, &numbers), slow.remove(&key));
            streams += 1;
            if slow.as_ref() != Some(&ours) {
                wrong.push(format!("{name} {key:?}:\n  {ours:?}\n  {slow:?}"));
            }
        }
        wrong.extend(slow.keys().map(|key| format!("{name} {key:?}: no stream")));
    }
    assert!(streams > 100, "only {streams} streams");
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
