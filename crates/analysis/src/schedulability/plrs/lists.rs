//! Job-priority lists: OCBP's greedy assignment over the jobs of a pattern.
//!
//! Job k of task i is due (k - 1) T_i + D_i after the beginning of a busy period, whenever exactly it
//! is released (Li and Baruah, RTSS 2010). From the lowest priority 0 up: the last remaining job
//! (i, k) of a task may have the priority if it and all that remain together need at most that long,
//!
//! sum over j of sum over l of e(j, l | i, k) <= (k - 1) T_i + D_i.
//!
//! The first task in the order of the set that passes is taken. Giving a task a priority only
//! shrinks the sums of the others, so the greedy choice never hurts: if any order passes, this finds
//! one. Charges e:
//!
//! - [`Charge::Own`]: C_j(min(z_i, z_j)), what the runs in which i has a guarantee allow j.
//! - [`Charge::PatternAware`]: with lev(j, l) = min{m : l <= n_j(m)}, C_j(lev(j, l)) if
//!   lev(j, l) < lev(i, k), else as above (Huang, Gill and Lu 2014; reconstructed). Not sound.
//!
//! The sum depends on (i, k) only through z_i and lev(i, k), so one table of at most 8 x 8 sums serves
//! all candidates, and a step costs O(n + L^2). A pattern of N jobs takes O(N (n + L^2)).

use super::nobody_fits;
use super::pattern::Pattern;
use crate::outcome::Reason;
use crate::parameters::task_id;
use crate::problem::Row;
use vestal_core::Duration;
use vestal_core::model::LEVELS_MAX;

/// What a job counts for in the sum of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Charge {
    /// C_j(min(z_i, z_j)).
    Own,
    /// The value of the mode in which the pattern places the job, where that is lower.
    PatternAware,
}

/// The jobs without a priority, and what they need.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranking {
    /// By task, how many jobs have no priority yet.
    left: Vec<u64>,
    /// By z_i and lev(i, k), what all of them need. Without patterns only lev 0 is used.
    needed: [[u128; LEVELS_MAX]; LEVELS_MAX],
}

impl Ranking {
    /// All jobs of the pattern, none with a priority.
    fn begin(&mut self, rows: &[Row], pattern: &Pattern, charge: Charge) {
        self.left.clear();
        self.left.extend(rows.iter().map(|row| pattern.jobs(row)));
        self.needed = [[0; LEVELS_MAX]; LEVELS_MAX];
        for row in rows {
            match charge {
                Charge::Own => self.count(row, row.criticality, pattern.jobs(row), charge),
                Charge::PatternAware => {
                    for job in 1..=pattern.jobs(row) {
                        self.count(row, pattern.level_of(row, job), 1, charge);
                    }
                }
            }
        }
    }

    /// Adds `jobs` jobs of the pattern's level `placed` to all sums.
    fn count(&mut self, row: &Row, placed: usize, jobs: u64, charge: Charge) {
        for (criticality, sums) in self.needed.iter_mut().enumerate() {
            for (candidate, sum) in sums.iter_mut().enumerate() {
                let cost = cost(row, placed, criticality, candidate, charge);
                *sum += u128::from(cost) * u128::from(jobs);
            }
        }
    }

    /// Gives the last remaining job of the task a priority.
    fn take_last(&mut self, row: &Row, pattern: &Pattern, charge: Charge) {
        let placed = pattern.level_of(row, self.left[row.task]);
        for (criticality, sums) in self.needed.iter_mut().enumerate() {
            for (candidate, sum) in sums.iter_mut().enumerate() {
                *sum -= u128::from(cost(row, placed, criticality, candidate, charge));
            }
        }
        self.left[row.task] -= 1;
    }

    /// What remains if the last remaining job of the task is the lowest, that one included.
    fn needed_by(&self, row: &Row, pattern: &Pattern, charge: Charge) -> u128 {
        let candidate = match charge {
            Charge::Own => 0,
            Charge::PatternAware => pattern.level_of(row, self.left[row.task]),
        };
        self.needed[row.criticality][candidate]
    }

    /// When the last remaining job of the task is due, counted from the start of the busy period.
    fn due(&self, row: &Row) -> u128 {
        u128::from(self.left[row.task] - 1) * u128::from(row.period) + u128::from(row.deadline)
    }

    fn passes(&self, row: &Row, pattern: &Pattern, charge: Charge) -> bool {
        self.left[row.task] > 0 && self.needed_by(row, pattern, charge) <= self.due(row)
    }

    /// The list of each task, its entries counted from 0, or why there is none.
    pub(crate) fn lists(
        &mut self,
        rows: &[Row],
        pattern: &Pattern,
        charge: Charge,
    ) -> Result<Vec<Vec<u32>>, Reason> {
        self.begin(rows, pattern, charge);
        let mut lists = vec![Vec::new(); rows.len()];
        let total: u64 = self.left.iter().sum();
        for priority in (0..u32::MAX).take(usize::try_from(total).unwrap_or(usize::MAX)) {
            let mut candidates = rows.iter();
            let Some(row) = candidates.find(|row| self.passes(row, pattern, charge)) else {
                return Err(nobody_fits(priority, &self.left));
            };
            self.take_last(row, pattern, charge);
            lists[row.task].push(priority);
        }
        for list in &mut lists {
            list.reverse();
        }
        Ok(lists)
    }

    /// Whether [`Self::lists`] with [`Charge::Own`] finds lists. Takes as many jobs of a task at once
    /// as pass: each one taken needs C_i(z_i) less and the next is due T_i earlier.
    pub(crate) fn some_order_passes(&mut self, rows: &[Row], pattern: &Pattern) -> bool {
        self.left.clear();
        self.left.extend(rows.iter().map(|row| pattern.jobs(row)));
        let mut needed = [0_u128; LEVELS_MAX];
        for row in rows {
            let jobs = u128::from(pattern.jobs(row));
            for (level, sum) in needed.iter_mut().enumerate() {
                *sum += jobs * u128::from(row.wcet[level.min(row.criticality)]);
            }
        }
        loop {
            let mut progress = false;
            let mut done = true;
            for row in rows {
                let left = self.left[row.task];
                if left == 0 {
                    continue;
                }
                let Some(slack) = self.due(row).checked_sub(needed[row.criticality]) else {
                    done = false;
                    continue;
                };
                let taken = match u128::from(row.period - row.own_wcet()) {
                    0 => left,
                    loss => u64::try_from(slack / loss + 1).map_or(left, |jobs| jobs.min(left)),
                };
                for (level, sum) in needed.iter_mut().enumerate() {
                    *sum -= u128::from(taken) * u128::from(row.wcet[level.min(row.criticality)]);
                }
                self.left[row.task] -= taken;
                progress = true;
                done &= self.left[row.task] == 0;
            }
            if done || !progress {
                return done;
            }
        }
    }

    /// Whether given lists do for the pattern: long enough, and every job of the pattern in time.
    /// Entries beyond the pattern are not looked at: what is proved are the lists of [`cut`].
    pub(crate) fn check(
        &mut self,
        rows: &[Row],
        pattern: &Pattern,
        charge: Charge,
        given: &[Vec<u32>],
    ) -> Result<(), Reason> {
        let mut order = Vec::new();
        for (row, list) in rows.iter().zip(given) {
            let jobs = pattern.jobs(row);
            let used = usize::try_from(jobs).ok().and_then(|jobs| list.get(..jobs));
            let Some(used) = used else {
                return Err(Reason::JobListTooShort {
                    task: task_id(row.task),
                    jobs,
                    found: u64::try_from(list.len()).unwrap_or(u64::MAX),
                });
            };
            order.extend(used.iter().map(|&priority| (priority, row)));
        }
        order.sort_by_key(|(priority, _)| *priority);
        self.begin(rows, pattern, charge);
        for (_, row) in order {
            let needed = self.needed_by(row, pattern, charge);
            let due = self.due(row);
            if needed > due {
                let time = |nanos: u128| {
                    let nanos = u64::try_from(nanos).unwrap_or(u64::MAX);
                    Duration::from_nanos(nanos)
                };
                return Err(Reason::ListedJobLate {
                    task: task_id(row.task),
                    job: self.left[row.task],
                    needed: time(needed),
                    due: time(due),
                });
            }
            self.take_last(row, pattern, charge);
        }
        Ok(())
    }
}

/// Given lists without the entries beyond the pattern. No job ever takes one of those, but where
/// priorities are computed anew ([`vestal_core::order::RecomputedLists`]) every entry counts as a job to
/// come: with one too many the condition may fail for all tasks, and the order is then none that was
/// proved.
pub(crate) fn cut(rows: &[Row], pattern: &Pattern, given: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let cut = |(row, list): (&Row, &Vec<u32>)| {
        let jobs = usize::try_from(pattern.jobs(row)).unwrap_or(usize::MAX);
        list.iter().take(jobs).copied().collect()
    };
    rows.iter().zip(given).map(cut).collect()
}

/// What a job that the pattern places at level `placed` counts for below a job with this
/// criticality and level.
fn cost(row: &Row, placed: usize, criticality: usize, candidate: usize, charge: Charge) -> u64 {
    let own = row.wcet[criticality.min(row.criticality)];
    match charge {
        Charge::PatternAware if placed < candidate => row.wcet[placed],
        Charge::PatternAware | Charge::Own => own,
    }
}
