//! Draws sets, runs what is accepted, and sums up.

use crate::common::judgement::cross_check;
use crate::common::system::{shrink, text};
use crate::common::{Random, mix};
use crate::patterns;
use crate::reference::{AtLimit, Limits, Lists, ReferenceTask, System};
use crate::sets::{DrawnSet, Sets};
use crate::trial::{Bounds, Broken, observe};
use std::fmt;
use vestal_analysis::{Outcome, Problem, Scratch, Test};
use vestal_core::{Enforcement, Exhaustion, OrderRule, Policy, VirtualDeadlines, policy};

const SETS_SMOKE: u64 = 3_000;
const SETS_SIEVED: u64 = 200_000;
const SETS_LONG: u64 = 2_000_000;
/// How many runs each accepted set has.
const RUNS: u64 = 12;
/// How often a long campaign says where it is.
const SETS_PER_PROGRESS: u64 = 5_000;

/// Which sets are drawn.
pub(crate) struct Campaign {
    sets: u64,
    seed: u64,
    from: u64,
    progress: bool,
}

impl Campaign {
    pub(crate) fn smoke() -> Self {
        Self {
            sets: SETS_SMOKE,
            seed: 1,
            from: 0,
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

    pub(crate) fn from_environment() -> Self {
        let number = |name: &str| {
            let text = std::env::var(name).ok()?;
            let number = text.parse::<u64>();
            Some(number.unwrap_or_else(|_| panic!("{name} has to be a number, not {text:?}")))
        };
        let long = std::env::var("VESTAL_CAMPAIGN").is_ok_and(|size| size == "long");
        let sets = if long { SETS_LONG } else { SETS_SMOKE };
        Self {
            sets: number("VESTAL_SOUNDNESS_SETS").unwrap_or(sets),
            seed: number("VESTAL_SOUNDNESS_SEED").unwrap_or(1),
            from: number("VESTAL_SOUNDNESS_FROM").unwrap_or(0),
            progress: long,
        }
    }
}

/// A test, and how its policy is carried out.
pub(crate) struct Subject {
    pub(crate) test: &'static Test,
    pub(crate) sets: Sets,
    /// How job priorities are used, where the test gives any.
    pub(crate) lists: Lists,
    /// What happens at a job's own limit, if that is not what was promised.
    pub(crate) carried_out: Option<Exhaustion>,
    /// Only a missed deadline counts, not a response time above its bound.
    pub(crate) only_misses: bool,
    /// The bounds on response times are taken for this many ticks smaller.
    pub(crate) bounds_too_small_by: u64,
    /// Sets that this sound test accepts too are left out: nothing can be found there.
    pub(crate) unless: Option<&'static Test>,
}

impl Subject {
    pub(crate) fn real(test: &'static Test) -> Self {
        let sets = match policy_of(test).order {
            OrderRule::EarliestDeadline(VirtualDeadlines::Assigned) => Sets::TwoLevels,
            OrderRule::EarliestDeadline(VirtualDeadlines::Real)
            | OrderRule::Classic(_)
            | OrderRule::Slices
            | OrderRule::Assigned
            | OrderRule::JobLists(_) => Sets::General,
        };
        Self {
            test,
            sets,
            lists: if has_lists(policy_of(test)) {
                Lists::Reused
            } else {
                Lists::No
            },
            carried_out: None,
            only_misses: false,
            bounds_too_small_by: 0,
            unless: None,
        }
    }

    pub(crate) fn control(test: &'static Test) -> Self {
        Self {
            only_misses: true,
            ..Self::real(test)
        }
    }

    /// Whether the test accepts the set, and gives what a run needs: there may be no virtual
    /// deadlines in whole ticks.
    fn accepts(&self, problem: &Problem, scratch: &mut Scratch) -> bool {
        let needs_virtual_deadlines =
            policy_of(self.test).order == OrderRule::EarliestDeadline(VirtualDeadlines::Assigned);
        self.test.accepts(problem, scratch)
            && self
                .unless
                .is_none_or(|other| !other.accepts(problem, scratch))
            && (!needs_virtual_deadlines
                || self
                    .test
                    .analyse(problem)
                    .parameters
                    .virtual_deadlines
                    .is_some())
    }
}

fn policy_of(test: &Test) -> &'static Policy {
    policy::find(test.policy).unwrap()
}

/// What a campaign found.
pub(crate) struct Summary {
    name: String,
    pub(crate) drawn: u64,
    accepted: u64,
    runs: u64,
    raised: u64,
    /// Whether the test bounds response times.
    has_bounds: bool,
    /// How near to their bounds tasks have to come on average.
    mean_expected: f64,
    /// The largest response time over its bound.
    tightest: f64,
    /// The sum over the tasks of accepted sets of each one's largest ratio, and how many they are.
    tightness_sum: f64,
    tasks: u64,
    pub(crate) broken: Option<Broken>,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |part: u64, whole: u64| part as f64 * 100.0 / whole.max(1) as f64;
        let tightness = if self.has_bounds {
            let mean = self.tightness_sum / self.tasks.max(1) as f64;
            format!(
                "tightest ratio {:.3}, mean over tasks {mean:.3}",
                self.tightest
            )
        } else {
            "no bounds to compare with".to_owned()
        };
        write!(
            f,
            "{}: {} sets drawn, {} accepted ({:.1} %), {} runs, {} with raised mode ({:.1} %), \
             {tightness}, {}",
            self.name,
            self.drawn,
            self.accepted,
            percent(self.accepted, self.drawn),
            self.runs,
            self.raised,
            percent(self.raised, self.runs),
            if self.broken.is_some() {
                "BROKEN"
            } else {
                "no promise broken"
            },
        )?;
        match &self.broken {
            Some(broken) => write!(f, "\n{broken}"),
            None => Ok(()),
        }
    }
}

impl Summary {
    /// A campaign without refutation means something only if it tried.
    pub(crate) fn check_that_it_says_something(&self) {
        assert!(self.drawn > 0, "the campaign ends before it begins: {self}");
        if self.drawn < SETS_SMOKE {
            return;
        }
        let accepted = self.accepted * 100 / self.drawn;
        assert!((5..=95).contains(&accepted), "{self}");
        assert!(self.raised * 5 >= self.runs, "{self}");
        let mean = self.tightness_sum / self.tasks.max(1) as f64;
        let tight = self.tightest > 0.99 && mean > self.mean_expected;
        assert!(tight || !self.has_bounds, "{self}");
    }
}

/// Runs the campaign until its end or until the first broken promise.
pub(crate) fn run(campaign: &Campaign, subject: &Subject) -> Summary {
    let mut summary = Summary {
        name: subject.test.to_string(),
        drawn: 0,
        accepted: 0,
        runs: 0,
        raised: 0,
        has_bounds: !is_by_deadline(policy_of(subject.test)),
        // The bounds of zero-slack scheduling have a job of everybody under way at once, which only
        // some tasks can meet. Of a deadline, which some tasks always stay far below, half is much.
        mean_expected: match policy_of(subject.test).enforcement {
            _ if subject.lists != Lists::No => 0.5,
            Enforcement::Static | Enforcement::Adaptive => 0.8,
            Enforcement::ZeroSlack => 0.7,
        },
        tightest: 0.0,
        tightness_sum: 0.0,
        tasks: 0,
        broken: None,
    };
    let mut scratch = Scratch::default();
    for number in campaign.from..campaign.sets {
        // Each set has its own seed, so that a campaign can start at any of them.
        let mut random = Random(mix(campaign.seed ^ mix(number)));
        let mut set = subject.sets.draw(&mut random);
        summary.drawn += 1;
        if subject.accepts(&set.problem(), &mut scratch) {
            summary.accepted += 1;
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
    let bounds = if subject.lists == Lists::No {
        bounds_of(&outcome, subject.bounds_too_small_by)
    } else {
        deadlines_of(problem)
    };
    let promised = random.pick(&[
        Exhaustion::Background,
        Exhaustion::Background,
        Exhaustion::Abort,
    ]);
    let mut system = system_of(problem, &outcome, subject, promised);
    let mut tightness = vec![0.0_f64; problem.tasks().len()];
    for run in 0..RUNS {
        patterns::draw(&mut system, set.unit, random);
        let seen = observe(&system, &bounds, promised);
        summary.runs += 1;
        summary.raised += u64::from(seen.raised);
        for (largest, now) in tightness.iter_mut().zip(&seen.tightness) {
            *largest = largest.max(*now);
        }
        // The reference goes tick by tick.
        if run == 0 && set.unit == 1 {
            cross_check(&system);
        }
        if let Some(broken) = seen.broken
            && (broken.is_a_miss || !subject.only_misses)
        {
            summary.broken = Some(explain(system, &bounds, promised, number, &broken));
            return;
        }
    }
    for ratio in tightness {
        summary.tightest = summary.tightest.max(ratio);
        summary.tightness_sum += ratio;
        summary.tasks += 1;
    }
}

/// In how many runs list reuse and recomputation kept their promises or broke them by a miss.
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
        let mut random = Random(mix(campaign.seed ^ mix(number)));
        let set = subject.sets.draw(&mut random);
        let problem = set.problem();
        if !subject.accepts(&problem, &mut scratch) {
            continue;
        }
        let outcome = subject.test.analyse(&problem);
        let promised = Exhaustion::Background;
        let mut system = system_of(&problem, &outcome, subject, promised);
        for _ in 0..RUNS {
            patterns::draw(&mut system, set.unit, &mut random);
            let [reuse, recomputation] = [Lists::Reused, Lists::Recomputed].map(|lists| {
                system.lists = lists;
                let seen = observe(&system, &deadlines_of(&problem), promised);
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

fn bounds_of(outcome: &Outcome, too_small_by: u64) -> Bounds {
    let tasks = outcome.tasks.iter();
    tasks
        .map(|task| {
            let responses = task.responses.iter().flatten();
            responses
                .map(|response| response.as_nanos() - too_small_by)
                .collect()
        })
        .collect()
}

/// Tests without response times promise the deadlines.
fn deadlines_of(problem: &Problem) -> Bounds {
    let tasks = problem.tasks().iter();
    tasks
        .map(|task| vec![task.deadline.as_nanos(); task.criticality.index() + 1])
        .collect()
}

fn system_of(
    problem: &Problem,
    outcome: &Outcome,
    subject: &Subject,
    promised: Exhaustion,
) -> System {
    let policy = policy_of(subject.test);
    let by_deadline = is_by_deadline(policy);
    let virtual_deadlines = outcome.parameters.virtual_deadlines.as_ref();
    let found_slices = outcome.parameters.slices.as_ref();
    let lists = outcome.parameters.job_priorities.as_ref();
    let tasks = problem.tasks().iter().zip(&outcome.tasks).enumerate();
    System {
        tasks: tasks
            .map(|(place, (&task, found))| ReferenceTask {
                task,
                priority: if by_deadline || lists.is_some() {
                    0
                } else {
                    found.priority.unwrap()
                },
                virtual_deadline: virtual_deadlines
                    .map_or(task.deadline, |given| given[place])
                    .as_nanos(),
                zero_slack: outcome
                    .parameters
                    .zero_slack
                    .as_ref()
                    .map(|given| given[place].as_nanos()),
                abort_when_late: false,
                slices: found_slices.map_or(1, |counts| u64::from(counts[place].get())),
                list: lists.map_or_else(Vec::new, |lists| lists[place].clone()),
            })
            .collect(),
        levels: problem.levels().count(),
        by_deadline,
        lists: subject.lists,
        limits: match policy.enforcement {
            Enforcement::Static => Limits::Static,
            Enforcement::Adaptive => Limits::Adaptive,
            Enforcement::ZeroSlack => Limits::ZeroSlack,
        },
        at_limit: match subject.carried_out.unwrap_or(promised) {
            Exhaustion::Background => AtLimit::Background,
            Exhaustion::Abort => AtLimit::Abort,
            Exhaustion::Continue => AtLimit::GoOn,
        },
        releases: Vec::new(),
        demand: Vec::new(),
        end: 0,
    }
}

fn is_by_deadline(policy: &Policy) -> bool {
    matches!(policy.order, OrderRule::EarliestDeadline(_))
}

fn has_lists(policy: &Policy) -> bool {
    matches!(policy.order, OrderRule::JobLists(_))
}

/// Makes the run as small as it gets without touching the set, and writes it down.
fn explain(
    system: System,
    bounds: &Bounds,
    promised: Exhaustion,
    number: u64,
    broken: &Broken,
) -> Broken {
    let tasks = system.tasks.len();
    let fails = |smaller: &System| {
        smaller.tasks.len() == tasks
            && observe(smaller, bounds, promised)
                .broken
                .is_some_and(|found| found.is_a_miss == broken.is_a_miss)
    };
    let small = shrink(system, fails);
    let found = observe(&small, bounds, promised).broken;
    let what = found.unwrap_or_else(|| broken.clone());
    Broken {
        is_a_miss: what.is_a_miss,
        text: format!("set {number}: {what}\n{}bounds {bounds:?}", text(&small)),
    }
}
