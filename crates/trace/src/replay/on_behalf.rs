//! How urgent is a bottom half, by what a recording tells?
//!
//! A server without inheritance is as urgent as it is. A PIBS is activated on behalf of the most urgent of those that were named since its bottom half had
//! nothing to do, and keeps that until the burst ends (rule (a) of [`vestal_core::server::Pibs`]): who is named meanwhile counts for the next one. A burst
//! ends with its budget, with the last of its work, and may end where the mode changes. Where nobody was named, and in a raised mode, which may leave those out that
//! were, it is as urgent as the one whom its configuration names, if that is more.
//!
//! Where several bottom halves share a PIBS their burst goes on with the work of another one, of which nothing is known here: then it is as
//! urgent as any name makes it, at once.
//!
//! What is taken for more urgent than it is hides an inversion. One case reports one that is none: a burst that the core ends at a rise of the mode goes on
//! here, and who is named after it does not make it more urgent.

use super::bottom_halves::Below;
use vestal_core::{Level, ServerId, Service};

/// On whose behalf the bottom half was asked for since it had nothing to do, and in which burst it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct OnBehalf<'a> {
    below: Below<'a>,
    /// How many interrupts it has not answered.
    pending: u64,
    /// The most urgent of those who were named.
    lent: Option<u32>,
    /// Since the last decision: whether it was asked for, and somebody was named.
    is_asked: bool,
    is_named: bool,
    /// How urgent the burst under way is.
    burst: Option<u32>,
    mode: Level,
}

impl<'a> OnBehalf<'a> {
    pub(super) const fn new(below: Below<'a>) -> Self {
        Self {
            below,
            pending: 0,
            lent: None,
            is_asked: false,
            is_named: false,
            burst: None,
            mode: Level::LOWEST,
        }
    }

    /// Its device has interrupted so often.
    pub(super) fn interrupt(&mut self, count: u32) {
        self.is_asked = true;
        self.pending = self.pending.saturating_add(count.into());
    }

    /// It is asked for on behalf of a server.
    pub(super) fn name(&mut self, server: ServerId) {
        let lends = self.below.lends;
        if lends.is_empty() {
            return;
        }
        // One that it cannot run for is as good as none.
        let lends = lends.get(server.index()).copied().flatten();
        let lends = lends.unwrap_or(self.below.priority);
        self.lent = self.lent.max(Some(lends));
        self.is_named = true;
    }

    /// One of its jobs is over.
    pub(super) fn over(&mut self) {
        self.pending = self.pending.saturating_sub(1);
        if self.pending == 0 {
            (self.lent, self.is_asked, self.is_named) = (None, false, false);
        }
    }

    pub(super) fn decided(&mut self, mode: Level) {
        // Nobody was named when it was: it may run on behalf of whom its configuration names, also when somebody is named later.
        if core::mem::take(&mut self.is_asked) && !self.is_named {
            self.lent = self.lent.max(Some(self.below.priority));
        }
        self.is_named = false;
        let before = core::mem::replace(&mut self.mode, mode);
        // At a return every burst ends; where the mode rises it may end, and another one begin in the same decision.
        if mode < before || self.pending == 0 {
            self.burst = None;
        } else if mode > before {
            self.burst = self.burst.map(|burst| burst.max(self.asked()));
        }
    }

    /// The server with this number has no more than this left.
    pub(super) fn has_left(&mut self, server: ServerId, left: Service) {
        if server == self.below.server && left <= self.below.granularity {
            self.burst = None;
        }
    }

    /// A plan names the bottom half, or it starts: without a burst one begins.
    pub(super) fn begins(&mut self) {
        if !self.below.shares {
            self.burst = Some(self.priority());
        }
    }

    /// How urgent it is at most.
    pub(super) fn priority(&self) -> u32 {
        self.burst.unwrap_or_else(|| self.asked())
    }

    /// How urgent a burst is at most that begins now.
    fn asked(&self) -> u32 {
        let own = self.below.priority;
        match self.lent {
            Some(lent) if self.mode > Level::LOWEST => lent.max(own),
            Some(lent) => lent,
            None => own,
        }
    }
}
