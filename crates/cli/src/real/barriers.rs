//! What it takes two CPUs of this machine to meet, by the barriers that frame tables have.

use super::costs::cost;
use super::linux::blame;
use super::machine;
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::ClockProgress;
use std::time::Duration;
use vestal_bench::barriers::{self, APART_NANOS, Meetings};
use vestal_experiment::barriers::spinning_takes_a_tenth;
use vestal_linux::measure::{Pair, clock_skew};
use vestal_linux::{Barrier, Clock, Processor};
use vestal_result::Format;
use vestal_result::bench::{BarrierMeetings, Barriers};

/// How often two CPUs meet at each barrier.
const ROUNDS: u32 = 1_000;

/// Names, barriers, and what is read while spinning.
const KINDS: [(&str, Barrier, Clock); 4] = [
    ("spin", Barrier::Spin, Clock::Monotonic),
    ("spin by tsc", Barrier::Spin, Clock::Tsc),
    ("futex", Barrier::Futex, Clock::Monotonic),
    ("pthread", Barrier::Pthread, Clock::Monotonic),
];

const WHAT: &str = "measure the barriers";

pub(crate) fn barriers(output: &Output) -> Result<Barriers, Failure> {
    let refused = |error| blame(WHAT.to_owned(), error);
    let cpus = barriers::cpus().map_err(refused)?.ok_or_else(alone)?;
    let mut kinds = KINDS.to_vec();
    kinds.retain(|(_, _, clock)| clock.is_there());
    let pairs = kinds.iter().map(|&(_, kind, clock)| Pair::new(kind, clock));
    let pairs = pairs.collect::<Result<Vec<Pair>, _>>();
    let pairs = pairs.map_err(|error| Failure::machine(WHAT, error.to_string()))?;
    let skew = clock_skew(cpus.map(Processor), 1);
    let progress = ClockProgress::start(output, "measuring", Duration::from_millis(500));
    let measured = barriers::measure(cpus, pairs, ROUNDS);
    drop(progress);
    let measured = measured.map_err(refused)?;
    let both = |wanted| -> &[u64] {
        let mut found = kinds.iter().zip(&measured);
        let found = found.find(|((_, kind, _), _)| *kind == wanted);
        found.map_or(&[], |(_, meetings)| &meetings.both)
    };
    let (spin, pthread) = (both(Barrier::Spin), both(Barrier::Pthread));
    Ok(Barriers {
        format: Format::V1,
        bench: "barriers".to_owned(),
        machine: super::overhead::machine(),
        cpus: cpus.to_vec(),
        clock_skew: skew.map(machine::clock_skew),
        within_ns: APART_NANOS,
        barriers: kinds
            .iter()
            .zip(&measured)
            .map(|(&(name, _, _), meetings)| of(name, meetings))
            .collect(),
        claims: vec![spinning_takes_a_tenth(spin, pthread, APART_NANOS)],
    })
}

/// This process may use one CPU.
fn alone() -> Failure {
    let why = "two CPUs meet at a barrier, and this process may use one";
    Failure::machine(WHAT, why).with_help("mend it with: taskset -c to allow more")
}

fn of(name: &str, meetings: &Meetings) -> BarrierMeetings {
    let costs = [
        ("who waited goes on", &meetings.passed),
        ("both go on", &meetings.both),
    ];
    BarrierMeetings {
        name: name.to_owned(),
        apart: meetings.apart,
        costs: costs
            .map(|(name, values)| cost(name, &Meetings::summary(values)))
            .to_vec(),
    }
}
