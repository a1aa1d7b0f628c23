//! Runs of which the parts are looked at: which share of the time each takes.

use super::cpus::{self, executive};
use super::linux::blame;
use super::{Settings, ShareRun, frames};
use crate::failure::Failure;
use crate::session::Session;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use vestal_experiment::overhead::sigrist2015::run::{Events, PerCpu};
use vestal_linux::report::Part;
use vestal_linux::{Ended, Report};

/// Whether a session can be run so: what `run` refuses before it starts a thread.
pub(crate) fn check(session: &Session, settings: &Settings) -> Result<(), Failure> {
    cpus::check_entries(session, settings)?;
    cpus::check_observed(session, settings)?;
    frames::check(session, settings)
}

/// Runs a session for its duration; `None`: a signal ended it.
pub(crate) fn shares(session: &Session, settings: &Settings) -> Result<Option<ShareRun>, Failure> {
    let refused = Arc::new(AtomicU64::new(0));
    let executive = executive(session, settings, &refused)?;
    let report = executive
        .run(session.duration)
        .map_err(|error| blame(format!("run under {}", session.system.policy), error))?;
    Ok((report.ended == Ended::Finished).then(|| of(&report)))
}

fn of(report: &Report) -> ShareRun {
    let cpus = &report.cpus;
    let of_part = |wanted: Part| {
        let each = cpus.iter().map(|cpu| {
            let mut parts = cpu.parts.parts.iter();
            let found = parts.find(|(part, _)| *part == wanted);
            found.map_or(0, |(_, times)| times.sum)
        });
        (wanted.name(), PerCpu::of(&each.collect::<Vec<_>>()))
    };
    let named = cpus.first().map(|cpu| cpu.parts.parts.as_slice());
    let parts = named.unwrap_or_default().iter();
    let schedulers: Vec<u64> = cpus
        .iter()
        .map(|cpu| cpu.parts.scheduler().as_nanos())
        .collect();
    let systems: Vec<u64> = cpus.iter().map(|cpu| cpu.parts.system.as_nanos()).collect();
    let modes = cpus
        .iter()
        .map(|cpu| cpu.modes.len() as u64 + cpu.modes_lost);
    let events = Events {
        released: report.jobs.released,
        completed: report.jobs.completed,
        mode_changes: modes.sum(),
        ..Events::default()
    };
    let frames = report.frames.as_ref().map(|frames| frames.counts);
    let late = frames.map_or(0, |counts| counts.overrun + counts.skipped);
    ShareRun {
        kept: report.jobs.missed == 0 && late == 0,
        span_ns: report.duration.as_nanos(),
        employed: u16::try_from(cpus.len()).unwrap_or(u16::MAX),
        parts: parts.map(|(part, _)| of_part(*part)).collect(),
        scheduler: PerCpu::of(&schedulers),
        system: PerCpu::of(&systems),
        events: match frames {
            Some(counts) => events.with_frames(counts.total, counts.skipped, counts.lowest_skipped),
            None => events,
        },
        lost_ns: {
            let lost = report.all_cpus().map(|cpu| cpu.machine.lost.as_nanos());
            lost.sum()
        },
    }
}
