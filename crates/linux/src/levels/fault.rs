//! What may go wrong on purpose: what a test finds only if it looks.

/// A fault of who settles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// An offer that was taken counts as withdrawn.
    GivesTwice,
    /// The turn is let go without a look at what came meanwhile.
    LeavesFacts,
    /// A job is offered while the CPU that had it has not given it back.
    OffersRunning,
    /// A CPU's queue is not looked at again where its claim is news.
    NoSecondDrain,
}

#[cfg(test)]
thread_local! {
    static FAULT: std::cell::Cell<Option<Fault>> = const { std::cell::Cell::new(None) };
}

/// From now on on this thread.
#[cfg(test)]
pub(super) fn inject(fault: Option<Fault>) {
    FAULT.set(fault);
}

#[cfg(test)]
pub(super) fn is_injected(fault: Fault) -> bool {
    FAULT.get() == Some(fault)
}

/// Nothing goes wrong on purpose outside tests.
#[cfg(not(test))]
pub(super) const fn is_injected(_: Fault) -> bool {
    false
}
