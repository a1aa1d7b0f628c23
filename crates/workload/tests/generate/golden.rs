//! The same seed gives the same set, on every platform and in every version. `golden.json` has sets of
//! every recipe, drawn by a second implementation in another language, `scripts/oracles/generators.py`.

use serde_json::{Value, json};
use vestal_workload::TaskSet;
use vestal_workload::generate::{Recipe, derived_seed};
use vestal_workload::model::ServerKind;

/// The tasks as the file has them: level, period, deadline, execution times, CPU.
fn tasks(set: &TaskSet) -> Value {
    let tasks = set.tasks.iter().map(|task| {
        let wcet = task.wcet.iter().flatten();
        let wcet: Vec<u64> = wcet.map(|value| value.as_nanos()).collect();
        let (period, deadline) = (task.period.as_nanos(), task.deadline.as_nanos());
        json!([task.criticality.index(), period, deadline, wcet, task.cpu])
    });
    tasks.collect()
}

/// The PIBS: level, utilisations in billionths, the server that each serves.
fn pibs(set: &TaskSet) -> Value {
    let servers = set.servers.iter().filter_map(|server| match &server.kind {
        ServerKind::Periodic { .. } => None,
        ServerKind::Pibs {
            utilization,
            serves,
        } => {
            let billionths: Vec<u64> = utilization
                .iter()
                .flatten()
                .map(|ratio| {
                    let scaled = u128::from(ratio.numerator()) * 1_000_000_000;
                    u64::try_from(scaled / u128::from(ratio.denominator())).unwrap()
                })
                .collect();
            Some(json!([server.criticality.index(), billionths, serves[0]]))
        }
    });
    servers.collect()
}

#[test]
fn sets_of_every_recipe_are_those_of_a_second_implementation() {
    let rows: Vec<Value> = serde_json::from_str(include_str!("golden.json")).unwrap();
    let mut compared = Vec::new();
    for row in &rows {
        let name = row["recipe"].as_str().unwrap();
        let mut recipe = Recipe::named(name).unwrap();
        for (parameter, value) in row["set"].as_object().unwrap() {
            recipe.set(parameter, value.as_str().unwrap()).unwrap();
        }
        let seed: Vec<u64> = serde_json::from_value(row["seed"].clone()).unwrap();
        let set = recipe.draw(derived_seed(seed[0], &seed[1..])).unwrap();
        let what = format!("{name} {} {}", row["set"], row["seed"]);
        assert_eq!(tasks(&set), row["tasks"], "{what}");
        assert_eq!(pibs(&set), row["pibs"], "{what}");
        compared.push(name);
    }
    for name in Recipe::NAMES {
        assert!(compared.contains(&name), "no set of {name}");
    }
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
            let sets = sets.inspect(|set| {
                assert_eq!(&TaskSet::parse("x.json", &set.to_json()).unwrap(), set);
            });
            let text: String = sets.map(|set| set.to_toml()).collect();
            (name, parameter, fingerprint(&text))
        })
        .collect();
    assert_eq!(
        found,
        [
            ("huang2014", "", 0x22b2_437b_5cd2_1e70),
            ("sigrist2015", "", 0x7e0c_fe7c_c7ad_2f18),
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
