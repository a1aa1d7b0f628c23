//! A finite set of jobs: what `ocbp` decides about.

use crate::parameters::task_id;
use crate::problem::{FiniteJob, Problem, ProblemError};
use vestal_core::model::TASKS_MAX;
use vestal_core::{Instant, LevelSet};

impl Problem {
    /// The problem of a finite set of jobs with `levels` criticality levels. It has no tasks: only
    /// tests for job sets apply ([`crate::Test::is_for_job_sets`]).
    ///
    /// # Errors
    /// [`ProblemError::TooManyTasks`], or what is wrong with a job, whose index is named as a task's.
    pub fn of_jobs(jobs: Vec<FiniteJob>, levels: LevelSet) -> Result<Self, ProblemError> {
        if jobs.len() > TASKS_MAX {
            return Err(ProblemError::TooManyTasks { found: jobs.len() });
        }
        for (index, job) in jobs.iter().enumerate() {
            if job.criticality > levels.highest() {
                return Err(ProblemError::UnknownLevel {
                    task: task_id(index),
                    criticality: job.criticality,
                    levels: levels.count(),
                });
            }
            if job.deadline <= job.release || job.deadline > Instant::HORIZON {
                return Err(ProblemError::JobWindow {
                    job: task_id(index),
                });
            }
        }
        let mut problem = Self::new(Vec::new(), levels)?;
        problem.jobs = jobs;
        Ok(problem)
    }

    /// The jobs of a finite job set; empty for a set of tasks.
    #[must_use]
    pub fn jobs(&self) -> &[FiniteJob] {
        &self.jobs
    }
}
