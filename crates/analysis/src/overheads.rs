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
//!   [`Overheads::release`] / T_j over all tasks of the CPU, of [`Overheads::instant`] and [`Overheads::termination`] / T_j over those
//!   whose jobs are dropped at their deadlines, and C_M / T_M of a heartbeat above all tasks;
//! - K: what is taken so beyond that share, and at changes of mode: [`Overheads::release`] and [`Overheads::late`] once for
//!   each task and C_M once, [`Overheads::change`] twice for each level above the lowest and once for the return,
//!   [`Overheads::termination`] twice for each task below the highest level;
//! - w: 1, but 2 for tests that divide a busy interval at an instant of their own (zero-slack instants).
//!
//! # Why it is enough
//!
//! The tests bound intervals in which the CPU executes jobs that they count, at least one. In such an interval of length x
//! those jobs take W, the sum of their C + c: natively a job of another task costs nothing before it has the CPU.
//! Work above all tasks takes at most u x + K: a task is released at most x / T_j + 1 times, a beat comes at
//! most x / T_M + 1 times, of each task one job may have used up a budget unnoticed before, the mode rises at most to each level above the lowest until
//! nothing is left to do, and a task that is dropped is not admitted until then. The last job before the interval may be noticed to have used up
//! its budget as it completes: then the mode rises, terminates and returns at once, and all that may last into the interval. So may
//! what the end of that job takes, or one switch; but of a job that is counted, the switch from it and what its end takes come
//! after the interval in which it is late. So x <= W + K + u x, and x <= (W + K) / (1 - u), which is at most the sum of C' over the jobs counted. A fixed point or a sum of
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
//! nothing else: where such a monitor alone says that a budget is used up, nobody completes at that instant, and a task is terminated once. EDF-VD tests take such a monitor; others take one above all tasks, of which they can speak.
//!
//! What is measured is no bound: a test with measured overheads proves a set for a machine on which nothing ever takes
//! longer.

use vestal_core::Duration;

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
    /// CPU time that is taken from whatever executes, once for each task, because it is noticed late that its job had used up
    /// a budget before it lost the CPU: of a heartbeat, and of wall timers. 0 where a budget is noticed only while its
    /// job executes.
    pub late: Duration,
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
            late: scaled(self.late),
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

    /// o of a frame of this length, of a table with so many tasks and levels: its own part, and what is above all tasks: no
    /// frame is longer than a period, so each task is released at most once in it.
    #[must_use]
    pub fn of_frame(&self, frame: Duration, (tasks, levels): (usize, usize)) -> Duration {
        let sub_frames = self.sub_frame.as_nanos().saturating_mul(levels as u64);
        let releases = self.release.as_nanos().saturating_mul(tasks as u64);
        let beats = self.heartbeat.map_or(0, |beat| {
            let times = frame.div_floor(beat.period);
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

    /// How late it may be noticed that a budget is used up, in ns.
    pub(crate) fn delay(&self) -> u64 {
        let beats = self.heartbeat.map_or(0, |beat| {
            let times = if beat.is_scheduled { 2 } else { 1 };
            beat.period.as_nanos().saturating_mul(times)
        });
        self.detection.as_nanos().saturating_add(beats)
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
