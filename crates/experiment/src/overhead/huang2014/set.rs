//! The task set of section 5.2 of Huang, Gill and Lu (2014), which the paper describes in one sentence:
//! random, 32 tasks, 4 levels, a hyperperiod of 1000 ms, schedulable under every policy; measured are
//! subsets of 4, 8, ..., 32 tasks with equal numbers at each level.
//!
//! The rest is filled in as follows. Criticalities, execution times and D = T are those of the paper's
//! recipe (section 4.1, [`vestal_workload::generate::huang2014`]) with CF = 1.5. Periods are divisors of
//! 1000 ms, all as likely, not below 25 ms. Utilisations are uniformly distributed over all vectors with the
//! wanted sum and at least 0.005 each (UUniFast above that): period transformation then cuts no slice
//! shorter than 0.005 * 25 ms = 125 us, twice what Linux can enforce. A subset is the first n tasks, whose
//! criticalities take turns.
//!
//! Accepted is a set with a hyperperiod of exactly 1000 ms, all of whose subsets are proved schedulable by
//! every test of [`TESTS`], and have after their first busy period at least a tenth of its length
//! until the next release. That is the paper's "so that the busy intervals would not vary": where a policy's
//! overhead reached the next release, that job would belong to the busy period of this policy only.
//!
//! Such a set is found by trying utilisations from high to low and numbers from 0 on. [`CHOSEN`] is what that
//! search found when zero-slack scheduling was proved by its form alone; with the proof by levels it finds
//! one at 0.7 already, and a test repeats that. The set stays, so that measurements can be compared.

use crate::overhead::busy_period::{BusyPeriod, first_busy_period};
use vestal_analysis::{Problem, Scratch, find};
use vestal_core::{Duration, Level, LevelSet, Service, Task, Wcet};
use vestal_workload::TaskSet;
use vestal_workload::generate::periods::Periods;
use vestal_workload::generate::utilization::uunifast;
use vestal_workload::generate::{Random, derived_seed, task_set};

/// The numbers of tasks that are measured.
pub const SIZES: [usize; 8] = [4, 8, 12, 16, 20, 24, 28, 32];

/// How many criticality levels.
pub const LEVELS: usize = 4;

/// The seed of the series of sets.
pub const SEED: u64 = 1;

/// The tests that have to prove every subset, with their variants: those of the policies `smc`, `pt`, `zss`
/// (with `instants=tightened`), `amc` and `plrs`.
pub const TESTS: [(&str, Option<&str>); 5] = [
    ("zss", Some("tightened")),
    ("smc", None),
    ("pt", None),
    ("amc-rtb", None),
    ("fjp-mode", None),
];

const TASKS: usize = 32;
const TICK_NANOS: u64 = 1_000;
const HYPERPERIOD_TICKS: u64 = 1_000_000;
/// The same as a time.
pub const HYPERPERIOD: Duration = Duration::from_nanos(HYPERPERIOD_TICKS * TICK_NANOS);
const PERIOD_TICKS_MIN: u64 = 25_000;
/// Of a task, in thousandths.
const UTILIZATION_MIN_PERMILLE: u32 = 5;
/// CF.
const FACTOR: (u64, u64) = (3, 2);
/// The least time to the next release, as a part of the busy period: one over this.
const ROOM: u64 = 10;

/// Which set of the series: a sum of utilisations at level 0 in thousandths, and a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Sum of C(0)/T in thousandths, before rounding.
    pub utilization_permille: u32,
    /// The number of the set among those of this utilisation.
    pub index: u64,
}

/// The set that is measured: the head of this file says where it comes from.
pub const CHOSEN: Candidate = Candidate {
    utilization_permille: 400,
    index: 19_722,
};

/// What is tried, in this order.
pub const UTILIZATIONS_PERMILLE: [u32; 9] = [700, 650, 600, 550, 500, 450, 400, 350, 300];

/// Sets tried at each utilisation.
pub const TRIES: u64 = 50_000;

/// The first acceptable set, trying utilisations in their order and numbers from 0 on.
#[must_use]
pub fn search(utilizations_permille: &[u32], tries: u64) -> Option<Candidate> {
    let mut scratch = Scratch::default();
    let mut all = utilizations_permille.iter().flat_map(|&permille| {
        (0..tries).map(move |index| Candidate {
            utilization_permille: permille,
            index,
        })
    });
    all.find(|candidate| is_acceptable(&tasks(*candidate), &mut scratch))
}

/// The 32 tasks of a candidate; O(n).
#[must_use]
pub fn tasks(candidate: Candidate) -> Vec<Task> {
    let permille = candidate.utilization_permille;
    let mut random = Random::new(derived_seed(SEED, &[u64::from(permille), candidate.index]));
    let least = f64::from(UTILIZATION_MIN_PERMILLE) / 1000.0;
    let rest = f64::from(permille) / 1000.0 - least * f64::from(TASKS as u32);
    let periods = Periods::List(divisors());
    let shares = uunifast(TASKS, rest, &mut random);
    (1..)
        .zip(shares)
        .map(|(number, share)| task(number, periods.draw(&mut random), share + least))
        .collect()
}

/// The divisors of the hyperperiod that are periods, in ticks, shortest first.
fn divisors() -> Vec<u64> {
    (1..=HYPERPERIOD_TICKS / PERIOD_TICKS_MIN)
        .rev()
        .filter(|parts| HYPERPERIOD_TICKS.is_multiple_of(*parts))
        .map(|parts| HYPERPERIOD_TICKS / parts)
        .collect()
}

fn task(number: usize, period: u64, share: f64) -> Task {
    let criticality = number % LEVELS;
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the product is between 0 and the period, which is exact"
    )]
    let normal = ((period as f64 * share) as u64).max(1);
    let own = normal * FACTOR.0 / FACTOR.1;
    let service = |ticks: u64| Service::from_nanos(ticks * TICK_NANOS);
    let mut values = [service(normal); vestal_core::model::LEVELS_MAX];
    if criticality > 0 {
        for value in values.iter_mut().skip(criticality) {
            *value = service(own);
        }
    }
    let period = Duration::from_nanos(period * TICK_NANOS);
    Task {
        criticality: Level(u8::try_from(criticality).unwrap_or(u8::MAX)),
        period,
        deadline: period,
        // The values never decrease: the factor is at least 1.
        wcet: Wcet::new(&values).unwrap_or(Wcet::constant(values[0])),
        degraded: None,
    }
}

fn is_acceptable(tasks: &[Task], scratch: &mut Scratch) -> bool {
    if hyperperiod_ticks(tasks) != Some(HYPERPERIOD_TICKS) {
        return false;
    }
    // The whole set first: it is the hardest.
    let sizes = SIZES.iter().rev();
    sizes.into_iter().all(|&size| {
        let subset = &tasks[..size.min(tasks.len())];
        has_room(&busy_period(subset)) && are_proved(subset, scratch)
    })
}

/// Whether every one of [`TESTS`] proves these tasks schedulable.
#[must_use]
pub fn are_proved(tasks: &[Task], scratch: &mut Scratch) -> bool {
    let Some(levels) = LevelSet::new(LEVELS) else {
        return false;
    };
    let Ok(problem) = Problem::new(tasks.to_vec(), levels) else {
        return false;
    };
    TESTS.iter().all(|(name, variant)| {
        find(name, *variant).is_some_and(|test| test.is_sound() && test.accepts(&problem, scratch))
    })
}

/// The first busy period of such tasks.
fn busy_period(tasks: &[Task]) -> BusyPeriod {
    first_busy_period(tasks, HYPERPERIOD)
}

/// Whether there is time for overhead before the next release.
fn has_room(busy: &BusyPeriod) -> bool {
    let (length, next) = (busy.length.as_nanos(), busy.next_release.as_nanos());
    next.saturating_sub(length) >= length / ROOM
}

fn hyperperiod_ticks(tasks: &[Task]) -> Option<u64> {
    let hyperperiod = task_set(String::new(), LEVELS, tasks).hyperperiod()?;
    Some(hyperperiod.as_nanos() / TICK_NANOS)
}

/// The subset of `size` tasks of the chosen set, as a file holds it.
#[must_use]
pub fn subset(size: usize) -> TaskSet {
    let tasks = tasks(CHOSEN);
    let name = format!(
        "huang2014 section 5.2, {size} of {TASKS} tasks, U = {}, set {}",
        f64::from(CHOSEN.utilization_permille) / 1000.0,
        CHOSEN.index
    );
    task_set(name, LEVELS, &tasks[..size.min(tasks.len())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chosen_set_is_acceptable_and_the_search_goes_beyond_it() {
        assert!(is_acceptable(&tasks(CHOSEN), &mut Scratch::default()));
        let found = search(&UTILIZATIONS_PERMILLE, TRIES).unwrap();
        assert_eq!((found.utilization_permille, found.index), (700, 2_130));
    }

    #[test]
    fn the_set_is_as_the_paper_says() {
        let tasks = tasks(CHOSEN);
        assert_eq!(hyperperiod_ticks(&tasks), Some(HYPERPERIOD_TICKS));
        for size in SIZES {
            let set = subset(size);
            assert_eq!(set.tasks.len(), size);
            for level in (0..4).map(Level) {
                let of_level = set.tasks.iter().filter(|task| task.criticality == level);
                assert_eq!(of_level.count(), size / LEVELS);
            }
            assert!(are_proved(&tasks[..size], &mut Scratch::default()));
        }
        let sum: f64 = tasks
            .iter()
            .map(|task| {
                let least = task.period.as_nanos() * u64::from(UTILIZATION_MIN_PERMILLE) / 1000;
                let demand = task.wcet.at(Level::LOWEST).as_nanos();
                assert!(demand + TICK_NANOS > least);
                demand as f64 / task.period.as_nanos() as f64
            })
            .sum();
        let wanted = f64::from(CHOSEN.utilization_permille) / 1000.0;
        assert!((wanted - 0.001..=wanted).contains(&sum), "{sum}");
    }

    /// The busy period, a microsecond at a time: the slow twin.
    fn simulated(tasks: &[Task]) -> BusyPeriod {
        let (mut pending, mut jobs, mut now) = (0, 0, 0);
        loop {
            for task in tasks {
                if now % (task.period.as_nanos() / TICK_NANOS) == 0 {
                    // A release at the very end begins the next one.
                    pending += task.wcet.at(Level::LOWEST).as_nanos() / TICK_NANOS;
                    jobs += 1;
                }
            }
            now += 1;
            pending -= 1;
            if pending == 0 {
                break;
            }
        }
        let mut next = now;
        while !tasks
            .iter()
            .any(|task| next % (task.period.as_nanos() / TICK_NANOS) == 0)
        {
            next += 1;
        }
        let time = |ticks: u64| Duration::from_nanos(ticks * TICK_NANOS);
        BusyPeriod {
            length: time(now),
            next_release: time(next),
            jobs,
        }
    }

    #[test]
    fn the_busy_period_is_that_of_a_simulation() {
        for index in 0..5 {
            let tasks = tasks(Candidate { index, ..CHOSEN });
            for size in SIZES {
                let subset = &tasks[..size];
                assert_eq!(busy_period(subset), simulated(subset), "{index} {size}");
            }
        }
    }

    #[test]
    fn sets_with_another_hyperperiod_or_without_room_are_not_accepted() {
        let mut scratch = Scratch::default();
        let tasks = tasks(CHOSEN);
        assert!(is_acceptable(&tasks, &mut scratch));
        let halved: Vec<Task> = tasks
            .iter()
            .map(|task| Task {
                period: Duration::from_nanos(task.period.as_nanos() / 2),
                deadline: Duration::from_nanos(task.period.as_nanos() / 2),
                ..*task
            })
            .collect();
        assert!(!is_acceptable(&halved, &mut scratch));
        let full = BusyPeriod {
            length: Duration::from_millis(100),
            next_release: Duration::from_millis(109),
            jobs: 1,
        };
        assert!(!has_room(&full));
    }
}
