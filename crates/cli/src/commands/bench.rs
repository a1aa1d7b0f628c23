//! `vestal bench`: what this machine's mechanisms cost, and what they do.

mod overhead;
mod slack_trace;

use crate::args::BenchArgs;
use crate::failure::{Exit, Failure, Outcome};
use crate::output::Output;
use crate::quantity::short;
use crate::real;
use crate::table::Grid;
use vestal_result::Format;
use vestal_result::bench::Primitives;

pub(crate) fn bench(args: &BenchArgs, output: &Output) -> Outcome {
    match args.what.as_str() {
        "primitives" => refuse_options(args)?,
        "overhead" => return overhead::overhead(args, output),
        "zero-slack-trace" => {
            refuse_options(args)?;
            return slack_trace::slack_trace(output);
        }
        other => {
            let what = format!("measure `{other}`");
            let why = format!("there is no benchmark called `{other}`");
            return Err(Failure::input(what, why).with_help(
                "this version knows: vestal bench primitives, vestal bench overhead, vestal bench zero-slack-trace",
            ));
        }
    }
    let primitives = real::primitives(output)?;
    let grid = Grid::of(&primitives, output)
        .text("mechanism", |cost| &cost.name)
        .number("count", |cost| cost.count)
        .number("median", |cost| short(cost.median_ns))
        .number("p99", |cost| short(cost.p99_ns))
        .number("max", |cost| short(cost.max_ns));
    output.human(&grid.render());
    output.json(&Primitives {
        format: Format::V1,
        bench: "primitives".to_owned(),
        primitives,
    })?;
    Ok(Exit::Holds)
}

/// What is said of overheads says nothing of primitives.
fn refuse_options(args: &BenchArgs) -> Result<(), Failure> {
    let options = [
        ("--paper", args.paper.is_some()),
        ("--quick", args.quick),
        ("--repetitions", args.repetitions.is_some()),
        ("--cpus", args.cpus.is_some()),
        ("-o", args.directory.is_some()),
    ];
    match options.iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((option, _)) => Err(Failure::input(
            format!("measure `{}`", args.what),
            format!("{option} is an option of `vestal bench overhead`"),
        )
        .with_help("leave it out")),
    }
}
