//! What the manager of a CPU tells those who decide for all, as words of a queue.

use crate::words::Offer;
use vestal_core::{Instant, JobId, Service, TaskId};

/// How many words a fact has.
pub(super) const WORDS: usize = 4;

/// A job that a CPU has by an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Guest {
    pub(crate) job: JobId,
    /// Which offer of its task it was.
    pub(crate) generation: u16,
}

impl Guest {
    /// The job of an offer, by its number.
    pub(super) const fn of(offer: Offer, sequence: u64) -> Self {
        let task = TaskId(offer.task);
        Self {
            job: JobId { task, sequence },
            generation: offer.generation,
        }
    }

    pub(super) const fn with(job: JobId, generation: u16) -> Self {
        Self { job, generation }
    }

    pub(super) const fn offer(self) -> Offer {
        Offer {
            task: self.job.task.0,
            generation: self.generation,
        }
    }
}

/// What happened on a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// A job was released.
    Released(JobId),
    /// The CPU's own domain leaves it open from here on.
    Opened,
    /// It wants it from here on.
    Closed,
    /// The CPU has taken a job, and begins or goes on with it.
    Started(Guest),
    /// Its job has used so much.
    Charged(Guest, Service),
    /// It has stopped its job, which may go on elsewhere.
    Stopped(Guest),
    /// Its job has ended, and did not do all its work.
    Cancelled(Guest),
    /// Its job has done all its work.
    Completed(Guest),
}

/// That, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UpFact {
    pub(crate) at: Instant,
    pub(crate) what: What,
}

impl UpFact {
    pub(super) fn to_words(self) -> [u64; WORDS] {
        let at = self.at.as_nanos();
        let of = |kind: u64, guest: Guest, amount: u64| {
            let (task, generation) = (u64::from(guest.job.task.0), u64::from(guest.generation));
            [
                kind | task << 16 | generation << 32,
                guest.job.sequence,
                at,
                amount,
            ]
        };
        match self.what {
            What::Released(job) => of(0, Guest { job, generation: 0 }, 0),
            What::Opened => [1, 0, at, 0],
            What::Closed => [2, 0, at, 0],
            What::Started(guest) => of(3, guest, 0),
            What::Charged(guest, amount) => of(4, guest, amount.as_nanos()),
            What::Stopped(guest) => of(5, guest, 0),
            What::Cancelled(guest) => of(6, guest, 0),
            What::Completed(guest) => of(7, guest, 0),
        }
    }

    /// What [`Self::to_words`] was made of; `None` of other words.
    pub(super) fn from_words([head, sequence, at, amount]: [u64; WORDS]) -> Option<Self> {
        let [_, _, g0, g1, t0, t1, k0, k1] = head.to_be_bytes();
        let job = JobId {
            task: TaskId(u16::from_be_bytes([t0, t1])),
            sequence,
        };
        let generation = u16::from_be_bytes([g0, g1]);
        let guest = Guest { job, generation };
        let what = match u16::from_be_bytes([k0, k1]) {
            0 => What::Released(job),
            1 => What::Opened,
            2 => What::Closed,
            3 => What::Started(guest),
            4 => What::Charged(guest, Service::from_nanos(amount)),
            5 => What::Stopped(guest),
            6 => What::Cancelled(guest),
            7 => What::Completed(guest),
            _ => return None,
        };
        let at = Instant::from_nanos(at);
        Some(Self { at, what })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_what_their_words_were_made_of() {
        let guest = |task, sequence, generation| Guest {
            job: JobId {
                task: TaskId(task),
                sequence,
            },
            generation,
        };
        for guest in [
            guest(0, 0, 0),
            guest(u16::MAX - 1, u64::MAX, 1),
            guest(3, 9, u16::MAX),
        ] {
            let amount = Service::from_nanos(u64::MAX);
            let all = [
                What::Released(guest.job),
                What::Opened,
                What::Closed,
                What::Started(guest),
                What::Charged(guest, amount),
                What::Stopped(guest),
                What::Cancelled(guest),
                What::Completed(guest),
            ];
            for what in all {
                let fact = UpFact {
                    at: Instant::from_nanos(77),
                    what,
                };
                assert_eq!(UpFact::from_words(fact.to_words()), Some(fact));
            }
            assert_eq!(Guest::of(guest.offer(), guest.job.sequence), guest);
        }
        assert_eq!(UpFact::from_words([8, 0, 0, 0]), None);
    }
}
