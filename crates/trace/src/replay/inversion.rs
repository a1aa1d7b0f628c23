//! Did the operating system keep the order? (C8, native runs)
//!
//! A native world enacts permits and leaves the order to fixed priorities. An *inversion* is an interval of
//! time in which a job runs on a CPU although a more urgent, permitted job of that CPU is ready. A job in
//! the background is less urgent than every permitted one. Under native
//! dispatch a job is in the background from the instant at which it used up its own limit, or at which
//! its task was not admitted any more while it was pending; a managed world's permits speak of that job.
//! A task that is suspended has no priority for as long as that lasts, and one that may go on below all others
//! (a late job under zero slack) goes before those only that have no priority.
//! Threads take time to switch, so what is shorter than a tolerance does not count, and neither does
//! time in which the machine held the CPU ([`What::Gap`]). Such a record stands where that time ended, so it may
//! come after all that was seen of an inversion: nothing is an inversion before the recording ends.
//! Neither does time in which the thread of a more urgent job works at its beginning ([`Mechanism::Release`]): it
//! has the CPU, although no record says that the less urgent job stopped, until one says that such a job began. How long that takes is judged by the run
//! itself.
//!
//! When a job of a real world is ready is when its thread has woken for it. How late that was is the
//! timer's lateness and no matter of order; the report of a run says how much it was.
//!
//! Complexity: O(tasks) for each instant, and for each gap the inversions that reach into it; the memory grows with the
//! tasks, their waiting jobs and the inversions.

use crate::header::{Dispatch, Header, World};
use crate::record::{Edge, Mechanism, Record, What};
use crate::timeline::{Ending, Item, Timeline};
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use core::fmt;
use vestal_core::{CpuId, Duration, Fact, Instant, JobId, Level, Permit, StopReason, TaskId};

/// The order that should have been kept.
#[derive(Clone, Copy, Debug)]
pub struct Order<'a> {
    /// The priority of each task; larger is more urgent.
    pub priorities: &'a [u32],
    /// The CPU of each task; a task beyond the list is on CPU 0.
    pub placement: &'a [CpuId],
    /// What is at most so long does not count.
    pub tolerance: Duration,
}

/// A less urgent job ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inversion {
    /// Where.
    pub cpu: CpuId,
    /// From when.
    pub from: Instant,
    /// Until when.
    pub to: Instant,
    /// Who ran.
    pub running: JobId,
    /// Who was more urgent and ready.
    pub waiting: JobId,
}

impl fmt::Display for Inversion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "on CPU {} {} ran from {:?} to {:?} although {} was ready",
            self.cpu.0, self.running, self.from, self.to, self.waiting
        )
    }
}

/// Finds the first inversion of a recording whose permits are recorded.
///
/// # Errors
/// What `records` gives.
pub fn first_inversion<E>(
    header: &Header,
    records: impl IntoIterator<Item = Result<Record, E>>,
    order: Order<'_>,
) -> Result<Option<Inversion>, E> {
    let mut timeline = Timeline::new(header);
    let mut state = State::new(header, order);
    for record in records {
        let record = record?;
        if let What::Gap { cpu, length } = record.what {
            state.excuse(cpu, record.at, length);
        }
        for (at, item) in timeline.feed(&record) {
            state.pass(at);
            state.take(item);
        }
        state.pass(timeline.clock());
        if let What::Permit { task, permit } = record.what {
            state.permit(task, permit);
        } else if let What::Observed(Fact::Woken { task, .. }) = record.what {
            state.wake(task);
            state.woken = Some(task);
        }
    }
    Ok(state.first())
}

/// Perhaps an inversion.
#[derive(Clone, Copy, Debug)]
struct Suspect {
    inversion: Inversion,
    /// How much of it the machine took, as far as is known.
    excused: Duration,
}

impl Suspect {
    /// Whether less urgent work ran for longer than `tolerance`.
    fn is_beyond(&self, tolerance: Duration) -> bool {
        let Inversion { from, to, .. } = self.inversion;
        to.saturating_since(from) > tolerance.saturating_add(self.excused)
    }

    /// The machine held the CPU then.
    fn excuse(&mut self, gap: (Instant, Instant)) {
        let passed = common(gap, (self.inversion.from, self.inversion.to));
        self.excused = self.excused.saturating_add(passed);
    }
}

struct State<'a> {
    order: Order<'a>,
    levels: Vec<Level>,
    clock: Instant,
    /// Permits speak of jobs that the guard has not heard of, and not of the current one.
    native: bool,
    /// Whether a job is ready when it arrives, rather than when its thread wakes.
    ready_at_release: bool,
    /// Jobs that arrived and are not over, oldest first.
    pending: BTreeMap<TaskId, VecDeque<Pending>>,
    running: BTreeMap<CpuId, JobId>,
    permits: BTreeMap<TaskId, Permit>,
    /// Whose thread told last that it woke.
    woken: Option<TaskId>,
    /// Whose threads are about to begin a job.
    beginning: Vec<Beginning>,
    /// For each CPU an inversion that lasts.
    lasting: BTreeMap<CpuId, Suspect>,
    /// Those that were too long, by their ends. What the machine took of them may be told later.
    over: Vec<Suspect>,
    /// For each CPU from when until when the machine held it last.
    gaps: BTreeMap<CpuId, (Instant, Instant)>,
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    job: JobId,
    ready: bool,
    /// It lost its priority for good.
    background: bool,
}

/// A thread that is about to begin a job.
#[derive(Clone, Copy, Debug)]
struct Beginning {
    cpu: CpuId,
    task: TaskId,
    /// A less urgent job began there since: that is what is looked for, and no excuse.
    lost_the_cpu: bool,
}

/// Where a job stands among others, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// Not permitted, or for good in the background.
    None,
    /// Below all that have a priority of their own.
    BelowAll,
    /// By its task's priority.
    Own,
}

impl<'a> State<'a> {
    fn new(header: &Header, order: Order<'a>) -> Self {
        Self {
            order,
            levels: header.tasks.iter().map(|task| task.criticality).collect(),
            clock: Instant::EPOCH,
            native: header.dispatch == Dispatch::Native,
            ready_at_release: header.world != World::Linux,
            pending: BTreeMap::new(),
            running: BTreeMap::new(),
            permits: BTreeMap::new(),
            woken: None,
            beginning: Vec::new(),
            lasting: BTreeMap::new(),
            over: Vec::new(),
            gaps: BTreeMap::new(),
        }
    }

    /// Where a job stands, and its task's priority: the larger pair goes first.
    fn urgency(&self, job: JobId) -> (Rank, u32) {
        let priority = self.order.priorities.get(job.task.index()).copied();
        (self.rank(job), priority.unwrap_or(0))
    }

    fn rank(&self, job: JobId) -> Rank {
        let jobs = self.pending.get(&job.task);
        let entry = jobs.and_then(|jobs| jobs.get(index_of(jobs, job)?));
        if entry.is_some_and(|entry| entry.background) {
            return Rank::None;
        }
        match self.permits.get(&job.task) {
            Some(Permit::Run { .. }) | None => Rank::Own,
            Some(Permit::Below { .. }) => Rank::BelowAll,
            Some(
                Permit::Suspended { .. }
                | Permit::Demoted
                | Permit::Dropped { .. }
                | Permit::NotAdmitted,
            ) => Rank::None,
        }
    }

    /// A task's permit changes. Its pending jobs keep what they lose, also when the task gets it back,
    /// unless it was suspended only.
    fn permit(&mut self, task: TaskId, permit: Permit) {
        self.permits.insert(task, permit);
        if self.native && !self.is_admitted(task) {
            for entry in self.pending.entry(task).or_default() {
                entry.background = true;
            }
        }
    }

    /// The thread of a task has woken: what it has to do is ready.
    fn wake(&mut self, task: TaskId) {
        let jobs = self.pending.entry(task).or_default();
        // Of those behind the first one, the ready ones arrived before the others.
        for entry in jobs.iter_mut().rev().take_while(|entry| !entry.ready) {
            entry.ready = true;
        }
        if let Some(first) = jobs.front_mut() {
            first.ready = true;
        }
    }

    fn entry(&mut self, job: JobId) -> Option<&mut Pending> {
        let jobs = self.pending.get_mut(&job.task)?;
        let index = index_of(jobs, job)?;
        jobs.get_mut(index)
    }

    /// The machine held the CPU for so long until `until`, of which part may have passed already.
    fn excuse(&mut self, cpu: CpuId, until: Instant, length: Duration) {
        let from = Instant::from_nanos(until.as_nanos().saturating_sub(length.as_nanos()));
        let gap = (from, until);
        self.gaps.insert(cpu, gap);
        if let Some(suspect) = self.lasting.get_mut(&cpu) {
            suspect.excuse(gap);
        }
        let reached = self.over.iter_mut().rev();
        for suspect in reached.take_while(|suspect| suspect.inversion.to > from) {
            if suspect.inversion.cpu == cpu {
                suspect.excuse(gap);
            }
        }
    }

    fn is_admitted(&self, task: TaskId) -> bool {
        let permit = self.permits.get(&task);
        permit.is_none_or(|permit| permit.keeps_place())
    }

    fn cpu_of(&self, task: TaskId) -> CpuId {
        let cpu = self.order.placement.get(task.index()).copied();
        cpu.unwrap_or(CpuId(0))
    }

    /// The most urgent permitted job of `cpu` that is ready and runs nowhere.
    fn waiting(&self, cpu: CpuId) -> Option<JobId> {
        self.pending
            .iter()
            .filter(|(task, _)| self.cpu_of(**task) == cpu)
            .filter_map(|(_, jobs)| jobs.front().filter(|entry| entry.ready))
            .map(|entry| entry.job)
            .filter(|job| self.rank(*job) > Rank::None)
            .filter(|job| {
                // Jobs of one task run one after the other: its thread is there only once.
                let same = |other: &JobId| other.task == job.task;
                !self.running.values().any(same)
            })
            .max_by_key(|job| self.urgency(*job))
    }

    /// Time moves on to `to`: what held until now lasted so long.
    fn pass(&mut self, to: Instant) {
        if to <= self.clock {
            return;
        }
        let since = core::mem::replace(&mut self.clock, to);
        let inverted: BTreeMap<CpuId, (JobId, JobId)> = self
            .running
            .iter()
            .filter_map(|(cpu, running)| {
                let waiting = self.waiting(*cpu)?;
                let urgency = self.urgency(*running);
                let inverted = self.urgency(waiting) > urgency && !self.begins_above(*cpu, urgency);
                inverted.then_some((*cpu, (*running, waiting)))
            })
            .collect();
        self.settle(|suspect| {
            let Inversion {
                cpu,
                running,
                waiting,
                ..
            } = suspect.inversion;
            inverted.get(&cpu) == Some(&(running, waiting))
        });
        for (cpu, (running, waiting)) in inverted {
            let gap = self.gaps.get(&cpu).copied();
            let excused = gap.map_or(Duration::ZERO, |gap| common(gap, (since, to)));
            let suspect = self.lasting.entry(cpu).or_insert(Suspect {
                inversion: Inversion {
                    cpu,
                    from: since,
                    to,
                    running,
                    waiting,
                },
                excused: Duration::ZERO,
            });
            suspect.inversion.to = to;
            suspect.excused = suspect.excused.saturating_add(excused);
        }
    }

    /// Whether the thread of a more urgent task is about to begin a job on `cpu`.
    fn begins_above(&self, cpu: CpuId, urgency: (Rank, u32)) -> bool {
        let here = |one: &&Beginning| one.cpu == cpu && !one.lost_the_cpu;
        let mut beginning = self.beginning.iter().filter(here);
        beginning.any(|one| self.is_above(one.task, urgency))
    }

    /// Whether the next job of a task is more urgent.
    fn is_above(&self, task: TaskId, urgency: (Rank, u32)) -> bool {
        let first = self.pending.get(&task).and_then(VecDeque::front);
        first.is_some_and(|first| self.urgency(first.job) > urgency)
    }

    /// A job gets a CPU on which the threads of more urgent ones may be about to begin them.
    fn takes(&mut self, cpu: CpuId, job: JobId) {
        let urgency = self.urgency(job);
        let mut beginning = core::mem::take(&mut self.beginning);
        for one in &mut beginning {
            one.lost_the_cpu |= one.cpu == cpu && self.is_above(one.task, urgency);
        }
        self.beginning = beginning;
    }

    fn begin(&mut self, cpu: CpuId, edge: Edge) {
        match edge {
            Edge::Begin => self.beginning.extend(self.woken.map(|task| Beginning {
                cpu,
                task,
                lost_the_cpu: false,
            })),
            Edge::End => {
                let last = self.beginning.iter().rposition(|one| one.cpu == cpu);
                if let Some(last) = last {
                    self.beginning.remove(last);
                }
            }
        }
    }

    /// All that do not last are over.
    fn settle(&mut self, lasts: impl Fn(&Suspect) -> bool) {
        let tolerance = self.order.tolerance;
        let over = &mut self.over;
        self.lasting.retain(|_, suspect| {
            let lasts = lasts(suspect);
            if !lasts && suspect.is_beyond(tolerance) {
                over.push(*suspect);
            }
            lasts
        });
    }

    /// The first inversion, of a recording that is over.
    fn first(mut self) -> Option<Inversion> {
        self.settle(|_| false);
        let tolerance = self.order.tolerance;
        let found = self.over.iter().filter(|one| one.is_beyond(tolerance));
        let found = found.map(|one| one.inversion);
        found.min_by_key(|inversion| inversion.from)
    }

    fn take(&mut self, item: Item) {
        match item {
            Item::Release { job, .. } => {
                let entry = Pending {
                    job,
                    ready: self.ready_at_release,
                    background: self.native && !self.is_admitted(job.task),
                };
                self.pending.entry(job.task).or_default().push_back(entry);
            }
            Item::Begin { cpu, job, .. } => {
                self.wake(job.task);
                self.takes(cpu, job);
                self.running.insert(cpu, job);
            }
            Item::Finish { cpu, job, why } => {
                self.running.remove(&cpu);
                match why {
                    Ending::Completed | Ending::Stopped(StopReason::Cancelled) => self.over(job),
                    Ending::Stopped(StopReason::Blocked) => self.block(job),
                    Ending::Stopped(StopReason::Preempted) | Ending::Recording => {}
                }
            }
            Item::Drop { job, .. } => self.over(job),
            Item::Overrun { job, level } => {
                // Below its own level it raises the mode and keeps its priority.
                let own = self.levels.get(job.task.index());
                if self.native
                    && own.is_some_and(|own| level >= *own)
                    && let Some(entry) = self.entry(job)
                {
                    entry.background = true;
                }
            }
            Item::Overhead {
                cpu,
                mechanism: Mechanism::Release,
                edge,
            } => self.begin(cpu, edge),
            Item::Deadline { .. }
            | Item::Miss { .. }
            | Item::Mode { .. }
            | Item::Budget { .. }
            | Item::Overhead { .. }
            | Item::Gap { .. }
            | Item::Ghost { .. }
            | Item::Lost { .. }
            | Item::End => {}
        }
    }

    /// The job is not ready until it goes on: it waits for something, perhaps for its next slice.
    fn block(&mut self, job: JobId) {
        if let Some(entry) = self.entry(job) {
            entry.ready = false;
        }
    }

    /// The job is complete, or dropped.
    fn over(&mut self, job: JobId) {
        if let Some(jobs) = self.pending.get_mut(&job.task)
            && let Some(index) = index_of(jobs, job)
        {
            jobs.remove(index);
        }
    }
}

/// How long two intervals have in common.
fn common(one: (Instant, Instant), other: (Instant, Instant)) -> Duration {
    let (from, to) = (one.0.max(other.0), one.1.min(other.1));
    to.saturating_since(from)
}

/// Where a job stands among those of its task, which arrive in the order of their numbers. Thousands may
/// wait, and mostly the first is asked for.
fn index_of(jobs: &VecDeque<Pending>, job: JobId) -> Option<usize> {
    let found = jobs.binary_search_by_key(&job.sequence, |entry| entry.job.sequence);
    found.ok()
}
