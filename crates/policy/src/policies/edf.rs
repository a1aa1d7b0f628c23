//! `edf`: the job that is due first goes first, static limits.

use super::one_cpu;
use crate::options::EXHAUSTION;
use crate::policy::{About, Native, Policy};
use crate::refusal::Refusal;
use crate::setup::Setup;
use crate::system::System;
use vestal_analysis::Parameters;
use vestal_core::order::BY_DEADLINE;
use vestal_core::{Enforcement, TaskOrder};

pub(super) struct Edf;

static ABOUT: About = About {
    name: "edf",
    summary: "earliest deadline first, static limits C_i(z_i)",
    page: include_str!("../../../../docs/explain/edf.md"),
    parameters: &[],
    options: &[EXHAUSTION],
    tests: &["edf"],
    native: Native::No(BY_DEADLINE),
};

impl Policy for Edf {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn build(&self, setup: &Setup<'_>) -> Result<System, Refusal> {
        let order = (
            setup.with_priorities(&[]),
            TaskOrder::EarliestDeadline {
                virtual_deadlines: setup.deadlines().into(),
            },
        );
        let origin = "earliest deadline first, real deadlines".to_owned();
        Ok(one_cpu::ordered(
            setup,
            &ABOUT,
            order,
            Enforcement::Static,
            Parameters::default(),
            origin,
        ))
    }
}
