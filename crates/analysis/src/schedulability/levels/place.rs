//! Which CPU the tasks of levels A and B have: those that are given theirs first, then worst fit, larger shares first.
//!
//! The papers leave it open. A task of level A goes to the CPU with the smallest sum of C_i(A) / T_i of those that still have a
//! table with it; one of level B, after all of level A, to the one with the smallest sum at the times of level B on which level B stays
//! schedulable. Equal ones: the first. Where nothing but one CPU may be tried, or one was not decided, that is the reason. A CPU that takes the interrupts gets none of these where there are others.

use super::local::Local;
use super::pattern::Pattern;
use super::{Effort, Grade, Question, given, table};
use crate::level_reason::LevelReason;
use crate::parameters::{DispatchTable, task_id};
use crate::problem::Row;
use crate::rational::Bracket;
use vestal_core::CpuId;

/// The table of each CPU; sets the homes of level-A tasks.
///
/// # Errors
/// Given tables that are none, tasks for which there is no table, or no CPU.
pub(super) fn tables(
    question: &Question<'_>,
    homes: &mut [Option<CpuId>],
    effort: &mut Effort,
) -> Result<Vec<DispatchTable>, LevelReason> {
    let all = || (0..question.problem.cpus()).map(CpuId);
    let mut rest = given_homes(question, Grade::A, homes);
    let rows = |homes: &[Option<CpuId>], cpu: CpuId| question.rows(homes, Grade::A, cpu.index());
    if let Some(tables) = &question.problem.given().tables {
        for row in rest {
            let in_table = |table: &DispatchTable| {
                table
                    .slots
                    .iter()
                    .any(|slot| slot.task == task_id(row.task))
            };
            let found = all().zip(tables).find(|(_, table)| in_table(table));
            let task = task_id(row.task);
            homes[row.task] = Some(found.ok_or(LevelReason::NoSlot { task })?.0);
        }
        for (cpu, table) in all().zip(tables) {
            given::check(cpu, table, &rows(homes, cpu))?;
        }
        return Ok(tables.clone());
    }
    let built = all().map(|cpu| table::build(cpu, &rows(homes, cpu), effort));
    let mut tables: Vec<DispatchTable> = built.collect::<Result<_, _>>()?;
    by_falling_share(&mut rest);
    for row in rest {
        let load = |cpu: CpuId| share(Bracket::default(), &rows(homes, cpu));
        let mut by_load: Vec<(u128, CpuId)> =
            candidates(question).map(|cpu| (load(cpu), cpu)).collect();
        by_load.sort_unstable();
        let mut undecided = None;
        let taken = by_load.iter().find_map(|&(_, cpu)| {
            let mut with_it = rows(homes, cpu);
            with_it.push(row);
            with_it.sort_unstable_by_key(|row| row.task);
            match table::build(cpu, &with_it, effort) {
                Ok(table) => Some((cpu, table)),
                Err(why) => {
                    let is_last = by_load.len() == 1;
                    undecided = undecided.or((is_last || why.is_undecided()).then_some(why));
                    None
                }
            }
        });
        let task = task_id(row.task);
        let nowhere = undecided.unwrap_or(LevelReason::FitsNowhere { task });
        let (cpu, table) = taken.ok_or(nowhere)?;
        homes[row.task] = Some(cpu);
        if let Some(old) = tables.get_mut(cpu.index()) {
            *old = table;
        }
    }
    Ok(tables)
}

/// Sets the homes of level-B tasks, with what level A closes on each CPU at their times. One that no CPU takes goes where there is
/// least to do, and why none takes the first of them is what is returned. Those whose CPU is given are not judged by themselves.
pub(super) fn local(
    question: &Question<'_>,
    patterns: &[Pattern],
    homes: &mut [Option<CpuId>],
    effort: &mut Effort,
) -> Option<LevelReason> {
    let mut rest = given_homes(question, Grade::B, homes);
    let mut nowhere = None;
    by_falling_share(&mut rest);
    for row in rest {
        let load = |cpu: CpuId| {
            let pattern = patterns.get(cpu.index());
            let mut closed = Bracket::default();
            if let Some(pattern) = pattern {
                closed.add(pattern.closed_in_cycle(), pattern.cycle());
            }
            share(closed, &question.rows(homes, Grade::B, cpu.index()))
        };
        let mut by_load: Vec<(u128, CpuId)> =
            candidates(question).map(|cpu| (load(cpu), cpu)).collect();
        by_load.sort_unstable();
        let mut undecided = None;
        let taken = by_load.iter().find(|&&(_, cpu)| {
            let mut rows = question.rows(homes, Grade::B, cpu.index());
            rows.push(row);
            rows.sort_unstable_by_key(|row| row.task);
            let Some(pattern) = patterns.get(cpu.index()) else {
                return false;
            };
            let local = Local {
                cpu,
                pattern,
                rows: &rows,
            };
            let why = question.judge_local(&local, effort).err();
            let is_last = by_load.len() == 1;
            undecided = undecided.or(why.filter(|why| is_last || why.is_undecided()));
            why.is_none()
        });
        if taken.is_none() {
            let task = task_id(row.task);
            let why = undecided.unwrap_or(LevelReason::FitsNowhere { task });
            nowhere = nowhere.or(Some(why));
        }
        homes[row.task] = taken.or(by_load.first()).map(|&(_, cpu)| cpu);
    }
    nowhere
}

/// Sets the homes that are given; the tasks of the level without one.
fn given_homes<'a>(
    question: &Question<'a>,
    grade: Grade,
    homes: &mut [Option<CpuId>],
) -> Vec<&'a Row> {
    let rows = question.problem.rows().iter();
    let mut rest = Vec::new();
    for row in rows.filter(|row| question.grade(row) == grade) {
        homes[row.task] = question.given_home(row);
        if homes[row.task].is_none() {
            rest.push(row);
        }
    }
    rest
}

/// The CPUs on which tasks may be placed.
fn candidates(question: &Question<'_>) -> impl Iterator<Item = CpuId> {
    let cpus = question.problem.cpus();
    let master = question.interrupt_master.filter(|_| cpus > 1);
    (0..cpus).map(CpuId).filter(move |&cpu| master != Some(cpu))
}

/// Larger C_i / T_i at the own level first, equal ones as they stand.
fn by_falling_share(rows: &mut [&Row]) {
    let of = |row: &Row, period: u64| u128::from(row.own_wcet()) * u128::from(period);
    rows.sort_by(|one, other| of(other, one.period).cmp(&of(one, other.period)));
}

/// The sum of C_i / T_i at the own level, rounded up, beside what is taken already.
fn share(mut taken: Bracket, rows: &[&Row]) -> u128 {
    for row in rows {
        taken.add(row.own_wcet(), row.period);
    }
    taken.high
}
