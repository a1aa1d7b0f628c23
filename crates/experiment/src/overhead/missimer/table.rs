//! All runs, by place and system, and what they come to.

use super::run::{Camera, Place, Run, System, WINDOW_NS};
use crate::number::as_f64;
use vestal_result::cameras::{CameraCell, CamerasCell};
use vestal_statistics::Quartiles;

/// What of a run is looked at.
pub type Value<'a> = &'a dyn Fn(&Run) -> Option<f64>;

impl Run {
    /// What carrying the policy out took, in percent of the run.
    #[must_use]
    pub fn overhead(&self) -> f64 {
        as_f64(self.scheduler_ns) * 100.0 / as_f64(self.span_ns.max(1))
    }

    /// Something that was counted, for each second of the run.
    #[must_use]
    pub fn each_second(&self, count: u64) -> f64 {
        as_f64(count) * 1e9 / as_f64(self.span_ns.max(1))
    }

    /// The longest that an application went without completing a job, in periods, the beginning and the end of the run included.
    #[must_use]
    pub fn longest_wait(&self, application: usize) -> Option<f64> {
        let completed = self.completed_ns.get(application)?;
        let befores = std::iter::once(0).chain(completed.iter().copied());
        let afters = completed.iter().copied().chain([self.span_ns]);
        let waits = befores.zip(afters);
        let longest = waits
            .map(|(before, after)| after.saturating_sub(before))
            .max()?;
        Some(as_f64(longest) / as_f64(WINDOW_NS))
    }

    /// How many jobs an application completed each second.
    #[must_use]
    pub fn completed_each_second(&self, application: usize) -> Option<f64> {
        let completed = self.completed_ns.get(application)?;
        Some(self.each_second(completed.len() as u64))
    }
}

/// What a camera's server served in windows well before the half of a run, and well after it.
#[must_use]
pub fn halves(run: &Run, camera: &Camera) -> Option<[Vec<f64>; 2]> {
    let windows = run.rates(camera);
    // The first window of each half shows how it begins.
    let half = windows.len() / 2;
    let before = windows.get(1..half)?.to_vec();
    let after = windows.get(half + 1..)?.to_vec();
    (before.len() > 2 && after.len() > 2).then_some([before, after])
}

/// The mean of some values; there are some.
#[must_use]
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / as_f64(values.len().max(1) as u64)
}

/// Their mean square distance from it.
#[must_use]
pub fn variance(values: &[f64]) -> f64 {
    let middle = mean(values);
    let squares: Vec<f64> = values
        .iter()
        .map(|value| (value - middle).powi(2))
        .collect();
    mean(&squares)
}

/// Where two straight lines, one up to a point and the other from there, fit what was served in all best: a window's number. O(n^2).
#[must_use]
pub fn bend(totals: &[u64]) -> Option<usize> {
    let totals: Vec<f64> = totals.iter().copied().map(as_f64).collect();
    let places = 2..totals.len().checked_sub(2)?;
    let error = |place: usize| {
        let (before, after) = totals.split_at(place);
        residue(before) + residue(after)
    };
    places.min_by(|&one, &other| error(one).total_cmp(&error(other)))
}

/// The sum of squares that the line of least squares leaves.
fn residue(values: &[f64]) -> f64 {
    let middle = mean(values);
    let half = (as_f64(values.len() as u64) - 1.0) / 2.0;
    let at = |index: usize| as_f64(index as u64) - half;
    let each = || values.iter().enumerate();
    let spread: f64 = each().map(|(index, _)| at(index).powi(2)).sum();
    let slope = match spread > 0.0 {
        true => {
            each()
                .map(|(index, value)| at(index) * (value - middle))
                .sum::<f64>()
                / spread
        }
        false => 0.0,
    };
    each()
        .map(|(index, value)| (value - middle - slope * at(index)).powi(2))
        .sum()
}

/// All runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    runs: Vec<Run>,
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

    /// Those of a place and a system that count.
    pub fn of_place(&self, place: Place, system: System) -> impl Iterator<Item = &Run> {
        let all = self.all_of_place(place, system);
        all.filter(|run| run.counts())
    }

    /// All of them.
    fn all_of_place(&self, place: Place, system: System) -> impl Iterator<Item = &Run> {
        let runs = self.runs.iter();
        runs.filter(move |run| run.place == place && run.system == system)
    }

    /// What is looked at, of each run of a place and a system that counts and has it.
    #[must_use]
    pub fn values(&self, place: Place, system: System, value: Value<'_>) -> Vec<f64> {
        self.of_place(place, system).filter_map(value).collect()
    }

    /// The same of two kinds of runs, of each repetition that has both.
    #[must_use]
    pub fn pairs(&self, kinds: [(Place, System); 2], value: Value<'_>) -> Vec<[f64; 2]> {
        let [one, other] = kinds;
        let firsts = self.of_place(one.0, one.1);
        let pairs = firsts.filter_map(|first| {
            let mut others = self.of_place(other.0, other.1);
            let second = others.find(|run| run.repetition == first.repetition)?;
            Some([value(first)?, value(second)?])
        });
        pairs.collect()
    }

    /// What was measured, a row for each place and system.
    #[must_use]
    pub fn cells(&self) -> Vec<CamerasCell> {
        let kinds = Place::ALL.iter().flat_map(|&place| {
            let systems = place.systems().iter();
            systems.map(move |&system| (place, system))
        });
        kinds
            .filter(|&(place, system)| self.all_of_place(place, system).next().is_some())
            .map(|(place, system)| self.cell(place, system))
            .collect()
    }

    fn cell(&self, place: Place, system: System) -> CamerasCell {
        let of = |value: Value<'_>| Quartiles::of(self.values(place, system, value));
        let left_out = |is: &dyn Fn(&Run) -> bool| {
            let all = self.all_of_place(place, system);
            all.filter(|run| is(run)).count()
        };
        let all = self.all_of_place(place, system);
        let lost = all.map(|run| as_f64(run.lost_ns) * 100.0 / as_f64(run.span_ns.max(1)));
        let count = super::set::names(place);
        let cameras = count.into_iter().enumerate().map(|(number, name)| {
            let sum = |of: fn(&Camera) -> u64| {
                let runs = self.all_of_place(place, system);
                let each = runs.filter_map(|run| run.cameras.get(number)).map(of);
                each.fold(0, u64::saturating_add)
            };
            CameraCell {
                name,
                sent: sum(|camera| camera.sent),
                served: sum(|camera| camera.served),
                queued: sum(|camera| camera.queued),
                dropped: sum(|camera| camera.dropped),
            }
        });
        CamerasCell {
            place: place.name().to_owned(),
            system: system.name().to_owned(),
            runs: self.of_place(place, system).count(),
            left_out: left_out(&|run| !run.counts()),
            disturbed: left_out(&|run| !run.is_quiet()),
            lost_percent: Quartiles::of(lost.collect()),
            overhead_percent: of(&|run| Some(run.overhead())),
            switches_each_second: of(&|run| Some(run.each_second(run.switches))),
            interrupts_each_second: of(&|run| Some(run.each_second(run.interrupts))),
            rises: of(&|run| Some(as_f64(run.rises_ns.len() as u64))),
            completed_each_second: [0, 1]
                .map(|application| of(&|run: &Run| run.completed_each_second(application))),
            longest_wait_periods: [0, 1]
                .map(|application| of(&|run: &Run| run.longest_wait(application))),
            read_each_second: [0, 1].map(|application: usize| {
                of(&|run: &Run| {
                    let has_camera = run.cameras.len() > application;
                    let read = run.read.get(application).filter(|_| has_camera)?;
                    Some(run.each_second(*read))
                })
            }),
            cameras: cameras.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::made_up::made;
    use super::*;

    #[test]
    fn totals_bend_where_the_rate_changes() {
        let mut totals = Vec::new();
        for window in 0..40_u64 {
            let before = totals.last().copied().unwrap_or(0);
            totals.push(before + if window < 15 { 10 } else { 3 });
        }
        assert!(
            (14..=16).contains(&bend(&totals).unwrap()),
            "{:?}",
            bend(&totals)
        );
        assert_eq!(bend(&[1, 2, 3]), None);
    }

    #[test]
    fn who_completes_nothing_for_long_has_waited_also_at_the_beginning_and_at_the_end() {
        let run = Run {
            span_ns: 10 * WINDOW_NS,
            completed_ns: [
                vec![WINDOW_NS, 2 * WINDOW_NS, 5 * WINDOW_NS],
                vec![WINDOW_NS],
            ],
            ..made(Place::OneCamera, System::SsOnly, 0)
        };
        assert_eq!(run.longest_wait(0), Some(5.0));
        assert_eq!(run.longest_wait(1), Some(9.0));
        let late = Run {
            completed_ns: [
                (7..=10).map(|window| window * WINDOW_NS).collect(),
                Vec::new(),
            ],
            ..run.clone()
        };
        assert_eq!(
            [0, 1].map(|of| late.longest_wait(of)),
            [Some(7.0), Some(10.0)]
        );
        assert_eq!(run.completed_each_second(0), Some(3.0));
    }

    #[test]
    fn repetitions_are_compared_that_have_both() {
        let of = |system, repetition| made(Place::OneCamera, system, repetition);
        let runs = vec![
            of(System::SsOnly, 0),
            of(System::SsPibs, 0),
            of(System::SsOnly, 1),
        ];
        let kinds = [System::SsOnly, System::SsPibs].map(|system| (Place::OneCamera, system));
        let table = Table::of(runs);
        assert_eq!(table.pairs(kinds, &|_| Some(1.0)), [[1.0, 1.0]]);
        let cells = table.cells();
        assert_eq!(cells.len(), 2);
        assert_eq!((cells[0].runs, cells[0].system.as_str()), (2, "SS-only"));
    }

    #[test]
    fn runs_that_do_not_count_are_counted_and_compared_with_nothing() {
        let of = |system, repetition| made(Place::OneCamera, system, repetition);
        let disturbed = Run {
            lost_ns: 5_000_000,
            ..of(System::SsOnly, 0)
        };
        let mut idle = of(System::SsOnly, 1);
        idle.cameras[0].dropped = 0;
        let runs = vec![
            disturbed,
            idle,
            of(System::SsPibs, 0),
            of(System::SsPibs, 1),
        ];
        let kinds = [System::SsOnly, System::SsPibs].map(|system| (Place::OneCamera, system));
        let table = Table::of(runs);
        assert_eq!(table.pairs(kinds, &|_| Some(1.0)), [[1.0; 2]; 0]);
        let cells = table.cells();
        let counts = |cell: &CamerasCell| [cell.runs, cell.left_out, cell.disturbed];
        assert_eq!([0, 1].map(|of| counts(&cells[of])), [[0, 2, 1], [2, 0, 0]]);
        assert!(cells[0].overhead_percent.is_none());
        assert_eq!(cells[0].cameras[0].sent, 400);
        assert_eq!(cells[0].lost_percent.as_ref().unwrap().median, 0.0625);
    }
}
