//! The managers of Huang, Gill and Lu (2014): woken by POSIX timers and by workers, in one `epoll_wait`.

use crate::manager::{BEAT_NANOS, Manager, goes_on};
use crate::shared::{Shared, StopCause, TaskShared};
use crate::sys::clock::monotonic_nanos;
use crate::sys::waiting::{Waiter, WakeEvent, Woken};
use crate::thread::start::Step;
use std::io;
use std::sync::atomic::Ordering;

/// Tags of timers: a kind, and below that the index of the task.
pub(super) const RELEASE: usize = 1 << 16;
pub(super) const SLICE: usize = 2 << 16;
pub(super) const BUDGET: usize = 3 << 16;
pub(super) const INDEX: usize = (1 << 16) - 1;

/// The timers of such a manager.
pub(crate) trait Timers: Sized {
    /// Starts them; they signal the calling thread.
    fn start(shared: &Shared) -> io::Result<Self>;

    /// A timer of this kind fired, `now` nanoseconds after the epoch.
    fn fired(&mut self, shared: &Shared, kind: usize, index: usize, now: u64);

    /// Since when the manager is wanted for what woke it; `None`: it was to wake by then.
    fn wanted_since(_: &Shared, _: &Woken) -> Option<u64> {
        None
    }

    /// Whether nothing that keeps its priority runs when the manager waits.
    fn is_idle(shared: &Shared) -> bool;

    /// Monitors what runs when the manager waits.
    fn settle(&mut self, shared: &Shared);
}

impl Manager {
    /// Handles what timers and workers report until the run ends.
    pub(crate) fn manage_events<T: Timers>(
        &mut self,
        shared: &Shared,
        wake_event: &WakeEvent,
    ) -> Step {
        let (Ok(waiter), Ok(mut timers)) = (Waiter::new(wake_event), T::start(shared)) else {
            shared.request_stop(StopCause::SetupFailed);
            return Ok(());
        };
        let end = shared.end.load(Ordering::SeqCst);
        loop {
            let now = monotonic_nanos();
            if !goes_on(shared, now, end) {
                return Ok(());
            }
            // The timers come first; where one is missing the guard is not late by more than this.
            let span = (end - now)
                .min(BEAT_NANOS)
                .min(self.until_wake(shared, now));
            let until = now + span;
            self.about_to_wait(shared);
            let woken = waiter.wait(wake_event, until.saturating_sub(monotonic_nanos()));
            let wanted = T::wanted_since(shared, &woken).unwrap_or(until);
            let at = self.woken(shared, wanted);
            let due = self.until_wake(shared, monotonic_nanos()) == 0;
            self.count_event(shared, &woken, due);
            if woken.is_nothing() && !due {
                continue;
            }
            self.round(shared, at, |manager| {
                manager.handle_events(shared, &mut timers, &woken, due)
            })?;
        }
    }

    fn count_event(&mut self, shared: &Shared, woken: &Woken, due: bool) {
        let wakeups = &mut self.record.wakeups;
        let mut kinds = woken.tags().map(|tag| tag & !INDEX);
        let count = if woken.called {
            &mut wakeups.completion
        } else if kinds.any(|kind| kind != BUDGET) || due {
            if shared.paper_pt {
                &mut wakeups.timer
            } else {
                &mut wakeups.release
            }
        } else if woken.is_nothing() {
            &mut wakeups.beat
        } else {
            &mut wakeups.budget
        };
        *count += 1;
    }

    fn handle_events<T: Timers>(
        &mut self,
        shared: &Shared,
        timers: &mut T,
        woken: &Woken,
        due: bool,
    ) -> Step {
        if !shared.is_running() {
            return Ok(());
        }
        let now = shared.instant(monotonic_nanos()).as_nanos();
        let mut look = due;
        for tag in woken.tags() {
            look |= tag & !INDEX == BUDGET;
            timers.fired(shared, tag & !INDEX, tag & INDEX, now);
        }
        if look || shared.tasks.iter().any(TaskShared::asks) {
            self.handle(shared, false)?;
        }
        if shared.question.is_asked() && T::is_idle(shared) {
            shared.question.answer();
            shared.question.take_answer();
            shared.end_demoted();
            self.settle_idle(shared)?;
        }
        timers.settle(shared);
        Ok(())
    }
}
