//! Draws vectors of utilisations, to be timed from outside: SAMPLER N COUNT [PERCENT].
//!
//!     time target/release/examples/draw_speed bounded 20 1000000
//!
//! SAMPLER is uunifast, randfixedsum or bounded; the bounds of the last differ between components. The
//! sum lies PERCENT of the way between the bounds' sums; without it, it is 0.2 N. Prints a checksum, so
//! that nothing is optimised away. scripts/bench-generators.sh counts its instructions.

use std::process::ExitCode;
use vestal_workload::generate::Random;
use vestal_workload::generate::utilization::{BoundedSum, RandFixedSum, uunifast};

#[expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for people"
)]
fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let checksum = match &words[..] {
        [sampler, n, count] => checksum(sampler, n, count, None),
        [sampler, n, count, percent] => checksum(sampler, n, count, Some(percent)),
        _ => None,
    };
    match checksum {
        Some(checksum) => {
            println!("{checksum:.6}");
            ExitCode::SUCCESS
        }
        None => {
            eprintln!("usage: draw_speed uunifast|randfixedsum|bounded N COUNT [PERCENT]");
            ExitCode::from(2)
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "small counts")]
fn checksum(sampler: &str, n: &str, count: &str, percent: Option<&String>) -> Option<f64> {
    let (n, count): (usize, u64) = (n.parse().ok()?, count.parse().ok()?);
    let share: Option<f64> = match percent {
        Some(percent) => Some(percent.parse::<f64>().ok()? / 100.0),
        None => None,
    };
    let mut random = Random::new(1);
    let between = |least: f64, most: f64| {
        share.map_or(0.2 * n as f64, |share| least + share * (most - least))
    };
    let total = between(0.0, n as f64);
    let mut sum = 0.0;
    match sampler {
        "uunifast" => (0..count).for_each(|_| sum += uunifast(n, total, &mut random)[0]),
        "randfixedsum" => {
            let sampler = RandFixedSum::new(n, total)?;
            (0..count).for_each(|_| sum += sampler.draw(&mut random)[0]);
        }
        "bounded" => {
            let lower: Vec<f64> = (0..n).map(|i| 0.005 * (i % 4) as f64).collect();
            let upper: Vec<f64> = (0..n).map(|i| 0.05 + 0.18 * (i % 5) as f64).collect();
            let total = between(lower.iter().sum(), upper.iter().sum());
            let sampler = BoundedSum::new(&lower, &upper, total)?;
            let mut values = vec![0.0; n];
            for _ in 0..count {
                sampler.draw_into(&mut values, &mut random);
                sum += values[0];
            }
        }
        _ => return None,
    }
    Some(sum)
}
