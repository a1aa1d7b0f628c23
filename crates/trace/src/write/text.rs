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
//!
//! Several domains have a mode line each. Where there are several CPUs, the number of the CPU stands for `#`, each task
//! has a letter, and a line for each CPU shows the letters of the tasks that run there.
//!
//! `o` stands where a task does not execute and its ghost uses up its budget; several may do so at once.

use crate::chart::{Chart, Mark, Row, Unit, tick_step};
use crate::record::DomainId;
use std::fmt::Write as _;
use vestal_core::CpuId;

/// The most columns of the chart.
const COLUMNS_MAX: u64 = 120;

/// What stands under the chart.
const LEGEND: &str = "\
^ release  v deadline  I both  x drop  ! miss  * overrun   # executes  + for a part of the column
";

/// What stands there besides if there are several CPUs.
const LEGEND_OF_CPUS: &str = "\
0 to 9 in place of #: executes on that CPU (# on another or several)   A, B ..: the task on a CPU
";

/// What stands there besides if there are ghosts.
const LEGEND_OF_GHOSTS: &str = "\
o a ghost uses up what jobs left of their budget
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
    let cpus = chart.cpus();
    let labels = Labels::new(&chart, &cpus);
    let width = labels.width();
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
    for (domain, label) in chart.header.domain_ids().zip(&labels.modes) {
        line(&mut text, label, width, modes(&chart, domain, &grid));
    }
    for (row, label) in chart.rows.iter().zip(&labels.rows) {
        line(&mut text, "", width, marks(row, &grid));
        line(
            &mut text,
            label,
            width,
            execution(row, &grid, !cpus.is_empty()),
        );
    }
    for (cpu, label) in cpus.iter().zip(&labels.cpus) {
        line(&mut text, label, width, lane(&chart, *cpu, &grid));
    }
    text.push_str(LEGEND);
    if !cpus.is_empty() {
        text.push_str(LEGEND_OF_CPUS);
    }
    if chart.has_ghosts() {
        text.push_str(LEGEND_OF_GHOSTS);
    }
    text
}

/// What stands before the lines.
struct Labels {
    modes: Vec<String>,
    rows: Vec<String>,
    cpus: Vec<String>,
}

impl Labels {
    fn new(chart: &Chart, cpus: &[CpuId]) -> Self {
        let mode = |domain| match chart.has_domains() {
            true => format!("mode {}", chart.header.domain_name(domain).escape_debug()),
            false => "mode".to_owned(),
        };
        let row = |(place, row): (usize, &Row)| {
            let level = chart.header.level_name(row.task.criticality);
            let label = format!("{} {level}", row.task.name.escape_debug());
            match cpus.is_empty() {
                true => label,
                false => format!("{label} {}", letter(place)),
            }
        };
        Self {
            modes: chart.header.domain_ids().map(mode).collect(),
            rows: chart.rows.iter().enumerate().map(row).collect(),
            cpus: cpus.iter().map(|cpu| format!("CPU {}", cpu.0)).collect(),
        }
    }

    fn width(&self) -> usize {
        let all = self.modes.iter().chain(&self.rows).chain(&self.cpus);
        all.map(|label| label.chars().count()).max().unwrap_or(4) + 1
    }
}

/// The letter of a task, by its place.
fn letter(place: usize) -> char {
    let mut letters = ('A'..='Z').chain('a'..='z');
    letters.nth(place).unwrap_or('#')
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

fn modes(chart: &Chart, domain: DomainId, grid: &Grid) -> Vec<char> {
    let mut cells = vec!['.'; grid.columns];
    for band in chart.bands.iter().filter(|band| band.domain == domain) {
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

/// How much of each column a row executes, and on which CPU if that is one.
fn execution(row: &Row, grid: &Grid, with_cpus: bool) -> Vec<char> {
    let mut covered = vec![(0_u64, None); grid.columns];
    for slice in &row.slices {
        grid.cover(
            slice.from.as_nanos(),
            slice.to.as_nanos(),
            |column, part| {
                if let Some((sum, cpus)) = covered.get_mut(column) {
                    *sum = sum.saturating_add(part);
                    let (first, alone) = cpus.unwrap_or((slice.cpu, true));
                    *cpus = Some((first, alone && first == slice.cpu));
                }
            },
        );
    }
    let whole = |cpus: Option<(CpuId, bool)>| match cpus {
        Some((CpuId(cpu), true)) if with_cpus => char::from_digit(cpu.into(), 10).unwrap_or('#'),
        Some(_) | None => '#',
    };
    let sign = |(covered, cpus)| match covered {
        0 => '.',
        part if part < grid.step => '+',
        _ => whole(cpus),
    };
    let mut cells: Vec<char> = covered.into_iter().map(sign).collect();
    for ghost in &row.ghosts {
        let (from, to) = (ghost.from.as_nanos(), ghost.to.as_nanos());
        grid.cover(from, to, |column, _| {
            if let Some(cell @ '.') = cells.get_mut(column) {
                *cell = 'o';
            }
        });
    }
    cells
}

/// In each column the task that runs there most.
fn lane(chart: &Chart, cpu: CpuId, grid: &Grid) -> Vec<char> {
    let mut most = vec![(0_u64, '.'); grid.columns];
    for (place, row) in chart.rows.iter().enumerate() {
        let mut covered = vec![0_u64; grid.columns];
        for slice in row.slices.iter().filter(|slice| slice.cpu == cpu) {
            let (from, to) = (slice.from.as_nanos(), slice.to.as_nanos());
            grid.cover(from, to, |column, part| {
                if let Some(sum) = covered.get_mut(column) {
                    *sum = sum.saturating_add(part);
                }
            });
        }
        for (cell, covered) in most.iter_mut().zip(covered) {
            if covered > cell.0 {
                *cell = (covered, letter(place));
            }
        }
    }
    most.into_iter().map(|(_, sign)| sign).collect()
}
