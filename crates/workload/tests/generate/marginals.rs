//! What every recipe and every rule for periods draws, against the law that its description states.
//!
//! Each drawn number becomes its place in its law: the law's distribution function, and where the
//! law has atoms (whole nanoseconds, lists, counts) a place within the atom drawn by the test
//! itself. Under the law places are uniform on (0, 1) (Rosenblatt 1952), whatever the law is, and
//! a chi-square test with twenty bins says whether they are. Of each vector only one component counts,
//! and of each set one task, where the others depend on it; so places are independent.
//!
//! Seeds are fixed, so a test passes always or never. A correct generator had a probability of 10^-6
//! to fail one of these comparisons; there are fewer than forty. Beside each stands a variant of the
//! draws or of the law, a mistake that one could make, which the same comparison has to refute.

use crate::distributions::{DRAWN, critical};
use vestal_workload::TaskSet;
use vestal_workload::generate::periods::Periods;
use vestal_workload::generate::utilization::uunifast;
use vestal_workload::generate::{Random, Recipe, derived_seed};
use vestal_workload::model::{ServerKind, TaskSpec};

const BINS: usize = 20;

/// Places of drawn numbers in their law.
struct Places {
    within: Random,
    counts: [f64; BINS],
}

impl Places {
    fn new() -> Self {
        Self {
            within: Random::new(77),
            counts: [0.0; BINS],
        }
    }

    /// A number below which the law has the probability `below`, and `upto` with the number itself.
    fn atom(&mut self, below: f64, upto: f64) {
        let place = below + (upto - below) * self.within.unit();
        // A number that the law does not have lies outside, and makes its bin too heavy.
        self.counts[((place * BINS as f64).max(0.0) as usize).min(BINS - 1)] += 1.0;
    }

    /// One of `count` values that are all as likely.
    fn one_of(&mut self, at: usize, count: usize) {
        self.atom(at as f64 / count as f64, (at + 1) as f64 / count as f64);
    }

    /// Whether something with this probability happened.
    fn event(&mut self, happened: bool, probability: f64) {
        match happened {
            true => self.atom(0.0, probability),
            false => self.atom(probability, 1.0),
        }
    }

    fn are_uniform(&self) -> bool {
        let total: f64 = self.counts.iter().sum();
        assert!(total >= 2_000.0, "{total} numbers show nothing");
        let expected = total / BINS as f64;
        let part = |count: &f64| (count - expected).powi(2) / expected;
        self.counts.iter().map(part).sum::<f64>() <= critical(BINS - 1)
    }
}

/// Whether what `draw` gives has the law that `place` knows.
fn fits<T>(mut draw: impl FnMut(u64) -> T, mut place: impl FnMut(&mut Places, T)) -> bool {
    let mut places = Places::new();
    for index in 0..DRAWN as u64 {
        place(&mut places, draw(index));
    }
    places.are_uniform()
}

/// The sets of a recipe with these settings.
fn sets(name: &str, settings: &[(&str, &str)]) -> impl FnMut(u64) -> TaskSet {
    let mut recipe = Recipe::named(name).unwrap();
    for (parameter, value) in settings {
        recipe.set(parameter, value).unwrap();
    }
    move |index| recipe.draw(derived_seed(9, &[index])).unwrap()
}

/// Beta(1, n - 1): a component of a vector that is uniform among those with this sum.
fn beta(n: usize, total: f64) -> impl Fn(f64) -> f64 {
    move |x| 1.0 - (1.0 - (x / total).clamp(0.0, 1.0)).powi(n as i32 - 1)
}

/// floor(T u), at least one tick, where u has the distribution function `law`.
fn execution_time(places: &mut Places, ticks: u64, period: u64, law: impl Fn(f64) -> f64) {
    let share = |ticks: u64| ticks as f64 / period as f64;
    let below = if ticks == 1 { 0.0 } else { law(share(ticks)) };
    places.atom(below, law(share(ticks + 1)));
}

/// floor(e^U / step) * step, where U is uniform between the logarithms of `least` and `most + step`.
fn log_uniform(places: &mut Places, period: u64, [least, most, step]: [u64; 3]) {
    let (low, high) = ((least as f64).ln(), ((most + step) as f64).ln());
    let law = |period: u64| ((period as f64).ln() - low) / (high - low);
    places.atom(law(period), law(period + step));
}

fn wcet(task: &TaskSpec, level: usize) -> u64 {
    task.wcet[level].unwrap().as_nanos()
}

fn share(task: &TaskSpec, level: usize) -> f64 {
    wcet(task, level) as f64 / task.period.as_nanos() as f64
}

fn is_high(task: &TaskSpec) -> bool {
    task.criticality.index() == 1
}

#[test]
fn harmonic_and_listed_periods_are_all_as_likely() {
    let harmonic = Periods::Harmonic {
        base: 10,
        doublings: 6,
    };
    let of_power = |places: &mut Places, period: u64| {
        assert!(period.is_multiple_of(10) && (period / 10).is_power_of_two());
        places.one_of((period / 10).ilog2() as usize, 7);
    };
    let mut random = Random::new(1);
    assert!(fits(|_| harmonic.draw(&mut random), of_power));
    // Rounding down numbers that are uniform between the ends favours the long periods.
    let rounded = |_| 10 << random.between(1.0, 128.0).log2() as u32;
    assert!(!fits(rounded, of_power));

    let values = [5, 20, 70, 200, 1000];
    let of_list = |places: &mut Places, period: u64| {
        let at = values.iter().position(|&value| value == period).unwrap();
        places.one_of(at, values.len());
    };
    let list = Periods::List(values.to_vec());
    assert!(fits(|_| list.draw(&mut random), of_list));
    // The list's ends are half as likely where a place between them is rounded to the nearest.
    let nearest = |_| values[random.between(0.0, 4.0).round() as usize];
    assert!(!fits(nearest, of_list));
}

#[test]
fn periods_of_a_grid_have_their_law_at_every_step() {
    let [least, most, step] = [10, 100, 5];
    let mut random = Random::new(2);
    let uniform = Periods::Uniform { least, most, step };
    let of_step = |places: &mut Places, period: u64| {
        places.one_of(usize::try_from(period / 5 - 2).unwrap(), 19);
    };
    let law = |places: &mut Places, period: u64| log_uniform(places, period, [least, most, step]);
    let logarithmic = Periods::LogUniform { least, most, step };
    assert!(fits(|_| uniform.draw(&mut random), of_step));
    assert!(fits(|_| logarithmic.draw(&mut random), law));
    assert!(!fits(|_| uniform.draw(&mut random), law));
    assert!(!fits(|_| logarithmic.draw(&mut random), of_step));
}

#[test]
fn huang_2014_has_its_periods_and_utilizations() {
    let hundreds = |places: &mut Places, set: TaskSet| {
        let ticks = set.tasks[3].period.as_nanos() / 1000;
        assert_eq!(ticks % 100, 0);
        places.one_of(usize::try_from(ticks / 100 - 1).unwrap(), 100);
    };
    let utilization = |places: &mut Places, task: &TaskSpec| {
        let (ticks, period) = (wcet(task, 0) / 1000, task.period.as_nanos() / 1000);
        execution_time(places, ticks, period, beta(20, 0.5));
    };
    assert!(fits(sets("huang2014", &[]), hundreds));
    assert!(fits(sets("huang2014", &[]), |places, set| utilization(
        places,
        &set.tasks[7]
    )));
    // Log-uniform in the same range.
    let mut wrong = sets(
        "standard",
        &[
            ("period_min", "100us"),
            ("period_max", "10ms"),
            ("granularity", "100us"),
        ],
    );
    assert!(!fits(&mut wrong, hundreds));
    // Numbers that are scaled to their sum are not uniform among those with that sum.
    let mut random = Random::new(3);
    let mut draw = sets("huang2014", &[]);
    let scaled = |index| {
        let mut task = draw(index).tasks.swap_remove(7);
        let drawn: Vec<f64> = (0..20).map(|_| random.unit()).collect();
        let share = 0.5 * drawn[0] / drawn.iter().sum::<f64>();
        let ticks = (task.period.as_nanos() as f64 / 1000.0 * share) as u64;
        task.wcet[0] = Some(vestal_core::Service::from_nanos(ticks.max(1) * 1000));
        task
    };
    assert!(!fits(scaled, |places, task| utilization(places, &task)));
}

/// Where u is uniform in [0.05, 0.5] and Z in [1, 4], both drawn again while Z u > 1: the density of u
/// is proportional to 3 up to 1/4, and to 1/u - 1 from there.
fn sigrist_low(u: f64) -> f64 {
    let mass = |u: f64| {
        let flat = 3.0 * (u.min(0.25) - 0.05);
        let beyond = u.max(0.25);
        flat + (beyond / 0.25).ln() - (beyond - 0.25)
    };
    mass(u) / mass(0.5)
}

#[test]
fn sigrist_2015_has_its_levels_utilizations_and_periods() {
    let default = || sets("sigrist2015", &[]);
    // The first task of a set is never scaled down: it uses less than the target.
    assert!(fits(default(), |places, set| places
        .event(is_high(&set.tasks[0]), 0.4)));
    let more = || sets("sigrist2015", &[("share_high", "0.43")]);
    assert!(!fits(more(), |places, set| places
        .event(is_high(&set.tasks[0]), 0.4)));

    let low = |places: &mut Places, set: TaskSet, law: &dyn Fn(f64, bool) -> f64| {
        let place = law(share(&set.tasks[0], 0), is_high(&set.tasks[0]));
        places.atom(place, place);
    };
    let uniform = |u: f64| (u - 0.05) / 0.45;
    let right = |u: f64, high: bool| if high { sigrist_low(u) } else { uniform(u) };
    assert!(fits(default(), |places, set| low(places, set, &right)));
    // A reading that draws Z alone again would leave u uniform.
    assert!(!fits(default(), |places, set| low(places, set, &|u, _| {
        uniform(u)
    })));

    let factor = |places: &mut Places, set: TaskSet, most: &dyn Fn(f64) -> f64| {
        let task = &set.tasks[0];
        if is_high(task) {
            let (low, high) = (share(task, 0), share(task, 1));
            let place = (high / low - 1.0) / (most(low) - 1.0);
            places.atom(place, place);
        }
    };
    assert!(fits(default(), |places, set| factor(places, set, &|low| {
        (1.0 / low).min(4.0)
    })));
    assert!(!fits(default(), |places, set| factor(places, set, &|_| {
        4.0
    })));

    // 200, 300, 400, 600, 800 ms, by the chains they are drawn from; in 24ths.
    let period = |places: &mut Places, set: TaskSet, weights: [f64; 5]| {
        let hundreds = set.tasks[0].period.as_nanos() / 100_000_000;
        let at = [2, 3, 4, 6, 8]
            .iter()
            .position(|&value| value == hundreds)
            .unwrap();
        let before: f64 = weights[..at].iter().sum();
        let total: f64 = weights.iter().sum();
        places.atom(before / total, (before + weights[at]) / total);
    };
    assert!(fits(default(), |places, set| period(
        places,
        set,
        [5.0, 3.0, 5.0, 6.0, 5.0]
    )));
    assert!(!fits(default(), |places, set| period(
        places, set, [1.0; 5]
    )));
}

/// Binomial(n, p) up to `most`.
fn binomial(n: usize, p: f64, most: usize) -> f64 {
    let mut term = (1.0 - p).powi(n as i32);
    let mut sum = term;
    for k in 1..=most {
        term *= (n + 1 - k) as f64 / k as f64 * p / (1.0 - p);
        sum += term;
    }
    sum
}

fn of_level(set: &TaskSet, level: usize) -> Vec<&TaskSpec> {
    let tasks = set.tasks.iter();
    tasks
        .filter(|task| task.criticality.index() == level)
        .collect()
}

#[test]
fn herman_2012_has_its_levels_and_periods() {
    let default = || sets("herman2012", &[]);
    let millis = |task: &TaskSpec| task.period.as_nanos() / 1_000_000;
    // One task is of C anyhow, and of 17 others a third each; four or more can use 3.9 CPUs.
    let count = |places: &mut Places, set: TaskSet, least: usize| {
        let drawn = of_level(&set, 1).len() - 1;
        let none = if least == 0 {
            0.0
        } else {
            binomial(17, 1.0 / 3.0, least - 1)
        };
        let law = |upto: f64| (upto - none) / (1.0 - none);
        let below = if drawn == 0 {
            0.0
        } else {
            binomial(17, 1.0 / 3.0, drawn - 1)
        };
        places.atom(law(below), law(binomial(17, 1.0 / 3.0, drawn)));
    };
    assert!(fits(default(), |places, set| count(places, set, 3)));
    assert!(!fits(default(), |places, set| count(places, set, 0)));

    let first = |places: &mut Places, set: TaskSet, values: [u64; 3]| {
        let at = values
            .iter()
            .position(|&value| value == millis(of_level(&set, 3)[0]));
        at.into_iter().for_each(|at| places.one_of(at, 3));
    };
    assert!(fits(default(), |places, set| first(
        places,
        set,
        [25, 50, 100]
    )));
    // The longest period of level A is not as likely as the others.
    let longest = |places: &mut Places, set: TaskSet| {
        let longest = of_level(&set, 3).into_iter().map(millis).max().unwrap();
        places.one_of(
            [25, 50, 100]
                .iter()
                .position(|&value| value == longest)
                .unwrap(),
            3,
        );
    };
    assert!(!fits(default(), longest));

    let multiple = |places: &mut Places, set: TaskSet, hyperperiod: &dyn Fn(&TaskSet) -> u64| {
        let step = hyperperiod(&set);
        let at = millis(of_level(&set, 2)[0]) / step - 1;
        places.one_of(
            usize::try_from(at).unwrap(),
            usize::try_from(300 / step).unwrap(),
        );
    };
    let longest = |set: &TaskSet| of_level(set, 3).into_iter().map(millis).max().unwrap();
    assert!(fits(default(), |places, set| multiple(
        places, set, &longest
    )));
    assert!(!fits(default(), |places, set| multiple(
        places,
        set,
        &|_| 25
    )));

    let fives = |places: &mut Places, set: TaskSet| {
        let at = millis(of_level(&set, 1)[0]) / 5 - 2;
        places.one_of(usize::try_from(at).unwrap(), 19);
    };
    assert!(fits(default(), fives));
    let of_b = |places: &mut Places, set: TaskSet| {
        let at = (millis(of_level(&set, 2)[0]) / 5 - 2).min(18);
        places.one_of(usize::try_from(at).unwrap(), 19);
    };
    assert!(!fits(default(), of_b));
}

#[test]
fn herman_2012_shares_out_the_capacity_of_a_level() {
    // 0.3 and 0.3 CPUs for A and B; their numbers of tasks decide which Beta law.
    let component = |places: &mut Places, set: TaskSet, level: usize, more: usize| {
        let tasks = set.tasks.iter();
        let tasks: Vec<&TaskSpec> = tasks
            .filter(|task| task.criticality.index() == level)
            .collect();
        if tasks.len() > 1 {
            let place = beta(tasks.len() + more, 0.3)(share(tasks[0], 0));
            places.atom(place, place);
        }
    };
    for level in [3, 2] {
        assert!(fits(sets("herman2012", &[]), |places, set| component(
            places, set, level, 0
        )));
        assert!(!fits(sets("herman2012", &[]), |places, set| component(
            places, set, level, 1
        )));
    }
}

/// U with the I/O in it, or the I/O on top of it.
#[test]
fn missimer_shares_out_what_its_total_says() {
    let main = |places: &mut Places, set: TaskSet, total: f64| {
        let task = &set.tasks[0];
        let period = task.period.as_nanos();
        execution_time(places, wcet(task, 0), period, beta(15, total));
    };
    for (total, right, wrong) in [("all", 0.45, 0.5), ("main", 0.5, 0.45)] {
        let settings = [("total", total)];
        let drawn = || sets("missimer", &settings);
        assert!(fits(drawn(), |places, set| main(places, set, right)));
        assert!(!fits(drawn(), |places, set| main(places, set, wrong)));
    }
}

#[test]
fn missimer_has_its_periods_utilizations_and_servers() {
    let default = || sets("missimer", &[]);
    let period = |places: &mut Places, set: TaskSet| {
        log_uniform(
            places,
            set.tasks[4].period.as_nanos(),
            [1_000_000, 100_000_000, 1],
        );
    };
    assert!(fits(default(), period));
    let tenth = [
        ("period_min", "1ms"),
        ("period_max", "90ms"),
        ("granularity", "1ns"),
    ];
    assert!(!fits(sets("standard", &tenth), period));
    assert!(fits(default(), |places, set| places
        .event(is_high(&set.tasks[14]), 0.5)));
    let more = || sets("missimer", &[("share_high", "0.53")]);
    assert!(!fits(more(), |places, set| places
        .event(is_high(&set.tasks[14]), 0.5)));

    let io = |places: &mut Places, set: TaskSet, n: usize| {
        let ServerKind::Pibs { utilization, .. } = &set.servers[16].kind else {
            panic!("the servers of PIBS stand after those of the tasks")
        };
        let used = utilization[0].unwrap().approximate();
        execution_time(
            places,
            (used * 1e9).round() as u64,
            1_000_000_000,
            beta(n, 0.05),
        );
    };
    assert!(fits(default(), |places, set| io(places, set, 5)));
    assert!(!fits(default(), |places, set| io(places, set, 6)));
    let mut random = Random::new(4);
    // Whom the first PIBS serves; in the wrong variant the next of its level after a random task.
    let mut served = |set: &TaskSet, next: bool| {
        let level = set.servers[15].criticality;
        let among: Vec<usize> = (0..15)
            .filter(|&at| set.tasks[at].criticality == level)
            .collect();
        let ServerKind::Pibs { serves, .. } = &set.servers[15].kind else {
            panic!("the servers of PIBS stand after those of the tasks")
        };
        let from = random.below(15) as usize;
        let after = among.iter().find(|&&at| at >= from).or(among.first());
        let chosen = if next { after } else { serves.first() };
        let rank = among.iter().position(|at| Some(at) == chosen);
        rank.map(|rank| (rank, among.len()))
    };
    let rank = |places: &mut Places, found: Option<(usize, usize)>| {
        // A PIBS without a task of its level may serve any.
        found
            .into_iter()
            .for_each(|(rank, among)| places.one_of(rank, among));
    };
    let mut draw = default();
    assert!(fits(|index| served(&draw(index), false), rank));
    assert!(!fits(|index| served(&draw(index), true), rank));
}

#[test]
fn standard_has_its_levels_utilizations_and_deadlines() {
    let settings = [("utilization_high", "0.7"), ("deadlines", "constrained")];
    let both = || sets("standard", &settings);
    assert!(fits(both(), |places, set| places
        .event(is_high(&set.tasks[19]), 0.5)));
    let more = || sets("standard", &[("share_high", "0.53")]);
    assert!(!fits(more(), |places, set| places
        .event(is_high(&set.tasks[19]), 0.5)));
    let period = |places: &mut Places, set: TaskSet, step: u64| {
        log_uniform(
            places,
            set.tasks[0].period.as_nanos(),
            [10_000_000, 1_000_000_000, step],
        );
    };
    assert!(fits(both(), |places, set| period(places, set, 1_000)));
    let longer = || sets("standard", &[("period_max", "1100ms")]);
    assert!(!fits(longer(), |places, set| period(places, set, 1_000)));

    let low = |places: &mut Places, task: &TaskSpec, n: usize| {
        execution_time(places, wcet(task, 0), task.period.as_nanos(), beta(n, 0.5));
    };
    let default = || sets("standard", &[]);
    assert!(fits(default(), |places, set| low(
        places,
        &set.tasks[11],
        20
    )));
    assert!(!fits(default(), |places, set| low(
        places,
        &set.tasks[11],
        21
    )));
    // Utilisations at LO that are bounded at HI are smaller than those that are not.
    assert!(!fits(both(), |places, set| low(places, &set.tasks[11], 20)));

    let high = |places: &mut Places, set: TaskSet, more: usize| {
        let highs: Vec<&TaskSpec> = set.tasks.iter().filter(|task| is_high(task)).collect();
        if highs.len() > 1 {
            let place = beta(highs.len() + more, 0.7)(share(highs[0], 1));
            places.atom(place, place);
        }
    };
    assert!(fits(both(), |places, set| high(places, set, 0)));
    assert!(!fits(both(), |places, set| high(places, set, 1)));

    let deadline = |places: &mut Places, set: TaskSet, least: &dyn Fn(&TaskSpec) -> u64| {
        let task = &set.tasks[5];
        let (least, period) = (least(task) as f64, task.period.as_nanos() as f64);
        let law = |deadline: f64| (deadline - least) / (period - least + 1.0);
        let deadline = task.deadline.as_nanos() as f64;
        places.atom(law(deadline), law(deadline + 1.0));
    };
    let own = |task: &TaskSpec| wcet(task, task.criticality.index());
    assert!(fits(both(), |places, set| deadline(places, set, &own)));
    assert!(!fits(both(), |places, set| deadline(places, set, &|_| 0)));
}

/// Whether y, the LO share of a HI task, has its law given the HI shares of all: for two tasks with the
/// bounds a and b it is uniform between s - b (or 0) and a (or s).
#[test]
fn standard_draws_utilizations_at_lo_uniformly_below_those_at_hi() {
    let settings = [
        ("tasks", "2"),
        ("share_high", "1"),
        ("utilization", "0.4"),
        ("utilization_high", "0.6"),
    ];
    let bounded = |places: &mut Places, set: TaskSet, correct: bool| {
        let [first, second] = &set.tasks[..] else {
            panic!("two tasks")
        };
        let (a, b) = (share(first, 1), share(second, 1));
        let (least, most) = ((0.4 - b).max(0.0), a.min(0.4));
        let least = if correct { least } else { 0.0 };
        if most - least > 1e-3 {
            let place = (share(first, 0) - least) / (most - least);
            places.atom(place, place);
        }
    };
    assert!(fits(sets("standard", &settings), |places, set| bounded(
        places, set, true
    )));
    assert!(!fits(sets("standard", &settings), |places, set| bounded(
        places, set, false
    )));
}

/// The comparison itself: it takes what has the law, at a level that is known, and nothing else.
#[test]
fn the_comparison_fails_as_often_as_it_says() {
    // At a level of one in twenty (30.14 for 19 degrees) about 50 of 1000 right samples fail.
    let mut random = Random::new(8);
    let mut statistic = |n: usize| {
        let mut places = Places::new();
        for _ in 0..n {
            let place = beta(5, 1.0)(uunifast(5, 1.0, &mut random)[2]);
            places.atom(place, place);
        }
        let expected = n as f64 / BINS as f64;
        let part = |count: &f64| (count - expected).powi(2) / expected;
        places.counts.iter().map(part).sum::<f64>()
    };
    let failed = (0..1000).filter(|_| statistic(2_000) > 30.144).count();
    assert!((25..=80).contains(&failed), "{failed}");
    assert!((critical(19) - 64.0).abs() < 1.5, "{}", critical(19));
}
