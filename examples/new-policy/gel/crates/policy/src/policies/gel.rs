//! `gel`: the job whose priority point comes first goes first, limits in two halves.

use super::one_cpu;
use crate::options::EXHAUSTION;
use crate::policy::{About, Native, Policy};
use crate::refusal::Refusal;
use crate::setup::Setup;
use crate::system::System;
use vestal_analysis::{Parameter, Parameters};
use vestal_core::order::BY_DEADLINE;
use vestal_core::{Enforcement, TaskOrder};

pub(super) struct Gel;

static ABOUT: About = About {
    name: "gel",
    summary: "earliest priority point first, C_i(z_i) in two halves",
    page: include_str!("../../../../docs/explain/gel.md"),
    parameters: &[Parameter::PriorityPoints],
    options: &[EXHAUSTION],
    tests: &["gel"],
    native: Native::No(BY_DEADLINE),
};

impl Policy for Gel {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn build(&self, setup: &Setup<'_>) -> Result<System, Refusal> {
        let (points, origin) = match setup.choose(|all| all.priority_points.as_ref()) {
            Some((points, by)) => (points, format!("priority points {by}")),
            None => (setup.deadlines(), "deadlines as priority points".to_owned()),
        };
        let order = TaskOrder::PriorityPoints {
            points: points.clone().into(),
        };
        let parameters = Parameters {
            priority_points: Some(points),
            ..Parameters::default()
        };
        Ok(one_cpu::ordered(
            setup,
            &ABOUT,
            (setup.with_priorities(&[]), order),
            Enforcement::Halves,
            parameters,
            origin,
        ))
    }
}
