//! Sets of MC² on several CPUs near what can be proved. Shares of CPUs are counted in units that all periods divide.

use core::num::NonZeroU16;
use vestal_analysis::parameters::DispatchTable;
use vestal_analysis::{Grade, Parameters, Problem, Test, Verdict};
use vestal_core::{CpuId, Duration, LevelSet, Task, TaskId};
use vestal_testkit::Random;
use vestal_testkit::levels::{self, Slotted};
use vestal_testkit::short::{span, task};

const UNIT: u64 = 480;

/// What is special about the sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    General,
    /// Level B has D = T, any periods, and all of each CPU that level A leaves.
    Full,
    /// The same with periods that are multiples of the hyperperiod of level A, and tables of twice that.
    LongTables,
}

/// The tasks of levels A and B of a CPU, and the table of the former if that is given. Tasks are numbered inside of it.
struct Local {
    tasks: Vec<Task>,
    table: Option<DispatchTable>,
}

fn share(own: u64, task: &Task) -> u64 {
    own * UNIT / task.period.as_nanos()
}

fn at(task: &Task, level: u8) -> u64 {
    task.wcet.at(vestal_core::Level(level)).as_nanos()
}

fn hyperperiod(tasks: &[Task]) -> u64 {
    levels::hyperperiod(tasks.iter().map(|task| task.period.as_nanos()))
}

fn level_a(random: &mut Random, kind: Kind) -> Vec<Task> {
    let periods: [u64; 3] = random.one_of(&[[4, 8, 16], [5, 10, 20], [6, 12, 24], [10, 20, 40]]);
    let least = u64::from(kind != Kind::General);
    let draw = |random: &mut Random| {
        let period = random.one_of(&periods);
        let deadline = match random.once_in(3) {
            true => random.between(period.div_ceil(2), period),
            false => period,
        };
        let own = random.between(1, deadline.min(period / 2));
        let at_b = random.between(own.div_ceil(2), own);
        let at_c = random.between(at_b / 2, at_b);
        let mut drawn = task(3, period, &[at_c, at_c, at_b, own]);
        drawn.deadline = span(deadline);
        drawn
    };
    (0..random.between(least, 2))
        .map(|_| draw(random))
        .collect()
}

fn level_b(random: &mut Random, kind: Kind, level_a: &[Task]) -> Vec<Task> {
    let mut left = level_a.iter().fold(UNIT, |left, task| {
        left.saturating_sub(share(at(task, 2), task))
    });
    let count = match kind {
        Kind::General => random.below(3),
        Kind::Full | Kind::LongTables => random.between(1, 2),
    };
    let mut tasks = Vec::new();
    for last in (0..count).rev() {
        let period = match kind {
            Kind::General | Kind::Full => random.one_of(&[4, 5, 6, 8, 10, 12, 15, 16, 20, 24, 30]),
            Kind::LongTables => hyperperiod(level_a) * random.between(1, 2),
        };
        let most = left * period / UNIT;
        if most == 0 {
            continue;
        }
        let own = match kind {
            Kind::General => random.between(most.div_ceil(3), most),
            Kind::Full | Kind::LongTables if last == 0 => most,
            Kind::Full | Kind::LongTables => random.between(1, most),
        };
        let at_c = random.between(own / 2, own);
        let mut drawn = task(2, period, &[at_c, at_c, own]);
        left -= share(own, &drawn);
        if kind == Kind::General && random.once_in(2) {
            drawn.deadline = span(random.between(own.max(period / 2), period));
        }
        tasks.push(drawn);
    }
    tasks
}

/// A table of tasks that are numbered as they stand.
fn table(random: &mut Random, tasks: &[Task], cycles: u64) -> Option<DispatchTable> {
    let slotted = (0..).map(TaskId).zip(tasks).map(|(number, task)| Slotted {
        task: number,
        period: task.period.as_nanos(),
        deadline: task.deadline.as_nanos(),
        own: at(task, 3),
    });
    let slotted: Vec<Slotted> = slotted.collect();
    let (cycle, slots) = levels::table(random, &slotted, cycles)?;
    Some(DispatchTable { cycle, slots })
}

fn local(random: &mut Random, kind: Kind) -> Local {
    let mut tasks = level_a(random, kind);
    let cycles = match kind {
        Kind::General | Kind::Full => random.between(1, 2),
        Kind::LongTables => 2,
    };
    let is_given = kind != Kind::General || random.once_in(2);
    let table = match is_given && !tasks.is_empty() {
        true => table(random, &tasks, cycles),
        false => None,
    };
    let more = level_b(random, kind, &tasks);
    tasks.extend(more);
    Local { tasks, table }
}

/// A CPU on which levels A and B are accepted, if a few more draws find one.
fn accepted(random: &mut Random, kind: Kind, test: &Test, more: u16) -> Local {
    let mut last = local(random, kind);
    for _ in 0..more {
        let tables = last.table.clone().map(|table| vec![table]);
        let alone = problem(last.tasks.clone(), 1, (None, tables));
        let found = alone.map(|alone| test.analyse(&alone));
        if kind != Kind::General || found.is_some_and(|found| found.verdict == Verdict::Schedulable)
        {
            break;
        }
        last = local(random, kind);
    }
    last
}

/// Level C takes what levels A and B leave, or somewhat less.
fn level_c(random: &mut Random, cpus: u64, above: &[Task]) -> Vec<Task> {
    let taken = above.iter().map(|task| share(at(task, 1), task));
    let left = (cpus * UNIT).saturating_sub(taken.sum());
    let mut left = left * random.one_of(&[16, 16, 15, 12, 8]) / 16;
    let mut tasks = Vec::new();
    for _ in 0..random.between(cpus, 3 * cpus + 3) {
        let period = random.one_of(&[2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24]);
        let most = (left * period / UNIT).min(period);
        if most == 0 {
            continue;
        }
        let own = random.between(1, most.min(12));
        let mut drawn = task(1, period, &[own, own]);
        left -= share(own, &drawn);
        if random.once_in(3) {
            drawn.deadline = span(random.between(own, period));
        }
        tasks.push(drawn);
    }
    // More than there is.
    if random.once_in(8) {
        tasks.push(task(1, 6, &[6, 6]));
    }
    tasks
}

type Given = (Option<Vec<Option<CpuId>>>, Option<Vec<DispatchTable>>);

fn problem(tasks: Vec<Task>, cpus: u16, (partition, tables): Given) -> Option<Problem> {
    let is_a = |task: &Task| (task.criticality.0 == 3).then_some(Duration::ZERO);
    let first = tasks.iter().map(is_a).collect();
    let given = Parameters {
        partition,
        tables,
        ..Parameters::default()
    };
    let problem = Problem::new(tasks, LevelSet::new(4)?).ok()?;
    let problem = problem.with_cpus(NonZeroU16::new(cpus)?).ok()?;
    let problem = problem.with_first_releases(first);
    problem.with_grades(Grade::ALL.to_vec()).with(&given).ok()
}

/// A set on so many CPUs, of which some are never closed; one in four is placed by the test, which makes its tables. `None`: a
/// draw without tasks.
pub(super) fn set(random: &mut Random, kind: Kind, cpus: u16, test: &Test) -> Option<Problem> {
    let open = match kind {
        Kind::General => random.one_of(&[0, 0, 0, 1, cpus / 2]),
        Kind::Full | Kind::LongTables => 0,
    };
    let (mut tasks, mut homes, mut tables) = (Vec::new(), Vec::new(), Vec::new());
    for cpu in 0..cpus {
        let drawn = match cpu < open {
            true => Local {
                tasks: Vec::new(),
                table: None,
            },
            false => accepted(random, kind, test, cpus.ilog2() as u16),
        };
        let first = tasks.len() as u16;
        tables.push(drawn.table.map(|mut table| {
            for slot in &mut table.slots {
                slot.task.0 += first;
            }
            table
        }));
        homes.extend(drawn.tasks.iter().map(|_| Some(CpuId(cpu))));
        tasks.extend(drawn.tasks);
    }
    tasks.extend(level_c(random, u64::from(cpus), &tasks));
    // Level D is in nobody's way.
    tasks.push(task(0, 10, &[3]));
    homes.resize(tasks.len(), None);
    let is_given = kind != Kind::General || !random.once_in(4);
    let lacks_one = |(cpu, table): (CpuId, &Option<DispatchTable>)| {
        let mut own = homes.iter().zip(&tasks);
        table.is_none() && own.any(|(home, task)| *home == Some(cpu) && task.criticality.0 == 3)
    };
    let has_all = !(0..).map(CpuId).zip(&tables).any(lacks_one);
    let tables = has_all.then(|| tables.into_iter().map(Option::unwrap_or_default).collect());
    let given = match is_given {
        true => (Some(homes), tables),
        false => (None, None),
    };
    problem(tasks, cpus, given)
}
