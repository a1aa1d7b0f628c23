//! The few words about a CPU that somebody reads while the run goes on. All else is in the notes.
//!
//! | word | written by | read by | says |
//! |---|---|---|---|
//! | `burning` | a burning job; reset by whoever takes the CPU from it or takes its priority | whoever gets the CPU | when the job looked at the clock last |
//! | `called` | whoever calls the manager; reset by the manager | the manager | since when it is wanted |
//! | `active`, `last_end` | workers, and the manager when it takes a priority | a worker whose job begins | whether a busy period seems to begin: then it reads the CPU clocks |
//! | `earliest_due`, [`TaskOnline::due`] | workers; whoever looks at a late job | whoever gets the CPU | whether a job is late that nobody has looked at |
//! | `waiting` | each thread its own | who reads the CPU clocks; a job that the end of the run meets | the clock of a thread that waits, which needs no system call; whether it has said so |
//! | `stolen_by_threads` | the gatherer | the thread that started the run | whether there is a thief to look for |
//! | [`TaskOnline::has_priority`] | the worker; the manager that takes the priority | both | who of them notes that the job has lost its place |
//!
//! Nothing is decided about a job by them, but for what they say when somebody looks. The judge decides in the order of
//! the notes: a word that was right a moment ago makes a reading of clocks too many or too few, which the judge knows
//! to deal with, and no verdict.

use crate::account::Thread;
use crate::words::Latest;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// In [`Online::waiting`]: the thread has the CPU, or wants it.
const AWAKE: u64 = u64::MAX;

const NOT_DUE: u64 = u64::MAX;

/// The words of one CPU.
#[derive(Debug)]
pub(crate) struct Online {
    /// 0: none burns. Relaxed: a clock reading that stands for itself.
    burning: AtomicU64,
    /// 0: nobody has called since the manager looked. Relaxed, as above.
    called: AtomicU64,
    /// How many jobs have begun and have their priorities. Never below zero: who adds one is the worker of the
    /// task, and who takes one away has cleared [`TaskOnline::has_priority`].
    active: AtomicU64,
    /// When the last of them ended. Never falls.
    last_end: AtomicU64,
    /// Until then no job is late that no thread has looked at. Never later than the earliest [`TaskOnline::due`],
    /// but for a moment in which a thread looks at all of them.
    earliest_due: AtomicU64,
    /// By [`Thread::index`]; [`AWAKE`]. A thread that waits has executed, and noted, all that it says.
    waiting: Box<[Latest<u64>]>,
    /// Never falls. Relaxed: a number that stands for itself.
    stolen_by_threads: AtomicU64,
}

impl Online {
    pub(crate) fn new(tasks: usize) -> Self {
        let threads = Thread::count(tasks);
        Self {
            burning: AtomicU64::new(0),
            called: AtomicU64::new(0),
            active: AtomicU64::new(0),
            last_end: AtomicU64::new(0),
            earliest_due: AtomicU64::new(NOT_DUE),
            waiting: (0..threads).map(|_| Latest::default()).collect(),
            stolen_by_threads: AtomicU64::new(0),
        }
    }

    /// A burning job looks at the clock.
    pub(crate) fn burns(&self, now: u64) {
        self.burning.store(now, Ordering::Relaxed);
    }

    /// No job burns any more, or the one that did loses its priority and will not look any more. Gives when it
    /// looked last; 0: none burned.
    pub(crate) fn burns_no_more(&self) -> u64 {
        self.burning.swap(0, Ordering::Relaxed)
    }

    /// A thread calls the manager.
    pub(crate) fn call(&self, now: u64) {
        let _ = self
            .called
            .compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Since when the manager, which wakes at `now` and would have done so at `until` by itself, is wanted.
    pub(crate) fn wanted_since(&self, until: u64, now: u64) -> u64 {
        match self.called.swap(0, Ordering::Relaxed) {
            0 => until.min(now),
            called => called.min(until).min(now),
        }
    }

    /// A job released at `release` begins; says whether a busy period seems to begin with it.
    pub(crate) fn begins(&self, release: u64) -> bool {
        self.active.fetch_add(1, Ordering::AcqRel) == 0
            && release >= self.last_end.load(Ordering::Acquire)
    }

    /// A job that began has ended, or lost its priority, at `now`.
    pub(crate) fn leaves(&self, now: u64) {
        self.last_end.fetch_max(now, Ordering::AcqRel);
        self.active.fetch_sub(1, Ordering::AcqRel);
    }

    /// `thread` has the CPU, or wants it.
    pub(crate) fn wakes(&self, thread: Thread) {
        self.set_waiting(thread, AWAKE);
    }

    /// `thread` is about to wait, or to leave, with so much on its CPU clock.
    pub(crate) fn waits(&self, thread: Thread, cpu: u64) {
        self.set_waiting(thread, cpu);
    }

    /// Whether `thread` has no job on the CPU: it waits, or has left, or never came, and none `runs`.
    pub(crate) fn has_no_job(&self, thread: Thread, runs: impl FnOnce() -> bool) -> bool {
        self.is_waiting(thread) && !runs()
    }

    /// Whether `thread` waits, or has left, or never came.
    pub(crate) fn is_waiting(&self, thread: Thread) -> bool {
        let word = self.waiting.get(thread.index());
        word.is_none_or(|word| word.get() != AWAKE)
    }

    fn set_waiting(&self, thread: Thread, value: u64) {
        if let Some(word) = self.waiting.get(thread.index()) {
            word.set(value);
        }
    }

    /// The CPU clock of each thread that waits, in the order of [`Thread::index`]; none of those that do not.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = Option<u64>> {
        let words = self.waiting.iter().map(Latest::get);
        words.map(|word| (word != AWAKE).then_some(word))
    }

    /// A job begins that is due then.
    pub(crate) fn note_due(&self, task: &TaskOnline, due: u64) {
        task.due.store(due, Ordering::SeqCst);
        self.earliest_due.fetch_min(due, Ordering::SeqCst);
    }

    /// Looks at the jobs of `tasks` that are late at `now`; `looks` says of a task whether it looked at the job, with
    /// its deadline. O(1) where none is late.
    pub(crate) fn look_at_late<'a, T: 'a>(
        &self,
        now: u64,
        tasks: impl Iterator<Item = (&'a TaskOnline, T)>,
        mut looks: impl FnMut(T, u64) -> bool,
    ) {
        if now <= self.earliest_due.load(Ordering::SeqCst) {
            return;
        }
        // Those that begin meanwhile put theirs in again.
        self.earliest_due.store(NOT_DUE, Ordering::SeqCst);
        for (task, facts) in tasks {
            let due = task.due.load(Ordering::SeqCst);
            if due >= now || !looks(facts, due) {
                self.earliest_due.fetch_min(due, Ordering::SeqCst);
            }
        }
    }

    /// What the judge has found to be stolen by threads until now, in nanoseconds.
    pub(crate) fn stolen_by_threads(&self) -> u64 {
        self.stolen_by_threads.load(Ordering::Relaxed)
    }

    /// The judge has found so much.
    pub(crate) fn note_stolen_by_threads(&self, nanos: u64) {
        self.stolen_by_threads.store(nanos, Ordering::Relaxed);
    }
}

/// Of `who` writes notes: it `notes` that it is about to wait, and then the word says so. Who sees that it waits sees the note.
pub(crate) fn note_and_wait<W>(
    who: &mut W,
    notes: impl FnOnce(&mut W),
    online: impl FnOnce(&W) -> &Online,
    (thread, cpu): (Thread, u64),
) {
    notes(who);
    online(who).waits(thread, cpu);
}

/// The words of one task.
#[derive(Debug)]
pub(crate) struct TaskOnline {
    /// The deadline of the present job, until a thread has looked at it after that; [`NOT_DUE`].
    due: AtomicU64,
    /// SeqCst, with the words of [`crate::cpu`]: a worker sets this and then reads whether its job has lost its priority,
    /// the manager takes the priority and then reads this.
    has_priority: AtomicBool,
}

impl Default for TaskOnline {
    fn default() -> Self {
        Self {
            due: AtomicU64::new(NOT_DUE),
            has_priority: AtomicBool::new(false),
        }
    }
}

impl TaskOnline {
    /// A job of the task begins at its priority.
    pub(crate) fn gets_priority(&self) {
        self.has_priority.store(true, Ordering::SeqCst);
    }

    pub(crate) fn has_priority(&self) -> bool {
        self.has_priority.load(Ordering::SeqCst)
    }

    /// The job ends or loses its priority; says whether it had it until now.
    pub(crate) fn leaves_priority(&self) -> bool {
        self.has_priority.swap(false, Ordering::SeqCst)
    }

    /// Nobody is to look at the job any more; says whether somebody was.
    pub(crate) fn is_not_due(&self) -> bool {
        self.due.swap(NOT_DUE, Ordering::SeqCst) != NOT_DUE
    }

    /// Claims the look at the job that is due then; says whether nobody else had.
    pub(crate) fn claim_look(&self, due: u64) -> bool {
        self.due
            .compare_exchange(due, NOT_DUE, Ordering::SeqCst, Ordering::SeqCst)
            .is_ok()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn calls_are_remembered_from_the_first() {
        let online = Online::new(0);
        assert_eq!(online.wanted_since(5 * MS, 3 * MS), 3 * MS);
        online.call(2 * MS);
        online.call(4 * MS);
        assert_eq!(online.wanted_since(5 * MS, 6 * MS), 2 * MS);
        assert_eq!(online.wanted_since(5 * MS, 6 * MS), 5 * MS);
    }

    #[test]
    fn a_busy_period_seems_to_begin_with_a_job_that_finds_none_active_and_none_before_it() {
        let online = Online::new(2);
        assert!(online.begins(10));
        assert!(!online.begins(12), "one is active");
        online.leaves(20);
        online.leaves(30);
        assert!(!online.begins(29), "it waited for the last one");
        online.leaves(40);
        assert!(online.begins(40));
    }

    #[test]
    fn a_look_is_at_late_jobs_alone_and_those_that_are_not_looked_at_stay() {
        let (online, tasks) = (
            Online::new(2),
            [TaskOnline::default(), TaskOnline::default()],
        );
        online.note_due(&tasks[0], 50);
        online.note_due(&tasks[1], 60);
        let look = |now, claims: bool| {
            let mut seen = Vec::new();
            online.look_at_late(now, tasks.iter().zip(&tasks), |task, due| {
                seen.push(due);
                claims && task.claim_look(due)
            });
            seen
        };
        assert_eq!(look(50, true), [0; 0], "due now, and not late");
        assert_eq!(look(55, false), [50]);
        assert_eq!(look(61, true), [50, 60], "it was not looked at");
        assert_eq!(look(90, true), [0; 0], "the first look counts");
        online.note_due(&tasks[1], 160);
        assert_eq!(look(161, true), [160], "the next job");
    }

    #[test]
    fn a_thread_that_waits_has_a_clock_that_stands() {
        let online = Online::new(1);
        online.waits(Thread::Worker(0), 7);
        online.wakes(Thread::Idle);
        let waiting: Vec<_> = online.waiting().collect();
        let (manager, checker) = (Some(0), Some(0));
        let [watchdog, dispatcher, scheduler, of_frames, top_half] = [Some(0); 5];
        let expected = [
            manager,
            None,
            watchdog,
            dispatcher,
            scheduler,
            of_frames,
            top_half,
            Some(7),
            checker,
        ];
        assert_eq!(waiting, expected);
    }
}
