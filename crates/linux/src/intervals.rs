//! When each thread of the run executes, and what it takes for its duties outside the bodies of jobs.
//!
//! A thread says when it gets the CPU, when a body begins and ends, and when it is about to wait. Of each
//! interval outside a body
//!
//! ```text
//! wall = executed + waited + away
//! ```
//! where *executed* is what its CPU clock says, *waited* is the time for which it was ready and another
//! thread had the CPU (schedstat), and *away* is the rest. CPU time on the account of a thread of the run
//! is always the run's, whoever caused it: from inside nothing tells a slow loop from an interrupt. *Away*
//! is the run's too, because the thread slept, unless the kernel says that it never lost the CPU; then a
//! hypervisor had it. Without schedstat (`CONFIG_SCHED_INFO`) all of *wall* is the run's.
//!
//! So a slow thread cannot excuse itself: what it took is in the [`Reactions`] of the report, whether a
//! deadline was missed or not, and [`Shared::consumed`] keeps it out of what counts as stolen.

use crate::body::ClockLook;
use crate::occupancy::{SWITCH_NANOS_MAX, Unexplained, Wanted};
use crate::recording::Tracer;
use crate::report::{Duty, Reaction};
use crate::shared::Shared;
use crate::stolen::{StolenInterval, Thief};
use crate::sys::clock::{cpu_nanos_of, monotonic_nanos, own_cpu_nanos};
use crate::sys::schedstat::{SchedStat, Waited};
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};
use vestal_core::Duration;

/// In a word of [`Consumed`]: the thread has the CPU, or wants it.
const AWAKE: u64 = u64::MAX;

/// The CPU clocks of all threads of the run that share its CPU: those of threads that wait, as words.
/// Each is written by its thread.
#[derive(Debug)]
pub(crate) struct Consumed(Box<[AtomicU64]>);

/// The run's threads beside its workers.
const OTHERS: usize = 3;

/// Which thread of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thread {
    /// The worker of the task with this index.
    Worker(usize),
    Manager,
    Idle,
    Watchdog,
}

impl Consumed {
    pub(crate) fn new(tasks: usize) -> Self {
        Self((0..tasks + OTHERS).map(|_| AtomicU64::new(0)).collect())
    }

    const fn index(thread: Thread) -> usize {
        match thread {
            Thread::Manager => 0,
            Thread::Idle => 1,
            Thread::Watchdog => 2,
            Thread::Worker(index) => OTHERS + index,
        }
    }

    fn set(&self, thread: Thread, value: u64) {
        if let Some(word) = self.0.get(Self::index(thread)) {
            word.store(value, Ordering::SeqCst);
        }
    }
}

impl Shared {
    /// The CPU time that the threads of the run have consumed on its CPU, bodies of jobs included. O(n),
    /// with a system call for each thread that does not wait.
    pub(crate) fn consumed(&self) -> u64 {
        let others = [&self.manager_tid, &self.idle_tid, &self.watchdog_tid];
        let tids = others
            .into_iter()
            .chain(self.tasks.iter().map(|task| &task.tid));
        let each = tids.zip(&self.consumed.0).map(|(tid, word)| {
            match word.load(Ordering::SeqCst) {
                // A thread that leaves has said what it consumed.
                AWAKE => cpu_nanos_of(tid.get()).unwrap_or(0),
                asleep => asleep,
            }
        });
        each.fold(0, u64::saturating_add)
    }
}

/// Longer intervals are remembered one by one, until it is known whether the process was stopped in them.
const LONG_NANOS: u64 = 1_000_000;

/// How many long intervals a thread remembers.
const LONG_MAX: usize = 64;

/// What the threads of a run took for their duties.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reactions {
    count: [u64; Duty::ALL.len()],
    longest: [u64; Duty::ALL.len()],
    /// Clock readings at the beginning and the end of a long interval, and how much of it was the run's.
    long: Vec<(Duty, u64, u64, u64)>,
}

impl Reactions {
    fn note(&mut self, duty: Duty, (from, to): (u64, u64), nanos: u64) {
        let index = duty as usize;
        if let Some(count) = self.count.get_mut(index) {
            *count += 1;
        }
        if nanos >= LONG_NANOS && self.long.len() < LONG_MAX {
            self.long.push((duty, from, to, nanos));
        } else if let Some(longest) = self.longest.get_mut(index) {
            *longest = nanos.max(*longest);
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for (sum, count) in self.count.iter_mut().zip(other.count) {
            *sum += count;
        }
        for (most, longest) in self.longest.iter_mut().zip(other.longest) {
            *most = longest.max(*most);
        }
        self.long.extend(&other.long);
    }

    /// One for each duty that was done, without intervals in which the process was stopped: it was
    /// continued at the clock readings `continued`, or a little before.
    pub(crate) fn of_duties(&self, continued: &[u64]) -> Vec<Reaction> {
        let stopped = |from: u64, to: u64| {
            let to = to.saturating_add(LONG_NANOS);
            continued.iter().any(|at| (from..=to).contains(at))
        };
        let each = Duty::ALL.into_iter().zip(self.count).zip(self.longest);
        each.filter(|&((_, count), _)| count > 0)
            .map(|((duty, count), longest)| {
                let of_duty = self.long.iter().filter(|long| {
                    let &(of, from, to, _) = *long;
                    of == duty && !stopped(from, to)
                });
                let long = of_duty.map(|&(.., nanos)| nanos).max();
                Reaction {
                    duty,
                    count,
                    longest: Duration::from_nanos(long.unwrap_or(0).max(longest)),
                }
            })
            .collect()
    }
}

/// The intervals of the calling thread.
#[derive(Debug)]
pub(crate) struct Intervals {
    thread: Thread,
    stat: Option<SchedStat>,
    /// What the kernel had counted when the present interval began, or an earlier one.
    base: Waited,
    /// Of what it counted since: how long bodies, which others may preempt, had no CPU.
    body_waited: u64,
    /// Clock and CPU clock when the present interval began; while the thread waits, when it began to.
    began: u64,
    cpu: u64,
    /// How many execution intervals of all threads had begun or ended when the present interval began, or before.
    activity: u64,
    reactions: Reactions,
}

impl Intervals {
    /// Those of the calling thread, whose first interval begins here.
    pub(crate) fn of_this_thread(thread: Thread) -> Self {
        let mut intervals = Self {
            thread,
            stat: SchedStat::of_this_thread().ok(),
            base: Waited::default(),
            body_waited: 0,
            began: monotonic_nanos(),
            cpu: own_cpu_nanos(),
            activity: 0,
            reactions: Reactions {
                long: Vec::with_capacity(LONG_MAX),
                ..Reactions::default()
            },
        };
        intervals.open(intervals.cpu);
        intervals
    }

    pub(crate) const fn stat(&self) -> Option<&SchedStat> {
        self.stat.as_ref()
    }

    /// What the kernel had counted when the present interval began, or an earlier one.
    pub(crate) const fn base(&self) -> Waited {
        self.base
    }

    /// The beginning of the present interval, as a look at the clocks.
    pub(crate) const fn beginning(&self) -> ClockLook {
        ClockLook {
            wall: self.began,
            cpu: self.cpu,
            activity: self.activity,
        }
    }

    /// What the kernel counted since the last reading of this kind, bodies apart; none without schedstat.
    fn waited(&self) -> Option<Waited> {
        Some(self.since_base(self.stat.as_ref()?.read()?))
    }

    const fn since_base(&self, now: Waited) -> Waited {
        let nanos = now.nanos.saturating_sub(self.base.nanos);
        Waited {
            nanos: nanos.saturating_sub(self.body_waited),
            times: now.times.saturating_sub(self.base.times),
        }
    }

    /// What is counted from now on belongs to the next interval. Gives what was until now, if anything is.
    fn read_base(&mut self) -> Option<Waited> {
        let now = self.stat.as_ref().and_then(SchedStat::read);
        let until_now = now.map(|now| self.since_base(now));
        self.body_waited = 0;
        self.base = now.unwrap_or(self.base);
        until_now
    }

    /// An interval begins, of which the thread has executed what its CPU clock counted since it said
    /// `cpu`; gives what the kernel counted before.
    ///
    /// Whoever takes the CPU in here is between two intervals: the kernel's count is read first and the
    /// clock afterwards, so that what the thread waits here is in none, and what it executes is in the
    /// second. Were the clock older than the count, all that others do in between would be the thread's.
    fn open(&mut self, cpu: u64) -> Option<Waited> {
        let until_now = self.read_base();
        let executed = own_cpu_nanos().saturating_sub(cpu);
        self.began = monotonic_nanos().saturating_sub(executed);
        self.cpu = cpu;
        until_now
    }

    /// The thread gets the CPU at `now`, which was read in the open group of `trace`; it was `wanted` since,
    /// or since it asked the kernel to be woken, if that was later.
    pub(crate) fn wake(&mut self, shared: &Shared, wanted: Wanted, now: u64, trace: &mut Tracer) {
        shared.consumed.set(self.thread, AWAKE);
        let asked = wanted.from(self.began);
        let (activity, before) = shared.occupancy.begin(asked, now);
        self.activity = activity;
        #[cfg(feature = "real")]
        if matches!(self.thread, Thread::Worker(_)) {
            crate::fault::delay(shared, crate::fault::Point::Woken);
        }
        // What it waited for the CPU until now is no part of the interval.
        let waited = self.open(self.cpu).map_or(0, |waited| waited.nanos);
        // The interval seems to begin later than `now`, or than others of the run left the CPU since, by what was taken
        // from it, less what the thread had executed before: some microseconds, for which a system call would be too much.
        let lost = match self.activity == shared.occupancy.count() {
            true => Unexplained::of_at_least(SWITCH_NANOS_MAX, now, self.began),
            false => shared.occupancy.resume(now, self.began),
        };
        if let Some(lost) = lost {
            let before = now.saturating_sub(asked.since().unwrap_or(now));
            let waited = waited.saturating_sub(before);
            note_unexplained(shared, lost, waited, trace);
        }
        if let Some(unexplained) = before {
            note_unexplained(shared, unexplained, waited, trace);
        }
        // The watchdog may have another CPU.
        if self.thread != Thread::Watchdog
            && let Some(wanted) = wanted.since()
        {
            shared.look_at_late(self.thread, wanted, now);
        }
    }

    /// The idle detector gets the CPU.
    pub(crate) fn wake_idle(&mut self, shared: &Shared) {
        shared.consumed.set(self.thread, AWAKE);
        shared.occupancy.idle();
        self.open(self.cpu);
    }

    /// A body begins at `now`, when the CPU clock says `cpu`: the interval is over.
    pub(crate) fn begin_body(&mut self, shared: &Shared, now: u64, cpu: u64, trace: &mut Tracer) {
        self.close(shared, Duty::JobStart, now, cpu, trace);
        (self.began, self.cpu) = (now, cpu);
    }

    /// The body has ended at `now`, when the CPU clock said `cpu`: an interval begins.
    pub(crate) fn end_body(&mut self, shared: &Shared, now: u64, cpu: u64) {
        self.activity = shared.occupancy.count();
        let wall = now.saturating_sub(self.began);
        let away = wall.saturating_sub(cpu.saturating_sub(self.cpu));
        if away >= SWITCH_NANOS_MAX {
            self.open(cpu);
        } else {
            (self.began, self.cpu) = (now, cpu);
            self.body_waited = self.body_waited.saturating_add(away);
        }
    }

    /// The thread is about to wait: to be called last of all before it asks the kernel to.
    pub(crate) fn wait(&mut self, shared: &Shared, duty: Duty, trace: &mut Tracer) {
        let (now, cpu) = (monotonic_nanos(), own_cpu_nanos());
        self.close(shared, duty, now, cpu, trace);
        (self.began, self.cpu) = (now, cpu);
        shared.consumed.set(self.thread, cpu);
        shared.occupancy.end(now);
    }

    /// The thread leaves the run.
    pub(crate) fn leave(&self, shared: &Shared) {
        shared.consumed.set(self.thread, own_cpu_nanos());
        let of_all = shared.accounts.reactions.lock();
        // No thread panics while holding this lock.
        let mut of_all = of_all.unwrap_or_else(PoisonError::into_inner);
        of_all.merge(&self.reactions);
    }

    /// The present interval ends at `now`, when the CPU clock says `cpu`.
    fn close(&mut self, shared: &Shared, duty: Duty, now: u64, cpu: u64, trace: &mut Tracer) {
        let wall = now.saturating_sub(self.began);
        let executed = cpu.saturating_sub(self.cpu);
        let missing = wall.saturating_sub(executed);
        let interval = (self.began, now);
        if missing < SWITCH_NANOS_MAX {
            self.reactions.note(duty, interval, wall);
            return;
        }
        let Some(counted) = self.waited() else {
            self.reactions.note(duty, interval, wall);
            return;
        };
        // No thread of the run has the CPU before its manager. Who makes a worker wait may be another one, which
        // has begun or ended an execution interval then.
        let alone = self.thread == Thread::Manager || self.activity == shared.occupancy.count();
        let parts = Parts::of(wall, executed, counted, alone);
        if parts.slept() >= SWITCH_NANOS_MAX {
            // It slept and came back unannounced: whom it took the CPU from has not looked since.
            shared.occupancy.came_back();
        }
        self.reactions.note(duty, interval, parts.ours);
        for (nanos, thief) in [
            (parts.by_nobody, Thief::Hypervisor),
            (parts.by_others, Thief::Thread),
        ] {
            if nanos >= SWITCH_NANOS_MAX {
                self.note_stolen(shared, nanos, thief, trace);
            }
        }
        self.read_base();
    }

    /// So much of the interval that is being closed was stolen; when in it is not known.
    fn note_stolen(&self, shared: &Shared, nanos: u64, thief: Thief, trace: &mut Tracer) {
        let thief = match thief {
            Thief::Hypervisor if !shared.steal_reported => Thief::Unknown,
            Thief::Thread | Thief::Hypervisor | Thief::Unknown => thief,
        };
        trace.stolen_until_now(shared, nanos, thief);
    }
}

/// No thread of the run had the CPU in `unexplained`, at the end of which a thread had been ready for `waited` nanoseconds.
pub(crate) fn note_unexplained(
    shared: &Shared,
    unexplained: Unexplained,
    waited: u64,
    trace: &mut Tracer,
) {
    // Of a CPU on which no thread ran nothing tells whether a hypervisor had it.
    let thief = Thief::of(unexplained.nanos(), waited, true, shared.steal_reported);
    let stolen = StolenInterval {
        from: unexplained.from,
        to: unexplained.to,
        charged: unexplained.charged_max(),
        thief,
    };
    trace.stolen(shared, stolen);
}

/// The parts of an interval outside a body, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Parts {
    executed: u64,
    /// What is the run's: the thread executed, or slept.
    ours: u64,
    /// What no thread on this system had.
    by_nobody: u64,
    /// What threads had that are not of the run.
    by_others: u64,
}

impl Parts {
    /// Of an interval of `wall` nanoseconds; `alone`: no other thread of the run can have had the CPU in it.
    const fn of(wall: u64, executed: u64, counted: Waited, alone: bool) -> Self {
        let missing = wall.saturating_sub(executed);
        let waited = if counted.nanos < missing {
            counted.nanos
        } else {
            missing
        };
        let known = wall.saturating_sub(waited);
        // If it lost the CPU at all, what it did not wait for counts as slept.
        let ours = if counted.times > 0 { known } else { executed };
        Self {
            executed,
            ours,
            by_nobody: known.saturating_sub(ours),
            by_others: if alone { waited } else { 0 },
        }
    }

    const fn slept(self) -> u64 {
        self.ours.saturating_sub(self.executed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// The run's part, what no thread had, and what others had, of an interval so long.
    fn parts(wall: u64, executed: u64, (nanos, times): (u64, u64), alone: bool) -> [u64; 3] {
        let parts = Parts::of(wall, executed, Waited { nanos, times }, alone);
        [parts.ours, parts.by_nobody, parts.by_others]
    }

    #[test]
    fn what_a_thread_executed_or_slept_is_the_run_s_and_what_it_waited_is_not() {
        // A busy loop of 60 ms, a sleep of 20 ms, another thread's 30 ms, a hypervisor's 5 ms.
        assert_eq!(parts(60 * MS, 60 * MS, (0, 0), true), [60 * MS, 0, 0]);
        assert_eq!(parts(21 * MS, MS, (0, 1), true), [21 * MS, 0, 0]);
        assert_eq!(parts(31 * MS, MS, (30 * MS, 1), true), [MS, 0, 30 * MS]);
        assert_eq!(parts(6 * MS, MS, (0, 0), true), [MS, 5 * MS, 0]);
        // A busy loop while another thread has the CPU for a part of the time.
        let busy = parts(50 * MS, 20 * MS, (30 * MS, 1), true);
        assert_eq!(busy, [20 * MS, 0, 30 * MS]);
        // That thread may have been one of the run.
        assert_eq!(
            parts(50 * MS, 20 * MS, (30 * MS, 1), false),
            [20 * MS, 0, 0]
        );
        // What no account shows counts as slept, and leaves what was waited for stolen.
        let also_away = parts(9 * MS, 4 * MS, (4 * MS, 1), true);
        assert_eq!(also_away, [5 * MS, 0, 4 * MS]);
    }

    #[test]
    fn an_interval_in_which_the_process_was_stopped_is_no_reaction() {
        let mut reactions = Reactions::default();
        reactions.note(Duty::Manager, (0, 10_000), 10_000);
        reactions.note(Duty::Manager, (50 * MS, 70 * MS), 20 * MS);
        reactions.note(Duty::JobEnd, (0, 2 * MS), 2 * MS);
        let longest = |continued: &[u64]| {
            let each = reactions.of_duties(continued).into_iter();
            each.map(|each| (each.duty, each.count, each.longest.as_nanos()))
                .collect::<Vec<_>>()
        };
        let job_end = (Duty::JobEnd, 1, 2 * MS);
        assert_eq!(longest(&[]), [job_end, (Duty::Manager, 2, 20 * MS)]);
        assert_eq!(longest(&[45 * MS]), [job_end, (Duty::Manager, 2, 20 * MS)]);
        assert_eq!(longest(&[69 * MS]), [job_end, (Duty::Manager, 2, 10_000)]);
    }

    #[test]
    fn what_does_not_fit_into_the_list_counts_all_the_same() {
        let mut reactions = Reactions::default();
        for length in 0..LONG_MAX as u64 + 2 {
            reactions.note(Duty::Idle, (0, 1), (length + 1) * MS);
        }
        let [reaction] = reactions.of_duties(&[])[..] else {
            panic!("one duty");
        };
        assert_eq!(reaction.count, LONG_MAX as u64 + 2);
        assert_eq!(reaction.longest.as_nanos(), (LONG_MAX as u64 + 2) * MS);
    }
}
