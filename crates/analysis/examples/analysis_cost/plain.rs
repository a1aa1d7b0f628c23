//! The loops as books print them, on plain arrays: integer ceilings, a start from what is known to
//! be a lower bound, and nothing else. Audsley's algorithm tries every task for every priority.

use vestal_analysis::Problem;
use vestal_core::Level;

#[derive(Clone, Copy)]
pub(crate) struct Row {
    period: u64,
    deadline: u64,
    high: bool,
    wcet: [u64; 2],
}

pub(crate) fn rows(problem: &Problem) -> Vec<Row> {
    let row = |task: &vestal_core::Task| Row {
        period: task.period.as_nanos(),
        deadline: task.deadline.as_nanos(),
        high: task.criticality > Level(0),
        wcet: [0, 1].map(|level| task.wcet.at(Level(level)).as_nanos()),
    };
    problem.tasks().iter().map(row).collect()
}

fn by_deadline(rows: &[Row]) -> Vec<Row> {
    let mut rows = rows.to_vec();
    rows.sort_by_key(|row| row.deadline);
    rows
}

/// R := C + sum of ceil(R / T) C, for deadline-monotonic priorities.
pub(crate) fn rta(rows: &[Row]) -> bool {
    let rows = by_deadline(rows);
    let mut start = 0;
    rows.iter().enumerate().all(|(position, row)| {
        // The response time of the task before is a lower bound of this one's window.
        let mut response = start + row.wcet[0];
        loop {
            let mut next = row.wcet[0];
            for other in &rows[..position] {
                next += response.div_ceil(other.period) * other.wcet[0];
            }
            if next > row.deadline {
                return false;
            }
            if next == response {
                start = response;
                return true;
            }
            response = next;
        }
    })
}

pub(crate) fn amc_rtb(rows: &[Row]) -> bool {
    audsley(rows, passes_rtb)
}

pub(crate) fn amc_max(rows: &[Row]) -> bool {
    audsley(rows, passes_max)
}

fn audsley(rows: &[Row], passes: fn(&[Row], usize) -> bool) -> bool {
    let mut left = by_deadline(rows);
    while !left.is_empty() {
        let fits = (0..left.len())
            .rev()
            .find(|&position| passes(&left, position));
        match fits {
            Some(position) => left.remove(position),
            None => return false,
        };
    }
    true
}

/// The least R from `start` on with R = needed(R), if it is within the deadline.
fn solve(start: u64, deadline: u64, needed: impl Fn(u64) -> u64) -> Option<u64> {
    let mut response = start;
    loop {
        let next = needed(response);
        if next > deadline {
            return None;
        }
        if next == response {
            return Some(response);
        }
        response = next;
    }
}

fn others(left: &[Row], candidate: usize) -> impl Iterator<Item = &Row> + Clone {
    let (before, from) = left.split_at(candidate);
    before.iter().chain(&from[1..])
}

fn response_low(left: &[Row], candidate: usize) -> Option<u64> {
    let row = left[candidate];
    solve(row.wcet[0], row.deadline, |window| {
        let interference =
            others(left, candidate).map(|other| window.div_ceil(other.period) * other.wcet[0]);
        row.wcet[0] + interference.sum::<u64>()
    })
}

fn passes_rtb(left: &[Row], candidate: usize) -> bool {
    let row = left[candidate];
    let Some(low) = response_low(left, candidate) else {
        return false;
    };
    !row.high
        || solve(low.max(row.wcet[1]), row.deadline, |window| {
            let interference = others(left, candidate).map(|other| {
                if other.high {
                    window.div_ceil(other.period) * other.wcet[1]
                } else {
                    low.div_ceil(other.period) * other.wcet[0]
                }
            });
            row.wcet[1] + interference.sum::<u64>()
        })
        .is_some()
}

/// Every instant at which a LO task releases a job, and 0.
fn passes_max(left: &[Row], candidate: usize) -> bool {
    let row = left[candidate];
    let Some(low) = response_low(left, candidate) else {
        return false;
    };
    if !row.high {
        return true;
    }
    let mut instants = vec![0];
    for other in others(left, candidate).filter(|other| !other.high) {
        instants.extend(
            (1..)
                .map(|job| job * other.period)
                .take_while(|&at| at < low),
        );
    }
    instants.iter().all(|&instant| {
        solve(row.wcet[1].max(instant + 1), row.deadline, |window| {
            let interference = others(left, candidate).map(|other| {
                if !other.high {
                    return (instant / other.period + 1) * other.wcet[0];
                }
                let jobs = window.div_ceil(other.period);
                let after = window.saturating_sub(instant + (other.period - other.deadline));
                let upgraded = jobs.min(after.div_ceil(other.period) + 1);
                upgraded * other.wcet[1] + (jobs - upgraded) * other.wcet[0]
            });
            row.wcet[1] + interference.sum::<u64>()
        })
        .is_some()
    })
}
