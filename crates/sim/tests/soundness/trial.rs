//! One run of an accepted set, and everything that was guaranteed about it.

use crate::busy::{BusyPeriods, Counter};
use crate::common::recorder::engine_of;
use crate::common::system::{configuration, tasks_of, workload_of};
use crate::reference::System;
use std::fmt;
use vestal_core::{
    Configuration, CpuId, DropReason, Enforcement, Exhaustion, Instant, JobId, Level, Service, Task,
};
use vestal_sim::guarantee::{Ending, Guarantee, Verdict};
use vestal_sim::{Backlog, JobState, Observer, Segment, Setting, simulate};

/// A guarantee that was not kept.
#[derive(Clone, Debug)]
pub(crate) struct Broken {
    /// A deadline was missed; otherwise only a response time was above its bound.
    pub(crate) is_a_miss: bool,
    pub(crate) text: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// What a run showed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Observation {
    pub(crate) broken: Option<Broken>,
    /// Some job exceeded the lowest level's value, and under adaptive enforcement the mode rose.
    pub(crate) raised: bool,
    /// A job of a task below the mode executed, within its degraded budget.
    pub(crate) degraded: bool,
    pub(crate) busy: BusyPeriods,
    /// By task, the largest response time over its bound, where the assumption of its own level held.
    pub(crate) tightness: Vec<f64>,
}

/// Bounds on response times: by task, by level up to its own; no levels where the test gives none.
pub(crate) type Bounds = Vec<Vec<u64>>;

/// Runs `system` under the engine; the guarantee is judged for a world that enforces `guaranteed`. If
/// the system does not, what runs away itself is left out of the judgement.
pub(crate) fn observe(system: &System, bounds: &Bounds, guaranteed: Exhaustion) -> Observation {
    let configured = tasks_of(system);
    let tasks: Vec<Task> = configured.iter().map(|entry| entry.task).collect();
    let configuration = configuration(system, &configured);
    let mut engine = engine_of(system, &configured);
    let (releases, demand) = workload_of(system);
    let mut judge = Judge {
        guarantee: Guarantee::of(&Configuration {
            exhaustion: guaranteed,
            ..configuration
        }),
        enforcement: configuration.enforcement,
        tasks: &tasks,
        bounds,
        mode: Level::LOWEST,
        is_enforced: configuration.exhaustion == guaranteed,
        seen: Observation {
            tightness: vec![0.0; tasks.len()],
            ..Observation::default()
        },
    };
    let setting = Setting {
        tasks: &tasks,
        cpus: 1,
        end: Instant::from_nanos(system.end),
        backlog: Backlog::UNLIMITED,
    };
    let mut watchers = (&mut judge, Counter::default());
    simulate(&mut engine, &setting, &releases, &demand, &mut watchers).unwrap();
    let busy = watchers.1.counted;
    let (beyond, stuck) = (engine.jobs_beyond_pattern(), engine.recomputations_stuck());
    if beyond + stuck > 0 {
        let text = format!("{beyond} jobs beyond their lists, {stuck} recomputations stuck");
        judge.report(false, text);
    }
    judge.seen.busy = busy;
    judge.seen
}

struct Judge<'a> {
    guarantee: Guarantee,
    enforcement: Enforcement,
    tasks: &'a [Task],
    bounds: &'a Bounds,
    is_enforced: bool,
    mode: Level,
    seen: Observation,
}

impl Judge<'_> {
    fn runs_away(&self, job: &JobState) -> bool {
        !self.is_enforced && job.demand > self.tasks[job.id.task.index()].own_wcet()
    }

    fn judge(&mut self, job: &JobState, at: Instant, ending: Ending) {
        if self.runs_away(job) {
            return;
        }
        match self.guarantee.judge(job, at, ending) {
            Some(Verdict::Missed { guaranteed: true }) => {
                let text = format!("{} missed its deadline {:?}", job.id, job.deadline);
                self.report(true, text);
            }
            Some(Verdict::Missed { guaranteed: false } | Verdict::Met | Verdict::Dropped)
            | None => {}
        }
    }

    fn report(&mut self, is_a_miss: bool, text: String) {
        let worse = self
            .seen
            .broken
            .as_ref()
            .is_none_or(|old| is_a_miss && !old.is_a_miss);
        if worse {
            self.seen.broken = Some(Broken { is_a_miss, text });
        }
    }

    /// A job that completed while the assumption of a level held kept to that level's bound.
    fn compare_with_bounds(&mut self, at: Instant, job: &JobState) {
        let response = at.saturating_since(job.released).as_nanos();
        let task = &self.tasks[job.id.task.index()];
        let own = task.criticality;
        // Bounds for the levels above the own one are those of the degraded budget.
        let kept = |budget: Service| job.demand <= budget.min(task.own_wcet());
        let is_kept = task.degraded.is_some_and(kept);
        if job.demoted.is_some() || self.runs_away(job) {
            return;
        }
        let levels = (0..).map(Level).zip(&self.bounds[job.id.task.index()]);
        for (level, &bound) in levels.take_while(|(level, _)| *level <= own || is_kept) {
            if !self.guarantee.holds_until(level, at) {
                continue;
            }
            if response > bound {
                let text = format!("{} took {response}, at most {bound} at {level:?}", job.id);
                self.report(false, text);
            }
            if level == own {
                let tightness = &mut self.seen.tightness[job.id.task.index()];
                *tightness = tightness.max(response as f64 / bound as f64);
            }
        }
    }
}

impl Observer for Judge<'_> {
    fn executed(&mut self, segment: Segment, job: &JobState) {
        self.guarantee.executed(segment, job);
        let own = self.tasks[job.id.task.index()].criticality;
        self.seen.degraded |= job.demoted.is_none() && own < self.mode;
        if self.enforcement != Enforcement::Adaptive && job.demoted.is_none() {
            let lowest = self.tasks[job.id.task.index()].wcet.at(Level::LOWEST);
            self.seen.raised |= job.executed > lowest;
        }
    }
    fn started(&mut self, at: Instant, cpu: CpuId, job: &JobState) {
        self.guarantee.started(at, cpu, job);
    }
    fn idle(&mut self, at: Instant) {
        self.guarantee.idle(at);
    }
    fn mode_changed(&mut self, _: Instant, _: Level, to: Level, _: Option<JobId>) {
        self.seen.raised |= to > Level::LOWEST;
        self.mode = to;
    }
    fn completed(&mut self, at: Instant, job: &JobState) {
        self.judge(job, at, Ending::Completed);
        self.compare_with_bounds(at, job);
    }
    fn demoted(&mut self, at: Instant, job: &JobState) {
        self.judge(job, at, Ending::Demoted);
    }
    fn dropped(&mut self, at: Instant, job: &JobState, why: DropReason) {
        self.judge(job, at, Ending::Dropped(why));
    }
    fn unfinished(&mut self, end: Instant, job: &JobState) {
        self.judge(job, end, Ending::Unfinished);
    }
}
