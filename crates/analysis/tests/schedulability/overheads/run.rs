//! Runs under adaptive enforcement in which carrying it out takes time, tick by tick.

use crate::common::Random;
use crate::common::run::Order;
use vestal_analysis::Overheads;
use vestal_core::{Level, Task};

struct Job {
    task: usize,
    release: u64,
    /// What is left of what it costs beside its body.
    before: u64,
    executed: u64,
    demand: u64,
}

/// A CPU on which work above all tasks takes its time.
struct Cpu<'a> {
    tasks: &'a [Task],
    overheads: &'a Overheads,
    mode: Level,
    pending: Vec<Job>,
    /// Work above all tasks that is left to do.
    above: u64,
}

impl Cpu<'_> {
    fn urgency(&self, order: &Order<'_>, job: &Job) -> (u64, usize, u64) {
        let key = match order {
            Order::Priorities(given) => u64::from(u32::MAX - given[job.task]),
            Order::VirtualDeadlines(given) if self.mode == Level::LOWEST => {
                job.release + given[job.task]
            }
            Order::VirtualDeadlines(_) => job.release + self.tasks[job.task].deadline.as_nanos(),
        };
        (key, job.task, job.release)
    }

    /// The budget that a job has in this mode.
    fn budget(&self, job: &Job) -> u64 {
        let task = &self.tasks[job.task];
        task.wcet.at(self.mode.min(task.criticality)).as_nanos()
    }

    /// It is noticed that the job at this position has used up its budget.
    fn notice(&mut self, position: usize) {
        let job = &self.pending[position];
        let task = &self.tasks[job.task];
        let executed = job.executed;
        if executed >= task.own_wcet().as_nanos() {
            self.pending.remove(position);
            self.above += self.overheads.exhaustion.as_nanos();
            return;
        }
        while self.mode < task.criticality && executed >= task.wcet.at(self.mode).as_nanos() {
            self.mode = self.mode.next_higher();
            self.above += self.overheads.change.as_nanos();
        }
        let (mode, tasks) = (self.mode, self.tasks);
        let is_below = |job: &Job| tasks[job.task].criticality < mode;
        let below = self.pending.iter().filter(|job| is_below(job)).count();
        self.above += self.overheads.termination.as_nanos() * below as u64;
        self.pending.retain(|job| !is_below(job));
    }

    /// One tick with the CPU.
    fn execute(&mut self, order: &Order<'_>) {
        if self.above > 0 {
            self.above -= 1;
            return;
        }
        let positions = 0..self.pending.len();
        let first = positions.min_by_key(|&position| self.urgency(order, &self.pending[position]));
        let Some(position) = first else {
            if self.mode > Level::LOWEST {
                self.mode = Level::LOWEST;
                self.above += self.overheads.change.as_nanos();
            }
            return;
        };
        let job = &mut self.pending[position];
        if job.before > 0 {
            job.before -= 1;
            return;
        }
        job.executed += 1;
        if job.executed == job.demand {
            self.pending.remove(position);
            return;
        }
        let job = &self.pending[position];
        let late = self.overheads.detection.as_nanos();
        if self.overheads.heartbeat.is_none() && job.executed >= self.budget(job) + late {
            self.notice(position);
        }
    }

    /// A heartbeat: it costs what it costs, and notices all that are beyond their budgets.
    fn beat(&mut self) {
        let over = |cpu: &Self| {
            let mut jobs = cpu.pending.iter();
            jobs.position(|job| job.executed >= cpu.budget(job))
        };
        while let Some(position) = over(self) {
            self.notice(position);
        }
    }
}

/// Whether some admitted job that keeps to C(z) is late in a random legal run of `length` ticks. Jobs below the highest level
/// may want more than their C(z). All C(0) are to be positive, and a heartbeat above all tasks.
pub(crate) fn misses(
    tasks: &[Task],
    order: &Order<'_>,
    overheads: &Overheads,
    (length, random): (u64, &mut Random),
) -> bool {
    let overruns_once_in = random.between(1, 6);
    let highest = tasks.iter().map(|task| task.criticality).max();
    let offset = |task: &Task| match random.once_in(2) {
        true => 0,
        false => random.between(0, task.period.as_nanos()),
    };
    let mut next: Vec<u64> = tasks.iter().map(offset).collect();
    let beats = overheads.heartbeat.map(|beat| {
        let (period, cost) = (beat.period.as_nanos(), beat.cost.as_nanos());
        (random.between(0, period - 1), period, cost)
    });
    let mut cpu = Cpu {
        tasks,
        overheads,
        mode: Level::LOWEST,
        pending: Vec::new(),
        above: 0,
    };
    for now in 0..length {
        for (index, task) in tasks.iter().enumerate() {
            if next[index] != now {
                continue;
            }
            let late = if random.once_in(8) {
                random.between(0, 3)
            } else {
                0
            };
            next[index] = now + task.period.as_nanos() + late;
            cpu.above += overheads.release.as_nanos();
            let overruns = random.once_in(overruns_once_in);
            let level = if overruns {
                task.criticality
            } else {
                Level::LOWEST
            };
            let wants_more = Some(task.criticality) < highest && random.once_in(overruns_once_in);
            let demand = match wants_more {
                true => task.own_wcet().as_nanos() + random.between(1, 12),
                false => task.wcet.at(level).as_nanos(),
            };
            if task.criticality >= cpu.mode {
                cpu.pending.push(Job {
                    task: index,
                    release: now,
                    before: overheads.job.as_nanos(),
                    executed: 0,
                    demand,
                });
            }
        }
        if let Some((phase, period, cost)) = beats
            && now % period == phase
        {
            cpu.above += cost;
            cpu.beat();
        }
        cpu.execute(order);
        let is_late = |job: &Job| {
            let task = &tasks[job.task];
            job.demand <= task.own_wcet().as_nanos()
                && job.release + task.deadline.as_nanos() <= now + 1
        };
        if cpu.pending.iter().any(is_late) {
            return true;
        }
    }
    false
}
