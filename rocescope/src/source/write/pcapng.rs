//! Writing pcapng.

use super::super::Direction;
use super::super::unit::Unit;
use super::{ByteOrder, length};
use pcap_parser::{BOM_MAGIC, EPB_MAGIC, IDB_MAGIC, ISB_MAGIC, SHB_MAGIC, SPB_MAGIC};
use rocescope_core::Time;
use rocescope_core::encap::LinkType;
use rocescope_core::time::SECOND_NS;
use std::io::{self, Write};

/// What a pcapng file says of an interface.
#[derive(Clone, Copy, Debug, Default)]
pub struct InterfaceOptions<'a> {
    /// Its name.
    pub name: Option<&'a str>,
    /// Octets captured of a frame at most; 0 for no limit.
    pub snaplen: u32,
    /// Unit of its times: 10^-n s, or with the top bit set 2^-n s; microseconds where nothing is given.
    pub tsresol: Option<u8>,
    /// Seconds to add to its times.
    pub tsoffset: Option<i64>,
}

/// What a pcapng file says of a frame beside its octets.
#[derive(Clone, Copy, Debug, Default)]
pub struct PacketOptions<'a> {
    /// Comments, which Wireshark shows above the frame.
    pub comments: &'a [&'a str],
    /// Which way it went.
    pub direction: Direction,
    /// Frames lost between the one before on this interface and this one.
    pub lost: Option<u64>,
}

/// Writes a pcapng file.
#[derive(Debug)]
pub struct PcapngWriter<W> {
    out: W,
    order: ByteOrder,
    /// Unit and offset of the interfaces of this section.
    interfaces: Vec<(Unit, i64)>,
}

impl<W: Write> PcapngWriter<W> {
    /// Begins the file with its first section.
    ///
    /// # Errors
    /// Those of writing.
    pub fn new(out: W, order: ByteOrder) -> io::Result<Self> {
        let mut writer = Self {
            out,
            order,
            interfaces: Vec::new(),
        };
        writer.section(order)?;
        Ok(writer)
    }

    /// Begins a section; interfaces are numbered from 0 again.
    ///
    /// # Errors
    /// Those of writing.
    pub fn section(&mut self, order: ByteOrder) -> io::Result<()> {
        self.order = order;
        self.interfaces.clear();
        let version = [order.u16(1), order.u16(0)].concat();
        self.block(
            SHB_MAGIC,
            &[&order.u32(BOM_MAGIC), &version, &order.u64(u64::MAX)],
        )
    }

    /// Describes the next interface and gives its number in the section.
    ///
    /// # Errors
    /// Those of writing, and [`io::ErrorKind::InvalidInput`] for a unit of time that cannot be used.
    pub fn interface(&mut self, link: LinkType, options: &InterfaceOptions<'_>) -> io::Result<u32> {
        let unit = options
            .tsresol
            .map_or(Some(Unit::MICROSECOND), Unit::from_tsresol);
        let unit = unit.ok_or(io::ErrorKind::InvalidInput)?;
        let mut list = Vec::new();
        options
            .name
            .map(|name| self.option(&mut list, 2, name.as_bytes()))
            .transpose()?;
        options
            .tsresol
            .map(|octet| self.option(&mut list, 9, &[octet]))
            .transpose()?;
        let offset = options.tsoffset.unwrap_or(0);
        options
            .tsoffset
            .map(|_| self.option(&mut list, 14, &self.order.u64(offset.cast_unsigned())))
            .transpose()?;
        self.end_options(&mut list)?;
        let link = self
            .order
            .u16(u16::try_from(link.0).map_err(|_| io::ErrorKind::InvalidInput)?);
        self.block(
            IDB_MAGIC,
            &[&link, &[0; 2], &self.order.u32(options.snaplen), &list],
        )?;
        self.interfaces.push((unit, offset));
        Ok(self.interfaces.len() as u32 - 1)
    }

    /// Writes one frame of `wire_len` octets, of which `octets` were captured.
    ///
    /// # Errors
    /// Those of writing, and [`io::ErrorKind::InvalidInput`] for an interface that was not described.
    pub fn frame(
        &mut self,
        interface: u32,
        at: Time,
        wire_len: u32,
        octets: &[u8],
        options: &PacketOptions<'_>,
    ) -> io::Result<()> {
        let [high, low] = self.time(interface, at)?;
        let fixed = self
            .order
            .words([interface, high, low, length(octets)?, wire_len]);
        let mut list = Vec::new();
        for comment in options.comments {
            self.option(&mut list, 1, comment.as_bytes())?;
        }
        if options.direction != Direction::Unknown {
            let flags = if options.direction == Direction::Inbound {
                1
            } else {
                2
            };
            self.option(&mut list, 2, &self.order.u32(flags))?;
        }
        options
            .lost
            .map(|lost| self.option(&mut list, 4, &self.order.u64(lost)))
            .transpose()?;
        self.end_options(&mut list)?;
        self.block(EPB_MAGIC, &[&fixed, octets, padding(octets.len()), &list])
    }

    /// Writes one frame without a time, of the first interface of the section.
    ///
    /// # Errors
    /// Those of writing.
    pub fn simple_frame(&mut self, wire_len: u32, octets: &[u8]) -> io::Result<()> {
        self.block(
            SPB_MAGIC,
            &[&self.order.u32(wire_len), octets, padding(octets.len())],
        )
    }

    /// Writes the counters of an interface: frames it dropped since the beginning.
    ///
    /// # Errors
    /// Those of writing, and [`io::ErrorKind::InvalidInput`] for an interface that was not described.
    pub fn statistics(&mut self, interface: u32, at: Time, dropped: u64) -> io::Result<()> {
        let [high, low] = self.time(interface, at)?;
        let mut list = Vec::new();
        self.option(&mut list, 5, &self.order.u64(dropped))?;
        self.end_options(&mut list)?;
        self.block(
            ISB_MAGIC,
            &[&self.order.words([interface, high, low]), &list],
        )
    }

    /// Writes a block of any type; its body must be a multiple of 4 octets long.
    ///
    /// # Errors
    /// Those of writing, and [`io::ErrorKind::InvalidInput`] for a body of 2^32 octets.
    pub fn block(&mut self, kind: u32, body: &[&[u8]]) -> io::Result<()> {
        let octets: usize = body.iter().map(|part| part.len()).sum();
        let length = self
            .order
            .u32(u32::try_from(octets + 12).map_err(|_| io::ErrorKind::InvalidInput)?);
        self.out.write_all(&self.order.u32(kind))?;
        self.out.write_all(&length)?;
        body.iter().try_for_each(|part| self.out.write_all(part))?;
        self.out.write_all(&length)
    }

    /// Gives the output back.
    pub fn into_inner(self) -> W {
        self.out
    }

    fn time(&self, interface: u32, at: Time) -> io::Result<[u32; 2]> {
        let (unit, offset) = self
            .interfaces
            .get(interface as usize)
            .ok_or(io::ErrorKind::InvalidInput)?;
        let offset_ns = offset.saturating_mul(SECOND_NS as i64).saturating_neg();
        let count = unit.count(at.0.saturating_add_signed(offset_ns));
        Ok([(count >> 32) as u32, count as u32])
    }

    fn option(&self, list: &mut Vec<u8>, code: u16, value: &[u8]) -> io::Result<()> {
        let length = u16::try_from(value.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        list.extend([self.order.u16(code), self.order.u16(length)].concat());
        list.extend_from_slice(value);
        list.extend_from_slice(padding(value.len()));
        Ok(())
    }

    fn end_options(&self, list: &mut Vec<u8>) -> io::Result<()> {
        if list.is_empty() {
            Ok(())
        } else {
            self.option(list, 0, &[])
        }
    }
}

/// What makes `length` octets a multiple of 4.
fn padding(length: usize) -> &'static [u8] {
    const ZEROS: [u8; 3] = [0; 3];
    ZEROS.get(..length.wrapping_neg() % 4).unwrap_or(&[])
}
