//! The simulated worlds of a session: one for each of its clusters.
//!
//! What a trace is written to knows several domains; a system of one cluster writes past that, and its loop is
//! compiled for it alone, in most runs for its engine too ([`plain`]). Worlds of several clusters are stepped together, so that a trace has all of them in the
//! order of their instants.

use super::outside::{self, Found};
use super::plain;
use crate::failure::Failure;
use crate::input::shown;
use crate::interrupt;
use crate::output::Output;
use crate::progress::Progress;
use crate::session::Session;
use crate::tracing::{self, OfTask, TraceFiles};
use std::cell::RefCell;
use std::sync::atomic::Ordering;
use vestal_core::{CpuId, Instant, Scheduler, Service, Task, TaskId};
use vestal_experiment::{Arrivals, Jobs};
use vestal_policy::{Cluster, Levels, Precision};
use vestal_result::run::Cut;
use vestal_sim::guarantee::BurstCounts;
use vestal_sim::statistics::{Figures, Part};
use vestal_sim::workload::OfPart;
use vestal_sim::{
    Amid, Backlog, Charges, Effort, FrameCounter, FrameStatistics, JobState, NativeSetting,
    Observer, Served, Setting, SimulationError, Statistics, simulate, simulate_amid,
    simulate_native, simulate_together, stepwise_amid,
};
use vestal_trace::{Dispatch, Domains, InDomain, Recorder};

/// Where the records of all domains go.
type Files = RefCell<Domains<TraceFiles>>;

/// What a run was like.
pub(super) struct Ran {
    pub(super) figures: Figures,
    /// By cluster, what its servers did, if it has any.
    pub(super) served: Vec<Option<Found>>,
    /// What became of bursts of PIBS, if it has any.
    pub(super) bursts: BurstCounts,
    /// What became of its frames, if it has any.
    pub(super) frames: Option<FrameStatistics>,
    /// By task, what ghosts used up, if the tasks have any.
    pub(super) ghosts: Vec<Option<Service>>,
    /// Where it ended if that was before its time.
    pub(super) cut: Option<Cut>,
}

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
            match (cluster.configuration.levels(), files) {
                (Some(levels), Some(files)) => {
                    in_domains(session, (cluster, levels), files, &mut watched)
                }
                (_, files) => alone(session, dispatch, cluster, files, &mut watched),
            }
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

/// How many jobs wait, as far as that is the business of the world.
fn backlog(session: &Session, cluster: &Cluster) -> Backlog {
    match (cluster.configuration.levels(), session.backlog()) {
        // Its schedulers have that room and drop the others, after taking the budget that each release brings.
        (Some(_), _) | (None, None) => Backlog::UNLIMITED,
        (None, Some(most)) => Backlog::at_most(most),
    }
}

/// The tasks of a cluster in its own order.
fn tasks_of(cluster: &Cluster) -> Vec<Task> {
    let entries = cluster.configuration.tasks().iter();
    entries.map(|entry| entry.task).collect()
}

/// A cluster, whose tasks these are.
fn setting<'a>(session: &Session, cluster: &Cluster, tasks: &'a [Task]) -> Setting<'a> {
    Setting {
        tasks,
        cpus: u16::try_from(cluster.cpus.len()).unwrap_or(u16::MAX),
        end: end(session),
        backlog: backlog(session, cluster),
    }
}

/// What carrying the policy out costs in a cluster with this number, whose tasks are on these CPUs.
fn costs<'a>(
    session: &'a Session,
    cluster: (usize, &'a [CpuId]),
) -> Option<(Charges<'a>, &'a [CpuId])> {
    let (simulated, _) = session.costs.as_ref()?;
    Some(simulated.charges(cluster, session.seed))
}

/// Who counts the frames of a cluster, if it has any.
fn frame_counter(cluster: &Cluster) -> Option<FrameCounter> {
    let frames = cluster.configuration.frames()?;
    Some(FrameCounter::new(frames.map().length(), tasks_of(cluster)))
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
    let tasks = cluster.configuration.tasks().len();
    let mut statistics = Statistics::of_guarantee(session.guarantee(0), tasks, cpus);
    let mut served = outside::observer(cluster);
    let mut frames = frame_counter(cluster);
    let counts_more =
        served.is_some() || frames.is_some() || cluster.configuration.levels().is_some();
    let is_plain = dispatch == Dispatch::Managed && session.costs.is_none() && !counts_more;
    let Left { cut, lists, ghosts } = if is_plain && files.is_none() {
        let observer = &mut (&mut statistics, watched);
        plainly(session, cluster, observer)?
    } else {
        let mut observers: Vec<&mut dyn Observer> = vec![&mut statistics, watched];
        // Who has nothing to count is not called for each job.
        if let Some(served) = &mut served {
            observers.push(served);
        }
        if let Some(frames) = &mut frames {
            observers.push(frames);
        }
        match files {
            None => world(session, dispatch, cluster, None, &mut observers)?,
            Some(files) => {
                // Everything that is put there is of the first domain.
                let mut files = files.borrow_mut();
                let sink = RefCell::new(files.sink_mut());
                let mut recorded = tracing::recorded(session, 0, dispatch, &sink);
                observers.push(&mut *recorded);
                world(session, dispatch, cluster, Some(&sink), &mut observers)?
            }
        }
    };
    Ok(Ran {
        bursts: statistics.bursts(),
        figures: statistics.into_figures(),
        served: vec![Found::new((served, lists))],
        frames: frames.map(|counter| counter.figures()),
        ghosts,
        cut,
    })
}

/// What is known when a world is over.
struct Left {
    /// Where it ended if that was before its time.
    cut: Option<Cut>,
    /// How long the lists of its servers became.
    lists: Vec<Option<u16>>,
    /// By task, what ghosts used up.
    ghosts: Vec<Option<Service>>,
}

/// What ghosts used up until the end, by who decided: a last decision counts what they did since the one before.
fn ghosts<S: Scheduler + ?Sized>(
    cluster: &Cluster,
    scheduler: &mut S,
    end: Instant,
) -> Vec<Option<Service>> {
    if cluster.configuration.levels().is_none() {
        return Vec::new();
    }
    // One that is over already is as it was.
    let _plan = scheduler.decide(end);
    let tasks = (0..).map(TaskId).take(cluster.tasks.len());
    tasks.map(|task| scheduler.ghost_time(task)).collect()
}

/// The simulated world of a cluster with nothing beside its jobs.
fn plainly(
    session: &Session,
    cluster: &Cluster,
    observer: &mut impl Observer,
) -> Result<Left, Failure> {
    let mut engine = Session::engine(cluster, &what(session))?;
    let tasks = tasks_of(cluster);
    let setting = setting(session, cluster, &tasks);
    // It is asked at each instant, and the latch is always the same.
    let latch = interrupt::watch()?;
    let jobs = Jobs::new(&session.workload, || latch.load(Ordering::Relaxed));
    let outcome = plain::run(&mut engine, &setting, &jobs, observer);
    Ok(Left {
        cut: cut(session, &outcome)?,
        lists: Vec::new(),
        ghosts: Vec::new(),
    })
}

/// The simulated world that dispatches so, recorded if there are files for it.
fn world(
    session: &Session,
    dispatch: Dispatch,
    cluster: &Cluster,
    files: Option<&RefCell<&mut TraceFiles>>,
    observers: &mut Vec<&mut dyn Observer>,
) -> Result<Left, Failure> {
    let (end, backlog) = (end(session), backlog(session, cluster));
    let jobs = Jobs::new(&session.workload, interrupt::asked);
    let (mut lists, mut spent) = (Vec::new(), Vec::new());
    let outcome = match dispatch {
        Dispatch::Managed => {
            let mut scheduler = Session::scheduler(cluster, &what(session))?;
            let tasks = tasks_of(cluster);
            let setting = setting(session, cluster, &tasks);
            let outside = vestal_experiment::outside(&session.set, &session.workload, cluster);
            let arrivals = Arrivals(&session.workload);
            let homes = cluster.homes();
            let amid = Amid {
                outside: outside.as_ref().map(|outside| (outside, &arrivals as _)),
                costs: costs(session, (0, &homes)),
            };
            match files {
                None => {
                    let outcome =
                        simulate_amid(&mut *scheduler, &setting, amid, &jobs, &jobs, observers);
                    lists = outside::lists(cluster, &*scheduler);
                    spent = ghosts(cluster, &mut *scheduler, last_instant(&outcome, end));
                    outcome
                }
                Some(files) => {
                    let mut recorder = Recorder::new(scheduler, files);
                    let outcome =
                        simulate_amid(&mut recorder, &setting, amid, &jobs, &jobs, observers);
                    lists = outside::lists(cluster, &recorder);
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
    Ok(Left {
        cut: cut(session, &outcome)?,
        lists,
        ghosts: spent,
    })
}

/// The only cluster of a session, in which each domain is recorded by itself.
fn in_domains(
    session: &Session,
    (cluster, levels): (&Cluster, &Levels),
    files: &Files,
    watched: &mut Watched,
) -> Result<Ran, Failure> {
    let refused = |refusal| Failure::refused(what(session), refusal);
    let scopes = tracing::scopes(&session.system).concat();
    let sinks: Vec<_> = scopes
        .iter()
        .map(|scope| InDomain::new(files, scope))
        .collect();
    let mut numbered = sinks.iter().copied();
    let mut locals = Vec::new();
    for (cpu, sink) in levels.cpus().zip(numbered.by_ref()) {
        let local = levels.local(cpu, Precision::EXACT).map_err(refused)?;
        locals.push(Recorder::with_ghosts(local, sink, cluster.tasks.len()));
    }
    let shared = levels.shared(Precision::EXACT).map_err(refused)?;
    // The last domain of all is the shared one.
    let shared = numbered
        .next()
        .map(|sink| Recorder::with_ghosts(shared, sink, cluster.tasks.len()));
    let shared = shared.ok_or_else(|| {
        Failure::bug(what(session), "the shared domain is not among those listed")
    })?;
    let mut whole = levels.of_domains(locals, shared).map_err(refused)?;

    let tasks = tasks_of(cluster);
    let setting = setting(session, cluster, &tasks);
    let jobs = Jobs::new(&session.workload, interrupt::asked);
    let mut statistics = Statistics::of_guarantee(session.guarantee(0), tasks.len(), setting.cpus);
    let sink = OfTask::new(cluster, sinks.clone());
    let mut recorded = tracing::recorded(session, 0, Dispatch::Managed, sink);
    let mut observers: Vec<&mut dyn Observer> = vec![&mut statistics, watched, &mut *recorded];
    let outcome = simulate(&mut whole, &setting, &jobs, &jobs, &mut observers);
    drop(recorded);
    let last = last_instant(&outcome, setting.end);
    let (locals, shared) = whole.into_domains();
    let locals = locals.into_iter().map(|local| local.finish(last).0);
    let (shared, _) = shared.finish(last);
    let mut whole = levels.of_domains(locals, shared).map_err(refused)?;
    let ghosts = ghosts(cluster, &mut whole, last);
    Ok(Ran {
        figures: statistics.into_figures(),
        served: vec![None],
        bursts: BurstCounts::default(),
        frames: None,
        ghosts,
        cut: cut(session, &outcome)?,
    })
}

/// What is counted in one of several clusters.
struct Counted {
    statistics: Statistics,
    frames: Option<FrameCounter>,
    served: Option<Served>,
}

impl Counted {
    /// In the cluster with this number.
    fn new(session: &Session, (number, cluster): (usize, &Cluster)) -> Self {
        let cpus = u16::try_from(cluster.cpus.len()).unwrap_or(u16::MAX);
        let tasks = cluster.configuration.tasks().len();
        Self {
            statistics: Statistics::of_guarantee(session.guarantee(number), tasks, cpus),
            frames: frame_counter(cluster),
            served: outside::observer(cluster),
        }
    }

    fn observer(&mut self) -> impl Observer + '_ {
        (&mut self.statistics, (&mut self.frames, &mut self.served))
    }
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
    let all = clusters.iter().enumerate();
    let mut counted: Vec<Counted> = all.map(|one| Counted::new(session, one)).collect();
    let observers = counted.iter_mut().map(Counted::observer);
    let (outcome, lists) = match files {
        None => {
            let mut observers: Vec<_> = observers.map(|all| (all, Shared(watched))).collect();
            let outcome = stepped(session, &mut schedulers, &mut observers);
            (outcome, lists_of_all(clusters, &schedulers))
        }
        Some(files) => {
            // Each cluster is a domain.
            let scopes = tracing::scopes(&session.system).concat();
            let sinks = scopes.iter().map(|scope| InDomain::new(files, scope));
            let mut observers: Vec<_> = observers
                .zip(sinks.clone())
                .enumerate()
                .map(|(number, (all, sink))| {
                    let recorded = tracing::recorded(session, number, Dispatch::Managed, sink);
                    (all, (Shared(watched), recorded))
                })
                .collect();
            let recorders = schedulers.into_iter().zip(sinks);
            let mut recorders: Vec<_> = recorders
                .map(|(scheduler, sink)| Recorder::new(scheduler, sink))
                .collect();
            let outcome = stepped(session, &mut recorders, &mut observers);
            let last = last_instant(&outcome, end(session));
            let lists = lists_of_all(clusters, &recorders);
            for recorder in recorders {
                recorder.finish(last);
            }
            (outcome, lists)
        }
    };
    let cut = cut(session, &outcome)?;
    let parts: Vec<Part<'_>> = clusters
        .iter()
        .zip(&counted)
        .map(|(cluster, counted)| Part {
            figures: &counted.statistics,
            tasks: &cluster.tasks,
            cpus: &cluster.cpus,
        })
        .collect();
    let cpus = usize::from(session.system.cpus);
    Ok(Ran {
        figures: Figures::of_parts(session.tasks.len(), cpus, &parts),
        ghosts: Vec::new(),
        frames: counted
            .iter()
            .filter_map(|one| one.frames.as_ref())
            .map(FrameCounter::figures)
            .reduce(|all, more| all.and(&more)),
        served: counted
            .into_iter()
            .zip(lists)
            .map(|(one, lists)| Found::new((one.served, lists)))
            .collect(),
        // Several clusters have no devices.
        bursts: BurstCounts::default(),
        cut,
    })
}

/// How long the lists of servers became, by cluster.
fn lists_of_all<S: Scheduler>(clusters: &[Cluster], schedulers: &[S]) -> Vec<Vec<Option<u16>>> {
    let each = clusters.iter().zip(schedulers);
    each.map(|(cluster, scheduler)| outside::lists(cluster, scheduler))
        .collect()
}

/// The worlds of all clusters in one run.
fn stepped<S: Scheduler, O: Observer>(
    session: &Session,
    schedulers: &mut [S],
    observers: &mut [O],
) -> Result<Effort, SimulationError> {
    let jobs = Jobs::new(&session.workload, interrupt::asked);
    let clusters = &session.system.clusters;
    let tasks: Vec<Vec<Task>> = clusters.iter().map(tasks_of).collect();
    let settings: Vec<Setting<'_>> = clusters
        .iter()
        .zip(&tasks)
        .map(|(cluster, tasks)| setting(session, cluster, tasks))
        .collect();
    let parts: Vec<_> = clusters
        .iter()
        .map(|cluster| OfPart {
            whole: &jobs,
            tasks: &cluster.tasks,
        })
        .collect();
    let homes: Vec<_> = clusters.iter().map(Cluster::homes).collect();
    let mut worlds = Vec::new();
    for (number, (((scheduler, setting), jobs), observer)) in schedulers
        .iter_mut()
        .zip(&settings)
        .zip(&parts)
        .zip(observers)
        .enumerate()
    {
        let amid = Amid {
            outside: None,
            costs: costs(session, (number, &homes[number])),
        };
        worlds.push(stepwise_amid(
            scheduler, setting, amid, jobs, jobs, observer,
        )?);
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

impl Watched {
    #[cold]
    fn look(&mut self, at: Instant) {
        self.jobs = 0;
        self.progress.at(at.as_nanos());
    }
}

impl Observer for Watched {
    #[inline(always)]
    fn released(&mut self, at: Instant, _: &JobState) {
        const JOBS_BETWEEN_LOOKS: u32 = 4096;
        self.jobs += 1;
        if self.jobs >= JOBS_BETWEEN_LOOKS {
            self.look(at);
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
