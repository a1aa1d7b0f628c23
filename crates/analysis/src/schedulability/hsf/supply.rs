//! What a server supplies at least, and what it takes from others at most.

use crate::fixed_point::{Unbounded, least_fixed_point};
use crate::problem::Problem;
use crate::served::Server;
use crate::served_reason::ServedReason;
use vestal_core::{Level, ServerId, ServerKind};

/// A server that is replenished by time, with its whole capacity and in every mode alike; all in ns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resource {
    /// Pi.
    pub(super) period: u64,
    /// Theta, 1..=Pi.
    pub(super) capacity: u64,
    /// It may just have discarded its budget.
    polls: bool,
    /// It may take its capacity from others late in one period, and early in the next.
    defers: bool,
    /// Larger is more urgent, equal ones by their order.
    priority: u32,
}

impl Resource {
    pub(super) fn new(
        problem: &Problem,
        id: ServerId,
        server: &Server,
    ) -> Result<Self, ServedReason> {
        let configuration = &server.configuration;
        let (period, capacity) = match &configuration.kind {
            ServerKind::Polling { period, capacity }
            | ServerKind::IdlingPeriodic { period, capacity }
            | ServerKind::Deferrable { period, capacity } => (period.as_nanos(), capacity),
            ServerKind::Sporadic { .. } | ServerKind::Pibs { .. } => {
                return Err(ServedReason::NotReplenishedByTime { server: id });
            }
        };
        let lowest = capacity.at(Level(0));
        let mut levels = (0..).map(Level).take(problem.levels().count());
        if !levels.all(|level| capacity.at(level) == lowest) {
            return Err(ServedReason::ChangesWithMode { server: id });
        }
        Ok(Self {
            period,
            capacity: lowest.as_nanos(),
            polls: matches!(configuration.kind, ServerKind::Polling { .. }),
            defers: matches!(configuration.kind, ServerKind::Deferrable { .. }),
            priority: configuration.priority,
        })
    }

    /// The same server with another capacity, 1..=Pi.
    pub(super) const fn with_capacity(self, capacity: u64) -> Self {
        Self { capacity, ..self }
    }

    /// Pi - Theta.
    const fn idle(&self) -> u64 {
        self.period.saturating_sub(self.capacity)
    }

    /// How much longer than others it is silent at first.
    const fn silence(&self) -> u64 {
        if self.polls { self.capacity } else { 0 }
    }

    /// How much earlier than a period after the last time it may take its capacity from others.
    const fn jitter(&self) -> u64 {
        if self.defers { self.idle() } else { 0 }
    }

    /// How long nothing at all may be supplied.
    pub(super) const fn blackout(&self) -> u64 {
        let idle = self.idle().saturating_mul(2);
        idle.saturating_add(self.silence())
    }

    /// How long a job waits at most until the first budget that is all there for it: J of Davis and Burns.
    pub(super) const fn lateness(&self) -> u64 {
        self.idle().saturating_add(self.silence())
    }

    /// The least time in which `demand` is supplied for sure.
    pub(super) fn time_for(&self, demand: u64) -> u64 {
        let Some(before) = demand.div_ceil(self.capacity).checked_sub(1) else {
            return 0;
        };
        let gaps = before.saturating_mul(self.idle());
        let silent = self.blackout().saturating_add(gaps);
        silent.saturating_add(demand)
    }

    /// What is supplied for sure in `window`.
    pub(super) fn supply(&self, window: u64) -> u64 {
        let Some(after) = window.checked_sub(self.blackout()) else {
            return 0;
        };
        let (whole, rest) = (after / self.period, after % self.period);
        let whole = whole.saturating_mul(self.capacity);
        whole.saturating_add(rest.min(self.capacity))
    }
}

/// When the server at this position has its capacity at the latest, counted from when it is replenished, if within its
/// period.
pub(super) fn response(resources: &[Resource], position: usize) -> Result<u64, Unbounded> {
    let own = &resources[position];
    least_fixed_point(own.capacity, own.period, |window| {
        let others = taken(resources, position, window);
        own.capacity.saturating_add(others)
    })
}

/// What the servers that are more urgent than that at this position take at most in `window`.
pub(super) fn taken(resources: &[Resource], position: usize, window: u64) -> u64 {
    let own = &resources[position];
    let above = |&(other, resource): &(usize, &Resource)| {
        resource.priority > own.priority || (resource.priority == own.priority && other < position)
    };
    let others = resources.iter().enumerate().filter(above);
    let taken = others.map(|(_, other)| {
        let times = window.saturating_add(other.jitter()).div_ceil(other.period);
        times.saturating_mul(other.capacity)
    });
    taken.fold(0, u64::saturating_add)
}
