//! FTTS, drawn tick by tick: one row per CPU, one character per tick, the task's number or a dot.
#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]
use vestal_core::*;

fn task(criticality: u8, period: u64, wcet: &[u64]) -> Task {
    let values: Vec<Service> = wcet.iter().copied().map(Service::from_nanos).collect();
    let span = Duration::from_nanos(period);
    Task::new(Level(criticality), span, span, Wcet::new(&values).unwrap()).unwrap()
}

fn at(ns: u64) -> Instant {
    Instant::from_nanos(ns)
}

fn job(task: u16, sequence: u64) -> JobId {
    JobId {
        task: TaskId(task),
        sequence,
    }
}

/// A table written down as lists: frame, criticality (lowest first), CPU.
struct Table {
    frame: u64,
    lists: Vec<Vec<Vec<Vec<u16>>>>,
    /// Frame, criticality, confidence.
    barriers: Vec<Vec<Vec<u64>>>,
}

impl Table {
    fn build(&self, tasks: &[Task], cpus: u16) -> Result<Frames, ConfigurationError> {
        let mut entries = Vec::new();
        let mut spans = Vec::new();
        for list in self.lists.iter().flatten().flatten() {
            spans.push(Span {
                start: entries.len(),
                len: list.len(),
            });
            entries.extend(list.iter().copied().map(TaskId));
        }
        let barriers: Vec<Duration> = self
            .barriers
            .iter()
            .flatten()
            .flatten()
            .map(|&ns| Duration::from_nanos(ns))
            .collect();
        Frames::new(&FrameConfiguration {
            tasks,
            levels: LevelSet::new(self.lists[0].len()).unwrap(),
            cpus,
            table: FrameTable {
                frame: Duration::from_nanos(self.frame),
                spans: &spans,
                entries: &entries,
                barriers: &barriers,
            },
            overhead: Duration::ZERO,
            wake_granularity: Duration::ZERO,
        })
    }
}

/// How a world tells that a CPU is through with its sequence.
#[derive(Clone, Copy, PartialEq)]
enum Report {
    /// Each completion, and nothing else.
    Completions,
    /// Barriers only, the last CPU first.
    Barriers,
}

/// Steps tick by tick over `ticks`; `need` says what a job executes (more than nothing).
fn draw(
    engine: &mut Frames,
    tasks: &[Task],
    ticks: u64,
    report: Report,
    need: &dyn Fn(JobId) -> u64,
) -> Vec<String> {
    let cpus = (0..).take_while(|&cpu| engine.apply(at(0), Fact::Idle { cpu: CpuId(cpu) }).is_ok());
    let cpus: Vec<CpuId> = cpus.map(CpuId).collect();
    let mut rows = vec![String::new(); cpus.len()];
    let mut walks: Vec<Option<Walk>> = vec![None; cpus.len()];
    for now in 0..ticks {
        for (index, model) in tasks.iter().enumerate() {
            if now % model.period.as_nanos() == 0 {
                let job = job(index as u16, now / model.period.as_nanos());
                engine.apply(at(now), Fact::Released { job }).unwrap();
            }
        }
        for (&cpu, walk) in cpus.iter().zip(&mut walks).rev() {
            if let Some(fact) = walk.as_mut().and_then(|walk| walk.step(cpu, report, need)) {
                engine.apply(at(now), fact).unwrap();
            }
        }
        engine.decide(at(now)).unwrap();
        // A plan is idempotent: asking again changes nothing.
        let before = engine.clone();
        engine.decide(at(now)).unwrap();
        assert_eq!(*engine, before);
        let plan = engine.decide(at(now)).unwrap();
        for ((&cpu, row), walk) in cpus.iter().zip(&mut rows).zip(&mut walks) {
            let sequence = plan.sequence(cpu);
            let present = sequence.map(|sequence| sequence.barrier);
            if present != walk.as_ref().map(|walk| walk.barrier) {
                *walk = sequence.map(|sequence| Walk {
                    barrier: sequence.barrier,
                    jobs: sequence.jobs.to_vec(),
                    executed: 0,
                });
            }
            let running = walk.as_mut().and_then(Walk::run);
            if report == Report::Completions {
                assert_eq!(plan.slot(cpu).map(|slot| slot.job), running, "tick {now}");
            }
            row.push(running.map_or('.', |job| char::from(b'0' + job.task.0 as u8)));
        }
        assert!(engine.check_invariants());
    }
    rows
}

/// A worker on its way to a barrier.
#[derive(Clone)]
struct Walk {
    barrier: BarrierId,
    jobs: Vec<JobId>,
    executed: u64,
}

impl Walk {
    fn step(&mut self, cpu: CpuId, report: Report, need: &dyn Fn(JobId) -> u64) -> Option<Fact> {
        let job = *self
            .jobs
            .first()
            .filter(|&&job| self.executed == need(job))?;
        self.jobs.remove(0);
        self.executed = 0;
        let barrier = self.barrier;
        match report {
            Report::Completions => Some(Fact::Completed { cpu, job }),
            Report::Barriers if self.jobs.is_empty() => Some(Fact::BarrierReached { cpu, barrier }),
            Report::Barriers => None,
        }
    }

    fn run(&mut self) -> Option<JobId> {
        self.executed += 1;
        self.jobs.first().copied()
    }
}

fn events(engine: &mut Frames) -> Vec<(u64, Event)> {
    std::iter::from_fn(|| engine.take_notice())
        .map(|notice| (notice.at.as_nanos(), notice.what))
        .collect()
}

/// Two CPUs and two frames of 10: HI tasks 0 (every frame) and 1 (frame 0), LO tasks 2 and 3.
fn two_cpus() -> (Vec<Task>, Table) {
    let tasks = vec![
        task(1, 10, &[2, 5]),
        task(1, 20, &[3, 4]),
        task(0, 10, &[3]),
        task(0, 20, &[4]),
    ];
    let table = Table {
        frame: 10,
        lists: vec![
            vec![vec![vec![2], vec![]], vec![vec![0], vec![1]]],
            vec![vec![vec![2], vec![3]], vec![vec![0], vec![]]],
        ],
        barriers: vec![vec![vec![3, 0], vec![3, 5]], vec![vec![4, 0], vec![2, 5]]],
    };
    (tasks, table)
}

fn lo(job: JobId, tasks: &[Task]) -> u64 {
    tasks[job.task.index()].wcet.at(Level(0)).as_nanos()
}

fn mode(at: u64, from: u8, to: u8) -> (u64, Event) {
    let (from, to) = (Level(from), Level(to));
    (
        at,
        Event::ModeChanged {
            from,
            to,
            cause: None,
        },
    )
}

fn dropped(at: u64, job: JobId, why: DropReason) -> (u64, Event) {
    (at, Event::Dropped { job, why })
}

#[test]
fn lo_jobs_start_together_once_the_slowest_cpu_is_through_with_its_hi_jobs() {
    let (tasks, table) = two_cpus();
    for report in [Report::Completions, Report::Barriers] {
        let mut engine = table.build(&tasks, 2).unwrap();
        let rows = draw(&mut engine, &tasks, 20, report, &|job| lo(job, &tasks));
        assert_eq!(rows, ["00.222....00222.....", "111.........3333...."]);
        assert_eq!(events(&mut engine), []);
    }
}

#[test]
fn hi_jobs_that_take_longer_than_their_lo_length_cost_the_lo_jobs_of_this_frame_only() {
    let (tasks, table) = two_cpus();
    for report in [Report::Completions, Report::Barriers] {
        let mut engine = table.build(&tasks, 2).unwrap();
        let need = |j: JobId| if j == job(0, 0) { 4 } else { lo(j, &tasks) };
        let rows = draw(&mut engine, &tasks, 20, report, &need);
        assert_eq!(rows, ["0000......00222.....", "111.........3333...."]);
        let expected = [
            mode(4, 0, 1),
            dropped(4, job(2, 0), DropReason::Mode),
            mode(10, 1, 0),
        ];
        assert_eq!(events(&mut engine), expected);
    }
}

#[test]
fn a_cpu_that_uses_its_spare_time_before_the_barrier_harms_nobody() {
    // Job 0 takes 3 instead of C(LO) = 2, but the other CPU takes 3 anyway.
    let (tasks, table) = two_cpus();
    let mut engine = table.build(&tasks, 2).unwrap();
    let need = |j: JobId| if j == job(0, 0) { 3 } else { lo(j, &tasks) };
    let rows = draw(&mut engine, &tasks, 10, Report::Completions, &need);
    assert_eq!(rows, ["000222....", "111......."]);
    assert_eq!(events(&mut engine), []);
}

/// One CPU, one frame of 12, three levels.
fn three_levels() -> (Vec<Task>, Table) {
    let tasks = vec![
        task(2, 12, &[2, 4, 8]),
        task(1, 12, &[1, 3]),
        task(0, 12, &[5]),
    ];
    let table = Table {
        frame: 12,
        lists: vec![vec![vec![vec![2]], vec![vec![1]], vec![vec![0]]]],
        barriers: vec![vec![vec![5, 0, 0], vec![1, 3, 0], vec![2, 4, 8]]],
    };
    (tasks, table)
}

#[test]
fn with_three_levels_each_sub_frame_is_judged_by_the_lengths_at_its_own_level() {
    let (tasks, table) = three_levels();
    let run = |needs: [u64; 3]| {
        let mut engine = table.build(&tasks, 1).unwrap();
        let need = |job: JobId| needs[job.task.index()];
        draw(&mut engine, &tasks, 12, Report::Barriers, &need).remove(0)
    };
    assert_eq!(run([2, 1, 5]), "00122222....");
    // Level 1 is late at level 0 (2 + 1 < 2 + 2), level 0 is dropped.
    assert_eq!(run([2, 2, 5]), "0011........");
    // Level 2 is late at level 0 but not at level 1: level 1 runs, and level 0 is too late.
    assert_eq!(run([4, 1, 5]), "00001.......");
    // Level 2 is late at level 1: it costs both.
    assert_eq!(run([5, 1, 5]), "00000.......");
}

#[test]
fn what_was_dropped_stays_dropped_although_a_lower_level_would_be_in_time() {
    // barrier(2,1) = 2 is below barrier(2,0) + barrier(1,0) = 2 + 3: at 3, level 1 is too late, and
    // level 0, whose turn would come at 5 at the latest, must not run past it.
    let tasks = vec![
        task(2, 12, &[2, 2, 6]),
        task(1, 12, &[3, 3]),
        task(0, 12, &[5]),
    ];
    let table = Table {
        frame: 12,
        lists: vec![vec![vec![vec![2]], vec![vec![1]], vec![vec![0]]]],
        barriers: vec![vec![vec![5, 0, 0], vec![3, 3, 0], vec![2, 2, 6]]],
    };
    let mut engine = table.build(&tasks, 1).unwrap();
    let need = |job: JobId| [3, 3, 5][job.task.index()];
    let rows = draw(&mut engine, &tasks, 12, Report::Barriers, &need);
    assert_eq!(rows, ["000........."]);
    let expected = [
        mode(3, 0, 2),
        dropped(3, job(1, 0), DropReason::Mode),
        dropped(3, job(2, 0), DropReason::Mode),
    ];
    assert_eq!(events(&mut engine), expected);
    assert_eq!(engine.permit(TaskId(1)), Permit::NotAdmitted);
    assert_eq!(engine.permit(TaskId(0)), Permit::Run { limit: None });
}

#[test]
fn barriers_may_be_reported_in_any_order_and_twice() {
    let (tasks, table) = two_cpus();
    let plan = |order: &[u16]| {
        let mut engine = table.build(&tasks, 2).unwrap();
        for (index, _) in tasks.iter().enumerate() {
            engine
                .apply(
                    at(0),
                    Fact::Released {
                        job: job(index as u16, 0),
                    },
                )
                .unwrap();
        }
        engine.decide(at(0)).unwrap();
        let barrier = engine.barrier(0, Level(1)).unwrap();
        for &cpu in order {
            let cpu = CpuId(cpu);
            engine
                .apply(at(3), Fact::BarrierReached { cpu, barrier })
                .unwrap();
        }
        engine.decide(at(3)).unwrap();
        // Again, and too late to mean anything: the LO sub-frame goes on.
        engine
            .apply(
                at(3),
                Fact::BarrierReached {
                    cpu: CpuId(0),
                    barrier,
                },
            )
            .unwrap();
        let plan = engine.decide(at(3)).unwrap();
        assert_eq!(plan.sequence(CpuId(0)).unwrap().jobs, [job(2, 0)]);
        assert_eq!(
            plan.next,
            Some(Wake {
                at: at(10),
                why: WakeReason::Frame
            })
        );
        engine
    };
    assert_eq!(plan(&[0, 1]), plan(&[1, 0]));
    assert_eq!(plan(&[0, 1]), plan(&[1, 0, 1]));
    let mut engine = plan(&[0, 1]);
    let unknown = Fact::BarrierReached {
        cpu: CpuId(0),
        barrier: BarrierId(4),
    };
    let violation = ContractViolation::UnknownBarrier(BarrierId(4));
    assert_eq!(engine.apply(at(3), unknown), Err(violation));
}

#[test]
fn a_sub_frame_that_outlasts_its_frame_delays_the_next_and_skips_those_that_passed() {
    let (tasks, table) = two_cpus();
    let mut engine = table.build(&tasks, 2).unwrap();
    // The HI job of frame 0 ends at 32, in frame 3; frames 1 and 2 pass. Frame 3 begins 2 late, so
    // its HI sub-frame ends at an age of 4, beyond barrier(f,1,LO) = 2.
    let need = |j: JobId| {
        if j == job(0, 0) { 32 } else { lo(j, &tasks) }
    };
    let rows = draw(&mut engine, &tasks, 50, Report::Completions, &need);
    assert_eq!(
        rows[0],
        format!("{}{}", "0".repeat(32), "00......00.222....")
    );
    assert_eq!(rows[1], format!("{:.<40}111.......", "111"));
    let superseded = |at, job| dropped(at, job, DropReason::Superseded);
    let expected = [
        (10, Event::FrameOverrun { frame: 0 }),
        mode(10, 0, 1),
        dropped(10, job(2, 0), DropReason::Mode),
        superseded(20, job(0, 1)),
        superseded(20, job(2, 1)),
        superseded(20, job(3, 0)),
        superseded(30, job(0, 2)),
        superseded(30, job(2, 2)),
        (32, Event::FramesSkipped { first: 1, count: 2 }),
        mode(32, 1, 0),
        mode(34, 0, 1),
        dropped(34, job(2, 3), DropReason::Mode),
        dropped(34, job(3, 1), DropReason::Mode),
        superseded(40, job(1, 1)),
        mode(40, 1, 0),
    ];
    assert_eq!(events(&mut engine), expected);
}

#[test]
fn a_table_that_does_not_fit_its_tasks_is_refused() {
    let (tasks, good) = two_cpus();
    let error = |change: &dyn Fn(&mut Table, &mut Vec<Task>)| {
        let (mut tasks, mut table) = two_cpus();
        change(&mut table, &mut tasks);
        table.build(&tasks, 2).err()
    };
    assert!(good.build(&tasks, 2).is_ok());
    let short = TableError::SubFrameTooShort {
        frame: 0,
        criticality: Level(1),
        level: Level(1),
    };
    assert_eq!(
        error(&|table, _| table.barriers[0][1][1] = 4),
        Some(short.into())
    );
    let long = TableError::FrameTooShort {
        frame: 1,
        level: Level(0),
    };
    assert_eq!(
        error(&|table, _| table.barriers[1][0][0] = 9),
        Some(long.into())
    );
    let twice = TableError::Places {
        task: TaskId(3),
        job: 0,
        found: 2,
    };
    assert_eq!(
        error(&|table, _| {
            table.lists[0][0][1].push(3);
            table.barriers[0][0][0] = 4;
        }),
        Some(twice.into())
    );
    let moved = TableError::TwoCpus(TaskId(2));
    assert_eq!(
        error(&|table, _| {
            table.lists[0][0][0].clear();
            table.lists[0][0][1].push(2);
        }),
        Some(moved.into())
    );
    let wrong = TableError::WrongSubFrame {
        task: TaskId(0),
        frame: 0,
    };
    assert_eq!(
        error(&|table, _| table.lists[0][0][0].push(0)),
        Some(wrong.into())
    );
    let period = TableError::PeriodAndFrames(TaskId(3));
    assert_eq!(
        error(&|_, tasks| tasks[3] = task(0, 25, &[4])),
        Some(period.into())
    );
    assert!(error(&|table, _| table.lists[0][0][0].push(9)).is_some());
    assert!(error(&|table, _| drop(table.barriers[1].pop())).is_some());
    assert!(table_without_cpus(&tasks).is_some());
}

fn table_without_cpus(tasks: &[Task]) -> Option<ConfigurationError> {
    two_cpus().1.build(tasks, 0).err()
}

/// A small generator of its own, so that a run is the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// A random table over four frames with lengths that its jobs just fill.
fn random_table(random: &mut Random, levels: usize, cpus: usize) -> (Vec<Task>, Table) {
    let mut lists = vec![vec![vec![Vec::new(); cpus]; levels]; 4];
    let mut models = Vec::new();
    for number in 0..=random.below(7) {
        let criticality = random.below(levels as u64) as usize;
        let mut wcet: Vec<u64> = (0..=criticality).map(|_| 1 + random.below(5)).collect();
        wcet.sort_unstable();
        let (frames, cpu) = (1 << random.below(3), random.below(cpus as u64) as usize);
        for first in (0..4).step_by(frames) {
            let frame = first + random.below(frames as u64) as usize;
            lists[frame][criticality][cpu].push(number as u16);
        }
        models.push((criticality as u8, frames as u64, wcet));
    }
    let wcet = |&number: &u16, level: usize| {
        let values = &models[usize::from(number)].2;
        values[level.min(values.len() - 1)]
    };
    let barriers: Vec<Vec<Vec<u64>>> = lists
        .iter()
        .map(|frame| {
            let length = |cpus: &Vec<Vec<u16>>, level| {
                let work = cpus
                    .iter()
                    .map(|list| list.iter().map(|task| wcet(task, level)).sum::<u64>());
                work.max().unwrap()
            };
            let of = |cpus| (0..levels).map(|level| length(cpus, level)).collect();
            frame.iter().map(of).collect()
        })
        .collect();
    let need =
        |frame: &Vec<Vec<u64>>, level: usize| frame[level..].iter().map(|b| b[level]).sum::<u64>();
    let frame = (0..levels)
        .flat_map(|level| barriers.iter().map(move |frame| need(frame, level)))
        .max();
    let frame = frame.unwrap();
    let tasks = models
        .iter()
        .map(|(criticality, frames, wcet)| task(*criticality, frames * frame, wcet))
        .collect();
    let table = Table {
        frame,
        lists,
        barriers,
    };
    (tasks, table)
}

/// The rule itself, frame after frame, with nothing but sums: the drawing of one cycle.
fn reference(
    tasks: &[Task],
    table: &Table,
    cpus: usize,
    need: &dyn Fn(JobId) -> u64,
) -> Vec<String> {
    let mut rows = vec![vec![b'.'; 4 * table.frame as usize]; cpus];
    for (number, (lists, barriers)) in table.lists.iter().zip(&table.barriers).enumerate() {
        let begin = number * table.frame as usize;
        let mut age = 0;
        for level in (0..lists.len()).rev() {
            let limit: u64 = barriers[level + 1..].iter().map(|b| b[level]).sum();
            if age > limit {
                break;
            }
            let mut longest = age;
            for (row, list) in rows.iter_mut().zip(&lists[level]) {
                let mut place = age;
                for &task in list {
                    let frames = tasks[usize::from(task)].period.as_nanos() / table.frame;
                    for _ in 0..need(job(task, number as u64 / frames)) {
                        row[begin + place as usize] = b'0' + task as u8;
                        place += 1;
                    }
                }
                longest = longest.max(place);
            }
            age = longest;
        }
    }
    rows.into_iter()
        .map(|row| String::from_utf8(row).unwrap())
        .collect()
}

#[test]
fn random_tables_are_run_as_the_sums_say() {
    let mut random = Random(7);
    let mut lost = 0;
    for _ in 0..3000 {
        let (levels, cpus) = (1 + random.below(3) as usize, 1 + random.below(3) as usize);
        let (tasks, table) = random_table(&mut random, levels, cpus);
        let salt = random.below(1000);
        let need = |job: JobId| {
            // At most what the task needs at its own level.
            let own = tasks[job.task.index()].own_wcet().as_nanos();
            1 + Random(salt + 97 * u64::from(job.task.0) + 31 * job.sequence).below(own)
        };
        let expected = reference(&tasks, &table, cpus, &need);
        for report in [Report::Completions, Report::Barriers] {
            let mut engine = table.build(&tasks, cpus as u16).unwrap();
            let rows = draw(&mut engine, &tasks, 4 * table.frame, report, &need);
            assert_eq!(rows, expected, "{tasks:?} {:?}", table.lists);
            let events = events(&mut engine);
            assert!(
                !events
                    .iter()
                    .any(|event| matches!(event.1, Event::FrameOverrun { .. }))
            );
            lost += events
                .iter()
                .filter(|event| matches!(event.1, Event::Dropped { .. }))
                .count();
        }
    }
    assert!(lost > 1000, "the latch was hardly ever used: {lost}");
}
