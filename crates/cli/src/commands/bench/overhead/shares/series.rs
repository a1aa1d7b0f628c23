//! Runs of every variant with every set.

use super::super::journal::Journal;
use super::prepared;
use crate::failure::{Exit, Failure};
use crate::interrupt;
use crate::output::Output;
use crate::progress::Progress;
use crate::real::{self, Settings, ShareRun};
use crate::registry::registry;
use crate::session::Session;
use std::collections::BTreeMap;
use std::path::Path;
use vestal_experiment::overhead::journal::Head;
use vestal_experiment::overhead::sigrist2015::claims::called;
use vestal_experiment::overhead::sigrist2015::pairs;
use vestal_experiment::overhead::sigrist2015::plan::Plan;
use vestal_experiment::overhead::sigrist2015::run::{Place, Run};
use vestal_experiment::overhead::sigrist2015::set::{Judge, Use, sets};
use vestal_experiment::overhead::sigrist2015::variant::Variant;
use vestal_result::shares::Measurement;
use vestal_workload::TaskSet;

/// Which variants were refused with which sets, and why: what cannot be run with one may be with others.
#[derive(Debug, Default)]
pub(super) struct NotRun(BTreeMap<(Place, &'static str, u32), String>);

impl NotRun {
    fn put(&mut self, (place, number): (Place, u32), variant: &'static Variant, why: String) {
        self.0.insert((place, variant.name, number), why);
    }

    /// Where a variant was refused, and why: each reason once, with its places and with how many of their sets.
    pub(super) fn why(&self, variant: &str) -> Option<String> {
        let mut by_reason: BTreeMap<&str, BTreeMap<Place, u32>> = BTreeMap::new();
        let of_variant = self.0.iter().filter(|((_, name, _), _)| *name == variant);
        for ((place, _, _), why) in of_variant {
            let places = by_reason.entry(why).or_default();
            *places.entry(*place).or_default() += 1;
        }
        let each = by_reason.iter().map(|(why, places)| {
            let places = places.iter();
            let places = places.map(|(place, count)| format!("{count} of {}", called(*place)));
            format!("{why} ({})", places.collect::<Vec<_>>().join(", "))
        });
        let each: Vec<String> = each.collect();
        (!each.is_empty()).then(|| each.join("; "))
    }
}

/// The sets of each place.
type Drawn = Vec<(Place, Vec<TaskSet>)>;

/// All runs of a measurement.
pub(super) struct Series {
    plan: Plan,
    cpus: Vec<usize>,
    journal: Option<Journal>,
    /// Those that are complete, in the order of time.
    pub(super) runs: Vec<Run>,
    /// Which variants are not run, and why.
    pub(super) not_run: NotRun,
}

impl Series {
    /// With what is in the directory, if there is one.
    pub(super) fn new(
        directory: Option<&Path>,
        head: &Head,
        (plan, cpus): (Plan, Vec<usize>),
    ) -> Result<Self, Failure> {
        let opened = directory.map(|directory| Journal::open(directory, head));
        let (journal, runs) = match opened.transpose()? {
            Some((journal, runs)) => (Some(journal), runs),
            None => (None, Vec::new()),
        };
        Ok(Self {
            plan,
            cpus,
            journal,
            runs,
            not_run: NotRun::default(),
        })
    }

    /// Runs what is not there yet, until all is, or somebody stops it.
    pub(super) fn run(&mut self, output: &Output) -> Result<(), Failure> {
        let most = u16::try_from(self.cpus.len().max(1)).unwrap_or(u16::MAX);
        let (plan, places) = (self.plan, self.plan.places(most).count());
        let progress = Progress::new(output, "drawing sets", places as u64);
        // To find a set takes searches for frame tables.
        let drawn = interrupt::unless_stopped(move || match plan.measurement {
            Measurement::Shares | Measurement::Alternatives => unrelated(&plan, most, &progress),
            Measurement::Pairs | Measurement::Growth => pairs(&plan, most),
        })?;
        let Some(drawn) = drawn else {
            return Ok(());
        };
        let drawn = drawn.map_err(|why| Failure::bug("draw sets", why))?;
        let each = drawn
            .iter()
            .map(|(place, sets)| sets.len() * self.plan.variants(*place).len());
        let progress = Progress::new(output, "runs", each.sum::<usize>() as u64);
        let mut done = 0;
        for number in 0..self.plan.sets {
            let places = order(drawn.iter().collect(), number);
            for (place, sets) in places {
                let Some(set) = sets.get(number as usize) else {
                    continue;
                };
                for variant in order(self.plan.variants(*place), number) {
                    if interrupt::asked() {
                        return Ok(());
                    }
                    self.one((*place, number), variant, set, output)?;
                    done += 1;
                    progress.at(done);
                }
            }
        }
        Ok(())
    }

    /// Runs a set once, unless that is done.
    fn one(
        &mut self,
        (place, number): (Place, u32),
        variant: &'static Variant,
        set: &TaskSet,
        output: &Output,
    ) -> Result<(), Failure> {
        let is_there =
            |run: &Run| run.place == place && run.number == number && run.variant == variant.name;
        if self.runs.iter().any(is_there) {
            return Ok(());
        }
        let wanted = usize::from(place.cpus() + variant.more_cpus);
        if wanted > self.cpus.len().max(1) {
            // With fewer CPUs for jobs it may run.
            return Ok(());
        }
        let cpus = self.cpus.get(..wanted).unwrap_or_default().to_vec();
        let prepared = self.prepare((place, number), variant, set, (&cpus, output));
        let found = prepared.and_then(|(session, settings)| real::shares(&session, &settings));
        let found = match found {
            Ok(Some(found)) => found,
            Ok(None) => return Ok(()),
            // What the machine cannot do concerns all of them.
            Err(failure) if matches!(failure.exit, Exit::Bug | Exit::Machine) => {
                return Err(failure);
            }
            Err(failure) => {
                self.not_run.put((place, number), variant, failure.why);
                return Ok(());
            }
        };
        let run = of(found, (place, number), variant);
        if let Some(journal) = &mut self.journal {
            journal.put(&run)?;
        }
        self.runs.push(run);
        Ok(())
    }

    fn prepare(
        &self,
        (place, number): (Place, u32),
        variant: &Variant,
        set: &TaskSet,
        (cpus, output): (&[usize], &Output),
    ) -> Result<(Session, Settings), Failure> {
        // Jobs of the flight management system overrun because they allocate, half of those of level HI.
        let scenario = match place {
            Place::Drawn { .. } => variant.kind.scenario(),
            Place::Flight { .. } => "lo",
        };
        let name = format!("{}-{}.toml", place.set(), number);
        // Simulations of the same sets have the same seeds.
        let by = (
            scenario,
            u64::from(number) + 1,
            self.plan.interval_of(place),
        );
        prepared(variant, (set, &name), by, cpus, output)
    }
}

/// The sets of every place, drawn anew for each.
fn unrelated(plan: &Plan, most: u16, progress: &Progress) -> Result<Drawn, String> {
    let mut judge = Judge::new(registry());
    let mut drawn = Vec::new();
    for (done, place) in (1..).zip(plan.places(most)) {
        let wanted = (plan.sets, Use::Runs);
        let found = sets(&mut judge, place, wanted, &mut || !interrupt::asked())?;
        drawn.push((place, found));
        progress.at(done);
    }
    Ok(drawn)
}

/// Those that are the same tasks everywhere, as far as there are CPUs.
fn pairs(plan: &Plan, most: u16) -> Result<Drawn, String> {
    let mut judge = Judge::new(registry());
    let mut drawn = pairs::sets(&mut judge, plan, &mut || !interrupt::asked())?;
    drawn.retain(|(place, _)| place.cpus() <= most);
    Ok(drawn)
}

/// Beginning with another one for each number, forwards and backwards in turn.
fn order<T>(mut all: Vec<T>, number: u32) -> Vec<T> {
    let shift = number as usize / 2;
    let length = all.len().max(1);
    all.rotate_left(shift % length);
    if number % 2 == 1 {
        all.reverse();
    }
    all
}

fn of(found: ShareRun, (place, number): (Place, u32), variant: &Variant) -> Run {
    let parts = variant.kind.parts().iter().map(|wanted| {
        let mut parts = found.parts.iter();
        let part = parts.find(|(name, _)| name == wanted);
        part.map(|(_, nanos)| *nanos)
    });
    Run {
        place,
        number,
        variant: variant.name.to_owned(),
        kept: found.kept,
        span_ns: found.span_ns,
        employed: found.employed,
        parts: parts.collect(),
        scheduler: found.scheduler,
        system: found.system,
        events: found.events,
        lost_ns: found.lost_ns,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use vestal_experiment::overhead::sigrist2015::variant::{FLIGHT, VARIANTS};

    #[test]
    fn what_is_refused_with_a_set_is_said_with_how_many_there_were() {
        let spin = FLIGHT.first().unwrap();
        let place = |cpus, permille| Place::Drawn { cpus, permille };
        let mut not_run = NotRun::default();
        assert_eq!(not_run.why(spin.name), None);
        for (permille, number) in [(200, 0), (400, 0), (400, 7)] {
            let at = (place(2, permille), number);
            not_run.put(at, spin, "too much".to_owned());
        }
        assert_eq!(
            not_run.why(spin.name).as_deref(),
            Some("too much (1 of 2 CPUs at U/m 0.2, 2 of 2 CPUs at U/m 0.4)")
        );
        assert_eq!(not_run.why(VARIANTS[1].name), None);
    }

    #[test]
    fn every_variant_runs_each_set_once_and_takes_every_place() {
        let mut firsts = BTreeSet::new();
        for number in 0..32 {
            let order = order(VARIANTS.iter().collect(), number);
            let names: BTreeSet<&str> = order.iter().map(|variant| variant.name).collect();
            assert_eq!((order.len(), names.len()), (VARIANTS.len(), VARIANTS.len()));
            firsts.insert(order[0].name);
        }
        assert_eq!(firsts.len(), VARIANTS.len());
    }
}
