//! The CPU whose log a thread writes to, and what its threads have consumed.

use crate::cpu::Cpu;
use crate::sys::clock::cpu_nanos_of;
use std::sync::Arc;

/// A CPU, for a thread that notes what it does there.
pub(crate) type NotedCpu = Arc<Cpu>;

impl Cpu {
    /// The CPU time that the threads of the run have consumed on its CPU, bodies of jobs included. O(n),
    /// with a system call for each thread that does not wait.
    pub(crate) fn consumed(&self) -> u64 {
        // In the order of `Thread::index`.
        let others = [
            &self.manager_tid,
            &self.idle_tid,
            &self.watchdog_tid,
            &self.dispatcher_tid,
        ];
        let others = others.into_iter().chain(&self.frame_tids);
        let others = others.chain([&self.top_half_tid]);
        let of_tasks = self.tasks.iter();
        let of_tasks = of_tasks.flat_map(|task| [&task.jobs.tid, &task.checker_tid]);
        let tids = others.chain(of_tasks);
        // A thread that leaves has said what it consumed.
        let each = tids
            .zip(self.online.waiting())
            .map(|(tid, waiting)| waiting.unwrap_or_else(|| cpu_nanos_of(tid.get()).unwrap_or(0)));
        each.fold(0, u64::saturating_add)
    }
}

#[cfg(feature = "real")]
impl Cpu {
    /// Delays the calling thread where the workers of this CPU get their orders, if that is the fault.
    pub(crate) fn delay_initialisation(&self) {
        crate::fault::delay_initialisation(self);
    }
}
