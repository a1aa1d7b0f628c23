//! Queues against a reference: a map of absolute times, in random operations on three queues of one pool.
//!
//! The same operations find each of the wrong variants of [`crate::paper_queue`].

use crate::is_long;
use crate::paper_queue::{Flaw, PaperQueue};
use crate::same_schedule::Bits4;
use std::collections::BTreeMap;
use vestal_hsf::relteq::{Entry, InsertError};
use vestal_hsf::{Bounded, Pass, Pool, Queue, Tick};
use vestal_testkit::Random;

const QUEUES: usize = 3;
const NODES: usize = 40;
/// Events in a queue at most.
const LONGEST: usize = 12;

/// What is under test: three queues with one pool.
pub(crate) trait Subject {
    /// M.
    const MAX: u64;
    fn insert(&mut self, queue: usize, delay: u64, event: u32) -> Result<(), InsertError>;
    fn push_front(&mut self, queue: usize, event: u32) -> Result<(), InsertError>;
    fn pop(&mut self, queue: usize) -> Option<u32>;
    fn delete(&mut self, queue: usize, event: u32) -> bool;
    /// Has it expire then, whether it was there or not.
    fn renew(&mut self, queue: usize, delay: u64, event: u32) -> Result<(), InsertError> {
        self.delete(queue, event);
        self.insert(queue, delay, event)
    }
    /// Takes one out and inserts another at the queue's now; when the first would have expired, if it was there.
    fn exchange(&mut self, queue: usize, old: u32, new: u32) -> Result<Option<u64>, InsertError> {
        let times = self.times(queue);
        let at = times.into_iter().find(|&(_, event)| event == old);
        if at.is_some() {
            self.push_front(queue, new)?;
            self.delete(queue, old);
        }
        Ok(at.map(|(at, _)| at))
    }
    /// The time passes; each event is handled, and inserted again after its period if it has one. What was
    /// handled, with how long it was late.
    fn synchronise(&mut self, queue: usize, elapsed: u64, period: &Period) -> Vec<(u32, u64)>;
    fn grow(&mut self, queue: usize, ticks: u32) -> Result<(), InsertError>;
    /// Absolute times from now on, in order.
    fn times(&self, queue: usize) -> Vec<(u64, u32)>;
    /// What is wrong with its structure, if it can be seen.
    fn fault(&self, queue: usize, grown: bool) -> Option<String>;
}

/// After what time an event comes again.
type Period = dyn Fn(u32) -> Option<u64>;

/// This crate's.
struct Real<T> {
    pool: Pool<T, u32, NODES>,
    queues: [Queue; QUEUES],
}

impl<T: Tick> Real<T> {
    fn new() -> Self {
        Self {
            pool: Pool::new(),
            queues: [Queue::new(), Queue::new(), Queue::new()],
        }
    }
}

impl<T: Tick> Subject for Real<T> {
    const MAX: u64 = T::MAX as u64;

    fn insert(&mut self, queue: usize, delay: u64, event: u32) -> Result<(), InsertError> {
        self.pool.insert(&mut self.queues[queue], delay, event)
    }

    fn push_front(&mut self, queue: usize, event: u32) -> Result<(), InsertError> {
        self.pool.push_front(&mut self.queues[queue], event)
    }

    fn pop(&mut self, queue: usize) -> Option<u32> {
        self.pool.pop(&mut self.queues[queue])
    }

    fn delete(&mut self, queue: usize, event: u32) -> bool {
        let queue = &mut self.queues[queue];
        let expires = self.pool.remaining(queue, event);
        let removed = self.pool.remove(queue, event);
        assert_eq!(removed, expires);
        removed.is_some()
    }

    fn renew(&mut self, queue: usize, delay: u64, event: u32) -> Result<(), InsertError> {
        self.pool.renew(&mut self.queues[queue], delay, event)
    }

    fn exchange(&mut self, queue: usize, old: u32, new: u32) -> Result<Option<u64>, InsertError> {
        self.pool.exchange(&mut self.queues[queue], old, new)
    }

    fn synchronise(&mut self, queue: usize, elapsed: u64, period: &Period) -> Vec<(u32, u64)> {
        // What is done where most often nothing is due.
        if elapsed.is_multiple_of(2) && self.pool.elapse_before(&self.queues[queue], elapsed) {
            return Vec::new();
        }
        let (mut pass, mut handled) = (Pass::over(elapsed), Vec::new());
        // What a tick handler does: nothing is due before the head is.
        if self
            .pool
            .head(&self.queues[queue])
            .is_some_and(|head| u64::from(head) >= elapsed)
        {
            self.pool.elapse(&self.queues[queue], elapsed as u32);
            pass = Pass::over(0);
        }
        while let Some(event) = self.pool.synchronise(&mut self.queues[queue], &mut pass) {
            handled.push((event, pass.left()));
            if let Some(period) = period(event) {
                let queue = &mut self.queues[queue];
                let inserted = self.pool.insert_again(queue, &mut pass, period, event);
                inserted.unwrap();
            }
        }
        handled
    }

    fn grow(&mut self, queue: usize, ticks: u32) -> Result<(), InsertError> {
        self.pool.grow(&mut self.queues[queue], ticks)
    }

    fn times(&self, queue: usize) -> Vec<(u64, u32)> {
        let mut at = 0;
        let mut times = Vec::new();
        for item in self.pool.items(&self.queues[queue]) {
            at += u64::from(item.time);
            match item.entry {
                Entry::Event(event) => times.push((at, event)),
                Entry::Dummies { more } => at += u64::from(more) * Self::MAX,
            }
        }
        times
    }

    fn fault(&self, queue: usize, grown: bool) -> Option<String> {
        if !self.pool.is_consistent(&self.queues[queue], grown) {
            return Some("inconsistent".into());
        }
        let count = |queue: &Queue| self.pool.items(queue).count();
        let used: usize = self.queues.iter().map(count).sum();
        if used != usize::from(self.pool.used()) {
            return Some(format!(
                "{used} nodes of {} are in queues",
                self.pool.used()
            ));
        }
        let times = self.times(queue);
        let nodes = count(&self.queues[queue]);
        if nodes > 2 * times.len() + usize::from(grown) {
            return Some(format!("{nodes} nodes for {} events", times.len()));
        }
        if self.pool.first(&self.queues[queue]) != times.first().copied() {
            return Some("first".into());
        }
        let asked = times
            .iter()
            .find(|&&(at, event)| self.pool.remaining(&self.queues[queue], event) != Some(at));
        asked.map(|(_, event)| format!("remaining {event}"))
    }
}

/// Keys are instants and, for those of one instant, the order.
#[derive(Default)]
struct Reference {
    now: i128,
    events: BTreeMap<(i128, i64), u32>,
    grown: bool,
}

impl Reference {
    fn times(&self) -> Vec<(u64, u32)> {
        let time = |(&(at, _), &event): (&(i128, i64), &u32)| ((at - self.now) as u64, event);
        self.events.iter().map(time).collect()
    }

    fn synchronise(&mut self, elapsed: u64, period: &Period, next: &mut i64) -> Vec<(u32, u64)> {
        let until = self.now + i128::from(elapsed);
        let mut handled = Vec::new();
        while let Some(entry) = self.events.first_entry()
            && entry.key().0 <= until
        {
            let ((at, _), event) = entry.remove_entry();
            handled.push((event, (until - at) as u64));
            if let Some(period) = period(event) {
                *next += 1;
                self.events.insert((at + i128::from(period), *next), event);
            }
        }
        self.now = until;
        handled
    }
}

/// How often what happened.
#[derive(Debug, Default)]
struct Seen {
    full: u64,
    handled: u64,
    overflows: u64,
    renewed: u64,
    exchanged: u64,
}

pub(crate) fn random_delay(random: &mut Random, max: u64) -> u64 {
    match random.below(8) {
        0 => 0,
        1..=4 => random.below(max + 1),
        5 => max + random.below(2),
        6 => random.below(4 * max),
        _ => random.below(50 * max),
    }
}

/// One of its events; sometimes none.
fn any(random: &mut Random, reference: &Reference) -> Option<(i128, i64)> {
    let number = reference.events.len();
    if number == 0 || random.once_in(20) {
        return None;
    }
    reference.events.keys().nth(random.index(number)).copied()
}

/// Random operations on a subject and on the references.
struct Campaign {
    random: Random,
    references: [Reference; QUEUES],
    order: i64,
    name: u32,
    seen: Seen,
}

/// So many random operations; says which first went wrong.
fn campaign<S: Subject>(subject: &mut S, operations: u64, seed: u64) -> Result<Seen, String> {
    let mut campaign = Campaign {
        random: Random::new(seed),
        references: Default::default(),
        order: 0,
        name: 0,
        seen: Seen::default(),
    };
    for number in 0..operations {
        let queue = campaign.random.index(QUEUES);
        let right = campaign.operate(subject, queue);
        let reference = &campaign.references[queue];
        let (found, expected) = (subject.times(queue), reference.times());
        let fault = subject.fault(queue, reference.grown);
        if !right || found != expected || fault.is_some() {
            return Err(format!("{number}: {found:?}, not {expected:?}; {fault:?}"));
        }
    }
    Ok(campaign.seen)
}

impl Campaign {
    /// One operation; whether both gave the same answer.
    fn operate<S: Subject>(&mut self, subject: &mut S, queue: usize) -> bool {
        match self.random.below(14) {
            0..=6 if self.references[queue].events.len() < LONGEST => self.insert(subject, queue),
            7 => {
                let reference = &mut self.references[queue];
                let first = reference.events.pop_first();
                if let Some(((at, _), _)) = first {
                    reference.now = at;
                }
                subject.pop(queue) == first.map(|(_, event)| event)
            }
            8 => {
                let reference = &mut self.references[queue];
                let key = any(&mut self.random, reference);
                let event = key.and_then(|key| reference.events.remove(&key));
                subject.delete(queue, event.unwrap_or(u32::MAX)) == event.is_some()
            }
            // The others are not stopwatches: they end with events.
            9 if queue == 2 => {
                let ticks = self.random.below(S::MAX.min(1 << 20)) as u32;
                let grown = subject.grow(queue, ticks).is_ok();
                let reference = &mut self.references[queue];
                if grown {
                    reference.now -= i128::from(ticks);
                    reference.grown = true;
                }
                self.seen.full += u64::from(!grown);
                true
            }
            10 => self.exchange(subject, queue),
            11 if self.references[queue].events.len() < LONGEST => self.renew(subject, queue),
            _ => self.synchronise(subject, queue),
        }
    }

    fn renew<S: Subject>(&mut self, subject: &mut S, queue: usize) -> bool {
        let reference = &mut self.references[queue];
        let delay = random_delay(&mut self.random, S::MAX);
        let key = any(&mut self.random, reference);
        let event = key.and_then(|key| reference.events.remove(&key));
        self.name += u32::from(event.is_none());
        self.order += 1;
        let event = event.unwrap_or(self.name);
        if subject.renew(queue, delay, event).is_ok() {
            let at = reference.now + i128::from(delay);
            reference.events.insert((at, self.order), event);
            self.seen.renewed += u64::from(key.is_some());
        } else {
            // Then it is not in the queue.
            self.seen.full += 1;
        }
        true
    }

    fn exchange<S: Subject>(&mut self, subject: &mut S, queue: usize) -> bool {
        let reference = &mut self.references[queue];
        let key = any(&mut self.random, reference);
        let old = key.and_then(|key| reference.events.get(&key).copied());
        self.name += 1;
        self.order += 1;
        let Ok(found) = subject.exchange(queue, old.unwrap_or(u32::MAX), self.name) else {
            self.seen.full += 1;
            return true;
        };
        if let Some(key) = key {
            reference.events.remove(&key);
            let new = (reference.now, -self.order);
            reference.events.insert(new, self.name);
            self.seen.exchanged += 1;
        }
        found == key.map(|(at, _)| (at - reference.now) as u64)
    }

    fn insert<S: Subject>(&mut self, subject: &mut S, queue: usize) -> bool {
        let reference = &mut self.references[queue];
        self.name += 1;
        self.order += 1;
        let (delay, key, inserted) = if self.random.once_in(5) {
            (0, -self.order, subject.push_front(queue, self.name))
        } else {
            let delay = random_delay(&mut self.random, S::MAX);
            (delay, self.order, subject.insert(queue, delay, self.name))
        };
        if inserted.is_ok() {
            self.seen.overflows += u64::from(delay > S::MAX);
            let at = reference.now + i128::from(delay);
            reference.events.insert((at, key), self.name);
        } else {
            self.seen.full += 1;
        }
        true
    }

    fn synchronise<S: Subject>(&mut self, subject: &mut S, queue: usize) -> bool {
        let elapsed = random_delay(&mut self.random, S::MAX);
        // Some come again, a few times within the interval.
        let shortest = 1 + elapsed / 4;
        let period = move |event: u32| {
            let time = (shortest + u64::from(event % 7)).min(S::MAX);
            event.is_multiple_of(3).then_some(time)
        };
        let reference = &mut self.references[queue];
        let expected = reference.synchronise(elapsed, &period, &mut self.order);
        self.seen.handled += expected.len() as u64;
        subject.synchronise(queue, elapsed, &period) == expected
    }
}

#[expect(clippy::print_stdout, reason = "a campaign says what it compared")]
fn check<T: Tick>(seed: u64) {
    let operations = if is_long() { 10_000_000 } else { 40_000 };
    let seen = campaign(&mut Real::<T>::new(), operations, seed);
    let seen = seen.unwrap_or_else(|fault| panic!("{fault}"));
    let enough = operations / 1000;
    let all = [
        seen.full,
        seen.handled,
        seen.overflows,
        seen.renewed,
        seen.exchanged,
    ];
    println!("{operations} operations, M = {}: {seen:?}", T::MAX);
    assert!(all.iter().all(|&count| count > enough), "{seen:?}");
}

// One test for each width, so that they run beside each other.

#[test]
fn queues_of_4_bits_agree_with_the_reference() {
    check::<Bits4>(1);
}

#[test]
fn queues_of_1_bit_agree_with_the_reference() {
    check::<Bounded<u8, 1>>(2);
}

#[test]
fn queues_of_8_bits_agree_with_the_reference() {
    check::<u8>(3);
}

#[test]
fn queues_of_16_bits_agree_with_the_reference() {
    check::<u16>(4);
}

#[test]
fn queues_up_to_1000_agree_with_the_reference() {
    check::<Bounded<u32, 1000>>(5);
}

#[test]
fn queues_of_32_bits_agree_with_the_reference() {
    check::<u32>(6);
}

#[test]
fn the_papers_queue_agrees_too_once_its_errors_are_mended() {
    let mut paper = PaperQueue::new(None);
    campaign(&mut paper, 60_000, 7).unwrap_or_else(|fault| panic!("{fault}"));
}

#[test]
fn every_wrong_queue_is_found() {
    for flaw in Flaw::ALL {
        let found = campaign(&mut PaperQueue::new(Some(flaw)), 60_000, 7);
        assert!(found.is_err(), "{flaw:?} goes unnoticed");
    }
}

/// Ten thousand million ticks of a stopwatch and of a periodic event, idle ones skipped: neither drifts.
fn check_drift<T: Tick>(period: u64, total: u64) {
    let mut pool = Pool::<T, u8, 16>::new();
    let (mut queue, mut stopwatch) = (Queue::new(), Queue::new());
    pool.insert(&mut queue, 7, 1).unwrap();
    pool.push_front(&mut stopwatch, 2).unwrap();
    let (mut now, mut expected) = (0, 7);
    while now < total {
        let step = pool.head(&queue).unwrap();
        pool.elapse(&queue, step);
        pool.grow(&mut stopwatch, step).unwrap();
        now += u64::from(step);
        let mut pass = Pass::over(0);
        while let Some(event) = pool.synchronise(&mut queue, &mut pass) {
            assert_eq!(now, expected, "period {period}");
            expected += period;
            pool.insert(&mut queue, period, event).unwrap();
        }
    }
    assert_eq!(pool.remaining(&stopwatch, 2), Some(now), "period {period}");
    let whole = now / u64::from(T::MAX);
    let dummies = pool.items(&stopwatch).map(|item| match item.entry {
        Entry::Dummies { more } => u64::from(more) + 1,
        Entry::Event(_) => 0,
    });
    // The paper's bound for one server; all of them are one node.
    assert!(dummies.sum::<u64>() <= whole + 1);
    assert!(pool.items(&stopwatch).count() <= 2);
}

#[test]
fn nothing_drifts_in_a_thousand_million_ticks() {
    let total = 1_000_000_000;
    check_drift::<u8>(99_991, total);
    check_drift::<u16>(99_991, total);
    check_drift::<u16>(1_009, total);
    check_drift::<u32>(99_991, total);
    check_drift::<Bits4>(99_991, if is_long() { total } else { total / 20 });
}
