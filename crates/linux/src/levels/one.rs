//! One lock around everything: what managers that wait for nobody are compared with.
//!
//! Who has it goes a whole round, from what happened to what is carried out, and all others wait for that; their words are the same, and
//! whoever comes for the turn finds it free. So nothing but the wait differs.

use std::sync::{Mutex, MutexGuard};

/// Shared by all managers, which wait for it.
#[derive(Debug, Default)]
pub(crate) struct One(Mutex<()>);

/// The lock.
#[derive(Debug)]
pub(crate) struct Alone<'a> {
    _guard: MutexGuard<'a, ()>,
}

impl One {
    /// Waits until no other manager goes a round; gives by how much `clock` went on meanwhile, in nanoseconds. `None`: one has
    /// panicked, and the run ends.
    pub(crate) fn lock(&self, clock: impl Fn() -> u64) -> Option<(Alone<'_>, u64)> {
        if let Ok(guard) = self.0.try_lock() {
            return Some((Alone { _guard: guard }, 0));
        }
        let before = clock();
        let guard = self.0.lock().ok()?;
        let waited = clock().saturating_sub(before);
        Some((Alone { _guard: guard }, waited))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::Turn;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::{Arc, mpsc};
    use std::thread;

    #[test]
    fn whoever_has_the_lock_finds_the_turn_free() {
        let shared = Arc::new((One::default(), Turn::default(), AtomicU64::new(0)));
        let managers = (0..3).map(|_| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let (one, turn, rounds) = &*shared;
                for _ in 0..2_000 {
                    let (alone, _) = one.lock(|| 0).unwrap();
                    assert!(turn.attempt() && turn.let_go());
                    // No increment is lost.
                    let before = rounds.load(Ordering::Relaxed);
                    rounds.store(before + 1, Ordering::Relaxed);
                    drop(alone);
                }
            })
        });
        let managers: Vec<_> = managers.collect();
        for manager in managers {
            manager.join().unwrap();
        }
        assert_eq!(shared.2.load(Ordering::Relaxed), 6_000);
    }

    /// The clock goes on by one with each look.
    #[test]
    fn who_waits_says_how_long_and_nobody_gets_a_lock_whose_holder_panicked() {
        let one = Arc::new(One::default());
        let (alone, waited) = one.lock(|| 7).unwrap();
        assert_eq!(waited, 0);
        let (say, hear) = mpsc::channel();
        let other = Arc::clone(&one);
        let waits = thread::spawn(move || {
            let clock = AtomicU64::new(5);
            let look = || {
                let now = clock.fetch_add(1, Ordering::SeqCst);
                // The first look is before it waits.
                if now == 5 {
                    say.send(()).unwrap();
                }
                now
            };
            other.lock(look).map(|(_, waited)| waited)
        });
        hear.recv().unwrap();
        assert!(!waits.is_finished());
        drop(alone);
        assert_eq!(waits.join().unwrap(), Some(1));
        let other = Arc::clone(&one);
        let panics = thread::spawn(move || {
            let _alone = other.lock(|| 0);
            panic!("as it is told");
        });
        assert!(panics.join().is_err());
        assert!(one.lock(|| 0).is_none());
    }
}
