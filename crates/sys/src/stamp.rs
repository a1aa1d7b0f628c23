//! The time stamp counter of x86 processors.

/// A counter that goes on at one rate, whatever the processor does, and that a thread reads without the kernel: an invariant
/// time stamp counter (AMD64 Architecture Programmer's Manual, volume 2, section 13.2.4). Who has one of these has found
/// that the processor says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StampCounter(());

impl StampCounter {
    /// The counter, if the processor has one and says that it is invariant: CPUID 8000_0007h, bit 8 of EDX.
    #[cfg(target_arch = "x86_64")]
    #[must_use]
    pub fn find() -> Option<Self> {
        use std::arch::x86_64::__cpuid;
        const POWER: u32 = 0x8000_0007;
        const INVARIANT: u32 = 1 << 8;
        let largest = __cpuid(0x8000_0000).eax;
        let says_so = largest >= POWER && __cpuid(POWER).edx & INVARIANT != 0;
        says_so.then_some(Self(()))
    }

    /// Processors of other kinds have none.
    #[cfg(not(target_arch = "x86_64"))]
    #[must_use]
    pub const fn find() -> Option<Self> {
        None
    }

    /// What it reads, after everything that stands before this in the program has been read.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[must_use]
    pub fn ticks(self) -> u64 {
        use std::arch::x86_64::{_mm_lfence, _rdtsc};
        // SAFETY: the processor has the counter, or there would be no `self`; user space may read it, as Linux lets all do
        // that have not asked for a signal instead (prctl PR_SET_TSC). A fence and a read change nothing.
        unsafe {
            _mm_lfence();
            _rdtsc()
        }
    }

    /// There is none of these.
    #[cfg(not(target_arch = "x86_64"))]
    #[must_use]
    pub const fn ticks(self) -> u64 {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// As the kernel has found out by itself.
    #[test]
    fn it_is_there_where_the_kernel_says_that_it_never_stops() {
        let said = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let flags = said.lines().find(|line| line.starts_with("flags"));
        let says = |flag| flags.is_some_and(|line| line.split_whitespace().any(|it| it == flag));
        let expected = says("constant_tsc") && says("nonstop_tsc");
        assert_eq!(StampCounter::find().is_some(), expected);
    }

    #[test]
    fn it_never_goes_back_on_one_processor() {
        let Some(counter) = StampCounter::find() else {
            return;
        };
        let look = move || {
            crate::sched::pin_to(crate::sched::affinity().unwrap()[0]).unwrap();
            (0..10_000).map(|_| counter.ticks()).collect()
        };
        let read: Vec<u64> = std::thread::spawn(look).join().unwrap();
        assert!(read.is_sorted());
        assert!(read.first() < read.last());
    }
}
