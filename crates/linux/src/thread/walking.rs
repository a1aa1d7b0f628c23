//! A worker that walks: it runs the jobs of all tasks of its CPU, one after the other.

use super::worker::RunningWorker;
use crate::body::Bodies;
use crate::sys::clock::{monotonic_nanos, own_cpu_nanos};
use std::mem::swap;
use vestal_core::{ContractViolation, JobId};
use vestal_trace::{Edge, Mechanism};

impl RunningWorker<'_> {
    /// Runs a job, whose body is in `bodies`, and notes down what became of it.
    ///
    /// # Errors
    /// The CPU has no such task.
    pub(crate) fn walk(
        &mut self,
        job: JobId,
        bodies: &mut Bodies,
    ) -> Result<(), ContractViolation> {
        self.task = self.cpu.tasks.of(job.task)?;
        self.exchange(bodies);
        self.run_in_sequence(job);
        self.exchange(bodies);
        Ok(())
    }

    /// Runs a job of its task, whose turn it is, and notes down what became of it.
    pub(crate) fn run_in_sequence(&mut self, job: JobId) {
        let (cpu, task, sequence) = (self.cpu, self.task, job.sequence);
        self.trace.open();
        let woken = monotonic_nanos();
        self.trace
            .overhead(cpu.instant(woken), Mechanism::Release, Edge::Begin);
        if let Some(planned) = &cpu.planned {
            planned.plan(Some(job));
        }
        task.jobs.begin(sequence, own_cpu_nanos());
        let release = cpu.run.clock_at(task.release_of(sequence));
        let (started, ended) = self.run_job(sequence, release);
        let (completed, stopping) = (ended.completed, cpu.stop_requested());
        self.record_end(&ended, completed, !completed && stopping);
        let consumed = self.own.end_job(task, &ended);
        if completed {
            self.own
                .note_completed(task, (&ended, consumed), &self.trace);
            self.record_job_end(Edge::End);
        } else if stopping {
            self.note_unfinished(&ended);
        } else {
            let why = task.verdicts.why_dropped(sequence);
            self.own.note_dropped(task, sequence, why);
        }
        self.note_costs(started.saturating_sub(woken), &ended);
        task.jobs.finish(sequence);
        self.is_done();
    }

    /// The body of the task whose turn it is, for the one that is here.
    fn exchange(&mut self, bodies: &mut Bodies) {
        swap(&mut self.body, &mut bodies.body);
        swap(&mut self.demand, &mut bodies.demand);
    }
}
