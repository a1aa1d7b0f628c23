//! From cells of one set to verdicts. What is computed is exact: *not decided* is said where the values that were looked at do not
//! reach far enough.

use super::Checked;
use super::grid::{Cell, Costs, millis};
use crate::verdict;
use std::fmt;
use vestal_result::claim::Verdict;

/// A parameter of the cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Axis {
    /// T_M.
    Period,
    /// C_M.
    Cost,
    /// C_K.
    Termination,
}

impl Axis {
    const fn of(self, at: Costs) -> u64 {
        match self {
            Self::Period => at.period,
            Self::Cost => at.cost,
            Self::Termination => at.termination,
        }
    }

    /// The others of a cell.
    const fn others(self, at: Costs) -> [u64; 2] {
        match self {
            Self::Period => [at.cost, at.termination],
            Self::Cost => [at.period, at.termination],
            Self::Termination => [at.period, at.cost],
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Period => "T_M",
            Self::Cost => "C_M",
            Self::Termination => "C_K",
        }
    }
}

/// A number without decimals that say nothing.
pub(super) struct Numbers(pub f64);

impl fmt::Display for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{:.3}", self.0);
        f.write_str(text.trim_end_matches('0').trim_end_matches('.'))
    }
}

/// Each of these has to be chosen with care: with the others as they are, some of its values are schedulable and others are not.
pub(super) fn each_matters(cells: &[Cell], axes: &[Axis]) -> Checked {
    let some = cells.iter().any(|cell| cell.holds);
    let parts = axes.iter().map(|axis| {
        let mut lines: Vec<([u64; 2], bool)> = cells
            .iter()
            .map(|cell| (axis.others(cell.at), cell.holds))
            .collect();
        lines.sort_unstable();
        let lines: Vec<_> = lines.chunk_by(|one, next| one.0 == next.0).collect();
        let both = |line: &&&[([u64; 2], bool)]| {
            let holds = line.iter().filter(|(_, holds)| *holds).count();
            0 < holds && holds < line.len()
        };
        (*axis, lines.iter().filter(both).count(), lines.len())
    });
    let parts: Vec<(Axis, usize, usize)> = parts.collect();
    let all = parts.iter().all(|(_, both, _)| *both > 0);
    let words: Vec<String> = parts
        .iter()
        .map(|(axis, both, lines)| {
            format!(
                "{} decides in {both} of {lines} combinations of the others",
                axis.name()
            )
        })
        .collect();
    let count = cells.iter().filter(|cell| cell.holds).count();
    Checked {
        verdict: verdict::from_evidence(some && all, some && !all),
        numbers: format!(
            "schedulable with {count} of {} combinations; {}",
            cells.len(),
            words.join(", ")
        ),
    }
}

/// The left side of equation 6 is least at a T_M in between, where the set is schedulable, and larger at both ends.
pub(super) fn optimum_inside(cells: &[Cell]) -> Checked {
    let least = cells
        .iter()
        .enumerate()
        .min_by(|(_, one), (_, other)| one.left().total_cmp(&other.left()));
    let ends = cells.first().zip(cells.last());
    let Some(((best, cell), (first, last))) = least.zip(ends) else {
        return nothing();
    };
    let is_inside = 0 < best && best < cells.len() - 1;
    let is_less = cell.left() < first.left() && cell.left() < last.left();
    let inside = cells.len() > 2 && is_inside && is_less;
    let known = cells.len() > 2 && cell.left().is_finite() && cell.holds;
    let period = |cell: &Cell| Numbers(millis(cell.at.period));
    let mut held = cells.iter().filter(|cell| cell.holds);
    let range = match (held.next(), held.next_back()) {
        (None, _) => "with no T_M".to_owned(),
        (Some(one), None) => format!("with T_M = {} ms", period(one)),
        (Some(from), Some(to)) => {
            format!("with T_M from {} to {} ms", period(from), period(to))
        }
    };
    Checked {
        verdict: verdict::from_evidence(known && inside, known && !inside),
        numbers: format!(
            "the left side of equation 6 is least at T_M = {} ms, {:.4}; {:.4} at {} ms and {:.4} at {} ms; schedulable {range}",
            period(cell),
            cell.left(),
            first.left(),
            period(first),
            last.left(),
            period(last),
        ),
    }
}

/// Up to some C_K the set is schedulable, and beyond it no more; `printed` is the paper's in ns.
pub(super) fn none_beyond(cells: &[Cell], printed: u64) -> Checked {
    let mut cells: Vec<&Cell> = cells.iter().collect();
    cells.sort_by_key(|cell| cell.at.termination);
    let last = cells.iter().rposition(|cell| cell.holds);
    let first = cells.iter().position(|cell| !cell.holds);
    let found = last.zip(first);
    let at = |index: usize| Numbers(millis(Axis::Termination.of(cells[index].at)));
    let (yes, no) = match found {
        None => (false, false),
        Some((last, first)) => (last < first, last > first),
    };
    let words = match found {
        None if last.is_none() => "it is schedulable with no C_K that was looked at".to_owned(),
        None => "it is schedulable with every C_K that was looked at".to_owned(),
        Some((last, first)) => format!(
            "the largest C_K with which it is schedulable is {} ms, the least with which it is not is {} ms",
            at(last),
            at(first)
        ),
    };
    Checked {
        verdict: verdict::from_evidence(yes, no),
        numbers: format!("{words}; the paper's set: {} ms", Numbers(millis(printed))),
    }
}

/// For each T_M with which the set is schedulable the largest such C_M, both in ns.
pub(super) fn border(cells: &[Cell], termination: u64) -> Vec<(u64, u64)> {
    let held = cells
        .iter()
        .filter(|cell| cell.holds && cell.at.termination == termination);
    let mut held: Vec<(u64, u64)> = held.map(|cell| (cell.at.period, cell.at.cost)).collect();
    held.sort_unstable();
    let by_period = held.chunk_by(|one, next| one.0 == next.0);
    by_period.filter_map(|same| same.last().copied()).collect()
}

fn nothing() -> Checked {
    Checked {
        verdict: Verdict::NotDecided,
        numbers: "there is no cell".to_owned(),
    }
}
