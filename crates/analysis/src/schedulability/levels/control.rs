//! What is wrong with a test of level B; campaigns refute each.

use super::local::Local;
use super::oracle::hyperperiod;
use crate::problem::Row;

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
pub(super) fn rates_by_sum(local: &Local<'_>) -> bool {
    local.is_harmonic() && !local.is_overload()
}

/// Windows begin with the cycle.
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
