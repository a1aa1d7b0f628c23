//! `dms`: the shorter deadline goes first.

use super::one_cpu;
use crate::options::EXHAUSTION;
use crate::policy::{About, Fields, Native, Policy};
use crate::refusal::Refusal;
use crate::setup::Setup;
use crate::system::System;
use vestal_core::ClassicOrder;

pub(super) struct Dms;

static ABOUT: About = About {
    name: "dms",
    summary: "deadline-monotonic priorities, static limits C_i(z_i)",
    page: include_str!("../../../../docs/explain/dms.md"),
    parameters: &[],
    options: &[EXHAUSTION],
    tests: &["dms"],
    native: Native::Yes,
};

impl Policy for Dms {
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
            ClassicOrder::DeadlineMonotonic,
        ))
    }
}
