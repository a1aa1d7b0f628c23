//! Fixed job priorities in figures. `scripts/bench-job-order.sh` makes tables of them.
//!
//! ```text
//! job_order distinct SETS               how many job priorities the sets of the paper's example have
//! job_order closed-form SETS            decides so many sets of 8 tasks by fjp-lb, and says how fast
//! job_order step WHO TEST TASKS PERCENT the online step of WHO (pieces, copied, recomputed) on the same
//!                                       arrivals with the lists of TEST, for callgrind, which counts
//!                                       only inside `measured`
//! ```
//!
//! The sets: the recipe of Huang, Gill and Lu (TECS 2014, section 4.1) with four levels, level 0 not
//! inflated.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program for developers that measures time"
)]

#[path = "../analysis_rate/recipe.rs"]
mod recipe;
mod step;

use std::time::Instant;
use vestal_analysis::{Problem, Scratch, Test, find};

/// The example of the paper: 20 tasks at this utilisation in percent.
const PERCENT: u64 = 80;
/// What is left of the kernel's real-time priorities for jobs.
const KERNEL_PRIORITIES: u64 = 97;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["distinct", sets] => distinct(sets.parse().unwrap()),
        ["closed-form", sets] => closed_form(sets.parse().unwrap()),
        ["step", who, test, tasks, percent] => {
            let test = find(test, None).unwrap();
            step::run(who, test, tasks.parse().unwrap(), percent.parse().unwrap());
        }
        _ => panic!("distinct SETS | closed-form SETS | step WHO TEST TASKS PERCENT"),
    }
}

/// For each test a line: of the sets with lists, how long these are together.
fn distinct(sets: u64) {
    println!(
        "{:<14} {:>6} {:>6} {:>6} {:>7} {:>6} {:>10}",
        "test", "lists", "min", "median", "mean", "max", "above 97"
    );
    for (name, variant) in [
        ("fjp-ija", None),
        ("fjp-ija", Some("floor")),
        ("fjp-ija", Some("ceil")),
        ("fjp-mode", None),
        ("fjp-own", None),
        ("fjp-lb", None),
    ] {
        let test = find(name, variant).unwrap();
        let problems = (0..sets).map(|index| recipe::problem(index, PERCENT));
        let mut jobs: Vec<u64> = problems
            .filter_map(|problem| job_priorities(test, &problem))
            .collect();
        jobs.sort_unstable();
        let name = test.to_string();
        let (Some(least), Some(most)) = (jobs.first(), jobs.last()) else {
            println!("{name:<14} {:>6}", 0);
            continue;
        };
        let beyond = jobs.iter().filter(|&&jobs| jobs > KERNEL_PRIORITIES);
        let mean = jobs.iter().sum::<u64>() as f64 / jobs.len() as f64;
        println!(
            "{name:<14} {:>6} {least:>6} {:>6} {mean:>7.1} {most:>6} {:>8} %",
            jobs.len(),
            jobs[jobs.len() / 2],
            beyond.count() * 100 / jobs.len(),
        );
    }
}

fn job_priorities(test: &Test, problem: &Problem) -> Option<u64> {
    let lists = test.analyse(problem).parameters.job_priorities?;
    Some(lists.iter().map(|list| list.len() as u64).sum())
}

/// The sets of 8 tasks of which the paper could not finish ten in a day.
fn closed_form(sets: u64) {
    const TASKS: u32 = 8;
    let test = find("fjp-lb", None).unwrap();
    let mut scratch = Scratch::default();
    let per_point = sets.div_ceil(19);
    let problems: Vec<Problem> = (1..=19)
        .flat_map(|point| {
            (0..per_point).map(move |index| recipe::problem_of(TASKS, index, 5 * point))
        })
        .collect();
    let start = Instant::now();
    let accepted = problems
        .iter()
        .filter(|set| test.accepts(set, &mut scratch));
    let accepted = accepted.count();
    println!(
        "fjp-lb, {TASKS} tasks, U 0.05 to 0.95: {} sets, {} % accepted, {:.3} s",
        problems.len(),
        accepted * 100 / problems.len(),
        start.elapsed().as_secs_f64()
    );
}
