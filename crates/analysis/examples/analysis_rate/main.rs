//! How many sets a second a test decides, where it accepts about half of them.
//!
//! ```text
//! analysis_rate TEST[:variant] SETS           a line for people: the share accepted, sets a second
//! analysis_rate TEST[:variant] SETS CLASS     decides the accepted or rejected ones once
//! ```
//!
//! The sets: the recipe of Huang, Gill and Lu (TECS 2014, section 4.1) with 20 tasks and four
//! levels, level 0 not inflated, at the utilisation (a multiple of 0.01) at which the share of
//! accepted sets is nearest to one half. `scripts/bench-analysis-rates.sh` runs the second form under
//! callgrind, which counts only inside [`measured`].
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program for developers that measures time"
)]

mod recipe;

use std::time::Instant;
use vestal_analysis::{Problem, Scratch, Test, find};

/// How many sets decide which utilisation is taken.
const SETS_TO_FIND: u64 = 100;
/// How often the sets of a class are decided; the median counts.
const PASSES: usize = 7;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (name, sets, class) = match &arguments[..] {
        [name, sets] => (name, sets, None),
        [name, sets, class] => (name, sets, Some(class.as_str())),
        _ => panic!("analysis_rate TEST[:variant] SETS [accepted|rejected]"),
    };
    let test = match name.split_once(':') {
        Some((name, variant)) => find(name, Some(variant)),
        None => find(name, None),
    }
    .unwrap();
    let mut scratch = Scratch::default();
    let percent = half_accepted(test, &mut scratch);
    let problems = (0..sets.parse().unwrap()).map(|index| recipe::problem(index, percent));
    let (accepted, rejected): (Vec<Problem>, Vec<Problem>) =
        problems.partition(|problem| test.accepts(problem, &mut scratch));
    match class {
        Some("accepted") => decide_once(test, &accepted, &mut scratch),
        Some("rejected") => decide_once(test, &rejected, &mut scratch),
        Some(other) => panic!("accepted | rejected, not {other:?}"),
        None => {
            let all = accepted.len() + rejected.len();
            println!(
                "{name:<12} U 0.{percent:02}  {:>3} % of {all} accepted, {:>8} accepted sets a second, \
                 {:>8} rejected",
                accepted.len() * 100 / all,
                rate(test, &accepted, &mut scratch),
                rate(test, &rejected, &mut scratch),
            );
        }
    }
}

/// The utilisation in percent at which the test accepts about half.
fn half_accepted(test: &Test, scratch: &mut Scratch) -> u64 {
    let mut share = |percent| {
        let sets = (0..SETS_TO_FIND).map(|index| recipe::problem(index, percent));
        sets.filter(|problem| test.accepts(problem, scratch))
            .count() as u64
    };
    // The share falls with the utilisation, but for chance.
    let (mut low, mut high) = (10, 99);
    while high - low > 1 {
        let middle = (low + high) / 2;
        if share(middle) * 2 >= SETS_TO_FIND {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

fn decide_once(test: &Test, problems: &[Problem], scratch: &mut Scratch) {
    println!("{} {}", problems.len(), measured(test, problems, scratch));
}

/// The part that callgrind counts.
#[inline(never)]
fn measured(test: &Test, problems: &[Problem], scratch: &mut Scratch) -> usize {
    let accepted = problems.iter().filter(|set| test.accepts(set, scratch));
    accepted.count()
}

/// Sets a second, the median of some passes.
fn rate(test: &Test, problems: &[Problem], scratch: &mut Scratch) -> u64 {
    let mut passes: Vec<f64> = (0..PASSES)
        .map(|_| {
            let start = Instant::now();
            measured(test, problems, scratch);
            problems.len() as f64 / start.elapsed().as_secs_f64()
        })
        .collect();
    passes.sort_by(f64::total_cmp);
    passes[PASSES / 2] as u64
}
