//! What `plrs` and `ocbp` share: each job has a priority of its own, from lists.

use super::one_cpu;
use crate::policy::About;
use crate::refusal::Refusal;
use crate::setup::{Origin, Setup};
use crate::system::System;
use std::borrow::Cow;
use vestal_analysis::Parameters;
use vestal_core::{Enforcement, TaskOrder};

/// The tests about such policies; `ocbp` is about finite sets of jobs.
pub(super) const TESTS: &[&str] = &[
    "fjp-mode",
    "fjp-own",
    "fjp-lb",
    "fjp-ija",
    "fjp-ija:ceil",
    "fjp-ija:floor",
    "ocbp",
];

/// The lists of all tasks, as an order takes them.
type Lists = Cow<'static, [Cow<'static, [u32]>]>;

/// The test that is refuted. Where no sound one finds lists, there is something to look at with its.
const REFUTED: &str = "fjp-ija";

pub(super) fn system(
    setup: &Setup<'_>,
    about: &About,
    order: fn(Lists) -> TaskOrder<'static>,
) -> Result<System, Refusal> {
    let (lists, origin) = lists(setup)?;
    let parameters = Parameters {
        job_priorities: Some(lists.clone()),
        ..Parameters::default()
    };
    let order = (
        setup.with_priorities(&[]),
        order(lists.into_iter().map(Cow::Owned).collect()),
    );
    let origin = format!("job priorities {origin}");
    Ok(one_cpu::ordered(
        setup,
        about,
        order,
        Enforcement::Adaptive,
        parameters,
        origin,
    ))
}

fn lists(setup: &Setup<'_>) -> Result<(Vec<Vec<u32>>, String), Refusal> {
    let found = setup
        .found
        .and_then(|(_, outcome)| outcome.parameters.job_priorities.clone());
    match (setup.choose(|all| all.job_priorities.as_ref()), found) {
        // The test cuts off entries beyond the busy periods that it has bounded.
        (Some((_, Origin::Parameters)), Some(cut)) => {
            return Ok((cut, Origin::Parameters.to_string()));
        }
        (Some((lists, origin)), _) => return Ok((lists, origin.to_string())),
        (None, _) => {}
    }
    let test = vestal_analysis::find(REFUTED, None).zip(setup.problem);
    match test.and_then(|(test, problem)| test.analyse(problem).parameters.job_priorities) {
        Some(lists) => Ok((lists, format!("found by {REFUTED}, which is refuted"))),
        None => Err(Refusal::input(format!(
            "neither {} nor {REFUTED} finds job priorities for this set",
            setup.test_name()
        ))
        .with_help("give them with --parameters, or use another policy; `analyze --all` tells why")
        .about("order jobs by their own priorities")),
    }
}
