//! The streams of a partition: by key, and by when they were last seen.

use super::stream::{Stream, StreamKey};
use crate::Address;
use core::hash::{BuildHasher, Hasher};
use hashbrown::HashTable;

/// No stream.
const NONE: u32 = u32::MAX;

/// Streams by key; the least recently seen can leave.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) streams: Vec<Option<Box<Stream>>>,
    free: Vec<u32>,
    index: HashTable<u32>,
    hasher: foldhash::fast::FixedState,
    newest: u32,
    oldest: u32,
    count: usize,
}

impl Default for Table {
    fn default() -> Self {
        Self {
            streams: Vec::new(),
            free: Vec::new(),
            index: HashTable::new(),
            hasher: foldhash::fast::FixedState::default(),
            newest: NONE,
            oldest: NONE,
            count: 0,
        }
    }
}

impl Table {
    pub(crate) fn len(&self) -> usize {
        self.count
    }

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

    #[inline]
    pub(crate) fn find(&self, key: &StreamKey) -> Option<u32> {
        let hash = hash_of(&self.hasher, key);
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
        let (streams, hasher) = (&self.streams, &self.hasher);
        let rehash = |id: &u32| {
            streams[*id as usize]
                .as_deref()
                .map_or(0, |stream| hash_of(hasher, &stream.key))
        };
        self.index.insert_unique(hash_of(hasher, &key), id, rehash);
        self.count += 1;
        self.link_newest(id);
        id
    }

    /// The key is free for a new stream; this one stays, but no packet finds it.
    pub(crate) fn retire(&mut self, id: u32) {
        let Some(key) = self.get(id).map(|stream| stream.key) else {
            return;
        };
        let hash = hash_of(&self.hasher, &key);
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
        Some(stream)
    }

    pub(crate) fn oldest(&self) -> Option<u32> {
        (self.oldest != NONE).then_some(self.oldest)
    }

    /// The stream was seen just now.
    #[inline]
    pub(crate) fn touch(&mut self, id: u32) {
        if self.newest != id {
            self.unlink(id);
            self.link_newest(id);
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

/// A fixed hash, the same in every run.
#[inline]
fn hash_of(hasher: &foldhash::fast::FixedState, key: &StreamKey) -> u64 {
    let mut state = hasher.build_hasher();
    match (key.src, key.dst) {
        (Address::V4(src), Address::V4(dst)) => {
            state.write_u64(
                u64::from(u32::from_ne_bytes(src)) << 32 | u64::from(u32::from_ne_bytes(dst)),
            );
        }
        (src, dst) => {
            write_address(&mut state, src);
            write_address(&mut state, dst);
        }
    }
    state.write_u32(key.dest_qpn.get());
    state.finish()
}

fn write_address(state: &mut impl Hasher, address: Address) {
    match address {
        Address::V4(octets) => state.write_u32(u32::from_ne_bytes(octets)),
        Address::V6(octets) => state.write_u128(u128::from_ne_bytes(octets)),
        Address::Lid(lid) => state.write_u16(lid),
    }
}
