//! `rms-amc`: rate-monotonic priorities, limits by the mode.

use super::one_cpu;
use crate::options::EXHAUSTION;
use crate::policy::{About, Fields, Native, Policy};
use crate::refusal::Refusal;
use crate::setup::Setup;
use crate::system::System;
use vestal_analysis::Parameters;
use vestal_core::{ClassicOrder, Enforcement, Task, TaskId};

pub(super) struct RmsAmc;

static ABOUT: About = About {
    name: "rms-amc",
    summary: "rate-monotonic priorities, limits C_i(mode), mode 0 at idle",
    page: include_str!("../../../../docs/explain/rms-amc.md"),
    parameters: &[],
    options: &[EXHAUSTION],
    tests: &["amc-rtb", "amc-max"],
    native: Native::Yes,
};

impl Policy for RmsAmc {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn fields(&self) -> Fields {
        Fields::ADAPTIVE
    }

    fn rule(&self, tasks: &[Task]) -> Parameters {
        let order = ClassicOrder::RateMonotonic;
        let ids = (0..).map(TaskId).take(tasks.len());
        Parameters {
            priorities: ids.map(|id| order.priority_of(id, tasks)).collect(),
            ..Parameters::default()
        }
    }

    fn build(&self, setup: &Setup<'_>) -> Result<System, Refusal> {
        Ok(one_cpu::by_rule(setup, &ABOUT, Enforcement::Adaptive))
    }
}
