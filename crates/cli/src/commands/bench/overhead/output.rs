//! What `bench overhead` prints and writes.

use super::Experiment;
use crate::args::BenchArgs;
use crate::failure::Failure;
use crate::input::shown;
use crate::output::{Output, Style};
use crate::quantity::short;
use crate::table::{Grid, styled};
use crate::whole;
use std::fs;
use std::path::Path;
use vestal_experiment::columns::{self, csv};
use vestal_experiment::overhead::page;
use vestal_experiment::overhead::{Finding, Measurement, Verdict, figures, tables};
use vestal_result::Format;
use vestal_result::bench::{Drawn, Mechanism, Overhead, Variant};

/// Every busy period.
const MEASURED: &str = "measured.json";
/// Runs of which the shares are looked at.
pub(super) const RUNS: &str = "runs.jsonl";

/// Makes the directory, before anything is measured for it.
pub(super) fn reserve(directory: &Path) -> Result<(), Failure> {
    fs::create_dir_all(directory).map_err(|error| refused(directory, &error))
}

/// The file that only an experiment of this kind writes.
const fn mark(experiment: Experiment) -> &'static str {
    match experiment {
        Experiment::BusyPeriods(_) => MEASURED,
        Experiment::Shares | Experiment::Cameras => RUNS,
    }
}

/// Refuses a directory of an experiment of another kind, before its files are overwritten.
pub(super) fn check_no_other(experiment: Experiment, directory: &Path) -> Result<(), Failure> {
    let own = mark(experiment);
    let others = [MEASURED, RUNS].into_iter().filter(|&file| file != own);
    let mut found = others.map(|file| directory.join(file));
    let Some(other) = found.find(|path| path.exists()) else {
        return Ok(());
    };
    let why = format!("{} is of another experiment", shown(&other));
    let what = format!("write into {}", shown(directory));
    Err(Failure::input(what, why).with_help("name another directory with -o DIR"))
}

fn refused(path: &Path, error: &std::io::Error) -> Failure {
    Failure::input(format!("write {}", path.display()), error.to_string())
        .with_help("name a directory that can be written with -o DIR")
}

/// Prints everything, and writes it into the directory if there is one.
pub(super) fn show(
    (measured, mechanisms): (&Measurement, Vec<Mechanism>),
    interrupted: bool,
    args: &BenchArgs,
    output: &Output,
) -> Result<(), Failure> {
    let paper = measured.paper();
    let found = measured.findings();
    output.human(&human(measured, &found, output));
    let document = Overhead {
        format: Format::V1,
        bench: "overhead".to_owned(),
        paper: paper.name.to_owned(),
        set: Drawn {
            utilization_permille: paper.set.utilization_permille,
            index: paper.set.index,
            seed: paper.set.seed,
        },
        machine: measured.circumstances.machine.clone(),
        repetitions: measured.circumstances.repetitions,
        interrupted,
        baseline: paper.name_at(paper.baseline).to_owned(),
        variants: variants(measured),
        busy_periods: measured.table.cells.clone(),
        hyperperiods: measured.whole.cells.clone(),
        invocations: measured.of_managers().invocations(),
        preemptions: measured.preemptions.clone(),
        mechanisms,
        claims: found,
    };
    if let Some(directory) = &args.directory {
        write(directory, measured)?;
        let text = serde_json::to_string_pretty(&document)
            .map_err(|error| Failure::bug("write the result as JSON", error.to_string()))?;
        put(&directory.join("result.json"), &format!("{text}\n"))?;
        let page = directory.join("claims.md");
        output.human(&format!("\ndata, plots and numbers: {}\n", page.display()));
    }
    output.json(&document)
}

/// The command with everything that changes what is measured.
pub(super) fn command(paper: &str, args: &BenchArgs) -> String {
    let mut command = format!("vestal bench overhead --paper {paper}");
    for (given, option) in [
        (args.paired, " --paired"),
        (args.growth, " --growth"),
        (args.alternatives, " --alternatives"),
    ] {
        if given {
            command.push_str(option);
        }
    }
    if args.quick {
        command.push_str(" --quick");
    }
    if let Some(repetitions) = args.repetitions {
        command.push_str(&format!(" --repetitions {repetitions}"));
    }
    if let Some(cpus) = &args.cpus {
        command.push_str(&format!(" --cpus {cpus}"));
    }
    if let Some(kind) = &args.device {
        command.push_str(&format!(" --device {kind}"));
    }
    command.push_str(" -o DIR");
    command
}

fn variants(measured: &Measurement) -> Vec<Variant> {
    let all = measured.paper().variants.iter().map(|variant| Variant {
        name: variant.name.to_owned(),
        what: variant.what.to_owned(),
        policy: variant.policy.to_owned(),
        not_run: measured
            .circumstances
            .not_run
            .iter()
            .find(|(name, _)| *name == variant.name)
            .map(|(_, why)| why.clone()),
    });
    all.collect()
}

fn write(directory: &Path, measured: &Measurement) -> Result<(), Failure> {
    let Measurement {
        table,
        whole,
        preemptions,
        ..
    } = measured;
    let invocations = measured.of_managers().invocations();
    let kept = measured
        .to_json()
        .map_err(|error| Failure::bug("write the measurement as JSON", error.to_string()))?;
    let titles = &measured.paper().titles;
    let tables = [
        ("runs.csv", csv(tables::RUNS, &table.named_runs())),
        (
            titles.busy_periods_file,
            csv(tables::BUSY_PERIODS, &table.printed()),
        ),
        (
            titles.invocations_file,
            csv(tables::INVOCATIONS, &invocations),
        ),
        (
            "hyperperiods.csv",
            csv(tables::BUSY_PERIODS, &whole.printed()),
        ),
        (
            titles.preemptions_file,
            csv(tables::PREEMPTIONS, preemptions),
        ),
        (MEASURED, kept),
    ];
    let charts = figures::charts(table, preemptions).into_iter();
    let charts = charts.map(|(name, chart)| (name, chart.to_svg()));
    for (name, text) in tables.into_iter().chain(charts) {
        put(&directory.join(name), &text)?;
    }
    let set = &measured.paper().set;
    for &size in set.sizes {
        let path = directory.join(format!("set-{size}.toml"));
        put(&path, &(set.file)(size).to_toml())?;
    }
    put(&directory.join("claims.md"), &page::claims_page(measured))
}

pub(super) fn put(path: &Path, text: &str) -> Result<(), Failure> {
    whole::write(path, text.as_bytes()).map_err(|error| refused(path, &error))
}

fn human(measured: &Measurement, found: &[Finding], output: &Output) -> String {
    let painter = output.painter();
    let titles = &measured.paper().titles;
    let mut text = String::new();
    let mut section = |title: &str, body: String| {
        if !body.is_empty() {
            text.push_str(&format!("{}\n{body}\n", painter.paint(Style::Bold, title)));
        }
    };
    section(
        &format!(
            "Busy periods ({}): medians; overhead over the baseline, +- half of what lies between its quartiles",
            titles.busy_periods
        ),
        table(tables::BUSY_PERIODS, &measured.table.printed(), output),
    );
    if !measured.whole.cells.is_empty() {
        section(
            "Hyperperiods: what the runs' own threads use in a second",
            table(tables::HYPERPERIODS, &measured.whole.cells, output),
        );
    }
    section(
        &format!("Invocations of the manager ({})", titles.invocations),
        table(
            tables::INVOCATIONS,
            &measured.of_managers().invocations(),
            output,
        ),
    );
    section(
        &format!(
            "Preemption and priority adjustment ({})",
            titles.preemptions
        ),
        table(tables::PREEMPTIONS, &measured.preemptions, output),
    );
    let not_run: Vec<String> = measured
        .circumstances
        .not_run
        .iter()
        .map(|(name, why)| format!("  {name}: {why}\n"))
        .collect();
    section("Not run", not_run.concat());
    section("Claims", claims_grid(found, output));
    text
}

fn table<R>(columns: &[columns::Column<R>], rows: &[R], output: &Output) -> String {
    let mut grid = Grid::of(rows, output);
    for column in columns {
        let cell = |row| column.terminal_cell(row, short).unwrap_or_default();
        grid = match column.terminal_name() {
            Some((name, true)) => grid.text(name, cell),
            Some((name, false)) => grid.number(name, cell),
            None => grid,
        };
    }
    grid.render()
}

pub(super) fn claims_grid(found: &[Finding], output: &Output) -> String {
    Grid::of(found, output)
        .text("found", |finding| {
            let style = match finding.verdict {
                Verdict::Confirmed => Style::Good,
                Verdict::Refuted => Style::Bad,
                Verdict::NotDecided => Style::Caution,
            };
            styled(finding.verdict, Some(style))
        })
        .text("claim", |finding| &finding.claim)
        .text("by which numbers", |finding| &finding.numbers)
        .render()
}

#[cfg(test)]
mod tests {
    use super::command;
    use crate::args::{Cli, Command};
    use clap::Parser as _;
    use vestal_experiment::overhead::HUANG2014;

    #[test]
    fn a_page_names_the_options_that_its_numbers_depend_on() {
        let said = |options: &str| {
            let line = format!("vestal bench overhead --paper huang2014 {options} -o somewhere");
            let Command::Bench(args) = Cli::parse_from(line.split_whitespace()).command else {
                unreachable!("it is a benchmark")
            };
            command(HUANG2014.name, &args)
        };
        let plain = "vestal bench overhead --paper huang2014";
        assert_eq!(said(""), format!("{plain} -o DIR"));
        let options = "--quick --repetitions 7 --cpus 1";
        assert_eq!(said(options), format!("{plain} {options} -o DIR"));
    }
}
