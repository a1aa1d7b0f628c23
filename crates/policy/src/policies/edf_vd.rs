//! `edf-vd`: in mode 0 jobs are due at virtual deadlines, limits by the mode.

use super::one_cpu;
use crate::options::EXHAUSTION;
use crate::policy::{About, Fields, Native, Policy};
use crate::refusal::Refusal;
use crate::setup::Setup;
use crate::system::System;
use vestal_analysis::{Parameter, Parameters};
use vestal_core::order::BY_DEADLINE;
use vestal_core::{Enforcement, TaskOrder};

pub(super) struct EdfVd;

static ABOUT: About = About {
    name: "edf-vd",
    summary: "earliest virtual deadline first, limits C_i(mode), mode 0 at idle",
    page: include_str!("../../../../docs/explain/edf-vd.md"),
    parameters: &[Parameter::VirtualDeadlines],
    options: &[EXHAUSTION],
    tests: &["edf-vd", "edf-vd-util"],
    native: Native::No(BY_DEADLINE),
};

impl Policy for EdfVd {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn fields(&self) -> Fields {
        Fields::ADAPTIVE
    }

    fn build(&self, setup: &Setup<'_>) -> Result<System, Refusal> {
        let (deadlines, origin) = match setup.choose(|all| all.virtual_deadlines.as_ref()) {
            Some((deadlines, origin)) => (deadlines, format!("virtual deadlines {origin}")),
            None => (
                setup.deadlines(),
                "real deadlines as virtual ones".to_owned(),
            ),
        };
        let order = (
            setup.with_priorities(&[]),
            TaskOrder::EarliestDeadline {
                virtual_deadlines: deadlines.clone().into(),
            },
        );
        let parameters = Parameters {
            virtual_deadlines: Some(deadlines),
            ..Parameters::default()
        };
        let origin = format!("earliest deadline first, {origin}");
        Ok(one_cpu::ordered(
            setup,
            &ABOUT,
            order,
            Enforcement::Adaptive,
            parameters,
            origin,
        ))
    }
}
