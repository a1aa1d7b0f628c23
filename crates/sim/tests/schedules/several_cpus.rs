//! Policies over several CPUs in the simulated world, which knows neither barriers nor domains: the
//! drawings are those of the engines' own tests.
#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]
use vestal_core::*;
use vestal_sim::workload::{ListedDemand, Periodic};
use vestal_sim::{Backlog, JobState, Observer, Segment, Setting, simulate};
use vestal_testkit::short::task;

/// One row per CPU, one character per tick: the task counted from 1, or a dot.
struct Rows(Vec<Vec<u8>>);

impl Observer for Rows {
    fn executed(&mut self, segment: Segment, job: &JobState) {
        let ticks = segment.start.as_nanos() as usize..segment.end.as_nanos() as usize;
        self.0[segment.cpu.index()][ticks].fill(b'1' + job.id.task.0 as u8);
    }
}

/// Runs synchronous periodic tasks; `needs` has for each task what its first jobs execute, and the
/// last number goes on for ever.
fn draw(
    scheduler: &mut dyn Scheduler,
    tasks: &[Task],
    cpus: u16,
    end: u64,
    needs: &[&[u64]],
) -> Vec<String> {
    let service = |&ns: &u64| Service::from_nanos(ns);
    let demand = ListedDemand {
        tasks: needs
            .iter()
            .map(|list| list.iter().map(service).collect())
            .collect(),
        otherwise: needs
            .iter()
            .map(|list| service(list.last().unwrap()))
            .collect(),
    };
    let mut rows = Rows(vec![vec![b'.'; end as usize]; usize::from(cpus)]);
    let setting = Setting {
        tasks,
        cpus,
        end: Instant::from_nanos(end),
        backlog: Backlog::UNLIMITED,
    };
    let releases = Periodic::synchronous(tasks);
    simulate(scheduler, &setting, &releases, &demand, &mut rows).unwrap();
    let text = |row| String::from_utf8(row).unwrap();
    rows.0.into_iter().map(text).collect()
}

pub(crate) fn levelled(tasks: &[LevelledTask], tables: &[CpuTable<'_>]) -> Levelled {
    Levelled::new(&LevelledConfiguration {
        tasks,
        tables,
        backlog: 4,
        budgets: Budgets::Enforced,
        level_b: LevelB::EarliestDeadline,
        granularity: Service::ZERO,
        wake_granularity: Duration::ZERO,
    })
    .unwrap()
}

fn slot(start: u64, length: u64, task: u16) -> TableSlot {
    TableSlot {
        start: Duration::from_nanos(start),
        length: Duration::from_nanos(length),
        task: TaskId(task),
    }
}

#[test]
fn mc2_runs_the_papers_example_on_one_cpu() {
    // Herman et al. 2012, Table 1, at the level-C execution times.
    let (table, local) = (Container::Table(CpuId(0)), Container::Local(CpuId(0)));
    let tasks = [
        (table, task(3, 5, &[3])),
        (table, task(3, 10, &[4])),
        (local, task(2, 10, &[2])),
        (local, task(2, 20, &[2])),
        (Container::Global, task(1, 10, &[2])),
        (Container::Global, task(1, 20, &[2])),
        (Container::BestEffort, task(0, 5, &[2])),
    ];
    let configured = tasks.map(|(container, task)| LevelledTask { task, container });
    let slots = [slot(0, 3, 0), slot(3, 2, 1), slot(5, 3, 0), slot(8, 2, 1)];
    let cycle = Duration::from_nanos(10);
    let tables = [CpuTable {
        cycle,
        slots: &slots,
    }];
    let needs: [&[u64]; 7] = [&[1], &[2], &[2], &[1], &[2], &[2], &[2]];
    let tasks = tasks.map(|(_, task)| task);
    let rows = draw(&mut levelled(&configured, &tables), &tasks, 1, 10, &needs);
    assert_eq!(rows, ["1332214556"]);
}

#[test]
fn mc2_moves_a_level_c_job_to_the_cpu_that_is_open() {
    let tasks = [
        (Container::Table(CpuId(0)), task(3, 4, &[2])),
        (Container::Local(CpuId(1)), task(2, 8, &[3])),
        (Container::Global, task(1, 4, &[2])),
        (Container::Global, task(1, 8, &[3])),
        (Container::BestEffort, task(0, 8, &[3])),
    ];
    let configured = tasks.map(|(container, task)| LevelledTask { task, container });
    let slots = [slot(0, 2, 0)];
    let cycle = Duration::from_nanos(4);
    let tables = [
        CpuTable {
            cycle,
            slots: &slots,
        },
        CpuTable { cycle, slots: &[] },
    ];
    let needs: [&[u64]; 5] = [&[2, 1], &[2], &[2], &[3], &[3]];
    let tasks = tasks.map(|(_, task)| task);
    let rows = draw(&mut levelled(&configured, &tables), &tasks, 2, 8, &needs);
    assert_eq!(rows, ["11331455", "224433.."]);
}

#[test]
fn a_level_c_job_that_loses_its_cpu_goes_on_elsewhere_at_the_same_instant() {
    // T1 and T2 are level B on one CPU each, T1 comes back at 4; T3 is level C.
    let tasks = [
        (Container::Local(CpuId(0)), task(2, 4, &[1])),
        (Container::Local(CpuId(1)), task(2, 8, &[3])),
        (Container::Global, task(1, 8, &[6])),
    ];
    let configured = tasks.map(|(container, task)| LevelledTask { task, container });
    let empty = CpuTable {
        cycle: Duration::ZERO,
        slots: &[],
    };
    let needs: [&[u64]; 3] = [&[1], &[3], &[6]];
    let tasks = tasks.map(|(_, task)| task);
    let mut engine = levelled(&configured, &[empty, empty]);
    let rows = draw(&mut engine, &tasks, 2, 8, &needs);
    assert_eq!(rows, ["13331...", "222.333."]);
}

#[test]
fn ftts_drops_the_lo_jobs_of_a_frame_whose_hi_jobs_were_late() {
    let tasks = [
        task(1, 10, &[2, 5]),
        task(1, 20, &[3, 4]),
        task(0, 10, &[3]),
        task(0, 20, &[4]),
    ];
    // Frames 0 and 1, each LO and HI, each CPU 0 and 1.
    let lists: [&[u16]; 8] = [&[2], &[], &[0], &[1], &[2], &[3], &[0], &[]];
    let mut spans = Vec::new();
    let mut entries = Vec::new();
    for list in lists {
        spans.push(Span {
            start: entries.len(),
            len: list.len(),
        });
        entries.extend(list.iter().copied().map(TaskId));
    }
    // Frames 0 and 1, each LO and HI, each at LO and HI.
    let barriers = [3, 0, 3, 5, 4, 0, 2, 5].map(Duration::from_nanos);
    let configuration = FrameConfiguration {
        tasks: &tasks,
        levels: LevelSet::new(2).unwrap(),
        cpus: 2,
        table: FrameTable {
            frame: Duration::from_nanos(10),
            spans: &spans,
            entries: &entries,
            barriers: &barriers,
        },
        overhead: Duration::ZERO,
        wake_granularity: Duration::ZERO,
    };
    let run = |first| {
        let mut engine = Frames::new(&configuration).unwrap();
        let needs: [&[u64]; 4] = [first, &[3], &[3], &[4]];
        draw(&mut engine, &tasks, 2, 20, &needs)
    };
    assert_eq!(run(&[2]), ["11.333....11333.....", "222.........4444...."]);
    assert_eq!(
        run(&[4, 2]),
        ["1111......11333.....", "222.........4444...."]
    );
}
