//! The dispatcher of arrivals: a thread that sleeps until the next one, registers it with the scheduler, and calls that.
//! Sigrist, Giannopoulou, Huang, Gomez and Thiele, RTAS 2015, section VI-A.
//!
//! There is one for each CPU of the set, above its manager, which is the scheduler of the paper; or on a processor that
//! has no workers. It sleeps on the phase of its CPU with a timeout, by the same clock as `clock_nanosleep`, so that the
//! end of the run ends its sleep.

use crate::account::{Duty, Thread, Wanted};
use crate::evidence::{Intervals, NotedCpu};
use crate::meter::Meter;
use crate::sys::Processor;
use crate::sys::clock::monotonic_nanos;
use crate::sys::sched::{self, enter_real_time};
use crate::words::Stage;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use vestal_core::TaskId;
use vestal_statistics::Histogram;

/// What a dispatcher's thread is made of.
pub(crate) struct Dispatcher {
    pub(crate) cpu: NotedCpu,
    pub(crate) processor: Processor,
    pub(crate) priority: i32,
}

impl Dispatcher {
    /// Whether it takes time of its CPU.
    fn is_here(&self) -> bool {
        self.processor == self.cpu.processor
    }

    /// Prepares the calling thread.
    pub(crate) fn set_up(&self) -> std::io::Result<()> {
        enter_real_time(self.processor, self.priority)?;
        if self.is_here() {
            self.cpu.dispatcher_tid.set(sched::own_tid());
        }
        Ok(())
    }

    /// Dispatches until the run ends.
    pub(crate) fn main(self) {
        let cpu = &self.cpu;
        if !cpu.phase.await_begin() {
            return;
        }
        let meter = Meter::start();
        let mut own = self
            .is_here()
            .then(|| Intervals::of_this_thread(Thread::Dispatcher, cpu));
        let (mut arrivals, mut took) = (Arrivals::new(cpu), Histogram::default());
        while cpu.is_running() {
            let (next, now) = (arrivals.next(), monotonic_nanos());
            if next > now {
                if let Some(own) = &mut own {
                    #[cfg(feature = "real")]
                    own.delay_wait(Duty::Dispatcher);
                    own.wait_untraced(Duty::Dispatcher);
                }
                cpu.phase.wait_while(Stage::Running, Some(next));
                let now = monotonic_nanos();
                if let Some(own) = &mut own {
                    own.wake(Wanted::Since(next), now);
                }
                continue;
            }
            arrivals.register(cpu, now);
            took.record(monotonic_nanos().saturating_sub(now));
            // Last of all, so that nothing is missing when it looks.
            cpu.kick_manager();
        }
        if let Some(own) = &own {
            own.leave();
        }
        let _ = sched::set_other(sched::own_tid());
        let mut beside = cpu.accounts.beside();
        beside.dispatcher = meter.used();
        if self.is_here() {
            beside.arrivals = took;
        }
    }
}

/// The next arrival of each task.
struct Arrivals {
    timers: BinaryHeap<Reverse<(u64, TaskId, u64)>>,
    /// Nothing arrives from then on.
    end: u64,
}

impl Arrivals {
    fn new(cpu: &NotedCpu) -> Self {
        let first = cpu.tasks.iter().map(|task| {
            let release = cpu.run.clock_at(task.release_of(0));
            Reverse((release, task.id, 0))
        });
        Self {
            timers: first.collect(),
            end: cpu.run.end.get(),
        }
    }

    /// When the next one is, as a clock reading.
    fn next(&self) -> u64 {
        let first = self.timers.peek().map(|&Reverse((release, ..))| release);
        first.filter(|&at| at < self.end).unwrap_or(u64::MAX)
    }

    /// Registers all that have come until `now`.
    fn register(&mut self, cpu: &NotedCpu, now: u64) {
        while let Some(&Reverse((release, id, sequence))) = self.timers.peek()
            && release <= now
            && release < self.end
        {
            self.timers.pop();
            if let Ok(task) = cpu.tasks.of(id) {
                task.release_counter.note_release(sequence);
                let sequence = sequence + 1;
                let next = cpu.run.clock_at(task.release_of(sequence));
                self.timers.push(Reverse((next, id, sequence)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::{Cpu, Terms};
    use crate::monitor::Monitor;
    use crate::task::TaskShared;
    use crate::words::Allowance;
    use vestal_core::{Duration, Level, Service, Task, TaskConfiguration, Wcet};

    fn task(period_ms: u64, offset_ms: u64) -> TaskShared {
        let period = Duration::from_millis(period_ms);
        let wcet = Wcet::new(&[Service::from_millis(1)]).unwrap();
        let model = Task::new(Level(0), period, period, wcet).unwrap();
        let configuration = TaskConfiguration::new(model, 1);
        let (name, offset) = (String::new(), offset_ms * 1_000_000);
        TaskShared::new(name, configuration, offset, 2, Allowance::Unlimited)
    }

    #[test]
    fn each_arrival_is_registered_when_it_has_come_and_none_at_the_end() {
        const MS: u64 = 1_000_000;
        let tasks = vec![task(10, 0), task(25, 5)];
        let cpu = NotedCpu::new(Cpu::in_test(tasks, Terms::in_test(Monitor::Manager)));
        let epoch = 7 * MS;
        cpu.run.epoch.set(epoch);
        cpu.run.end.set(epoch + 40 * MS);
        let mut arrivals = Arrivals::new(&cpu);
        let counts = |cpu: &NotedCpu| -> Vec<u64> {
            let tasks = cpu.tasks.iter();
            tasks.map(|task| task.release_counter.next()).collect()
        };
        let mut seen = Vec::new();
        while arrivals.next() < u64::MAX {
            let next = arrivals.next();
            arrivals.register(&cpu, next - 1);
            assert_eq!(arrivals.next(), next, "it has not come yet");
            arrivals.register(&cpu, next);
            seen.push(((next - epoch) / MS, counts(&cpu)));
        }
        let expected = [
            (0, vec![1, 0]),
            (5, vec![1, 1]),
            (10, vec![2, 1]),
            (20, vec![3, 1]),
            (30, vec![4, 2]),
        ];
        assert_eq!(seen, expected);
        // Who is late registers all of them at once.
        let mut late = Arrivals::new(&cpu);
        late.register(&cpu, epoch + 100 * MS);
        assert_eq!((late.next(), counts(&cpu)), (u64::MAX, vec![4, 2]));
    }
}
