//! What one record costs the thread that makes it: the median, in nanoseconds.
//!
//! `cargo run --release -p vestal-trace --example record_cost`. A batch of records is timed as one,
//! so that reading the clock does not count; the consumer drains between batches, or runs beside on
//! another thread.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "an example that measures reads the clock and prints"
)]

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant as Clock;
use vestal_core::{CpuId, Fact, Instant, JobId, Service, TaskId};
use vestal_trace::ring::{Consumer, Producer, channel};
use vestal_trace::{Record, Sink};

const BATCH: u64 = 1000;
const BATCHES: usize = 2001;

fn record(number: u64) -> Record {
    let job = JobId {
        task: TaskId(3),
        sequence: number,
    };
    Record::fact(
        Instant::from_nanos(number),
        Fact::Charged {
            cpu: CpuId(0),
            job,
            amount: Service::from_nanos(number),
        },
    )
}

/// Nanoseconds for each record, times ten: sorted.
fn measure(mut batch: impl FnMut()) -> Vec<u64> {
    let mut costs = Vec::with_capacity(BATCHES);
    for _ in 0..BATCHES {
        let begin = Clock::now();
        batch();
        let spent = u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX);
        costs.push(spent * 10 / BATCH);
    }
    costs.sort_unstable();
    costs
}

fn fill(producer: &mut Producer<Record>) {
    for number in 0..BATCH {
        producer.put(black_box(record(number)));
    }
}

fn drain(consumer: &mut Consumer<Record>) {
    while let Some(record) = consumer.pop() {
        black_box(record);
    }
}

fn show(what: &str, costs: &[u64]) {
    let at = |share: usize| costs.get(costs.len() * share / 100).copied().unwrap_or(0);
    let tenths = |value: u64| format!("{}.{}", value / 10, value % 10);
    println!(
        "{what}: median {} ns, p99 {} ns a record",
        tenths(at(50)),
        tenths(at(99))
    );
}

fn main() {
    let (mut producer, mut consumer) = channel(4096);
    let costs = measure(|| {
        fill(&mut producer);
        // The drain of a batch counts too here: this is an upper bound.
        drain(&mut consumer);
    });
    show("into the ring and out again, one thread", &costs);

    let (mut producer, mut consumer) = channel(1 << 22);
    let costs = measure(|| fill(&mut producer));
    show("into a ring that is not drained meanwhile", &costs);
    drain(&mut consumer);

    let stop = AtomicBool::new(false);
    let (mut producer, mut consumer) = channel(1 << 16);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                drain(&mut consumer);
            }
        });
        let costs = measure(|| fill(&mut producer));
        show("while another thread drains", &costs);
        stop.store(true, Ordering::Relaxed);
    });
    println!(
        "{} of {} records were lost in the last measurement",
        producer.lost(),
        BATCHES as u64 * BATCH
    );
}
