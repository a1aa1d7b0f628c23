//! MC² as it is simulated is the rule, tick by tick.

#[expect(dead_code, reason = "the engine's own tests ask it for more")]
#[path = "../../../core/tests/engines/levelled_reference.rs"]
mod levelled_reference;

use crate::mc2::{built, set};
use levelled_reference::{Kind, RefTask, Reference};
use vestal_analysis::Parameters;
use vestal_analysis::parameters::DispatchTable;
use vestal_core::{
    DropReason, Duration, Instant, JobId, Scheduler, Service, TableSlot, Task, TaskId,
};
use vestal_policy::{Precision, System, Visitor};
use vestal_sim::workload::Periodic;
use vestal_sim::{Backlog, Demand, JobState, Observer, Segment, Setting, simulate};
use vestal_testkit::Random;
use vestal_workload::TaskSet;

/// How long every level-A cycle is.
const CYCLE: u64 = 8;
const TICKS: u64 = 96;

struct Drawn {
    tasks: Vec<RefTask>,
    /// For each CPU and tick of its cycle whose it is.
    tables: Vec<Vec<Option<usize>>>,
}

/// One to three CPUs; at the loaded level there are more tasks than there is room for, at level A more slots.
fn drawn(random: &mut Random, loaded: usize) -> Drawn {
    let cpus = 1 + random.below(3) as usize;
    let mut tasks = Vec::new();
    let mut tables = vec![vec![None; CYCLE as usize]; cpus];
    for (cpu, table) in tables.iter_mut().enumerate() {
        let more = 2 * u64::from(loaded == 3);
        for _ in 0..random.below(2 + more) {
            let period = CYCLE >> random.below(2);
            let mut filled = table.clone();
            let mut places = Vec::new();
            for start in (0..CYCLE).step_by(period as usize) {
                let place = start + random.below(period);
                if filled[place as usize].is_none() {
                    filled[place as usize] = Some(tasks.len());
                    places.push(place);
                }
            }
            if places.len() as u64 == CYCLE / period {
                *table = filled;
                let kind = Kind::A(cpu);
                tasks.push(RefTask {
                    kind,
                    period,
                    budget: 1,
                });
            }
        }
        for _ in 0..random.below(3) + 2 * u64::from(loaded == 2) {
            let kind = Kind::B(cpu);
            tasks.push(anyone(random, kind));
        }
    }
    for (level, kind) in [Kind::D, Kind::C].into_iter().enumerate() {
        let more = 3 * cpus as u64 * u64::from(loaded == level);
        for _ in 0..1 + random.below(3) + more {
            tasks.push(anyone(random, kind));
        }
    }
    Drawn { tasks, tables }
}

fn anyone(random: &mut Random, kind: Kind) -> RefTask {
    let (period, budget) = (4 + random.below(14), 1 + random.below(3));
    RefTask {
        kind,
        period,
        budget,
    }
}

const fn level(kind: Kind) -> usize {
    match kind {
        Kind::A(_) => 3,
        Kind::B(_) => 2,
        Kind::C => 1,
        Kind::D => 0,
    }
}

impl Drawn {
    /// As a file, in nanoseconds: levels by these names, lowest first.
    fn file(&self, names: [&str; 4]) -> TaskSet {
        let mut text = format!(
            "format = \"vestal/1\"\nlevels = {names:?}\n[platform]\ncpus = {}\n",
            self.tables.len()
        );
        for (index, task) in self.tasks.iter().enumerate() {
            let own = level(task.kind);
            let wcet = names[..=own]
                .iter()
                .map(|name| format!("{name} = \"{}ns\"", task.budget));
            let home = match task.kind {
                Kind::A(cpu) | Kind::B(cpu) => format!("cpu = {cpu}\n"),
                Kind::C | Kind::D => String::new(),
            };
            text.push_str(&format!(
                "[[task]]\nname = \"t{index}\"\ncriticality = \"{}\"\nperiod = \"{}ns\"\n{home}wcet = {{ {} }}\n",
                names[own],
                task.period,
                wcet.collect::<Vec<_>>().join(", ")
            ));
        }
        set(&text)
    }

    fn tables(&self) -> Parameters {
        let table = |owners: &Vec<Option<usize>>| DispatchTable {
            cycle: Duration::from_nanos(CYCLE),
            slots: (0..)
                .zip(owners)
                .filter_map(|(at, owner)| slot(at, 1, (*owner)?))
                .collect(),
        };
        Parameters {
            tables: Some(self.tables.iter().map(table).collect()),
            ..Parameters::default()
        }
    }
}

fn slot(start: u64, length: u64, task: usize) -> Option<TableSlot> {
    Some(TableSlot {
        start: Duration::from_nanos(start),
        length: Duration::from_nanos(length),
        task: TaskId(u16::try_from(task).ok()?),
    })
}

/// Who ran in each tick on each CPU, which jobs completed when, and how many were dropped.
#[derive(PartialEq, Debug, Default)]
struct Schedule {
    ran: Vec<Vec<Option<usize>>>,
    completed: Vec<(u64, JobId)>,
    dropped: usize,
}

impl Observer for Schedule {
    fn executed(&mut self, segment: Segment, job: &JobState) {
        for tick in segment.start.as_nanos()..segment.end.as_nanos() {
            self.ran[tick as usize][segment.cpu.index()] = Some(job.id.task.index());
        }
    }
    fn completed(&mut self, at: Instant, job: &JobState) {
        self.completed.push((at.as_nanos(), job.id));
    }
    fn dropped(&mut self, _: Instant, _: &JobState, why: DropReason) {
        assert_eq!(why, DropReason::BacklogFull);
        self.dropped += 1;
    }
}

struct Needs<'a>(&'a dyn Fn(usize, u64) -> u64);

impl Demand for Needs<'_> {
    fn execution(&self, task: TaskId, sequence: u64) -> Service {
        Service::from_nanos((self.0)(task.index(), sequence))
    }
}

struct Run<'a>(&'a Setting<'a>, Periodic, Needs<'a>);

impl Visitor for Run<'_> {
    type Output = Schedule;

    fn visit<S: Scheduler + Send + ?Sized>(self, scheduler: &mut S) -> Schedule {
        let mut schedule = Schedule {
            ran: vec![vec![None; usize::from(self.0.cpus)]; TICKS as usize],
            ..Schedule::default()
        };
        simulate(scheduler, self.0, &self.1, &self.2, &mut schedule).unwrap();
        schedule
            .completed
            .sort_unstable_by_key(|&(at, job)| (at, job.task, job.sequence));
        schedule
    }
}

fn simulated(system: &System, need: &dyn Fn(usize, u64) -> u64) -> Schedule {
    let cluster = &system.clusters[0];
    let entries = cluster.configuration.tasks().iter();
    let tasks: Vec<Task> = entries.map(|entry| entry.task).collect();
    let setting = Setting {
        tasks: &tasks,
        cpus: u16::try_from(cluster.cpus.len()).unwrap(),
        end: Instant::from_nanos(TICKS),
        backlog: Backlog::UNLIMITED,
    };
    let mut engine = cluster.configuration.engine(Precision::EXACT).unwrap();
    engine.visit(Run(&setting, Periodic::synchronous(&tasks), Needs(need)))
}

/// By the plain words of the rule. Where no job is dropped, it is known which one runs: the oldest.
fn reference(
    drawn: &Drawn,
    (backlog, enforced): (usize, bool),
    need: &dyn Fn(usize, u64) -> u64,
) -> Schedule {
    let mut reference = Reference::new(&drawn.tasks, &drawn.tables, (backlog, enforced), need);
    let mut schedule = Schedule::default();
    let mut jobs = vec![(0, 0); drawn.tasks.len()];
    for now in 0..TICKS {
        let ran = reference.tick(now, true).ran;
        for &task in ran.iter().flatten() {
            let (sequence, executed) = &mut jobs[task];
            *executed += 1;
            if *executed == need(task, *sequence) {
                let task = TaskId(task as u16);
                let sequence = *sequence;
                schedule.completed.push((now + 1, JobId { task, sequence }));
                jobs[task.index()] = (sequence + 1, 0);
            }
        }
        schedule.ran.push(ran);
    }
    schedule
        .completed
        .sort_unstable_by_key(|&(at, job)| (at, job.task, job.sequence));
    schedule.dropped = reference.dropped;
    schedule
}

/// What jobs need: mostly their budget or less, at the loaded level often more.
fn needs(drawn: &Drawn, loaded: usize, salt: u64) -> impl Fn(usize, u64) -> u64 {
    let tasks = drawn.tasks.clone();
    move |task: usize, sequence: u64| {
        let RefTask { kind, budget, .. } = tasks[task];
        let mut random = Random::new(salt + 7919 * task as u64 + 104_729 * sequence);
        random.below(3);
        let often = if level(kind) == loaded { 3 } else { 12 };
        match random.below(often) {
            0 => budget + 1 + random.below(2 * budget),
            _ => 1 + random.below(budget),
        }
    }
}

#[test]
fn what_is_simulated_is_the_rule_tick_by_tick_under_load_at_each_level() {
    const NAMES: [&str; 4] = ["D", "C", "B", "A"];
    let mut random = Random::new(31);
    for loaded in 0..4 {
        let (mut completed, mut late, mut cpus) = (0, 0, [0; 3]);
        for round in 0..250 {
            let drawn = drawn(&mut random, loaded);
            let need = needs(&drawn, loaded, random.below(1 << 20));
            let enforced = round % 4 > 0;
            let option = ("budgets", if enforced { "enforced" } else { "ignored" });
            // Levels are what they are by their names, and by their order.
            let names = if round % 2 == 0 {
                NAMES
            } else {
                ["L0", "L1", "L2", "L3"]
            };
            let system = built(&drawn.file(names), &drawn.tables(), &[option]).unwrap();
            let found = simulated(&system, &need);
            let expected = reference(&drawn, (64, enforced), &need);
            assert_eq!(found, expected, "{:?} {:?}", drawn.tasks, drawn.tables);
            completed += found.completed.len();
            let of_level = |job: &&(u64, JobId)| {
                let task = &drawn.tasks[job.1.task.index()];
                level(task.kind) == loaded && job.0 > (job.1.sequence + 1) * task.period
            };
            late += found.completed.iter().filter(of_level).count();
            cpus[drawn.tables.len() - 1] += 1;
        }
        // Positive controls: the level was under load, on any number of CPUs.
        assert!(
            completed > 5_000 && late > 300,
            "{loaded}: {completed} {late}"
        );
        assert!(cpus.iter().all(|&count| count > 50), "{cpus:?}");
    }
}

/// A release brings its budget even if its job is dropped: one that overruns goes on with it, and no task stands
/// still for ever.
#[test]
fn jobs_that_find_no_room_are_dropped_and_leave_their_budgets() {
    let mut random = Random::new(32);
    let mut dropped = [0; 3];
    for round in 0..300 {
        let backlog = round % 3;
        let drawn = drawn(&mut random, round % 4);
        let need = needs(&drawn, round % 4, random.below(1 << 20));
        let option = ("backlog", format!("{backlog}"));
        let option = (option.0, option.1.as_str());
        let names = ["D", "C", "B", "A"];
        let system = built(&drawn.file(names), &drawn.tables(), &[option]).unwrap();
        let found = simulated(&system, &need);
        let expected = reference(&drawn, (backlog, true), &need);
        assert_eq!((found.ran, found.dropped), (expected.ran, expected.dropped));
        dropped[backlog] += found.dropped;
    }
    assert!(dropped.iter().all(|&count| count > 300), "{dropped:?}");
}
