//! `zss`: rate-monotonic priorities; a job without slack suspends less critical tasks.

use super::one_cpu;
use crate::options::{EXHAUSTION, OptionKey, Options, Values};
use crate::policy::{About, Fields, Native, Policy, Use};
use crate::refusal::Refusal;
use crate::setup::{Setup, order_name};
use crate::system::System;
use vestal_analysis::{Parameter, Parameters};
use vestal_core::{ClassicOrder, Enforcement, TaskOrder};

pub(super) struct Zss;

const INSTANTS: OptionKey = OptionKey {
    name: "instants",
    summary: "which analysis finds the zero-slack instants",
    values: Values::OneOf(&["sporadic", "form", "tightened", "harmonic"]),
};

static ABOUT: About = About {
    name: "zss",
    summary: "rate-monotonic priorities, jobs without slack suspend less critical tasks",
    page: include_str!("../../../../docs/explain/zss.md"),
    parameters: &[Parameter::ZeroSlack],
    options: &[EXHAUSTION, INSTANTS],
    tests: &["zss", "zss:form", "zss:tightened", "zss:harmonic"],
    native: Native::Yes,
};

impl Policy for Zss {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn fields(&self) -> Fields {
        Fields {
            on_miss: Use::Rule(
                "`continue`: a job past its deadline suspends its own level too, and goes on below all others; \
                 `abort`: it is dropped",
            ),
            ..Fields::ONE_CPU
        }
    }

    fn test(&self, options: &Options) -> Result<Option<&str>, Refusal> {
        Ok(Some(match options.value(&INSTANTS) {
            "form" => "zss:form",
            "tightened" => "zss:tightened",
            "harmonic" => "zss:harmonic",
            _ => "zss",
        }))
    }

    fn build(&self, setup: &Setup<'_>) -> Result<System, Refusal> {
        let rate_monotonic = ClassicOrder::RateMonotonic;
        let mut tasks = setup.with_priorities(&setup.classic(rate_monotonic));
        let mut origin = order_name(rate_monotonic).to_owned();
        let instants = match setup.choose(|all| all.zero_slack.as_ref()) {
            Some((instants, by)) => {
                origin = format!("{origin}, zero-slack instants {by}");
                instants
            }
            // No task is suspended before a deadline.
            None => setup.deadlines(),
        };
        for (entry, instant) in tasks.iter_mut().zip(&instants) {
            entry.zero_slack = Some(*instant);
        }
        let parameters = Parameters {
            zero_slack: Some(instants),
            ..Parameters::default()
        };
        let order = (tasks, TaskOrder::FixedPriority);
        Ok(one_cpu::ordered(
            setup,
            &ABOUT,
            order,
            Enforcement::ZeroSlack,
            parameters,
            origin,
        ))
    }
}
