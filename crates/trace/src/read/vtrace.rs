//! Reads `.vtrace`; the format is described in `write/vtrace.rs`.

use crate::error::{Problem, TraceError};
use crate::header::{Header, HeaderError};
use crate::record::Record;
use crate::write::vtrace::{
    END, FRAME_RECORDS_MAX, HEADER, HEADER_BYTES_MAX, MAGIC, RECORDS, checksum,
};
use std::io::{self, Read};

#[derive(Debug)]
pub(super) struct Reader<R> {
    input: R,
    /// How many bytes were read.
    at: u64,
    /// The payload of the present frame, and where it stands in the file.
    frame: Vec<u8>,
    frame_at: u64,
    /// Where the next record begins in the frame.
    next: usize,
    /// How many records were given out.
    records: u64,
    /// How many domains the header names; none if there is only one.
    domains: usize,
}

impl<R: Read> Reader<R> {
    pub(super) fn new(input: R) -> Result<(Header, Self), TraceError> {
        let mut reader = Self {
            input,
            at: 0,
            frame: Vec::new(),
            frame_at: 0,
            next: 0,
            records: 0,
            domains: 0,
        };
        let foreign = || {
            let expected = "the bytes `VTRACE1\\n`";
            TraceError::at_byte(0, Problem::Foreign { expected })
        };
        let mut magic = [0; MAGIC.len()];
        if reader.fill(&mut magic)? != magic.len() || magic != *MAGIC {
            return Err(foreign());
        }
        let tag = reader.read_frame()?;
        if tag != HEADER {
            return Err(reader.unexpected(tag, "the header's frame"));
        }
        let text = std::str::from_utf8(&reader.frame).map_err(|_| {
            let what = "the header is not UTF-8".to_owned();
            let error = HeaderError { line: 0, what };
            TraceError::at_byte(reader.frame_at, Problem::Header(error))
        })?;
        let header = Header::from_text(text)
            .map_err(|error| TraceError::at_byte(reader.frame_at, Problem::Header(error)))?;
        reader.next = reader.frame.len();
        reader.domains = header.domains.len();
        Ok((header, reader))
    }

    pub(super) fn next_record(&mut self) -> Result<Option<Record>, TraceError> {
        if self.next >= self.frame.len() && !self.next_frame()? {
            return Ok(None);
        }
        let place = self.frame_at.saturating_add(self.next as u64);
        let chunk = self
            .frame
            .get(self.next..)
            .and_then(|rest| rest.first_chunk::<{ Record::BYTES }>());
        let Some(bytes) = chunk else {
            return Err(self.bad_length(self.frame.len()));
        };
        let record = Record::from_bytes(bytes)
            .map_err(|error| TraceError::at_byte(place, Problem::Record(error)))?;
        if let Some(error) = record.of_no_domain(self.domains) {
            return Err(TraceError::at_byte(place, Problem::Record(error)));
        }
        self.next = self.next.saturating_add(Record::BYTES);
        self.records = self.records.saturating_add(1);
        Ok(Some(record))
    }

    /// Turns to the next frame; false at the end of the trace.
    fn next_frame(&mut self) -> Result<bool, TraceError> {
        let tag = self.read_frame()?;
        if tag != RECORDS && tag != END {
            return Err(self.unexpected(tag, "records or the end"));
        }
        let Some(number) = self.frame.first_chunk::<8>() else {
            return Err(self.bad_length(self.frame.len()));
        };
        let number = u64::from_le_bytes(*number);
        if number != self.records {
            return Err(TraceError::at_byte(
                self.frame_at,
                Problem::Frame {
                    found: format!("a frame for record {number} after {} records", self.records),
                    expected: "every frame in its place",
                },
            ));
        }
        let rest = self.frame.len().saturating_sub(8);
        if tag == END {
            if rest != 0 {
                return Err(self.bad_length(self.frame.len()));
            }
            if self.fill(&mut [0])? != 0 {
                return Err(TraceError::at_byte(self.at, Problem::AfterEnd));
            }
            return Ok(false);
        }
        if rest == 0 || !rest.is_multiple_of(Record::BYTES) {
            return Err(self.bad_length(self.frame.len()));
        }
        self.next = 8;
        Ok(true)
    }

    /// Reads a frame into `self.frame` and checks it; its tag.
    fn read_frame(&mut self) -> Result<u8, TraceError> {
        let mut head = [0; 5];
        let begin = self.at;
        self.exactly(&mut head, "a frame")?;
        let [tag, l0, l1, l2, l3] = head;
        let length = u32::from_le_bytes([l0, l1, l2, l3]);
        let most = match tag {
            HEADER => HEADER_BYTES_MAX,
            RECORDS => 8 + FRAME_RECORDS_MAX * Record::BYTES,
            END => 8,
            _ => {
                self.frame_at = begin;
                return Err(self.unexpected(tag, "a frame of this format"));
            }
        };
        let wanted = usize::try_from(length).unwrap_or(usize::MAX);
        self.frame_at = begin;
        if wanted > most {
            return Err(self.bad_length(wanted));
        }
        self.frame_at = self.at;
        self.frame.clear();
        // Grows with what is there, so a wrong length costs no memory.
        let read = (&mut self.input)
            .take(u64::from(length))
            .read_to_end(&mut self.frame)
            .map_err(|error| TraceError::at_byte(self.at, Problem::Io(error)))?;
        self.at = self.at.saturating_add(read as u64);
        if read != wanted {
            let expected = "the rest of a frame";
            return Err(TraceError::at_byte(
                self.at,
                Problem::Truncated { expected },
            ));
        }
        let mut sum = [0; 4];
        self.exactly(&mut sum, "the checksum of a frame")?;
        let found = u32::from_le_bytes(sum);
        let computed = checksum(tag, length, &self.frame);
        if found != computed {
            return Err(TraceError::at_byte(
                begin,
                Problem::Checksum { found, computed },
            ));
        }
        Ok(tag)
    }

    fn exactly(&mut self, bytes: &mut [u8], expected: &'static str) -> Result<(), TraceError> {
        if self.fill(bytes)? == bytes.len() {
            return Ok(());
        }
        Err(TraceError::at_byte(
            self.at,
            Problem::Truncated { expected },
        ))
    }

    /// Reads as much of `bytes` as there is.
    fn fill(&mut self, bytes: &mut [u8]) -> Result<usize, TraceError> {
        let mut filled = 0;
        while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match self.input.read(rest) {
                Ok(0) => break,
                Ok(read) => filled = filled.saturating_add(read),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(TraceError::at_byte(self.at, Problem::Io(error))),
            }
        }
        self.at = self.at.saturating_add(filled as u64);
        Ok(filled)
    }

    fn unexpected(&self, tag: u8, expected: &'static str) -> TraceError {
        let found = format!("a frame `{}`", std::ascii::escape_default(tag));
        TraceError::at_byte(self.frame_at, Problem::Frame { found, expected })
    }

    fn bad_length(&self, length: usize) -> TraceError {
        let found = format!("a frame of {length} bytes");
        let expected = "whole records, and no more than fit in a frame";
        TraceError::at_byte(self.frame_at, Problem::Frame { found, expected })
    }
}
