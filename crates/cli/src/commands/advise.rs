//! `vestal advise FILE`: which policies and mechanisms keep a set schedulable on a machine, with what margin.

use crate::args::AdviseArgs;
use crate::commands::overheads::{Source, Taken};
use crate::failure::{Exit, Failure, Outcome};
use crate::input::{self, shown};
use crate::interrupt;
use crate::output::{Output, Style};
use crate::progress::Progress;
use crate::registry::registry;
use crate::table::{Grid, styled};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use vestal_analysis::{Charging, Names, Parameters, Problem, Scratch, Test};
use vestal_experiment::costs::{FACTOR_MAX, ONE, margin};
use vestal_policy::{Given, Options, Policy, Registry};
use vestal_result::Format;
use vestal_result::advice::{Advice, Choice};
use vestal_workload::TaskSet;

pub(crate) fn advise(args: &AdviseArgs, output: &Output) -> Outcome {
    // What is wrong with a file of overheads is said before anything is read or measured.
    let named = match args.overheads.overheads {
        Some(_) => Source::of_file(&args.overheads)?,
        None => None,
    };
    let set = input::task_set(&args.file, output)?;
    if set.tasks.is_empty() {
        let what = format!("advise on {}", shown(&args.file));
        let failure = Failure::input(
            what,
            "it has jobs that are released once, which no policy runs",
        );
        return Err(failure.with_help("`vestal analyze` says whether they are schedulable"));
    }
    let source = match named {
        Some(source) => source,
        None => Source::of_machine(&args.overheads, args.quick, output)?,
    };
    let interrupted = || Failure::interrupted(format!("advise on {}", shown(&args.file)));
    if interrupt::asked() {
        return Err(interrupted().with_help("what was measured until then is not enough"));
    }
    interrupt::watch()?;
    let bounded = interrupt::bounded(output.last_words(interrupted()));
    let choices = choices(registry(), (&set, &args.file), &source, output)?;
    let exit = Exit::holds(choices.iter().any(|choice| choice.schedulable));
    let _told = bounded.told(output);
    output.human(&format!(
        "{}\nmargin: the largest factor on all of them; scaling: the largest on execution times if nothing cost anything\n\n",
        source.in_words()
    ));
    output.human(&table(&choices, output));
    output.human(&conclusion(&choices, args, output));
    output.json(&Advice {
        format: Format::V1,
        file: shown(&args.file),
        overheads: source.said(),
        choices,
    })?;
    Ok(exit)
}

/// A policy with a test that proves it, and the overheads of a mechanism.
struct Candidate<'a> {
    policy: &'a dyn Policy,
    test: &'a Test,
    options: Options,
    /// It states the guarantee of the policy's runs; else another test does, which is told what this one chose.
    is_stated: bool,
    taken: Taken,
}

/// Every policy with each of its sound tests that speak of such a set and every mechanism that carries it out, with what comes
/// of them; the largest margin first, among equal ones in the order of the registry and the file.
pub(crate) fn choices(
    registry: &Registry,
    (set, file): (&TaskSet, &std::path::Path),
    source: &Source,
    output: &Output,
) -> Result<Vec<Choice>, Failure> {
    let given = vestal_policy::given(set, &Parameters::default());
    let what = format!("advise on {}", shown(file));
    let given = given.map_err(|refusal| Failure::refused(what.as_str(), refusal))?;
    let candidates = candidates(registry, set, (source, output))?;
    let progress = Progress::new(output, "advising", candidates.len() as u64);
    let mut scratch = Scratch::default();
    let mut choices = Vec::with_capacity(candidates.len());
    for (done, candidate) in (1..).zip(&candidates) {
        // A policy that refuses the set is no choice.
        if let Some(choice) = candidate.judged(set, &given, &mut scratch) {
            choices.push(choice);
        }
        progress.at(done);
    }
    choices.sort_by_key(|choice| Reverse(choice.margin_permille));
    Ok(choices)
}

fn candidates<'a>(
    registry: &'a Registry,
    set: &TaskSet,
    (source, output): (&Source, &Output),
) -> Result<Vec<Candidate<'a>>, Failure> {
    let several = set.platform.cpus > 1;
    let mut found = Vec::new();
    for policy in registry.policies() {
        let names = policy.about().tests.iter();
        let tests = names.filter_map(|name| registry.test(name));
        let speaks = |test: &&Test| {
            test.is_sound()
                && !test.is_for_job_sets
                && !test.is_for_servers
                && test.charging != Charging::No
                && (test.is_for_several_cpus || !several)
        };
        for test in tests.filter(speaks) {
            let options = registry.options_of(policy, test);
            let stated = policy.test(&options).ok().flatten();
            let is_stated = stated.is_some_and(|name| test.is_called(name));
            let mut mechanisms = source.of_policy(policy, test)?;
            // Nobody can run it.
            mechanisms.retain(|taken| {
                let beat = taken.overheads.heartbeat;
                beat.is_none_or(|beat| !beat.is_scheduled)
            });
            if mechanisms.is_empty() {
                let name = policy.about().name;
                output.note(&format!(
                    "{name} is left out: there are no overheads of a mechanism that carries it out"
                ));
            }
            for taken in mechanisms {
                found.push(Candidate {
                    policy,
                    test,
                    options: options.clone(),
                    is_stated,
                    taken,
                });
            }
        }
    }
    Ok(found)
}

impl Candidate<'_> {
    /// `None`: the policy has something against the set.
    fn judged(&self, set: &TaskSet, given: &Given, scratch: &mut Scratch) -> Option<Choice> {
        let problem = vestal_policy::problem_under(self.policy, set, self.test, given).ok()?;
        let (test, overheads) = (self.test, self.taken.overheads);
        let margin_permille = margin(|factor| {
            let overheads = overheads.scaled(factor, ONE);
            test.accepts(&problem.clone().with_overheads(overheads), scratch)
        });
        let scaling_permille = margin(|factor| test.accepts(&problem.scaled(factor, ONE), scratch));
        let schedulable = margin_permille.is_some_and(|margin| margin >= ONE);
        Some(Choice {
            policy: self.policy.about().name.to_owned(),
            options: self.options.pairs().iter().cloned().collect(),
            test: test.to_string(),
            by_parameters: !self.is_stated,
            mechanism: self.taken.mechanism.clone(),
            schedulable,
            margin_permille,
            scaling_permille,
            why: (!schedulable).then(|| self.why(set, problem)).flatten(),
        })
    }

    fn why(&self, set: &TaskSet, problem: Problem) -> Option<String> {
        let outcome = self
            .test
            .analyse(&problem.with_overheads(self.taken.overheads));
        let tasks: Vec<String> = set.tasks.iter().map(|task| task.name.clone()).collect();
        let names = Names {
            tasks: &tasks,
            levels: &set.levels,
            servers: &[],
        };
        outcome.why.map(|why| why.with_names(names).to_string())
    }
}

/// A margin for people: a factor.
fn factor(margin: Option<u64>) -> String {
    match margin {
        None => "-".to_owned(),
        Some(FACTOR_MAX) => format!(">= {}", FACTOR_MAX / ONE),
        Some(margin) => format!("{}.{:03}", margin / ONE, margin % ONE),
    }
}

/// How many choices people are shown.
const CHOICES_SHOWN: usize = 24;

/// The best choices, of those with the same policy and mechanism one.
fn table(choices: &[Choice], output: &Output) -> String {
    let style = |choice: &Choice| match choice.schedulable {
        true => Style::Good,
        false => Style::Bad,
    };
    let mut seen = BTreeSet::new();
    let mut best: Vec<&Choice> = choices.iter().collect();
    best.retain(|choice| seen.insert((with_options(choice), &choice.mechanism)));
    let more = best.split_off(best.len().min(CHOICES_SHOWN)).len();
    let grid = Grid::of(&best, output)
        .text("policy", |choice| with_options(choice))
        .text("mechanism", |choice| &choice.mechanism)
        .text("test", |choice| &choice.test)
        .number("margin", |choice| {
            styled(factor(choice.margin_permille), Some(style(choice)))
        })
        .number("scaling", |choice| factor(choice.scaling_permille));
    let more = match more {
        0 => String::new(),
        more => format!("and {more} more, none with a larger margin; --format json has all\n"),
    };
    format!("{}{more}\n", grid.render())
}

/// The policy with its options, as on a command line.
fn with_options(choice: &Choice) -> String {
    let options = choice.options.0.iter();
    let options = options.map(|(key, value)| format!(" --set {key}={value}"));
    std::iter::once(choice.policy.clone())
        .chain(options)
        .collect()
}

/// What `run` is told of a mechanism.
fn for_run(mechanism: &str) -> String {
    match mechanism.split_once('/') {
        Some(("native", monitor)) => format!(" --monitor {monitor}"),
        Some(("ftts", barrier)) => format!(" --barrier {barrier}"),
        Some((dispatch, _)) => format!(" --dispatch {dispatch}"),
        None => format!(" --mechanism {mechanism}"),
    }
}

/// How the best choice is run.
fn commands(best: &Choice, file: &str) -> String {
    let (options, mechanism) = (with_options(best), for_run(&best.mechanism));
    match best.by_parameters {
        false => format!("vestal run {file} --policy {options}{mechanism}\n"),
        true => format!(
            "vestal analyze {file} --test {} --emit chosen.json\n\
             vestal run {file} --policy {options} --parameters chosen.json{mechanism}\n",
            best.test
        ),
    }
}

fn conclusion(choices: &[Choice], args: &AdviseArgs, output: &Output) -> String {
    let painter = output.painter();
    let file = shown(&args.file);
    match choices.first().filter(|choice| choice.schedulable) {
        None => format!(
            "{file} is {} schedulable with these overheads by any policy and mechanism.\n",
            painter.paint(Style::Bad, "not proved")
        ),
        Some(best) => format!(
            "{file} is {} with these overheads and a margin of {}: the policy {} by {}, proved by {}.\n\
             {}",
            painter.paint(Style::Good, "schedulable"),
            factor(best.margin_permille),
            best.policy,
            best.mechanism,
            best.test,
            commands(best, &file)
        ),
    }
}
