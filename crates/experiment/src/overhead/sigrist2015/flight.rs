//! Claims about the flight management system (Table II).

use super::claims::{Answer, Measured, at_each, differences, names, not_measured};
use super::run::{Place, Run};
use super::variant::{OWN, SHARED, variant};
use vestal_result::claim::Verdict;

/// Whether system overhead is above scheduler overhead, or below it, in runs of the flight management system; ours stands beside.
pub fn system_overhead(m: Measured<'_>, name: &str, is_above: bool) -> Answer {
    const OURS: &str = "ftts/spin";
    let mut places = m.table.places();
    places.retain(|place| place.permille().is_none());
    let taken = |name: &str, place: Place| place.cpus() + variant(name).map_or(0, |v| v.more_cpus);
    let runs = m.table.runs().iter();
    let most = runs.map(|run| taken(&run.variant, run.place)).max();
    let answer = |name: &str| -> Option<Answer> {
        // Where there are too few CPUs for it nothing is claimed; a place where nothing counts is undecided.
        let mut places = places.clone();
        places.retain(|&place| Some(taken(name, place)) <= most);
        let kept = |place: &Place| m.table.kept(*place, name).next().is_some();
        let is_measured = places.iter().any(kept);
        let values = places.iter().map(|&place| {
            let runs = m.table.kept(place, name);
            let more =
                runs.map(|run| run.share(run.system.mean_ns) - run.share(run.scheduler.mean_ns));
            more.collect()
        });
        let bounds = match is_above {
            true => (f64::MIN_POSITIVE, f64::INFINITY),
            false => (f64::NEG_INFINITY, -f64::MIN_POSITIVE),
        };
        is_measured.then(|| at_each(m, &names(&places), values.collect(), bounds))
    };
    let ours = answer(OURS).map_or_else(
        || "ours was not measured".to_owned(),
        |(_, shown)| format!("{OURS}, which has no dispatcher: {shown}"),
    );
    const WHAT: &str = "system minus scheduler overhead, in percent of the time";
    match answer(name) {
        Some((verdict, shown)) => (verdict, format!("{WHAT}; {name}: {shown}. Beside: {ours}")),
        None => (
            Verdict::NotDecided,
            format!("{WHAT}; {name} was not measured. Beside: {ours}"),
        ),
    }
}

/// Whether system overhead on the workers' CPUs is smaller with a dispatcher that has a CPU of its own than with one that shares theirs, of the same
/// files on as many CPUs of workers. What the dispatcher takes on its own CPU is in neither.
pub fn own_is_smaller(m: Measured<'_>) -> Answer {
    let of = |place: Place, name: &str| {
        let system: &dyn Fn(&Run) -> u64 = &|run| run.system.mean_ns;
        m.table.shares(place, name, system)
    };
    // Where there are too few CPUs for it nothing is claimed; a place where nothing counts is undecided.
    let mut places = m.table.places();
    places.retain(|&place| {
        let mut runs = m.table.runs().iter();
        place.permille().is_none() && runs.any(|run| run.place == place && run.variant == OWN)
    });
    if places.is_empty() {
        return not_measured(OWN);
    }
    let values = places
        .iter()
        .map(|&place| differences(&of(place, SHARED), &of(place, OWN)));
    let bounds = (f64::NEG_INFINITY, -f64::MIN_POSITIVE);
    let (verdict, shown) = at_each(m, &names(&places), values.collect(), bounds);
    let numbers = format!(
        "system overhead of the workers' CPUs, {OWN} minus {SHARED}, in percent of the time; the dispatcher's own CPU is in neither: {shown}"
    );
    (verdict, numbers)
}
