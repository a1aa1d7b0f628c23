//! `vestal bench sleeps`: how long a thread really sleeps that asks for so much.

use super::claims;
use crate::failure::{Exit, Outcome};
use crate::output::Output;
use crate::quantity::short;
use crate::real;
use crate::table::Grid;
use vestal_result::bench::Sleeps;

pub(super) fn sleeps(output: &Output) -> Outcome {
    let sleeps = real::sleeps(output)?;
    output.human(&page(&sleeps, output));
    output.json(&sleeps)?;
    Ok(Exit::Holds)
}

fn page(found: &Sleeps, output: &Output) -> String {
    let grid = Grid::of(&found.sleeps, output)
        .text("clock_nanosleep of", |sleep| short(sleep.argument_ns))
        .number("count", |sleep| sleep.count)
        .number("mean", |sleep| short(sleep.mean_ns))
        .number("median", |sleep| short(sleep.median_ns))
        .number("98% from", |sleep| short(sleep.low_ns))
        .number("to", |sleep| short(sleep.high_ns));
    format!(
        "SCHED_FIFO without timer slack on CPU {}\n\n{}{}",
        found.cpu,
        grid.render(),
        claims(&found.claims)
    )
}
