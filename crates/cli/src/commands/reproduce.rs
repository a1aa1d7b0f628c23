//! `vestal reproduce PAPER/FIGURE -o DIR`: a figure of a paper as data, plot and findings.

use crate::args::{ReproduceArgs, WorldArgs};
use crate::commands::simulate;
use crate::commands::sweep::{self, Asked};
use crate::failure::{Exit, Failure, Outcome};
use crate::interrupt;
use crate::names::{self, VERSION};
use crate::output::Output;
use crate::registry::registry;
use crate::session::Session;
use crate::table;
use crate::whole::{self, unbroken};
use std::path::Path;
use std::sync::Arc;
use vestal_experiment::figure::counted::{self, Counted};
use vestal_experiment::figure::drawing::{self, Drawing};
use vestal_experiment::figure::grid::{self, Grid};
use vestal_experiment::figure::kept::{ANSWERS, Kept};
use vestal_experiment::figure::{self, Figure, across};
use vestal_experiment::table::Table;
use vestal_experiment::{Question, Shard, Store, Summary};
use vestal_result::Format;
use vestal_result::files::{self, Claim, FigureEntry, Figures, Reproduced};
use vestal_trace::Dispatch;

/// Sets at each point for a quick look at a figure that has so many.
const fn quick_sets(sets: u32) -> u32 {
    const MOST: u32 = 100;
    // Figures that have few have them because each takes long.
    let part = sets / 5;
    match part < MOST {
        true => part,
        false => MOST,
    }
}

pub(crate) fn reproduce(args: &ReproduceArgs, output: &Output) -> Outcome {
    if args.list {
        return list(output);
    }
    let (chosen, what) = match (&args.figure, args.all) {
        (_, true) => (Chosen::all(), "--all".to_owned()),
        (Some(name), false) => (Chosen::named(name)?, name.clone()),
        (None, false) => {
            return Err(Failure::input("reproduce a figure", "none is named")
                .with_help("name one such as huang2014/fig1, or use --all; --list shows all"));
        }
    };
    let directory = args.directory.as_deref().ok_or_else(|| {
        Failure::input("reproduce a figure", "there is no directory for the result")
            .with_help("name one with -o DIR")
    })?;
    interrupt::watch()?;
    let bounded = interrupt::bounded(output.last_words(interrupted(&what)));
    let quick = if args.quick { " --quick" } else { "" };
    let mut outcomes = Vec::new();
    for grid in chosen.grids {
        let command = format!("vestal reproduce {} -o DIR", grid.name);
        outcomes.push(of_one_set(grid, directory, &command)?);
    }
    for drawing in chosen.drawings {
        let command = format!("vestal reproduce {} -o DIR", drawing.name);
        outcomes.push(of_one_run(drawing, directory, &command, output)?);
    }
    for counted in chosen.counted {
        let command = format!("vestal reproduce {} -o DIR", counted.name);
        outcomes.push(of_counts(counted, directory, &command)?);
    }
    let mut computed = Vec::new();
    for figure in chosen.sweeps {
        let command = format!("vestal reproduce {}{quick} -o DIR", figure.name);
        let (outcome, summary) = one(figure, args, directory, &command, output)?;
        computed.push((figure, outcome.sets, summary));
        outcomes.push(outcome);
    }
    for across in across::all() {
        let command = format!("vestal reproduce {}{quick} -o DIR", across.name);
        if let Some(outcome) = across.outcome(&computed, &command, VERSION) {
            let place = directory.join(across.name);
            write(&place, CLAIMS, &outcome.page)?;
            outcomes.push(outcome);
        }
    }
    let command = format!("vestal reproduce {what}{quick} -o DIR");
    let index = figure::index(&outcomes, &command, VERSION);
    write(directory, "index.md", &index)?;
    let _told = bounded.told(output);
    output.human(&page(&outcomes, directory, output));
    output.json(&document(outcomes, directory))?;
    Ok(Exit::Holds)
}

/// Of a figure, or of all.
fn interrupted(what: &str) -> Failure {
    Failure::interrupted(format!("reproduce {what}"))
        .with_help("nothing is lost: the same command goes on")
}

/// What is to be reproduced.
struct Chosen {
    grids: Vec<&'static Grid>,
    drawings: Vec<&'static Drawing>,
    counted: Vec<&'static Counted>,
    sweeps: Vec<&'static Figure>,
}

impl Chosen {
    fn all() -> Self {
        Self {
            grids: grid::grids().collect(),
            drawings: drawing::drawings().collect(),
            counted: counted::counted().collect(),
            sweeps: figure::figures().collect(),
        }
    }

    fn named(name: &str) -> Result<Self, Failure> {
        let asked = name.trim_end_matches('/');
        let chosen = Self {
            grids: grid::named(asked),
            drawings: drawing::named(asked),
            counted: counted::named(asked),
            sweeps: figure::named(asked),
        };
        if !chosen.is_empty() {
            return Ok(chosen);
        }
        let what = format!("reproduce `{name}`");
        let known = figure::figures().map(|figure| figure.name);
        let known = known.chain(grid::grids().map(|grid| grid.name));
        let known = known.chain(drawing::drawings().map(|drawing| drawing.name));
        let known = known.chain(counted::counted().map(|counted| counted.name));
        Err(names::unknown(&what, "figure", name, known))
    }

    const fn is_empty(&self) -> bool {
        let alone = self.grids.is_empty() && self.drawings.is_empty();
        alone && self.counted.is_empty() && self.sweeps.is_empty()
    }
}

/// The page about a figure's claims.
const CLAIMS: &str = "claims.md";

/// Writes a file into a directory, which is made if it is not there.
fn write(directory: &Path, name: &str, text: &str) -> Result<(), Failure> {
    let path = directory.join(name);
    std::fs::create_dir_all(directory)
        .and_then(|()| whole::write(&path, text.as_bytes()))
        .map_err(|error| Failure::written(format!("write {}", path.display()), None, &error))
}

/// Computes a figure of one task set and writes everything about it.
fn of_one_set(grid: &Grid, directory: &Path, command: &str) -> Result<figure::Outcome, Failure> {
    let drawn = grid
        .draw(registry(), command, VERSION)
        .map_err(|refusal| Failure::bug("compute a built-in figure", refusal.to_string()))?;
    let place = directory.join(grid.name);
    write(&place, grid::DATA, &drawn.data)?;
    write(&place, grid::PLOT, &drawn.plot.to_svg())?;
    write(&place, CLAIMS, &drawn.outcome.page)?;
    Ok(drawn.outcome)
}

/// Computes a figure of one run and writes everything about it: what runs, who executes when, and the run's traces.
fn of_one_run(
    drawing: &Drawing,
    directory: &Path,
    command: &str,
    output: &Output,
) -> Result<figure::Outcome, Failure> {
    let drawn = drawing
        .draw(registry(), command, VERSION)
        .map_err(|refusal| Failure::bug("compute a built-in figure", refusal.to_string()))?;
    let place = directory.join(drawing.name);
    write(&place, drawing::SET, drawing.set.text)?;
    write(&place, drawing::SCENARIO, drawing.scenario)?;
    write(&place, drawing::DATA, &drawn.data)?;
    let world = WorldArgs {
        file: place.join(drawing::SET),
        policy: drawing.policy.to_owned(),
        duration: Some(format!("{}ms", drawing.millis)),
        scenario: Some(place.join(drawing::SCENARIO).display().to_string()),
        seed: 1,
        options: Vec::new(),
        parameters: None,
    };
    let session = Session::open(registry(), &world, "simulate", output)?;
    let traces = [drawing::PLOT].into_iter().chain(drawing::TRACES);
    let traces: Vec<_> = traces.map(|name| place.join(name)).collect();
    let (_, unwritten) = simulate::run(&session, Dispatch::Managed, &traces, output)?;
    unwritten.map_or(Ok(()), Err)?;
    write(&place, CLAIMS, &drawn.outcome.page)?;
    Ok(drawn.outcome)
}

/// Computes a figure of counted instructions and writes everything about it.
fn of_counts(
    counted: &Counted,
    directory: &Path,
    command: &str,
) -> Result<figure::Outcome, Failure> {
    let drawn = counted
        .draw(command, VERSION)
        .map_err(|problem| Failure::bug("compute a built-in figure", problem))?;
    let place = directory.join(counted.name);
    write(&place, counted::DATA, counted.counts)?;
    for (name, chart) in &drawn.plots {
        write(&place, name, &chart.to_svg())?;
    }
    write(&place, CLAIMS, &drawn.outcome.page)?;
    Ok(drawn.outcome)
}

/// Computes a figure and writes everything about it.
fn one(
    figure: &Figure,
    args: &ReproduceArgs,
    directory: &Path,
    command: &str,
    output: &Output,
) -> Result<(figure::Outcome, Summary), Failure> {
    let prepared = figure.prepare(None, registry());
    let mut prepared =
        prepared.map_err(|found| Failure::bug("read a built-in experiment", found.to_string()))?;
    if args.quick {
        let sets = quick_sets(prepared.experiment.sets);
        prepared.experiment = prepared.experiment.with_sets(sets);
    }
    if !prepared.missing.is_empty() {
        let missing = prepared.missing.join(", ");
        output.warning(&format!(
            "{}: not in this version, and left out: {missing}",
            figure.name
        ));
    }
    if prepared.questions.is_empty() {
        output.warning(&format!("{}: nothing is left to compute", figure.name));
    }
    let asked = Asked {
        experiment: &prepared.experiment,
        questions: &prepared.questions,
        seen: Arc::default(),
    };
    let store = asked.open(&directory.join(figure.name), true)?;
    let report = asked.run(&store, Shard::ALL, args.jobs.unwrap_or(0), output)?;
    if !report.complete {
        return Err(interrupted(figure.name));
    }
    let table = vestal_experiment::sweep::results(&store).map_err(sweep::store_failure)?;
    let summary = summary(&prepared, &table);
    let questions = prepared.questions.iter().map(Question::label).collect();
    let by = (command, VERSION);
    if let Some(kept) = Kept::of(by, prepared.experiment.sets, questions, &table) {
        put(&store, ANSWERS, &kept.to_text())?;
    }
    for (name, chart) in figure.charts(&summary) {
        put(&store, &name, &chart.to_svg())?;
    }
    let outcome = figure::outcome(figure, &prepared, &summary, command, VERSION);
    put(&store, CLAIMS, &outcome.page)?;
    Ok((outcome, summary))
}

/// Writes a file of a result directory, which a stop does not break off.
fn put(store: &Store, name: &str, text: &str) -> Result<(), Failure> {
    unbroken(|| store.write(name, text.as_bytes())).map_err(sweep::store_failure)
}

fn summary(prepared: &figure::Prepared<'_>, table: &Table) -> Summary {
    let experiment = &prepared.experiment;
    let asked: Vec<_> = prepared.questions.iter().map(Question::asked).collect();
    Summary::new(experiment, &experiment.points(), &asked, table)
}

fn list(output: &Output) -> Outcome {
    let entries: Vec<FigureEntry> = figure::figures()
        .map(|figure| FigureEntry {
            figure: figure.name.to_owned(),
            caption: figure.caption.to_owned(),
            missing: figure
                .prepare(None, registry())
                .map(|prepared| prepared.missing)
                .unwrap_or_default(),
        })
        .chain(grid::grids().map(|grid| FigureEntry {
            figure: grid.name.to_owned(),
            caption: grid.caption.to_owned(),
            missing: Vec::new(),
        }))
        .chain(drawing::drawings().map(|drawing| FigureEntry {
            figure: drawing.name.to_owned(),
            caption: drawing.caption.to_owned(),
            missing: Vec::new(),
        }))
        .chain(counted::counted().map(|counted| FigureEntry {
            figure: counted.name.to_owned(),
            caption: counted.caption.to_owned(),
            missing: Vec::new(),
        }))
        .collect();
    let mut table = table::Grid::of(&entries, output)
        .text("figure", |entry| &entry.figure)
        .text("what", |entry| &entry.caption);
    // An empty column would take the width of its name from the captions.
    if entries.iter().any(|entry| !entry.missing.is_empty()) {
        table = table.text("tests not in this version", |entry| {
            match entry.missing.is_empty() {
                true => "-".to_owned(),
                false => entry.missing.join(", "),
            }
        });
    }
    output.human(&table.render());
    output.json(&Figures {
        format: Format::V1,
        figures: entries,
    })?;
    Ok(Exit::Holds)
}

fn page(outcomes: &[figure::Outcome], directory: &Path, output: &Output) -> String {
    let findings = outcomes.iter().flat_map(|outcome| {
        let findings = outcome.findings.iter();
        findings.map(|(claim, finding)| (outcome.figure, *claim, *finding))
    });
    let findings: Vec<_> = findings.collect();
    let table = table::Grid::of(&findings, output)
        .text("figure", |(figure, _, _)| figure)
        .text("the paper says", |(_, claim, _)| claim)
        .text("found", |(_, _, finding)| finding);
    let directory = directory.display();
    format!(
        "{}\ndata, plots and numbers: {directory}/index.md\n",
        table.render()
    )
}

fn document(outcomes: Vec<figure::Outcome>, directory: &Path) -> Reproduced {
    let figures = outcomes.into_iter().map(|outcome| files::Figure {
        figure: outcome.figure.to_owned(),
        sets: outcome.sets,
        missing: outcome.missing,
        plots: outcome.plots,
        claims: outcome
            .findings
            .into_iter()
            .map(|(claim, finding)| Claim {
                claim: str::to_owned(claim),
                found: finding.to_string(),
            })
            .collect(),
    });
    Reproduced {
        format: Format::V1,
        directory: directory.display().to_string(),
        figures: figures.collect(),
    }
}
