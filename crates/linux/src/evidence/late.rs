//! What a late job lacked at its deadline.
//!
//! A job that is late by a moment may be preempted in that moment, and end much later: its tardiness has
//! the jobs in it that were released since. To be in time it would have needed
//!
//! ```text
//! from its deadline to a later look at it  +  what it executes after that look
//! ```
//! if it had the CPU just before that look, so that nothing released before its deadline was in its way.
//! The first thread of the run that takes the CPU after the deadline, for something that came after it
//! too, looks. Where none could, the job lacked its whole tardiness.

use crate::account::{Note, TaskNote, Thread};
use crate::cpu::Planned;
use crate::notes::Online;
use crate::task::Tasks;
use vestal_core::TaskId;

/// What a look at late jobs needs of their CPU.
pub(super) struct Late<'a> {
    pub(super) online: &'a Online,
    pub(super) tasks: &'a Tasks,
    /// Under managed dispatch.
    pub(super) plan: Option<&'a Planned>,
}

impl Late<'_> {
    /// `thread` has taken the CPU at `now` for something that came at `wanted`. Looks at the job that it
    /// preempts, if that is late, and gives what there is to note; `consumed` says what all threads have used. O(1) where
    /// none is late, else O(n), with a system call for each thread of the run that does not wait.
    pub(super) fn look(
        &self,
        thread: Thread,
        (wanted, now): (u64, u64),
        consumed: impl Fn() -> u64,
        mut note: impl FnMut(Note),
    ) {
        let tasks = self.tasks.iter().map(|task| (&task.online, task));
        self.online.look_at_late(now, tasks, |task, due| {
            let looks = due <= wanted && self.had_the_cpu(thread, task.id);
            if looks
                && task.online.claim_look(due)
                && let Some(executed) = task.jobs.executed()
            {
                let looked = TaskNote::Looked {
                    due,
                    at: now,
                    executed,
                    consumed: consumed(),
                };
                note(Note::Task(task.id.index(), looked));
            }
            looks
        });
    }

    /// Whether the present job of a task ran, or could have, when `thread` took the CPU.
    fn had_the_cpu(&self, thread: Thread, id: TaskId) -> bool {
        let Ok(task) = self.tasks.of(id) else {
            return false;
        };
        let Some(sequence) = task.running_ready() else {
            return false;
        };
        if let Some(plan) = self.plan {
            return thread == Thread::Manager && plan.names(task.job(sequence));
        }
        self.tasks.iter().all(|other| {
            other.id == id
                || thread == Thread::Worker(other.id.index())
                || other.running_ready().is_none()
                || other.present_priority() < task.present_priority()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::{Cpu, Terms};
    use crate::monitor::Monitor;
    use crate::task::TaskShared;
    use std::collections::BTreeMap;
    use vestal_core::{Duration, Level, Service, Task, TaskConfiguration, Wcet};

    const WORKERS: [Thread; 3] = [Thread::Worker(0), Thread::Worker(1), Thread::Worker(2)];

    /// Three tasks, the most urgent first, of which the last two have jobs, due at 50.
    fn cpu() -> Cpu {
        let task = |fifo: i32| {
            let wcet = Wcet::new(&[Service::from_nanos(30)]).unwrap();
            let span = Duration::from_nanos(1_000);
            let configuration =
                TaskConfiguration::new(Task::new(Level(0), span, span, wcet).unwrap(), 1);
            TaskShared::new(
                fifo.to_string(),
                configuration,
                0,
                fifo,
                crate::words::Allowance::UpTo(1_000),
            )
        };
        let tasks = vec![task(5), task(4), task(3)];
        let cpu = Cpu::in_test(tasks, Terms::in_test(Monitor::Manager));
        for task in &cpu.tasks[1..] {
            // By the clock of this thread they have executed nothing.
            task.jobs.begin(7, u64::MAX);
            cpu.online.note_due(&task.online, 50);
        }
        cpu
    }

    /// When each job was looked at first by those who looked.
    struct Looks(Cpu, BTreeMap<usize, u64>);

    impl Looks {
        fn new() -> Self {
            Self(cpu(), BTreeMap::new())
        }

        fn look(&mut self, thread: Thread, wanted: u64, now: u64) -> [Option<u64>; 3] {
            let Self(cpu, looks) = self;
            let late = Late {
                online: &cpu.online,
                tasks: &cpu.tasks,
                plan: None,
            };
            late.look(
                thread,
                (wanted, now),
                || 0,
                |note| {
                    let Note::Task(task, TaskNote::Looked { at, .. }) = note else {
                        panic!("{note:?}");
                    };
                    looks.insert(task, at);
                },
            );
            [0, 1, 2].map(|task| looks.get(&task).copied())
        }
    }

    #[test]
    fn who_takes_the_cpu_after_a_deadline_looks_at_the_job_that_had_it() {
        let mut looks = Looks::new();
        assert_eq!(looks.look(WORKERS[0], 40, 45), [None; 3], "no job is late");
        let first = [None, Some(61), None];
        assert_eq!(looks.look(WORKERS[0], 60, 61), first, "the last one waited");
        assert_eq!(
            looks.look(WORKERS[0], 70, 71),
            first,
            "the first look counts"
        );
        let task = &looks.0.tasks[1];
        task.jobs.finish(7);
        task.online.is_not_due();
        let both = [None, Some(61), Some(81)];
        assert_eq!(looks.look(WORKERS[0], 80, 81), both);
    }

    #[test]
    fn what_came_before_the_deadline_says_nothing_when_it_comes_late() {
        let mut looks = Looks::new();
        assert_eq!(looks.look(Thread::Manager, 49, 110), [None; 3]);
        let look = [None, Some(120), None];
        assert_eq!(looks.look(Thread::Manager, 50, 120), look);
    }

    #[test]
    fn a_job_that_waits_for_one_more_urgent_is_not_looked_at() {
        let mut looks = Looks::new();
        looks.0.tasks[0].jobs.begin(3, u64::MAX);
        assert_eq!(looks.look(Thread::Manager, 60, 61), [None; 3]);
        // It is the one that takes the CPU.
        let look = [None, Some(62), None];
        assert_eq!(looks.look(WORKERS[0], 60, 62), look);
    }
}
