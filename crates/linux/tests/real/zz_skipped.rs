//! The last test: how often the others were excused by the machine.

use crate::support::{skipped, slow_tests};

/// More would mean that the suite has said little, or that the run itself charges jobs for what they did
/// not do.
#[test]
fn strict_assertions_were_skipped_in_one_run_of_ten_at_most() {
    let [judged, skipped, repeated] = skipped();
    eprintln!("{skipped} of {judged} runs said nothing; {repeated} were repeated for that");
    assert!(skipped * 10 <= judged, "{skipped} of {judged}");
}

/// A thread of the run that is slow now and then, but not in each attempt, would show here.
#[test]
fn threads_were_slow_in_one_test_of_ten_at_most() {
    let [tests, slow] = slow_tests();
    eprintln!("{slow} of {tests} tests had a slow thread once or twice");
    assert!(slow * 10 <= tests, "{slow} of {tests}");
}
