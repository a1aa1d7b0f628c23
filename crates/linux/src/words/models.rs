//! Models of several cells together.

use super::{Allowance, AllowanceWord, JobWord, Revoked};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use loom::thread;

/// The only job; the one before it stands for none.
const JOB: u64 = 1;

/// What a worker and its manager share.
#[derive(Default)]
struct Shared {
    job: JobWord,
    revoked: Revoked,
    /// Whether the thread was taken out of its class, as the kernel would know it.
    lowered: AtomicBool,
    asks: AtomicBool,
}

/// A worker runs its job while the manager demotes it, and asks for its priority if it was demoted: then
/// the manager, if it demoted it, waits for that and restores it.
fn job_against_revoke(demote: fn(&Shared) -> bool, end: fn(&Shared) -> bool) {
    loom::model(move || {
        let shared = Arc::new(Shared::default());
        let other = Arc::clone(&shared);
        let manager = thread::spawn(move || {
            other.revoked.revoke(JOB);
            let begun = other.job.look();
            let demoted = begun.runs && demote(&other);
            if demoted {
                other.lowered.store(true, Ordering::Relaxed);
                // A worker that does not ask for its priority hangs this.
                while !other.asks.load(Ordering::Acquire) {
                    thread::yield_now();
                }
                other.lowered.store(false, Ordering::Relaxed);
            }
            begun.number == JOB
        });
        shared.job.begin(JOB, 0);
        let known_to_the_worker = shared.revoked.is_revoked(JOB);
        let demoted = end(&shared);
        shared.asks.store(demoted, Ordering::Release);
        let known_to_the_manager = manager.join().unwrap();
        assert!(known_to_the_worker || known_to_the_manager, "runs unknown");
        assert!(!shared.lowered.load(Ordering::Relaxed));
        assert!(!shared.job.end(JOB), "demoted twice");
    });
}

#[test]
fn a_job_is_demoted_once_returns_once_and_never_runs_unknown() {
    job_against_revoke(
        |shared| shared.job.demote(JOB),
        |shared| shared.job.end(JOB),
    );
}

/// What the manager did before: where it had seen a job that runs, it set a word of its own, which the worker
/// swapped after the job's end. On two CPUs the job can end in between, and its worker stays demoted.
#[test]
#[should_panic = "Model exceeded maximum number of branches"]
fn refuted_a_demotion_that_does_not_look_whether_the_job_runs() {
    job_against_revoke(
        // The word stands for that of its own: it does not depend on the other one.
        |shared| {
            shared.lowered.store(true, Ordering::SeqCst);
            true
        },
        |shared| {
            shared.job.end(JOB);
            shared.lowered.swap(false, Ordering::SeqCst)
        },
    );
}

/// The pair of words that was there before: each side writes its own, and then reads the other's. It is
/// right under sequential consistency, and only there: loom takes such accesses for Acquire and Release.
#[test]
#[should_panic = "runs unknown"]
fn refuted_each_side_writes_its_own_word_and_reads_the_other_s() {
    loom::model(|| {
        let words = Arc::new((AtomicU64::new(0), AtomicU64::new(0)));
        let other = Arc::clone(&words);
        let manager = thread::spawn(move || {
            let (state, revoked) = &*other;
            revoked.store(JOB + 1, Ordering::SeqCst);
            state.load(Ordering::SeqCst) == JOB
        });
        let (state, revoked) = &*words;
        state.store(JOB, Ordering::SeqCst);
        let known_to_the_worker = revoked.load(Ordering::SeqCst) > JOB;
        let known_to_the_manager = manager.join().unwrap();
        assert!(known_to_the_worker || known_to_the_manager, "runs unknown");
    });
}

/// A worker begins a job and arms its monitor, while the manager lowers the allowance. Allowances are written as
/// the monitor's own number: the monitor must stand at the lower one.
fn arming_against_lowering(arm: fn(&AllowanceWord, &AtomicU64)) {
    const LOWER: u64 = 3;
    loom::model(move || {
        let shared = Arc::new((
            JobWord::default(),
            AllowanceWord::new(Allowance::UpTo(9)),
            AtomicU64::new(0),
        ));
        let other = Arc::clone(&shared);
        let manager = thread::spawn(move || {
            let (job, allowance, monitor) = &*other;
            allowance.set(Allowance::UpTo(LOWER));
            if job.look().runs {
                monitor.store(LOWER, Ordering::Relaxed);
            }
        });
        let (job, allowance, monitor) = &*shared;
        job.begin(JOB, 0);
        arm(allowance, monitor);
        manager.join().unwrap();
        let armed = monitor.load(Ordering::Relaxed);
        assert_eq!(armed, LOWER, "armed with what it was before");
    });
}

/// Sets the monitor, as the kernel would.
fn start(monitor: &AtomicU64, allowance: Allowance) {
    let Allowance::UpTo(nanos) = allowance else {
        panic!("it has a limit");
    };
    monitor.store(nanos, Ordering::Relaxed);
}

fn arm_and_read_again(allowance: &AllowanceWord, monitor: &AtomicU64) {
    let first = allowance.get();
    start(monitor, first);
    let again = allowance.again();
    if again != first {
        start(monitor, again);
    }
}

#[test]
fn a_monitor_stands_at_the_allowance_that_was_set_last() {
    arming_against_lowering(arm_and_read_again);
}

/// What the worker did before: it read the allowance, armed, and never looked again. The manager lowers the allowance
/// in between and arms, and then the worker arms with what it had read.
#[test]
#[should_panic = "armed with what it was before"]
fn refuted_a_worker_that_does_not_read_again_after_arming() {
    arming_against_lowering(|allowance, monitor| start(monitor, allowance.get()));
}

#[test]
#[should_panic = "armed with what it was before"]
fn refuted_a_worker_that_reads_again_with_a_load() {
    arming_against_lowering(|allowance, monitor| {
        let first = allowance.get();
        start(monitor, first);
        let again = allowance.get();
        if again != first {
            start(monitor, again);
        }
    });
}

/// A job that has taken the CPU from another one pauses the monitor of that, ends, and resumes it, while the manager lowers
/// the allowance of the preempted job, and arms its monitor if it sees none above it: it must stand at the lower one.
fn resuming_against_lowering(ends_first: bool, arm: fn(&AllowanceWord, &AtomicU64)) {
    const LOWER: u64 = 3;
    const STOPPED: u64 = 0;
    loom::model(move || {
        let shared = Arc::new((
            JobWord::default(),
            AllowanceWord::new(Allowance::UpTo(9)),
            AtomicU64::new(9),
        ));
        let other = Arc::clone(&shared);
        let (above, allowance, monitor) = &*shared;
        above.begin(JOB, 0);
        let manager = thread::spawn(move || {
            let (above, allowance, monitor) = &*other;
            allowance.set(Allowance::UpTo(LOWER));
            if !above.look().runs {
                monitor.store(LOWER, Ordering::Relaxed);
            }
        });
        monitor.store(STOPPED, Ordering::Relaxed);
        if ends_first {
            above.end(JOB);
        }
        arm(allowance, monitor);
        if !ends_first {
            above.end(JOB);
        }
        manager.join().unwrap();
        let armed = monitor.load(Ordering::Relaxed);
        assert_eq!(armed, LOWER, "resumed with what it was before");
    });
}

#[test]
fn a_resumed_monitor_stands_at_the_allowance_that_was_set_last() {
    resuming_against_lowering(true, arm_and_read_again);
}

#[test]
#[should_panic = "resumed with what it was before"]
fn refuted_who_resumes_a_monitor_and_does_not_read_again() {
    resuming_against_lowering(true, |allowance, monitor| start(monitor, allowance.get()));
}

/// The manager leaves the monitor to a job that still runs, which has resumed it with what it read before.
#[test]
#[should_panic = "resumed with what it was before"]
fn refuted_who_resumes_a_monitor_before_its_own_job_is_off() {
    resuming_against_lowering(false, arm_and_read_again);
}
