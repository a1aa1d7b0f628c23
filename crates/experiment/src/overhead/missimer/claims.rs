//! The paper's claims about bottom halves in servers, and two of ours about what they rest on, against what was measured.
//!
//! Intervals decide: those of the median over repetitions ([`median_interval`]), of differences or ratios of runs of the same
//! repetition where two systems are compared. All intervals of one claim are right together with 99 %. What lies inside of what a claim
//! says for certain confirms it, what lies outside for certain refutes it, and the rest is not decided.
//!
//! **What others took of the CPU** is looked at from both ends: as if it had no consequence, and as if all of it had been on the account of what is looked at.
//! A claim is confirmed or refuted if both ends say so. What the run's own threads executed is never counted as taken, so the truth lies nearer to the first end.
//!
//! **What a system did wrong** is not left out: a server at fault in one run refutes the first claim, and none of the paper about such runs is decided; a run whose
//! mode rises without a reason counts against what is said of the change.

use super::judged::{Change, DISTURBED, DISTURBED_VARIANCE, Lost};
use super::run::{Camera, Place, Run, System};
use super::set::COST_US;
use super::table::{Half, Table, Value, bend, halves, variance};
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
/// What there is after nothing to what there was, if there is something; nothing is not more than nothing.
const MANY: f64 = 1e9;
/// More than nothing, however little.
const SOME: f64 = f64::MIN_POSITIVE;
const ANY: f64 = f64::INFINITY;

/// What data say of a claim, and by which numbers.
type Answer = (Verdict, String);

/// What is run there with what.
type Kind = (Place, System);

struct Claim {
    of: &'static str,
    text: &'static str,
    /// Whose runs are looked at.
    about: &'static [Kind],
    /// Others may have taken one in so many parts of a run.
    disturbed: u64,
    check: fn(&Table) -> Answer,
}

const fn claim(about: &'static [Kind], text: &'static str, check: fn(&Table) -> Answer) -> Claim {
    Claim {
        of: "paper",
        text,
        about,
        disturbed: DISTURBED,
        check,
    }
}

const fn ours(about: &'static [Kind], text: &'static str, check: fn(&Table) -> Answer) -> Claim {
    let of = "vestal";
    Claim {
        of,
        ..claim(about, text, check)
    }
}

const ONLY: Kind = (Place::OneCamera, System::SsOnly);
const PIBS: Kind = (Place::OneCamera, System::SsPibs);
const ONLY_TWO: Kind = (Place::TwoCameras, System::SsOnly);
const PIBS_TWO: Kind = (Place::TwoCameras, System::SsPibs);
const CHANGE: Kind = (Place::Change, System::SsPibs);
const ALL: &[Kind] = &[ONLY, PIBS, ONLY_TWO, PIBS_TWO, CHANGE];
const BOTH: &[Kind] = &[ONLY, PIBS, ONLY_TWO, PIBS_TWO];

/// Every claim.
#[rustfmt::skip]
const CLAIMS: &[Claim] = &[
    ours(ALL, "No server of a camera gives more than its share, and none less than half of it while events wait.", keeps_shares),
    ours(&[CHANGE], "In runs with a change the mode rises at half time, and at no other but for what others took of the CPU.", rises_once),
    claim(&[ONLY], "SS-only switches to mode HI (Table II).", switches_mode),
    claim(&[PIBS], "SS+PIBS does not (Table II).", keeps_mode),
    claim(&[ONLY, PIBS], "With that SS-only starves the LO task: it completes at most half of the jobs that it completes under SS+PIBS (Fig. 12).", starves),
    claim(&[PIBS], "Under SS+PIBS both applications complete their jobs regularly (Fig. 12).", regular),
    claim(BOTH, "Scheduling takes more under SS-only than under SS+PIBS (Fig. 13).", takes_more),
    claim(BOTH, "It is more erratic under SS-only (Fig. 13, spread).", erratic),
    claim(&[ONLY, ONLY_TWO], "A second camera more than doubles it under SS-only (0.21 to 0.49 %).", doubles),
    claim(&[PIBS, PIBS_TWO], "A second camera adds little under SS+PIBS (0.03 %).", adds_little),
    claim(BOTH, "SS+PIBS switches threads half as often as SS-only (section III, of an example).", switches),
    claim(&[CHANGE], "After the change of mode camera 1 is read more (Fig. 14).", |t| changes(t, 0, true)),
    Claim { disturbed: DISTURBED_VARIANCE, ..claim(&[CHANGE], "And with more variance (Fig. 14).", varies) },
    claim(&[CHANGE], "Camera 2 is read less (Fig. 14).", |t| changes(t, 1, false)),
    claim(&[CHANGE], "Totals of both bend at the change (Fig. 15).", bends),
];

/// Every claim with what became of it.
#[must_use]
pub fn findings(table: &Table) -> Vec<Finding> {
    CLAIMS.iter().map(|claim| claim.finding(table)).collect()
}

impl Claim {
    fn finding(&self, table: &Table) -> Finding {
        let of = |lost| (self.check)(&table.looked_at(self.disturbed, lost));
        let (first, mut numbers) = of(Lost::Left);
        let (second, others) = of(Lost::TakenOut);
        if numbers != others {
            numbers = format!("{numbers}. With what others took taken out: {others}");
        }
        let runs = self.about.iter();
        let runs = runs.flat_map(|&(place, system)| table.all_of_place(place, system));
        let at_fault = runs.filter(|run| !run.faults().is_empty()).count();
        // What a system that is at fault shows is no evidence of the paper's; of ours it refutes.
        let is_ours = self.of != "paper";
        let is_spoilt = at_fault > 0 && !(is_ours && first == Verdict::Refuted);
        if is_spoilt {
            numbers = format!("{numbers}. A server of a camera was at fault in {at_fault} runs");
        }
        let verdict = match first == second && !is_spoilt {
            true => first,
            false => Verdict::NotDecided,
        };
        Finding {
            of: self.of.to_owned(),
            claim: self.text.to_owned(),
            verdict,
            numbers,
        }
    }
}

/// So many runs that count have to be there of each kind before what happened in none of them is confirmed: as many as for an interval.
const ENOUGH: usize = 10;

/// One run is enough to refute it.
fn keeps_shares(table: &Table) -> Answer {
    let (mut faults, mut fewest, mut most) = (0, usize::MAX, 0.0_f64);
    for &(place, system) in ALL {
        let all = || table.all_of_place(place, system);
        faults += all().filter(|run| !run.faults().is_empty()).count();
        fewest = fewest.min(table.of_place(place, system).count());
        for run in all() {
            let cameras = run.cameras.iter().enumerate();
            let parts = cameras.map(|(number, camera)| {
                as_f64(camera.charged_ns) / as_f64(run.share_ns(number).max(1))
            });
            most = parts.fold(most, f64::max);
        }
    }
    let verdict = verdict::from_evidence(fewest >= ENOUGH, faults > 0);
    let numbers = format!(
        "{faults} runs have a server at fault; the most that one was charged is {} of its share; at least {fewest} runs of each kind count",
        number(most)
    );
    (verdict, numbers)
}

fn rises_once(table: &Table) -> Answer {
    let (place, system) = CHANGE;
    let wrong = |run: &Run, _| Some(as_f64(u64::from(run.change() == Change::Wrong)));
    let each = vec![("runs".to_owned(), table.values(place, system, &wrong))];
    never_else("of each run, 1 if that is not so", each, (-ANY, 0.0))
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

/// How often the mode rose: with what others took taken out, those that it does not explain.
fn rises(table: &Table, (place, system): Kind, bounds: (f64, f64)) -> Answer {
    let values = table.values(place, system, &|run, lost| Some(as_f64(run.rises(lost))));
    let each = vec![(system.name().to_owned(), values)];
    never_else("rises of the mode in a run", each, bounds)
}

fn switches_mode(table: &Table) -> Answer {
    rises(table, ONLY, (1.0, ANY))
}

fn keeps_mode(table: &Table) -> Answer {
    rises(table, PIBS, (-ANY, 0.0))
}

/// What SS-only has more than SS+PIBS, of each repetition.
fn more(table: &Table, place: Place, value: Value<'_>) -> Vec<f64> {
    let pairs = table.pairs(
        [System::SsOnly, System::SsPibs].map(|system| (place, system)),
        value,
    );
    pairs.into_iter().map(|[only, pibs]| only - pibs).collect()
}

/// What others took may have been jobs under SS-only.
fn starves(table: &Table) -> Answer {
    let pairs = table.pairs([ONLY, PIBS], &|run, lost| match run.system {
        System::SsOnly => run.low_jobs_each_second(lost),
        System::SsPibs => run.completed_each_second(1),
    });
    let pairs = pairs.into_iter().filter(|[_, pibs]| *pibs > 0.0);
    let ratios = pairs.map(|[only, pibs]| only / pibs).collect();
    let each = vec![("ratio".to_owned(), ratios)];
    let what = "jobs of the LO application under SS-only to those under SS+PIBS";
    at_each(what, each, (0.0, STARVED))
}

fn regular(table: &Table) -> Answer {
    let (place, system) = PIBS;
    let each = [0, 1].map(|application| {
        let wait = |run: &Run, lost| Some(run.longest_wait(application, lost).unwrap_or(ANY));
        let values = table.values(place, system, &wait);
        (format!("application {}", application + 1), values)
    });
    let what = "longest time without a completed job, in periods";
    never_else(what, each.to_vec(), (0.0, REGULAR))
}

fn takes_more(table: &Table) -> Answer {
    let each = CAMERAS.map(|place| {
        let more = more(table, place, &|run, lost| Some(run.overhead(lost)));
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
            let all = table.values(place, system, &|run, lost| Some(run.overhead(lost)));
            Quartiles::of(all).map_or(0.0, |found| found.median)
        };
        let middles = [System::SsOnly, System::SsPibs].map(|system| (system, middle(system)));
        let off = |run: &Run, lost| {
            let mut middles = middles.iter();
            let (_, middle) = middles.find(|(system, _)| *system == run.system)?;
            Some((run.overhead(lost) - middle).abs())
        };
        (place.name().to_owned(), more(table, place, &off))
    });
    let what =
        "how much farther from its median an overhead is under SS-only, in percent of the time";
    at_each(what, each.to_vec(), (SOME, ANY))
}

/// What the overhead with one camera and with two is, of each repetition.
fn cameras(table: &Table, system: System) -> Vec<[f64; 2]> {
    table.pairs(CAMERAS.map(|place| (place, system)), &|run, lost| {
        Some(run.overhead(lost))
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
        let pairs = table.pairs(kinds, &|run, lost| Some(run.switches_each_second(lost)));
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

/// What is said of a camera before the change and after it. A run in which the mode rises wrongly is one more for which the claim is not so; one whose other
/// rises are explained by what others took says nothing.
fn of_halves(
    table: &Table,
    camera: usize,
    not_so: f64,
    of: impl Fn(&Run, &[Half; 2], Lost) -> Option<f64>,
) -> Vec<f64> {
    let (place, system) = CHANGE;
    table.values(place, system, &|run, lost| match run.change() {
        Change::AtHalfTime => of(run, &halves(run, run.cameras.get(camera)?)?, lost),
        Change::Explained => None,
        Change::Wrong => Some(not_so),
    })
}

/// So many events of a camera more might have been served but for what others took. Its budget limits it: there is no more in what it was charged beyond what
/// events took, and in its share of the time by which a burst may have begun later.
fn kept_from(run: &Run, camera: usize, lost: Lost) -> u64 {
    let of = |camera: &Camera| {
        let cost = COST_US * 1_000;
        let beyond = camera
            .charged_ns
            .saturating_sub(cost.saturating_mul(camera.served));
        beyond.min(run.lost_ns).saturating_add(run.lost_ns / 50) / cost
    };
    match lost {
        Lost::Left => 0,
        Lost::TakenOut => run.cameras.get(camera).map_or(0, of),
    }
}

/// What others took may have been taken from the camera in the half where the claim says that it is read less.
fn changes(table: &Table, camera: usize, is_more: bool) -> Answer {
    let (not_so, bounds) = match is_more {
        true => (0.0, (1.0 + f64::EPSILON, ANY)),
        false => (ANY, (-ANY, 1.0 - f64::EPSILON)),
    };
    let ratios = of_halves(table, camera, not_so, |run, [before, after], lost| {
        let events = kept_from(run, camera, lost);
        let (more, less) = if is_more { (events, 0) } else { (0, events) };
        let (before, after) = (before.mean(more), after.mean(less));
        // Nothing before and something after is more.
        Some(if before > 0.0 {
            after / before
        } else {
            after * MANY
        })
    });
    let each = vec![(format!("camera {}", camera + 1), ratios)];
    at_each(
        "events served after the change to those before it",
        each,
        bounds,
    )
}

fn varies(table: &Table) -> Answer {
    let more = of_halves(table, 0, -ANY, |_, [before, after], _| {
        Some(variance(&after.rates) - variance(&before.rates))
    });
    let what = "variance of the events in 100 ms after the change less that before it";
    at_each(what, vec![("camera 1".to_owned(), more)], (SOME, ANY))
}

fn bends(table: &Table) -> Answer {
    let each = [0, 1].map(|camera| {
        let distances = of_halves(table, camera, ANY, |run, [before, after], _| {
            let (before, after) = (before.mean(0), after.mean(0));
            // A line that goes straight on has a best place for a bend, too.
            if after < BENT * before && before < BENT * after {
                return Some(ANY);
            }
            let place = bend(run, run.cameras.get(camera)?)?;
            let distance = place.abs_diff(run.span_ns / 2);
            Some(as_f64(distance) / as_f64(run.span_ns.max(1)))
        });
        (format!("camera {}", camera + 1), distances)
    });
    let what =
        "how far the bend that fits best is from the change, as a share of the run (inf: none)";
    at_each(what, each.to_vec(), (0.0, NEAR))
}

#[cfg(test)]
#[path = "claims_tests.rs"]
mod tests;
