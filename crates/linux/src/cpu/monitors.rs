//! The monitors of a CPU's jobs: who takes the CPU from a job pauses its monitor, who gives it back resumes it, and what they
//! take is counted.

use super::terms::{ActivationBound, Terms};
use crate::sys::clock::monotonic_nanos;
use crate::sys::sched::own_switches;
use crate::task::{Counted, TaskShared, Tasks};
use vestal_core::TaskId;

/// What a thread still does at least, from when it sets the timer of the job that goes on after it until that has the CPU: it notes its
/// end and asks the kernel to wait, which switches. A timer that ran during that would look in vain.
const GIVES_BACK_NANOS: u64 = 15_000;

/// A job of `task` begins: the monitor of the job that it took the CPU from stands still until that goes on. One that blocks
/// in its body is more urgent, and stays watched.
pub(super) fn pause_preempted(tasks: &Tasks, task: TaskId) {
    let less_urgent = tasks.by_rank().skip_while(|other| other.id != task);
    let preempted = less_urgent
        .skip(1)
        .find(|other| other.running_ready().is_some());
    if let Some(monitor) = preempted.and_then(|other| other.monitor.get()) {
        monitor.stop();
    }
}

/// Lets the timer of the job that goes on now run again: it stood still, or fired without effect, while its job was
/// preempted.
pub(super) fn resume_preempted(tasks: &Tasks, bound: u64) {
    if let Some(task) = most_urgent(tasks) {
        let least = task.watched.least_wait(monotonic_nanos(), bound);
        task.arm_for_the_rest_in(GIVES_BACK_NANOS, least);
    }
}

/// Of all jobs that have begun and may run, whose has the CPU, or gets it next.
fn most_urgent(tasks: &Tasks) -> Option<&TaskShared> {
    let mut by_rank = tasks.by_rank();
    by_rank.find(|task| task.running_ready().is_some())
}

/// Counts an activation of the monitor at `now` for the jobs that it is about: a heartbeat's for all that have begun, a
/// timer's for that of the task with the index `fired`, another one's for the job that had the CPU.
pub(crate) fn count_activation(tasks: &Tasks, terms: &Terms, now: u64, fired: Option<usize>) {
    let running = most_urgent(tasks).map(|task| task.id);
    for task in tasks {
        let had_cpu = running == Some(task.id);
        let is_about = match fired {
            _ if terms.heartbeat_nanos.is_some() => true,
            Some(fired) => task.id.index() == fired,
            None => had_cpu,
        };
        if is_about && task.jobs.running().is_some() {
            task.watched.activate(now, had_cpu);
        }
    }
}

/// What was counted when a job began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JobWatch {
    counted: Counted,
    /// How often the thread had lost the CPU, where that bounds the activations.
    preempted: u64,
}

impl JobWatch {
    /// A job of `task` begins on the calling thread, if somebody watches the budgets of the CPU's jobs while they run.
    pub(crate) fn begin(terms: &Terms, task: &TaskShared) -> Option<Self> {
        terms.counts_activations().then(|| Self {
            counted: task.watched.counted(),
            preempted: match terms.activation_bound() {
                ActivationBound::EachPreemption => own_switches().involuntary,
                ActivationBound::Every(_) | ActivationBound::Unknown => 0,
            },
        })
    }

    /// It has ended, so long after its release.
    pub(crate) fn end(self, terms: &Terms, task: &TaskShared, response: u64) {
        let counted = task.watched.counted().since(self.counted);
        let activations = counted.activations;
        let bound = match terms.activation_bound() {
            ActivationBound::Every(pace) => Some(bound_by_time(response, pace)),
            // Few jobs have more than one.
            ActivationBound::EachPreemption if activations > 1 => {
                let preempted = own_switches().involuntary;
                let preempted = preempted.saturating_sub(self.preempted);
                Some(bound_by_preemptions(counted, preempted))
            }
            ActivationBound::EachPreemption => Some(1),
            ActivationBound::Unknown => None,
        };
        task.watched.end_job(activations, bound);
    }
}

/// How often a monitor that comes every `pace` at most may come within a response time: as often as that fits, and once
/// where the job begins or ends.
const fn bound_by_time(response: u64, pace: u64) -> u64 {
    response.div_ceil(pace).saturating_add(1)
}

/// How often a monitor that keeps the remainder may come: once for each limit that was used up, at least once, for each
/// time that the job lost the CPU to another thread than the manager that the monitor woke, and for each time that a manager
/// which dispatches found that the job had not had the CPU for all of the time since it set the timer.
fn bound_by_preemptions(counted: Counted, preempted: u64) -> u64 {
    let by_others = preempted.saturating_sub(counted.from_job);
    let by_thread = counted.found.max(1).saturating_add(by_others);
    by_thread.saturating_add(counted.interrupted)
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
            interrupted: 0,
        };
        // It took the CPU from its job itself, and so did nobody else.
        assert_eq!(bound_by_preemptions(counted(1, 1), 1), 1);
        // Two preemptions by others; two of its own.
        assert_eq!(bound_by_preemptions(counted(1, 1), 3), 3);
        assert_eq!(bound_by_preemptions(counted(2, 2), 2), 2);
        assert_eq!(bound_by_preemptions(counted(0, 0), 0), 1);
        let interrupted = Counted {
            interrupted: 1,
            ..counted(2, 1)
        };
        assert_eq!(bound_by_preemptions(interrupted, 2), 2);
    }
}
