//! How a thread of a run with a frame table waits for the domain and at barriers, and what it notes of that.

use super::common::{Common, MeetingPlace, Taken};
use super::record::WalkRecord;
use crate::account::{Duty, Thread, Wanted};
use crate::evidence::Intervals;
use crate::launch::SharedCpu;
use crate::recording::Tracer;
use crate::stamps::Stamp;
use crate::sys::clock::monotonic_nanos;
use crate::words::{Passed, Ticket};

/// The notes of a thread about itself.
pub(super) type OwnNotes = Intervals;

/// Those of the calling thread, which is no worker, on this CPU.
pub(super) fn notes_of(thread: Thread, cpu: &SharedCpu) -> OwnNotes {
    Intervals::of_this_thread(thread, cpu)
}

/// The notes of a thread about itself, and its records, if it has any.
pub(super) type Own<'a> = (&'a mut Intervals, Option<&'a Tracer>);

/// To be called last of all before the kernel is asked to wait, after what was `duty`.
fn about_to_wait(own: &mut Intervals, trace: Option<&Tracer>, duty: Duty) {
    match trace {
        Some(trace) => own.wait(duty, trace),
        None => own.wait_untraced(duty),
    }
}

/// The domain. If another thread has it, this one waits: as long as others have it meanwhile. What it waits longer is no part
/// of its duty, wherever in between that is: it stands at the end of the wait. Whoever has the domain when the wait begins may
/// have had it for a while, which counts for the wait.
pub(super) fn domain<'c>(common: &'c Common, (own, trace): Own<'_>, duty: Duty) -> Taken<'c> {
    if let Some(domain) = common.free_domain() {
        return domain;
    }
    // Before the wait begins: what others have it for in between counts for the wait.
    let held = common.held();
    about_to_wait(own, trace, duty);
    let begun = own.beginning().wall;
    let domain = common.domain_in_turn();
    trace.inspect(|trace| trace.open());
    let now = monotonic_nanos();
    own.wake(
        Wanted::Since(free_since(begun, [held, common.held()]).min(now)),
        now,
    );
    trace.inspect(|trace| trace.close());
    domain
}

/// Since when nothing has kept a thread that has waited since `begun` but the machine, if others had had what it waits for for so
/// long in all before and after that. It may have been free in between, and others had it again.
fn free_since(begun: u64, [before, after]: [u64; 2]) -> u64 {
    begun.saturating_add(after.saturating_sub(before))
}

/// Waits at the barrier, after what was `duty`; `counts`: others wait for it to go on. Gives when it was opened, by the clock and what that is measured by; none if it
/// was closed for good.
pub(super) fn meet(
    common: &Common,
    (meeting, ticket): (&MeetingPlace, Ticket),
    (own, trace): Own<'_>,
    duty: Duty,
    (record, counts): (&mut WalkRecord, bool),
) -> Option<Stamp> {
    about_to_wait(own, trace, duty);
    let begun = common.stamps.now();
    let passed = meeting.wait(ticket);
    trace.inspect(|trace| trace.open());
    let now = common.stamps.now();
    let (since, wanted) = match passed {
        Passed::Open => meeting.opened(ticket, now),
        Passed::Closed => (now, now.monotonic),
    };
    own.wake(Wanted::Since(wanted), now.monotonic);
    trace.inspect(|trace| trace.close());
    (passed == Passed::Open).then(|| {
        record.note_passed(common, (begun, counts), (since, now));
        since
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A walker waits from 100 on. Another thread has the domain from 95 to 110 and, as the first is kept from running,
    /// from 3000 to 3020 again. When it runs at 4000, all but 35 of that was taken from it; since 3020 it was 980.
    #[test]
    fn who_has_the_domain_again_explains_no_wait_in_between() {
        assert_eq!(free_since(100, [500, 535]), 135);
    }
}
