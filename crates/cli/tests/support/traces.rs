//! Traces that the program wrote.

use serde_json::Value;
use std::fs;
use std::io::BufReader;
use std::path::Path;
use vestal_core::{DropReason, Drops};
use vestal_trace::record::words::drop_word;
use vestal_trace::{Counter, Counts, Format, Header, Record, Trace};

/// The header and the records of a complete trace.
pub(crate) fn read(path: &Path) -> (Header, Vec<Record>) {
    let input = BufReader::new(fs::File::open(path).unwrap());
    let format = Format::from_path(path).unwrap();
    let trace = Trace::open(format, input).unwrap().unwrap();
    (
        trace.header().clone(),
        trace.map(|record| record.unwrap()).collect(),
    )
}

/// What a trace says in sum.
pub(crate) fn counts(header: &Header, records: &[Record]) -> Counts {
    let mut counter = Counter::new(header);
    records.iter().for_each(|record| counter.see(record));
    counter.counts()
}

/// Dropped jobs by reason, which add up to their number.
pub(crate) fn drops(jobs: &Value) -> Drops {
    let mut drops = Drops::default();
    for why in DropReason::ALL {
        let count = &jobs["dropped_by"][drop_word(why)];
        drops.add(why, count.as_u64().unwrap());
    }
    assert_eq!(Some(drops.total()), jobs["dropped"].as_u64());
    drops
}

/// The figures of a result as a trace counts them.
pub(crate) fn figures(result: &Value) -> Counts {
    let number = |value: &Value| value.as_u64().unwrap();
    let jobs = &result["jobs"];
    let tasks = result["tasks"].as_array().unwrap();
    Counts {
        released: number(&jobs["released"]),
        completed: number(&jobs["completed"]),
        dropped: drops(jobs),
        missed: number(&jobs["missed"]),
        missed_guaranteed: number(&jobs["missed_guaranteed"]),
        overruns: tasks.iter().map(|task| number(&task["overruns"])).sum(),
        mode_changes: result["modes"].as_array().unwrap().len() as u64,
        ..Counts::default()
    }
}
