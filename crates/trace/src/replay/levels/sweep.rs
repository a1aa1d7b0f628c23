//! From instant to instant: who should have each CPU, and who has it.

use super::account::{Account, Wish};
use super::collect::{Collected, Happening};
use super::fault::{Broken, Fault};
use super::waits::Waits;
use super::{BROKEN_MAX, Found, Supply, of_cpu};
use crate::record::Edge;
use alloc::vec;
use alloc::vec::Vec;
use vestal_core::{CpuId, Duration, Instant, JobId, TaskId};

/// What is so until the next instant.
struct Present {
    /// By CPU.
    wishes: Vec<Wish>,
    /// By CPU whether it is left to threads beside the run.
    yields: Vec<bool>,
    /// The budgets of level C that are used, with their jobs.
    chosen: Vec<(TaskId, Option<JobId>)>,
}

impl Present {
    fn is_open(&self, cpu: usize) -> bool {
        let is_free = self.wishes.get(cpu).is_some_and(|wish| wish.job.is_none());
        is_free && !self.yields(cpu)
    }

    fn yields(&self, cpu: usize) -> bool {
        self.yields.get(cpu).copied().unwrap_or(false)
    }

    /// Whose ghosts use up budgets.
    fn haunting(&self) -> impl Iterator<Item = TaskId> + '_ {
        let locals = self.wishes.iter().filter_map(|wish| wish.ghosts[1]);
        let global = self.chosen.iter().filter(|(_, job)| job.is_none());
        locals.chain(global.map(|(task, _)| *task))
    }
}

pub(super) struct Sweep<'a> {
    account: Account<'a>,
    all: &'a Collected,
    tolerance: Duration,
    /// By CPU who runs, and who holds its slot until when.
    running: Vec<Vec<JobId>>,
    slots: Vec<(Option<TaskId>, Instant)>,
    /// By CPU what the shared domain is told.
    told: Vec<bool>,
    /// By CPU whether it is left to threads beside the run.
    yields: Vec<bool>,
    /// By task, where its ghost is recorded.
    ghosts: Vec<Option<CpuId>>,
    /// What is wrong just now, and from when on.
    lasting: Vec<(CpuId, Instant, Fault)>,
    waits: Waits,
    found: Found,
}

impl<'a> Sweep<'a> {
    pub(super) fn new(account: Account<'a>, all: &'a Collected, tolerance: Duration) -> Self {
        let cpus = account.cpus();
        let mut found = Found {
            supply: vec![Supply::default(); cpus],
            spans: all.spans,
            ..Found::default()
        };
        for broken in &all.broken {
            note(&mut found, *broken);
        }
        Self {
            running: vec![Vec::new(); cpus],
            slots: vec![(None, Instant::EPOCH); cpus],
            told: vec![false; cpus],
            yields: vec![false; cpus],
            ghosts: vec![None; account.tasks()],
            lasting: Vec::new(),
            waits: Waits::default(),
            found,
            account,
            all,
            tolerance,
        }
    }

    pub(super) fn run(mut self) -> Found {
        let all = self.all;
        let mut happenings = all.happenings.iter().peekable();
        let (mut now, end) = (Instant::EPOCH, all.end);
        loop {
            while let Some((at, what)) = happenings.next_if(|(at, _)| *at <= now) {
                self.take(*at, *what);
            }
            if now >= end {
                break;
            }
            let present = self.present(now);
            let mut next = happenings.peek().map_or(end, |(at, _)| *at).min(end);
            for (_, until) in &self.slots {
                next = next.min(*until);
            }
            for task in present.haunting() {
                let left = self.account.left(task).unwrap_or_default();
                let span = left.time_on_dedicated_cpu().max(Duration::from_nanos(1));
                next = next.min(now.saturating_add(span));
            }
            self.look(now, &present);
            self.pass(next.saturating_since(now), &present);
            now = next;
        }
        for (cpu, from, what) in core::mem::take(&mut self.lasting) {
            self.over(cpu, (from, end), what);
        }
        self.found.broken.sort_by_key(|broken| broken.from);
        self.found
    }

    fn take(&mut self, at: Instant, what: Happening) {
        match what {
            Happening::Released(job) => self.account.release(at, job),
            Happening::Over(job) => self.account.over(job),
            Happening::Dropped(job) => self.account.drop_job(job),
            Happening::NoRoom(job) => {
                if !self.account.has_no_room(job) {
                    self.dropped_wrongly(at, job);
                }
                self.account.drop_job(job);
            }
            Happening::NotAsked(job) => {
                self.dropped_wrongly(at, job);
                self.account.drop_job(job);
            }
            Happening::Begins(cpu, job) => {
                if let Some(running) = of_cpu(&mut self.running, cpu) {
                    running.push(job);
                }
            }
            Happening::Ends(cpu, job) => {
                if let Some(running) = of_cpu(&mut self.running, cpu) {
                    running.retain(|other| *other != job);
                }
            }
            Happening::Charged(task, amount) => self.account.charge(task, amount),
            Happening::Left(cpu, task, given) => {
                self.found.budgets = self.found.budgets.saturating_add(1);
                if let Some(left) = self.account.agree(task, given) {
                    self.note_at(cpu, at, Fault::Budget { task, left, given });
                }
            }
            Happening::Ghost(cpu, task, edge) => {
                if let Some(ghost) = self.ghosts.get_mut(task.index()) {
                    *ghost = match edge {
                        Edge::Begin => Some(cpu),
                        Edge::End => None,
                    };
                }
            }
            Happening::Yield(cpu, edge) => {
                if let Some(yields) = of_cpu(&mut self.yields, cpu) {
                    *yields = edge == Edge::Begin;
                }
            }
            Happening::Open(cpu, open) => {
                if let Some(told) = of_cpu(&mut self.told, cpu) {
                    *told = open;
                }
            }
        }
    }

    fn dropped_wrongly(&mut self, at: Instant, job: JobId) {
        self.note_at(self.account.home(job.task), at, Fault::Dropped { job });
    }

    fn note_at(&mut self, cpu: CpuId, at: Instant, what: Fault) {
        let (from, to) = (at, at);
        let broken = Broken {
            cpu,
            from,
            to,
            what,
        };
        note(&mut self.found, broken);
    }

    fn present(&mut self, now: Instant) -> Present {
        let mut wishes = Vec::with_capacity(self.slots.len());
        for (cpu, slot) in (0..=u16::MAX).map(CpuId).zip(&mut self.slots) {
            if slot.1 <= now {
                *slot = self.account.slot(cpu, now);
            }
            wishes.push(self.account.wish(cpu, slot.0));
        }
        let mut present = Present {
            wishes,
            yields: self.yields.clone(),
            chosen: Vec::new(),
        };
        let cpus = 0..present.wishes.len();
        let open = cpus.filter(|&cpu| present.is_open(cpu)).count();
        present.chosen = self.account.chosen(open);
        present
    }

    /// What is wrong from now on begins to last, and what is no more so ends.
    fn look(&mut self, now: Instant, present: &Present) {
        let mut faults = Vec::new();
        self.jobs(present, &mut faults);
        if self.all.has_publications {
            for (cpu, open) in (0..=u16::MAX).map(CpuId).zip(&self.told) {
                if *open != present.is_open(cpu.index()) {
                    faults.push((cpu, Fault::Told { open: *open }));
                }
            }
        }
        // Whoever records domains by themselves records their ghosts.
        let has_ghosts = self.all.has_ghosts || self.all.has_publications;
        if has_ghosts && self.is_exact() {
            self.recorded_ghosts(present, &mut faults);
        }
        let mut before = core::mem::take(&mut self.lasting);
        for (cpu, fault) in faults {
            let same =
                |(on, _, other): &(CpuId, Instant, Fault)| *on == cpu && fault.goes_on_as(other);
            self.lasting.push(match before.iter().position(same) {
                Some(place) => before.swap_remove(place),
                None => (cpu, now, fault),
            });
        }
        for (cpu, from, fault) in before {
            self.over(cpu, (from, now), fault);
        }
        let runs = |job| self.running.iter().flatten().any(|other| *other == job);
        let account = &self.account;
        // One that a higher level goes before waits on: what lower ones took of it stays taken.
        self.waits.keep(|job| account.waits(job) && !runs(job));
    }

    const fn is_exact(&self) -> bool {
        self.tolerance.is_zero()
    }

    /// Who runs, and who should.
    fn jobs(&self, present: &Present, faults: &mut Vec<(CpuId, Fault)>) {
        let chosen = |job: JobId| present.chosen.contains(&(job.task, Some(job)));
        // Those with a budget and no CPU, the most urgent first.
        let everyone = || self.running.iter().flatten();
        let starved = present.chosen.iter().filter_map(|(_, job)| *job);
        let mut starved = starved.filter(|job| !everyone().any(|other| other == job));
        let cpus = (0..=u16::MAX).map(CpuId).zip(&self.running);
        for ((cpu, running), wish) in cpus.zip(&present.wishes) {
            if let [first, .., second] = *running.as_slice() {
                faults.push((cpu, Fault::TwoJobs { first, second }));
            }
            let running = running.last().copied();
            let grade = |job: JobId| self.account.grade(job.task);
            match (wish.job, running) {
                (Some(waiting), Some(running)) if waiting == running => {}
                (Some(waiting), Some(running)) if grade(running) < grade(waiting) => {
                    faults.push((cpu, Fault::Delayed { running, waiting }));
                }
                (Some(_), Some(running)) => faults.push((cpu, Fault::OutOfTurn { running })),
                (None, Some(running)) if grade(running) > 1 => {
                    faults.push((cpu, Fault::OutOfTurn { running }));
                }
                (None, Some(running)) if grade(running) == 1 => {
                    if !chosen(running) {
                        faults.push((cpu, Fault::OutOfTurn { running }));
                    }
                }
                (None, _) if present.yields(cpu.index()) => {}
                (None, Some(running)) => {
                    if let Some(waiting) = starved.next() {
                        faults.push((cpu, Fault::Delayed { running, waiting }));
                    }
                }
                (wanted, None) => {
                    let waiting = wanted.or_else(|| starved.next());
                    if let Some(waiting) = waiting.filter(|_| self.is_exact()) {
                        faults.push((cpu, Fault::Idle { waiting }));
                    }
                }
            }
        }
    }

    /// The recorded ghosts and those of the account. One of level C may stand at any open CPU.
    fn recorded_ghosts(&self, present: &Present, faults: &mut Vec<(CpuId, Fault)>) {
        let mut expected: Vec<Option<Option<CpuId>>> = vec![None; self.ghosts.len()];
        let mut expect = |task: TaskId, cpu: Option<CpuId>| {
            if let Some(entry) = expected.get_mut(task.index()) {
                *entry = Some(cpu);
            }
        };
        for (cpu, wish) in (0..=u16::MAX).map(CpuId).zip(&present.wishes) {
            for task in wish.ghosts.into_iter().flatten() {
                expect(task, Some(cpu));
            }
        }
        for (task, job) in &present.chosen {
            if job.is_none() {
                expect(*task, None);
            }
        }
        let both = expected.into_iter().zip(&self.ghosts);
        for (task, (expected, recorded)) in (0..=u16::MAX).map(TaskId).zip(both) {
            let is_right = match (expected, recorded) {
                (None, None) => true,
                (Some(Some(cpu)), Some(recorded)) => cpu == *recorded,
                (Some(None), Some(recorded)) => present.is_open(recorded.index()),
                (Some(_), None) | (None, Some(_)) => false,
            };
            if !is_right {
                let cpu = recorded.or(expected.flatten()).unwrap_or(CpuId(0));
                let is_recorded = recorded.is_some();
                faults.push((cpu, Fault::Ghost { task, is_recorded }));
            }
        }
    }

    /// Time passes: budgets of ghosts are used up, and CPUs are somebody's.
    fn pass(&mut self, time: Duration, present: &Present) {
        for task in present.haunting() {
            self.account.haunt(task, time);
        }
        let global = present.chosen.iter().filter(|(_, job)| job.is_none());
        for _ in global {
            self.found.ghosts = self.found.ghosts.saturating_add(time);
        }
        let cpus = self.running.iter().zip(&present.wishes);
        for ((running, wish), supply) in cpus.zip(&mut self.found.supply) {
            let entry = match running.last() {
                Some(job) => supply.ran.get_mut(self.account.grade(job.task)),
                None => Some(&mut supply.idle),
            };
            if let Some(entry) = entry {
                *entry = entry.saturating_add(time);
            }
            for (ghost, entry) in wish.ghosts.iter().zip(&mut supply.ghosts) {
                if ghost.is_some() {
                    *entry = entry.saturating_add(time);
                }
            }
        }
    }

    /// Something was wrong from when until when: whether that counts.
    fn over(&mut self, cpu: CpuId, (from, to): (Instant, Instant), what: Fault) {
        let gaps = self.all.gaps.iter().filter(|(other, _, _)| *other == cpu);
        let excused = gaps.fold(Duration::ZERO, |sum, (_, begin, end)| {
            let common = to.min(*end).saturating_since(from.max(*begin));
            sum.saturating_add(common)
        });
        let length = to.saturating_since(from);
        let broken = if length > self.tolerance.saturating_add(excused) {
            Some((cpu, from, what))
        } else if let Fault::Delayed { waiting, .. } = what {
            let length = length.saturating_sub(excused);
            let most = self.tolerance;
            self.waits.add((cpu, waiting), (from, length), most)
        } else {
            None
        };
        if let Some((cpu, from, what)) = broken {
            note(
                &mut self.found,
                Broken {
                    cpu,
                    from,
                    to,
                    what,
                },
            );
        }
    }
}

/// Remembers what is wrong, as far as there is room.
fn note(found: &mut Found, broken: Broken) {
    found.count = found.count.saturating_add(1);
    if found.broken.len() < BROKEN_MAX {
        found.broken.push(broken);
    }
}
