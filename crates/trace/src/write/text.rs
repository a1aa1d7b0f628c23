//! `.txt`: a Gantt chart of characters.
//!
//! ```text
//! amc, 0 to 30 ns, one column: 1 ns
//!             0         10        20
//! mode        ........11111.........
//!             ^    ^    ^    ^    ^
//! a HI        ##...##...####.##...##
//!             ^         ^v        ^v
//! b LO        ..#...................
//! ^ release  v deadline  I both  x drop  ! miss  * overrun   # executes  + for a part of the column
//! ```
//! Above each task its marks: `^` a release, `v` a deadline, `I` both at once, `x` a drop, `!` a missed
//! deadline, `*` an overrun; the last in this list hides the others. Below them its execution: `#` runs for the whole
//! column, `+` for a part of it. The mode is a digit where it is above 0.

use crate::chart::{Chart, Mark, Row, Unit, tick_step};
use std::fmt::Write as _;

/// The most columns of the chart.
const COLUMNS_MAX: u64 = 120;

/// What stands under the chart.
const LEGEND: &str = "\
^ release  v deadline  I both  x drop  ! miss  * overrun   # executes  + for a part of the column
";

/// How instants become columns.
struct Grid {
    from: u64,
    step: u64,
    columns: usize,
}

impl Grid {
    fn new(chart: &Chart) -> Self {
        let span = chart.window.length();
        let step = tick_step(span, COLUMNS_MAX);
        let columns = span.as_nanos().div_ceil(step).min(COLUMNS_MAX + 1);
        Self {
            from: chart.window.from.as_nanos(),
            step,
            columns: usize::try_from(columns).unwrap_or(0),
        }
    }

    /// The column in which an instant lies.
    fn column(&self, at: u64) -> usize {
        let column = at.saturating_sub(self.from) / self.step;
        usize::try_from(column).unwrap_or(usize::MAX)
    }

    /// How much of each column `[from, to)` covers: calls `put` with the column and whether all of it.
    fn cover(&self, from: u64, to: u64, mut put: impl FnMut(usize, u64)) {
        for column in self.column(from)..self.columns {
            let begin = self
                .from
                .saturating_add(self.step.saturating_mul(column as u64));
            let end = begin.saturating_add(self.step);
            if begin >= to {
                return;
            }
            put(column, end.min(to).saturating_sub(begin.max(from)));
        }
    }
}

pub(super) fn draw(chart: Chart) -> String {
    let grid = Grid::new(&chart);
    let unit = Unit::for_span(chart.window.length());
    let label = |row: &Row| {
        let level = chart.header.level_name(row.task.criticality);
        format!("{} {level}", row.task.name.escape_debug())
    };
    let width = chart
        .rows
        .iter()
        .map(|row| label(row).chars().count())
        .chain([4])
        .max()
        .unwrap_or(4)
        + 1;
    let mut text = String::new();
    let (from, to) = (chart.window.from.as_nanos(), chart.window.to.as_nanos());
    // Writing to a string does not fail.
    let _ = writeln!(
        text,
        "{}, {} to {} {}, one column: {} {}{}",
        chart.header.policy,
        unit.text(from),
        unit.text(to),
        unit.name,
        unit.text(grid.step),
        unit.name,
        if chart.cut { ", cut" } else { "" }
    );
    if chart.lost > 0 {
        let _ = writeln!(text, "{} records were lost", chart.lost);
    }
    line(&mut text, "", width, axis(&grid, unit));
    line(&mut text, "mode", width, modes(&chart, &grid));
    for row in &chart.rows {
        line(&mut text, "", width, marks(row, &grid));
        line(&mut text, &label(row), width, execution(row, &grid));
    }
    text.push_str(LEGEND);
    text
}

fn line(text: &mut String, label: &str, width: usize, cells: impl IntoIterator<Item = char>) {
    let cells: String = cells.into_iter().collect();
    let line = format!("{label:width$}{cells}");
    text.push_str(line.trim_end());
    text.push('\n');
}

fn axis(grid: &Grid, unit: Unit) -> Vec<char> {
    let mut cells = vec![' '; grid.columns];
    for column in (0..grid.columns).step_by(10) {
        let at = grid
            .from
            .saturating_add(grid.step.saturating_mul(column as u64));
        let number = unit.text(at);
        // A number that would run into the next one is left out.
        if number.len() < 10 || column + 10 >= grid.columns {
            for (place, letter) in number.chars().enumerate() {
                match cells.get_mut(column + place) {
                    Some(cell) => *cell = letter,
                    None => cells.push(letter),
                }
            }
        }
    }
    cells
}

fn modes(chart: &Chart, grid: &Grid) -> Vec<char> {
    let mut cells = vec!['.'; grid.columns];
    for band in &chart.bands {
        let digit = char::from(b'0'.saturating_add(band.mode.0.min(9)));
        grid.cover(band.from.as_nanos(), band.to.as_nanos(), |column, _| {
            if let Some(cell) = cells.get_mut(column) {
                *cell = digit;
            }
        });
    }
    cells
}

fn marks(row: &Row, grid: &Grid) -> Vec<char> {
    // The end of the run is an instant too, one column further.
    let mut cells = vec![' '; grid.columns + 1];
    for (at, mark) in &row.marks {
        let Some(cell) = cells.get_mut(grid.column(at.as_nanos())) else {
            continue;
        };
        let sign = match (mark, *cell) {
            (Mark::Overrun, _) => '*',
            (Mark::Miss, _) => '!',
            (Mark::Drop, _) => 'x',
            (Mark::Release, 'v' | 'I') | (Mark::Deadline { .. }, '^' | 'I') => 'I',
            (Mark::Release, _) => '^',
            (Mark::Deadline { .. }, _) => 'v',
        };
        let strength = |sign| " ^vIx!*".find(sign);
        if strength(sign) >= strength(*cell) {
            *cell = sign;
        }
    }
    cells
}

fn execution(row: &Row, grid: &Grid) -> Vec<char> {
    let mut covered = vec![0_u64; grid.columns];
    for slice in &row.slices {
        grid.cover(
            slice.from.as_nanos(),
            slice.to.as_nanos(),
            |column, part| {
                if let Some(sum) = covered.get_mut(column) {
                    *sum = sum.saturating_add(part);
                }
            },
        );
    }
    let sign = |covered: u64| match covered {
        0 => '.',
        part if part < grid.step => '+',
        _ => '#',
    };
    covered.into_iter().map(sign).collect()
}
