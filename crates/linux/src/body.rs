//! What a job body sees: which job it is, a way to consume CPU time, and its cancellation points.

use crate::account::{Note, STOLEN_NANOS_MIN, SWITCH_NANOS_MAX, Waited};
use crate::evidence::{ClockLook, Intervals, NotedCpu};
use crate::recording::Tracer;
use crate::suspension::Suspension;
use crate::sys::clock::{monotonic_nanos, own_cpu_nanos};
use crate::task::{Handover, Jobs};
use std::fmt;
use vestal_core::engine::uniprocessor::CPU;
use vestal_core::{Fact, Instant, JobId, Service};

/// The job lost its priority and came to a cancellation point. Bodies pass it on with `?`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled;

impl fmt::Display for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the job was cancelled")
    }
}

impl std::error::Error for Cancelled {}

/// One job of a task; its body is called once with it.
pub type Body = dyn FnMut(&mut JobContext<'_>) -> Result<(), Cancelled> + Send;

/// What a task's jobs do, and how much of it.
pub(crate) struct Bodies {
    pub(crate) body: Box<Body>,
    pub(crate) demand: Box<dyn FnMut(u64) -> Service + Send>,
}

/// What a job body may know and do.
#[derive(Debug)]
pub struct JobContext<'a> {
    /// With the clock of releases and deadlines, and under managed dispatch the plan.
    pub(crate) cpu: &'a NotedCpu,
    pub(crate) jobs: &'a Jobs,
    /// Under managed dispatch: by which the job says that it waits.
    pub(crate) handover: &'a Handover,
    pub(crate) suspension: &'a Suspension,
    pub(crate) job: JobId,
    /// Clock readings.
    pub(crate) release: u64,
    pub(crate) due: u64,
    pub(crate) demand: Service,
    pub(crate) saw_cancellation: bool,
    /// What the last look at the plan found; an inversion is counted when it begins.
    pub(crate) in_order: bool,
    pub(crate) trace: &'a mut Tracer,
    /// The notes of its thread.
    pub(crate) own: &'a mut Intervals,
    /// The last reading of what the kernel counts of the thread, or what the interval before the body began with.
    pub(crate) counted: Waited,
    /// The last look at the clocks; before the first, the beginning of the body.
    pub(crate) looked: ClockLook,
}

impl JobContext<'_> {
    /// Which job this is.
    #[must_use]
    pub const fn id(&self) -> JobId {
        self.job
    }

    /// When it was released.
    #[must_use]
    pub fn release(&self) -> Instant {
        self.cpu.instant(self.release)
    }

    /// When it is due.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        self.cpu.instant(self.due)
    }

    /// The present instant on the clock of releases and deadlines.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.cpu.instant(monotonic_nanos())
    }

    /// The execution that the scenario demands of this job.
    #[must_use]
    pub const fn demand(&self) -> Service {
        self.demand
    }

    /// The CPU time that this job has consumed.
    #[must_use]
    pub fn executed(&self) -> Service {
        Service::from_nanos(own_cpu_nanos().saturating_sub(self.jobs.account_base()))
    }

    /// Whether the job lost its priority: it exhausted its limit, the mode rose above its task, or the
    /// run ends. The body should then return; until it does, it runs in the background.
    #[must_use]
    pub fn cancelled(&mut self) -> bool {
        self.suspension.wait();
        self.observe(true);
        let cancelled = self.jobs.cancelled(self.job.sequence);
        self.saw_cancellation |= cancelled;
        cancelled
    }

    /// It was recorded that the job stopped, and it goes on after all.
    pub(crate) fn note_gone_on(&mut self) {
        self.trace.open();
        let at = self.now();
        let (cpu, job) = (CPU, self.job);
        self.trace.observed(at, Fact::Started { cpu, job });
        self.trace.close();
    }

    /// Under managed dispatch compares what runs, this job, with what the plan names. `listens`: the
    /// body can be suspended here. The plan ceases to name a suspended job together with its suspension, so
    /// who reads that it is not named looks whether it is suspended before it says so.
    pub(crate) fn observe(&mut self, listens: bool) {
        let Some(plan) = &self.cpu.planned else {
            return;
        };
        let named = loop {
            let named = plan.names(self.job);
            if named || !listens || !self.suspension.is_suspended() {
                break named;
            }
            self.suspension.wait();
        };
        // A demoted job runs in the background, with which no plan is concerned.
        let named = named || self.jobs.is_demoted(self.job.sequence);
        self.in_order = plan.observe(named, self.in_order);
    }

    /// A cancellation point.
    ///
    /// # Errors
    /// [`Cancelled`] if the job lost its priority.
    pub fn checkpoint(&mut self) -> Result<(), Cancelled> {
        if self.cancelled() {
            Err(Cancelled)
        } else {
            Ok(())
        }
    }

    /// Consumes `amount` of CPU time by the thread's own clock, with cancellation points all along.
    ///
    /// # Errors
    /// [`Cancelled`] if the job lost its priority before the amount was consumed.
    pub fn burn(&mut self, amount: Service) -> Result<(), Cancelled> {
        self.burn_while(amount, |job| !job.cancelled());
        self.checkpoint()
    }

    /// Consumes what [`Self::demand`] says.
    ///
    /// # Errors
    /// [`Cancelled`] if the job lost its priority before that.
    pub fn burn_demand(&mut self) -> Result<(), Cancelled> {
        self.burn(self.demand)
    }

    /// Consumes `amount` of CPU time without any cancellation point: a body that does not listen.
    pub fn burn_deaf(&mut self, amount: Service) {
        self.burn_while(amount, |job| {
            job.observe(false);
            true
        });
    }

    /// Every round reads the clock and the thread's account of CPU time. A jump of the clock between
    /// two rounds with no execution of another thread of the run in between is stolen time, and so is what
    /// passes between the last such execution and the first round after it. A job in the background, or
    /// one that is suspended without effect, cannot tell, because any thread may preempt it.
    fn burn_while(&mut self, amount: Service, mut goes_on: impl FnMut(&mut Self) -> bool) {
        self.note_away();
        let end = self.looked.cpu.saturating_add(amount.as_nanos());
        let mut kept = self.keeps_its_priority();
        loop {
            // The last round too ends with a look at the clock: stolen time that the kernel charged to
            // this thread may be what completes the amount.
            let cpu = own_cpu_nanos();
            let goes_on = cpu < end && goes_on(self);
            let before = self.looked;
            let mut wall = monotonic_nanos();
            #[cfg(feature = "real")]
            self.own.delay_burn_look();
            let mut others = self.own.others();
            let keeps = self.keeps_its_priority();
            if keeps {
                if others != before.others {
                    // They may have come between the two readings above: then the next jump is not theirs.
                    others = self.own.others();
                    wall = self.note_resumed(before.wall);
                } else if wall.saturating_sub(before.wall) >= STOLEN_NANOS_MIN {
                    self.note_jump((before.wall, wall), cpu - before.cpu);
                }
                self.own.burns(wall);
            } else if kept {
                self.note_met_by_the_end(before, (wall, cpu), others);
            }
            kept = keeps;
            self.looked = ClockLook { wall, cpu, others };
            if !goes_on {
                break;
            }
        }
        self.own.burns_no_more();
    }

    /// No other thread than one that is more urgent may preempt the job.
    pub(crate) fn keeps_its_priority(&self) -> bool {
        !self.jobs.is_demoted(self.job.sequence) && !self.suspension.is_suspended()
    }

    /// Looks at the clocks for the first time after something else than burning, and notes how long the thread
    /// was ready meanwhile and had no CPU: if no thread of the run had it, another one did.
    fn note_away(&mut self) {
        let before = self.looked;
        self.looked = ClockLook {
            others: self.own.others(),
            wall: monotonic_nanos(),
            cpu: own_cpu_nanos(),
        };
        let keeps = self.keeps_its_priority();
        if let Some((since, waited)) = self.away_since(before, keeps) {
            self.trace.open();
            let now = monotonic_nanos();
            self.own.note(Note::Away { since, now, waited });
            self.trace.close();
        }
    }

    /// How long the thread was ready and had no CPU from a look until the last one. If threads of the run have noted something in
    /// between, since when that was: then only where none has the CPU without saying so. `keeps`: the job had its priority all that time.
    fn away_since(&mut self, before: ClockLook, keeps: bool) -> Option<(Option<u64>, u64)> {
        let executed = self.looked.cpu.saturating_sub(before.cpu);
        let wall = self.looked.wall.saturating_sub(before.wall);
        let away = wall.saturating_sub(executed);
        if away < SWITCH_NANOS_MAX {
            return None;
        }
        // What the kernel counts goes on after the look.
        let waited = self.count_since().nanos.min(away);
        let since = (self.looked.others != before.others).then_some(before.wall);
        let can_tell = since.is_none() || self.own.says_who_is_there();
        (can_tell && waited >= SWITCH_NANOS_MAX && keeps).then_some((since, waited))
    }

    /// The body has returned: the last look at the clocks, with which an interval outside bodies begins. What was taken from the
    /// thread since the look before is noted; just after one that costs no system call more. `keeps`: the job
    /// had its priority until it returned. If `opens`, the group of records that begins here stays open.
    pub(crate) fn end(&mut self, keeps: bool, opens: bool) -> ClockLook {
        let before = self.looked;
        let cpu = own_cpu_nanos();
        self.trace.open();
        // Whoever comes after this is in the interval.
        let others = self.own.others();
        let wall = monotonic_nanos();
        self.looked = ClockLook { wall, cpu, others };
        if wall.saturating_sub(before.wall) >= SWITCH_NANOS_MAX
            && let Some((since, waited)) = self.away_since(before, keeps)
        {
            let now = wall;
            self.own.note(Note::Away { since, now, waited });
        }
        if !opens {
            self.trace.close();
        }
        self.looked
    }

    /// What the kernel counted of this thread since the last reading, which this one replaces.
    fn count_since(&mut self) -> Waited {
        let before = self.counted;
        let now = self.own.count().unwrap_or(before);
        self.counted = now;
        Waited {
            nanos: now.nanos.saturating_sub(before.nanos),
            times: now.times.saturating_sub(before.times),
        }
    }

    /// Between two looks the job lost its priority. If it is the end of the run that met it, what was stolen until then no thread
    /// has noted that lives elsewhere: since the look, or since another thread of the run was the last to say that it leaves the
    /// CPU. Then no other job may wait for it too, which may have had it unnoted.
    fn note_met_by_the_end(&mut self, before: ClockLook, (wall, cpu): (u64, u64), others: u64) {
        if self.jobs.lost_its_priority(self.job.sequence) || self.suspension.is_suspended() {
            return;
        }
        let stopped = self.own.stopped_at().unwrap_or(wall).min(wall);
        if stopped.saturating_sub(before.wall) < STOLEN_NANOS_MIN {
            return;
        }
        let since = self.count_since();
        // The kernel's count goes on until it is read: what the job waited after the stop is none of the time before.
        let after = monotonic_nanos().saturating_sub(stopped);
        let charged = cpu.min(self.jobs.at_stop()).saturating_sub(before.cpu);
        if others == before.others {
            self.own.note(Note::Jump {
                from: before.wall,
                to: stopped,
                charged,
                counted: self.own.is_counted().then_some(since),
            });
        } else if self.own.has_no_job_but(self.job.task)
            && let Some(note) = kept_until((before.wall, stopped), charged, (since.nanos, after))
        {
            self.own.note(note);
        }
    }

    /// The clock jumped from one reading to the next, with `charged` on this thread's account.
    fn note_jump(&mut self, (from, to): (u64, u64), charged: u64) {
        let since = self.count_since();
        self.trace.open();
        // Read again within the group.
        let seen = monotonic_nanos();
        let jump = Note::Jump {
            from: from.saturating_add(seen - to),
            to: seen,
            charged,
            counted: self.own.is_counted().then_some(since),
        };
        self.own.note(jump);
        self.trace.close();
    }

    /// Other threads of the run had the CPU since this one looked at the clock at `looked`. Gives the clock of a
    /// new look, which is later than all of them.
    fn note_resumed(&mut self, looked: u64) -> u64 {
        let since = self.count_since();
        self.trace.open();
        let now = monotonic_nanos();
        let resumed = Note::Resumed {
            looked,
            now,
            waited: since.nanos,
        };
        self.own.note(resumed);
        self.trace.close();
        now
    }
}

/// A burning job looked at the clock at `looked`, other threads of the run had the CPU since, and the run was `stopped` before it got that back: what
/// is to be noted, if it waited for the CPU all the time: that was counted until `after` the stop. What it executed (`charged`), or slept,
/// is the run's own.
fn kept_until(
    (looked, stopped): (u64, u64),
    charged: u64,
    (waited, after): (u64, u64),
) -> Option<Note> {
    let away = stopped.saturating_sub(looked);
    let waited = waited.saturating_sub(after);
    let waits = waited.saturating_add(SWITCH_NANOS_MAX) >= away;
    (waits && charged < SWITCH_NANOS_MAX).then_some(Note::Resumed {
        looked,
        now: stopped,
        waited,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// It looked at 1 ms, and the run was stopped at 9 ms.
    #[test]
    fn who_waited_for_the_cpu_until_the_run_was_stopped_was_kept_from_it() {
        let counted_until =
            |after, charged, waited| kept_until((MS, 9 * MS), charged, (waited, after));
        let kept = |charged, waited| counted_until(0, charged, waited);
        let note = |waited| {
            Some(Note::Resumed {
                looked: MS,
                now: 9 * MS,
                waited,
            })
        };
        assert_eq!(kept(5_000, 8 * MS - 5_000), note(8 * MS - 5_000));
        // The kernel's count goes on until it is read.
        assert_eq!(counted_until(22 * MS, 0, 30 * MS), note(8 * MS));
        // It slept for 1 ms, and waited for as long after the stop.
        assert_eq!(counted_until(MS, 0, 8 * MS), None);
        // It slept, or it had the CPU itself.
        assert_eq!(kept(0, 6 * MS), None);
        assert_eq!(kept(3 * MS, 5 * MS), None);
        assert_eq!(kept(3 * MS, 30 * MS), None);
    }
}
