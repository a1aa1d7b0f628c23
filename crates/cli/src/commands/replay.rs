//! `vestal replay TRACE [FILE]`: the recorded facts to a fresh scheduler. Are the answers the same?
//!
//! Managed runs: every plan is equal, and no bottom half ran although a more critical job above it was ready. Native runs: every permit is equal, and no job ran although a
//! more urgent permitted one was ready (contract C8). Recordings of perf and ftrace are compared with a
//! task set instead ([`foreign`]).

mod bottom_halves;
mod domains;
mod foreign;
mod levels;
mod lists;
mod windows;

use crate::args::{ReplayArgs, WorldArgs};
use crate::failure::{Exit, Failure, Outcome};
use crate::input::{self, shown};
use crate::output::{Output, Style};
use crate::quantity::short;
use crate::registry::registry;
use crate::report::dropped_by;
use crate::session::Session;
use std::fmt::Write as _;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use vestal_core::{Duration, JobId, Scheduler};
use vestal_policy::{Configuration, Precision, Registry, parameters};
use vestal_result::Format as Version;
use vestal_result::replay::{Differs, Inverted, Jobs, Levels, Replay, ServerList, ServerWindow};
use vestal_trace::record::COLUMNS;
use vestal_trace::replay::inversion::{Inversion, Order, first_inversion};
use vestal_trace::replay::{self, Difference, Replayed};
use vestal_trace::{Dispatch, Format, Header, Problem, Summary, Trace, TraceError, World};
use vestal_workload::{Source, TaskSet};

/// What a job may run on while a more urgent one is ready before that is an inversion, on Linux: a
/// thread that was woken may have to wait for the manager.
const SWITCH: Duration = Duration::from_micros(100);

/// The same by world; simulated time is exact.
const fn switch(world: World) -> Duration {
    match world {
        World::Linux => SWITCH,
        World::Simulator | World::Kernel | World::Foreign => Duration::ZERO,
    }
}

/// What was decided again, or the first difference.
type Compared = Result<Replayed, Box<Difference>>;

/// What a replay found.
pub(super) struct Found {
    header: Header,
    outcome: Compared,
    inversion: Option<Inverted>,
    levels: Option<Levels>,
    windows: Vec<ServerWindow>,
    lists: Vec<ServerList>,
    task_set: Vec<String>,
}

pub(crate) fn replay(args: &ReplayArgs, output: &Output) -> Outcome {
    if foreign::may_be(&args.trace) {
        return foreign::check(args, output);
    }
    let foreign_only = [
        ("--policy", args.policy.is_some()),
        ("--tolerance", args.tolerance.is_some()),
        ("--parameters", args.parameters.is_some()),
    ];
    if let Some((name, _)) = foreign_only.iter().find(|(_, given)| *given) {
        let why =
            format!("a trace of Vestal says itself how it was scheduled, so {name} has no meaning");
        return Err(
            Failure::input(format!("replay {}", shown(&args.trace)), why).with_help(format!(
                "leave out {name}: it is for recordings of perf and ftrace"
            )),
        );
    }
    let (found, document) = decided_again(registry(), args, output)?;
    output.human(&page(&args.trace, &found, &document, output));
    output.json(&document)?;
    Ok(Exit::holds(document.equal))
}

/// What comes of it, as it is and as a document.
pub(super) fn decided_again(
    registry: &Registry,
    args: &ReplayArgs,
    output: &Output,
) -> Result<(Found, Replay), Failure> {
    let found = find(registry, args, output)?;
    let document = document(&args.trace, &found);
    Ok((found, document))
}

fn find(registry: &Registry, args: &ReplayArgs, output: &Output) -> Result<Found, Failure> {
    let trace = open(&args.trace)?;
    let header = trace.header().clone();
    let what = || format!("replay {}", shown(&args.trace));
    let several = !header.domains.is_empty();
    if header.world == World::Foreign {
        return Err(Failure::input(
            what(),
            "it is no recording of a scheduler, so there is nothing to decide again",
        )
        .with_help("record with `vestal simulate --trace` or `vestal run --trace`"));
    }
    let recorded = recorded_set(&args.trace, &header)?;
    let (set, task_set) = match &args.file {
        None => (recorded, Vec::new()),
        Some(path) => another_set((&recorded, &what()), path, output)?,
    };
    let session = session(registry, (&args.trace, &header), set, output)?;
    let listed = crate::tracing::header(&session, header.world, header.dispatch);
    if args.file.is_none() {
        agree(&args.trace, &header, &listed)?;
    } else if listed.domains != header.domains || (!several && listed.cpus != header.cpus) {
        return Err(domains::others(&what()));
    }
    let (outcome, lists) = again((&args.trace, &header), trace, &session, &what())?;
    let inversion = match (&outcome, header.dispatch) {
        (Ok(_), Dispatch::Native) => inversion(&args.trace, &header, &session)?,
        (Ok(_), Dispatch::Managed) => bottom_halves::inversion(&args.trace, &header, &session)?,
        (Err(_), _) => None,
    };
    let levels = match &outcome {
        Ok(_) => levels::find(&args.trace, &header, &session)?,
        Err(_) => None,
    };
    let windows = match &outcome {
        Ok(_) => windows::find(&args.trace, &header, &session)?,
        Err(_) => Vec::new(),
    };
    Ok(Found {
        header,
        outcome,
        inversion,
        levels,
        windows,
        lists,
        task_set,
    })
}

/// The set of a file in place of the recorded one, and what of it differs.
fn another_set(
    (recorded, what): (&TaskSet, &str),
    path: &Path,
    output: &Output,
) -> Result<(TaskSet, Vec<String>), Failure> {
    let other = input::task_set(path, output)?;
    let differences = differences(recorded, &other);
    let names =
        |set: &TaskSet| -> Vec<String> { set.tasks.iter().map(|task| task.name.clone()).collect() };
    if names(recorded) != names(&other) {
        let why = "its tasks are not those of the trace, so the facts speak of others";
        let help = format!("the trace is about: {}", names(recorded).join(", "));
        let what = format!("{what} with {}", shown(path));
        return Err(Failure::input(what, why).with_help(help));
    }
    Ok((other, differences))
}

/// What comes of deciding everything again, and of lists of servers if nothing differs.
fn again(
    (path, header): (&Path, &Header),
    trace: Trace<BufReader<File>>,
    session: &Session,
    what: &str,
) -> Result<(Compared, Vec<ServerList>), Failure> {
    let mut lists = Vec::new();
    let outcome = if header.domains.is_empty() {
        let mut scheduler = scheduler(header, session.configuration(), what)?;
        let replayed = replay::replay(header, trace, scheduler.as_mut());
        if replayed.is_ok() {
            lists = lists::of(header, scheduler.as_ref());
        }
        replayed.map(Replayed::from)
    } else {
        domains::replay(header, trace, &session.system, what)?
    };
    match outcome {
        Ok(replayed) => Ok((Ok(replayed), lists)),
        Err(replay::Failure::Differs(difference)) => Ok((Err(difference), lists)),
        Err(replay::Failure::Unreadable(error)) => Err(unreadable(path, &error)),
    }
}

/// Opens a complete trace and reads its header.
fn open(path: &Path) -> Result<Trace<BufReader<File>>, Failure> {
    let what = format!("read {}", shown(path));
    let known = "a replay needs every record: give a .vtrace or a .csv trace";
    let format = Format::from_path(path)
        .map_err(|unknown| Failure::input(what.as_str(), unknown.to_string()).with_help(known))?;
    let only_written = || {
        let why = format!("V0811: .{} traces are only written", format.extension());
        Failure::input(what.as_str(), why).with_help(known)
    };
    if !format.is_complete() {
        return Err(only_written());
    }
    match Trace::open(format, opened(path)?) {
        Some(trace) => trace.map_err(|error| unreadable(path, &error)),
        None => Err(only_written()),
    }
}

fn opened(path: &Path) -> Result<BufReader<File>, Failure> {
    let file = File::open(path).map_err(|error| {
        let place = vestal_trace::Place::Byte(0);
        let problem = Problem::Io(error);
        unreadable(path, &TraceError { place, problem })
    })?;
    Ok(BufReader::new(file))
}

/// The failure for a trace that cannot be read.
fn unreadable(path: &Path, error: &TraceError) -> Failure {
    let (code, problem) = (error.problem.code(), &error.problem);
    let why = format!("{code}: {}: {problem}", error.place);
    Failure::input(format!("read {}", shown(path)), why)
        .with_help(problem.help())
        .with_help(format!("`vestal explain {code}` says more about {code}"))
}

fn recorded_set(path: &Path, header: &Header) -> Result<TaskSet, Failure> {
    let name = format!("{} (its task set)", shown(path));
    let source = Source::new(&name, &header.task_set);
    TaskSet::from_source(&source).map_err(|found| input::unreadable(path, found))
}

/// The session that was recorded, with `set` for its task set.
fn session(
    registry: &Registry,
    (path, header): (&Path, &Header),
    set: TaskSet,
    output: &Output,
) -> Result<Session, Failure> {
    let options = header.options.iter();
    let args = WorldArgs {
        file: path.to_owned(),
        policy: header.policy.clone(),
        duration: None,
        scenario: None,
        seed: header.seed,
        options: options
            .map(|(key, value)| format!("{key}={value}"))
            .collect(),
        parameters: None,
    };
    let name = format!("{} (its parameters)", shown(path));
    let source = Source::new(&name, &header.parameters);
    let parameters = parameters::read(&source, &set);
    let parameters = parameters.map_err(|found| input::unreadable(path, found))?;
    Session::recorded(registry, &args, set, &parameters, output)
}

/// Whether the header's tasks are those of its task set and its domains those of its policy, which `listed` has.
fn agree(path: &Path, header: &Header, listed: &Header) -> Result<(), Failure> {
    let why = if listed.tasks != header.tasks || listed.levels != header.levels {
        "V0805: its tasks and levels are not those of its task set"
    } else if listed.domains != header.domains {
        "V0805: its domains are not those of its policy and parameters"
    } else if header.domains.is_empty() && listed.cpus != header.cpus {
        // The only domain has all of them.
        "V0805: its CPUs are not those of its policy and parameters"
    } else {
        return Ok(());
    };
    Err(Failure::input(format!("read {}", shown(path)), why)
        .with_help("undo the change to the file, or record the run again")
        .with_help("`vestal explain V0805` says more about V0805"))
}

/// What the recorded world could do.
const fn precision(header: &Header) -> Precision {
    Precision {
        granularity: header.granularity,
        wake_granularity: header.wake_granularity,
    }
}

/// A fresh scheduler of the recorded configuration.
fn scheduler(
    header: &Header,
    configuration: &Configuration,
    what: &str,
) -> Result<Box<dyn Scheduler>, Failure> {
    let precision = precision(header);
    let refused = |refusal| Failure::refused(what, refusal);
    Ok(match header.dispatch {
        Dispatch::Managed => configuration.engine(precision).map_err(refused)?.boxed(),
        Dispatch::Native => Box::new(configuration.guard(precision).map_err(refused)?),
    })
}

/// The first job that ran although a more urgent one was ready.
fn inversion(path: &Path, header: &Header, session: &Session) -> Result<Option<Inverted>, Failure> {
    let (priorities, placement) = if header.domains.is_empty() {
        (ranks(session.configuration()), Vec::new())
    } else {
        domains::order(&session.system)
    };
    let order = Order {
        priorities: &priorities,
        placement: &placement,
        tolerance: switch(header.world),
    };
    let found = first_inversion(header, open(path)?, order);
    let found = found.map_err(|error| unreadable(path, &error))?;
    let name = |job: JobId| format!("job {} of {}", job.sequence, session.task_name(job.task));
    Ok(found.map(|inversion| inverted(&inversion, name)))
}

/// The priorities as fixed priorities keep them: of equals the task that stands first.
fn ranks(configuration: &Configuration) -> Vec<u32> {
    let entries = configuration.tasks();
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by_key(|&index| {
        let priority = entries.get(index).map_or(0, |entry| entry.priority);
        (priority, std::cmp::Reverse(index))
    });
    let mut ranks = vec![0; entries.len()];
    for (rank, index) in (1..).zip(order) {
        if let Some(entry) = ranks.get_mut(index) {
            *entry = rank;
        }
    }
    ranks
}

fn inverted(found: &Inversion, name: impl Fn(JobId) -> String) -> Inverted {
    Inverted {
        cpu: found.cpu.0,
        from_ns: found.from.as_nanos(),
        to_ns: found.to.as_nanos(),
        running: name(found.running),
        waiting: name(found.waiting),
    }
}

/// What two task sets say differently, line by line of their resolved forms.
fn differences(recorded: &TaskSet, other: &TaskSet) -> Vec<String> {
    let (recorded, other) = (recorded.to_toml(), other.to_toml());
    let (recorded, other) = (parts(&recorded), parts(&other));
    let mut found = Vec::new();
    for (name, lines) in &recorded {
        let Some((_, others)) = other.iter().find(|(label, _)| label == name) else {
            found.push(format!("{name} is missing"));
            continue;
        };
        let key = |line: &str| line.split('=').next().unwrap_or_default().to_owned();
        for line in lines.iter().filter(|line| !others.contains(line)) {
            let instead = others.iter().find(|other| key(other) == key(line));
            let instead = instead.map_or("nothing", |other| other);
            found.push(format!("{name}: {instead}, in the trace {line}"));
        }
        for line in others.iter().filter(|line| !lines.contains(line)) {
            if !lines.iter().any(|old| key(old) == key(line)) {
                found.push(format!("{name}: {line}, in the trace nothing"));
            }
        }
    }
    let new = other
        .iter()
        .filter(|(name, _)| !recorded.iter().any(|(label, _)| label == name));
    found.extend(new.map(|(name, _)| format!("{name} is not in the trace")));
    found
}

/// The tables of a TOML text, each by its heading and its name, with its lines.
fn parts(text: &str) -> Vec<(String, Vec<&str>)> {
    let blocks = text
        .split("\n\n")
        .map(|block| block.lines().collect::<Vec<_>>());
    let named = blocks.map(|lines| {
        let heading = lines.first().copied().unwrap_or_default();
        let heading = heading.trim_matches(['[', ']']);
        let name = lines.iter().find_map(|line| line.strip_prefix("name = "));
        let name = match name {
            Some(name) if heading == "task" => name.trim_matches('"').to_owned(),
            Some(name) => format!("{heading} {name}"),
            None => heading.to_owned(),
        };
        (name, lines)
    });
    named.collect()
}

fn document(path: &Path, found: &Found) -> Replay {
    let replayed = found.outcome.as_ref().ok();
    let summary = replayed.map(Replayed::sum);
    let difference = found.outcome.as_ref().err();
    let lines =
        |records: &[vestal_trace::Record]| records.iter().map(ToString::to_string).collect();
    Replay {
        format: Version::V1,
        file: shown(path),
        world: found.header.world.word().to_owned(),
        dispatch: found.header.dispatch.word().to_owned(),
        policy: found.header.policy.clone(),
        equal: difference.is_none()
            && found.inversion.is_none()
            && found
                .levels
                .as_ref()
                .is_none_or(|levels| levels.broken == 0),
        records: match &found.outcome {
            Ok(replayed) => replayed.records,
            Err(difference) => difference.number,
        },
        facts: summary.map(|summary| summary.facts),
        decisions: summary.map(|summary| summary.decisions),
        permits: summary.map(|summary| summary.permits),
        notices: summary.map(|summary| summary.notices),
        jobs: summary.map(|summary| jobs(&summary)),
        modes: summary.map(|summary| summary.counts.mode_changes),
        gaps: summary.map(|summary| summary.counts.gaps),
        difference: difference.map(|difference| Differs {
            domain: domains::name(&found.header, difference.domain),
            number: difference.number,
            recorded: difference.recorded.map(|record| record.to_string()),
            why: difference.why.to_string(),
            replayed: lines(&difference.replayed),
            before: lines(&difference.before),
            after: lines(&difference.after),
        }),
        inversion: found.inversion.clone(),
        levels: found.levels.clone(),
        windows: found.windows.clone(),
        lists: found.lists.clone(),
        task_set: found.task_set.clone(),
        domains: domains::documents(&found.header, replayed),
    }
}

fn jobs(summary: &Summary) -> Jobs {
    let counts = &summary.counts;
    Jobs {
        released: counts.released,
        completed: counts.completed,
        dropped: counts.dropped.total(),
        dropped_by: dropped_by(counts.dropped),
        missed: counts.missed,
        missed_guaranteed: counts.missed_guaranteed,
        overruns: counts.overruns,
    }
}

/// The result for people.
fn page(path: &Path, found: &Found, document: &Replay, output: &Output) -> String {
    let painter = output.painter();
    let mut text = format!(
        "Replayed {}: {}, {} dispatch, under {}\n",
        shown(path),
        found.header.world.word(),
        found.header.dispatch.word(),
        found.header.policy
    );
    // Writing into a string cannot fail.
    if !found.task_set.is_empty() {
        let _ = writeln!(text, "the task set is another one:");
        for line in &found.task_set {
            let _ = writeln!(text, "  {line}");
        }
    }
    let verdict = match &found.outcome {
        Ok(replayed) => {
            text.push_str(&figures(replayed));
            text.push_str(&domains::page(&found.header, replayed));
            let levels = document.levels.as_ref();
            text.push_str(&levels.map(levels::page).unwrap_or_default());
            text.push_str(&windows::page(&document.windows));
            text.push_str(&lists::page((&document.lists, replayed.sum().lists)));
            match &document.inversion {
                Some(found) => painter.paint(
                    Style::Bad,
                    &format!(
                        "Every answer is the same, but from {} to {} {} ran although {} was ready.",
                        short(found.from_ns),
                        short(found.to_ns),
                        found.running,
                        found.waiting
                    ),
                ),
                None => levels
                    .and_then(|found| levels::verdict(found, painter))
                    .unwrap_or_else(|| {
                        let good = match levels {
                            Some(found) if found.tolerance_ns > 0 => SAME_LEVELS_REAL,
                            Some(_) => SAME_LEVELS,
                            None => same(found.header.dispatch),
                        };
                        painter.paint(Style::Good, good)
                    }),
            }
        }
        Err(difference) => {
            let _ = writeln!(text, "The first difference, with the records around it:");
            let _ = writeln!(text, "             {COLUMNS}");
            let _ = write!(text, "{difference}");
            painter.paint(
                Style::Bad,
                &match domains::name(&found.header, difference.domain) {
                    Some(domain) => format!(
                        "The replay differs at record {}, in the domain {domain}.",
                        difference.number
                    ),
                    None => format!("The replay differs at record {}.", difference.number),
                },
            )
        }
    };
    text.push_str(&verdict);
    text.push('\n');
    text
}

/// What all domains say together.
fn figures(replayed: &Replayed) -> String {
    let summary = replayed.sum();
    let counts = &summary.counts;
    format!(
        "{} records: {} facts reported again, {} decisions, {} permits, {} notices\n\
         jobs: {} released, {} completed, {} dropped, {} missed their deadline\n\
         modes: {} changes after {} overruns; machine gaps: {}\n",
        summary.records,
        summary.facts,
        summary.decisions,
        summary.permits,
        summary.notices,
        counts.released,
        counts.completed,
        counts.dropped.total(),
        counts.missed,
        counts.mode_changes,
        counts.overruns,
        counts.gaps
    )
}

const SAME_LEVELS: &str = "The scheduler decides the same: every plan is equal; each budget is used up once, and no level waits for a lower one.";

const SAME_LEVELS_REAL: &str = "The scheduler decides the same: every plan is equal; no rule of levels was seen broken for more than 100 us at once (docs/trace.md says what that does not find).";

const fn same(dispatch: Dispatch) -> &'static str {
    match dispatch {
        Dispatch::Managed => "The scheduler decides the same: every plan is equal.",
        Dispatch::Native => {
            "The guard decides the same: every permit is equal, and no job overtook a more urgent one."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREE: &str = include_str!("../../../../examples/huang-three-tasks.toml");

    #[test]
    fn what_two_sets_say_differently_is_named_by_task_and_key() {
        let set = |text: &str| TaskSet::parse("three.toml", text).unwrap();
        assert_eq!(differences(&set(THREE), &set(THREE)), Vec::<String>::new());
        let other = THREE.replacen("period      = 10\n", "period      = 12\n", 1);
        assert_ne!(other, THREE);
        let found = differences(&set(THREE), &set(&other));
        // The deadline follows from the period.
        assert_eq!(
            found,
            [
                "tau2: period = \"12ms\", in the trace period = \"10ms\"",
                "tau2: deadline = \"12ms\", in the trace deadline = \"10ms\""
            ]
        );
        let renamed = THREE.replacen("\"tau1\"", "\"tau9\"", 1);
        let found = differences(&set(THREE), &set(&renamed));
        assert_eq!(found, ["tau1 is missing", "tau9 is not in the trace"]);
    }
}
