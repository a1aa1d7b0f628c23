//! `vestal simulate FILE --policy P`: the task set in exact simulated time.

use crate::args::SimulateArgs;
use crate::failure::{Exit, Failure, Outcome};
use crate::input::shown;
use crate::output::Output;
use crate::progress::Progress;
use crate::report::{
    CpuRow, Execution, Jobs, Machine, ModeChange, Response, RunResult, Tardiness, TaskRow,
};
use crate::session::{self, Session};
use crate::tracing::{self, TraceFiles};
use std::cell::RefCell;
use std::path::PathBuf;
use vestal_core::{Guard, Instant, Service, Task, TaskId};
use vestal_sim::statistics::TaskStatistics;
use vestal_sim::{Demand, JobState, Observer, Releases, Setting, SimulationError, Statistics};
use vestal_trace::{Dispatch, Recorder};
use vestal_workload::Workload;

pub(crate) fn simulate(args: &SimulateArgs, output: &Output) -> Outcome {
    tracing::check(&args.traces)?;
    let dispatch = dispatch(args)?;
    let session = Session::open(&args.world, "simulate", output)?;
    let result = run(&session, dispatch, &args.traces, output)?;
    output.human(&result.page(&session, output));
    output.human(&result.verdict(&session, output));
    output.json(&result)?;
    Ok(Exit::holds(result.jobs.missed_guaranteed == 0))
}

/// Who keeps the order in the simulated world.
fn dispatch(args: &SimulateArgs) -> Result<Dispatch, Failure> {
    let native = match args.dispatch.as_str() {
        "managed" => false,
        "native" => true,
        other => {
            return Err(Failure::input(
                format!("use --dispatch {other}"),
                format!("`{other}` is no value of --dispatch"),
            )
            .with_help("this version knows: managed, native"));
        }
    };
    if !native {
        return Ok(Dispatch::Managed);
    }
    let policy = session::find_policy(&args.world.policy, "simulate a task set")?;
    let verb = "simulate native dispatch";
    session::check_native(policy, verb)?;
    session::check_native_simulation(policy, verb)?;
    Ok(Dispatch::Native)
}

/// Simulates a session from beginning to end.
pub(crate) fn run(
    session: &Session,
    dispatch: Dispatch,
    traces: &[PathBuf],
    output: &Output,
) -> Result<RunResult, Failure> {
    let mut statistics = Statistics::new(
        &session.tasks,
        1,
        session.policy.enforcement,
        session.exhaustion,
    );
    let mut watched = Watched {
        progress: Progress::new(output, "simulating", session.duration.as_nanos()),
        jobs: 0,
    };
    let mut observers: Vec<&mut dyn Observer> = vec![&mut statistics, &mut watched];
    if traces.is_empty() {
        world(session, dispatch, None, &mut observers)?;
        return Ok(result(session, &statistics));
    }
    let header = tracing::header(session, dispatch);
    let files = RefCell::new(TraceFiles::create(traces, &header)?);
    match dispatch {
        Dispatch::Managed => {
            let mut told = tracing::told(session, &files);
            observers.push(&mut told);
            world(session, dispatch, Some(&files), &mut observers)?;
        }
        Dispatch::Native => {
            let mut observed = tracing::observed(session, &files);
            observers.push(&mut observed);
            world(session, dispatch, Some(&files), &mut observers)?;
        }
    }
    files.into_inner().finish(output)?;
    Ok(result(session, &statistics))
}

/// The simulated world that dispatches so, recorded if there are files for it.
fn world(
    session: &Session,
    dispatch: Dispatch,
    files: Option<&RefCell<TraceFiles>>,
    observers: &mut Vec<&mut dyn Observer>,
) -> Result<(), Failure> {
    let what = || format!("simulate {}", shown(&session.file));
    let configuration = session.configuration();
    let end = Instant::EPOCH.saturating_add(session.duration);
    let jobs = FromFile(&session.workload);
    let outcome = match dispatch {
        Dispatch::Managed => {
            let mut scheduler = session.scheduler(&what())?;
            let setting = Setting {
                tasks: &session.tasks,
                cpus: 1,
                end,
            };
            let Some(files) = files else {
                return vestal_sim::simulate(&mut *scheduler, &setting, &jobs, &jobs, observers)
                    .map(|_| ())
                    .map_err(|error| session.own_fault(failure(what(), &error)));
            };
            let mut recorder = Recorder::new(scheduler, files);
            let outcome = vestal_sim::simulate(&mut recorder, &setting, &jobs, &jobs, observers);
            recorder.finish(end);
            outcome
        }
        Dispatch::Native => {
            let mut guard = Guard::new(&configuration)
                .map_err(|error| Failure::input(what(), error.to_string()))?;
            let tasks = configuration.tasks;
            let Some(files) = files else {
                return vestal_sim::simulate_native(
                    &mut guard, tasks, end, &jobs, &jobs, observers,
                )
                .map(|_| ())
                .map_err(|error| session.own_fault(failure(what(), &error)));
            };
            let mut recorder = Recorder::with_permits(guard, files, tasks.len());
            let outcome =
                vestal_sim::simulate_native(&mut recorder, tasks, end, &jobs, &jobs, observers);
            recorder.finish(end);
            outcome
        }
    };
    outcome
        .map(|_| ())
        .map_err(|error| session.own_fault(failure(what(), &error)))
}

/// Who is to blame: the input, or we.
fn failure(what: String, error: &SimulationError) -> Failure {
    match error {
        SimulationError::EndBeyondHorizon(_) => Failure::input(what, error.to_string())
            .with_help("shorten --for; the longest time is 2^62 ns, about 146 years"),
        SimulationError::TooManyTasks(_) => Failure::input(what, error.to_string()),
        SimulationError::ReleasesNotAscending { .. }
        | SimulationError::TooManyPending(_)
        | SimulationError::Refused { .. }
        | SimulationError::UnknownJobPlanned { .. }
        | SimulationError::PlannedTwice { .. }
        | SimulationError::NoProgress { .. }
        | SimulationError::NoticesLost { .. } => Failure::bug(what, error.to_string()),
    }
}

/// The workload of a file as the simulator asks for it.
struct FromFile<'a>(&'a Workload);

impl Releases for FromFile<'_> {
    fn release(&self, task: TaskId, sequence: u64, previous: Option<Instant>) -> Option<Instant> {
        match previous {
            None => self.0.release(task, sequence),
            Some(previous) => self.0.next_release(task, sequence, previous),
        }
    }
}

impl Demand for FromFile<'_> {
    fn execution(&self, task: TaskId, sequence: u64) -> Service {
        self.0.execution(task, sequence)
    }
}

/// Moves the progress bar, without looking at the clock for each job.
struct Watched {
    progress: Progress,
    jobs: u32,
}

impl Observer for Watched {
    fn released(&mut self, at: Instant, _: &JobState) {
        const JOBS_BETWEEN_LOOKS: u32 = 4096;
        self.jobs += 1;
        if self.jobs >= JOBS_BETWEEN_LOOKS {
            self.jobs = 0;
            self.progress.at(at.as_nanos());
        }
    }
}

fn result(session: &Session, statistics: &Statistics) -> RunResult {
    let totals = statistics.jobs();
    let level = |level| session.set.level_name(level).to_owned();
    let modes = statistics.mode_changes().iter().map(|change| ModeChange {
        at_ns: change.at.as_nanos(),
        from: level(change.from),
        to: level(change.to),
        cause: change.cause.map(|job| session.task_name(job.task)),
        cpu: None,
    });
    let tasks = session
        .set
        .tasks
        .iter()
        .zip(&session.tasks)
        .zip(statistics.tasks());
    let cpus = (0..).zip(statistics.cpus()).map(|(cpu, found)| CpuRow {
        cpu,
        busy_ns: found.busy.as_nanos(),
        switches: found.switches,
        preemptions: found.preemptions,
        migrations: found.migrations,
    });
    RunResult {
        jobs: Jobs {
            released: totals.released,
            completed: totals.completed,
            dropped: totals.dropped,
            missed: totals.missed,
            missed_guaranteed: totals.missed_guaranteed,
        },
        modes: modes.collect(),
        mode_changes: statistics.mode_changes_count(),
        tasks: tasks
            .map(|((spec, task), found)| row(spec.name.clone(), task, found))
            .collect(),
        cpus: cpus.collect(),
        machine: Machine {
            missed_outside_gaps: totals.missed_guaranteed,
            ..Machine::default()
        },
        ..RunResult::of(session, "simulator")
    }
}

fn row(name: String, task: &Task, found: &TaskStatistics) -> TaskRow {
    const P99: u16 = 990;
    TaskRow {
        name,
        released: found.released,
        completed: found.completed,
        missed: found.missed,
        dropped: found.dropped,
        overruns: found.overruns,
        preemptions: found.preemptions,
        response_ns: Response {
            min: found.response.min(),
            mean: found.response.mean(),
            p99: found.response.percentile(P99),
            max: found.response.max(),
        },
        execution_ns: Execution {
            min: found.execution.min(),
            mean: found.execution.mean(),
            max: found.execution.max(),
        },
        tardiness_ns: Tardiness {
            mean: found.tardiness.mean(),
            max: found.tardiness.max(),
        },
        relative_response: found.relative_response(task),
    }
}
