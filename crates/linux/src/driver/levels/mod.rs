//! *Levels on several CPUs*: the manager of one CPU, which has levels A and B of its own, and of level C what whoever decides for all CPUs
//! offers it ([`crate::levels`]).
//!
//! ```text
//! ends, charges, releases -> own domain decides -> told whether the CPU is open
//!                                 |                            |
//!            wants the CPU: the guest stops, A or B goes on    |
//!                                 +----------------------------+-> comes for the turn, if anybody has to look
//!                                                              +-> takes what it is offered, if it is open
//! ```
//! No manager waits for another one: nobody waits for the turn. Own jobs are carried out before the manager comes for it, but begin when
//! it waits again, for it has the CPU until then: so a job of level A or B pays for one settlement, of four rounds at
//! most if the CPU was open, and one if it was not ([`crate::levels`]).
//!
//! | class | where | who |
//! |---|---|---|
//! | manager | the highest SCHED_FIFO priority of the run | the manager |
//! | run | SCHED_FIFO below it | the worker of the job that has the CPU, and workers without a job, which are blocked |
//! | suspended | SCHED_FIFO below that | workers whose job was stopped; guests and, where the CPU is for others, own ones are held besides |
//! | others | SCHED_OTHER | level D, of which no manager knows |

mod common;
mod demand;
mod fault;
mod guest;
mod hands;
mod looks;
mod memory;
mod own;
mod parts;
mod releases;
mod share;

pub(crate) use common::{Common, Home};
pub(crate) use demand::Demand;
pub(crate) use parts::Parts;
#[cfg(any(test, feature = "real"))]
pub(crate) use releases::Merging;
pub(crate) use releases::Ways;
pub(crate) use share::Share;

use super::dispatch::Worker;
use super::{Driver, Step};
use crate::account::{Note, TaskNote};
use crate::control::{Class, Classes, Control, Reason, Traced};
use crate::cpu::Call;
use crate::decider::BoxedScheduler;
use crate::levels::{Decided, LocalStep, One, Published, Side, What};
use crate::sys::clock::{monotonic_nanos, own_cpu_nanos};
use common::Tells;
use guest::{Host, Hosted, KEPT, refused};
use hands::Hands;
use looks::Looks;
use own::Local;
use releases::{Release, Releases};
use share::yield_of;
use std::io;
use std::sync::Arc;
use vestal_core::plan::Wake;
use vestal_core::{CpuId, Instant, JobId, Notice};
use vestal_trace::Record;

/// Facts for which there is no room are told again so soon.
const AGAIN_NANOS: u64 = 100_000;

/// A manager that keeps the turn does so this often at most.
const KEEPS_NANOS: u64 = 100_000_000;

/// What managers have in common, whose scheduler is recorded.
pub(crate) type Together = Common<Traced<BoxedScheduler>>;

/// Manages one CPU.
pub(crate) struct Levels {
    local: Local<Traced<BoxedScheduler>>,
    cpu: CpuId,
    cpus: usize,
    common: Arc<Together>,
    side: Side,
    hosted: Option<Hosted>,
    releases: Releases,
    ways: Ways,
    looks: Looks,
    share: Share,
    demand: Demand,
    one: Option<Arc<One>>,
    /// How long it keeps the turn, and when it did so last.
    keeps: (u64, Instant),
    classes: Classes,
    /// The instant of the last decision (C1).
    clock: Instant,
    /// When level C is to be looked at because of its share, in nanoseconds after the epoch.
    share_ends: Option<u64>,
    /// Whether the CPU is left to ordinary threads.
    yields: bool,
    /// Whether it has gone a round.
    has_begun: bool,
    /// It has left what others told, to look after its own first, and nobody else is there for that.
    comes_again: bool,
    /// What the manager's thread had used by its clock in the last round.
    used: u64,
    /// Whom to call.
    calls: Vec<CpuId>,
    /// How many calls there were when it began to look.
    seen: u32,
}

impl Levels {
    /// `low` is the lowest priority of the run.
    pub(crate) fn new(parts: Parts, low: i32) -> Self {
        let Parts {
            domain,
            cpu,
            tasks,
            common,
            cpus,
            ways,
            share,
            demand,
            one,
            keeps,
        } = parts;
        let (classes, all) = (Classes::above(low), common.homes().count());
        Self {
            local: Local::new(domain, cpu, (&tasks, all)),
            cpu,
            cpus,
            side: Side::new(cpu, KEPT),
            common,
            hosted: None,
            releases: Releases::new(all, ways, cpu),
            ways,
            looks: Looks::default(),
            share,
            demand,
            one,
            keeps: (keeps, Instant::EPOCH),
            classes,
            clock: Instant::EPOCH,
            share_ends: None,
            yields: false,
            has_begun: false,
            comes_again: false,
            used: 0,
            calls: Vec::with_capacity(cpus),
            seen: 0,
        }
    }

    /// What a guest needs of this CPU.
    fn host(&mut self) -> Host<'_, Traced<BoxedScheduler>> {
        Host {
            common: &self.common,
            side: &mut self.side,
            cpu: self.cpu,
        }
    }

    /// The clock reading at which a job is released, unless the run is over by then.
    fn release_of<'a>(
        common: &'a Together,
        control: &'a Control<'_>,
        cpu: CpuId,
    ) -> impl Fn(JobId) -> Option<u64> + use<'a> {
        let end = control.run.end.get();
        move |job| {
            let task = match common.home(job.task) {
                Home::Own(own, index) if own == cpu => control.tasks.get(index).map(Worker::of),
                Home::Own(own, index) => common.own(own, index),
                Home::Guest(index) => common.guests.tasks.get(index).map(Worker::of),
                Home::Nowhere => None,
            };
            let release = control.run.clock_at(task?.release_of(job.sequence));
            (release < end).then_some(release)
        }
    }
}

impl Driver for Levels {
    type Decider = BoxedScheduler;
    type Woken = ();

    fn decider(&mut self) -> &mut Traced<BoxedScheduler> {
        &mut self.local.domain
    }

    fn start(&mut self, control: &Control<'_>) -> io::Result<()> {
        if let Call::Futex(calls) = control.call {
            self.seen = calls.count();
        }
        let of = (self.common.homes(), self.cpu, self.cpus);
        let release_of = Self::release_of(&self.common, control, self.cpu);
        self.releases.begin(of, release_of);
        self.used = own_cpu_nanos();
        Ok(())
    }

    fn arm(&mut self, control: &Control<'_>) -> u64 {
        let epoch = control.run.epoch();
        // Nobody knows that the CPU is open before it has said so.
        if !self.has_begun || self.comes_again {
            return epoch;
        }
        let clock = |wake: Wake| {
            let since = wake.at.saturating_since(Instant::EPOCH);
            epoch.saturating_add(since.as_nanos())
        };
        let mut next = self.releases.next().unwrap_or(u64::MAX);
        next = next.min(self.local.wake.map_or(u64::MAX, clock));
        // A closed CPU is not woken for a ghost of level C.
        if let Some(at) = self
            .common
            .shared
            .wake(self.cpu)
            .filter(|_| self.side.is_open())
        {
            let since = at.saturating_since(Instant::EPOCH).as_nanos();
            next = next.min(epoch.saturating_add(since));
        }
        if let Some(nanos) = self.share_ends {
            next = next.min(epoch.saturating_add(nanos));
        }
        if self.side.keeps() {
            next = next.min(monotonic_nanos().saturating_add(AGAIN_NANOS));
        }
        next.min(self.watch(control))
    }

    fn wait(&mut self, control: &Control<'_>, until: u64) {
        if let Call::Futex(calls) = control.call {
            calls.wait_beyond(self.seen, Some(until));
            // Before the manager looks, so that a call that comes while it does ends the next wait.
            self.seen = calls.count();
        }
    }

    fn reason(&self, control: &mut Control<'_>, (): &(), now: u64) -> Reason {
        let late = self.releases.next().and_then(|next| now.checked_sub(next));
        if let (Some(late), false) = (late, self.has_job()) {
            control.record.lateness.record(late);
        }
        let at = control.run.instant(now);
        let asked = self.local.wake.map(|wake| wake.at);
        let asked = [asked, self.common.shared.wake(self.cpu)];
        let has_ended = self.hosted.as_ref().is_some_and(|hosted| {
            let guest = self.common.guest(hosted.job());
            guest.is_ok_and(|(worker, _)| worker.is_handed_back())
        });
        let mut own = control.tasks.iter().map(Worker::of);
        if own.any(Worker::is_handed_back) || has_ended {
            Reason::Completion
        } else if late.is_some() {
            Reason::Release
        } else if asked.into_iter().flatten().any(|asked| asked <= at) {
            Reason::Timer
        } else if self.looks.is_due(now) {
            Reason::Budget
        } else {
            Reason::Beat
        }
    }

    /// Each call is a reason to look, once the run has begun.
    fn is_wanted(&self, control: &Control<'_>, (): &(), now: u64) -> bool {
        now >= control.run.epoch()
    }

    fn round(&mut self, control: &mut Control<'_>, (): &(), now: u64) -> Step {
        let one = self.one.clone();
        let alone = one.as_ref().map(|one| one.lock(monotonic_nanos));
        match alone {
            None => self.go_round(control, now),
            Some(Some((_alone, waited))) => {
                control.record.lock_waits.record(waited);
                // What the wait took is no lateness of the clock.
                self.go_round(control, now.saturating_add(waited))
            }
            // Another manager has panicked, and the run ends.
            Some(None) => Ok(()),
        }
    }

    fn finish(self, control: &Control<'_>) -> Traced<BoxedScheduler> {
        self.account_for_the_rest(control);
        self.local.domain
    }
}

impl Levels {
    /// A round, whatever it waited for.
    fn go_round(&mut self, control: &mut Control<'_>, now: u64) -> Step {
        (self.has_begun, self.comes_again) = (true, false);
        self.looks.begin_round(now);
        let hands = &mut Grip(control, self.classes);
        let mut used = self.local.take_ends(hands)?;
        used += self.take_end_of_guest(hands)?;
        let at = hands.instant(now);
        used += self.local.charge(hands, at)?;
        if let Some(mut hosted) = self.hosted.take() {
            used += self.host().charge(at, &mut hosted)?;
            self.hosted = Some(hosted);
        }
        // The manager is a real-time thread, too.
        let own = own_cpu_nanos();
        used += own.saturating_sub(std::mem::replace(&mut self.used, own));
        self.share.add(at.as_nanos(), used);
        (control.record.yields, control.record.yielded_nanos) =
            (self.share.yields, self.share.yielded_nanos);
        // Unmerged, each instant of releases is a round by itself.
        loop {
            let latest = self.take_releases(control, now)?;
            let at = control.run.instant(now.max(latest.unwrap_or(0)));
            self.settle(control, at)?;
            if latest.is_none() || self.releases.next().is_none_or(|next| next > now) {
                return Ok(());
            }
        }
    }
}

/// The manager's hands on workers.
struct Grip<'c, 'a>(&'c mut Control<'a>, Classes);

impl<'a> Hands<'a> for Grip<'_, 'a> {
    fn worker(&self, index: usize) -> Option<Worker<'a>> {
        let tasks = self.0.tasks;
        tasks.get(index).map(Worker::of)
    }

    fn instant(&self, clock: u64) -> Instant {
        self.0.run.instant(clock)
    }

    fn clock_at(&self, nanos: u64) -> u64 {
        self.0.run.clock_at(nanos)
    }

    fn put(&mut self, worker: Worker<'_>, places: (&mut Class, Class)) {
        self.0.put((worker.task(), self.1), places);
    }

    fn hold(&mut self, worker: Worker<'_>) {
        worker.hold(&mut self.0.record.suspensions);
    }

    fn let_go(&mut self, worker: Worker<'_>) -> bool {
        let tolerance = self.0.terms.tolerance_nanos;
        let counts = &mut self.0.record.suspensions;
        let before = counts.ineffective;
        worker.let_go(tolerance, counts);
        counts.ineffective > before
    }

    fn pin(&mut self, worker: Worker<'_>) {
        if worker.pin(self.0.processor()).is_err() {
            self.0.fail();
        }
    }

    fn plan(&mut self, job: Option<JobId>) {
        self.0.plan(job);
    }

    fn take_notice(&mut self, notice: &Notice) {
        self.0.take_notice(notice);
    }
}

impl Levels {
    /// Notes down the own jobs of which no worker ever heard. Those of level C are noted by nobody yet: the domain of all CPUs knows which
    /// they are.
    fn account_for_the_rest(&self, control: &Control<'_>) {
        for (task, (waiting, dropped)) in control.tasks.iter().zip(self.local.rest()) {
            let index = task.id.index();
            for sequence in waiting {
                let release = control.run.clock_at(task.release_of(sequence));
                let cut = control.unfinished((sequence, release), task.due(release));
                control.note_patiently(Note::Task(index, TaskNote::Unfinished(cut)));
            }
            let some = dropped.by_reason().filter(|&(_, count)| count > 0);
            for (why, count) in some {
                let next = 0;
                let dropped = TaskNote::Dropped { why, count, next };
                control.note_patiently(Note::Task(index, dropped));
            }
        }
    }

    fn has_job(&self) -> bool {
        self.local.running().is_some() || self.hosted.is_some()
    }

    /// When to look at the budget of the job that has the CPU.
    fn watch(&mut self, control: &Control<'_>) -> u64 {
        let own = self
            .local
            .to_watch(|index| control.tasks.get(index).map(Worker::of));
        let hosted = self.hosted.as_ref();
        let guest = hosted.and_then(|hosted| Some((hosted.job(), hosted.left(&self.common)?)));
        let Some((job, left)) = own.or(guest).filter(|_| control.terms.duties.enforces) else {
            return self.looks.at_nothing();
        };
        let task = match self.common.home(job.task) {
            Home::Own(_, index) => control.tasks.get(index),
            Home::Guest(index) => self.common.guests.tasks.get(index),
            Home::Nowhere => None,
        };
        control.arms();
        let executed = task.and_then(|task| Worker::of(task).clock());
        let bound = control.terms.bound_nanos;
        self.looks.at_job(job, (left, executed.unwrap_or(0)), bound)
    }

    fn take_end_of_guest(&mut self, hands: &Grip<'_, '_>) -> Step<u64> {
        let Some(hosted) = self.hosted.take() else {
            return Ok(0);
        };
        let (hosted, used) = self.host().take_end(hands, hosted)?;
        self.hosted = hosted;
        Ok(used)
    }

    /// Takes the releases of one event; gives the clock reading of the last one.
    fn take_releases(&mut self, control: &mut Control<'_>, now: u64) -> Step<Option<u64>> {
        let common = Arc::clone(&self.common);
        let (mut first, mut latest) = (None, None);
        loop {
            let release_of = Self::release_of(&common, control, self.cpu);
            let is_counted = |job: JobId| match common.home(job.task) {
                Home::Own(_, index) => {
                    let task = control.tasks.get(index).map(Worker::of);
                    task.is_some_and(|task| task.is_released(job.sequence))
                }
                Home::Guest(_) | Home::Nowhere => false,
            };
            let of = (release_of, is_counted);
            let Some(Release { job, clock }) = self.releases.take((now, first), of) else {
                self.call_all();
                return Ok(latest);
            };
            (first, latest) = (first.or(Some(clock)), Some(clock));
            control.has_release();
            let at = control.run.instant(clock);
            match common.home(job.task) {
                Home::Own(cpu, _) if cpu == self.cpu => {
                    let decided = self.clock.max(control.run.instant(now));
                    self.clock = decided;
                    let hands = &mut Grip(control, self.classes);
                    self.local.release(hands, (at, job), decided)?;
                }
                Home::Own(cpu, index) => {
                    if let Some(worker) = common.own(cpu, index) {
                        worker.note_release(job.sequence);
                    }
                    if !self.calls.contains(&cpu) {
                        self.calls.push(cpu);
                    }
                }
                Home::Guest(_) => self.host().tell(at, What::Released(job))?,
                Home::Nowhere => {}
            }
        }
    }

    /// Decides and carries out until nothing more comes of it. Each turn after the first one ends a job that was over already, or stops or
    /// begins a guest; the bound is a safeguard, not a parameter.
    fn settle(&mut self, control: &mut Control<'_>, at: Instant) -> Step {
        let mut at = at;
        for _ in 0..=4 + 3 * self.common.homes().count() {
            if !self.pass(control, at)? {
                break;
            }
            at = control.now();
        }
        Ok(())
    }

    /// Says whether something came of it that needs another decision.
    fn pass(&mut self, control: &mut Control<'_>, at: Instant) -> Step<bool> {
        let at = at.max(self.clock);
        self.clock = at;
        self.side.flush(&self.common.shared);
        self.share_ends = None;
        let (share, demand, ends) = (&mut self.share, &self.demand, &mut self.share_ends);
        let may_be_open = || {
            let (now, until) = (at.as_nanos(), Share::end_of(at.as_nanos()));
            let leave = share.leave(now, demand.between(now, until));
            *ends = leave.ends();
            leave.is_open()
        };
        let sides = (&mut self.side, &self.common.shared);
        let decided = LocalStep(&mut self.local.domain).decide(at, sides, may_be_open);
        let Decided {
            own,
            wake,
            published,
        } = decided.map_err(refused)?;
        (self.local.slot, self.local.wake) = (own, wake);
        let hands = &mut Grip(control, self.classes);
        self.local.take_notices(hands);
        hands.0.has_decided();
        let yields = self.local.slot.is_none() && !self.side.is_open();
        if std::mem::replace(&mut self.yields, yields) != yields {
            let what = yield_of(yields);
            self.local.domain.put(Record { at, what });
        }
        if !self.side.is_open() || self.is_guest_to_stop() {
            // One that does not listen is no real-time thread where ordinary threads are to have the CPU.
            let class = match yields {
                true => Class::Background,
                false => Class::Suspended,
            };
            self.stop_guest(hands, at, class)?;
        }
        let mut again = self.local.enact(hands, at)?;
        if self.hosted.is_none() && self.side.held().is_some() {
            self.side.give_back(&self.common.shared);
        }
        if self.comes_for_the_turn(at) {
            self.look(at, published)?;
        }
        if self.hosted.is_none() && self.side.is_open() {
            let (hosted, was_over) = self.host().take(hands, at)?;
            self.hosted = hosted;
            again |= was_over;
        }
        Ok(again || self.is_guest_to_stop())
    }

    /// Whether there is anything to look at for who decides for all: what this CPU has told, what others left to an open one or
    /// the master, or an instant for which that asked.
    fn comes_for_the_turn(&self, at: Instant) -> bool {
        let shared = &self.common.shared;
        let is_asked = shared.wake(self.cpu).is_some_and(|wake| wake <= at);
        let takes_more = self.side.is_open() || self.ways.master == Some(self.cpu);
        let tells = self.side.has_news() || self.side.keeps();
        tells || (self.side.is_open() && is_asked) || (takes_more && shared.has_more())
    }

    /// Comes for the turn, or leaves what there is to look at to the master.
    fn look(&mut self, at: Instant, published: Published) -> Step {
        let shared = &self.common.shared;
        if let Some(master) = self.ways.master
            && master != self.cpu
            && self.ways.redistributes
            && !self.side.is_open()
            // Unless that one has not looked for so long that there is no room.
            && !self.side.keeps()
        {
            published.leave(&mut self.side, shared);
            self.common.call(master);
            return Ok(());
        }
        let settled = match published.attempt(&mut self.side, shared) {
            Some(held) => {
                let (mut keeps, last) = self.keeps;
                if at.saturating_since(last).as_nanos() >= KEEPS_NANOS {
                    self.keeps.1 = at;
                } else {
                    keeps = 0;
                }
                let mut tells = Tells::new(&self.common, keeps);
                held.settle(at, (&mut tells, &mut self.calls))
            }
            None => Ok(false),
        };
        self.call_all();
        self.comes_again = settled?;
        Ok(())
    }

    /// Calls the managers of other CPUs that have something to look at.
    fn call_all(&mut self) {
        for called in self.calls.drain(..) {
            if called != self.cpu {
                self.common.call(called);
            }
        }
    }

    fn is_guest_to_stop(&self) -> bool {
        let is_used_up = self.hosted.as_ref().is_some_and(Hosted::is_used_up);
        is_used_up || (self.hosted.is_some() && self.side.is_to_stop(&self.common.shared))
    }

    fn stop_guest(&mut self, hands: &mut Grip<'_, '_>, at: Instant, class: Class) -> Step {
        if let Some(hosted) = self.hosted.take() {
            let used = self.host().stop(hands, (at, hosted), class)?;
            self.share.add(at.as_nanos(), used);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
