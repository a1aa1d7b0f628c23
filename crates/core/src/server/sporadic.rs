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
//! It takes away what would come back last, which is what was used most recently, and remembers that: an increase within
//! the period gives it back when it would have come back, as one chunk. So a server whose capacity falls and rises again
//! executes no more for that.
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
    /// The largest `len` there was.
    longest: usize,
    usage: Service,
    active: bool,
    /// When a chunk was used up last.
    used_up_at: Option<Instant>,
    /// What was used and is no part of the present capacity, and when the last of it would have come back.
    withheld: Chunk,
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
            longest: 0,
            usage: Service::ZERO,
            active: false,
            used_up_at: None,
            withheld: Chunk::NONE,
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

    /// How many chunks the list had when it was longest.
    #[must_use]
    pub const fn longest(&self) -> usize {
        self.longest
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
        if amount.is_zero() {
            return;
        }
        if self.capacity.is_zero() {
            // The world stopped it late.
            return self.withhold(now, now.saturating_add(self.period), amount);
        }
        self.usage = self.usage.saturating_add(amount);
        if !self.remaining(chunks, now).is_zero() {
            return;
        }
        if self.usage >= self.capacity {
            self.used_up_at = Some(now);
            self.skip_whole_capacities(chunks);
        }
        self.put_used_up_behind(chunks, now);
        if !self.usage.is_zero() {
            self.delay_by_overrun(chunks, self.usage.min(amount));
        }
    }

    /// Takes whole chunks out of the usage, which is below the sum of all; each comes back a period later.
    fn put_used_up_behind(&mut self, chunks: &mut [Chunk], now: Instant) {
        let mut count = 0_usize;
        for chunk in self.list(chunks) {
            let Some(rest) = self.usage.checked_sub(chunk.amount) else {
                break;
            };
            self.usage = rest;
            count = count.saturating_add(1);
        }
        if count == 0 {
            return;
        }
        self.used_up_at = Some(now);
        // Never before what comes back last: only after an overrun is that later than a period, and then each chunk is
        // still taken once.
        let mut last = self
            .list(chunks)
            .last()
            .map_or(Instant::EPOCH, |last| last.due);
        for chunk in chunks.iter_mut().take(count) {
            chunk.due = chunk.due.saturating_add(self.period).max(last);
            last = chunk.due;
        }
        self.put_behind(chunks, count);
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
        self.merge_what_meets(chunks, Service::ZERO);
    }

    /// What comes back while the first chunk lasts, of which so much is gone, joins it.
    fn merge_what_meets(&mut self, chunks: &mut [Chunk], used: Service) {
        let Some(&Chunk { due, .. }) = self.list(chunks).first() else {
            return;
        };
        let mut amount = Service::ZERO;
        let mut count = 0_usize;
        for chunk in self.list(chunks) {
            let left = amount.saturating_sub(used).time_on_dedicated_cpu();
            if count > 0 && chunk.due > due.saturating_add(left) {
                break;
            }
            amount = amount.saturating_add(chunk.amount);
            count = count.saturating_add(1);
        }
        self.remove_first(chunks, count.saturating_sub(1));
        if let Some(first) = chunks.first_mut() {
            *first = Chunk { due, amount };
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
        self.merge_what_meets(chunks, self.usage);
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
                self.remove_first(chunks, 1);
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

    /// Discards what is at hand in parts below `granularity`, up to the first one that is not. Those that would come back
    /// before now are discarded again, as often as that happens.
    pub(super) fn discard_below(
        &mut self,
        chunks: &mut [Chunk],
        now: Instant,
        granularity: Service,
    ) {
        let (mut sum, mut usage) = (Service::ZERO, self.usage);
        let mut last = Instant::EPOCH;
        for chunk in chunks.iter_mut().take(self.len) {
            let rest = chunk.amount.saturating_sub(usage);
            if chunk.due > now || rest >= granularity {
                break;
            }
            if chunk.amount < granularity {
                let periods = now.saturating_since(chunk.due).div_floor(self.period);
                let passed = self.period.saturating_mul(periods.unwrap_or(0));
                chunk.due = chunk.due.saturating_add(passed).max(last);
            }
            last = chunk.due;
            sum = sum.saturating_add(rest);
            usage = Service::ZERO;
        }
        self.charge(chunks, now, sum);
    }

    /// The mode has changed. More: the difference is at hand at once, and comes back together with
    /// the present use if there is one, unless it was used before and taken away. Less: the part that would come back
    /// last is gone, and remembered if it was used.
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
            let due = first.due.saturating_add(self.period);
            self.withhold(now, due, taken);
        }
        while let Some(&last) = self.list(chunks).last() {
            let taken = last.amount.min(less);
            if taken.is_zero() {
                break;
            }
            less = less.saturating_sub(taken);
            self.withhold(now, last.due, taken);
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

    /// What was used is taken away before it has come back.
    fn withhold(&mut self, now: Instant, due: Instant, amount: Service) {
        if self.withheld.due <= now {
            self.withheld = Chunk::NONE;
        }
        if due > now && !amount.is_zero() {
            let amount = self.withheld.amount.saturating_add(amount);
            let due = self.withheld.due.max(due);
            self.withheld = Chunk { due, amount };
        }
    }

    /// What was taken away after its use, of `more`: it comes back when it would have.
    fn take_withheld(&mut self, now: Instant, more: Service) -> Chunk {
        // Brings it up to date.
        self.withhold(now, now, Service::ZERO);
        let Chunk { due, amount } = self.withheld;
        let given = amount.min(more);
        let rest = Chunk {
            due,
            amount: amount.saturating_sub(given),
        };
        self.withheld = if rest.amount.is_zero() {
            Chunk::NONE
        } else {
            rest
        };
        Chunk { due, amount: given }
    }

    fn grow(&mut self, chunks: &mut [Chunk], now: Instant, more: Service) {
        let used = self.take_withheld(now, more);
        self.grow_by_unused(chunks, now, more.saturating_sub(used.amount));
        if self.len < chunks.len() {
            return self.insert(chunks, used);
        }
        let last = self.len.saturating_sub(1);
        if let Some(last) = chunks.get_mut(last).filter(|_| !used.amount.is_zero()) {
            last.due = last.due.max(used.due);
            last.amount = last.amount.saturating_add(used.amount);
        }
    }

    fn grow_by_unused(&mut self, chunks: &mut [Chunk], now: Instant, more: Service) {
        if more.is_zero() {
            return;
        }
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

    /// Forgets what was taken away after its use, for the test that shows why it does not.
    #[cfg(test)]
    pub(crate) fn forget(&mut self) {
        self.withheld = Chunk::NONE;
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
        #[cfg(test)]
        tests::count_moved(list.len());
        self.len = self.len.saturating_add(1);
        self.longest = self.longest.max(self.len);
        let mut carried = chunk;
        for slot in chunks.iter_mut().take(self.len).skip(position) {
            core::mem::swap(slot, &mut carried);
        }
    }

    /// Puts the first `count` chunks behind the others, in their order.
    fn put_behind(&self, chunks: &mut [Chunk], count: usize) {
        let Some(list) = chunks.get_mut(..self.len) else {
            return;
        };
        #[cfg(test)]
        tests::count_moved(list.len());
        if let Some((first, others)) = list.split_at_mut_checked(count) {
            first.reverse();
            others.reverse();
            list.reverse();
        }
    }

    fn remove_first(&mut self, chunks: &mut [Chunk], count: usize) {
        if count == 0 {
            return;
        }
        self.put_behind(chunks, count);
        let rest = self.len.saturating_sub(count);
        for chunk in chunks.iter_mut().take(self.len).skip(rest) {
            *chunk = Chunk::NONE;
        }
        self.len = rest;
    }

    fn pop_last(&mut self, chunks: &mut [Chunk]) -> Chunk {
        self.len = self.len.saturating_sub(1);
        chunks
            .get_mut(self.len)
            .map_or(Chunk::NONE, |last| core::mem::replace(last, Chunk::NONE))
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
mod tests;
