//! The soundness campaign: what a schedulability test accepts is simulated until somebody misses.
//!
//! Random small sets near the border of what is schedulable; every accepted one runs under many
//! release and execution patterns, and the world judges each miss. A single guaranteed miss, or a
//! response time above the bound for a level whose assumption held, refutes the test. The controls
//! are wrong on purpose, and the same campaign has to refute each of them.
//!
//! | variable | meaning |
//! |---|---|
//! | `VESTAL_SOUNDNESS_SETS` | the number before which the sets of each test end, from 0 |
//! | `VESTAL_SOUNDNESS_SEED` | another sequence of sets |
//! | `VESTAL_SOUNDNESS_FROM` | the number of the first set: goes on where a campaign was interrupted |
//! | `VESTAL_CAMPAIGN=long` | many sets, and progress on standard error |
#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]
#![expect(
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a campaign of hours shows where it is, and each one ends with its summary"
)]

#[path = "../common/mod.rs"]
mod common;
#[path = "../reference/mod.rs"]
mod reference;

mod campaign;
mod patterns;
mod sets;
mod trial;

use campaign::{Campaign, Subject, run};
use sets::Sets;
use vestal_analysis::{Test, controls, find};
use vestal_core::Exhaustion;

fn the_test(name: &str) -> &'static Test {
    find(name, None).unwrap()
}

fn control(variant: &str) -> &'static Test {
    let mut all = controls::tests().iter();
    all.find(|test| test.variant == Some(variant)).unwrap()
}

fn holds(name: &'static str) {
    subject_holds(&Subject::real(the_test(name)));
}

fn subject_holds(subject: &Subject) {
    let summary = run(&Campaign::from_environment(), subject);
    println!("{summary}");
    assert!(summary.broken.is_none(), "{summary}");
    summary.check_that_it_says_something();
}

/// Stops at the first refutation, which the campaign has to find within its smoke size.
fn is_refuted(subject: &Subject) {
    let summary = run(&Campaign::smoke(), subject);
    println!("{summary}");
    let broken = summary.broken.as_ref();
    assert!(broken.is_some_and(|how| how.is_a_miss), "{summary}");
}

#[test]
fn what_rms_accepts_keeps_its_promises() {
    holds("rms");
}

#[test]
fn what_dms_accepts_keeps_its_promises() {
    holds("dms");
}

#[test]
fn what_cms_accepts_keeps_its_promises() {
    holds("cms");
}

#[test]
fn what_smc_accepts_keeps_its_promises() {
    holds("smc");
}

#[test]
fn what_amc_rtb_accepts_keeps_its_promises() {
    holds("amc-rtb");
}

#[test]
fn what_amc_max_accepts_keeps_its_promises() {
    holds("amc-max");
}

#[test]
fn what_edf_accepts_keeps_its_promises() {
    holds("edf");
}

#[test]
fn what_edf_vd_accepts_keeps_its_promises() {
    holds("edf-vd");
}

#[test]
fn what_edf_vd_accepts_with_given_virtual_deadlines_keeps_its_promises() {
    subject_holds(&Subject {
        sets: Sets::GivenDeadlines,
        ..Subject::real(the_test("edf-vd"))
    });
}

#[test]
fn control_amc_max_without_the_job_under_way_is_refuted() {
    is_refuted(&Subject::control(control("control-no-plus-one")));
}

#[test]
fn control_edf_vd_that_lets_lo_tasks_fill_the_cpu_is_refuted() {
    is_refuted(&Subject::control(control("control-no-guard")));
}

/// At random this control is refuted by few sets, so the sets are made for it; then any seed finds
/// one among the first hundred.
#[test]
fn control_edf_vd_with_virtual_deadlines_too_late_is_refuted() {
    let subject = Subject {
        sets: Sets::LateDeadlines,
        ..Subject::control(control("control-rounded-up"))
    };
    is_refuted(&subject);
    let drawn = (1..=20).map(|seed| run(&Campaign::smoke_with_seed(seed), &subject).drawn);
    let most = drawn.max().unwrap_or(u64::MAX);
    println!("20 seeds: refuted after at most {most} sets");
    assert!(most <= 100);
}

/// The sets that refute virtual deadlines which come too late refute none that come in time.
#[test]
fn what_edf_vd_accepts_keeps_its_promises_where_late_virtual_deadlines_do_not() {
    subject_holds(&Subject {
        sets: Sets::LateDeadlines,
        ..Subject::real(the_test("edf-vd"))
    });
}

#[test]
fn control_amc_rtb_evaluated_once_is_refuted() {
    is_refuted(&Subject::control(control("control-one-pass")));
}

#[test]
fn control_execution_times_beyond_the_deadline_unchecked_are_refuted() {
    is_refuted(&Subject::control(control("control-unchecked")));
}

#[test]
fn control_smc_without_enforcement_is_refuted() {
    is_refuted(&Subject {
        carried_out: Some(Exhaustion::Continue),
        ..Subject::control(the_test("smc"))
    });
}

/// A bound one tick too small is seen although no deadline is missed.
#[test]
fn control_amc_rtb_with_bounds_too_small_by_one_is_refuted() {
    let subject = Subject {
        bounds_too_small_by: 1,
        ..Subject::real(the_test("amc-rtb"))
    };
    let summary = run(&Campaign::smoke(), &subject);
    println!("{summary}");
    let broken = summary.broken.as_ref();
    assert!(broken.is_some_and(|how| !how.is_a_miss), "{summary}");
}
