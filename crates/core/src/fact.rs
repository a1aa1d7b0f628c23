//! What a world reports to a scheduler: things that happened, each with the instant it happened at.

use crate::ids::{BarrierId, CpuId, DeviceId, JobId, ServerId, TaskId};
use crate::model::Level;
use crate::time::Service;

/// One thing that happened in the world.
///
/// The instant stands beside the fact in [`crate::Scheduler::apply`]. A fact belongs to exactly one
/// scheduling domain (C9). Facts only record; their consequences are drawn by
/// [`crate::Scheduler::decide`] (C3), so their order within one instant does not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fact {
    /// A job arrived. Sequences of one task never fall; a gap means releases that never reached
    /// this domain.
    Released {
        /// The job.
        job: JobId,
    },
    /// A job finished all its work.
    Completed {
        /// Where it ran.
        cpu: CpuId,
        /// The job.
        job: JobId,
    },
    /// A job executed; `amount` is *measured* (C2), never inferred from the clock.
    Charged {
        /// Where it ran.
        cpu: CpuId,
        /// The job.
        job: JobId,
        /// Execution since the last charge of this job.
        amount: Service,
    },
    /// The world confirms that a job now runs on a CPU (C5).
    Started {
        /// Where it runs.
        cpu: CpuId,
        /// The job.
        job: JobId,
    },
    /// The world confirms that a job no longer runs on a CPU (C5).
    Stopped {
        /// Where it ran.
        cpu: CpuId,
        /// The job.
        job: JobId,
        /// Why it stopped.
        why: StopReason,
    },
    /// The wake-up that the last plan asked for, or a spurious one (C6).
    Timer,
    /// A CPU found nothing to run. Only native worlds say so: they do not report every completion,
    /// so the domain cannot see by itself that nothing is pending any more.
    Idle {
        /// The CPU.
        cpu: CpuId,
    },
    /// A device raised interrupts; the work of each is done by its bottom half.
    Interrupt {
        /// The device.
        device: DeviceId,
        /// How many.
        count: u32,
    },
    /// A job that was blocked can go on.
    Woken {
        /// The task whose current job it is.
        task: TaskId,
        /// The server on whose behalf, where the policy inherits from it. One that gives the task's server no capacity, which
        /// includes one without a period, is as good as none: the work is then done on behalf of whom the configuration names.
        on_behalf_of: Option<ServerId>,
    },
    /// A CPU has walked its sequence to the end and waits at the barrier.
    BarrierReached {
        /// The CPU.
        cpu: CpuId,
        /// The barrier.
        barrier: BarrierId,
    },
    /// The domain of one CPU leaves that CPU to the domain that all of them share, or takes it back,
    /// from this instant on. What one CPU says has an order of its own: of two such facts the later
    /// instant holds, however late it is told, and an earlier one told after it says nothing any more.
    /// Of two at one instant with no decision between them, "not open" holds.
    CpuOpen {
        /// The CPU.
        cpu: CpuId,
        /// Whether it is open.
        open: bool,
    },
    /// Something outside asks for at least this mode.
    ModeRequested {
        /// The mode.
        level: Level,
    },
}

/// Why a job stopped running before it completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StopReason {
    /// The plan gave the CPU to another job.
    Preempted,
    /// The job waits for something outside the scheduler.
    Blocked,
    /// The job reached a cancellation point after it was dropped; it will never go on.
    Cancelled,
}
