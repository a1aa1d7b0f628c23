//! The last test: how often the others were excused by the machine.

use crate::support::{lacking, repeated_tests, skipped, two_processors};

/// They say nothing where there is one processor, and this says so. Where there are two they all say something.
#[test]
fn tests_that_want_two_processors_are_counted_where_there_is_one() {
    let lacking = lacking();
    eprintln!("{lacking} tests said nothing: they want two processors");
    assert!(lacking == 0 || two_processors().is_none());
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
