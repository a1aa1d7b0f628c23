//! A worker: the thread of one task, which waits for its turn at a semaphore.

use super::{Order, Paper, Round, Turn};
use crate::account::{Duty, Wanted};
use crate::error::message_of;
use crate::frames::common::MeetingPlace;
use crate::frames::domain::{self, Step};
use crate::frames::record::WalkRecord;
use crate::frames::waits;
use crate::parts::Part;
use crate::sys::clock::monotonic_nanos;
use crate::thread::worker::{RunningWorker, Worker};
use crate::words::Taken;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use vestal_core::{JobId, TaskId};

/// What the thread of a task is made of.
pub(super) struct PaperWorker {
    pub(super) worker: Worker,
    pub(super) paper: Arc<Paper>,
    /// The place of its CPU in the set, and its task there.
    pub(super) home: (usize, TaskId),
}

impl PaperWorker {
    /// Prepares the calling thread; what it returns is reported to the starter.
    pub(super) fn set_up(&self) -> io::Result<()> {
        self.worker.set_up()?;
        self.worker.cpu.notes.fetch();
        Ok(())
    }

    /// Runs jobs until the run ends.
    pub(super) fn main(self) -> WalkRecord {
        let mut record = WalkRecord::default();
        let (paper, home) = (self.paper, self.home);
        self.worker.work_by(|worker| {
            let mut working = Working {
                paper: &paper,
                home,
                worker,
                record: &mut record,
                jobs: Vec::new(),
            };
            let failed = match catch_unwind(AssertUnwindSafe(|| working.work())) {
                Ok(outcome) => outcome
                    .err()
                    .map(|violation| format!("contract violated: {violation}")),
                Err(panic) => Some(message_of(panic.as_ref())),
            };
            let cpu = working.worker.cpu;
            if let Some(message) = failed {
                cpu.stop_for_manager(message);
            }
            // The thread stays until all leave: its number must not name another thread.
            cpu.phase.await_over();
        });
        record
    }
}

/// A worker while the run goes on.
struct Working<'w, 'a> {
    paper: &'w Paper,
    home: (usize, TaskId),
    worker: &'w mut RunningWorker<'a>,
    record: &'w mut WalkRecord,
    /// Those of its CPU, while it gives the workers their orders.
    jobs: Vec<JobId>,
}

impl Working<'_, '_> {
    /// Order by order, until the run ends.
    fn work(&mut self) -> Step {
        let (cpu, task) = self.home;
        let (station, desk) = self.paper.desk(cpu, task)?;
        self.jobs.reserve(station.desks.len());
        while !self.is_ending() {
            self.worker.own.wait(Duty::JobEnd, &self.worker.trace);
            let taken = desk.semaphore.wait(None, monotonic_nanos);
            if taken != Taken::Posted {
                // Nobody wants it: it has left the CPU, and waits for the end.
                break;
            }
            self.worker.trace.open();
            let now = monotonic_nanos();
            let wanted = Wanted::Since(taken.wanted(station.posted.get(), now));
            self.worker.own.wake(wanted, now);
            self.worker.trace.close();
            match desk.order.take() {
                Some(Order::Initialise(round)) => self.initialise(round)?,
                Some(Order::Run(turn)) => self.run(turn)?,
                None => {}
            }
        }
        Ok(())
    }

    /// Whether nothing begins any more. A body that panicked is never called again, also before the CPU is ended for it.
    fn is_ending(&self) -> bool {
        let cpu = self.worker.cpu;
        cpu.stop_requested() || cpu.run.is_stop_requested()
    }

    /// Gives all workers of its CPU their orders, and wakes the first.
    fn initialise(&mut self, round: Round) -> Step {
        let (cpu, _) = self.home;
        let common = &self.paper.common;
        let own = (&mut self.worker.own, Some(&self.worker.trace));
        let mut domain = waits::domain(common, own, Duty::Frame);
        domain.scheduler.sink().open();
        let since = common.stamps.now();
        let now = self.worker.cpu.instant(since.monotonic);
        common.begins(cpu, 0);
        let turn = domain.turn(cpu, now, &mut self.jobs);
        domain.scheduler.sink().close();
        drop(domain);
        #[cfg(feature = "real")]
        self.worker.cpu.delay_initialisation();
        let walks = matches!(turn?, domain::Turn::Walk(_));
        let first = self.jobs.first().filter(|_| walks).map(|job| job.task);
        if let Some(first) = first {
            self.paper.give(cpu, &self.jobs, round)?;
            if self.paper.unprepared.down() {
                self.paper.ready.set(round.number);
            }
            self.paper.wake(cpu, first)?;
        }
        let took = common.stamps.since(since);
        self.record.parts.record(Part::SubFrameInit, took);
        self.worker.own.go_on(Duty::Frame, &self.worker.trace);
        Ok(())
    }

    /// Runs a job, and lets the next one of its CPU begin; after the last one it comes to the barrier.
    fn run(&mut self, turn: Turn) -> Step {
        let (cpu, task) = self.home;
        let common = &self.paper.common;
        let (sequence, place) = (turn.sequence, turn.place as usize);
        if self.paper.ready.get() < turn.round.number {
            self.record.started_early += 1;
        }
        common.begins(cpu, place + 1);
        self.worker.run_in_sequence(JobId { task, sequence });
        // Before anybody can know that it is complete: see `crate::recording`.
        self.worker.own.go_on(Duty::JobEnd, &self.worker.trace);
        if self.is_ending() {
            return Ok(());
        }
        let since = common.stamps.now();
        if let Some(next) = turn.next {
            self.paper.wake(cpu, next)?;
            let took = common.stamps.since(since);
            self.record.parts.record(Part::JobFinish, took);
        } else if let Some(meeting) = common.meeting(turn.round.meeting as usize) {
            self.come(meeting)?;
        }
        Ok(())
    }

    /// The last job of the CPU in its sub-frame is complete.
    fn come(&mut self, meeting: &MeetingPlace) -> Step {
        let (cpu, task) = self.home;
        let common = &self.paper.common;
        let ticket = meeting.ticket();
        self.paper.desk(cpu, task)?.0.came.set(monotonic_nanos());
        if self.paper.missing.down() {
            let opened = meeting.begin_to_open(ticket, common.stamps);
            #[cfg(feature = "real")]
            self.worker.own.delay_opening();
            meeting.open(ticket, (opened, common.stamps));
            return Ok(());
        }
        let own = (&mut self.worker.own, Some(&self.worker.trace));
        let at = (meeting, ticket);
        // The scheduler alone is waited for: what it needs to go on is what the barrier takes.
        let _ = waits::meet(common, at, own, Duty::Frame, (self.record, false));
        Ok(())
    }
}
