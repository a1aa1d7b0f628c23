//! A worker under managed dispatch: begins the job it is assigned, and says when it has ended.

use super::worker::RunningWorker;
use crate::account::{Duty, Note, Wanted};
use crate::evidence::record_dropped;
use crate::job::Ended;
use crate::sys::clock::{monotonic_nanos, own_cpu_nanos};
use crate::task::Assignment;
use crate::words::Stage;
use vestal_trace::{Edge, Mechanism};

impl RunningWorker<'_> {
    /// Runs assigned jobs until the run ends.
    pub(crate) fn run_assigned_jobs(&mut self) {
        let (cpu, task) = (self.cpu, self.task);
        let mut has_ended_one = false;
        loop {
            let changes = task.handover.changes.count();
            if let Some(assignment) = task.handover.take_assigned() {
                // What it took for the end of the job before is no part of this one's beginning.
                if std::mem::replace(&mut has_ended_one, true) {
                    self.own.go_on(Duty::JobEnd, &self.trace);
                }
                self.run_assigned(assignment);
            } else if cpu.phase.stage() == Stage::Over {
                return;
            } else {
                self.own.wait(Duty::JobEnd, &self.trace);
                has_ended_one = false;
                task.handover.changes.wait_beyond(changes, None);
                self.trace.open();
                let (now, wanted) = (monotonic_nanos(), Wanted::ByTheManager);
                self.own.wake(wanted, now);
                self.trace.close();
            }
        }
    }

    fn run_assigned(&mut self, assignment: Assignment) {
        let (cpu, task) = (self.cpu, self.task);
        let Assignment { sequence, release } = assignment;
        self.trace.open();
        let woken = monotonic_nanos();
        if cpu.stop_requested() {
            self.trace.close();
            let job = (sequence, release);
            self.own.note_unfinished(task, job, 0, &self.trace);
            return;
        }
        let at = cpu.instant(woken);
        self.trace.overhead(at, Mechanism::Release, Edge::Begin);
        // From here on the account is the new job's, also if the manager looks in between.
        task.jobs.begin(sequence, own_cpu_nanos());
        let (started, ended) = self.run_job(sequence, release);
        // Before it is noted down: a manager that looks from here on finds a job that is over, and takes
        // no priority from it any more.
        task.handover.hand_back(ended);
        self.record_job_end(Edge::Begin);
        self.note_end(&ended);
        self.record_job_end(Edge::End);
        self.note_costs(started.saturating_sub(woken), &ended);
        task.jobs.finish(sequence);
        self.is_done();
        // The manager takes the CPU at once, wanted from here on.
        let now = monotonic_nanos();
        self.own.note(Note::Leaves { now });
        cpu.call_manager_of(task.id);
    }

    /// Notes the job down, as under native dispatch.
    fn note_end(&mut self, job: &Ended) {
        let (cpu, task) = (self.cpu, self.task);
        let stopping = cpu.stop_requested();
        let consumed = self.own.end_job(task, job);
        let lost_its_priority = task.jobs.lost_its_priority(job.sequence);
        if job.completed && !lost_its_priority {
            self.own.note_completed(task, (job, consumed), &self.trace);
        } else if stopping && !lost_its_priority {
            self.note_unfinished(job);
        } else {
            let why = record_dropped(&cpu.run, task, job.sequence, &mut self.trace);
            self.own.note_dropped(task, job.sequence, why);
        }
    }
}
