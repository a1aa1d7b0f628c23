//! What is guaranteed to jobs of MC², level by level (Herman et al., RTAS 2012, section 2).
//!
//! A job that needs at most C_i of its own level is guaranteed, as long as no job of these tasks executes more than they say:
//!
//! | level | to be complete at | unless before that one of these exceeded its bound |
//! |---|---|---|
//! | A | its deadline d | its own task, C(A) |
//! | B | d | its own task, C(B); a task of level A on its CPU, its C(B) |
//! | C | d + Theta of its task | its own task, C(C); a task of level A or B on any CPU, its C(C) |
//! | D | never | |
//!
//! Budgets keep all other tasks of levels B and C to themselves; where they are ignored, all tasks of the level (on the CPU, at level
//! B) count as its own task does. Level A stays within its slots in either case.
//!
//! *No instant restores it.* Budgets outlive jobs, so that one who exceeded its bound may have left its task behind for any number of
//! periods, and a crossing once is one for the rest of the run.
//!
//! *Out of step.* Level A is guaranteed by tables, which are for jobs that come at multiples of their periods. One that comes at another
//! instant is guaranteed nothing, and when it executes that counts as a crossing of every level: where in its slots that is, no test
//! has looked at.
//!
//! *Used up.* A job that has executed C of its own level by then and wants more was guaranteed nothing. The next job of its task
//! was, until that one goes on: with a budget of its own, which a complete one would have left to it.

#[cfg(test)]
#[path = "levelled_tests.rs"]
mod tests;

use super::Ending;
use crate::observer::{JobState, Segment};
use vestal_core::guarantee::covers;
use vestal_core::model::LEVELS_MAX;
use vestal_core::{
    Budgets, Container, CpuId, DropReason, Duration, Instant, Level, LevelledConfiguration, Task,
};

/// By level, when the first job of some tasks exceeded its C of that level.
#[derive(Clone, Copy, Debug, Default)]
struct Crossings([Option<Instant>; LEVELS_MAX]);

impl Crossings {
    fn at(&self, level: Level) -> Option<Instant> {
        self.0.get(level.index()).copied().flatten()
    }

    fn add(&mut self, levels: &Self) {
        for (known, more) in self.0.iter_mut().zip(levels.0) {
            *known = known.iter().copied().chain(more).min();
        }
    }
}

/// A task of levels A to D.
#[derive(Clone, Debug)]
struct Served {
    task: Task,
    container: Container,
    /// How late it may be, if that is known.
    tardiness: Option<Duration>,
    crossings: Crossings,
    /// The job, by its number, that executed C of its own level last and was not done, and when.
    used_up: Option<(u64, Instant)>,
}

impl Served {
    /// Whether a job of level A comes when its table does not expect it.
    fn is_out_of_step(&self, job: &JobState) -> bool {
        let since = job.released.saturating_since(Instant::EPOCH).as_nanos();
        let is_in_step = since.is_multiple_of(self.task.period.as_nanos());
        matches!(self.container, Container::Table(_)) && !is_in_step
    }
}

/// Follows a run of all levels.
#[derive(Clone, Debug)]
pub(super) struct Levelled {
    tasks: Vec<Served>,
    /// By CPU, what bears on its level B.
    cpus: Vec<Crossings>,
    /// What bears on level C.
    everywhere: Crossings,
    budgets: Budgets,
}

impl Levelled {
    /// `tardiness` is by task; only that of level C is looked at.
    pub(super) fn of(
        configuration: &LevelledConfiguration<'_>,
        tardiness: &[Option<Duration>],
    ) -> Self {
        let late = tardiness.iter().copied().chain(std::iter::repeat(None));
        let tasks = configuration.tasks.iter().zip(late);
        let tasks = tasks.map(|(entry, tardiness)| Served {
            task: entry.task,
            container: entry.container,
            tardiness,
            crossings: Crossings::default(),
            used_up: None,
        });
        Self {
            tasks: tasks.collect(),
            cpus: vec![Crossings::default(); configuration.tables.len()],
            everywhere: Crossings::default(),
            budgets: configuration.budgets,
        }
    }

    pub(super) fn executed(&mut self, segment: Segment, job: &JobState) {
        let Some(served) = self.tasks.get_mut(job.id.task.index()) else {
            return;
        };
        let own = served.task.own_wcet();
        // When it had executed so much; what it has now, it had at the end.
        let reached = |amount| {
            let beyond = job.executed.saturating_sub(amount);
            segment.end.saturating_sub(beyond.time_on_dedicated_cpu())
        };
        let is_known = served
            .used_up
            .is_some_and(|(sequence, _)| sequence == job.id.sequence);
        if !is_known && (job.executed > own || (job.executed == own && job.demand > own)) {
            served.used_up = Some((job.id.sequence, reached(own)));
        }
        let mut crossings = Crossings::default();
        let is_out_of_step = served.is_out_of_step(job);
        for (level, crossing) in (0..).map(Level).zip(&mut crossings.0) {
            let limit = served.task.wcet.at(level);
            *crossing = match is_out_of_step {
                true => Some(segment.start),
                false => (job.executed > limit).then(|| reached(limit)),
            };
        }
        served.crossings.add(&crossings);
        let is_shared = self.budgets == Budgets::Ignored;
        let (on_cpu, on_all) = match served.container {
            Container::Table(cpu) => (Some(cpu), true),
            Container::Local(cpu) => (is_shared.then_some(cpu), true),
            Container::Global => (None, is_shared),
            Container::BestEffort => (None, false),
        };
        if let Some(cpu) = on_cpu.and_then(|cpu| self.cpus.get_mut(cpu.index())) {
            cpu.add(&crossings);
        }
        if on_all {
            self.everywhere.add(&crossings);
        }
    }

    /// Whether a job that ends so late, or so, had been guaranteed to be complete before.
    pub(super) fn promised(&self, job: &JobState, at: Instant, ending: Ending) -> bool {
        let Some(served) = self.tasks.get(job.id.task.index()) else {
            return false;
        };
        if served.is_out_of_step(job) {
            return false;
        }
        let Some((due, elsewhere)) = self.terms(served, job.deadline) else {
            return false;
        };
        let was_complete = match ending {
            Ending::Completed => at <= due,
            // It never will be.
            Ending::Dropped(DropReason::BacklogFull) => false,
            Ending::Unfinished | Ending::Demoted | Ending::Dropped(_) => at < due,
        };
        let level = served.task.criticality;
        let crossing = served.crossings.at(level).into_iter();
        let crossing = crossing.chain(elsewhere.at(level)).min();
        let used_up = served
            .used_up
            .filter(|&(sequence, _)| sequence == job.id.sequence);
        !was_complete && covers(due, crossing, used_up.map(|(_, at)| at))
    }

    /// Until when a job with this deadline is to be complete, and whose crossings excuse it beside those of its own task.
    fn terms(&self, served: &Served, deadline: Instant) -> Option<(Instant, Crossings)> {
        let of_cpu = |cpu: CpuId| self.cpus.get(cpu.index()).copied();
        match served.container {
            Container::Table(_) => Some((deadline, Crossings::default())),
            Container::Local(cpu) => Some((deadline, of_cpu(cpu)?)),
            Container::Global => {
                let due = deadline.saturating_add(served.tardiness?);
                Some((due, self.everywhere))
            }
            Container::BestEffort => None,
        }
    }
}
