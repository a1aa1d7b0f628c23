//! Where a run stands.

use super::sync::{AtomicU32, Ordering, wait_while, wake_all};

/// Where a run stands. It only goes on in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// Threads are being started.
    SettingUp,
    /// Jobs are released.
    Running,
    /// Every job has lost its priority, and the threads leave the real-time class.
    Ending,
    /// All threads end.
    Over,
}

impl Stage {
    const ALL: [Self; 4] = [Self::SettingUp, Self::Running, Self::Ending, Self::Over];

    const fn bits(self) -> u32 {
        match self {
            Self::SettingUp => 0,
            Self::Running => 1,
            Self::Ending => 2,
            Self::Over => 3,
        }
    }

    fn from_bits(bits: u32) -> Self {
        let stage = Self::ALL.into_iter().find(|stage| stage.bits() == bits);
        stage.unwrap_or(Self::Over)
    }
}

/// The stage of a run. What was written before it was changed is seen by who sees the change.
#[derive(Debug, Default)]
pub(crate) struct Phase(AtomicU32);

impl Phase {
    /// The stage.
    pub(crate) fn stage(&self) -> Stage {
        Stage::from_bits(self.0.load(Ordering::Acquire))
    }

    /// Whether the run is being ended, or over: no job has its priority any more.
    pub(crate) fn is_ending(&self) -> bool {
        self.stage() >= Stage::Ending
    }

    /// The same for a thread that has just raised another's priority: if this says no, who ends the run lowers
    /// that priority after it was raised; if it says yes, the caller has to.
    pub(crate) fn is_ending_after_raising(&self) -> bool {
        Stage::from_bits(self.0.fetch_or(0, Ordering::AcqRel)) >= Stage::Ending
    }

    /// The run begins.
    pub(crate) fn begin(&self) {
        self.advance(Stage::Running);
        wake_all(&self.0);
    }

    /// The run is to end; says whether the caller is the first to say so, and thus has to end it. It takes
    /// all priorities after this.
    pub(crate) fn end(&self) -> bool {
        self.advance(Stage::Ending) < Stage::Ending
    }

    /// It has ended: lets all threads go.
    pub(crate) fn close(&self) {
        self.advance(Stage::Over);
        wake_all(&self.0);
    }

    /// Waits while the run is at `stage`, until the clock reads `deadline_nanos`. May return earlier.
    pub(crate) fn wait_while(&self, stage: Stage, deadline_nanos: Option<u64>) {
        wait_while(&self.0, stage.bits(), deadline_nanos);
    }

    /// Waits until the run begins; says whether it does, and does not end before that.
    pub(crate) fn await_begin(&self) -> bool {
        loop {
            match self.stage() {
                Stage::SettingUp => self.wait_while(Stage::SettingUp, None),
                Stage::Running => return true,
                Stage::Ending | Stage::Over => return false,
            }
        }
    }

    /// Waits until the run is over.
    pub(crate) fn await_over(&self) {
        loop {
            match self.stage() {
                Stage::Over => return,
                stage @ (Stage::SettingUp | Stage::Running | Stage::Ending) => {
                    self.wait_while(stage, None);
                }
            }
        }
    }

    /// The stage before; there is no way back.
    fn advance(&self, to: Stage) -> Stage {
        Stage::from_bits(self.0.fetch_max(to.bits(), Ordering::AcqRel))
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::sync::Arc;
    use loom::sync::atomic::AtomicBool;
    use loom::thread;

    /// The manager gives a worker its priority back while the watchdog ends the run: in the end the
    /// worker must have none. Both system calls are stores to one word.
    fn raise_against_end(is_ending_after_raising: fn(&Phase) -> bool) {
        loom::model(move || {
            let phase = Arc::new(Phase::default());
            let raised = Arc::new(AtomicBool::new(false));
            phase.begin();
            let (other_phase, other_raised) = (Arc::clone(&phase), Arc::clone(&raised));
            let manager = thread::spawn(move || {
                if other_phase.is_ending() {
                    return;
                }
                other_raised.store(true, Ordering::Relaxed);
                if is_ending_after_raising(&other_phase) {
                    other_raised.store(false, Ordering::Relaxed);
                }
            });
            assert!(phase.end());
            raised.store(false, Ordering::Relaxed);
            phase.close();
            manager.join().unwrap();
            assert!(!raised.load(Ordering::Relaxed), "somebody stays raised");
        });
    }

    #[test]
    fn nobody_stays_raised() {
        raise_against_end(Phase::is_ending_after_raising);
    }

    /// What the managers did before: they looked before they raised a worker, and never again.
    #[test]
    #[should_panic = "somebody stays raised"]
    fn refuted_who_looks_only_before_it_raises() {
        raise_against_end(|_| false);
    }

    #[test]
    #[should_panic = "somebody stays raised"]
    fn refuted_who_looks_afterwards_with_a_load() {
        raise_against_end(Phase::is_ending);
    }

    #[test]
    fn one_ends_the_run_and_who_waits_for_that_goes_on() {
        loom::model(|| {
            let phase = Arc::new(Phase::default());
            phase.begin();
            let other = Arc::clone(&phase);
            let manager = thread::spawn(move || {
                let first = other.end();
                if first {
                    other.close();
                }
                first
            });
            let first = phase.end();
            if first {
                phase.close();
            }
            phase.await_over();
            assert_ne!(first, manager.join().unwrap());
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn every_stage_is_what_it_was_made_of() {
        for stage in Stage::ALL {
            assert_eq!(Stage::from_bits(stage.bits()), stage);
        }
    }

    #[test]
    fn a_run_that_ends_before_it_begins_never_begins() {
        let phase = Phase::default();
        assert!(phase.end());
        phase.begin();
        assert!(!phase.await_begin());
        assert!(!phase.end(), "the second");
        assert_eq!(phase.stage(), Stage::Ending);
        phase.close();
        phase.await_over();
    }
}
