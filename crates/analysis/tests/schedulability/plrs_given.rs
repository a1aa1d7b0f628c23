//! How many job priorities sets need, and where the number is bounded: what `vestal explain plrs` says.

use crate::common;
use crate::recipe;

use common::{problem, task};
use vestal_analysis::{Problem, Reason, Verdict, find};
use vestal_core::Level;

/// How many entries the lists of all tasks have together.
fn priorities(set: &Problem, test: &str) -> Option<usize> {
    let found = find(test, None).unwrap().analyse(set);
    let lists = found.parameters.job_priorities?;
    Some(lists.iter().map(Vec::len).sum())
}

/// Of 1000 sets of the paper's example (20 tasks, four levels, factor 1.5, U = 0.8) those that the tests
/// accept: how many they are, the median and the largest number of priorities.
#[test]
fn the_example_of_huang_gill_and_lu_needs_as_many_job_priorities_as_the_page_says() {
    let page = include_str!("../../../../docs/explain/plrs.md");
    for test in ["fjp-mode", "fjp-own"] {
        let sets = (0..1000).map(|index| recipe::problem(index, 80));
        let mut needed: Vec<usize> = sets.filter_map(|set| priorities(&set, test)).collect();
        needed.sort_unstable();
        let (middle, most) = (needed[needed.len() / 2], needed[needed.len() - 1]);
        let beyond = needed.iter().filter(|needed| **needed > 97).count();
        let share = beyond * 100 / needed.len();
        let row = format!(
            "| `{test}` | {} | {middle} | {most} | {share} % |",
            needed.len()
        );
        assert!(page.contains(&row), "the page lacks: {row}");
    }
}

/// A task of 1 in 2 beside one of `length`: a busy period of 2 `length`, with `length` + 1 jobs.
fn with_jobs(length: u64) -> Problem {
    let long = 4 * length;
    problem(1, vec![task(0, 2, 2, &[1]), task(0, long, long, &[length])])
}

#[test]
fn a_pattern_of_65536_jobs_gets_its_priorities_and_one_of_65537_is_not_followed() {
    let most = (1 << 16) - 1;
    assert_eq!(priorities(&with_jobs(most), "fjp-mode"), Some(1 << 16));
    let beyond = find("fjp-mode", None)
        .unwrap()
        .analyse(&with_jobs(most + 1));
    assert_eq!(beyond.verdict, Verdict::NotProven);
    let (level, jobs_max) = (Level(0), 1 << 16);
    assert_eq!(beyond.why, Some(Reason::PatternTooLong { level, jobs_max }));
}
