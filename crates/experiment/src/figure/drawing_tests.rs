//! Claims about single runs, and the runs of figures.

use super::*;
use crate::figure::drawing_rules::{
    at_most_in, begins, half_as_often, has_by, lasts, preempts, request_is_handled,
};
use crate::figure::figures;
use crate::figure::grid::grids;
use vestal_result::claim::Verdict::{Confirmed, NotDecided, Refuted};

const MS: u64 = 1_000_000;

fn stretches(rows: &[(&str, u64, u64)]) -> Vec<Stretch> {
    let rows = rows.iter().map(|&(who, from, to)| Stretch {
        who: who.to_owned(),
        from: from * MS,
        to: to * MS,
    });
    rows.collect()
}

fn watched(rows: &[(&str, u64, u64)], steps: &[(&str, Happens, u64)]) -> Watched {
    let steps = steps.iter().map(|&(who, what, at)| Step {
        who: who.to_owned(),
        what,
        at: at * MS,
    });
    Watched {
        stretches: stretches(rows),
        steps: steps.collect(),
    }
}

#[test]
fn a_claim_about_a_stretch_is_confirmed_refuted_and_left_open() {
    let run = watched(&[("a", 0, 8), ("b", 9, 10), ("a", 26, 34)], &[]);
    let verdict = |checked: Checked| checked.verdict;
    assert_eq!(verdict(begins(&run, ("a", 2), 26)), Confirmed);
    assert_eq!(verdict(begins(&run, ("a", 2), 25)), Refuted);
    assert_eq!(verdict(begins(&run, ("a", 3), 26)), NotDecided);
    assert_eq!(verdict(begins(&run, ("c", 1), 0)), NotDecided);
    assert_eq!(verdict(begins(&run, ("a", 0), 0)), NotDecided);
    assert_eq!(verdict(lasts(&run, ("b", 1), (9, 10))), Confirmed);
    assert_eq!(verdict(lasts(&run, ("b", 1), (9, 11))), Refuted);
    assert_eq!(verdict(lasts(&run, ("b", 2), (9, 10))), NotDecided);
    assert_eq!(verdict(has_by(&run, ("a", 2), (6, 32))), Confirmed);
    assert_eq!(verdict(has_by(&run, ("a", 2), (8, 40))), Confirmed);
    // It begins later, and has nothing.
    assert_eq!(verdict(has_by(&run, ("a", 2), (0, 20))), Confirmed);
    assert_eq!(verdict(has_by(&run, ("a", 2), (8, 32))), Refuted);
    assert_eq!(verdict(has_by(&run, ("b", 2), (1, 32))), NotDecided);
    let numbers = begins(&run, ("a", 2), 26).numbers;
    assert_eq!(numbers, "a executes from 0 to 8, from 26 to 34 (ms)");
}

#[test]
fn the_most_in_a_window_is_found_wherever_the_window_is() {
    let run = watched(
        &[("p", 5, 8), ("a", 8, 9), ("p", 17, 21), ("p", 30, 31)],
        &[],
    );
    let verdict = |window, much| at_most_in(&run, "p", (window, much)).verdict;
    // [5, 21); [7, 21), which ends with a stretch and begins in another one; [17, 30).
    assert_eq!(verdict(16, 7), Confirmed);
    assert_eq!(verdict(14, 5), Confirmed);
    assert_eq!(verdict(13, 4), Confirmed);
    for (window, much) in [(16, 6), (16, 8), (14, 4)] {
        assert_eq!(verdict(window, much), Refuted, "{window} {much}");
    }
    assert_eq!(at_most_in(&run, "q", (16, 7)).verdict, NotDecided);
}

#[test]
fn half_as_often_is_exactly_half() {
    let often = |count: u64| {
        let rows: Vec<_> = (0..count).map(|at| ("d", 2 * at, 2 * at + 1)).collect();
        watched(&rows, &[])
    };
    let verdict = |here, there| half_as_often(&often(here), &often(there), "d").verdict;
    assert_eq!(verdict(2, 4), Confirmed);
    assert_eq!(
        (verdict(3, 4), verdict(1, 4), verdict(4, 4)),
        (Refuted, Refuted, Refuted)
    );
    assert_eq!(verdict(0, 0), NotDecided);
}

/// Each step at another time, or not at all.
#[test]
fn a_request_is_handled_step_by_step() {
    use Happens::{Interrupts, Waits, Wakes};
    let rows = [
        ("a", 0, 2),
        ("b", 2, 5),
        ("d", 5, 6),
        ("a", 6, 8),
        ("b", 8, 9),
    ];
    let steps = [("a", Waits, 2), ("d", Interrupts, 5), ("a", Wakes, 6)];
    let handled =
        |rows: &[_], steps: &[_]| request_is_handled(&watched(rows, steps), ("a", "d")).verdict;
    assert_eq!(handled(&rows, &steps), Confirmed);
    let late_half = [("a", 0, 2), ("b", 2, 6), ("d", 6, 7), ("a", 7, 9)];
    assert_eq!(
        handled(&late_half, &[steps[0], steps[1], ("a", Wakes, 7)]),
        Refuted
    );
    let others_first = [
        ("a", 0, 2),
        ("b", 2, 5),
        ("d", 5, 6),
        ("b", 6, 7),
        ("a", 7, 9),
    ];
    assert_eq!(handled(&others_first, &steps), Refuted);
    assert_eq!(
        handled(&rows, &[("a", Waits, 7), steps[1], steps[2]]),
        Refuted
    );
    assert_eq!(
        handled(&rows, &[steps[0], steps[1], ("a", Wakes, 7)]),
        Refuted
    );
    // A second wait that nothing ends.
    assert_eq!(
        handled(&rows, &[steps[0], ("a", Waits, 8), steps[1], steps[2]]),
        Refuted
    );
    assert_eq!(handled(&rows, &[steps[0], steps[2]]), NotDecided);
    assert_eq!(handled(&[], &steps), NotDecided);

    let taken = |rows: &[_], steps: &[_]| preempts(&watched(rows, steps), ("d", "b")).verdict;
    assert_eq!(taken(&rows, &steps), Confirmed);
    assert_eq!(taken(&late_half, &steps), Refuted);
    // It was done.
    assert_eq!(taken(&rows[..4], &steps), Refuted);
    assert_eq!(taken(&rows, &[]), NotDecided);
}

/// By hand, as the paper draws them.
#[test]
fn figures_of_one_run_are_those_of_the_paper() {
    let registry = Registry::default();
    let of = |name: &str| named(name)[0].run(&registry).unwrap();
    let fig_3 = [
        ("device", 0, 3),
        ("task1", 4, 8),
        ("device", 12, 16),
        ("task1", 20, 24),
        ("device", 28, 32),
        ("task1", 36, 40),
        ("device", 44, 48),
    ];
    assert_eq!(of("missimer/fig3").stretches, stretches(&fig_3));
    let fig_4 = [
        ("task1", 0, 2),
        ("task2", 2, 5),
        ("device", 5, 6),
        ("task1", 6, 8),
        ("task2", 8, 20),
    ];
    let steps = [
        ("task1", Happens::Waits, 2),
        ("device", Happens::Interrupts, 5),
        ("task1", Happens::Wakes, 6),
    ];
    assert_eq!(of("missimer/fig4"), watched(&fig_4, &steps));
    let fig_5 = [
        ("task1", 0, 8),
        ("device", 9, 10),
        ("device", 11, 12),
        ("device", 13, 14),
        ("device", 25, 26),
        ("task1", 26, 34),
    ];
    assert_eq!(of("missimer/fig5").stretches, stretches(&fig_5));
    let fig_6 = [
        ("task1", 0, 8),
        ("device", 9, 10),
        ("device", 13, 16),
        ("task1", 16, 24),
        ("task1", 32, 36),
    ];
    assert_eq!(of("missimer/fig6").stretches, stretches(&fig_6));
    for drawing in drawings() {
        let drawn = drawing.draw(&registry, "vestal", "1").unwrap();
        for (claim, found) in &drawn.outcome.findings {
            assert_eq!(*found, Finding::Confirmed, "{}: {claim}", drawing.name);
        }
        // Of a run in which nothing executes nothing is said.
        let nothing = Watched::default();
        for claim in drawing.claims {
            let found = match claim.check {
                Check::Alone(check) => check(&nothing),
                Check::Beside(_, check) => check(&nothing, &nothing),
            };
            assert_eq!(found.verdict, NotDecided, "{}", claim.text);
        }
        let rows = drawn.data.lines().count();
        assert_eq!(rows, 1 + drawing.run(&registry).unwrap().stretches.len());
    }
    // Each figure refutes what the paper says of when the other one goes on.
    let [fig_5, fig_6] = ["missimer/fig5", "missimer/fig6"].map(|name| named(name)[0]);
    for (claims, run) in [(fig_5, of(fig_6.name)), (fig_6, of(fig_5.name))] {
        for claim in claims.claims {
            let found = claim.checked(&run, &registry).unwrap().verdict;
            assert_ne!(found, Confirmed, "{}", claim.text);
        }
    }
}

#[test]
fn no_two_figures_have_the_same_name() {
    let mut names: Vec<&str> = figures().map(|figure| figure.name).collect();
    names.extend(grids().map(|grid| grid.name));
    names.extend(drawings().map(|drawing| drawing.name));
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}
