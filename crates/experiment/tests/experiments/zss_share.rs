//! For how many of the sets of Huang, Gill and Lu (TECS 2014, section 4.1) zero-slack scheduling can be
//! proved.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may fail loudly and say what it counted"
)]

use vestal_analysis::{Problem, Scratch, find};
use vestal_core::LevelSet;
use vestal_workload::Ratio;
use vestal_workload::generate::huang2014::Huang2014;
use vestal_workload::generate::{Random, derived_seed};

const SETS: u64 = 1_000;
const SEED: u64 = 20_140_305;

/// How many sets a test accepts with 20 tasks, two levels, CF 1.5, and so many tenths of the CPU at
/// level 0, which is not inflated.
fn accepted(variant: Option<&str>, tenths: u64) -> u64 {
    let recipe = Huang2014 {
        tasks: 20,
        utilization: Ratio::new(tenths, 10).unwrap(),
        levels: 2,
        criticality_factor: Ratio::new(3, 2).unwrap(),
        inflate_level0: false,
    };
    let test = find("zss", variant).unwrap();
    let mut scratch = Scratch::default();
    let is_accepted = |number: &u64| {
        let tasks = recipe.tasks(&mut Random::new(derived_seed(SEED, &[tenths, *number])));
        let set = Problem::new(tasks, LevelSet::new(recipe.levels).unwrap()).unwrap();
        test.accepts(&set, &mut scratch)
    };
    let count = (0..SETS).filter(is_accepted).count() as u64;
    println!("{test}: {count} of {SETS} at U = 0.{tenths}");
    count
}

#[test]
fn zss_proves_at_least_850_of_1000_sets_at_half_the_cpu() {
    let found = accepted(None, 5);
    assert!(found >= 850, "{found}");
}

/// Where some sets need to be looked at level by level, and what the form proves of them all.
#[test]
fn the_form_proves_few_sets_and_the_tightening_costs_none() {
    let forms = [5, 7].map(|tenths| accepted(Some("form"), tenths));
    assert!(forms[0] < 150 && forms[1] < 20, "{forms:?}");
    let [plain, tightened] = [None, Some("tightened")].map(|variant| accepted(variant, 7));
    assert!(plain > 300 && tightened >= plain, "{plain} {tightened}");
}
