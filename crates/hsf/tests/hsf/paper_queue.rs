//! A queue as the paper's section 5.1 tells it, event by event and dummy by dummy, with M = 15; and wrong ones.

use crate::queues::Subject;
use vestal_hsf::relteq::InsertError;

const M: u64 = 15;

/// What may be wrong with it. The first two are in the paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Flaw {
    /// Figures 7 and 12: an event is handled, and only then popped. Its handler gives its node a new time and inserts it
    /// again while it is still the head.
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

/// An event, or a dummy, and its time after the one before.
type Relative = (u64, Option<u32>);

pub(crate) struct PaperQueue {
    queues: [Vec<Relative>; 3],
    flaw: Option<Flaw>,
}

impl PaperQueue {
    pub(crate) fn new(flaw: Option<Flaw>) -> Self {
        Self {
            queues: Default::default(),
            flaw,
        }
    }

    fn has(&self, flaw: Flaw) -> bool {
        self.flaw == Some(flaw)
    }
}

impl Subject for PaperQueue {
    const MAX: u64 = M;

    fn insert(&mut self, queue: usize, delay: u64, event: u32) -> Result<(), InsertError> {
        let before_equal = self.has(Flaw::BeforeEqualOnes);
        let (overflow_lost, keeps) = (
            self.has(Flaw::OverflowIsLost),
            self.has(Flaw::NextIsNotRelative),
        );
        let queue = &mut self.queues[queue];
        let (mut at, mut rest) = (0, delay);
        while let Some(&(time, _)) = queue.get(at)
            && if before_equal {
                time < rest
            } else {
                time <= rest
            }
        {
            rest -= time;
            at += 1;
        }
        if let Some((time, _)) = queue.get_mut(at)
            && !keeps
        {
            *time -= rest;
        }
        while rest > M {
            rest -= M;
            if !overflow_lost {
                queue.insert(at, (M, None));
                at += 1;
            }
        }
        queue.insert(at, (rest, Some(event)));
        Ok(())
    }

    fn push_front(&mut self, queue: usize, event: u32) -> Result<(), InsertError> {
        self.queues[queue].insert(0, (0, Some(event)));
        Ok(())
    }

    fn pop(&mut self, queue: usize) -> Option<u32> {
        let queue = &mut self.queues[queue];
        while !queue.is_empty() {
            if let (_, Some(event)) = queue.remove(0) {
                return Some(event);
            }
        }
        None
    }

    fn delete(&mut self, queue: usize, event: u32) -> bool {
        let lost = self.has(Flaw::DeletedTimeIsLost);
        let queue = &mut self.queues[queue];
        let Some(at) = queue.iter().position(|&(_, other)| other == Some(event)) else {
            return false;
        };
        let (time, _) = queue[at];
        match queue.get_mut(at + 1) {
            None => {
                queue.pop();
                while let Some((_, None)) = queue.last() {
                    queue.pop();
                }
            }
            Some((next, _)) if *next + time <= M => {
                *next += if lost { 0 } else { time };
                queue.remove(at);
            }
            Some(_) if lost => drop(queue.remove(at)),
            Some(_) => queue[at].1 = None,
        }
        true
    }

    fn synchronise(
        &mut self,
        queue: usize,
        elapsed: u64,
        period: &dyn Fn(u32) -> Option<u64>,
    ) -> Vec<(u32, u64)> {
        let (mut left, mut handled) = (elapsed, Vec::new());
        while let Some(&(time, event)) = self.queues[queue].first()
            && time <= left
        {
            left -= time;
            self.queues[queue][0].0 = 0;
            let Some(event) = event else {
                self.queues[queue].remove(0);
                continue;
            };
            handled.push((event, left));
            let again = period(event);
            if self.has(Flaw::HandledBeforePopped) {
                if let Some(period) = again {
                    // It is one node: with a new time, and inserted once more, it is its own successor.
                    // What followed it is lost, and popping it leaves it where it is.
                    self.queues[queue] = vec![(period.min(M), Some(event))];
                } else {
                    self.queues[queue].remove(0);
                }
                continue;
            }
            self.queues[queue].remove(0);
            if let Some(period) = again {
                let late = if self.has(Flaw::Drifts) { left } else { 0 };
                self.insert(queue, period + late, event).unwrap();
            }
        }
        if let Some((time, _)) = self.queues[queue].first_mut() {
            *time -= left;
        }
        handled
    }

    fn grow(&mut self, queue: usize, ticks: u32) -> Result<(), InsertError> {
        for _ in 0..ticks {
            match self.queues[queue].first_mut() {
                Some((time, _)) if *time < M => *time += 1,
                Some(_) | None => self.queues[queue].insert(0, (1, None)),
            }
        }
        Ok(())
    }

    fn times(&self, queue: usize) -> Vec<(u64, u32)> {
        let mut at = 0;
        let mut times = Vec::new();
        for &(time, event) in &self.queues[queue] {
            at += time;
            times.extend(event.map(|event| (at, event)));
        }
        times
    }

    fn fault(&self, queue: usize, _: bool) -> Option<String> {
        let over = self.queues[queue].iter().any(|&(time, _)| time > M);
        over.then(|| "a time above M".into())
    }
}
