//! A worker under managed dispatch: begins the job it is assigned, and says when it has ended.

use super::worker::{RunningWorker, note_costs, note_dropped};
use crate::job::Ended;
use crate::managed::Assignment;
use crate::occupancy::Wanted;
use crate::outcome::{note_completed, note_unfinished, record_dropped};
use crate::recording::Tracer;
use crate::report::Duty;
use crate::shared::{Shared, TaskShared};
use crate::sys::clock::{monotonic_nanos, own_cpu_nanos};
use crate::words::Stage;
use vestal_trace::{Edge, Mechanism};

impl RunningWorker<'_> {
    /// Runs assigned jobs until the run ends.
    pub(crate) fn run_assigned_jobs(&mut self) {
        let (shared, task) = (self.shared, self.task);
        loop {
            let changes = task.handover.changes.count();
            if let Some(assignment) = task.handover.take_assigned() {
                self.run_assigned(assignment);
            } else if shared.phase.stage() == Stage::Over {
                return;
            } else {
                self.own.wait(shared, Duty::JobEnd, &mut self.trace);
                task.handover.changes.wait_beyond(changes, None);
                self.trace.open();
                let (now, wanted) = (monotonic_nanos(), Wanted::ByTheManager);
                self.own.wake(shared, wanted, now, &mut self.trace);
                self.trace.close();
            }
        }
    }

    fn run_assigned(&mut self, assignment: Assignment) {
        let (shared, task) = (self.shared, self.task);
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
        let (started, ended) = self.run_job(sequence, release);
        // Before it is noted down: a manager that looks from here on finds a job that is over, and takes
        // no priority from it any more.
        task.handover.hand_back(ended);
        self.record_job_end(Edge::Begin);
        note_end(shared, task, &ended, &mut self.trace);
        self.record_job_end(Edge::End);
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
