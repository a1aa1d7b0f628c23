//! Selection: the most urgent server with budget, and in it the most urgent ready job.

use super::{Hierarchy, LocalOrder, Seat};
use crate::ids::{JobId, ServerId, TaskId};
use crate::plan::{Budget, BudgetOwner, OnExhaustion, Slot, Wake, WakeReason};
use crate::server::Server;
use crate::store::Store;
use crate::time::{Instant, Service};
use core::cmp::Reverse;

impl<S: Store> Hierarchy<S> {
    pub(super) fn select(&mut self) {
        self.idler = None;
        self.slots = [None];
        let chosen = self.most_urgent_server();
        if let Some(id) = chosen {
            match self.slot_of(id) {
                Some(slot) => {
                    self.slots = [Some(slot)];
                    self.confirm_running_on(id, slot.job);
                }
                None => self.idler = Some(id),
            }
        }
        self.wake = self.next_wake();
    }

    /// O(servers).
    fn most_urgent_server(&self) -> Option<ServerId> {
        let eligible = |seat: &Seat| {
            let wants = seat.ready > 0 || seat.server.idles();
            wants && !self.remaining_of(seat).is_zero()
        };
        (0..u16::MAX)
            .map(ServerId)
            .zip(self.seats.iter())
            .filter(|(_, seat)| eligible(seat))
            .min_by_key(|&(id, seat)| (Reverse(priority(seat)), id))
            .map(|(id, _)| id)
    }

    /// O(tasks of the server).
    fn slot_of(&self, id: ServerId) -> Option<Slot> {
        let seat = self.seats.get(id.index())?;
        if seat.ready == 0 {
            return None;
        }
        let members = self.members.get(seat.members.clone())?;
        let mut ready = members
            .iter()
            .filter(|task| self.work.get(task.index()).is_some_and(|work| work.ready));
        let task = match seat.configuration.order {
            // Members stand in this order already.
            LocalOrder::FixedPriority => ready.next(),
            LocalOrder::EarliestDeadline => ready.min_by_key(|&&task| (self.due(task), task)),
        };
        let task = *task?;
        let current = self.work.get(task.index())?.jobs.current?;
        let (remaining, on_exhaustion) = self.budget_of(task, current.executed, seat);
        Some(Slot {
            job: JobId {
                task,
                sequence: current.arrival.sequence,
            },
            budget: Some(Budget {
                remaining,
                owner: BudgetOwner::Server(id),
                on_exhaustion,
            }),
        })
    }

    /// The server's budget, or less if the job would raise the mode before that is used up, or with it.
    fn budget_of(&self, task: TaskId, executed: Service, seat: &Seat) -> (Service, OnExhaustion) {
        let rest = self.remaining_of(seat);
        let raises = || {
            let to = self
                .next_mode(task, self.mode)
                .filter(|_| self.is_adaptive())?;
            let wcet = self.tasks.get(task.index())?.task.wcet;
            let left = wcet.at(self.mode).saturating_sub(executed);
            (left <= rest).then_some((left, OnExhaustion::RaiseMode(to)))
        };
        raises().unwrap_or((rest, OnExhaustion::Suspend))
    }

    fn due(&self, task: TaskId) -> Option<Instant> {
        let current = self.work.get(task.index())?.jobs.current?;
        let relative = self.tasks.get(task.index())?.task.deadline;
        Some(current.arrival.at.saturating_add(relative))
    }

    /// A job that runs already when its PIBS is activated needs no start, and none will be confirmed.
    fn confirm_running_on(&mut self, id: ServerId, job: JobId) {
        let (now, running) = (self.clock.now, self.running());
        if running == Some(job)
            && let Some((seat, _)) = self.seat_mut(id)
            && let Server::Pibs(pibs) = &mut seat.server
        {
            pibs.start(now);
        }
    }

    /// O(servers). Running jobs need no wake-up: their budget stands in the slot.
    fn next_wake(&self) -> Option<Wake> {
        let consumption = self.idler.and_then(|id| {
            let left = self.remaining_of(self.seats.get(id.index())?);
            Some(Wake {
                at: self.clock.now.saturating_add(left.time_on_dedicated_cpu()),
                why: WakeReason::Consumption,
            })
        });
        let replenishments = self.seats.iter().filter_map(|seat| {
            let chunks = self.chunks.get(seat.chunks.clone())?;
            let at = seat
                .server
                .next_replenishment(chunks, self.clock.now, seat.ready > 0)?;
            Some(Wake {
                at,
                why: WakeReason::Replenishment,
            })
        });
        consumption
            .into_iter()
            .chain(replenishments)
            .min_by_key(|wake| wake.at)
    }
}

/// A PIBS has the priority it inherited; one that rests has no budget, and its priority is not asked
/// for.
fn priority(seat: &Seat) -> u32 {
    match &seat.server {
        Server::Pibs(pibs) => pibs
            .activation()
            .map_or(0, |activation| activation.priority),
        Server::Periodic(_) | Server::Sporadic(_) => seat.configuration.priority,
    }
}
