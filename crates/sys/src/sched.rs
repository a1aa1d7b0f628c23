//! Scheduling classes, affinity, limits and the accounts of threads.

use super::{Processor, Tid, checked, signal};
use rustix::process::{Pid, Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity, set_current_timer_slack};
use std::io;
use std::num::NonZeroU64;

/// The calling thread.
pub fn own_tid() -> Tid {
    rustix::thread::gettid().as_raw_nonzero().get()
}

/// Gives a thread of this process a SCHED_FIFO priority.
///
/// Its children start in SCHED_OTHER: no real-time thread is inherited by what a job body starts.
pub fn set_fifo(tid: Tid, priority: i32) -> io::Result<()> {
    set_class(tid, libc::SCHED_FIFO, priority)
}

/// Puts a thread of this process into SCHED_OTHER.
pub fn set_other(tid: Tid) -> io::Result<()> {
    set_class(tid, libc::SCHED_OTHER, 0)
}

fn set_class(tid: Tid, class: libc::c_int, priority: i32) -> io::Result<()> {
    let parameter = libc::sched_param {
        sched_priority: priority,
    };
    // SAFETY: `parameter` is valid for reading one sched_param; the call keeps no pointer. A number
    // that names no thread gives ESRCH.
    let outcome = unsafe {
        libc::sched_setscheduler(tid, class | libc::SCHED_RESET_ON_FORK, &raw const parameter)
    };
    checked(outcome)
}

/// Pins the calling thread to one CPU.
pub fn pin_to(cpu: usize) -> io::Result<()> {
    let mut set = CpuSet::new();
    set.set(cpu);
    Ok(sched_setaffinity(None, &set)?)
}

/// Puts the calling thread on one processor and into SCHED_FIFO, with all signals blocked that can be and without timer
/// slack.
///
/// # Errors
/// What the first call that failed said; those before it stay in force.
pub fn enter_real_time(processor: Processor, priority: i32) -> io::Result<()> {
    signal::block_all()?;
    pin_to(processor.0)?;
    no_timer_slack();
    set_fifo(own_tid(), priority)
}

/// Lets the calling thread run on these CPUs only.
pub fn pin_to_any(cpus: &[usize]) -> io::Result<()> {
    let mut set = CpuSet::new();
    cpus.iter().for_each(|&cpu| set.set(cpu));
    Ok(sched_setaffinity(None, &set)?)
}

/// Lets a thread of this process, which may run meanwhile, run on one processor only: if it runs elsewhere it is moved before this
/// returns.
///
/// # Errors
/// What the call said: `ESRCH` where there is no such thread, `EINVAL` where the process may not use that processor.
pub fn pin(tid: Tid, processor: Processor) -> io::Result<()> {
    let mut set = CpuSet::new();
    set.set(processor.0);
    // Zero would be the calling thread.
    let thread = Pid::from_raw(tid).ok_or(io::ErrorKind::InvalidInput)?;
    Ok(sched_setaffinity(Some(thread), &set)?)
}

/// Puts the calling thread into SCHED_OTHER, on any of these processors, with all signals blocked that can be and without timer
/// slack.
///
/// # Errors
/// What the first call that failed said; those before it stay in force.
pub fn enter_ordinary(processors: &[Processor]) -> io::Result<()> {
    signal::block_all()?;
    let numbers: Vec<usize> = processors.iter().map(|processor| processor.0).collect();
    pin_to_any(&numbers)?;
    set_other(own_tid())?;
    // Last of all: a thread that is in a real-time class still is not heard.
    no_timer_slack();
    Ok(())
}

/// Gives the calling thread the lowest priority outside the real-time classes.
pub fn lowest_priority() {
    // Below what it is, a thread may always go; where not, it stays an ordinary thread.
    let _ = rustix::process::nice(19);
}

/// The CPUs on which the calling thread may run, ascending.
pub fn affinity() -> io::Result<Vec<usize>> {
    let set = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU)
        .filter(|&cpu| set.is_set(cpu))
        .collect())
}

/// Asks for timers of the calling thread without slack. Only matters outside SCHED_FIFO.
pub fn no_timer_slack() {
    // An old kernel that refuses leaves the default of 50 us, which a thread in SCHED_FIFO never has.
    let _ = set_current_timer_slack(NonZeroU64::new(1));
}

/// The highest SCHED_FIFO priority that RLIMIT_RTPRIO allows; `None`: unlimited.
pub fn priority_limit() -> Option<u64> {
    getrlimit(Resource::Rtprio).current
}

/// RLIMIT_RTPRIO is zero while this lives: no thread without CAP_SYS_NICE gets a higher priority.
pub struct LoweredPriorityLimit(Rlimit);

impl LoweredPriorityLimit {
    /// Lowers the soft limit, which the process may raise again. Only for a process whose manager has
    /// CAP_SYS_NICE. Failure leaves the limit as it is, which concerns only hostile bodies.
    pub fn lower() -> Self {
        let before = getrlimit(Resource::Rtprio);
        let none = Rlimit {
            current: Some(0),
            ..before
        };
        let _ = setrlimit(Resource::Rtprio, none);
        Self(before)
    }
}

impl Drop for LoweredPriorityLimit {
    fn drop(&mut self) {
        let _ = setrlimit(Resource::Rtprio, self.0);
    }
}

/// The SCHED_FIFO priority of the calling thread; 0: it is in another class.
pub fn own_priority() -> i32 {
    let mut parameter = libc::sched_param { sched_priority: 0 };
    // SAFETY: `parameter` is a valid place for one sched_param.
    let outcome = unsafe { libc::sched_getparam(0, &raw mut parameter) };
    match checked(outcome) {
        Ok(()) => parameter.sched_priority,
        Err(_) => 0,
    }
}

/// How much memory RLIMIT_MEMLOCK allows to be locked, in bytes; `None`: unlimited.
pub fn memory_lock_limit() -> Option<u64> {
    getrlimit(Resource::Memlock).current
}

/// How often the calling thread gave up its CPU, and how often it was taken away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Switches {
    /// It gave up the CPU.
    pub voluntary: u64,
    /// The CPU was taken from it.
    pub involuntary: u64,
}

/// The context switches of the calling thread so far.
pub fn own_switches() -> Switches {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: `usage` is a valid place for one rusage, which the call fills or leaves alone.
    let outcome = unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) };
    if checked(outcome).is_err() {
        return Switches::default();
    }
    // SAFETY: every field is an integer, for which zeroed memory is a value.
    let usage = unsafe { usage.assume_init() };
    Switches {
        voluntary: u64::try_from(usage.ru_nvcsw).unwrap_or_default(),
        involuntary: u64::try_from(usage.ru_nivcsw).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    /// Another thread is moved from outside, one that does not exist and no thread at all are errors.
    #[test]
    fn another_thread_is_pinned_and_nobody_else() {
        let all = affinity().unwrap();
        let (say, hear) = mpsc::channel();
        let (go_on, wait) = mpsc::channel::<()>();
        let other = std::thread::spawn(move || {
            say.send(own_tid()).unwrap();
            wait.recv().unwrap();
            affinity().unwrap()
        });
        let tid = hear.recv().unwrap();
        let last = *all.last().unwrap();
        pin(tid, Processor(last)).unwrap();
        go_on.send(()).unwrap();
        assert_eq!(other.join().unwrap(), [last]);
        assert_eq!(affinity().unwrap(), all, "the caller stays where it was");
        assert_eq!(
            pin(Tid::MAX, Processor(last)).unwrap_err().raw_os_error(),
            Some(libc::ESRCH)
        );
        assert!(pin(0, Processor(last)).is_err());
        assert_eq!(affinity().unwrap(), all);
    }

    /// What the kernel says of the calling thread: affinity, priority, timer slack, and whether three signals are blocked.
    fn present() -> (Vec<usize>, i32, u64, bool) {
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
        let blocked = status.lines().find_map(|line| line.strip_prefix("SigBlk:"));
        let blocked = u64::from_str_radix(blocked.unwrap().trim(), 16).unwrap();
        let three = [libc::SIGINT, libc::SIGTERM, libc::SIGUSR1];
        let is_blocked = |signal: i32| blocked >> (signal - 1) & 1 == 1;
        let slack = rustix::thread::current_timer_slack().unwrap();
        let are_blocked = three.into_iter().all(is_blocked);
        (affinity().unwrap(), own_priority(), slack, are_blocked)
    }

    /// Also one that has been in the real-time class, where that is allowed.
    #[test]
    fn an_ordinary_thread_may_use_each_of_its_processors() {
        let all = affinity().unwrap();
        let processors: Vec<Processor> = all.iter().copied().map(Processor).collect();
        let own = std::thread::spawn(move || {
            let priority = match set_fifo(own_tid(), 1) {
                Ok(()) => 1,
                Err(_) => 0,
            };
            let before = present();
            assert_eq!(before.1, priority);
            assert!(
                !before.3 && before.2 != 1,
                "nothing would be seen: {before:?}"
            );
            enter_ordinary(&processors[..1]).unwrap();
            let first = present();
            enter_ordinary(&processors).unwrap();
            (first, affinity().unwrap())
        });
        let (first, then) = own.join().unwrap();
        assert_eq!(first, (vec![all[0]], 0, 1, true));
        assert_eq!(then, all);
    }
}
