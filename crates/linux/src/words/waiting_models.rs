//! Models of a worker whose job waits for events: it is told to go on, its job is dropped, and the run ends, all at once.

use super::{Bell, Letter, Mailbox, Phase, Revoked};
use loom::sync::Arc;
use loom::thread;

/// The only job; the one before it stands for none.
const JOB: u64 = 1;

/// That a job waits, and that it goes on: there is nothing else to say.
#[derive(Clone, Copy, Debug)]
struct Told;

impl Letter<0> for Told {
    fn to_words(self) -> [u64; 0] {
        []
    }
    fn from_words([]: [u64; 0]) -> Self {
        Self
    }
}

/// What a worker, its manager and who ends the run share.
#[derive(Default)]
struct Shared {
    waits: Mailbox<Told, 0>,
    on: Mailbox<Told, 0>,
    changes: Bell,
    phase: Phase,
    revoked: Revoked,
}

/// Lets it go on, having dropped it.
fn drop_job(shared: &Shared) {
    shared.revoked.revoke(JOB);
    go_on(shared);
}

fn go_on(shared: &Shared) {
    shared.on.put(Told);
    shared.changes.ring();
}

fn end(shared: &Shared) {
    shared.phase.end();
    shared.changes.ring();
}

/// Until it goes on, or the run ends.
fn sleep(shared: &Shared) {
    loop {
        let changes = shared.changes.count();
        if shared.on.take().is_some() || shared.phase.is_ending() {
            return;
        }
        shared.changes.wait_beyond(changes, None);
    }
}

/// The same, where there is no other way out of a wait than a call; who `looks_first` reads the count of calls after it has looked.
fn sleep_for_calls(shared: &Shared, looks_first: bool, is_over: fn(&Shared) -> bool) {
    loop {
        let early = looks_first && is_over(shared);
        let changes = shared.changes.count();
        if early || (!looks_first && is_over(shared)) {
            return;
        }
        shared.changes.hang_beyond(changes);
    }
}

fn is_told(shared: &Shared) -> bool {
    shared.on.take().is_some()
}

fn is_ending(shared: &Shared) -> bool {
    shared.phase.is_ending()
}

/// The worker's job waits; its manager, unless the run has ended by then, says with `tell` that it goes on, having dropped it or not,
/// while another thread ends the run if `ends` is given. Of three threads those interleavings are tried in which one of them loses the
/// CPU twice at most where it could go on: all of them are too many.
fn waiting(tell: fn(&Shared), ends: Option<fn(&Shared)>, sleep: fn(&Shared), check: fn(&Shared)) {
    waiting_after(|_| {}, tell, (ends, sleep), check);
}

/// The same after the manager did something `before` it took the wait: before or after it was begun.
fn waiting_after(
    before: fn(&Shared),
    tell: fn(&Shared),
    (ends, sleep): (Option<fn(&Shared)>, fn(&Shared)),
    check: fn(&Shared),
) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = ends.map(|_| 2);
    model.check(move || {
        let shared = Arc::new(Shared::default());
        let other = Arc::clone(&shared);
        let manager = thread::spawn(move || {
            before(&other);
            while other.waits.take().is_none() {
                if other.phase.is_ending() {
                    return;
                }
                thread::yield_now();
            }
            tell(&other);
        });
        let watchdog = ends.map(|ends| {
            let other = Arc::clone(&shared);
            thread::spawn(move || ends(&other))
        });
        shared.waits.put(Told);
        sleep(&shared);
        check(&shared);
        manager.join().unwrap();
        if let Some(watchdog) = watchdog {
            watchdog.join().unwrap();
        }
    });
}

fn knows(shared: &Shared) {
    let knows = shared.revoked.is_revoked(JOB) || shared.phase.is_ending();
    assert!(knows, "goes on unknown");
}

#[test]
fn who_waits_goes_on_when_it_is_told_to_and_nothing_is_left_of_that() {
    waiting(go_on, None, sleep, |shared| {
        assert!(shared.on.take().is_none(), "told twice");
    });
}

#[test]
fn who_was_dropped_while_it_waited_knows_it_when_it_goes_on() {
    waiting(drop_job, None, sleep, knows);
}

#[test]
fn who_waits_is_done_when_the_run_ends_whatever_else_is_said() {
    waiting(go_on, Some(end), sleep, |_| {});
    waiting(drop_job, Some(end), sleep, knows);
}

#[test]
#[should_panic = "goes on unknown"]
fn refuted_who_is_told_to_go_on_before_its_job_is_dropped() {
    let tell = |shared: &Shared| {
        go_on(shared);
        shared.revoked.revoke(JOB);
    };
    waiting(tell, None, sleep, knows);
}

fn revoke(shared: &Shared) {
    shared.revoked.revoke(JOB);
}

/// The manager has dropped the job when it takes the wait, and lets it go on for that: it has nobody else to tell.
#[test]
fn who_was_dropped_before_its_wait_was_taken_goes_on_and_knows_it() {
    let sleep_for_calls: fn(&Shared) = |shared| sleep_for_calls(shared, false, is_told);
    waiting_after(revoke, go_on, (None, sleep_for_calls), knows);
    waiting_after(revoke, go_on, (Some(end), sleep), knows);
}

#[test]
#[should_panic = "Model exceeded maximum number of branches"]
fn refuted_a_manager_that_tells_nothing_to_whom_it_has_dropped_before() {
    let sleep_for_calls: fn(&Shared) = |shared| sleep_for_calls(shared, false, is_told);
    waiting_after(revoke, |_| {}, (None, sleep_for_calls), knows);
}

/// As the two below, but for their faults: their loops hang for these alone.
#[test]
fn who_waits_for_calls_alone_misses_none() {
    let sleeps = |shared: &Shared| sleep_for_calls(shared, false, is_told);
    waiting(go_on, None, sleeps, |_| {});
    let sleeps = |shared: &Shared| sleep_for_calls(shared, false, is_ending);
    waiting(|_| {}, Some(end), sleeps, |_| {});
}

/// The call comes between the look and the reading, and there is no other.
#[test]
#[should_panic = "Model exceeded maximum number of branches"]
fn refuted_a_worker_that_looks_before_it_reads_the_count() {
    let looks_first = |shared: &Shared| sleep_for_calls(shared, true, is_told);
    waiting(go_on, None, looks_first, |_| {});
}

#[test]
#[should_panic = "Model exceeded maximum number of branches"]
fn refuted_an_end_that_calls_before_it_says_so() {
    let ends: fn(&Shared) = |shared| {
        shared.changes.ring();
        shared.phase.end();
    };
    // The manager says nothing.
    let sleeps = |shared: &Shared| sleep_for_calls(shared, false, is_ending);
    waiting(|_| {}, Some(ends), sleeps, |_| {});
}
