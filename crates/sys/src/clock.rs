//! Clocks: the wall (`CLOCK_MONOTONIC`) and the CPU time of threads.

use super::Tid;
use rustix::time::{ClockId, Timespec, clock_getres, clock_gettime};

pub(super) const NANOS: u64 = 1_000_000_000;

/// `CLOCK_MONOTONIC` in nanoseconds.
pub fn monotonic_nanos() -> u64 {
    nanos_of(clock_gettime(ClockId::Monotonic))
}

/// `CLOCK_REALTIME` in nanoseconds: the time of day, since 1970.
pub fn realtime_nanos() -> u64 {
    nanos_of(clock_gettime(ClockId::Realtime))
}

/// `CLOCK_BOOTTIME` in nanoseconds: as the monotonic clock, and goes on while the machine is suspended.
pub fn boottime_nanos() -> u64 {
    nanos_of(clock_gettime(ClockId::Boottime))
}

/// The period of the kernel's tick, 1/HZ, in nanoseconds: how often the coarse clock goes on.
pub fn tick_nanos() -> u64 {
    nanos_of(clock_getres(ClockId::MonotonicCoarse))
}

/// The CPU time that the calling thread has consumed, in nanoseconds.
pub fn own_cpu_nanos() -> u64 {
    nanos_of(clock_gettime(ClockId::ThreadCPUTime))
}

/// The CPU time that a thread of this process has consumed, in nanoseconds; `None` once it is gone.
///
/// Exact also while the thread runs on another CPU: the kernel brings its account up to date.
pub fn cpu_nanos_of(tid: Tid) -> Option<u64> {
    let clock = cpu_clock_of(tid);
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid place for one timespec, and the call writes nothing else.
    let outcome = unsafe { libc::clock_gettime(clock, &raw mut time) };
    super::checked(outcome).ok()?;
    Some(u64::try_from(time.tv_sec).ok()? * NANOS + u64::try_from(time.tv_nsec).unwrap_or_default())
}

/// The clock of the CPU time of thread `tid` of this process.
///
/// The kernel's encoding of "the scheduler's account of thread `tid`": MAKE_THREAD_CPUCLOCK with
/// CPUCLOCK_PERTHREAD (4) and CPUCLOCK_SCHED (2). `pthread_getcpuclockid` computes the same, but needs a
/// `pthread_t` that outlives its thread.
pub(super) const fn cpu_clock_of(tid: Tid) -> libc::clockid_t {
    (!tid << 3) | 6
}

/// Whether the kernel has ever been told that a hypervisor took a CPU away: it keeps such time off the
/// accounts of threads. A machine that has run for minutes without is taken for one that is not told.
pub fn is_steal_reported() -> bool {
    let Ok(stat) = std::fs::read_to_string("/proc/stat") else {
        return false;
    };
    steal_of(&stat, "cpu").is_some_and(|ticks| ticks > 0)
}

/// How much of this CPU a hypervisor gave to others since the machine started, in ticks of 10 ms; 0 where
/// no file says.
#[must_use]
pub fn stolen_ticks(cpu: usize) -> u64 {
    let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    steal_of(&stat, &format!("cpu{cpu}")).unwrap_or(0)
}

/// The eighth number behind `name`, that of a CPU or `cpu` for all of them: ticks that were stolen since the
/// start.
fn steal_of(stat: &str, name: &str) -> Option<u64> {
    let words = stat.lines().map(str::split_ascii_whitespace);
    let mut of_name = words.filter_map(|mut words| (words.next()? == name).then_some(words));
    of_name.next()?.nth(7)?.parse().ok()
}

/// The time `nanos` in the kernel's form.
pub fn timespec(nanos: u64) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(nanos / NANOS).unwrap_or(i64::MAX),
        tv_nsec: i64::try_from(nanos % NANOS).unwrap_or_default(),
    }
}

/// The same for calls that `rustix` has not.
pub(super) fn libc_timespec(nanos: u64) -> libc::timespec {
    let Timespec { tv_sec, tv_nsec } = timespec(nanos);
    libc::timespec { tv_sec, tv_nsec }
}

fn nanos_of(time: Timespec) -> u64 {
    u64::try_from(time.tv_sec).unwrap_or_default() * NANOS
        + u64::try_from(time.tv_nsec).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stolen_ticks_are_the_eighth_number() {
        let stat = "cpu  128076 0 9484 16890 503 0 89 279 0 0\ncpu0 1 2 3 4 5 6 7 8 9 10\n";
        assert_eq!(steal_of(stat, "cpu"), Some(279));
        assert_eq!(steal_of(stat, "cpu0"), Some(8));
        assert_eq!(steal_of(stat, "cpu1"), None);
        assert_eq!(steal_of("cpu  1 2 3\n", "cpu"), None);
        assert_eq!(steal_of("", "cpu"), None);
    }
}
