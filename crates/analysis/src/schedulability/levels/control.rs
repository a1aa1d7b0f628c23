//! What is wrong with a test of level B, or of level C; campaigns refute each.

use super::answer::{find, outcome, tardiness};
use super::local::Local;
use super::pattern::Pattern;
use super::{Order, Question};
use crate::grade::Grade;
use crate::level_reason::LevelReason;
use crate::outcome::{Kind, Outcome};
use crate::problem::{Problem, Row};
use num_integer::Integer;
use vestal_core::CpuId;

/// The mistake: what levels A and B close is spread evenly, no term B.
pub(crate) fn analyse_without_burst(problem: &Problem) -> Outcome {
    let found = find(problem, Order::Deadlines).map(|(question, mut found)| {
        for closed in &mut found.closed {
            closed.burst = 0;
        }
        let late = match found.why {
            Some(why) => Err(why),
            None => tardiness(&question, &found),
        };
        (found, late)
    });
    outcome(Kind::Unsafe, problem, found)
}

/// The mistake: the sum decides about level B, whatever its periods are.
pub(crate) fn analyse_any_periods(problem: &Problem) -> Outcome {
    analyse_by_sum(problem, |local, _| any_periods(local))
}

/// The mistake: the sum decides about level B where its periods are multiples of the hyperperiod of level A, however long the cycle is.
pub(crate) fn analyse_own_cycle(problem: &Problem) -> Outcome {
    analyse_by_sum(problem, own_cycle)
}

fn analyse_by_sum(problem: &Problem, is_accepted: fn(&Local<'_>, &[&Row]) -> bool) -> Outcome {
    let found = find(problem, Order::Deadlines).map(|(question, found)| {
        let refused = |cpu: &CpuId| {
            let level_a = question.rows(&found.homes, Grade::A, cpu.index());
            let rows = question.rows(&found.homes, Grade::B, cpu.index());
            let level = level_of_b(&question);
            let pattern = Pattern::new(&found.tables[cpu.index()], &level_a, level);
            let local = Local {
                cpu: *cpu,
                pattern: &pattern,
                rows: &rows,
            };
            !is_accepted(&local, &level_a)
        };
        let mut cpus = (0..problem.cpus()).map(CpuId);
        let late = match cpus.find(refused) {
            Some(cpu) => Err(LevelReason::Overload { cpu }),
            None => tardiness(&question, &found),
        };
        (found, late)
    });
    outcome(Kind::Unsafe, problem, found)
}

fn level_of_b(question: &Question<'_>) -> usize {
    question.level(Grade::B).unwrap_or_default()
}

/// The least common multiple of these periods and `cycle`.
pub(super) fn hyperperiod(cycle: u64, rows: &[&Row]) -> u64 {
    rows.iter().fold(cycle, |all, row| all.lcm(&row.period))
}

fn implicit(local: &Local<'_>) -> bool {
    local.rows.iter().all(|row| row.deadline == row.period)
}

/// The sum decides, whatever the periods are.
pub(super) fn any_periods(local: &Local<'_>) -> bool {
    implicit(local) && !local.is_overload()
}

/// The sum decides where periods are multiples of the hyperperiod of the level-A tasks, however long the table's cycle is.
pub(super) fn own_cycle(local: &Local<'_>, level_a: &[&Row]) -> bool {
    let cycle = hyperperiod(1, level_a);
    implicit(local)
        && local
            .rows
            .iter()
            .all(|row| row.period.is_multiple_of(cycle))
        && !local.is_overload()
}

/// By rates, too, the sum decides where periods are multiples of the table's cycle.
#[cfg(test)]
pub(super) fn rates_by_sum(local: &Local<'_>) -> bool {
    local.is_harmonic() && !local.is_overload()
}

/// Windows begin with the cycle.
#[cfg(test)]
pub(super) fn phase_0(local: &Local<'_>) -> bool {
    let end = hyperperiod(local.pattern.cycle(), local.rows);
    !local.is_overload()
        && (1..=end).all(|window| {
            let demand: u64 = local
                .rows
                .iter()
                .map(|row| {
                    let due = (0..window)
                        .step_by(row.period as usize)
                        .filter(|release| release + row.deadline <= window);
                    due.count() as u64 * row.own_wcet()
                })
                .sum();
            demand <= local.pattern.open_from(0, window)
        })
}
