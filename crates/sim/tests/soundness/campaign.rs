//! Draws sets, runs what is accepted, and sums up.

use crate::busy;
use crate::common::Random;
use crate::common::judgement::cross_check;
use crate::common::system::{shrink, text};
use crate::patterns;
use crate::reference::{Lists, System};
use crate::sets::{DrawnSet, Sets};
use crate::subject::{Subject, bounds_of, deadlines_of, parts_of, system_of};
use crate::summary::Summary;
use crate::trial::{Bounds, Broken, observe};
use vestal_analysis::{Outcome, Problem, Scratch};
use vestal_core::Exhaustion;
use vestal_testkit::random::mix;

pub(super) const SETS_SMOKE: u64 = 3_000;
const SETS_SIEVED: u64 = 200_000;
const SETS_LONG: u64 = 2_000_000;
/// How many eventful busy periods a long campaign simulates at least, of each test.
const PERIODS_LONG: u64 = 1_000_000;
/// So many times the sets asked for are drawn at most to come to so many busy periods.
const SETS_LONGER_MAX: u64 = 100;
/// How many runs each accepted set has.
const RUNS: u64 = 12;
/// In one set of so many the busy periods are counted by their definition, too.
const SETS_PER_COUNT: u64 = 8;
/// How often a long campaign says where it is.
const SETS_PER_PROGRESS: u64 = 5_000;

/// Which sets are drawn.
pub(crate) struct Campaign {
    sets: u64,
    seed: u64,
    from: u64,
    /// It goes on until it has simulated so many eventful busy periods.
    periods: u64,
    progress: bool,
}

impl Campaign {
    pub(crate) fn smoke() -> Self {
        Self {
            sets: SETS_SMOKE,
            seed: 1,
            from: 0,
            periods: 0,
            progress: false,
        }
    }

    /// Many sets of which few are simulated.
    pub(crate) fn sieve() -> Self {
        Self {
            sets: SETS_SIEVED,
            ..Self::smoke()
        }
    }

    pub(crate) fn smoke_with_seed(seed: u64) -> Self {
        Self {
            seed,
            ..Self::smoke()
        }
    }

    /// As few sets as may be for so many eventful busy periods.
    pub(crate) fn of_periods(periods: u64) -> Self {
        Self {
            sets: 1,
            periods,
            ..Self::smoke()
        }
    }

    pub(crate) fn from_environment() -> Self {
        let number = |name: &str| {
            let text = std::env::var(name).ok()?;
            let number = text.parse::<u64>();
            Some(number.unwrap_or_else(|_| panic!("{name} has to be a number, not {text:?}")))
        };
        let long = std::env::var("VESTAL_CAMPAIGN").is_ok_and(|size| size == "long");
        let (sets, periods) = if long {
            (SETS_LONG, PERIODS_LONG)
        } else {
            (SETS_SMOKE, 0)
        };
        Self {
            sets: number("VESTAL_SOUNDNESS_SETS").unwrap_or(sets),
            seed: number("VESTAL_SOUNDNESS_SEED").unwrap_or(1),
            from: number("VESTAL_SOUNDNESS_FROM").unwrap_or(0),
            periods: number("VESTAL_SOUNDNESS_PERIODS").unwrap_or(periods),
            progress: long,
        }
    }
}

/// Runs the campaign until its end or until the first broken guarantee.
pub(crate) fn run(campaign: &Campaign, subject: &Subject) -> Summary {
    let mut summary = Summary::new(subject, campaign.periods);
    let mut scratch = Scratch::default();
    let latest = campaign.sets.saturating_mul(SETS_LONGER_MAX);
    for number in campaign.from..latest {
        if number >= campaign.sets && summary.has_seen_enough() {
            break;
        }
        // Each set has its own seed, so that a campaign can start at any of them.
        let mut random = Random::new(mix(campaign.seed ^ mix(number)));
        let mut set = subject.sets.draw(&mut random);
        summary.drawn += 1;
        if subject.accepts(&set.problem(), &mut scratch) {
            if subject.sets == Sets::LateDeadlines || random.once_in(2) {
                let mut accepts = |problem: &Problem| subject.accepts(problem, &mut scratch);
                set.move_to_border(&mut accepts, &mut random);
            }
            try_set(&set, subject, &mut random, number, &mut summary);
        }
        if summary.broken.is_some() {
            break;
        }
        if campaign.progress && (number + 1).is_multiple_of(SETS_PER_PROGRESS) {
            eprintln!("next set {}: {summary}", number + 1);
        }
    }
    summary
}

fn try_set(
    set: &DrawnSet,
    subject: &Subject,
    random: &mut Random,
    number: u64,
    summary: &mut Summary,
) {
    let problem = &set.problem();
    let outcome = subject.test.analyse(problem);
    let guaranteed = random.one_of(&[
        Exhaustion::Background,
        Exhaustion::Background,
        Exhaustion::Abort,
    ]);
    let parts = parts_of(problem, &outcome);
    let systems: Vec<System> = parts
        .iter()
        .map(|(problem, outcome)| system_of(problem, outcome, subject, guaranteed))
        .collect();
    summary.count_set(&systems);
    for (system, part) in systems.into_iter().zip(&parts) {
        try_part(
            system,
            part,
            (set, subject, guaranteed, number),
            random,
            summary,
        );
        if summary.broken.is_some() {
            return;
        }
    }
}

/// What is common to the parts of a set: it, the subject, what is enforced, and the number of the set.
type Whole<'a> = (&'a DrawnSet, &'a Subject, Exhaustion, u64);

/// The tasks of one CPU.
fn try_part(
    mut system: System,
    (problem, outcome): &(Problem, Outcome),
    (set, subject, guaranteed, number): Whole<'_>,
    random: &mut Random,
    summary: &mut Summary,
) {
    let bounds = if subject.lists == Lists::No {
        bounds_of(outcome, subject.bounds_too_small_by)
    } else {
        deadlines_of(problem)
    };
    let mut tightness = vec![0.0_f64; problem.tasks().len()];
    for run in 0..RUNS {
        patterns::draw(&mut system, set.unit, random);
        let seen = observe(&system, &bounds, guaranteed);
        summary.count_run(&seen);
        for (largest, now) in tightness.iter_mut().zip(&seen.tightness) {
            *largest = largest.max(*now);
        }
        // The reference goes tick by tick.
        if run == 0 && set.unit == 1 {
            cross_check(&system);
            if number.is_multiple_of(SETS_PER_COUNT) {
                let expected = busy::by_definition(&system);
                assert_eq!(seen.busy.all, expected.all, "{}", text(&system));
                assert!(seen.busy.eventful >= expected.eventful, "{}", text(&system));
            }
        }
        if let Some(broken) = seen.broken
            && (broken.is_a_miss || !subject.only_misses)
        {
            summary.broken = Some(explain(system, &bounds, guaranteed, number, &broken));
            return;
        }
    }
    summary.count_ratios(&tightness);
}

/// In how many runs list reuse and recomputation kept their guarantees or broke them by a miss.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Comparison {
    pub(crate) neither: u64,
    pub(crate) reuse_only: u64,
    pub(crate) recomputation_only: u64,
    pub(crate) both: u64,
}

/// Runs what the subject's test accepts under both rules for job-priority lists.
pub(crate) fn compare(campaign: &Campaign, subject: &Subject) -> Comparison {
    let mut found = Comparison::default();
    let mut scratch = Scratch::default();
    for number in campaign.from..campaign.sets {
        let mut random = Random::new(mix(campaign.seed ^ mix(number)));
        let set = subject.sets.draw(&mut random);
        let problem = set.problem();
        if !subject.accepts(&problem, &mut scratch) {
            continue;
        }
        let outcome = subject.test.analyse(&problem);
        let guaranteed = Exhaustion::Background;
        let mut system = system_of(&problem, &outcome, subject, guaranteed);
        for _ in 0..RUNS {
            patterns::draw(&mut system, set.unit, &mut random);
            let [reuse, recomputation] = [Lists::Reused, Lists::Recomputed].map(|lists| {
                system.lists = lists;
                let seen = observe(&system, &deadlines_of(&problem), guaranteed);
                seen.broken.is_some_and(|broken| broken.is_a_miss)
            });
            *match (reuse, recomputation) {
                (false, false) => &mut found.neither,
                (true, false) => &mut found.reuse_only,
                (false, true) => &mut found.recomputation_only,
                (true, true) => &mut found.both,
            } += 1;
        }
    }
    found
}

/// Makes the run as small as it gets without touching the set, and writes it down.
fn explain(
    system: System,
    bounds: &Bounds,
    guaranteed: Exhaustion,
    number: u64,
    broken: &Broken,
) -> Broken {
    let tasks = system.tasks.len();
    let fails = |smaller: &System| {
        smaller.tasks.len() == tasks
            && observe(smaller, bounds, guaranteed)
                .broken
                .is_some_and(|found| found.is_a_miss == broken.is_a_miss)
    };
    let small = shrink(system, fails);
    let found = observe(&small, bounds, guaranteed).broken;
    let what = found.unwrap_or_else(|| broken.clone());
    Broken {
        is_a_miss: what.is_a_miss,
        text: format!("set {number}: {what}\n{}bounds {bounds:?}", text(&small)),
    }
}
