//! A hash of plans, the same on every platform: what recordings keep, and what a microcontroller is compared by.

use crate::ids::JobId;
use crate::plan::{BudgetOwner, OnExhaustion, Plan, Slot, WakeReason};
use crate::time::Instant;

/// A running hash, FNV-1a with 64 bits (Fowler, Noll and Vo), over the numbers of plans, eight bytes each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PlanHash(u64);

impl PlanHash {
    const PRIME: u64 = 0x0000_0100_0000_01b3;

    /// The hash of no plan.
    pub const EMPTY: Self = Self(0xcbf2_9ce4_8422_2325);

    /// The hash of one plan.
    #[must_use]
    pub fn of(now: Instant, plan: &Plan<'_>) -> Self {
        let mut hash = Self::EMPTY;
        hash.plan(now, plan);
        hash
    }

    /// The value.
    #[must_use]
    pub const fn value(self) -> u64 {
        self.0
    }

    /// Takes in everything that a plan says, and its instant.
    pub fn plan(&mut self, now: Instant, plan: &Plan<'_>) {
        // Taken apart by name, so that a new field of plans cannot be forgotten here.
        let Plan {
            slots,
            sequences,
            next,
            mode,
        } = *plan;
        self.number(now.as_nanos());
        self.number(u64::from(mode.0));
        self.number(slots.len() as u64);
        for slot in slots {
            self.number(u64::from(slot.is_some()));
            if let Some(slot) = slot {
                self.slot(slot);
            }
        }
        // A plan without sequences has the hash it would have if there were no such thing.
        for (cpu, span) in (1_u64..).zip(sequences.spans) {
            let Some(span) = span else { continue };
            self.number(cpu);
            self.number(u64::from(span.barrier.0));
            self.number(span.len as u64);
            for job in sequences.jobs.iter().skip(span.start).take(span.len) {
                self.job(*job);
            }
        }
        self.number(u64::from(next.is_some()));
        if let Some(wake) = next {
            self.number(wake.at.as_nanos());
            self.reason(wake.why);
        }
    }

    fn number(&mut self, number: u64) {
        // Most numbers have one byte, and the zeros after it do nothing but multiply.
        const EIGHT: u64 = PlanHash::PRIME.wrapping_pow(8);
        if number < 256 {
            self.0 = (self.0 ^ number).wrapping_mul(EIGHT);
            return;
        }
        for byte in number.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(Self::PRIME);
        }
    }

    fn job(&mut self, job: JobId) {
        self.number(u64::from(job.task.0));
        self.number(job.sequence);
    }

    fn slot(&mut self, slot: &Slot) {
        self.job(slot.job);
        let Some(budget) = slot.budget else {
            return self.number(0);
        };
        self.number(1);
        self.number(budget.remaining.as_nanos());
        match budget.owner {
            BudgetOwner::Job => self.number(0),
            BudgetOwner::Task(task) => self.number(1 << 16 | u64::from(task.0)),
            BudgetOwner::Server(server) => self.number(2 << 16 | u64::from(server.0)),
        }
        self.number(match budget.on_exhaustion {
            OnExhaustion::RaiseMode(level) => 16_u64.saturating_add(u64::from(level.0)),
            OnExhaustion::Demote => 1,
            OnExhaustion::Abort => 2,
            OnExhaustion::Suspend => 3,
        });
    }

    fn reason(&mut self, why: WakeReason) {
        match why {
            WakeReason::Deadline(job) => {
                self.number(0);
                self.job(job);
            }
            WakeReason::Replenishment => self.number(1),
            WakeReason::Consumption => self.number(2),
            WakeReason::TableSlot => self.number(3),
            WakeReason::Frame => self.number(4),
            WakeReason::ZeroSlack(job) => {
                self.number(5);
                self.job(job);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{BarrierId, ServerId, TaskId};
    use crate::model::Level;
    use crate::plan::{Budget, SequenceSpan, Sequences, Wake};
    use crate::time::Service;

    fn job(task: u16, sequence: u64) -> JobId {
        let task = TaskId(task);
        JobId { task, sequence }
    }

    /// Whatever a plan says differently makes another hash: sequences and the owner of a budget too.
    #[test]
    fn everything_that_a_plan_says_counts() {
        let budget = Budget {
            remaining: Service::from_nanos(3),
            owner: BudgetOwner::Job,
            on_exhaustion: OnExhaustion::Demote,
        };
        let slot = |job, budget| [Some(Slot { job, budget })];
        let owned = |owner| slot(job(0, 1), Some(Budget { owner, ..budget }));
        let slots = [
            [None],
            slot(job(0, 1), None),
            slot(job(1, 1), None),
            slot(job(0, 2), None),
            owned(BudgetOwner::Job),
            owned(BudgetOwner::Task(TaskId(0))),
            owned(BudgetOwner::Server(ServerId(0))),
        ];
        let jobs = [job(0, 1), job(1, 1)];
        let span = |start, len, barrier| {
            let barrier = BarrierId(barrier);
            [Some(SequenceSpan {
                start,
                len,
                barrier,
            })]
        };
        let spans = [
            [None],
            span(0, 1, 0),
            span(0, 2, 0),
            span(1, 1, 0),
            span(0, 1, 1),
        ];
        let at = Instant::from_nanos(9);
        let wake = |why| Some(Wake { at, why });
        let nexts = [
            None,
            wake(WakeReason::Deadline(job(0, 1))),
            wake(WakeReason::ZeroSlack(job(0, 1))),
            wake(WakeReason::Frame),
        ];
        let mut hashes = alloc::vec::Vec::new();
        for slots in &slots {
            for spans in &spans {
                for next in nexts {
                    for mode in [Level(0), Level(1)] {
                        let sequences = Sequences { jobs: &jobs, spans };
                        let plan = Plan {
                            slots,
                            sequences,
                            next,
                            mode,
                        };
                        hashes.extend(
                            [0, 1].map(|now| PlanHash::of(Instant::from_nanos(now), &plan)),
                        );
                    }
                }
            }
        }
        let all = hashes.len();
        hashes.sort_by_key(|hash| hash.value());
        hashes.dedup();
        assert_eq!((hashes.len(), all), (7 * 5 * 4 * 2 * 2, 7 * 5 * 4 * 2 * 2));
    }
}
