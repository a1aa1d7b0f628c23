//! The obvious world that takes CPU time for what carrying a policy out costs: one CPU, one tick at a time, written from
//! the documentation of [`vestal_sim::costs`] alone. It shares nothing with the simulated world and the engine but the
//! task model, and with the unit-step reference the description of a system.
//!
//! At each instant, in this order: the job that had the CPU is complete; the wake-up comes; arrivals are heard of; budgets
//! are looked at; used-up budgets that are noticed have their consequences; late jobs are aborted; without an admitted
//! job the mode is 0; jobs that arrive are admitted or lost; the most urgent job is given the CPU. What each of this costs
//! queues in the order in which it happens, and is paid before any job goes on.

use super::{Run, Use};
use crate::reference::{AtLimit, Limits, Reason, ReferenceTask, System};
use std::collections::VecDeque;
use vestal_core::{Duration, Level, Service};
use vestal_sim::Costs;
use vestal_sim::costs::Cause;

/// How many jobs of one task a scheduler knows. Dropping those beyond it is nothing to pay for.
const KNOWN: usize = 5;

/// A deliberate mistake of the twin, which a comparison has to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A completion costs nothing.
    FreeCompletions,
    /// A job that comes back to the CPU is given it for nothing.
    FreeReturns,
    /// A job pays its own part again whenever it is given the CPU.
    OwnPartAgain,
    /// A used-up budget is noticed at once.
    PromptDetection,
    /// There is no look at the epoch.
    NoFirstLook,
    /// With a heartbeat, a budget counts as used up without the detection.
    LookWithoutDetection,
    /// A job loses the CPU and nobody notices what it used up.
    BlindPreemption,
    /// A job completes and nobody notices what it used up.
    BlindCompletion,
    /// Of the jobs that a change of mode drops only the first one of a task costs something.
    OneTermination,
    /// The return to mode 0 costs nothing.
    FreeReturnOfMode,
    /// A wake-up at an instant at which something else happens costs nothing.
    CoincidingWakesAreFree,
    /// An arrival that the mode does not admit costs nothing.
    FreeLostArrivals,
    /// A release during which a job has the CPU costs nothing.
    ReleasesUnderJobsAreFree,
    /// A switch that has not begun is taken all the same when there is another one.
    SwitchesPileUp,
}

impl Fault {
    pub(crate) const ALL: [Self; 14] = [
        Self::SwitchesPileUp,
        Self::FreeCompletions,
        Self::FreeReturns,
        Self::OwnPartAgain,
        Self::PromptDetection,
        Self::NoFirstLook,
        Self::LookWithoutDetection,
        Self::BlindPreemption,
        Self::BlindCompletion,
        Self::OneTermination,
        Self::FreeReturnOfMode,
        Self::CoincidingWakesAreFree,
        Self::FreeLostArrivals,
        Self::ReleasesUnderJobsAreFree,
    ];
}

#[derive(Clone, Debug)]
struct Job {
    number: usize,
    released: u64,
    executed: u64,
    /// What it has to do before its body.
    own: u64,
    /// It has had the CPU.
    begun: bool,
    /// The scheduler had room for it when it arrived.
    had_room: bool,
    /// In the background, with the rank it had when it went there.
    background: Option<u64>,
}

impl Job {
    /// Whether the scheduler knows of it, or could.
    const fn is_known(&self, now: u64) -> bool {
        self.had_room || self.released < now
    }
}

struct Twin<'a> {
    system: &'a System,
    costs: &'a Costs,
    fault: Option<Fault>,
    /// By task, its jobs in the order of arrival; only the first one may run.
    jobs: Vec<Vec<Job>>,
    mode: u8,
    /// The task whose first job has the CPU.
    holder: Option<usize>,
    /// What that job may execute in all, as of the last decision.
    budget: Option<u64>,
    /// The instant that the scheduler asked to be woken at.
    wake: Option<u64>,
    /// Something happens at this instant, for which there is a decision. The end of what the CPU is taken for counts.
    eventful: bool,
    /// For what the CPU is taken, and how many ticks are left of each.
    taken: VecDeque<(Cause, u64)>,
    out: Run,
}

pub(crate) fn run(system: &System, costs: &Costs, fault: Option<Fault>) -> Run {
    let mut twin = Twin {
        system,
        costs,
        fault,
        jobs: vec![Vec::new(); system.tasks.len()],
        mode: 0,
        holder: None,
        budget: None,
        wake: None,
        eventful: true,
        taken: VecDeque::new(),
        out: Run::default(),
    };
    for now in 0..=system.end {
        let overrun = twin.complete(now);
        twin.wake_up(now);
        twin.hear_of_releases(now);
        let is_noticed = twin.look(now);
        twin.settle(now, overrun, is_noticed);
        twin.admit(now);
        // At the end, too, what the job executed that would lose the CPU is noticed.
        twin.give_the_cpu(now);
        if now < system.end {
            twin.tick();
        }
    }
    twin.out.dropped.sort_unstable();
    twin.out
}

impl Twin<'_> {
    fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    fn take(&mut self, cause: Cause, cost: Duration) {
        if cost.is_zero() {
            return;
        }
        let is_there = |taken: &(Cause, u64)| taken.0 == cause;
        if cause == Cause::Heartbeat && self.taken.iter().any(is_there) {
            return;
        }
        if cause == Cause::Switch && !self.has(Fault::SwitchesPileUp) {
            // What has begun stands first.
            let mut number = 0;
            self.taken.retain(|taken| {
                number += 1;
                number == 1 || !is_there(taken)
            });
        }
        self.taken.push_back((cause, cost.as_nanos()));
    }

    fn entry(&self, i: usize) -> &ReferenceTask {
        &self.system.tasks[i]
    }

    fn level(&self, i: usize) -> u8 {
        self.entry(i).task.criticality.0
    }

    fn admits(&self, i: usize) -> bool {
        self.system.limits == Limits::Static
            || self.level(i) >= self.mode
            || self.entry(i).task.degraded.is_some()
    }

    /// What a job of task i may execute in all in a mode.
    fn limit_in(&self, i: usize, mode: u8) -> u64 {
        let task = &self.entry(i).task;
        let limit = if self.system.limits == Limits::Static {
            task.wcet.at(task.criticality)
        } else if mode <= self.level(i) {
            task.wcet.at(Level(mode))
        } else {
            task.degraded.unwrap_or(Service::ZERO)
        };
        limit.as_nanos()
    }

    fn limit(&self, i: usize) -> u64 {
        self.limit_in(i, self.mode)
    }

    /// What the slices of the first job of task i that have begun allow it to execute.
    fn granted(&self, i: usize, now: u64) -> u64 {
        let (whole, period) = (self.limit(i), self.entry(i).task.period.as_nanos());
        let slices = self.entry(i).slices;
        if slices == 1 {
            return whole;
        }
        let released = self.jobs[i][0].released;
        let begun = (0..slices).filter(|slice| released + slice * period / slices <= now);
        (begun.count() as u64 * whole).div_ceil(slices)
    }

    /// When the first job of task i may execute more than it has: now, or at the beginning of a slice.
    fn goes_on_at(&self, i: usize, now: u64) -> u64 {
        let executed = self.jobs[i][0].executed;
        let mut later = now..;
        let goes_on = |&at: &u64| executed < self.granted(i, at) || executed >= self.limit(i);
        later.find(goes_on).unwrap_or(now)
    }

    fn drop_first(&mut self, i: usize, now: u64, why: Reason) {
        let job = self.jobs[i].remove(0);
        self.out.dropped.push((now, i, job.number, why));
        if self.holder == Some(i) {
            self.holder = None;
        }
    }

    fn wake_up(&mut self, now: u64) {
        if self.wake.is_none_or(|at| at > now) {
            return;
        }
        let coincides = self
            .system
            .releases
            .iter()
            .any(|list| list.binary_search(&now).is_ok());
        if !(coincides && self.has(Fault::CoincidingWakesAreFree)) {
            self.take(Cause::Wake, self.costs.wake);
        }
        self.eventful = true;
    }

    fn hear_of_releases(&mut self, now: u64) {
        for i in 0..self.jobs.len() {
            if self.system.releases[i].binary_search(&now).is_err() {
                continue;
            }
            self.eventful = true;
            let is_free = !self.admits(i) && self.has(Fault::FreeLostArrivals)
                || self.has(Fault::ReleasesUnderJobsAreFree) && self.holder.is_some();
            if !is_free {
                self.take(Cause::Release, self.costs.release);
            }
        }
    }

    /// Ends the job that has done all it had to do; says of which task it was and what it executed, if it was admitted.
    fn complete(&mut self, now: u64) -> Option<(usize, u64)> {
        let i = self.holder?;
        let job = &self.jobs[i][0];
        if job.executed < self.system.demand[i][job.number] {
            return None;
        }
        let job = self.jobs[i].remove(0);
        self.holder = None;
        self.out.completed.push((now, i, job.number));
        self.eventful = true;
        if !self.has(Fault::FreeCompletions) {
            self.take(Cause::Completion, self.costs.completion);
        }
        job.background.is_none().then_some((i, job.executed))
    }

    /// Whether it is noticed now that the job with the CPU has used up its budget.
    fn look(&mut self, now: u64) -> bool {
        let is_look = self.costs.heartbeat.is_none_or(|beat| {
            let looks = now.is_multiple_of(beat.period.as_nanos());
            let is_free = now == 0 && self.has(Fault::NoFirstLook);
            if looks && !is_free {
                self.take(Cause::Heartbeat, beat.cost);
            }
            self.eventful |= looks;
            looks
        });
        let free = self.has(Fault::PromptDetection)
            || self.has(Fault::LookWithoutDetection) && self.costs.heartbeat.is_some();
        let late = if free {
            0
        } else {
            self.costs.detection.as_nanos()
        };
        let (Some(i), Some(budget)) = (self.holder, self.budget) else {
            return false;
        };
        let is_noticed = is_look && self.jobs[i][0].executed >= budget + late;
        self.eventful |= is_noticed;
        is_noticed
    }

    /// What follows from what is known, but for arrivals and who runs.
    fn settle(&mut self, now: u64, overrun: Option<(usize, u64)>, is_noticed: bool) {
        if let Some((i, executed)) = overrun
            && !self.has(Fault::BlindCompletion)
        {
            while self.raises(i) && executed > self.limit(i) {
                self.raise(now);
            }
        }
        self.use_up_limits(now, is_noticed);
        self.abort_late_jobs(now);
        let mut pending = self.jobs.iter().flatten();
        let counts = |job: &Job| job.background.is_none() && job.is_known(now);
        if !pending.any(counts) && self.mode > 0 {
            self.mode = 0;
            if !self.has(Fault::FreeReturnOfMode) {
                self.take(Cause::Mode, self.costs.change);
            }
        }
    }

    /// Whether a job of task i that uses up its limit raises the mode.
    fn raises(&self, i: usize) -> bool {
        self.system.limits == Limits::Adaptive && self.level(i) > self.mode
    }

    fn raise(&mut self, now: u64) {
        self.mode += 1;
        self.take(Cause::Mode, self.costs.change);
        for other in 0..self.jobs.len() {
            let mut known = if self.has(Fault::OneTermination) {
                1
            } else {
                KNOWN
            };
            let unknown = self.jobs[other].pop_if(|job| !job.is_known(now));
            while !self.admits(other) && !self.jobs[other].is_empty() {
                let is_new = self.jobs[other][0].released == now;
                self.drop_first(other, now, Reason::Mode);
                if known > 0 && !is_new {
                    self.take(Cause::Mode, self.costs.termination);
                }
                known = known.saturating_sub(1);
            }
            self.jobs[other].extend(unknown);
        }
    }

    /// Jobs without the CPU are known to have executed what they have; of the one that has it, whatever it used up has
    /// to be noticed.
    fn use_up_limits(&mut self, now: u64, is_noticed: bool) {
        let stands_at_limit = |twin: &Self, i: usize| {
            let is_known = twin.admits(i) && (is_noticed || twin.holder != Some(i));
            twin.jobs[i].first().is_some_and(|job| {
                is_known && job.background.is_none() && job.executed >= twin.limit(i)
            })
        };
        while let Some(i) = (0..self.jobs.len()).find(|&i| stands_at_limit(self, i)) {
            // As far as it goes, before another job's degraded limit counts.
            if self.raises(i) {
                while self.raises(i) && stands_at_limit(self, i) {
                    self.raise(now);
                }
                continue;
            }
            self.take(Cause::Exhaustion, self.costs.exhaustion);
            if self.system.at_limit == AtLimit::Abort {
                self.drop_first(i, now, Reason::Exhausted);
            } else if self.jobs[i].len() > 1 {
                self.drop_first(i, now, Reason::Superseded);
            } else {
                self.jobs[i][0].background = Some(self.rank(i));
            }
        }
        // Suspended until its next slice.
        if let Some(i) = self.holder
            && is_noticed
            && self.jobs[i][0].background.is_none()
            && self.goes_on_at(i, now) > now
        {
            self.holder = None;
        }
    }

    fn abort_late_jobs(&mut self, now: u64) {
        for i in 0..self.jobs.len() {
            let deadline = self.entry(i).task.deadline.as_nanos();
            let is_late = |jobs: &[Job]| jobs.first().is_some_and(|j| j.released + deadline <= now);
            while self.entry(i).abort_when_late && is_late(&self.jobs[i]) {
                self.drop_first(i, now, Reason::Deadline);
            }
        }
    }

    fn admit(&mut self, now: u64) {
        for i in 0..self.jobs.len() {
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
                own: self.costs.job.as_nanos(),
                begun: false,
                had_room: length < KNOWN,
                background: None,
            });
        }
    }

    /// What the scheduler had no room for when it arrived just now, and has by now, is not admitted in this mode.
    fn lose_arrivals(&mut self, now: u64) {
        for i in 0..self.jobs.len() {
            while !self.admits(i) && !self.jobs[i].is_empty() {
                self.drop_first(i, now, Reason::Mode);
            }
        }
    }

    /// The most urgent job goes first: the highest priority or the earliest deadline.
    fn rank(&self, i: usize) -> u64 {
        let (entry, released) = (self.entry(i), self.jobs[i][0].released);
        if !self.system.by_deadline {
            u64::from(u32::MAX - entry.priority)
        } else if self.mode == 0 {
            released + entry.virtual_deadline
        } else {
            released + entry.task.deadline.as_nanos()
        }
    }

    fn most_urgent(&self, now: u64) -> Option<usize> {
        let can_run = |&i: &usize| {
            // What the job with the CPU has used up without notice does not stop it.
            self.jobs[i].first().is_some_and(|job| {
                job.background.is_some() || self.holder == Some(i) || self.goes_on_at(i, now) == now
            })
        };
        let tasks = (0..self.jobs.len()).filter(can_run);
        tasks.min_by_key(|&i| match self.jobs[i][0].background {
            None => (false, self.rank(i), i),
            Some(rank) => (true, rank, i),
        })
    }

    fn give_the_cpu(&mut self, now: u64) {
        let mut chosen = self.most_urgent(now);
        if let Some(loser) = self.holder
            && chosen != Some(loser)
        {
            let before = self.jobs[loser][0].number;
            let all = !self.has(Fault::BlindPreemption);
            self.settle(now, None, all);
            self.lose_arrivals(now);
            self.eventful = true;
            chosen = self.most_urgent(now);
            let keeps = self.holder.is_some()
                && chosen == self.holder
                && self.jobs[loser]
                    .first()
                    .is_some_and(|job| job.number == before);
            if !keeps {
                self.holder = None;
            }
        }
        if let Some(i) = chosen
            && self.holder != Some(i)
        {
            let is_return = std::mem::replace(&mut self.jobs[i][0].begun, true);
            if !(is_return && self.has(Fault::FreeReturns)) {
                self.take(Cause::Switch, self.costs.switch);
            }
            if is_return && self.has(Fault::OwnPartAgain) {
                self.jobs[i][0].own = self.costs.job.as_nanos();
            }
        }
        self.holder = chosen;
        if self.eventful {
            self.remember_the_decision(now);
        }
    }

    /// What the scheduler says with its decision: the budget of the job, and when it wants to be woken.
    fn remember_the_decision(&mut self, now: u64) {
        self.budget = self.holder.and_then(|i| {
            let is_admitted = self.jobs[i][0].background.is_none();
            is_admitted.then(|| self.granted(i, now))
        });
        let pending = (0..self.jobs.len()).filter(|&i| !self.jobs[i].is_empty());
        let wakes = pending.flat_map(|i| {
            let job = &self.jobs[i][0];
            let deadline = job.released + self.entry(i).task.deadline.as_nanos();
            let deadline = self.entry(i).abort_when_late.then_some(deadline);
            let waits = job.background.is_none() && self.holder != Some(i);
            let slice = Some(self.goes_on_at(i, now)).filter(|&at| waits && at > now);
            [deadline, slice].into_iter().flatten()
        });
        self.wake = wakes.min();
    }

    fn tick(&mut self) {
        self.out.modes.push(self.mode);
        self.eventful = false;
        let used = if let Some((cause, left)) = self.taken.front_mut() {
            let cause = *cause;
            *left -= 1;
            if *left == 0 {
                self.taken.pop_front();
                self.eventful = true;
            }
            Some(Use::Mechanism(cause))
        } else {
            self.holder.map(|i| {
                let job = &mut self.jobs[i][0];
                if job.own > 0 {
                    job.own -= 1;
                    Use::Own(i, job.number)
                } else {
                    job.executed += 1;
                    Use::Body(i, job.number)
                }
            })
        };
        self.out.ticks.push(used);
    }
}
