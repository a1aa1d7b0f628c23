//! `edf-vd` and `edf-vd-util` at borders computed by hand, against fractions of machine words, and
//! against runs.

use crate::common;

use common::run::{Order, misses};
use common::{Random, problem, task};
use vestal_analysis::{Outcome, Parameters, Problem, Ratio, Reason, Scratch, Verdict, find};
use vestal_core::{Duration, Level, Service, Task, TaskId};

fn analyse(name: &str, set: &Problem) -> Outcome {
    let test = find(name, None).unwrap();
    let outcome = test.analyse(set);
    let accepted = test.accepts(set, &mut Scratch::default());
    assert_eq!(
        outcome.verdict == Verdict::Schedulable,
        accepted,
        "{name} {:?}",
        set.tasks()
    );
    outcome
}

fn low(period: u64, wcet: u64) -> Task {
    task(0, period, period, &[wcet])
}

fn high(period: u64, low: u64, high: u64) -> Task {
    task(1, period, period, &[low, high])
}

fn passes(name: &str, tasks: &[Task]) -> bool {
    analyse(name, &problem(2, tasks.to_vec())).verdict == Verdict::Schedulable
}

fn deadlines(outcome: &Outcome) -> Option<Vec<u64>> {
    let deadlines = outcome.parameters.virtual_deadlines.as_ref()?;
    Some(
        deadlines
            .iter()
            .map(|deadline| deadline.as_nanos())
            .collect(),
    )
}

/// a + c = 1: nothing has to be shortened. Equation 3 alone would ask for x = (1/4) / (1/2).
#[test]
fn plain_edf_is_tried_first() {
    let outcome = analyse("edf-vd", &problem(2, vec![low(4, 2), high(8, 2, 4)]));
    assert_eq!(outcome.verdict, Verdict::Schedulable);
    let one = Ratio {
        numerator: 1,
        denominator: 1,
    };
    assert_eq!(outcome.parameters.deadline_factor, Some(one));
    assert_eq!(deadlines(&outcome), Some(vec![4, 8]));
    assert!(!passes("edf-vd-util", &[low(4, 2), high(8, 3, 4)]));
}

/// The set of Huang, Gill and Lu (TECS 2014, section 3.1): a = 1/2, b = 3/10, c = 7/10. The
/// interval for x is the point 3/5, and 1/6 + 20/60 + 1/2 = 1.
#[test]
fn the_three_task_example_lies_on_the_border() {
    let tasks = [low(2, 1), high(10, 1, 5), high(100, 20, 20)];
    let outcome = analyse("edf-vd", &problem(2, tasks.to_vec()));
    assert_eq!(outcome.verdict, Verdict::Schedulable);
    let three_fifths = Ratio {
        numerator: 3,
        denominator: 5,
    };
    assert_eq!(outcome.parameters.deadline_factor, Some(three_fifths));
    assert_eq!(deadlines(&outcome), Some(vec![2, 6, 60]));
    // One more in 10^12, at either level, leaves no x.
    let long = 1_000_000_000_000;
    for (more_low, more_high) in [(0, 1), (1, 1)] {
        let third = high(long, long / 5 + more_low, long / 5 + more_high);
        assert!(!passes("edf-vd", &[tasks[0], tasks[1], third]));
    }
    assert!(passes(
        "edf-vd",
        &[tasks[0], tasks[1], high(long, long / 5, long / 5)]
    ));
}

/// a = 1 and a > 1: without the guard b / (1 - a) would be infinite or negative.
#[test]
fn low_tasks_that_fill_the_cpu_leave_nothing() {
    let critical = high(10, 1, 2);
    assert!(!passes("edf-vd", &[low(2, 2), critical]));
    assert!(!passes("edf-vd", &[low(2, 1), low(3, 2), critical]));
    assert!(passes("edf-vd", &[low(2, 2)]));
    assert!(!passes("edf-vd", &[low(2, 1), low(3, 2)]));
}

/// c = 1 leaves x = 0, which the theorem allows if the tasks need nothing in mode 0, and which is
/// no deadline.
#[test]
fn a_factor_of_zero_is_no_deadline() {
    let outcome = analyse("edf-vd", &problem(2, vec![low(4, 2), high(6, 0, 6)]));
    assert_eq!(outcome.verdict, Verdict::Schedulable);
    assert_eq!(outcome.parameters, vestal_analysis::Parameters::default());
    assert!(!passes("edf-vd", &[low(4, 2), high(6, 1, 6)]));
}

/// Both ends of the interval are 2/3. Of a period of 3 that is 2; of a period of 4 the next whole
/// number is 2, and mode 0 then fails: 1/2 + 1/2 + 1/8 > 1. No finer unit helps, as only the
/// fraction itself meets the border.
#[test]
fn whole_deadlines_may_not_exist_where_a_fraction_does() {
    // a = 1/2, b = 1/3, c = 2/3: b / (1 - a) = (1 - c) / a = 2/3.
    let exact = analyse("edf-vd", &problem(2, vec![low(2, 1), high(3, 1, 2)]));
    assert_eq!(deadlines(&exact), Some(vec![2, 2]));
    // b = 1/4 + 1/12, c = 2/4 + 2/12: the same sums.
    let tasks = vec![low(2, 1), high(4, 1, 2), high(12, 1, 2)];
    let split = analyse("edf-vd", &problem(2, tasks));
    assert_eq!(split.verdict, Verdict::Schedulable);
    let two_thirds = Ratio {
        numerator: 2,
        denominator: 3,
    };
    assert_eq!(split.parameters.deadline_factor, Some(two_thirds));
    assert_eq!(deadlines(&split), None);
}

/// max(a + b, c) = 3/4, on either side, and one more in 2^50.
#[test]
fn three_quarters_are_met_exactly() {
    assert!(passes("edf-vd-util", &[low(8, 4), high(8, 2, 6)]));
    assert!(passes("edf-vd", &[low(8, 4), high(8, 2, 6)]));
    let long = 1 << 50;
    let (share, most) = (long / 4, long / 4 * 3);
    assert!(passes("edf-vd-util", &[low(8, 4), high(long, share, most)]));
    assert!(!passes(
        "edf-vd-util",
        &[low(8, 4), high(long, share, most + 1)]
    ));
    assert!(!passes(
        "edf-vd-util",
        &[low(8, 4), high(long, share + 1, most)]
    ));
    assert!(!passes(
        "edf-vd-util",
        &[low(8, 4), low(3, 1), high(long, 1, 1)]
    ));
}

#[test]
fn outside_the_assumptions_nothing_is_proven() {
    for name in ["edf-vd", "edf-vd-util"] {
        let three = analyse(name, &problem(3, vec![low(9, 1)]));
        assert_eq!(three.verdict, Verdict::NotProven);
        assert_eq!(three.why, Some(Reason::NotTwoLevels { found: 3 }));
        let constrained = analyse(name, &problem(2, vec![low(9, 1), task(1, 9, 8, &[1, 2])]));
        let first = Reason::ConstrainedDeadline { task: TaskId(1) };
        assert_eq!(constrained.why, Some(first));
        let keeps_running = Task {
            degraded: Some(Service::from_nanos(1)),
            ..low(9, 1)
        };
        let degraded = analyse(name, &problem(2, vec![keeps_running]));
        assert_eq!(
            degraded.why,
            Some(Reason::DegradedBudget { task: TaskId(0) })
        );
        let trivially_infeasible = analyse(name, &problem(2, vec![high(9, 1, 10)]));
        assert_eq!(
            trivially_infeasible.why,
            Some(Reason::WcetExceedsDeadline { task: TaskId(0) })
        );
    }
    let set = problem(2, vec![low(2, 2), high(10, 1, 2)]);
    assert_eq!(
        analyse("edf-vd", &set).why.unwrap().to_string(),
        "the utilisations exceed what the test accepts: 0 tasks 1.000000, 1 tasks 0.100000 at 0 \
         and 0.200000 at 1"
    );
}

/// A fraction of two machine words, as books write it.
#[derive(Clone, Copy)]
pub(crate) struct Share(i128, i128);

impl Share {
    pub(crate) const fn new(numerator: i128, denominator: i128) -> Self {
        Self(numerator, denominator)
    }
    /// C(level) / T.
    pub(crate) fn of(task: &Task, level: Level) -> Self {
        Self(
            task.wcet.at(level).as_nanos().into(),
            task.period.as_nanos().into(),
        )
    }
    pub(crate) fn plus(self, other: Self) -> Self {
        Self(self.0 * other.1 + other.0 * self.1, self.1 * other.1).reduced()
    }
    fn minus(self, other: Self) -> Self {
        self.plus(Self(-other.0, other.1))
    }
    fn times(self, other: Self) -> Self {
        Self(self.0 * other.0, self.1 * other.1).reduced()
    }
    fn over(self, other: Self) -> Self {
        let sign = other.0.signum();
        Self(self.0 * other.1 * sign, self.1 * other.0 * sign).reduced()
    }
    pub(crate) fn at_most(self, other: Self) -> bool {
        self.0 * other.1 <= other.0 * self.1
    }
    fn reduced(self) -> Self {
        let (mut one, mut other) = (self.0.abs(), self.1);
        while other != 0 {
            (one, other) = (other, one % other);
        }
        Self(self.0 / one, self.1 / one)
    }
}

const ONE: Share = Share(1, 1);

/// a, b and c.
pub(crate) fn sums(tasks: &[Task]) -> [Share; 3] {
    [(0, 0), (1, 0), (1, 1)].map(|(criticality, level)| {
        let of_level = tasks
            .iter()
            .filter(|task| task.criticality == Level(criticality));
        of_level.fold(Share(0, 1), |sum, task| {
            sum.plus(Share::of(task, Level(level)))
        })
    })
}

/// The theorem step by step: x first, then its condition.
pub(crate) fn theorem_accepts([a, b, c]: [Share; 3]) -> bool {
    if a.plus(c).at_most(ONE) {
        return true;
    }
    if ONE.at_most(a) {
        return false;
    }
    let x = b.over(ONE.minus(a));
    x.times(a).plus(c).at_most(ONE)
}

fn random_tasks(random: &mut Random) -> Vec<Task> {
    let count = random.between(2, 5);
    (0..count)
        .map(|_| {
            let period = random.between(2, 24);
            let cost = random
                .between(1, (period * 3 / (2 * count)).max(1))
                .min(period);
            if random.once_in(2) {
                low(period, cost)
            } else {
                high(
                    period,
                    cost,
                    (cost + random.between(0, cost + 2)).min(period),
                )
            }
        })
        .collect()
}

/// Whether some integers V_i do what the two conditions ask for, by trying all.
fn some_whole_deadlines(tasks: &[Task], [a, _, c]: [Share; 3]) -> bool {
    if a.plus(c).at_most(ONE) {
        return true;
    }
    let critical: Vec<&Task> = tasks
        .iter()
        .filter(|task| task.criticality == Level(1))
        .collect();
    let mut chosen = vec![1; critical.len()];
    loop {
        let pairs = || critical.iter().zip(&chosen);
        let density = pairs().fold(a, |sum, (task, &deadline)| {
            sum.plus(Share(task.wcet.at(Level(0)).as_nanos().into(), deadline))
        });
        let mode_1 = pairs().all(|(task, &deadline)| {
            let part = Share(deadline, task.period.as_nanos().into());
            part.times(a).plus(c).at_most(ONE)
        });
        if mode_1 && density.at_most(ONE) {
            return true;
        }
        let Some(position) = (0..chosen.len())
            .find(|&position| chosen[position] < i128::from(critical[position].period.as_nanos()))
        else {
            return false;
        };
        chosen[position] += 1;
        chosen[..position].fill(1);
    }
}

#[test]
fn the_condition_is_that_of_the_theorem_in_fractions() {
    let mut random = Random::new(41);
    let (mut plain, mut shortened, mut rejected, mut whole, mut util) = (0, 0, 0, 0, 0);
    for _ in 0..20_000 {
        let tasks = random_tasks(&mut random);
        let sums = sums(&tasks);
        let set = problem(2, tasks.clone());
        let outcome = analyse("edf-vd", &set);
        let accepted = outcome.verdict == Verdict::Schedulable;
        assert_eq!(accepted, theorem_accepts(sums), "{tasks:?}");
        let [a, b, c] = sums;
        let three_quarters = Share(3, 4);
        let within = a.plus(b).at_most(three_quarters) && c.at_most(three_quarters);
        assert_eq!(passes("edf-vd-util", &tasks), within, "{tasks:?}");
        assert!(!within || accepted, "{tasks:?}");
        util += u32::from(within);
        if !accepted {
            rejected += 1;
            assert_eq!(outcome.parameters.virtual_deadlines, None);
            continue;
        }
        let critical = tasks
            .iter()
            .filter(|task| task.criticality == Level(1))
            .count();
        if critical <= 2 {
            let found = outcome.parameters.virtual_deadlines.is_some();
            assert_eq!(found, some_whole_deadlines(&tasks, sums), "{tasks:?}");
        }
        whole += u32::from(outcome.parameters.virtual_deadlines.is_some());
        let one = Ratio {
            numerator: 1,
            denominator: 1,
        };
        match outcome.parameters.deadline_factor {
            Some(factor) if factor == one => plain += 1,
            _ => shortened += 1,
        }
        for (task, deadline) in tasks
            .iter()
            .zip(outcome.parameters.virtual_deadlines.iter().flatten())
        {
            assert!(*deadline > Duration::ZERO && *deadline <= task.period);
            assert!(task.criticality == Level(1) || *deadline == task.period);
        }
    }
    println!(
        "plain {plain}, shortened {shortened} ({whole} whole), rejected {rejected}, 3/4 {util}"
    );
    assert!(
        [plain, shortened, rejected, util]
            .iter()
            .all(|&count| count > 500)
    );
    assert!(whole > plain + shortened / 4);
}

/// Sets that pass with x < 1 and have whole virtual deadlines, under random legal releases and
/// overruns.
#[test]
fn accepted_sets_meet_their_deadlines_in_random_runs() {
    let mut random = Random::new(42);
    let mut runs = 0;
    for _ in 0..20_000 {
        let tasks = random_tasks(&mut random);
        let outcome = analyse("edf-vd", &problem(2, tasks.clone()));
        let shortened = outcome
            .parameters
            .deadline_factor
            .is_some_and(|x| x.denominator > 1);
        let Some(deadlines) = deadlines(&outcome).filter(|_| shortened) else {
            continue;
        };
        for _ in 0..4 {
            let order = Order::VirtualDeadlines(&deadlines);
            assert!(
                !misses(&tasks, &order, 400, &mut random),
                "{tasks:?} {deadlines:?}"
            );
            runs += 1;
        }
    }
    println!("{runs} runs");
    assert!(runs > 500);
}

fn given(tasks: &[Task], deadlines: &[u64]) -> Outcome {
    let deadlines = deadlines.iter().copied().map(Duration::from_nanos);
    let set = problem(2, tasks.to_vec());
    let set = set
        .with(&Parameters {
            virtual_deadlines: Some(deadlines.collect()),
            ..Parameters::default()
        })
        .unwrap();
    analyse("edf-vd-util", &set);
    analyse("edf-vd", &set)
}

/// What the test itself chooses is 6 and 60; each is needed to the last nanosecond.
#[test]
fn given_virtual_deadlines_are_decided_about() {
    let tasks = [low(2, 1), high(10, 1, 5), high(100, 20, 20)];
    let chosen = given(&tasks, &[2, 6, 60]);
    assert_eq!(chosen.verdict, Verdict::Schedulable);
    assert_eq!(deadlines(&chosen), Some(vec![2, 6, 60]));
    assert_eq!(chosen.parameters.deadline_factor, None);
    for other in [[2, 5, 60], [2, 7, 60], [2, 6, 59], [2, 6, 61], [2, 10, 100]] {
        let outcome = given(&tasks, &other);
        assert_eq!(outcome.verdict, Verdict::NotProven, "{other:?}");
        assert_eq!(outcome.parameters, vestal_analysis::Parameters::default());
    }
    assert_eq!(
        given(&tasks, &[2, 10, 100]).why.unwrap().to_string(),
        "with these virtual deadlines the tasks ask for 0.800000 of the CPU in mode 0 and for \
         1.200000 in mode 1"
    );
    assert_eq!(
        given(&tasks, &[1, 6, 60]).why,
        Some(Reason::LowVirtualDeadline { task: TaskId(0) })
    );
}

#[test]
fn virtual_deadlines_are_one_for_each_task_positive_and_not_after_the_deadline() {
    let with = |deadlines: &[u64]| {
        let deadlines = deadlines.iter().copied().map(Duration::from_nanos);
        problem(2, vec![low(2, 1), high(10, 1, 5)]).with(&Parameters {
            virtual_deadlines: Some(deadlines.collect()),
            ..Parameters::default()
        })
    };
    assert!(with(&[2, 10]).is_ok());
    for wrong in [&[2][..], &[2, 6, 6], &[2, 0], &[2, 11], &[3, 10]] {
        assert!(with(wrong).is_err(), "{wrong:?}");
    }
}

/// Both sums of the theorem are below 1, 3/9 + 1/10 + 1/10 and 1 * 1/10 + 3/1000 + 8/10; yet of the
/// ten units after a common release the critical tasks want 3 + 8.
#[test]
fn a_short_virtual_deadline_of_a_long_period_takes_from_the_others() {
    let tasks = [low(10, 1), high(1000, 3, 3), high(10, 1, 8)];
    assert!(passes("edf-vd", &tasks));
    let outcome = given(&tasks, &[10, 9, 10]);
    assert_eq!(outcome.verdict, Verdict::NotProven);
    assert_eq!(
        outcome.why.unwrap().to_string(),
        "with these virtual deadlines the tasks ask for 0.533333 of the CPU in mode 0 and for \
         1.233333 in mode 1"
    );
    let order = Order::VirtualDeadlines(&[10, 9, 10]);
    let mut random = Random::new(7);
    let late = (0..200).any(|_| misses(&tasks, &order, 400, &mut random));
    assert!(late, "the refused virtual deadlines miss");
}

/// The two conditions in fractions of machine words, each m_i as the documentation has it.
fn conditions_accept(tasks: &[Task], given: &[u64]) -> bool {
    let pairs = || tasks.iter().zip(given);
    let critical = |task: &Task| task.criticality == Level(1);
    let share = |task: &Task, level, over: u64| {
        Share(task.wcet.at(Level(level)).as_nanos().into(), over.into())
    };
    if pairs().any(|(task, due)| !critical(task) && *due != task.period.as_nanos()) {
        return false;
    }
    let mode_0 = pairs().fold(Share(0, 1), |sum, (task, &due)| {
        sum.plus(share(task, 0, due))
    });
    let x = pairs().filter(|(task, _)| critical(task));
    let x = x.fold(Share(0, 1), |x, (task, &due)| {
        let ratio = Share(due.into(), task.period.as_nanos().into());
        if ratio.at_most(x) { x } else { ratio }
    });
    let mode_1 = pairs().fold(Share(0, 1), |sum, (task, &due)| {
        let period = task.period.as_nanos();
        if !critical(task) {
            return sum.plus(share(task, 0, period).times(x));
        }
        let own = share(task, 1, period);
        let is_rounded = !Share(i128::from(due) + 1, 1).at_most(x.times(Share(period.into(), 1)));
        let dense = share(task, 0, due).times(x);
        let counts = if is_rounded || dense.at_most(own) {
            own
        } else {
            dense
        };
        sum.plus(counts)
    });
    mode_0.at_most(ONE) && mode_1.at_most(ONE)
}

/// What is chosen is accepted when it is given; other deadlines are decided about as the conditions
/// say; and what is accepted survives random runs.
#[test]
fn given_virtual_deadlines_follow_the_conditions_and_keep_their_guarantee() {
    let mut random = Random::new(43);
    let (mut accepted, mut refused, mut again) = (0, 0, 0);
    for _ in 0..20_000 {
        let tasks = random_tasks(&mut random);
        let chosen = analyse("edf-vd", &problem(2, tasks.clone()));
        let base = deadlines(&chosen);
        if let Some(base) = &base {
            assert_eq!(
                given(&tasks, base).verdict,
                Verdict::Schedulable,
                "{tasks:?}"
            );
            again += 1;
        }
        let draw = |(task, due): (&Task, u64)| {
            if task.criticality == Level(0) || random.once_in(3) {
                return due;
            }
            random.between(1, task.period.as_nanos())
        };
        let periods = || tasks.iter().map(|task| task.period.as_nanos());
        let base = base.unwrap_or_else(|| periods().collect());
        let drawn: Vec<u64> = tasks.iter().zip(base).map(draw).collect();
        let outcome = given(&tasks, &drawn);
        let holds = outcome.verdict == Verdict::Schedulable;
        assert_eq!(
            holds,
            conditions_accept(&tasks, &drawn),
            "{tasks:?} {drawn:?}"
        );
        if !holds {
            refused += 1;
            continue;
        }
        accepted += 1;
        let order = Order::VirtualDeadlines(&drawn);
        assert!(
            !misses(&tasks, &order, 300, &mut random),
            "{tasks:?} {drawn:?}"
        );
    }
    println!("{again} chosen again, {accepted} others accepted, {refused} refused");
    assert!(again > 2_000 && accepted > 1_000 && refused > 1_000);
}
