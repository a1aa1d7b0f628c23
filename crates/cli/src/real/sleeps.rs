//! How long a thread of this machine really sleeps that asks for so much.

use super::linux::blame;
use super::overhead::machine;
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::ClockProgress;
use std::time::Duration;
use vestal_bench::sleeps::{arguments, measure};
use vestal_experiment::sleeps::smallest_takes_microseconds;
use vestal_result::Format;
use vestal_result::bench::{Sleep, Sleeps};

pub(crate) fn sleeps(output: &Output) -> Result<Sleeps, Failure> {
    let progress = ClockProgress::start(output, "sleeping", Duration::from_secs(15));
    let measured = measure(&arguments());
    drop(progress);
    let (cpu, sleeps) =
        measured.map_err(|error| blame("measure how long threads sleep".to_owned(), error))?;
    let sleeps: Vec<Sleep> = sleeps
        .iter()
        .map(|sleep| Sleep {
            argument_ns: sleep.argument,
            count: sleep.count,
            mean_ns: sleep.mean,
            median_ns: sleep.median,
            low_ns: sleep.low,
            high_ns: sleep.high,
        })
        .collect();
    Ok(Sleeps {
        format: Format::V1,
        bench: "sleeps".to_owned(),
        machine: machine(),
        cpu,
        claims: vec![smallest_takes_microseconds(&sleeps)],
        sleeps,
    })
}
