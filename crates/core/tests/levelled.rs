//! MC², drawn tick by tick: one row per CPU, one character per tick, the task's number or a dot.
#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]
mod levelled_world;

use levelled_world::{Calls, World, configuration, slot, task};
use vestal_core::*;

const CPU: CpuId = CpuId(0);

/// Runs for `ticks`: a row per CPU, and below it a row of the ghosts of level B and one of level C.
fn draw(
    configuration: &LevelledConfiguration<'_>,
    ticks: u64,
    calls: Calls,
    need: &dyn Fn(JobId) -> u64,
) -> (Vec<String>, Vec<[String; 2]>) {
    let cpus = configuration.tables.len();
    let mut world = World::new(configuration, calls, need);
    let mut rows = vec![String::new(); cpus];
    let mut ghosts = vec![[String::new(), String::new()]; cpus];
    let sign = |task: Option<TaskId>| task.map_or('.', |task| char::from(b'1' + task.0 as u8));
    for now in 0..ticks {
        let tick = world.tick(now, true);
        for cpu in 0..cpus {
            rows[cpu].push(sign(tick.ran[cpu]));
            for (row, &ghost) in ghosts[cpu].iter_mut().zip(&tick.ghosts[cpu]) {
                row.push(sign(ghost));
            }
        }
    }
    (rows, ghosts)
}

const EVERY_WAY: [Calls; 3] = [Calls::Always, Calls::WhenDue, Calls::ByDomain(5)];

/// Herman et al. 2012, Table 1: seven tasks on one CPU, and the level-A table they imply.
fn table_1() -> (Vec<LevelledTask>, Vec<TableSlot>) {
    let tasks = vec![
        task(Container::Table(CPU), 5, 3),
        task(Container::Table(CPU), 10, 4),
        task(Container::Local(CPU), 10, 2),
        task(Container::Local(CPU), 20, 2),
        task(Container::Global, 10, 2),
        task(Container::Global, 20, 2),
        task(Container::BestEffort, 5, 2),
    ];
    let slots = vec![slot(0, 3, 0), slot(3, 2, 1), slot(5, 3, 0), slot(8, 2, 1)];
    (tasks, slots)
}

#[test]
fn table_1_runs_as_the_paper_has_it_whichever_level_execution_times_come_from() {
    let (tasks, slots) = table_1();
    let tables = [CpuTable {
        cycle: Duration::from_nanos(10),
        slots: &slots,
    }];
    let configuration = configuration(&tasks, &tables, 4);
    // Execution times at levels A to D by the tasks' numbers; 99 where the table has none: then no
    // lower level gets that far.
    let cases: [(_, [u64; 7], _); 4] = [
        ("A", [3, 4, 99, 99, 99, 99, 99], "1112211122"),
        ("B", [2, 2, 2, 2, 99, 99, 99], "1132211344"),
        ("C", [1, 2, 2, 1, 2, 2, 99], "1332214556"),
        ("D", [1, 2, 1, 1, 2, 2, 2], "1352214566"),
    ];
    for (level, need, expected) in cases {
        for calls in EVERY_WAY {
            let need = |job: JobId| need[job.task.index()];
            let (rows, _) = draw(&configuration, 10, calls, &need);
            assert_eq!(
                rows,
                [expected],
                "execution times of level {level}, {calls:?}"
            );
        }
    }
}

#[test]
fn ghosts_use_up_budgets_while_lower_levels_run() {
    let (tasks, slots) = table_1();
    let tables = [CpuTable {
        cycle: Duration::from_nanos(10),
        slots: &slots,
    }];
    let configuration = configuration(&tasks, &tables, 4);
    let need = [1, 2, 2, 1, 2, 2, 99];
    let need = |job: JobId| need[job.task.index()];
    let (_, ghosts) = draw(&configuration, 10, Calls::WhenDue, &need);
    // T4 needs 1 of its 2 at level C: its ghost uses up the rest beneath T5.
    assert_eq!(ghosts[0], [".......4..", ".........."]);
}
