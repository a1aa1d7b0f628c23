//! Reads a complete trace and writes it in other formats: `draw IN OUT...`, by extension.
#![expect(clippy::print_stderr, reason = "an example speaks for itself")]

use std::error::Error;
use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::PathBuf;
use vestal_trace::write::{Options, WriterSink};
use vestal_trace::{Format, Sink, Trace, writer};

fn main() -> Result<(), Box<dyn Error>> {
    let mut paths = std::env::args_os().skip(1).map(PathBuf::from);
    let Some(input) = paths.next() else {
        eprintln!("usage: draw IN.vtrace|IN.csv OUT...");
        return Ok(());
    };
    let file = BufReader::new(File::open(&input)?);
    let trace = Trace::open(Format::from_path(&input)?, file)
        .ok_or("this format is written, not read: give a .vtrace or a .csv")??;
    let mut sink = WriterSink::new();
    for path in paths {
        let format = Format::from_path(&path)?;
        let out = BufWriter::new(File::create(&path)?);
        sink.add(writer(format, trace.header(), Options::default(), out)?);
    }
    for record in trace {
        sink.put(record?);
    }
    for written in sink.finish() {
        written?;
    }
    Ok(())
}
