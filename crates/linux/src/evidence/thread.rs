//! What a thread notes of itself: when it executes, and what it takes outside the bodies of jobs.
//!
//! A thread says when it gets the CPU, when a body begins and ends, and when it is about to wait, with what clocks
//! and kernel say then. The judge makes of it what they mean ([`crate::account`]).

use super::late::Late;
use super::noted::NotedCpu;
use crate::account::{Duty, Interval, Note, Parts, SWITCH_NANOS_MAX, Thread, Waited, Wanted};
use crate::notes::note_and_wait;
use crate::recording::Tracer;
use crate::sys::clock::{monotonic_nanos, own_cpu_nanos};
use crate::sys::schedstat::SchedStat;
use vestal_core::TaskId;

/// A look at the clocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClockLook {
    pub(crate) wall: u64,
    /// The thread's own clock.
    pub(crate) cpu: u64,
    /// What changes when another thread of the run notes anything, read just before or after.
    pub(crate) others: u64,
}

/// The notes of the calling thread about itself.
#[derive(Debug)]
pub(crate) struct Intervals {
    /// Whose log the notes go to.
    pub(super) cpu: NotedCpu,
    thread: Thread,
    stat: Option<SchedStat>,
    /// What the kernel had counted when the present interval began, or an earlier one.
    base: Waited,
    /// Of what it counted since: how long bodies, which others may preempt, had no CPU.
    body_waited: u64,
    /// Clock and CPU clock when the present interval began; while the thread waits, when it began to.
    began: u64,
    executed: u64,
    /// By how much the thread's own notes have changed the activity of the log.
    written: u64,
    /// The activity of others when the present interval began, or before.
    others: u64,
}

impl Intervals {
    /// Those of the calling thread of this CPU, whose first interval begins here.
    pub(crate) fn of_this_thread(thread: Thread, cpu: &NotedCpu) -> Self {
        let mut intervals = Self {
            cpu: NotedCpu::clone(cpu),
            thread,
            stat: SchedStat::of_this_thread().ok(),
            base: Waited::default(),
            body_waited: 0,
            began: monotonic_nanos(),
            executed: own_cpu_nanos(),
            written: 0,
            others: 0,
        };
        intervals.open(intervals.executed);
        intervals
    }

    /// Writes a note of this thread.
    pub(crate) fn note(&mut self, note: Note) {
        self.write(note);
    }

    /// The same; gives the activity of others until then.
    fn write(&mut self, note: Note) -> u64 {
        write(&self.cpu, &mut self.written, note)
    }

    /// Changes whenever another thread of the run notes anything. One Relaxed load.
    pub(crate) fn others(&self) -> u64 {
        self.cpu.notes.activity().wrapping_sub(self.written)
    }

    /// The clock when the CPU ended; none if it has not.
    pub(crate) fn stopped_at(&self) -> Option<u64> {
        Some(self.cpu.stopped_at.get()).filter(|&stopped| stopped > 0)
    }

    /// Whether no thread of the run has its CPU without saying so.
    pub(crate) fn says_who_is_there(&self) -> bool {
        self.cpu.terms.duties.is_walked()
    }

    /// Whether no task but this one has a job on its CPU that has begun and not ended, or ended and left no note since that its
    /// thread leaves the CPU.
    pub(crate) fn has_no_job_but(&self, task: TaskId) -> bool {
        let online = &self.cpu.online;
        let mut others = self.cpu.tasks.iter().filter(|other| other.id != task);
        others.all(|other| {
            let thread = Thread::Worker(other.id.index());
            let runs = || other.jobs.running().is_some();
            match thread == self.thread {
                true => !runs(),
                false => online.has_no_job(thread, runs),
            }
        })
    }

    /// Its job burns, and looks at the clock.
    pub(crate) fn burns(&self, now: u64) {
        self.cpu.online.burns(now);
    }

    /// Its job burns no more.
    pub(crate) fn burns_no_more(&self) {
        self.cpu.online.burns_no_more();
    }

    /// Delays the thread at this point of its code if that is the fault.
    #[cfg(feature = "real")]
    fn delay(&self, point: crate::fault::Point) {
        crate::fault::delay(&*self.cpu, point);
    }

    /// The same of a thread that is about to wait, done with this.
    #[cfg(feature = "real")]
    pub(crate) fn delay_wait(&self, duty: Duty) {
        self.delay(crate::fault::Point::BeforeWait(duty));
    }

    /// The same of a thread that has decided for all CPUs, because they had come to a barrier or not.
    #[cfg(feature = "real")]
    pub(crate) fn delay_decision(&self, had_come: bool) {
        self.delay(match had_come {
            true => crate::fault::Point::BarrierDecided,
            false => crate::fault::Point::FrameBegun,
        });
    }

    /// The same of the last at a barrier, before it lets the others go on.
    #[cfg(feature = "real")]
    pub(crate) fn delay_opening(&self) {
        self.delay(crate::fault::Point::BarrierOpens);
    }

    /// The same of a manager that has just got the CPU.
    #[cfg(feature = "real")]
    pub(crate) fn delay_round(&self) {
        self.delay(crate::fault::Point::RoundBegins);
    }

    /// The same of a worker before a body begins.
    #[cfg(feature = "real")]
    pub(crate) fn delay_job_start(&self) {
        self.delay(crate::fault::Point::JobStart);
    }

    /// The same of a job that burns, between its look at the clock and its look at who else had the CPU.
    #[cfg(feature = "real")]
    pub(crate) fn delay_burn_look(&self) {
        self.delay(crate::fault::Point::BurnLook);
    }

    /// The same of a worker that has read the clock at the end of a body.
    #[cfg(feature = "real")]
    pub(crate) fn delay_body_end(&self) {
        self.delay(crate::fault::Point::BodyEnd);
    }

    /// The same of a worker after a body has ended.
    #[cfg(feature = "real")]
    pub(crate) fn delay_job_end(&self) {
        self.delay(crate::fault::Point::JobEnd);
    }

    /// What the kernel counted of the thread until now; none without schedstat. A system call.
    pub(crate) fn count(&self) -> Option<Waited> {
        let counted = self.stat.as_ref()?.read()?;
        Some(Waited {
            nanos: counted.nanos,
            times: counted.times,
        })
    }

    /// Whether the kernel counts at all.
    pub(crate) const fn is_counted(&self) -> bool {
        self.stat.is_some()
    }

    /// What the kernel had counted when the present interval began, or an earlier one.
    pub(crate) const fn base(&self) -> Waited {
        self.base
    }

    /// The beginning of the present interval, as a look at the clocks.
    pub(crate) const fn beginning(&self) -> ClockLook {
        ClockLook {
            wall: self.began,
            cpu: self.executed,
            others: self.others,
        }
    }

    const fn since_base(&self, now: Waited) -> Waited {
        let nanos = now.nanos.saturating_sub(self.base.nanos);
        Waited {
            nanos: nanos.saturating_sub(self.body_waited),
            times: now.times.saturating_sub(self.base.times),
        }
    }

    /// What is counted from now on belongs to the next interval. Gives what was until now, if anything is.
    fn read_base(&mut self) -> Option<Waited> {
        let now = self.count();
        let until_now = now.map(|now| self.since_base(now));
        self.body_waited = 0;
        self.base = now.unwrap_or(self.base);
        until_now
    }

    /// An interval begins, of which the thread has executed what its CPU clock counted since it said
    /// `cpu`; gives what the kernel counted before.
    ///
    /// Whoever takes the CPU in here is between two intervals: the kernel's count is read first and the
    /// clock afterwards, so that what the thread waits here is in none, and what it executes is in the
    /// second. Were the clock older than the count, all that others do in between would be the thread's.
    fn open(&mut self, cpu: u64) -> Option<Waited> {
        let until_now = self.read_base();
        let executed = own_cpu_nanos().saturating_sub(cpu);
        self.began = monotonic_nanos().saturating_sub(executed);
        self.executed = cpu;
        until_now
    }

    /// The thread gets the CPU at `now`, which was read in an open group of its trace; it was `wanted` since,
    /// or since it asked the kernel to be woken, if that was later.
    pub(crate) fn wake(&mut self, wanted: Wanted, now: u64) {
        let thread = self.thread;
        self.cpu.online.wakes(thread);
        let asked = wanted.from(self.began);
        let begin = Note::Begin {
            thread,
            wanted: asked,
            now,
            burned: self.cpu.online.burns_no_more(),
        };
        self.others = self.write(begin);
        #[cfg(feature = "real")]
        if matches!(thread, Thread::Worker(_)) {
            self.delay(crate::fault::Point::Woken);
        }
        // What it waited for the CPU until now is no part of the interval.
        // Where nothing is counted it may have slept.
        let waited = self.open(self.executed).unwrap_or(Waited {
            nanos: 0,
            times: u64::MAX,
        });
        let opened = Note::Opened {
            thread,
            since: asked.since(),
            now,
            began: self.began,
            waited,
            alone: self.others == self.others(),
        };
        self.write(opened);
        // The watchdog may have another CPU.
        if thread != Thread::Watchdog
            && let Some(wanted) = wanted.since()
        {
            let (cpu, written) = (&self.cpu, &mut self.written);
            let late = Late {
                online: &cpu.online,
                tasks: &cpu.tasks,
                plan: cpu.planned.as_ref(),
            };
            let note = |note| {
                write(cpu, written, note);
            };
            late.look(thread, (wanted, now), || cpu.consumed(), note);
        }
    }

    /// The idle detector gets the CPU.
    pub(crate) fn wake_idle(&mut self) {
        self.cpu.online.wakes(self.thread);
        self.write(Note::Idle);
        self.open(self.executed);
    }

    /// A body begins at `now`, when the CPU clock says `cpu`: the interval is over.
    pub(crate) fn begin_body(&mut self, now: u64, cpu: u64) {
        self.close(Duty::JobStart, (now, cpu), false);
    }

    /// The body has ended, as a look said: an interval begins.
    pub(crate) fn end_body(&mut self, look: ClockLook) {
        self.others = look.others;
        let wall = look.wall.saturating_sub(self.began);
        let away = wall.saturating_sub(look.cpu.saturating_sub(self.executed));
        if away >= SWITCH_NANOS_MAX {
            self.open(look.cpu);
        } else {
            (self.began, self.executed) = (look.wall, look.cpu);
            self.body_waited = self.body_waited.saturating_add(away);
        }
    }

    /// The thread is about to wait: to be called last of all before it asks the kernel to. No group of `trace` is
    /// open.
    pub(crate) fn wait(&mut self, duty: Duty, trace: &Tracer) {
        trace.open();
        self.wait_untraced(duty);
        trace.close();
    }

    /// The same for a thread that records nothing.
    pub(crate) fn wait_untraced(&mut self, duty: Duty) {
        let (now, cpu) = (monotonic_nanos(), own_cpu_nanos());
        let thread = self.thread;
        note_and_wait(
            self,
            |own| own.close(duty, (now, cpu), true),
            |own| &own.cpu.online,
            (thread, cpu),
        );
    }

    /// The thread is done with `duty` and goes on with another one, without a wait. No group of `trace` is open.
    pub(crate) fn go_on(&mut self, duty: Duty, trace: &Tracer) {
        trace.open();
        self.close(duty, (monotonic_nanos(), own_cpu_nanos()), false);
        self.others = self.others();
        trace.close();
    }

    /// The thread leaves the run.
    pub(crate) fn leave(&self) {
        self.cpu.online.waits(self.thread, own_cpu_nanos());
    }

    /// The present interval ends at `now`, when the CPU clock says `cpu`.
    fn close(&mut self, duty: Duty, (now, cpu): (u64, u64), waits: bool) {
        let wall = now.saturating_sub(self.began);
        let executed = cpu.saturating_sub(self.executed);
        let is_missing = wall.saturating_sub(executed) >= SWITCH_NANOS_MAX;
        let counted = if is_missing { self.count() } else { None };
        let counted = counted.map(|counted| self.since_base(counted));
        // No thread of the run has the CPU before its manager, but for one that dispatches arrivals there. Who makes a worker wait may be another one, which
        // has noted something then.
        let alone = (self.thread == Thread::Manager && !self.cpu.terms.duties.has_dispatcher)
            || self.others == self.others();
        if let Some(counted) = counted {
            let parts = Parts::of(wall, executed, counted, alone);
            if parts.slept() >= SWITCH_NANOS_MAX {
                // It came back unannounced: whom it took the CPU from has not looked since.
                self.cpu.online.burns_no_more();
            }
        }
        let interval = Interval {
            thread: self.thread,
            duty,
            began: self.began,
            now,
            cpu: (self.executed, cpu),
            counted,
            alone,
            waits,
        };
        self.write(Note::Interval(interval));
        if counted.is_some() {
            self.read_base();
        }
        (self.began, self.executed) = (now, cpu);
    }
}

/// Writes a note of a thread whose own notes have changed the activity of the log by `own`; gives the activity of others
/// until then.
fn write(cpu: &NotedCpu, own: &mut u64, note: Note) -> u64 {
    let written = cpu.notes.write(note);
    *own = own.wrapping_add(written.step);
    written.activity.wrapping_sub(*own)
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use super::*;
    use crate::cpu::{Cpu, Terms};
    use crate::monitor::Monitor;
    use crate::task::TaskShared;
    use crate::words::Allowance;
    use std::sync::Arc;

    /// A job whose body looked at no clock until behind the end of the run may have had the CPU of another one that waited, and the word that shows
    /// it is off as soon as it is not: until its thread has noted that it leaves.
    #[test]
    fn a_job_that_has_ended_is_there_until_its_thread_says_that_it_leaves_the_cpu() {
        let tasks = [2, 3].map(|priority| TaskShared::in_test(priority, Allowance::Unlimited));
        let cpu = Cpu::in_test(tasks.into(), Terms::in_test(Monitor::Manager));
        let cpu = Arc::new(cpu);
        let [low, mut high] =
            [0, 1].map(|task| Intervals::of_this_thread(Thread::Worker(task), &cpu));
        let is_alone = || low.has_no_job_but(TaskId(0));
        let jobs = &cpu.tasks.of(TaskId(1)).unwrap().jobs;
        assert!(is_alone());
        let now = monotonic_nanos();
        high.wake(Wanted::Since(now), now);
        assert!(!is_alone(), "it is about to begin one");
        jobs.begin(0, 0);
        assert!(!is_alone());
        jobs.finish(0);
        assert!(!is_alone(), "it may have had the CPU until now");
        let before = low.others();
        high.wait_untraced(Duty::JobEnd);
        assert!(is_alone());
        assert_ne!(low.others(), before, "nothing says that it has left");
    }
}
