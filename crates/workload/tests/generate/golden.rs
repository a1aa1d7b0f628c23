//! The same seed gives the same set, on every platform and in every version. The values come from
//! a second implementation in another language, `scripts/oracles/generators.py`.

use vestal_workload::TaskSet;
use vestal_workload::generate::{Recipe, derived_seed};

/// Criticality, period, C(0) and C(own level) in microseconds; the last only above level 0.
type Row = (usize, u64, u64, Option<u64>);

fn drawn(settings: &[(&str, &str)], seed: u64) -> TaskSet {
    let mut recipe = Recipe::named("huang2014").unwrap();
    for (name, value) in settings {
        recipe.set(name, value).unwrap();
    }
    recipe.draw(seed).unwrap()
}

fn rows(set: &TaskSet) -> Vec<Row> {
    let micros = |nanos: u64| {
        assert_eq!(nanos % 1000, 0);
        nanos / 1000
    };
    let rows = set.tasks.iter().map(|task| {
        let own = task.criticality.index();
        let wcet = |level: usize| micros(task.wcet[level].unwrap().as_nanos());
        let period = micros(task.period.as_nanos());
        (own, period, wcet(0), (own > 0).then(|| wcet(own)))
    });
    rows.collect()
}

#[test]
fn sets_of_huang_2014_are_those_of_a_second_implementation() {
    let default = drawn(
        &[("tasks", "5"), ("utilization", "0.6")],
        derived_seed(1, &[0, 0]),
    );
    assert_eq!(
        rows(&default),
        [
            (1, 9600, 1872, Some(2808)),
            (0, 4500, 29, None),
            (1, 2700, 238, Some(357)),
            (0, 300, 18, None),
            (1, 1700, 421, Some(631)),
        ]
    );
    let four_levels = [
        ("tasks", "6"),
        ("utilization", "0.9"),
        ("levels", "4"),
        ("inflate_level0", "true"),
    ];
    assert_eq!(
        rows(&drawn(&four_levels, derived_seed(1, &[3, 7]))),
        [
            (1, 8900, 2289, Some(3433)),
            (2, 3300, 247, Some(370)),
            (3, 1900, 195, Some(292)),
            (0, 1500, 471, None),
            (1, 6100, 1179, Some(1768)),
            (2, 9600, 593, Some(889)),
        ]
    );
    let factor = [
        ("tasks", "3"),
        ("utilization", "0.05"),
        ("criticality_factor", "1.25"),
    ];
    assert_eq!(
        rows(&drawn(&factor, derived_seed(42, &[0, 999]))),
        [
            (1, 5200, 71, Some(88)),
            (0, 3000, 1, None),
            (1, 2600, 92, Some(115)),
        ]
    );
}

/// FNV-1a with 64 bits.
fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[test]
fn every_recipe_draws_what_it_always_drew() {
    let more = [
        ("herman2012", "tasks", "40"),
        ("standard", "utilization_high", "0.7"),
        ("standard", "periods", "harmonic"),
        ("standard", "deadlines", "constrained"),
    ];
    let defaults = Recipe::NAMES.map(|name| (name, "", ""));
    let found: Vec<(&str, &str, u64)> = defaults
        .into_iter()
        .chain(more)
        .map(|(name, parameter, value)| {
            let mut recipe = Recipe::named(name).unwrap();
            if !parameter.is_empty() {
                recipe.set(parameter, value).unwrap();
            }
            let sets = (0..20).map(|index| recipe.draw(derived_seed(1, &[0, index])).unwrap());
            let text: String = sets.map(|set| set.to_toml()).collect();
            (name, parameter, fingerprint(&text))
        })
        .collect();
    assert_eq!(
        found,
        [
            ("huang2014", "", 0x22b2_437b_5cd2_1e70),
            ("sigrist2015", "", 0x8955_d19b_a7ef_bae0),
            ("herman2012", "", 0x58cf_3580_926f_6932),
            ("missimer", "", 0x912f_06ad_8914_07a0),
            ("standard", "", 0xbcb1_6230_98b4_8e9e),
            ("herman2012", "tasks", 0x53e0_5d72_f55f_80b6),
            ("standard", "utilization_high", 0x7cdf_7f5a_53a7_61a9),
            ("standard", "periods", 0x7d1b_3f29_b227_1b8c),
            ("standard", "deadlines", 0xf769_dd5f_23bd_6483),
        ]
    );
}
