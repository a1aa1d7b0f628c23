//! `vestal analyze FILE`: is the task set schedulable, by which test, and why not?

mod chosen;
mod levels;
mod overview;
mod result;
mod section;
mod servers;
mod strongest;

pub(crate) use result::TestResult;
pub(crate) use section::section;

use self::overview::Answers;
use self::result::has_several_cpus;
use crate::args::AnalyzeArgs;
use crate::clock::Stopwatch;
use crate::commands::overheads::{Source, Taken};
use crate::failure::{Exit, Failure, Outcome};
use crate::input::{self, shown};
use crate::output::Output;
use crate::place;
use crate::progress::Progress;
use crate::registry::{find_test, registry};
use crate::session::read_parameters;
use crate::whole;
use std::path::{Path, PathBuf};
use vestal_analysis::{Parameter, Test};
use vestal_policy::{Given, Registry, parameters};
use vestal_result::Format;
use vestal_result::analysis::Analyses;
use vestal_workload::TaskSet;

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
    let answers = Answers::new(args, &set, &results, overheads.as_ref());
    let strongest = answers.strongest.map(|proof| proof.said.name());
    output.human(&answers.page(args, output));
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
        strongest,
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
    if !args.names_tests() {
        results.iter().any(|result| result.answers(args, set))
    } else {
        results.iter().all(TestResult::is_proved)
    }
}

#[cfg(test)]
mod tests;
