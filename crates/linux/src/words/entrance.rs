//! Who went in where nobody can be called back from.

use super::sync::{AtomicU64, Ordering};

/// In the highest bit; below it stands how many went in.
const CLOSED: u64 = 1 << 63;

/// Counts the threads that go to wait for each other in rounds of a fixed number, until it is closed. Who closes it learns
/// how many are missing in the round that is under way, and nobody goes in after that.
#[derive(Debug, Default)]
pub(crate) struct Entrance(AtomicU64);

impl Entrance {
    /// The thread goes in, if it may; else the entrance was closed.
    pub(crate) fn enter(&self) -> bool {
        // What a closed one counts means nothing: it would need 2^63 threads to open it again.
        self.0.fetch_add(1, Ordering::AcqRel) & CLOSED == 0
    }

    /// Closes it, for good; says how many are missing of a round of `threads`. None if no round is under way, or it
    /// was closed before.
    pub(crate) fn close(&self, threads: u64) -> u64 {
        let before = self.0.fetch_or(CLOSED, Ordering::AcqRel);
        if before & CLOSED != 0 {
            return 0;
        }
        match before.checked_rem(threads) {
            Some(0) | None => 0,
            Some(inside) => threads - inside,
        }
    }

    #[cfg(test)]
    fn inside(&self) -> u64 {
        self.0.load(Ordering::Acquire) & !CLOSED
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    /// Two of three go in while the entrance is closed, by `close`: with those that are missing the rounds are whole.
    fn two_and_the_end(close: fn(&Entrance) -> u64) {
        loom::model(move || {
            let entrance = Arc::new(Entrance::default());
            let walkers = [(); 2].map(|()| {
                let entrance = Arc::clone(&entrance);
                thread::spawn(move || u64::from(entrance.enter()))
            });
            let missing = close(&entrance);
            let inside: u64 = walkers.map(|walker| walker.join().unwrap()).iter().sum();
            assert_eq!((inside + missing) % 3, 0, "{inside} wait for ever");
            assert!(!entrance.enter());
        });
    }

    #[test]
    fn whoever_is_inside_is_completed_to_a_round_and_nobody_follows() {
        two_and_the_end(|entrance| entrance.close(3));
    }

    #[test]
    #[should_panic = "wait for ever"]
    fn refuted_a_look_before_it_is_closed_misses_who_comes_in_between() {
        two_and_the_end(|entrance| {
            let before = entrance.inside();
            entrance.close(3);
            (3 - before % 3) % 3
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn those_that_are_missing_make_the_round_whole() {
        for (inside, missing) in [(0, 0), (1, 2), (2, 1), (3, 0), (4, 2), (300, 0), (301, 2)] {
            let entrance = Entrance::default();
            assert!((0..inside).all(|_| entrance.enter()));
            assert_eq!(entrance.inside(), inside);
            assert_eq!(entrance.close(3), missing, "{inside}");
            assert!(!entrance.enter());
            assert_eq!(entrance.close(3), 0, "a second time");
        }
    }
}
