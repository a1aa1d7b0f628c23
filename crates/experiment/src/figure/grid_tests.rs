//! Figures of one set: their cells against the printed formula, and their claims against made-up cells of which the verdict is
//! known.

use super::grid::{Cell, Costs, Grid, grids, named};
use super::grid_rules::{Axis, each_matters, none_beyond, optimum_inside};
use super::*;
use vestal_result::claim::Verdict::{Confirmed, NotDecided, Refuted};
use vestal_workload::TaskSet;

const MS: u64 = 1_000_000;

fn cell(at: [u64; 3], left: f64) -> Cell {
    let [period, cost, termination] = at;
    Cell {
        at: Costs {
            period,
            cost,
            termination,
        },
        holds: left <= 1.0,
        sums: [0.5, left],
    }
}

/// The left sides of equation 6 over T_M = 1, 2, .. ms.
fn over_periods(lefts: &[f64]) -> Vec<Cell> {
    let each = (1..).zip(lefts);
    each.map(|(at, left)| cell([at * MS, 20, 0], *left))
        .collect()
}

fn over_terminations(lefts: &[f64]) -> Vec<Cell> {
    let each = (0..).zip(lefts);
    each.map(|(at, left)| cell([MS, 20, at * MS], *left))
        .collect()
}

#[test]
fn an_optimum_lies_inside_or_at_an_end_or_is_not_known() {
    let verdict = |lefts: &[f64]| optimum_inside(&over_periods(lefts)).verdict;
    assert_eq!(verdict(&[1.2, 0.9, 1.1]), Confirmed);
    assert_eq!(verdict(&[0.95, 0.9, 0.91]), Confirmed);
    assert_eq!(verdict(&[0.9, 0.95, 1.1]), Refuted);
    assert_eq!(verdict(&[1.2, 1.0, 0.9]), Refuted);
    // As good at an end as inside.
    assert_eq!(verdict(&[0.9, 0.9, 1.1]), Refuted);
    assert_eq!(verdict(&[0.95, 0.9, 0.9, 0.9]), Refuted);
    // Nothing is schedulable, or there are too few values.
    assert_eq!(verdict(&[1.3, 1.1, 1.2]), NotDecided);
    assert_eq!(verdict(&[f64::INFINITY; 3]), NotDecided);
    assert_eq!(verdict(&[0.9, 0.8]), NotDecided);
    assert_eq!(verdict(&[]), NotDecided);
    let numbers = optimum_inside(&over_periods(&[1.2, 0.9, 0.95, 1.1])).numbers;
    for words in [
        "least at T_M = 2 ms, 0.9000",
        "schedulable with T_M from 2 to 3 ms",
    ] {
        assert!(numbers.contains(words), "{words} is not in {numbers}");
    }
}

#[test]
fn beyond_some_c_k_nothing_or_something_or_it_is_not_known() {
    let checked = |lefts: &[f64]| none_beyond(&over_terminations(lefts), 4_100_000);
    let found = checked(&[0.9, 1.0, 1.1, 1.2]);
    assert_eq!(found.verdict, Confirmed);
    for words in [
        "is schedulable is 1 ms",
        "it is not is 2 ms",
        "the paper's set: 4.1 ms",
    ] {
        assert!(found.numbers.contains(words), "{}", found.numbers);
    }
    assert_eq!(checked(&[0.9, 1.1, 0.9, 1.2]).verdict, Refuted);
    assert_eq!(checked(&[1.1, 0.9]).verdict, Refuted);
    assert_eq!(checked(&[0.8, 0.9]).verdict, NotDecided);
    assert_eq!(checked(&[1.1, 1.2]).verdict, NotDecided);
    assert_eq!(checked(&[]).verdict, NotDecided);
}

#[test]
fn a_parameter_matters_where_it_alone_decides() {
    let both = [Axis::Period, Axis::Cost];
    let square = |lefts: [f64; 4]| {
        let at = [[1, 1], [2, 1], [1, 2], [2, 2]];
        let cells = at.into_iter().zip(lefts);
        let cells = cells.map(|([period, cost], left)| cell([period, cost, 0], left));
        each_matters(&cells.collect::<Vec<_>>(), &both).verdict
    };
    assert_eq!(square([0.9, 1.1, 1.1, 1.1]), Confirmed);
    // Only T_M does, only C_M does, neither does.
    assert_eq!(square([0.9, 1.1, 0.9, 1.1]), Refuted);
    assert_eq!(square([0.9, 0.9, 1.1, 1.1]), Refuted);
    assert_eq!(square([0.9; 4]), Refuted);
    // Nothing is schedulable here, and perhaps elsewhere.
    assert_eq!(square([1.1; 4]), NotDecided);
}

fn set_of(grid: &Grid) -> TaskSet {
    grid.set.read().unwrap()
}

/// How many cells say yes, no, and something else than the printed formula does of
/// the cell that it is asked about.
fn compared(cells: &[Cell], formula_of: fn(&[Cell], usize) -> &Cell) -> [usize; 3] {
    let mut counts = [0; 3];
    for (index, cell) in cells.iter().enumerate() {
        let left = formula_of(cells, index).left();
        if (left - 1.0).abs() > 1e-9 {
            counts[usize::from(!cell.holds)] += 1;
            counts[2] += usize::from(cell.holds != (left <= 1.0));
        }
    }
    counts
}

/// The test, which works with fractions of whole nanoseconds, and the formula as it is printed say the same of every cell.
#[test]
fn every_cell_is_what_equation_6_says() {
    let registry = Registry::default();
    let (mut yes, mut no) = (0, 0);
    for grid in grids() {
        let cells = grid.cells(&registry, &set_of(grid)).unwrap();
        let [held, refused, differ] = compared(&cells, |cells, index| &cells[index]);
        assert_eq!(differ, 0, "{}", grid.name);
        yes += held;
        no += refused;
        // The formula of the cell beside it would be found out.
        let [_, _, differ] = compared(&cells, |cells, index| {
            &cells[(index + 1).min(cells.len() - 1)]
        });
        assert!(differ > 0, "{}", grid.name);
    }
    assert!(yes > 1000 && no > 1000, "{yes} {no}");
}

/// The set is the one that its file says it is: drawn, and the first of its kind.
#[test]
fn the_example_is_the_first_drawn_set_that_fits_the_paper_s_number() {
    let registry = Registry::default();
    let grid = named("sigrist2015/fig2d")[0];
    let fits = |set: &TaskSet| {
        let cells = grid.cells(&registry, set).unwrap();
        let holds = |millis: f64| {
            let mut cells = cells.iter();
            let at = |cell: &&Cell| grid::millis(cell.at.termination) == millis;
            cells.find(at).unwrap().holds
        };
        holds(4.05) && !holds(4.15)
    };
    let population = named("sigrist2015/fig2c")[0].population.unwrap();
    let drawn = population.draw().unwrap();
    let first = drawn.iter().find(|set| fits(set)).unwrap();
    let set = set_of(grid);
    assert_eq!(set.tasks, first.tasks);
}

#[test]
fn figures_of_one_set_have_data_a_plot_and_findings() {
    let registry = Registry::default();
    for grid in grids() {
        let drawn = grid.draw(&registry, "the command", "0").unwrap();
        assert_eq!(drawn.outcome.figure, grid.name);
        assert_eq!(drawn.outcome.findings.len(), grid.claims.len());
        let cells = grid.cells(&registry, &set_of(grid)).unwrap();
        assert_eq!(drawn.data.lines().count(), cells.len() + 1);
        let svg = drawn.plot.to_svg();
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        for (claim, finding) in &drawn.outcome.findings {
            assert_eq!(*finding, Finding::Confirmed, "{claim}");
        }
        let page = &drawn.outcome.page;
        for words in [grid.set.path, "Lemma IV.1", "the command"] {
            assert!(page.contains(words), "{words} is not in {page}");
        }
        let counted = page.contains("confirm it, ");
        assert_eq!(counted, grid.population.is_some(), "{page}");
    }
}

/// The border that is drawn is that of the cells.
#[test]
fn a_border_is_the_last_schedulable_cost_of_each_period() {
    let cells = [
        cell([1, 5, 0], 0.9),
        cell([1, 6, 0], 1.0),
        cell([1, 7, 0], 1.1),
        cell([2, 5, 0], 1.1),
        cell([3, 5, 0], 0.9),
        cell([3, 9, 1], 0.9),
    ];
    assert_eq!(grid_rules::border(&cells, 0), [(1, 6), (3, 5)]);
    assert_eq!(grid_rules::border(&cells, 1), [(3, 9)]);
}

#[test]
fn a_name_means_one_of_them_or_all() {
    let count = |name: &str| named(name).len();
    assert_eq!(
        (
            count("sigrist2015/fig2"),
            count("sigrist2015"),
            count("sigrist2015/fig2b"),
            count("sigrist2015/fig9")
        ),
        (4, 4, 1, 0)
    );
}
