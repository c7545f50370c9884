//! The parts of the analysis, in this thread or shared out over workers.
//!
//! The state is cut into 64 parts by unordered address pair, however many threads there are, so the result does not
//! depend on their number. The reader locates packets; a batch of octets is shared, not copied. Where the workers lag
//! behind, the reader checks the ICRCs too.

use super::frames::Classified;
use crate::source::{Batch, Entry, FrameEntry};
use rocescope_core::encap::{Decoded, Located, Ports, locate};
use rocescope_core::partition::{Class, Icrc, PacketInput, Partition, check_icrc};
use rocescope_core::report::FrameRef;
use rocescope_core::settings::Settings;
use rocescope_core::{Address, Time, budget::Budget};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

/// Parts the state is cut into.
pub(super) const PARTS: usize = 64;
/// Batches that wait for a worker at most.
const QUEUE: usize = 2;

/// How many threads work on an analysis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Threads(usize);

impl Threads {
    pub(super) fn one() -> Self {
        Self(1)
    }

    /// As asked for, else the cores there are.
    pub(super) fn of(asked: Option<u16>) -> Self {
        let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self(asked.map_or_else(cores, usize::from).clamp(1, PARTS + 1))
    }
}

/// A packet on its way to a worker: where it is in its batch. The worker locates it again, which costs less than handing
/// over what was located (7 ns against 30 ns a packet, measured on 62-octet frames).
#[derive(Clone, Copy)]
struct Item {
    entry: u32,
    part: u8,
    icrc: Option<Icrc>,
}

/// What a worker is told.
enum Work {
    /// Packets of a batch.
    Packets(Arc<Batch>, Vec<Item>),
    /// The capture lost frames in this time.
    Lost(Time, Time),
    /// How many streams do your parts hold?
    Count,
    /// Keep this many streams a part.
    Trim(usize, Time),
}

/// A thread and what it owns.
struct Worker {
    work: SyncSender<Work>,
    counts: Receiver<Vec<usize>>,
    thread: JoinHandle<Vec<(usize, Partition)>>,
    items: Vec<Item>,
}

/// The parts.
pub(super) struct Shards {
    settings: Arc<Settings>,
    ports: Ports,
    budget: Budget,
    local: Vec<Partition>,
    workers: Vec<Worker>,
    waiting: Arc<AtomicUsize>,
    returned: Receiver<(Arc<Batch>, Vec<Item>)>,
    give_back: std::sync::mpsc::Sender<(Arc<Batch>, Vec<Item>)>,
    spare_batches: Vec<Batch>,
    spare_items: Vec<Vec<Item>>,
    check_here: bool,
    classify: bool,
    classified: Vec<Classified>,
    decided: Vec<(FrameRef, Class)>,
    last_at: Time,
}

impl Shards {
    pub(super) fn new(
        settings: &Arc<Settings>,
        ports: &Ports,
        threads: Threads,
        classify: bool,
    ) -> Self {
        let (give_back, returned) = channel();
        let waiting = Arc::new(AtomicUsize::new(0));
        let parts = || (0..PARTS).map(|_| Partition::new(settings.clone()));
        let mut shards = Self {
            settings: settings.clone(),
            ports: ports.clone(),
            budget: Budget::new(settings.max_streams),
            local: Vec::new(),
            workers: Vec::new(),
            waiting,
            returned,
            give_back,
            spare_batches: Vec::new(),
            spare_items: Vec::new(),
            check_here: false,
            classify,
            classified: Vec::new(),
            decided: Vec::new(),
            last_at: Time(0),
        };
        let count = threads.0 - 1;
        if count == 0 {
            shards.local = parts().collect();
            return shards;
        }
        let mut owned: Vec<Vec<(usize, Partition)>> = (0..count).map(|_| Vec::new()).collect();
        for (index, part) in parts().enumerate() {
            owned[index % count].push((index, part));
        }
        shards.workers = owned.into_iter().map(|parts| shards.spawn(parts)).collect();
        shards
    }

    fn spawn(&self, parts: Vec<(usize, Partition)>) -> Worker {
        let (work, tasks) = sync_channel(QUEUE);
        let (answer, counts) = channel();
        let (back, waiting) = (self.give_back.clone(), self.waiting.clone());
        let ports = self.ports.clone();
        let thread = std::thread::spawn(move || {
            let mut parts = parts;
            let mut place = [usize::MAX; PARTS];
            for (at, (index, _)) in parts.iter().enumerate() {
                place[*index] = at;
            }
            for task in tasks {
                match task {
                    Work::Packets(batch, mut items) => {
                        for item in items.drain(..) {
                            let place = place[usize::from(item.part)];
                            if let Some((_, part)) = parts.get_mut(place) {
                                show(&batch, item, &ports, part);
                            }
                        }
                        waiting.fetch_sub(1, Ordering::Relaxed);
                        // Nobody takes it back only where the reader is gone.
                        let _ = back.send((batch, items));
                    }
                    Work::Lost(from, until) => parts
                        .iter_mut()
                        .for_each(|(_, part)| part.lost(from, until)),
                    Work::Count => {
                        let _ = answer.send(parts.iter().map(|(_, part)| part.streams()).collect());
                    }
                    Work::Trim(quota, now) => {
                        parts.iter_mut().for_each(|(_, part)| part.trim(quota, now));
                    }
                }
            }
            parts
        });
        Worker {
            work,
            counts,
            thread,
            items: Vec::new(),
        }
    }

    /// A batch begins: whether the workers lag behind decides who checks its ICRCs.
    pub(super) fn begin(&mut self) {
        self.check_here = self.waiting.load(Ordering::Relaxed) > 0;
    }

    /// One packet.
    #[inline]
    pub(super) fn packet(
        &mut self,
        batch: &Arc<Batch>,
        located: &Located<'_>,
        entry: &FrameEntry,
        index: u32,
    ) {
        let part = part_of(located.src, located.dst);
        if entry.at > self.last_at {
            self.last_at = entry.at;
        }
        let workers = self.workers.len();
        if workers == 0 {
            let input = input(located, entry, None);
            let own = &mut self.local[part];
            let verdict = own.packet(&input);
            if self.classify {
                let reading = self.settings.read_0x40_as;
                let packet = Classified::new(&input, verdict, own.raised(), reading);
                self.classified.push(packet);
                self.decided.append(&mut own.take_decided());
            }
        } else {
            let icrc = self.check_here.then(|| check_icrc(&self.settings, located));
            let item = Item {
                entry: index,
                part: part as u8,
                icrc,
            };
            self.workers[part % workers].items.push(item);
        }
        if self.budget.packet() {
            self.enforce_budget(batch);
        }
    }

    /// The capture lost frames between `from` and `until`.
    pub(super) fn lost(&mut self, batch: &Arc<Batch>, from: Time, until: Time) {
        self.flush(batch);
        self.local
            .iter_mut()
            .for_each(|part| part.lost(from, until));
        self.tell(|| Work::Lost(from, until));
    }

    /// The batch is over.
    pub(super) fn end(&mut self, batch: Arc<Batch>) {
        self.flush(&batch);
        self.take_back(batch);
        while let Ok((batch, items)) = self.returned.try_recv() {
            self.spare_items.push(items);
            self.take_back(batch);
        }
    }

    fn take_back(&mut self, batch: Arc<Batch>) {
        if let Some(batch) = Arc::into_inner(batch) {
            self.spare_batches.push(batch);
        }
    }

    /// A batch to read into: one that was used before, where there is one.
    pub(super) fn spare_batch(&mut self) -> Batch {
        self.spare_batches.pop().unwrap_or_default()
    }

    /// Packets classified since the last call.
    pub(super) fn take_classified(&mut self) -> (Vec<Classified>, Vec<(FrameRef, Class)>) {
        (
            std::mem::take(&mut self.classified),
            std::mem::take(&mut self.decided),
        )
    }

    /// Sends what was collected to the workers.
    fn flush(&mut self, batch: &Arc<Batch>) {
        for worker in &mut self.workers {
            if worker.items.is_empty() {
                continue;
            }
            let spare = self.spare_items.pop().unwrap_or_default();
            let items = std::mem::replace(&mut worker.items, spare);
            self.waiting.fetch_add(1, Ordering::Relaxed);
            worker.send(Work::Packets(batch.clone(), items));
        }
    }

    fn tell(&self, work: impl Fn() -> Work) {
        for worker in &self.workers {
            worker.send(work());
        }
    }

    /// Asks the parts how many streams they hold, and lets them give up what is beyond the limit.
    fn enforce_budget(&mut self, batch: &Arc<Batch>) {
        self.flush(batch);
        let mut counts: Vec<usize> = self.local.iter().map(Partition::streams).collect();
        self.tell(|| Work::Count);
        for worker in &self.workers {
            counts.extend(worker.counts.recv().unwrap_or_default());
        }
        let Some(quota) = self.budget.settle(&counts) else {
            return;
        };
        let now = self.last_at;
        self.local.iter_mut().for_each(|part| part.trim(quota, now));
        self.tell(|| Work::Trim(quota, now));
    }

    /// All parts, in order.
    pub(super) fn finish(self) -> Vec<Partition> {
        let mut parts: Vec<(usize, Partition)> = self.local.into_iter().enumerate().collect();
        for worker in self.workers {
            drop(worker.work);
            match worker.thread.join() {
                Ok(own) => parts.extend(own),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        parts.sort_by_key(|(index, _)| *index);
        parts.into_iter().map(|(_, part)| part).collect()
    }
}

/// What the parts are shown of a packet.
#[inline]
fn input<'a>(located: &'a Located<'a>, entry: &FrameEntry, icrc: Option<Icrc>) -> PacketInput<'a> {
    PacketInput {
        located,
        at: entry.at,
        frame: FrameRef {
            source: entry.source,
            frame: entry.number,
        },
        port: u32::from(entry.source) << 16 | entry.interface & 0xffff,
        wire_len: entry.wire_len,
        icrc,
    }
}

/// Shows a packet of a batch to the part that owns it.
#[inline]
fn show(batch: &Batch, item: Item, ports: &Ports, part: &mut Partition) {
    let Some(Entry::Frame(entry)) = batch.entries.get(item.entry as usize) else {
        return;
    };
    let octets = batch.octets_of(entry);
    if let Decoded::Roce(located) = locate(entry.link, octets, entry.wire_len, ports).decoded {
        part.packet(&input(&located, entry, item.icrc));
    }
}

impl Worker {
    fn send(&self, work: Work) {
        // The worker is gone only after a panic, which `finish` passes on.
        let _ = self.work.send(work);
    }
}

/// The part that owns two hosts, in whatever order they stand.
#[inline]
fn part_of(src: Address, dst: Address) -> usize {
    let fold = |address: Address| match address {
        Address::V4(octets) => u64::from(u32::from_ne_bytes(octets)),
        Address::V6(octets) => {
            let wide = u128::from_ne_bytes(octets);
            (wide >> 64) as u64 ^ (wide as u64).rotate_left(29)
        }
        Address::Lid(lid) => u64::from(lid),
    };
    let (src, dst) = (fold(src), fold(dst));
    let mixed = src.wrapping_add(dst).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        ^ (src ^ dst).wrapping_mul(0xc2b2_ae3d_27d4_eb4f);
    (mixed >> 58) as usize
}
