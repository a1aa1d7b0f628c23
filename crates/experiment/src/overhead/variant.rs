//! What is compared: a policy, who orders its jobs, what watches budgets, and by which mechanism.

/// A column of the paper's Table II.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Column {
    /// FTP-SMC: priorities, and nothing at run time.
    FtpSmc,
    /// Period transformation.
    Pt,
    /// Zero-slack scheduling.
    Zss,
    /// Adaptive limits with fixed task priorities.
    FtpAmc,
    /// Adaptive limits with fixed job priorities.
    Plrs,
}

impl Column {
    /// All, in the order of the paper's table.
    pub const ALL: [Self; 5] = [Self::FtpSmc, Self::Pt, Self::Zss, Self::FtpAmc, Self::Plrs];

    /// The paper's name for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::FtpSmc => "FTP-SMC",
            Self::Pt => "PT",
            Self::Zss => "ZSS",
            Self::FtpAmc => "FTP-AMC",
            Self::Plrs => "PLRS",
        }
    }
}

/// A row of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    /// Its name in tables and files.
    pub name: &'static str,
    /// What it is.
    pub what: &'static str,
    /// The policy, as on the command line.
    pub policy: &'static str,
    /// Options of the policy, as after `--set`.
    pub options: &'static [&'static str],
    /// Whether a manager orders threads, by the plans of a scheduler, rather than the kernel's fixed priorities.
    pub managed: bool,
    /// Whether wall timers and the threads' CPU clocks watch budgets, rather than counters of execution.
    pub by_timers: bool,
    /// Whether the mechanism is that of section 5.1 of the paper, rebuilt, rather than Vestal's.
    pub of_paper: bool,
    /// Whether anything is enforced.
    pub enforced: bool,
    /// Whether its busy periods are those of the others: not where a job waits though the CPU is free.
    pub in_busy_periods: bool,
    /// Whether it is measured over whole hyperperiods: whose CPU times are compared there, and one with a
    /// manager for each column.
    pub in_hyperperiods: bool,
    /// The column of the paper that it corresponds to.
    pub column: Column,
}

/// Where in [`VARIANTS`] the one stands that all others are compared with.
pub const BASELINE: usize = 0;

const fn native(
    name: &'static str,
    policy: &'static str,
    column: Column,
    what: &'static str,
) -> Variant {
    Variant {
        name,
        what,
        policy,
        options: &[],
        managed: false,
        by_timers: false,
        of_paper: false,
        enforced: true,
        in_busy_periods: true,
        in_hyperperiods: false,
        column,
    }
}

impl Variant {
    const fn managed(mut self) -> Self {
        self.managed = true;
        self.by_timers()
    }

    /// With a manager thread that handles every release and completion, as in the paper.
    const fn as_in_the_paper(mut self) -> Self {
        self.of_paper = true;
        self.by_timers()
    }

    const fn by_timers(mut self) -> Self {
        self.by_timers = true;
        self
    }

    const fn unenforced(mut self) -> Self {
        self.enforced = false;
        self
    }

    /// The sound test with the tightening accepts more sets at higher utilisations.
    const fn tightened(mut self) -> Self {
        self.options = &["instants=tightened"];
        self
    }

    const fn in_hyperperiods(mut self) -> Self {
        self.in_hyperperiods = true;
        self
    }

    const fn in_hyperperiods_only(mut self) -> Self {
        self.in_busy_periods = false;
        self.in_hyperperiods()
    }
}

/// Everything that is compared; of each column the paper's mechanism stands behind Vestal's. What a build
/// cannot run it says.
///
/// Under `pt` a job between two slices is suspended: the CPU idles, and the last job ends much later. The guard
/// suspends jobs by the paper's mechanism, too; the paper's servers go on in the background.
#[rustfmt::skip]
pub const VARIANTS: &[Variant] = &[
    native("smc/none", "smc", Column::FtpSmc, "fixed priorities of the kernel, nothing enforced: the paper's FTP-SMC")
        .unenforced().in_hyperperiods(),
    native("smc/perf", "smc", Column::FtpSmc, "the same with static limits, monitored by perf counters"),
    native("zss/native", "zss", Column::Zss, "zero-slack instants beside the kernel's priorities").tightened(),
    native("zss/managed", "zss", Column::Zss, "zero-slack instants, dispatched by the manager").managed().tightened(),
    native("zss/huang2014", "zss", Column::Zss, "zero-slack instants by the paper's mechanism")
        .as_in_the_paper().tightened().in_hyperperiods(),
    native("amc/perf", "amc", Column::FtpAmc, "adaptive limits beside the kernel's priorities, monitored by perf counters")
        .in_hyperperiods(),
    native("amc/timer", "amc", Column::FtpAmc, "the same, monitored by wall timers and CPU clocks").by_timers(),
    native("amc/managed", "amc", Column::FtpAmc, "adaptive limits, dispatched by the manager").managed(),
    native("amc/huang2014", "amc", Column::FtpAmc, "adaptive limits by the paper's mechanism")
        .as_in_the_paper().in_hyperperiods(),
    native("plrs/managed", "plrs", Column::Plrs,
        "fixed job priorities and adaptive limits, dispatched by the manager with three priorities")
        .managed().in_hyperperiods(),
    native("pt/native", "pt", Column::Pt, "slices of jobs beside the kernel's priorities").in_hyperperiods_only(),
    native("pt/managed", "pt", Column::Pt, "slices of jobs, dispatched by the manager").managed().in_hyperperiods_only(),
    native("pt/huang2014", "pt", Column::Pt, "slices of jobs by the timers of the paper's mechanism")
        .as_in_the_paper().in_hyperperiods_only(),
];

impl Variant {
    /// The name of the variant with this index in [`VARIANTS`].
    #[must_use]
    pub fn name_at(index: usize) -> &'static str {
        VARIANTS.get(index).map_or("?", |variant| variant.name)
    }

    /// The variant of this name, and its index in [`VARIANTS`].
    #[must_use]
    pub fn named(name: &str) -> Option<(usize, &'static Self)> {
        let mut all = VARIANTS.iter().enumerate();
        all.find(|(_, variant)| variant.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_tell_variants_apart_and_every_column_has_one() {
        let names: BTreeSet<_> = VARIANTS.iter().map(|variant| variant.name).collect();
        assert_eq!(names.len(), VARIANTS.len());
        for column in Column::ALL {
            assert!(VARIANTS.iter().any(|variant| variant.column == column));
        }
        for column in Column::ALL {
            let has_manager = |v: &&Variant| v.column == column && v.in_hyperperiods;
            assert!(VARIANTS.iter().any(|variant| has_manager(&variant)));
        }
        let slices = || VARIANTS.iter().filter(|variant| variant.policy == "pt");
        assert!(slices().count() == 3 && slices().all(|variant| !variant.in_busy_periods));
        assert!(!VARIANTS[BASELINE].enforced);
        assert_eq!(VARIANTS[BASELINE].column, Column::FtpSmc);
        for (index, variant) in VARIANTS.iter().enumerate() {
            assert_eq!(Variant::named(variant.name), Some((index, variant)));
        }
    }
}
