//! How much did some tasks execute in any window of a length, by what they were charged?
//!
//! A charge is taken for what its job executed just before it. That is so to the nanosecond in a simulation; on Linux what the manager and the machine had
//! of the CPU between two charges of one job lies somewhere among what it executed. What finds no room there, because more was charged than the time since
//! the charge before, was executed before that: it is counted in the time that was free then. Nothing that was charged is left out, but for what does not fit
//! into the time since the beginning.
//!
//! Windows that begin with a charge or end with one are enough: between those what is inside grows or falls at one rate at most.
//!
//! Complexity: O(n log n) for n charges, which are kept.

use crate::record::{Record, What};
use alloc::vec::Vec;
use vestal_core::{Duration, Fact, Instant, Service, TaskId};

/// What is most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Most {
    /// So much.
    pub executed: Service,
    /// In the window that begins there; of several the first.
    pub from: Instant,
}

/// The most that jobs of `tasks`, which are on one CPU, executed in any window of this length.
///
/// # Errors
/// What `records` gives.
pub fn most_in_a_window<E>(
    records: impl IntoIterator<Item = Result<Record, E>>,
    tasks: &[TaskId],
    length: Duration,
) -> Result<Most, E> {
    let mut pieces = Pieces::default();
    for record in records {
        let record = record?;
        if let What::Fact(Fact::Charged { job, amount, .. }) = record.what
            && tasks.contains(&job.task)
        {
            pieces.push(record.at.as_nanos(), amount.as_nanos());
        }
    }
    Ok(pieces.most(length.as_nanos()))
}

/// A time in which they executed.
#[derive(Clone, Copy, Debug)]
struct Piece {
    from: u64,
    to: u64,
    /// What was executed before it.
    before: u64,
}

impl Piece {
    const fn of(from: u64, to: u64) -> Self {
        let before = 0;
        Self { from, to, before }
    }
}

/// In the order of time.
#[derive(Debug, Default)]
struct Pieces {
    each: Vec<Piece>,
    in_all: u64,
}

impl Pieces {
    /// So much was executed up to `to`, in what is free of the time before that. Amortized O(1), if it is told in the order of time.
    fn push(&mut self, to: u64, amount: u64) {
        let is_after = |piece: &Piece| piece.from >= to;
        let later = self.each.partition_point(|piece| !is_after(piece));
        let later = self.each.split_off(later);
        let (mut rest, mut end, mut begin) = (amount, to, to);
        while rest > 0 {
            let Some(before) = self.each.last().copied() else {
                begin = begin.saturating_sub(rest);
                break;
            };
            if before.to < begin {
                let free = rest.min(begin - before.to);
                (begin, rest) = (begin - free, rest - free);
            }
            if before.to < begin {
                break;
            }
            // It lies beside what was executed before, or within it.
            self.each.pop();
            end = end.max(before.to);
            begin = begin.min(before.from);
        }
        let pieces = [Piece::of(begin, end)].into_iter().chain(later);
        for Piece { from, to, .. } in pieces.filter(|piece| piece.from < piece.to) {
            let before = self
                .each
                .last()
                .map_or(0, |last| last.before + (last.to - last.from));
            self.each.push(Piece { from, to, before });
        }
        self.in_all = self
            .each
            .last()
            .map_or(0, |last| last.before + (last.to - last.from));
    }

    /// What was executed until then.
    fn until(&self, instant: u64) -> u64 {
        let place = self.each.partition_point(|piece| piece.to <= instant);
        self.each.get(place).map_or(self.in_all, |next| {
            let begun = instant.saturating_sub(next.from);
            next.before.saturating_add(begun)
        })
    }

    fn most(&self, length: u64) -> Most {
        let begins = self.each.iter().map(|piece| piece.from);
        let ends = self
            .each
            .iter()
            .map(|piece| piece.to.saturating_sub(length));
        let mut most = Most::default();
        for from in begins.chain(ends) {
            let inside = self.until(from.saturating_add(length)) - self.until(from);
            let found = Most {
                executed: Service::from_nanos(inside),
                from: Instant::from_nanos(from),
            };
            let is_first = found.from < most.from && found.executed == most.executed;
            if found.executed > most.executed || is_first {
                most = found;
            }
        }
        most
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vestal_core::{CpuId, JobId};
    use vestal_testkit::random::Random;

    fn charged(at: u64, task: u16, amount: u64) -> Record {
        let task = TaskId(task);
        let fact = Fact::Charged {
            cpu: CpuId(0),
            job: JobId { task, sequence: 0 },
            amount: Service::from_nanos(amount),
        };
        Record {
            at: Instant::from_nanos(at),
            what: What::Fact(fact),
        }
    }

    fn most(records: &[Record], tasks: &[u16], length: u64) -> (u64, u64) {
        let tasks: Vec<TaskId> = tasks.iter().copied().map(TaskId).collect();
        let all = records.iter().map(|record| Ok::<_, ()>(*record));
        let found = most_in_a_window(all, &tasks, Duration::from_nanos(length)).unwrap();
        (found.executed.as_nanos(), found.from.as_nanos())
    }

    /// 2 until 4, 3 until 10, 4 until 14: in 10 from 4 on there are 7, in 10 from 2 on 2 + 3 + 2.
    #[test]
    fn the_worst_window_may_begin_within_a_gap_or_with_a_charge() {
        let records = [
            charged(4, 1, 2),
            charged(5, 0, 1),
            charged(10, 1, 3),
            charged(14, 2, 4),
        ];
        assert_eq!(most(&records, &[1, 2], 10), (7, 2));
        assert_eq!(most(&records, &[1, 2], 7), (7, 7));
        assert_eq!(most(&records, &[1], 8), (5, 2));
        assert_eq!(most(&records, &[0], 8), (1, 0));
        assert_eq!(most(&records, &[9], 8), (0, 0));
        assert_eq!(most(&[], &[1], 8), (0, 0));
    }

    /// Charged are 4 at 10, and 8 at 12, of which 2 may have been executed since; the other 6 are those before 6.
    #[test]
    fn what_finds_no_room_since_the_charge_before_was_executed_before_it() {
        let whole = |records: &[Record]| most(records, &[1], 100);
        let mut records = vec![charged(10, 1, 4), charged(12, 1, 8)];
        assert_eq!(whole(&records), (12, 0));
        assert_eq!(most(&records, &[1], 5), (5, 0));
        records.push(charged(20, 1, 2));
        assert_eq!((whole(&records), most(&records, &[1], 8).0), ((14, 0), 8));
        records.push(charged(15, 1, 2));
        assert_eq!(
            (whole(&records), most(&records, &[1], 20)),
            ((16, 0), (16, 0))
        );
        records.push(charged(3, 1, 9));
        assert_eq!(whole(&records), (16, 0), "there was no time before");
    }

    /// The slow twin puts each nanosecond into the latest one that is free.
    #[test]
    fn charges_in_no_order_and_larger_than_the_time_between_them_are_all_counted() {
        const END: u64 = 120;
        let mut random = Random::new(9);
        let (mut overlapping, mut early) = (0, 0);
        for _ in 0..300 {
            let (mut records, mut executes) = (Vec::new(), [false; END as usize]);
            let mut last = 0;
            for _ in 0..random.below(12) + 1 {
                let (to, amount) = (random.below(END) + 1, random.below(9) + 1);
                early += u64::from(to < last);
                last = to;
                records.push(charged(to, 1, amount));
                let free = (0..to)
                    .rev()
                    .filter(|&at| !executes[usize::try_from(at).unwrap()]);
                let put: Vec<u64> = free.take(usize::try_from(amount).unwrap()).collect();
                overlapping += u64::from(put.first() != Some(&(to - 1)));
                for at in put {
                    executes[usize::try_from(at).unwrap()] = true;
                }
            }
            let length = random.below(40) + 1;
            let inside = |from: u64| executed_in(&executes, from, length);
            let expected = (0..END).map(inside).max().unwrap();
            let (found, from) = most(&records, &[1], length);
            assert_eq!((found, inside(from)), (expected, expected), "{records:?}");
        }
        assert!(overlapping > 100 && early > 100, "{overlapping} {early}");
    }

    /// How many of the nanoseconds of a window are of those in which something executes.
    fn executed_in(executes: &[bool], from: u64, length: u64) -> u64 {
        let from = usize::try_from(from).unwrap();
        let to = (from + usize::try_from(length).unwrap()).min(executes.len());
        executes[from..to].iter().filter(|&&it| it).count() as u64
    }

    /// The slow twin looks at each nanosecond of each window.
    #[test]
    fn no_window_has_more_and_one_has_as_much() {
        const END: u64 = 200;
        let mut random = Random::new(7);
        let mut distinct = alloc::collections::BTreeSet::new();
        for _ in 0..300 {
            let (mut records, mut executes) = (Vec::new(), [false; END as usize]);
            let mut now = 0;
            loop {
                let (pause, amount) = (random.below(8), random.below(6) + 1);
                now += pause + amount;
                if now > END {
                    break;
                }
                records.push(charged(now, 1, amount));
                for instant in now - amount..now {
                    executes[usize::try_from(instant).unwrap()] = true;
                }
            }
            let length = random.below(40) + 1;
            let inside = |from: u64| executed_in(&executes, from, length);
            let expected = (0..END).map(inside).max().unwrap();
            let (found, from) = most(&records, &[1], length);
            assert_eq!((found, inside(from)), (expected, expected));
            distinct.insert(found);
        }
        assert!(distinct.len() > 15, "{distinct:?}");
    }
}
