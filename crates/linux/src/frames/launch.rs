//! From a plan to a report, for CPUs that have a frame table in common.

use super::barrier::{keeps_nanos, meeting};
use super::common::Common;
use super::domain::{Domain, DomainTask};
use super::paper::{self, Paper, Terms};
use super::record::WalkRecord;
use super::walker::Walker;
use super::{Frames, Spare};
use crate::account::{FrameVerdicts, Note, TaskFacts, TaskNote};
use crate::body::Bodies;
use crate::control::{ManagerRecord, Traced};
use crate::driver::Kind;
use crate::error::RunError;
use crate::evidence::note_left_behind;
use crate::foreign::Observer;
use crate::launch::{Launch, SharedCpu, abandon, finish, go, how_it_ended, of_cpu};
use crate::notes::{self, NoteLog, NoteReader, channel};
use crate::plan::CpuTasks;
use crate::queue::JobQueue;
use crate::recording::{FrameEvidence, Gathered, Lane, Last, Recording, Rings, Tracer};
use crate::report::{FrameCosts, FrameCounts, FrameReport, PaperReport, Report};
use crate::run::Run;
use crate::stamps::Stamps;
use crate::summary::{Measured, MeasuredCpu, report};
use crate::sys;
use crate::sys::clock::monotonic_nanos;
use crate::sys::continued::Continued;
use crate::thread::start::{Place, Started, Threads};
use crate::thread::watchdog::Watchdog;
use crate::thread::worker::Worker;
use crate::words::Allowance;
use std::io;
use std::sync::Arc;
use vestal_core::{Duration, Instant, Scheduler, Service, TaskConfiguration, TaskId};
use vestal_statistics::{Histogram, Summary};
use vestal_trace::{DomainId, Record, Recorder, Scope};

/// A CPU whose threads have not been started: its walker, or its workers, each with its records.
type Draft = (SharedCpu, Vec<Bodies>, Vec<Tracer>);

/// The threads of a run that goes on; what comes from those that run its frames, with the places of their CPUs.
struct Going {
    threads: Threads,
    members: Vec<(usize, Started<WalkRecord>)>,
}

/// Runs the CPUs of a frame table for `span`.
///
/// # Errors
/// As [`crate::Executive::run`].
pub(crate) fn execute(
    mut launch: Launch,
    frames: Frames,
    span: Duration,
) -> Result<Report, RunError> {
    let overhead = frames.overhead(&launch.config);
    let spare = frames.spare(overhead, &launch.config);
    let scheduler = scheduler(&launch, &frames, overhead)?;
    let run = Arc::new(Run::new(&launch.config, launch.marker.take()));
    let recording = launch.recording.take();
    let ring_records = recording.as_ref().map(|recording| recording.ring_records);
    let begin = |recording: Recording| launch.begin(recording, overhead, &run);
    let consumer = recording.map(begin).transpose()?;
    let (drafts, lanes, trace) = drafts(&mut launch, &run, &frames, (spare, ring_records))?;
    let cpus: Vec<SharedCpu> = drafts.iter().map(|(cpu, ..)| Arc::clone(cpu)).collect();
    let recorder = Recorder::new(scheduler, trace);
    let (notes, reader) = notes_of_frames(&cpus);
    let common = common(&launch, &frames, (recorder, notes), &cpus)?;
    let evidence = evidence(&frames, &cpus, overhead, reader);
    let gatherer = launch.gather((lanes, Some(evidence)), consumer)?;
    let patience = launch.config.patience;
    let paper = paper(&launch, &frames, &common, &cpus, overhead);
    let going = match start(&launch, &run, drafts, (&common, paper.as_ref())) {
        Ok(going) => going,
        Err((source, threads)) => {
            close(&common, paper.as_deref());
            abandon(&run, &cpus, threads, patience);
            finish(gatherer, Vec::new(), None)?;
            return Err(RunError::system("start the threads of the run")(source));
        }
    };
    let others = cpus.iter().map(|cpu| Observer::new(cpu.processor.0));
    let mut others: Vec<Observer> = others.collect();
    common.domain().begin(Instant::EPOCH.saturating_add(span));
    run.name_threads(going.threads.known());
    go(&run, &cpus, span);
    // The watchdog ends the run, and may have looked before it was known when.
    sys::stop::CALLS.call();
    let (records, stuck) = going.join(&cpus, patience, &mut others);
    let (left, counts) = end(&common, &run, &cpus, span, &frames);
    let stuck = in_bodies(&cpus, &stuck);
    let last = cpus.iter().enumerate().map(|(index, cpu)| Last {
        rest: note_left_behind(cpu, &of_cpu(&stuck, index)),
        end: None,
    });
    let finished = finish(gatherer, last.collect(), Some(left));
    let ended = how_it_ended(&run, &cpus)?;
    let Gathered {
        recorded,
        mut accounts,
        frames: verdicts,
    } = finished?;
    if let Some(first) = accounts.first_mut() {
        first.lost = first.lost.saturating_add(verdicts.lost);
    }
    let measured = Measured {
        ended,
        mechanism: launch.config.mechanism,
        clock_skew: launch.clock_skew,
        recorded,
        continued: Continued::instants(),
        watchdog: run.watchdog.cost(),
    };
    let by_paper = paper.map(|_| found_by_paper(&launch, &frames, &records));
    let counts = with_walks(counts, by_paper, &records);
    let managers = managers(&common, &cpus, records);
    let noted = managers.into_iter().zip(accounts).zip(others);
    let parts = launch.parts(noted, &stuck);
    let parts: Vec<(_, &MeasuredCpu)> = cpus.iter().map(AsRef::as_ref).zip(&parts).collect();
    let frames = FrameReport {
        counts: judged(counts.counts, verdicts, &run, &measured.continued),
        overhead,
        ..counts
    };
    Ok(framed(&launch, report(&run, &measured, &parts), frames))
}

/// What the threads of a paper share, if they run the frames.
fn paper(
    launch: &Launch,
    frames: &Frames,
    common: &Arc<Common>,
    cpus: &[SharedCpu],
    overhead: Service,
) -> Option<Arc<Paper>> {
    if !launch.config.is_of_sigrist2015() {
        return None;
    }
    let host = if launch.has_own_dispatcher() {
        cpus.len().saturating_sub(1)
    } else {
        0
    };
    let scheduler = launch.plan.cpus.get(host).map_or(0, |plan| plan.manager);
    let terms = Terms {
        length: frames.length,
        allowances: frames.allowances_with(overhead),
        initialisation: frames.initialisation,
        heartbeat: launch.config.period(),
        host,
        priority: scheduler.saturating_add(1),
    };
    Some(Arc::new(Paper::new(common, cpus, terms)))
}

/// Nobody waits any more, for ever.
fn close(common: &Common, paper: Option<&Paper>) {
    match paper {
        Some(paper) => paper.close(),
        None => common.close(),
    }
}

/// What the threads of a paper found.
fn found_by_paper(launch: &Launch, frames: &Frames, records: &[WalkRecord]) -> PaperReport {
    let sum = |of: fn(&WalkRecord) -> u64| records.iter().map(of).sum();
    PaperReport {
        has_own_processor: launch.has_own_dispatcher(),
        initialisation: frames.initialisation,
        started_early: sum(|record| record.started_early),
        checks: sum(|record| record.checks),
        late: sum(|record| record.late),
    }
}

/// The scheduler of all CPUs.
fn scheduler(
    launch: &Launch,
    frames: &Frames,
    overhead: Service,
) -> Result<crate::BoxedScheduler, RunError> {
    let numbered = frames.numbers.iter().flatten();
    let tasks = launch.cpus.iter().flat_map(|(cpu, _)| &cpu.tasks);
    let mut tasks: Vec<(TaskId, TaskConfiguration)> = numbered
        .copied()
        .zip(tasks.map(|spec| spec.configuration))
        .collect();
    tasks.sort_by_key(|&(number, _)| number);
    let tasks: Vec<TaskConfiguration> = tasks.into_iter().map(|(_, task)| task).collect();
    (frames.make)(&tasks, overhead).map_err(RunError::Scheduler)
}

/// What [`draft`] makes for each CPU, and who takes the records of the scheduler.
fn drafts(
    launch: &mut Launch,
    run: &Arc<Run>,
    frames: &Frames,
    (spare, ring_records): (Spare, Option<usize>),
) -> Result<(Vec<Draft>, Vec<Lane>, Tracer), RunError> {
    let (mut drafts, mut lanes, mut trace) = (Vec::new(), Vec::new(), Tracer::off());
    let cpus = std::mem::take(&mut launch.cpus).into_iter();
    for ((index, cpu), numbers) in cpus.enumerate().zip(&frames.numbers) {
        let mut rings = Rings::default();
        if let (0, Some(records)) = (index, ring_records) {
            // First of all: of one instant the scheduler's records come first, whole.
            trace = rings.add_common(records);
        }
        let rings = (rings, ring_records);
        let (draft, lane) = draft(launch, run, (index, numbers), cpu, rings, spare)?;
        drafts.push(draft);
        lanes.push(lane);
    }
    Ok((drafts, lanes, trace))
}

/// What the threads of CPU `index` will share, and what only its walker will have; and who takes their records.
fn draft(
    launch: &Launch,
    run: &Arc<Run>,
    (index, numbers): (usize, &Vec<TaskId>),
    (cpu, bodies): (CpuTasks, Vec<Bodies>),
    (mut rings, ring_records): (Rings, Option<usize>),
    spare: Spare,
) -> Result<(Draft, Lane), RunError> {
    let Some(plan) = launch.plan.cpus.get(index) else {
        let why = "there is no plan for a CPU".to_owned();
        return Err(RunError::Unsupported(why));
    };
    let threads = match launch.config.is_of_sigrist2015() {
        true => cpu.tasks.len(),
        false => 1,
    };
    let traces = (0..threads).map(|_| match ring_records {
        Some(records) => rings.add(records),
        None => Tracer::off(),
    });
    let traces = traces.collect();
    let terms = (plan, Kind::Walked);
    let unlimited = |_| Allowance::Unlimited;
    let allowed = (spare.tolerance, spare.late_wake_nanos);
    let shared = launch.share(run, index, cpu, terms, allowed, unlimited);
    let (cpu, notes) = shared.map_err(RunError::system("make what the threads of a CPU share"))?;
    let scope = Scope::new(DomainId::FIRST, numbers, &[cpu.id]);
    let lane = Lane::new(rings, notes, &cpu, scope);
    Ok(((cpu, bodies, traces), lane))
}

/// A log for notes about the frames of these CPUs: some for each job.
fn notes_of_frames(cpus: &[SharedCpu]) -> (Arc<NoteLog>, NoteReader) {
    let tasks = cpus.iter().flat_map(|cpu| cpu.tasks.iter());
    channel(notes::room(tasks.map(|task| task.period_nanos()), u64::MAX))
}

/// Who judges what all CPUs did together. Where any CPU has no guarantee, none has.
fn evidence(
    frames: &Frames,
    cpus: &[SharedCpu],
    overhead: Service,
    notes: NoteReader,
) -> FrameEvidence {
    let facts = cpus.iter().map(|cpu| {
        let tasks = cpu.tasks.iter();
        let facts = tasks.map(|task| TaskFacts {
            model: task.configuration.task,
            offset_nanos: task.offset_nanos,
        });
        facts.collect()
    });
    let facts: Vec<Vec<TaskFacts>> = facts.collect();
    let guarantee = cpus.iter().all(|cpu| cpu.terms.guarantee);
    FrameEvidence::new(notes, frames.facts(&facts, overhead, guarantee))
}

/// With what was found of dropped jobs, when the process was continued at these clock readings after it had been stopped.
fn judged(
    counts: FrameCounts,
    mut verdicts: FrameVerdicts,
    run: &Run,
    continued: &[u64],
) -> FrameCounts {
    let since = |at: &u64| at.saturating_sub(run.epoch());
    let continued: Vec<u64> = continued.iter().map(since).collect();
    verdicts.excuse_stops(&continued);
    FrameCounts {
        unprovoked: verdicts.unprovoked,
        unprovoked_undecided: verdicts.undecided(),
        ..counts
    }
}

/// What all walkers share.
fn common(
    launch: &Launch,
    frames: &Frames,
    (scheduler, notes): (Traced<crate::BoxedScheduler>, Arc<NoteLog>),
    cpus: &[SharedCpu],
) -> Result<Arc<Common>, RunError> {
    let mut tasks: Vec<(TaskId, DomainTask)> = Vec::new();
    for ((index, cpu), numbers) in cpus.iter().enumerate().zip(&frames.numbers) {
        for (task, &number) in cpu.tasks.iter().zip(numbers) {
            let offset = Duration::from_nanos(task.offset_nanos);
            let period = Duration::from_nanos(task.period_nanos());
            tasks.push((number, DomainTask::new((index, task.id), [offset, period])));
        }
    }
    tasks.sort_by_key(|&(number, _)| number);
    let tasks = tasks.into_iter().map(|(_, task)| task).collect();
    let threads = cpus.iter().filter(|cpu| has_walker(cpu)).count();
    let shares = launch.plan.cpus.iter().any(|cpu| !cpu.is_alone);
    let table = (tasks, frames.length);
    let mut domain = Domain::new(scheduler, table, (cpus.len(), threads), notes);
    domain.stamp = monotonic_nanos;
    let stamps = Stamps::of(frames.clock);
    let stamps = stamps.map_err(RunError::system("use the time stamp counter"))?;
    // Walkers meet all together; with a scheduler those that have jobs meet, and it.
    let of_paper = launch.config.is_of_sigrist2015();
    let shares = shares || (of_paper && !launch.has_own_dispatcher());
    let count = u32::try_from(threads).unwrap_or(u32::MAX);
    let counts = if of_paper {
        2..=count.saturating_add(1)
    } else {
        count..=count
    };
    let meetings = counts.map(|count| meeting(frames.barrier, count, shares, stamps));
    let meetings = meetings.collect::<io::Result<_>>();
    let meetings = meetings.map_err(RunError::system("make the barrier of the run"))?;
    let waits = (meetings, keeps_nanos(frames.barrier, shares), stamps);
    Ok(Arc::new(Common::new(domain, waits, cpus.len())))
}

/// A CPU without tasks has nothing to do, and nobody waits for it.
fn has_walker(cpu: &SharedCpu) -> bool {
    !cpu.tasks.is_empty()
}

/// Starts all threads. Each is ready before the next one is started: in its class, on its processor, blocked.
fn start(
    launch: &Launch,
    run: &Arc<Run>,
    drafts: Vec<Draft>,
    (common, paper): (&Arc<Common>, Option<&Arc<Paper>>),
) -> Result<Going, (io::Error, Threads)> {
    let mut threads = Threads::new(launch.config.stack_bytes);
    let (processor, priority) = launch.plan.watchdog;
    let closing = (Arc::clone(common), paper.map(Arc::clone));
    let watchdog = Watchdog {
        run: Arc::clone(run),
        cpus: drafts.iter().map(|(cpu, ..)| Arc::clone(cpu)).collect(),
        processor,
        priority,
        common: Some(Box::new(move || close(&closing.0, closing.1.as_deref()))),
    };
    let (set_up, main) = (Watchdog::set_up, Watchdog::main);
    if let Err(error) = threads.start("vestal-watchdog", None, watchdog, set_up, main) {
        return Err((error, threads));
    }
    let started = match paper {
        Some(paper) => paper::start(&mut threads, paper, drafts),
        None => start_walkers(&mut threads, drafts, common),
    };
    match started {
        Ok(members) => Ok(Going { threads, members }),
        Err(error) => Err((error, threads)),
    }
}

/// Starts the walkers.
fn start_walkers(
    threads: &mut Threads,
    drafts: Vec<Draft>,
    common: &Arc<Common>,
) -> io::Result<Vec<(usize, Started<WalkRecord>)>> {
    let mut walkers = Vec::new();
    for (index, (cpu, bodies, traces)) in drafts.into_iter().enumerate() {
        if !has_walker(&cpu) {
            continue;
        }
        let number = cpu.id.0;
        let walker = Walker {
            worker: Worker {
                cpu,
                index: 0,
                // Those of a task are put in while a job of it runs.
                body: Box::new(|_| Ok(())),
                demand: Box::new(|_| Service::ZERO),
                queue: JobQueue::new(None),
                trace: traces.into_iter().next().unwrap_or(Tracer::off()),
            },
            common: Arc::clone(common),
            bodies,
        };
        let name = format!("vestal-{number}-walker");
        let place = Some((index, 0));
        let walker = threads.start(&name, place, walker, Walker::set_up, Walker::main)?;
        walkers.push((index, walker));
    }
    Ok(walkers)
}

impl Going {
    /// Waits until the run has ended; gives by CPU what its threads have noted, nothing of those that have not come back, and
    /// the places of these.
    fn join(
        self,
        cpus: &[SharedCpu],
        patience: Duration,
        others: &mut [Observer],
    ) -> (Vec<WalkRecord>, Vec<Place>) {
        let mut records: Vec<WalkRecord> = cpus.iter().map(|_| WalkRecord::default()).collect();
        for (index, member) in self.members {
            let (Some(cpu), Some(record)) = (cpus.get(index), records.get_mut(index)) else {
                continue;
            };
            let meanwhile = || {
                for (cpu, others) in cpus.iter().zip(others.iter_mut()) {
                    others.look_if(cpu.online.stolen_by_threads());
                }
            };
            if let Some(noted) = member.join(&cpu.stopped_at, patience, meanwhile) {
                record.merge(&noted);
            }
        }
        (records, self.threads.join(patience))
    }
}

/// The tasks in whose bodies the walkers at these places are.
fn in_bodies(cpus: &[SharedCpu], stuck: &[Place]) -> Vec<Place> {
    let mut places = Vec::new();
    for &(index, _) in stuck {
        let tasks = cpus.get(index).map(|cpu| cpu.tasks.iter());
        let tasks = tasks.into_iter().flatten();
        let running = tasks.filter(|task| task.jobs.running().is_some());
        places.extend(running.map(|task| (index, task.id.index())));
    }
    places
}

/// Ends the domain, and notes down the jobs of which no walker ever heard; gives the last of its records, and what
/// became of its frames.
fn end(
    common: &Common,
    run: &Run,
    cpus: &[SharedCpu],
    span: Duration,
    frames: &Frames,
) -> (Record, FrameReport) {
    let stopped = cpus.iter().map(|cpu| cpu.stopped_at.get()).max();
    let stopped = run.instant(stopped.unwrap_or(0));
    let mut domain = common.domain();
    domain.scheduler.sink().open();
    if let Err(violation) = domain.end(stopped, |cpu| common.begun(cpu))
        && let Some(cpu) = cpus.first()
    {
        cpu.stop_for_manager(format!("contract violated: {violation}"));
    }
    for task in &domain.tasks {
        let (index, id) = task.home;
        let Some(cpu) = cpus.get(index) else { continue };
        let Ok(shared) = cpu.tasks.of(id) else {
            continue;
        };
        for sequence in task.never_begun() {
            let release = run.clock_at(shared.release_of(sequence));
            let cut = cpu.unfinished((sequence, release), shared.due(release), 0);
            cpu.note_patiently(Note::Task(id.index(), TaskNote::Unfinished(cut)));
        }
        let some = task.dropped.by_reason().filter(|&(_, count)| count > 0);
        for (why, count) in some {
            let next = 0;
            let dropped = TaskNote::Dropped { why, count, next };
            cpu.note_patiently(Note::Task(id.index(), dropped));
        }
    }
    let last = domain.last_record(stopped);
    domain.scheduler.sink().close();
    let ran = stopped.saturating_since(Instant::EPOCH).min(span);
    let mut counts = domain.record.frames;
    counts.total = ran.as_nanos().div_ceil(frames.length.as_nanos().max(1));
    let report = FrameReport {
        counts,
        barrier: frames.barrier,
        clock: frames.clock,
        overhead: Service::ZERO,
        begun_late: domain.record.begun_late.summary(),
        passed: Summary::default(),
        costs: FrameCosts::default(),
        paper: None,
    };
    (last, report)
}

/// The report with what walkers found that waited for each other.
fn with_walks(
    counts: FrameReport,
    paper: Option<PaperReport>,
    records: &[WalkRecord],
) -> FrameReport {
    let all = |of: fn(&WalkRecord) -> &Histogram| {
        let mut merged = Histogram::default();
        let each = records.iter().map(of);
        each.for_each(|histogram| merged.merge(histogram));
        merged.summary()
    };
    FrameReport {
        passed: all(|record| &record.passed),
        costs: FrameCosts {
            frame: all(|record| &record.begins),
            sub_frame: all(|record| &record.opens),
            barrier: all(|record| &record.goes_on),
        },
        paper,
        ..counts
    }
}

/// What managers note down elsewhere: the modes are those of all CPUs, and stand with the first.
fn managers(common: &Common, cpus: &[SharedCpu], records: Vec<WalkRecord>) -> Vec<ManagerRecord> {
    let mut domain = common.domain();
    for record in &records {
        domain.record.parts.merge(&record.of_all);
    }
    let walked = cpus.iter().zip(records).enumerate();
    let managers = walked.map(|(index, (cpu, record))| {
        let mut manager = ManagerRecord::new(cpu.tasks.len(), 0);
        manager.parts = record.parts(&domain.record.parts, has_walker(cpu));
        manager.handling = record.handling;
        if index == 0 {
            manager.modes = std::mem::take(&mut domain.record.modes);
            manager.modes_lost = domain.record.modes_lost;
            manager.lost_notices = domain.scheduler.lost_notices();
        }
        manager
    });
    managers.collect()
}

/// What a walker did is no task's alone, and it follows no plan but its own. The last CPU may have no tasks, but the threads beside
/// them.
fn framed(launch: &Launch, mut report: Report, frames: FrameReport) -> Report {
    report.frames = Some(frames);
    for cpu in &mut report.cpus {
        cpu.inversions = None;
        cpu.tasks.iter_mut().for_each(|task| task.preemptions = 0);
    }
    if launch.has_own_dispatcher() {
        report.dispatcher = report.cpus.pop();
    }
    report
}
