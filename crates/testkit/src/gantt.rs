//! A schedule as text: two lines per task, one column per unit of time.
//!
//! ```text
//! one column is 1 ns
//!       0
//! mode  010000000
//!       ↑ ↓↑ ↓↑ ↓
//! t1 HI ██ █  █
//!       ↑× ↕  ↕  ↓
//! t2 LO ·  ·█ ·█
//!         ↑     ↓
//! t3 LO   █··█
//! ```
//! The upper line of a task has its arrivals, deadlines and drops, the lower one its execution. Only
//! whole columns are kept, so that the memory does not grow with the run.

use std::fmt::Write;
use vestal_core::{DropReason, Duration, Instant, JobId, Level};
use vestal_sim::{JobState, Observer, Segment};

/// How many columns a drawing has at most when the unit is chosen automatically.
pub const COLUMNS_AUTOMATIC: u64 = 120;

/// How many columns a drawing has at most when the unit is given; what comes later is not drawn.
pub const COLUMNS_MAX: u64 = 2000;

/// What stands under a drawing.
pub const LEGEND: &str = "\
↑ arrival  ↓ deadline  ↕ both  × drop (hides the others)
█ executes  ▄ for a part of the column  ▒ ░ in the background  · pending
";

/// What happens to a task at the start of a column or within it.
#[derive(Clone, Copy, Debug, Default)]
struct Marks {
    arrival: bool,
    deadline: bool,
    drop: bool,
}

/// What a task does during a column.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    executed: u64,
    background: u64,
    pending: bool,
}

/// Draws a run. An [`Observer`].
#[derive(Clone, Debug)]
pub struct Gantt {
    names: Vec<String>,
    unit: u64,
    end: u64,
    columns: usize,
    /// By task, one more than there are columns: the end of the run is an instant too.
    marks: Vec<Vec<Marks>>,
    cells: Vec<Vec<Cell>>,
    modes: Vec<u8>,
    mode: u8,
    mode_since: u64,
}

/// 1, 2 or 5 times a power of ten, and at least `least`.
fn round_unit(least: u64) -> u64 {
    let mut power: u64 = 1;
    loop {
        for factor in [1, 2, 5] {
            let unit = power.saturating_mul(factor);
            if unit >= least {
                return unit;
            }
        }
        power = power.saturating_mul(10);
    }
}

impl Gantt {
    /// A drawing of `[0, end)` with a row for each name. Without a unit the smallest of 1, 2, 5, 10,
    /// ... ns is taken that needs at most [`COLUMNS_AUTOMATIC`] columns.
    #[must_use]
    pub fn new(names: Vec<String>, end: Instant, unit: Option<Duration>) -> Self {
        let end = end.as_nanos();
        let (unit, most) = match unit {
            Some(unit) => (unit.as_nanos().max(1), COLUMNS_MAX),
            None => (
                round_unit(end.div_ceil(COLUMNS_AUTOMATIC)),
                COLUMNS_AUTOMATIC,
            ),
        };
        let columns = end.div_ceil(unit).min(most) as usize;
        let rows = names.len();
        Self {
            names,
            unit,
            end: end.min(unit.saturating_mul(columns as u64)),
            columns,
            marks: vec![vec![Marks::default(); columns + 1]; rows],
            cells: vec![vec![Cell::default(); columns]; rows],
            modes: vec![0; columns],
            mode: 0,
            mode_since: 0,
        }
    }

    fn mark(&mut self, job: &JobState, at: Instant, set: impl FnOnce(&mut Marks)) {
        let at = at.as_nanos();
        let column = (at / self.unit) as usize;
        if at <= self.end
            && let Some(marks) = self
                .marks
                .get_mut(job.id.task.index())
                .and_then(|row| row.get_mut(column))
        {
            set(marks);
        }
    }

    /// Calls `set` with each cell of the row that meets `[start, end)`, and by how much.
    fn cover(&mut self, row: usize, start: u64, end: u64, mut set: impl FnMut(&mut Cell, u64)) {
        let unit = self.unit;
        let end = end.min(self.end);
        let Some(cells) = self.cells.get_mut(row) else {
            return;
        };
        let mut from = start;
        while from < end {
            let column = from / unit;
            let until = ((column + 1) * unit).min(end);
            if let Some(cell) = cells.get_mut(column as usize) {
                set(cell, until - from);
            }
            from = until;
        }
    }

    fn ended(&mut self, at: Instant, job: &JobState) {
        let (row, released) = (job.id.task.index(), job.released.as_nanos());
        self.cover(row, released, at.as_nanos(), |cell, _| cell.pending = true);
    }

    fn fill_mode_until(&mut self, at: u64) {
        let (mode, unit) = (self.mode, self.unit);
        let first = (self.mode_since / unit) as usize;
        let last = (at.min(self.end).div_ceil(unit)) as usize;
        if self.mode_since < at
            && let Some(modes) = self.modes.get_mut(first..last)
        {
            modes.iter_mut().for_each(|shown| *shown = mode.max(*shown));
        }
        self.mode_since = at;
    }

    fn mark_sign(marks: Marks) -> char {
        match (marks.drop, marks.arrival, marks.deadline) {
            (true, _, _) => '×',
            (false, true, true) => '↕',
            (false, true, false) => '↑',
            (false, false, true) => '↓',
            (false, false, false) => ' ',
        }
    }

    fn cell_sign(cell: Cell, width: u64) -> char {
        let full = cell.executed + cell.background >= width;
        match (cell.executed > 0, cell.background > 0, full) {
            (true, _, true) => '█',
            (true, _, false) => '▄',
            (false, true, true) => '▒',
            (false, true, false) => '░',
            (false, false, _) if cell.pending => '·',
            (false, false, _) => ' ',
        }
    }

    /// The drawing, ending with [`LEGEND`].
    #[must_use]
    pub fn text(&self) -> String {
        let widest = self.names.iter().map(|name| name.chars().count()).max();
        let indent = widest.unwrap_or(0).max("mode".len()) + 1;
        let mut out = format!("one column is {}\n", unit_text(self.unit));
        let mut line = |label: &str, signs: String| {
            let text = format!("{label:<indent$}{signs}");
            out.push_str(text.trim_end());
            out.push('\n');
        };
        let mut ruler = String::new();
        for column in (0..self.columns).step_by(10) {
            // Writing to a string cannot fail.
            let _ = write!(ruler, "{column:<10}");
        }
        line("", ruler);
        let modes = self.modes.iter();
        line("mode", modes.map(ToString::to_string).collect());
        for ((name, marks), cells) in self.names.iter().zip(&self.marks).zip(&self.cells) {
            line("", marks.iter().copied().map(Self::mark_sign).collect());
            let signs = cells.iter().zip(0..).map(|(&cell, column)| {
                let width = self.unit.min(self.end - self.unit * column);
                Self::cell_sign(cell, width)
            });
            line(name, signs.collect());
        }
        out.push_str(LEGEND);
        out
    }
}

fn unit_text(unit: u64) -> String {
    for (size, name) in [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")] {
        if unit.is_multiple_of(size) {
            return format!("{} {name}", unit / size);
        }
    }
    format!("{unit} ns")
}

impl Observer for Gantt {
    fn released(&mut self, at: Instant, job: &JobState) {
        self.mark(job, at, |marks| marks.arrival = true);
        self.mark(job, job.deadline, |marks| marks.deadline = true);
    }

    fn executed(&mut self, segment: Segment, job: &JobState) {
        let (start, end) = (segment.start.as_nanos(), segment.end.as_nanos());
        let background = job.demoted.is_some();
        self.cover(job.id.task.index(), start, end, |cell, amount| {
            if background {
                cell.background += amount;
            } else {
                cell.executed += amount;
            }
        });
    }

    fn completed(&mut self, at: Instant, job: &JobState) {
        self.ended(at, job);
    }

    fn dropped(&mut self, at: Instant, job: &JobState, _: DropReason) {
        self.mark(job, at, |marks| marks.drop = true);
        self.ended(at, job);
    }

    fn mode_changed(&mut self, at: Instant, _: Level, to: Level, _: Option<JobId>) {
        self.fill_mode_until(at.as_nanos());
        self.mode = to.0;
    }

    fn unfinished(&mut self, end: Instant, job: &JobState) {
        self.ended(end, job);
    }

    fn finished(&mut self, end: Instant) {
        self.fill_mode_until(end.as_nanos());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_automatic_unit_is_round_and_keeps_the_drawing_narrow() {
        for (end, unit) in [(1, 1), (120, 1), (121, 2), (10_000_000_000, 100_000_000)] {
            let drawing = Gantt::new(Vec::new(), Instant::from_nanos(end), None);
            assert_eq!(drawing.unit, unit);
            assert!(drawing.columns as u64 <= COLUMNS_AUTOMATIC);
        }
        assert_eq!(unit_text(100_000_000), "100 ms");
        assert_eq!(unit_text(5), "5 ns");
    }
}
