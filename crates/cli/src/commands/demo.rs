//! `vestal demo`: check, analysis, simulation and a real run of the flight management system, what a
//! newcomer should take home from them, and a page that shows it all.

use crate::args::{DemoArgs, WorldArgs};
use crate::commands::analyze::{self, TestResult};
use crate::commands::{check, report, run, simulate};
use crate::comparison;
use crate::failure::{Exit, Failure, Outcome};
use crate::interrupt;
use crate::output::{Output, Style};
use crate::real::{self, RealRun, Settings};
use crate::registry::find_test;
use crate::session::Session;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use vestal_policy::Given;
use vestal_report::Report;
use vestal_result::Format;
use vestal_result::run::{Demo, Refused, Run};
use vestal_trace::Dispatch;
use vestal_workload::TaskSet;

/// The example, as it is in the repository.
const FLIGHT_MANAGEMENT_SYSTEM: &str = include_str!("../../../../examples/fms.toml");
/// Where it is found there.
const FILE: &str = "examples/fms.toml";
const POLICY: &str = "amc";
const TEST: &str = "amc-rtb";
const SCENARIO: &str = "overrun=0.5";
const DURATION: &str = "10s";
const SEED: u64 = 1;

pub(crate) fn demo(args: &DemoArgs, output: &Output) -> Outcome {
    let show = Show::open(&args.output, output);
    let set = built_in()?;
    let path = PathBuf::from(FILE);
    let analysis = check_and_analyze(&path, &set, output)?;
    let world = world();
    let line = |command| {
        format!("vestal {command} {FILE} --policy {POLICY} --scenario {SCENARIO} --for {DURATION}")
    };
    step(
        output,
        3,
        "What happens when jobs exceed their budgets?",
        &line("simulate"),
        SIMULATE,
    );
    let session = Session::with_set(&world, set, output)?;
    let bounded = interrupt::bounded(output.last_words(simulate::interrupted(&world.file)));
    let (simulation, unwritten) =
        simulate::run(&session, Dispatch::Managed, &show.simulation, output)?;
    drop(bounded);
    output.human(&simulation.page(&session, output));
    output.human(&simulation.verdict(&session, output));
    unwritten.map_or(Ok(()), Err)?;

    step(
        output,
        4,
        "And on this machine, for real?",
        &line("run"),
        RUN,
    );
    let (real, failure) = for_real(&session, &show, output)?;
    step(output, 5, "What to take home", "", "");
    output.human(&summary(
        &analysis,
        &simulation.run,
        real.as_ref(),
        &session,
        output,
    ));
    let mut document = Demo {
        format: Format::V1,
        file: FILE.to_owned(),
        analysis: analysis.said.clone(),
        simulation: simulation.run.clone(),
        run: real.as_ref().map(|real| real.result.run.clone()),
        refused: failure.as_ref().map(|failure| Refused {
            message: failure.message(),
            help: failure.help.clone(),
        }),
        page: None,
    };
    document.page = show.page(&document, output)?;
    output.json(&document)?;
    if let Some(failure) = failure {
        output.complaint(&failure);
        return Ok(failure.exit);
    }
    let holds = analysis.is_proved() && simulation.run.jobs.missed_guaranteed == 0;
    let Some(real) = real.filter(|real| holds && !real.interrupted) else {
        return Ok(Exit::DoesNotHold);
    };
    Ok(run::exit(real.result.broken(), false))
}

/// The first two steps.
fn check_and_analyze(path: &Path, set: &TaskSet, output: &Output) -> Result<TestResult, Failure> {
    let line = format!("vestal check {FILE}");
    step(output, 1, "Is the file a valid task set?", &line, CHECK);
    let checked = check::summary(set, None);
    output.human(&check::page(path, &checked, output));

    let title = "Is it schedulable, whatever happens?";
    let line = format!("vestal analyze {FILE} --test {TEST}");
    step(output, 2, title, &line, ANALYZE);
    let analysis = analyze::one(
        path,
        set,
        find_test(TEST, "analyze")?,
        (&Given::default(), None),
    )?;
    output.human(&analyze::section(&analysis, set, output));
    Ok(analysis)
}

/// The real run, and what it showed; or why this machine refused it.
fn for_real(
    session: &Session,
    show: &Show,
    output: &Output,
) -> Result<(Option<RealRun>, Option<Failure>), Failure> {
    interrupt::check(|| "show the demo to its end".to_owned())?;
    let real = match real::execute(session, &Settings::default(), &show.run, output) {
        Ok(real) => real,
        // What the machine cannot do is part of the demonstration; anything else ends it.
        Err(failure) if failure.exit == Exit::Machine => {
            output.human("There was no real run: see the last lines.\n");
            return Ok((None, Some(failure)));
        }
        Err(failure) => return Err(failure),
    };
    run::show(&real, session, output);
    match real.unwritten {
        Some(failure) => Err(failure),
        None => Ok((Some(real), None)),
    }
}

/// Where the traces and the page go.
struct Show {
    directory: Option<PathBuf>,
    simulation: Vec<PathBuf>,
    run: Vec<PathBuf>,
}

impl Show {
    /// The directory, created if it is not there. A demo that cannot write anything is still one.
    fn open(directory: &Path, output: &Output) -> Self {
        let (mut simulation, mut run) = (Vec::new(), Vec::new());
        let found = std::fs::create_dir_all(directory);
        if let Err(error) = &found {
            let place = directory.display();
            output.warning(&format!(
                "there will be no page: failed to create the directory {place}: {error}; -o names another one"
            ));
        } else {
            simulation.push(directory.join("simulation.vtrace"));
            run.push(directory.join("run.vtrace"));
        }
        Self {
            directory: found.ok().map(|()| directory.to_owned()),
            simulation,
            run,
        }
    }

    /// Writes the page and says where it is.
    fn page(&self, document: &Demo, output: &Output) -> Result<Option<String>, Failure> {
        let Some(directory) = &self.directory else {
            return Ok(None);
        };
        let what = || "make the page of the demo".to_owned();
        let text = serde_json::to_string(document)
            .map_err(|error| Failure::bug(what(), error.to_string()))?;
        let mut page = Report::new(&report::generator());
        page.add_result("vestal demo", &text)
            .map_err(|error| Failure::bug(what(), error.to_string()))?;
        let run = self.run.iter().filter(|_| document.run.is_some());
        for path in self.simulation.iter().chain(run) {
            report::add(&mut page, path)?;
        }
        let path = directory.join("report.html");
        let bytes = report::write_page(&page, &path, &[])?;
        output.human(&format!("\n{}", report::written(&path, bytes)));
        Ok(Some(path.display().to_string()))
    }
}

const CHECK: &str = "\
Eleven tasks of an aircraft's flight management system at two levels of criticality. Each HI task
has two execution times: a LO one that is nearly always enough, and a HI one that always is.";
const ANALYZE: &str = "\
Under the policy amc. A response time below the deadline is a guarantee: LO tasks keep their deadlines
as long as no job needs more than C(LO), HI tasks in any case.";
const SIMULATE: &str = "\
Every second job of a HI task needs 10 ms instead of its LO budget, for 10 simulated seconds. The
scheduler then drops LO jobs to keep the guarantee to the HI ones.";
const RUN: &str = "\
The same jobs as threads of this machine, the same scheduler, the same seed; budgets are enforced
with the means of a stock Linux kernel. This takes 10 seconds.";

/// The built-in example, with jobs that only compute: then both worlds get the same demand.
fn built_in() -> Result<TaskSet, Failure> {
    let mut set = TaskSet::parse(FILE, FLIGHT_MANAGEMENT_SYSTEM)
        .map_err(|found| Failure::bug("read the built-in example", found.to_string()))?;
    for task in &mut set.tasks {
        task.work = None;
    }
    Ok(set)
}

fn world() -> WorldArgs {
    WorldArgs {
        file: PathBuf::from(FILE),
        policy: POLICY.to_owned(),
        duration: Some(DURATION.to_owned()),
        scenario: Some(SCENARIO.to_owned()),
        seed: SEED,
        options: Vec::new(),
        parameters: None,
    }
}

/// Announces what comes next and why.
fn step(output: &Output, number: u32, title: &str, command: &str, why: &str) {
    let painter = output.painter();
    let mut text = String::new();
    if number > 1 {
        text.push('\n');
    }
    let title = painter.paint(Style::Bold, &format!("== {number} of 5: {title}"));
    let _ = writeln!(text, "{title}");
    if !command.is_empty() {
        let command = painter.paint(Style::Name, &format!("$ {command}"));
        let _ = writeln!(text, "   {command}");
    }
    if !why.is_empty() {
        let _ = writeln!(text, "{why}");
    }
    text.push('\n');
    output.human(&text);
}

fn summary(
    analysis: &TestResult,
    simulation: &Run,
    real: Option<&RealRun>,
    session: &Session,
    output: &Output,
) -> String {
    let bounds: Vec<Option<u64>> = (0..session.tasks.len())
        .map(|task| analysis.said.own_bound(task))
        .collect();
    let not = if analysis.is_proved() {
        ""
    } else {
        "not proved "
    };
    let mut text = format!("- {TEST} says: the set is {not}schedulable under {POLICY}.\n");
    let (shown, world) = match real {
        Some(real) => (&real.result.run, "in the real run"),
        None => (simulation, "in the simulation"),
    };
    let _ = writeln!(text, "- What happened {world}:");
    for line in comparison::story(shown, session) {
        let _ = writeln!(text, "  - {line}");
    }
    let _ = writeln!(text, "- {}", guarantee("In the simulation", simulation));
    if let Some(real) = real {
        let _ = writeln!(text, "- {}", guarantee("In the real run", &real.result.run));
        let _ = writeln!(text, "\nThe same jobs in both worlds:\n");
        text.push_str(&comparison::table(
            simulation,
            &real.result.run,
            &bounds,
            session,
            output,
        ));
        text.push_str("\nThe simulation has exact time and no overheads.\n");
        text.push_str(if comparison::exceeds_bounds(&real.result.run, &bounds) {
            "Where a real response time is above the proved bound, waking, switching, measuring and the rest\nof this machine took the difference: the analysis counts none of it.\n"
        } else {
            "The real run has them, and stayed within the proved bounds all the same.\n"
        });
    }
    text
}

/// Whether a run kept what was guaranteed. That jobs are dropped for nothing concerns frame tables, which the demo has none of.
fn guarantee(world: &str, run: &Run) -> String {
    let (missed, outside) = (run.jobs.missed_guaranteed, run.machine.missed_outside_gaps);
    match (missed, outside) {
        (0, _) => format!("{world} no guaranteed deadline was missed."),
        (_, 0) => format!(
            "{world} {missed} guaranteed deadlines were missed, and only time that others took from the run explains it: not decided."
        ),
        (_, _) => format!(
            "{world} {missed} guaranteed deadlines were missed, {outside} of them whatever others took from the run."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_directory_there_is_no_page_and_no_trace() {
        let output = Output::new(crate::args::Format::Json);
        let show = Show::open(Path::new("/dev/null/demo"), &output);
        assert!(show.directory.is_none() && show.simulation.is_empty() && show.run.is_empty());
    }

    #[test]
    fn the_built_in_example_is_valid_and_only_computes() {
        let set = built_in().unwrap();
        assert_eq!(set.tasks.len(), 11);
        assert!(set.tasks.iter().all(|task| task.work.is_none()));
    }
}
