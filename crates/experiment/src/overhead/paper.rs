//! What a paper's measurement of overheads consists of: a table for each paper. Everything in which papers differ
//! stands in it, and nothing outside asks which paper it is.

use super::claims::Claim;
use super::variant::Variant;
use super::{Finding, Preemptions, Table};
use std::time::Duration;
use vestal_core::Task;
use vestal_workload::TaskSet;

/// A paper whose measurement of overheads is repeated.
#[derive(Debug)]
pub struct Paper {
    /// Its name, as after `--paper`.
    pub name: &'static str,
    /// Which tables and figures are repeated, for the head of a page.
    pub what: &'static str,
    /// What its tables and figures are called.
    pub titles: Titles,
    /// Everything that is compared.
    pub variants: &'static [Variant],
    /// Which one of [`Self::variants`] all others are compared with.
    pub baseline: usize,
    /// The columns of its own tables.
    pub columns: &'static [&'static str],
    /// Its numbers.
    pub printed: Printed,
    /// The task sets that are measured.
    pub set: Set,
    /// How much is measured.
    pub full: Plan,
    /// How much for a quick look: structure, not precision.
    pub quick: Plan,
    /// Its claims, and ours beside them.
    pub claims: &'static [Claim],
}

/// What tables and figures are called, and the files that they are written to.
#[derive(Clone, Copy, Debug)]
pub struct Titles {
    /// The table of busy periods.
    pub busy_periods: &'static str,
    /// Its file.
    pub busy_periods_file: &'static str,
    /// The table of invocations of the manager.
    pub invocations: &'static str,
    /// Its file.
    pub invocations_file: &'static str,
    /// The micro-benchmark of preemptions.
    pub preemptions: &'static str,
    /// Its file.
    pub preemptions_file: &'static str,
    /// The files of the charts: overheads, thread switches, preemptions, adjustments of priorities.
    pub charts: [&'static str; 4],
}

/// The numbers of a paper, by its columns.
#[derive(Clone, Copy, Debug)]
pub struct Printed {
    /// Of busy periods: by number of tasks and column.
    pub busy_period: fn(usize, &str) -> Option<PaperCell>,
    /// Of the manager: by column.
    pub invocation: fn(&str) -> Option<PaperInvocation>,
    /// How long a preemption takes, in nanoseconds.
    pub preemption_ns: u64,
    /// How long the return takes.
    pub return_ns: u64,
    /// How long it takes to suspend eight tasks.
    pub adjustment_of_8_ns: u64,
}

/// A number of a table of busy periods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PaperCell {
    /// The length of a busy period in microseconds.
    pub busy_us: u64,
    /// The overhead over the baseline in thousandths of a percent, as printed.
    pub overhead_milli_percent: u64,
    /// Thread switches in a busy period.
    pub switches: u64,
}

/// The cost of an invocation of the manager thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PaperInvocation {
    /// On average, in cycles.
    pub mean_cycles: u64,
    /// On average, in nanoseconds.
    pub mean_ns: u64,
    /// At most, in nanoseconds.
    pub max_ns: u64,
}

/// The task sets of a measurement: one for each number of tasks.
#[derive(Clone, Copy, Debug)]
pub struct Set {
    /// The numbers of tasks.
    pub sizes: &'static [usize],
    /// The sum of utilisations of the whole set, in thousandths.
    pub utilization_permille: u32,
    /// Its number in the series that it was drawn from.
    pub index: u64,
    /// The seed of that series.
    pub seed: u64,
    /// The hyperperiod.
    pub hyperperiod: vestal_core::Duration,
    /// So many tasks.
    pub tasks: fn(usize) -> Vec<Task>,
    /// The same as a file has them.
    pub file: fn(usize) -> TaskSet,
}

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Numbers of tasks of runs over a busy period.
    pub sizes: &'static [usize],
    /// How often each is repeated.
    pub repetitions: u32,
    /// Numbers of tasks of runs over a hyperperiod.
    pub whole_sizes: &'static [usize],
    /// How often each is repeated.
    pub whole_repetitions: u32,
    /// Of the micro-benchmark: numbers of threads.
    pub threads: &'static [usize],
    /// Of the micro-benchmark: groups of fresh threads, and rounds.
    pub effort: (u32, u32),
    /// No repetition of busy periods begins later.
    pub most: Duration,
    /// No repetition of hyperperiods begins later after that.
    pub whole_most: Duration,
}

/// What was measured, as claims look at it.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'a> {
    /// Busy periods.
    pub table: &'a Table,
    /// Hyperperiods, in which also a policy that suspends jobs on a free CPU has done what others have.
    pub whole: &'a Table,
    /// The micro-benchmark.
    pub preemptions: &'a [Preemptions],
}

impl Measured<'_> {
    /// The numbers of the paper.
    pub(super) const fn printed(&self) -> &'static Printed {
        &self.table.paper.printed
    }
}

/// Two papers are the same if their names are.
impl PartialEq for Paper {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Paper {
    /// The name of the variant with this index.
    #[must_use]
    pub fn name_at(&self, index: usize) -> &'static str {
        self.variants.get(index).map_or("?", |variant| variant.name)
    }

    /// The variant of this name, and its index.
    #[must_use]
    pub fn variant(&self, name: &str) -> Option<(usize, &'static Variant)> {
        let mut all = self.variants.iter().enumerate();
        all.find(|(_, variant)| variant.name == name)
    }

    /// The numbers of the paper for a variant of ours with so many tasks.
    pub(super) fn cell(&self, size: usize, variant: &str) -> Option<PaperCell> {
        let (_, variant) = self.variant(variant)?;
        (self.printed.busy_period)(size, variant.column)
    }

    /// Every claim with what became of it, in the order of the table.
    #[must_use]
    pub fn findings(&self, measured: Measured<'_>) -> Vec<Finding> {
        let claims = self.claims.iter();
        claims.map(|claim| claim.finding(measured)).collect()
    }
}
