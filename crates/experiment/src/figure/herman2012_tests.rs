//! Figure 6 of Herman et al. in small: from sets to measures.

use super::made_up_tests::{Folder, computed};
use super::*;
use crate::sweep::results;

/// The figure's file with few sets, short runs and three means, as it would be computed.
fn small(figure: &Figure) -> Experiment {
    let (before, rest) = figure.text.split_once("x = [").unwrap();
    let (_, after) = rest.split_once(']').unwrap();
    let text = format!("{before}x = [0.05, 0.4, 1]{after}");
    let text = text.replace("for      = \"10s\"", "for      = \"600ms\"");
    assert!(text.contains("600ms") && !text.contains("10s\""));
    let experiment = Experiment::parse(&Source::new(figure.name, &text)).unwrap();
    experiment.with_sets(6)
}

/// By mean and set: how many jobs of a part were counted, and of how many.
fn counts(summary: &Summary, part: &str) -> Vec<[u64; 2]> {
    let part = summary.measured(part).unwrap_or_else(|| panic!("{part}"));
    part.samples.iter().map(|sample| sample.counts).collect()
}

#[test]
fn figure_6_of_herman_et_al_goes_from_sets_to_measures() {
    let figure = named("herman2012/fig6_p05")[0];
    let registry = Registry::default();
    let whole = figure.prepare(None, &registry).unwrap();
    assert!(whole.missing.is_empty(), "{:?}", whole.missing);
    let prepared = Prepared {
        experiment: small(figure),
        ..whole
    };
    let experiment = &prepared.experiment;
    let questions = crate::questions(&registry, experiment, None);
    let questions: Result<Vec<_>, _> = questions.into_iter().collect();
    let prepared = Prepared {
        questions: questions.unwrap(),
        experiment: experiment.clone(),
        missing: Vec::new(),
    };
    let path = std::env::temp_dir().join(format!("vestal-herman-{}", std::process::id()));
    let folder = Folder(path);
    let (report, store) = computed(&prepared, &folder);
    assert!(report.complete && report.computed == 18, "{report:?}");
    let asked: Vec<_> = prepared.questions.iter().map(Question::asked).collect();
    let points = prepared.experiment.points();
    let table = results(&store).unwrap();
    let summary = Summary::new(&prepared.experiment, &points, &asked, &table);
    let of = |what: &str, budgets: &str, level: &str| {
        counts(
            &summary,
            &format!("{what}:mc2[budgets={budgets}]/beta={{x}},0.5:{level}"),
        )
    };
    // Every set has its tables, and the tables hold whatever jobs need.
    for budgets in ["enforced", "ignored"] {
        let level_a = of("miss-ratio", budgets, "A");
        assert!(
            level_a
                .iter()
                .all(|[missed, jobs]| *missed == 0 && *jobs > 100),
            "{level_a:?}"
        );
        // Jobs need more and more, of which level C has nearly all.
        let level_c = of("pending-ratio", budgets, "C");
        assert!(level_c[0][0] * 4 < level_c[2][0], "{level_c:?}");
    }
    let [with, without] = ["enforced", "ignored"].map(|budgets| of("miss-ratio", budgets, "B"));
    assert_eq!((without[0][0], without[1][0]), (0, 0));
    // The beta distribution reaches beyond C(B) now and then even there.
    assert!(with[0][0] * 20 < with[2][0], "{with:?}");
    assert!(
        with[1][0] > 0 && with[2][0] > without[2][0],
        "{with:?} {without:?}"
    );
    let found = outcome(
        figure,
        &prepared,
        &summary,
        "vestal reproduce herman2012",
        "1",
    );
    for words in [
        "| 1 | No job of level A misses its deadline, with budgets. | **",
        "ours for never is 0.005",
        "below 0.05 before 0.75, above it behind 0.9 is meant",
        "jobs that are not complete when a run of 10 s ends",
    ] {
        assert!(
            found.page.contains(words),
            "{words} is not in {}",
            found.page
        );
    }
}
