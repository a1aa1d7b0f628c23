//! What `bench overhead --paper sigrist2015` prints and writes.

use super::super::output::{claims_grid, put};
use super::nanos;
use super::series::NotRun;
use crate::args::BenchArgs;
use crate::failure::Failure;
use crate::names::VERSION;
use crate::output::{Output, Style};
use crate::quantity::short;
use crate::real;
use crate::table::Grid;
use vestal_experiment::overhead::sigrist2015::NAME;
use vestal_experiment::overhead::sigrist2015::charts;
use vestal_experiment::overhead::sigrist2015::claims::{Measured, findings};
use vestal_experiment::overhead::sigrist2015::page::page;
use vestal_experiment::overhead::sigrist2015::plan::Plan;
use vestal_experiment::overhead::sigrist2015::table::Table;
use vestal_experiment::plot::Chart;
use vestal_result::Format;
use vestal_result::bench::{Mechanism, Variant};
use vestal_result::shares::{Alternative, Measurement, ShareCell, Shares};

/// Everything that was measured and reckoned.
pub(super) struct Found {
    pub(super) table: Table,
    pub(super) extrapolated: Vec<ShareCell>,
    /// Of the flight management system.
    pub(super) flight: Vec<ShareCell>,
    pub(super) alternatives: Vec<Alternative>,
    pub(super) mechanisms: Vec<Mechanism>,
    pub(super) not_run: NotRun,
    pub(super) plan: Plan,
    pub(super) interrupted: bool,
}

/// Prints everything, and writes it into the directory if there is one.
pub(super) fn show(found: Found, args: &BenchArgs, output: &Output) -> Result<(), Failure> {
    let charts: Vec<(String, Chart)> = match found.plan.measurement {
        Measurement::Shares => charts::all(&found.table, &found.extrapolated),
        // The figures of the paper are of other sets.
        Measurement::Pairs | Measurement::Growth | Measurement::Alternatives => Vec::new(),
    };
    let document = document(found);
    output.human(&human(&document, output));
    if let Some(directory) = &args.directory {
        for (name, chart) in &charts {
            put(&directory.join(name), &chart.to_svg())?;
        }
        let text = serde_json::to_string_pretty(&document)
            .map_err(|error| Failure::bug("write the result as JSON", error.to_string()))?;
        put(&directory.join("result.json"), &format!("{text}\n"))?;
        let names: Vec<String> = charts.into_iter().map(|(name, _)| name).collect();
        let path = directory.join("claims.md");
        let command = super::super::output::command(NAME, args);
        put(&path, &page(&document, (&command, VERSION), &names))?;
        output.human(&format!("\ndata, plots and numbers: {}\n", path.display()));
    }
    output.json(&document)
}

fn document(found: Found) -> Shares {
    let claims = findings(Measured {
        table: &found.table,
        extrapolated: &found.extrapolated,
        measurement: found.plan.measurement,
    });
    let cells = found.table.cells().into_iter();
    let (drawn, flight): (Vec<ShareCell>, Vec<ShareCell>) =
        cells.partition(|cell| cell.utilization_permille.is_some());
    let mut variants: Vec<Variant> = Vec::new();
    for place in found.plan.drawn().chain(found.plan.flight.iter().copied()) {
        for variant in found.plan.variants(place) {
            // What runs at one place may run at others.
            if variants.iter().all(|known| known.name != variant.name) {
                variants.push(Variant {
                    name: variant.name.to_owned(),
                    what: variant.what.to_owned(),
                    policy: variant.kind.policy().to_owned(),
                    not_run: found.not_run.why(variant.name),
                });
            }
        }
    }
    Shares {
        format: Format::V1,
        bench: "overhead".to_owned(),
        paper: NAME.to_owned(),
        machine: real::machine(),
        interval_ns: nanos(found.plan.interval),
        sets: found.plan.sets,
        measurement: found.plan.measurement,
        interrupted: found.interrupted,
        variants,
        cells: [drawn, found.extrapolated].concat(),
        flight: [flight, found.flight].concat(),
        alternatives: found.alternatives,
        mechanisms: found.mechanisms,
        claims,
    }
}

fn human(document: &Shares, output: &Output) -> String {
    let painter = output.painter();
    let mut text = String::new();
    let mut section = |title: &str, body: String| {
        if !body.is_empty() {
            text.push_str(&format!("{}\n{body}\n", painter.paint(Style::Bold, title)));
        }
    };
    section(
        "Shares of the time of a CPU in percent, means of the sets",
        cells(&document.cells, output),
    );
    section(
        "The flight management system (Table II)",
        cells(&document.flight, output),
    );
    section(
        "What each alternative costs: time at U/m = 0.2 in percent, sets accepted without overheads, with the mean, with the largest",
        alternatives(&document.alternatives, output),
    );
    let not_run = document.variants.iter().filter_map(|variant| {
        let why = variant.not_run.as_ref()?;
        Some(format!("  {}: {why}\n", variant.name))
    });
    section("Not measured", not_run.collect());
    let claims = match document.claims.is_empty() {
        true => String::new(),
        false => claims_grid(&document.claims, output),
    };
    section("Claims", claims);
    text
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{:.4}", share * 100.0))
}

fn cells(cells: &[ShareCell], output: &Output) -> String {
    if cells.is_empty() {
        return String::new();
    }
    Grid::of(cells, output)
        .text("set", |cell| &cell.set)
        .number("CPUs", |cell| cell.cpus)
        .number("U/m", |cell| {
            let permille = cell.utilization_permille;
            permille.map_or_else(
                || "-".to_owned(),
                |one| format!("{}", f64::from(one) / 1000.0),
            )
        })
        .text("variant", |cell| &cell.variant)
        .text("by", |cell| match cell.extrapolated {
            true => "extrapolated",
            false => "runs",
        })
        .number("count", |cell| cell.runs)
        .number("scheduler", |cell| percent(Some(cell.scheduler.mean)))
        .number("most of a CPU", |cell| percent(cell.scheduler.max))
        .number("system", |cell| {
            percent(cell.system.map(|found| found.mean))
        })
        .render()
}

fn alternatives(all: &[Alternative], output: &Output) -> String {
    if all.is_empty() {
        return String::new();
    }
    Grid::of(all, output)
        .text("variant", |one| &one.variant)
        .number("scheduler", |one| percent(one.scheduler))
        .number("system", |one| percent(one.system))
        .text("o of a frame", |one| match one.frame {
            Some(found) => format!(
                "{} on average, {} at most",
                short(found.mean_ns),
                short(found.max_ns)
            ),
            None => "-".to_owned(),
        })
        .text("accepted", |one| {
            let each = one.accepted.iter().map(|found| {
                let at = f64::from(found.utilization_permille) / 1000.0;
                format!(
                    "U/m {at}: {}, {}, {} of {}",
                    found.without, found.mean, found.max, found.sets
                )
            });
            each.collect::<Vec<_>>().join("; ")
        })
        .render()
}
