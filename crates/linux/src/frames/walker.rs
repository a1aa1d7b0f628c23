//! A walker: the thread that runs the jobs of one CPU, sub-frame by sub-frame.

use super::common::{Common, Taken};
use super::domain::{Step, Turn, cpu_of};
use crate::account::{Duty, Wanted};
use crate::body::Bodies;
use crate::error::message_of;
use crate::sys;
use crate::sys::clock::monotonic_nanos;
use crate::thread::worker::{RunningWorker, Worker};
use crate::words::{Passed, Stage, Ticket};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use vestal_core::{BarrierId, ContractViolation, Instant, JobId};
use vestal_statistics::Histogram;
use vestal_trace::{Edge, Mechanism, Record, What};

/// What a walker's thread is made of.
pub(super) struct Walker {
    /// That of the CPU's first task, whose body stands with the others.
    pub(super) worker: Worker,
    pub(super) common: Arc<Common>,
    /// In the order of the CPU's tasks, of which there is one at least.
    pub(super) bodies: Vec<Bodies>,
}

/// What a walker notes down.
#[derive(Debug, Default)]
pub(super) struct WalkRecord {
    /// From when a barrier was opened until this walker went on.
    pub(super) passed: Histogram,
    /// How long it had the domain.
    pub(super) handling: Histogram,
}

impl Walker {
    /// Prepares the calling thread; what it returns is reported to the starter.
    pub(super) fn set_up(&self) -> io::Result<()> {
        self.worker.set_up()?;
        let cpu = &self.worker.cpu;
        for task in &cpu.tasks {
            task.jobs.tid.set(sys::sched::own_tid());
        }
        cpu.notes.fetch();
        Ok(())
    }

    /// Runs jobs until the run ends.
    pub(super) fn main(self) -> WalkRecord {
        let mut record = WalkRecord::default();
        self.worker.work_by(|worker| {
            let mut walk = Walk {
                index: usize::from(worker.cpu.id.0),
                common: &self.common,
                jobs: Vec::with_capacity(self.bodies.len()),
                bodies: self.bodies,
                duty: Duty::Frame,
                record: &mut record,
                worker,
            };
            let failed = match catch_unwind(AssertUnwindSafe(|| walk.walk())) {
                Ok(outcome) => outcome
                    .err()
                    .map(|violation| format!("contract violated: {violation}")),
                Err(panic) => Some(message_of(panic.as_ref())),
            };
            let cpu = walk.worker.cpu;
            if let Some(message) = failed {
                cpu.stop_for_manager(message);
            }
            // The thread stays until all leave: its number must not name another thread.
            cpu.phase.await_over();
        });
        record
    }
}

/// A walker while the run goes on.
struct Walk<'w, 'a> {
    /// Of its CPU in the set.
    index: usize,
    common: &'w Common,
    worker: &'w mut RunningWorker<'a>,
    bodies: Vec<Bodies>,
    /// Those of the present sub-frame, by the numbers of the CPU.
    jobs: Vec<JobId>,
    /// What it does when no job of it begins or runs.
    duty: Duty,
    record: &'w mut WalkRecord,
}

impl<'w> Walk<'w, '_> {
    /// Sub-frame by sub-frame, until the run ends.
    fn walk(&mut self) -> Step {
        // The threads are let go before the run begins.
        self.wait_until(Instant::EPOCH);
        while !self.is_ending() {
            // Drawn before the domain is looked at: see `Meeting`.
            let ticket = self.common.meeting.ticket();
            match self.turn()? {
                Turn::Walk(barrier) => {
                    if !self.run_jobs()? {
                        break;
                    }
                    self.arrive(barrier)?;
                }
                Turn::Meet => self.meet(ticket),
                Turn::Wait(at) => self.wait_until(at),
                Turn::End => break,
            }
        }
        Ok(())
    }

    /// Whether nothing begins any more. A body that panicked is never called again, also before the CPU is ended for it.
    fn is_ending(&self) -> bool {
        let cpu = self.worker.cpu;
        cpu.stop_requested() || cpu.run.is_stop_requested()
    }

    /// What is to be done next.
    fn turn(&mut self) -> Step<Turn> {
        let mut domain = self.domain();
        domain.scheduler.sink().open();
        let clock = monotonic_nanos();
        let now = self.worker.cpu.instant(clock);
        let is_due = domain.is_due(now);
        if is_due {
            domain.scheduler.put(span(self.index, now, Edge::Begin));
        }
        // Before anybody can find that the sequence is taken.
        self.common.begins(self.index, 0);
        let turn = domain.turn(self.index, now, &mut self.jobs);
        if is_due {
            let done = monotonic_nanos();
            let at = self.worker.cpu.instant(done);
            domain.scheduler.put(span(self.index, at, Edge::End));
            self.record.handling.record(done.saturating_sub(clock));
        }
        domain.scheduler.sink().close();
        turn
    }

    /// Runs the jobs of the sub-frame; says whether the run goes on.
    fn run_jobs(&mut self) -> Step<bool> {
        for place in 0..self.jobs.len() {
            let Some(&job) = self.jobs.get(place) else {
                break;
            };
            if self.is_ending() {
                return Ok(false);
            }
            // What it took for the end of the job before is no part of this one's beginning.
            self.go_on(Duty::JobEnd);
            self.common.begins(self.index, place + 1);
            let bodies = self.bodies.get_mut(job.task.index());
            let unknown = ContractViolation::UnknownTask(job.task);
            self.worker.walk(job, bodies.ok_or(unknown)?)?;
        }
        Ok(!self.is_ending())
    }

    /// Comes to the barrier. Who is the last decides, and lets all go on.
    fn arrive(&mut self, barrier: BarrierId) -> Step {
        // Before anybody can know that it has come: see `crate::recording`.
        self.go_on(Duty::Frame);
        let ticket = self.common.meeting.ticket();
        let at = self.worker.cpu.instant(monotonic_nanos());
        let is_last = {
            let mut domain = self.domain();
            domain.scheduler.sink().open();
            let clock = monotonic_nanos();
            let now = self.worker.cpu.instant(clock);
            domain.scheduler.put(span(self.index, now, Edge::Begin));
            let is_last = domain.arrive(self.index, (at, now), barrier);
            let done = monotonic_nanos();
            let after = self.worker.cpu.instant(done);
            domain.scheduler.put(span(self.index, after, Edge::End));
            domain.scheduler.sink().close();
            self.record.handling.record(done.saturating_sub(clock));
            is_last?
        };
        if is_last {
            self.common.opened.set(monotonic_nanos());
            self.common.meeting.open();
            self.common.let_go.set(monotonic_nanos());
        } else {
            self.meet(ticket);
        }
        Ok(())
    }

    /// The domain. If another walker has it, this one waits: what passes from when that leaves it is no part of its duty.
    fn domain(&mut self) -> Taken<'w> {
        let common = self.common;
        if let Some(domain) = common.free_domain() {
            return domain;
        }
        self.about_to_wait();
        let domain = common.domain();
        self.worker.trace.open();
        let now = monotonic_nanos();
        let wanted = Wanted::Since(common.freed().min(now));
        self.worker.own.wake(wanted, now);
        self.worker.trace.close();
        domain
    }

    /// Waits at the barrier.
    fn meet(&mut self, ticket: Ticket) {
        self.about_to_wait();
        let passed = self.common.meeting.wait(ticket);
        self.worker.trace.open();
        let now = monotonic_nanos();
        let (since, let_go) = match passed {
            Passed::Open => (self.common.opened.get(), self.common.let_go.get()),
            Passed::Closed => (now, now),
        };
        // Whoever opens the barrier may be slow, which is the run's own.
        let wanted = if let_go >= since {
            let_go.min(now)
        } else {
            now
        };
        self.worker.own.wake(Wanted::Since(wanted), now);
        self.worker.trace.close();
        match passed {
            Passed::Open => self.record.passed.record(now.saturating_sub(since)),
            // The run ends, or nothing begins any more: not to come back to the barrier again and again.
            Passed::Closed => self.worker.cpu.phase.await_over(),
        }
    }

    /// Waits for an instant, or until the run ends.
    fn wait_until(&mut self, at: Instant) {
        let since = at.saturating_since(Instant::EPOCH);
        let until = self.worker.cpu.run.clock_at(since.as_nanos());
        let mut waited = false;
        while !self.is_ending() && monotonic_nanos() < until {
            if !std::mem::replace(&mut waited, true) {
                self.about_to_wait();
            }
            self.worker
                .cpu
                .phase
                .wait_while(Stage::Running, Some(until));
        }
        if waited {
            self.worker.trace.open();
            let now = monotonic_nanos();
            self.worker.own.wake(Wanted::Since(until.min(now)), now);
            self.worker.trace.close();
        }
    }

    /// What it did until now is noted, and the next is `duty` or the beginning of a job.
    fn go_on(&mut self, duty: Duty) {
        let before = std::mem::replace(&mut self.duty, duty);
        self.worker.own.go_on(before, &self.worker.trace);
    }

    /// To be called last of all before the kernel is asked to wait.
    fn about_to_wait(&mut self) {
        let before = std::mem::replace(&mut self.duty, Duty::Frame);
        self.worker.own.wait(before, &self.worker.trace);
    }
}

/// Where the walker of a CPU begins or ends to have the scheduler.
fn span(cpu: usize, at: Instant, edge: Edge) -> Record {
    let what = What::Overhead {
        cpu: cpu_of(cpu),
        mechanism: Mechanism::Decide,
        edge,
    };
    Record { at, what }
}
