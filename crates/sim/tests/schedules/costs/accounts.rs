//! The accounts of a CPU: who had it when, whether anybody had it twice, and whether anything is missing.

use super::frames::Tables;
use super::levelled::Moving;
use super::{draw, simulate_system};
use crate::common::Random;
use crate::common::system::{configuration, tasks_of};
use crate::devices::{self, simulate_case};
use vestal_core::{
    CpuId, DeviceId, DropReason, Enforcement, Exhaustion, Instant, JobId, Level, Task,
};
use vestal_sim::costs::Cause;
use vestal_sim::{Figures, JobState, Observer, Segment, Statistics};

/// What is known of one CPU.
#[derive(Clone, Debug, Default)]
struct Account {
    /// Which job has it.
    holder: Option<JobId>,
    /// For what it is taken, since when.
    taken: Option<(Cause, Instant)>,
    /// For each tick whether a body executes, what else it is taken for, and whether it could be idle.
    busy: Vec<bool>,
    overhead: Vec<bool>,
    idle: Vec<bool>,
}

/// Checks what a world reports while it does.
#[derive(Debug)]
pub(crate) struct Accounts {
    cpus: Vec<Account>,
    /// The instant of the last call.
    now: Instant,
}

impl Accounts {
    pub(crate) fn new(cpus: u16, end: u64) -> Self {
        let none = vec![false; end as usize];
        let account = Account {
            busy: none.clone(),
            overhead: none.clone(),
            idle: none,
            ..Account::default()
        };
        Self {
            cpus: vec![account; usize::from(cpus)],
            now: Instant::EPOCH,
        }
    }

    /// A call comes at this instant; who had the CPUs since the last one.
    fn call(&mut self, at: Instant) {
        assert!(at >= self.now, "{at:?} after {:?}", self.now);
        for cpu in &mut self.cpus {
            let is_idle = cpu.holder.is_none() && cpu.taken.is_none();
            cpu.idle[ticks(self.now, at)].fill(is_idle);
        }
        self.now = at;
    }

    fn leaves(&mut self, job: JobId) {
        for cpu in &mut self.cpus {
            cpu.holder.take_if(|holder| *holder == job);
        }
    }

    /// Each tick is of one kind, and the statistics count as many.
    pub(crate) fn check(&self, figures: &Figures) {
        for (cpu, counted) in self.cpus.iter().zip(figures.cpus()) {
            let kinds = cpu.busy.iter().zip(&cpu.overhead).zip(&cpu.idle);
            for (tick, ((&busy, &overhead), &idle)) in kinds.enumerate() {
                let sum = u8::from(busy) + u8::from(overhead) + u8::from(idle);
                assert_eq!(sum, 1, "tick {tick}: {busy} {overhead} {idle}");
            }
            let sum = |ticks: &[bool]| ticks.iter().filter(|&&tick| tick).count() as u64;
            assert_eq!(sum(&cpu.busy), counted.busy.as_nanos());
            assert_eq!(sum(&cpu.overhead), counted.overhead.as_nanos());
        }
    }
}

fn ticks(start: Instant, end: Instant) -> std::ops::Range<usize> {
    start.as_nanos() as usize..end.as_nanos() as usize
}

fn cover(ticks_of: &mut [bool], segment: Segment) {
    for tick in &mut ticks_of[ticks(segment.start, segment.end)] {
        assert!(!*tick, "{segment:?} overlaps");
        *tick = true;
    }
}

impl Observer for Accounts {
    fn released(&mut self, at: Instant, _: &JobState) {
        self.call(at);
    }
    fn executed(&mut self, segment: Segment, job: &JobState) {
        self.call(segment.end);
        let cpu = &mut self.cpus[segment.cpu.index()];
        assert_eq!(cpu.holder, Some(job.id));
        cover(&mut cpu.busy, segment);
    }
    fn prepared(&mut self, segment: Segment, job: &JobState) {
        // What of the same interval was of its body is reported after it.
        self.call(segment.end.max(self.now));
        let cpu = &mut self.cpus[segment.cpu.index()];
        assert_eq!(cpu.holder, Some(job.id));
        cover(&mut cpu.overhead, segment);
    }
    fn completed(&mut self, at: Instant, job: &JobState) {
        self.call(at);
        self.leaves(job.id);
    }
    fn dropped(&mut self, at: Instant, job: &JobState, _: DropReason) {
        self.call(at);
        self.leaves(job.id);
    }
    fn mode_changed(&mut self, at: Instant, _: Level, _: Level, _: Option<JobId>) {
        self.call(at);
    }
    fn preempted(&mut self, at: Instant, cpu: CpuId, job: &JobState) {
        self.call(at);
        assert_eq!(self.cpus[cpu.index()].holder, Some(job.id));
        self.leaves(job.id);
    }
    fn blocked(&mut self, at: Instant, _: CpuId, job: &JobState, _: DeviceId) {
        self.call(at);
        self.leaves(job.id);
    }
    fn served(&mut self, at: Instant, _: DeviceId, job: &JobState) {
        self.call(at);
        self.leaves(job.id);
    }
    fn started(&mut self, at: Instant, cpu: CpuId, job: &JobState) {
        self.call(at);
        let holder = self.cpus[cpu.index()].holder.replace(job.id);
        assert_eq!(holder, None);
    }
    fn mechanism_began(&mut self, at: Instant, cpu: CpuId, cause: Cause) {
        self.call(at);
        let taken = self.cpus[cpu.index()].taken.replace((cause, at));
        assert_eq!(taken, None);
    }
    fn mechanism_ended(&mut self, segment: Segment, cause: Cause) {
        self.call(segment.end);
        let cpu = &mut self.cpus[segment.cpu.index()];
        assert_eq!(cpu.taken.take(), Some((cause, segment.start)));
        cover(&mut cpu.overhead, segment);
    }
    fn finished(&mut self, end: Instant) {
        self.call(end);
        assert!(self.cpus.iter().all(|cpu| cpu.taken.is_none()));
    }
}

#[test]
fn the_accounts_of_one_cpu_balance() {
    let mut random = Random::new(4);
    for _ in 0..5000 {
        let system = draw::system(&mut random);
        let costs = draw::costs(&mut random);
        let configured = tasks_of(&system);
        let statistics = Statistics::of(&configuration(&system, &configured), 1);
        let mut observers = (Accounts::new(1, system.end), statistics);
        simulate_system(&system, Some(&costs), &mut observers);
        observers.0.check(&observers.1);
    }
}

#[test]
fn the_accounts_of_several_cpus_balance() {
    let mut random = Random::new(5);
    let mut overruns = 0;
    for _ in 0..2000 {
        let tables = Tables::random(&mut random);
        let costs = draw::costs(&mut random);
        let accounts = Accounts::new(tables.cpus, tables.end);
        let mut observers = (accounts, (tables.statistics(), Overruns(0)));
        tables.simulate(Some(&costs), &mut observers);
        observers.0.check(&observers.1.0);
        overruns += observers.1.1.0;
    }
    assert!(overruns > 1000, "{overruns}");
}

#[test]
fn the_accounts_of_cpus_between_which_jobs_move_balance() {
    let mut random = Random::new(7);
    let mut migrations = 0;
    for _ in 0..2000 {
        let moving = Moving::random(&mut random);
        let costs = draw::costs(&mut random);
        let mut observers = (Accounts::new(2, moving.end), moving.statistics());
        moving.simulate(Some(&costs), &mut observers);
        observers.0.check(&observers.1);
        migrations += observers
            .1
            .cpus()
            .iter()
            .map(|cpu| cpu.migrations)
            .sum::<u64>();
    }
    assert!(migrations > 1000, "{migrations}");
}

#[test]
fn the_accounts_of_a_cpu_with_servers_and_devices_balance() {
    let mut random = Random::new(9);
    for _ in 0..3000 {
        let case = devices::draw(&mut random);
        if !devices::is_possible(&case) {
            continue;
        }
        let costs = draw::costs(&mut random);
        let tasks: Vec<Task> = case.tasks.iter().map(|entry| entry.task).collect();
        let statistics = Statistics::new(&tasks, 1, Enforcement::Static, Exhaustion::Continue);
        let mut observers = (Accounts::new(1, case.end), statistics);
        simulate_case(&case, Some(&costs), &mut observers);
        observers.0.check(&observers.1);
    }
}

/// How many frames overran.
struct Overruns(u64);

impl Observer for Overruns {
    fn frame_overran(&mut self, _: Instant, _: u64) {
        self.0 += 1;
    }
}
