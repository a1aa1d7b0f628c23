//! The paper's claims about bottom halves in servers, against what was measured.
//!
//! Intervals decide: those of the median over repetitions ([`median_interval`]), of differences or ratios of runs of the same
//! repetition where two systems are compared. All intervals of one claim are right together with 99 %. What lies inside of what a claim
//! says for certain confirms it, what lies outside for certain refutes it, and the rest is not decided.

use super::run::{Place, Run, System};
use super::table::{Table, bend, halves, mean, variance};
use crate::number::as_f64;
use crate::overhead::claims::inside;
use crate::verdict;
use vestal_result::claim::{Finding, Verdict};
use vestal_statistics::{Quartiles, median_interval};

/// What is regular completes a job at least this often, in periods; the threshold is ours.
const REGULAR: f64 = 1.5;
/// What more than doubles grows to so many times as much.
const DOUBLE: f64 = 2.0;
/// A small increase of overhead, in percent of the time: the paper has 0.03, and this is ours.
const SMALL: f64 = 0.05;
/// Half as often, give or take a tenth; the margin is ours.
const HALF: (f64, f64) = (0.4, 0.6);
/// How far from the change totals bend, as a share of the run; ours.
const NEAR: f64 = 0.05;
/// What bends has at least so many times the slope on one side of it that it has on the other; ours.
const BENT: f64 = 2.0;
/// Who starves completes at most so much of what it completes else; ours.
const STARVED: f64 = 0.5;
/// More than nothing, however little.
const SOME: f64 = f64::MIN_POSITIVE;
const ANY: f64 = f64::INFINITY;

/// What data say of a claim, and by which numbers.
type Answer = (Verdict, String);

struct Claim {
    text: &'static str,
    check: fn(&Table) -> Answer,
}

const fn claim(text: &'static str, check: fn(&Table) -> Answer) -> Claim {
    Claim { text, check }
}

/// Every claim; all of them are the paper's.
#[rustfmt::skip]
const CLAIMS: &[Claim] = &[
    claim("SS-only switches to mode HI (Table II).", switches_mode),
    claim("SS+PIBS does not (Table II).", keeps_mode),
    claim("With that SS-only starves the LO task: it completes at most half of the jobs that it completes under SS+PIBS (Fig. 12).", starves),
    claim("Under SS+PIBS both applications complete their jobs regularly (Fig. 12).", regular),
    claim("Scheduling takes more under SS-only than under SS+PIBS (Fig. 13).", takes_more),
    claim("It is more erratic under SS-only (Fig. 13, spread).", erratic),
    claim("A second camera more than doubles it under SS-only (0.21 to 0.49 %).", doubles),
    claim("A second camera adds little under SS+PIBS (0.03 %).", adds_little),
    claim("SS+PIBS switches threads half as often as SS-only (section III, of an example).", switches),
    claim("After the change of mode camera 1 is read more (Fig. 14).", |t| changes(t, 0, (1.0 + f64::EPSILON, ANY))),
    claim("And with more variance (Fig. 14).", varies),
    claim("Camera 2 is read less (Fig. 14).", |t| changes(t, 1, (-ANY, 1.0 - f64::EPSILON))),
    claim("Totals of both bend at the change (Fig. 15).", bends),
];

/// Every claim with what became of it.
#[must_use]
pub fn findings(table: &Table) -> Vec<Finding> {
    let all = CLAIMS.iter().map(|claim| {
        let (verdict, numbers) = (claim.check)(table);
        Finding {
            of: "paper".to_owned(),
            claim: claim.text.to_owned(),
            verdict,
            numbers,
        }
    });
    all.collect()
}

/// Whether medians lie between bounds for each of these, and the medians with their intervals.
fn at_each(what: &str, each: Vec<(String, Vec<f64>)>, (low, high): (f64, f64)) -> Answer {
    let family = each.len();
    let (mut verdicts, mut parts) = (Vec::new(), Vec::new());
    for (name, values) in each {
        let count = values.len();
        let interval = median_interval(values.clone(), family);
        let middle =
            Quartiles::of(values).map_or_else(|| "-".to_owned(), |found| number(found.median));
        let certain = match interval {
            Some((from, to)) => format!("{} to {}", number(from), number(to)),
            None => format!("{count} are too few"),
        };
        let verdict = inside(interval, low, high);
        parts.push(format!("{name} {middle} ({certain}; {verdict})"));
        verdicts.push(verdict);
    }
    (
        verdict::all(verdicts),
        format!("{what}: {}", parts.join(", ")),
    )
}

/// The same of what no run is an exception to: one that is keeps it from being confirmed.
fn never_else(what: &str, each: Vec<(String, Vec<f64>)>, (low, high): (f64, f64)) -> Answer {
    let all = each.iter().flat_map(|(_, values)| values.iter().copied());
    let is_inside = |value: &f64| (low..=high).contains(value);
    let exceptions = all.clone().filter(|value| !is_inside(value)).count();
    let most = all.fold(f64::NEG_INFINITY, f64::max);
    let (verdict, numbers) = at_each(what, each, (low, high));
    let verdict = match verdict {
        Verdict::Confirmed if exceptions > 0 => Verdict::NotDecided,
        Verdict::Confirmed | Verdict::Refuted | Verdict::NotDecided => verdict,
    };
    let numbers = format!(
        "{numbers}; {exceptions} values are outside, the most is {}",
        number(most)
    );
    (verdict, numbers)
}

fn number(value: f64) -> String {
    format!("{value:.4}")
}

const CAMERAS: [Place; 2] = [Place::OneCamera, Place::TwoCameras];

/// In runs in which not each rise may be due to what others took of the CPU.
fn switches_mode(table: &Table) -> Answer {
    let own = |run: &Run| run.own_rises().map(as_f64);
    let values = table.values(Place::OneCamera, System::SsOnly, &own);
    let each = vec![(System::SsOnly.name().to_owned(), values)];
    let what = "rises of the mode in a run that has none, or more than others took the CPU";
    never_else(what, each, (1.0, ANY))
}

/// Whatever the reason.
fn keeps_mode(table: &Table) -> Answer {
    let all = |run: &Run| Some(as_f64(run.rises_ns.len() as u64));
    let values = table.values(Place::OneCamera, System::SsPibs, &all);
    let each = vec![(System::SsPibs.name().to_owned(), values)];
    never_else("rises of the mode in a run", each, (-ANY, 0.0))
}

/// What SS-only has more than SS+PIBS, of each repetition.
fn more(table: &Table, place: Place, value: &dyn Fn(&Run) -> Option<f64>) -> Vec<f64> {
    let pairs = table.pairs(
        [System::SsOnly, System::SsPibs].map(|system| (place, system)),
        value,
    );
    pairs.into_iter().map(|[only, pibs]| only - pibs).collect()
}

fn starves(table: &Table) -> Answer {
    let kinds = [System::SsOnly, System::SsPibs].map(|system| (Place::OneCamera, system));
    let pairs = table.pairs(kinds, &|run| run.completed_each_second(1));
    let pairs = pairs.into_iter().filter(|[_, pibs]| *pibs > 0.0);
    let ratios = pairs.map(|[only, pibs]| only / pibs).collect();
    let each = vec![("ratio".to_owned(), ratios)];
    let what = "jobs of the LO application under SS-only to those under SS+PIBS";
    at_each(what, each, (0.0, STARVED))
}

fn regular(table: &Table) -> Answer {
    let each = [0, 1].map(|application| {
        let wait = |run: &Run| Some(run.longest_wait(application).unwrap_or(ANY));
        let values = table.values(Place::OneCamera, System::SsPibs, &wait);
        (format!("application {}", application + 1), values)
    });
    let what = "longest time without a completed job, in periods";
    never_else(what, each.to_vec(), (0.0, REGULAR))
}

fn takes_more(table: &Table) -> Answer {
    let each = CAMERAS.map(|place| {
        let more = more(table, place, &|run| Some(run.overhead()));
        (place.name().to_owned(), more)
    });
    at_each(
        "percent of the time more under SS-only",
        each.to_vec(),
        (SOME, ANY),
    )
}

/// How far overheads of runs are from the median of their kind: more so under SS-only, in each repetition.
fn erratic(table: &Table) -> Answer {
    let each = CAMERAS.map(|place| {
        let middle = |system| {
            let all = table.values(place, system, &|run| Some(run.overhead()));
            Quartiles::of(all).map_or(0.0, |found| found.median)
        };
        let middles = [System::SsOnly, System::SsPibs].map(|system| (system, middle(system)));
        let off = |run: &Run| {
            let mut middles = middles.iter();
            let (_, middle) = middles.find(|(system, _)| *system == run.system)?;
            Some((run.overhead() - middle).abs())
        };
        (place.name().to_owned(), more(table, place, &off))
    });
    let what =
        "how much farther from its median an overhead is under SS-only, in percent of the time";
    at_each(what, each.to_vec(), (SOME, ANY))
}

/// What the overhead with one camera and with two is, of each repetition.
fn cameras(table: &Table, system: System) -> Vec<[f64; 2]> {
    table.pairs(CAMERAS.map(|place| (place, system)), &|run| {
        Some(run.overhead())
    })
}

fn doubles(table: &Table) -> Answer {
    let pairs = cameras(table, System::SsOnly).into_iter();
    let ratios = pairs
        .filter(|[one, _]| *one > 0.0)
        .map(|[one, two]| two / one);
    let each = vec![("SS-only".to_owned(), ratios.collect())];
    at_each(
        "overhead with two cameras to that with one",
        each,
        (DOUBLE, ANY),
    )
}

fn adds_little(table: &Table) -> Answer {
    let pairs = cameras(table, System::SsPibs).into_iter();
    let added = pairs.map(|[one, two]| two - one).collect();
    let each = vec![("SS+PIBS".to_owned(), added)];
    at_each(
        "percent of the time more with two cameras",
        each,
        (-ANY, SMALL),
    )
}

fn switches(table: &Table) -> Answer {
    let each = CAMERAS.map(|place| {
        let kinds = [System::SsPibs, System::SsOnly].map(|system| (place, system));
        let pairs = table.pairs(kinds, &|run| Some(run.each_second(run.switches)));
        let pairs = pairs.into_iter().filter(|[_, only]| *only > 0.0);
        let ratios = pairs.map(|[pibs, only]| pibs / only).collect();
        (place.name().to_owned(), ratios)
    });
    at_each(
        "switches under SS+PIBS to those under SS-only",
        each.to_vec(),
        HALF,
    )
}

/// What is said of a camera's windows before the change and after it, in runs in which that is the only one.
fn of_halves(table: &Table, camera: usize, of: impl Fn(&[f64], &[f64]) -> Option<f64>) -> Vec<f64> {
    table.values(Place::Change, System::SsPibs, &|run| {
        let camera = run.cameras.get(camera)?;
        let [before, after] = halves(run, camera).filter(|_| run.changes_at_half_time())?;
        of(&before, &after)
    })
}

fn changes(table: &Table, camera: usize, bounds: (f64, f64)) -> Answer {
    let ratios = of_halves(table, camera, |before, after| {
        let before = mean(before);
        (before > 0.0).then(|| mean(after) / before)
    });
    let each = vec![(format!("camera {}", camera + 1), ratios)];
    at_each(
        "events served after the change to those before it",
        each,
        bounds,
    )
}

fn varies(table: &Table) -> Answer {
    let more = of_halves(table, 0, |before, after| {
        Some(variance(after) - variance(before))
    });
    let what = "variance of the events in 100 ms after the change less that before it";
    at_each(what, vec![("camera 1".to_owned(), more)], (SOME, ANY))
}

fn bends(table: &Table) -> Answer {
    let each = [0, 1].map(|camera| {
        let distances = table.values(Place::Change, System::SsPibs, &|run| {
            let camera = run.cameras.get(camera)?;
            let halves = halves(run, camera).filter(|_| run.changes_at_half_time())?;
            let [before, after] = halves.map(|windows| mean(&windows));
            // A line that goes straight on has a best place for a bend, too.
            if after < BENT * before && before < BENT * after {
                return Some(ANY);
            }
            let windows = as_f64(camera.served_by.len() as u64);
            let place = as_f64(bend(&camera.served_by)? as u64);
            Some((place - windows / 2.0).abs() / windows)
        });
        (format!("camera {}", camera + 1), distances)
    });
    let what =
        "how far the bend that fits best is from the change, as a share of the run (inf: none)";
    at_each(what, each.to_vec(), (0.0, NEAR))
}

#[cfg(test)]
mod tests {
    use super::super::made_up::{camera, made};
    use super::super::run::WINDOW_NS;
    use super::*;
    use Verdict::{Confirmed, NotDecided, Refuted};

    const REPETITIONS: u32 = 12;

    fn table(of: impl Fn(Place, System, u32) -> Run, repetitions: u32) -> Table {
        let kinds = Place::ALL.iter().flat_map(|&place| {
            let systems = place.systems().iter();
            systems.map(move |&system| (place, system))
        });
        let runs = kinds.flat_map(|(place, system)| {
            let of = &of;
            (0..repetitions).map(move |repetition| of(place, system, repetition))
        });
        Table::of(runs.collect())
    }

    /// A hundredth of a percent of four seconds.
    const HUNDREDTH: u64 = 400_000;

    fn like_the_paper(place: Place, system: System, repetition: u32) -> Run {
        let mut run = made(place, system, repetition);
        let noise = u64::from(repetition % 5);
        match (place, system) {
            (Place::OneCamera | Place::TwoCameras, System::SsOnly) => {
                let two = place == Place::TwoCameras;
                run.scheduler_ns = HUNDREDTH * (if two { 49 } else { 21 } + noise);
                run.switches = 2_000;
                run.rises_ns = vec![1, 2, 3];
                // The LO application completes every third job.
                run.completed_ns[1].retain(|at| (at / WINDOW_NS).is_multiple_of(3));
            }
            (Place::OneCamera | Place::TwoCameras, System::SsPibs) => {
                let two = place == Place::TwoCameras;
                run.scheduler_ns = HUNDREDTH * if two { 13 } else { 10 } + noise * HUNDREDTH / 10;
                run.switches = 1_000;
            }
            (Place::Change, _) => {
                run.cameras = vec![camera(10, 100, 30), camera(100, 10, 0)];
            }
        }
        run
    }

    /// Everything the other way round: systems change places, and cameras, and nothing is regular.
    fn reversed(place: Place, system: System, repetition: u32) -> Run {
        let other = match system {
            System::SsOnly => System::SsPibs,
            System::SsPibs => System::SsOnly,
        };
        let mut run = match place {
            Place::Change => like_the_paper(place, system, repetition),
            Place::OneCamera | Place::TwoCameras => like_the_paper(place, other, repetition),
        };
        run.system = system;
        run.switches = 1_000;
        if place == Place::Change {
            // Of the second one the totals bend early.
            let mut early = camera(10, 100, 0);
            let total = |window: u64| 10 * window + 90 * window.saturating_sub(5);
            early.served_by = (0..40).map(total).collect();
            let mut calm = camera(100, 10, 0);
            for (window, sum) in (0_u64..).zip(&mut calm.served_by) {
                // It varies before.
                *sum += if window < 20 { 30 * (window % 2) } else { 0 };
            }
            run.cameras = vec![calm, early];
        }
        run
    }

    fn verdicts(table: &Table) -> Vec<Verdict> {
        let found = findings(table);
        assert!(found.iter().all(|finding| !finding.numbers.is_empty()));
        found.into_iter().map(|finding| finding.verdict).collect()
    }

    #[test]
    fn data_like_the_paper_s_confirm_every_claim() {
        let table = table(like_the_paper, REPETITIONS);
        for finding in findings(&table) {
            assert_eq!(
                finding.verdict, Confirmed,
                "{}: {}",
                finding.claim, finding.numbers
            );
        }
    }

    #[test]
    fn data_the_other_way_round_refute_every_claim() {
        let table = table(reversed, REPETITIONS);
        for finding in findings(&table) {
            assert_eq!(
                finding.verdict, Refuted,
                "{}: {}",
                finding.claim, finding.numbers
            );
        }
    }

    #[test]
    fn too_few_repetitions_and_none_decide_nothing() {
        for repetitions in [0, 2, 5] {
            let found = verdicts(&table(like_the_paper, repetitions));
            assert_eq!(found, vec![NotDecided; CLAIMS.len()], "{repetitions}");
        }
    }

    fn verdict_of(table: &Table, text: &str) -> Verdict {
        let found = findings(table);
        let mut found = found
            .into_iter()
            .filter(|finding| finding.claim.contains(text));
        let verdict = found.next().unwrap().verdict;
        assert!(found.next().is_none(), "{text}");
        verdict
    }

    /// Many repetitions, so that the median is certain all the same.
    #[test]
    fn one_run_that_is_an_exception_keeps_what_never_happens_from_being_confirmed() {
        let one = |place, system, repetition| {
            let mut run = like_the_paper(place, system, repetition);
            if system == System::SsPibs && place == Place::OneCamera && repetition == 7 {
                run.rises_ns = vec![1; 50];
                run.completed_ns[1].retain(|at| *at < 10 * WINDOW_NS);
            }
            run
        };
        let (like, with_one) = (table(like_the_paper, 24), table(one, 24));
        for text in ["SS+PIBS does not", "complete their jobs regularly"] {
            assert_eq!(verdict_of(&like, text), Confirmed, "{text}");
            assert_eq!(verdict_of(&with_one, text), NotDecided, "{text}");
        }
    }

    /// As many repetitions as of the paper's data, of which each is confirmed.
    #[test]
    fn runs_that_are_about_something_else_decide_nothing() {
        let spoilt = |spoil: fn(&mut Run)| {
            let of = move |place, system, repetition| {
                let mut run = like_the_paper(place, system, repetition);
                spoil(&mut run);
                run
            };
            verdicts(&table(of, REPETITIONS))
        };
        let nothing = vec![NotDecided; CLAIMS.len()];
        assert_eq!(spoilt(|run| run.lost_ns = run.span_ns / 500), nothing);
        let idle = |run: &mut Run| {
            for camera in &mut run.cameras {
                (camera.served, camera.dropped) = (camera.sent, 0);
            }
        };
        assert_eq!(spoilt(idle), nothing);
        // A second rise, or one at another time, decides nothing of the change; gaps for each rise nothing of that.
        let again = spoilt(|run| run.rises_ns.push(1));
        assert_eq!(again.iter().rposition(|it| *it == Confirmed), Some(8));
        let gaps = spoilt(|run| run.gaps = 3);
        assert_eq!(gaps.iter().position(|it| *it != Confirmed), Some(0));
        assert_eq!(gaps.iter().filter(|it| **it != Confirmed).count(), 1);
    }

    /// One job less in forty is no starving.
    #[test]
    fn who_completes_a_job_less_does_not_starve() {
        let of = |place, system, repetition| {
            let mut run = like_the_paper(place, System::SsPibs, repetition);
            run.system = system;
            if system == System::SsOnly {
                run.completed_ns[1].pop();
            }
            run
        };
        assert_eq!(verdict_of(&table(of, REPETITIONS), "starves"), Refuted);
    }

    #[test]
    fn totals_of_one_rate_bend_nowhere() {
        let of = |place, system, repetition: u32| {
            let mut run = like_the_paper(place, system, repetition);
            let varies = u64::from(repetition % 7);
            run.cameras = vec![camera(50, 52, varies); run.cameras.len()];
            run
        };
        assert_eq!(verdict_of(&table(of, REPETITIONS), "bend"), Refuted);
    }

    /// Half of the repetitions are like the paper's, half the other way round.
    #[test]
    fn data_that_differ_decide_nothing() {
        let mixed = |place, system, repetition: u32| match repetition.is_multiple_of(2) {
            true => like_the_paper(place, system, repetition),
            false => reversed(place, system, repetition),
        };
        for finding in findings(&table(mixed, REPETITIONS)) {
            assert_eq!(
                finding.verdict, NotDecided,
                "{}: {}",
                finding.claim, finding.numbers
            );
        }
    }
}
