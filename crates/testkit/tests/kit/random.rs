//! The generator.

use std::collections::{BTreeMap, BTreeSet};
use vestal_testkit::Random;
use vestal_testkit::random::mix;

/// As the reference implementation of its authors prints them for this seed.
#[test]
fn the_numbers_are_those_of_splitmix64() {
    let mut random = Random::new(1_234_567);
    let expected = [
        6_457_827_717_110_365_317,
        3_203_168_211_198_807_973,
        9_817_491_932_198_370_423,
        4_593_380_528_125_082_431,
        16_408_922_859_458_223_821,
    ];
    assert_eq!(expected.map(|_: u64| random.next()), expected);
}

#[test]
fn equal_seeds_give_equal_sequences_and_neighbours_others() {
    let sequence = |seed| {
        let mut random = Random::new(seed);
        [(); 8].map(|()| random.next())
    };
    assert_eq!(sequence(7), sequence(7));
    assert_ne!(sequence(7), sequence(8));
    assert_ne!(mix(7), mix(8));
    assert_eq!(mix(0), 0);
}

#[test]
fn bounded_numbers_reach_both_ends_and_nothing_beyond() {
    let mut random = Random::new(1);
    let drawn: BTreeSet<u64> = (0..500).map(|_| random.below(5)).collect();
    assert_eq!(drawn, BTreeSet::from([0, 1, 2, 3, 4]));
    let drawn: BTreeSet<u64> = (0..500).map(|_| random.between(3, 5)).collect();
    assert_eq!(drawn, BTreeSet::from([3, 4, 5]));
    let drawn: BTreeSet<char> = (0..500).map(|_| random.one_of(&['a', 'b', 'c'])).collect();
    assert_eq!(drawn, BTreeSet::from(['a', 'b', 'c']));
    assert_eq!(random.between(9, 9), 9);
    assert_eq!(random.index(1), 0);
}

#[test]
fn once_in_four_happens_about_once_in_four() {
    let mut random = Random::new(2);
    let times = (0..4000).filter(|_| random.once_in(4)).count();
    assert!((900..1100).contains(&times), "{times}");
}

#[test]
fn every_order_is_about_as_likely() {
    let mut random = Random::new(3);
    let mut seen: BTreeMap<Vec<usize>, u32> = BTreeMap::new();
    for _ in 0..6000 {
        *seen.entry(random.permutation(3)).or_default() += 1;
    }
    assert_eq!(seen.len(), 6);
    assert!(
        seen.values().all(|times| (850..1150).contains(times)),
        "{seen:?}"
    );
}
