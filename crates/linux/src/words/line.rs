//! Whether a device wants its bottom half: between the thread that waits for devices and the manager.
//!
//! ```text
//!           raise (top half)             take (manager)            calm (manager)
//!   quiet -------------------> raised ------------------> told --------------------> quiet
//! ```
//! The device is unmasked after the line is quiet, never before: what comes in between would find it told, and nobody would
//! ever hear of it, because the kernel tells it once.

use super::sync::{AtomicU64, Ordering};

const QUIET: u64 = 0;
const TOLD: u64 = 1;

/// The line of one device. A larger number than the two is the clock reading at which it was raised.
#[derive(Debug, Default)]
pub(crate) struct Line(AtomicU64);

impl Line {
    /// The device was found ready when the clock said `at`; says whether the line was quiet, as it is for a device that was
    /// masked meanwhile. By the top half.
    pub(crate) fn raise(&self, at: u64) -> bool {
        let at = at.max(TOLD + 1);
        let raised = self
            .0
            .compare_exchange(QUIET, at, Ordering::AcqRel, Ordering::Acquire);
        raised.is_ok()
    }

    /// Whether there is something to take.
    pub(crate) fn is_raised(&self) -> bool {
        self.0.load(Ordering::Acquire) > TOLD
    }

    /// Whether the manager has taken it, and it is not quiet yet.
    pub(crate) fn is_told(&self) -> bool {
        self.0.load(Ordering::Acquire) == TOLD
    }

    /// When it was raised, if it is; it is told from here on. By the manager.
    pub(crate) fn take(&self) -> Option<u64> {
        let at = self.0.load(Ordering::Acquire);
        if at <= TOLD {
            return None;
        }
        // Nobody else changes a raised line.
        self.0.store(TOLD, Ordering::Release);
        Some(at)
    }

    /// It may be raised again: to be called before the device is unmasked. By the manager, and before the run begins.
    pub(crate) fn calm(&self) {
        self.0.store(QUIET, Ordering::Release);
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::sync::Arc;
    use loom::sync::atomic::AtomicBool;
    use loom::thread;

    /// A device that is always ready: whenever it is unmasked the top half finds it, once. The manager takes it twice, and
    /// unmasks it in between. Both do so by system calls, one of which is the first.
    fn storm(again: fn(&Line, &AtomicBool)) {
        loom::model(move || {
            let shared = Arc::new((Line::default(), AtomicBool::new(true)));
            let other = Arc::clone(&shared);
            let top_half = thread::spawn(move || {
                let (line, unmasked) = &*other;
                for at in 2..=3 {
                    while !unmasked.swap(false, Ordering::AcqRel) {
                        thread::yield_now();
                    }
                    line.raise(at);
                }
            });
            let (line, unmasked) = &*shared;
            for at in 2..=3 {
                // An interrupt that is lost hangs this.
                let taken = loop {
                    match line.take() {
                        Some(taken) => break taken,
                        None => thread::yield_now(),
                    }
                };
                assert_eq!(taken, at);
                if at == 2 {
                    again(line, unmasked);
                }
            }
            top_half.join().unwrap();
            assert!(line.is_told() && line.take().is_none());
        });
    }

    #[test]
    fn a_device_that_is_unmasked_when_its_line_is_quiet_is_heard() {
        storm(|line, unmasked| {
            line.calm();
            unmasked.swap(true, Ordering::AcqRel);
        });
    }

    #[test]
    #[should_panic = "Model exceeded maximum number of branches"]
    fn refuted_a_device_that_is_unmasked_while_its_line_is_told() {
        storm(|line, unmasked| {
            unmasked.swap(true, Ordering::AcqRel);
            line.calm();
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_raised_taken_and_quiet_again_in_this_order() {
        let line = Line::default();
        assert!(!line.is_raised() && !line.is_told() && line.take().is_none());
        assert!(line.raise(70) && line.is_raised());
        assert!(!line.raise(80), "it is raised already");
        assert_eq!(line.take(), Some(70));
        assert!(line.is_told() && line.take().is_none() && !line.raise(90));
        line.calm();
        // A clock at its beginning is no state.
        assert!(line.raise(0) && line.take().is_some());
    }
}
