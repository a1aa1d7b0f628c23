//! What the thread of each manager does around its work.

use crate::recording::Tracer;
use crate::report::ManagerRecord;
use crate::shared::{Shared, StopCause};
use crate::sys;
use crate::sys::clock::monotonic_nanos;
use crate::worker::message_of;
use std::panic::{AssertUnwindSafe, catch_unwind};
use vestal_core::{ContractViolation, Scheduler};
use vestal_trace::Recorder;

/// What a manager's thread does until the run ends; that is halted whatever happens.
pub(crate) fn manage_to_the_end(
    shared: &Shared,
    manage: impl FnOnce() -> Result<(), ContractViolation>,
) {
    let failed = match catch_unwind(AssertUnwindSafe(manage)) {
        Ok(outcome) => outcome
            .err()
            .map(|violation| format!("contract violated: {violation}")),
        Err(panic) => Some(message_of(panic.as_ref())),
    };
    if let Some(message) = failed {
        shared.request_stop(StopCause::ManagerPanicked { message });
    }
    shared.halt();
    let _ = sys::sched::set_other(sys::sched::own_tid());
}

/// The end of a manager's record, and of its trace.
pub(crate) fn end_record<S: Scheduler>(
    mut record: ManagerRecord,
    scheduler: Recorder<S, Tracer>,
    shared: &Shared,
) -> ManagerRecord {
    scheduler.sink().open();
    let (scheduler, trace, end) = scheduler.leave(shared.instant(monotonic_nanos()));
    trace.close();
    record.lost_notices = scheduler.lost_notices();
    record.end = Some(end);
    record
}
