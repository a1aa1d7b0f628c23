//! All runs, by place and variant, and what they come to.

use super::run::{PerCpu, Place, Run};
use super::variant::{ALTERNATIVES, FLIGHT, Kind, VARIANTS, Variant};
use crate::number::as_f64;
use vestal_result::shares::{PerCpuShare, ShareCell};
use vestal_statistics::Quartiles;

/// All runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    runs: Vec<Run>,
}

/// A time of a run of which the share is looked at.
pub type Value<'a> = &'a dyn Fn(&Run) -> u64;

impl Run {
    /// What a part of the variant took of a CPU, on average; `None` if it was not measured.
    #[must_use]
    pub fn part(&self, kind: Kind, part: &str) -> Option<u64> {
        let index = kind.parts().iter().position(|&known| known == part);
        let found = index.and_then(|index| *self.parts.get(index)?);
        found.map(|found| found.mean_ns)
    }

    /// A time of it as a share of the interval.
    #[must_use]
    pub fn share(&self, nanos: u64) -> f64 {
        as_f64(nanos) / as_f64(self.span_ns.max(1))
    }
}

impl Table {
    /// Of these.
    #[must_use]
    pub const fn of(runs: Vec<Run>) -> Self {
        Self { runs }
    }

    /// Every run, in the order of time.
    #[must_use]
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    fn of_place(&self, place: Place, variant: &str) -> impl Iterator<Item = &Run> {
        let runs = self.runs.iter();
        runs.filter(move |run| run.place == place && run.variant == variant)
    }

    /// The runs that count.
    pub fn kept(&self, place: Place, variant: &str) -> impl Iterator<Item = &Run> {
        self.of_place(place, variant).filter(|run| run.kept)
    }

    /// Whether a variant has a run of a drawn set that counts.
    #[must_use]
    pub fn has(&self, variant: &str) -> bool {
        let mut runs = self.runs.iter().filter(|run| run.kept);
        runs.any(|run| run.variant == variant && run.place.permille().is_some())
    }

    /// What stands for a policy in claims of the paper: its own mechanism if that was measured, else the first of ours.
    #[must_use]
    pub fn stands_for(&self, kind: Kind) -> Option<&'static Variant> {
        let measured = || {
            VARIANTS
                .iter()
                .filter(|v| v.kind == kind && self.has(v.name))
        };
        measured()
            .find(|variant| variant.is_of_paper)
            .or_else(|| measured().next())
    }

    /// The places of drawn sets at which something was run, by CPUs, then utilization.
    #[must_use]
    pub fn places(&self) -> Vec<Place> {
        let mut places: Vec<Place> = self.runs.iter().map(|run| run.place).collect();
        places.sort_unstable();
        places.dedup();
        places
    }

    /// The shares of the runs of a variant at a place that count, with the numbers of their sets.
    #[must_use]
    pub fn shares(&self, place: Place, variant: &str, value: Value<'_>) -> Vec<(u32, f64)> {
        let runs = self.kept(place, variant);
        runs.map(|run| (run.number, run.share(value(run))))
            .collect()
    }

    /// Every cell, by place and then in the order of the variants.
    #[must_use]
    pub fn cells(&self) -> Vec<ShareCell> {
        let places = self.places().into_iter();
        let cells = places.flat_map(|place| {
            let (variants, more) = match place {
                Place::Drawn { .. } => (VARIANTS, ALTERNATIVES),
                Place::Flight { .. } => (FLIGHT, &[][..]),
            };
            let variants = variants.iter().chain(more);
            variants.filter_map(move |variant| self.cell(place, variant))
        });
        cells.collect()
    }

    fn cell(&self, place: Place, variant: &Variant) -> Option<ShareCell> {
        let all = self.of_place(place, variant.name).count();
        let kept: Vec<&Run> = self.kept(place, variant.name).collect();
        let parts = variant.kind.parts().iter().enumerate();
        let parts = parts.filter_map(|(index, &name)| {
            let times = |run: &Run| run.parts.get(index).copied().flatten();
            let mut with: Vec<&Run> = kept.clone();
            with.retain(|run| times(run).is_some());
            let share = || per_cpu(&with, &|run| times(run).unwrap_or_default());
            (!with.is_empty()).then(|| (name, share()))
        });
        let employed: f64 = kept.iter().map(|run| f64::from(run.employed)).sum();
        (all > 0).then(|| ShareCell {
            variant: variant.name.to_owned(),
            set: place.set().to_owned(),
            cpus: place.cpus(),
            utilization_permille: place.permille(),
            extrapolated: false,
            runs: kept.len(),
            left_out: all - kept.len(),
            employed: employed / as_f64(kept.len().max(1) as u64),
            parts: parts.collect(),
            scheduler: per_cpu(&kept, &|run| run.scheduler),
            system: Some(per_cpu(&kept, &|run| run.system)),
        })
    }
}

fn per_cpu(runs: &[&Run], times: &dyn Fn(&Run) -> PerCpu) -> PerCpuShare {
    let means = runs.iter().map(|run| run.share(times(run).mean_ns));
    let most = runs.iter().map(|run| run.share(times(run).max_ns));
    let means: Vec<f64> = means.collect();
    PerCpuShare {
        mean: means.iter().sum::<f64>() / as_f64(means.len().max(1) as u64),
        max: most.reduce(f64::max),
        spread: Quartiles::of(means),
    }
}

#[cfg(test)]
mod tests {
    use super::super::made_up::{drawn, made, table_of};
    use super::*;

    #[test]
    fn a_cell_has_means_and_the_most_of_runs_that_count() {
        let place = drawn(2, 200);
        let mut runs = vec![
            made(place, 0, "ftts/spin", 100),
            made(place, 1, "ftts/spin", 300),
        ];
        let mut late = made(place, 2, "ftts/spin", 99_999);
        late.kept = false;
        runs.push(late);
        runs[1].scheduler.max_ns = 900;
        let table = table_of(runs);
        let cells = table.cells();
        assert_eq!(cells.len(), 1);
        let cell = &cells[0];
        assert_eq!((cell.runs, cell.left_out, cell.cpus), (2, 1, 2));
        assert!((cell.scheduler.mean - 200e-6).abs() < 1e-12, "{cell:?}");
        assert!(
            (cell.scheduler.max.unwrap() - 900e-6).abs() < 1e-12,
            "{cell:?}"
        );
        let names: Vec<&str> = cell.parts.0.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, Kind::Frames.parts());
        assert!(!cell.extrapolated && cell.system.is_some());
    }

    /// What nobody ran has no cell.
    #[test]
    fn alternatives_have_cells_where_they_were_run() {
        let of = |name: &str| made(drawn(2, 200), 0, name, 100);
        let table = table_of(vec![of("ftts/spin/tsc"), of("ftts/spin")]);
        let names: Vec<String> = table.cells().into_iter().map(|cell| cell.variant).collect();
        assert_eq!(names, ["ftts/spin", "ftts/spin/tsc"]);
    }

    #[test]
    fn the_papers_mechanism_stands_for_its_policy_where_it_was_measured() {
        let place = drawn(1, 200);
        let ours = vec![
            made(place, 0, "ftts/futex", 1),
            made(place, 0, "ftts/spin", 1),
        ];
        let stands = |runs| {
            let table = table_of(runs);
            table.stands_for(Kind::Frames).map(|variant| variant.name)
        };
        assert_eq!(stands(ours.clone()), Some("ftts/spin"));
        let theirs = made(place, 0, "ftts/sigrist2015", 1);
        assert_eq!(
            stands([ours, vec![theirs]].concat()),
            Some("ftts/sigrist2015")
        );
        assert_eq!(stands(Vec::new()), None);
    }
}
