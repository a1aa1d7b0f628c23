//! A worker under managed dispatch: begins the job it is assigned, and says when it has ended.

use super::handover::{Assignment, Done};
use crate::intervals::{Intervals, Thread};
use crate::occupancy::Wanted;
use crate::outcome::{note_completed, note_unfinished};
use crate::recording::Tracer;
use crate::report::Duty;
use crate::shared::{STOP, Shared, TaskShared};
use crate::sys;
use crate::sys::clock::{monotonic_nanos, own_cpu_nanos};
use crate::worker::{Ended, Worker, job_of, note_dropped, note_used, record_job_end};
use std::sync::{Arc, PoisonError};
use vestal_core::TaskId;
use vestal_trace::{Edge, Mechanism, What};

impl Worker {
    /// Runs assigned jobs until the run ends.
    pub(crate) fn main_managed(mut self) {
        let shared = Arc::clone(&self.shared);
        let Some(task) = shared.tasks.get(self.index) else {
            return;
        };
        if !shared.await_begin() {
            return;
        }
        let _attached = task
            .is_sliced()
            .then(|| sys::suspension::attach(&task.suspension));
        let (switches, cpu) = (sys::sched::own_switches(), own_cpu_nanos());
        let mut own = Intervals::of_this_thread(Thread::Worker(self.index));
        loop {
            let changes = task.handover.changes();
            if let Some(assignment) = task.handover.take_assigned() {
                self.run_assigned(&shared, task, assignment, &mut own);
            } else if shared.phase() == STOP {
                break;
            } else {
                own.wait(&shared, Duty::JobEnd, &mut self.trace);
                task.handover.wait_beyond(changes);
                self.trace.open();
                own.wake(
                    &shared,
                    Wanted::ByTheManager,
                    monotonic_nanos(),
                    &mut self.trace,
                );
                self.trace.close();
            }
        }
        own.leave(&shared);
        let _ = sys::sched::set_other(sys::sched::own_tid());
        note_used(task, &switches, cpu);
    }

    fn run_assigned(
        &mut self,
        shared: &Shared,
        task: &TaskShared,
        assignment: Assignment,
        own: &mut Intervals,
    ) {
        let Assignment { sequence, release } = assignment;
        self.trace.open();
        let woken = monotonic_nanos();
        if shared.stop_requested() {
            self.trace.close();
            note_unfinished(shared, task, self.id, (release, 0), &mut self.trace);
            return;
        }
        let at = shared.instant(woken);
        self.trace.overhead(at, Mechanism::Release, Edge::Begin);
        // From here on the account is the new job's, also if the manager looks in between.
        task.begin(sequence, own_cpu_nanos());
        shared.begin_at_priority(task, sequence, release);
        #[cfg(feature = "real")]
        crate::fault::delay(shared, crate::fault::Point::JobStart);
        let started = monotonic_nanos();
        let at = shared.instant(started);
        self.trace.overhead(at, Mechanism::Release, Edge::End);
        self.trace.close();
        let base = own_cpu_nanos();
        task.start_account(base);
        own.begin_body(shared, started, base, &mut self.trace);
        let completed = self.call_body(shared, task, sequence, release, own);
        let cpu = own_cpu_nanos();
        let executed = cpu.saturating_sub(base);
        let finished = monotonic_nanos();
        #[cfg(feature = "real")]
        crate::fault::delay(shared, crate::fault::Point::BodyEnd);
        own.end_body(shared, finished, cpu);
        #[cfg(feature = "real")]
        crate::fault::delay(shared, crate::fault::Point::JobEnd);
        if let Some(monitor) = task.monitor.get() {
            monitor.stop();
        }
        let ended = Ended {
            sequence,
            release,
            finished,
            executed,
            completed,
        };
        // Before it is noted down: a manager that looks from here on finds a job that is over, and takes
        // no priority from it any more.
        task.handover.hand_back(Done {
            sequence,
            executed,
            finished,
            whole: completed,
        });
        record_job_end(shared, Edge::Begin, &mut self.trace);
        note_end(shared, task, self.id, &ended, &mut self.trace);
        record_job_end(shared, Edge::End, &mut self.trace);
        let start_cost = started.saturating_sub(woken);
        let end_cost = monotonic_nanos().saturating_sub(finished);
        {
            let mut record = task.record.lock().unwrap_or_else(PoisonError::into_inner);
            record.executed_nanos += executed;
            record.start_cost.record(start_cost);
            record.end_cost.record(end_cost);
        }
        task.finish(sequence);
        #[cfg(feature = "real")]
        crate::fault::delay(shared, crate::fault::Point::BeforeWait(Duty::JobEnd));
        // The manager takes the CPU at once, wanted from here on.
        shared.occupancy.end(monotonic_nanos());
        shared.kick_manager();
    }
}

/// Notes the job down, as under native dispatch.
fn note_end(shared: &Shared, task: &TaskShared, id: TaskId, job: &Ended, trace: &mut Tracer) {
    let stopping = shared.stop_requested();
    shared.end_at_priority(task, job.sequence, job.executed, job.finished);
    let lost_its_priority = task.lost_its_priority(job.sequence);
    if job.completed && !lost_its_priority {
        note_completed(shared, task, id, job, trace);
    } else if stopping && !lost_its_priority {
        note_unfinished(shared, task, id, (job.release, job.executed), trace);
    } else {
        let (why, job) = (task.why_dropped(job.sequence), job_of(id, job.sequence));
        trace.open();
        let at = shared.instant(monotonic_nanos());
        trace.record(at, What::Dropped { job, why });
        trace.close();
        note_dropped(task, why);
    }
}
