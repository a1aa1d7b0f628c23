//! `vestal simulate FILE --policy P`: the task set in exact simulated time.

use crate::args::SimulateArgs;
use crate::failure::{Exit, Failure, Outcome};
use crate::input::shown;
use crate::output::Output;
use crate::progress::Progress;
use crate::report::{
    CpuRow, Execution, Jobs, Machine, ModeChange, Response, RunResult, Tardiness, TaskRow,
};
use crate::session::Session;
use std::path::PathBuf;
use vestal_core::{Configuration, Duration, Instant, Service, Task, TaskId, Uniprocessor};
use vestal_sim::statistics::TaskStatistics;
use vestal_sim::{
    Demand, Gantt, JobState, Observer, Releases, Setting, SimulationError, Statistics,
};
use vestal_workload::Workload;

pub(crate) fn simulate(args: &SimulateArgs, output: &Output) -> Outcome {
    check_traces(&args.traces)?;
    let session = Session::open(&args.world, "simulate", output)?;
    let result = run(&session, &args.traces, output)?;
    output.human(&result.page(&session, output));
    output.human(&result.verdict(&session, output));
    output.json(&result)?;
    Ok(Exit::holds(result.jobs.missed_guaranteed == 0))
}

/// Simulates a session from beginning to end.
pub(crate) fn run(
    session: &Session,
    traces: &[PathBuf],
    output: &Output,
) -> Result<RunResult, Failure> {
    let what = || format!("simulate {}", shown(&session.file));
    let configuration = Configuration {
        tasks: &session.configurations,
        levels: session.levels,
        enforcement: session.policy.enforcement,
        exhaustion: session.exhaustion,
        granularity: Service::ZERO,
        wake_granularity: Duration::ZERO,
    };
    let mut scheduler = Uniprocessor::with_order(&configuration, session.task_order())
        .map_err(|error| Failure::input(what(), error.to_string()))?;
    let setting = Setting {
        tasks: &session.tasks,
        cpus: 1,
        end: Instant::EPOCH.saturating_add(session.duration),
    };
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
    let names = session
        .set
        .tasks
        .iter()
        .map(|task| task.name.clone())
        .collect();
    let mut chart = (!traces.is_empty()).then(|| Gantt::new(names, setting.end, None));
    let mut observers: Vec<&mut dyn Observer> = vec![&mut statistics, &mut watched];
    observers.extend(chart.as_mut().map(|chart| chart as &mut dyn Observer));
    let jobs = FromFile(&session.workload);
    vestal_sim::simulate(&mut scheduler, &setting, &jobs, &jobs, &mut observers)
        .map_err(|error| failure(what(), &error))?;
    if let Some(chart) = chart {
        write_traces(traces, &chart, output)?;
    }
    Ok(result(session, &statistics))
}

/// Which trace formats this version writes.
fn check_traces(traces: &[PathBuf]) -> Result<(), Failure> {
    const PLANNED: [&str; 6] = ["vtrace", "csv", "pftrace", "svg", "vcd", "tex"];
    for path in traces {
        let extension = path
            .extension()
            .and_then(|extension| extension.to_str())
            .unwrap_or_default();
        if extension == "txt" {
            continue;
        }
        if PLANNED.contains(&extension) {
            return Err(
                Failure::not_in_this_version(&format!("the trace format .{extension}"))
                    .with_help("this version writes .txt, a Gantt chart"),
            );
        }
        return Err(Failure::input(
            format!("write the trace {}", path.display()),
            "its extension names no trace format".to_owned(),
        )
        .with_help("this version writes .txt, a Gantt chart"));
    }
    Ok(())
}

fn write_traces(paths: &[PathBuf], chart: &Gantt, output: &Output) -> Result<(), Failure> {
    for path in paths {
        std::fs::write(path, chart.text()).map_err(|error| {
            Failure::input(
                format!("write the trace {}", path.display()),
                error.to_string(),
            )
            .with_help("name a file in a directory that exists and can be written")
        })?;
        output.note(&format!("wrote the Gantt chart to {}", path.display()));
    }
    Ok(())
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
