//! `pedf-vd`: partitioned EDF-VD, the condition of `edf-vd` for each CPU by itself.
//!
//! What is decided: whether the tasks can be placed on m equal CPUs so that EDF with virtual deadlines keeps
//! its guarantee on each of them ([`super::edf_vd`]). A task stays on its CPU, and so does a mode: it rises on
//! the CPU on which a job overruns, and only the tasks of level 0 of that CPU are dropped. CPUs have nothing
//! else in common, so that the guarantee of the whole is that of each.
//!
//! Placement (Baruah, Chattopadhyay, Li and Shin, Real-Time Systems 2014, as Sigrist, Giannopoulou, Huang, Gomez
//! and Thiele use it, RTAS 2015, section III-C): first fit. The tasks come one after another, those of level 1
//! first, and each goes to the first CPU that takes it. With a, b and c the sums of [`super::edf_vd`] over the
//! tasks of the CPU and this one, it takes it if
//!
//! - `pedf-vd`: max(a + b, c) <= 3/4, among tasks of one level in the order of the file;
//! - `:decreasing`: the same, among them larger C_i(z_i) / T_i first, equal ones in the order of the file;
//! - `:edf-vd`: the exact condition of `edf-vd` holds, in the order of the file.
//!
//! The paper of 2015 says no more of the order than *first fit*; level 1 comes first in the one of 2014, whose
//! speed-up bound of 8/3 is for that order. No order changes what an acceptance is worth: whatever the placement,
//! each CPU is judged by the exact condition of `edf-vd` at the end, and its virtual deadlines are those of that
//! test. Where virtual deadlines are given, it is judged with those. Tasks whose CPU is given are placed before
//! all others and stay there, whatever it takes.
//!
//! Assumptions: those of `edf-vd` on each CPU, and that CPUs are equal and do not delay one another. Kind:
//! sufficient: another placement may do. Sums are exact (`rational`).
//!
//! With overheads each CPU is charged for its own tasks ([`crate::overheads`]), and has a monitor of its own if that is
//! scheduled among the tasks.
//!
//! Cost: O(n m) trials for n tasks and m CPUs, each of constant time unless a sum is within some 2^-55 of the
//! border, then O(n) of exact arithmetic, or with overheads O(n); `:decreasing` sorts before.
//!
//! Slow twin: `tests/schedulability/pedf_vd` repeats the placement in fractions of machine words, judges each
//! CPU by the theorem, and looks through all placements of small sets. `crate::controls` has a variant that
//! looks at mode 0 alone, which a campaign has to refute.

#[cfg(feature = "controls")]
pub(crate) mod control;

use super::edf_vd::{Sums, decide, outside, with_monitor};
use crate::assumptions::trivially_infeasible;
use crate::charge::{Charge, Charged, Paid};
use crate::outcome::{Kind, Outcome, Reason, TaskOutcome};
use crate::parameters::{Parameters, task_id};
use crate::problem::{Problem, Row};
use crate::reason::{CpuLoad, PlacementRule};
use core::cmp::Reverse;
use std::borrow::Cow;
use vestal_core::{CpuId, Duration, TaskId};

/// In which order the tasks of one level come that have no CPU yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// That of the file.
    File,
    /// The largest C_i(z_i) / T_i first.
    Decreasing,
}

/// The test's answer with the CPU of each task, and virtual deadlines. There are no response times.
pub(crate) fn analyse(problem: &Problem, order: Order, rule: PlacementRule) -> Outcome {
    let count = problem.tasks().len();
    if let Some(reason) = outside(problem) {
        return Outcome::outside(Kind::Sufficient, reason, count);
    }
    if let Some(reason) = trivially_infeasible(problem) {
        let tasks = vec![TaskOutcome::default(); count];
        return Outcome::decided(Kind::Sufficient, Some(reason), tasks);
    }
    let fits = match rule {
        PlacementRule::ThreeQuarters => Sums::are_within_three_quarters,
        PlacementRule::EdfVd => Sums::pass_exact_condition,
    };
    let (cpus, left_over) = place(problem, order, fits);
    if let Some((task, tried)) = left_over {
        let why = Reason::FitsNowhere { task, rule, tried };
        return outcome(Kind::Sufficient, &cpus, count, Err(why));
    }
    let found = judge(problem, &cpus);
    outcome(Kind::Sufficient, &cpus, count, found)
}

/// A CPU and the tasks that it has.
#[derive(Clone, Debug, Default)]
struct Cpu {
    sums: Sums,
    rows: Vec<Row>,
}

impl Cpu {
    fn take(&mut self, row: Row) {
        self.sums.add(&row);
        self.rows.push(row);
    }

    /// Takes the task if it fits; else what there would be with it.
    fn try_to_take(&mut self, row: Row, problem: &Problem, fits: Fits) -> Result<(), Sums> {
        let before = self.sums;
        self.take(row);
        let with_it = match charged(problem, &self.rows) {
            Cow::Borrowed(rows) if fits(&self.sums, rows) => return Ok(()),
            Cow::Borrowed(_) => self.sums,
            Cow::Owned(rows) => {
                let rows = with_monitor(problem, &rows);
                let sums = Sums::of(&rows);
                if exceeds_its_period(&rows).is_none() && fits(&sums, &rows) {
                    return Ok(());
                }
                sums
            }
        };
        self.rows.pop();
        self.sums = before;
        Err(with_it)
    }
}

/// Tasks that share a CPU, with what carrying out the policy costs there. One that needs more than its period is
/// no use to a sum, and is given a nanosecond more than that.
fn charged<'a>(problem: &Problem, rows: &'a [Row]) -> Cow<'a, [Row]> {
    let Some(overheads) = problem.overheads() else {
        return Cow::Borrowed(rows);
    };
    let tasks = rows.iter().map(|row| Charged::whole(problem, row, 1));
    let charge = Charge::new(overheads, tasks, 2, Paid::Jobs);
    let charged = rows.iter().map(|row| {
        let mut row = charge.row(row, 1);
        let most = row.period.saturating_add(1);
        row.wcet = row.wcet.map(|value| value.min(most));
        row
    });
    Cow::Owned(charged.collect())
}

fn exceeds_its_period(rows: &[Row]) -> Option<TaskId> {
    let longer = rows.iter().find(|row| row.own_wcet() > row.period);
    longer.map(|row| task_id(row.task))
}

/// Whether tasks fit on a CPU together, by their sums.
type Fits = fn(&Sums, &[Row]) -> bool;

/// The task that fits on no CPU, and what was tried.
type LeftOver = (TaskId, Vec<CpuLoad>);

/// The tasks on the CPUs, given placements first; up to the first task that fits nowhere. The assumptions and
/// C_i(z_i) <= T_i must have been checked.
fn place(problem: &Problem, order: Order, fits: Fits) -> (Vec<Cpu>, Option<LeftOver>) {
    let mut cpus = vec![Cpu::default(); usize::from(problem.cpus())];
    let given = problem.given().partition.as_deref().unwrap_or_default();
    let mut rest = Vec::new();
    for row in problem.rows() {
        let home = given.get(row.task).copied().flatten();
        match home.and_then(|home| cpus.get_mut(home.index())) {
            Some(cpu) => cpu.take(*row),
            None => rest.push(*row),
        }
    }
    rest.sort_by_key(|row| Reverse(row.criticality));
    match order {
        Order::File => {}
        Order::Decreasing => rest.sort_by(|one, other| {
            let share =
                |row: &Row, period: u64| Reverse(u128::from(row.own_wcet()) * u128::from(period));
            let shares = share(one, other.period).cmp(&share(other, one.period));
            other.criticality.cmp(&one.criticality).then(shares)
        }),
    }
    for row in rest {
        let mut tried = Vec::new();
        let taken = (0..).zip(&mut cpus).any(|(number, cpu)| {
            let refused = cpu.try_to_take(row, problem, fits).err();
            tried.extend(refused.map(|sums| load(CpuId(number), &sums)));
            refused.is_none()
        });
        if !taken {
            return (cpus, Some((task_id(row.task), tried)));
        }
    }
    (cpus, None)
}

fn load(cpu: CpuId, sums: &Sums) -> CpuLoad {
    let [low_ppm, high_at_low_ppm, high_ppm] = sums.millionths();
    CpuLoad {
        cpu,
        low_ppm,
        high_at_low_ppm,
        high_ppm,
    }
}

/// The parameters of each CPU's tasks, in their order there, by the exact condition of `edf-vd`.
fn judge(problem: &Problem, cpus: &[Cpu]) -> Result<Vec<Parameters>, Reason> {
    let given = problem.given().virtual_deadlines.as_deref();
    let on_cpu = |(number, cpu): (u16, &Cpu)| {
        let given = given.map(|all| {
            let of_cpu = cpu.rows.iter().filter_map(|row| all.get(row.task));
            of_cpu.copied().collect::<Vec<Duration>>()
        });
        let rows = charged(problem, &cpu.rows);
        let found = match exceeds_its_period(&rows) {
            Some(task) => Err(Reason::WcetExceedsDeadline { task }),
            None => decide(problem, &rows, given.as_deref(), Sums::pass_exact_condition),
        };
        found.map_err(|why| Reason::OnCpu {
            cpu: CpuId(number),
            why: Box::new(why),
        })
    };
    (0..).zip(cpus).map(on_cpu).collect()
}

/// The places of the tasks, and if all are proved schedulable there, their virtual deadlines.
fn outcome(
    kind: Kind,
    cpus: &[Cpu],
    count: usize,
    found: Result<Vec<Parameters>, Reason>,
) -> Outcome {
    let mut tasks = vec![TaskOutcome::default(); count];
    for (number, cpu) in (0..).zip(cpus) {
        for row in &cpu.rows {
            tasks[row.task].cpu = Some(CpuId(number));
        }
    }
    let partition: Vec<Option<CpuId>> = tasks.iter().map(|task| task.cpu).collect();
    let complete = partition.iter().all(Option::is_some);
    let (found, why) = match found {
        Ok(found) => (found, None),
        Err(why) => (Vec::new(), Some(why)),
    };
    Outcome {
        parameters: Parameters {
            partition: complete.then_some(partition),
            virtual_deadlines: virtual_deadlines(cpus, &found, count),
            ..Parameters::default()
        },
        ..Outcome::decided(kind, why, tasks)
    }
}

/// Those of all tasks; `None` if some CPU has none in whole nanoseconds.
fn virtual_deadlines(cpus: &[Cpu], found: &[Parameters], count: usize) -> Option<Vec<Duration>> {
    let mut all = vec![None; count];
    for (cpu, parameters) in cpus.iter().zip(found) {
        let deadlines = parameters.virtual_deadlines.as_ref()?;
        for (row, &deadline) in cpu.rows.iter().zip(deadlines) {
            all[row.task] = Some(deadline);
        }
    }
    all.into_iter().collect()
}
