//! Intervals for means on distributions whose means are known.

use super::*;

/// SplitMix64, as numbers from 0 to 1.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// What values are drawn from: a name, the mean, and how to draw.
type Distribution = (&'static str, f64, fn(&mut Random) -> f64);

fn is(random: &mut Random, probability: f64) -> bool {
    random.next() < probability
}

/// Shares of jobs as sets have them: none or all, anything, alike, and those of which few sets tell.
const BOUNDED: &[Distribution] = &[
    ("all or none, one in a hundred", 0.01, |r| {
        f64::from(is(r, 0.01))
    }),
    ("all or none, one in ten", 0.1, |r| f64::from(is(r, 0.1))),
    ("all or none, as often", 0.5, |r| f64::from(is(r, 0.5))),
    ("all or none, mostly all", 0.95, |r| f64::from(is(r, 0.95))),
    ("anything", 0.5, Random::next),
    ("small", 0.25 / 3.0, |r| 0.25 * r.next().powi(2)),
    ("alike", 0.3, |r| 0.29 + 0.02 * r.next()),
    ("always the same", 0.3, |_| 0.3),
    ("none in most sets", 0.02 * 0.5, |r| match is(r, 0.02) {
        true => r.next(),
        false => 0.0,
    }),
    (
        "a little, and rarely all",
        0.98 * 0.01 + 0.02,
        |r| match is(r, 0.02) {
            true => 1.0,
            false => 0.01,
        },
    ),
];

const TRIALS: u32 = 600;

/// How often intervals of `count` values miss the mean, and how wide they are on average.
fn missed(
    (_, mean, draw): Distribution,
    count: usize,
    interval: fn(&[f64], Confidence) -> Mean,
) -> (u32, f64) {
    let mut random = Random(count as u64);
    let (mut missed, mut width) = (0, 0.0);
    for _ in 0..TRIALS {
        let values: Vec<f64> = (0..count).map(|_| draw(&mut random)).collect();
        let found = interval(&values, Confidence::USUAL);
        // The sum of equal values is rounded.
        let holds = found.low <= mean + 1e-9 && mean <= found.high + 1e-9;
        missed += u32::from(!holds);
        width += (found.high.min(1.0) - found.low.max(0.0)) / f64::from(TRIALS);
    }
    (missed, width)
}

/// What one in twenty may come to in so many trials: four standard errors more.
fn allowed() -> u32 {
    (0.05 * f64::from(TRIALS) + 4.0 * (0.05 * 0.95 * f64::from(TRIALS)).sqrt()) as u32
}

#[test]
fn the_interval_of_shares_holds_for_every_distribution_and_number() {
    for distribution in BOUNDED {
        for count in [1, 2, 10, 40, 250] {
            let (missed, _) = missed(*distribution, count, Mean::of_bounded);
            // It promises no more than 5 %, and has less.
            assert!(
                missed <= TRIALS / 20,
                "{} {count}: {missed} of {TRIALS}",
                distribution.0
            );
        }
    }
}

/// The control: Student's interval is wrong where few sets tell, which the test above would notice.
#[test]
fn student_s_interval_is_wrong_of_shares_that_are_mostly_zero() {
    let failing = BOUNDED.iter().filter(|distribution| {
        let (missed, _) = missed(**distribution, 40, Mean::of);
        missed > 2 * allowed()
    });
    let failing: Vec<&str> = failing.map(|(name, _, _)| *name).collect();
    assert!(failing.contains(&"none in most sets"), "{failing:?}");
    assert!(
        failing.contains(&"all or none, one in a hundred"),
        "{failing:?}"
    );
    assert!(!failing.contains(&"anything"), "{failing:?}");
}

#[test]
fn where_student_s_interval_holds_that_of_shares_is_not_much_wider() {
    for distribution in [BOUNDED[2], BOUNDED[4], BOUNDED[5], BOUNDED[6]] {
        let (missed, narrow) = missed(distribution, 250, Mean::of);
        assert!(missed <= allowed(), "{}: {missed}", distribution.0);
        let (_, wide) = super::tests::missed(distribution, 250, Mean::of_bounded);
        // Where all are alike the first values are hardly believed.
        let most = if distribution.0 == "alike" {
            0.05
        } else {
            2.5 * narrow
        };
        assert!(wide < most, "{}: {wide} {narrow}", distribution.0);
    }
}

#[test]
fn student_s_interval_holds_for_values_that_are_about_normal() {
    fn normal(random: &mut Random) -> f64 {
        (0..12).map(|_| random.next()).sum::<f64>() / 12.0
    }
    for count in [2, 5, 30, 400] {
        let (missed, _) = missed(("normal", 0.5, normal), count, Mean::of);
        let least = 2 * (TRIALS / 20) - allowed();
        assert!((least..=allowed()).contains(&missed), "{count}: {missed}");
    }
}

#[test]
fn student_s_quantiles_are_those_of_tables() {
    let table = [
        (1, 12.7062),
        (2, 4.3027),
        (3, 3.1824),
        (5, 2.5706),
        (10, 2.2281),
        (30, 2.0423),
        (100, 1.9840),
    ];
    for (freedom, expected) in table {
        let found = student(freedom, Confidence::USUAL);
        assert!((found - expected).abs() < 6e-5, "{freedom}: {found}");
    }
    for confidence in [Confidence::USUAL, Confidence::FOUR_ERRORS] {
        let (exact, expanded) = (
            student(EXACT_MAX, confidence),
            student(EXACT_MAX + 1, confidence),
        );
        assert!(
            exact > expanded && exact - expanded < 2e-3,
            "{exact} {expanded}"
        );
        let many = student(10_000_000, confidence);
        assert!((many - confidence.errors).abs() < 1e-5, "{many}");
    }
}

/// The least and the largest mean of a grid that make neither bettor rich, by the definition: both at once, each at
/// most three quarters of what it may bet, the capital after every value.
fn of_grid(values: &[f64], wrong: f64) -> (f64, f64) {
    let holds = |mean: f64| {
        let (mut up, mut down) = (1.0_f64, 1.0_f64);
        let mut seen: Vec<f64> = Vec::new();
        let mut residues = vec![0.25];
        for value in values {
            let variance = residues.iter().sum::<f64>() / residues.len() as f64;
            let bet = (2.0 * (2.0 / wrong).ln() / (values.len() as f64 * variance)).sqrt();
            up *= 1.0 + bet.min(0.75 / mean) * (value - mean);
            down *= 1.0 - bet.min(0.75 / (1.0 - mean)) * (value - mean);
            if 0.5 * up >= 1.0 / wrong || 0.5 * down >= 1.0 / wrong {
                return false;
            }
            seen.push(*value);
            let middle = (0.5 + seen.iter().sum::<f64>()) / (seen.len() as f64 + 1.0);
            residues.push((value - middle).powi(2));
        }
        true
    };
    let grid = || {
        (1..2000)
            .map(|step| f64::from(step) / 2000.0)
            .filter(|mean| holds(*mean))
    };
    (grid().next().unwrap(), grid().next_back().unwrap())
}

#[test]
fn halving_finds_the_ends_that_the_definition_has_on_a_grid() {
    for (name, _, draw) in BOUNDED {
        for count in [5, 30, 120] {
            let mut random = Random(7);
            let values: Vec<f64> = (0..count).map(|_| draw(&mut random)).collect();
            for confidence in [Confidence::USUAL, Confidence::FOUR_ERRORS] {
                let found = Mean::of_bounded(&values, confidence);
                let (low, high) = of_grid(&values, confidence.wrong);
                let near = |end: f64, grid: f64| (end - grid).abs() <= 1.0 / 1999.0;
                assert!(
                    near(found.low, low) && near(found.high, high),
                    "{name} {count}: {found:?} {low} {high}"
                );
            }
        }
    }
}

#[test]
fn few_values_leave_everything_open_and_the_ends_belong_to_it() {
    let none = Mean::of_bounded(&[], Confidence::USUAL);
    assert_eq!((none.value, none.low, none.high), (0.0, 0.0, 1.0));
    let one = Mean::of_bounded(&[0.4], Confidence::USUAL);
    assert!(one.low < 0.01 && one.high > 0.99, "{one:?}");
    for one in [
        Mean::of(&[], Confidence::USUAL),
        Mean::of(&[3.0], Confidence::USUAL),
    ] {
        assert!(one.low == f64::NEG_INFINITY && one.high == f64::INFINITY);
    }
    let zeros = Mean::of_bounded(&[0.0; 100], Confidence::USUAL);
    // No interval that holds can end below 1 - 0.05^(1/100).
    assert!(zeros.low == 0.0 && zeros.value == 0.0, "{zeros:?}");
    assert!((0.0295..0.1).contains(&zeros.high), "{zeros:?}");
    let ones = Mean::of_bounded(&[1.0; 100], Confidence::USUAL);
    assert!((ones.low + zeros.high - 1.0).abs() < 1e-9 && ones.high == 1.0);
    let sure = Mean::of_bounded(&[0.0; 100], Confidence::FOUR_ERRORS);
    assert!(sure.high > zeros.high);
}
