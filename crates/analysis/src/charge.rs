//! What is added to execution times for overheads: the formula of [`crate::overheads`].

use crate::overheads::Overheads;
use crate::problem::{Problem, Row};
use vestal_core::model::LEVELS_MAX;
use vestal_core::time::HORIZON_NANOS;

/// How tasks that share a CPU are charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Charge {
    /// c in ns.
    per_job: u64,
    /// w K in ns.
    constant: u64,
    /// 1 - u in units of 2^-[`SHARE_BITS`], rounded down; 0: nothing is left for tasks.
    left: u64,
}

const SHARE_BITS: u32 = 40;

/// How often a job that keeps its zero-slack instant takes the CPU from others for it: there, at its deadline, and at its end.
const INSTANTS: usize = 3;

/// No task has so much time, and sums of it saturate beyond every deadline.
const BEYOND: u64 = HORIZON_NANOS + 1;

/// What is taken from whatever executes, again and again.
struct Source {
    cost: u64,
    period: u64,
    /// How often it comes at least in any period.
    times: u64,
}

/// Who shares a CPU, as far as that is charged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Charged {
    /// T_i in ns.
    pub(crate) period: u64,
    /// Whether a mode above its level terminates the task.
    pub(crate) is_terminable: bool,
    /// Whether its jobs are dropped at their deadlines.
    pub(crate) is_aborted: bool,
    /// Of how many slices a job consists.
    pub(crate) slices: u64,
}

impl Charged {
    /// A task of a problem in one piece, in a set whose highest level has this index.
    pub(crate) fn whole(problem: &Problem, row: &Row, highest: usize) -> Self {
        Self {
            period: row.period,
            is_terminable: row.criticality < highest,
            is_aborted: problem.is_aborted(row.task),
            slices: 1,
        }
    }
}

/// What a test pays for beyond jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paid {
    /// Nothing.
    Jobs,
    /// Zero-slack instants, which divide busy intervals.
    Instants,
    /// Boundaries of slices.
    Slices,
}

impl Charge {
    /// For tasks that share a CPU, in a set with so many levels. O(n).
    pub(crate) fn new(
        overheads: &Overheads,
        tasks: impl Iterator<Item = Charged>,
        levels: usize,
        paid: Paid,
    ) -> Self {
        let release = overheads.release.as_nanos();
        let mut sources = Vec::new();
        let (mut terminable, mut watched): (u64, u64) = (0, 0);
        for task in tasks {
            terminable += u64::from(task.is_terminable);
            watched += 1;
            let period = task.period;
            let mut source = |cost, times| {
                sources.push(Source {
                    cost,
                    period,
                    times,
                });
            };
            source(release, 1);
            if task.is_aborted {
                source(
                    overheads
                        .instant
                        .saturating_add(overheads.termination)
                        .as_nanos(),
                    1,
                );
            }
            match paid {
                Paid::Jobs => {}
                Paid::Instants => {
                    for _ in 0..INSTANTS {
                        source(overheads.instant.as_nanos(), 1);
                    }
                }
                Paid::Slices => source(overheads.slice.as_nanos(), task.slices),
            }
        }
        if let Some(beat) = overheads.heartbeat {
            let (cost, period) = (beat.cost.as_nanos(), beat.period.as_nanos());
            // One that is scheduled is a task; one that takes more than the CPU leaves nothing to any.
            if !beat.is_scheduled || cost > period {
                sources.push(Source {
                    cost,
                    period,
                    times: 1,
                });
            }
        }
        // To each level above the lowest, and back and to each again: see `overheads`.
        let (up, times) = match overheads.has_scheduled_monitor() {
            true => (levels as u64 - 1, 1),
            false => (2 * (levels as u64 - 1), 2),
        };
        let changes = if levels > 1 { up + 1 } else { 0 };
        let changes = overheads.change.as_nanos().saturating_mul(changes);
        let terminations = overheads.termination.as_nanos();
        let terminations = terminations.saturating_mul(terminable.saturating_mul(times));
        let late = overheads.late.as_nanos().saturating_mul(watched);
        let once = [changes, terminations, late];
        let once = once.into_iter().fold(0, u64::saturating_add);
        Self::of(overheads, &sources, once, paid)
    }

    /// For jobs that are released once each.
    pub(crate) fn of_jobs(overheads: &Overheads, jobs: usize, levels: usize) -> Self {
        let none = Self::new(overheads, core::iter::empty(), levels, Paid::Jobs);
        let each = [overheads.release, overheads.termination, overheads.late];
        let each = each.iter().map(|cost| cost.as_nanos());
        let each = each
            .fold(0, u64::saturating_add)
            .saturating_mul(jobs as u64);
        Self {
            constant: none.constant.saturating_add(each),
            ..none
        }
    }

    fn of(overheads: &Overheads, sources: &[Source], changes: u64, paid: Paid) -> Self {
        let each = [
            overheads.job.as_nanos(),
            overheads.delay(),
            overheads.exhaustion.as_nanos(),
        ];
        let mut left: u64 = 1 << SHARE_BITS;
        let mut constant = changes;
        for source in sources.iter().filter(|source| source.cost > 0) {
            let cost = u128::from(source.cost) * u128::from(source.times);
            let share = match u128::from(source.period) {
                0 => u128::MAX,
                period => (cost << SHARE_BITS).div_ceil(period),
            };
            left = left.saturating_sub(u64::try_from(share).unwrap_or(u64::MAX));
            // Boundaries of slices are whole numbers: one more may fall into an interval.
            let more = if source.times > 1 { 2 } else { 1 };
            constant = constant.saturating_add(source.cost.saturating_mul(more));
        }
        let parts = match paid {
            Paid::Instants => 2,
            Paid::Jobs | Paid::Slices => 1,
        };
        Self {
            per_job: each.into_iter().fold(0, u64::saturating_add),
            constant: constant.saturating_mul(parts),
            left,
        }
    }

    /// C' in ns of a job that needs `wcet` ns in so many slices, with any of which an interval may begin; beyond every
    /// horizon where no time is left.
    pub(crate) fn charged(&self, wcet: u64, slices: u64) -> u64 {
        let each = u128::from(self.per_job) + u128::from(self.constant);
        let total = u128::from(wcet) + each * u128::from(slices);
        let total = total.min(u128::from(BEYOND)) << SHARE_BITS;
        let charged = total.checked_div(u128::from(self.left));
        let charged = charged.map_or(u128::MAX, |floor| {
            floor + u128::from(!total.is_multiple_of(u128::from(self.left)))
        });
        u64::try_from(charged).map_or(BEYOND, |charged| charged.min(BEYOND))
    }

    /// The same tasks, or jobs, with C' for C at every level.
    pub(crate) fn problem(&self, problem: &Problem) -> Problem {
        problem.with_wcets(|nanos| self.charged(nanos, 1))
    }

    /// The same task with C' for C.
    pub(crate) fn row(&self, row: &Row, slices: u64) -> Row {
        let mut charged = *row;
        for (level, value) in charged.wcet.iter_mut().enumerate() {
            *value = self.charged(row.exact_wcet(level), slices);
        }
        charged.zeros = charged.wcet.iter().take_while(|&&value| value == 0).count();
        charged.wcet[..charged.zeros].fill(1);
        charged
    }
}

/// The monitor as a task of the higher of two levels, which stands at this place behind the others; `None` if it is above all
/// of them, or costs nothing, or takes more than the CPU, which [`Charge`] sees to.
pub(crate) fn monitor(overheads: &Overheads, place: usize) -> Option<Row> {
    let beat = overheads.heartbeat.filter(|beat| beat.is_scheduled)?;
    let (period, cost) = (beat.period.as_nanos(), beat.cost.as_nanos());
    (cost > 0 && cost <= period).then_some(Row {
        period,
        deadline: period,
        wcet: [cost; LEVELS_MAX],
        zeros: 0,
        criticality: 1,
        task: place,
    })
}
