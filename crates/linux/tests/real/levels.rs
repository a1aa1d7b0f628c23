//! Managed dispatch of levels on one CPU: a table, earliest deadlines with budgets, and what they leave.

use crate::looks::{CYCLE, CYCLES, MS, executive, granularity, in_cycle, looking, undisturbed};
use crate::support::{LO, alone_and_well, spec, stolen_intervals};
use vestal_core::engine::Levelled;
use vestal_core::{
    Budgets, Container, CpuId, CpuTable, Duration, LevelB, LevelledConfiguration, LevelledTask,
    Service, TableSlot, TaskConfiguration, TaskId,
};
use vestal_linux::fault::{Delay, Fault, How, Point};
use vestal_linux::report::TaskReport;
use vestal_linux::{BoxedScheduler, CpuSpec, Report};

const HERE: CpuId = CpuId(0);

/// One CPU with a cycle of 10 ms, in which task 0 has these slots, from and to so many milliseconds.
fn levels(containers: &'static [Container], slots: &'static [(u64, u64)]) -> CpuSpec {
    CpuSpec::managed(
        move |tasks: &[TaskConfiguration], granularity| -> Result<BoxedScheduler, String> {
            let served = tasks.iter().zip(containers);
            let served = served.map(|(entry, &container)| LevelledTask {
                task: entry.task,
                container,
            });
            let served: Vec<LevelledTask> = served.collect();
            let slots = slots.iter().map(|&(from, to)| TableSlot {
                start: Duration::from_millis(from),
                length: Duration::from_millis(to - from),
                task: TaskId(0),
            });
            let slots: Vec<TableSlot> = slots.collect();
            let engine = Levelled::new(&LevelledConfiguration {
                tasks: &served,
                tables: &[CpuTable {
                    cycle: Duration::from_nanos(CYCLE),
                    slots: &slots,
                }],
                backlog: 4,
                budgets: Budgets::Enforced,
                level_b: LevelB::EarliestDeadline,
                granularity,
                wake_granularity: Duration::ZERO,
            });
            Ok(Box::new(engine.map_err(|error| error.to_string())?))
        },
    )
}

/// Whether misses of these tasks are in cycles with stolen time only, and explained by it.
fn misses_are_stolen(tasks: &[TaskReport], undisturbed: usize) -> bool {
    let disturbed = CYCLES - undisturbed as u64;
    let mut jobs = tasks.iter().map(|task| task.jobs);
    jobs.all(|jobs| jobs.missed <= disturbed && jobs.missed_outside_gaps == 0)
}

/// A task of 3.5 ms in two slots of 2 ms in 10; when it was seen to run, and the cycles without stolen time.
fn in_two_slots(fault: Option<Fault>) -> (Report, Vec<u64>, Vec<u64>) {
    let (recording, stolen) = stolen_intervals();
    let (looks, body) = looking(Service::from_micros(3_500));
    let mut executive = executive()
        .cpu(levels(&[Container::Table(HERE)], &[(0, 2), (5, 7)]))
        .task(spec("A", LO, 1, 10, &[4]), body)
        .recorded(recording);
    if let Some(fault) = fault {
        executive = executive.with_fault(fault);
    }
    let report = executive.run(Duration::from_nanos(CYCLES * CYCLE)).unwrap();
    let cycles = undisturbed(&stolen.lock().unwrap());
    let looks = looks.lock().unwrap().clone();
    (report, looks, cycles)
}

/// Nothing else wants the CPU between the slots: the job has to be held.
#[test]
fn the_job_of_a_table_slot_stops_at_its_end_and_goes_on_in_the_next() {
    alone_and_well(|| {
        let (report, looks, cycles) = in_two_slots(None);
        assert!(cycles.len() as u64 > CYCLES / 5, "{report:?}");
        let late = granularity(&report);
        for &cycle in &cycles {
            let seen = in_cycle(&looks, cycle);
            let within = |from: u64, to: u64| {
                let seen = seen
                    .iter()
                    .filter(|&&at| from * MS <= at && at < to * MS + late);
                seen.count()
            };
            let (first, second) = (within(0, 2), within(5, 7));
            assert_eq!(first + second, seen.len(), "{cycle}: {seen:?}");
            let last = |to: u64| seen.iter().filter(|&&at| at < to * MS).max();
            assert!(last(3) > Some(&(3 * MS / 2)), "{cycle}: {seen:?}");
            assert!(second > 0, "{cycle}: it goes on: {seen:?}");
        }
        assert!(report.jobs.completed + 2 >= CYCLES, "{report:?}");
        assert!(
            misses_are_stolen(&report.cpus[0].tasks, cycles.len()),
            "{report:?}"
        );
        let held = report.cpus[0].suspensions.unwrap();
        assert!(held.times + 2 >= CYCLES, "{held:?}");
    });
}

/// The manager is 1 ms late at each end of a slot: no stolen time explains what comes of that.
#[test]
fn misses_that_a_slow_manager_makes_are_not_stolen() {
    alone_and_well(|| {
        let slow = Fault::Delay(Delay {
            point: Point::BeforeEnact,
            how: How::Burn,
            milliseconds: 1,
            every: 1,
        });
        let (report, _, cycles) = in_two_slots(Some(slow));
        assert!(report.jobs.missed_outside_gaps > 0, "{report:?}");
        assert!(
            !misses_are_stolen(&report.cpus[0].tasks, cycles.len()),
            "{report:?}"
        );
    });
}

/// Jobs of levels A and B need less than their slots and budgets: level D has the CPU in the rest of the slot, and of the
/// budget, which their ghosts use up.
#[test]
fn a_ghost_gives_the_cpu_to_lower_levels() {
    const CONTAINERS: &[Container] = &[
        Container::Table(HERE),
        Container::Local(HERE),
        Container::BestEffort,
    ];
    alone_and_well(|| {
        let (recording, stolen) = stolen_intervals();
        let (of_a, body_a) = looking(Service::from_millis(1));
        let (of_b, body_b) = looking(Service::from_millis(1));
        let (of_d, body_d) = looking(Service::from_millis(4));
        let report = executive()
            .cpu(levels(CONTAINERS, &[(0, 4)]))
            .task(spec("A", LO, 3, 10, &[4]), body_a)
            .task(spec("B", LO, 2, 10, &[4]), body_b)
            .task(spec("D", LO, 1, 10, &[1]), body_d)
            .recorded(recording)
            .run(Duration::from_nanos(CYCLES * CYCLE))
            .unwrap();
        let cycles = undisturbed(&stolen.lock().unwrap());
        assert!(cycles.len() as u64 > CYCLES / 5, "{stolen:?}");
        let [a, b, d] = [of_a, of_b, of_d].map(|looks| looks.lock().unwrap().clone());
        let undisturbed = cycles.len();
        let mut shown = 0;
        for cycle in cycles {
            let [a, b, d] = [&a, &b, &d].map(|looks| in_cycle(looks, cycle));
            let (Some(last_a), Some(first_b), Some(last_b)) = (a.last(), b.first(), b.last())
            else {
                panic!("{cycle}: {a:?}, {b:?}");
            };
            assert!(
                last_a < first_b,
                "{cycle}: A goes first: {last_a}, {first_b}"
            );
            assert!(
                *last_b < 3 * MS,
                "{cycle}: B has the rest of A's slot: {last_b}"
            );
            // From B's end, with its budget and A's slot not over.
            let of_ghosts = d.iter().filter(|&&at| *last_b < at && at < 4 * MS);
            assert!(of_ghosts.count() > 20, "{cycle}: {d:?}");
            shown += 1;
        }
        assert!(shown > 0);
        let jobs: Vec<_> = report.cpus[0].tasks.iter().map(|task| task.jobs).collect();
        assert!(
            jobs.iter().all(|jobs| jobs.completed + 2 >= CYCLES),
            "{jobs:?}"
        );
        let above = &report.cpus[0].tasks[..2];
        assert!(misses_are_stolen(above, undisturbed), "{jobs:?}");
    });
}
