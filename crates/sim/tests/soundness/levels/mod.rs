//! What `mc2` accepts, on 1 to 8 CPUs: levels A and B keep their deadlines and level C its bounds in all runs of their level, whatever the levels
//! below do, whether jobs of levels A and B run early or late in their windows, or are short, and whether budgets hold or not.
//!
//! Each run is looked at twice: by deadlines and bounds alone (`run::Watch`), in runs that are known to be of a level, and by the judge of
//! worlds ([`vestal_sim::guarantee::Guarantee::of_levels`]).

mod drawn;
mod run;

use crate::control;
use drawn::Kind;
use run::{A, Accepted, B, C, Needs, Stray};
use vestal_analysis::{Test, Verdict, find};
use vestal_core::{Budgets, LevelB};
use vestal_testkit::Random;

/// Runs of the times of level C, B and A; in some a task does what takes back what is promised to it.
const RUNS: [Needs; 8] = [
    needs(C, false),
    needs(C, true),
    needs(C, true),
    needs(B, false),
    needs(B, true),
    needs(A, true),
    OVERRUNS,
    Needs {
        stray: Stray::Late,
        ..needs(B, true)
    },
];

const OVERRUNS: Needs = Needs {
    stray: Stray::Overruns,
    ..needs(C, true)
};

const fn needs(level: u8, is_mixed: bool) -> Needs {
    let stray = Stray::None;
    Needs {
        level,
        is_mixed,
        stray,
    }
}

/// What came of sets on so many CPUs.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    drawn: u64,
    accepted: u64,
    jobs: u64,
    /// Sets with a task that is late at all.
    tardy: u64,
    /// The largest tardiness over its bound.
    tightest: f64,
    /// Runs in which a task of level C overran, and in which one of level A came late.
    strayed: [u64; 2],
    broken: u64,
}

/// What is different from what was accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    None,
    /// One job of a task may wait.
    Backlog,
    /// Budgets never hold.
    NoBudgets,
}

struct Campaign {
    test: &'static Test,
    order: LevelB,
    kind: Kind,
    change: Change,
}

impl Campaign {
    fn of(test: &'static Test, kind: Kind) -> Self {
        let order = match test.variant {
            Some("rms") => LevelB::RateMonotonic,
            _ => LevelB::EarliestDeadline,
        };
        let change = Change::None;
        Self {
            test,
            order,
            kind,
            change,
        }
    }

    /// So many sets that are accepted, or claimed to be; with what is wrong, up to the first that breaks something.
    fn run(&self, cpus: u16, sets: u64, is_wrong: bool) -> Tally {
        let mut random = Random::new(1812 + u64::from(cpus));
        // Runs in which a task strays are beside the others, which are the same with and without them.
        let mut of_strays = Random::new(2012 + u64::from(cpus));
        let mut tally = Tally::default();
        while tally.accepted < sets && tally.drawn < 40 * sets {
            let Some(problem) = drawn::set(&mut random, self.kind, cpus, self.test) else {
                continue;
            };
            tally.drawn += 1;
            let outcome = self.test.analyse(&problem);
            let is_claimed = outcome.claim == Some(Verdict::Schedulable);
            if outcome.verdict != Verdict::Schedulable && !is_claimed {
                continue;
            }
            tally.accepted += 1;
            let mut set = Accepted::new(&problem, outcome, self.order);
            if self.change == Change::Backlog {
                set.backlog = 1;
            }
            let mut was_tardy = false;
            for needs in RUNS {
                let random = match needs.stray {
                    Stray::None => &mut random,
                    Stray::Overruns | Stray::Late => &mut of_strays,
                };
                let are_ignored = match (needs.stray, self.change) {
                    // Who overruns is in everyone's way without them.
                    (Stray::Overruns, change) => change == Change::NoBudgets,
                    (Stray::None | Stray::Late, _) => random.once_in(3),
                };
                let budgets = match are_ignored {
                    true => Budgets::Ignored,
                    false => Budgets::Enforced,
                };
                let seen = set.run(needs, budgets, random.next());
                assert!(
                    is_wrong || seen.broken.is_none(),
                    "{:?} {needs:?} {budgets:?} {set:?}",
                    seen.broken
                );
                tally.broken += u64::from(seen.broken.is_some());
                tally.jobs += seen.jobs;
                if let Some(strayed) = match needs.stray {
                    Stray::None => None,
                    Stray::Overruns => Some(&mut tally.strayed[0]),
                    Stray::Late => Some(&mut tally.strayed[1]),
                } {
                    *strayed += u64::from(seen.strayed);
                }
                if needs.level > C || needs.stray != Stray::None {
                    continue;
                }
                for (&tardiness, late) in seen.tardiness.iter().zip(set.late()) {
                    let late = late.map_or(0, |late| late.as_nanos());
                    was_tardy |= tardiness > 0;
                    if late > 0 {
                        tally.tightest = tally.tightest.max(tardiness as f64 / late as f64);
                    }
                }
            }
            tally.tardy += u64::from(was_tardy);
            if is_wrong && tally.broken > 0 {
                break;
            }
        }
        tally
    }
}

/// Sets for a number of CPUs: few, or with `VESTAL_CAMPAIGN=long` many; fewer where there is more in each.
fn sets(cpus: u16) -> u64 {
    let sets = match std::env::var("VESTAL_CAMPAIGN").is_ok_and(|size| size == "long") {
        true => 40_000,
        false => 120,
    };
    let cpus = u64::from(cpus);
    (sets * 2 / (cpus * (cpus + 1))).max(5)
}

fn holds(test: &'static Test) {
    let mut tightest = Vec::new();
    for cpus in 1..=8 {
        let sets = sets(cpus);
        let tally = Campaign::of(test, Kind::General).run(cpus, sets, false);
        println!("{test} on {cpus} CPUs: {tally:?}");
        let part = tally.accepted as f64 / tally.drawn as f64;
        assert!((0.02..0.95).contains(&part), "{part} {tally:?}");
        assert!(tally.accepted == sets && tally.jobs > 100 * sets);
        assert!(cpus > 3 || tally.tardy * 8 > sets, "{tally:?}");
        assert!(
            tally.strayed.iter().all(|runs| runs * 3 > sets),
            "{tally:?}"
        );
        tightest.push(tally.tightest);
    }
    assert!(tightest[0] > 0.7 && tightest[1] > 0.2, "{tightest:?}");
    // What is claimed where periods are not harmonic, or tables long, is proved by the real test at times.
    for kind in [Kind::Full, Kind::LongTables] {
        let tally = Campaign::of(test, kind).run(1, sets(4), false);
        println!("{test} on one CPU, {kind:?}: {tally:?}");
        assert!(
            tally.drawn > tally.accepted && tally.accepted > 0,
            "{tally:?}"
        );
    }
}

#[test]
fn what_mc2_accepts_keeps_its_guarantees_on_1_to_8_cpus() {
    holds(find("mc2", None).unwrap());
}

#[test]
fn what_mc2_accepts_with_rates_at_level_b_keeps_its_guarantees_on_1_to_8_cpus() {
    holds(find("mc2", Some("rms")).unwrap());
}

fn is_refuted(campaign: &Campaign, cpus: u16) {
    let tally = campaign.run(cpus, 400, true);
    println!("{} on {cpus} CPUs: {tally:?}", campaign.test);
    assert!(tally.broken > 0, "{tally:?}");
}

#[test]
fn control_mc2_without_bursts_is_refuted() {
    for cpus in [1, 2] {
        let campaign = Campaign::of(control("control-no-burst"), Kind::General);
        is_refuted(&campaign, cpus);
    }
}

/// Level B takes all that level A leaves.
#[test]
fn control_mc2_by_the_sum_for_any_periods_is_refuted() {
    is_refuted(&Campaign::of(control("control-any-periods"), Kind::Full), 1);
}

#[test]
fn control_mc2_by_the_sum_for_multiples_of_level_a_and_longer_tables_is_refuted() {
    let campaign = Campaign::of(control("control-own-cycle"), Kind::LongTables);
    is_refuted(&campaign, 1);
}

/// What level C waits for is lost.
#[test]
fn control_mc2_with_room_for_one_waiting_job_is_refuted() {
    let campaign = Campaign {
        change: Change::Backlog,
        ..Campaign::of(find("mc2", None).unwrap(), Kind::General)
    };
    is_refuted(&campaign, 1);
}

/// The order of the other test: what deadlines keep, rates do not.
#[test]
fn control_mc2_with_the_order_of_the_other_test_is_refuted() {
    let campaign = Campaign {
        order: LevelB::RateMonotonic,
        ..Campaign::of(find("mc2", None).unwrap(), Kind::General)
    };
    is_refuted(&campaign, 1);
}

/// A task of level C that overruns is in the way of the others, where budgets do not hold.
#[test]
fn control_mc2_with_a_task_that_overruns_and_no_budgets_is_refuted() {
    let campaign = Campaign {
        change: Change::NoBudgets,
        ..Campaign::of(find("mc2", None).unwrap(), Kind::General)
    };
    for cpus in [1, 2] {
        is_refuted(&campaign, cpus);
    }
}
