//! `vestal analyze FILE`: is the task set schedulable, by which test, and why not?

mod levels;
mod servers;

use crate::args::AnalyzeArgs;
use crate::clock::Stopwatch;
use crate::commands::overheads::{Source, Taken};
use crate::failure::{Exit, Failure, Outcome};
use crate::input::{self, shown};
use crate::output::{Output, Painter, Style};
use crate::place;
use crate::progress::Progress;
use crate::quantity::{exact, first_few};
use crate::registry::{find_test, registry};
use crate::session::read_parameters;
use crate::table::{Grid, styled};
use crate::whole;
use std::cmp::Reverse;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use vestal_analysis::{
    Kind, Names, Outcome as TestOutcome, Parameter, Parameters, Problem, Test, Verdict,
};
use vestal_core::Level;
use vestal_policy::{Given, Registry, parameters};
use vestal_result::Format;
use vestal_result::analysis::{self as said, Analyses, Analysis, TaskBound};
use vestal_workload::TaskSet;

/// How many job priorities of a task people are shown.
const PRIORITIES_SHOWN: usize = 12;

/// What one test said, with what only commands are told.
pub(crate) struct TestResult {
    pub(crate) said: Analysis,
    chosen: Parameters,
    sound: bool,
    is_upper_bound: bool,
    /// Whether it speaks of budgets that it chose, and not of those of the file.
    chooses_budgets: bool,
    /// Whether it is for levels of which some are promised no deadlines.
    is_for_levels: bool,
}

pub(crate) fn analyze(args: &AnalyzeArgs, output: &Output) -> Outcome {
    if let Some(path) = &args.emit {
        let others = [&args.parameters, &args.overheads.overheads];
        let others = others.into_iter().flatten().map(PathBuf::as_path);
        let inputs = std::iter::once(args.file.as_path()).chain(others);
        place::check_no_input(&writing(path), None, path, inputs)?;
    }
    let named = named_tests(args)?;
    let overheads = Source::of_file(&args.overheads)?;
    let set = input::task_set(&args.file, output)?;
    let tests = wanted_tests(registry(), args, (&set, &named), output);
    let parameters = read_parameters(args.parameters.as_deref(), &set)?;
    let given = vestal_policy::given(&set, &parameters);
    let given = given
        .map_err(|refusal| Failure::refused(format!("read {}", shown(&args.file)), refusal))?;
    say_what_is_given(&tests, &given, output);
    servers::warn(&tests, &set, output);
    let circumstances = (&given, overheads.as_ref());
    let results = ask((&args.file, &set), (&tests, &named), circumstances, output)?;
    let exit = Exit::holds(holds(args, &set, &results));
    if let Some(overheads) = &overheads {
        output.human(&format!("{}\n\n", overheads.in_words()));
    }
    for result in &results {
        output.human(&section(result, &set, output));
    }
    output.human(&conclusion(&set, &results, args, output.painter()));
    if let Some(path) = &args.emit {
        match results.iter().find(|result| result.is_proved()) {
            Some(proved) if !proved.chosen.is_empty() => {
                write(path, &parameters::to_file(&proved.chosen, &set), output)?;
            }
            Some(proved) => output.warning(&format!(
                "{} was not written: {} leaves nothing to choose, its policy orders tasks by a rule",
                path.display(),
                proved.said.name()
            )),
            None => output.warning(&format!(
                "{} was not written: no test proved the set schedulable, so there is nothing to use",
                path.display()
            )),
        }
    }
    output.json(&Analyses {
        format: Format::V1,
        file: shown(&args.file),
        overheads: overheads.as_ref().map(Source::said),
        results: results.into_iter().map(|result| result.said).collect(),
    })?;
    Ok(exit)
}

/// The answers of the tests, of which some were named.
fn ask(
    (path, set): (&Path, &TaskSet),
    (tests, named): (&[&Test], &[&Test]),
    (given, overheads): (&Given, Option<&Source>),
    output: &Output,
) -> Result<Vec<TestResult>, Failure> {
    let progress = Progress::new(output, "analyzing", tests.len() as u64);
    let mut results = Vec::with_capacity(tests.len());
    for (done, test) in tests.iter().enumerate() {
        progress.at(done as u64);
        let taken = overheads.map(|source| source.of_test(test)).transpose()?;
        let Some(taken) = taken.map_or(Some(None), |found| found.map(Some)) else {
            let why = "none of the mechanisms whose overheads are taken into account carries its policy out";
            if is_among(named, test) {
                let help = "choose another one with --mechanism, or another file with --overheads";
                let failure = Failure::input(format!("analyze with {test}"), why);
                return Err(failure.with_help(help));
            }
            output.note(&format!("{test} is left out: {why}"));
            continue;
        };
        match one(path, set, test, (given, taken.as_ref())) {
            Ok(result) => results.push(result),
            // A file whose servers are incomplete is as good as any to the tests that ignore them.
            Err(failure)
                if failure.exit == Exit::BadInput
                    && test.is_for_servers
                    && !is_among(named, test) =>
            {
                output.note(&format!(
                    "{test} is left out, these servers are not for it; --test {test} says why"
                ));
            }
            Err(failure) => return Err(failure),
        }
    }
    Ok(results)
}

/// The answer of one test, with the time that it took.
pub(crate) fn one(
    path: &Path,
    set: &TaskSet,
    test: &Test,
    (given, taken): (&Given, Option<&Taken>),
) -> Result<TestResult, Failure> {
    let problem = vestal_policy::problem(set, test, given);
    let what = || format!("analyze {} with {test}", shown(path));
    let problem = problem.map_err(|refusal| Failure::refused(what(), refusal))?;
    let problem = match taken {
        None => problem,
        Some(taken) => problem.with_overheads(taken.overheads),
    };
    let watch = Stopwatch::start();
    let found = test.analyse(&problem);
    let elapsed_us = u64::try_from(watch.elapsed().as_micros()).unwrap_or(u64::MAX);
    let mut result = TestResult::new(test, set, (&problem, &found), elapsed_us);
    result.said.mechanism = taken.map(|taken| taken.mechanism.clone());
    Ok(result)
}

/// Each test asked for by name.
fn named_tests(args: &AnalyzeArgs) -> Result<Vec<&'static Test>, Failure> {
    let mut named: Vec<&Test> = Vec::new();
    for name in &args.tests {
        let test = find_test(name, "analyze")?;
        if !is_among(&named, test) {
            named.push(test);
        }
    }
    Ok(named)
}

/// Those, and without names every sound test, with `--all` every test, that is for what the file has:
/// tasks or a finite job set, one CPU or several, servers or none.
fn wanted_tests<'a>(
    registry: &'a Registry,
    args: &AnalyzeArgs,
    (set, named): (&TaskSet, &[&'a Test]),
    output: &Output,
) -> Vec<&'a Test> {
    let mut wanted = named.to_vec();
    if args.all || args.tests.is_empty() {
        let (cpus, several) = (set.platform.cpus, has_several_cpus(set));
        if several {
            output.note(&format!(
                "the platform has {cpus} CPUs; the tests for one CPU are left out"
            ));
        }
        for test in registry.tests() {
            let has_servers = !set.servers.is_empty();
            let applies = test.is_for_job_sets != set.jobs.is_empty()
                && test.is_for_several_cpus == several
                && (has_servers || !test.is_for_servers);
            let is_meant = args.all || (test.is_sound() && levels::are_meant(test, set));
            // Of the budgets of the file it says nothing.
            let is_meant = is_meant && !test.chooses_budgets;
            if applies && !is_among(&wanted, test) && is_meant {
                wanted.push(test);
            }
        }
    }
    wanted
}

fn has_several_cpus(set: &TaskSet) -> bool {
    set.platform.cpus > 1
}

fn is_among(tests: &[&Test], test: &Test) -> bool {
    let mut names = tests.iter().map(|known| known.to_string());
    names.any(|known| known == test.to_string())
}

/// Whether what is given of this parameter changes what the test says. One for servers searches for no priorities, and is asked
/// about tasks that have those given inside their servers.
fn uses(test: &Test, parameter: Parameter) -> bool {
    test.takes.contains(&parameter) || (test.is_for_servers && parameter == Parameter::Priorities)
}

/// Notes about what is given and not every test takes.
fn say_what_is_given(tests: &[&Test], given: &Given, output: &Output) {
    for row in given.parameters.rows() {
        let others = tests.iter().filter(|test| !uses(test, row.parameter));
        let others: Vec<String> = others.map(|test| test.to_string()).collect();
        if !others.is_empty() {
            let (others, words) = (others.join(", "), row.words);
            output.note(&format!("{others} do not use the {words} of --parameters"));
        }
    }
    let from_file = given.parameters.priorities.is_none() && given.file.priorities.is_some();
    if from_file && tests.iter().any(|test| uses(test, Parameter::Priorities)) {
        output.note(
            "the file gives every task a priority; those are analyzed, none are searched for",
        );
    }
    let is_placed = |test: &&Test| test.takes.contains(&Parameter::Partition);
    let from_file = given.parameters.partition.is_none() && given.file.partition.is_some();
    if from_file && tests.iter().any(is_placed) {
        output.note("the file gives tasks their CPUs; those tasks are placed there first");
    }
}

fn writing(path: &Path) -> String {
    format!("write parameters to {}", path.display())
}

/// Writes parameters for `--parameters`.
fn write(path: &Path, text: &str, output: &Output) -> Result<(), Failure> {
    whole::write(path, text.as_bytes()).map_err(|error| {
        let help = "name a file in a directory that exists and can be written";
        Failure::written(writing(path), None, &error).with_help(help)
    })?;
    output.note(&format!("wrote the parameters to {}", path.display()));
    Ok(())
}

/// The rule for the exit code: all tests asked for by name, else any sound one that says what the file asks for.
fn holds(args: &AnalyzeArgs, set: &TaskSet, results: &[TestResult]) -> bool {
    if args.all || args.tests.is_empty() {
        results.iter().any(|result| result.answers(args, set))
    } else {
        results.iter().all(TestResult::is_proved)
    }
}

impl TestResult {
    /// Whether it proves what was asked for: by name, or what the levels of the file stand for.
    fn answers(&self, args: &AnalyzeArgs, set: &TaskSet) -> bool {
        let asks_for_this = !args.all && !args.tests.is_empty();
        let is_meant = !self.chooses_budgets && (!self.is_for_levels || levels::are_named(set));
        self.is_proved() && (asks_for_this || is_meant)
    }

    pub(crate) fn new(
        test: &Test,
        set: &TaskSet,
        (problem, found): (&Problem, &TestOutcome),
        elapsed_us: u64,
    ) -> Self {
        let subjects = Subject::all(set);
        let task_names: Vec<String> = subjects.iter().map(|it| it.name.to_owned()).collect();
        let server_names = vestal_policy::server_names(set);
        let chosen = found.parameters.clone();
        let names = Names {
            tasks: &task_names,
            levels: &set.levels,
            servers: &server_names,
        };
        let tasks = subjects
            .iter()
            .zip(&found.tasks)
            .map(|(task, outcome)| TaskBound {
                name: task.name.to_owned(),
                criticality: set.level_name(task.criticality).to_owned(),
                priority: outcome.priority,
                cpu: match has_several_cpus(set) {
                    true => outcome.cpu.map(|cpu| u32::from(cpu.0)),
                    false => Some(0),
                },
                deadline_ns: task.deadline_ns,
                response_ns: set
                    .levels
                    .iter()
                    .take(outcome.responses.len().max(task.criticality.index() + 1))
                    .enumerate()
                    .map(|(level, name)| {
                        let bound = outcome.responses.get(level).copied().flatten();
                        (name.clone(), bound.map(|bound| bound.as_nanos()))
                    })
                    .collect(),
            });
        let said = Analysis {
            test: test.name.to_owned(),
            variant: test.variant.map(str::to_owned),
            verdict: verdict(found.verdict),
            kind: kind(found.kind),
            claim: found.claim.map(verdict),
            tasks: tasks.collect(),
            servers: servers::bounds(set, problem, found),
            parameters: parameters::to_json(&chosen, set),
            why: found
                .why
                .as_ref()
                .map(|why| why.with_names(names).to_string()),
            mechanism: None,
            elapsed_us,
        };
        Self {
            said,
            chosen,
            sound: test.is_sound(),
            is_upper_bound: test.is_upper_bound,
            chooses_budgets: test.chooses_budgets,
            is_for_levels: levels::is_for_levels(test),
        }
    }

    /// The bound on the response time of a task in the runs of its own level.
    pub(crate) fn own_bound(&self, task: usize) -> Option<u64> {
        let task = self.said.tasks.get(task)?;
        task.response_ns.get(&task.criticality).copied().flatten()
    }

    /// Whether a sound test says schedulable.
    pub(crate) fn is_proved(&self) -> bool {
        self.sound && self.said.verdict == said::Verdict::Schedulable
    }
}

/// What a row of a result is about: a task, or a job of a finite set.
struct Subject<'a> {
    name: &'a str,
    criticality: Level,
    /// Counted from the release.
    deadline_ns: u64,
}

impl<'a> Subject<'a> {
    fn all(set: &'a TaskSet) -> Vec<Self> {
        let tasks = set.tasks.iter().map(|task| Self {
            name: &task.name,
            criticality: task.criticality,
            deadline_ns: task.deadline.as_nanos(),
        });
        let jobs = set.jobs.iter().map(|job| Self {
            name: &job.name,
            criticality: job.criticality,
            deadline_ns: job.deadline.saturating_since(job.release).as_nanos(),
        });
        tasks.chain(jobs).collect()
    }
}

fn kind(kind: Kind) -> said::Kind {
    match kind {
        Kind::Exact => said::Kind::Exact,
        Kind::Sufficient => said::Kind::Sufficient,
        Kind::Necessary => said::Kind::Necessary,
        Kind::Unsafe => said::Kind::Unsafe,
    }
}

fn verdict(verdict: Verdict) -> said::Verdict {
    match verdict {
        Verdict::Schedulable => said::Verdict::Schedulable,
        Verdict::Unschedulable => said::Verdict::Unschedulable,
        Verdict::NotProven => said::Verdict::NotProven,
    }
}

fn verdict_style(verdict: said::Verdict) -> Style {
    match verdict {
        said::Verdict::Schedulable => Style::Good,
        said::Verdict::Unschedulable => Style::Bad,
        said::Verdict::NotProven => Style::Caution,
    }
}

/// What an answer means that is neither a proof nor a refutation.
fn worth(result: &TestResult) -> Option<String> {
    let said = &result.said;
    if result.chooses_budgets {
        return Some(format!(
            "it speaks of the capacities that it chose, {}, and not of those of the file",
            servers::capacities(&result.chosen, &said.servers)
        ));
    }
    match (said.claim, said.kind) {
        (Some(said::Verdict::Schedulable), _) if result.is_upper_bound => {
            Some("as an upper bound it accepts the set, which proves nothing".to_owned())
        }
        (Some(_), _) if result.is_upper_bound => Some(
            "as an upper bound it does not accept the set, which shows nothing either".to_owned(),
        ),
        (Some(claim), _) => Some(format!(
            "its paper claims: {claim}; this test is refuted and kept for comparison"
        )),
        (None, said::Kind::Necessary) if said.why.is_none() => Some(
            "it passes, as every set has to that can be proved; that alone proves nothing"
                .to_owned(),
        ),
        (None, _) => None,
    }
}

/// One test for people: its verdict, its table, its reason.
pub(crate) fn section(result: &TestResult, set: &TaskSet, output: &Output) -> String {
    let (painter, said) = (output.painter(), &result.said);
    let with = said.mechanism.as_ref();
    let with = with.map_or_else(String::new, |name| {
        format!(", with the overheads of {name}")
    });
    let mut text = format!(
        "{}: {} ({} test{with}, took {} us)\n",
        painter.paint(Style::Bold, &said.name()),
        painter.paint(verdict_style(said.verdict), &said.verdict.to_string()),
        said.kind,
        said.elapsed_us
    );
    if let Some(words) = worth(result) {
        let _ = writeln!(text, "  {words}");
    }
    if let Some(why) = &said.why {
        let _ = writeln!(text, "  why: {why}");
    }
    let mut tasks: Vec<&TaskBound> = said.tasks.iter().collect();
    tasks.sort_by_key(|task| Reverse(task.priority));
    let mut grid = Grid::of(&tasks, output)
        .text("task", |task| &task.name)
        .text("criticality", |task| &task.criticality);
    if has_several_cpus(set) {
        grid = grid.number("CPU", |task| match task.cpu {
            Some(cpu) => cpu.to_string(),
            None => "-".to_owned(),
        });
    }
    grid = grid
        .number("priority", |task| match task.priority {
            Some(priority) => priority.to_string(),
            None => "-".to_owned(),
        })
        .number("deadline", |task| exact(task.deadline_ns));
    for level in &set.levels {
        grid = grid.number(&format!("response {level}"), |task| {
            match task.response_ns.get(level) {
                None => styled("", None),
                Some(None) => styled("-", Some(Style::Bad)),
                Some(Some(bound)) => {
                    let late = *bound > task.deadline_ns;
                    styled(exact(*bound), late.then_some(Style::Bad))
                }
            }
        });
    }
    text.push_str(&grid.render());
    text.push_str(&servers::table(&said.servers, &set.levels, output));
    text.push_str(&job_order(&result.chosen, set));
    text.push_str(&levels::text(&result.chosen, set));
    text.push('\n');
    text
}

/// Busy periods and job priorities, where the test found any.
fn job_order(chosen: &Parameters, set: &TaskSet) -> String {
    let mut text = String::new();
    if let Some(busy) = &chosen.busy_periods {
        let busy = set.levels.iter().zip(busy);
        let busy = busy.map(|(level, length)| format!("{level} {}", exact(length.as_nanos())));
        let _ = writeln!(
            text,
            "\nbusy periods: {}",
            busy.collect::<Vec<_>>().join(", ")
        );
    }
    if let Some(patterns) = &chosen.patterns {
        let total: u64 = patterns.iter().filter_map(|jobs| jobs.last()).sum();
        let _ = writeln!(text, "jobs in a busy period: {total}");
        let lists = chosen.job_priorities.iter().flatten().map(Vec::as_slice);
        let lists = lists.chain(std::iter::repeat(&[][..]));
        for ((task, jobs), list) in set.tasks.iter().zip(patterns).zip(lists) {
            let jobs: Vec<String> = jobs.iter().map(u64::to_string).collect();
            let priorities = match list.is_empty() {
                true => String::new(),
                false => format!(", priorities {}", first_few(list, PRIORITIES_SHOWN)),
            };
            let _ = writeln!(
                text,
                "  {}: {} by level{priorities}",
                task.name,
                jobs.join(" ")
            );
        }
    }
    text
}

fn conclusion(
    set: &TaskSet,
    results: &[TestResult],
    args: &AnalyzeArgs,
    painter: Painter,
) -> String {
    let mut proved = results.iter().filter(|result| result.is_proved());
    let promised = match proved.any(|result| result.is_for_levels) {
        true => levels::promised(set),
        false => String::new(),
    };
    let proved = results.iter().filter(|result| result.answers(args, set));
    let proved: Vec<String> = proved.map(|result| result.said.name()).collect();
    let name = if set.name.is_empty() {
        "The task set"
    } else {
        set.name.as_str()
    };
    if proved.is_empty() {
        return format!(
            "{name} is {} schedulable by any of these tests.\n{promised}",
            painter.paint(Style::Bad, "not proved")
        );
    }
    format!(
        "{name} is {} by {}.\n{promised}",
        painter.paint(Style::Good, "schedulable"),
        proved.join(", ")
    )
}

#[cfg(test)]
mod tests;
