//! Servers: a budget, a rule by which it comes back, and a rule for what becomes of it without work.
//!
//! | kind | comes back | without work |
//! |---|---|---|
//! | [`Periodic`], polling | all of it at every multiple of the period | is discarded |
//! | [`Periodic`], idling | all of it at every multiple of the period | is consumed by idling |
//! | [`Periodic`], deferrable | all of it at every multiple of the period | is kept |
//! | [`Sporadic`] | each part one period after the server could begin to use it | is kept |
//! | [`Pibs`] | after each burst, once the utilisation is down to the configured one | the burst ends |
//!
//! The kinds know neither tasks nor priorities (a PIBS remembers whose it inherited): an engine reports
//! them what was charged, which instant it is and whether there is work. Each is charged what was
//! *measured* (C2 of [`crate::scheduler`]); only an idling server without work is charged by time,
//! because nothing runs that could be measured.
//!
//! Capacities are indexed by mode ([`ByLevel`]). Whoever raises the mode gives each server its new
//! capacity with [`Server::set_capacity`].

mod budget;
mod periodic;
mod pibs;
mod sporadic;

pub use budget::PeriodicBudget;
pub use periodic::{Periodic, WithoutWork};
pub use pibs::{Activation, Pibs, Utilization};
pub use sporadic::{Chunk, REPLENISHMENTS_MIN, Sporadic, WhenFull};

use crate::model::{LEVELS_MAX, Level};
use crate::time::{Duration, Instant, Service};

/// One value for each level; unlike [`crate::Wcet`] it may fall, as the capacity of a server does
/// that is degraded while the mode is above its criticality.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ByLevel<T> {
    values: [T; LEVELS_MAX],
}

impl<T: Copy> ByLevel<T> {
    /// The same value at every level.
    #[must_use]
    pub const fn constant(value: T) -> Self {
        Self {
            values: [value; LEVELS_MAX],
        }
    }

    /// The values of the levels 0, 1, ...; the last one continues upwards. `None` without values or
    /// with more than [`LEVELS_MAX`].
    #[must_use]
    pub fn new(given: &[T]) -> Option<Self> {
        let last = *given.last()?;
        if given.len() > LEVELS_MAX {
            return None;
        }
        let mut values = [last; LEVELS_MAX];
        for (slot, value) in values.iter_mut().zip(given) {
            *slot = *value;
        }
        Some(Self { values })
    }

    /// What `value` says of each level.
    #[must_use]
    pub fn from_fn(mut value: impl FnMut(Level) -> T) -> Self {
        let mut values = Self::constant(value(Level::LOWEST)).values;
        for (slot, level) in values.iter_mut().zip(0..u8::MAX).skip(1) {
            *slot = value(Level(level));
        }
        Self { values }
    }

    /// The value at `level`; beyond [`LEVELS_MAX`] that of the highest level.
    #[must_use]
    pub fn at(&self, level: Level) -> T {
        let [.., last] = self.values;
        self.values.get(level.index()).copied().unwrap_or(last)
    }

    /// The values of all levels, lowest first.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        self.values.iter().copied()
    }
}

/// What a server is, with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ServerKind {
    /// Discards its budget when it has no work (Lehoczky, Sha and Strosnider, RTSS 1987).
    Polling {
        /// Time between replenishments.
        period: Duration,
        /// The budget after each of them, by mode.
        capacity: ByLevel<Service>,
    },
    /// Consumes its budget by idling when it has no work (Davis and Burns, RTSS 2005).
    IdlingPeriodic {
        /// Time between replenishments.
        period: Duration,
        /// The budget after each of them, by mode.
        capacity: ByLevel<Service>,
    },
    /// Keeps its budget until the next replenishment (Strosnider, Lehoczky and Sha, 1995).
    Deferrable {
        /// Time between replenishments.
        period: Duration,
        /// The budget after each of them, by mode.
        capacity: ByLevel<Service>,
    },
    /// Replenishes each used part one period after it could be used (Stanovich, Baker, Wang and
    /// González Harbour, RTAS 2010).
    Sporadic {
        /// Time until a used part of the budget comes back.
        period: Duration,
        /// The whole budget, by mode.
        capacity: ByLevel<Service>,
        /// The longest replenishment list, at least 2.
        replenishments: u16,
        /// What happens when a replenishment does not fit.
        full: WhenFull,
    },
    /// Inherits period and priority from the server on whose behalf it runs (Danish, Li and West,
    /// RTAS 2011; Missimer, Missimer and West 2016).
    Pibs {
        /// Its share of the CPU, by mode.
        utilization: ByLevel<Utilization>,
    },
}

impl ServerKind {
    /// The period; a PIBS has none of its own.
    #[must_use]
    pub const fn period(&self) -> Option<Duration> {
        match self {
            Self::Polling { period, .. }
            | Self::IdlingPeriodic { period, .. }
            | Self::Deferrable { period, .. }
            | Self::Sporadic { period, .. } => Some(*period),
            Self::Pibs { .. } => None,
        }
    }

    /// The time between replenishments, if the whole budget comes back by time alone.
    #[must_use]
    pub const fn replenishment_period(&self) -> Option<Duration> {
        match self {
            Self::Polling { period, .. }
            | Self::IdlingPeriodic { period, .. }
            | Self::Deferrable { period, .. } => Some(*period),
            Self::Sporadic { .. } | Self::Pibs { .. } => None,
        }
    }

    /// The capacity by mode; that of a PIBS depends on whom it serves.
    #[must_use]
    pub const fn capacity(&self) -> Option<&ByLevel<Service>> {
        match self {
            Self::Polling { capacity, .. }
            | Self::IdlingPeriodic { capacity, .. }
            | Self::Deferrable { capacity, .. }
            | Self::Sporadic { capacity, .. } => Some(capacity),
            Self::Pibs { .. } => None,
        }
    }

    /// Whether it may execute anything in `mode`.
    #[must_use]
    pub fn runs_in(&self, mode: Level) -> bool {
        match self {
            Self::Polling { capacity, .. }
            | Self::IdlingPeriodic { capacity, .. }
            | Self::Deferrable { capacity, .. }
            | Self::Sporadic { capacity, .. } => !capacity.at(mode).is_zero(),
            Self::Pibs { utilization } => !utilization.at(mode).is_zero(),
        }
    }

    /// How many replenishments it has to remember beyond one instant.
    #[must_use]
    pub const fn replenishments(&self) -> u16 {
        match self {
            Self::Sporadic { replenishments, .. } => *replenishments,
            Self::Polling { .. }
            | Self::IdlingPeriodic { .. }
            | Self::Deferrable { .. }
            | Self::Pibs { .. } => 0,
        }
    }
}

/// A server at work. The replenishments of a sporadic server live in a slice of the caller's, which
/// every method gets as `chunks`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Server {
    /// See [`Periodic`].
    Periodic(Periodic),
    /// See [`Sporadic`].
    Sporadic(Sporadic),
    /// See [`Pibs`].
    Pibs(Pibs),
}

impl Server {
    /// A server with full budget at the epoch, in `mode`.
    #[must_use]
    pub fn new(kind: &ServerKind, mode: Level, chunks: &mut [Chunk]) -> Self {
        let periodic = |without_work, period: &Duration, capacity: &ByLevel<Service>| {
            Self::Periodic(Periodic::new(without_work, *period, capacity.at(mode)))
        };
        match kind {
            ServerKind::Polling { period, capacity } => {
                periodic(WithoutWork::Discarded, period, capacity)
            }
            ServerKind::IdlingPeriodic { period, capacity } => {
                periodic(WithoutWork::Idled, period, capacity)
            }
            ServerKind::Deferrable { period, capacity } => {
                periodic(WithoutWork::Kept, period, capacity)
            }
            ServerKind::Sporadic {
                period,
                capacity,
                full,
                ..
            } => Self::Sporadic(Sporadic::new(*period, capacity.at(mode), *full, chunks)),
            ServerKind::Pibs { utilization } => Self::Pibs(Pibs::new(utilization.at(mode))),
        }
    }

    /// Whether it wants the CPU although it has no work.
    #[must_use]
    pub fn idles(&self) -> bool {
        matches!(self, Self::Periodic(server) if server.idles())
    }

    /// Execution of `amount` for this server was measured since the last call. O(list length).
    pub fn charge(&mut self, chunks: &mut [Chunk], now: Instant, amount: Service) {
        match self {
            Self::Periodic(server) => server.budget.charge(amount),
            Self::Sporadic(server) => server.charge(chunks, now, amount),
            Self::Pibs(server) => server.charge(now, amount),
        }
    }

    /// Passes the replenishment instants up to `now`; `had_work` says of an instant since the last call whether there was
    /// work then. Sporadic servers and PIBS need no such step: their budgets carry instants.
    pub fn replenish(&mut self, now: Instant, had_work: impl FnOnce(Instant) -> bool) {
        match self {
            Self::Periodic(server) => server.replenish(now, had_work),
            Self::Sporadic(_) | Self::Pibs(_) => {}
        }
    }

    /// Whether there is work from `now` on. Returns what was postponed because a replenishment list
    /// was full. Says the same twice: nothing happens the second time.
    pub fn settle_work(&mut self, chunks: &mut [Chunk], now: Instant, work: bool) -> Service {
        match self {
            Self::Periodic(server) => server.settle_work(work),
            Self::Sporadic(server) => return server.settle_work(chunks, now, work),
            Self::Pibs(server) => server.settle_work(work),
        }
        Service::ZERO
    }

    /// What may be executed from `now` on before the next decision about this server.
    #[must_use]
    pub fn remaining(&self, chunks: &[Chunk], now: Instant) -> Service {
        match self {
            Self::Periodic(server) => server.budget.left(),
            Self::Sporadic(server) => server.remaining(chunks, now),
            Self::Pibs(server) => server.remaining(),
        }
    }

    /// There is work, and less at hand than `granularity` cannot be enforced: it is discarded. O(list length).
    pub fn discard_below(&mut self, chunks: &mut [Chunk], now: Instant, granularity: Service) {
        if let Self::Sporadic(server) = self {
            return server.discard_below(chunks, now, granularity);
        }
        let rest = self.remaining(chunks, now);
        if rest < granularity {
            self.charge(chunks, now, rest);
        }
    }

    /// The next instant at which its budget changes by time alone in a way that matters; `work`:
    /// it has work.
    #[must_use]
    pub fn next_replenishment(
        &self,
        chunks: &[Chunk],
        now: Instant,
        work: bool,
    ) -> Option<Instant> {
        match self {
            Self::Periodic(server) if work || server.idles() => {
                Some(server.budget.next_replenishment())
            }
            Self::Sporadic(server) if work => server.next_replenishment(chunks, now),
            Self::Pibs(server) if work => server.next_replenishment(now),
            // Without work no budget is needed; it is brought up to date later.
            Self::Periodic(_) | Self::Sporadic(_) | Self::Pibs(_) => None,
        }
    }

    /// The mode has changed, and with it the capacity. The budget grows or shrinks at once.
    pub fn set_capacity(&mut self, chunks: &mut [Chunk], now: Instant, capacity: Service) {
        match self {
            Self::Periodic(server) => server.budget.set_capacity(capacity),
            Self::Sporadic(server) => server.set_capacity(chunks, now, capacity),
            // It has a utilisation instead.
            Self::Pibs(_) => {}
        }
    }

    /// The mode returns to 0: a use under way ends, and one that goes on begins anew. Returns what was postponed
    /// because a replenishment list was full.
    pub fn end_use(&mut self, chunks: &mut [Chunk], now: Instant) -> Service {
        match self {
            Self::Sporadic(server) => server.settle_work(chunks, now, false),
            // A periodic budget comes back when it does, and a PIBS ends its burst.
            Self::Periodic(_) | Self::Pibs(_) => Service::ZERO,
        }
    }

    /// Whether the invariants of its kind hold; for tests.
    #[must_use]
    pub fn is_consistent(&self, chunks: &[Chunk]) -> bool {
        match self {
            Self::Periodic(server) => server.budget.is_consistent(),
            Self::Sporadic(server) => server.is_consistent(chunks),
            Self::Pibs(server) => server.is_consistent(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_by_level_may_fall_and_the_last_one_continues() {
        let values = ByLevel::new(&[5, 3]).unwrap();
        assert_eq!(
            [
                values.at(Level(0)),
                values.at(Level(1)),
                values.at(Level(7))
            ],
            [5, 3, 3]
        );
        assert_eq!(ByLevel::from_fn(|Level(level)| level).at(Level(7)), 7);
        assert_eq!(ByLevel::<u8>::new(&[]), None);
        assert_eq!(ByLevel::new(&[0; 9]), None);
    }
}
