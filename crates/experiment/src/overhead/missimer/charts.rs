//! Fig. 12 to 15: completed jobs, overheads, and what cameras were read.

use super::judged::Change;
use super::run::{Place, Run, System};
use super::table::Table;
use crate::number::as_f64;
use crate::plot::{Chart, Curve, YAxis};
use crate::summary::Share;
use vestal_statistics::Quartiles;

/// Every chart that can be drawn, with the name of its file. Of runs over time the first one is shown that counts and, of those with a change, that
/// claims look at.
#[must_use]
pub fn all(table: &Table) -> Vec<(String, Chart)> {
    let mut all = vec![
        ("fig12.svg".to_owned(), completions(table)),
        ("fig13.svg".to_owned(), overheads(table)),
    ];
    for (name, title, is_total) in [
        ("fig14.svg", "events served in 100 ms", false),
        ("fig15.svg", "events served in all", true),
    ] {
        all.push((name.to_owned(), cameras(table, title, is_total)));
    }
    all.retain(|(_, chart)| chart.curves.iter().any(|curve| !curve.points.is_empty()));
    all
}

const fn exact(value: f64) -> Share {
    Share {
        value,
        low: value,
        high: value,
    }
}

fn seconds(nanos: u64) -> f64 {
    as_f64(nanos) / 1e9
}

/// The job that was completed over the time when it was.
fn completions(table: &Table) -> Chart {
    let mut curves = Vec::new();
    for &system in Place::OneCamera.systems() {
        let first = table.of_place(Place::OneCamera, system).next();
        for (application, level) in ["HI", "LO"].into_iter().enumerate() {
            let completed = first.and_then(|run| run.completed_ns.get(application));
            let points = completed.into_iter().flatten().zip(1_u64..);
            let points = points.map(|(&at, number)| exact(as_f64(number)).at(seconds(at)));
            curves.push(Curve {
                name: format!("{} {level}", system.name()),
                points: points.collect(),
            });
        }
    }
    Chart::new(
        "jobs completed, one camera",
        ("seconds", "jobs"),
        YAxis::Numbers,
        curves,
    )
}

/// Whiskers are quartiles of the repetitions.
fn overheads(table: &Table) -> Chart {
    let curves = [System::SsOnly, System::SsPibs].map(|system| {
        let places = [(1.0, Place::OneCamera), (2.0, Place::TwoCameras)].into_iter();
        let points = places.filter_map(|(x, place)| {
            let values = table.values(place, system, &|run| Some(run.overhead().high));
            let found = Quartiles::of(values)?;
            let share = Share {
                value: found.median,
                low: found.low,
                high: found.high,
            };
            Some(share.at(x))
        });
        Curve {
            name: system.name().to_owned(),
            points: points.collect(),
        }
    });
    Chart::new(
        "scheduling overhead",
        ("cameras", "% of the time"),
        YAxis::Numbers,
        curves.to_vec(),
    )
}

fn cameras(table: &Table, title: &str, is_total: bool) -> Chart {
    let mut runs = table.of_place(Place::Change, System::SsPibs);
    let first = runs.find(|run| run.change() == Change::AtHalfTime);
    let of = |run: &Run| {
        let each = run.cameras.iter().zip(1..);
        let curves = each.map(|(camera, number)| {
            let windows = run.windows(camera).into_iter().zip(&camera.served_by);
            let points = windows.filter_map(|(window, &total)| {
                let value = match is_total {
                    true => as_f64(total),
                    false if window.is_whole() => window.rate(),
                    false => return None,
                };
                Some(exact(value).at(seconds(window.to_ns)))
            });
            Curve {
                name: format!("camera {number}"),
                points: points.collect(),
            }
        });
        curves.collect()
    };
    Chart::new(
        title,
        ("seconds", "events"),
        YAxis::Numbers,
        first.map_or_else(Vec::new, of),
    )
}

#[cfg(test)]
mod tests {
    use super::super::made_up::{camera, made, rise};
    use super::*;

    #[test]
    fn what_was_measured_is_drawn_and_nothing_else() {
        assert!(all(&Table::default()).is_empty());
        let one = made(Place::OneCamera, System::SsOnly, 0);
        let names = |runs: Vec<Run>| {
            let charts = all(&Table::of(runs));
            assert!(
                charts
                    .iter()
                    .all(|(_, chart)| !chart.to_svg().contains("NaN"))
            );
            charts.into_iter().map(|(name, _)| name).collect::<Vec<_>>()
        };
        assert_eq!(names(vec![one.clone()]), ["fig12.svg", "fig13.svg"]);
        let change = |number| Run {
            cameras: vec![camera(10, 100, 5), camera(100, 10, 0)],
            ..made(Place::Change, System::SsPibs, number)
        };
        // The mode of the first one rises twice.
        let mut wrong = change(0);
        wrong.rises.push(rise(1));
        assert_eq!(
            names(vec![one.clone(), wrong.clone()]),
            ["fig12.svg", "fig13.svg"]
        );
        let found = names(vec![one, wrong, change(1)]);
        assert_eq!(found, ["fig12.svg", "fig13.svg", "fig14.svg", "fig15.svg"]);
    }
}
