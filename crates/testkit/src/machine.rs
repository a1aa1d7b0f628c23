//! The machine under tests of real runs.

use std::fs;
use std::sync::{Mutex, MutexGuard, PoisonError};
use vestal_sys::clock::{monotonic_nanos, stolen_ticks};
use vestal_sys::sched::{affinity, pin_to};

/// Only one run at a time in a process, also when a caller forgets `--test-threads=1`.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The CPU of runs that do not choose one.
fn cpu_of_runs() -> usize {
    *affinity().unwrap().last().unwrap()
}

/// What the hypervisor took from that CPU so far, in ticks of 10 ms. No thread of a run has any part in that.
pub fn stolen() -> u64 {
    stolen_ticks(cpu_of_runs())
}

/// The same of all CPUs, for runs on several of which each keeps the others.
pub fn stolen_of_all() -> u64 {
    affinity().unwrap().into_iter().map(stolen_ticks).sum()
}

/// Waits until a loop that only reads clocks has had the CPU of the runs to itself for a second, ten seconds at
/// the most. What takes CPUs away does so for a while: attempts one right after the other would all meet it.
pub fn await_calm() {
    const STEP_NANOS: u64 = 1_000_000;
    const CALM_NANOS: u64 = 1_000_000_000;
    const PATIENCE_NANOS: u64 = 10 * CALM_NANOS;
    let look = || {
        pin_to(cpu_of_runs()).unwrap();
        let begun = monotonic_nanos();
        let (mut last, mut calm_since) = (begun, begun);
        while last - calm_since < CALM_NANOS && last - begun < PATIENCE_NANOS {
            let next = monotonic_nanos();
            if next - last > STEP_NANOS {
                calm_since = next;
            }
            last = next;
        }
    };
    std::thread::spawn(look).join().unwrap();
}

/// The `stat` of each thread of process `pid` that is in a real-time class; none if it is gone.
pub fn real_time_threads(pid: u32) -> Vec<String> {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else {
        return Vec::new();
    };
    threads
        .flatten()
        .filter_map(|thread| fs::read_to_string(thread.path().join("stat")).ok())
        .filter(|stat| is_real_time(stat))
        .collect()
}

/// Field 41 of a thread's `stat` is its class: 1 SCHED_FIFO, 2 SCHED_RR, 6 SCHED_DEADLINE. The name in
/// field 2 may contain spaces, so counting starts behind it.
pub fn is_real_time(stat: &str) -> bool {
    let Some((_, rest)) = stat.rsplit_once(')') else {
        return false;
    };
    let class = rest.split_whitespace().nth(41 - 3);
    matches!(class, Some("1" | "2" | "6"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_class_is_field_41_behind_a_name_with_spaces() {
        let stat = |class: &str| {
            let before = ["0"; 41 - 4].join(" ");
            format!("1 (a (b) c) S {before} {class} 0")
        };
        for (class, expected) in [
            ("0", false),
            ("1", true),
            ("2", true),
            ("3", false),
            ("6", true),
        ] {
            assert_eq!(is_real_time(&stat(class)), expected, "{class}");
        }
        assert!(!is_real_time("1 (a) S 1 1 1"));
        assert!(!is_real_time(""));
    }
}
