//! The domain that all CPUs have in common: its scheduler, and what is known of each CPU's words.

use super::facts::Guest;
use crate::words::Offer;
use vestal_core::plan::{Slot, Wake};
use vestal_core::{CpuId, Instant, Scheduler};

/// No instant.
pub(super) const NEVER: u64 = u64::MAX;

/// What came of decisions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SharedRecord {
    /// How often somebody had the turn.
    pub(crate) turns: u64,
    /// Decisions.
    pub(crate) decisions: u64,
    /// How often a CPU left something to an open one.
    pub(crate) handed_on: u64,
    /// Offers.
    pub(crate) offers: u64,
    /// Offers that were withdrawn before they were taken.
    pub(crate) withdrawn: u64,
    /// Offers that were taken when they were to be withdrawn.
    pub(crate) refused: u64,
    /// Starts of which the scheduler heard before their CPU told it.
    pub(crate) ahead: u64,
    /// Facts.
    pub(crate) facts: u64,
}

/// What is known of one CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) open: bool,
    /// What was offered, and not withdrawn, and is not known to have stopped.
    pub(super) wanted: Option<Guest>,
    /// What the scheduler counts as running there.
    pub(super) running: Option<Guest>,
    /// The last that stopped or ended there; it may not have been given back yet.
    pub(super) gone: Option<Offer>,
    /// What the scheduler heard of before the CPU told it.
    pub(super) ahead: Option<Offer>,
    /// The instant of the last fact.
    pub(super) latest: Instant,
    /// What its word says of the scheduler's wake-up.
    pub(super) wake: u64,
}

/// Where a task was offered last, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Offered {
    pub(super) cpu: CpuId,
    pub(super) generation: u16,
}

/// The scheduler, and what it knows of the CPUs' words.
#[derive(Debug)]
pub(super) struct Domain<S> {
    pub(super) scheduler: S,
    pub(super) cpus: Box<[Known]>,
    pub(super) offered: Box<[Offered]>,
    /// What the last decision wants of each CPU.
    pub(super) slots: Box<[Option<Slot>]>,
    pub(super) next: Option<Wake>,
    /// The instant of the last decision (C1).
    pub(super) clock: Instant,
    pub(super) record: SharedRecord,
}

impl<S: Scheduler> Domain<S> {
    pub(super) fn new(scheduler: S, cpus: usize, tasks: usize) -> Self {
        let offered = Offered {
            cpu: CpuId(0),
            generation: 0,
        };
        Self {
            scheduler,
            cpus: vec![Known::CLOSED; cpus].into_boxed_slice(),
            offered: vec![offered; tasks].into_boxed_slice(),
            slots: vec![None; cpus].into_boxed_slice(),
            next: None,
            clock: Instant::EPOCH,
            record: SharedRecord::default(),
        }
    }

    pub(super) fn into_parts(self) -> (S, SharedRecord) {
        (self.scheduler, self.record)
    }
}

impl Known {
    /// Before a CPU has told anything.
    pub(super) const CLOSED: Self = Self {
        open: false,
        wanted: None,
        running: None,
        gone: None,
        ahead: None,
        latest: Instant::EPOCH,
        wake: NEVER,
    };
}
