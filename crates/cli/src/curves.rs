//! A chart for people at a terminal: its points as a table, and a drawing in letters.

use crate::output::Output;
use crate::quantity::cut_inside;
use crate::table::Grid;
use vestal_experiment::plot::{Chart, Point};

/// So many rows can be taken in; of more, evenly chosen ones are shown.
const ROWS_MAX: usize = 24;
/// A longer name of a curve would make its column wider than its numbers need.
const NAME_MAX: usize = 28;
/// What needs more decimals is taken for nothing.
const DECIMALS_MAX: usize = 6;

/// The chart as a table with a row for each value of the horizontal axis and a column for each curve, then as a drawing.
pub(crate) fn page(chart: &Chart, output: &Output) -> String {
    let mut all: Vec<f64> = Vec::new();
    for point in chart.curves.iter().flat_map(|curve| &curve.points) {
        if !all.iter().any(|x| x.total_cmp(&point.x).is_eq()) {
            all.push(point.x);
        }
    }
    all.sort_by(f64::total_cmp);
    let shown = evenly(&all);
    let mut grid = Grid::of(&shown, output).number(&chart.x_label, |x| x.to_string());
    for curve in &chart.curves {
        let name = match output.table_width() {
            None => curve.name.clone(),
            Some(_) => cut_inside(&curve.name, NAME_MAX),
        };
        grid = grid.number(&name, |x| {
            let mut points = curve.points.iter();
            let point = points.find(|point| point.x.total_cmp(x).is_eq());
            point.map_or_else(|| "-".to_owned(), cell)
        });
    }
    let mut text = format!(
        "{}, \u{b1} the longer side of its 95 % interval, where that has an end:\n\n",
        chart.y_label
    );
    text.push_str(&grid.render());
    if shown.len() < all.len() {
        let (shown, all) = (shown.len(), all.len());
        text.push_str(&format!("{shown} of {all} values of {}\n", chart.x_label));
    }
    text.push('\n');
    text.push_str(&chart.to_text());
    text
}

/// At most so many as can be taken in, both ends among them.
fn evenly(all: &[f64]) -> Vec<f64> {
    if all.len() <= ROWS_MAX {
        return all.to_vec();
    }
    let last = all.len() - 1;
    let places = (0..ROWS_MAX).map(|row| row * last / (ROWS_MAX - 1));
    places.filter_map(|place| all.get(place).copied()).collect()
}

/// A value, and by how much it may be wrong to the side on which that is more.
fn cell(point: &Point) -> String {
    let half = (point.high - point.value).max(point.value - point.low);
    // As many decimals as tell what there is from nothing, and what is nearly all from all.
    let parts = [point.value.abs(), (1.0 - point.value).abs(), half];
    let parts = parts
        .into_iter()
        .filter(|part| part.is_finite() && *part > 0.0);
    let least = parts.fold(f64::INFINITY, f64::min);
    let (mut decimals, mut seen) = (2, 0.005);
    while least < seen && decimals < DECIMALS_MAX {
        decimals += 1;
        seen /= 10.0;
    }
    match half.is_finite() {
        true => format!("{:.decimals$} \u{b1}{half:.decimals$}", point.value),
        false => format!("{:.decimals$}", point.value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Format;
    use vestal_experiment::plot::{Curve, YAxis};

    fn point(x: f64, value: f64) -> Point {
        Point {
            x,
            value,
            low: value - 0.25,
            high: value + 0.125,
        }
    }

    #[test]
    fn each_value_of_the_axis_has_a_row_and_each_curve_a_column() {
        let curve = |name: &str, points| Curve {
            name: name.to_owned(),
            points,
        };
        let curves = vec![
            curve("smc", vec![point(0.5, 1.0), point(0.75, 0.5)]),
            curve("rms", vec![point(0.75, 0.25)]),
        ];
        let chart = Chart::new("", ("load", "share"), YAxis::Shares, curves);
        let page = page(&chart, &Output::new(Format::Human));
        let words = |start: &str| -> Vec<String> {
            let line = page
                .lines()
                .find(|line| line.trim_start().starts_with(start));
            let line = line.unwrap_or_else(|| panic!("{start} in {page}"));
            line.split_whitespace().map(str::to_owned).collect()
        };
        assert!(words("load").len() == 3, "{page}");
        assert_eq!(words("0.5 "), ["0.5", "1.00", "\u{b1}0.25", "-"], "{page}");
        assert_eq!(
            words("0.75 "),
            ["0.75", "0.50", "\u{b1}0.25", "0.25", "\u{b1}0.25"]
        );
        assert!(page.contains("a smc   b rms"), "{page}");
    }

    #[test]
    fn many_values_are_thinned_and_keep_their_ends() {
        let all: Vec<f64> = (0..101).map(f64::from).collect();
        let shown = evenly(&all);
        assert_eq!(
            (shown.len(), shown[0], shown[ROWS_MAX - 1]),
            (ROWS_MAX, 0.0, 100.0)
        );
        assert_eq!(evenly(&all[..3]), [0.0, 1.0, 2.0]);
        let infinite = Point {
            high: f64::INFINITY,
            ..point(0.0, 0.5)
        };
        assert_eq!(cell(&infinite), "0.50");
        // Little is not nothing, and nearly all is not all.
        let near = |value: f64, half: f64| {
            let (low, high) = (value - half, value + half);
            cell(&Point {
                x: 0.0,
                value,
                low,
                high,
            })
        };
        assert_eq!(near(0.004, 0.002), "0.004 \u{b1}0.002");
        assert_eq!(near(0.9996, 0.25), "0.9996 \u{b1}0.2500");
        assert_eq!(near(0.0, 0.5), "0.00 \u{b1}0.50");
    }
}
