//! What is compared: a policy, who orders its jobs, what watches budgets, and by which mechanism.

use serde::Serialize;

/// A column of the paper's Table II.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
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

/// Who orders threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dispatch {
    /// The kernel's fixed priorities.
    Native,
    /// A manager, by the plans of a scheduler.
    Managed,
}

/// What notices a used-up budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Monitor {
    /// A counter of the thread's own execution.
    Perf,
    /// A wall timer and the thread's CPU clock.
    Manager,
}

/// Whose mechanism enforces a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mechanism {
    /// Vestal's.
    Own,
    /// That of section 5.1 of the paper, rebuilt.
    Huang2014,
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
    /// Who orders threads.
    pub dispatch: Dispatch,
    /// What watches budgets.
    pub monitor: Monitor,
    /// Whose mechanism it is.
    pub mechanism: Mechanism,
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
    what: &'static str,
    policy: &'static str,
    column: Column,
) -> Variant {
    Variant {
        name,
        what,
        policy,
        options: &[],
        dispatch: Dispatch::Native,
        monitor: Monitor::Perf,
        mechanism: Mechanism::Own,
        enforced: true,
        in_busy_periods: true,
        in_hyperperiods: false,
        column,
    }
}

const fn managed(
    name: &'static str,
    what: &'static str,
    policy: &'static str,
    column: Column,
) -> Variant {
    Variant {
        dispatch: Dispatch::Managed,
        monitor: Monitor::Manager,
        ..native(name, what, policy, column)
    }
}

/// With a manager thread that handles every release and completion, as in the paper.
const fn paper(
    name: &'static str,
    what: &'static str,
    policy: &'static str,
    column: Column,
) -> Variant {
    Variant {
        mechanism: Mechanism::Huang2014,
        monitor: Monitor::Manager,
        ..native(name, what, policy, column)
    }
}

/// The sound test with the tightening accepts more sets at higher utilisations.
const TIGHTENED: &[&str] = &["instants=tightened"];

/// Everything that is compared; of each column the paper's mechanism stands behind ours. What a build
/// cannot run it says.
pub const VARIANTS: &[Variant] = &[
    Variant {
        enforced: false,
        in_hyperperiods: true,
        ..native(
            "smc/none",
            "fixed priorities of the kernel, nothing enforced: the paper's FTP-SMC",
            "smc",
            Column::FtpSmc,
        )
    },
    native(
        "smc/perf",
        "the same with static limits, monitored by perf counters",
        "smc",
        Column::FtpSmc,
    ),
    Variant {
        options: TIGHTENED,
        ..native(
            "zss/native",
            "zero-slack instants beside the kernel's priorities",
            "zss",
            Column::Zss,
        )
    },
    Variant {
        options: TIGHTENED,
        ..managed(
            "zss/managed",
            "zero-slack instants, dispatched by the manager",
            "zss",
            Column::Zss,
        )
    },
    Variant {
        options: TIGHTENED,
        in_hyperperiods: true,
        ..paper(
            "zss/huang2014",
            "zero-slack instants by the paper's mechanism",
            "zss",
            Column::Zss,
        )
    },
    Variant {
        in_hyperperiods: true,
        ..native(
            "amc/perf",
            "adaptive limits beside the kernel's priorities, monitored by perf counters",
            "amc",
            Column::FtpAmc,
        )
    },
    Variant {
        monitor: Monitor::Manager,
        ..native(
            "amc/timer",
            "the same, monitored by wall timers and CPU clocks",
            "amc",
            Column::FtpAmc,
        )
    },
    managed(
        "amc/managed",
        "adaptive limits, dispatched by the manager",
        "amc",
        Column::FtpAmc,
    ),
    Variant {
        in_hyperperiods: true,
        ..paper(
            "amc/huang2014",
            "adaptive limits by the paper's mechanism",
            "amc",
            Column::FtpAmc,
        )
    },
    Variant {
        in_hyperperiods: true,
        ..managed(
            "plrs/managed",
            "fixed job priorities and adaptive limits, dispatched by the manager with three priorities",
            "plrs",
            Column::Plrs,
        )
    },
    // A job between two slices is suspended: the CPU idles, and the last job ends much later.
    Variant {
        in_busy_periods: false,
        in_hyperperiods: true,
        ..native(
            "pt/native",
            "slices of jobs beside the kernel's priorities",
            "pt",
            Column::Pt,
        )
    },
    Variant {
        in_busy_periods: false,
        in_hyperperiods: true,
        ..managed(
            "pt/managed",
            "slices of jobs, dispatched by the manager",
            "pt",
            Column::Pt,
        )
    },
    // The guard suspends jobs here, too; the paper's servers go on in the background.
    Variant {
        in_busy_periods: false,
        in_hyperperiods: true,
        ..paper(
            "pt/huang2014",
            "slices of jobs by the timers of the paper's mechanism",
            "pt",
            Column::Pt,
        )
    },
];

impl Variant {
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
