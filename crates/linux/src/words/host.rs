//! Which CPU has a thread that is not always on the same.

use super::sync::{AtomicU32, Ordering};

/// The CPU that has the thread, by its number. Whoever takes it changes the word and then looks whether its job has ended; the thread
/// says that it has ended, and then changes the word too, to learn whom to call. Whoever is second sees what the other did.
#[derive(Debug, Default)]
pub(crate) struct Host(AtomicU32);

impl Host {
    /// `cpu` has the thread from now on. By the manager of that, before it looks for an end.
    pub(crate) fn move_to(&self, cpu: u16) {
        self.0.swap(u32::from(cpu), Ordering::AcqRel);
    }

    /// Who has it. By the thread, after what it wants to tell.
    pub(crate) fn to_tell(&self) -> u16 {
        u16::try_from(self.0.fetch_or(0, Ordering::AcqRel)).unwrap_or(u16::MAX)
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    #[derive(Default)]
    struct Shared {
        host: Host,
        ended: AtomicU32,
        /// CPU 1 was called.
        called: AtomicU32,
    }

    /// A job ends on the way from CPU 0 to CPU 1.
    fn end_on_the_way(to_tell: fn(&Host) -> u16) {
        loom::model(move || {
            let shared = Arc::new(Shared::default());
            let other = Arc::clone(&shared);
            let worker = thread::spawn(move || {
                other.ended.store(1, Ordering::Release);
                if to_tell(&other.host) == 1 {
                    other.called.store(1, Ordering::Relaxed);
                }
            });
            shared.host.move_to(1);
            let seen = shared.ended.load(Ordering::Acquire) == 1;
            worker.join().unwrap();
            let called = shared.called.load(Ordering::Relaxed) == 1;
            assert!(seen || called, "an end that nobody sees");
        });
    }

    #[test]
    fn who_has_the_thread_sees_its_end_or_is_called() {
        end_on_the_way(Host::to_tell);
    }

    #[test]
    #[should_panic = "an end that nobody sees"]
    fn refuted_a_thread_that_only_looks() {
        end_on_the_way(|host| u16::try_from(host.0.load(Ordering::Acquire)).unwrap());
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_last_who_took_it_is_told() {
        let host = Host::default();
        assert_eq!(host.to_tell(), 0);
        for cpu in [3, 0, u16::MAX] {
            host.move_to(cpu);
            assert_eq!(host.to_tell(), cpu);
        }
    }
}
