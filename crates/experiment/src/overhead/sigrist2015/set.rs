//! The sets: drawn as in section VII-A, and the flight management system of section VII-C.

use super::run::{Place, Platform};
use super::variant::Kind;
use vestal_analysis::{Overheads, Problem, Scratch, Test};
use vestal_core::Duration;
use vestal_policy::{Given, Registry};
use vestal_workload::generate::{Recipe, derived_seed};
use vestal_workload::{Source, TaskSet};

/// The seed of all drawn sets.
pub const SEED: u64 = 20_150_406;

/// What each frame has to spare beside what tests ask for, so that a real run fits: of one with two levels and up to seventeen jobs of
/// a CPU in a frame.
const SPARE: Duration = Duration::from_millis(2);

/// What the tasks of a CPU may take of it in runs of pEDF-VD, in thousandths: the kernel leaves real-time threads 950 unless told
/// otherwise, and runs keep a margin below that.
const MOST_PERMILLE: u64 = 900;

/// What sets are drawn for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Real runs: the kernel has to leave the tasks of each CPU what they need.
    Runs,
    /// Simulations.
    Simulations,
}

/// After so many draws a place has no further sets.
const TRIES: u64 = 2_000;

const RECIPE: &str = "sigrist2015";

/// The set with this number of all that are drawn for so many CPUs with this utilization for each of them.
///
/// # Errors
/// In words, why none is drawn.
pub fn drawn(cpus: u16, permille: u32, index: u64) -> Result<TaskSet, String> {
    let seed = derived_seed(SEED, &[u64::from(cpus), u64::from(permille), index]);
    drawn_from(seed, (cpus, permille))
}

/// The set that a seed gives for so many CPUs with this utilization for each of them.
///
/// # Errors
/// In words, why none is drawn.
pub fn drawn_from(seed: u64, (cpus, permille): (u16, u32)) -> Result<TaskSet, String> {
    let mut recipe = Recipe::named(RECIPE).ok_or("there is no such recipe")?;
    let whole = u32::from(cpus) * permille;
    let utilization = format!("{}.{:03}", whole / 1000, whole % 1000);
    for (name, value) in [("cpus", cpus.to_string()), ("utilization", utilization)] {
        recipe
            .set(name, &value)
            .map_err(|error| error.to_string())?;
    }
    recipe.draw(seed).map_err(|error| error.to_string())
}

/// Tests of both policies.
pub struct Judge<'a> {
    registry: &'a Registry,
    scratch: Scratch,
}

impl<'a> Judge<'a> {
    /// With the tests of a registry.
    #[must_use]
    pub fn new(registry: &'a Registry) -> Self {
        Self {
            registry,
            scratch: Scratch::default(),
        }
    }

    /// The test of a kind, and what it is asked about a set.
    fn question(&self, kind: Kind, set: &TaskSet) -> Result<(&'a Test, Problem), String> {
        let test = self.registry.test(kind.policy());
        let test = test.ok_or("there is no such test")?;
        let problem = vestal_policy::problem(set, test, &Given::default());
        Ok((test, problem.map_err(|refusal| refusal.to_string())?))
    }

    /// Whether the test of a kind accepts a set with these overheads.
    ///
    /// # Errors
    /// In words, why it cannot be asked.
    pub fn accepts(
        &mut self,
        kind: Kind,
        set: &TaskSet,
        overheads: Option<Overheads>,
    ) -> Result<bool, String> {
        let (test, problem) = self.question(kind, set)?;
        let problem = with(problem, overheads);
        Ok(test.accepts(&problem, &mut self.scratch))
    }

    /// Whether the tasks that pEDF-VD places on a CPU, each with the execution time of its own level, leave a part of it to others,
    /// on every CPU.
    fn leaves_a_margin(&self, set: &TaskSet) -> Result<bool, String> {
        let (test, problem) = self.question(Kind::Deadlines, set)?;
        let placed = test.analyse(&problem).tasks;
        let tasks = set.to_tasks(test.name);
        let tasks = tasks.map_err(|found| found.to_string())?;
        let mut used = vec![0; usize::from(set.platform.cpus)];
        for (task, place) in tasks.iter().zip(&placed) {
            let used = place.cpu.and_then(|cpu| used.get_mut(usize::from(cpu.0)));
            let own = task.own_wcet().as_nanos().saturating_mul(1_000);
            *used.ok_or("a task has no CPU")? += own.div_ceil(task.period.as_nanos().max(1));
        }
        Ok(used.iter().all(|&used| used <= MOST_PERMILLE))
    }

    /// Whether both policies schedule a set, with what this use of it needs.
    ///
    /// # Errors
    /// In words, why tests cannot be asked.
    pub fn both_accept(&mut self, set: &TaskSet, by: Use) -> Result<bool, String> {
        let spare = Overheads {
            frame: SPARE,
            ..Overheads::default()
        };
        // The one that takes longer comes last.
        Ok(self.accepts(Kind::Deadlines, set, None)?
            && (by == Use::Simulations || self.leaves_a_margin(set)?)
            && self.accepts(Kind::Frames, set, Some(spare))?)
    }

    /// The first sets of a place that both policies schedule, with what a real run of a table has to have to spare: every variant runs
    /// the same ones. Fewer if not so many are found. Also how many were drawn. `goes_on` is asked before each draw.
    ///
    /// # Errors
    /// In words, why none are drawn or tests cannot be asked.
    pub fn sets(
        &mut self,
        (cpus, permille): (u16, u32),
        (wanted, by): (u32, Use),
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Result<(Vec<TaskSet>, u64), String> {
        let (mut found, mut tried) = (Vec::new(), 0);
        while found.len() < wanted as usize && tried < TRIES && goes_on() {
            let set = drawn(cpus, permille, tried)?;
            tried += 1;
            if self.both_accept(&set, by)? {
                found.push(set);
            }
        }
        Ok((found, tried))
    }
}

fn with(problem: Problem, overheads: Option<Overheads>) -> Problem {
    match overheads {
        Some(overheads) => problem.with_overheads(overheads),
        None => problem,
    }
}

macro_rules! example {
    ($name:literal) => {
        include_str!(concat!(
            "../../../../../examples/sigrist2015/",
            $name,
            ".toml"
        ))
    };
}

/// The flight management system on so many CPUs.
///
/// # Errors
/// In words, what is wrong with the file.
pub fn flight(platform: Platform, cpus: u16) -> Result<TaskSet, String> {
    let text = match platform {
        Platform::Phi => example!("table-3-phi-two-cpus"),
        Platform::I5 => example!("table-3-i5-two-cpus"),
    };
    let source = Source::new(platform.name(), text);
    let mut set = TaskSet::from_source(&source).map_err(|found| found.to_string())?;
    set.platform.cpus = cpus;
    for task in &mut set.tasks {
        // Where a job runs is for the test to find.
        task.cpu = None;
    }
    Ok(set)
}

/// The sets of a place in their order: of drawn ones as many as there are, of a file the same one each time.
///
/// # Errors
/// As for [`Judge::sets`] and [`flight`].
pub fn sets(
    judge: &mut Judge<'_>,
    place: Place,
    (wanted, by): (u32, Use),
    goes_on: &mut dyn FnMut() -> bool,
) -> Result<Vec<TaskSet>, String> {
    match place {
        Place::Drawn { cpus, permille } => {
            let found = judge.sets((cpus, permille), (wanted, by), goes_on);
            found.map(|(sets, _)| sets)
        }
        Place::Flight { platform, cpus } => {
            let set = flight(platform, cpus)?;
            Ok(vec![set; wanted as usize])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overhead::sigrist2015::plan::{FULL, NORMAL};

    #[test]
    fn the_sets_of_a_place_are_the_same_each_time_and_both_policies_schedule_them() {
        let registry = Registry::default();
        let mut judge = Judge::new(&registry);
        for cpus in FULL.cpus {
            let (sets, tried) = judge
                .sets((*cpus, NORMAL), (3, Use::Runs), &mut || true)
                .unwrap();
            assert_eq!(sets.len(), 3, "of {tried}");
            let (again, _) = Judge::new(&registry)
                .sets((*cpus, NORMAL), (3, Use::Runs), &mut || true)
                .unwrap();
            assert_eq!(sets, again);
            for set in &sets {
                assert_eq!(set.platform.cpus, *cpus);
                for kind in Kind::ALL {
                    assert!(judge.accepts(kind, set, None).unwrap());
                }
            }
            assert_ne!(sets[0], sets[1]);
        }
    }

    /// First fit fills the first CPU as far as the test accepts it: sets of simulations may leave the kernel nothing there.
    #[test]
    fn sets_for_runs_leave_a_part_of_every_cpu_and_others_need_not() {
        let registry = Registry::default();
        let mut judge = Judge::new(&registry);
        let mut full = |by| {
            let (sets, _) = judge.sets((2, 400), (6, by), &mut || true).unwrap();
            assert_eq!(sets.len(), 6);
            let all = sets
                .iter()
                .filter(|set| !judge.leaves_a_margin(set).unwrap());
            all.count()
        };
        assert_eq!(full(Use::Runs), 0);
        assert!(full(Use::Simulations) > 0);
    }

    /// Both variants of Table III have a table on one CPU, too, which a dispatcher on a CPU of its own leaves here.
    #[test]
    fn the_flight_management_system_is_schedulable_on_one_cpu_and_on_two() {
        let registry = Registry::default();
        let mut judge = Judge::new(&registry);
        for place in FULL.flight {
            let sets = sets(&mut judge, *place, (2, Use::Runs), &mut || true).unwrap();
            assert_eq!(sets.len(), 2);
            assert!(judge.accepts(Kind::Frames, &sets[0], None).unwrap());
        }
    }
}
