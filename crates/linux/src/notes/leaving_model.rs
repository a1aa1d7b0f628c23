//! A model of a worker that leaves its CPU behind its last job, and of a less urgent job there that the end of the run meets. That one says
//! what was stolen from it until then, if no other job of the run had the CPU unnoted: if none is on, and who had one has said that it left
//! ([`Online::has_no_job`]). The judge goes by the order of the notes, so that the other one's has to come first.

use super::{NoteLog, Online, channel, note_and_wait};
use crate::account::{Note, Thread};
use crate::words::JobWord;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const JOB: u64 = 1;
const URGENT: Thread = Thread::Worker(1);

/// The notes of both, told apart by their instants.
const LEFT: Note = Note::Leaves { now: 1 };
const CLAIM: Note = Note::Leaves { now: 2 };

/// What the urgent worker and the other one share.
struct Shared {
    log: Arc<NoteLog>,
    online: Online,
    job: JobWord,
}

/// As a worker does.
fn notes_and_waits(mut shared: &Shared) {
    note_and_wait(
        &mut shared,
        |shared| {
            shared.log.write(LEFT);
        },
        |shared| &shared.online,
        (URGENT, 7),
    );
}

fn has_left(shared: &Shared) -> bool {
    shared.online.has_no_job(URGENT, || shared.job.look().runs)
}

/// The urgent worker has its job, for which it took the CPU from the other one, which looks while that ends; whoever `has_left` has left with
/// `leave`.
fn model(leave: fn(&Shared), has_left: fn(&Shared) -> bool) {
    let has_claimed = Arc::new(AtomicBool::new(false));
    let claimed = Arc::clone(&has_claimed);
    loom::model(move || {
        let (log, mut reader) = channel(2);
        let shared = Arc::new(Shared {
            log,
            online: Online::new(2),
            job: JobWord::default(),
        });
        shared.online.wakes(URGENT);
        shared.job.begin(JOB, 0);
        let urgent = Arc::clone(&shared);
        let urgent = loom::thread::spawn(move || {
            urgent.job.end(JOB);
            leave(&urgent);
        });
        if has_left(&shared) {
            shared.log.write(CLAIM);
            claimed.store(true, Ordering::Relaxed);
        }
        urgent.join().unwrap();
        let extent = reader.extent();
        assert_eq!(reader.next(extent), Some(LEFT), "a claim before it left");
    });
    assert!(has_claimed.load(Ordering::Relaxed), "it never looked late");
}

#[test]
fn who_claims_that_no_other_job_had_the_cpu_does_so_behind_the_note_of_who_left() {
    model(notes_and_waits, has_left);
}

/// What was there before: the job is off, and its thread has said nothing yet.
#[test]
#[should_panic = "a claim before it left"]
fn refuted_who_looks_at_the_job_alone() {
    model(notes_and_waits, |shared| !shared.job.look().runs);
}

#[test]
#[should_panic = "a claim before it left"]
fn refuted_a_word_that_is_written_before_the_note() {
    let waits_and_notes = |shared: &Shared| {
        shared.online.waits(URGENT, 7);
        shared.log.write(LEFT);
    };
    model(waits_and_notes, has_left);
}
