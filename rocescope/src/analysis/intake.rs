//! The way in: every frame is located and counted; packets of the transport go to the part that owns their two hosts.

use super::shard::Shards;
use crate::source::{Batch, Entry, FrameEntry};
use rocescope_core::Time;
use rocescope_core::encap::{Decoded, MirrorSequences, Ports, Why, locate};
use rocescope_core::report::{Source, Totals};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Ports listed.
const MOST_PORTS: usize = 16;
/// Mirrors listed a source.
const MOST_MIRRORS: usize = 16;
const PAUSE: u16 = 0x0001;
const PFC: u16 = 0x0101;

/// Counts of everything that is not a packet of the transport, and the state of mirrors.
pub(super) struct Intake {
    ports: Ports,
    totals: Totals,
    udp: BTreeMap<u16, u64>,
    bth_like: BTreeMap<u16, u64>,
    mirrors: MirrorSequences,
    mirror_lost: BTreeMap<u16, i64>,
    mirror_sources: BTreeMap<u16, BTreeSet<String>>,
    last_mirrored: Time,
    last_at: Time,
}

impl Intake {
    /// Which UDP ports carry what.
    pub(super) fn ports(&self) -> &Ports {
        &self.ports
    }

    pub(super) fn new(ports: Ports) -> Self {
        Self {
            ports,
            totals: Totals::default(),
            udp: BTreeMap::new(),
            bth_like: BTreeMap::new(),
            mirrors: MirrorSequences::default(),
            mirror_lost: BTreeMap::new(),
            mirror_sources: BTreeMap::new(),
            last_mirrored: Time(0),
            last_at: Time(0),
        }
    }

    /// Time of the latest frame.
    pub(super) fn last_at(&self) -> Time {
        self.last_at
    }

    /// Takes in all entries of a batch.
    pub(super) fn batch(&mut self, batch: Batch, shards: &mut Shards) {
        let batch = Arc::new(batch);
        shards.begin();
        for (index, entry) in batch.entries.iter().enumerate() {
            match entry {
                Entry::Frame(frame) => self.frame(frame, index as u32, &batch, shards),
                Entry::Lost { from, until, .. } => shards.lost(&batch, *from, *until),
            }
        }
        shards.end(batch);
    }

    #[inline]
    fn frame(&mut self, entry: &FrameEntry, index: u32, batch: &Arc<Batch>, shards: &mut Shards) {
        self.totals.frames += 1;
        if entry.at > self.last_at {
            self.last_at = entry.at;
        }
        let octets = batch.octets_of(entry);
        let frame = locate(entry.link, octets, entry.wire_len, &self.ports);
        if let Some(mirror) = &frame.mirror {
            let lost = self.mirrors.on(mirror);
            *self.mirror_lost.entry(entry.source).or_default() += lost;
            if lost > 0 {
                shards.lost(batch, self.last_mirrored, entry.at);
            }
            self.last_mirrored = entry.at;
        }
        match frame.decoded {
            Decoded::Roce(located) => {
                if let Some(source) = located.tunnel_source {
                    let known = self.mirror_sources.entry(entry.source).or_default();
                    if known.len() < MOST_MIRRORS {
                        known.insert(source.to_string());
                    }
                }
                shards.packet(batch, &located, entry, index);
            }
            other => self.count(&other),
        }
    }

    fn count(&mut self, decoded: &Decoded<'_>) {
        let totals = &mut self.totals;
        match *decoded {
            Decoded::Roce(_) => {}
            Decoded::MacControl { opcode: PFC, .. } => totals.pfc += 1,
            Decoded::MacControl { opcode: PAUSE, .. } => totals.pause += 1,
            Decoded::MacControl { .. } | Decoded::Other => totals.other += 1,
            Decoded::Lldp { .. } => totals.lldp += 1,
            Decoded::Fragment { .. } => totals.fragments += 1,
            Decoded::Tcp { .. } => {
                totals.tcp += 1;
                totals.other += 1;
            }
            Decoded::Udp {
                port,
                looks_like_bth,
            } => {
                totals.other += 1;
                *self.udp.entry(port).or_default() += 1;
                if looks_like_bth {
                    *self.bth_like.entry(port).or_default() += 1;
                }
            }
            Decoded::UnknownLinkType => totals.unknown_link_type += 1,
            Decoded::Undecodable(
                Why::Cut
                | Why::Short
                | Why::IpHeader
                | Why::IpLength
                | Why::UdpLength
                | Why::TooDeep,
            ) => {
                totals.undecodable += 1;
            }
        }
    }

    /// Adds the counts to those of the parts, and what mirrors lost to their sources.
    pub(super) fn add_to(&self, totals: &mut Totals, sources: &mut [Source]) {
        let own = &self.totals;
        totals.frames += own.frames;
        totals.pfc += own.pfc;
        totals.pause += own.pause;
        totals.lldp += own.lldp;
        totals.other += own.other;
        totals.fragments += own.fragments;
        totals.tcp += own.tcp;
        totals.unknown_link_type += own.unknown_link_type;
        totals.undecodable += own.undecodable;
        totals.udp_ports = busiest(&self.udp);
        totals.bth_like_ports = busiest(&self.bth_like);
        for (index, source) in sources.iter_mut().enumerate() {
            let index = index as u16;
            let lost = self.mirror_lost.get(&index).copied().unwrap_or(0);
            source.lost_frames = source
                .lost_frames
                .saturating_add(u64::try_from(lost).unwrap_or(0));
            source.vantage.mirrors = self
                .mirror_sources
                .get(&index)
                .into_iter()
                .flatten()
                .cloned()
                .collect();
        }
    }
}

/// The 16 ports with most datagrams.
fn busiest(ports: &BTreeMap<u16, u64>) -> BTreeMap<u16, u64> {
    let mut all: Vec<(u16, u64)> = ports.iter().map(|(port, count)| (*port, *count)).collect();
    all.sort_by_key(|(port, count)| (std::cmp::Reverse(*count), *port));
    all.truncate(MOST_PORTS);
    all.into_iter().collect()
}
