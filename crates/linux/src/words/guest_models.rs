//! Models of a job of all CPUs that goes from one to another: what its worker remembers goes with it.

use super::claim::{Claim, Offer};
use super::sync::{AtomicU32, Ordering};
use loom::sync::Arc;
use loom::thread;

const JOB: Offer = Offer {
    task: 0,
    generation: 1,
};
const AGAIN: Offer = Offer {
    task: 0,
    generation: 2,
};

/// The claims of two CPUs, what whoever has the job remembers of it, and whether who decides was told that it stopped.
#[derive(Default)]
struct Shared {
    claims: [Claim; 2],
    remembered: AtomicU32,
    stopped: AtomicU32,
}

/// CPU 0 has the job, changes what is remembered of it, and gives it back; who decides offers it to CPU 1 if it finds that.
fn to_another_cpu(give_back: fn(&Shared)) {
    loom::model(move || {
        let shared = Arc::new(Shared::default());
        shared.claims[0].offer(JOB);
        assert_eq!(shared.claims[0].take(), Some(JOB));
        let (first, second) = (Arc::clone(&shared), Arc::clone(&shared));
        let first = thread::spawn(move || give_back(&first));
        let second = thread::spawn(move || {
            if second.claims[1].take().is_none() {
                return;
            }
            let remembered = second.remembered.load(Ordering::Relaxed);
            assert_eq!(remembered, 1, "what is remembered was not put away");
        });
        if shared.claims[0].withdraw().taken.is_none() {
            let stopped = shared.stopped.load(Ordering::Relaxed);
            assert_eq!(stopped, 1, "its stop was not told");
            shared.claims[1].offer(AGAIN);
        }
        first.join().unwrap();
        second.join().unwrap();
    });
}

/// What comes before a claim is given back.
fn put_away(shared: &Shared) {
    shared.remembered.store(1, Ordering::Relaxed);
}

fn tell(shared: &Shared) {
    shared.stopped.store(1, Ordering::Relaxed);
}

#[test]
fn what_is_remembered_of_a_job_is_free_and_new_where_it_goes() {
    to_another_cpu(|shared| {
        put_away(shared);
        tell(shared);
        shared.claims[0].give_back();
    });
}

#[test]
#[should_panic = "what is remembered was not put away"]
fn refuted_giving_back_before_the_memory_is_put_away() {
    to_another_cpu(|shared| {
        tell(shared);
        shared.claims[0].give_back();
        put_away(shared);
    });
}

#[test]
#[should_panic = "its stop was not told"]
fn refuted_giving_back_before_the_stop_is_told() {
    to_another_cpu(|shared| {
        put_away(shared);
        shared.claims[0].give_back();
        tell(shared);
    });
}
