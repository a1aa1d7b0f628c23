//! Who monitors budgets: nobody, or one of two managers of the paper.

use super::Paper;
use super::each_job::JobBudgets;
use super::each_slice::SliceBudgets;
use super::timers::{Kind, Tag};
use crate::sys::Tid;
use crate::task::Tasks;
use std::io;

/// The monitoring of budgets.
pub(super) enum Budgets {
    /// Of the job that runs when the manager waits.
    OfJobs(JobBudgets),
    /// Of each slice.
    OfSlices(SliceBudgets),
    Unmonitored,
}

impl Budgets {
    pub(super) fn start(tasks: &Tasks, paper: Paper, manager: Tid) -> io::Result<Self> {
        Ok(match paper {
            Paper::Jobs => Self::OfJobs(JobBudgets::new(tasks, manager)?),
            Paper::Slices => Self::OfSlices(SliceBudgets::new(tasks, manager)?),
            Paper::Instants => Self::Unmonitored,
        })
    }

    /// A timer fired.
    pub(super) fn fired(&mut self, tag: Tag) {
        match self {
            Self::OfJobs(jobs) if tag.kind == Kind::Budget => jobs.fired(),
            Self::OfSlices(slices) => slices.fired(tag.index),
            Self::OfJobs(_) | Self::Unmonitored => {}
        }
    }

    /// Whether nothing that keeps its priority runs when the manager waits, as far as it knows.
    pub(super) fn is_idle(&self, tasks: &Tasks) -> bool {
        match self {
            Self::OfJobs(_) => JobBudgets::is_idle(tasks),
            Self::OfSlices(_) => SliceBudgets::is_idle(tasks),
            Self::Unmonitored => false,
        }
    }

    /// Monitors what runs when the manager waits.
    pub(super) fn settle(&mut self, tasks: &Tasks) {
        match self {
            Self::OfJobs(jobs) => jobs.settle(tasks),
            Self::OfSlices(slices) => slices.settle(tasks),
            Self::Unmonitored => {}
        }
    }
}
