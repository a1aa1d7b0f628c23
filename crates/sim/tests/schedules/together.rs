//! Several worlds in one run: each goes as it would alone, and what they report is in the order of its instants.

use super::random_systems::draw;
use crate::common::Random;
use crate::common::recorder::{Recorder, engine_of, run_engine};
use crate::common::system::{backlog_of, tasks_of, workload_of};
use crate::reference::{Schedule, System};
use std::cell::RefCell;
use vestal_core::{
    CpuId, Enforcement, Exhaustion, Instant, JobId, Level, Task, TaskConfiguration, TaskId,
    Uniprocessor,
};
use vestal_sim::statistics::{Figures, Part};
use vestal_sim::workload::{ListedDemand, ListedReleases, OfPart, Periodic};
use vestal_sim::{
    Backlog, JobState, Observer, Segment, Setting, SimulationError, Statistics, simulate,
    simulate_together, stepwise,
};
use vestal_testkit::short::{configuration, task};

/// Notes the instants at which any of the worlds reports something.
struct Clock<'a>(&'a RefCell<Vec<Instant>>);

impl Observer for Clock<'_> {
    fn released(&mut self, at: Instant, _: &JobState) {
        self.0.borrow_mut().push(at);
    }
    fn executed(&mut self, segment: Segment, _: &JobState) {
        self.0.borrow_mut().push(segment.end);
    }
    fn completed(&mut self, at: Instant, _: &JobState) {
        self.0.borrow_mut().push(at);
    }
    fn started(&mut self, at: Instant, _: CpuId, _: &JobState) {
        self.0.borrow_mut().push(at);
    }
    fn mode_changed(&mut self, at: Instant, _: Level, _: Level, _: Option<JobId>) {
        self.0.borrow_mut().push(at);
    }
    fn finished(&mut self, at: Instant) {
        self.0.borrow_mut().push(at);
    }
}

/// The tasks of some systems dealt out to the places of one set: place by system and task.
fn deal(random: &mut Random, systems: &[System]) -> Vec<Vec<TaskId>> {
    let count = systems.iter().map(|system| system.tasks.len()).sum();
    let mut places = random.permutation(count).into_iter();
    let mut deal = |system: &System| {
        let places = places.by_ref().take(system.tasks.len());
        places.map(|place| TaskId(place as u16)).collect()
    };
    systems.iter().map(&mut deal).collect()
}

/// The jobs of all systems as those of one set.
fn whole(systems: &[System], places: &[Vec<TaskId>]) -> (ListedReleases, ListedDemand) {
    let count = places.iter().map(Vec::len).sum();
    let mut releases = ListedReleases {
        tasks: vec![Vec::new(); count],
    };
    let mut demand = ListedDemand {
        tasks: vec![Vec::new(); count],
        otherwise: Vec::new(),
    };
    for (system, places) in systems.iter().zip(places) {
        let (given, needed) = workload_of(system);
        for (place, (given, needed)) in places.iter().zip(given.tasks.into_iter().zip(needed.tasks))
        {
            releases.tasks[place.index()] = given;
            demand.tasks[place.index()] = needed;
        }
    }
    (releases, demand)
}

/// All systems in one run, and the instants at which any of them reported something.
fn run_together(systems: &[System], places: &[Vec<TaskId>]) -> (Vec<Schedule>, Vec<Instant>) {
    let (releases, demand) = whole(systems, places);
    let configured: Vec<Vec<TaskConfiguration>> = systems.iter().map(tasks_of).collect();
    let tasks: Vec<Vec<Task>> = configured.iter().map(|list| tasks_in(list)).collect();
    let setting = |(system, tasks): (&System, _)| Setting {
        tasks,
        cpus: 1,
        end: Instant::from_nanos(system.end),
        backlog: backlog_of(system),
    };
    let settings: Vec<Setting<'_>> = systems
        .iter()
        .zip(tasks.iter().map(Vec::as_slice))
        .map(setting)
        .collect();
    let engine = |(system, configured): (_, &Vec<_>)| engine_of(system, configured);
    let mut engines: Vec<Uniprocessor> = systems.iter().zip(&configured).map(engine).collect();
    let of_part = |tasks| {
        (
            OfPart {
                whole: &releases,
                tasks,
            },
            OfPart {
                whole: &demand,
                tasks,
            },
        )
    };
    let jobs: Vec<_> = places
        .iter()
        .map(|places| of_part(places.as_slice()))
        .collect();
    let clock = RefCell::new(Vec::new());
    let observer = |system: &System| (Recorder::new(system.end), Clock(&clock));
    let mut observers: Vec<_> = systems.iter().map(observer).collect();
    let mut worlds = Vec::new();
    for (((engine, setting), (releases, demand)), observer) in engines
        .iter_mut()
        .zip(&settings)
        .zip(&jobs)
        .zip(&mut observers)
    {
        worlds.push(stepwise(engine, setting, releases, demand, observer).unwrap());
    }
    simulate_together(&mut worlds).unwrap();
    drop(worlds);
    let schedule = |((mut recorder, _), engine): ((Recorder, Clock<'_>), &Uniprocessor)| {
        recorder.schedule.beyond_pattern = engine.jobs_beyond_pattern();
        recorder.schedule
    };
    let schedules = observers.into_iter().zip(&engines).map(schedule).collect();
    (schedules, clock.into_inner())
}

#[test]
fn together_each_goes_as_it_would_alone() {
    const RUNS: usize = 1500;
    let mut random = Random::new(14);
    let (mut rises, mut dropped) = (0, 0);
    for _ in 0..RUNS {
        let count = random.between(1, 8) as usize;
        let mut systems: Vec<System> = (0..count).map(|_| draw(&mut random)).collect();
        let end = systems[0].end;
        systems.iter_mut().for_each(|system| system.end = end);
        let places = deal(&mut random, &systems);
        let (together, clock) = run_together(&systems, &places);
        assert!(clock.is_sorted());
        for (system, together) in systems.iter().zip(together) {
            let alone = run_engine(system, &mut ());
            assert_eq!(together, alone);
            rises += alone.rises;
            dropped += alone.dropped.len();
        }
    }
    assert!(
        rises > RUNS && dropped > RUNS,
        "{rises} rises, {dropped} dropped"
    );
}

fn tasks_in(configured: &[TaskConfiguration]) -> Vec<Task> {
    configured.iter().map(|entry| entry.task).collect()
}

/// The second world has one job too many in the middle of the run; the first one ends there as well.
#[test]
fn where_one_has_too_many_jobs_all_end() {
    let parts = [8, 1000].map(|work| [TaskConfiguration::new(task(0, 10, &[work]), 1)]);
    let configurations = [0, 1].map(|part| configuration(&parts[part], 1, Enforcement::Static));
    let mut engines = configurations.map(|part| Uniprocessor::new(&part).unwrap());
    let mut statistics = configurations.map(|part| Statistics::of(&part, 1));
    let tasks = [tasks_in(&parts[0]), tasks_in(&parts[1])];
    let settings = [0, 1].map(|part| Setting {
        tasks: &tasks[part],
        cpus: 1,
        end: Instant::from_nanos(100_000),
        backlog: Backlog {
            kept_max: 1,
            ..Backlog::UNLIMITED
        },
    });
    let releases = Periodic::synchronous(&tasks[0]);
    let demands = [0, 1].map(|part| ListedDemand::at_level(&tasks[part], Level(0)));
    let mut worlds = Vec::new();
    for (((engine, setting), demand), observer) in engines
        .iter_mut()
        .zip(&settings)
        .zip(&demands)
        .zip(&mut statistics)
    {
        worlds.push(stepwise(engine, setting, &releases, demand, observer).unwrap());
    }
    let error = simulate_together(&mut worlds).unwrap_err();
    drop(worlds);
    let SimulationError::TooManyKept { at, .. } = error else {
        panic!("{error}");
    };
    let mut alone = Uniprocessor::new(&configurations[1]).unwrap();
    let outcome = simulate(&mut alone, &settings[1], &releases, &demands[1], &mut ());
    assert_eq!(outcome.unwrap_err(), error);
    assert!(at > Instant::EPOCH && at < settings[0].end);
    assert_eq!(statistics.each_ref().map(|each| each.end()), [at, at]);
    // The first one has run until then.
    assert_eq!(statistics[0].tasks()[0].completed, at.as_nanos() / 10);
}

#[test]
fn figures_of_parts_stand_where_the_whole_has_them() {
    let tasks = [task(1, 10, &[2, 4])];
    let mut parts =
        [0, 1].map(|_| Statistics::new(&tasks, 1, Enforcement::Adaptive, Exhaustion::Background));
    let job = JobId {
        task: TaskId(0),
        sequence: 3,
    };
    let cause = Some(job);
    for (part, at) in parts.iter_mut().zip([7, 5]) {
        part.mode_changed(Instant::from_nanos(at), Level(0), Level(1), cause);
        part.mode_changed(Instant::from_nanos(9), Level(1), Level(0), None);
        part.finished(Instant::from_nanos(50));
    }
    parts[1].overran(Instant::from_nanos(5), job, Level(0));
    let (first, second) = ([TaskId(2)], [TaskId(0)]);
    let (near, far) = ([CpuId(0)], [CpuId(3)]);
    let figures = Figures::of_parts(
        3,
        4,
        &[
            Part {
                figures: &parts[0],
                tasks: &first,
                cpus: &near,
            },
            Part {
                figures: &parts[1],
                tasks: &second,
                cpus: &far,
            },
        ],
    );
    let overruns: Vec<u64> = figures.tasks().iter().map(|task| task.overruns).collect();
    assert_eq!(overruns, [1, 0, 0]);
    let changes = figures.mode_changes().iter();
    let changes: Vec<_> = changes
        .map(|change| {
            (
                change.at.as_nanos(),
                change.cpu.0,
                change.cause.map(|job| job.task.0),
            )
        })
        .collect();
    assert_eq!(
        changes,
        [(5, 3, Some(0)), (7, 0, Some(2)), (9, 0, None), (9, 3, None)]
    );
    assert_eq!(
        (figures.mode_changes_count(), figures.end()),
        (4, Instant::from_nanos(50))
    );
    assert_eq!(figures.cpus().len(), 4);
}
