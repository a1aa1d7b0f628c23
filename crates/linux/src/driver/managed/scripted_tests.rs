//! Managed dispatch without a kernel: a manager and its workers, whose clocks and whose doings a test says, and a scheduler that
//! writes down what it is told.

use super::*;
use crate::control::ManagerRecord;
use crate::cpu::{Cpu, Terms};
use crate::device::Devices;
use crate::driver::Kind;
use crate::driver::dispatch::scripted;
use crate::job::Ended;
use crate::monitor::Monitor;
use crate::recording::Tracer;
use crate::task::TaskShared;
use crate::words::Allowance;
use std::sync::{Arc, Mutex};
use vestal_core::{ContractViolation, Hierarchy, Notice, Plan, TaskConfiguration};
use vestal_trace::Recorder;

pub(super) const US: u64 = 1_000;
/// Beyond all that the machine's clock says, which so is no instant of these runs.
pub(super) const EPOCH: u64 = 1 << 60;

/// What a scheduler was told, and with which instant.
type Facts = Arc<Mutex<Vec<(Instant, Fact)>>>;

/// Writes down what it is told, and may leave a job nothing.
struct Spy {
    inner: Hierarchy,
    facts: Facts,
    leaves_nothing: bool,
    slots: [Option<Slot>; 1],
}

impl Scheduler for Spy {
    fn apply(&mut self, at: Instant, fact: Fact) -> Result<(), ContractViolation> {
        self.facts.lock().unwrap().push((at, fact));
        self.inner.apply(at, fact)
    }
    fn decide(&mut self, now: Instant) -> Result<Plan<'_>, ContractViolation> {
        let plan = self.inner.decide(now)?;
        if !self.leaves_nothing {
            return Ok(plan);
        }
        let mut slot = plan.slot(CPU);
        if let Some(budget) = slot.as_mut().and_then(|slot| slot.budget.as_mut()) {
            budget.remaining = vestal_core::Service::ZERO;
        }
        self.slots = [slot];
        let slots = &self.slots;
        Ok(Plan { slots, ..plan })
    }
    fn permit(&self, task: TaskId) -> Permit {
        self.inner.permit(task)
    }
    fn take_notice(&mut self) -> Option<Notice> {
        self.inner.take_notice()
    }
    fn lost_notices(&self) -> u64 {
        self.inner.lost_notices()
    }
}

/// A manager with the workers of its tasks, of which each does what the test says.
pub(super) struct Scripted {
    pub(super) cpu: Cpu,
    pub(super) record: ManagerRecord,
    pub(super) managed: Managed,
    facts: Facts,
    /// By task: the job that its worker has begun.
    pub(super) active: Vec<Option<Assignment>>,
    pub(super) now: u64,
}

impl Scripted {
    /// Tasks, with the nanoseconds of their first releases, under this scheduler.
    pub(super) fn of(
        tasks: &[(TaskConfiguration, u64)],
        inner: Hierarchy,
        devices: Devices,
        leaves_nothing: bool,
    ) -> Self {
        let terms = Terms::in_test(Monitor::Manager);
        Self::on(tasks, inner, devices, (leaves_nothing, terms))
    }

    /// The same on a CPU that goes by these terms, but for whose duties are whose.
    pub(super) fn on(
        tasks: &[(TaskConfiguration, u64)],
        inner: Hierarchy,
        devices: Devices,
        (leaves_nothing, terms): (bool, Terms),
    ) -> Self {
        let facts = Facts::default();
        let spy: BoxedScheduler = Box::new(Spy {
            inner,
            facts: Arc::clone(&facts),
            leaves_nothing,
            slots: [None],
        });
        let workers = tasks.iter().zip(0..).map(|(&(entry, offset), number)| {
            let task = TaskShared::new("task".to_owned(), entry, offset, 2, Allowance::Unlimited);
            task.jobs.tid.set(scripted::tid_of(number));
            task.in_slices()
        });
        let (enforces, futex) = (true, true);
        let terms = Terms {
            duties: Kind::Managed { enforces, futex }.duties(),
            ..terms
        };
        let mut cpu = Cpu::in_test(workers.collect(), terms);
        cpu.devices = devices;
        cpu.run.epoch.set(EPOCH);
        cpu.run.end.set(u64::MAX);
        let count = tasks.len();
        let mut managed = Managed::new(count, Recorder::new(spy, Tracer::off()), None, 1);
        let mut record = ManagerRecord::new(count, 0);
        managed.start(&Control::new(&cpu, &mut record)).unwrap();
        scripted::begin(count);
        Self {
            cpu,
            record,
            managed,
            facts,
            active: vec![None; count],
            now: EPOCH,
        }
    }

    /// The manager goes round at so many nanoseconds after the epoch; workers begin what it assigns.
    pub(super) fn round(&mut self, at: u64) {
        self.now = EPOCH + at;
        let mut control = Control::new(&self.cpu, &mut self.record);
        self.managed.step(&mut control, self.now).unwrap();
        for (task, active) in self.cpu.tasks.iter().zip(&mut self.active) {
            if let Some(assigned) = task.handover.take_assigned() {
                assert!(active.is_none(), "it has a job");
                task.jobs.begin(assigned.sequence, 0);
                task.suspension.enter();
                *active = Some(assigned);
            }
        }
    }

    pub(super) fn running(&self) -> Option<usize> {
        self.managed.running.map(|job| job.task.index())
    }

    /// The thread of this task uses the CPU.
    pub(super) fn use_cpu(&self, task: usize, nanos: u64) {
        scripted::advance(task, nanos);
    }

    /// Its job ends, complete unless it was stopped before.
    pub(super) fn end(&mut self, task: usize) {
        let Assignment { sequence, release } = self.active[task].take().unwrap();
        let worker = &self.cpu.tasks[task];
        worker.suspension.leave(0, 0, &mut Default::default());
        let completed = !worker.jobs.lost_its_priority(sequence);
        worker.handover.hand_back(Ended {
            sequence,
            release,
            finished: self.now,
            executed: 0,
            completed,
        });
        worker.jobs.finish(sequence);
    }

    /// What the scheduler was told since the last call.
    pub(super) fn told(&self) -> Vec<(Instant, Fact)> {
        std::mem::take(&mut *self.facts.lock().unwrap())
    }
}
