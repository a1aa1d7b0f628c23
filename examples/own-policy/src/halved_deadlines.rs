//! EDF in which tasks above level 0 count as due after a part of their deadline as long as the mode is 0.
//!
//! An order of Vestal's with numbers of one's own. No test speaks of it, so nothing is guaranteed.
//! `--set divisor=N`: the part is 1/N, by default 1/2.

use vestal_analysis::Parameters;
use vestal_core::{Duration, Enforcement, Level, TaskOrder};
use vestal_policy::{
    About, EXHAUSTION, Native, OptionKey, Policy, Refusal, Setup, System, Values, one_cpu,
};

const DIVISOR: OptionKey = OptionKey {
    name: "divisor",
    summary: "by which deadlines above level 0 are divided in mode 0",
    values: Values::Free,
};

static ABOUT: About = About {
    name: "halved-deadlines",
    summary: "EDF, deadlines above level 0 divided in mode 0; --set divisor=N",
    page: "",
    parameters: &[],
    options: &[EXHAUSTION, DIVISOR],
    tests: &[],
    native: Native::No("fixed priorities cannot order jobs by deadline"),
};

/// The policy.
pub struct HalvedDeadlines;

impl Policy for HalvedDeadlines {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn build(&self, setup: &Setup<'_>) -> Result<System, Refusal> {
        let divisor = match setup.options.given(&DIVISOR) {
            None => 2,
            Some(text) => text
                .parse()
                .ok()
                .filter(|&divisor: &u64| divisor > 0)
                .ok_or_else(|| {
                    Refusal::input(format!("divisor={text} is not a positive number"))
                })?,
        };
        let due = setup.tasks.iter().map(|task| match task.criticality {
            Level::LOWEST => task.deadline,
            _ => Duration::from_nanos((task.deadline.as_nanos() / divisor).max(1)),
        });
        let order = TaskOrder::EarliestDeadline {
            virtual_deadlines: due.collect(),
            queues: setup.options.queues(),
        };
        let order = (setup.with_priorities(&[]), order);
        let (limits, origin) = (Enforcement::Adaptive, "divided deadlines".to_owned());
        Ok(one_cpu::ordered(
            setup,
            &ABOUT,
            order,
            limits,
            Parameters::default(),
            origin,
        ))
    }
}
