//! What may go wrong on purpose: what a test finds only if it looks.

/// A fault of a manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// A guest goes on when it has used up its budget.
    IgnoresBudgets,
    /// A guest that is stopped is not held.
    LeavesGuestsFree,
    /// What is remembered of a guest is not put back.
    KeepsMemory,
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
