//! What the ring is made of: the real thing, or loom's, which tries every interleaving.

#[cfg(all(test, loom))]
pub(super) use loom::{
    cell::UnsafeCell,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

#[cfg(not(all(test, loom)))]
pub(super) use {
    alloc::sync::Arc,
    core::sync::atomic::{AtomicUsize, Ordering},
    real::UnsafeCell,
};

#[cfg(not(all(test, loom)))]
mod real {
    /// [`core::cell::UnsafeCell`] with the interface of loom's.
    #[repr(transparent)]
    pub(in crate::ring) struct UnsafeCell<T>(core::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        pub(in crate::ring) const fn new(value: T) -> Self {
            Self(core::cell::UnsafeCell::new(value))
        }
        #[inline]
        pub(in crate::ring) fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
            read(self.0.get())
        }
        #[inline]
        pub(in crate::ring) fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
            write(self.0.get())
        }
    }
}
