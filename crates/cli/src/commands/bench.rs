//! `vestal bench`: what this machine's mechanisms cost, and what they do.

mod barriers;
mod costs;
mod overhead;
mod slack_trace;
mod sleeps;

pub(super) use costs::mechanisms;

use crate::args::BenchArgs;
use crate::failure::{Exit, Failure, Outcome};
use crate::interrupt;
use crate::output::Output;
use crate::quantity::short;
use crate::real;
use crate::table::Grid;
use vestal_result::Format;
use vestal_result::bench::{Mechanism, Primitive, Primitives};
use vestal_result::claim::Finding;

pub(crate) fn bench(args: &BenchArgs, output: &Output) -> Outcome {
    match args.what.as_str() {
        "primitives" => refuse_options(args)?,
        "overhead" => return overhead::overhead(args, output),
        "barriers" => {
            refuse_options(args)?;
            return barriers::barriers(output);
        }
        "sleeps" => {
            refuse_options(args)?;
            return sleeps::sleeps(output);
        }
        "zero-slack-trace" => {
            refuse_options(args)?;
            return slack_trace::slack_trace(output);
        }
        other => {
            let what = format!("measure `{other}`");
            let why = format!("there is no benchmark called `{other}`");
            return Err(Failure::input(what, why).with_help(
                "this version knows: vestal bench primitives, vestal bench barriers, vestal bench overhead, vestal bench sleeps, vestal bench zero-slack-trace",
            ));
        }
    }
    let primitives = real::primitives(false, output)?;
    let mechanisms = mechanisms(&primitives, (None, false), output)?;
    output.human(&table("primitive", &primitives, output));
    for mechanism in &mechanisms {
        output.human(&section(mechanism, output));
    }
    output.json(&Primitives {
        format: Format::V1,
        bench: "primitives".to_owned(),
        primitives,
        mechanisms,
    })?;
    Ok(Exit::holds(!interrupt::asked()))
}

fn table(what: &str, costs: &[Primitive], output: &Output) -> String {
    let grid = Grid::of(costs, output)
        .text(what, |cost| &cost.name)
        .number("count", |cost| cost.count)
        .number("mean", |cost| short(cost.mean_ns))
        .number("median", |cost| short(cost.median_ns))
        .number("p99", |cost| short(cost.p99_ns))
        .number("max", |cost| short(cost.max_ns));
    grid.render()
}

/// What became of claims, for people.
fn claims(findings: &[Finding]) -> String {
    let lines = findings.iter().map(|found| {
        let Finding {
            claim,
            verdict,
            numbers,
            ..
        } = found;
        format!("\n{verdict}: {claim}\n{numbers}\n")
    });
    lines.collect()
}

fn section(mechanism: &Mechanism, output: &Output) -> String {
    let Mechanism { name, what, .. } = mechanism;
    match &mechanism.not_run {
        Some(why) => format!("\n{name}: {what}: not run: {why}\n"),
        None => format!(
            "\n{name}: {what}\n{}",
            table("cost", &mechanism.costs, output)
        ),
    }
}

/// What is said of overheads says nothing of primitives.
fn refuse_options(args: &BenchArgs) -> Result<(), Failure> {
    let options = [
        ("--paper", args.paper.is_some()),
        ("--quick", args.quick),
        ("--repetitions", args.repetitions.is_some()),
        ("--cpus", args.cpus.is_some()),
        ("--device", args.device.is_some()),
        ("--paired", args.paired),
        ("--growth", args.growth),
        ("--alternatives", args.alternatives),
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
