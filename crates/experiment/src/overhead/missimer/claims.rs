//! The paper's claims about bottom halves in servers, and two of ours about what they rest on, against what was measured.
//!
//! Intervals decide: those of the median over repetitions ([`vestal_statistics::median_interval`]), of differences or ratios of runs of the same
//! repetition where two systems are compared. All intervals of one claim are right together with 99 %. What lies inside of what a claim
//! says for certain confirms it, what lies outside for certain refutes it, and the rest is not decided.
//!
//! **What others took of the CPU** may have been on the account of what is looked at, all of it, or none. So what is known of a run is no number but a range
//! ([`super::range`]), and of two runs that are compared each has one of its own. A claim is confirmed if wherever the truth lies in these ranges it is so, and refuted
//! if wherever it lies it is not so. What the run's own threads executed is never counted as taken, so the truth lies nearer to what was measured.
//!
//! **What a system did wrong** is not left out: a server at fault in one run refutes the first claim, and none of the paper about such runs is decided; a run whose
//! mode rises without a reason counts against what is said of the change. One whose other rises may be the work of others, or of which it is not known what was
//! served when, may be one for which a claim is so, or not so.

use super::judged::{Change, DISTURBED, DISTURBED_VARIANCE};
use super::range::{Range, certain, median};
use super::run::{Camera, Place, Run, System, Window};
use super::set::COST_US;
use super::table::{Half, Table, Value, bend, halves};
use crate::number::as_f64;
use crate::overhead::claims::inside;
use crate::verdict;
use vestal_result::claim::{Finding, Verdict};

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

/// The same, for what is no good where others take as much as a hundredth of a run.
const fn careful(claim: Claim) -> Claim {
    Claim {
        disturbed: DISTURBED_VARIANCE,
        ..claim
    }
}

/// Every claim.
#[rustfmt::skip]
const CLAIMS: &[Claim] = &[
    ours(ALL, "No server of a camera gives more than its share, and none less than half of it while events wait.", keeps_shares),
    careful(ours(&[CHANGE], "In runs with a change the mode rises at half time, and at no other.", rises_once)),
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
    careful(claim(&[CHANGE], "And with more variance (Fig. 14).", varies)),
    claim(&[CHANGE], "Camera 2 is read less (Fig. 14).", |t| changes(t, 1, false)),
    careful(claim(&[CHANGE], "Totals of both bend at the change (Fig. 15).", bends)),
];

/// Every claim with what became of it.
#[must_use]
pub fn findings(table: &Table) -> Vec<Finding> {
    CLAIMS.iter().map(|claim| claim.finding(table)).collect()
}

impl Claim {
    fn finding(&self, table: &Table) -> Finding {
        let (found, mut numbers) = (self.check)(&table.looked_at(self.disturbed));
        let runs = self.about.iter();
        let runs = runs.flat_map(|&(place, system)| table.all_of_place(place, system));
        let at_fault = runs.filter(|run| !run.faults().is_empty()).count();
        // What a system that is at fault shows is no evidence of the paper's; of ours it refutes.
        let is_ours = self.of != "paper";
        let is_spoilt = at_fault > 0 && !(is_ours && found == Verdict::Refuted);
        if is_spoilt {
            numbers = format!("{numbers}. A server of a camera was at fault in {at_fault} runs");
        }
        let verdict = if is_spoilt {
            Verdict::NotDecided
        } else {
            found
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
    let wrong = |run: &Run| {
        Some(match run.change() {
            Change::AtHalfTime => Range::exactly(0.0),
            Change::Explained => Range::of(0.0, 1.0),
            Change::Wrong => Range::exactly(1.0),
        })
    };
    let each = vec![("runs".to_owned(), table.values(place, system, &wrong))];
    never_else("of each run, 1 if that is not so", each, (-ANY, 0.0))
}

/// Whether medians lie between bounds for each of these, and the medians with their intervals.
fn at_each(what: &str, each: Vec<(String, Vec<Range>)>, (low, high): (f64, f64)) -> Answer {
    let family = each.len();
    let (mut verdicts, mut parts) = (Vec::new(), Vec::new());
    for (name, values) in each {
        let count = values.len();
        let interval = certain(&values, family);
        let middle = median(&values).map_or_else(|| "-".to_owned(), shown);
        let certain = match interval {
            Some((from, to)) => format!("{} to {} of {count}", number(from), number(to)),
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

/// The same of what no run is an exception to: one that is, or may be, keeps it from being confirmed.
fn never_else(what: &str, each: Vec<(String, Vec<Range>)>, bounds: (f64, f64)) -> Answer {
    let all = each.iter().flat_map(|(_, values)| values.iter().copied());
    let exceptions = all.clone().filter(|range| !range.lies_in(bounds)).count();
    let most = all.map(|range| range.high).max_by(f64::total_cmp);
    let (verdict, numbers) = at_each(what, each, bounds);
    let verdict = match verdict {
        Verdict::Confirmed if exceptions > 0 => Verdict::NotDecided,
        Verdict::Confirmed | Verdict::Refuted | Verdict::NotDecided => verdict,
    };
    let numbers = format!(
        "{numbers}; {exceptions} values are outside, or may be, the most is {}",
        most.map_or_else(|| "-".to_owned(), number)
    );
    (verdict, numbers)
}

fn number(value: f64) -> String {
    format!("{value:.4}")
}

/// A number, or from where to where it may be.
fn shown(Range { low, high }: Range) -> String {
    match number(low) == number(high) {
        true => number(low),
        false => format!("{}..{}", number(low), number(high)),
    }
}

const CAMERAS: [Place; 2] = [Place::OneCamera, Place::TwoCameras];

/// How often the mode rose: at least as often as what others took does not explain.
fn rises(table: &Table, (place, system): Kind, bounds: (f64, f64)) -> Answer {
    let rises = |run: &Run| {
        let [own, all] = run.rises().map(as_f64);
        Some(Range::of(own, all))
    };
    let each = vec![(
        system.name().to_owned(),
        table.values(place, system, &rises),
    )];
    never_else("rises of the mode in a run", each, bounds)
}

fn switches_mode(table: &Table) -> Answer {
    rises(table, ONLY, (1.0, ANY))
}

fn keeps_mode(table: &Table) -> Answer {
    rises(table, PIBS, (-ANY, 0.0))
}

/// What SS-only has more than SS+PIBS, of each repetition.
fn more(table: &Table, place: Place, value: Value<'_>) -> Vec<Range> {
    let pairs = table.pairs(
        [System::SsOnly, System::SsPibs].map(|system| (place, system)),
        value,
    );
    let pairs = pairs.into_iter();
    pairs.map(|[only, pibs]| only.less(pibs)).collect()
}

/// What others took may have been jobs, under either.
fn starves(table: &Table) -> Answer {
    let pairs = table.pairs([ONLY, PIBS], &Run::low_jobs_each_second);
    let ratios = pairs.into_iter().map(|[only, pibs]| only.to(pibs));
    let each = vec![("ratio".to_owned(), ratios.collect())];
    let what = "jobs of the LO application under SS-only to those under SS+PIBS";
    at_each(what, each, (0.0, STARVED))
}

fn regular(table: &Table) -> Answer {
    let (place, system) = PIBS;
    let each = [0, 1].map(|application| {
        let nothing = Range::exactly(ANY);
        let wait = |run: &Run| Some(run.longest_wait(application).unwrap_or(nothing));
        let values = table.values(place, system, &wait);
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
            median(&all).unwrap_or(Range::POSITIVE)
        };
        let middles = [System::SsOnly, System::SsPibs].map(|system| (system, middle(system)));
        let off = |run: &Run| {
            let mut middles = middles.iter();
            let (_, middle) = middles.find(|(system, _)| *system == run.system)?;
            Some(run.overhead().far_from(*middle))
        };
        (place.name().to_owned(), more(table, place, &off))
    });
    let what =
        "how much farther from its median an overhead is under SS-only, in percent of the time";
    at_each(what, each.to_vec(), (SOME, ANY))
}

/// What the overhead with one camera and with two is, of each repetition.
fn cameras(table: &Table, system: System) -> Vec<[Range; 2]> {
    table.pairs(CAMERAS.map(|place| (place, system)), &|run| {
        Some(run.overhead())
    })
}

fn doubles(table: &Table) -> Answer {
    let pairs = cameras(table, System::SsOnly).into_iter();
    let ratios = pairs.map(|[one, two]| two.to(one));
    let each = vec![("SS-only".to_owned(), ratios.collect())];
    at_each(
        "overhead with two cameras to that with one",
        each,
        (DOUBLE, ANY),
    )
}

fn adds_little(table: &Table) -> Answer {
    let pairs = cameras(table, System::SsPibs).into_iter();
    let added = pairs.map(|[one, two]| two.less(one)).collect();
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
        let pairs = table.pairs(kinds, &|run| Some(run.switches_each_second()));
        let ratios = pairs.into_iter().map(|[pibs, only]| pibs.to(only));
        (place.name().to_owned(), ratios.collect())
    });
    at_each(
        "switches under SS+PIBS to those under SS-only",
        each.to_vec(),
        HALF,
    )
}

/// What is said of a camera before the change and after it. A run in which the mode rises wrongly is one more for which the claim is not so; of one whose other
/// rises may be the work of others, and of one of which nobody looked what was served when, nothing is known.
fn of_halves(
    table: &Table,
    camera: usize,
    (not_so, unknown): (f64, Range),
    of: impl Fn(&Run, &Camera, [Half; 2]) -> Option<Range>,
) -> Vec<Range> {
    let (place, system) = CHANGE;
    let looked = |run: &Run| {
        let camera = run.cameras.get(camera)?;
        of(run, camera, halves(run, camera)?)
    };
    table.values(place, system, &|run| {
        Some(match run.change() {
            Change::AtHalfTime => looked(run).unwrap_or(unknown),
            Change::Explained => unknown,
            Change::Wrong => Range::exactly(not_so),
        })
    })
}

/// So many events of a camera more might have been served but for what others took. Its budget limits it: there is no more in what they took of its bottom half,
/// nor in what it was charged beyond what events took, and in its share of the time by which a burst may have begun later.
fn kept_from(run: &Run, camera: &Camera) -> u64 {
    let cost = COST_US * 1_000;
    let of_it = match run.known_from_ns {
        0 => camera.taken_ns(),
        _ => run.lost_ns,
    };
    let beyond = camera
        .charged_ns
        .saturating_sub(cost.saturating_mul(camera.served));
    let later = run.lost_ns / 50;
    beyond.min(of_it).saturating_add(later) / cost
}

/// What a camera is served after the change to what it is before. What others took may have been taken from it in either half.
fn after_to_before(run: &Run, camera: &Camera, [before, after]: &[Half; 2]) -> Range {
    let more = kept_from(run, camera);
    let of = |half: &Half| Range::of(half.mean(0), half.mean(more));
    of(after).to(of(before))
}

fn changes(table: &Table, camera: usize, is_more: bool) -> Answer {
    let (not_so, bounds) = match is_more {
        true => (0.0, (1.0 + f64::EPSILON, ANY)),
        false => (ANY, (-ANY, 1.0 - f64::EPSILON)),
    };
    let not_so = (not_so, Range::POSITIVE);
    let ratios = of_halves(table, camera, not_so, |run, camera, halves| {
        Some(after_to_before(run, camera, &halves))
    });
    let each = vec![(format!("camera {}", camera + 1), ratios)];
    at_each(
        "events served after the change to those before it",
        each,
        bounds,
    )
}

/// In all windows, and in those in which others took nothing of the bottom half.
fn varies(table: &Table) -> Answer {
    let more = |[before, after]: &[Half; 2]| Some(after.variance()? - before.variance()?);
    let not_so = (-ANY, Range::UNKNOWN);
    let values = of_halves(table, 0, not_so, |run, camera, halves| {
        let [before, after] = &halves;
        let untouched = [
            before.untouched(run, camera)?,
            after.untouched(run, camera)?,
        ];
        let (all, untouched) = (more(&halves)?, more(&untouched)?);
        Some(Range::exactly(all).or(Range::exactly(untouched)))
    });
    let what = "variance of the events in 100 ms after the change less that before it";
    at_each(what, vec![("camera 1".to_owned(), values)], (SOME, ANY))
}

/// Of all windows, and of those in which others took nothing of the bottom half.
fn bends(table: &Table) -> Answer {
    let each = [0, 1].map(|camera| {
        let not_so = (ANY, Range::POSITIVE);
        let distances = of_halves(table, camera, not_so, |run, camera, halves| {
            let ratio = after_to_before(run, camera, &halves);
            // A line that goes straight on has a best place for a bend, too.
            let nowhere = Range::exactly(ANY);
            if 1.0 / BENT < ratio.low && ratio.high < BENT {
                return Some(nowhere);
            }
            let windows = run.windows(camera);
            let untouched = windows.iter().copied();
            let untouched = untouched.filter(|window| run.is_untouched(camera, window));
            let untouched: Vec<Window> = untouched.collect();
            if 2 * untouched.len() < windows.len() {
                return None;
            }
            let distance = |windows: &[Window]| {
                let distance = bend(windows)?.abs_diff(run.span_ns / 2);
                let part = as_f64(distance) / as_f64(run.span_ns.max(1));
                Some(Range::exactly(part))
            };
            let found = distance(&windows)?.or(distance(&untouched)?);
            let is_bent = ratio.high <= 1.0 / BENT || BENT <= ratio.low;
            Some(if is_bent { found } else { found.or(nowhere) })
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
