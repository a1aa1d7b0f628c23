//! A worker under managed dispatch: begins the job it is assigned, and says when it has ended.

use super::handover::Assignment;
use crate::intervals::Intervals;
use crate::occupancy::Wanted;
use crate::outcome::{note_completed, note_unfinished, record_dropped};
use crate::recording::Tracer;
use crate::report::Duty;
use crate::shared::{STOP, Shared, TaskShared};
use crate::sys::clock::{monotonic_nanos, own_cpu_nanos};
use crate::worker::{Ended, Worker, note_costs, note_dropped, record_job_end};
use vestal_trace::{Edge, Mechanism};

impl Worker {
    /// Runs assigned jobs until the run ends.
    pub(crate) fn run_assigned_jobs(
        &mut self,
        shared: &Shared,
        task: &TaskShared,
        own: &mut Intervals,
    ) {
        loop {
            let changes = task.handover.changes.count();
            if let Some(assignment) = task.handover.take_assigned() {
                self.run_assigned(shared, task, assignment, own);
            } else if shared.phase() == STOP {
                return;
            } else {
                own.wait(shared, Duty::JobEnd, &mut self.trace);
                task.handover.changes.wait_beyond(changes, None);
                self.trace.open();
                let now = monotonic_nanos();
                own.wake(shared, Wanted::ByTheManager, now, &mut self.trace);
                self.trace.close();
            }
        }
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
            note_unfinished(shared, task, (release, 0), &mut self.trace);
            return;
        }
        let at = shared.instant(woken);
        self.trace.overhead(at, Mechanism::Release, Edge::Begin);
        // From here on the account is the new job's, also if the manager looks in between.
        task.begin(sequence, own_cpu_nanos());
        let (started, ended) = self.run_job(shared, task, (sequence, release), own);
        // Before it is noted down: a manager that looks from here on finds a job that is over, and takes
        // no priority from it any more.
        task.handover.hand_back(&ended);
        record_job_end(shared, Edge::Begin, &mut self.trace);
        note_end(shared, task, &ended, &mut self.trace);
        record_job_end(shared, Edge::End, &mut self.trace);
        note_costs(task, started.saturating_sub(woken), &ended);
        task.finish(sequence);
        #[cfg(feature = "real")]
        crate::fault::delay(shared, crate::fault::Point::BeforeWait(Duty::JobEnd));
        // The manager takes the CPU at once, wanted from here on.
        shared.occupancy.end(monotonic_nanos());
        shared.kick_manager();
    }
}

/// Notes the job down, as under native dispatch.
fn note_end(shared: &Shared, task: &TaskShared, job: &Ended, trace: &mut Tracer) {
    let stopping = shared.stop_requested();
    shared.end_at_priority(task, job.sequence, job.executed, job.finished);
    let lost_its_priority = task.lost_its_priority(job.sequence);
    if job.completed && !lost_its_priority {
        note_completed(shared, task, job, trace);
    } else if stopping && !lost_its_priority {
        note_unfinished(shared, task, (job.release, job.executed), trace);
    } else {
        note_dropped(task, record_dropped(shared, task, job.sequence, trace));
    }
}
