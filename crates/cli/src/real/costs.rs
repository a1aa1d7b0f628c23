//! What it costs on this machine to carry policies out.

use super::Settings;
use super::cpus::executive;
use super::linux::blame;
use crate::failure::Failure;
use crate::session::Session;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use vestal_experiment::costs::name;
use vestal_linux::report::{CpuReport, FrameCosts};
use vestal_linux::{Ended, Rights, Summary};
use vestal_result::bench::Primitive;

/// What there is to say of a cost.
pub(super) fn cost(name: &str, found: &Summary) -> Primitive {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a mean of numbers of 64 bits, and none of them negative"
    )]
    let mean_ns = found.mean.ceil() as u64;
    Primitive {
        name: name.to_owned(),
        count: found.count,
        mean_ns: mean_ns.min(found.max),
        median_ns: found.median,
        p99_ns: found.p99,
        max_ns: found.max,
    }
}

/// What a session's mechanism costs in a run, in which jobs overrun; `None`: a signal ended it.
pub(crate) fn costs(
    session: &Session,
    settings: &Settings,
) -> Result<Option<Vec<Primitive>>, Failure> {
    let refused = Arc::new(AtomicU64::new(0));
    let executive = executive(session, settings, &refused)?;
    let report = executive
        .run(session.duration)
        .map_err(|error| blame("measure what mechanisms cost".to_owned(), error))?;
    if report.ended != Ended::Finished {
        return Ok(None);
    }
    Ok(match &report.frames {
        Some(frames) => Some(of_frames(&report.cpus, &frames.costs)),
        None => report.cpus.first().map(of_cpu),
    })
}

/// Two CPUs of the machine that the process may use, `first` as the first of them; `None`: it may not use two.
pub(crate) fn two_processors(first: Option<usize>) -> Option<Vec<usize>> {
    let allowed = Rights::probe().processors;
    let all = allowed.into_iter().map(|processor| processor.0);
    // The first one is the most disturbed on most machines.
    let mut others = all.rev().filter(|&other| first != Some(other));
    let first = first.or_else(|| others.next())?;
    Some(vec![first, others.next()?])
}

/// The CPU that a run of one takes if it was told of none: the last that the process may use.
pub(crate) fn last_processor() -> Option<usize> {
    Rights::probe().processors.last().map(|last| last.0)
}

/// What walkers of all CPUs lose.
fn of_frames(cpus: &[CpuReport], lost: &FrameCosts) -> Vec<Primitive> {
    let of_jobs = [name::JOB_START, name::JOB_END].map(|wanted| {
        let overheads = cpus.iter().flat_map(|cpu| &cpu.overhead);
        let of_this = overheads.filter(|it| it.mechanism == wanted);
        let all = of_this.fold(Summary::default(), |all, each| all.and(&each.summary));
        (wanted, all)
    });
    let of_frames = [
        (name::FRAME, lost.frame),
        (name::SUB_FRAME, lost.sub_frame),
        (name::BARRIER, lost.barrier),
    ];
    let all = of_jobs.into_iter().chain(of_frames);
    let some = all.filter(|(_, found)| found.count > 0);
    some.map(|(name, found)| cost(name, &found)).collect()
}

/// Costs of which there is none are left out: they are missed where they are wanted.
fn of_cpu(cpu: &CpuReport) -> Vec<Primitive> {
    let overheads = cpu.overhead.iter();
    let own = overheads.filter(|it| it.summary.count > 0);
    let mut costs: Vec<Primitive> = own.map(|it| cost(it.mechanism, &it.summary)).collect();
    if let Some(calibration) = &cpu.enforcement.calibration {
        costs.push(cost(name::DETECTION, calibration));
    }
    let tolerance = cpu.enforcement.tolerance.as_nanos();
    costs.push(Primitive {
        name: name::TOLERANCE.to_owned(),
        count: 1,
        mean_ns: tolerance,
        median_ns: tolerance,
        p99_ns: tolerance,
        max_ns: tolerance,
    });
    costs
}
