//! Overheads, thread switches, preemptions and adjustments of priorities as charts.

use super::{Cell, Preemptions, Quartiles, Table};
use crate::number::as_f64;
use crate::plot::{Chart, Curve, YAxis};
use crate::summary::Share;

/// Every chart with the name of its file.
#[must_use]
pub fn charts(table: &Table, preemptions: &[Preemptions]) -> Vec<(&'static str, Chart)> {
    let [of_overheads, of_switches, of_preemptions, of_adjustments] = table.paper.titles.charts;
    let mut charts = vec![
        (of_overheads, overheads(table)),
        (of_switches, switches(table)),
    ];
    if !preemptions.is_empty() {
        charts.push((of_preemptions, preemption(preemptions)));
        charts.push((of_adjustments, adjustment(preemptions)));
    }
    charts
}

fn x(number: usize) -> f64 {
    as_f64(number as u64)
}

const fn share(low: f64, value: f64, high: f64) -> Share {
    Share { value, low, high }
}

/// A curve over the number of tasks for each variant that has a spread of this kind; whiskers are quartiles.
fn by_variant(table: &Table, value: fn(&Cell) -> Option<Quartiles>) -> Vec<Curve> {
    let curves = table.variants.iter().filter_map(|&index| {
        let points = table.sizes.iter().filter_map(|&size| {
            let spread = value(table.cell(size, index)?)?;
            Some(share(spread.low, spread.median, spread.high).at(x(size)))
        });
        Some(Curve {
            name: table.paper.variants.get(index)?.name.to_owned(),
            points: points.collect(),
        })
    });
    curves.collect()
}

fn overheads(table: &Table) -> Chart {
    let mut curves = by_variant(table, |cell| cell.overhead_percent);
    curves.retain(|curve| curve.name != table.paper.name_at(table.paper.baseline));
    Chart::new(
        "overhead over fixed priorities alone",
        ("number of tasks", "longer busy period, %"),
        YAxis::Numbers,
        curves,
    )
}

fn switches(table: &Table) -> Chart {
    Chart::new(
        "thread switches in a busy period",
        ("number of tasks", "thread switches"),
        YAxis::Numbers,
        by_variant(table, |cell| cell.switches),
    )
}

/// A curve of microseconds; `value` gives the nanoseconds of a point and of the end of its whisker.
fn curve(name: &str, rows: &[Preemptions], value: impl Fn(&Preemptions) -> (f64, f64)) -> Curve {
    let points = rows.iter().map(|row| {
        let (middle, high) = value(row);
        let (middle, high) = (middle / 1000.0, high / 1000.0);
        share(middle, middle, high).at(x(row.threads))
    });
    Curve {
        name: name.to_owned(),
        points: points.collect(),
    }
}

/// Whiskers reach up to the 99th percentile.
fn preemption(rows: &[Preemptions]) -> Chart {
    let times = |(median, p99): (u64, u64)| (as_f64(median), as_f64(p99));
    Chart::new(
        "preemption by the manager, and return",
        ("threads suspended", "us"),
        YAxis::Numbers,
        vec![
            curve("preemption", rows, |row| times(row.preemption_ns)),
            curve("return", rows, |row| times(row.return_ns)),
        ],
    )
}

/// Whiskers reach up to the maximum, as in the paper.
fn adjustment(rows: &[Preemptions]) -> Chart {
    Chart::new(
        "adjusting the priorities of threads",
        ("threads", "us"),
        YAxis::Numbers,
        vec![
            curve("first", rows, |row| {
                (as_f64(row.first_ns.0), as_f64(row.first_ns.1))
            }),
            curve("median", rows, |row| {
                (as_f64(row.later_ns.0), as_f64(row.later_ns.2))
            }),
            curve("average", rows, |row| (row.later_ns.1, row.later_ns.1)),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overhead::HUANG2014;
    use crate::overhead::result::tests::run;

    #[test]
    fn every_measured_variant_has_a_curve() {
        let mut runs = Vec::new();
        for size in [4, 8] {
            runs.push(run(0, size, "smc/none", 1000));
            runs.push(run(0, size, "amc/perf", 1010));
            runs.push(run(0, size, "zss/native", 990));
        }
        let table = Table::of(&HUANG2014, runs);
        let found = charts(&table, &[]);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].1.curves.len(), 2);
        assert_eq!(found[1].1.curves.len(), 3);
        for (_, chart) in found {
            let svg = chart.to_svg();
            assert!(svg.contains("amc/perf") && !svg.contains("NaN"));
            assert!(chart.curves.iter().all(|curve| curve.points.len() == 2));
        }
    }
}
