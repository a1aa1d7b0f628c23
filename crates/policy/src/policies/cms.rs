//! `cms`: the more critical task goes first.

use super::one_cpu;
use crate::options::EXHAUSTION;
use crate::policy::{About, Fields, Native, Policy};
use crate::refusal::Refusal;
use crate::setup::Setup;
use crate::system::System;
use vestal_core::ClassicOrder;

pub(super) struct Cms;

static ABOUT: About = About {
    name: "cms",
    summary: "criticality-monotonic priorities, static limits C_i(z_i)",
    page: include_str!("../../../../docs/explain/cms.md"),
    parameters: &[],
    options: &[EXHAUSTION],
    tests: &["cms"],
    native: Native::Yes,
};

impl Policy for Cms {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn fields(&self) -> Fields {
        one_cpu::TO_COMPLETION
    }

    fn build(&self, setup: &Setup<'_>) -> Result<System, Refusal> {
        Ok(one_cpu::classic(
            setup,
            &ABOUT,
            ClassicOrder::CriticalityMonotonic,
        ))
    }
}
