//! What one CPU shall run of what all CPUs have in common, and what it has taken of that.
//!
//! ```text
//!                 offer               take                give_back
//!   nothing ----------------> wanted --------> wanted, -----------------> nothing
//!      ^                        |              taken
//!      |        withdraw        |                |  withdraw, or another offer
//!      +------------------------+                v
//!      +----------------------------- taken, and nothing or another wanted
//!                give_back
//! ```
//! Who decides for all changes what is wanted, the CPU what it has taken, and both change one word: so whoever withdraws an
//! offer knows whether it had been taken, and what was not taken can be offered elsewhere. An offer is good for once: with what was
//! taken goes back what was wanted, if that is the same.

use super::sync::{AtomicU64, Ordering};

/// A job that is offered: by the number of its task, and how often one of that was offered before, some bits of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Offer {
    /// Any but the largest, which no set of tasks reaches.
    pub(crate) task: u16,
    pub(crate) generation: u16,
}

/// In the place of a task: none.
const NONE: u16 = u16::MAX;
const NOTHING: u64 = (NONE as u64) << 48 | (NONE as u64) << 16;

/// Both sides at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Claimed {
    pub(crate) wanted: Option<Offer>,
    pub(crate) taken: Option<Offer>,
}

impl Claimed {
    const fn bits(self) -> u64 {
        const fn of(offer: Option<Offer>) -> u64 {
            match offer {
                Some(offer) => {
                    debug_assert!(offer.task != NONE, "the number of no task");
                    (offer.task as u64) << 16 | offer.generation as u64
                }
                None => (NONE as u64) << 16,
            }
        }
        of(self.wanted) << 32 | of(self.taken)
    }

    fn from_bits(bits: u64) -> Self {
        let [t0, t1, g0, g1, u0, u1, h0, h1] = bits.to_be_bytes();
        let of = |task, generation| {
            let (task, generation) = (u16::from_be_bytes(task), u16::from_be_bytes(generation));
            (task != NONE).then_some(Offer { task, generation })
        };
        Self {
            wanted: of([t0, t1], [g0, g1]),
            taken: of([u0, u1], [h0, h1]),
        }
    }

    /// Whether it has what it shall have.
    pub(crate) fn is_settled(self) -> bool {
        self.wanted == self.taken
    }
}

/// The claim of one CPU.
#[derive(Debug)]
pub(crate) struct Claim(AtomicU64);

impl Default for Claim {
    fn default() -> Self {
        Self(AtomicU64::new(NOTHING))
    }
}

impl Claim {
    pub(crate) fn look(&self) -> Claimed {
        Claimed::from_bits(self.0.load(Ordering::Acquire))
    }

    /// From now on the CPU shall have `offer`, and nothing else; gives what it had until then. By who decides.
    pub(crate) fn offer(&self, offer: Offer) -> Claimed {
        self.want(Some(offer))
    }

    /// From now on the CPU shall have nothing; gives what it had until then: what it had not taken it will not take. By who decides.
    pub(crate) fn withdraw(&self) -> Claimed {
        self.want(None)
    }

    /// The CPU is to go on with what it has taken by this offer, whatever it was told since; says whether it has that still. By who
    /// decides.
    pub(crate) fn keep(&self, offer: Offer) -> bool {
        let (wanted, taken) = (Some(offer), Some(offer));
        self.turn(|before| (before.taken == taken).then_some(Claimed { wanted, taken }))
            .1
    }

    fn want(&self, wanted: Option<Offer>) -> Claimed {
        self.turn(|before| Some(Claimed { wanted, ..before })).0
    }

    /// Takes what is wanted, if there is something and nothing is taken; gives that. By the CPU.
    pub(crate) fn take(&self) -> Option<Offer> {
        let (before, changed) = self.turn(|before| {
            let is_free = before.taken.is_none() && before.wanted.is_some();
            is_free.then_some(Claimed {
                taken: before.wanted,
                ..before
            })
        });
        before.wanted.filter(|_| changed)
    }

    /// Gives back what was taken, when who decides has been told that it stopped; the same is not wanted any more. Gives what is. By
    /// the CPU.
    pub(crate) fn give_back(&self) -> Option<Offer> {
        let after = |before: Claimed| Claimed {
            wanted: before.wanted.filter(|_| before.wanted != before.taken),
            taken: None,
        };
        after(self.turn(|before| Some(after(before))).0).wanted
    }

    /// Changes the word as `next` says, if it does; gives what it was, and whether it was changed.
    fn turn(&self, next: impl Fn(Claimed) -> Option<Claimed>) -> (Claimed, bool) {
        let mut present = self.0.load(Ordering::Acquire);
        loop {
            let before = Claimed::from_bits(present);
            let Some(next) = next(before) else {
                return (before, false);
            };
            let turned =
                self.0
                    .compare_exchange(present, next.bits(), Ordering::AcqRel, Ordering::Acquire);
            match turned {
                Ok(_) => return (before, true),
                // The other side has changed its half: once for each of its steps.
                Err(newer) => present = newer,
            }
        }
    }
}

/// What goes with an offer: written before it is made, and read when it was taken.
#[derive(Debug, Default)]
pub(crate) struct Grant {
    sequence: AtomicU64,
    remaining: AtomicU64,
}

impl Grant {
    /// The job, and what is left of its budget, in nanoseconds. By who decides, while it is neither wanted nor taken.
    pub(crate) fn write(&self, sequence: u64, remaining: u64) {
        self.sequence.store(sequence, Ordering::Relaxed);
        self.remaining.store(remaining, Ordering::Relaxed);
    }

    /// By who took it.
    pub(crate) fn read(&self) -> (u64, u64) {
        let (sequence, remaining) = (&self.sequence, &self.remaining);
        (
            sequence.load(Ordering::Relaxed),
            remaining.load(Ordering::Relaxed),
        )
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::sync::Arc;
    use loom::sync::atomic::AtomicU32;
    use loom::thread;

    const JOB: Offer = Offer {
        task: 3,
        generation: 1,
    };

    #[derive(Default)]
    struct Shared {
        claims: [Claim; 2],
        grant: Grant,
        /// How many have the job.
        running: AtomicU32,
        /// For a refuted variant.
        taken: AtomicU32,
    }

    fn run(shared: &Shared) {
        let before = shared.running.fetch_add(1, Ordering::Relaxed);
        assert_eq!(before, 0, "given away twice");
    }

    /// Whoever decides offers a job to CPU 0, withdraws it, and offers it to CPU 1 if it was not taken; both look once.
    fn given_to_one_and_then_the_other(
        withdraw: fn(&Shared) -> bool,
        take: fn(&Shared, usize) -> bool,
    ) {
        loom::model(move || {
            let shared = Arc::new(Shared::default());
            shared.claims[0].offer(JOB);
            let other = Arc::clone(&shared);
            let thread = thread::spawn(move || {
                let takes = take(&other, 0);
                if takes {
                    run(&other);
                }
                takes
            });
            let goes_on = withdraw(&shared);
            if goes_on {
                shared.claims[1].offer(JOB);
                assert!(take(&shared, 1));
                run(&shared);
            }
            assert!(thread.join().unwrap() || goes_on, "lost");
        });
    }

    fn takes(shared: &Shared, cpu: usize) -> bool {
        shared.claims[cpu].take().is_some()
    }

    #[test]
    fn a_job_is_given_to_one_at_a_time_and_not_lost() {
        given_to_one_and_then_the_other(
            |shared| shared.claims[0].withdraw().taken.is_none(),
            takes,
        );
    }

    #[test]
    #[should_panic = "given away twice"]
    fn refuted_withdrawing_by_a_look_and_a_store() {
        given_to_one_and_then_the_other(
            |shared| {
                let not_taken = shared.claims[0].look().taken.is_none();
                shared.claims[0].0.store(NOTHING, Ordering::SeqCst);
                not_taken
            },
            takes,
        );
    }

    #[test]
    #[should_panic = "given away twice"]
    fn refuted_taking_by_a_look_and_a_store() {
        given_to_one_and_then_the_other(
            |shared| shared.claims[0].withdraw().taken.is_none(),
            |shared, cpu| {
                let claim = &shared.claims[cpu];
                let Some(wanted) = claim.look().wanted else {
                    return false;
                };
                let (wanted, taken) = (Some(wanted), Some(wanted));
                let both = Claimed { wanted, taken };
                claim.0.store(both.bits(), Ordering::SeqCst);
                true
            },
        );
    }

    /// Each side writes its own word and reads the other's. Under sequential consistency nobody gives it away twice, but both
    /// may step back: the pair is wrong either way.
    #[test]
    #[should_panic = "given away twice"]
    fn refuted_what_is_wanted_and_what_is_taken_in_two_words() {
        given_to_one_and_then_the_other(
            |shared| {
                shared.claims[0].0.store(NOTHING, Ordering::SeqCst);
                shared.taken.load(Ordering::SeqCst) == 0
            },
            |shared, cpu| {
                if cpu == 1 {
                    return takes(shared, cpu);
                }
                shared.taken.store(1, Ordering::SeqCst);
                let is_wanted = shared.claims[0].look().wanted.is_some();
                if !is_wanted {
                    shared.taken.store(0, Ordering::SeqCst);
                }
                is_wanted
            },
        );
    }

    /// The CPU gives back what it took, while it is told to have it no more, or it is wanted again by mistake.
    #[test]
    fn what_was_given_back_is_not_taken_again() {
        loom::model(|| {
            let claim = Arc::new(Claim::default());
            claim.offer(JOB);
            assert_eq!(claim.take(), Some(JOB));
            let other = Arc::clone(&claim);
            let thread = thread::spawn(move || {
                assert_eq!(other.give_back(), None);
                assert_eq!(other.take(), None, "taken again");
            });
            let before = claim.withdraw();
            assert!(before.taken == before.wanted || before.taken.is_none());
            thread.join().unwrap();
            let (wanted, taken) = (None, None);
            assert_eq!(claim.look(), Claimed { wanted, taken });
        });
    }

    /// It is to stop, and then to go on, while it stops.
    #[test]
    fn what_is_kept_is_taken_still_or_not_wanted() {
        loom::model(|| {
            let claim = Arc::new(Claim::default());
            claim.offer(JOB);
            assert_eq!(claim.take(), Some(JOB));
            claim.withdraw();
            let other = Arc::clone(&claim);
            let thread = thread::spawn(move || {
                other.give_back();
                assert_eq!(other.take(), None, "taken again");
            });
            let kept = claim.keep(JOB);
            thread.join().unwrap();
            assert!(!claim.keep(JOB), "kept before: {kept}");
            let (wanted, taken) = (None, None);
            assert_eq!(claim.look(), Claimed { wanted, taken });
        });
    }

    fn granted(write: fn(&Shared)) {
        loom::model(move || {
            let shared = Arc::new(Shared::default());
            let other = Arc::clone(&shared);
            let thread = thread::spawn(move || {
                if other.claims[0].take().is_some() {
                    let (sequence, remaining) = other.grant.read();
                    assert_eq!(remaining, 10 * sequence, "torn");
                    assert_ne!(sequence, 0, "torn");
                }
            });
            write(&shared);
            thread.join().unwrap();
        });
    }

    #[test]
    fn a_grant_is_read_whole() {
        granted(|shared| {
            shared.grant.write(7, 70);
            shared.claims[0].offer(JOB);
        });
    }

    #[test]
    #[should_panic = "torn"]
    fn refuted_a_grant_that_is_written_again_while_its_job_is_wanted() {
        granted(|shared| {
            shared.grant.write(7, 70);
            shared.claims[0].offer(JOB);
            shared.grant.write(8, 80);
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn offer(task: u16, generation: u16) -> Offer {
        Offer { task, generation }
    }

    #[test]
    fn a_word_holds_both_sides() {
        let each = [
            None,
            Some(offer(0, 0)),
            Some(offer(7, u16::MAX)),
            Some(offer(NONE - 1, 3)),
        ];
        for wanted in each {
            for taken in each {
                let claimed = Claimed { wanted, taken };
                assert_eq!(Claimed::from_bits(claimed.bits()), claimed);
                assert_eq!(claimed.is_settled(), wanted == taken);
            }
        }
        let (wanted, taken) = (None, None);
        assert_eq!(Claim::default().look(), Claimed { wanted, taken });
    }

    #[test]
    fn a_grant_holds_what_was_written_last() {
        let grant = Grant::default();
        for (sequence, remaining) in [(0, 0), (7, u64::MAX), (u64::MAX, 1)] {
            grant.write(sequence, remaining);
            assert_eq!(grant.read(), (sequence, remaining));
        }
    }

    #[test]
    fn an_offer_is_taken_once_and_another_one_when_that_was_given_back() {
        let claim = Claim::default();
        let (first, second) = (offer(1, 1), offer(2, 1));
        assert_eq!(claim.take(), None);
        claim.offer(first);
        assert_eq!((claim.take(), claim.take()), (Some(first), None));
        let (wanted, taken) = (Some(first), Some(first));
        assert_eq!(claim.offer(second), Claimed { wanted, taken });
        assert!(!claim.look().is_settled());
        assert_eq!(claim.take(), None, "it has the first still");
        assert_eq!(claim.give_back(), Some(second));
        assert_eq!((claim.take(), claim.give_back()), (Some(second), None));
        assert_eq!(claim.take(), None, "an offer is good for once");
        // What was to stop may go on, until it is given back.
        let third = offer(1, 2);
        claim.offer(third);
        assert_eq!(claim.take(), Some(third));
        claim.withdraw();
        assert!(!claim.keep(first) && claim.keep(third) && claim.look().is_settled());
        assert_eq!(claim.give_back(), None);
        assert!(!claim.keep(third));
        // A withdrawn one is not taken.
        claim.offer(first);
        let (wanted, taken) = (Some(first), None);
        assert_eq!(claim.withdraw(), Claimed { wanted, taken });
        assert_eq!(claim.take(), None);
    }
}
