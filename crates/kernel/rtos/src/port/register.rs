//! Words at addresses of the board.

/// A register: a word that can be read and written.
pub(super) struct Register(*mut u32);

impl Register {
    /// # Safety
    /// There must be a register of one word at this address, which any handler and any task may read and write without harm to memory.
    pub(super) const unsafe fn at(address: usize) -> Self {
        Self(core::ptr::without_provenance_mut(address))
    }

    pub(super) fn get(&self) -> u32 {
        // SAFETY: `at` was promised that there is such a register.
        unsafe { self.0.read_volatile() }
    }

    pub(super) fn set(&self, value: u32) {
        // SAFETY: as above.
        unsafe { self.0.write_volatile(value) };
    }
}
