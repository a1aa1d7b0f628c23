//! What the manager of one CPU is made of.

use super::{Demand, Share, Together, Ways};
use crate::control::Traced;
use crate::decider::BoxedScheduler;
use crate::levels::One;
use std::sync::Arc;
use vestal_core::{CpuId, TaskId};

/// What the manager of one CPU is made of.
pub(crate) struct Parts {
    /// Levels A and B of it.
    pub(crate) domain: Traced<BoxedScheduler>,
    pub(crate) cpu: CpuId,
    /// Its tasks by the numbers of the set.
    pub(crate) tasks: Vec<TaskId>,
    pub(crate) common: Arc<Together>,
    /// The CPUs of the set.
    pub(crate) cpus: usize,
    pub(crate) ways: Ways,
    pub(crate) share: Share,
    pub(crate) demand: Demand,
    /// One lock around the rounds of all managers, if there is to be one.
    pub(crate) one: Option<Arc<One>>,
    /// So long it keeps the turn ten times a second, in nanoseconds, which is a fault.
    pub(crate) keeps: u64,
}
