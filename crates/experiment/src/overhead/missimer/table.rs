//! All runs, by place and system, and what they come to.

use super::judged::{Change, DISTURBED, Fault};
use super::range::Range;
use super::run::{Camera, Place, Run, System, WINDOW_NS, Window};
use super::set::LOW_APPLICATION_MS;
use crate::number::as_f64;
use vestal_result::cameras::{CameraCell, CamerasCell};
use vestal_statistics::Quartiles;

/// What of a run is looked at.
pub type Value<'a, T = Range> = &'a dyn Fn(&Run) -> Option<T>;

impl Run {
    /// What carrying the policy out took, in percent of the run. All that others took may be in it: what is measured is the most. It is no less than nothing.
    #[must_use]
    pub fn overhead(&self) -> Range {
        let percent = |own: u64| as_f64(own) * 100.0 / as_f64(self.span_ns.max(1));
        let least = self.scheduler_ns.saturating_sub(self.lost_ns);
        Range::of(percent(least), percent(self.scheduler_ns))
    }

    /// Something that was counted, for each second of the run.
    #[must_use]
    pub fn each_second(&self, count: u64) -> f64 {
        as_f64(count) * 1e9 / as_f64(self.span_ns.max(1))
    }

    /// Switches each second. Each gap may have added two.
    #[must_use]
    pub fn switches_each_second(&self) -> Range {
        let least = self.switches.saturating_sub(2 * self.gaps);
        Range::of(self.each_second(least), self.each_second(self.switches))
    }

    /// The longest that an application went without completing a job, in periods, the beginning and the end of the run included. All that others took
    /// may have come then.
    #[must_use]
    pub fn longest_wait(&self, application: usize) -> Option<Range> {
        let completed = self.completed_ns.get(application)?;
        let befores = std::iter::once(0).chain(completed.iter().copied());
        let afters = completed.iter().copied().chain([self.span_ns]);
        let waits = befores.zip(afters);
        let longest = waits
            .map(|(before, after)| after.saturating_sub(before))
            .max()?;
        let periods = |nanos: u64| as_f64(nanos) / as_f64(WINDOW_NS);
        let least = longest.saturating_sub(self.lost_ns);
        Some(Range::of(periods(least), periods(longest)))
    }

    /// How many jobs an application completed each second.
    #[must_use]
    pub fn completed_each_second(&self, application: usize) -> Option<f64> {
        let completed = self.completed_ns.get(application)?;
        Some(self.each_second(completed.len() as u64))
    }

    /// The same of the LO application, which may have completed so many more in what others took.
    #[must_use]
    pub fn low_jobs_each_second(&self) -> Option<Range> {
        let more = as_f64(self.lost_ns) / as_f64(LOW_APPLICATION_MS * 1_000_000);
        let more = more * 1e9 / as_f64(self.span_ns.max(1));
        let completed = self.completed_each_second(1)?;
        Some(Range::of(completed, completed + more))
    }
}

/// Of so many windows of a half that are about as long as they should be there is a variance.
const FEWEST: usize = 3;

/// What a camera's server served in a part of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Half {
    /// Look by look; there is one.
    windows: Vec<Window>,
}

impl Half {
    fn of(windows: impl Iterator<Item = Window>) -> Option<Self> {
        let windows: Vec<Window> = windows.collect();
        (!windows.is_empty()).then_some(Self { windows })
    }

    /// So many events,
    #[must_use]
    pub fn served(&self) -> u64 {
        let served = self.windows.iter().map(|window| window.served);
        served.fold(0, u64::saturating_add)
    }

    /// in so long.
    #[must_use]
    pub fn length_ns(&self) -> u64 {
        let lengths = self.windows.iter().map(Window::length_ns);
        lengths.fold(0, u64::saturating_add)
    }

    /// Events for each [`WINDOW_NS`], and what so many more are.
    #[must_use]
    pub fn mean(&self, more: u64) -> f64 {
        let events = as_f64(self.served().saturating_add(more));
        events * as_f64(WINDOW_NS) / as_f64(self.length_ns().max(1))
    }

    /// The variance of the events in each window that is about as long as it should be, for its length; `None`: there are fewer than three.
    #[must_use]
    pub fn variance(&self) -> Option<f64> {
        let whole = self.windows.iter().filter(|window| window.is_whole());
        let rates: Vec<f64> = whole.map(Window::rate).collect();
        (rates.len() >= FEWEST).then(|| variance(&rates))
    }

    /// What is left of it without the windows in which others took something of the camera's bottom half; `None`: they are more than half of them.
    #[must_use]
    pub fn untouched(&self, run: &Run, camera: &Camera) -> Option<Self> {
        let windows = self.windows.iter().copied();
        let left = Self::of(windows.filter(|window| run.is_untouched(camera, window)))?;
        (2 * left.windows.len() >= self.windows.len()).then_some(left)
    }
}

/// What a camera's server served before the half of a run, and after it; the first window of each half shows how it begins. Windows go by when it was looked.
/// `None`: nobody looked in one of them.
#[must_use]
pub fn halves(run: &Run, camera: &Camera) -> Option<[Half; 2]> {
    /// No job that begins at half time raises anything so soon.
    const SOON_NS: u64 = WINDOW_NS / 10;
    let windows = || run.windows(camera).into_iter();
    let half = run.span_ns / 2;
    let before = windows().filter(|window| window.from_ns > 0 && window.to_ns <= half + SOON_NS);
    let after = windows().filter(|window| window.from_ns >= half + WINDOW_NS);
    Some([Half::of(before)?, Half::of(after)?])
}

/// Whether what was served of a camera says nothing of the two halves of a run: nobody looked, or too seldom in time.
fn is_unlooked(run: &Run) -> bool {
    let mut halves = run.cameras.iter().map(|camera| halves(run, camera));
    halves.any(|halves| {
        let is_there = |halves: [Half; 2]| halves.iter().all(|half| half.variance().is_some());
        !halves.is_some_and(is_there)
    })
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

/// When two straight lines, one up to a look and the other from there, fit best what was served in all in these windows, one after the other. O(n^2).
#[must_use]
pub fn bend(windows: &[Window]) -> Option<u64> {
    let totals = windows.iter().scan((0_u64, 0_u64), |(at, total), window| {
        *at += window.length_ns();
        *total += window.served;
        Some((as_f64(*at), as_f64(*total)))
    });
    let totals: Vec<(f64, f64)> = totals.collect();
    let places = 2..totals.len().checked_sub(2)?;
    let error = |place: usize| {
        let (before, after) = totals.split_at(place);
        residue(before) + residue(after)
    };
    let best = places.min_by(|&one, &other| error(one).total_cmp(&error(other)))?;
    windows.get(best).map(|window| window.to_ns)
}

/// The sum of squares that the line of least squares leaves.
fn residue(points: &[(f64, f64)]) -> f64 {
    let count = as_f64(points.len().max(1) as u64);
    let of = |value: fn(&(f64, f64)) -> f64| points.iter().map(value).sum::<f64>() / count;
    let (middle_x, middle_y) = (of(|point| point.0), of(|point| point.1));
    let each = || points.iter().map(|(x, y)| (x - middle_x, y - middle_y));
    let spread: f64 = each().map(|(x, _)| x.powi(2)).sum();
    let slope = match spread > 0.0 {
        true => each().map(|(x, y)| x * y).sum::<f64>() / spread,
        false => 0.0,
    };
    each().map(|(x, y)| (y - slope * x).powi(2)).sum()
}

/// All runs, and how they are looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    runs: Vec<Run>,
    /// In those that count others took at most one in so many parts.
    disturbed: u64,
}

impl Default for Table {
    fn default() -> Self {
        Self::of(Vec::new())
    }
}

impl Table {
    /// Of these.
    #[must_use]
    pub const fn of(runs: Vec<Run>) -> Self {
        Self {
            runs,
            disturbed: DISTURBED,
        }
    }

    /// The same where only runs count of which others took at most one in so many parts.
    #[must_use]
    pub fn looked_at(&self, disturbed: u64) -> Self {
        let runs = self.runs.clone();
        Self { runs, disturbed }
    }

    /// Every run, in the order of time.
    #[must_use]
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Those of a place and a system that count.
    pub fn of_place(&self, place: Place, system: System) -> impl Iterator<Item = &Run> {
        let all = self.all_of_place(place, system);
        all.filter(|run| run.counts(self.disturbed))
    }

    /// All of them.
    pub fn all_of_place(&self, place: Place, system: System) -> impl Iterator<Item = &Run> {
        let runs = self.runs.iter();
        runs.filter(move |run| run.place == place && run.system == system)
    }

    /// What is looked at, of each run of a place and a system that counts and has it.
    #[must_use]
    pub fn values<T>(&self, place: Place, system: System, value: Value<'_, T>) -> Vec<T> {
        self.of_place(place, system).filter_map(value).collect()
    }

    /// The same of two kinds of runs, of each repetition that has both.
    #[must_use]
    pub fn pairs(&self, kinds: [(Place, System); 2], value: Value<'_>) -> Vec<[Range; 2]> {
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
        let of = |value: Value<'_, f64>| Quartiles::of(self.values(place, system, value));
        let all = || self.all_of_place(place, system);
        let number = |is: &dyn Fn(&Run) -> bool| all().filter(|run| is(run)).count();
        let at_fault = |fault: Fault| number(&|run| run.faults().contains(&fault));
        let counts = |run: &Run| run.counts(self.disturbed);
        let is_change = place == Place::Change;
        let changes =
            |change: Change| number(&|run| is_change && counts(run) && run.change() == change);
        let lost = all().map(|run| as_f64(run.lost_ns) * 100.0 / as_f64(run.span_ns.max(1)));
        CamerasCell {
            place: place.name().to_owned(),
            system: system.name().to_owned(),
            runs: number(&counts),
            left_out: number(&|run| !counts(run)),
            disturbed: number(&|run| !run.is_quiet(self.disturbed)),
            starved: number(&Run::is_starved),
            too_much: at_fault(Fault::TooMuch),
            too_little: at_fault(Fault::TooLittle),
            wrong_changes: changes(Change::Wrong),
            explained_changes: changes(Change::Explained),
            unlooked: number(&|run| counts(run) && is_unlooked(run)),
            late_looks: all().map(Run::late_looks).sum(),
            lost_percent: Quartiles::of(lost.collect()),
            overhead_percent: of(&|run| Some(run.overhead().high)),
            switches_each_second: of(&|run| Some(run.switches_each_second().high)),
            interrupts_each_second: of(&|run| Some(run.each_second(run.interrupts))),
            rises: of(&|run| Some(as_f64(run.rises.len() as u64))),
            completed_each_second: [0, 1]
                .map(|application| of(&|run| run.completed_each_second(application))),
            longest_wait_periods: [0, 1].map(|application| {
                of(&|run| run.longest_wait(application).map(|found| found.high))
            }),
            read_each_second: [0, 1].map(|application: usize| {
                of(&|run| {
                    let has_camera = run.cameras.len() > application;
                    let read = run.read.get(application).filter(|_| has_camera)?;
                    Some(run.each_second(*read))
                })
            }),
            cameras: self.cameras(place, system),
        }
    }

    /// Of all runs.
    fn cameras(&self, place: Place, system: System) -> Vec<CameraCell> {
        let names = super::set::names(place).into_iter().enumerate();
        let each = names.map(|(number, name)| {
            let runs = || self.all_of_place(place, system);
            let sum = |of: fn(&Camera) -> u64| {
                let each = runs().filter_map(|run| run.cameras.get(number)).map(of);
                each.fold(0, u64::saturating_add)
            };
            CameraCell {
                name,
                sent: sum(|camera| camera.sent),
                served: sum(|camera| camera.served),
                queued: sum(|camera| camera.queued),
                dropped: sum(|camera| camera.dropped),
                charged_ns: sum(|camera| camera.charged_ns),
                postponed_ns: sum(|camera| camera.postponed_ns),
                share_ns: runs()
                    .map(|run| run.share_ns(number))
                    .fold(0, u64::saturating_add),
            }
        });
        each.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::made_up::{camera, made, rise};
    use super::*;

    const ONE: Range = Range::exactly(1.0);

    #[test]
    fn totals_bend_where_the_rate_changes() {
        let run = made(Place::Change, System::SsPibs, 0);
        let mut bent = camera(10, 3, 0);
        // The look at the corner is on both lines.
        let bend_of = |run: &Run, camera: &Camera| bend(&run.windows(camera));
        let found = bend_of(&run, &bent).unwrap() / WINDOW_NS;
        assert!((20..=21).contains(&found), "{found}");
        // Half of the looks are late: what was served by then is on the same lines.
        let mut late = run.clone();
        let looks = late.looked_ns.iter_mut().zip(&mut bent.served_by);
        for (number, (at, served)) in (0_u64..).zip(looks) {
            if number % 2 == 0 {
                *at += WINDOW_NS * 9 / 10;
                *served += if number < 20 { 9 } else { 3 };
            }
        }
        assert!(bend_of(&late, &bent).unwrap().abs_diff(2_000_000_000) < 2 * WINDOW_NS);
        late.looked_ns.truncate(3);
        assert_eq!(bend_of(&late, &bent), None);
        // Without some windows it is where it was.
        let windows = run.windows(&camera(10, 3, 0)).into_iter();
        let some = windows.filter(|window| !(500_000_000..1_200_000_000).contains(&window.from_ns));
        let some: Vec<Window> = some.collect();
        assert!(bend(&some).unwrap().abs_diff(2_000_000_000) < 2 * WINDOW_NS);
    }

    /// A look is late by 97 ms, and a burst falls into the 3 ms that are left of the next window.
    #[test]
    fn late_looks_change_no_mean_and_no_variance() {
        let run = made(Place::Change, System::SsPibs, 0);
        let steady = camera(10, 100, 0);
        let [before, after] = halves(&run, &steady).unwrap();
        assert_eq!((before.mean(0), after.mean(0)), (10.0, 100.0));
        // Windows of one half, but for the first.
        assert_eq!((before.windows.len(), after.windows.len()), (19, 19));
        assert_eq!((after.served(), after.length_ns()), (1_900, 19 * WINDOW_NS));
        assert_eq!(before.mean(19), 11.0);
        let mut late = run.clone();
        let mut burst = steady.clone();
        late.looked_ns[30] += 97_000_000;
        burst.served_by[30] += 50;
        let [_, after] = halves(&late, &burst).unwrap();
        assert_eq!((after.mean(0), after.windows.len()), (100.0, 19));
        let whole = after.windows.iter().filter(|window| window.is_whole());
        assert_eq!((whole.count(), after.variance()), (17, Some(0.0)));
        // One at half time has something of both halves in it.
        let mut late = run;
        late.looked_ns[19] += 30_000_000;
        let [before, after] = halves(&late, &steady).unwrap();
        assert_eq!((before.windows.len(), after.windows.len()), (18, 19));
    }

    /// A mean needs no window of its length.
    #[test]
    fn late_looks_leave_a_run_its_means_and_nobody_s_looks_leave_it_none_and_both_are_counted() {
        let run = |repetition| Run {
            cameras: vec![camera(10, 100, 0)],
            ..made(Place::Change, System::SsPibs, repetition)
        };
        let mut late = run(0);
        for (number, at) in (0_u64..).zip(&mut late.looked_ns) {
            *at += if number % 2 == 0 { 50_000_000 } else { 0 };
        }
        let [before, after] = halves(&late, &late.cameras[0]).unwrap();
        assert_eq!([before.variance(), after.variance()], [None; 2]);
        let means = [before.mean(0), after.mean(0)];
        assert!(means[0] < 12.0 && means[1] > 90.0, "{means:?}");
        let mut never = run(1);
        never.looked_ns.clear();
        assert!(halves(&never, &never.cameras[0]).is_none());
        let mut short = run(2);
        short.looked_ns.truncate(15);
        let cells = Table::of(vec![late, never, short, run(3)]).cells();
        assert_eq!((cells[0].runs, cells[0].unlooked), (4, 3));
    }

    #[test]
    fn what_is_left_without_touched_windows_is_at_least_half_of_them() {
        let run = made(Place::Change, System::SsPibs, 0);
        let left = |gaps: &[u64]| {
            let mut steady = camera(10, 100, 0);
            let gaps = gaps.iter().map(|window| window * WINDOW_NS + 5);
            steady.taken = gaps.map(|at| (at, at + 1)).collect();
            let [before, _] = halves(&run, &steady).unwrap();
            let left = before.untouched(&run, &steady);
            left.map(|left| left.windows.len())
        };
        assert_eq!(left(&[]), Some(19));
        assert_eq!(left(&[3, 4, 30]), Some(16));
        assert_eq!(left(&[1, 3, 5, 7]), Some(11));
        assert_eq!(left(&[1, 3, 5, 7, 9]), None);
    }

    #[test]
    fn who_completes_nothing_for_long_has_waited_also_at_the_beginning_and_at_the_end() {
        let run = Run {
            span_ns: 10 * WINDOW_NS,
            completed_ns: [
                vec![WINDOW_NS, 2 * WINDOW_NS, 5 * WINDOW_NS],
                vec![WINDOW_NS],
            ],
            lost_ns: WINDOW_NS / 2,
            ..made(Place::OneCamera, System::SsOnly, 0)
        };
        let waits = |run: &Run| [0, 1].map(|of| run.longest_wait(of).unwrap());
        assert_eq!(waits(&run), [Range::of(4.5, 5.0), Range::of(8.5, 9.0)]);
        let late = Run {
            completed_ns: [
                (7..=10).map(|window| window * WINDOW_NS).collect(),
                Vec::new(),
            ],
            ..run.clone()
        };
        assert_eq!(waits(&late).map(|wait| wait.high), [7.0, 10.0]);
        assert_eq!(run.completed_each_second(0), Some(3.0));
        // 50 ms are five jobs of 10 ms.
        assert_eq!(run.low_jobs_each_second(), Some(Range::of(1.0, 6.0)));
    }

    #[test]
    fn what_others_took_may_be_in_overheads_and_their_gaps_in_switches() {
        let run = Run {
            scheduler_ns: 40_000_000,
            lost_ns: 4_000_000,
            gaps: 100,
            ..made(Place::OneCamera, System::SsOnly, 0)
        };
        assert_eq!(run.overhead(), Range::of(0.9, 1.0));
        assert_eq!(run.switches_each_second(), Range::of(200.0, 250.0));
        // There is no less than none.
        let lost_ns = 50_000_000;
        assert_eq!(Run { lost_ns, ..run }.overhead(), Range::of(0.0, 1.0));
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
        assert_eq!(table.pairs(kinds, &|_| Some(ONE)), [[ONE; 2]]);
        let cells = table.cells();
        assert_eq!(cells.len(), 2);
        assert_eq!((cells[0].runs, cells[0].system.as_str()), (2, "SS-only"));
    }

    #[test]
    fn runs_that_do_not_count_are_counted_and_compared_with_nothing() {
        let of = |system, repetition| made(Place::OneCamera, system, repetition);
        let disturbed = Run {
            lost_ns: 50_000_000,
            ..of(System::SsOnly, 0)
        };
        let mut starved = of(System::SsOnly, 1);
        starved.cameras[0].stalled_ns = starved.span_ns / 2;
        let mut hangs = of(System::SsPibs, 1);
        hangs.cameras[0].charged_ns = 0;
        let runs = vec![disturbed, starved, of(System::SsPibs, 0), hangs];
        let kinds = [System::SsOnly, System::SsPibs].map(|system| (Place::OneCamera, system));
        let table = Table::of(runs);
        assert_eq!(table.pairs(kinds, &|_| Some(ONE)), [[ONE; 2]; 0]);
        let cells = table.cells();
        let counts = |cell: &CamerasCell| [cell.runs, cell.left_out, cell.disturbed, cell.starved];
        let found = [0, 1].map(|of| counts(&cells[of]));
        assert_eq!(found, [[0, 2, 1, 1], [2, 0, 0, 0]]);
        assert_eq!((cells[1].too_little, cells[1].too_much), (1, 0));
        assert!(cells[0].overhead_percent.is_none());
        let camera = &cells[1].cameras[0];
        assert_eq!(
            (camera.sent, camera.charged_ns, camera.share_ns),
            (64_000, 40_000_000, 80_000_000)
        );
        assert_eq!(cells[0].lost_percent.as_ref().unwrap().median, 0.625);
    }

    /// Of five runs with a change two have another rise, of which one is explained, and in one the mode does not rise.
    #[test]
    fn changes_of_another_kind_are_counted() {
        let with = |more: Option<u64>, repetition| {
            let mut run = made(Place::Change, System::SsPibs, repetition);
            let taken_ns = more.unwrap_or(0);
            if more.is_some() {
                run.rises.insert(
                    0,
                    super::super::run::Rise {
                        taken_ns,
                        ..rise(WINDOW_NS)
                    },
                );
            }
            run
        };
        let mut none = with(None, 4);
        none.rises.clear();
        let runs = vec![
            with(None, 0),
            with(Some(0), 1),
            with(Some(60_000), 2),
            with(None, 3),
            none,
        ];
        let cells = Table::of(runs).cells();
        let cell = &cells[0];
        assert_eq!(
            (cell.runs, cell.wrong_changes, cell.explained_changes),
            (5, 2, 1)
        );
        // Where nothing is to change nothing of that is said.
        let quiet = Table::of(vec![made(Place::OneCamera, System::SsPibs, 0)]).cells();
        assert_eq!((quiet[0].wrong_changes, quiet[0].explained_changes), (0, 0));
    }
}
