//! `smc`: priorities by Audsley's assignment, static limits.

use super::one_cpu;
use crate::options::EXHAUSTION;
use crate::policy::{About, Fields, Native, Policy, Use};
use crate::refusal::Refusal;
use crate::setup::Setup;
use crate::system::System;
use vestal_analysis::Parameter;
use vestal_core::Enforcement;

pub(super) struct Smc;

static ABOUT: About = About {
    name: "smc",
    summary: "static mixed criticality: Audsley's priorities, static limits C_i(z_i)",
    page: include_str!("../../../../docs/explain/smc.md"),
    parameters: &[Parameter::Priorities],
    options: &[EXHAUSTION],
    tests: &["smc", "smc:printed"],
    native: Native::Yes,
};

impl Policy for Smc {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn fields(&self) -> Fields {
        Fields {
            priority: Use::Reads,
            ..Fields::ONE_CPU
        }
    }

    fn build(&self, setup: &Setup<'_>) -> Result<System, Refusal> {
        Ok(one_cpu::assigned(setup, &ABOUT, Enforcement::Static))
    }
}
