//! A walker: the thread that runs the jobs of one CPU, sub-frame by sub-frame.

use super::common::{Common, MeetingPlace, Taken};
use super::domain::{Step, Turn, cpu_of};
use super::record::WalkRecord;
use super::waits;
use crate::account::{Duty, Wanted};
use crate::body::Bodies;
use crate::error::message_of;
use crate::parts::Part;
use crate::stamps::Stamp;
use crate::sys;
use crate::sys::clock::monotonic_nanos;
use crate::thread::worker::{RunningWorker, Worker};
use crate::words::{Stage, Ticket};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use vestal_core::{BarrierId, ContractViolation, Instant, JobId};
use vestal_trace::{Edge, Mechanism, Record, What};

/// What a walker's thread is made of.
pub(super) struct Walker {
    /// That of the CPU's first task, whose body stands with the others.
    pub(super) worker: Worker,
    pub(super) common: Arc<Common>,
    /// In the order of the CPU's tasks, of which there is one at least.
    pub(super) bodies: Vec<Bodies>,
}

/// What a walker has waited for, with the clock reading at which it came about.
#[derive(Clone, Copy, Debug)]
enum Awaited {
    Frame(u64),
    Barrier(u64),
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
        // There is one for each number of walkers that may meet, and only one such number.
        let Some(meeting) = self.common.meeting(0) else {
            return record;
        };
        self.worker.work_by(|worker| {
            let mut walk = Walk {
                index: usize::from(worker.cpu.id.0),
                common: &self.common,
                meeting,
                jobs: Vec::with_capacity(self.bodies.len()),
                bodies: self.bodies,
                duty: Duty::Frame,
                awaited: None,
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
    meeting: &'w MeetingPlace,
    worker: &'w mut RunningWorker<'a>,
    bodies: Vec<Bodies>,
    /// Those of the present sub-frame, by the numbers of the CPU.
    jobs: Vec<JobId>,
    /// What it does when no job of it begins or runs.
    duty: Duty,
    /// Since when it may go on, if it was kept from that.
    awaited: Option<Awaited>,
    record: &'w mut WalkRecord,
}

impl<'w> Walk<'w, '_> {
    /// Sub-frame by sub-frame, until the run ends.
    fn walk(&mut self) -> Step {
        // The threads are let go before the run begins.
        self.wait_until(Instant::EPOCH);
        while !self.is_ending() {
            // Drawn before the domain is looked at: see `MeetingPlace`.
            let ticket = self.meeting.ticket();
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
        let since = self.common.stamps.now();
        let now = self.worker.cpu.instant(since.monotonic);
        let is_due = domain.is_due(now);
        if is_due {
            domain.scheduler.put(span(self.index, now, Edge::Begin));
        }
        // Before anybody can find that the sequence is taken.
        self.common.begins(self.index, 0);
        let turn = domain.turn(self.index, now, &mut self.jobs);
        #[cfg(feature = "real")]
        if is_due {
            self.worker.own.delay_decision(false);
        }
        let (took, done) = self.took(since);
        if is_due {
            let at = self.worker.cpu.instant(done);
            domain.scheduler.put(span(self.index, at, Edge::End));
            self.record.handling.record(took);
        }
        domain.scheduler.sink().close();
        let spent = domain.take_spent();
        let all = &mut domain.record.parts;
        self.record
            .note_call(all, spent, (took, Part::SubFrameInit));
        drop(domain);
        match (self.awaited.take(), &turn) {
            (Some(Awaited::Frame(since)), Ok(Turn::Walk(_))) => {
                self.record.begins.record(done.saturating_sub(since));
            }
            (Some(Awaited::Barrier(since)), Ok(_)) => {
                self.record.goes_on.record(done.saturating_sub(since));
            }
            (Some(Awaited::Frame(_)), _) | (Some(_), Err(_)) | (None, _) => {}
        }
        turn
    }

    /// How long the walker has had the domain, and the clock now.
    fn took(&self, since: Stamp) -> (u64, u64) {
        let took = self.common.stamps.since(since);
        (took, since.monotonic.saturating_add(took))
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
        let ticket = self.meeting.ticket();
        let came = monotonic_nanos();
        if !self.comes(came, barrier)? {
            self.meet(ticket);
            return Ok(());
        }
        let stamps = self.common.stamps;
        let opened = self.meeting.begin_to_open(ticket, stamps);
        #[cfg(feature = "real")]
        self.worker.own.delay_opening();
        let took = self.meeting.open(ticket, (opened, stamps));
        self.record.parts.record(Part::Barrier, took);
        let opened = opened.monotonic;
        self.record.opens.record(opened.saturating_sub(came));
        self.awaited = Some(Awaited::Barrier(opened));
        Ok(())
    }

    /// Tells the domain that it came; says whether it was the last, for which the domain has decided.
    fn comes(&mut self, came: u64, barrier: BarrierId) -> Step<bool> {
        let at = self.worker.cpu.instant(came);
        let mut domain = self.domain();
        domain.scheduler.sink().open();
        let since = self.common.stamps.now();
        let now = self.worker.cpu.instant(since.monotonic);
        domain.scheduler.put(span(self.index, now, Edge::Begin));
        let is_last = domain.arrive(self.index, (at, now), barrier);
        #[cfg(feature = "real")]
        if is_last == Ok(true) {
            self.worker.own.delay_decision(true);
        }
        let (took, done) = self.took(since);
        let after = self.worker.cpu.instant(done);
        domain.scheduler.put(span(self.index, after, Edge::End));
        domain.scheduler.sink().close();
        self.record.handling.record(took);
        let spent = domain.take_spent();
        let all = &mut domain.record.parts;
        self.record.note_call(all, spent, (took, Part::Barrier));
        is_last
    }

    /// The domain.
    fn domain(&mut self) -> Taken<'w> {
        let own = (&mut self.worker.own, Some(&self.worker.trace));
        // If it waits for that.
        let duty = std::mem::replace(&mut self.duty, Duty::Frame);
        waits::domain(self.common, own, duty)
    }

    /// Waits at the barrier.
    fn meet(&mut self, ticket: Ticket) {
        let own = (&mut self.worker.own, Some(&self.worker.trace));
        let duty = std::mem::replace(&mut self.duty, Duty::Frame);
        let at = (self.meeting, ticket);
        match waits::meet(self.common, at, own, duty, (self.record, true)) {
            Some(since) => self.awaited = Some(Awaited::Barrier(since.monotonic)),
            // The run ends, or nothing begins any more: not to come back to the barrier again and again.
            None => self.worker.cpu.phase.await_over(),
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
            self.awaited = Some(Awaited::Frame(until));
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
pub(super) fn span(cpu: usize, at: Instant, edge: Edge) -> Record {
    let what = What::Overhead {
        cpu: cpu_of(cpu),
        mechanism: Mechanism::Decide,
        edge,
    };
    Record { at, what }
}
