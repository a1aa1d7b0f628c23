//! `ss-rta`, `ss-pibs-rta`, `io-amc-rtb` and `io-amc-ub`: by hand, against their slow twin, and against runs.

mod amc;
mod by_hand;
mod orders;
mod runs;
mod sets;

use runs::{Bounds, Seen, When};
use sets::{Set, any_set, own, pibs, random_set};
use vestal_analysis::schedulability::io_amc::oracle::{Case, Mistake};
use vestal_analysis::{Kind, Outcome, Test, Verdict, find};
use vestal_core::{Duration, ServerId};
use vestal_testkit::Random;
use vestal_testkit::short::span;

fn test(name: &str) -> &'static Test {
    match name.split_once(':') {
        None => find(name, None).unwrap(),
        Some((name, variant)) => find(name, Some(variant)).unwrap(),
    }
}

/// The bound of a server, or of a burst on behalf of another, by an equation, in ns.
fn bound(outcome: &Outcome, server: u16, host: Option<u16>, equation: u8) -> Option<u64> {
    let all = outcome.servers[usize::from(server)].equations.iter();
    let is_it = |found: &&vestal_analysis::EquationBound| {
        found.equation == equation && found.on_behalf_of == host.map(ServerId)
    };
    let mut found = all.filter(is_it);
    let one = found.next().unwrap();
    assert_eq!(found.next(), None);
    one.bound.map(Duration::as_nanos)
}

/// A LO server, two HI servers below it and a PIBS for each of the first two; a unit is 1000 ns.
fn three_servers() -> Set {
    Set {
        levels: 2,
        own: vec![
            own(false, 10_000, [2_000, 0]),
            own(true, 20_000, [3_000, 6_000]),
            own(true, 40_000, [5_000, 10_000]),
        ],
        pibs: vec![
            pibs(false, [(1, 10), (0, 1)], &[0]),
            pibs(true, [(1, 20), (1, 10)], &[1]),
        ],
    }
}

#[test]
fn the_equations_have_these_values() {
    let set = three_servers();
    let outcome = test("io-amc-rtb").analyse(&set.problem());
    assert_eq!(outcome.verdict, Verdict::Schedulable, "{:?}", outcome.why);
    let low = [0, 1, 2].map(|server| bound(&outcome, server, None, 10));
    assert_eq!(low, [Some(3_900), Some(8_850), Some(16_850)]);
    let high = [1, 2].map(|server| bound(&outcome, server, None, 11));
    assert_eq!(high, [Some(9_800), Some(19_800)]);
    let rise = [1, 2].map(|server| bound(&outcome, server, None, 14));
    assert_eq!(rise, [Some(13_700), Some(34_700)]);
    assert_eq!(bound(&outcome, 3, Some(0), 12), Some(3_900));
    assert_eq!(bound(&outcome, 4, Some(1), 12), Some(8_850));
    assert_eq!(bound(&outcome, 4, Some(1), 13), Some(9_800));
    assert_eq!(bound(&outcome, 4, Some(1), 15), Some(13_700));
    let of_task = |task: usize| outcome.tasks[task].responses.clone();
    assert_eq!(of_task(0), [Some(span(3_900))]);
    assert_eq!(of_task(2), [Some(span(16_850)), Some(span(34_700))]);
}

#[test]
fn a_pibs_that_may_serve_anybody_delays_more() {
    let outcome = test("io-amc-rtb:any").analyse(&three_servers().problem());
    let low = [0, 1, 2].map(|server| bound(&outcome, server, None, 10));
    assert_eq!(low, [Some(4_875), Some(12_750), Some(28_500)]);
    assert_eq!(bound(&outcome, 2, None, 14), None);
    assert_eq!(outcome.verdict, Verdict::NotProven);
}

#[test]
fn bounds_are_those_of_the_slow_twin() {
    let (mut bounds, mut accepted, mut refused) = (0, 0, 0);
    for seed in 0..3000 {
        let set = random_set(&mut Random::new(seed), 40);
        let problem = set.problem();
        let order = set.order();
        for (any, name) in [(false, "io-amc-rtb"), (true, "io-amc-rtb:any")] {
            let outcome = test(name).analyse(&problem);
            assert_eq!(outcome.kind, Kind::Sufficient);
            let case = Case {
                problem: &problem,
                order: &order,
                any,
                mistake: None,
            };
            for (server, host) in case.subjects() {
                for equation in case.equations(server, host, true) {
                    let twin = case.bound(server, host, equation);
                    let of = &outcome.servers[server.index()].equations;
                    let found = of
                        .iter()
                        .find(|found| (found.equation, found.on_behalf_of) == (equation, host));
                    match found {
                        Some(found) => {
                            let found = found.bound.map(Duration::as_nanos);
                            assert_eq!(
                                found, twin,
                                "{seed}: {server:?} {host:?} ({equation}) {set:?}"
                            );
                            bounds += u32::from(twin.is_some());
                        }
                        // A rise is not looked at without a bound in mode 0.
                        None => assert!(matches!(equation, 14 | 15), "{equation}"),
                    }
                }
            }
            let holds = outcome.verdict == Verdict::Schedulable;
            assert_eq!(holds, case.accepts(true), "{seed}: {set:?}");
            accepted += u32::from(holds);
            refused += u32::from(!holds);
        }
    }
    println!("{bounds} bounds, {accepted} accepted, {refused} refused");
    assert!(bounds > 10_000 && accepted > 1000 && refused > 1000);
}

/// The bounds of a set in its order by the slow twin, if it accepts the set with this mistake.
fn bounds_of_twin(set: &Set, any: bool, mistake: Option<Mistake>) -> Option<Bounds> {
    let (problem, order) = (set.problem(), set.order());
    let case = Case {
        problem: &problem,
        order: &order,
        any,
        mistake,
    };
    let mut bounds = Bounds::new();
    for (server, host) in case.subjects() {
        let mut found = Vec::new();
        for equation in case.equations(server, host, true) {
            found.push(case.bound(server, host, equation)?);
        }
        let high = found.get(1..).and_then(|found| found.iter().max());
        let who = (server.0, host.map(|host| host.0));
        bounds.insert(who, [found.first().copied(), high.copied()]);
    }
    Some(bounds)
}

/// The same by the test.
fn bounds_of_test(set: &Set, name: &str) -> Option<Bounds> {
    let outcome = test(name).analyse(&set.problem());
    if outcome.verdict != Verdict::Schedulable {
        return None;
    }
    let mut bounds = Bounds::new();
    for (server, found) in (0..).zip(&outcome.servers) {
        for one in &found.equations {
            let who = (server, one.on_behalf_of.map(|host| host.0));
            let [low, high] = bounds.entry(who).or_default();
            let bound = one.bound.map(Duration::as_nanos);
            match one.equation {
                10 | 12 => *low = bound,
                _ => *high = (*high).max(bound),
            }
        }
    }
    Some(bounds)
}

/// Runs of sets that the test accepts, by either reading of whom a PIBS serves.
#[test]
fn nothing_exceeds_its_bound_whatever_changes() {
    let mut seen = Seen::default();
    let mut seeds = 0..;
    while seen.systems < 10_000 {
        let mut random = Random::new(seeds.next().unwrap());
        let set = any_set(&mut random);
        let name = ["io-amc-rtb", "io-amc-rtb:any"][usize::from(random.once_in(4))];
        if let Some(bounds) = bounds_of_test(&set, name) {
            runs::run(&set, &bounds, &mut random, &mut seen);
        }
    }
    println!("{} tried: {seen:?}", seeds.start);
    assert_eq!(seen.exceeded, 0);
    let percent = seen.systems * 100 / seeds.start;
    assert!((5..=95).contains(&percent), "{percent} % are accepted");
    for (is_burst, when, least, permille) in [
        (false, When::Mode0, 100_000, 1000),
        (false, When::Mode1, 2_000, 1000),
        (false, When::Between, 8_000, 1000),
        (true, When::Mode0, 20_000, 1000),
        (true, When::Mode1, 300, 800),
        (true, When::Between, 150, 800),
    ] {
        let key = (is_burst, when);
        assert!(seen.compared[&key] > least, "{key:?}");
        assert!(seen.permille[&key] >= permille, "{key:?}");
    }
    assert!(seen.degraded > 150 && seen.rises > 10_000 && seen.blocked > 10_000);
}

/// The control.
#[test]
fn each_mistake_is_refuted_by_such_runs() {
    for mistake in [
        Mistake::NoCarryIn,
        Mistake::RiseWithoutPibs,
        Mistake::HighHosts,
        Mistake::TooSmall,
    ] {
        let exceeds = |seed: &u64| {
            let (mut random, mut seen) = (Random::new(*seed), Seen::default());
            let set = any_set(&mut random);
            if let Some(bounds) = bounds_of_twin(&set, false, Some(mistake)) {
                runs::run(&set, &bounds, &mut random, &mut seen);
            }
            seen.exceeded > 0
        };
        let found = (0..6000).find(exceeds);
        println!("{mistake:?}: seed {found:?}");
        assert!(found.is_some(), "{mistake:?}");
    }
}
