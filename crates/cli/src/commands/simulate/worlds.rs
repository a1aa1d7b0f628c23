//! The simulated worlds of a session: one for each of its clusters.
//!
//! What a trace is written to knows several domains; a system of one cluster writes past that, and its loop is
//! compiled for it alone. Worlds of several clusters are stepped together, so that a trace has all of them in the
//! order of their instants.

use crate::failure::Failure;
use crate::input::shown;
use crate::interrupt;
use crate::output::Output;
use crate::progress::Progress;
use crate::session::Session;
use crate::tracing::{self, TraceFiles};
use std::cell::RefCell;
use vestal_core::{Instant, Scheduler, Task};
use vestal_experiment::Jobs;
use vestal_policy::{Cluster, Precision};
use vestal_result::run::Cut;
use vestal_sim::statistics::{Figures, Part};
use vestal_sim::workload::OfPart;
use vestal_sim::{
    Backlog, Effort, JobState, NativeSetting, Observer, Setting, SimulationError, Statistics,
    simulate, simulate_native, simulate_together, stepwise,
};
use vestal_trace::{Dispatch, DomainId, Domains, InDomain, Recorder, Scope};

/// Where the records of all domains go.
type Files = RefCell<Domains<TraceFiles>>;

/// What a run was like, and where it ended if that was before its time.
type Ran = (Figures, Option<Cut>);

/// Simulates all clusters from beginning to end, recorded if there are files for it.
pub(super) fn run(
    session: &Session,
    dispatch: Dispatch,
    files: Option<&Files>,
    output: &Output,
) -> Result<Ran, Failure> {
    let mut watched = Watched {
        progress: Progress::new(output, "simulating", session.duration.as_nanos()),
        jobs: 0,
    };
    match session.system.clusters.as_slice() {
        [cluster] if cluster.cpus.len() == usize::from(session.system.cpus) => {
            alone(session, dispatch, cluster, files, &mut watched)
        }
        clusters if dispatch == Dispatch::Managed => {
            together(session, clusters, files, &RefCell::new(watched))
        }
        _ => Err(Failure::input(
            what(session),
            "native dispatch of several CPUs is not in this version",
        )
        .with_help("leave out --dispatch native")),
    }
}

fn what(session: &Session) -> String {
    format!("simulate {}", shown(&session.file))
}

fn end(session: &Session) -> Instant {
    Instant::EPOCH.saturating_add(session.duration)
}

fn backlog(session: &Session) -> Backlog {
    let given = session.backlog();
    given.map_or(Backlog::UNLIMITED, Backlog::at_most)
}

/// The only cluster of a session.
fn alone(
    session: &Session,
    dispatch: Dispatch,
    cluster: &Cluster,
    files: Option<&Files>,
    watched: &mut Watched,
) -> Result<Ran, Failure> {
    let cpus = u16::try_from(cluster.cpus.len()).unwrap_or(u16::MAX);
    let mut statistics = Statistics::of(&session.guaranteed(0), cpus);
    let mut observers: Vec<&mut dyn Observer> = vec![&mut statistics, watched];
    let cut = match files {
        None => world(session, dispatch, cluster, None, &mut observers)?,
        Some(files) => {
            // Everything that is put there is of the first domain.
            let mut files = files.borrow_mut();
            let sink = RefCell::new(files.sink_mut());
            let mut recorded = tracing::recorded(session, 0, dispatch, &sink);
            observers.push(&mut *recorded);
            world(session, dispatch, cluster, Some(&sink), &mut observers)?
        }
    };
    Ok((statistics.into_figures(), cut))
}

/// The simulated world that dispatches so, recorded if there are files for it. Says where it ended if that
/// was before its time.
fn world(
    session: &Session,
    dispatch: Dispatch,
    cluster: &Cluster,
    files: Option<&RefCell<&mut TraceFiles>>,
    observers: &mut Vec<&mut dyn Observer>,
) -> Result<Option<Cut>, Failure> {
    let (end, backlog) = (end(session), backlog(session));
    let jobs = Jobs::new(&session.workload, interrupt::asked);
    let outcome = match dispatch {
        Dispatch::Managed => {
            let mut scheduler = Session::scheduler(cluster, &what(session))?;
            let setting = Setting {
                tasks: &session.tasks,
                cpus: u16::try_from(cluster.cpus.len()).unwrap_or(u16::MAX),
                end,
                backlog,
            };
            match files {
                None => simulate(&mut *scheduler, &setting, &jobs, &jobs, observers),
                Some(files) => {
                    let mut recorder = Recorder::new(scheduler, files);
                    let outcome = simulate(&mut recorder, &setting, &jobs, &jobs, observers);
                    recorder.finish(last_instant(&outcome, end));
                    outcome
                }
            }
        }
        Dispatch::Native => {
            let guard = cluster.configuration.guard(Precision::EXACT);
            let mut guard = guard.map_err(|refusal| Failure::refused(what(session), refusal))?;
            let setting = NativeSetting {
                tasks: cluster.configuration.tasks(),
                end,
                backlog,
            };
            match files {
                None => simulate_native(&mut guard, &setting, &jobs, &jobs, observers),
                Some(files) => {
                    let tasks = setting.tasks.len();
                    let mut recorder = Recorder::with_permits(guard, files, tasks);
                    let outcome = simulate_native(&mut recorder, &setting, &jobs, &jobs, observers);
                    recorder.finish(last_instant(&outcome, end));
                    outcome
                }
            }
        }
    };
    cut(session, &outcome)
}

/// Several clusters, each a domain by itself.
fn together(
    session: &Session,
    clusters: &[Cluster],
    files: Option<&Files>,
    watched: &RefCell<Watched>,
) -> Result<Ran, Failure> {
    let mut schedulers = Vec::new();
    for cluster in clusters {
        schedulers.push(Session::scheduler(cluster, &what(session))?);
    }
    let mut statistics: Vec<Statistics> = clusters
        .iter()
        .enumerate()
        .map(|(number, cluster)| {
            let cpus = u16::try_from(cluster.cpus.len()).unwrap_or(u16::MAX);
            Statistics::of(&session.guaranteed(number), cpus)
        })
        .collect();
    let counted = statistics.iter_mut();
    let outcome = match files {
        None => {
            let mut observers: Vec<_> = counted.map(|count| (count, Shared(watched))).collect();
            stepped(session, &mut schedulers, &mut observers)
        }
        Some(files) => {
            let scopes: Vec<Scope> = (0..)
                .map(DomainId)
                .zip(clusters)
                .map(|(domain, cluster)| Scope::new(domain, &cluster.tasks, &cluster.cpus))
                .collect();
            let sinks = scopes.iter().map(|scope| InDomain::new(files, scope));
            let mut observers: Vec<_> = counted
                .zip(sinks.clone())
                .enumerate()
                .map(|(number, (count, sink))| {
                    let recorded = tracing::recorded(session, number, Dispatch::Managed, sink);
                    (count, (Shared(watched), recorded))
                })
                .collect();
            let recorders = schedulers.into_iter().zip(sinks);
            let mut recorders: Vec<_> = recorders
                .map(|(scheduler, sink)| Recorder::new(scheduler, sink))
                .collect();
            let outcome = stepped(session, &mut recorders, &mut observers);
            let last = last_instant(&outcome, end(session));
            for recorder in recorders {
                recorder.finish(last);
            }
            outcome
        }
    };
    let cut = cut(session, &outcome)?;
    let parts: Vec<Part<'_>> = clusters
        .iter()
        .zip(&statistics)
        .map(|(cluster, figures)| Part {
            figures,
            tasks: &cluster.tasks,
            cpus: &cluster.cpus,
        })
        .collect();
    let cpus = usize::from(session.system.cpus);
    Ok((Figures::of_parts(session.tasks.len(), cpus, &parts), cut))
}

/// The worlds of all clusters in one run.
fn stepped<S: Scheduler, O: Observer>(
    session: &Session,
    schedulers: &mut [S],
    observers: &mut [O],
) -> Result<Effort, SimulationError> {
    let jobs = Jobs::new(&session.workload, interrupt::asked);
    let clusters = &session.system.clusters;
    let tasks: Vec<Vec<Task>> = clusters
        .iter()
        .map(|cluster| {
            let entries = cluster.configuration.tasks().iter();
            entries.map(|entry| entry.task).collect()
        })
        .collect();
    let settings: Vec<Setting<'_>> = clusters
        .iter()
        .zip(&tasks)
        .map(|(cluster, tasks)| Setting {
            tasks,
            cpus: u16::try_from(cluster.cpus.len()).unwrap_or(u16::MAX),
            end: end(session),
            backlog: backlog(session),
        })
        .collect();
    let parts: Vec<_> = clusters
        .iter()
        .map(|cluster| OfPart {
            whole: &jobs,
            tasks: &cluster.tasks,
        })
        .collect();
    let mut worlds = Vec::new();
    for (((scheduler, setting), jobs), observer) in schedulers
        .iter_mut()
        .zip(&settings)
        .zip(&parts)
        .zip(observers)
    {
        worlds.push(stepwise(scheduler, setting, jobs, jobs, observer)?);
    }
    simulate_together(&mut worlds)
}

/// Where a run ended if that was before its time.
fn cut(
    session: &Session,
    outcome: &Result<Effort, SimulationError>,
) -> Result<Option<Cut>, Failure> {
    match outcome {
        Ok(_) => Ok(None),
        Err(SimulationError::TooManyKept { at, kept }) => Ok(Some(Cut {
            at_ns: at.as_nanos(),
            why: format!("{kept} jobs wait behind others of their tasks, and no more are kept"),
        })),
        Err(error) => Err(session.own_fault(failure(what(session), error))),
    }
}

/// When a run that was to end at `end` did.
fn last_instant(outcome: &Result<Effort, SimulationError>, end: Instant) -> Instant {
    match outcome {
        Err(SimulationError::TooManyKept { at, .. }) => *at,
        Ok(_) | Err(_) => end,
    }
}

/// Who is to blame: the input, or we.
fn failure(what: String, error: &SimulationError) -> Failure {
    match error {
        SimulationError::Aborted(_) => Failure::interrupted(what),
        SimulationError::EndBeyondHorizon(_) => Failure::input(what, error.to_string())
            .with_help("shorten --for; the longest time is 2^62 ns, about 146 years"),
        SimulationError::TooManyTasks(_) => Failure::input(what, error.to_string()),
        SimulationError::ReleasesNotAscending { .. }
        | SimulationError::TooManyKept { .. }
        | SimulationError::Refused { .. }
        | SimulationError::UnknownJobPlanned { .. }
        | SimulationError::PlannedTwice { .. }
        | SimulationError::NoProgress { .. }
        | SimulationError::NoticesLost { .. } => Failure::bug(what, error.to_string()),
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

/// One progress bar for several worlds.
struct Shared<'a>(&'a RefCell<Watched>);

impl Observer for Shared<'_> {
    fn released(&mut self, at: Instant, job: &JobState) {
        self.0.borrow_mut().released(at, job);
    }
}
