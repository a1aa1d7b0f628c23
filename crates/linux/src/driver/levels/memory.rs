//! What is remembered of one worker, whatever level it is of. That of a guest goes with it from one CPU to another.

use super::hands::Hands;
use crate::control::Class;
use crate::driver::dispatch::{Lane, Worker};
use crate::job::Ended;
use vestal_core::TaskId;
use vestal_core::plan::BudgetOwner;

/// One worker.
#[derive(Debug)]
pub(super) struct Memory {
    /// The job that it has: assigned, and not handed back.
    busy: Option<u64>,
    /// A job that ended although no domain counted it as running, and whether it did all its work.
    ended: Option<(u64, bool)>,
    lane: Lane,
    class: Class,
    /// The job was held, and went on all the same: it does not listen.
    is_deaf: bool,
}

/// How a job that is to run does so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The worker has it.
    GoesOn,
    /// It is over already, whole or not.
    Over { whole: bool },
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            busy: None,
            ended: None,
            lane: Lane::default(),
            class: Class::Run,
            is_deaf: false,
        }
    }
}

impl Memory {
    /// Gives the CPU to a job of the worker, from the beginning or where it was stopped, unless it is over already. `release` is the
    /// clock at its release.
    pub(super) fn run<'a>(
        &mut self,
        hands: &mut impl Hands<'a>,
        worker: Worker<'_>,
        (sequence, release): (u64, u64),
    ) -> Next {
        if let Some((ended, whole)) = self.ended.take()
            && ended == sequence
        {
            return Next::Over { whole };
        }
        let begins = self.busy.is_none();
        if begins {
            // Whatever the body of the job before did to its own priority ends here.
            self.class = Class::Background;
            self.lane.open(worker.clock());
            self.is_deaf = false;
        }
        // It gets the CPU when the manager waits.
        self.is_deaf |= hands.let_go(worker) && !begins;
        hands.put(worker, (&mut self.class, Class::Run));
        if begins {
            self.busy = Some(sequence);
            worker.assign(sequence, release);
        }
        Next::GoesOn
    }

    /// Takes the CPU from the worker, which goes into this class, or out of the real-time class if it does not listen.
    pub(super) fn stop<'a>(
        &mut self,
        hands: &mut impl Hands<'a>,
        worker: Worker<'_>,
        class: Class,
    ) {
        let class = match self.is_deaf {
            true => Class::Background,
            false => class,
        };
        if self.busy.is_some() {
            hands.put(worker, (&mut self.class, class));
        }
    }

    /// The worker, if it has a job, executes nothing of it from now on, on whatever CPU and whoever else wants that.
    pub(super) fn hold<'a>(&self, hands: &mut impl Hands<'a>, worker: Worker<'_>) {
        if self.busy.is_some() {
            hands.hold(worker);
        }
    }

    /// Takes the end of the worker's job; `is_running`: a domain counts that as running, and is told by the caller.
    pub(super) fn end(&mut self, done: &Ended, is_running: bool) {
        self.busy = None;
        if !is_running {
            self.ended = Some((done.sequence, done.completed));
        }
    }

    /// What the thread used since this was asked last.
    pub(super) fn charge(&mut self, worker: Worker<'_>, id: TaskId) -> u64 {
        self.lane.charge(worker.clock(), BudgetOwner::Task(id))
    }

    /// What [`Self::charge`] would give.
    pub(super) fn uncharged(&self, worker: Worker<'_>) -> u64 {
        self.lane.uncharged(worker.clock())
    }
}
