//! Fig. 6 to 8, 10 and 12: the parts over the number of CPUs, and over utilization.

use super::plan::NORMAL;
use super::table::Table;
use super::variant::{Kind, Variant};
use crate::plot::{Chart, Curve, YAxis};
use crate::summary::Share;
use vestal_result::shares::{PerCpuShare, ShareCell};

/// Numbers of CPUs of Fig. 8, 10 and 12, and of what was measured.
const OVER_UTILIZATION: [u16; 5] = [1, 2, 8, 16, 32];

/// Those of what stands for each policy.
#[must_use]
pub fn all(table: &Table, extrapolated: &[ShareCell]) -> Vec<(String, Chart)> {
    let cells = [table.cells(), extrapolated.to_vec()].concat();
    let each = Kind::ALL.iter().flat_map(|&kind| {
        let variant = table.stands_for(kind);
        variant.map_or_else(Vec::new, |variant| charts(variant, &cells))
    });
    each.collect()
}

/// Every chart of what stands for a policy with the name of its file. What was measured goes before what was extrapolated.
fn charts(variant: &Variant, cells: &[ShareCell]) -> Vec<(String, Chart)> {
    let mut own: Vec<&ShareCell> = cells
        .iter()
        .filter(|cell| cell.variant == variant.name && cell.set == "drawn" && cell.runs > 0)
        .collect();
    own.sort_by_key(|cell| (cell.cpus, cell.utilization_permille, cell.extrapolated));
    own.dedup_by_key(|cell| (cell.cpus, cell.utilization_permille));
    let policy = variant.kind.policy();
    let mut all = Vec::new();
    let at_normal = own
        .iter()
        .filter(|cell| cell.utilization_permille == Some(NORMAL));
    let over_cpus: Vec<(f64, &ShareCell)> = at_normal
        .map(|cell| (f64::from(cell.cpus), *cell))
        .collect();
    all.push((
        format!("{policy}-over-cpus.svg"),
        chart(variant, "CPUs (U/m = 0.2)", &over_cpus),
    ));
    for cpus in OVER_UTILIZATION {
        let of_size = own.iter().filter(|cell| cell.cpus == cpus);
        let points: Vec<(f64, &ShareCell)> = of_size
            .filter_map(|cell| Some((f64::from(cell.utilization_permille?) / 1000.0, *cell)))
            .collect();
        if points.len() > 1 {
            let label = format!("U/m (m = {cpus})");
            all.push((
                format!("{policy}-{cpus}-cpus.svg"),
                chart(variant, &label, &points),
            ));
        }
    }
    all
}

fn chart(variant: &Variant, x: &str, points: &[(f64, &ShareCell)]) -> Chart {
    let is_extrapolated = points.iter().any(|(_, cell)| cell.extrapolated);
    let curve = |name: &str, of: &dyn Fn(&ShareCell) -> Option<PerCpuShare>| Curve {
        name: name.to_owned(),
        points: points
            .iter()
            .filter_map(|(x, cell)| Some(percent(of(cell)?).at(*x)))
            .collect(),
    };
    let mut curves = vec![curve("all", &|cell| Some(cell.scheduler))];
    for &part in variant.kind.parts() {
        curves.push(curve(part, &|cell| cell.parts.get(part).copied()));
    }
    let title = match is_extrapolated {
        true => format!("{}, partly extrapolated", variant.name),
        false => variant.name.to_owned(),
    };
    let labels = (x, "% of the time");
    Chart::new(&title, labels, YAxis::Numbers, curves)
}

/// Whiskers are quartiles of the sets.
fn percent(found: PerCpuShare) -> Share {
    let value = found.mean * 100.0;
    match found.spread {
        Some(spread) => Share {
            value,
            low: (spread.low * 100.0).min(value),
            high: (spread.high * 100.0).max(value),
        },
        None => Share {
            value,
            low: value,
            high: value,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::made_up::{drawn, made};
    use super::super::variant::variant;
    use super::*;

    #[test]
    fn there_is_a_chart_over_cpus_and_one_for_each_number_with_two_utilizations() {
        let runs = [(1, 100), (1, 200), (2, 200)]
            .map(|(cpus, permille)| made(drawn(cpus, permille), 0, "ftts/spin", 50));
        let mut cells = Table::of(runs.to_vec()).cells();
        // The same place reckoned, too: what was measured is drawn.
        let reckoned = ShareCell {
            extrapolated: true,
            ..cells[2].clone()
        };
        cells.push(ShareCell {
            cpus: 8,
            ..reckoned.clone()
        });
        cells.push(reckoned);
        let found = charts(variant("ftts/spin").unwrap(), &cells);
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["ftts-over-cpus.svg", "ftts-1-cpus.svg"]);
        let over_cpus = &found[0].1;
        let title = |chart: &Chart| chart.title.clone().unwrap();
        assert_eq!(title(over_cpus), "ftts/spin, partly extrapolated");
        assert_eq!(over_cpus.curves.len(), 7);
        assert!(over_cpus.curves.iter().all(|curve| curve.points.len() == 3));
        assert!(!title(&found[1].1).contains("extrapolated"));
        for (_, chart) in found {
            assert!(!chart.to_svg().contains("NaN"));
        }
    }
}
