//! Jobs and budgets of all tasks, kept by releases, charges and the time that ghosts have, without a scheduler.

use super::grade;
use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;
use vestal_core::{
    Budgets, Container, CpuId, Duration, Instant, JobId, LevelB, LevelledConfiguration, Service,
    TaskId,
};

/// What one release brought.
#[derive(Clone, Copy, Debug)]
struct Allowance {
    deadline: Instant,
    left: Service,
}

/// One task.
#[derive(Clone, Debug, Default)]
struct Own {
    /// Jobs that were released and are not over, by their numbers.
    jobs: VecDeque<JobId>,
    budgets: VecDeque<Allowance>,
    /// The jobs for whose budgets there was no room, by their numbers.
    refused: Vec<u64>,
    /// By how much more the scheduler gave of the present budget than was left here, since its ghost had time last, in nanoseconds.
    drift: i128,
    /// What was charged beyond all budgets.
    debt: Service,
}

/// Who wants a CPU, and whose budget is used up without a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Wish {
    pub(super) job: Option<JobId>,
    /// Of level A, whose slot it is, and of level B.
    pub(super) ghosts: [Option<TaskId>; 2],
}

/// All tasks.
#[derive(Debug)]
pub(super) struct Account<'a> {
    levels: &'a LevelledConfiguration<'a>,
    tolerance: Duration,
    tasks: Vec<Own>,
    /// The tasks of level B of each CPU.
    locals: Vec<Vec<TaskId>>,
    globals: Vec<TaskId>,
}

impl<'a> Account<'a> {
    pub(super) fn new(levels: &'a LevelledConfiguration<'a>, tolerance: Duration) -> Self {
        let mut locals = vec![Vec::new(); levels.tables.len()];
        let mut globals = Vec::new();
        for (task, entry) in (0..=u16::MAX).map(TaskId).zip(levels.tasks) {
            match entry.container {
                Container::Local(cpu) => {
                    if let Some(own) = locals.get_mut(cpu.index()) {
                        own.push(task);
                    }
                }
                Container::Global => globals.push(task),
                Container::Table(_) | Container::BestEffort => {}
            }
        }
        Self {
            levels,
            tolerance,
            tasks: vec![Own::default(); levels.tasks.len()],
            locals,
            globals,
        }
    }

    pub(super) fn cpus(&self) -> usize {
        self.levels.tables.len()
    }

    pub(super) fn tasks(&self) -> usize {
        self.tasks.len()
    }

    /// The level of a task, from D on.
    pub(super) fn grade(&self, task: TaskId) -> usize {
        let entry = self.levels.tasks.get(task.index());
        entry.map_or(0, |entry| grade(entry.container))
    }

    fn has_budgets(&self, task: TaskId) -> bool {
        matches!(self.grade(task), 1 | 2)
    }

    pub(super) fn release(&mut self, at: Instant, job: JobId) {
        let is_budgeted = self.has_budgets(job.task);
        let Some(entry) = self.levels.tasks.get(job.task.index()) else {
            return;
        };
        let Some(own) = self.tasks.get_mut(job.task.index()) else {
            return;
        };
        own.jobs.push_back(job);
        if !is_budgeted {
            return;
        }
        // The scheduler may have one still that is used up here but for a moment.
        let known = own.budgets.len();
        let most = match self.tolerance.is_zero() {
            true => known,
            false => known.saturating_add(1),
        };
        if most > self.levels.backlog {
            own.refused.push(job.sequence);
        }
        if known > self.levels.backlog {
            return;
        }
        let whole = entry.task.own_wcet();
        let paid = own.debt.min(whole);
        own.debt = own.debt.saturating_sub(paid);
        let left = whole.saturating_sub(paid);
        let is_useful = !left.is_zero() && left >= self.levels.granularity;
        if is_useful || self.levels.budgets == Budgets::Ignored {
            let deadline = at.saturating_add(entry.task.deadline);
            own.budgets.push_back(Allowance { deadline, left });
        }
    }

    /// A job is complete, or cancelled.
    pub(super) fn over(&mut self, job: JobId) {
        self.drop_job(job);
        // Without budgets each job has one allowance, which only says when it is due.
        if self.levels.budgets == Budgets::Ignored
            && let Some(own) = self.tasks.get_mut(job.task.index())
        {
            own.budgets.pop_front();
        }
    }

    /// A job found no room; its budget may have.
    pub(super) fn drop_job(&mut self, job: JobId) {
        if let Some(own) = self.tasks.get_mut(job.task.index()) {
            own.jobs.retain(|other| *other != job);
            own.refused.retain(|other| *other != job.sequence);
        }
    }

    /// Whether there is no room for a job: one has the place of the present one and the others that of those that wait, or as many budgets
    /// are left.
    pub(super) fn has_no_room(&self, job: JobId) -> bool {
        self.tasks.get(job.task.index()).is_some_and(|own| {
            let before = own.jobs.iter().take_while(|other| **other != job);
            before.count() > self.levels.backlog || own.refused.contains(&job.sequence)
        })
    }

    /// The CPU of a task that has one; else the first.
    pub(super) fn home(&self, task: TaskId) -> CpuId {
        let entry = self.levels.tasks.get(task.index());
        match entry.map(|entry| entry.container) {
            Some(Container::Table(cpu) | Container::Local(cpu)) => cpu,
            Some(Container::Global | Container::BestEffort) | None => CpuId(0),
        }
    }

    pub(super) fn charge(&mut self, task: TaskId, amount: Service) {
        let rest = self.use_up(task, amount, usize::MAX);
        if let Some(own) = self.tasks.get_mut(task.index()) {
            own.debt = own.debt.saturating_add(rest);
        }
    }

    /// The ghost of a task had so much time; it uses up one budget at most.
    pub(super) fn haunt(&mut self, task: TaskId, time: Duration) {
        // The scheduler may have been late for each of its beginnings and ends.
        if let Some(own) = self.tasks.get_mut(task.index()) {
            own.drift = 0;
        }
        self.use_up(task, Service::supplied_during(time), 1);
    }

    /// Uses up so many budgets at most, the oldest first; what is left of the amount.
    fn use_up(&mut self, task: TaskId, mut amount: Service, most: usize) -> Service {
        if !self.has_budgets(task) || self.levels.budgets == Budgets::Ignored {
            return Service::ZERO;
        }
        let granularity = self.levels.granularity;
        let Some(own) = self.tasks.get_mut(task.index()) else {
            return Service::ZERO;
        };
        let mut used = 0_usize;
        while let Some(first) = own.budgets.front_mut()
            && !amount.is_zero()
            && used < most
        {
            let paid = amount.min(first.left);
            amount = amount.saturating_sub(paid);
            first.left = first.left.saturating_sub(paid);
            if first.left.is_zero() || first.left < granularity {
                own.budgets.pop_front();
                own.drift = 0;
            }
            used = used.saturating_add(1);
        }
        amount
    }

    /// What is left of the present budget of a task.
    pub(super) fn left(&self, task: TaskId) -> Option<Service> {
        Some(self.tasks.get(task.index())?.budgets.front()?.left)
    }

    /// The scheduler says what is left of a budget of levels B and C. If it differs by more than the tolerance from what is left here, now or
    /// in all since its ghost had time last, that is given; from then on the scheduler is believed, so that lateness does not add up. A
    /// charge that is told late makes it differ one way, and the other way at the next decision.
    pub(super) fn agree(&mut self, task: TaskId, given: Service) -> Option<Service> {
        if !self.has_budgets(task) || self.levels.budgets == Budgets::Ignored {
            return None;
        }
        let tolerance = Service::supplied_during(self.tolerance);
        let own = self.tasks.get_mut(task.index())?;
        let is_near = |left: Service| {
            let beyond = left.saturating_sub(given).max(given.saturating_sub(left));
            beyond <= tolerance
        };
        let first = own.budgets.front().map(|first| first.left);
        let second = own.budgets.get(1).map(|second| second.left);
        match (first, second) {
            (Some(first), _) if is_near(first) => {
                let more = i128::from(given.as_nanos()) - i128::from(first.as_nanos());
                own.drift = own.drift.saturating_add(more);
                if own.drift.unsigned_abs() > u128::from(tolerance.as_nanos()) {
                    own.drift = 0;
                    if let Some(own) = own.budgets.front_mut() {
                        own.left = given;
                    }
                    return Some(first);
                }
            }
            // The scheduler is done with the first one, which is used up here but for a moment.
            (Some(first), Some(second)) if first <= tolerance && is_near(second) => {
                own.budgets.pop_front();
                own.drift = 0;
            }
            // It is about to be done with one that is used up here.
            (first, _) if given <= tolerance && first.is_none_or(|left| left <= tolerance) => {
                return None;
            }
            (first, _) => {
                if let Some(own) = own.budgets.front_mut() {
                    own.left = given;
                }
                return Some(first.unwrap_or(Service::ZERO));
            }
        }
        if let Some(own) = own.budgets.front_mut() {
            own.left = given;
        }
        None
    }

    /// The oldest job that is not over.
    fn work(&self, task: TaskId) -> Option<JobId> {
        self.tasks.get(task.index())?.jobs.front().copied()
    }

    /// Whose slot it is on a CPU, and until when that is so.
    pub(super) fn slot(&self, cpu: CpuId, now: Instant) -> (Option<TaskId>, Instant) {
        let never = (None, Instant::HORIZON);
        let Some(table) = self.levels.tables.get(cpu.index()) else {
            return never;
        };
        let age = now.as_nanos();
        let Some(phase) = age.checked_rem(table.cycle.as_nanos()) else {
            return never;
        };
        if table.slots.is_empty() {
            return never;
        }
        let until = |end: Duration| {
            let rest = end.as_nanos().saturating_sub(phase);
            now.saturating_add(Duration::from_nanos(rest))
        };
        for slot in table.slots {
            let end = slot.start.saturating_add(slot.length);
            if phase < slot.start.as_nanos() {
                return (None, until(slot.start));
            }
            if phase < end.as_nanos() {
                return (Some(slot.task), until(end));
            }
        }
        (None, until(table.cycle))
    }

    /// What levels A and B want with a CPU in a slot of this task.
    pub(super) fn wish(&self, cpu: CpuId, slot: Option<TaskId>) -> Wish {
        let mut wish = Wish::default();
        if let Some(task) = slot {
            wish.job = self.work(task);
            if wish.job.is_some() {
                return wish;
            }
            wish.ghosts[0] = Some(task);
        }
        let own = self.locals.get(cpu.index()).into_iter().flatten();
        let first = own
            .filter_map(|task| Some((self.turn(*task)?, *task)))
            .min();
        if let Some((_, task)) = first {
            wish.job = self.work(task);
            wish.ghosts[1] = Some(task).filter(|_| wish.job.is_none());
        }
        wish
    }

    /// Whether a job is not over, and its task has a budget where it needs one.
    pub(super) fn waits(&self, job: JobId) -> bool {
        let is_budgeted = self.has_budgets(job.task);
        self.tasks.get(job.task.index()).is_some_and(|own| {
            let has_budget = !is_budgeted || !own.budgets.is_empty();
            has_budget && own.jobs.contains(&job)
        })
    }

    /// When the turn of a task's budget comes, among those of its level; `None` without one.
    fn turn(&self, task: TaskId) -> Option<u64> {
        let budget = self.tasks.get(task.index())?.budgets.front()?;
        let entry = self.levels.tasks.get(task.index())?;
        let by_rate = self.levels.level_b == LevelB::RateMonotonic;
        Some(match entry.container {
            Container::Local(_) if by_rate => entry.task.period.as_nanos(),
            Container::Table(_)
            | Container::Local(_)
            | Container::Global
            | Container::BestEffort => budget.deadline.as_nanos(),
        })
    }

    /// The tasks of level C whose budgets are used on so many open CPUs, with the jobs that use them.
    pub(super) fn chosen(&self, open: usize) -> Vec<(TaskId, Option<JobId>)> {
        let turns = self.globals.iter();
        let turns = turns.filter_map(|task| Some((self.turn(*task)?, *task)));
        let mut turns: Vec<(u64, TaskId)> = turns.collect();
        turns.sort_unstable();
        let chosen = turns.into_iter().take(open);
        chosen.map(|(_, task)| (task, self.work(task))).collect()
    }
}
