//! An overrun checker: a thread beside the worker of a task, and above it, that looks whether the present job executes
//! beyond its overrun deadline D_o. Sigrist, Giannopoulou, Huang, Gomez and Thiele, RTAS 2015, section V-A.
//!
//! *Deadline-based*: the scheduler says what to watch when a job begins, and the checker sleeps for D_o. When it wakes,
//! after the job has executed C_cur, it calls the scheduler if C_cur >= D_o, and else sleeps for max(D_o - C_cur, T)
//! (equations 7 and 8; T is [`crate::Config::bound`]). The timer runs on while its job is preempted. *Heartbeat*: it looks
//! at each beat while there is something to watch. Whoever ends the job has it watch nothing.

use crate::account::{Duty, Thread, Wanted};
use crate::control::Activations;
use crate::evidence::{Intervals, NotedCpu};
use crate::meter::Meter;
use crate::pace::{LeastWait, next_beat};
use crate::sys::clock::monotonic_nanos;
use crate::sys::sched::{self, enter_real_time};
use crate::words::Watched;
use vestal_statistics::Histogram;

/// What a checker's thread is made of.
pub(crate) struct Checker {
    pub(crate) cpu: NotedCpu,
    pub(crate) index: usize,
    pub(crate) priority: i32,
}

impl Checker {
    /// Prepares the calling thread.
    pub(crate) fn set_up(&self) -> std::io::Result<()> {
        enter_real_time(self.cpu.processor, self.priority)?;
        if let Some(task) = self.cpu.tasks.get(self.index) {
            task.checker_tid.set(sched::own_tid());
        }
        Ok(())
    }

    /// Checks until the run ends.
    pub(crate) fn main(self) {
        let cpu = &self.cpu;
        let Some(task) = cpu.tasks.get(self.index) else {
            return;
        };
        if !cpu.phase.await_begin() {
            return;
        }
        let meter = Meter::start();
        let mut own = Intervals::of_this_thread(Thread::Checker(self.index), cpu);
        let mut checks = Checks {
            alarm: Alarm::new(cpu),
            activations: Activations::new(1),
            took: Histogram::default(),
        };
        while !cpu.stop_requested() {
            let calls = task.watch.calls();
            let began = monotonic_nanos();
            let has_found = checks.turn(cpu, self.index, began);
            let took = monotonic_nanos().saturating_sub(began);
            checks.took.record(took);
            if has_found {
                // The scheduler takes the CPU at once.
                cpu.kick_manager();
            }
            #[cfg(feature = "real")]
            own.delay_wait(Duty::Checker);
            own.wait_untraced(Duty::Checker);
            let until = checks.alarm.at;
            task.watch.wait_beyond(calls, until);
            let now = monotonic_nanos();
            let wanted = match until {
                Some(until) if until <= now => Wanted::Since(until),
                Some(_) | None => Wanted::ByTheManager,
            };
            own.wake(wanted, now);
        }
        own.leave();
        let _ = sched::set_other(sched::own_tid());
        let Checks {
            activations, took, ..
        } = checks;
        let found = (activations.count, activations.detected);
        cpu.accounts.beside().add(meter.used(), &took, found);
    }
}

/// One checker while the run goes on.
struct Checks {
    alarm: Alarm,
    activations: Activations,
    /// How long it took each time.
    took: Histogram,
}

impl Checks {
    /// Does what there is to do at `now`: takes what is to be watched, or looks at it. Says whether the scheduler is to be
    /// called.
    fn turn(&mut self, cpu: &NotedCpu, index: usize, now: u64) -> bool {
        let Some(task) = cpu.tasks.get(index) else {
            return false;
        };
        let watched = task.watch.watched();
        // One that has not begun has executed nothing.
        let executed = |watched: Watched| match task.jobs.running() {
            Some(sequence) if sequence == watched.sequence => task.jobs.executed().unwrap_or(0),
            Some(_) | None => 0,
        };
        let is_look = watched == self.alarm.watched && self.alarm.at.is_some_and(|at| at <= now);
        let Some(found) = watched else {
            self.alarm.watch(None, 0, now);
            return false;
        };
        let executed = executed(found);
        if !is_look {
            self.alarm.watch(Some(found), executed, now);
            return false;
        }
        self.activations.begin_round(now, true);
        let job = task.job(found.sequence);
        let planned = cpu.planned.as_ref();
        let has_cpu = planned.is_some_and(|plan| plan.names(job));
        task.watched.activate(now, has_cpu);
        #[cfg(feature = "real")]
        if cpu.injected.looks_away(self.activations.count) {
            self.alarm.look(0, now);
            return false;
        }
        match self.alarm.look(executed, now) {
            Looked::Within => {
                self.activations.note_within(0, found.sequence);
                false
            }
            Looked::Exceeded { beyond, is_news } => {
                if is_news {
                    self.activations.note_found(0, found.sequence, beyond);
                    task.watched.find();
                }
                task.overruns.raise(task.overruns.count() + 1);
                true
            }
        }
    }
}

/// What a look at a job found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Looked {
    /// It keeps its deadline.
    Within,
    /// It has exceeded it by so much, and was not found to before.
    Exceeded { beyond: u64, is_news: bool },
}

/// When the checker looks next.
#[derive(Debug)]
struct Alarm {
    /// Of a heartbeat: when the run began, and the period.
    beats: Option<(u64, u64)>,
    bound: u64,
    /// What it waits after a look at least.
    wait: u64,
    least: LeastWait<u64>,
    watched: Option<Watched>,
    /// A clock reading; `None`: not before it is called.
    at: Option<u64>,
    /// When it looked last.
    last: u64,
    /// What it watches was found to be exceeded.
    is_found: bool,
}

impl Alarm {
    fn new(cpu: &NotedCpu) -> Self {
        let period = cpu.terms.heartbeat_nanos;
        Self {
            beats: period.map(|period| (cpu.run.epoch(), period)),
            bound: cpu.terms.bound_nanos,
            wait: cpu.terms.bound_nanos,
            least: LeastWait::default(),
            watched: None,
            at: None,
            last: 0,
            is_found: false,
        }
    }

    /// From `now` on this is watched, of which so much was executed.
    fn watch(&mut self, watched: Option<Watched>, executed: u64, now: u64) {
        if self.watched == watched {
            return;
        }
        (self.watched, self.is_found) = (watched, false);
        self.wait = self.bound;
        self.at = watched.map(|watched| self.after(watched.deadline.saturating_sub(executed), now));
    }

    /// Looks at `now`, when so much was executed, and sleeps again.
    fn look(&mut self, executed: u64, now: u64) -> Looked {
        self.last = now;
        let deadline = self.watched.map_or(u64::MAX, |watched| watched.deadline);
        self.wait = match self.watched {
            Some(watched) if executed < deadline => {
                self.least.after(watched.sequence, executed, self.bound)
            }
            Some(_) | None => self.bound,
        };
        self.at = Some(self.after(deadline.saturating_sub(executed), now));
        match executed.checked_sub(deadline) {
            None => Looked::Within,
            // The scheduler answers with something else to watch. If it does not, it is called again.
            Some(beyond) => Looked::Exceeded {
                beyond,
                is_news: !std::mem::replace(&mut self.is_found, true),
            },
        }
    }

    /// When to look for a job that has so much left.
    fn after(&self, left: u64, now: u64) -> u64 {
        match self.beats {
            Some((epoch, period)) => next_beat(epoch, period, now),
            // Never sooner after a look than that, whatever came between.
            None => now
                .saturating_add(left)
                .max(self.last.saturating_add(self.wait)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JOB: Watched = Watched {
        sequence: 3,
        deadline: 8_000,
    };

    fn alarm(beats: Option<(u64, u64)>) -> Alarm {
        Alarm {
            beats,
            bound: 100,
            wait: 100,
            least: LeastWait::default(),
            watched: None,
            at: None,
            last: 0,
            is_found: false,
        }
    }

    /// Equations 7 and 8.
    #[test]
    fn it_sleeps_for_what_is_left_and_never_less_than_the_bound() {
        let mut alarm = alarm(None);
        alarm.watch(Some(JOB), 0, 10_000);
        assert_eq!(alarm.at, Some(18_000));
        // The same again, as after a preemption, changes nothing.
        alarm.watch(Some(JOB), 0, 12_000);
        assert_eq!(alarm.at, Some(18_000));
        assert_eq!(alarm.look(5_000, 18_000), Looked::Within);
        assert_eq!(alarm.at, Some(21_000));
        assert_eq!(alarm.look(7_999, 21_000), Looked::Within);
        assert_eq!(alarm.at, Some(21_100), "one was left");
        let found = |beyond, is_news| Looked::Exceeded { beyond, is_news };
        assert_eq!(alarm.look(8_000, 21_100), found(0, true));
        // Nobody answers.
        assert_eq!(alarm.at, Some(21_200));
        assert_eq!(alarm.look(8_100, 21_200), found(100, false));
        // The mode has risen.
        let above = Watched {
            deadline: 16_000,
            ..JOB
        };
        alarm.watch(Some(above), 8_150, 21_250);
        assert_eq!(alarm.at, Some(29_100));
        assert_eq!(alarm.look(16_000, 29_100), found(0, true));
        alarm.watch(None, 0, 29_200);
        assert_eq!(alarm.at, None);
        // A short job that follows at once.
        let short = Watched {
            sequence: 4,
            deadline: 5,
        };
        alarm.watch(Some(short), 0, 29_110);
        assert_eq!(alarm.at, Some(29_200));
    }

    /// The bound of the number of looks holds however the job is preempted: it executes a part of the time only.
    #[test]
    fn looks_are_no_more_than_the_response_time_divided_by_the_bound_and_one() {
        for every in [1, 2, 3, 7, 50, 1_000] {
            let mut alarm = alarm(None);
            alarm.watch(Some(JOB), 0, 0);
            let mut looks = 0;
            let now = loop {
                let now = alarm.at.unwrap();
                looks += 1;
                if alarm.look(now / every, now) != Looked::Within {
                    break now;
                }
            };
            assert!(looks <= now.div_ceil(alarm.bound) + 1, "{every}: {looks}");
            assert!(now >= JOB.deadline * every && now <= (JOB.deadline + 100) * every);
        }
    }

    /// It takes 12 us to give the CPU back after a look, and the bound is 10 us: what is left of the deadline in the end is less.
    #[test]
    fn a_job_gets_to_its_deadline_although_the_bound_is_shorter_than_a_switch() {
        let mut alarm = Alarm {
            bound: 10_000,
            wait: 10_000,
            ..alarm(None)
        };
        let job = Watched {
            sequence: 3,
            deadline: 400_000,
        };
        alarm.watch(Some(job), 0, 0);
        let (mut executed, mut looked) = (0, 0);
        for looks in 1.. {
            let now = alarm.at.unwrap();
            executed += (now - looked).saturating_sub(12_000);
            looked = now;
            if alarm.look(executed, now) != Looked::Within {
                break;
            }
            assert!(looks < 10, "{executed} executed at {now}");
        }
        assert!(executed < 500_000, "{executed}");
    }

    #[test]
    fn a_heartbeat_looks_at_each_beat_while_there_is_something_to_watch() {
        let mut alarm = alarm(Some((500, 1_000)));
        assert_eq!(alarm.at, None);
        alarm.watch(Some(JOB), 0, 10_000);
        assert_eq!(alarm.at, Some(10_500));
        assert_eq!(alarm.look(500, 10_500), Looked::Within);
        assert_eq!(alarm.at, Some(11_500));
        assert_eq!(alarm.look(1_500, 11_507), Looked::Within);
        assert_eq!(alarm.at, Some(12_500), "late beats are not caught up with");
        alarm.watch(None, 0, 11_600);
        assert_eq!(alarm.at, None);
    }
}
