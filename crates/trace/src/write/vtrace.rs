//! `.vtrace`: every record, in frames with lengths and checksums.
//!
//! ```text
//! file  = magic, header frame, records frame*, end frame
//! magic = "VTRACE1\n"
//! frame = tag: u8, length: u32, payload: length bytes, checksum: u32
//! 'H'     the header's text, UTF-8
//! 'R'     the number of the first record in the file: u64, then 1 to 1024 records of 40 bytes
//! 'E'     how many records the file has: u64
//! ```
//! Numbers are little-endian. The checksum is CRC-32 (IEEE 802.3) over tag, length and payload. The
//! numbers of records find frames that are missing, repeated or exchanged.

use super::TraceWriter;
use crate::header::Header;
use crate::record::Record;
use std::io::{self, Write};

pub(crate) const MAGIC: &[u8; 8] = b"VTRACE1\n";
pub(crate) const HEADER: u8 = b'H';
pub(crate) const RECORDS: u8 = b'R';
pub(crate) const END: u8 = b'E';

/// The most records of a frame.
pub(crate) const FRAME_RECORDS_MAX: usize = 1024;

/// The longest header's text that is written and read.
pub(crate) const HEADER_BYTES_MAX: usize = 16 << 20;

pub(crate) fn checksum(tag: u8, length: u32, payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&[tag]);
    hasher.update(&length.to_le_bytes());
    hasher.update(payload);
    hasher.finalize()
}

pub(super) struct Writer<W: Write> {
    out: W,
    /// The payload of the records frame being filled.
    frame: Vec<u8>,
    records: u64,
}

impl<W: Write> Writer<W> {
    pub(super) fn new(header: &Header, mut out: W) -> io::Result<Self> {
        let text = header.to_text();
        if text.len() > HEADER_BYTES_MAX {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "the header (task set and parameters) is longer than 16 MiB",
            ));
        }
        out.write_all(MAGIC)?;
        let mut writer = Self {
            out,
            frame: Vec::with_capacity(8 + FRAME_RECORDS_MAX * Record::BYTES),
            records: 0,
        };
        put(&mut writer.out, HEADER, text.as_bytes())?;
        Ok(writer)
    }

    fn flush_frame(&mut self) -> io::Result<()> {
        if !self.frame.is_empty() {
            put(&mut self.out, RECORDS, &self.frame)?;
            self.frame.clear();
        }
        Ok(())
    }
}

fn put(out: &mut impl Write, tag: u8, payload: &[u8]) -> io::Result<()> {
    let length = u32::try_from(payload.len()).map_err(io::Error::other)?;
    out.write_all(&[tag])?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(payload)?;
    out.write_all(&checksum(tag, length, payload).to_le_bytes())
}

impl<W: Write + Send> TraceWriter for Writer<W> {
    fn record(&mut self, record: &Record) -> io::Result<()> {
        if self.frame.is_empty() {
            self.frame.extend_from_slice(&self.records.to_le_bytes());
        }
        self.frame.extend_from_slice(&record.to_bytes());
        self.records = self.records.saturating_add(1);
        if self.frame.len() >= 8 + FRAME_RECORDS_MAX * Record::BYTES {
            self.flush_frame()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.flush_frame()?;
        self.out.flush()
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.flush_frame()?;
        let records = self.records.to_le_bytes();
        put(&mut self.out, END, &records)?;
        self.out.flush()
    }
}
