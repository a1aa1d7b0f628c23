//! The run-time overhead of policies and mechanisms: Table II, Fig. 5, Table III and Fig. 6 of Huang, Gill and Lu (2014),
//! section 5.2.

mod printed;
pub mod set;

use super::claims::{self, Accounts, Claim, Mechanisms};
use super::fig_6;
use super::paper::{Paper, Plan, Printed, Set, Titles};
use super::variant::{Variant, native};
use std::time::Duration;

/// FTP-SMC: priorities, and nothing at run time.
const FTP_SMC: &str = "FTP-SMC";
/// Period transformation.
const PT: &str = "PT";
/// Zero-slack scheduling.
const ZSS: &str = "ZSS";
/// Adaptive limits with fixed task priorities.
const FTP_AMC: &str = "FTP-AMC";
/// Adaptive limits with fixed job priorities.
const PLRS: &str = "PLRS";

/// The columns of Table II.
const COLUMNS: &[&str] = &[FTP_SMC, PT, ZSS, FTP_AMC, PLRS];

/// The sound test with the tightening accepts more sets at higher utilisations.
const TIGHTENED: &[&str] = &["instants=tightened"];

/// The measurement of Huang, Gill and Lu.
pub static HUANG2014: Paper = Paper {
    name: "huang2014",
    what: "Table II, Fig. 5, Table III and Fig. 6 of Huang, Gill and Lu (2014), section 5.2",
    titles: Titles {
        busy_periods: "Table II",
        busy_periods_file: "table2.csv",
        invocations: "Table III",
        invocations_file: "table3.csv",
        preemptions: "Fig. 6",
        preemptions_file: "fig6.csv",
        charts: ["fig5.svg", "fig5-switches.svg", "fig6a.svg", "fig6b.svg"],
    },
    variants: VARIANTS,
    baseline: 0,
    columns: COLUMNS,
    printed: Printed {
        busy_period: printed::table_2,
        invocation: printed::table_3,
        preemption_ns: 4_000,
        return_ns: 1_000,
        adjustment_of_8_ns: 5_000,
    },
    set: Set {
        sizes: &set::SIZES,
        utilization_permille: set::CHOSEN.utilization_permille,
        index: set::CHOSEN.index,
        seed: set::SEED,
        hyperperiod: set::HYPERPERIOD,
        tasks: |size| set::tasks(set::CHOSEN).into_iter().take(size).collect(),
        file: set::subset,
    },
    full: Plan {
        sizes: &set::SIZES,
        repetitions: 40,
        whole_sizes: &[8, 16, 32],
        whole_repetitions: 16,
        threads: &[1, 2, 4, 8, 12, 16, 20],
        effort: (12, 5),
        most: Duration::from_secs(420),
        whole_most: Duration::from_secs(480),
    },
    quick: Plan {
        sizes: &[4, 8],
        repetitions: 3,
        whole_sizes: &[],
        whole_repetitions: 0,
        threads: &[1, 8],
        effort: (1, 4),
        most: Duration::from_secs(40),
        whole_most: Duration::ZERO,
    },
    claims: CLAIMS,
};

/// Everything that is compared; of each column the paper's mechanism stands behind Vestal's. What a build
/// cannot run it says.
///
/// Under `pt` a job between two slices is suspended: the CPU idles, and the last job ends much later. The guard
/// suspends jobs by the paper's mechanism, too; the paper's servers go on in the background.
#[rustfmt::skip]
const VARIANTS: &[Variant] = &[
    native("smc/none", "smc", FTP_SMC, "fixed priorities of the kernel, nothing enforced: the paper's FTP-SMC")
        .unenforced().in_hyperperiods(),
    native("smc/perf", "smc", FTP_SMC, "the same with static limits, monitored by perf counters"),
    native("zss/native", "zss", ZSS, "zero-slack instants beside the kernel's priorities").with(TIGHTENED),
    native("zss/managed", "zss", ZSS, "zero-slack instants, dispatched by the manager").managed().with(TIGHTENED),
    native("zss/huang2014", "zss", ZSS, "zero-slack instants by the paper's mechanism")
        .as_in_the_paper().with(TIGHTENED).in_hyperperiods(),
    native("amc/perf", "amc", FTP_AMC, "adaptive limits beside the kernel's priorities, monitored by perf counters")
        .in_hyperperiods(),
    native("amc/timer", "amc", FTP_AMC, "the same, monitored by wall timers and CPU clocks").by_timers(),
    native("amc/managed", "amc", FTP_AMC, "adaptive limits, dispatched by the manager").managed(),
    native("amc/huang2014", "amc", FTP_AMC, "adaptive limits by the paper's mechanism")
        .as_in_the_paper().in_hyperperiods(),
    native("plrs/managed", "plrs", PLRS,
        "fixed job priorities and adaptive limits, dispatched by the manager with three priorities")
        .managed().in_hyperperiods(),
    native("pt/native", "pt", PT, "slices of jobs beside the kernel's priorities").in_slices(),
    native("pt/managed", "pt", PT, "slices of jobs, dispatched by the manager").managed().in_slices(),
    native("pt/huang2014", "pt", PT, "slices of jobs by the timers of the paper's mechanism")
        .as_in_the_paper().in_slices(),
];

/// What stands for FTP-AMC beside PLRS: with the same dispatcher if there is one, as the paper had one for both.
const AMC_LIKE_PLRS: (&str, &[&str]) = (FTP_AMC, &["amc/huang2014", "amc/managed"]);

/// Ours and the paper's mechanism for amc and for pt.
const AMC: Mechanisms = (&["amc/perf"], "amc/huang2014");
const SLICES: Mechanisms = (&["pt/native", "pt/managed"], "pt/huang2014");

const THIRD: f64 = 1.0 / 3.0;

/// The paper's claims in its order, and ours about our mechanisms.
#[rustfmt::skip]
const CLAIMS: &[Claim] = &[
    Claim::of_paper("Busy periods are shorter under FTP-SMC than under ZSS.", |m| claims::order(m.table, FTP_SMC, ZSS, false)),
    Claim::of_paper("They are shorter under ZSS than under FTP-AMC.", |m| claims::order(m.table, ZSS, FTP_AMC, false)),
    Claim::of_paper("They are not longer under FTP-AMC than under PLRS.", |m| claims::order(m.table, FTP_AMC, PLRS, true)),
    Claim::of_paper("They are shorter under PLRS than under PT.", |m| claims::order(m.table, PLRS, PT, false)),
    Claim::of_paper("Overheads correlate strongly with thread switches.", |m| claims::correlation(m.table)),
    Claim::of_paper("FTP-AMC and PLRS switch threads equally often.", |m| claims::equal_switches(m.table, AMC_LIKE_PLRS, PLRS)),
    Claim::of_paper("PLRS takes at most 4.2 % longer than FTP-SMC.", |m| claims::at_most_as_printed(m.table, PLRS)),
    Claim::of_paper("An invocation of the manager costs most under PLRS, then FTP-AMC, PT, ZSS.",
        |m| claims::invocation_order(claims::of_managers(m.table, m.whole), &[PLRS, FTP_AMC, PT, ZSS])),
    Claim::of_paper("Preemption and return do not depend on the number of threads.", |m| fig_6::constant(m.preemptions, m.printed())),
    Claim::of_paper("The cost of adjusting priorities is linear in the number of threads.", |m| fig_6::linear(m.preemptions, m.printed())),
    Claim::of_paper("The first adjustment costs far more than later ones.", |m| fig_6::first_is_dearer(m.preemptions)),
    Claim::of_ours("Our own threads' CPU time per busy period is at most a third of the paper's mechanism for amc.",
        |m| claims::own_cpu(m.table, AMC, THIRD, Accounts::Own)),
    Claim::of_ours("With the workers' time outside the bodies of jobs it is at most a third, too.",
        |m| claims::own_cpu(m.table, AMC, THIRD, Accounts::AndWorkers)),
    Claim::of_ours("Our own threads' CPU time per hyperperiod is at most half of the paper's mechanism for pt.",
        |m| claims::own_cpu(m.whole, SLICES, 0.5, Accounts::Own)),
    Claim::of_ours("With the workers' time it is at most half for pt, too.",
        |m| claims::own_cpu(m.whole, SLICES, 0.5, Accounts::AndWorkers)),
    Claim::of_ours("Our own threads' CPU time per hyperperiod is at most a third for amc.",
        |m| claims::own_cpu(m.whole, AMC, THIRD, Accounts::Own)),
    Claim::of_ours("With the workers' time it is at most a third per hyperperiod for amc, too.",
        |m| claims::own_cpu(m.whole, AMC, THIRD, Accounts::AndWorkers)),
    Claim::of_ours("Native amc switches threads at most twice more per busy period than FTP-SMC.",
        |m| claims::few_switches(m.table, "amc/perf")),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_tell_variants_apart_and_every_column_has_one() {
        let names: BTreeSet<_> = VARIANTS.iter().map(|variant| variant.name).collect();
        assert_eq!(names.len(), VARIANTS.len());
        for column in COLUMNS {
            assert!(VARIANTS.iter().any(|variant| variant.column == *column));
            let has_manager = |v: &&Variant| v.column == *column && v.in_hyperperiods;
            assert!(VARIANTS.iter().any(|variant| has_manager(&variant)));
        }
        assert!(
            VARIANTS
                .iter()
                .all(|variant| COLUMNS.contains(&variant.column))
        );
        let slices = || VARIANTS.iter().filter(|variant| variant.policy == "pt");
        assert!(slices().count() == 3 && slices().all(|v| v.in_slices && !v.in_busy_periods));
        assert_eq!(
            VARIANTS.iter().filter(|variant| variant.in_slices).count(),
            3
        );
        assert!(!VARIANTS[HUANG2014.baseline].enforced);
        assert_eq!(VARIANTS[HUANG2014.baseline].column, FTP_SMC);
        for (index, variant) in VARIANTS.iter().enumerate() {
            assert_eq!(HUANG2014.variant(variant.name), Some((index, variant)));
        }
    }
}
