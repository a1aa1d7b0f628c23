//! MC² once more, tick by tick, by the plain words of the rule: nothing of the engine is used.
use std::collections::{HashMap, VecDeque};

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Kind {
    A(usize),
    B(usize),
    C,
    D,
}

#[derive(Clone, Debug)]
pub(crate) struct RefTask {
    pub(crate) kind: Kind,
    pub(crate) period: u64,
    pub(crate) budget: u64,
}

/// What happened in one tick, per CPU: who ran, and the ghosts of level B and level C.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct RefTick {
    pub(crate) ran: Vec<Option<usize>>,
    pub(crate) ghosts: Vec<[Option<usize>; 2]>,
}

#[derive(Default)]
struct State {
    /// Sequence, release, executed.
    jobs: VecDeque<(u64, u64, u64)>,
    /// Deadline, remaining.
    budgets: VecDeque<(u64, u64)>,
    /// Where its job ran in the last tick.
    last: Option<usize>,
}

pub(crate) struct Reference<'a> {
    tasks: &'a [RefTask],
    /// For each CPU and tick of its cycle whose slot it is.
    tables: &'a [Vec<Option<usize>>],
    backlog: usize,
    enforced: bool,
    /// Level B goes by periods, not by deadlines.
    by_period: bool,
    need: &'a dyn Fn(usize, u64) -> u64,
    states: Vec<State>,
    pub(crate) dropped: usize,
}

impl<'a> Reference<'a> {
    pub(crate) fn new(
        tasks: &'a [RefTask],
        tables: &'a [Vec<Option<usize>>],
        (backlog, enforced): (usize, bool),
        need: &'a dyn Fn(usize, u64) -> u64,
    ) -> Self {
        let states = tasks.iter().map(|_| State::default()).collect();
        Self {
            tasks,
            tables,
            backlog,
            enforced,
            by_period: false,
            need,
            states,
            dropped: 0,
        }
    }

    fn release(&mut self, now: u64) {
        for (task, state) in self.tasks.iter().zip(&mut self.states) {
            if !now.is_multiple_of(task.period) {
                continue;
            }
            if matches!(task.kind, Kind::B(_) | Kind::C) {
                if state.budgets.len() > self.backlog {
                    self.dropped += 1;
                    continue;
                }
                state.budgets.push_back((now + task.period, task.budget));
            }
            if state.jobs.len() > self.backlog {
                self.dropped += 1;
            } else {
                state.jobs.push_back((now / task.period, now, 0));
            }
        }
    }

    /// Has level B go by periods.
    pub(crate) fn by_period(&mut self) {
        self.by_period = true;
    }

    /// Tasks of one kind that have a budget, the earliest deadline first, or the shortest period.
    fn by_urgency(&self, kind: Kind) -> Vec<usize> {
        let mut found: Vec<usize> = (0..self.tasks.len())
            .filter(|&task| self.tasks[task].kind == kind)
            .filter(|&task| !self.states[task].budgets.is_empty())
            .collect();
        let by_period = self.by_period && matches!(kind, Kind::B(_));
        found.sort_by_key(|&task| match by_period {
            true => (self.tasks[task].period, task),
            false => (self.states[task].budgets[0].0, task),
        });
        found
    }

    fn has_work(&self, task: usize) -> bool {
        !self.states[task].jobs.is_empty()
    }

    /// Gives each of `jobs` a CPU of `free`: where it ran if it can, else the first.
    fn index(&self, jobs: &[usize], mut free: Vec<usize>, ran: &mut [Option<usize>]) {
        let (mut stay, mut go) = (Vec::new(), Vec::new());
        for &task in jobs {
            match self.states[task].last {
                Some(cpu) if free.contains(&cpu) => stay.push((task, cpu)),
                _ => go.push(task),
            }
        }
        for (task, cpu) in stay {
            ran[cpu] = Some(task);
            free.retain(|&other| other != cpu);
        }
        for (task, cpu) in go.into_iter().zip(free) {
            ran[cpu] = Some(task);
        }
    }

    pub(crate) fn tick(&mut self, now: u64, releases: bool) -> RefTick {
        if releases {
            self.release(now);
        }
        let cpus = self.tables.len();
        let mut ran = vec![None; cpus];
        let mut ghosts = vec![[None, None]; cpus];
        for cpu in 0..cpus {
            let table = &self.tables[cpu];
            let owner = table
                .get(now as usize % table.len().max(1))
                .copied()
                .flatten();
            if let Some(task) = owner.filter(|&task| self.has_work(task)) {
                ran[cpu] = Some(task);
            } else if let Some(&task) = self.by_urgency(Kind::B(cpu)).first() {
                if self.has_work(task) {
                    ran[cpu] = Some(task);
                } else {
                    ghosts[cpu][0] = Some(task);
                }
            }
        }
        let open: Vec<usize> = (0..cpus).filter(|&cpu| ran[cpu].is_none()).collect();
        let chosen: Vec<usize> = self
            .by_urgency(Kind::C)
            .into_iter()
            .take(open.len())
            .collect();
        let (jobs, idle): (Vec<_>, Vec<_>) =
            chosen.into_iter().partition(|&task| self.has_work(task));
        self.index(&jobs, open, &mut ran);
        let open: Vec<usize> = (0..cpus).filter(|&cpu| ran[cpu].is_none()).collect();
        for (&cpu, task) in open.iter().zip(idle) {
            ghosts[cpu][1] = Some(task);
        }
        let mut best_effort: Vec<usize> = (0..self.tasks.len())
            .filter(|&task| self.tasks[task].kind == Kind::D && self.has_work(task))
            .collect();
        best_effort.sort_by_key(|&task| (self.states[task].jobs[0].1, task));
        best_effort.truncate(open.len());
        self.index(&best_effort, open, &mut ran);
        self.execute(&ran, &ghosts);
        RefTick { ran, ghosts }
    }

    fn execute(&mut self, ran: &[Option<usize>], ghosts: &[[Option<usize>; 2]]) {
        let positions: HashMap<usize, usize> = ran
            .iter()
            .enumerate()
            .filter_map(|(cpu, task)| Some(((*task)?, cpu)))
            .collect();
        for (task, state) in self.states.iter_mut().enumerate() {
            state.last = positions.get(&task).copied();
            let consumes =
                state.last.is_some() || ghosts.iter().flatten().any(|&g| g == Some(task));
            if self.enforced
                && consumes
                && let Some(budget) = state.budgets.front_mut()
            {
                budget.1 -= 1;
                if budget.1 == 0 {
                    state.budgets.pop_front();
                }
            }
            if state.last.is_some() {
                state.jobs[0].2 += 1;
                if state.jobs[0].2 == (self.need)(task, state.jobs[0].0) {
                    state.jobs.pop_front();
                    if !self.enforced {
                        state.budgets.pop_front();
                    }
                    state.last = None;
                }
            }
        }
    }

    /// Whether every budget was used up.
    pub(crate) fn all_used_up(&self) -> bool {
        self.states.iter().all(|state| state.budgets.is_empty())
    }
}
