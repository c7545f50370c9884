//! A buffer that is filled from its beginning.

/// Appends octets to a buffer of fixed size; `None` when it is full.
pub(crate) struct Writer<'b> {
    buffer: &'b mut [u8],
    len: usize,
}

impl<'b> Writer<'b> {
    pub(crate) const fn new(buffer: &'b mut [u8]) -> Self {
        Self { buffer, len: 0 }
    }

    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn written(&self) -> &[u8] {
        self.buffer.get(..self.len).unwrap_or_default()
    }

    /// The next `octets` octets, to be filled by the caller.
    pub(crate) fn take(&mut self, octets: usize) -> Option<&mut [u8]> {
        let end = self.len.checked_add(octets)?;
        let taken = self.buffer.get_mut(self.len..end)?;
        self.len = end;
        Some(taken)
    }

    pub(crate) fn put(&mut self, octets: &[u8]) -> Option<()> {
        self.take(octets.len())?.copy_from_slice(octets);
        Some(())
    }

    /// Overwrites octets from `at` on, which were written before.
    pub(crate) fn set(&mut self, at: usize, octets: &[u8]) -> Option<()> {
        self.buffer
            .get_mut(at..at.checked_add(octets.len())?)?
            .copy_from_slice(octets);
        Some(())
    }
}
