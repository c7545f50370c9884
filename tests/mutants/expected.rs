//! What a mutant must show, derived from its frames alone.

use crate::mutation::Mutant;
use crate::packet::{Key, Packet};
use rocescope_core::report::Report;
use rocescope_wire::{Psn, Transport};
use std::collections::BTreeMap;

/// The stream with the answers to each stream's requests.
pub(crate) fn partners(report: &Report) -> BTreeMap<Key, Key> {
    let key = |id: u64| {
        let stream = report
            .streams
            .iter()
            .find(|stream| stream.id == id)
            .expect("stream");
        (stream.src, stream.dst, stream.dest_qpn)
    };
    report
        .connections
        .iter()
        .flat_map(|connection| {
            let [one, other] = connection.streams.map(key);
            [(one, other), (other, one)]
        })
        .collect()
}

/// PSNs of missing requests that a later answer acknowledges, by stream. A capture that begins with a missing request
/// cannot be told from one that begins behind it.
pub(crate) fn acknowledged_unseen(
    packets: &[Option<Packet>],
    mutant: &Mutant,
    partners: &BTreeMap<Key, Key>,
) -> BTreeMap<Key, u64> {
    let mut gaps = BTreeMap::new();
    let begins = first_seen(packets, mutant);
    for (index, packet) in packets.iter().enumerate() {
        let Some(packet) = packet.filter(|packet| packet.is_followed() && mutant.lacks(index))
        else {
            continue;
        };
        let (Some(begin), Some(partner)) = (begins.get(&packet.key), partners.get(&packet.key))
        else {
            continue;
        };
        let through = packets
            .iter()
            .enumerate()
            .skip(index)
            .filter(|(index, _)| !mutant.lacks(*index))
            .filter_map(|(_, answer)| answer.filter(|answer| answer.key == *partner)?.through)
            .max_by_key(|through| through.since(packet.first));
        let Some(through) = through.filter(|_| packet.first.since(*begin) > 0) else {
            continue;
        };
        let last = if through.since(packet.last) < 0 {
            through
        } else {
            packet.last
        };
        let psns = last.since(packet.first) + 1;
        if psns > 0 {
            *gaps.entry(packet.key).or_default() += u64::from(psns.unsigned_abs());
        }
    }
    gaps
}

/// PSNs of missing UC packets between others, by stream.
pub(crate) fn unreliable_gaps(packets: &[Option<Packet>], mutant: &Mutant) -> BTreeMap<Key, u64> {
    let (mut gaps, mut last): (BTreeMap<Key, u64>, BTreeMap<Key, Psn>) = Default::default();
    for index in &mutant.origin {
        let uc =
            packets[*index].filter(|packet| packet.request && packet.transport == Transport::Uc);
        if let Some(packet) = uc {
            let before = last.insert(packet.key, packet.first);
            let step = before.map_or(1, |before| packet.first.since(before));
            if step > 1 {
                *gaps.entry(packet.key).or_default() += u64::from(step.unsigned_abs() - 1);
            }
        }
    }
    gaps
}

/// Pairs of requests of one stream that changed places, by stream.
pub(crate) fn changed_places(packets: &[Option<Packet>], mutant: &Mutant) -> BTreeMap<Key, u64> {
    let mut pairs = BTreeMap::new();
    for (first, second) in &mutant.swapped {
        if let (Some(one), Some(other)) = (packets[*first], packets[*second])
            && one.is_followed()
            && other.is_followed()
            && one.key == other.key
        {
            *pairs.entry(one.key).or_default() += 1;
        }
    }
    pairs
}

fn first_seen(packets: &[Option<Packet>], mutant: &Mutant) -> BTreeMap<Key, Psn> {
    let mut begins = BTreeMap::new();
    for index in &mutant.origin {
        if let Some(packet) = packets[*index].filter(Packet::is_followed) {
            begins.entry(packet.key).or_insert(packet.first);
        }
    }
    begins
}
