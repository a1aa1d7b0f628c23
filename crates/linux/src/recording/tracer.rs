//! The side of a thread that records.

use crate::words::Flag;
use std::sync::Arc;
use vestal_core::engine::uniprocessor::CPU;
use vestal_core::{Fact, Instant};
use vestal_trace::ring::Producer;
use vestal_trace::{Edge, Mechanism, Record, Sink, What};

/// Writes records to the ring of one thread; or nothing, if the run is not recorded.
#[derive(Debug, Default)]
pub(crate) struct Tracer(Option<Side>);

#[derive(Debug)]
enum Side {
    Ring {
        producer: Producer<Record>,
        flag: Arc<Flag>,
    },
    /// Of whoever writes when the threads of the run are gone.
    List(Vec<Record>),
}

impl Tracer {
    /// Records nothing.
    pub(crate) const fn off() -> Self {
        Self(None)
    }

    pub(super) const fn new(producer: Producer<Record>, flag: Arc<Flag>) -> Self {
        Self(Some(Side::Ring { producer, flag }))
    }

    /// Keeps its records until [`Self::into_records`].
    pub(crate) const fn list() -> Self {
        Self(Some(Side::List(Vec::new())))
    }

    /// The records of a [`Self::list`].
    pub(crate) fn into_records(self) -> Vec<Record> {
        match self.0 {
            Some(Side::List(records)) => records,
            Some(Side::Ring { .. }) | None => Vec::new(),
        }
    }

    /// Begins a group of records: to be called before the clock is read for the first of them.
    #[inline]
    pub(crate) fn open(&self) {
        if let Some(Side::Ring { flag, .. }) = &self.0 {
            flag.raise();
        }
    }

    /// The group is written.
    #[inline]
    pub(crate) fn close(&self) {
        if let Some(Side::Ring { flag, .. }) = &self.0 {
            flag.lower();
        }
    }

    /// Writes one record of an open group.
    #[inline]
    pub(crate) fn record(&mut self, at: Instant, what: What) {
        match &mut self.0 {
            Some(Side::Ring { producer, .. }) => {
                producer.push(Record { at, what });
            }
            Some(Side::List(records)) => records.push(Record { at, what }),
            None => {}
        }
    }

    /// Writes what a worker saw and was not reported to the scheduler.
    pub(crate) fn observed(&mut self, at: Instant, fact: Fact) {
        self.record(at, What::Observed(fact));
    }

    /// A mechanism begins or ends.
    pub(crate) fn overhead(&mut self, at: Instant, mechanism: Mechanism, edge: Edge) {
        let cpu = CPU;
        self.record(
            at,
            What::Overhead {
                cpu,
                mechanism,
                edge,
            },
        );
    }
}

impl Sink for Tracer {
    fn put(&mut self, record: Record) {
        self.record(record.at, record.what);
    }

    fn is_open(&self) -> bool {
        self.0.is_some()
    }
}
