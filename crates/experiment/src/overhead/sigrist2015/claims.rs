//! The paper's claims about shares, and ours, against what was measured.
//!
//! Intervals decide: those of the median over sets ([`median_interval`]), at each place that a claim speaks of. All intervals of
//! one claim are right together with 99 %. What lies inside for certain confirms, what lies outside for certain refutes, and the rest is
//! not decided. One place refutes, all confirm. What is extrapolated confirms and refutes nothing.

use super::flight::{own_is_smaller, system_overhead};
use super::growth::{self, WITH_CPUS, WITH_UTILIZATION};
use super::pairs::of_which;
use super::plan::NORMAL;
use super::run::{Events, Place, Run};
use super::table::{Table, Value};
use super::variant::{Kind, OWN, SHARED, VARIANTS, Variant, part};
use crate::number::as_f64;
use crate::overhead::claims::inside;
use crate::verdict;
use vestal_result::claim::{Finding, Verdict};
use vestal_result::shares::{Measurement, ShareCell};
use vestal_statistics::{Quartiles, median_interval};

/// Of pEDF-VD what is *close to 0 %* takes at most so much of all its overhead; the threshold is ours.
const NEAR_ZERO: f64 = 0.1;

/// What was measured, as claims look at it.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'a> {
    /// All runs.
    pub table: &'a Table,
    /// What was reckoned for more CPUs.
    pub extrapolated: &'a [ShareCell],
    /// What was measured.
    pub measurement: Measurement,
}

/// What data say of a claim, and by which numbers.
pub type Answer = (Verdict, String);

/// What judges a claim.
pub type Check = fn(Measured<'_>) -> Answer;

/// A claim about a measurement.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    of: &'static str,
    text: &'static str,
    check: Check,
    /// Whether pairs of sets are measured for it.
    by_pairs: bool,
}

impl Claim {
    const fn by_pairs(self) -> Self {
        let by_pairs = true;
        Self { by_pairs, ..self }
    }
}

/// One of the paper.
pub const fn of_paper(text: &'static str, check: Check) -> Claim {
    let of = "paper";
    Claim {
        of,
        text,
        check,
        by_pairs: false,
    }
}

const fn of_ours(text: &'static str, check: Check) -> Claim {
    let of = "vestal";
    Claim {
        of,
        text,
        check,
        by_pairs: false,
    }
}

/// Every claim.
#[rustfmt::skip]
const CLAIMS: &[Claim] = &[
    of_ours("pEDF-VD takes at most 0.1 % of the time of a CPU at U/m = 0.2.", |m| at_most(m, Kind::Deadlines, 0.1)),
    of_ours("FTTS takes at most 0.3 % of the time of a CPU at U/m = 0.2 with spin-then-futex barriers.", |m| at_most(m, Kind::Frames, 0.3)),
    of_paper(WITH_CPUS, |m| grows(m, Axis::Cpus)).by_pairs(),
    of_paper("What FTTS takes grows with the number of cores (Fig. 6): up to 32.", |m| grows_extrapolated(m, Axis::Cpus)),
    of_paper(WITH_UTILIZATION, |m| grows(m, Axis::Utilization)).by_pairs(),
    of_paper("What FTTS takes grows with utilization (Fig. 8, 10): on 8, 16 and 32 CPUs.", |m| grows_extrapolated(m, Axis::Utilization)),
    of_paper("FTTS takes more than pEDF-VD.", more_than_deadlines),
    of_paper("Of what FTTS takes, sub-frame initialization dominates, and not the barrier.", sub_frame_initialization),
    of_paper("Reacting to sub-frame overruns takes less than 0.1 %.", |m| below(m, Kind::Frames, part::SUB_FRAME_OVERRUN, 0.1)).by_pairs(),
    of_paper("Of what pEDF-VD takes, job arrival and job finish dominate.", arrival_and_finish).by_pairs(),
    of_paper("Overrun monitoring takes less than 0.001 %.", |m| below(m, Kind::Deadlines, part::MONITORING, 0.001)),
    of_paper("What overruns of jobs take is close to 0.", near_zero).by_pairs(),
    of_paper("Flight management system: system overhead is above scheduler overhead with the dispatcher on a worker's CPU (Table II, Core i5).", |m| system_overhead(m, SHARED, true)),
    of_paper("Flight management system: it is smaller with the dispatcher on a CPU of its own (Table II, Xeon Phi).", |m| system_overhead(m, OWN, false)),
    of_paper("Flight management system: system overhead is smaller with the dispatcher on a CPU of its own than on a worker's (Table II, read across).", own_is_smaller),
];

/// Every claim with what became of it; of pairs those that they are measured for.
#[must_use]
pub fn findings(measured: Measured<'_>) -> Vec<Finding> {
    let all = match measured.measurement {
        Measurement::Shares | Measurement::Pairs => CLAIMS,
        Measurement::Growth => growth::CLAIMS,
        Measurement::Alternatives => &[],
    };
    let asked = all.iter();
    let asked = asked.filter(|claim| claim.by_pairs || measured.measurement != Measurement::Pairs);
    let all = asked.map(|claim| {
        let (verdict, numbers) = (claim.check)(measured);
        let of_which = of_which(measured.measurement);
        Finding {
            of: claim.of.to_owned(),
            claim: format!("{}{of_which}", claim.text),
            verdict,
            numbers,
        }
    });
    all.collect()
}

/// Without data.
#[must_use]
pub fn not_measured(what: &str) -> Answer {
    (Verdict::NotDecided, format!("not measured: {what}"))
}

/// What the scheduler takes of a CPU.
#[must_use]
pub const fn scheduler(run: &Run) -> u64 {
    run.scheduler.mean_ns
}

/// What a place is called in numbers.
#[must_use]
pub fn called(place: Place) -> String {
    let cpus = place.cpus();
    let unit = if cpus == 1 { "CPU" } else { "CPUs" };
    match place.permille() {
        Some(permille) => format!("{cpus} {unit} at U/m {}", f64::from(permille) / 1000.0),
        None => format!("{} on {cpus} {unit}", place.set()),
    }
}

/// The same in runs of a variant; of pairs with the number of CPUs that had tasks, on average, where that is another one.
fn called_in(m: Measured<'_>, place: Place, variant: &str) -> String {
    let kept: Vec<f64> = m
        .table
        .kept(place, variant)
        .map(|run| f64::from(run.employed))
        .collect();
    let mean = kept.iter().sum::<f64>() / as_f64(kept.len().max(1) as u64);
    let all = f64::from(place.cpus());
    match m.measurement != Measurement::Shares && !kept.is_empty() && mean < all {
        true => format!("{} (tasks on {mean:.1} of them)", called(place)),
        false => called(place),
    }
}

/// The places of drawn sets.
fn drawn(table: &Table) -> Vec<Place> {
    let places = table.places().into_iter();
    places.filter(|place| place.permille().is_some()).collect()
}

/// Whether medians lie between bounds at each of these places, and the medians with their intervals, in percent. Of pairs also how
/// many values there are, and the *resolution*: how far, by how they spread, the median had to lie from the bound so that it is certain on which side.
pub fn at_each(
    m: Measured<'_>,
    places: &[String],
    values: Vec<Vec<f64>>,
    (low, high): (f64, f64),
) -> Answer {
    let family = values.len();
    let (mut verdicts, mut parts) = (Vec::new(), Vec::new());
    for (place, values) in places.iter().zip(values) {
        let values: Vec<f64> = values.into_iter().map(|share| share * 100.0).collect();
        let count = values.len();
        let interval = median_interval(values.clone(), family);
        let median = Quartiles::of(values).map(|s| s.median);
        let certain = match interval {
            Some((from, to)) => format!("{from:.4} to {to:.4}"),
            None => format!("{count} are too few"),
        };
        let verdict = inside(interval, low, high);
        let bound = if low > f64::NEG_INFINITY { low } else { high };
        let resolution = match (median, interval) {
            (Some(median), Some((from, to))) if m.measurement != Measurement::Shares => {
                // The end of the interval that lies toward the bound.
                let end = if median > bound { from } else { to };
                let resolution = (median - end).abs();
                format!("; {count} sets; resolution {resolution:.4}")
            }
            _ => String::new(),
        };
        let median = median.map_or_else(|| "-".to_owned(), |median| format!("{median:.4}"));
        parts.push(format!(
            "{place} {median} ({certain}; {verdict}{resolution})"
        ));
        verdicts.push(verdict);
    }
    match parts.is_empty() {
        true => (Verdict::NotDecided, "nothing was measured".to_owned()),
        false => (verdict::all(verdicts), parts.join(", ")),
    }
}

fn shares(table: &Table, places: &[Place], variant: &str, value: Value<'_>) -> Vec<Vec<f64>> {
    let each = places.iter().map(|&place| {
        let shares = table.shares(place, variant, value);
        shares.into_iter().map(|(_, share)| share).collect()
    });
    each.collect()
}

/// What places are called.
#[must_use]
pub fn names(places: &[Place]) -> Vec<String> {
    places.iter().copied().map(called).collect()
}

/// The first variant of a kind takes at most so many percent at the utilization of Fig. 6; the others stand beside.
fn at_most(m: Measured<'_>, kind: Kind, percent: f64) -> Answer {
    let mut places = drawn(m.table);
    places.retain(|place| place.permille() == Some(NORMAL));
    let of_kind = || VARIANTS.iter().filter(move |variant| variant.kind == kind);
    let Some(first) = of_kind().next().filter(|variant| m.table.has(variant.name)) else {
        return not_measured(kind.title());
    };
    let answer = |name: &str| {
        let values = shares(m.table, &places, name, &scheduler);
        at_each(m, &names(&places), values, (f64::NEG_INFINITY, percent))
    };
    let (verdict, shown) = answer(first.name);
    let beside = of_kind()
        .skip(1)
        .map(|variant| match m.table.has(variant.name) {
            true => format!("{}: {}", variant.name, answer(variant.name).1),
            false => format!("{}: not measured", variant.name),
        });
    let beside: Vec<String> = beside.collect();
    let numbers = format!(
        "scheduler overhead in percent, at most {percent}; {}: {shown}. Beside: {}",
        first.name,
        beside.join("; ")
    );
    (verdict, numbers)
}

/// Along what something grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Axis {
    Cpus,
    Utilization,
}

impl Axis {
    /// What stays the same along it, and what grows.
    fn split(self, (cpus, permille): (u16, u32)) -> (u32, u32) {
        match self {
            Self::Cpus => (permille, u32::from(cpus)),
            Self::Utilization => (u32::from(cpus), permille),
        }
    }

    /// Neighbours along it, of places that are given by CPUs and utilization.
    fn steps(self, places: &[(u16, u32)]) -> Vec<[(u16, u32); 2]> {
        let mut sorted = places.to_vec();
        sorted.sort_unstable_by_key(|&place| self.split(place));
        let pairs = sorted.windows(2).filter_map(|pair| {
            let &[a, b] = pair else { return None };
            (self.split(a).0 == self.split(b).0).then_some([a, b])
        });
        pairs.collect()
    }
}

/// What FTTS takes grows from place to place, by sets of the same number.
fn grows(m: Measured<'_>, axis: Axis) -> Answer {
    let Some(variant) = m.table.stands_for(Kind::Frames) else {
        return not_measured(Kind::Frames.title());
    };
    let places = drawn(m.table).into_iter();
    let places = places.filter_map(|place| Some((place.cpus(), place.permille()?)));
    let steps = axis.steps(&places.collect::<Vec<_>>());
    let place = |(cpus, permille): (u16, u32)| Place::Drawn { cpus, permille };
    let named = steps
        .iter()
        .map(|&[from, to]| format!("from {} to {}", called(place(from)), called(place(to))));
    let named: Vec<String> = named.collect();
    let answer = |name: &str| {
        let values = steps.iter().map(|&[from, to]| {
            let of = |at| m.table.shares(place(at), name, &scheduler);
            differences(&of(from), &of(to))
        });
        let up = (f64::MIN_POSITIVE, f64::INFINITY);
        at_each(m, &named, values.collect(), up)
    };
    let (verdict, shown) = answer(variant.name);
    // What is claimed of one and of two CPUs is not confirmed by one of both.
    let is_whole = [1, 2].iter().all(|cpus| {
        let mut steps = steps.iter();
        steps.any(|[from, to]| from.0 == *cpus || to.0 == *cpus)
    });
    let verdict = match verdict == Verdict::Confirmed && !is_whole {
        true => Verdict::NotDecided,
        false => verdict,
    };
    let ours = match variant.is_of_paper {
        true => format!(". Beside: {}", ours(m, Kind::Frames, answer)),
        false => String::new(),
    };
    (
        verdict,
        format!(
            "{}: more by, in percent of the time: {shown}{ours}",
            variant.name
        ),
    )
}

/// What would be said of the first of ours of a kind, where the paper's mechanism is judged.
fn ours(m: Measured<'_>, kind: Kind, answer: impl Fn(&str) -> Answer) -> String {
    let mut all = VARIANTS.iter();
    let is_ours = |one: &&Variant| one.kind == kind && !one.is_of_paper && m.table.has(one.name);
    all.find(is_ours).map_or_else(
        || "ours was not measured".to_owned(),
        |variant| {
            let (verdict, shown) = answer(variant.name);
            format!("{}, of which it would be {verdict}: {shown}", variant.name)
        },
    )
}

/// The second minus the first, by number.
#[must_use]
pub fn differences(first: &[(u32, f64)], second: &[(u32, f64)]) -> Vec<f64> {
    let pairs = second.iter().filter_map(|(number, share)| {
        let (_, before) = first.iter().find(|(known, _)| known == number)?;
        Some(share - before)
    });
    pairs.collect()
}

/// The same of what was extrapolated, which decides nothing.
fn grows_extrapolated(m: Measured<'_>, axis: Axis) -> Answer {
    let Some(variant) = m.table.stands_for(Kind::Frames) else {
        return not_measured(Kind::Frames.title());
    };
    let most = m
        .table
        .places()
        .into_iter()
        .map(Place::cpus)
        .max()
        .unwrap_or(0);
    let cells: Vec<&ShareCell> = m
        .extrapolated
        .iter()
        .filter(|cell| cell.variant == variant.name && cell.cpus > most && cell.runs > 0)
        .collect();
    let of = |(cpus, permille): (u16, u32)| {
        let mut all = cells.iter();
        all.find(|cell| cell.cpus == cpus && cell.utilization_permille == Some(permille))
            .map_or(0.0, |cell| cell.scheduler.mean)
    };
    let places = cells
        .iter()
        .filter_map(|cell| Some((cell.cpus, cell.utilization_permille?)));
    let steps = axis.steps(&places.collect::<Vec<_>>());
    let Some(grown) = steps
        .iter()
        .map(|&[from, to]| of(to) > of(from))
        .reduce(|all, one| all && one)
    else {
        return not_measured("too few places were extrapolated");
    };
    let shown = steps.iter().map(|&[from, to]| {
        let place = |(cpus, permille)| called(Place::Drawn { cpus, permille });
        format!(
            "{:.4} with {}, {:.4} with {}",
            of(from) * 100.0,
            place(from),
            of(to) * 100.0,
            place(to)
        )
    });
    let shown: Vec<String> = shown.collect();
    let says = if grown {
        "each step is one up"
    } else {
        "not each step is one up"
    };
    let numbers = format!(
        "{} extrapolated, which decides nothing; {says}; in percent: {}",
        variant.name,
        shown.join("; ")
    );
    (Verdict::NotDecided, numbers)
}

/// FTTS takes more than pEDF-VD of the same sets.
fn more_than_deadlines(m: Measured<'_>) -> Answer {
    let both = [Kind::Frames, Kind::Deadlines].map(|kind| m.table.stands_for(kind));
    let [Some(frames), Some(deadlines)] = both else {
        return not_measured("one of both");
    };
    let places = drawn(m.table);
    let values = places.iter().map(|&place| {
        let of = |name| m.table.shares(place, name, &scheduler);
        differences(&of(deadlines.name), &of(frames.name))
    });
    let (verdict, shown) = at_each(
        m,
        &names(&places),
        values.collect(),
        (f64::MIN_POSITIVE, f64::INFINITY),
    );
    (
        verdict,
        format!(
            "{} minus {} of the same sets, in percent of the time: {shown}",
            frames.name, deadlines.name
        ),
    )
}

/// By how much the smallest of some parts exceeds the largest of all others, in each run.
fn lead(m: Measured<'_>, (kind, name): (Kind, &str), leading: &[&str]) -> Answer {
    let places = drawn(m.table);
    let values = places.iter().map(|&place| {
        let runs = m.table.kept(place, name);
        let leads = runs.map(|run| {
            let of = |wanted: bool| -> Option<Vec<f64>> {
                let parts = kind.parts().iter();
                let parts = parts.filter(move |part| leading.contains(part) == wanted);
                parts
                    .map(|part| Some(run.share(run.part(kind, part)?)))
                    .collect()
            };
            let least = of(true)?.into_iter().fold(f64::INFINITY, f64::min);
            Some(least - of(false)?.into_iter().fold(0.0, f64::max))
        });
        leads.flatten().collect()
    });
    let named: Vec<String> = places
        .iter()
        .map(|&place| called_in(m, place, name))
        .collect();
    at_each(
        m,
        &named,
        values.collect(),
        (f64::MIN_POSITIVE, f64::INFINITY),
    )
}

/// Judged by the paper's mechanism alone, whose scheduler starts each worker; ours stands beside.
fn sub_frame_initialization(m: Measured<'_>) -> Answer {
    const LEADING: &[&str] = &[part::SUB_FRAME_INIT];
    let lead = |name: &str| lead(m, (Kind::Frames, name), LEADING);
    let ours = ours(m, Kind::Frames, lead);
    const WHAT: &str =
        "sub-frame initialization minus the largest other part, in percent of the time";
    let judged = m.table.stands_for(Kind::Frames);
    match judged.filter(|variant| variant.is_of_paper) {
        Some(variant) => {
            let (verdict, shown) = lead(variant.name);
            (
                verdict,
                format!("{WHAT}; {}: {shown}. Beside: {ours}", variant.name),
            )
        }
        None => (
            Verdict::NotDecided,
            format!("{WHAT}; the paper's mechanism was not measured. Beside: {ours}"),
        ),
    }
}

fn arrival_and_finish(m: Measured<'_>) -> Answer {
    let Some(variant) = m.table.stands_for(Kind::Deadlines) else {
        return not_measured(Kind::Deadlines.title());
    };
    let leading = &[part::JOB_ARRIVAL, part::JOB_FINISH];
    let (verdict, shown) = lead(m, (Kind::Deadlines, variant.name), leading);
    (
        verdict,
        format!(
            "{}: the smaller of both minus the largest other part, in percent of the time: {shown}",
            variant.name
        ),
    )
}

/// How often something happened that a part is about; what did not happen took nothing, and says nothing of what it takes.
fn happened(name: &str, events: &Events) -> u64 {
    match name {
        part::SUB_FRAME_OVERRUN => events.dropped,
        part::JOB_OVERRUN => events.mode_changes,
        // Jobs arrive, are watched and end in all runs that have any.
        _ => events.released,
    }
}

/// Whether values lie between bounds, of those runs that measured a part and in which what it is about happened, and how many these are.
fn at_each_with(
    m: Measured<'_>,
    (variant, name): (&Variant, &str),
    value: impl Fn(&Run, u64) -> f64,
    bounds: (f64, f64),
) -> Answer {
    let (mut named, mut all) = (Vec::new(), Vec::new());
    for place in drawn(m.table) {
        let runs: Vec<&Run> = m.table.kept(place, variant.name).collect();
        let with = runs.iter().filter(|run| happened(name, &run.events) > 0);
        let values = with.filter_map(|run| Some(value(run, run.part(variant.kind, name)?)));
        let values: Vec<f64> = values.collect();
        let counts = format!("{} of {} runs have any,", values.len(), runs.len());
        named.push(format!("{}, {counts}", called_in(m, place, variant.name)));
        all.push(values);
    }
    at_each(m, &named, all, bounds)
}

/// A part takes at most so many percent.
fn below(m: Measured<'_>, kind: Kind, name: &str, percent: f64) -> Answer {
    let Some(variant) = m.table.stands_for(kind) else {
        return not_measured(kind.title());
    };
    let value = |run: &Run, part: u64| run.share(part);
    let bounds = (f64::NEG_INFINITY, percent);
    let (verdict, shown) = at_each_with(m, (variant, name), value, bounds);
    (
        verdict,
        format!(
            "{}: {name} in percent, at most {percent}: {shown}",
            variant.name
        ),
    )
}

fn near_zero(m: Measured<'_>) -> Answer {
    let kind = Kind::Deadlines;
    let Some(variant) = m.table.stands_for(kind) else {
        return not_measured(kind.title());
    };
    let value = |run: &Run, part: u64| run.share(part) - NEAR_ZERO * run.share(scheduler(run));
    let of = (variant, part::JOB_OVERRUN);
    let (verdict, shown) = at_each_with(m, of, value, (f64::NEG_INFINITY, 0.0));
    let numbers = format!(
        "{}: what they take minus {NEAR_ZERO} of all scheduler overhead, in percent of the time, where ours for close to 0 is at most 0: {shown}",
        variant.name
    );
    (verdict, numbers)
}

#[cfg(test)]
#[path = "claims_tests.rs"]
mod tests;
