//! `vestal bench overhead --paper missimer`: what sporadic servers and PIBS take for the bottom halves of cameras, and what cameras get.
//!
//! Repetitions go forwards and backwards in turn. With a directory each is written down when it is complete, and
//! a measurement that was stopped goes on from there.

use super::journal::Journal;
use super::output::{claims_grid, command, put};
use super::shares::nanos;
use crate::args::{BenchArgs, Cli, Command};
use crate::commands::run;
use crate::failure::{Exit, Failure, Outcome};
use crate::interrupt;
use crate::names::VERSION;
use crate::output::{Output, Style};
use crate::progress::Progress;
use crate::real::{self, Settings};
use crate::registry::find_policy;
use crate::session::Session;
use crate::table::Grid;
use clap::Parser as _;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use vestal_experiment::overhead::Quartiles;
use vestal_experiment::overhead::journal::{CAMERAS, Head};
use vestal_experiment::overhead::missimer::claims::findings;
use vestal_experiment::overhead::missimer::page::page;
use vestal_experiment::overhead::missimer::plan::{FULL, Plan, QUICK};
use vestal_experiment::overhead::missimer::run::{Place, Run, System, TOLERANCE_NS};
use vestal_experiment::overhead::missimer::table::Table;
use vestal_experiment::overhead::missimer::{NAME, charts, set};
use vestal_result::Format;
use vestal_result::cameras::{Cameras, CamerasCell};
use vestal_workload::{Source, TaskSet};

/// What a camera is if nothing else is said.
const KIND: &str = "pipe";

pub(super) fn cameras(args: &BenchArgs, output: &Output) -> Outcome {
    let plan = if args.quick { QUICK } else { FULL };
    let plan = plan.repeated(args.repetitions);
    let kind = args.device.as_deref().unwrap_or(KIND);
    let cpu = match args.cpus.as_deref() {
        Some(text) => Some(run::cpu(text)?),
        // Said in the journal, so that a measurement goes on where it began, and told who keeps off it.
        None => real::last_processor(),
    };
    interrupt::watch()?;
    let intervals = [plan.interval, plan.change].map(nanos);
    let cpus: Vec<usize> = cpu.into_iter().collect();
    let head = Head::new(CAMERAS, VERSION, real::machine(), (cpus, intervals)).with_device(kind);
    let opened = args.directory.as_deref();
    let opened = opened.map(|directory| Journal::open(directory, &head));
    let (journal, runs) = match opened.transpose()? {
        Some((journal, runs)) => (Some(journal), runs),
        None => (None, Vec::new()),
    };
    let mut runs = run_all((&plan, kind, cpu), (journal, runs), output)?;
    // What was measured beyond what is asked for now stays in the file.
    runs.retain(|run| run.repetition < plan.repetitions);
    let interrupted = interrupt::asked();
    let table = Table::of(runs);
    let document = Cameras {
        format: Format::V1,
        bench: "overhead".to_owned(),
        paper: NAME.to_owned(),
        machine: real::machine(),
        device: kind.to_owned(),
        cpu,
        interval_ns: intervals,
        repetitions: plan.repetitions,
        interrupted,
        cells: table.cells(),
        claims: findings(&table),
    };
    show(&document, &table, args, output)?;
    if interrupted {
        let again = match args.directory {
            Some(_) => "; the same command goes on from there",
            None => "",
        };
        output.warning(&format!(
            "interrupted; what was complete until then is shown{again}"
        ));
    }
    Ok(Exit::holds(!interrupted))
}

/// Runs what is not there yet, until all is, or somebody stops it.
fn run_all(
    (plan, kind, cpu): (&Plan, &str, Option<usize>),
    (mut journal, mut runs): (Option<Journal>, Vec<Run>),
    output: &Output,
) -> Result<Vec<Run>, Failure> {
    let all: Vec<(Place, System, u32)> = plan.runs().collect();
    let progress = Progress::new(output, "runs", all.len() as u64);
    let mut prepared = BTreeMap::new();
    for (done, which) in (1..).zip(all) {
        let (place, system, _) = which;
        let is_there = |run: &Run| (run.place, run.system, run.repetition) == which;
        if runs.iter().any(is_there) {
            continue;
        }
        if interrupt::asked() {
            break;
        }
        let (session, settings) = match prepared.entry((place, system)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(free) => {
                free.insert(prepare((place, system), (plan, kind, cpu), output)?)
            }
        };
        let Some(run) = real::cameras(session, settings, which)? else {
            break;
        };
        if let Some(journal) = &mut journal {
            journal.put(&run)?;
        }
        runs.push(run);
        progress.at(done);
    }
    Ok(runs)
}

/// The session of a set, and the settings of the machine: those of the command that `vestal run` takes.
fn prepare(
    (place, system): (Place, System),
    (plan, kind, cpu): (&Plan, &str, Option<usize>),
    output: &Output,
) -> Result<(Session, Settings), Failure> {
    let name = format!("missimer-{}.toml", place.name());
    let span = format!("{}ns", plan.interval_of(place).as_nanos());
    let mut words = vec!["vestal", "run", &name, "--policy", set::POLICY];
    words.extend(["--for", &span, "--scenario", set::scenario(place)]);
    for option in set::OPTIONS {
        words.extend(["--set", option]);
    }
    let devices = set::names(place).into_iter();
    let devices: Vec<String> = devices
        .map(|camera| format!("--device={camera}={kind}"))
        .collect();
    words.extend(devices.iter().map(String::as_str));
    let cpu = cpu.map(|cpu| format!("--cpus={cpu}"));
    words.extend(cpu.as_deref());
    let args = match Cli::try_parse_from(&words).map(|cli| cli.command) {
        Ok(Command::Run(run)) => run,
        Ok(_) | Err(_) => return Err(Failure::bug("read a row of runs", words.join(" "))),
    };
    let policy = find_policy(&args.world.policy, "measure overheads")?;
    let mut settings = run::settings(&args, policy)?;
    settings.tolerance_ns = Some(TOLERANCE_NS);
    let source = Source::new(&name, &set::text(place, system));
    let set = TaskSet::from_source(&source)
        .map_err(|found| Failure::bug("read the set of the benchmark", found.to_string()))?;
    let session = Session::with_set(&args.world, set, output)?;
    real::check(&session, &settings)?;
    Ok((session, settings))
}

/// Prints everything, and writes it into the directory if there is one.
fn show(
    document: &Cameras,
    table: &Table,
    args: &BenchArgs,
    output: &Output,
) -> Result<(), Failure> {
    output.human(&human(document, output));
    if let Some(directory) = &args.directory {
        let charts = charts::all(table);
        for (name, chart) in &charts {
            put(&directory.join(name), &chart.to_svg())?;
        }
        let text = serde_json::to_string_pretty(document)
            .map_err(|error| Failure::bug("write the result as JSON", error.to_string()))?;
        put(&directory.join("result.json"), &format!("{text}\n"))?;
        let names: Vec<String> = charts.into_iter().map(|(name, _)| name).collect();
        let path = directory.join("claims.md");
        put(
            &path,
            &page(document, (&command(NAME, args), VERSION), &names),
        )?;
        output.human(&format!("\ndata, plots and numbers: {}\n", path.display()));
    }
    output.json(document)
}

fn human(document: &Cameras, output: &Output) -> String {
    let painter = output.painter();
    let title = |title: &str| painter.paint(Style::Bold, title).to_string();
    format!(
        "{}\n{}\n{}\n{}\n",
        title("Medians of runs"),
        cells(&document.cells, output),
        title("Claims"),
        claims_grid(&document.claims, output)
    )
}

fn cells(cells: &[CamerasCell], output: &Output) -> String {
    let of = |found: &Option<Quartiles>, digits: usize| {
        found.as_ref().map_or_else(
            || "-".to_owned(),
            |found| format!("{:.digits$}", found.median),
        )
    };
    Grid::of(cells, output)
        .text("set", |cell| &cell.place)
        .text("system", |cell| &cell.system)
        .number("runs", |cell| cell.runs)
        .number("left out", |cell| cell.left_out)
        .number("too much", |cell| cell.too_much)
        .number("too little", |cell| cell.too_little)
        .number("overhead, %", |cell| of(&cell.overhead_percent, 4))
        .number("rises", |cell| of(&cell.rises, 0))
        .number("switches/s", |cell| of(&cell.switches_each_second, 0))
        .number("interrupts/s", |cell| of(&cell.interrupts_each_second, 0))
        .number("HI jobs/s", |cell| of(&cell.completed_each_second[0], 2))
        .number("LO jobs/s", |cell| of(&cell.completed_each_second[1], 2))
        .render()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Format;

    #[test]
    fn every_set_is_a_command_and_what_is_no_device_is_refused() {
        let output = Output::new(Format::Json);
        for place in Place::ALL {
            for &system in place.systems() {
                let made = prepare((place, system), (&QUICK, KIND, None), &output);
                let (session, settings) = made.unwrap_or_else(|failure| panic!("{}", failure.why));
                assert!(settings.managed && session.system.only_simulated().is_none());
                assert_eq!(settings.devices.len(), set::names(place).len());
            }
        }
        let refused = prepare(
            (Place::Change, System::SsPibs),
            (&QUICK, "usb", None),
            &output,
        );
        let failure = refused.err().unwrap();
        assert!(failure.why.contains("`usb` is no kind"), "{}", failure.why);
    }
}
