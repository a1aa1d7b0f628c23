//! The scheduler: begins each sub-frame on all CPUs, and asks the domain what follows when all are through.

use super::{Order, Paper, Round, is_ending};
use crate::account::{Duty, Thread, Wanted};
use crate::error::message_of;
use crate::frames::common::MeetingPlace;
use crate::frames::domain::{Domain, Step, Turn};
use crate::frames::record::WalkRecord;
use crate::frames::waits::{self, OwnNotes};
use crate::frames::walker::span;
use crate::initialisation::Initialisation;
use crate::launch::SharedCpu;
use crate::meter::Meter;
use crate::parts::Part;
use crate::stamps::Stamp;
use crate::sys::clock::monotonic_nanos;
use crate::sys::sched::{enter_real_time, own_tid, set_other};
use crate::words::{Taken, Ticket};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use vestal_core::{BarrierId, Duration, Instant, JobId, TaskId};
use vestal_trace::Edge;

/// Which of the threads that are no workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Dispatcher,
    Scheduler,
    Checker,
}

impl Role {
    /// What notes call it.
    const fn thread(self) -> Thread {
        match self {
            Self::Dispatcher => Thread::Dispatcher,
            Self::Scheduler => Thread::Scheduler,
            Self::Checker => Thread::SubFrameChecker,
        }
    }
}

/// What one of the threads of the host is made of.
pub(super) struct Beside {
    pub(super) paper: Arc<Paper>,
    pub(super) role: Role,
    pub(super) priority: i32,
}

impl Beside {
    /// Prepares the calling thread; what it returns is reported to the starter.
    pub(super) fn set_up(&self) -> io::Result<()> {
        let Some(host) = self.paper.host() else {
            return Ok(());
        };
        enter_real_time(host.processor, self.priority)?;
        let [scheduler, checker] = &host.frame_tids;
        let tid = match self.role {
            Role::Dispatcher => &host.dispatcher_tid,
            Role::Scheduler => scheduler,
            Role::Checker => checker,
        };
        tid.set(own_tid());
        Ok(())
    }

    /// Does `work` from when the run begins until it ends; what it has against its scheduler ends the run.
    pub(super) fn work(
        self,
        work: impl FnOnce(&Paper, &SharedCpu, &mut OwnNotes, &mut WalkRecord) -> Step,
    ) -> WalkRecord {
        let mut record = WalkRecord::default();
        let Some(host) = self.paper.host() else {
            return record;
        };
        if !host.phase.await_begin() {
            return record;
        }
        let meter = Meter::start();
        let mut own = waits::notes_of(self.role.thread(), host);
        let work = || work(&self.paper, host, &mut own, &mut record);
        let failed = match catch_unwind(AssertUnwindSafe(work)) {
            Ok(outcome) => outcome
                .err()
                .map(|violation| format!("contract violated: {violation}")),
            Err(panic) => Some(message_of(panic.as_ref())),
        };
        if let Some(message) = failed {
            host.stop_for_manager(message);
        }
        host.phase.await_over();
        own.leave();
        let _ = set_other(own_tid());
        match self.role {
            Role::Scheduler => meter.stop(&host.accounts.manager),
            Role::Dispatcher => host.accounts.beside().dispatcher = meter.used(),
            Role::Checker => host.accounts.beside().checkers = meter.used(),
        }
        record
    }
}

/// Begins sub-frames until the run ends.
pub(super) fn main(beside: Beside) -> WalkRecord {
    beside.work(|paper, host, own, record| {
        let walks = paper.cpus.iter().enumerate();
        let walks = walks.filter(|(_, cpu)| !cpu.tasks.is_empty());
        let mut scheduling = Scheduling {
            walks: walks.map(|(index, _)| index).collect(),
            busy: Vec::with_capacity(paper.cpus.len()),
            firsts: Vec::with_capacity(paper.cpus.len()),
            jobs: Vec::new(),
            round: 0,
            paper,
            host,
            own,
            record,
        };
        scheduling.schedule()
    })
}

/// What is next.
enum Next {
    /// To meet the last workers of all CPUs at the end of this sub-frame.
    Meet(Started),
    /// To wait until a frame begins.
    Call,
    /// To look again.
    Again,
    /// Nothing any more.
    End,
}

/// A sub-frame that goes on.
#[derive(Clone, Copy)]
struct Started {
    barrier: BarrierId,
    round: Round,
    ticket: Ticket,
}

/// Since when something is awaited, as a clock reading.
#[derive(Clone, Copy)]
enum Since {
    /// The last job of all CPUs was complete, and the barrier was opened.
    Came(u64, u64),
    /// Nothing.
    Nothing,
}

/// The scheduler while the run goes on.
struct Scheduling<'r> {
    paper: &'r Paper,
    host: &'r SharedCpu,
    own: &'r mut OwnNotes,
    record: &'r mut WalkRecord,
    round: u64,
    /// The CPUs that have tasks.
    walks: Vec<usize>,
    /// Of those: which have jobs in the present sub-frame.
    busy: Vec<usize>,
    /// Whom to wake first, by CPU.
    firsts: Vec<(usize, TaskId)>,
    jobs: Vec<JobId>,
}

impl Scheduling<'_> {
    /// Sub-frame by sub-frame, until the run ends.
    fn schedule(&mut self) -> Step {
        // The threads are let go before the run begins.
        if self.await_call() != Taken::Posted {
            return Ok(());
        }
        let mut ended = None;
        while !is_ending(self.host) {
            match self.step(ended.take())? {
                Next::Meet(started) => {
                    let Some(opened) = self.meet(started) else {
                        break;
                    };
                    ended = Some((started.barrier, opened));
                }
                Next::Call => {
                    if self.await_call() != Taken::Posted {
                        break;
                    }
                }
                Next::Again => {}
                Next::End => break,
            }
        }
        Ok(())
    }

    /// Takes what has ended, and begins what is next.
    fn step(&mut self, ended: Option<(BarrierId, Stamp)>) -> Step<Next> {
        // The checker that looks from here on finds nothing.
        self.paper.watch.until.set(0);
        let common = &self.paper.common;
        let own = (&mut *self.own, None);
        let mut domain = waits::domain(common, own, Duty::Frame);
        domain.scheduler.sink().open();
        let since = common.stamps.now();
        let now = self.host.instant(since.monotonic);
        self.put_span(&mut domain, now, Edge::Begin);
        let next = self.decide(&mut domain, now, ended.map(|(barrier, _)| barrier));
        #[cfg(feature = "real")]
        self.own.delay_decision(ended.is_some());
        let done = common.stamps.since(since);
        let at = self.host.instant(since.monotonic.saturating_add(done));
        self.put_span(&mut domain, at, Edge::End);
        domain.scheduler.sink().close();
        self.record.handling.record(done);
        let spent = domain.take_spent();
        let begins = domain.frame();
        drop(domain);
        self.wake_first()?;
        let took = common.stamps.since(since);
        let mut of_all = std::mem::take(&mut self.record.of_all);
        let own = (took, Part::JobArrival);
        self.record.note_call(&mut of_all, spent, own);
        self.record.of_all = of_all;
        let clock = since.monotonic.saturating_add(took);
        let waited = match ended {
            Some((_, opened)) => Since::Came(self.last_came(), opened.monotonic),
            None => Since::Nothing,
        };
        self.note_delays(waited, (spent.decided, begins), clock);
        next
    }

    /// What has ended is told to the domain; if a sub-frame is open then, all that have jobs in it are given their orders.
    fn decide(
        &mut self,
        domain: &mut Domain,
        now: Instant,
        ended: Option<BarrierId>,
    ) -> Step<Next> {
        self.firsts.clear();
        if let Some(barrier) = ended
            && !self.tell_arrivals(domain, now, barrier)?
        {
            return Ok(Next::End);
        }
        match domain.open_barrier(now)? {
            Some(barrier) => self.initialise(domain, now, barrier),
            None => Ok(Next::Call),
        }
    }

    /// All CPUs that had jobs are through. Says whether the domain has decided: it does not any more when the run is to end.
    fn tell_arrivals(
        &mut self,
        domain: &mut Domain,
        now: Instant,
        barrier: BarrierId,
    ) -> Step<bool> {
        let mut is_last = false;
        let stations = &self.paper.stations;
        let came = |cpu: &usize| stations.get(*cpu).map_or(0, |station| station.came.get());
        self.busy.sort_unstable_by_key(came);
        for &cpu in &self.busy {
            let at = self.host.instant(came(&cpu)).min(now);
            is_last = domain.arrive(cpu, (at, now), barrier)?;
        }
        Ok(is_last)
    }

    /// Begins the sub-frame of this barrier.
    fn initialise(&mut self, domain: &mut Domain, now: Instant, barrier: BarrierId) -> Step<Next> {
        let has_jobs = |cpu: &usize| domain.first_job(*cpu).is_some();
        self.busy.clear();
        self.busy
            .extend(self.walks.iter().copied().filter(has_jobs));
        self.round += 1;
        let meeting = u32::try_from(self.busy.len().saturating_sub(1)).unwrap_or(u32::MAX);
        let round = Round {
            number: self.round,
            meeting,
        };
        let ticket = self.paper.common.meeting(meeting as usize);
        let ticket = ticket.map(MeetingPlace::ticket);
        self.paper
            .missing
            .set(u32::try_from(self.busy.len()).unwrap_or(u32::MAX));
        self.watch(domain);
        match self.paper.terms.initialisation {
            Initialisation::Global => self.give_all(domain, now, round)?,
            Initialisation::Distributed => self.let_each_give(round)?,
        }
        let is_over = self.tell_idle(domain, now, barrier)?;
        Ok(match ticket.filter(|_| !self.busy.is_empty()) {
            Some(ticket) => Next::Meet(Started {
                barrier,
                round,
                ticket,
            }),
            None if is_over => Next::Again,
            None => Next::End,
        })
    }

    /// Gives the workers of all CPUs their orders: no job begins before all have theirs.
    fn give_all(&mut self, domain: &mut Domain, now: Instant, round: Round) -> Step {
        for &cpu in &self.busy {
            // Before anybody can find that the sequence is taken.
            self.paper.common.begins(cpu, 0);
            let turn = domain.turn(cpu, now, &mut self.jobs)?;
            if let (Turn::Walk(_), Some(first)) = (turn, self.jobs.first()) {
                self.firsts.push((cpu, first.task));
                self.paper.give(cpu, &self.jobs, round)?;
            }
            #[cfg(feature = "real")]
            if let Some(cpu) = self.paper.cpus.get(cpu) {
                cpu.delay_initialisation();
            }
        }
        self.paper.ready.set(round.number);
        Ok(())
    }

    /// Lets the first task's worker of each CPU give the orders there.
    fn let_each_give(&mut self, round: Round) -> Step {
        let count = u32::try_from(self.busy.len()).unwrap_or(u32::MAX);
        self.paper.unprepared.set(count);
        for &cpu in &self.busy {
            let first = TaskId(0);
            self.paper.order(cpu, first, Order::Initialise(round))?;
            self.firsts.push((cpu, first));
        }
        Ok(())
    }

    /// CPUs without jobs in the sub-frame are through with it. Says whether all are.
    fn tell_idle(&mut self, domain: &mut Domain, now: Instant, barrier: BarrierId) -> Step<bool> {
        let mut is_last = false;
        for &cpu in self.walks.iter().filter(|cpu| !self.busy.contains(cpu)) {
            self.paper.common.begins(cpu, 0);
            domain.turn(cpu, now, &mut self.jobs)?;
            is_last = domain.arrive(cpu, (now, now), barrier)?;
        }
        Ok(is_last)
    }

    /// Wakes the first worker of each CPU.
    fn wake_first(&self) -> Step {
        for &(cpu, task) in &self.firsts {
            self.paper.wake(cpu, task)?;
        }
        Ok(())
    }

    /// Says to the checker by when the sub-frame that begins has to be over.
    fn watch(&self, domain: &Domain) {
        let level = self.busy.iter().find_map(|&cpu| {
            let job = domain.first_job(cpu)?;
            let task = domain.tasks.get(job.task.index())?;
            let (_, own) = task.home;
            let task = self.paper.cpus.get(cpu)?.tasks.of(own).ok()?;
            Some(task.configuration.task.criticality)
        });
        let due = level.and_then(|level| self.paper.due(domain.frame(), level));
        let watch = &self.paper.watch;
        let Some(due) = due else {
            return;
        };
        watch.since.set(monotonic_nanos());
        watch.until.set(self.host.run.clock_at(due.as_nanos()));
        if self.paper.terms.heartbeat.is_none() {
            watch.semaphore.post();
        }
    }

    /// Waits at the barrier; none if it was closed.
    fn meet(&mut self, started: Started) -> Option<Stamp> {
        let common = &self.paper.common;
        let meeting = common.meeting(started.round.meeting as usize)?;
        let own = (&mut *self.own, None);
        let at = (meeting, started.ticket);
        waits::meet(common, at, own, Duty::Frame, (self.record, true))
    }

    /// Waits until a frame begins.
    fn await_call(&mut self) -> Taken {
        self.own.wait_untraced(Duty::Frame);
        let taken = self.paper.calls.wait(None, monotonic_nanos);
        let now = monotonic_nanos();
        let wanted = taken.wanted(self.paper.called.get(), now);
        self.own.wake(Wanted::Since(wanted), now);
        taken
    }

    /// When the last job of all CPUs was complete.
    fn last_came(&self) -> u64 {
        let came = self.paper.stations.iter();
        came.map(|station| station.came.get()).max().unwrap_or(0)
    }

    /// Notes what frames lose; all is done by `clock`.
    fn note_delays(&mut self, waited: Since, (decided, frame): (Option<Part>, u64), clock: u64) {
        match waited {
            Since::Came(came, opened) => {
                self.record.opens.record(opened.saturating_sub(came));
                self.record.goes_on.record(clock.saturating_sub(opened));
            }
            Since::Nothing if decided == Some(Part::FrameInit) => {
                let start: Duration = self.paper.terms.length.saturating_mul(frame);
                let start = self.host.run.clock_at(start.as_nanos());
                self.record.begins.record(clock.saturating_sub(start));
            }
            Since::Nothing => {}
        }
    }

    /// It begins or ends to have the scheduler.
    fn put_span(&self, domain: &mut Domain, at: Instant, edge: Edge) {
        domain.scheduler.put(span(self.paper.terms.host, at, edge));
    }
}
