//! The mechanisms of Huang, Gill and Lu (2014, section 5), beside ours and for comparison with them.
//!
//! What differs is who calls the scheduler, and when; the decisions are those of the same
//! [`vestal_core::Guard`].
//!
//! | enforcement | the paper's threads and timers | here |
//! |---|---|---|
//! | static limits | none: the order of the kernel's priorities is all there is | nothing is enforced |
//! | adaptive limits (5.3) | the manager handles each release and each completion | [`each_job`] |
//! | zero slack (5.1) | periodic timers for the zero-slack instants and deadlines of all jobs | [`each_instant`] |
//! | fixed job priorities (5.3) | a dispatcher with three priorities | managed dispatch, see [`crate::managed`] |

mod each_instant;
mod each_job;
mod gate;

pub(crate) use each_instant::start_timers;
pub(crate) use gate::Gate;

use crate::config::{Config, Mechanism};
use vestal_core::Enforcement;

/// Whether the manager handles each release and each completion of a native run.
pub(crate) fn handles_each_job(config: &Config) -> bool {
    config.mechanism == Mechanism::Huang2014
        && match config.enforcement {
            Enforcement::Adaptive => config.enforce,
            Enforcement::Static | Enforcement::ZeroSlack => false,
        }
}

/// Whether timers of the manager stand for the zero-slack instants and deadlines of all jobs.
pub(crate) fn handles_each_instant(config: &Config) -> bool {
    config.mechanism == Mechanism::Huang2014
        && config.enforce
        && config.enforcement == Enforcement::ZeroSlack
}

/// Whether a native run with this configuration enforces limits at all.
pub(crate) fn enforces(config: &Config) -> bool {
    let baseline =
        config.mechanism == Mechanism::Huang2014 && config.enforcement == Enforcement::Static;
    config.enforce && !baseline
}
