//! `amc`: priorities by Audsley's assignment, limits by the mode.

use super::one_cpu;
use crate::options::EXHAUSTION;
use crate::policy::{About, Fields, Native, Policy, Use};
use crate::refusal::Refusal;
use crate::setup::Setup;
use crate::system::System;
use vestal_analysis::Parameter;
use vestal_core::Enforcement;

pub(super) struct Amc;

static ABOUT: About = About {
    name: "amc",
    summary: "adaptive mixed criticality: Audsley's priorities, limits C_i(mode), mode 0 at idle",
    page: include_str!("../../../../docs/explain/amc.md"),
    parameters: &[Parameter::Priorities],
    options: &[EXHAUSTION],
    tests: &["amc-rtb", "amc-max", "amc-ia", "amc-ia:full"],
    native: Native::Yes,
};

impl Policy for Amc {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn fields(&self) -> Fields {
        Fields {
            priority: Use::Reads,
            ..Fields::ADAPTIVE
        }
    }

    fn build(&self, setup: &Setup<'_>) -> Result<System, Refusal> {
        Ok(one_cpu::assigned(setup, &ABOUT, Enforcement::Adaptive))
    }
}
