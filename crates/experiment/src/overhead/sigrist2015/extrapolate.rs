//! Shares on more CPUs than were measured: what an event cost, times how many of them a simulation of the sets has.
//!
//! | part | events that each CPU pays for |
//! |---|---|
//! | frame-init | frames |
//! | sub-frame-init | sub-frames, and its own jobs |
//! | barrier | sub-frames |
//! | sub-frame-overrun | frames in which one is dropped |
//! | job-arrival, job-finish | its own share of the jobs released and completed |
//! | monitoring | its share of the jobs released; of a heartbeat the time |
//! | job-overrun | its share of the changes of mode |
//!
//! An event costs what it did on the largest number of CPUs that was measured. Decisions for more CPUs, and barriers of more of them, take
//! longer: these are no bounds from above.

use super::plan::Plan;
use super::run::{Events, Place, Run};
use super::set;
use super::table::Table;
use super::variant::{FLIGHT, Kind, SHARED, Variant, part, variant};
use crate::number::as_f64;
use crate::several;
use crate::simulation::system;
use std::time::Duration;
use vestal_core::Instant;
use vestal_policy::{Analysis, Registry};
use vestal_result::shares::{PerCpuShare, ShareCell};
use vestal_sim::Backlog;
use vestal_statistics::Quartiles;
use vestal_workload::{Scenario, ScenarioSpec, TaskSet, Workload};

/// What happens in such a run of a set, on all CPUs together, and on how many there are tasks; `None`: the policy does not schedule it.
///
/// # Errors
/// In words, what keeps it from being simulated.
pub fn events(
    registry: &Registry,
    kind: Kind,
    set: &TaskSet,
    (seed, span): (u64, Duration),
) -> Result<Option<(Events, u16)>, String> {
    events_under(registry, (kind, kind.scenario()), set, (seed, span))
}

/// The same where jobs execute as this scenario says.
fn events_under(
    registry: &Registry,
    (kind, scenario): (Kind, &str),
    set: &TaskSet,
    (seed, span): (u64, Duration),
) -> Result<Option<(Events, u16)>, String> {
    let policy = registry.policy(kind.policy()).ok_or("no such policy")?;
    let options = registry.options(policy, &[]);
    let options = options.map_err(|refusal| refusal.to_string())?;
    let by = (policy, &options, Analysis::Ask);
    let Some(system) = system(registry, by, set, &vestal_analysis::Parameters::default())? else {
        return Ok(None);
    };
    let Ok(ScenarioSpec::Named(scenario)) = Scenario::parse(scenario) else {
        return Err("the scenario has another name".to_owned());
    };
    let tasks = set.to_tasks(kind.policy());
    let tasks = tasks.map_err(|found| found.to_string())?;
    let workload = Workload::new(set, &tasks, scenario, seed);
    let nanos = u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
    let run = several::Run {
        set,
        workload: &workload,
        end: Instant::EPOCH.saturating_add(vestal_core::Duration::from_nanos(nanos)),
        backlog: Backlog::UNLIMITED,
        costs: None,
    };
    let (outcome, ended) = run.of(&system, tasks.len())?;
    ended.map_err(|error| error.to_string())?;
    let jobs = outcome.figures.jobs();
    let all = Events {
        released: jobs.released,
        completed: jobs.completed,
        mode_changes: outcome.figures.mode_changes_count(),
        ..Events::default()
    };
    let employed = system.clusters.iter().map(|cluster| cluster.cpus.len());
    let employed = u16::try_from(employed.sum::<usize>()).unwrap_or(u16::MAX);
    Ok(Some(match outcome.frames {
        Some(found) => {
            let events = all.with_frames(found.total, found.skipped, found.lowest_skipped);
            (events, employed)
        }
        None => (all, employed),
    }))
}

/// How many events of a part a CPU pays for; a heartbeat's every period.
fn paid(variant: &Variant, name: &str, events: &Events, (employed, span_ns): (u16, u64)) -> f64 {
    let of_one = |count: u64| as_f64(count) / f64::from(employed.max(1));
    match (name, variant.heartbeat_ns) {
        (part::FRAME_INIT, _) => as_f64(events.frames),
        (part::SUB_FRAME_INIT, _) => as_f64(events.sub_frames) + of_one(events.completed),
        (part::BARRIER, _) => as_f64(events.sub_frames),
        (part::SUB_FRAME_OVERRUN, _) => as_f64(events.dropped),
        (part::JOB_FINISH, _) => of_one(events.completed),
        (part::MONITORING, Some(period)) => as_f64(span_ns / period.max(1)),
        (part::JOB_OVERRUN, _) => of_one(events.mode_changes),
        // Arrivals, and what is watched of them.
        _ => of_one(events.released),
    }
}

/// What an event of each part of a variant cost, in nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Rates {
    variant: &'static Variant,
    by_part: Vec<f64>,
}

impl Rates {
    /// From the runs of drawn sets on the largest number of CPUs that was measured.
    #[must_use]
    pub fn of(table: &Table, variant: &'static Variant) -> Option<Self> {
        Self::of_places(table, variant, |place| place.permille().is_some())
    }

    /// From the runs of the places of some kind, on the largest number of CPUs that was measured.
    fn of_places(
        table: &Table,
        variant: &'static Variant,
        is_one: impl Fn(Place) -> bool,
    ) -> Option<Self> {
        let counts = |run: &&Run| run.kept && run.variant == variant.name && is_one(run.place);
        let cpus = table.runs().iter().filter(&counts);
        let most = cpus.map(|run| run.place.cpus()).max()?;
        let runs = || {
            let all = table.runs().iter().filter(&counts);
            all.filter(move |run| run.place.cpus() == most)
        };
        let by_part = variant.kind.parts().iter().map(|name| {
            let part = |run: &Run| run.part(variant.kind, name);
            let seen = |run: &Run| paid(variant, name, &run.events, (run.employed, run.span_ns));
            let with = runs().filter(|run| part(run).is_some());
            let events: f64 = with.map(seen).sum();
            let nanos: u64 = runs().filter_map(part).sum();
            match events > 0.0 {
                true => as_f64(nanos) / events,
                false => 0.0,
            }
        });
        Some(Self {
            variant,
            by_part: by_part.collect(),
        })
    }

    /// The same with what a part of this name costs the other variant, which has the same parts.
    fn with_part_of(mut self, other: &Self, name: &str) -> Self {
        let parts = self.variant.kind.parts().iter();
        for ((own, known), rate) in self.by_part.iter_mut().zip(parts).zip(&other.by_part) {
            if *known == name {
                *own = *rate;
            }
        }
        self
    }

    /// What they come to with what happens in simulations of the sets of a place, each of so many nanoseconds.
    #[must_use]
    pub fn cell(&self, place: Place, simulated: &[(Events, u16)], span_ns: u64) -> ShareCell {
        let parts = self.variant.kind.parts();
        let shares = |index: usize, name: &str| -> Vec<f64> {
            let rate = self.by_part.get(index).copied().unwrap_or(0.0);
            let each = simulated.iter().map(|(events, employed)| {
                let count = paid(self.variant, name, events, (*employed, span_ns));
                count * rate / as_f64(span_ns.max(1))
            });
            each.collect()
        };
        let by_part: Vec<Vec<f64>> = (0..)
            .zip(parts)
            .map(|(index, name)| shares(index, name))
            .collect();
        let sums = (0..simulated.len()).map(|run| by_part.iter().map(|part| part[run]).sum());
        let employed: f64 = simulated.iter().map(|(_, cpus)| f64::from(*cpus)).sum();
        ShareCell {
            variant: self.variant.name.to_owned(),
            set: place.set().to_owned(),
            cpus: place.cpus(),
            utilization_permille: place.permille(),
            extrapolated: true,
            runs: simulated.len(),
            left_out: 0,
            employed: employed / as_f64(simulated.len().max(1) as u64),
            parts: parts
                .iter()
                .zip(&by_part)
                .map(|(&name, shares)| (name, of_means(shares.clone())))
                .collect(),
            scheduler: of_means(sums.collect()),
            system: None,
        }
    }
}

/// How many jobs of HI tasks of the flight management system overrun, in the paper and in runs.
const FLIGHT_SCENARIO: &str = "overrun=0.5";

/// The flight management system on numbers of CPUs on which a variant of Table II was not measured: of each the costs of its own runs of
/// the same file. With a dispatcher on a CPU of its own these are as many CPUs of workers; it was run with one of them, which waits for nobody, so that
/// barriers cost what they do where the dispatcher is beside the workers.
///
/// # Errors
/// In words, what keeps it from being simulated.
pub fn flight(registry: &Registry, table: &Table, plan: &Plan) -> Result<Vec<ShareCell>, String> {
    let mut cells = Vec::new();
    for (platform, place) in plan.flight_reckoned() {
        let is_one = |other: Place| other.platform() == Some(platform);
        let missing = FLIGHT
            .iter()
            .filter(|variant| table.kept(place, variant.name).next().is_none());
        let shared = variant(SHARED).and_then(|one| Rates::of_places(table, one, is_one));
        let rates = missing.filter_map(|one| {
            let rates = Rates::of_places(table, one, is_one)?;
            match one.more_cpus {
                0 => Some(rates),
                // Without what barriers cost where somebody waits at them there is nothing to say.
                _ => Some(rates.with_part_of(shared.as_ref()?, part::BARRIER)),
            }
        });
        let rates: Vec<Rates> = rates.collect();
        if rates.is_empty() {
            continue;
        }
        let set = set::flight(platform, place.cpus())?;
        let under = (Kind::Frames, FLIGHT_SCENARIO);
        let mut counted = Vec::new();
        for seed in 1..=u64::from(plan.extrapolated_sets) {
            let span = (seed, plan.flight_interval);
            counted.extend(events_under(registry, under, &set, span)?);
        }
        if counted.is_empty() {
            continue;
        }
        let span = plan.flight_interval.as_nanos();
        let span = u64::try_from(span).unwrap_or(u64::MAX);
        cells.extend(rates.iter().map(|rates| rates.cell(place, &counted, span)));
    }
    Ok(cells)
}

fn of_means(means: Vec<f64>) -> PerCpuShare {
    PerCpuShare {
        mean: means.iter().sum::<f64>() / as_f64(means.len().max(1) as u64),
        max: None,
        spread: Quartiles::of(means),
    }
}

#[cfg(test)]
mod tests {
    use super::super::made_up::{drawn, made, table_of};
    use super::super::plan::FULL;
    use super::super::run::Platform;
    use super::super::variant::OWN;
    use super::*;

    const SPAN: Duration = Duration::from_millis(2400);

    fn counted(kind: Kind, set: &TaskSet) -> (Events, u16) {
        let registry = Registry::default();
        let found = events(&registry, kind, set, (1, SPAN)).unwrap();
        found.expect("the policy schedules it")
    }

    /// By hand: twelve frames of 200 ms, or eight of 300 ms, or six of 400 ms, and each job in one of them.
    #[test]
    fn a_simulation_counts_frames_and_jobs_of_the_whole_interval() {
        let registry = Registry::default();
        let mut judge = set::Judge::new(&registry);
        let (sets, _) = judge
            .sets((2, 200), (3, set::Use::Simulations), &mut || true)
            .unwrap();
        for set in sets {
            let nanos = SPAN.as_nanos() as u64;
            let jobs: u64 = set
                .tasks
                .iter()
                .map(|task| nanos / task.period.as_nanos())
                .sum();
            let (frames, cpus) = counted(Kind::Frames, &set);
            assert_eq!((frames.released, cpus), (jobs, 2), "{set:?}");
            let periods = set.tasks.iter().map(|task| task.period.as_nanos());
            let gcd = periods.fold(0, |a, b| {
                let (mut a, mut b) = (a, b);
                while b > 0 {
                    (a, b) = (b, a % b);
                }
                a
            });
            assert_eq!(frames.frames, nanos / gcd);
            assert_eq!(frames.sub_frames + frames.dropped, 2 * frames.frames);
            let (deadlines, employed) = counted(Kind::Deadlines, &set);
            assert_eq!(deadlines.released, jobs);
            assert_eq!(deadlines.frames, 0);
            assert!((1..=2).contains(&employed));
        }
    }

    /// The rate is that of the larger number of CPUs, and the same events give the same share back.
    #[test]
    fn the_same_events_give_the_measured_share_back_and_twice_as_many_twice_of_it() {
        let spin = variant("ftts/spin").unwrap();
        let mut runs = vec![
            made(drawn(1, 200), 0, "ftts/spin", 5),
            made(drawn(2, 200), 0, "ftts/spin", 600),
        ];
        for run in &mut runs {
            run.events = Events {
                released: 8,
                completed: 8,
                mode_changes: 4,
                ..Events::default().with_frames(10, 0, 2)
            };
        }
        let (events, span) = (runs[1].events, runs[1].span_ns);
        let rates = Rates::of(&table_of(runs), spin).unwrap();
        let share = |events| {
            let cell = rates.cell(drawn(4, 200), &[(events, 2)], span);
            assert!(cell.extrapolated && cell.system.is_none());
            cell.scheduler.mean
        };
        assert!((share(events) - 600e-6).abs() < 1e-12);
        let double = Events {
            frames: 20,
            sub_frames: 36,
            dropped: 4,
            released: 16,
            completed: 16,
            mode_changes: 8,
        };
        assert!((share(double) - 1200e-6).abs() < 1e-12);
        assert_eq!(
            Rates::of(&table_of(Vec::new()), spin).map(|r| r.by_part),
            None
        );
    }

    #[test]
    fn a_heartbeat_costs_time_and_no_jobs() {
        let none = Events::default();
        let beats = paid(
            variant("pedf-vd/heartbeat").unwrap(),
            part::MONITORING,
            &none,
            (1, 5_000_000),
        );
        assert!((beats - 5.0).abs() < 1e-9);
        let looks = paid(
            variant("pedf-vd/manager").unwrap(),
            part::MONITORING,
            &none,
            (1, 5_000_000),
        );
        assert!(looks.abs() < 1e-9);
    }

    /// A dispatcher of its own was run with one CPU of workers alone; shared ones, and none, with two. Each on those on which it was not.
    #[test]
    fn the_flight_management_system_is_reckoned_where_a_variant_was_not_run() {
        let platform = Platform::Phi;
        let place = |cpus| Place::Flight { platform, cpus };
        let mut runs = vec![
            made(place(1), 0, OWN, 600),
            made(place(1), 0, SHARED, 400),
            made(place(2), 0, SHARED, 500),
        ];
        for run in &mut runs {
            let frames = Events::default().with_frames(10, 0, 2);
            (run.events, run.employed) = (frames, run.place.cpus());
            (run.events.released, run.events.completed) = (8, 8);
        }
        let registry = Registry::default();
        let cells = flight(&registry, &table_of(runs), &FULL).unwrap();
        let which = cells.iter().map(|cell| (cell.variant.as_str(), cell.cpus));
        assert_eq!(which.collect::<Vec<_>>(), [(OWN, 2), (SHARED, 4), (OWN, 4)]);
        for cell in &cells {
            assert!(cell.extrapolated && cell.system.is_none(), "{cell:?}");
            assert_eq!((cell.set.as_str(), cell.runs), ("fms-phi", 20));
            assert!(cell.scheduler.mean > 0.0, "{cell:?}");
        }
        // Ten frames in a millisecond of those runs, of which eighteen sub-frames were not dropped; twenty in two seconds here.
        let of = |cell: &ShareCell, part| cell.parts.get(part).unwrap().mean;
        let frame = 600.0 / 6.0 / 10.0;
        assert!((of(&cells[0], part::FRAME_INIT) - 20.0 * frame / 2e9).abs() < 1e-12);
        // Whoever is alone waits for nobody: a barrier costs what it does with a dispatcher beside the workers.
        let ratio = of(&cells[2], part::BARRIER) / of(&cells[1], part::BARRIER);
        assert!((ratio - 1.0).abs() < 1e-9, "{ratio}");
    }

    /// What was counted in the kept runs is what a simulation counts, but for jobs that allocate memory by chance.
    #[test]
    fn a_simulation_of_the_flight_management_system_has_the_frames_of_its_runs() {
        let registry = Registry::default();
        for (cpus, employed) in [(1, 1), (2, 2), (4, 4)] {
            let set = set::flight(Platform::I5, cpus).unwrap();
            let under = (Kind::Frames, FLIGHT_SCENARIO);
            let span = FULL.flight_interval;
            let found = events_under(&registry, under, &set, (1, span)).unwrap();
            let (events, used) = found.expect("it has a table");
            assert_eq!((events.frames, used), (20, employed));
            assert!((1..20).contains(&events.dropped), "{events:?}");
        }
    }
}
