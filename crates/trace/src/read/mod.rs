//! Readers: `.vtrace` and `.csv`, which are complete, and text that ftrace's tools print.
//!
//! A file that is cut off, changed or of another kind gives a [`TraceError`] with its place; nothing
//! that a file contains makes a reader panic or allocate more than its limits.

mod csv;
pub mod ftrace;
mod vtrace;

use crate::error::TraceError;
use crate::header::Header;
use crate::record::Record;
use crate::write::Format;
use std::io::BufRead;

/// A complete trace: its header, and an iterator over its records.
///
/// The records are read as they are asked for, in constant memory. After an error there are no more.
#[derive(Debug)]
pub struct Trace<R> {
    header: Header,
    records: Records<R>,
}

#[derive(Debug)]
enum Records<R> {
    Vtrace(vtrace::Reader<R>),
    Csv(csv::Reader<R>),
    Over,
}

impl<R: BufRead> Trace<R> {
    /// Opens a `.vtrace` or `.csv` file, and reads its header. `None` for a format that is only
    /// written.
    ///
    /// # Errors
    /// [`TraceError`] if the file does not begin like one, or its header cannot be read.
    pub fn open(format: Format, input: R) -> Option<Result<Self, TraceError>> {
        match format {
            Format::Vtrace => Some(Self::vtrace(input)),
            Format::Csv => Some(Self::csv(input)),
            Format::Perfetto | Format::Svg | Format::Text | Format::Vcd | Format::Tex => None,
        }
    }

    /// Opens a `.vtrace` file.
    ///
    /// # Errors
    /// As [`Trace::open`].
    pub fn vtrace(input: R) -> Result<Self, TraceError> {
        let (header, reader) = vtrace::Reader::new(input)?;
        let records = Records::Vtrace(reader);
        Ok(Self { header, records })
    }

    /// Opens a `.csv` file.
    ///
    /// # Errors
    /// As [`Trace::open`].
    pub fn csv(input: R) -> Result<Self, TraceError> {
        let (header, reader) = csv::Reader::new(input)?;
        let records = Records::Csv(reader);
        Ok(Self { header, records })
    }

    /// Everything but the records.
    pub const fn header(&self) -> &Header {
        &self.header
    }
}

impl<R: BufRead> Iterator for Trace<R> {
    type Item = Result<Record, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = match &mut self.records {
            Records::Vtrace(reader) => reader.next_record(),
            Records::Csv(reader) => reader.next_record(),
            Records::Over => return None,
        };
        let item = next.transpose();
        if !matches!(item, Some(Ok(_))) {
            self.records = Records::Over;
        }
        item
    }
}
