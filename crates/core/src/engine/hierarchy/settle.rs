//! Settling: every consequence but the selection, in the fixed order of C3.

use super::{Hierarchy, Staged};
use crate::ids::{JobId, ServerId, TaskId};
use crate::job_table::Arrival;
use crate::notice::{DropReason, Event};
use crate::server::Server;
use crate::store::Store;
use crate::time::{Duration, Service};

impl<S: Store> Hierarchy<S> {
    /// A server that had the CPU without work is charged by time: nothing ran that could be measured.
    pub(super) fn settle_idling(&mut self, since_last: Duration) {
        let Some(id) = self.idler else { return };
        let Some((seat, _)) = self.seat_mut(id) else {
            return;
        };
        let Server::Periodic(server) = &mut seat.server else {
            return;
        };
        if server.idle_for(since_last) {
            self.clock.notice(Event::Depleted { server: id });
        }
    }

    /// Completed jobs end, and their backlog moves up; blocked ones are ready no longer.
    pub(super) fn settle_end(&mut self, task: TaskId) {
        let Some(work) = self.work.get_mut(task.index()) else {
            return;
        };
        if work.jobs.current.is_some() && work.jobs.completed {
            work.blocked = false;
            work.staged.blocked_at = None;
            self.note_completed_overrun(task);
            self.next_job(task);
        } else if work.staged.blocked_at.is_some() {
            work.blocked = true;
        }
        self.count(task);
    }

    /// Makes the oldest waiting job, or the next interrupt, the current one. Nothing is known of it yet.
    fn next_job(&mut self, task: TaskId) {
        let clock = self.clock.now;
        let Some(work) = self.work.get_mut(task.index()) else {
            return;
        };
        work.staged.charged = false;
        work.resumed = false;
        work.overran_own = false;
        if work.jobs.advance() || work.interrupts == 0 {
            return;
        }
        work.interrupts = work.interrupts.saturating_sub(1);
        let sequence = work.jobs.next_sequence;
        work.jobs.next_sequence = sequence.saturating_add(1);
        work.jobs.begin(Arrival::new(sequence, clock));
    }

    /// Brings the server's counts up to date with the state of `task` (I2).
    pub(super) fn count(&mut self, task: TaskId) {
        let (Some(work), Some(entry)) = (
            self.work.get_mut(task.index()),
            self.tasks.get(task.index()),
        ) else {
            return;
        };
        let Some(seat) = self.seats.get_mut(entry.server.index()) else {
            return;
        };
        let pending = work.jobs.current.is_some();
        let ready = pending && !work.blocked;
        recount(&mut seat.pending, &mut work.pending, pending);
        recount(&mut seat.ready, &mut work.ready, ready);
    }

    /// What was executed is charged to the server: a job that completed exactly at the end of the
    /// budget did so in time, and the budget is used up all the same.
    pub(super) fn settle_charge(&mut self, id: ServerId) {
        let (now, granularity) = (self.clock.now, self.granularity);
        let is_adaptive = self.is_adaptive();
        let Some((seat, chunks)) = self.seat_mut(id) else {
            return;
        };
        let charged = core::mem::take(&mut seat.charged);
        if let (Server::Pibs(pibs), Some(start)) = (&mut seat.server, seat.started.take()) {
            pibs.start(start);
        }
        if charged.is_zero() {
            return;
        }
        let had = !seat.server.remaining(chunks, now).is_zero();
        seat.server.charge(chunks, now, charged);
        let rest = seat.server.remaining(chunks, now);
        // C2: less than the world can enforce is nothing, though it is discarded only when no mode gives it more.
        seat.ran_out = is_adaptive && had && (rest.is_zero() || rest < granularity);
        if had && rest.is_zero() {
            self.clock.notice(Event::Depleted { server: id });
        }
    }

    pub(super) fn settle_replenishment(&mut self, id: ServerId) {
        let now = self.clock.now;
        if let Some((seat, _)) = self.seat_mut(id) {
            let (had_work, came) = (seat.had_work, seat.work_came.take());
            let at = |last| had_work || came.is_some_and(|came| came <= last);
            seat.server.replenish(now, at);
        }
    }

    /// Woken, interrupted and released.
    pub(super) fn admit(&mut self, task: TaskId) {
        let Some(work) = self.work.get_mut(task.index()) else {
            return;
        };
        let staged = core::mem::replace(&mut work.staged, Staged::NOTHING);
        let blocked = work.blocked || staged.blocked_at.is_some();
        let waited = work.jobs.current.is_some();
        // A wake-up before the job blocked is not the one it waits for.
        let woken = blocked && staged.woken_at.is_some() && staged.woken_at >= staged.blocked_at;
        work.blocked = blocked && !woken;
        let arrived = staged.interrupts > 0 || !work.jobs.arrived.is_empty();
        work.interrupts = work.interrupts.saturating_add(staged.interrupts);
        self.admit_releases(task);
        let Some(work) = self.work.get(task.index()) else {
            return;
        };
        if work.jobs.current.is_none() {
            self.next_job(task);
        }
        // Somebody begins to wait for what is pending already.
        let joined = waited && staged.woken_for.at(self.mode).is_some();
        if woken || arrived || joined {
            self.inherit(task, waited, &staged.woken_for);
        }
        self.count(task);
    }

    fn admit_releases(&mut self, task: TaskId) {
        let admits = self.admits(task);
        loop {
            let Some(work) = self.work.get_mut(task.index()) else {
                return;
            };
            let Some(staged) = work.jobs.arrived.pop() else {
                return;
            };
            let arrival = Arrival::from(staged);
            let why = if !admits {
                DropReason::Mode
            } else if work.jobs.current.is_none() {
                work.jobs.begin(arrival);
                continue;
            } else if work.jobs.waiting.push(arrival) {
                continue;
            } else {
                DropReason::BacklogFull
            };
            self.notice_drop(task, arrival.sequence, why);
        }
    }

    pub(super) fn notice_drop(&mut self, task: TaskId, sequence: u64, why: DropReason) {
        let job = JobId { task, sequence };
        self.clock.notice(Event::Dropped { job, why });
    }

    /// Reports to each server whether it has work; what is too little to be enforced is discarded.
    pub(super) fn settle_work(&mut self, id: ServerId) {
        let (now, granularity) = (self.clock.now, self.granularity);
        self.try_activation(id);
        let Some((seat, chunks)) = self.seat_mut(id) else {
            return;
        };
        let work = seat.ready > 0;
        seat.had_work = work;
        let postponed = seat.server.settle_work(chunks, now, work);
        if work {
            seat.server.discard_below(chunks, now, granularity);
        }
        self.notice_postponed(id, postponed);
    }

    pub(super) fn notice_postponed(&mut self, server: ServerId, amount: Service) {
        if amount > Service::ZERO {
            self.clock.notice(Event::Postponed { server, amount });
        }
    }
}

/// Adds or takes one from `count` when a task's flag changes.
fn recount(count: &mut usize, flag: &mut bool, now: bool) {
    if *flag != now {
        *count = if now {
            count.saturating_add(1)
        } else {
            count.saturating_sub(1)
        };
        *flag = now;
    }
}
