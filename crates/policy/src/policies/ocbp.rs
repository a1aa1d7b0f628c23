//! `ocbp`: each job has a priority of its own, from lists.

use super::job_priorities;
use crate::options::EXHAUSTION;
use crate::policy::{About, Fields, Native, Policy};
use crate::refusal::Refusal;
use crate::setup::Setup;
use crate::system::System;
use vestal_analysis::Parameter;
use vestal_core::TaskOrder;
use vestal_core::order::BY_JOB;

pub(super) struct Ocbp;

static ABOUT: About = About {
    name: "ocbp",
    summary: "fixed job priorities computed anew at arrivals, limits C_i(mode), mode 0 at idle",
    page: include_str!("../../../../docs/explain/ocbp.md"),
    parameters: &[Parameter::JobPriorities],
    options: &[EXHAUSTION],
    tests: job_priorities::TESTS,
    native: Native::No(BY_JOB),
};

impl Policy for Ocbp {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn fields(&self) -> Fields {
        Fields::ADAPTIVE
    }

    fn build(&self, setup: &Setup<'_>) -> Result<System, Refusal> {
        job_priorities::system(setup, &ABOUT, |lists| TaskOrder::RecomputedLists { lists })
    }
}
