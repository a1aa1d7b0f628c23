//! Where threads of a run may be delayed.

use crate::account::Duty;

/// A point of the run's own code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// The manager has just got the CPU.
    RoundBegins,
    /// It has a release in hand, under managed dispatch.
    Released,
    /// It arms the monitor of a budget, under managed dispatch.
    Armed,
    /// It has heard of an overrun.
    Overrun,
    /// It has decided, and has not enacted.
    BeforeEnact,
    /// It gives a worker its priority back.
    BeforePriority,
    /// The thread with this duty is about to wait.
    BeforeWait(Duty),
    /// A walker that has begun a frame.
    FrameBegun,
    /// A walker that was the last at a barrier, and has decided.
    BarrierDecided,
    /// The same, before it lets the others go on.
    BarrierOpens,
    /// By the threads of Sigrist et al. (2015): whoever gives the workers of this CPU their orders.
    CpuInitialised,
    /// A worker, after it has read the clock on getting the CPU.
    Woken,
    /// A worker, before a body begins.
    JobStart,
    /// A burning job, between its look at the clock and its look at who else had the CPU.
    BurnLook,
    /// A worker, after it has read the clock at the end of a body.
    BodyEnd,
    /// A worker, after a body has ended.
    JobEnd,
    /// The idle detector, before it answers.
    IdleAnswer,
    /// The watchdog, before it looks.
    WatchdogLook,
}
