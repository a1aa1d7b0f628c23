//! When level A closes a CPU for lower levels, and what it leaves to them.
//!
//! In a run in which no job of level A needs more than C_i(l), each executes within the first C_i(l) of its slots: it is there
//! when its first slot begins, and has the CPU in each of them until it is complete. So the CPU is closed for level B
//! within these pieces at most, and they repeat with the cycle P of the table, which may be longer than the hyperperiod of the tasks.
//! With W their sum in a cycle:
//!
//! - sbf(t): the least that is open in a window of length t. The worst window begins with a piece: from within one the
//!   begin is moved to the left, from outside to the right, and no step opens anything.
//! - its inverse: the least t with sbf(t) >= x.
//! - an envelope: no window of length t has more than U t + b closed, U = W / P. With G(t) = closed[0,t) - U t, which
//!   repeats with P, b = max G - min G, and a window from where G is least to where it is greatest reaches it.

use crate::parameters::{DispatchTable, task_id};
use crate::problem::Row;

/// The closed pieces of a CPU's cycle; without pieces all is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    /// P; 1 without pieces.
    cycle: u64,
    /// Begin and end of each, in their order and apart from each other.
    pieces: Vec<(u64, u64)>,
    /// How much is closed before each piece, and W at the end.
    before: Vec<u64>,
}

impl Pattern {
    /// What is closed by the tasks of a table in a run of `level`: the first C_i(level) of each job's slots. The table must have
    /// been checked, or built. O(s + j) for s slots and j jobs.
    pub(super) fn new(table: &DispatchTable, rows: &[&Row], level: usize) -> Self {
        let mut pieces: Vec<(u64, u64)> = Vec::new();
        // For each task its last job that had a piece, and how much of it is closed.
        let mut jobs = vec![(0, 0); rows.len()];
        for slot in &table.slots {
            let found = rows.iter().zip(&mut jobs);
            let mut found = found.filter(|(row, _)| task_id(row.task) == slot.task);
            let Some((row, job)) = found.next() else {
                continue;
            };
            let mut start = slot.start.as_nanos();
            let end = start + slot.length.as_nanos();
            while start < end {
                let number = start / row.period;
                if job.0 != number {
                    *job = (number, 0);
                }
                let until = end.min((number + 1) * row.period);
                let closed = (until - start).min(row.exact_wcet(level) - job.1);
                job.1 += closed;
                close(&mut pieces, start, start + closed);
                start = until;
            }
        }
        Self::of_pieces(table.cycle.as_nanos(), pieces)
    }

    /// Pieces in their order, apart from each other and within the cycle.
    pub(super) fn of_pieces(cycle: u64, pieces: Vec<(u64, u64)>) -> Self {
        let mut before = vec![0];
        let mut closed = 0;
        before.extend(pieces.iter().map(|(start, end)| {
            closed += end - start;
            closed
        }));
        let cycle = if pieces.is_empty() { 1 } else { cycle };
        Self {
            cycle,
            pieces,
            before,
        }
    }

    /// P, after which all repeats.
    pub(super) fn cycle(&self) -> u64 {
        self.cycle
    }

    /// W, how much is closed in each cycle.
    pub(super) fn closed_in_cycle(&self) -> u64 {
        self.before.last().copied().unwrap_or(0)
    }

    /// What a look at the supply costs, in pieces.
    pub(super) fn size(&self) -> u64 {
        self.pieces.len() as u64 + 1
    }

    /// Where the worst window may begin.
    pub(super) fn starts(&self) -> impl Iterator<Item = u64> {
        let starts = self.pieces.iter().map(|&(start, _)| start);
        let anywhere = self.pieces.is_empty().then_some(0);
        starts.chain(anywhere)
    }

    /// How much is closed in [0, t). O(log s).
    fn closed_before(&self, t: u128) -> u128 {
        let cycle = u128::from(self.cycle);
        let (cycles, rest) = (t / cycle, t % cycle);
        let begun = self
            .pieces
            .partition_point(|&(start, _)| u128::from(start) < rest);
        let inside = match begun.checked_sub(1) {
            None => 0,
            Some(last) => {
                let (start, end) = self.pieces[last];
                u128::from(self.before[last]) + rest.min(end.into()) - u128::from(start)
            }
        };
        cycles * u128::from(self.closed_in_cycle()) + inside
    }

    /// How much is open in a window of this length that begins at `start`. O(log s).
    pub(super) fn open_from(&self, start: u64, window: u64) -> u64 {
        let (from, to) = (u128::from(start), u128::from(start) + u128::from(window));
        let closed = self.closed_before(to) - self.closed_before(from);
        // No more is closed than the window is long.
        window - u64::try_from(closed).unwrap_or(window)
    }

    /// The length of the least window from `start` that has so much open; `None` if none has, or it is
    /// longer than a word. O(log s).
    pub(super) fn time_from(&self, start: u64, amount: u64) -> Option<u64> {
        if amount == 0 {
            return Some(0);
        }
        let cycle = u128::from(self.cycle);
        let start = u128::from(start);
        let open_in_cycle = cycle - u128::from(self.closed_in_cycle());
        let target = start - self.closed_before(start) + u128::from(amount);
        let cycles = (target - 1).checked_div(open_in_cycle)?;
        let rest = target - cycles * open_in_cycle;
        // Pieces behind which something of the rest is still to come are passed as a whole.
        let mut low = 0;
        let mut high = self.pieces.len();
        while low < high {
            let middle = low.midpoint(high);
            let open_before = self.pieces[middle].0 - self.before[middle];
            match u128::from(open_before) < rest {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        let end = cycles * cycle + rest + u128::from(self.before[low]);
        u64::try_from(end - start).ok()
    }

    /// sbf: the least that is open in any window of this length. O(s log s).
    pub(super) fn supply(&self, window: u64) -> u64 {
        let each = self.starts().map(|start| self.open_from(start, window));
        each.min().unwrap_or(window)
    }

    /// The length from which on every window has so much open; `None` if there is none. O(s log s).
    pub(super) fn time_for(&self, amount: u64) -> Option<u64> {
        let mut longest = 0;
        for start in self.starts() {
            longest = longest.max(self.time_from(start, amount)?);
        }
        Some(longest)
    }

    /// b in multiples of 1 / P, exactly: no window of length t has more than W / P t + b closed, and some window has. O(s).
    pub(super) fn burst(&self) -> u128 {
        let (cycle, closed) = (i128::from(self.cycle), i128::from(self.closed_in_cycle()));
        let excess = |at: u64, before: u64| i128::from(before) * cycle - closed * i128::from(at);
        let each = self.pieces.iter().zip(self.before.windows(2));
        let (mut least, mut most) = (0, 0);
        for (&(start, end), before) in each {
            least = least.min(excess(start, before[0]));
            most = most.max(excess(end, before[1]));
        }
        (most - least).unsigned_abs()
    }

    /// b in ns, rounded up.
    pub(super) fn burst_nanos(&self) -> u64 {
        let nanos = self.burst().div_ceil(self.cycle.into());
        u64::try_from(nanos).unwrap_or(u64::MAX)
    }
}

/// Adds a piece behind the others; pieces that touch are one.
fn close(pieces: &mut Vec<(u64, u64)>, start: u64, end: u64) {
    if start == end {
        return;
    }
    match pieces.last_mut() {
        Some(last) if last.1 == start => last.1 = end,
        Some(_) | None => pieces.push((start, end)),
    }
}
