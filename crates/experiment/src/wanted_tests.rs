//! Which curves charts have, of a result whose answers are made up.

use super::*;
use crate::evaluate::{Answer, Found};
use crate::file::Experiment;
use crate::measure::{Asked, Counted, Measure};
use crate::table::{Table, Width};
use vestal_workload::Source;

/// Two utilizations and two numbers of levels, four sets each. Of the first `n + 1` sets of point n the test `a` accepts all, `b` none;
/// of every set one of four LO jobs is dropped, and no HI job.
fn summary(weight: &str) -> Summary {
    let text = format!(
        "format = \"vestal-experiment/1\"\nname = \"x\"\nrecipe = \"huang2014\"\nsets = 4\n{weight}tests = [\"a\", \"b\"]\n\
         [vary]\nutilization = [0.2, 0.6]\nlevels = [2, 3]\n"
    );
    let experiment = Experiment::parse(&Source::new("x", &text)).unwrap();
    let counted = Counted {
        measure: Measure::named("drop-ratio").unwrap(),
        levels: ["LO", "HI"].map(str::to_owned).to_vec(),
    };
    let asked = [
        Asked::answered("a"),
        Asked::answered("b"),
        Asked {
            counted: Some(counted),
            ..Asked::answered("drop-ratio:amc/hi")
        },
    ];
    let mut table = Table::new(Width::of(&asked));
    for point in 0..4_u32 {
        for index in 0..4_u32 {
            let accepts = match index <= point {
                true => Answer::Yes,
                false => Answer::No,
            };
            let found = Found {
                answers: vec![accepts, Answer::No, Answer::Yes],
                counts: vec![1, 4, 0, 4],
            };
            table.push(point, index, 1, &found);
        }
    }
    Summary::new(&experiment, &experiment.points(), &asked, &table)
}

fn wanted() -> Wanted {
    Wanted {
        x: "utilization".to_owned(),
        y: Vertical::Usual,
        questions: Vec::new(),
        level: None,
        fixed: Vec::new(),
    }
}

fn names(chart: &Chart) -> Vec<&str> {
    chart
        .curves
        .iter()
        .map(|curve| curve.name.as_str())
        .collect()
}

fn values(chart: &Chart, curve: usize) -> Vec<(f64, f64)> {
    let points = chart.curves[curve].points.iter();
    points.map(|point| (point.x, point.value)).collect()
}

fn fixed(name: &str, value: &str) -> Vec<(String, String)> {
    vec![(name.to_owned(), value.to_owned())]
}

#[test]
fn parameters_without_a_value_have_curves_and_those_with_one_have_none() {
    let summary = summary("");
    let chart = wanted().chart(&summary).unwrap();
    assert_eq!(
        names(&chart),
        [
            "a, levels = 2",
            "b, levels = 2",
            "a, levels = 3",
            "b, levels = 3"
        ]
    );
    // Points 0 and 2 have two levels, 1 and 3 three.
    assert_eq!(values(&chart, 0), [(0.2, 0.25), (0.6, 0.75)]);
    assert_eq!(values(&chart, 2), [(0.2, 0.5), (0.6, 1.0)]);
    let pinned = Wanted {
        fixed: fixed("levels", "3.0"),
        ..wanted()
    };
    let chart = pinned.chart(&summary).unwrap();
    assert_eq!(names(&chart), ["a", "b"]);
    assert_eq!(values(&chart, 0), [(0.2, 0.5), (0.6, 1.0)]);
    let both = Wanted {
        questions: vec!["b, a".to_owned()],
        ..pinned
    };
    assert_eq!(names(&both.chart(&summary).unwrap()), ["a", "b"]);
    let one = Wanted {
        questions: vec!["a".to_owned()],
        ..wanted()
    };
    assert_eq!(
        names(&one.chart(&summary).unwrap()),
        ["levels = 2", "levels = 3"]
    );
}

#[test]
fn measures_have_a_curve_for_all_jobs_and_each_level() {
    let summary = summary("");
    let drops = Wanted {
        y: Vertical::Measure("drop-ratio".to_owned()),
        fixed: fixed("levels", "2"),
        ..wanted()
    };
    let chart = drops.chart(&summary).unwrap();
    assert_eq!(names(&chart), ["amc/hi", "amc/hi:LO", "amc/hi:HI"]);
    assert_eq!(values(&chart, 0), [(0.2, 0.125), (0.6, 0.125)]);
    assert_eq!(values(&chart, 1), [(0.2, 0.25), (0.6, 0.25)]);
    assert_eq!(chart.y_label, "share of jobs that are dropped");
    let named = Wanted {
        questions: vec!["drop-ratio:amc/hi".to_owned()],
        ..drops.clone()
    };
    assert_eq!(names(&named.chart(&summary).unwrap()).len(), 3);
    for (level, value) in [("all", 0.125), ("LO", 0.25), ("HI", 0.0)] {
        let of = Wanted {
            level: Some(level.to_owned()),
            ..drops.clone()
        };
        let chart = of.chart(&summary).unwrap();
        assert_eq!(names(&chart), ["amc/hi"]);
        assert_eq!(values(&chart, 0)[0].1, value, "{level}");
    }
}

/// The weights are 0.2 and 0.6: (0.2 * 1/4 + 0.6 * 3/4) / 0.8 for two levels, and (0.2 * 2/4 + 0.6) / 0.8 for three.
#[test]
fn weights_are_added_up_unless_shares_are_asked_for() {
    let summary = summary("weight_by = \"utilization\"\n");
    let over_levels = Wanted {
        x: "levels".to_owned(),
        ..wanted()
    };
    let chart = over_levels.chart(&summary).unwrap();
    assert_eq!(names(&chart), ["a", "b"]);
    let found = values(&chart, 0);
    assert!(
        (found[0].1 - 0.625).abs() < 1e-12 && (found[1].1 - 0.875).abs() < 1e-12,
        "{found:?}"
    );
    let shares = Wanted {
        y: Vertical::Fraction,
        ..over_levels
    };
    let chart = shares.chart(&summary).unwrap();
    assert_eq!(names(&chart)[0], "a, utilization = 0.2");
    assert_eq!(values(&chart, 0), [(2.0, 0.25), (3.0, 0.5)]);
}

#[test]
fn what_is_not_there_is_refused_with_what_is() {
    let summary = summary("");
    let refused = |wanted: Wanted| {
        let Refused { why, help } = wanted.chart(&summary).unwrap_err();
        format!("{why}; {help}")
    };
    let cases = [
        (
            Wanted {
                x: "utilisation".to_owned(),
                ..wanted()
            },
            "did you mean `utilization`?",
        ),
        (
            Wanted {
                y: Vertical::Weighted,
                ..wanted()
            },
            "`weight_by`",
        ),
        (
            Wanted {
                y: Vertical::Measure("drop-rate".to_owned()),
                ..wanted()
            },
            "did you mean `drop-ratio`?",
        ),
        (
            Wanted {
                fixed: fixed("levels", "4"),
                ..wanted()
            },
            "its values are 2, 3",
        ),
        (
            Wanted {
                fixed: fixed("utilization", "0.2"),
                ..wanted()
            },
            "is on the horizontal axis",
        ),
        (
            Wanted {
                level: Some("HI".to_owned()),
                ..wanted()
            },
            "choose a measure with --y",
        ),
        (
            Wanted {
                questions: vec!["c".to_owned()],
                ..wanted()
            },
            "these were asked: a, b",
        ),
        (
            Wanted {
                y: Vertical::Measure("drop-ratio".to_owned()),
                level: Some("C".to_owned()),
                ..wanted()
            },
            "there are all and LO, HI",
        ),
    ];
    for (wanted, says) in cases {
        let said = refused(wanted);
        assert!(said.contains(says), "{said}");
    }
}

#[test]
fn without_a_word_a_result_is_shown_over_its_first_numbers() {
    let summary = summary("");
    assert_eq!(usual_x(None, &summary).as_deref(), Some("utilization"));
    assert_eq!(usual_x(Some("levels"), &summary).as_deref(), Some("levels"));
}

#[test]
fn more_curves_than_colours_are_refused() {
    let mut summary = summary("");
    // The same result with a third axis, of which each point has a value of its own.
    summary.axes.push("beta".to_owned());
    for (number, point) in summary.points.iter_mut().enumerate() {
        point.push(number.to_string());
    }
    assert_eq!(wanted().chart(&summary).unwrap().curves.len(), CURVES_MAX);
    let all = Wanted {
        y: Vertical::Measure("drop-ratio".to_owned()),
        ..wanted()
    };
    let Refused { why, help } = all.chart(&summary).unwrap_err();
    assert!(why.starts_with("there were 12 curves"), "{why}");
    assert!(
        help.contains("levels, beta") && help.contains("--where"),
        "{help}"
    );
}
