//! What a worker does about monitors beside arming its own: it pauses and resumes those of the jobs that it takes the CPU
//! from, and counts what its own took.

use crate::cpu::Cpu;
use crate::job::Ended;
use crate::monitor::Monitor;
use crate::sys::clock::monotonic_nanos;
use crate::sys::sched::own_switches;
use crate::task::{Counted, TaskShared};

/// With a monitor that keeps the remainder: a job of `task` begins, and the monitor of the job that it took the CPU from
/// stands still until that goes on. One that blocks in its body is more urgent, and stays watched.
pub(super) fn pause_preempted(cpu: &Cpu, task: &TaskShared) {
    if !cpu.terms.pauses_monitors() {
        return;
    }
    #[cfg(feature = "real")]
    if cpu.injected.lets_monitors_run_on() {
        return;
    }
    let less_urgent = cpu.tasks.by_rank().skip_while(|other| other.id != task.id);
    let preempted = less_urgent
        .skip(1)
        .find(|other| other.running_ready().is_some());
    if let Some(monitor) = preempted.and_then(|other| other.monitor.get()) {
        monitor.stop();
    }
}

/// With wall timers, lets the timer of the job that goes on now run again: it stood still, or fired
/// without effect, while its job was preempted.
pub(super) fn resume_preempted(cpu: &Cpu) {
    if !cpu.terms.has_wall_monitors() {
        return;
    }
    let mut tasks = cpu.tasks.by_rank();
    if let Some(task) = tasks.find(|task| task.running_ready().is_some()) {
        let bound = cpu.terms.bound_nanos;
        task.arm_for_the_rest(task.watched.least_wait(monotonic_nanos(), bound));
    }
}

/// What was counted when a job began.
#[derive(Clone, Copy, Debug)]
pub(super) struct JobWatch {
    counted: Counted,
    /// How often the thread had lost the CPU, where that bounds the activations.
    preempted: u64,
}

impl JobWatch {
    /// A job of `task` begins, if somebody watches the budgets of the CPU's jobs while they run.
    pub(super) fn begin(cpu: &Cpu, task: &TaskShared) -> Option<Self> {
        cpu.terms.counts_activations().then(|| Self {
            counted: task.watched.counted(),
            preempted: preempted(cpu),
        })
    }

    /// It has ended.
    pub(super) fn end(self, cpu: &Cpu, task: &TaskShared, job: &Ended) {
        let counted = task.watched.counted().since(self.counted);
        let activations = counted.activations;
        let bound = match cpu.terms.monitor {
            Monitor::Heartbeat | Monitor::Manager => {
                let pace = cpu.terms.heartbeat_nanos.unwrap_or(cpu.terms.bound_nanos);
                Some(bound_by_time(
                    job.finished.saturating_sub(job.release),
                    pace,
                ))
            }
            // Few jobs have more than one.
            Monitor::Remainder if activations > 1 => {
                let preempted = preempted(cpu).saturating_sub(self.preempted);
                Some(bound_by_preemptions(counted, preempted))
            }
            Monitor::Remainder => Some(1),
            Monitor::Perf | Monitor::PosixTimer => None,
        };
        task.watched.end_job(activations, bound);
    }
}

/// How often the calling thread has lost the CPU, where somebody wants to know.
fn preempted(cpu: &Cpu) -> u64 {
    match cpu.terms.monitor {
        Monitor::Remainder => own_switches().involuntary,
        Monitor::Perf | Monitor::Manager | Monitor::Heartbeat | Monitor::PosixTimer => 0,
    }
}

/// How often a monitor that comes every `pace` at most may come within a response time: as often as that fits, and once
/// where the job begins or ends.
const fn bound_by_time(response: u64, pace: u64) -> u64 {
    response.div_ceil(pace).saturating_add(1)
}

/// How often a monitor that keeps the remainder may come: once for each limit that was used up, at least once, and for each
/// time that the job lost the CPU to another thread than the manager that the monitor woke.
fn bound_by_preemptions(counted: Counted, preempted: u64) -> u64 {
    let by_others = preempted.saturating_sub(counted.from_job);
    counted.found.max(1).saturating_add(by_others)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_at_most_every_so_often_fits_into_a_time_so_often_and_once() {
        let times = [1, 99, 100, 101, 1_000].map(|response| bound_by_time(response, 100));
        assert_eq!(times, [2, 2, 2, 3, 11]);
    }

    #[test]
    fn what_keeps_the_remainder_comes_once_for_each_limit_and_each_preemption() {
        let counted = |from_job, found| Counted {
            activations: 0,
            from_job,
            found,
        };
        // It took the CPU from its job itself, and so did nobody else.
        assert_eq!(bound_by_preemptions(counted(1, 1), 1), 1);
        // Two preemptions by others; two of its own.
        assert_eq!(bound_by_preemptions(counted(1, 1), 3), 3);
        assert_eq!(bound_by_preemptions(counted(2, 2), 2), 2);
        assert_eq!(bound_by_preemptions(counted(0, 0), 0), 1);
    }
}
