//! From counted instructions to verdicts: a sentence is looked at on each board, and holds if it does on all.

use super::Checked;
use super::counted::{Board, Counts, Row};
use crate::number::as_f64;
use crate::verdict;
use vestal_result::claim::Verdict;

/// Sizes that the paper draws: so many servers, and so many tasks each.
pub(super) const SIZES: std::ops::RangeInclusive<u64> = 1..=6;

/// The most servers, and the most tasks each.
pub(super) const MOST: u64 = 6;

/// Of servers with wake-ups, of the same without, and of no servers.
pub(super) const WITH: &str = "deferrable";
/// Without.
pub(super) const WITHOUT: &str = "no-wake-ups";
/// Counters of all tasks.
pub(super) const SCAN: &str = "scan";

/// What grows along an axis; the other is the most there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Along {
    /// Servers.
    Servers,
    /// Tasks of each server.
    Tasks,
}

impl Along {
    /// The size at a place.
    pub(super) const fn at(self, place: u64) -> (u64, u64) {
        match self {
            Self::Servers => (place, MOST),
            Self::Tasks => (MOST, place),
        }
    }

    /// The rows of a scheduler along it; `None` if one is missing.
    fn rows(self, board: &Board, scheduler: &str) -> Option<Vec<Row>> {
        let rows = SIZES.map(|place| {
            let (servers, tasks) = self.at(place);
            board.row(scheduler, servers, tasks).cloned()
        });
        rows.collect()
    }
}

/// What a board says: whether it is so, and by which numbers. `None` if it has not what is asked for.
type Said = Option<(bool, String)>;

fn on_each(counts: &Counts, says: impl Fn(&Board) -> Said) -> Checked {
    let (mut verdicts, mut numbers) = (Vec::new(), Vec::new());
    for board in &counts.boards {
        let said = says(board);
        verdicts.push(match &said {
            Some((true, _)) => Verdict::Confirmed,
            Some((false, _)) => Verdict::Refuted,
            None => Verdict::NotDecided,
        });
        let said = said.map_or_else(|| "not counted".to_owned(), |(_, numbers)| numbers);
        numbers.push(format!("{}: {said}", board.name));
    }
    let numbers = match numbers.is_empty() {
        true => "nothing was counted".to_owned(),
        false => numbers.join("; "),
    };
    let verdict = verdict::all(verdicts);
    Checked { verdict, numbers }
}

/// Pairs of rows of two schedulers at all sizes; `None` if one is missing.
fn pairs<'a>(board: &'a Board, schedulers: [&str; 2]) -> Option<Vec<[&'a Row; 2]>> {
    let sizes = SIZES.flat_map(|servers| SIZES.map(move |tasks| (servers, tasks)));
    let pairs = sizes.map(|(servers, tasks)| {
        let [a, b] = schedulers.map(|name| board.row(name, servers, tasks));
        Some([a?, b?])
    });
    pairs.collect()
}

/// At how many of all sizes something holds, with a few at which it does not.
fn at_sizes(pairs: &[[&Row; 2]], holds: impl Fn(&Row, &Row) -> bool) -> (bool, String) {
    let not = pairs.iter().filter(|[a, b]| !holds(a, b));
    let not: Vec<String> = not
        .map(|[row, _]| format!("{} x {}", row.servers, row.tasks))
        .collect();
    let all = pairs.len();
    let mut numbers = format!("so at {} of {all} sizes", all - not.len());
    if !not.is_empty() {
        let few: Vec<&str> = not.iter().map(String::as_str).take(6).collect();
        let more = if not.len() > few.len() { ", ..." } else { "" };
        numbers += &format!(", not at {}{more} (servers x tasks)", few.join(", "));
    }
    (not.is_empty(), numbers)
}

/// What the numbers of the largest size are, of two schedulers.
fn of_the_largest(board: &Board, schedulers: [&str; 2], value: impl Fn(&Row) -> u64) -> String {
    let [a, b] = schedulers.map(|name| board.row(name, MOST, MOST).map_or(0, &value));
    format!("{a} and {b} at {MOST} x {MOST}")
}

fn most_of_tick(row: &Row) -> u64 {
    row.tick().map_or(0, |(_, most)| most)
}

const fn most_of_pick(row: &Row) -> u64 {
    row.pick.most
}

/// With wake-ups the worst tick takes less than without, at each size, and the worst pick more.
pub(super) fn wake_ups_move(counts: &Counts) -> Checked {
    on_each(counts, |board| {
        let schedulers = [WITH, WITHOUT];
        let (so, numbers) = at_sizes(&pairs(board, schedulers)?, |with, without| {
            most_of_tick(with) < most_of_tick(without) && with.pick.most > without.pick.most
        });
        let ticks = of_the_largest(board, schedulers, most_of_tick);
        let picks = of_the_largest(board, schedulers, most_of_pick);
        let numbers = format!("{numbers}; the worst tick takes {ticks}, the worst pick {picks}");
        Some((so, numbers))
    })
}

/// What all calls take with and without wake-ups differs by at most so many percent of the lesser, at each size.
pub(super) fn sums_are_near(counts: &Counts, percent: u64) -> Checked {
    on_each(counts, |board| {
        let pairs = pairs(board, [WITH, WITHOUT])?;
        let (so, numbers) = at_sizes(&pairs, |with, without| {
            let (a, b) = (with.all(), without.all());
            a.abs_diff(b) * 100 <= a.min(b) * percent
        });
        let parts = pairs.iter().map(|[with, without]| {
            let (a, b) = (as_f64(with.all()), as_f64(without.all()));
            100.0 * (b / a - 1.0)
        });
        let parts: Vec<f64> = parts.collect();
        let least = parts.iter().copied().fold(f64::INFINITY, f64::min);
        let most = parts.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let numbers =
            format!("{numbers}; without wake-ups it is from {least:+.1} to {most:+.1} % more");
        Some((so, numbers))
    })
}

/// With six servers what all calls take, in parts of what they take with counters of all tasks, falls with the tasks, to below 1.
pub(super) fn falls_below_counters(counts: &Counts) -> Checked {
    on_each(counts, |board| {
        let with = Along::Tasks.rows(board, WITH)?;
        let scan = Along::Tasks.rows(board, SCAN)?;
        let ratios = with.iter().zip(&scan);
        let ratios = ratios.map(|(with, scan)| as_f64(with.all()) / as_f64(scan.all()));
        let ratios: Vec<f64> = ratios.collect();
        let falls = ratios.windows(2).all(|pair| pair[1] < pair[0]);
        let ends_below = ratios.last().is_some_and(|&last| last < 1.0);
        let shown: Vec<String> = ratios.iter().map(|ratio| format!("{ratio:.2}")).collect();
        Some((
            falls && ends_below,
            format!("in parts of it {}", shown.join(", ")),
        ))
    })
}

/// At the largest size the most of something is less than with counters of all tasks.
pub(super) fn most_is_below_counters(counts: &Counts, value: fn(&Row) -> u64) -> Checked {
    on_each(counts, |board| {
        let [with, scan] = [WITH, SCAN].map(|name| board.row(name, MOST, MOST));
        let (with, scan) = (value(with?), value(scan?));
        Some((with < scan, format!("{with} and {scan}")))
    })
}

/// The same of the worst tick.
pub(super) fn worst_tick_is_below(counts: &Counts) -> Checked {
    most_is_below_counters(counts, most_of_tick)
}

/// The same of the worst pick.
pub(super) fn worst_pick_is_below(counts: &Counts) -> Checked {
    most_is_below_counters(counts, most_of_pick)
}

/// How far the most is above the least.
fn jitter(counts: &Counts, spread: fn(&Row) -> Option<(u64, u64)>) -> Checked {
    on_each(counts, |board| {
        let pairs = pairs(board, [WITH, SCAN])?;
        let width = |row: &Row| spread(row).map(|(least, most)| most.saturating_sub(least));
        if pairs.iter().flatten().any(|row| width(row).is_none()) {
            return None;
        }
        let (so, numbers) = at_sizes(&pairs, |with, scan| width(with) > width(scan));
        let largest = of_the_largest(board, [WITH, SCAN], |row| width(row).unwrap_or(0));
        Some((
            so,
            format!("{numbers}; from the least to the most are {largest}"),
        ))
    })
}

/// At each size ticks differ more from each other than with counters of all tasks.
pub(super) fn ticks_jitter_more(counts: &Counts) -> Checked {
    jitter(counts, Row::tick)
}

/// At each size picks do.
pub(super) fn picks_jitter_more(counts: &Counts) -> Checked {
    jitter(counts, |row| {
        let is_there = row.pick.number > 0;
        is_there.then_some((row.pick.least, row.pick.most))
    })
}

/// From size to size something grows.
fn grows(counts: &Counts, along: Along, value: fn(&Row) -> u64) -> Checked {
    on_each(counts, |board| {
        let rows = along.rows(board, WITH)?;
        let values: Vec<u64> = rows.iter().map(value).collect();
        let shown: Vec<String> = values.iter().map(u64::to_string).collect();
        let so = values.windows(2).all(|pair| pair[1] > pair[0]);
        Some((so, shown.join(", ")))
    })
}

/// The worst tick grows with the servers.
pub(super) fn ticks_grow_with_servers(counts: &Counts) -> Checked {
    grows(counts, Along::Servers, most_of_tick)
}

/// The worst pick grows with the tasks of a server.
pub(super) fn picks_grow_with_tasks(counts: &Counts) -> Checked {
    grows(counts, Along::Tasks, most_of_pick)
}

/// Calls of a kind take the same however many events there are, and at most so much.
pub(super) fn is_constant(counts: &Counts, what: &str, most: u64) -> Checked {
    on_each(counts, |board| {
        let parts = board.parts(what);
        let (&(_, first), _) = parts.split_first().filter(|(_, rest)| !rest.is_empty())?;
        let same = parts.iter().all(|&(_, instructions)| instructions == first);
        Some((same && first <= most, shown(&parts)))
    })
}

/// Each further event takes the same, but for so many percent of the least of them.
pub(super) fn is_linear(counts: &Counts, what: &str, percent: f64) -> Checked {
    on_each(counts, |board| {
        let parts = board.parts(what);
        let steps = parts.windows(2).map(|pair| {
            let ((from, less), (to, more)) = (pair[0], pair[1]);
            (as_f64(more) - as_f64(less)) / as_f64(to.saturating_sub(from))
        });
        // What the first event takes besides is no part of it.
        let steps: Vec<f64> = steps.skip(1).collect();
        let least = steps.iter().copied().reduce(f64::min)?;
        let most = steps.iter().copied().reduce(f64::max)?;
        if steps.len() < 2 {
            return None;
        }
        let so = least > 0.0 && most <= least * (1.0 + percent / 100.0);
        let numbers = format!(
            "{}; each further one {least:.1} to {most:.1}",
            shown(&parts)
        );
        Some((so, numbers))
    })
}

fn shown(parts: &[(u64, u64)]) -> String {
    let shown = parts
        .iter()
        .map(|(events, instructions)| format!("{instructions} with {events}"));
    shown.collect::<Vec<String>>().join(", ")
}

/// In one image so many bytes at most of code, so many instructions of a tick at which nothing is due, and so many bytes of memory for six servers with
/// six tasks each.
pub(super) fn is_small(counts: &Counts, (code, idle, ram): (u64, u64, u64)) -> Checked {
    let weighed = (counts.code, counts.code_idle, counts.ram);
    let (Some(found), Some(tick), Some(taken)) = weighed else {
        return Checked {
            verdict: Verdict::NotDecided,
            numbers: "nothing was weighed".to_owned(),
        };
    };
    let so = found <= code && tick <= idle && taken <= ram;
    Checked {
        verdict: verdict::from_evidence(so, !so),
        numbers: format!(
            "{found} bytes of code and constants, {tick} instructions, {taken} bytes of memory"
        ),
    }
}
