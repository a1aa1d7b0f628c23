//! A figure as another paper may have it: nothing is accepted or rejected, the axis is a parameter of what jobs execute, and
//! the paper can be read in one way only. It takes this file, and no line elsewhere.

use super::claims_cases::{Case, counted};
use super::claims_tests::{Made, check_claims, summary};
use super::*;
use crate::store::{Program, Store};
use crate::sweep::{Running, Shard, results, sweep};
use crate::{Manifest, Report};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use vestal_result::claim::Verdict::{Confirmed, NotDecided, Refuted};

const TEXT: &str = r#"
format = "vestal-experiment/1"
name   = "made-up/fig1"
recipe = "standard"
seed   = 3
sets   = 12
chunk  = 5

[fixed]
tasks = 4
utilization = 0.9

[vary]
mean = [0.2, 0.4, 0.6, 0.8, 1]

[[measure]]
what     = "miss-ratio"
policy   = "rms"
scenario = "beta={mean},0.5"
for      = "500ms"

[[measure]]
what     = "miss-ratio"
policy   = "edf"
scenario = "beta={mean},0.5"
for      = "500ms"

[[measure]]
what     = "relative-response"
policy   = "rms"
scenario = "beta={mean},0.5"
for      = "500ms"
"#;

const RMS: &str = "miss-ratio:rms/beta={mean},0.5:LO";
const EDF: &str = "miss-ratio:edf/beta={mean},0.5:LO";
const RESPONSE: &str = "relative-response:rms/beta={mean},0.5";

const FIGURES: &[Figure] = &[Figure {
    name: "made-up/fig1",
    caption: "misses over the mean of execution times",
    text: TEXT,
    overheads: None,
    x: Axis {
        parameter: "mean",
        label: "mean execution time over WCET",
    },
    readings: None,
    stand_ins: &[],
    claims: &[
        Claim {
            text: FEWER,
            needs: &[RMS, EDF],
            check: |view| measured::lower(view, EDF, RMS),
        },
        Claim {
            text: NONE_BEFORE,
            needs: &[RMS],
            check: |view| measured::between(view, RMS, (0.0, 0.5), (0.0, 0.05)),
        },
        Claim {
            text: RISES,
            needs: &[RMS],
            check: |view| measured::monotone(view, RMS, Course::Rising),
        },
        Claim {
            text: RESPONSE_FALLS,
            needs: &[RESPONSE],
            check: |view| measured::monotone(view, RESPONSE, Course::Falling),
        },
        Claim {
            text: SHORT,
            needs: &[RESPONSE],
            check: |view| measured::between(view, RESPONSE, (0.0, 2.0), (0.0, 1.0)),
        },
    ],
}];

const FEWER: &str = "Fewer jobs miss under EDF.";
const NONE_BEFORE: &str = "Hardly any job misses below 0.5.";
const RISES: &str = "The longer jobs execute, the more of them miss.";
const RESPONSE_FALLS: &str = "Response times fall.";
const SHORT: &str = "Response times are below the period.";

const MADE: Made = Made {
    figures: FIGURES,
    values: |_| ["0.2", "0.4", "0.6", "0.8", "1"],
    cases: &[CASES],
};

/// So many of a thousand jobs, the same in all sets but for a little.
const fn nearly(thousandths: u64, set: u32) -> [u64; 2] {
    [thousandths + set as u64 % 3, 1000]
}

const CASES: &[Case] = &[
    counted(FEWER, Confirmed, 200, |part, _, set| match part {
        EDF => nearly(100, set),
        _ => nearly(300, set),
    }),
    counted(FEWER, Refuted, 200, |part, _, set| match part {
        EDF => nearly(300, set),
        _ => nearly(100, set),
    }),
    // Fewer over all, and more at one point.
    counted(FEWER, Refuted, 200, |part, position, set| {
        match (part, position) {
            (EDF, 2) => nearly(900, set),
            (EDF, _) => nearly(100, set),
            _ => nearly(400, set),
        }
    }),
    counted(FEWER, NotDecided, 200, |_, _, set| nearly(100, set)),
    // A difference of which three sets are not sure.
    counted(FEWER, NotDecided, 3, |part, _, set| match part {
        EDF => nearly(100, set),
        _ => nearly(300, set),
    }),
    counted(
        NONE_BEFORE,
        Confirmed,
        500,
        |_, position, set| match position {
            0 | 1 => nearly(0, set),
            _ => nearly(500, set),
        },
    ),
    counted(
        NONE_BEFORE,
        Refuted,
        400,
        |_, position, set| match position {
            1 => nearly(200, set),
            _ => nearly(0, set),
        },
    ),
    counted(NONE_BEFORE, NotDecided, 20, |_, _, set| nearly(0, set)),
    // In one set of forty every job misses: far from certain with four hundred.
    counted(NONE_BEFORE, NotDecided, 400, |_, _, set| match set % 40 {
        0 => [1000, 1000],
        _ => [0, 1000],
    }),
    counted(RISES, Confirmed, 400, |_, position, set| {
        nearly(200 * position as u64, set)
    }),
    counted(RISES, Refuted, 400, |_, position, set| match position {
        4 => nearly(0, set),
        _ => nearly(200 * position as u64, set),
    }),
    counted(RISES, NotDecided, 400, |_, _, set| nearly(200, set)),
    counted(RESPONSE_FALLS, Confirmed, 50, |_, position, set| {
        response(5_000 - 1_000 * position as u64, set)
    }),
    counted(RESPONSE_FALLS, Refuted, 50, |_, position, set| {
        response(1_000 * position as u64, set)
    }),
    counted(RESPONSE_FALLS, NotDecided, 50, |_, position, set| {
        response(1_000 + (5 - position as u64) * u64::from(set) / 20, set)
    }),
    counted(SHORT, Confirmed, 50, |_, _, set| response(500, set)),
    counted(SHORT, Refuted, 50, |_, position, set| match position {
        3 => response(1_500, set),
        _ => response(500, set),
    }),
    counted(SHORT, NotDecided, 50, |_, _, set| {
        response(900 + 10 * u64::from(set % 20), set)
    }),
    counted(SHORT, NotDecided, 1, |_, _, set| response(500, set)),
];

/// So many thousandths of a period on average.
const fn response(thousandths: u64, set: u32) -> [u64; 2] {
    [(thousandths + set as u64 % 3) * 1_000 * 7, 7]
}

#[test]
fn every_claim_about_a_measure_is_confirmed_refuted_and_left_open() {
    check_claims(&MADE);
}

#[test]
fn what_was_not_measured_is_not_checked_and_decides_nothing() {
    let figure = &FIGURES[0];
    let case = &CASES[0];
    let registry = Registry::default();
    let prepared = figure.prepare(None, &registry).unwrap();
    let without = ["miss-ratio:edf/beta={mean},0.5"];
    let summary = summary(&MADE, figure, case, &without);
    let found = outcome(figure, &prepared, &summary, "", "");
    assert_eq!(found.findings[0].1, Finding::NotChecked);
    assert!(
        found.page.contains("not in this version: miss-ratio:edf"),
        "{}",
        found.page
    );
    let view = &View::all(figure, &summary)[0];
    assert_eq!(measured::lower(view, EDF, RMS).verdict, NotDecided);
    assert_eq!(
        measured::between(view, EDF, (0.0, 1.0), (0.0, 1.0)).verdict,
        NotDecided
    );
    assert_eq!(
        measured::monotone(view, EDF, Course::Rising).verdict,
        NotDecided
    );
    // Nothing lies between 0.7 and 0.75.
    assert_eq!(
        measured::between(view, RMS, (0.7, 0.75), (0.0, 1.0)).verdict,
        NotDecided
    );
}

/// A directory that is removed when dropped.
pub(super) struct Folder(pub(super) PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(super) fn computed(prepared: &Prepared<'_>, folder: &Folder) -> (Report, Store) {
    let program = Program {
        version: "1".to_owned(),
        checksum: None,
    };
    let asked: Vec<_> = prepared.questions.iter().map(Question::asked).collect();
    let manifest = Manifest::new(program, &prepared.experiment, &asked);
    let text = &prepared.experiment.source.text;
    let store = Store::open(&folder.0, manifest, text, true).unwrap();
    let running = Running {
        shard: Shard::ALL,
        jobs: 1,
        stop: &AtomicBool::new(false),
        writing: &std::sync::RwLock::new(()),
        seen: &crate::Seen::default(),
        progress: &|_| (),
    };
    let report = sweep(&prepared.experiment, &prepared.questions, &store, &running).unwrap();
    (report, store)
}

/// From drawn sets to the page: charts, verdicts and words come without anything that is made for this figure.
#[test]
fn a_figure_of_measures_goes_from_sets_to_its_page() {
    let path = std::env::temp_dir().join(format!("vestal-made-up-{}", std::process::id()));
    let folder = Folder(path);
    let figure = &FIGURES[0];
    let registry = Registry::default();
    let prepared = figure.prepare(None, &registry).unwrap();
    assert!(prepared.missing.is_empty());
    let (report, store) = computed(&prepared, &folder);
    assert!(report.complete && report.computed == 60, "{report:?}");
    let asked: Vec<_> = prepared.questions.iter().map(Question::asked).collect();
    let table = results(&store).unwrap();
    let summary = Summary::new(
        &prepared.experiment,
        &prepared.experiment.points(),
        &asked,
        &table,
    );
    // Longer jobs miss more, in all: the parameter reaches the simulation.
    let all = summary.measured("miss-ratio:rms/beta={mean},0.5").unwrap();
    let missed: Vec<u64> = all.samples.iter().map(|sample| sample.counts[0]).collect();
    assert!(missed[0] == 0 && missed[4] > 0, "{missed:?}");
    let found = outcome(figure, &prepared, &summary, "vestal reproduce made-up", "1");
    assert_eq!(
        found.plots,
        ["plot-miss-ratio.svg", "plot-relative-response.svg"]
    );
    let charts = figure.charts(&summary);
    let names = |chart: usize| -> Vec<&str> {
        let curves = charts[chart].1.curves.iter();
        curves.map(|curve| curve.name.as_str()).collect()
    };
    assert_eq!(names(0).len(), 6);
    assert_eq!(names(0)[1], "rms/beta={mean},0.5:LO");
    assert_eq!(names(1), ["rms/beta={mean},0.5", RESPONSE_LO, RESPONSE_HI]);
    let points = &charts[0].1.curves[0].points;
    assert_eq!(
        points.iter().map(|point| point.x).collect::<Vec<_>>(),
        [0.2, 0.4, 0.6, 0.8, 1.0]
    );
    for words in [
        "| 1 | Fewer jobs miss under EDF. | **",
        "![made-up/fig1, share of jobs that miss their deadline](plot-miss-ratio.svg)",
        "1. What is measured is the mean over the sets of a point",
        "4. Numbers behind words",
        "`measures.csv` has their sums",
    ] {
        assert!(
            found.page.contains(words),
            "{words} is not in {}",
            found.page
        );
    }
    for words in ["McNemar", "reading", "two ways", "inflate"] {
        assert!(!found.page.contains(words), "{words} is in {}", found.page);
    }
}

const RESPONSE_LO: &str = "rms/beta={mean},0.5:LO";
const RESPONSE_HI: &str = "rms/beta={mean},0.5:HI";
