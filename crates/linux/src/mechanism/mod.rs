//! The mechanisms of Huang, Gill and Lu (2014, section 5), beside ours and for comparison with them.
//!
//! What differs is who calls the scheduler, and when; the decisions are those of the same
//! [`vestal_core::Guard`].
//!
//! | enforcement | the paper's threads and timers | here |
//! |---|---|---|
//! | static limits | none: the order of the kernel's priorities is all there is | nothing is enforced |
//! | adaptive limits (5.3) | the manager handles each release and each completion | [`each_job`] |
//! | slices (5.2) | the manager replenishes and exhausts budgets, and cancels their timers | [`pt`] |
//! | zero slack (5.1) | periodic timers for the zero-slack instants and deadlines of all jobs | [`zss`] |
//! | fixed job priorities (5.3) | a dispatcher with three priorities | managed dispatch, see [`crate::managed`] |

mod each_job;
mod events;
mod pt;
mod release_counter;
mod zss;

pub(crate) use each_job::JobTimers;
pub(crate) use pt::Budgets;
pub(crate) use release_counter::ReleaseCounter;
pub(crate) use zss::start_timers;

use crate::config::{Config, Mechanism};
use vestal_core::{Enforcer, Interest};

/// Whether the manager handles each release and each completion of a native run.
pub(crate) fn handles_each_job(config: &Config, guard: &impl Enforcer) -> bool {
    config.mechanism == Mechanism::Huang2014 && guard.has_modes() && config.enforce
}

/// Whether the manager handles each slice of a native run that has some.
pub(crate) fn is_paper_pt(config: &Config, guard: &impl Enforcer) -> bool {
    config.mechanism == Mechanism::Huang2014
        && config.enforce
        && guard.interest() == Interest::Releases
}

/// Whether timers of the manager stand for the zero-slack instants and deadlines of all jobs.
pub(crate) fn is_paper_zss(config: &Config, guard: &impl Enforcer) -> bool {
    config.mechanism == Mechanism::Huang2014
        && config.enforce
        && guard.interest() == Interest::IncompleteJobs
}

/// Whether a native run with this guard enforces limits at all.
pub(crate) fn enforces(config: &Config, guard: &impl Enforcer) -> bool {
    let in_one_mode = !guard.has_modes() && guard.interest() == Interest::NewestReleases;
    let baseline = config.mechanism == Mechanism::Huang2014 && in_one_mode;
    config.enforce && !baseline
}
