//! Overheads: what carrying a policy out costs, and what is added to execution times for it.
//!
//! A test that is asked about tasks with C_i(l) answers for a CPU that does nothing but execute jobs. Where releasing,
//! ending, watching and stopping jobs takes time of that CPU, it is asked about
//!
//! C'_i(l) = (C_i(l) + c + w K) / (1 - u), rounded up to whole nanoseconds,
//!
//! - c: what each job costs: [`Overheads::job`], by how much it may exceed a budget until that is noticed
//!   ([`Overheads::detection`], and a heartbeat's delay), and stopping it then ([`Overheads::exhaustion`]);
//! - u: the share of the CPU that is taken from whatever executes, however urgent: the sum of
//!   [`Overheads::release`] / T_j over all tasks of the CPU, and C_M / T_M of a heartbeat above all tasks;
//! - K: what is taken so beyond that share, and at changes of mode: [`Overheads::release`] once for each task and C_M once,
//!   [`Overheads::change`] once for each level if there are several, [`Overheads::termination`] once for each task below the highest level;
//! - w: 1, but 2 for tests that divide a busy interval at an instant of their own (zero-slack instants).
//!
//! # Why it is enough
//!
//! The tests bound intervals in which the CPU executes jobs that they count, at least one. In such an interval of length x
//! those jobs take W, the sum of their C + c: natively a job of another task costs nothing before it has the CPU.
//! Work above all tasks takes at most u x + K: a task is released at most x / T_j + 1 times, a beat comes at
//! most x / T_M + 1 times, the mode rises at most to each level above the lowest until nothing is left to do, its return
//! just before may last into the interval, and a task that is dropped is not admitted until then. So x <= W + K + u x,
//! and x <= (W + K) / (1 - u), which is at most the sum of C' over the jobs counted. A fixed point or a sum of
//! utilisations in which each counted job contributes its C' is therefore one for the CPU as it is. A zero-slack instant
//! divides the interval: before it the job has made progress for all that the others did not take, K apart, and
//! after it K may be taken again.
//!
//! The preemption-centric accounting of interrupts is the same idea (Brandenburg, *Scheduling and Locking in Multiprocessor
//! Real-Time Operating Systems*, 2011, section 3.3).
//!
//! # Lemma IV.1
//!
//! Sigrist, Giannopoulou, Huang, Gomez and Thiele (RTAS 2015) add 2 T_M + C_K to each execution time, with C_K the time to
//! terminate all tasks of the lower level, and take the monitor for one more task of the higher level with C_M each T_M. That
//! is this formula with a heartbeat *among* the tasks ([`Heartbeat::is_scheduled`]), termination = C_K / n for n such tasks, and
//! nothing else. EDF-VD tests take such a monitor; others take one above all tasks, of which they can speak.
//!
//! What is measured is no bound: a test with measured overheads proves a set for a machine on which nothing ever takes
//! longer.

use crate::problem::Row;
use vestal_core::Duration;
use vestal_core::model::LEVELS_MAX;
use vestal_core::time::HORIZON_NANOS;

/// What carrying out a policy costs on a CPU. All zero: nothing, and a test answers as without.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Overheads {
    /// CPU time that a job takes beyond its body: to begin, to end, and for a switch to it and one from it.
    pub job: Duration,
    /// CPU time that a release takes from whatever executes, however urgent: of a manager that hears of each; 0 where
    /// jobs begin at their own priorities.
    pub release: Duration,
    /// How long a job may go on after it has used up a budget, until that is noticed; without what a heartbeat adds.
    pub detection: Duration,
    /// CPU time to stop a job that has used up the budget of its own level.
    pub exhaustion: Duration,
    /// CPU time of a change of mode, without terminations.
    pub change: Duration,
    /// CPU time to terminate one task at a change of mode (C_K for each of them).
    pub termination: Duration,
    /// CPU time that is taken from whatever executes at a job's zero-slack instant.
    pub instant: Duration,
    /// CPU time that is taken from whatever executes at the beginning of each slice of a job.
    pub slice: Duration,
    /// What is lost in each frame of a frame table, of o: to begin it.
    pub frame: Duration,
    /// What is lost in each of its sub-frames, of o: to begin it, and for the barrier at its end.
    pub sub_frame: Duration,
    /// A monitor that looks at budgets periodically.
    pub heartbeat: Option<Heartbeat>,
}

/// A monitor that looks at budgets periodically.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Heartbeat {
    /// T_M; 0 is too short for any CPU.
    pub period: Duration,
    /// CPU time of a look: C_M.
    pub cost: Duration,
    /// It is scheduled among the tasks as one of the highest level with this period, so that it may notice something up to
    /// 2 T_M late; else it is above all of them, and T_M late at most.
    pub is_scheduled: bool,
}

impl Overheads {
    /// All costs and delays times `numerator` / `denominator`, rounded up; a heartbeat keeps its period.
    #[must_use]
    pub fn scaled(&self, numerator: u64, denominator: u64) -> Self {
        let scaled = |cost: Duration| {
            let product = u128::from(cost.as_nanos()) * u128::from(numerator);
            let scaled = product.div_ceil(u128::from(denominator.max(1)));
            Duration::from_nanos(u64::try_from(scaled).unwrap_or(u64::MAX))
        };
        Self {
            job: scaled(self.job),
            release: scaled(self.release),
            detection: scaled(self.detection),
            exhaustion: scaled(self.exhaustion),
            change: scaled(self.change),
            termination: scaled(self.termination),
            instant: scaled(self.instant),
            slice: scaled(self.slice),
            frame: scaled(self.frame),
            sub_frame: scaled(self.sub_frame),
            heartbeat: self.heartbeat.map(|beat| Heartbeat {
                cost: scaled(beat.cost),
                ..beat
            }),
        }
    }

    /// o of a frame of this length in ns, of a table with so many tasks and levels: its own part, and what is above all tasks: no
    /// frame is longer than a period, so each task is released at most once in it.
    pub(crate) fn of_frame(&self, frame: u64, (tasks, levels): (usize, usize)) -> Duration {
        let sub_frames = self.sub_frame.as_nanos().saturating_mul(levels as u64);
        let releases = self.release.as_nanos().saturating_mul(tasks as u64);
        let beats = self.heartbeat.map_or(0, |beat| {
            let times = frame.checked_div(beat.period.as_nanos());
            let times = times.map_or(u64::MAX, |times| times.saturating_add(1));
            beat.cost.as_nanos().saturating_mul(times)
        });
        let all = [self.frame.as_nanos(), sub_frames, releases, beats];
        Duration::from_nanos(all.into_iter().fold(0, u64::saturating_add))
    }

    /// Whether the monitor is scheduled among the tasks.
    pub(crate) fn has_scheduled_monitor(&self) -> bool {
        self.heartbeat.is_some_and(|beat| beat.is_scheduled)
    }

    /// The monitor as a task of the higher of two levels, which stands at this place behind the others; `None` if it is above all
    /// of them, or costs nothing, or takes more than the CPU, which [`Charge`] sees to.
    pub(crate) fn monitor(&self, place: usize) -> Option<Row> {
        let beat = self.heartbeat.filter(|beat| beat.is_scheduled)?;
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

    /// How late it may be noticed that a budget is used up, in ns.
    fn delay(&self) -> u64 {
        let beats = self.heartbeat.map_or(0, |beat| {
            let times = if beat.is_scheduled { 2 } else { 1 };
            beat.period.as_nanos().saturating_mul(times)
        });
        self.detection.as_nanos().saturating_add(beats)
    }
}

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
    /// Of how many slices a job consists.
    pub(crate) slices: u64,
}

impl Charged {
    /// A task in one piece, in a set whose highest level has this index.
    pub(crate) const fn whole(row: &Row, highest: usize) -> Self {
        Self {
            period: row.period,
            is_terminable: row.criticality < highest,
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
        let mut terminable: u64 = 0;
        for task in tasks {
            terminable += u64::from(task.is_terminable);
            let period = task.period;
            let mut source = |cost, times| {
                sources.push(Source {
                    cost,
                    period,
                    times,
                });
            };
            source(release, 1);
            match paid {
                Paid::Jobs => {}
                Paid::Instants => source(overheads.instant.as_nanos(), 1),
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
        // To each level above the lowest, and back.
        let changes = if levels > 1 { levels as u64 } else { 0 };
        let changes = overheads.change.as_nanos().saturating_mul(changes);
        let terminations = overheads.termination.as_nanos();
        let terminations = terminations.saturating_mul(terminable);
        Self::of(overheads, &sources, changes.saturating_add(terminations), paid)
    }

    /// For jobs that are released once each.
    pub(crate) fn of_jobs(overheads: &Overheads, jobs: usize, levels: usize) -> Self {
        let none = Self::new(overheads, core::iter::empty(), levels, Paid::Jobs);
        let once = overheads.release.as_nanos();
        let terminations = overheads.termination.as_nanos();
        let each = once.saturating_add(terminations).saturating_mul(jobs as u64);
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
            floor + u128::from(total % u128::from(self.left) != 0)
        });
        u64::try_from(charged).map_or(BEYOND, |charged| charged.min(BEYOND))
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

/// How a test takes overheads into account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Charging {
    /// Not at all: about a problem with overheads it proves nothing.
    No,
    /// It is asked about C'.
    Jobs,
    /// The same; a monitor may be scheduled among the tasks, too.
    JobsAndMonitor,
    /// It is asked about C', and pays for zero-slack instants.
    Instants,
    /// It adds them itself to each slice of a job, and pays for the boundaries.
    Slices,
    /// It adds them itself, where it knows more of jobs than that they are some.
    Itself,
}
