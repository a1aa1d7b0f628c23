//! Marginal distributions: against theory, and against histograms of other people's samplers.
//!
//! Seeds are fixed, so a test passes always or never; the level of 10^-6 says how unlikely a correct
//! sampler was to get a seed that fails.

use serde_json::Value;
use vestal_workload::generate::Random;
use vestal_workload::generate::periods::Periods;
use vestal_workload::generate::utilization::{
    BoundedSum, RandFixedSum, uunifast, uunifast_discard,
};

const BINS: usize = 20;
pub(crate) const DRAWN: usize = 20_000;

/// Above this a chi-square statistic has a probability of 10^-6 (Wilson and Hilferty 1931).
pub(crate) fn critical(degrees: usize) -> f64 {
    const QUANTILE: f64 = 4.753_424;
    let part = 2.0 / (9.0 * degrees as f64);
    degrees as f64 * (1.0 - part + QUANTILE * part.sqrt()).powi(3)
}

/// Bins between `low` and `high`; what lies outside counts to the outermost.
fn counts(values: impl Iterator<Item = f64>, low: f64, high: f64, bins: usize) -> Vec<f64> {
    let mut counts = vec![0.0; bins];
    for value in values {
        let at = (value - low) / (high - low) * bins as f64;
        counts[(at.max(0.0) as usize).min(bins - 1)] += 1.0;
    }
    counts
}

/// Whether values fit a distribution function on [low, high]; neighbouring bins with few expected
/// values count as one.
fn fits(values: &[f64], low: f64, high: f64, distribution: impl Fn(f64) -> f64) -> bool {
    const EXPECTED_MIN: f64 = 20.0;
    let drawn = counts(values.iter().copied(), low, high, BINS);
    let edge = |bin: usize| low + (high - low) * bin as f64 / BINS as f64;
    let (mut statistic, mut degrees) = (0.0, 0);
    let (mut found, mut expected) = (0.0, 0.0);
    for (bin, count) in drawn.iter().enumerate() {
        found += count;
        expected += (distribution(edge(bin + 1)) - distribution(edge(bin))) * values.len() as f64;
        if expected >= EXPECTED_MIN {
            statistic += (found - expected).powi(2) / expected;
            degrees += 1;
            (found, expected) = (0.0, 0.0);
        }
    }
    statistic += (found - expected).powi(2) / expected.max(EXPECTED_MIN);
    assert!(degrees >= 2, "the bins show nothing");
    statistic <= critical(degrees)
}

/// The volume of { y : 0 <= y_i <= w_i, sum y_i = s } up to a constant: the sum over all subsets of
/// the bounds, with signs, of what lies beyond them.
fn slice(widths: &[f64], sum: f64) -> f64 {
    let mut volume = 0.0;
    for subset in 0..1u32 << widths.len() {
        let inside = |i: &usize| subset >> i & 1 == 1;
        let beyond: f64 = (0..widths.len()).filter(inside).map(|i| widths[i]).sum();
        let sign = if subset.count_ones() % 2 == 0 {
            1.0
        } else {
            -1.0
        };
        volume += sign * (sum - beyond).max(0.0).powi(widths.len() as i32 - 1);
    }
    volume
}

/// P(y_i <= x) for the uniform distribution over that slice.
fn marginal(widths: &[f64], sum: f64, i: usize, x: f64) -> f64 {
    let mut cut = widths.to_vec();
    cut[i] = x.clamp(0.0, widths[i]);
    slice(&cut, sum) / slice(widths, sum)
}

/// Whether every component of drawn vectors has the marginal of the uniform distribution.
fn is_uniform(
    lower: &[f64],
    upper: &[f64],
    total: f64,
    mut draw: impl FnMut() -> Vec<f64>,
) -> bool {
    let widths: Vec<f64> = lower
        .iter()
        .zip(upper)
        .map(|(low, high)| high - low)
        .collect();
    let sum = total - lower.iter().sum::<f64>();
    let vectors: Vec<Vec<f64>> = (0..DRAWN).map(|_| draw()).collect();
    (0..widths.len()).all(|i| {
        let values: Vec<f64> = vectors.iter().map(|vector| vector[i] - lower[i]).collect();
        fits(&values, 0.0, widths[i].min(sum), |x| {
            marginal(&widths, sum, i, x)
        })
    })
}

#[test]
fn uunifast_has_beta_marginals() {
    let mut random = Random::new(1);
    for (n, total) in [(2, 0.7), (5, 0.7), (20, 0.95)] {
        let vectors: Vec<Vec<f64>> = (0..DRAWN)
            .map(|_| uunifast(n, total, &mut random))
            .collect();
        for i in [0, n / 2, n - 1] {
            let values: Vec<f64> = vectors.iter().map(|vector| vector[i]).collect();
            let beta = |x: f64| 1.0 - (1.0 - x / total).powi(n as i32 - 1);
            assert!(fits(&values, 0.0, total, beta), "{n} {i}");
        }
    }
}

#[test]
fn samplers_with_one_bound_are_uniform() {
    let mut random = Random::new(2);
    for (n, total) in [(3, 0.6), (4, 1.3), (5, 2.5), (6, 4.9)] {
        let (lower, upper) = (vec![0.0; n], vec![1.0; n]);
        let stafford = RandFixedSum::new(n, total).unwrap();
        assert!(
            is_uniform(&lower, &upper, total, || stafford.draw(&mut random)),
            "{n}"
        );
        let bounded = BoundedSum::new(&lower, &upper, total).unwrap();
        assert!(
            is_uniform(&lower, &upper, total, || bounded.draw(&mut random)),
            "{n}"
        );
        if total < 2.0 {
            let discard = || uunifast_discard(n, total, 1.0, 10_000, &mut random).unwrap();
            assert!(is_uniform(&lower, &upper, total, discard), "{n}");
        }
    }
}

#[test]
fn bounded_sums_are_uniform_on_both_sides_of_the_middle() {
    let lower = [0.0, 0.1, 0.0, 0.2, 0.05, 0.0];
    let upper = [0.5, 0.3, 1.0, 0.9, 0.06, 0.02];
    let mut random = Random::new(3);
    for total in [0.45, 0.9, 1.3, 1.6, 2.0, 2.5, 2.7] {
        let sampler = BoundedSum::new(&lower, &upper, total).unwrap();
        assert!(
            is_uniform(&lower, &upper, total, || sampler.draw(&mut random)),
            "{total}"
        );
    }
}

#[test]
fn a_sampler_that_cuts_and_scales_is_noticed() {
    // What comes to mind first: draw freely, cut at the bounds, spread the rest.
    let (lower, upper, total) = ([0.0; 4], [0.5, 0.3, 0.2, 0.1], 0.8);
    let mut random = Random::new(4);
    let cut = || {
        let mut vector = uunifast(4, total, &mut random);
        for _ in 0..50 {
            let excess: f64 = vector
                .iter()
                .zip(&upper)
                .map(|(x, u)| (x - u).max(0.0))
                .sum();
            let room: f64 = vector
                .iter()
                .zip(&upper)
                .map(|(x, u)| (u - x).max(0.0))
                .sum();
            for (x, u) in vector.iter_mut().zip(&upper) {
                *x = if *x > *u {
                    *u
                } else {
                    *x + excess * (u - *x) / room
                };
            }
        }
        vector
    };
    assert!(!is_uniform(&lower, &upper, total, cut));
}

#[test]
fn periods_have_their_distributions() {
    let mut random = Random::new(5);
    let (least, most, step) = (10_000, 1_000_000, 10);
    let mut drawn = |periods: &Periods| -> Vec<f64> {
        (0..DRAWN)
            .map(|_| periods.draw(&mut random) as f64)
            .collect()
    };
    let logarithms: Vec<f64> = drawn(&Periods::LogUniform { least, most, step })
        .iter()
        .map(|period| period.ln())
        .collect();
    let (low, high) = ((least as f64).ln(), (most as f64).ln());
    let share = |low: f64, high: f64| move |x: f64| (x - low) / (high - low);
    assert!(fits(&logarithms, low, high, share(low, high)));
    let uniform = drawn(&Periods::Uniform { least, most, step });
    let (low, high) = (least as f64, (most + step) as f64);
    assert!(fits(&uniform, low, high, share(low, high)));
    assert!(!fits(&logarithms, low, high, share(low, high)));
}

#[test]
fn other_peoples_samplers_draw_the_same_distributions() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("oracle.json")).unwrap();
    let mut random = Random::new(6);
    for case in &cases {
        let numbers = |key: &str| -> Vec<f64> {
            let list = case[key].as_array().unwrap();
            list.iter().map(|value| value.as_f64().unwrap()).collect()
        };
        let n = case["n"].as_u64().unwrap() as usize;
        let total = case["total"].as_f64().unwrap();
        let theirs_count = case["count"].as_f64().unwrap();
        let vectors: Vec<Vec<f64>> = match case["sampler"].as_str().unwrap() {
            "simso" => {
                let sampler = RandFixedSum::new(n, total).unwrap();
                (0..DRAWN).map(|_| sampler.draw(&mut random)).collect()
            }
            _ => {
                let sampler = BoundedSum::new(&numbers("lower"), &numbers("upper"), total).unwrap();
                (0..DRAWN).map(|_| sampler.draw(&mut random)).collect()
            }
        };
        for row in case["histograms"].as_array().unwrap() {
            let what = row["what"].as_str().unwrap();
            let pick = |vector: &Vec<f64>| match what {
                "min" => vector.iter().copied().fold(f64::INFINITY, f64::min),
                "max" => vector.iter().copied().fold(0.0, f64::max),
                component => vector[component.parse::<usize>().unwrap()],
            };
            let (low, high) = (row["low"].as_f64().unwrap(), row["high"].as_f64().unwrap());
            let bins = row["bins"].as_array().unwrap();
            let theirs: Vec<f64> = bins.iter().map(|bin| bin.as_f64().unwrap()).collect();
            assert_eq!(theirs.iter().sum::<f64>(), theirs_count);
            let ours = counts(vectors.iter().map(pick), low, high, theirs.len());
            let scale = (theirs_count / DRAWN as f64).sqrt();
            let (mut statistic, mut degrees) = (0.0, 0);
            for (ours, theirs) in ours.iter().zip(&theirs) {
                if ours + theirs > 0.0 {
                    statistic += (ours * scale - theirs / scale).powi(2) / (ours + theirs);
                    degrees += 1;
                }
            }
            assert!(degrees >= 4, "{what} of {case}: the bins show nothing");
            assert!(
                statistic <= critical(degrees - 1),
                "{what} of {n} with sum {total}: {statistic}, ours {ours:?}, theirs {theirs:?}"
            );
        }
    }
}
