//! Real runs where there is no Linux: none.

use super::{Cost, RealRun, Settings};
use crate::failure::Failure;
use crate::output::Output;
use crate::session::Session;

pub(crate) fn execute(session: &Session, _: &Settings, _: &Output) -> Result<RealRun, Failure> {
    Err(Failure::machine(
        format!("run {}", session.file.display()),
        "real runs need Linux with SCHED_FIFO",
    )
    .with_help("`vestal simulate` takes the same options and works here"))
}

pub(crate) fn primitives(_: &Output) -> Result<Vec<Cost>, Failure> {
    Err(Failure::machine(
        "measure the primitives",
        "real runs need Linux with SCHED_FIFO",
    ))
}
