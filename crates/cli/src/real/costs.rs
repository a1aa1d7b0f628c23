//! What it costs on this machine to carry policies out.

use super::Settings;
use super::cpus::executive;
use super::linux::blame;
use crate::failure::Failure;
use crate::session::Session;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use vestal_experiment::costs::name;
use vestal_linux::report::CpuReport;
use vestal_linux::{Ended, Summary};
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
    let ended = report.ended == Ended::Finished;
    Ok(report.cpus.first().filter(|_| ended).map(of_cpu))
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
