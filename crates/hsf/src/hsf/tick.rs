//! Time passes.

use super::{Features, Hsf, ServerId, has_room};
use crate::relteq::{Pass, Queue, Tick};

impl<F: Features, const SERVERS: usize, const TASKS: usize, const NODES: usize>
    Hsf<F, SERVERS, TASKS, NODES>
{
    /// A tick has passed. Says whether an event was handled; then call [`Hsf::schedule`] before the next tick.
    /// O(1) until the earliest event of an active queue is due.
    #[must_use = "an event may have changed who is to run"]
    pub fn tick(&mut self) -> bool {
        self.advance(1)
    }

    /// So many ticks have passed: what a host without a periodic tick calls when its timer fires, and before
    /// any other call. Says whether [`Hsf::schedule`] has to be called. More ticks than [`Hsf::next_event`],
    /// from a timer that was late, are settled as that many single ticks would have been.
    #[must_use = "an event may have changed who is to run"]
    pub fn advance(&mut self, ticks: u32) -> bool {
        let since = self.since.get().saturating_add(ticks);
        if since < self.earliest.get() {
            self.since = F::Tick::of(since);
            return false;
        }
        self.expire(ticks)
    }

    /// The same where a head is due. Apart, so that a tick at which nothing is saves no registers.
    #[inline(never)]
    fn expire(&mut self, ticks: u32) -> bool {
        let (mut left, mut handled) = (ticks, false);
        loop {
            let step = left.min(self.next_event());
            let since = self.since.get().saturating_add(step);
            self.since = F::Tick::of(since);
            left = left.saturating_sub(step);
            if since < self.earliest.get() {
                return handled;
            }
            self.settle();
            let due = self.fire();
            self.rearm();
            handled |= due;
            if left == 0 {
                return handled;
            }
            if due {
                self.schedule();
            }
        }
    }

    /// Charges what has passed since the last time to the heads of all active queues, to the active server's budget,
    /// and to the stopwatch. [`Hsf::rearm`] has to follow. O(1); O(servers) without wake-ups.
    pub(super) fn settle(&mut self) {
        let ticks = self.since.get();
        if ticks == 0 {
            return;
        }
        self.since = F::Tick::ZERO;
        self.now = self.now.wrapping_add(ticks.into());
        self.pool.elapse(&self.system, ticks);
        self.for_others_live(|hsf, server| {
            if let Some(entry) = hsf.servers.get(server.index()) {
                hsf.pool.elapse(&entry.sq, ticks);
            }
        });
        if let Some(entry) = self.servers.get_mut(self.current.index()) {
            self.pool.elapse(&entry.sq, ticks);
            self.pool.elapse(&entry.vq, ticks);
            entry.budget = entry.budget.saturating_sub(ticks);
        }
        // Without inactive servers it need not run. What may have to be called comes last: nothing has to be saved for that.
        if !self.stopwatch.is_empty() {
            has_room(self.pool.grow(&mut self.stopwatch, ticks));
        }
    }

    /// Handles all that is due, in the fixed order; says whether there was anything.
    fn fire(&mut self) -> bool {
        let mut handled = false;
        if !self.pool.elapse_before(&self.system, 0) {
            let mut pass = Pass::over(0);
            while let Some(event) = self.pool.synchronise(&mut self.system, &mut pass) {
                self.handle(event, &mut pass);
                handled = true;
            }
        }
        self.for_others_live(|hsf, server| handled |= hsf.synchronise(server, 0));
        let Some(server) = self.current() else {
            return handled;
        };
        handled |= self.synchronise(server, 0);
        let mut pass = Pass::over(0);
        while let Some(entry) = self.servers.get_mut(server.index())
            && !self.pool.elapse_before(&entry.vq, 0)
            && let Some(event) = self.pool.synchronise(&mut entry.vq, &mut pass)
        {
            self.handle(event, &mut pass);
            handled = true;
        }
        handled
    }

    /// Handles all events of a server's sq that expired within `elapsed` ticks of its now, each with its own
    /// expiry; says whether there was any. Linear in their number.
    #[inline]
    pub(super) fn synchronise(&mut self, server: ServerId, elapsed: u64) -> bool {
        let sq = self.servers.get(server.index()).map(|entry| &entry.sq);
        if sq.is_none_or(|sq| self.pool.elapse_before(sq, elapsed)) {
            return false;
        }
        self.make_up_for(server, elapsed)
    }

    /// The same where some event may be due.
    #[inline(never)]
    fn make_up_for(&mut self, server: ServerId, elapsed: u64) -> bool {
        let (mut pass, mut handled) = (Pass::over(elapsed), false);
        while let Some(entry) = self.servers.get_mut(server.index())
            && let Some(event) = self.pool.synchronise(&mut entry.sq, &mut pass)
        {
            self.handle(event, &mut pass);
            handled = true;
        }
        handled
    }

    /// Finds the earliest head of the active queues, which are settled.
    #[inline(never)]
    pub(super) fn rearm(&mut self) {
        self.rearm_at_once();
    }

    /// The same without a call, where that pays.
    #[inline]
    pub(super) fn rearm_at_once(&mut self) {
        let mut earliest = self.sooner(F::Tick::MAX, &self.system);
        self.for_others_live(|hsf, server| {
            if let Some(entry) = hsf.servers.get(server.index()) {
                earliest = hsf.sooner(earliest, &entry.sq);
            }
        });
        if let Some(entry) = self.servers.get(self.current.index()) {
            earliest = self.sooner(earliest, &entry.sq);
            earliest = self.sooner(earliest, &entry.vq);
        }
        self.earliest = F::Tick::of(earliest);
    }

    #[inline]
    fn sooner(&self, earliest: u32, queue: &Queue) -> u32 {
        let head = self.pool.head(queue);
        head.map_or(earliest, |head| head.min(earliest))
    }
}
