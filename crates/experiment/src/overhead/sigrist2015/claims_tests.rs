//! Claims against made-up runs of which the answer is known: each is confirmed by some, refuted by others and left open by others,
//! but for those that stand on what is extrapolated, which nothing decides.

use super::super::made_up::{drawn, with_parts};
use super::super::pairs::{split, with_others};
use super::super::plan::FULL;
use super::super::run::{PerCpu, Platform};
use super::*;
use Verdict::{Confirmed, NotDecided, Refuted};
use vestal_result::shares::PerCpuShare;

/// Sets of each place.
const SETS: u32 = 12;

const CPUS: [u16; 2] = [1, 2];

/// Something of everything.
const SOME: Events = Events {
    frames: 10,
    sub_frames: 18,
    dropped: 2,
    released: 20,
    completed: 20,
    mode_changes: 4,
};
const PERMILLE: [u32; 2] = [100, NORMAL];

/// What the runs of a variant are like: its parts at one CPU and the lower utilization, in nanoseconds of a millisecond.
struct Made {
    name: &'static str,
    parts: Vec<u64>,
    /// What the second CPU and the second utilization each multiply that with, in percent.
    grows: u64,
}

fn table(all: &[Made]) -> Table {
    let mut runs = Vec::new();
    for made in all {
        for cpus in CPUS {
            for (place, permille) in (0..).zip(PERMILLE) {
                for number in 0..SETS {
                    let steps = u32::from(cpus - 1) + place;
                    // Sets differ a little.
                    let of = |part: u64| {
                        part * made.grows.pow(steps) / 100_u64.pow(steps)
                            * (1000 + u64::from(number))
                            / 1000
                    };
                    let parts: Vec<u64> = made.parts.iter().map(|&part| of(part)).collect();
                    let place = drawn(cpus, permille);
                    let mut run = with_parts(place, number, made.name, &parts, 0);
                    run.events = SOME;
                    runs.push(run);
                }
            }
        }
    }
    Table::of(runs)
}

fn made(name: &'static str, parts: &[u64]) -> Made {
    let parts = parts.to_vec();
    Made {
        name,
        parts,
        grows: 150,
    }
}

/// The runs of the system of Table II with these scheduler and system overheads, ten times.
fn flight(name: &str, scheduler: u64, system: u64) -> Vec<Run> {
    let place = Place::Flight {
        platform: Platform::I5,
        cpus: 1,
    };
    let each = (0..SETS).map(|number| {
        with_parts(
            place,
            number,
            name,
            &[scheduler, 0, 0, 0, 0, 0],
            system + u64::from(number),
        )
    });
    each.collect()
}

fn with(table: Table, more: Vec<Run>) -> Table {
    Table::of([table.runs().to_vec(), more].concat())
}

/// Shares as the paper has them: of a millisecond a part of 1000 ns is 0.1 %.
fn like_the_paper() -> Table {
    let table = table(&[
        made("ftts/spin", &[100, 300, 50, 10, 20, 20]),
        made("ftts/sigrist2015", &[200, 800, 100, 50, 60, 60]),
        made("pedf-vd/manager", &[10, 10, 2, 1]),
        made("pedf-vd/sigrist2015", &[60, 60, 4, 1]),
    ]);
    with(
        table,
        [flight(SHARED, 300, 49_000), flight(OWN, 3_600, 2)].concat(),
    )
}

/// Everything the other way round.
fn reversed() -> Table {
    let table = table(&[
        Made {
            grows: 50,
            ..made("ftts/spin", &[40_000, 10, 10, 0, 0, 0])
        },
        Made {
            grows: 50,
            ..made("ftts/sigrist2015", &[0, 10, 90, 20_000, 0, 0])
        },
        made("pedf-vd/manager", &[9_000, 0, 0, 0]),
        made("pedf-vd/sigrist2015", &[10, 60_000, 40_000, 30_000]),
    ]);
    with(
        table,
        [flight(SHARED, 49_000, 300), flight(OWN, 2, 3_600)].concat(),
    )
}

fn verdicts(table: &Table, extrapolated: &[ShareCell]) -> Vec<Verdict> {
    let found = findings(Measured {
        table,
        extrapolated,
        measurement: Measurement::Shares,
    });
    assert!(found.iter().all(|finding| !finding.numbers.is_empty()));
    found.into_iter().map(|finding| finding.verdict).collect()
}

/// The places of claims on what is extrapolated.
const EXTRAPOLATED: [usize; 2] = [3, 5];

fn expected(each: Verdict) -> Vec<Verdict> {
    let all = (0..CLAIMS.len()).map(|index| match EXTRAPOLATED.contains(&index) {
        true => NotDecided,
        false => each,
    });
    all.collect()
}

#[test]
fn data_like_the_paper_s_confirm_every_claim_that_was_measured() {
    assert_eq!(verdicts(&like_the_paper(), &[]), expected(Confirmed));
}

#[test]
fn data_the_other_way_round_refute_every_claim_that_was_measured() {
    assert_eq!(verdicts(&reversed(), &[]), expected(Refuted));
}

#[test]
fn too_few_sets_and_none_decide_nothing() {
    let runs = like_the_paper().runs().to_vec();
    let few = runs.into_iter().filter(|run| run.number < 5).collect();
    assert_eq!(
        verdicts(&Table::of(few), &[]),
        vec![NotDecided; CLAIMS.len()]
    );
    assert_eq!(
        verdicts(&Table::default(), &[]),
        vec![NotDecided; CLAIMS.len()]
    );
}

/// Half of the sets say this, and half that.
#[test]
fn sets_that_disagree_decide_nothing() {
    let (yes, no) = (like_the_paper(), reversed());
    let halves = yes.runs().iter().filter(|run| run.number % 2 == 0);
    let halves = halves.chain(no.runs().iter().filter(|run| run.number % 2 == 1));
    let table = Table::of(halves.cloned().collect());
    assert_eq!(verdicts(&table, &[]), vec![NotDecided; CLAIMS.len()]);
}

fn cell(cpus: u16, permille: u32, mean: f64) -> ShareCell {
    ShareCell {
        variant: "ftts/sigrist2015".to_owned(),
        set: "drawn".to_owned(),
        cpus,
        utilization_permille: Some(permille),
        extrapolated: true,
        runs: 20,
        left_out: 0,
        employed: f64::from(cpus),
        parts: vestal_result::Ordered::default(),
        scheduler: PerCpuShare {
            mean,
            ..PerCpuShare::default()
        },
        system: None,
    }
}

#[test]
fn what_is_extrapolated_is_shown_and_decides_nothing() {
    let up = [
        cell(8, 100, 0.01),
        cell(8, 200, 0.02),
        cell(16, 100, 0.03),
        cell(16, 200, 0.04),
    ];
    let down = [
        cell(8, 100, 0.04),
        cell(8, 200, 0.03),
        cell(16, 100, 0.02),
        cell(16, 200, 0.01),
    ];
    let table = like_the_paper();
    for (cells, says) in [
        (&up, "each step is one up"),
        (&down, "not each step is one up"),
    ] {
        let found = findings(Measured {
            table: &table,
            extrapolated: cells,
            measurement: Measurement::Shares,
        });
        for index in EXTRAPOLATED {
            assert_eq!(found[index].verdict, NotDecided);
            let numbers = &found[index].numbers;
            assert!(
                numbers.contains(&format!("decides nothing; {says}")),
                "{numbers}"
            );
        }
    }
    // What was measured on as many CPUs is no extrapolation up from there.
    let same = [cell(1, 100, 0.01), cell(2, 100, 0.02)];
    let found = findings(Measured {
        table: &table,
        extrapolated: &same,
        measurement: Measurement::Shares,
    });
    assert!(
        found[EXTRAPOLATED[0]].numbers.starts_with("not measured"),
        "{found:?}"
    );
}

/// Growth is judged by the paper's mechanism, and ours stands beside: of theirs it grows here, of ours it falls.
#[test]
fn ours_stands_beside_where_the_paper_s_mechanism_is_judged() {
    let table = table(&[
        made("ftts/sigrist2015", &[200, 800, 100, 50, 60, 60]),
        Made {
            grows: 50,
            ..made("ftts/spin", &[100, 300, 50, 10, 20, 20])
        },
    ]);
    let all = changed(&table, |_| ());
    for words in ["(Fig. 6): from 1 to 2", "utilization: on 1 and on 2"] {
        let found = of(&all, words);
        assert_eq!(found.verdict, Confirmed, "{found:?}");
        let beside = ". Beside: ftts/spin, of which it would be refuted: from";
        assert!(found.numbers.contains(beside), "{found:?}");
    }
    let theirs = table.runs().iter().filter(|run| run.variant != "ftts/spin");
    let alone = of_pairs(&Table::of(theirs.cloned().collect()));
    let numbers = &of(&alone, "utilization: on 1 and on 2").numbers;
    assert!(
        numbers.ends_with(". Beside: ours was not measured"),
        "{numbers}"
    );
}

/// Dominance is the paper's mechanism's: ours decides nothing, and is shown.
#[test]
fn without_the_papers_mechanism_ours_stands_for_it_but_not_in_dominance_and_table_2() {
    let ours = |run: &&Run| !run.variant.contains("sigrist2015");
    let runs = like_the_paper()
        .runs()
        .iter()
        .filter(ours)
        .cloned()
        .collect();
    let found = findings(Measured {
        table: &Table::of(runs),
        extrapolated: &[],
        measurement: Measurement::Shares,
    });
    let of = |words: &str| {
        found
            .iter()
            .find(|finding| finding.claim.contains(words))
            .unwrap()
    };
    assert_eq!(of("sub-frame initialization").verdict, NotDecided);
    let numbers = &of("sub-frame initialization").numbers;
    assert!(
        numbers.contains("was not measured. Beside: ftts/spin, of which it would be confirmed"),
        "{numbers}"
    );
    assert_eq!(of("Table II, Core i5").verdict, NotDecided);
    assert_eq!(of("job arrival and job finish").verdict, Confirmed);
    assert!(
        of("job arrival and job finish")
            .numbers
            .starts_with("pedf-vd/manager")
    );
}

fn of<'a>(found: &'a [Finding], words: &str) -> &'a Finding {
    let mut found = found.iter();
    found
        .find(|finding| finding.claim.contains(words))
        .unwrap_or_else(|| panic!("no claim on {words}"))
}

fn changed(table: &Table, mut change: impl FnMut(&mut Run)) -> Vec<Finding> {
    let mut runs = table.runs().to_vec();
    runs.iter_mut().for_each(&mut change);
    findings(Measured {
        table: &Table::of(runs),
        extrapolated: &[],
        measurement: Measurement::Shares,
    })
}

/// What no run had took nothing in any: that is no measurement of what it takes.
#[test]
fn claims_about_overruns_take_overruns() {
    let about = ["sub-frame overruns takes", "overruns of jobs take"];
    let none = changed(&like_the_paper(), |run| {
        (run.events.dropped, run.events.mode_changes) = (0, 0);
    });
    for words in about {
        let found = of(&none, words);
        assert_eq!(found.verdict, NotDecided, "{found:?}");
        assert!(found.numbers.contains("0 of 12 runs have any"), "{found:?}");
    }
    // Runs without any took nothing, and do not count beside those that have some.
    let few = changed(&reversed(), |run| {
        if run.number % 4 > 0 {
            (run.events.dropped, run.events.mode_changes) = (0, 0);
            run.parts[3] = Some(PerCpu::default());
        }
    });
    for words in about {
        let found = of(&few, words);
        assert_eq!(found.verdict, NotDecided, "{found:?}");
        assert!(found.numbers.contains("3 of 12 runs have any"), "{found:?}");
    }
    assert_eq!(of(&few, "Overrun monitoring").verdict, Refuted);
}

#[test]
fn a_part_that_was_not_measured_is_no_part_that_takes_nothing() {
    let found = changed(&like_the_paper(), |run| {
        // Monitoring of one kind, the barrier of the other.
        run.parts[2] = None;
    });
    for words in [
        "Overrun monitoring",
        "job arrival and job finish",
        "sub-frame initialization",
    ] {
        assert_eq!(of(&found, words).verdict, NotDecided, "{words}");
    }
}

/// Of each place a run is lost, to a late frame for instance.
#[test]
fn a_full_measurement_less_a_run_of_each_place_decides() {
    let permille = FULL.permille.iter().copied().zip(0..);
    let mut runs = Vec::new();
    for &cpus in FULL.cpus {
        for (permille, step) in permille.clone() {
            for number in 0..FULL.sets {
                for (name, takes) in [("ftts/sigrist2015", 9_000), ("pedf-vd/sigrist2015", 900)] {
                    let nanos = takes + u64::from(cpus) * 100 + step * 10;
                    let place = drawn(cpus, permille);
                    let mut run = with_parts(place, number, name, &[nanos / 6; 6], 0);
                    run.kept = number > 0;
                    runs.push(run);
                }
            }
        }
    }
    let found = findings(Measured {
        table: &Table::of(runs),
        extrapolated: &[],
        measurement: Measurement::Shares,
    });
    let found = of(&found, "FTTS takes more than pEDF-VD");
    assert_eq!(found.verdict, Confirmed, "{found:?}");
    let places = found.numbers.matches("confirmed").count();
    assert_eq!(places, FULL.cpus.len() * FULL.permille.len());
}

/// All runs on two CPUs were late.
#[test]
fn a_place_of_table_2_without_a_run_that_counts_is_not_decided() {
    let place = Place::Flight {
        platform: Platform::I5,
        cpus: 2,
    };
    let mut late = flight(SHARED, 300, 49_000);
    late.extend(flight(OWN, 3_600, 2));
    for run in &mut late {
        (run.place, run.kept) = (place, false);
    }
    let table = with(like_the_paper(), late);
    for words in [
        "Table II, Core i5",
        "Table II, Xeon Phi",
        "Table II, read across",
    ] {
        let all = changed(&table, |_| ());
        let found = of(&all, words);
        assert_eq!(found.verdict, NotDecided, "{found:?}");
        assert!(
            found.numbers.contains("fms-i5 on 2 CPUs - (0 are too few"),
            "{found:?}"
        );
    }
}

fn of_pairs(table: &Table) -> Vec<Finding> {
    findings(Measured {
        table,
        extrapolated: &[],
        measurement: Measurement::Pairs,
    })
}

/// Five claims are judged by pairs. Where sets drawn anew decide nothing what pairs say stands in their place, and else beside them.
#[test]
fn pairs_have_the_word_where_sets_drawn_anew_decide_nothing() {
    let pairs = of_pairs(&like_the_paper());
    assert_eq!(pairs.len(), 5);
    for paired in &pairs {
        assert_eq!(paired.verdict, Confirmed);
        assert_eq!(split(&paired.claim).1, Measurement::Pairs, "{paired:?}");
    }
    let few = like_the_paper().runs().to_vec();
    let few = Table::of(few.into_iter().filter(|run| run.number < 5).collect());
    let own = changed(&few, |_| ());
    let both = with_others(&own, &pairs);
    assert_eq!(both.len(), CLAIMS.len());
    for (both, own) in both.iter().zip(&own) {
        match split(&both.claim) {
            (claim, Measurement::Pairs) => {
                assert_eq!((claim, both.verdict), (own.claim.as_str(), Confirmed));
                assert!(both.numbers.contains("(not decided): "), "{both:?}");
                assert!(both.numbers.ends_with(&own.numbers));
            }
            (_, _) => assert_eq!(both, own),
        }
    }
    let replaced = |all: &[Finding]| {
        let of_pairs = all
            .iter()
            .filter(|one| split(&one.claim).1 == Measurement::Pairs);
        of_pairs.count()
    };
    assert_eq!(replaced(&both), 5);
    // A contradiction is not hidden.
    let own = changed(&reversed(), |_| ());
    let both = with_others(&own, &pairs);
    assert_eq!((both.len(), replaced(&both)), (CLAIMS.len() + 5, 5));
    for one in own.iter().chain(&pairs) {
        assert!(both.contains(one), "{one:?}");
    }
    assert_eq!(with_others(&own, &[]), own);
    // What was not asked before stands at the end.
    let new = Finding {
        claim: format!("Another one.{}", of_which(Measurement::Growth)),
        ..own[0].clone()
    };
    let more = with_others(&own, std::slice::from_ref(&new));
    assert_eq!((more.len(), more.last()), (own.len() + 1, Some(&new)));
}

/// Where there is one CPU to measure on.
#[test]
fn what_is_claimed_of_two_numbers_of_cpus_is_not_confirmed_by_one() {
    let runs = like_the_paper().runs().to_vec();
    let one = Table::of(
        runs.into_iter()
            .filter(|run| run.place.cpus() == 1)
            .collect(),
    );
    let found = of_pairs(&one);
    let found = of(&found, "utilization: on 1 and on 2");
    assert_eq!(found.verdict, NotDecided, "{found:?}");
    assert!(found.numbers.contains("; confirmed"), "{found:?}");
    let down = reversed().runs().to_vec();
    let one = Table::of(
        down.into_iter()
            .filter(|run| run.place.cpus() == 1)
            .collect(),
    );
    let found = of_pairs(&one);
    assert_eq!(of(&found, "utilization: on 1 and on 2").verdict, Refuted);
}

#[test]
fn of_pairs_it_is_said_on_how_many_cpus_there_were_tasks() {
    let mut runs = like_the_paper().runs().to_vec();
    for run in &mut runs {
        run.employed = 1;
    }
    let table = Table::of(runs);
    let found = of_pairs(&table);
    for words in ["arrival and job finish", "overruns of jobs take"] {
        let numbers = &of(&found, words).numbers;
        assert!(
            numbers.contains("2 CPUs at U/m 0.1 (tasks on 1.0 of them)"),
            "{numbers}"
        );
        assert!(!numbers.contains("1 CPU at U/m 0.1 (tasks"), "{numbers}");
    }
}

/// By hand: the interval of one of three medians, right with 99 % together, is all of eleven values. Of 0.0001, 0.0002, .. 0.0006, then 0.0016, .. 0.0020 % the median is 0.0006; toward the bound 0 lies 0.0001.
#[test]
fn the_resolution_is_how_far_the_median_lies_from_the_end_of_its_interval_toward_the_bound() {
    let more: [u64; 11] = [1, 2, 3, 4, 5, 6, 16, 17, 18, 19, 20];
    let mut runs = Vec::new();
    for (cpus, add) in [(1, 0), (2, 1)] {
        for permille in [100, 200, 400] {
            for (number, more) in (0..).zip(more) {
                let nanos = 1_000 + add * more;
                let place = drawn(cpus, permille);
                let run = with_parts(place, number, "ftts/sigrist2015", &[nanos], 0);
                runs.push(run);
            }
        }
    }
    let table = Table::of(runs);
    let found = of_pairs(&table);
    let grown = of(&found, "grows with the number of cores (Fig. 6): from");
    assert_eq!(grown.verdict, Confirmed, "{grown:?}");
    let numbers = "0.0006 (0.0001 to 0.0020; confirmed; 11 sets; resolution 0.0005)";
    assert_eq!(grown.numbers.matches(numbers).count(), 3, "{grown:?}");
    // None is there where the interval is not, and elsewhere none is shown.
    let few = table.runs().iter().filter(|run| run.number < 5).cloned();
    let few = of_pairs(&Table::of(few.collect()));
    assert!(few.iter().all(|one| !one.numbers.contains("resolution")));
    let plain = changed(&table, |_| ());
    assert!(plain.iter().all(|one| !one.numbers.contains("resolution")));
}
