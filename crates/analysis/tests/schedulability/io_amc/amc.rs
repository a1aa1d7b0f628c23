//! `amc-rtb:servers` and `amc-ub:servers`: equations 7 to 9 for sporadic servers without PIBS, by hand, against equations written
//! down once more, against `amc-rtb` of the same tasks in no servers, against `io-amc-rtb`, and against runs.

use super::runs::{Bounds, Seen, When};
use super::sets::{Own, Set, any_set, own, pibs, random_set};
use super::{bound, bounds_of_test, runs, test};
use vestal_analysis::{Kind, Outcome, Phasing, Problem, Verdict};
use vestal_core::{LevelSet, ServedTask, Task};
use vestal_testkit::Random;
use vestal_testkit::hierarchies::{self as core_world, World};
use vestal_testkit::short::ns;

const RTB: &str = "amc-rtb:servers";
const UB: &str = "amc-ub:servers";

/// What is easily forgotten.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mistake {
    /// LO servers that go on are taken for dropped.
    Dropped,
    /// Nothing is asked for while the mode rises.
    NoRise,
    /// LO servers count as long as a HI server would take without them.
    EarlyRise,
    /// Every bound is 1 ns less.
    TooSmall,
}

/// Equations 7 to 9, and the two before them, of the server at a place, window by window; the most urgent come first.
struct Twin<'a> {
    own: &'a [Own],
    mistake: Option<Mistake>,
}

impl Twin<'_> {
    fn least(limit: u64, needed: impl Fn(u64) -> u64) -> Option<u64> {
        (1..=limit).find(|&window| needed(window) <= window)
    }

    fn above(&self, own: &Own) -> u64 {
        match self.mistake {
            Some(Mistake::Dropped) if !own.high => 0,
            _ => own.capacity[1],
        }
    }

    /// In mode 0, and in any mode if it is there in all.
    fn bounds(&self, place: usize) -> Option<[Option<u64>; 2]> {
        let (own, more_urgent) = (&self.own[place], &self.own[..place]);
        let low = |first: u64, counts: &dyn Fn(&Own) -> bool| {
            Self::least(own.period, |window| {
                let counted = more_urgent.iter().filter(|other| counts(other));
                let each = counted.map(|other| window.div_ceil(other.period) * other.capacity[0]);
                first + each.sum::<u64>()
            })
        };
        let less = u64::from(self.mistake == Some(Mistake::TooSmall));
        let mode_0 = low(own.capacity[0], &|_| true)?;
        if self.above(own) == 0 {
            return Some([Some(mode_0 - less), None]);
        }
        let mode_1 = Self::least(own.period, |window| {
            let each = more_urgent.iter();
            let each = each.map(|other| window.div_ceil(other.period) * self.above(other));
            own.capacity[1] + each.sum::<u64>()
        })?;
        let first = own.capacity[0].min(own.capacity[1]);
        let until = low(first, &|other| {
            other.high || self.mistake != Some(Mistake::EarlyRise)
        })?;
        let rise = Self::least(own.period, |window| {
            let each = more_urgent.iter().map(|other| {
                let all = window.div_ceil(other.period);
                let early = until.div_ceil(other.period);
                match other.high {
                    true => all * other.capacity[1],
                    false => {
                        early * other.capacity[0] + all.saturating_sub(early) * self.above(other)
                    }
                }
            });
            own.capacity[1] + each.sum::<u64>()
        });
        let high = match self.mistake {
            Some(Mistake::NoRise) => mode_1,
            _ => mode_1.max(rise?),
        };
        Some([Some(mode_0 - less), Some(high - less)])
    }

    /// Of all of them, if none is late.
    fn all(&self) -> Option<Bounds> {
        (0..self.own.len())
            .map(|place| Some(((place as u16, None), self.bounds(place)?)))
            .collect()
    }
}

fn without_pibs(mut set: Set) -> Set {
    set.pibs.clear();
    set
}

/// The same tasks in no servers, with what their servers have above their level as degraded budgets.
fn plain(set: &Set) -> Problem {
    let tasks = set.tasks().into_iter().zip(&set.own);
    let tasks = tasks.map(|(task, own)| Task {
        degraded: (!own.high && own.capacity[1] > 0).then_some(ns(own.capacity[1])),
        ..task
    });
    let levels = LevelSet::new(set.levels).unwrap();
    Problem::new(tasks.collect(), levels).unwrap()
}

fn in_order(set: &Set) -> Problem {
    let count = set.own.len() as u32;
    let priorities = (1..=count).rev().collect();
    plain(set).with_priorities(priorities).unwrap()
}

fn holds(outcome: &Outcome) -> bool {
    outcome.verdict == Verdict::Schedulable
}

/// l, T = 5, C = 2, goes on with 1, above h, T = 20, C = 4 or 8: l 2 and 1; h 4 + 2 * 2 = 8 by (10), 8 + 2 * 1 = 10 by (11), and
/// 8 + 2 * 2 + (3 - 2) * 1 = 13 by (9). If l is dropped: 8 and 8 + 2 * 2 = 12.
#[test]
fn equations_7_to_9_have_these_values() {
    let set = |above: u64| Set {
        levels: 2,
        own: vec![own(false, 5, [2, above]), own(true, 20, [4, 8])],
        pibs: Vec::new(),
    };
    let outcome = test(RTB).analyse(&set(1).problem());
    assert!(holds(&outcome), "{:?}", outcome.why);
    let of = |outcome: &Outcome, server: u16, equation: u8| bound(outcome, server, None, equation);
    assert_eq!(
        [10, 11, 9].map(|number| of(&outcome, 0, number)),
        [Some(2), Some(1), Some(1)]
    );
    assert_eq!(
        [10, 11, 9].map(|number| of(&outcome, 1, number)),
        [Some(8), Some(10), Some(13)]
    );
    let ub = test(UB).analyse(&set(1).problem());
    assert_eq!(
        [10, 11].map(|number| of(&ub, 1, number)),
        [Some(8), Some(10)]
    );
    assert_eq!(
        (ub.kind, ub.verdict, &ub.why),
        (Kind::Necessary, Verdict::NotProven, &None)
    );
    let dropped = test(RTB).analyse(&set(0).problem());
    assert_eq!(
        [10, 11, 9].map(|number| of(&dropped, 1, number)),
        [Some(8), Some(8), Some(12)]
    );
}

#[test]
fn bounds_are_those_of_the_twin_of_tasks_in_no_servers_and_of_io_amc_without_pibs() {
    let (mut accepted, mut refused, mut bounds, mut degraded) = (0, 0, 0, 0);
    for seed in 0..4000 {
        let set = without_pibs(random_set(&mut Random::new(seed), 40));
        let outcome = test(RTB).analyse(&set.problem());
        assert_eq!(outcome.kind, Kind::Sufficient);
        let twin = Twin {
            own: &set.own,
            mistake: None,
        };
        let io = test("io-amc-rtb").analyse(&set.problem());
        let tasks = test("amc-rtb").analyse(&in_order(&set));
        assert_eq!(holds(&outcome), twin.all().is_some(), "{seed}: {set:?}");
        assert_eq!(holds(&outcome), holds(&io), "{seed}: {set:?}");
        assert_eq!(holds(&outcome), holds(&tasks), "{seed}: {set:?}");
        for (place, found) in outcome.servers.iter().enumerate() {
            assert_eq!(found.responses, io.servers[place].responses, "{seed}");
            let of_task = &tasks.tasks[place].responses;
            if holds(&outcome) {
                let both = found.responses.len().min(of_task.len());
                assert_eq!(found.responses[..both], of_task[..both], "{seed}: {set:?}");
                // A set of one criticality has no mode in which a task would go on.
                let is_mixed = set.own.iter().any(|own| own.high);
                assert!(
                    found.responses.len() == both || !is_mixed,
                    "{seed}: {set:?}"
                );
                bounds += both;
                degraded += u32::from(!set.own[place].high && both == 2);
            }
        }
        accepted += u32::from(holds(&outcome));
        refused += u32::from(!holds(&outcome));
    }
    println!(
        "{accepted} accepted, {refused} refused, {bounds} bounds, {degraded} of those that go on"
    );
    assert!(accepted > 500 && refused > 500 && bounds > 3000 && degraded > 300);
}

/// In which order they find one does not matter: both search for one by which all pass.
#[test]
fn an_order_is_found_exactly_where_tasks_in_no_servers_have_one() {
    let (mut found, mut none) = (0, 0);
    for seed in 0..2000 {
        let set = without_pibs(random_set(&mut Random::new(seed), 30));
        let outcome = test(RTB).analyse(&set.problem().with_free_server_order());
        let tasks = test("amc-rtb").analyse(&plain(&set));
        assert_eq!(holds(&outcome), holds(&tasks), "{seed}: {set:?}");
        found += u32::from(holds(&outcome));
        none += u32::from(!holds(&outcome));
    }
    println!("{found} found, {none} in no order");
    assert!(found > 300 && none > 300);
}

#[test]
fn no_server_exceeds_its_bound_while_jobs_raise_the_mode() {
    let mut seen = Seen::default();
    let mut seeds = 0..;
    while seen.systems < 3000 {
        let mut random = Random::new(seeds.next().unwrap());
        let set = without_pibs(any_set(&mut random));
        if let Some(bounds) = bounds_of_test(&set, RTB) {
            runs::run(&set, &bounds, &mut random, &mut seen);
        }
    }
    println!("{} tried: {seen:?}", seeds.start);
    assert_eq!(seen.exceeded, 0);
    let percent = seen.systems * 100 / seeds.start;
    assert!((5..=95).contains(&percent), "{percent} % are accepted");
    for when in [When::Mode0, When::Mode1, When::Between] {
        assert!(seen.compared[&(false, when)] > 500, "{when:?}");
        assert_eq!(seen.permille[&(false, when)], 1000, "{when:?}");
    }
    assert!(seen.degraded > 50 && seen.rises > 3000 && seen.blocked > 3000);
}

/// The control.
#[test]
fn each_mistake_is_refuted_by_runs_of_servers_alone() {
    for mistake in [
        Mistake::Dropped,
        Mistake::NoRise,
        Mistake::EarlyRise,
        Mistake::TooSmall,
    ] {
        let exceeds = |seed: &u64| {
            let (mut random, mut seen) = (Random::new(*seed), Seen::default());
            let set = without_pibs(any_set(&mut random));
            let twin = Twin {
                own: &set.own,
                mistake: Some(mistake),
            };
            if let Some(bounds) = twin.all() {
                runs::run(&set, &bounds, &mut random, &mut seen);
            }
            seen.exceeded > 0
        };
        let found = (0..6000).find(exceeds);
        println!("{mistake:?}: seed {found:?}");
        assert!(found.is_some(), "{mistake:?}");
    }
}

fn world(set: &Set, programs: Vec<Vec<u64>>) -> World<'static> {
    let servers: Vec<_> = set.servers().iter().map(|one| one.configuration).collect();
    let tasks = (0..).zip(set.tasks()).map(|(server, task)| ServedTask {
        task,
        ..core_world::task(server, 1, task.deadline.as_nanos())
    });
    let tasks: Vec<_> = tasks.collect();
    let configuration = core_world::configuration(&servers, &tasks, &[]);
    core_world::world(&core_world::adaptive(&configuration, false), programs)
}

/// Whether a job is late if all servers of the level and above, and no others, release together, and every job executes C
/// of the level.
fn is_late_together(set: &Set, level: u8) -> bool {
    let there: Vec<bool> = set
        .own
        .iter()
        .map(|own| u8::from(own.high) >= level)
        .collect();
    let demand = |own: &Own| own.capacity[usize::from(level)].max(1);
    let programs = set.own.iter().map(|own| vec![demand(own)]).collect();
    let mut world = world(set, programs);
    let mut pending = vec![false; set.own.len()];
    let longest = set.own.iter().map(|own| own.period).max().unwrap();
    while world.now <= longest {
        let mut facts = Vec::new();
        for (index, own) in set
            .own
            .iter()
            .enumerate()
            .filter(|(index, _)| there[*index])
        {
            pending[index] &= !world.completes_now(index as u16);
            if world.now.is_multiple_of(own.period) {
                if pending[index] {
                    return true;
                }
                pending[index] = true;
                facts.push(world.release(index as u16));
            }
        }
        world.step(&facts);
    }
    false
}

#[test]
fn where_the_upper_bound_refuses_filled_servers_some_run_is_late() {
    let (mut refused, mut raised, mut more) = (0, 0, 0);
    for seed in 0..3000 {
        let mut set = without_pibs(random_set(&mut Random::new(seed), 40));
        for own in set.own.iter_mut().filter(|own| !own.high) {
            own.capacity[1] = 0;
        }
        let ub = test(UB).analyse(&set.problem());
        let rtb = test(RTB).analyse(&set.problem());
        if ub.why.is_none() {
            assert_eq!(ub.verdict, Verdict::NotProven);
            more += u32::from(!holds(&rtb));
            continue;
        }
        assert!(!holds(&rtb), "{seed}");
        assert_eq!(ub.verdict, Verdict::Unschedulable, "{seed}: {set:?}");
        let late = [0, 1].map(|level| is_late_together(&set, level));
        assert!(late.contains(&true), "{seed}: {set:?}");
        refused += 1;
        raised += u32::from(!late[0]);
    }
    println!(
        "{refused} refused, {raised} of them for mode 1 only, {more} accepted that the test refuses"
    );
    assert!(refused > 300 && raised > 50 && more > 30);
}

/// A server with more than its task asks for, or one that goes on with less, or tasks that are never released together.
#[test]
fn else_a_no_of_the_upper_bound_means_nothing() {
    let full = |above: u64, more: u64| Set {
        levels: 2,
        own: vec![own(false, 5, [3, above]), own(true, 20, [4 + more, 12])],
        pibs: Vec::new(),
    };
    let verdict = |problem: &Problem| {
        let outcome = test(UB).analyse(problem);
        assert!(outcome.why.is_some());
        outcome.verdict
    };
    let late = full(0, 5);
    assert_eq!(verdict(&late.problem()), Verdict::Unschedulable);
    let restricted = late.problem().with_phasing(Phasing::Restricted);
    assert_eq!(verdict(&restricted), Verdict::NotProven);
    assert_eq!(verdict(&full(1, 5).problem()), Verdict::NotProven);
    let tasks = full(0, 0).tasks();
    let levels = LevelSet::new(2).unwrap();
    let wider = Problem::new(tasks, levels).unwrap();
    let wider = wider.with_servers(late.servers(), Vec::new()).unwrap();
    assert_eq!(verdict(&wider), Verdict::NotProven);
}

#[test]
fn pibs_put_a_set_outside() {
    let set = Set {
        levels: 2,
        own: vec![own(true, 20, [4, 8])],
        pibs: vec![pibs(true, [(1, 10), (1, 5)], &[0])],
    };
    for name in [RTB, UB] {
        let outcome = test(name).analyse(&set.problem());
        assert_eq!(outcome.verdict, Verdict::NotProven);
        let why = outcome.why.unwrap().to_string();
        assert_eq!(
            why,
            "the test is for servers with a period; server 2 is a PIBS"
        );
    }
}
