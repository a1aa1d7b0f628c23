//! Native dispatch: a guard that hears only of exceptions gives the schedule of the engine that sees
//! every job.

use crate::common::Random;
use crate::common::recorder::{Recorder, run_engine};
use crate::common::system::{configuration, shrink, slice_counts, tasks_of, text, workload_of};
use crate::random_systems::draw;
use crate::reference::{Limits, Lists, Schedule, System};
use vestal_core::{Guard, Instant, Level};
use vestal_sim::{Effort, simulate_native};

/// How many systems are compared.
const SYSTEMS: u64 = 20_000;

fn run_native(system: &System) -> (Schedule, Effort) {
    let tasks = tasks_of(system);
    let counts = slice_counts(system);
    let mut guard = match &counts {
        Some(counts) => Guard::with_slices(&configuration(system, &tasks), counts),
        None => Guard::new(&configuration(system, &tasks)),
    }
    .unwrap();
    let (releases, demand) = workload_of(system);
    let mut recorder = Recorder::new(system.end);
    let end = Instant::from_nanos(system.end);
    let effort =
        simulate_native(&mut guard, &tasks, end, &releases, &demand, &mut recorder).unwrap();
    (recorder.schedule, effort)
}

/// No job executes more than the lowest level expects.
fn is_modest(system: &System) -> bool {
    let pairs = system.tasks.iter().zip(&system.demand);
    pairs.into_iter().all(|(entry, demand)| {
        let lowest = entry.task.wcet.at(Level::LOWEST).as_nanos();
        demand.iter().all(|&execution| execution <= lowest)
    })
}

#[test]
fn a_guard_that_hears_only_of_exceptions_gives_the_schedule_of_the_engine() {
    let (mut jobs, mut facts, mut sliced) = (0, 0, 0);
    for seed in 0..SYSTEMS {
        // SCHED_FIFO knows priorities only.
        let mut system = System {
            by_deadline: false,
            lists: Lists::No,
            ..draw(&mut Random(!seed))
        };
        if system.limits == Limits::ZeroSlack {
            system.limits = Limits::Static;
        }
        let (schedule, effort) = run_native(&system);
        jobs += system.releases.iter().map(Vec::len).sum::<usize>() as u64;
        facts += effort.facts;
        sliced += u64::from(slice_counts(&system).is_some());
        if is_modest(&system) && slice_counts(&system).is_none() {
            assert_eq!(effort.facts, 0, "nobody overran:\n{}", text(&system));
        }
        if schedule != run_engine(&system, &mut ()) {
            let small = shrink(system, |system| {
                run_native(system).0 != run_engine(system, &mut ())
            });
            panic!(
                "seed {seed}\n{}engine {:?}\nnative {:?}",
                text(&small),
                run_engine(&small, &mut ()),
                run_native(&small).0
            );
        }
    }
    assert!(sliced > SYSTEMS / 10, "{sliced}");
    // Half of the jobs here are drawn to exceed a limit, and slices are limits too.
    assert!(facts < 4 * jobs, "{facts} facts for {jobs} jobs");
}
