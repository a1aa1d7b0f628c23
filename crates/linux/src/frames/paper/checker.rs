//! The overrun checker: notices that a sub-frame goes on when the one below it should begin.
//!
//! Sigrist et al. (RTAS 2015, section V-A): its deadline D_o is barrier(f, 1, LO), counted from when the frame began; here with o,
//! and for each level. With the deadline it sleeps until then; with a heartbeat it looks each period. The time that counts is that of the
//! frame, which goes on whoever has the CPUs: a look before the deadline is never needed.

use super::scheduler::Beside;
use super::{Paper, is_ending};
use crate::account::{Duty, Wanted};
use crate::frames::domain::Step;
use crate::frames::record::WalkRecord;
use crate::frames::waits::OwnNotes;
use crate::launch::SharedCpu;
use crate::sys::clock::monotonic_nanos;
use crate::words::Taken;

/// Watches sub-frames until the run ends.
pub(super) fn main(beside: Beside) -> WalkRecord {
    beside.work(check)
}

fn check(paper: &Paper, host: &SharedCpu, own: &mut OwnNotes, record: &mut WalkRecord) -> Step {
    let watch = &paper.watch;
    let heartbeat = paper.terms.heartbeat.map(|period| period.as_nanos());
    let mut beat = host.epoch();
    let mut found = 0;
    while !is_ending(host) {
        let deadline = match heartbeat {
            Some(period) => {
                // Looks that it could not take are left out.
                let late = monotonic_nanos().saturating_sub(beat);
                let periods = late.checked_div(period).unwrap_or(0).saturating_add(1);
                beat = beat.saturating_add(period.saturating_mul(periods));
                Some(beat)
            }
            None => Some(watch.until.get()).filter(|&until| until != 0 && until != found),
        };
        own.wait_untraced(Duty::Frame);
        let taken = watch.semaphore.wait(deadline, monotonic_nanos);
        let now = monotonic_nanos();
        let wanted = match (taken, deadline) {
            (Taken::TimedOut, Some(deadline)) => deadline.min(now),
            (Taken::TimedOut, None) | (Taken::Posted | Taken::Closed, _) => {
                taken.wanted(watch.since.get(), now)
            }
        };
        own.wake(Wanted::Since(wanted), now);
        if taken == Taken::Closed {
            break;
        }
        record.checks += 1;
        // The clock first: who finds it watched then knows that it goes on.
        let now = monotonic_nanos();
        let until = watch.until.get();
        if until != 0 && until != found && now > until {
            found = until;
            record.late += 1;
        }
    }
    Ok(())
}
