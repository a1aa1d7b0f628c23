//! Locked memory: a page fault in a real-time thread would take milliseconds.

use rustix::mm::{MlockAllFlags, mlockall, munlockall};

/// The process's memory is locked while this lives.
#[derive(Debug)]
pub struct LockedMemory(());

impl LockedMemory {
    /// Locks what is mapped and what will be.
    pub fn lock() -> std::io::Result<Self> {
        mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE)?;
        Ok(Self(()))
    }
}

impl Drop for LockedMemory {
    fn drop(&mut self) {
        // Unlocking cannot fail for a process that could lock, and nothing depends on it.
        let _ = munlockall();
    }
}
