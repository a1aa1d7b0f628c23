//! A queue as the paper's section 5.1 tells it, event by event and dummy by dummy, with M = 15; and wrong ones.

use crate::queues::Subject;
use vestal_hsf::relteq::InsertError;

pub(crate) const M: u64 = 15;

/// What may be wrong with it. The first two are in the paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Flaw {
    /// Figures 7 and 12: an event is handled, and only then popped. Its handler gives its node a new time and
    /// inserts it again while it is still the head.
    HandledBeforePopped,
    /// Section 5.1: a new event goes before equal ones.
    BeforeEqualOnes,
    /// A periodic event comes again one period after it was handled, not after it expired.
    Drifts,
    /// What follows a deleted event comes sooner.
    DeletedTimeIsLost,
    /// A time above M does not fit, and what is above is lost.
    OverflowIsLost,
    /// The event after an inserted one keeps its time, and so comes later.
    NextIsNotRelative,
}

impl Flaw {
    pub(crate) const ALL: [Self; 6] = [
        Self::HandledBeforePopped,
        Self::BeforeEqualOnes,
        Self::Drifts,
        Self::DeletedTimeIsLost,
        Self::OverflowIsLost,
        Self::NextIsNotRelative,
    ];
}

/// A list of events, and dummies, with their times after the one before.
#[derive(Clone, Debug)]
pub(crate) struct List<E> {
    pub(crate) items: Vec<(u64, Option<E>)>,
    flaw: Option<Flaw>,
}

impl<E: Copy + PartialEq> List<E> {
    pub(crate) fn new(flaw: Option<Flaw>) -> Self {
        let items = Vec::new();
        Self { items, flaw }
    }

    fn has(&self, flaw: Flaw) -> bool {
        self.flaw == Some(flaw)
    }

    pub(crate) fn insert(&mut self, delay: u64, event: E) {
        let (mut at, mut rest) = (0, delay);
        while let Some(&(time, _)) = self.items.get(at)
            && (time < rest || (time == rest && !self.has(Flaw::BeforeEqualOnes)))
        {
            rest -= time;
            at += 1;
        }
        let keeps = self.has(Flaw::NextIsNotRelative);
        if let Some((time, _)) = self.items.get_mut(at)
            && !keeps
        {
            *time -= rest;
        }
        while rest > M {
            rest -= M;
            if !self.has(Flaw::OverflowIsLost) {
                self.items.insert(at, (M, None));
                at += 1;
            }
        }
        self.items.insert(at, (rest, Some(event)));
    }

    pub(crate) fn push_front(&mut self, event: Option<E>) {
        self.items.insert(0, (0, event));
    }

    pub(crate) fn delete(&mut self, event: E) -> bool {
        let lost = self.has(Flaw::DeletedTimeIsLost);
        let is_it = |&(_, other): &(u64, Option<E>)| other == Some(event);
        let Some(at) = self.items.iter().position(is_it) else {
            return false;
        };
        let (time, _) = self.items[at];
        match self.items.get_mut(at + 1) {
            None => {
                self.items.pop();
                while let Some((_, None)) = self.items.last() {
                    self.items.pop();
                }
            }
            Some((next, _)) if *next + time <= M => {
                *next += if lost { 0 } else { time };
                self.items.remove(at);
            }
            Some(_) if lost => drop(self.items.remove(at)),
            Some(_) => self.items[at].1 = None,
        }
        true
    }

    pub(crate) fn increment(&mut self) {
        match self.items.first_mut() {
            Some((time, _)) if *time < M => *time += 1,
            Some(_) | None => self.items.insert(0, (1, None)),
        }
    }

    /// Absolute times, in order.
    pub(crate) fn times(&self) -> Vec<(u64, E)> {
        let mut at = 0;
        let mut times = Vec::new();
        for &(time, event) in &self.items {
            at += time;
            times.extend(event.map(|event| (at, event)));
        }
        times
    }

    /// Up to `left` ticks pass. The next event within them, taken out; `left` is what is left after its expiry.
    pub(crate) fn expire(&mut self, left: &mut u64) -> Option<E> {
        while let Some(&(time, event)) = self.items.first()
            && time <= *left
        {
            *left -= time;
            self.items.remove(0);
            if event.is_some() {
                return event;
            }
        }
        if let Some((time, _)) = self.items.first_mut() {
            *time -= *left;
        }
        None
    }

    /// Inserts an event again that has just expired. Before it was popped it is one node: with a new time, and
    /// inserted once more, it is its own successor. What followed it is lost, and popping it leaves it where it is.
    pub(crate) fn insert_again(&mut self, period: u64, late: u64, event: E) {
        match self.flaw {
            Some(Flaw::HandledBeforePopped) => self.items = vec![(period.min(M), Some(event))],
            Some(Flaw::Drifts) => self.insert(period + late, event),
            Some(_) | None => self.insert(period, event),
        }
    }
}

pub(crate) struct PaperQueue([List<u32>; 3]);

impl PaperQueue {
    pub(crate) fn new(flaw: Option<Flaw>) -> Self {
        Self([(); 3].map(|()| List::new(flaw)))
    }
}

impl Subject for PaperQueue {
    const MAX: u64 = M;

    fn insert(&mut self, queue: usize, delay: u64, event: u32) -> Result<(), InsertError> {
        self.0[queue].insert(delay, event);
        Ok(())
    }

    fn push_front(&mut self, queue: usize, event: u32) -> Result<(), InsertError> {
        self.0[queue].push_front(Some(event));
        Ok(())
    }

    fn pop(&mut self, queue: usize) -> Option<u32> {
        self.0[queue].expire(&mut u64::MAX.clone())
    }

    fn delete(&mut self, queue: usize, event: u32) -> bool {
        self.0[queue].delete(event)
    }

    fn synchronise(
        &mut self,
        queue: usize,
        elapsed: u64,
        period: &dyn Fn(u32) -> Option<u64>,
    ) -> Vec<(u32, u64)> {
        let (mut left, mut handled) = (elapsed, Vec::new());
        while let Some(event) = self.0[queue].expire(&mut left) {
            handled.push((event, left));
            if let Some(period) = period(event) {
                self.0[queue].insert_again(period, left, event);
            }
        }
        handled
    }

    fn grow(&mut self, queue: usize, ticks: u32) -> Result<(), InsertError> {
        for _ in 0..ticks {
            self.0[queue].increment();
        }
        Ok(())
    }

    fn times(&self, queue: usize) -> Vec<(u64, u32)> {
        self.0[queue].times()
    }

    fn fault(&self, queue: usize, _: bool) -> Option<String> {
        let over = self.0[queue].items.iter().any(|&(time, _)| time > M);
        over.then(|| "a time above M".into())
    }
}
