//! Who of several comes last.

use super::sync::{AtomicU32, Ordering};

/// Counts those that are still to come. The last of them sees what all others wrote before they came.
#[derive(Debug, Default)]
pub(crate) struct Countdown(AtomicU32);

impl Countdown {
    /// So many are to come; to be said when nobody is on its way any more.
    pub(crate) fn set(&self, count: u32) {
        self.0.store(count, Ordering::Release);
    }

    /// One has come; says whether it was the last.
    pub(crate) fn down(&self) -> bool {
        self.0.fetch_sub(1, Ordering::AcqRel) == 1
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    type Down = fn(&Countdown) -> bool;

    fn two_come(down: Down) {
        loom::model(move || {
            let shared = Arc::new((Countdown::default(), AtomicU32::new(0)));
            shared.0.set(2);
            let other = Arc::clone(&shared);
            let comes = |(countdown, word): &(Countdown, AtomicU32), down: Down| {
                word.fetch_add(1, Ordering::Relaxed);
                let is_last = down(countdown);
                if is_last {
                    assert_eq!(word.load(Ordering::Relaxed), 2, "an old word");
                }
                is_last
            };
            let first = thread::spawn(move || comes(&other, down));
            let here = comes(&shared, down);
            let there = first.join().unwrap();
            assert_ne!(here, there, "one is the last");
        });
    }

    #[test]
    fn one_is_the_last_and_sees_what_the_others_wrote() {
        two_come(Countdown::down);
    }

    #[test]
    #[should_panic = "one is the last"]
    fn refuted_a_count_that_is_read_before_it_is_changed_may_have_no_last() {
        two_come(|countdown| {
            let before = countdown.0.load(Ordering::Acquire);
            countdown.0.fetch_sub(1, Ordering::AcqRel);
            before == 1
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_so_many_is_the_last() {
        let countdown = Countdown::default();
        for count in 1..4 {
            countdown.set(count);
            let last: Vec<bool> = (0..count).map(|_| countdown.down()).collect();
            assert!(last.iter().rev().skip(1).all(|is_last| !is_last));
            assert_eq!(last.last(), Some(&true));
        }
    }
}
