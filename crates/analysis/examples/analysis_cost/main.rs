//! What the analyses cost in instructions beside plain textbook loops. `scripts/bench-analysis.sh`
//! runs this under callgrind, which counts only inside [`measured`]:
//!
//! ```text
//! analysis_cost plain|ours rta|amc-rtb|amc-max accepted|rejected SETS
//! ```
//!
//! Generates SETS sets by the recipe, keeps those that the test accepts (or rejects), and tries
//! them. Prints how many sets that were and how many of them were accepted.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program for developers"
)]

mod plain;
mod recipe;

use plain::Row;
use vestal_analysis::{Problem, Scratch, find};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [who, what, class, sets] = &arguments[..] else {
        panic!("analysis_cost plain|ours rta|amc-rtb|amc-max accepted|rejected SETS");
    };
    let (test, levels, loop_of_books): (_, _, fn(&[Row]) -> bool) = match what.as_str() {
        "rta" => ("dms", 1, plain::rta),
        "amc-rtb" => ("amc-rtb", 2, plain::amc_rtb),
        "amc-max" => ("amc-max", 2, plain::amc_max),
        _ => panic!("rta | amc-rtb | amc-max, not {what:?}"),
    };
    let wanted = match class.as_str() {
        "accepted" => true,
        "rejected" => false,
        _ => panic!("accepted | rejected, not {class:?}"),
    };
    let test = find(test, None).unwrap();
    let mut scratch = Scratch::default();
    let problems: Vec<Problem> = (0..sets.parse().unwrap())
        .map(|index| recipe::problem(index, levels))
        .filter(|problem| test.accepts(problem, &mut scratch) == wanted)
        .collect();
    let accepted = match who.as_str() {
        "ours" => measured(&problems, |problem| test.accepts(problem, &mut scratch)),
        "plain" => {
            let tables: Vec<Vec<Row>> = problems.iter().map(plain::rows).collect();
            measured(&tables, |rows| loop_of_books(rows))
        }
        _ => panic!("plain | ours, not {who:?}"),
    };
    println!("{} {accepted}", problems.len());
}

/// The part that callgrind counts.
#[inline(never)]
fn measured<T>(sets: &[T], mut accepts: impl FnMut(&T) -> bool) -> usize {
    sets.iter().filter(|set| accepts(set)).count()
}
