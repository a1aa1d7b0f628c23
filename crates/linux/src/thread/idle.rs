//! The idle detector: the thread that runs when no admitted job does.
//!
//! It has the lowest SCHED_FIFO priority of the run. Withdrawn jobs run in SCHED_OTHER, below it,
//! so they do not keep the CPU from counting as idle; and whoever else uses the CPU outside the
//! real-time classes does not either. Putting background jobs there rather than into a lower FIFO
//! priority has a second reason: a body that never ends would use up what RT throttling allows, and
//! the kernel would then stall the HI jobs of other programs with it.
//!
//! It sleeps until a thread wants to know, which is only the case above mode 0.

use crate::account::{Duty, Thread};
use crate::evidence::{Intervals, NotedCpu};
use crate::meter::Meter;
use crate::sys;
use crate::sys::sched::enter_real_time;

/// What the idle detector's thread is made of.
pub(crate) struct IdleDetector {
    pub(crate) cpu: NotedCpu,
    pub(crate) priority: i32,
}

impl IdleDetector {
    /// Prepares the calling thread.
    pub(crate) fn set_up(&self) -> std::io::Result<()> {
        enter_real_time(self.cpu.processor, self.priority)?;
        self.cpu.idle_tid.set(sys::sched::own_tid());
        Ok(())
    }

    /// Detects until the run ends.
    pub(crate) fn main(self) {
        let cpu = &self.cpu;
        let meter = Meter::start();
        let mut own = Intervals::of_this_thread(Thread::Idle, cpu);
        loop {
            if cpu.question.is_over() {
                break;
            } else if cpu.question.is_asked() {
                self.report();
            } else {
                own.wait_untraced(Duty::Idle);
                cpu.question.wait();
                own.wake_idle();
            }
        }
        own.leave();
        let _ = sys::sched::set_other(sys::sched::own_tid());
        meter.stop(&cpu.accounts.idle);
    }

    /// Runs, so no more urgent thread does: says so.
    fn report(&self) {
        let cpu = &self.cpu;
        #[cfg(feature = "real")]
        crate::fault::delay(&**cpu, crate::fault::Point::IdleAnswer);
        // A worker that completes from here on asks again.
        if cpu.question.answer() && cpu.is_running() {
            cpu.kick_manager();
        }
    }
}
