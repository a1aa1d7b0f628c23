//! What it costs that a manager takes the CPU at a zero-slack instant, by the number of threads that it
//! suspends: the micro-benchmark of Huang, Gill and Lu (2014), section 5.2, Fig. 6.
//!
//! As there, every task executes for 2 ms and has a period of 50 ms. Task 0 has the lowest priority and the
//! highest criticality, and Z_0 = 1 ms; the `n` others are less critical and more urgent. A round:
//!
//! ```text
//! release      Z_0 = 1 ms                       task 0 complete          all complete
//!    | task n    | manager: suspend n              | manager: resume n      |
//!    +-----------+===+ task 0 .....................+===+ task n ... task 1 .+   until the next release
//!             (1)(2)(3)
//! ```
//! (1) preemption: from the last instant at which task n read the clock to the first at which the manager
//! did. (2) adjustment: n priorities are lowered, at the end of task 0 raised again. (3) return: from the
//! manager's last look at the clock to task 0's first.
//!
//! Between the first release of a group of fresh threads and its last round everything is the same, so the
//! first adjustment of a group is told apart from the others. No loop is unbounded: whatever
//! happens, a thread leaves the real-time class when its patience ends.

use crate::{measured, system};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::thread;
use vestal_linux::measure::cpu_for;
use vestal_linux::{Rights, RunError};
use vestal_statistics::{Histogram, Summary};
use vestal_sys::Processor;
use vestal_sys::clock::monotonic_nanos;
use vestal_sys::event::sleep_until;
use vestal_sys::sched::enter_real_time;
use vestal_sys::{Tid, futex, sched};

/// What each task executes in a round.
const EXECUTION_NANOS: u64 = 2_000_000;
/// From one release to the next.
const PERIOD_NANOS: u64 = 50_000_000;
/// Z_0, counted from the release.
const ZERO_SLACK_NANOS: u64 = 1_000_000;
/// Threads get so long to set themselves up, and the first release of a group is so far away.
const HEAD_START_NANOS: u64 = 10_000_000;
/// Reading the clock takes less; what is longer was another thread's time.
const OWN_STEP_NANOS: u64 = 1_000;
/// No thread executes or waits for longer in a round, in time of the clock.
const PATIENCE_NANOS: u64 = PERIOD_NANOS;

/// The most threads that can be suspended: with these, all tasks take 42 of 50 ms.
pub const THREADS_MAX: usize = 20;

const SUSPENDED: i32 = 1;
/// Task 0, above suspended threads and below the others.
const LOWEST: i32 = 2;

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Groups of fresh threads: so many first adjustments.
    pub groups: u32,
    /// Rounds of each group.
    pub rounds: u32,
}

/// What was found for one number of threads, in nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct PreemptionCost {
    /// How many threads are suspended and resumed.
    pub threads: usize,
    /// From a running task to the manager.
    pub preemption: Summary,
    /// From the manager back to a task.
    pub back: Summary,
    /// The first adjustment of all priorities in each group.
    pub first: Summary,
    /// All later ones, down and up.
    pub later: Summary,
    /// What each group of fresh threads came to, if it saw all four.
    pub groups: Vec<GroupCost>,
}

/// Medians of the rounds of one group, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupCost {
    /// From a running task to the manager.
    pub preemption: u64,
    /// From the manager back to a task.
    pub back: u64,
    /// The first adjustment.
    pub first: u64,
    /// Later ones.
    pub later: u64,
}

/// Measures a row for each of these numbers of threads, until `stop` is set; rows begun are dropped then.
///
/// A row takes `groups` times `rounds` times 50 ms, and at most 84 % of the CPU.
///
/// # Errors
/// [`RunError`] without the right to SCHED_FIFO, for a number of threads that is 0 or above [`THREADS_MAX`],
/// or if a system call fails.
pub fn measure(
    threads: &[usize],
    effort: Effort,
    cpu: Option<usize>,
    stop: &AtomicBool,
) -> Result<Vec<PreemptionCost>, RunError> {
    if let Some(wrong) = threads.iter().find(|&&n| !(1..=THREADS_MAX).contains(&n)) {
        return Err(RunError::Unsupported(format!(
            "{wrong} threads cannot be suspended here: 1 to {THREADS_MAX} can"
        )));
    }
    let highest = manager_priority(THREADS_MAX).try_into().unwrap_or(u8::MAX);
    let cpu = cpu_for(&Rights::probe(), highest, cpu)?;
    let mut rows = Vec::new();
    for &threads in threads {
        match row(threads, effort, cpu, stop) {
            Ok(Some(row)) => rows.push(row),
            Ok(None) => break,
            Err(source) => return Err(system("measure preemptions")(source)),
        }
    }
    Ok(rows)
}

/// Of the manager, above task 0 and `threads` others.
fn manager_priority(threads: usize) -> i32 {
    priority_of(threads).saturating_add(1)
}

/// Of the task with this number; 0 is the least urgent.
fn priority_of(task: usize) -> i32 {
    LOWEST.saturating_add(i32::try_from(task).unwrap_or(i32::MAX / 2))
}

/// One number of threads; `None` if a stop is requested.
fn row(
    threads: usize,
    effort: Effort,
    cpu: usize,
    stop: &AtomicBool,
) -> io::Result<Option<PreemptionCost>> {
    let mut all = Costs::default();
    let mut groups = Vec::new();
    for _ in 0..effort.groups {
        if stop.load(Ordering::SeqCst) {
            return Ok(None);
        }
        let costs = group(threads, effort.rounds, cpu)?;
        groups.extend(costs.medians());
        all.merge(&costs);
    }
    Ok(Some(PreemptionCost {
        threads,
        preemption: all.preemption.summary(),
        back: all.back.summary(),
        first: all.first.summary(),
        later: all.later.summary(),
        groups,
    }))
}

/// What the manager of a group writes down.
#[derive(Default)]
struct Costs {
    preemption: Histogram,
    back: Histogram,
    first: Histogram,
    later: Histogram,
}

impl Costs {
    /// `None` if something was never seen.
    fn medians(&self) -> Option<GroupCost> {
        let median = |of: &Histogram| {
            let found = of.summary();
            (found.count > 0).then_some(found.median)
        };
        Some(GroupCost {
            preemption: median(&self.preemption)?,
            back: median(&self.back)?,
            first: median(&self.first)?,
            later: median(&self.later)?,
        })
    }

    fn merge(&mut self, other: &Self) {
        self.preemption.merge(&other.preemption);
        self.back.merge(&other.back);
        self.first.merge(&other.first);
        self.later.merge(&other.later);
    }
}

/// What the threads of a group share.
#[derive(Default)]
struct Group {
    cpu: usize,
    rounds: u32,
    /// Task 0 first.
    tids: Vec<AtomicI32>,
    /// How many threads are ready.
    ready: AtomicU32,
    /// When the first jobs are released; 0: not known yet. A word to wait on goes with it.
    epoch: AtomicU64,
    opened: AtomicU32,
    /// When a task read the clock last.
    seen: AtomicU64,
    /// When the manager gave the CPU back, until a task has seen that; 0 otherwise.
    left: AtomicU64,
    /// From `left` to the first look of a task; 0: none looked yet.
    back: AtomicU64,
    /// Rounds that task 0 has completed.
    completed: AtomicU32,
}

/// Fresh threads, `rounds` rounds.
fn group(threads: usize, rounds: u32, cpu: usize) -> io::Result<Costs> {
    let shared = Arc::new(Group {
        cpu,
        rounds,
        tids: (0..=threads).map(|_| AtomicI32::new(0)).collect(),
        ..Group::default()
    });
    let mut tasks = Vec::new();
    for index in 0..=threads {
        let own = Arc::clone(&shared);
        tasks.push(thread::spawn(move || own.task(index)));
    }
    let own = Arc::clone(&shared);
    let manager = thread::spawn(move || own.manager(threads));
    let all = u32::try_from(threads).unwrap_or(u32::MAX).saturating_add(2);
    let patience = monotonic_nanos() + 20 * PERIOD_NANOS;
    while shared.ready.load(Ordering::SeqCst) < all && monotonic_nanos() < patience {
        sleep_until(monotonic_nanos() + HEAD_START_NANOS / 10);
    }
    // A thread that failed to set itself up has ended; the others go through their rounds and end, too.
    shared
        .epoch
        .store(monotonic_nanos() + HEAD_START_NANOS, Ordering::SeqCst);
    shared.opened.store(1, Ordering::SeqCst);
    futex::wake_all(&shared.opened);
    let costs = measured(manager);
    for task in tasks {
        measured(task)?;
    }
    costs
}

impl Group {
    /// Sets itself up and waits, blocked, until all are there.
    fn enter(&self, priority: i32) -> io::Result<u64> {
        let entered = enter_real_time(Processor(self.cpu), priority);
        self.ready.fetch_add(1, Ordering::SeqCst);
        entered?;
        while self.opened.load(Ordering::SeqCst) == 0 {
            futex::wait_until(&self.opened, 0, None);
        }
        Ok(self.epoch.load(Ordering::SeqCst))
    }

    fn release(&self, epoch: u64, round: u32) -> u64 {
        epoch.saturating_add(PERIOD_NANOS.saturating_mul(u64::from(round)))
    }

    /// Releases and runs the jobs of one task.
    fn task(&self, index: usize) -> io::Result<()> {
        if let Some(tid) = self.tids.get(index) {
            tid.store(sched::own_tid(), Ordering::SeqCst);
        }
        let epoch = self.enter(priority_of(index))?;
        for round in 0..self.rounds {
            sleep_until(self.release(epoch, round));
            self.execute();
            if index == 0 {
                self.completed.store(round + 1, Ordering::SeqCst);
                futex::wake_all(&self.completed);
            }
        }
        sched::set_other(sched::own_tid())
    }

    /// Executes, counting only steps that no other thread can have been part of.
    fn execute(&self) {
        let begin = monotonic_nanos();
        let (mut last, mut executed) = (begin, 0);
        while executed < EXECUTION_NANOS && last < begin + PATIENCE_NANOS {
            let now = monotonic_nanos();
            let left = self.left.load(Ordering::Relaxed);
            if left != 0 {
                self.left.store(0, Ordering::Relaxed);
                self.back.store(now.saturating_sub(left), Ordering::Relaxed);
            }
            self.seen.store(now, Ordering::Relaxed);
            executed += now.saturating_sub(last).min(OWN_STEP_NANOS);
            last = now;
        }
    }

    fn manager(&self, threads: usize) -> io::Result<Costs> {
        let mut costs = Costs::default();
        let epoch = self.enter(manager_priority(threads))?;
        for round in 0..self.rounds {
            let release = self.release(epoch, round);
            sleep_until(release.saturating_add(ZERO_SLACK_NANOS));
            let woken = monotonic_nanos();
            let seen = self.seen.load(Ordering::Relaxed);
            // Of this round: otherwise no thread was running.
            if seen > release {
                costs.preemption.record(woken.saturating_sub(seen));
            }
            let adjusted = match round {
                0 => &mut costs.first,
                _ => &mut costs.later,
            };
            adjusted.record(self.adjust(|_| SUSPENDED)?);
            self.back.store(0, Ordering::Relaxed);
            self.left.store(monotonic_nanos(), Ordering::Relaxed);
            self.wait_for_task_0(round, release);
            self.left.store(0, Ordering::Relaxed);
            let back = self.back.load(Ordering::Relaxed);
            if back != 0 {
                costs.back.record(back);
            }
            costs.later.record(self.adjust(priority_of)?);
        }
        sched::set_other(sched::own_tid())?;
        Ok(costs)
    }

    /// Sets the priorities of all tasks but task 0, and says how long that took.
    fn adjust(&self, priority: impl Fn(usize) -> i32) -> io::Result<u64> {
        let before = monotonic_nanos();
        let mut done = Ok(());
        for (index, tid) in self.tids.iter().enumerate().skip(1) {
            let tid: Tid = tid.load(Ordering::Relaxed);
            done = done.and(sched::set_fifo(tid, priority(index)));
        }
        done.map(|()| monotonic_nanos().saturating_sub(before))
    }

    fn wait_for_task_0(&self, round: u32, release: u64) {
        let deadline = release.saturating_add(PATIENCE_NANOS);
        loop {
            let completed = self.completed.load(Ordering::SeqCst);
            if completed > round || monotonic_nanos() >= deadline {
                return;
            }
            futex::wait_until(&self.completed, completed, Some(deadline));
        }
    }
}
