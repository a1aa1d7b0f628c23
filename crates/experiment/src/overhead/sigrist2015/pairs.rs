//! Sets of which those of one number have tasks in common at each utilization and on each number of CPUs, as far as that can be, so that
//! what differs between them is less which tasks there are.
//!
//! Drawn anew for each place (section VII-A), sets of one number have nothing in common, and what FTTS takes of a CPU is first of all how
//! many frames there are, which their periods say. Here the recipe draws for one CPU, and
//!
//! - *over utilizations* from one stream of random numbers: it adds tasks until the utilization is met and scales the last one down, so
//!   that a set has all tasks of those with a lower utilization. That is how utilization grows in the paper: by more tasks.
//! - *over numbers of CPUs* the set for one CPU stays as it is, and each further CPU brings a draw of its own, with periods of the same
//!   chain and of the same utilization. Where the tasks run is for policies to find: first fit leaves CPUs empty where loads are small.
//!
//! Only such draws count as have
//!
//! - a task of each level for each CPU at the lowest utilization already, so that jobs overrun and have others to drop at every place,
//! - a task more at each higher utilization: where only execution times grow nothing happens more often, and there is nothing to find,
//! - the same frame length at all places, so that no growth is one of the number of frames: what is found to grow does so without that.
//!
//! Draws that both policies schedule at all places are a number. Which one is for one CPU is by their order: one that few others fit waits longer, so
//! that the second has as a rule no fewer jobs.

use super::plan::Plan;
use super::run::Place;
use super::set::{Judge, SEED, Use, drawn_from};
use vestal_core::Level;
use vestal_result::claim::{Finding, Verdict};
use vestal_result::shares::Measurement;
use vestal_workload::TaskSet;
use vestal_workload::generate::derived_seed;

/// What sets are derived from, so that those of one plan are not those of another. Of places drawn anew it has three numbers, here two.
const fn stream(measurement: Measurement) -> u64 {
    match measurement {
        Measurement::Shares | Measurement::Pairs | Measurement::Alternatives => 0x7061_6972,
        Measurement::Growth => 0x6772_6f77,
    }
}

/// After so many draws there are no further sets.
const TRIES: u64 = 1_000_000;

/// The tasks of one CPU, at each utilization.
#[derive(Clone, Debug, PartialEq)]
struct Load {
    sets: Vec<TaskSet>,
    /// Of each of them, in nanoseconds.
    frame: u64,
}

impl Load {
    /// The load with this number; `None` if it is none that counts.
    fn drawn(plan: &Plan, index: u64) -> Result<Option<Self>, String> {
        let seed = derived_seed(SEED, &[stream(plan.measurement), index]);
        let mut sets: Vec<TaskSet> = Vec::new();
        for &one in plan.permille {
            let set = drawn_from(seed, (1, one))?;
            // Most draws end here: the first utilization is the lowest.
            let has = |level| set.tasks.iter().any(|task| task.criticality == level);
            let follows =
                |less: &TaskSet| frame(less) == frame(&set) && less.tasks.len() < set.tasks.len();
            let counts = has(Level(0)) && has(Level(1)) && sets.last().is_none_or(follows);
            if !counts {
                return Ok(None);
            }
            sets.push(set);
        }
        let frame = sets.first().map(frame);
        Ok(frame.map(|frame| Self { sets, frame }))
    }

    fn periods(&self) -> impl Iterator<Item = u64> {
        let tasks = self.sets.iter().flat_map(|set| &set.tasks);
        tasks.map(|task| task.period.as_nanos())
    }

    /// Whether both together have the frame that each of them has, and periods of one chain.
    fn fits(&self, other: &Self) -> bool {
        let divides = |(a, b): (u64, u64)| a.is_multiple_of(b) || b.is_multiple_of(a);
        let mut pairs = self
            .periods()
            .flat_map(|a| other.periods().map(move |b| (a, b)));
        self.frame == other.frame && pairs.all(divides)
    }
}

/// The greatest common divisor of all periods, in nanoseconds.
fn frame(set: &TaskSet) -> u64 {
    let periods = set.tasks.iter().map(|task| task.period.as_nanos());
    periods.fold(0, |mut a, mut b| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    })
}

/// The tasks of these loads at a utilization, on as many CPUs.
fn joined(loads: &[Load], at: usize) -> Option<TaskSet> {
    let mut each = loads.iter().map(|load| load.sets.get(at));
    let mut set = each.next()??.clone();
    for more in each {
        set.tasks.extend(more?.tasks.iter().cloned());
    }
    for (number, task) in (1..).zip(&mut set.tasks) {
        task.name = format!("t{number}");
    }
    set.platform.cpus = u16::try_from(loads.len()).ok()?;
    set.name = format!("{} of each of {} CPUs", set.name, loads.len());
    Some(set)
}

/// The sets of one number by place, in the order of the plan.
fn by_place(plan: &Plan, loads: &[Load]) -> Vec<(Place, TaskSet)> {
    let each = plan.drawn().filter_map(|place| {
        let permille = place.permille()?;
        let at = plan.permille.iter().position(|&one| one == permille)?;
        let own = loads.get(..usize::from(place.cpus()))?;
        Some((place, joined(own, at)?))
    });
    each.collect()
}

/// The first sets of all places of a plan: of each place the same number of them. `goes_on` is asked before each draw.
///
/// # Errors
/// In words, why none are drawn or tests cannot be asked.
pub fn sets(
    judge: &mut Judge<'_>,
    plan: &Plan,
    goes_on: &mut dyn FnMut() -> bool,
) -> Result<Vec<(Place, Vec<TaskSet>)>, String> {
    let most = plan.cpus.iter().copied().max().unwrap_or(1);
    let mut found: Vec<(Place, Vec<TaskSet>)> =
        plan.drawn().map(|place| (place, Vec::new())).collect();
    let mut count = 0;
    // Loads that others are to join, in the order in which their first was drawn.
    let mut waiting: Vec<Vec<Load>> = Vec::new();
    for index in 0..TRIES {
        if count == plan.sets || !goes_on() {
            break;
        }
        let Some(load) = Load::drawn(plan, index)? else {
            continue;
        };
        let fits = |group: &Vec<Load>| group.iter().all(|one| one.fits(&load));
        let mut group = match waiting.iter().position(fits) {
            Some(at) => waiting.remove(at),
            None => Vec::new(),
        };
        group.push(load);
        if group.len() < usize::from(most) {
            waiting.push(group);
            continue;
        }
        let sets = by_place(plan, &group);
        let mut suits = true;
        for (_, set) in &sets {
            suits = suits && judge.both_accept(set, Use::Runs)?;
        }
        if suits {
            count += 1;
            for ((_, all), (_, set)) in found.iter_mut().zip(sets) {
                all.push(set);
            }
        }
    }
    Ok(found)
}

/// Of which sets a claim is judged, as the end of its text.
#[must_use]
pub const fn of_which(measurement: Measurement) -> &'static str {
    match measurement {
        Measurement::Shares | Measurement::Alternatives => "",
        Measurement::Pairs => {
            " Of pairs of sets: more utilization is more tasks, and frames are as long."
        }
        Measurement::Growth => {
            " Of pairs of sets, over all places together: more utilization is more tasks, and frames are as long."
        }
    }
}

/// The text of a claim without its end, and of which sets it is judged.
#[must_use]
pub fn split(claim: &str) -> (&str, Measurement) {
    let others = [Measurement::Pairs, Measurement::Growth].into_iter();
    let mut found = others.filter_map(|one| Some((claim.strip_suffix(of_which(one))?, one)));
    found.next().unwrap_or((claim, Measurement::Shares))
}

/// The findings of two measurements, the second of which was made for what the first left open. Where the first decides nothing the
/// second has the word, and what the first says stands beside; where both decide both stand there.
#[must_use]
pub fn with_others(first: &[Finding], second: &[Finding]) -> Vec<Finding> {
    let mut all = Vec::new();
    for own in first {
        let (text, measurement) = split(&own.claim);
        let is_of_it = |other: &&Finding| split(&other.claim).0 == text;
        let by = match measurement {
            Measurement::Shares | Measurement::Alternatives => {
                "sets that are drawn anew for each place"
            }
            Measurement::Pairs | Measurement::Growth => "pairs of sets at each place",
        };
        match (second.iter().find(is_of_it), own.verdict) {
            (None, _) => all.push(own.clone()),
            (Some(other), Verdict::NotDecided) => all.push(Finding {
                numbers: format!(
                    "{}. Beside, by {by} ({}): {}",
                    other.numbers, own.verdict, own.numbers
                ),
                ..other.clone()
            }),
            (Some(other), Verdict::Confirmed | Verdict::Refuted) => {
                all.extend([own.clone(), other.clone()]);
            }
        }
    }
    let texts: Vec<&str> = first.iter().map(|own| split(&own.claim).0).collect();
    let is_new = |other: &&Finding| !texts.contains(&split(&other.claim).0);
    all.extend(second.iter().filter(is_new).cloned());
    all
}

#[cfg(test)]
mod tests {
    use super::super::plan::{GROWTH, PAIRED, PAIRED_QUICK};
    use super::super::variant::Kind;
    use super::*;
    use std::sync::OnceLock;
    use vestal_policy::Registry;
    use vestal_workload::model::TaskSpec;

    /// Those of the whole plan.
    fn full() -> &'static [(Place, Vec<TaskSet>)] {
        static ALL: OnceLock<Vec<(Place, Vec<TaskSet>)>> = OnceLock::new();
        ALL.get_or_init(|| all_sets(&PAIRED))
    }

    fn all_sets(plan: &Plan) -> Vec<(Place, Vec<TaskSet>)> {
        let registry = Registry::default();
        sets(&mut Judge::new(&registry), plan, &mut || true).unwrap()
    }

    /// Period, level, and execution times in nanoseconds.
    fn shape(task: &TaskSpec) -> (u64, Level) {
        (task.period.as_nanos(), task.criticality)
    }

    fn own_wcet(task: &TaskSpec) -> u64 {
        let own = task.wcet[usize::from(task.criticality.0)];
        own.unwrap().as_nanos()
    }

    /// The larger of the utilizations of both modes, by the recipe's own definition, for each CPU.
    fn load_of(set: &TaskSet) -> f64 {
        let share = |task: &TaskSpec, level: usize| {
            task.wcet[level].unwrap().as_nanos() as f64 / task.period.as_nanos() as f64
        };
        let normal: f64 = set.tasks.iter().map(|task| share(task, 0)).sum();
        let high = set.tasks.iter().filter(|task| task.criticality == Level(1));
        let overload: f64 = high.map(|task| share(task, 1)).sum();
        normal.max(overload) / f64::from(set.platform.cpus)
    }

    #[test]
    fn there_are_as_many_sets_as_the_plan_wants_and_they_are_the_same_each_time() {
        let found = full();
        let places: Vec<Place> = found.iter().map(|(place, _)| *place).collect();
        assert_eq!(places, PAIRED.drawn().collect::<Vec<_>>());
        assert!(found.iter().all(|(_, sets)| sets.len() == 22));
        // More of them begin with the same ones: a measurement goes on.
        let few = all_sets(&PAIRED.repeated(Some(2)));
        for ((place, few), (_, all)) in few.iter().zip(found) {
            assert_eq!(few[..], all[..2], "{place:?}");
        }
        for (index, (_, sets)) in found.iter().enumerate() {
            for (number, set) in sets.iter().enumerate() {
                assert!(!sets[..number].contains(set), "{index} {number}");
            }
        }
    }

    /// What the head says, of each number and each two neighbours.
    #[test]
    fn sets_of_a_number_are_the_same_tasks_with_the_same_frame() {
        let found = full();
        let of = |cpus, permille| {
            let wanted = Place::Drawn { cpus, permille };
            let (_, sets) = found.iter().find(|(place, _)| *place == wanted).unwrap();
            sets
        };
        for number in 0..22 {
            let first = &of(1, 100)[number];
            for (place, sets) in found {
                let set = &sets[number];
                assert_eq!(set.platform.cpus, place.cpus());
                assert_eq!(frame(set), frame(first));
                let shapes: Vec<_> = set.tasks.iter().map(shape).collect();
                for &(a, _) in &shapes {
                    let divides = |b: u64| a.is_multiple_of(b) || b.is_multiple_of(a);
                    assert!(shapes.iter().all(|&(b, _)| divides(b)));
                }
                let names: std::collections::BTreeSet<_> =
                    set.tasks.iter().map(|task| &task.name).collect();
                assert_eq!(names.len(), set.tasks.len());
                let wanted = f64::from(place.permille().unwrap()) / 1000.0;
                if place.cpus() == 1 {
                    assert!((load_of(set) - wanted).abs() < 1e-5, "{set:?}");
                }
                assert_eq!(TaskSet::parse("x.toml", &set.to_toml()).unwrap(), *set);
            }
            for (less, more) in [(100, 200), (200, 400)] {
                let (less, more) = (&of(1, less)[number].tasks, &of(1, more)[number].tasks);
                assert!(less.len() < more.len());
                for (index, (a, b)) in less.iter().zip(more).enumerate() {
                    assert_eq!(shape(a), shape(b));
                    assert!(own_wcet(a) <= own_wcet(b));
                    // Only the last one was scaled down.
                    assert!(index + 1 == less.len() || a.wcet == b.wcet);
                }
            }
            for (less, more) in [(100, 200), (200, 400)] {
                let (less, more) = (&of(2, less)[number].tasks, &of(2, more)[number].tasks);
                assert!(less.len() + 2 <= more.len(), "one for each CPU");
            }
            for permille in PAIRED.permille.iter().copied() {
                let (one, two) = (
                    &of(1, permille)[number].tasks,
                    &of(2, permille)[number].tasks,
                );
                assert_eq!(one[..], two[..one.len()]);
                let added = &two[one.len()..];
                for level in [Level(0), Level(1)] {
                    let has = |tasks: &[TaskSpec]| tasks.iter().any(|t| t.criticality == level);
                    assert!(has(one) && has(added), "{number}");
                }
            }
        }
    }

    /// The sets of growth are others, so that what pairs have shown says nothing of them; the lowest and the highest utilization of a number have the
    /// same frame and tasks in common, too.
    #[test]
    fn growth_is_asked_of_sets_that_pairs_have_not() {
        let found = all_sets(&GROWTH);
        assert_eq!(found.len(), 4);
        let shapes = |set: &TaskSet| set.tasks.iter().map(shape).collect::<Vec<_>>();
        for (place, sets) in &found {
            assert_eq!(sets.len(), 66);
            let (_, of_pairs) = full().iter().find(|(known, _)| known == place).unwrap();
            assert!(sets.iter().all(|set| !of_pairs.contains(set)), "{place:?}");
        }
        for number in 0..66 {
            let [low_1, high_1, low_2, high_2] = [0, 1, 2, 3].map(|at: usize| &found[at].1[number]);
            for (low, high) in [
                (low_1, high_1),
                (low_2, high_2),
                (low_1, low_2),
                (high_1, high_2),
            ] {
                assert_eq!(frame(low), frame(high));
                assert!(low.tasks.len() < high.tasks.len());
                let high = shapes(high);
                assert!(shapes(low).iter().all(|one| high.contains(one)));
            }
        }
    }

    #[test]
    fn both_policies_schedule_all_of_them() {
        let registry = Registry::default();
        let mut judge = Judge::new(&registry);
        for (_, sets) in all_sets(&PAIRED_QUICK) {
            assert_eq!(sets.len(), 2);
            for set in &sets {
                for kind in Kind::ALL {
                    assert!(judge.accepts(kind, set, None).unwrap());
                }
            }
        }
    }
}
