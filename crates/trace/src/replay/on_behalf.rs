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
//! A burst that the core ends at a rise of the mode goes on here until its budget, its work or that mode ends, and whoever is named meanwhile makes it more urgent: it
//! may be that burst, or one that began for him. What is taken for more urgent than it is hides an inversion; none is reported that is none.

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
    /// The mode has risen since it began: it may have ended then.
    may_be_over: bool,
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
            may_be_over: false,
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
        // At a return every burst ends; where the mode rises it may end, and another one begin, in the same decision or a later one.
        if mode < before || self.pending == 0 {
            self.ends();
        } else if mode > before {
            self.may_be_over = self.burst.is_some();
        }
    }

    /// No burst is under way.
    const fn ends(&mut self) {
        (self.burst, self.may_be_over) = (None, false);
    }

    /// The server with this number has no more than this left.
    pub(super) fn has_left(&mut self, server: ServerId, left: Service) {
        if server == self.below.server && left <= self.below.granularity {
            self.ends();
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
        match self.burst {
            Some(burst) if self.may_be_over => burst.max(self.asked()),
            Some(burst) => burst,
            None => self.asked(),
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use vestal_core::{DeviceId, Duration, TaskId};

    const HIGH: Level = Level(1);
    /// As urgent as 7 on behalf of server 1, and as 10 on behalf of server 2.
    const LENDS: [Option<u32>; 3] = [None, Some(7), Some(10)];

    /// In a burst on behalf of server 1.
    fn in_a_burst() -> OnBehalf<'static> {
        let below = Below {
            half: TaskId(2),
            device: DeviceId(0),
            server: ServerId(4),
            shares: false,
            priority: 8,
            lends: &LENDS,
            above: &[],
            granularity: Service::from_micros(5),
            tolerance: Duration::from_micros(100),
        };
        let mut half = OnBehalf::new(below);
        asked(&mut half, 1, Level::LOWEST);
        half.begins();
        assert_eq!(half.priority(), 7);
        half
    }

    fn asked(half: &mut OnBehalf<'_>, server: u16, mode: Level) {
        half.interrupt(1);
        half.name(ServerId(server));
        half.decided(mode);
    }

    /// The core ends a burst at a rise if the PIBS may not serve its host any more, or has used what it has in that mode; the next one may be on behalf of who
    /// begins to wait after the rise.
    #[test]
    fn who_is_named_after_the_mode_has_risen_may_be_the_one_of_the_next_burst() {
        let mut half = in_a_burst();
        half.decided(HIGH);
        assert_eq!(half.priority(), 8, "as its configuration says");
        asked(&mut half, 2, HIGH);
        assert_eq!(half.priority(), 10);
        half.begins();
        assert_eq!(half.priority(), 10);
        // Control: no burst ends where no mode rises.
        let mut same = in_a_burst();
        asked(&mut same, 2, Level::LOWEST);
        same.begins();
        assert_eq!(same.priority(), 7);
    }

    #[test]
    fn what_begins_in_the_raised_mode_stays_as_urgent_as_it_is() {
        let server = ServerId(4);
        let ends: [fn(&mut OnBehalf<'_>, ServerId); 2] = [
            |half, server| half.has_left(server, Service::from_micros(5)),
            |half, _| {
                half.over();
                half.decided(HIGH);
                half.interrupt(1);
                half.name(ServerId(1));
            },
        ];
        for end in ends {
            let mut half = in_a_burst();
            half.decided(HIGH);
            end(&mut half, server);
            half.decided(HIGH);
            half.begins();
            assert_eq!(half.priority(), 8);
            asked(&mut half, 2, HIGH);
            assert_eq!(half.priority(), 8, "the burst goes on");
            half.decided(Level::LOWEST);
            assert_eq!(half.priority(), 10, "a return ends it");
        }
    }
}
