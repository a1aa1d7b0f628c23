//! Real runs where there is no Linux: none.

use super::{RealRun, Settings, ShareRun, ShortRun, Wish};
use crate::failure::Failure;
use crate::output::Output;
use crate::session::Session;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use vestal_experiment::overhead::missimer::run::{Place, Run, System};
use vestal_result::bench::{Barriers, Preemptions, Primitive, Sleeps, ZeroSlackTrace};
use vestal_result::doctor::Examination;

pub(crate) fn execute(
    session: &Session,
    _: &Settings,
    _: &[PathBuf],
    _: &Output,
) -> Result<RealRun, Failure> {
    Err(Failure::machine(
        format!("run {}", session.file.display()),
        "real runs need Linux with SCHED_FIFO",
    )
    .with_help("`vestal simulate` takes the same options and works here"))
}

pub(crate) fn primitives(_: bool, _: &Output) -> Result<Vec<Primitive>, Failure> {
    Err(Failure::machine(
        "measure the primitives",
        "real runs need Linux with SCHED_FIFO",
    ))
}

pub(crate) fn barriers(_: &Output) -> Result<Barriers, Failure> {
    Err(Failure::machine(
        "measure the barriers",
        "real runs need Linux with SCHED_FIFO",
    ))
}

pub(crate) fn sleeps(_: &Output) -> Result<Sleeps, Failure> {
    Err(Failure::machine(
        "measure how long threads sleep",
        "real runs need Linux with SCHED_FIFO",
    ))
}

/// Of primitives that are not measured here.
pub(crate) const SWITCH: &str = "switch";
pub(crate) const RELEASE: &str = "release";

pub(crate) fn costs(_: &Session, _: &Settings) -> Result<Option<Vec<Primitive>>, Failure> {
    Err(Failure::machine(
        "measure what mechanisms cost",
        "real runs need Linux with SCHED_FIFO",
    ))
}

pub(crate) fn two_processors(_: Option<usize>) -> Option<Vec<usize>> {
    None
}

pub(crate) fn last_processor() -> Option<usize> {
    None
}

pub(crate) fn slack_trace(_: &Output) -> Result<ZeroSlackTrace, Failure> {
    Err(Failure::machine(
        "trace zero slack",
        "real runs need Linux with SCHED_FIFO",
    ))
}

pub(crate) fn examine(_: &Wish, _: &Output) -> Result<Examination, Failure> {
    Err(Failure::machine(
        "examine this machine",
        "real runs need Linux with SCHED_FIFO",
    ))
}

pub(crate) fn measure(_: &Session, _: &Settings) -> Result<ShortRun, Failure> {
    Err(Failure::machine(
        "measure overheads",
        "real runs need Linux with SCHED_FIFO",
    ))
}

pub(crate) fn check(_: &Session, _: &Settings) -> Result<(), Failure> {
    Ok(())
}

pub(crate) fn shares(_: &Session, _: &Settings) -> Result<Option<ShareRun>, Failure> {
    Err(Failure::machine(
        "measure overheads",
        "real runs need Linux with SCHED_FIFO",
    ))
}

pub(crate) fn cameras(
    _: &Session,
    _: &Settings,
    _: (Place, System, u32),
) -> Result<Option<Run>, Failure> {
    Err(Failure::machine(
        "measure overheads",
        "real runs need Linux with SCHED_FIFO",
    ))
}

pub(crate) fn preemptions(
    _: &[usize],
    _: (u32, u32),
    _: Option<usize>,
    _: &AtomicBool,
) -> Result<Vec<Preemptions>, Failure> {
    Ok(Vec::new())
}

pub(crate) fn machine() -> String {
    "a machine without Linux".to_owned()
}
