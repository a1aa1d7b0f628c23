//! Between a session and the Linux world: how it is configured, and what it reports.

use super::costs::cost;
use super::devices::{self, Devices};
use super::interrupts::{self, Counters};
use super::machine::machine_lines;
use super::{RealRun, Settings, cpus, frames, memory, outcome, pace, periods};
use crate::failure::Failure;
use crate::input::shown;
use crate::interrupt;
use crate::output::Output;
use crate::progress::ClockProgress;
use crate::quantity::short;
use crate::report::RunResult;
use crate::session::Session;
use crate::tracing::{self, Reserved, TraceFiles};
use crate::watch::{Feed, View};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use vestal_bench::primitives::Effort;
use vestal_linux::{Ended, ErrorKind, Recording, Report, RunError, Start};
use vestal_policy::{Cluster, Precision, Refusal};
use vestal_result::bench::Primitive;
use vestal_result::run::Proof;
use vestal_trace::{Dispatch, Header, Record, Sink, World};
use vestal_workload::Scenario;
use vestal_workload::model::{Arrival, Work};

/// What the policy's engines, or their guards where the kernel dispatches, have against the clusters.
fn check_clusters(session: &Session, is_managed: bool) -> Result<(), Refusal> {
    for cluster in &session.system.clusters {
        if is_managed {
            drop(cluster.configuration.engine(Precision::EXACT)?);
        } else {
            // Nothing else lets a policy come here that fixed priorities cannot carry out.
            let help =
                "leave out --dispatch native: a manager can carry out the plans of the scheduler";
            let guard = cluster.configuration.guard(Precision::EXACT);
            drop(guard.map_err(|refusal| refusal.with_help(help))?);
        }
    }
    Ok(())
}

/// What the policy has against the set, its options or this dispatch, in its own words, and what this machine has.
fn check(session: &Session, settings: &Settings, is_managed: bool) -> Result<(), Failure> {
    let refused = |refusal| Failure::refused(format!("run {}", shown(&session.file)), refusal);
    cpus::check_entries(session, settings)?;
    if let Some(refusal) = session.system.only_simulated() {
        return Err(refused(refusal));
    }
    cpus::check_observed(session, settings)?;
    pace::check(settings)?;
    frames::check(session, settings)?;
    check_clusters(session, is_managed).map_err(refused)?;
    periods::check(session)?;
    memory::check(session)
}

/// Runs a session on this machine.
pub(crate) fn execute(
    session: &Session,
    settings: &Settings,
    traces: &[PathBuf],
    output: &Output,
) -> Result<RealRun, Failure> {
    let what = format!("run {}", shown(&session.file));
    let is_managed = dispatch(session, settings) == Dispatch::Managed;
    check(session, settings, is_managed)?;
    let devices = Devices::new(session, settings)?;
    // From here on there may be files that a stop must not leave behind. As long as nothing runs it ends the process, also
    // while arrays are filled, and while nobody reads a trace.
    interrupt::watch()?;
    let bounded = interrupt::bounded(output.last_words(Failure::interrupted(what.as_str())));
    let reserved = Reserved::new(traces)?;
    let refused = Arc::new(AtomicU64::new(0));
    let mut executive = cpus::with_devices(session, settings, &devices, &refused)?;
    if settings.marks {
        let marker = vestal_linux::trace_marker();
        let missing = |(path, source)| RunError::NoTraceMarker { path, source };
        let marker = marker.map_err(|error| failure(session, missing(error)))?;
        executive = executive.marked(marker);
    }
    drop(bounded);
    // One that came just now has nothing to end yet.
    interrupt::check(|| what.clone())?;
    let files = Arc::new(Mutex::new(None));
    let view = settings.watch.then(|| View::new(session, is_managed));
    let view = view.flatten();
    if !traces.is_empty() || view.is_some() {
        let feed = view.as_ref().map(View::feed);
        executive = executive.recorded(recording(session, settings, reserved, &files, feed));
    }
    let span = Duration::from_nanos(session.duration.as_nanos());
    let progress = view
        .is_none()
        .then(|| ClockProgress::start(output, "running", span));
    let before = Counters::now();
    let senders = devices.begin(settings);
    let report = executive.run(session.duration);
    senders.end();
    let counted = Counters::now();
    drop(progress);
    let shown = view.map(View::close).transpose();
    let report = report.map_err(|error| failure(session, error))?;
    let written = lock(&files).take();
    let unwritten = written.and_then(|files| files.finish(output));
    let mut result = outcome::result(session, settings, &report);
    let rows = devices.rows(&report);
    result.run.devices = rows.map_err(|error| failure(session, error))?;
    if !result.run.devices.is_empty() {
        let processors = report.cpus.iter().map(|cpu| cpu.processor);
        result.run.machine.interrupts = counted.since(&before, processors);
    }
    let mut warnings = warnings(session, &report, &result, refused.load(Ordering::Relaxed));
    warnings.extend(devices::warnings(&devices, &report, &result.run.devices));
    warnings.extend(cpus::sharing(session, settings));
    warnings.extend(cpus::serving(session));
    warnings.extend(report.frames.as_ref().and_then(frames::undecided));
    if let Err(error) = shown {
        warnings.push(format!("the live view was not shown to the end: {error}"));
    }
    let mut machine = machine_lines(session, &report, settings);
    machine.extend(result.run.machine.interrupts.iter().map(interrupts::line));
    Ok(RealRun {
        interrupted: report.ended != Ended::Finished,
        machine,
        warnings,
        result,
        unwritten,
    })
}

/// The traces of a run, from its beginning to its end.
type Files = Arc<Mutex<Option<TraceFiles>>>;

/// No thread panics with the lock, and the files would be whole all the same.
fn lock(files: &Files) -> MutexGuard<'_, Option<TraceFiles>> {
    files.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The traces of a run that has begun; `None`: it has not, or they have begun already.
fn begin(waiting: &mut Option<(Reserved, Header, Start)>) -> Option<TraceFiles> {
    let started = waiting.as_ref()?.2.get()?;
    let (reserved, header, _) = waiting.take()?;
    Some(reserved.begin_or_fail(&tracing::with_origin(header, started)))
}

/// What records a run into files, and shows it if it is watched; only when it begins is known what the
/// header of the files says.
fn recording(
    session: &Session,
    settings: &Settings,
    reserved: Reserved,
    files: &Files,
    feed: Option<Feed>,
) -> Recording {
    let dispatch = dispatch(session, settings);
    let header = Header {
        // A manager tells of what happened since it looked last.
        ordered: dispatch == Dispatch::Native,
        ..tracing::header(session, World::Linux, dispatch)
    };
    let files = Arc::clone(files);
    let recording = Recording::new(move |beginning| {
        let header = Header {
            granularity: beginning.granularity,
            ..header
        };
        // When and by whom is said when the run has begun.
        let mut waiting = Some((reserved, header, beginning.start.clone()));
        let mut view = feed.map(|feed| feed.begin(&beginning.processors));
        Ok(Box::new(move |records: &[Record]| {
            let mut files = lock(&files);
            if files.is_none() {
                *files = begin(&mut waiting);
            }
            if let Some(files) = files.as_mut() {
                records.iter().for_each(|record| files.put(*record));
                files.keep_up();
            }
            drop(files);
            if let Some(view) = &mut view {
                view(records);
            }
        }))
    });
    match session.system.clusters.as_slice() {
        [_] => recording,
        // Each has a domain of its own, whose numbers are those of the task set.
        _ => recording.in_scopes(tracing::scopes(&session.system).concat()),
    }
}

/// Measures what the mechanisms of real runs cost here; nothing if a stop was requested meanwhile.
pub(crate) fn primitives(is_quick: bool, output: &Output) -> Result<Vec<Primitive>, Failure> {
    let (effort, seconds) = match is_quick {
        true => (Effort::Quick, 2),
        false => (Effort::Full, 4),
    };
    let progress = ClockProgress::start(output, "measuring", Duration::from_secs(seconds));
    let measured = interrupt::unless_stopped(move || vestal_bench::primitives::measure(effort));
    drop(progress);
    let Some(measured) = measured? else {
        return Ok(Vec::new());
    };
    let measured = measured.map_err(|error| blame("measure the primitives".to_owned(), error))?;
    let costs = measured.iter();
    Ok(costs.map(|it| cost(it.name, &it.cost)).collect())
}

/// Who orders jobs: managers, if one of the CPUs needs one. A recording says it once, for all of them.
pub(super) fn dispatch(session: &Session, settings: &Settings) -> Dispatch {
    let mut clusters = session.system.clusters.iter();
    match clusters.any(|cluster| cpus::needs_manager(cluster, settings)) {
        true => Dispatch::Managed,
        false => Dispatch::Native,
    }
}

/// What proves that the run keeps the policy's guarantee.
pub(super) fn proof(session: &Session, settings: &Settings) -> Option<Proof> {
    let clusters = &session.system.clusters;
    let holds = |cluster: &Cluster| cluster.configuration.holds_unenforced();
    let enforced = !settings.observe || clusters.iter().all(holds);
    // A test speaks of CPUs that nobody shares, and of budgets that pay for nothing but jobs. What walkers and barriers
    // take is in what frames have to spare: `frames::check`.
    let counts = enforced && !cpus::repeats(settings) && !cpus::has_shared_budgets(session);
    session.system.proved_by().filter(|_| counts).map(Proof::by)
}

fn failure(session: &Session, error: RunError) -> Failure {
    let lacks_one = session.system.options.has_own_dispatcher()
        && matches!(&error, RunError::Refused(refusals)
            if refusals.iter().any(|refusal| matches!(refusal, vestal_linux::Refusal::TooFewCpus { .. })));
    let mut failure = blame(format!("run {}", shown(&session.file)), error);
    if lacks_one {
        let option = vestal_policy::DISPATCHER.name;
        failure = failure.with_help(format!(
            "mend it with: --set {option}=shared, which needs no CPU for the dispatcher alone"
        ));
    }
    session.own_fault(failure)
}

/// Who is to blame, and what mends it.
pub(super) fn blame(what: String, error: RunError) -> Failure {
    if let RunError::Refused(refusals) = &error {
        let why: Vec<String> = refusals.iter().map(ToString::to_string).collect();
        let mut failure = Failure::machine(what, why.join("; "));
        for refusal in refusals {
            failure = failure.with_help(format!("mend it with: {}", refusal.remedy()));
        }
        return failure;
    }
    let why = error.to_string();
    let remedies = error.remedies();
    let mended = |failure: Failure| {
        let each = remedies.iter();
        each.fold(failure, |failure, remedy| {
            failure.with_help(format!("mend it with: {remedy}"))
        })
    };
    match error.kind() {
        ErrorKind::BadInput if remedies.is_empty() => {
            Failure::input(what, why).with_help("`vestal run --help` lists what can be chosen")
        }
        ErrorKind::BadInput => mended(Failure::input(what, why)),
        ErrorKind::MachineCannot => mended(Failure::machine(what, why)),
        // The bodies are ours too.
        ErrorKind::BodyFailed | ErrorKind::Internal => Failure::bug(what, why),
    }
}

/// What a person must know before trusting the result.
fn warnings(session: &Session, report: &Report, result: &RunResult, refused: u64) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Ended::Signal(signal) = report.ended {
        warnings.push(format!(
            "signal {signal} ended the run after {}; what was measured until then is shown",
            short(report.duration.as_nanos())
        ));
    }
    let sporadic = session
        .set
        .tasks
        .iter()
        .any(|task| task.arrival == Arrival::Sporadic);
    if sporadic || matches!(session.workload.scenario(), Scenario::File(_)) {
        warnings.push(
            "a real run releases every task periodically, as densely as it may; the gaps of sporadic tasks and the releases of a scenario file are for `simulate`"
                .to_owned(),
        );
    }
    let allocating: Vec<&str> = session
        .set
        .tasks
        .iter()
        .filter(|task| matches!(task.work, Some(Work::Alloc { .. })))
        .map(|task| task.name.as_str())
        .collect();
    if !allocating.is_empty() {
        warnings.push(format!(
            "jobs of {} allocate memory, as their `work` says; where that takes longer than the scenario's demand it is an overrun",
            allocating.join(", ")
        ));
    }
    if refused > 0 {
        warnings.push(format!(
            "the system refused {refused} blocks of memory that jobs asked for"
        ));
    }
    let outside = result.run.machine.missed_outside_gaps;
    let inside = result.run.jobs.missed_guaranteed.saturating_sub(outside);
    if inside > 0 {
        warnings.push(format!(
            "{inside} guaranteed deadlines were missed, and only time that others took from the run explains it: not decided, exit code 5 (--tolerate-stolen-time makes it 0)"
        ));
    }
    warnings.extend(of_report(report));
    warnings
}

/// What the report alone says.
fn of_report(report: &Report) -> Vec<String> {
    let mut warnings = Vec::new();
    let inversions: u64 = report.cpus.iter().filter_map(|cpu| cpu.inversions).sum();
    if inversions > 0 {
        warnings.push(format!(
            "{inversions} times a job ran that the plan did not name; does a body block, did a budget run out while a job began, or does a plan leave the CPU free while a begun job waits?"
        ));
    }
    let suspensions = report.cpus.iter().filter_map(|cpu| cpu.suspensions);
    let ineffective: u64 = suspensions.map(|held| held.ineffective).sum();
    if ineffective > 0 {
        warnings.push(format!(
            "{ineffective} times a job went on although it was suspended until its next slice or budget; does a body block signals and come to no cancellation point?"
        ));
    }
    if let Some(lost @ 1..) = report.recorded.map(|recorded| recorded.lost) {
        warnings.push(format!(
            "{lost} records of the trace were lost, because a thread's ring was full; a replay ends where they are missing"
        ));
    }
    let notices: u64 = report.cpus.iter().map(|cpu| cpu.lost_notices).sum();
    let modes: u64 = report.cpus.iter().map(|cpu| cpu.modes_lost).sum();
    if notices > 0 || modes > 0 {
        warnings.push(format!(
            "records lost: {notices} notices, {modes} mode changes"
        ));
    }
    let notes: u64 = report.cpus.iter().map(|cpu| cpu.lost_notes).sum();
    if notes > 0 {
        warnings.push(format!(
            "{notes} notes about jobs were lost, because nobody had time to read them: their counts are missing, and misses near them are not decided"
        ));
    }
    for task in &report.stuck {
        warnings.push(format!(
            "{task} did not come to a cancellation point before the end"
        ));
    }
    warnings
}
