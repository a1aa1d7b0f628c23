//! The last test: how often the others were excused by the machine.

use crate::support::{lacking, repeated_tests, skipped};

/// Where there is one processor they say nothing, and the suite has not run.
#[test]
fn no_test_lacks_a_second_processor() {
    let lacking = lacking();
    assert_eq!(lacking, 0, "tests that want two processors");
}

/// More would mean that the suite has said little, or that the run itself charges jobs for what they did
/// not do.
#[test]
fn strict_assertions_were_skipped_in_one_run_of_ten_at_most() {
    let [judged, skipped, repeated] = skipped();
    eprintln!("{skipped} of {judged} runs said nothing; {repeated} were repeated for that");
    assert!(skipped * 10 <= judged, "{skipped} of {judged}");
}

/// A mistake in Vestal that shows now and then, but not in each attempt, would be found here.
#[test]
fn one_test_of_ten_at_most_was_made_again() {
    let [tests, again] = repeated_tests();
    eprintln!("{again} of {tests} tests were made again");
    assert!(again * 10 <= tests, "{again} of {tests}");
}
