//! The obvious scheduler: one tick at a time, every rule written out, nothing remembered that could
//! be looked up. It shares nothing with the engine but the task model.
//!
//! At each instant, in this order: the job that ran is complete; limits are used up (the mode rises
//! as often as needed, tasks below it lose their jobs); late jobs are aborted where their task wants
//! that; if no admitted job is left, the mode is 0; jobs that arrive are admitted or lost; the most
//! urgent admitted job runs for one tick, or else the most urgent one in the background. Urgent is
//! the highest priority (of its task, or its own from a list) or the earliest deadline, and then the
//! task that stands first. A job in slices
//! that has executed all the slices that have begun does not run, and counts as admitted.
//!
//! With zero-slack instants it is computed anew at each tick, from all jobs, up to which level tasks
//! are suspended; of those only the late jobs of that very level run, below all others.

mod plrs;

pub(crate) use plrs::Lists;

use plrs::Rests;
use vestal_core::ids::TaskId;
use vestal_core::model::{Level, Task};
use vestal_core::time::Service;

/// How many jobs of one task a scheduler knows beside the first one. Those beyond wait all the same, but
/// take nothing from their task's list before they are reported to it.
const KNOWN_BEHIND: usize = 4;

/// A task with its priority (larger first, then the one that stands first).
#[derive(Clone, Debug)]
pub(crate) struct ReferenceTask {
    pub(crate) task: Task,
    pub(crate) priority: u32,
    /// How long after its release a job counts as due in mode 0, where deadlines order jobs.
    pub(crate) virtual_deadline: u64,
    /// How long after its release a job counts as critical, under [`Limits::ZeroSlack`].
    pub(crate) zero_slack: Option<u64>,
    pub(crate) abort_when_late: bool,
    /// The priorities of its jobs in a busy period, falling, where lists order jobs.
    pub(crate) list: Vec<u32>,
    /// Into how many slices its jobs are cut; only with static limits and priorities.
    pub(crate) slices: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limits {
    /// C_i(z_i) for each job.
    Static,
    /// C_i(mode).
    Adaptive,
    /// C_i(z_i) for each job, and jobs without slack suspend less critical tasks.
    ZeroSlack,
}

/// What happens to a job at its own level's limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtLimit {
    Background,
    Abort,
    GoOn,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reason {
    Mode,
    Exhausted,
    Superseded,
    Deadline,
    BacklogFull,
}

/// Everything that is given: releases and executions of job k of task i at `[i][k]`, ascending.
#[derive(Clone, Debug)]
pub(crate) struct System {
    pub(crate) tasks: Vec<ReferenceTask>,
    pub(crate) levels: usize,
    /// The earliest deadline first (EDF, EDF-VD) instead of the highest priority.
    pub(crate) by_deadline: bool,
    /// Job priorities from lists instead of both.
    pub(crate) lists: Lists,
    pub(crate) limits: Limits,
    pub(crate) at_limit: AtLimit,
    pub(crate) releases: Vec<Vec<u64>>,
    pub(crate) demand: Vec<Vec<u64>>,
    /// How many jobs of one task may wait behind its first one; more are dropped. `None`: any number.
    pub(crate) backlog: Option<usize>,
    pub(crate) end: u64,
}

/// What happened, instant by instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Schedule {
    /// For each tick the task and the number of the job that ran.
    pub(crate) ran: Vec<Option<(usize, usize)>>,
    /// For each tick the mode in which it ran.
    pub(crate) modes: Vec<u8>,
    /// Completions: instant, task, job.
    pub(crate) completed: Vec<(u64, usize, usize)>,
    /// Drops: instant, task, job, reason; sorted.
    pub(crate) dropped: Vec<(u64, usize, usize, Reason)>,
    /// How often the mode rose.
    pub(crate) rises: usize,
    /// How many jobs found the list of their task empty.
    pub(crate) beyond_pattern: u64,
}

/// What cannot be seen from outside.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inside {
    /// Instants at which no admitted job was pending, releases of that instant apart.
    pub(crate) idle: Vec<u64>,
    /// When which job went into the background or was stopped for good at its last limit.
    pub(crate) demoted: Vec<(u64, usize, usize)>,
    /// Which jobs have had the CPU.
    pub(crate) begun: Vec<Begun>,
}

/// A job got the CPU for the first time.
#[allow(dead_code, reason = "not every test counts busy periods")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Begun {
    pub(crate) at: u64,
    pub(crate) job: (usize, usize),
    /// How many idle instants there were before; some of them may be this one.
    pub(crate) idle_instants: usize,
}

#[derive(Clone, Debug)]
struct Job {
    number: usize,
    released: u64,
    executed: u64,
    /// It has had the CPU. Before, it neither completes nor stands at a limit, even if it needs nothing.
    begun: bool,
    /// The scheduler has looked at its limit although it does not run, because a job of its task before it is
    /// complete or one behind it is released. It stands at a limit of nothing then.
    looked_at: bool,
    /// In the background, with the rank it had when it went there.
    background: Option<u64>,
    /// A scheduler of bounded memory has had it reported.
    known: bool,
    /// It has taken its entry from its task's list, if there was one left.
    entered: bool,
    entry: Option<u32>,
}

struct State<'a> {
    system: &'a System,
    /// By task, its jobs in the order of arrival; only the first one may run.
    jobs: Vec<Vec<Job>>,
    rests: Rests,
    mode: u8,
    out: Schedule,
    inside: Inside,
}

pub(crate) fn schedule(system: &System) -> (Schedule, Inside) {
    let mut state = State {
        system,
        jobs: vec![Vec::new(); system.tasks.len()],
        rests: Rests::new(system),
        mode: 0,
        out: Schedule {
            ran: Vec::new(),
            modes: Vec::new(),
            completed: Vec::new(),
            dropped: Vec::new(),
            rises: 0,
            beyond_pattern: 0,
        },
        inside: Inside::default(),
    };
    for now in 0..=system.end {
        state.complete(now);
        while state.tell_of_one_each() {}
        let has_room: Vec<bool> = (0..system.tasks.len())
            .map(|i| state.has_room(i) && state.jobs[i].iter().all(|job| job.known))
            .collect();
        for (jobs, releases) in state.jobs.iter_mut().zip(&system.releases) {
            if let Some(first) = jobs.first_mut()
                && releases.binary_search(&now).is_ok()
            {
                first.looked_at = true;
            }
        }
        state.use_up_limits(now);
        state.abort_late_jobs(now);
        state.look_for_an_idle_instant(now);
        if now == system.end {
            break;
        }
        state.admit(now, &has_room);
        while !state.run_one_tick(now) {}
    }
    state.out.dropped.sort_unstable();
    state.out.beyond_pattern = state.rests.beyond;
    (state.out, state.inside)
}

impl State<'_> {
    fn task(&self, i: usize) -> &Task {
        &self.system.tasks[i].task
    }

    /// Whether a job of task i may be admitted now.
    fn admits(&self, i: usize) -> bool {
        let task = self.task(i);
        self.system.limits != Limits::Adaptive
            || task.criticality.0 >= self.mode
            || task.degraded.is_some()
    }

    /// What a job of task i may execute in all.
    fn limit(&self, i: usize) -> u64 {
        let task = self.task(i);
        let limit = match self.system.limits {
            Limits::Static | Limits::ZeroSlack => task.wcet.at(task.criticality),
            Limits::Adaptive if self.mode <= task.criticality.0 => task.wcet.at(Level(self.mode)),
            Limits::Adaptive => task.degraded.unwrap_or(Service::ZERO),
        };
        limit.as_nanos()
    }

    fn drop_first(&mut self, i: usize, now: u64, why: Reason) {
        let job = self.jobs[i].remove(0);
        self.out.dropped.push((now, i, job.number, why));
    }

    fn complete(&mut self, now: u64) {
        for i in 0..self.jobs.len() {
            if let Some(job) = self.jobs[i].first()
                && job.begun
                && job.executed >= self.system.demand[i][job.number]
            {
                self.out.completed.push((now, i, job.number));
                self.jobs[i].remove(0);
                if let Some(next) = self.jobs[i].first_mut() {
                    next.looked_at = true;
                }
            }
        }
    }

    fn look_for_an_idle_instant(&mut self, now: u64) {
        if self.is_anybody_admitted_before(now) {
            return;
        }
        self.inside.idle.push(now);
        // The scheduler has heard of those released just then, and stays in its mode for them.
        if !self.is_anybody_admitted_before(now + 1) {
            self.mode = 0;
        }
    }

    /// Looks at every job again and again until no job stands at a limit.
    fn use_up_limits(&mut self, now: u64) {
        while let Some(i) = (0..self.jobs.len()).find(|&i| self.stands_at_limit(i)) {
            let own = self.task(i).criticality.0;
            if self.system.limits == Limits::Adaptive && own > self.mode {
                self.mode += 1;
                self.out.rises += 1;
                for other in 0..self.jobs.len() {
                    while !self.admits(other) && !self.jobs[other].is_empty() {
                        self.drop_first(other, now, Reason::Mode);
                    }
                }
                continue;
            }
            let number = self.jobs[i][0].number;
            self.inside.demoted.push((now, i, number));
            match self.system.at_limit {
                AtLimit::Abort => self.drop_first(i, now, Reason::Exhausted),
                AtLimit::Background if self.jobs[i].len() > 1 => {
                    self.drop_first(i, now, Reason::Superseded);
                }
                AtLimit::Background => {
                    let rank = self.rank(i, &self.jobs[i][0]);
                    self.jobs[i][0].background = Some(rank);
                }
                AtLimit::GoOn => unreachable!("such a job never stands at its limit"),
            }
        }
    }

    fn stands_at_limit(&self, i: usize) -> bool {
        let raises =
            self.system.limits == Limits::Adaptive && self.task(i).criticality.0 > self.mode;
        let has_limit = raises || self.system.at_limit != AtLimit::GoOn;
        has_limit
            && self.jobs[i].first().is_some_and(|job| {
                job.background.is_none()
                    && (job.begun || job.looked_at || self.limit(i) > 0)
                    && job.executed >= self.limit(i)
            })
    }

    fn abort_late_jobs(&mut self, now: u64) {
        for i in 0..self.jobs.len() {
            let deadline = self.task(i).deadline.as_nanos();
            while self.system.tasks[i].abort_when_late
                && self.jobs[i]
                    .first()
                    .is_some_and(|job| job.released + deadline <= now)
            {
                self.drop_first(i, now, Reason::Deadline);
            }
        }
    }

    /// Of jobs released before `now`.
    fn is_anybody_admitted_before(&self, now: u64) -> bool {
        let mut jobs = self.jobs.iter().flatten();
        jobs.any(|job| job.background.is_none() && job.released < now)
    }

    /// Of the jobs that could run, the most urgent one's list entry.
    fn most_urgent_entry(&self) -> Option<Option<u32>> {
        let first = self.jobs.iter().filter_map(|jobs| jobs.first());
        let admitted = first.filter(|job| job.entered && job.background.is_none());
        admitted.map(|job| job.entry).max()
    }

    /// Whether a scheduler may have one more reported job of task i.
    fn has_room(&self, i: usize) -> bool {
        let behind = self.system.backlog.unwrap_or(KNOWN_BEHIND);
        let jobs = self.jobs[i].iter();
        let admitted = jobs.filter(|job| job.known && job.background.is_none());
        admitted.count() <= behind.min(KNOWN_BEHIND)
    }

    /// Makes the oldest unknown job of each task known, where there is room; says whether there was any.
    fn tell_of_one_each(&mut self) -> bool {
        let mut any = false;
        for i in 0..self.jobs.len() {
            let has_room = self.has_room(i);
            if let Some(job) = self.jobs[i].iter_mut().find(|job| !job.known)
                && has_room
            {
                job.known = true;
                any = true;
            }
        }
        any
    }

    /// `has_room` says of which tasks a scheduler could have one more reported before limits were used up.
    fn admit(&mut self, now: u64, has_room: &[bool]) {
        let pending = self.most_urgent_entry();
        for (i, &known) in has_room.iter().enumerate() {
            let Ok(number) = self.system.releases[i].binary_search(&now) else {
                continue;
            };
            if !self.admits(i) {
                self.out.dropped.push((now, i, number, Reason::Mode));
                continue;
            }
            if self.jobs[i]
                .first()
                .is_some_and(|job| job.background.is_some())
            {
                self.drop_first(i, now, Reason::Superseded);
            }
            let length = self.jobs[i].len();
            if self.system.backlog.is_some_and(|most| length > most) {
                self.out.dropped.push((now, i, number, Reason::BacklogFull));
                continue;
            }
            self.jobs[i].push(Job {
                number,
                released: now,
                executed: 0,
                begun: false,
                looked_at: false,
                background: None,
                known,
                entered: false,
                entry: None,
            });
        }
        self.take_entries(pending);
        self.give_room();
    }

    /// Room that came of what ended just now is given in a further step.
    fn give_room(&mut self) {
        loop {
            let pending = self.most_urgent_entry();
            let mut any = false;
            for _ in 0..KNOWN_BEHIND {
                any |= self.tell_of_one_each();
            }
            if !any {
                break;
            }
            self.take_entries(pending);
        }
    }

    /// Jobs that are known since this instant take their entries from the lists.
    fn take_entries(&mut self, pending: Option<Option<u32>>) {
        let mut begun = self.system.lists == Lists::No;
        for i in 0..self.jobs.len() {
            for k in 0..self.jobs[i].len() {
                let job = &self.jobs[i][k];
                if job.entered || !job.known {
                    continue;
                }
                self.jobs[i][k].entered = true;
                if !begun {
                    self.rests.begin_arrivals(self.system, pending);
                    begun = true;
                }
                if self.system.lists != Lists::No {
                    self.jobs[i][k].entry = self.rests.take(i);
                }
            }
        }
    }

    /// The job of the lowest rank goes first.
    fn rank(&self, i: usize, job: &Job) -> u64 {
        let entry = &self.system.tasks[i];
        if self.system.lists != Lists::No {
            // A job beyond its list goes behind all others.
            job.entry
                .map_or(u64::MAX, |priority| u64::from(u32::MAX - priority))
        } else if !self.system.by_deadline {
            u64::from(u32::MAX - entry.priority)
        } else if self.mode == 0 {
            job.released + entry.virtual_deadline
        } else {
            job.released + entry.task.deadline.as_nanos()
        }
    }

    /// Whether the slices of the job that have begun leave it nothing to execute.
    fn waits_for_a_slice(&self, i: usize, job: &Job, now: u64) -> bool {
        let (whole, period) = (
            self.task(i).own_wcet().as_nanos(),
            self.task(i).period.as_nanos(),
        );
        let slices = self.system.tasks[i].slices;
        let mut granted = 0;
        for slice in 0..slices {
            if job.released + slice * period / slices <= now {
                granted = ((slice + 1) * whole).div_ceil(slices);
            }
        }
        granted < whole && job.executed >= granted
    }

    /// kappa by its definition: the highest of the levels that incomplete jobs suspend; z - 1 for a
    /// job from its zero-slack instant on, z from its deadline on. Counted from 1; 0: none.
    fn suspended_up_to(&self, now: u64) -> u8 {
        let mut kappa = 0;
        for (entry, jobs) in self.system.tasks.iter().zip(&self.jobs) {
            let z = entry.task.criticality.0;
            for job in jobs.iter().filter(|job| job.background.is_none()) {
                if now >= job.released + entry.task.deadline.as_nanos() {
                    kappa = kappa.max(z + 1);
                } else if entry
                    .zero_slack
                    .is_some_and(|after| now >= job.released + after)
                {
                    kappa = kappa.max(z);
                }
            }
        }
        kappa
    }

    /// 0: the job goes by its rank. 1: it is late and of the level up to which tasks are suspended.
    /// 2: it is in the background. `None`: it is suspended, or waits for its next slice.
    fn place(&self, i: usize, job: &Job, kappa: u8, now: u64) -> Option<u8> {
        let task = self.task(i);
        if job.background.is_some() {
            return Some(2);
        }
        if self.waits_for_a_slice(i, job, now) {
            return None;
        }
        if self.system.limits != Limits::ZeroSlack || task.criticality.0 + 1 > kappa {
            return Some(0);
        }
        let late = now >= job.released + task.deadline.as_nanos();
        (late && task.criticality.0 + 1 == kappa).then_some(1)
    }

    /// The most urgent job executes for a tick, unless it needs nothing or may execute nothing; then another
    /// one may be the most urgent one at the same instant. Says whether the tick is over.
    fn run_one_tick(&mut self, now: u64) -> bool {
        let kappa = self.suspended_up_to(now);
        let mut best: Option<(u8, u64, TaskId)> = None;
        for (i, number) in (0..self.jobs.len()).zip(0..) {
            let Some(job) = self.jobs[i].first() else {
                continue;
            };
            let Some(position) = self.place(i, job, kappa, now) else {
                continue;
            };
            let rank = match position {
                0 => self.rank(i, job),
                1 => job.released,
                _ => job.background.unwrap_or(0),
            };
            let candidate = (position, rank, TaskId(number));
            if best.is_none_or(|best| candidate < best) {
                best = Some(candidate);
            }
        }
        let Some((_, _, chosen)) = best else {
            self.out.modes.push(self.mode);
            self.out.ran.push(None);
            return true;
        };
        let chosen = chosen.index();
        let job = &mut self.jobs[chosen][0];
        if !job.begun {
            job.begun = true;
            self.inside.begun.push(Begun {
                at: now,
                job: (chosen, job.number),
                idle_instants: self.inside.idle.len(),
            });
            if self.system.demand[chosen][job.number] == 0 {
                self.complete(now);
                self.use_up_limits(now);
                self.look_for_an_idle_instant(now);
                self.give_room();
                return false;
            }
            if self.stands_at_limit(chosen) {
                self.use_up_limits(now);
                // What was dropped may have been all there was before; the mode has risen at this instant, and
                // stays.
                if !self.is_anybody_admitted_before(now) {
                    self.inside.idle.push(now);
                }
                self.give_room();
                return false;
            }
        }
        let job = &mut self.jobs[chosen][0];
        job.executed += 1;
        self.out.modes.push(self.mode);
        self.out.ran.push(Some((chosen, job.number)));
        true
    }
}
