//! The top half: the thread that waits for the devices of its CPU, and tells the manager which of them want their bottom halves.
//!
//! It has a priority above all workers and below the manager. It reads nothing, because what it takes has no budget: it is called
//! once for each device that was unmasked, and what it costs is in the report.

use crate::account::{Duty, Note, Thread, Wanted};
use crate::evidence::{Intervals, NotedCpu};
use crate::meter::Meter;
use crate::sys::clock::monotonic_nanos;
use crate::sys::sched::{self, enter_real_time};
use crate::words::Cause;

/// What a top half's thread is made of.
pub(crate) struct TopHalf {
    pub(crate) cpu: NotedCpu,
    pub(crate) priority: i32,
}

impl TopHalf {
    /// Prepares the calling thread.
    pub(crate) fn set_up(&self) -> std::io::Result<()> {
        enter_real_time(self.cpu.processor, self.priority)?;
        self.cpu.top_half_tid.set(sched::own_tid());
        Ok(())
    }

    /// Waits for devices until the run ends.
    pub(crate) fn main(self) {
        if self.cpu.phase.await_begin() {
            self.work();
        }
        // The thread stays until all leave: its number must not name another thread, which who ends the run would demote.
        self.cpu.phase.await_over();
    }

    fn work(&self) {
        let cpu = &self.cpu;
        let meter = Meter::start();
        let mut own = Intervals::of_this_thread(Thread::TopHalf, cpu);
        while cpu.is_running() {
            #[cfg(feature = "real")]
            own.delay_wait(Duty::TopHalf);
            own.wait_untraced(Duty::TopHalf);
            let ready = match cpu.devices.wait() {
                Ok(Some(ready)) => ready,
                Ok(None) => break,
                // Nobody would hear of the devices any more.
                Err(_) => {
                    cpu.run.request_stop(Cause::SetupFailed);
                    break;
                }
            };
            let now = monotonic_nanos();
            own.wake(Wanted::Since(now), now);
            let mut any = false;
            for device in cpu.devices.of(&ready) {
                any |= device.raise(now);
            }
            #[cfg(feature = "real")]
            for place in ready.tags().filter(|_| cpu.injected.never_masks()) {
                let _ = cpu.devices.hear(place);
            }
            if any {
                // Last of all, so that nothing is missing when it looks.
                let now = monotonic_nanos();
                own.note(Note::Leaves { now });
                cpu.kick_manager();
            }
        }
        own.leave();
        let _ = sched::set_other(sched::own_tid());
        meter.stop(&cpu.accounts.top_half);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::{Cpu, Terms};
    use crate::monitor::Monitor;

    #[test]
    fn its_thread_is_there_until_all_priorities_of_the_run_were_taken() {
        for begins in [false, true] {
            let cpu = Cpu::in_test(Vec::new(), Terms::in_test(Monitor::Manager));
            let cpu = NotedCpu::new(cpu);
            let top_half = TopHalf {
                cpu: NotedCpu::clone(&cpu),
                priority: 1,
            };
            if begins {
                cpu.phase.begin();
            }
            // By the watchdog, which has not come to the thread's number yet.
            assert!(cpu.phase.end());
            let thread = std::thread::spawn(|| top_half.main());
            crate::sys::event::sleep_until(monotonic_nanos() + 50_000_000);
            assert!(!thread.is_finished(), "{begins}");
            cpu.phase.close();
            thread.join().unwrap();
        }
    }
}
