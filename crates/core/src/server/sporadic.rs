//! The sporadic server: each used part of the budget comes back one period after the server could
//! begin to use it, so that the server interferes like a periodic task.
//!
//! ```text
//!        work arrives (1)              capacity used up (2)
//!  idle -----------------> can run ------------------------> exhausted
//!   ^                       |   ^                              |  |
//!   +---- no work (3) ------+   +---- first chunk due (time) --+  |
//!   +------------------------- no work (3) -----------------------+
//! ```
//! (1) `begin`, (2) [`Sporadic::charge`], (3) `end`; both behind [`Sporadic::settle_work`].
//!
//! The budget is a list of chunks, each an amount and the instant from which it may be used:
//!
//! ```text
//!    due     now
//!     |       |
//!   [ 3 ]     |      [ 1 ]        [ 4 ]        amounts; their sum is the capacity, always
//!   usage: 2  |        |            |
//!   left:  1  |      waits        waits
//! ```
//! Rules of Stanovich, Baker, Wang and González Harbour (RTAS 2010), which correct the POSIX ones, in
//! the form of Quest (Danish, Li and West, RTAS 2011). `charge` moves a used-up first chunk one period
//! on; an overrun delays what is left. `begin` moves the first chunk to the present and merges what
//! comes back while it lasts. `end` splits off what was used, and moves that one period on.
//!
//! Deviations: an overrun of whole capacities moves all chunks at once, so that a charge costs one
//! walk of the list however large it is, and a chunk never comes back before the last one. A mode
//! change adds to the chunk at hand; to a use that ends in the same decision, as of its beginning; else as of the
//! present, because a use that ended before comes back by itself and leaves a gap that the increase must not fill.
//! It takes away what would come back last, which is what was used most recently.
//!
//! Invariants, checked by [`Sporadic::is_consistent`] after every decision in the tests: I1 the
//! amounts sum up to the capacity; I2 the list holds between 1 chunk (0 for a capacity of zero) and
//! its limit, sorted by instant, none of them empty; I3 the usage is below the first amount. Complexity
//! O(limit) per call.
//!
//! A server that is never preempted executes at most its capacity in any window of one period. One
//! that is preempted may exceed that, as any periodic task may; what holds then is that its
//! interference is a periodic task's.

use crate::time::{Duration, Instant, Service};

/// The shortest list with which ending a burst leaves an entry to merge with.
pub const REPLENISHMENTS_MIN: u16 = 2;

/// A part of the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Chunk {
    /// From when on it may be used.
    pub due: Instant,
    /// How much it is.
    pub amount: Service,
}

impl Chunk {
    /// Fills slots that are not in use, so that equal lists compare equal.
    pub const NONE: Self = Self {
        due: Instant::EPOCH,
        amount: Service::ZERO,
    };
}

/// What happens when a replenishment does not fit into the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WhenFull {
    /// The rest of the first chunk joins the second one: budget at hand is postponed (as in Quest).
    MergeHead,
    /// The new chunk joins the last one, whose part is postponed: budget at hand stays at hand.
    MergeTail,
}

/// A sporadic server at work. Its chunks are in a slice of the caller's, as long as its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sporadic {
    period: Duration,
    capacity: Service,
    when_full: WhenFull,
    len: usize,
    usage: Service,
    active: bool,
    /// When a chunk was used up last.
    used_up_at: Option<Instant>,
}

impl Sporadic {
    /// A server with full budget at the epoch and no work.
    #[must_use]
    pub fn new(
        period: Duration,
        capacity: Service,
        when_full: WhenFull,
        chunks: &mut [Chunk],
    ) -> Self {
        chunks.fill(Chunk::NONE);
        let mut server = Self {
            period,
            capacity,
            when_full,
            len: 0,
            usage: Service::ZERO,
            active: false,
            used_up_at: None,
        };
        server.insert(
            chunks,
            Chunk {
                due: Instant::EPOCH,
                amount: capacity,
            },
        );
        server
    }

    /// The chunks of the list.
    #[must_use]
    pub fn list<'a>(&self, chunks: &'a [Chunk]) -> &'a [Chunk] {
        chunks.get(..self.len).unwrap_or(&[])
    }

    pub(super) fn remaining(&self, chunks: &[Chunk], now: Instant) -> Service {
        match self.list(chunks).first() {
            Some(first) if first.due <= now => first.amount.saturating_sub(self.usage),
            Some(_) | None => Service::ZERO,
        }
    }

    pub(super) fn next_replenishment(&self, chunks: &[Chunk], now: Instant) -> Option<Instant> {
        let first = self.list(chunks).first()?;
        (first.due > now).then_some(first.due)
    }

    /// Usage grows; when the first chunk is used up it comes back a period later.
    pub(super) fn charge(&mut self, chunks: &mut [Chunk], now: Instant, amount: Service) {
        if self.capacity.is_zero() || amount.is_zero() {
            return;
        }
        self.usage = self.usage.saturating_add(amount);
        if !self.remaining(chunks, now).is_zero() {
            return;
        }
        if self.usage >= self.capacity {
            self.used_up_at = Some(now);
            self.skip_whole_capacities(chunks);
        }
        // Each turn takes one amount out of a usage below the sum of all: at most `len` turns.
        for _ in 0..self.len {
            let Some(&first) = self.list(chunks).first() else {
                return;
            };
            let Some(rest) = self.usage.checked_sub(first.amount) else {
                break;
            };
            self.usage = rest;
            self.used_up_at = Some(now);
            self.pop(chunks);
            // Never before what comes back last: only after an overrun is that later than a period,
            // and then each chunk is still taken once.
            let last = self.list(chunks).last().map_or(first.due, |last| last.due);
            let mut later = self.a_period_later(first);
            later.due = later.due.max(last);
            self.insert(chunks, later);
        }
        if !self.usage.is_zero() {
            self.delay_by_overrun(chunks, self.usage.min(amount));
        }
    }

    fn skip_whole_capacities(&mut self, chunks: &mut [Chunk]) {
        let whole = self
            .usage
            .as_nanos()
            .checked_div(self.capacity.as_nanos())
            .unwrap_or(0);
        self.usage = self
            .usage
            .saturating_sub(self.capacity.saturating_mul(whole));
        for chunk in chunks.iter_mut().take(self.len) {
            chunk.due = chunk.due.saturating_add(self.period.saturating_mul(whole));
        }
    }

    /// What was executed before its time delays what is left of that chunk, which then may meet its
    /// successor.
    fn delay_by_overrun(&mut self, chunks: &mut [Chunk], overrun: Service) {
        if let Some(first) = chunks.first_mut() {
            first.due = first.due.saturating_add(overrun.time_on_dedicated_cpu());
        }
        while let &[first, second, ..] = self.list(chunks) {
            if first
                .due
                .saturating_add(first.amount.time_on_dedicated_cpu())
                < second.due
            {
                break;
            }
            self.merge_first_two(chunks, first.due);
        }
    }

    pub(super) fn settle_work(
        &mut self,
        chunks: &mut [Chunk],
        now: Instant,
        work: bool,
    ) -> Service {
        let mut postponed = Service::ZERO;
        if work && !self.active {
            self.begin(chunks, now);
        } else if !work && self.active {
            postponed = self.end(chunks, now);
        }
        self.active = work;
        postponed
    }

    /// Work has arrived: what is at hand counts as available from now on only, and so does what
    /// comes back while it lasts.
    fn begin(&mut self, chunks: &mut [Chunk], now: Instant) {
        if self.remaining(chunks, now).is_zero() {
            return;
        }
        if let Some(first) = chunks.first_mut() {
            first.due = now;
        }
        while let &[first, second, ..] = self.list(chunks) {
            let left = first.amount.saturating_sub(self.usage);
            if second.due > now.saturating_add(left.time_on_dedicated_cpu()) {
                break;
            }
            self.merge_first_two(chunks, now);
        }
    }

    /// There is no more work: what was used comes back a period after its beginning. Returns what
    /// had to be postponed because the list was full.
    fn end(&mut self, chunks: &mut [Chunk], now: Instant) -> Service {
        let Some(&first) = self.list(chunks).first() else {
            return Service::ZERO;
        };
        if self.usage.is_zero() || first.due > now {
            return Service::ZERO;
        }
        let rest = first.amount.saturating_sub(self.usage);
        let mut used = self.a_period_later(Chunk {
            due: first.due,
            amount: self.usage,
        });
        self.usage = Service::ZERO;
        let mut postponed = Service::ZERO;
        let full = self.len >= chunks.len();
        match self.when_full {
            WhenFull::MergeHead if full => {
                postponed = rest;
                self.pop(chunks);
                if let Some(second) = chunks.first_mut() {
                    second.amount = second.amount.saturating_add(rest);
                }
            }
            WhenFull::MergeTail if full => {
                let last = self.pop_last(chunks);
                postponed = last.amount;
                used.due = used.due.max(last.due);
                used.amount = used.amount.saturating_add(last.amount);
                self.set_first_amount(chunks, rest);
            }
            WhenFull::MergeHead | WhenFull::MergeTail => self.set_first_amount(chunks, rest),
        }
        self.insert(chunks, used);
        postponed
    }

    /// The mode has changed. More: the difference is at hand at once, and comes back together with
    /// the present use if there is one. Less: the part that would come back last is gone.
    pub(super) fn set_capacity(&mut self, chunks: &mut [Chunk], now: Instant, capacity: Service) {
        let more = capacity.saturating_sub(self.capacity);
        let mut less = self.capacity.saturating_sub(capacity);
        self.capacity = capacity;
        if !more.is_zero() {
            self.grow(chunks, now, more);
        }
        // What was used of the first chunk comes back later than all others: it goes first.
        if let Some(first) = chunks.first_mut().filter(|first| first.due <= now) {
            let taken = self.usage.min(less);
            self.usage = self.usage.saturating_sub(taken);
            first.amount = first.amount.saturating_sub(taken);
            less = less.saturating_sub(taken);
        }
        while let Some(&last) = self.list(chunks).last() {
            let taken = last.amount.min(less);
            if taken.is_zero() {
                break;
            }
            less = less.saturating_sub(taken);
            self.pop_last(chunks);
            self.insert(
                chunks,
                Chunk {
                    due: last.due,
                    amount: last.amount.saturating_sub(taken),
                },
            );
        }
        match self.list(chunks).first() {
            None => self.usage = Service::ZERO,
            // What is left of the first chunk has been used already.
            Some(first) if self.usage >= first.amount => {
                let usage = core::mem::take(&mut self.usage);
                self.charge(chunks, now, usage);
            }
            Some(_) => {}
        }
    }

    fn grow(&mut self, chunks: &mut [Chunk], now: Instant, more: Service) {
        let at_hand = self
            .list(chunks)
            .first()
            .is_some_and(|first| first.due <= now);
        if let Some(first) = chunks.first_mut().filter(|_| at_hand) {
            first.amount = first.amount.saturating_add(more);
            return;
        }
        let due = match self.list(chunks).last() {
            // The use that ends now goes on. It began a period before it comes back.
            Some(last) if self.active && self.used_up_at == Some(now) => {
                last.due.saturating_sub(self.period).min(now)
            }
            Some(_) | None => now,
        };
        if self.len >= chunks.len() {
            self.merge_last_two(chunks);
        }
        self.insert(chunks, Chunk { due, amount: more });
    }

    /// Makes room in a full list: what comes back last but one comes back with the last.
    fn merge_last_two(&mut self, chunks: &mut [Chunk]) {
        let last = self.pop_last(chunks);
        let before = self.pop_last(chunks);
        let amount = last.amount.saturating_add(before.amount);
        self.insert(
            chunks,
            Chunk {
                due: last.due,
                amount,
            },
        );
    }

    /// Makes the next increase count from the last use, for the test that shows why it does not.
    #[cfg(test)]
    pub(crate) fn pretend_used_up(&mut self, now: Instant) {
        self.used_up_at = Some(now);
    }

    fn a_period_later(&self, chunk: Chunk) -> Chunk {
        Chunk {
            due: chunk.due.saturating_add(self.period),
            ..chunk
        }
    }

    fn set_first_amount(&self, chunks: &mut [Chunk], amount: Service) {
        if let Some(first) = chunks.first_mut() {
            first.amount = amount;
        }
    }

    /// Puts a chunk behind those due no later; an empty one is left out.
    fn insert(&mut self, chunks: &mut [Chunk], chunk: Chunk) {
        if chunk.amount.is_zero() || self.len >= chunks.len() {
            return;
        }
        let list = self.list(chunks);
        let position = list.partition_point(|other| other.due <= chunk.due);
        self.len = self.len.saturating_add(1);
        let mut carried = chunk;
        for slot in chunks.iter_mut().take(self.len).skip(position) {
            core::mem::swap(slot, &mut carried);
        }
    }

    fn pop(&mut self, chunks: &mut [Chunk]) {
        let mut carried = Chunk::NONE;
        for slot in chunks.iter_mut().take(self.len).rev() {
            core::mem::swap(slot, &mut carried);
        }
        self.len = self.len.saturating_sub(1);
    }

    fn pop_last(&mut self, chunks: &mut [Chunk]) -> Chunk {
        self.len = self.len.saturating_sub(1);
        chunks
            .get_mut(self.len)
            .map_or(Chunk::NONE, |last| core::mem::replace(last, Chunk::NONE))
    }

    fn merge_first_two(&mut self, chunks: &mut [Chunk], due: Instant) {
        let Some(&first) = chunks.first() else { return };
        self.pop(chunks);
        if let Some(second) = chunks.first_mut() {
            second.due = due;
            second.amount = second.amount.saturating_add(first.amount);
        }
    }

    /// I1 to I3.
    #[must_use]
    pub fn is_consistent(&self, chunks: &[Chunk]) -> bool {
        let list = self.list(chunks);
        let sum = list
            .iter()
            .fold(Service::ZERO, |sum, chunk| sum.saturating_add(chunk.amount));
        let first = list.first().map_or(Service::ZERO, |chunk| chunk.amount);
        sum == self.capacity
            && list.iter().all(|chunk| !chunk.amount.is_zero())
            && list.is_sorted_by_key(|chunk| chunk.due)
            && self.len <= chunks.len()
            && (self.usage < first || self.usage.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(now: u64) -> Instant {
        Instant::from_nanos(now)
    }

    fn service(amount: u64) -> Service {
        Service::from_nanos(amount)
    }

    fn pairs(server: &Sporadic, chunks: &[Chunk]) -> std::vec::Vec<(u64, u64)> {
        let pair = |chunk: &Chunk| (chunk.due.as_nanos(), chunk.amount.as_nanos());
        server.list(chunks).iter().map(pair).collect()
    }

    fn server(capacity: u64, period: u64, chunks: &mut [Chunk], full: WhenFull) -> Sporadic {
        Sporadic::new(
            Duration::from_nanos(period),
            service(capacity),
            full,
            chunks,
        )
    }

    /// Missimer et al. (2016), Fig. 5: three interrupts fill a list of three.
    fn after_three_interrupts(full: WhenFull) -> std::vec::Vec<(u64, u64)> {
        let chunks = &mut [Chunk::NONE; 3];
        let mut server = server(4, 16, chunks, full);
        for start in [9, 11, 13] {
            server.settle_work(chunks, at(start), true);
            server.charge(chunks, at(start + 1), service(1));
            server.settle_work(chunks, at(start + 1), false);
            assert!(server.is_consistent(chunks));
        }
        pairs(&server, chunks)
    }

    #[test]
    fn a_full_list_postpones_the_budget_at_hand_or_the_last_one() {
        assert_eq!(
            after_three_interrupts(WhenFull::MergeHead),
            [(25, 2), (27, 1), (29, 1)]
        );
        assert_eq!(
            after_three_interrupts(WhenFull::MergeTail),
            [(13, 1), (25, 1), (29, 2)]
        );
    }

    #[test]
    fn an_overrun_delays_what_is_left_and_whole_capacities_cost_whole_periods() {
        let chunks = &mut [Chunk::NONE; 4];
        let mut server = server(4, 10, chunks, WhenFull::MergeHead);
        server.settle_work(chunks, at(0), true);
        server.charge(chunks, at(5), service(5));
        // 4 come back at 10, and the one beyond delays them.
        assert_eq!(pairs(&server, chunks), [(11, 4)]);
        assert_eq!(server.remaining(chunks, at(11)), service(3));
        server.charge(chunks, at(9), service(4_000_000_000));
        assert!(server.is_consistent(chunks));
        assert_eq!(pairs(&server, chunks), [(10_000_000_012, 4)]);
    }

    #[test]
    fn a_smaller_capacity_takes_what_was_used_before_what_is_at_hand() {
        let chunks = &mut [Chunk::NONE; 4];
        let mut server = server(8, 10, chunks, WhenFull::MergeHead);
        server.settle_work(chunks, at(0), true);
        server.charge(chunks, at(7), service(7));
        // The 7 would come back at 10; 4 of them are gone.
        server.set_capacity(chunks, at(7), service(4));
        server.settle_work(chunks, at(7), false);
        assert_eq!(pairs(&server, chunks), [(0, 1), (10, 3)]);
        assert!(server.is_consistent(chunks));
    }

    /// T = 20, C = 4 or 8: used in [0, 2), [7, 9) and [20, 22), without a budget from then on.
    fn with_a_gap(chunks: &mut [Chunk]) -> Sporadic {
        let mut server = server(4, 20, chunks, WhenFull::MergeHead);
        for start in [0, 7, 20] {
            server.settle_work(chunks, at(start), true);
            server.charge(chunks, at(start + 2), service(2));
            server.settle_work(chunks, at(start + 2), start == 20);
        }
        server
    }

    #[test]
    fn more_budget_fills_no_gap_of_the_list_that_a_use_has_left() {
        let chunks = &mut [Chunk::NONE; 4];
        let mut server = with_a_gap(chunks);
        assert_eq!(pairs(&server, chunks), [(27, 2), (40, 2)]);
        server.set_capacity(chunks, at(23), service(8));
        assert_eq!(pairs(&server, chunks), [(23, 4), (27, 2), (40, 2)]);
        let chunks = &mut [Chunk::NONE; 2];
        let mut server = with_a_gap(chunks);
        server.set_capacity(chunks, at(23), service(8));
        assert_eq!(pairs(&server, chunks), [(23, 4), (40, 4)], "it was full");
        assert!(server.is_consistent(chunks));
    }

    #[test]
    fn more_budget_goes_on_with_a_use_that_ends_in_the_same_decision() {
        let chunks = &mut [Chunk::NONE; 4];
        let mut server = server(4, 20, chunks, WhenFull::MergeHead);
        server.settle_work(chunks, at(6), true);
        server.charge(chunks, at(12), service(3));
        server.charge(chunks, at(14), service(1));
        server.set_capacity(chunks, at(14), service(8));
        assert_eq!(pairs(&server, chunks), [(6, 4), (26, 4)]);
    }

    #[test]
    fn a_use_that_goes_on_after_the_return_begins_anew_with_what_is_left() {
        let chunks = &mut [Chunk::NONE; 4];
        let mut server = server(4, 10, chunks, WhenFull::MergeHead);
        server.settle_work(chunks, at(5), true);
        server.charge(chunks, at(8), service(1));
        server.settle_work(chunks, at(10), false);
        server.settle_work(chunks, at(10), true);
        assert_eq!(pairs(&server, chunks), [(10, 3), (15, 1)]);
    }

    #[test]
    fn a_mode_change_gives_the_difference_at_once_and_takes_it_from_the_end() {
        let chunks = &mut [Chunk::NONE; 4];
        let mut server = server(4, 10, chunks, WhenFull::MergeHead);
        server.settle_work(chunks, at(3), true);
        server.charge(chunks, at(7), service(4));
        server.set_capacity(chunks, at(7), service(6));
        assert_eq!(pairs(&server, chunks), [(3, 2), (13, 4)]);
        server.charge(chunks, at(9), service(2));
        assert_eq!(pairs(&server, chunks), [(13, 4), (13, 2)]);
        server.set_capacity(chunks, at(9), service(3));
        assert_eq!(pairs(&server, chunks), [(13, 3)]);
        server.set_capacity(chunks, at(9), service(0));
        assert_eq!(pairs(&server, chunks), []);
        assert!(server.is_consistent(chunks));
        server.set_capacity(chunks, at(20), service(2));
        assert_eq!(pairs(&server, chunks), [(20, 2)]);
        assert!(server.is_consistent(chunks));
    }
}
