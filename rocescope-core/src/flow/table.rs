//! The streams of a partition: by key, and by when they were last seen.

use super::stream::{Stream, StreamKey};
use crate::Address;
use hashbrown::HashTable;
use std::collections::HashMap;

/// Packets within which the order of streams by their latest packet is not kept: moving a stream costs more than counting it.
const TOUCHES_AN_EPOCH: u32 = 1_024;

/// No stream.
const NONE: u32 = u32::MAX;

/// Streams by key; the least recently seen can leave.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) streams: Vec<Option<Box<Stream>>>,
    free: Vec<u32>,
    index: HashTable<u32>,
    /// Streams from one host to another.
    between: HashMap<(Address, Address), u32, foldhash::fast::FixedState>,
    newest: u32,
    oldest: u32,
    count: usize,
    touches: u32,
}

impl Default for Table {
    fn default() -> Self {
        Self {
            streams: Vec::new(),
            free: Vec::new(),
            index: HashTable::new(),
            between: HashMap::default(),
            newest: NONE,
            oldest: NONE,
            count: 0,
            touches: 0,
        }
    }
}

impl Table {
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    #[inline]
    pub(crate) fn get(&self, id: u32) -> Option<&Stream> {
        self.streams.get(id as usize)?.as_deref()
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: u32) -> Option<&mut Stream> {
        self.streams.get_mut(id as usize)?.as_deref_mut()
    }

    /// Two different streams.
    pub(crate) fn pair_mut(&mut self, a: u32, b: u32) -> Option<(&mut Stream, &mut Stream)> {
        let [a, b] = self
            .streams
            .get_disjoint_mut([a as usize, b as usize])
            .ok()?;
        Some((a.as_deref_mut()?, b.as_deref_mut()?))
    }

    /// Whether any stream leads from `src` to `dst`.
    pub(crate) fn any_between(&self, src: Address, dst: Address) -> bool {
        self.between.contains_key(&(src, dst))
    }

    #[inline(always)]
    pub(crate) fn find(&self, key: &StreamKey) -> Option<u32> {
        let hash = hash_of(key);
        let found = self.index.find(hash, |id| {
            self.get(*id).is_some_and(|stream| stream.key == *key)
        });
        found.copied()
    }

    pub(crate) fn insert(&mut self, stream: Box<Stream>) -> u32 {
        let key = stream.key;
        let id = match self.free.pop() {
            Some(id) => {
                self.streams[id as usize] = Some(stream);
                id
            }
            None => {
                self.streams.push(Some(stream));
                (self.streams.len() - 1) as u32
            }
        };
        let streams = &self.streams;
        let rehash = |id: &u32| {
            streams[*id as usize]
                .as_deref()
                .map_or(0, |stream| hash_of(&stream.key))
        };
        self.index.insert_unique(hash_of(&key), id, rehash);
        self.count += 1;
        *self.between.entry((key.src, key.dst)).or_default() += 1;
        self.link_newest(id);
        id
    }

    /// The key is free for a new stream; this one stays, but no packet finds it.
    pub(crate) fn retire(&mut self, id: u32) {
        let Some(key) = self.get(id).map(|stream| stream.key) else {
            return;
        };
        let hash = hash_of(&key);
        if let Ok(entry) = self.index.find_entry(hash, |own| *own == id) {
            entry.remove();
        }
        if let Some(stream) = self.get_mut(id) {
            stream.retired = true;
        }
    }

    pub(crate) fn remove(&mut self, id: u32) -> Option<Box<Stream>> {
        self.retire(id);
        self.unlink(id);
        let stream = self.streams.get_mut(id as usize)?.take()?;
        self.free.push(id);
        self.count -= 1;
        let hosts = (stream.key.src, stream.key.dst);
        if let Some(streams) = self.between.get_mut(&hosts) {
            *streams -= 1;
            if *streams == 0 {
                self.between.remove(&hosts);
            }
        }
        Some(stream)
    }

    pub(crate) fn oldest(&self) -> Option<u32> {
        (self.oldest != NONE).then_some(self.oldest)
    }

    /// The stream was seen just now.
    #[inline]
    pub(crate) fn touch(&mut self, id: u32) {
        self.touches = self.touches.wrapping_add(1);
        let epoch = self.touches / TOUCHES_AN_EPOCH;
        if self.get(id).is_none_or(|stream| stream.epoch != epoch) {
            self.move_to_front(id, epoch);
        }
    }

    fn move_to_front(&mut self, id: u32, epoch: u32) {
        self.unlink(id);
        self.link_newest(id);
        if let Some(stream) = self.get_mut(id) {
            stream.epoch = epoch;
        }
    }

    fn link_newest(&mut self, id: u32) {
        let newest = self.newest;
        if let Some(stream) = self.get_mut(id) {
            (stream.previous, stream.next) = (newest, NONE);
        }
        match self.get_mut(newest) {
            Some(before) => before.next = id,
            None => self.oldest = id,
        }
        self.newest = id;
    }

    fn unlink(&mut self, id: u32) {
        let Some((previous, next)) = self.get(id).map(|stream| (stream.previous, stream.next))
        else {
            return;
        };
        match self.get_mut(previous) {
            Some(before) => before.next = next,
            None => self.oldest = next,
        }
        match self.get_mut(next) {
            Some(after) => after.previous = previous,
            None => self.newest = previous,
        }
    }
}

/// A fixed hash, the same in every run: two multiplications folded, as wyhash does it. foldhash through `Hasher` took
/// 12 ns for an IPv4 key here, this takes 2.
#[inline(always)]
fn hash_of(key: &StreamKey) -> u64 {
    let word = |address: Address| match address {
        Address::V4(octets) => u64::from(u32::from_ne_bytes(octets)),
        Address::V6(octets) => {
            let wide = u128::from_ne_bytes(octets);
            fold(
                (wide >> 64) as u64 ^ 0xa076_1d64_78bd_642f,
                wide as u64 ^ 0xe703_7ed1_a0b4_28db,
            )
        }
        Address::Lid(lid) => u64::from(lid),
    };
    let hosts = word(key.src) ^ word(key.dst).rotate_left(32);
    fold(
        hosts ^ 0x8ebc_6af0_9c88_c6e3,
        u64::from(key.dest_qpn.get()) ^ 0x5899_65cc_7537_4cc3,
    )
}

#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let wide = u128::from(a) * u128::from(b);
    (wide >> 64) as u64 ^ wide as u64
}
