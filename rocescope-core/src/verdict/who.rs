//! Who: the factor whose share of losses exceeds its share of packets most.

use super::case::{Case, Loss};
use crate::figure::millionths;
use crate::report::Stream;
use crate::report::verdict::Who;
use std::collections::BTreeMap;

/// A factor is named when it carries at least this share of all losses, in millionths.
const MOST: u64 = 600_000;
/// And when that exceeds its share of packets by at least this much, in millionths.
const EXCESS: u64 = 200_000;

/// In the order of preference where two explain the same.
const FACTORS: [&str; 6] = [
    "pair",
    "sender",
    "receiver",
    "priority",
    "dscp",
    "udp-source-port",
];

#[derive(Default)]
struct Share {
    losses: u64,
    packets: u64,
    streams: u64,
    streams_with_loss: u64,
}

/// The factor that explains most, with its counts; nothing where nothing was lost.
pub(super) fn who(case: &Case<'_>) -> Option<Who> {
    let carriers: Vec<_> = case
        .report
        .streams
        .iter()
        .filter(|stream| packets(stream) > 0)
        .collect();
    let all = sum(&carriers);
    if all.losses == 0 {
        return None;
    }
    let best = FACTORS
        .iter()
        .enumerate()
        .flat_map(|(preference, factor)| {
            let mut shares: BTreeMap<String, Vec<&Stream>> = BTreeMap::new();
            for stream in &carriers {
                if let Some(value) = value(factor, stream) {
                    shares.entry(value).or_default().push(stream);
                }
            }
            shares
                .into_iter()
                .map(move |(value, streams)| (preference, *factor, value, sum(&streams)))
        })
        .map(|(preference, factor, value, share)| {
            let of_losses = millionths(share.losses, all.losses);
            let of_packets = millionths(share.packets, all.packets);
            (
                of_losses,
                of_losses.saturating_sub(of_packets),
                preference,
                factor,
                value,
                share,
            )
        })
        .filter(|(of_losses, excess, ..)| *of_losses >= MOST && *excess >= EXCESS)
        .max_by(|a, b| (a.1, b.2, &b.4).cmp(&(b.1, a.2, &a.4)));
    Some(match best {
        Some((_, _, _, factor, value, share)) => named(factor, value, &share, all.losses),
        None => only_one(&carriers, &all)
            .unwrap_or_else(|| named("everyone", String::new(), &all, all.losses)),
    })
}

/// Where only one pair talks there is nothing to compare it with: it is named, and its counts say so.
fn only_one(carriers: &[&Stream], all: &Share) -> Option<Who> {
    let unordered = |stream: &Stream| (stream.src.min(stream.dst), stream.src.max(stream.dst));
    let first = carriers.first()?;
    if carriers
        .iter()
        .any(|stream| unordered(stream) != unordered(first))
    {
        return None;
    }
    let hurt = carriers
        .iter()
        .max_by_key(|stream| (Loss::of(stream).total(), std::cmp::Reverse(stream.id)))?;
    Some(named(
        "pair",
        format!("{} -> {}", hurt.src, hurt.dst),
        all,
        all.losses,
    ))
}

fn named(factor: &'static str, value: String, share: &Share, of: u64) -> Who {
    Who {
        factor,
        value,
        losses: share.losses,
        of,
        streams: share.streams_with_loss,
        streams_with_it: share.streams,
    }
}

fn sum(streams: &[&Stream]) -> Share {
    let mut share = Share::default();
    for stream in streams {
        let losses = Loss::of(stream).total();
        share.losses += losses;
        share.packets += packets(stream);
        share.streams += 1;
        share.streams_with_loss += u64::from(losses > 0);
    }
    share
}

/// What of a stream can be lost and found missing.
fn packets(stream: &Stream) -> u64 {
    stream.requester.packets + stream.responder.read_responses + stream.responder.atomic_acks
}

fn value(factor: &str, stream: &Stream) -> Option<String> {
    Some(match factor {
        "pair" => format!("{} -> {}", stream.src, stream.dst),
        "sender" => stream.src.to_string(),
        "receiver" => stream.dst.to_string(),
        "priority" => stream.pcp?.to_string(),
        "dscp" => stream.dscp.to_string(),
        // A port is a path between two hosts: the same number elsewhere is another path.
        _ if stream.udp_source_port == 0 => return None,
        _ => format!(
            "{} ({} -> {})",
            stream.udp_source_port, stream.src, stream.dst
        ),
    })
}
