//! The account of one worker's thread towards budgets that outlive jobs.
//!
//! ```text
//! thread's clock  ----+=======+---------------+==========+===>
//!                     opened  charged         charged    now
//!                     |<----->|               |<- uncharged ->|
//! ```
//! Whatever the thread uses is charged once: what it takes to begin and to end a job, and what it uses from the manager's
//! look until it stands, as well. That comes with the next charge.

use crate::account::Exceeded;
use vestal_core::plan::BudgetOwner;

/// What a thread used, by its own clock, and how much of that was charged. All readings are in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lane {
    /// Up to where the thread's clock was charged; `None` before its first job.
    charged: Option<u64>,
    /// Whose budget paid last, if the thread may have used something since.
    owes: Option<BudgetOwner>,
    /// By how much it was found beyond a budget that it used up, and since when it had run then; it has not gone on since.
    beyond: Option<(u64, u64)>,
    /// The clock when it was charged last, or went on since.
    since: u64,
}

impl Lane {
    /// Begins the account at this reading, unless there is one.
    pub(crate) fn open(&mut self, clock: Option<u64>) {
        self.charged = self.charged.or(clock);
    }

    #[cfg(test)]
    pub(crate) const fn is_open(&self) -> bool {
        self.charged.is_some()
    }

    /// What the thread used since it was charged last.
    pub(crate) fn uncharged(&self, clock: Option<u64>) -> u64 {
        match (self.charged, clock) {
            (Some(before), Some(now)) => now.saturating_sub(before),
            // A thread that has no account, or whose clock cannot be read, has used nothing that is known.
            (_, _) => 0,
        }
    }

    /// `owner` pays for what the thread used until this reading; gives how much that is.
    pub(crate) fn charge(&mut self, clock: Option<u64>, owner: BudgetOwner) -> u64 {
        let used = self.uncharged(clock);
        self.charged = self.charged.map(|before| before.saturating_add(used));
        self.owes = Some(owner);
        used
    }

    /// Whether the thread may have used something since `owner` paid for it.
    pub(crate) fn owes(&self, owner: BudgetOwner) -> bool {
        self.owes == Some(owner)
    }

    /// `owner`, which paid last, pays for the rest as well while another of its threads runs: what the thread still
    /// takes after that to come to rest is charged when it goes on.
    pub(crate) fn charge_rest(&mut self, clock: Option<u64>, owner: BudgetOwner) -> u64 {
        let used = self.charge(clock, owner);
        self.owes = None;
        if let Some((_, beyond)) = &mut self.beyond {
            *beyond = beyond.saturating_add(used);
        }
        used
    }

    /// It was found so far beyond a budget.
    pub(crate) fn exceeded(&mut self, beyond: u64) {
        self.beyond = Some((self.since, beyond));
    }

    /// The thread goes on when the clock says `now`, or was not stopped and is charged again.
    pub(crate) fn goes_on(&mut self, now: u64) {
        self.since = now;
    }

    /// The thread is about to go on; gives by how much it exceeded a budget that it used up before, with what it used from
    /// there until it stood.
    pub(crate) fn take_exceeded(&mut self, clock: Option<u64>, now: u64) -> Option<Exceeded> {
        let (since, beyond) = self.beyond.take()?;
        let beyond = beyond.saturating_add(self.uncharged(clock));
        Some(Exceeded { since, now, beyond })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vestal_core::ServerId;

    /// The budget comes back, and another task of the server is charged first, with the first one's rest.
    #[test]
    fn what_another_thread_of_the_server_pays_for_was_beyond_the_budget_all_the_same() {
        let owner = BudgetOwner::Server(ServerId(0));
        let mut lane = Lane::default();
        lane.open(Some(1_000));
        lane.goes_on(10);
        assert_eq!(lane.charge(Some(1_700), owner), 700);
        lane.exceeded(200);
        assert_eq!(lane.charge_rest(Some(1_730), owner), 30);
        // What it took after that to come to rest.
        let (since, now, beyond) = (10, 90, 200 + 30 + 5);
        let exceeded = lane.take_exceeded(Some(1_735), now);
        assert_eq!(exceeded, Some(Exceeded { since, now, beyond }));
        assert_eq!(lane.take_exceeded(Some(1_735), now), None);
        assert_eq!(lane.charge(Some(1_735), owner), 5, "each is charged once");
    }
}
