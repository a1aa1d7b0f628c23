//! From the names of an experiment file to questions.

use crate::costs::{Costs, CostsError, Statistic};
use crate::diagnose::problem;
use crate::evaluate::{Question, TestQuestion, check_label};
use crate::file::Experiment;
use crate::redrawn::{Changes, Redrawn};
use crate::simulation::QuestionError;
use crate::spec::SimulationSpec;
use vestal_analysis::{Overheads, Test};
use vestal_policy::Registry;

/// Everything that an experiment asks, in the order of its results: each question, or why it cannot be asked. `costs` are those
/// of the file of overheads that it names; nobody but the caller knows where that is.
#[must_use]
pub fn questions<'a>(
    registry: &'a Registry,
    experiment: &Experiment,
    costs: Option<&Costs>,
) -> Vec<Result<Question<'a>, QuestionError>> {
    let tests = experiment.tests.iter();
    let tests = tests.map(|name| test_question(registry, name, (experiment, costs)));
    let checks = experiment.checks.iter().map(|name| {
        let test = find(registry, name, check_label(name))?;
        Question::check(registry, test)
    });
    let simulated = experiment.simulations.iter().chain(&experiment.measures);
    let simulated = simulated.map(|spec| simulated_question(registry, experiment, (spec, costs)));
    tests.chain(checks).chain(simulated).collect()
}

fn find<'a>(registry: &'a Registry, name: &str, label: String) -> Result<&'a Test, QuestionError> {
    registry
        .test(name)
        .ok_or_else(|| QuestionError::UnknownTest {
            name: name.to_owned(),
            label,
        })
}

/// The question of the experiment that the changes make of this one.
fn changed<'a>(
    experiment: &Experiment,
    changes: Changes,
    question: impl FnOnce(&Experiment) -> Result<Question<'a>, QuestionError>,
) -> Result<Question<'a>, QuestionError> {
    if changes == Changes::default() {
        return question(experiment);
    }
    let mut other = experiment.clone();
    for (name, value) in &changes.0 {
        if experiment.axes.iter().any(|axis| axis.name == *name) {
            let found = format!("`{name}={value}`, and `{name}` varies");
            return Err(refused(experiment, found));
        }
        let set = other.recipe.set(name, value);
        set.map_err(|error| refused(experiment, error.to_string()))?;
    }
    let question = question(&other)?;
    let points = other.points().into_iter();
    let recipes = points.map(|point| point.recipe).collect();
    Ok(Question::Redrawn(Redrawn::new(question, changes, recipes)))
}

/// Parameters that a question cannot have.
fn refused(experiment: &Experiment, found: String) -> QuestionError {
    let expected = "KEY=VALUE with parameters of the recipe that do not vary";
    let help = "docs/experiments.md lists the parameters of each recipe";
    let found = problem(&experiment.source, None, "draw", found, expected, help);
    QuestionError::Refused(Box::new(found))
}

fn simulated_question<'a>(
    registry: &'a Registry,
    experiment: &Experiment,
    (spec, costs): (&SimulationSpec, Option<&Costs>),
) -> Result<Question<'a>, QuestionError> {
    changed(experiment, Changes(spec.changes.clone()), |experiment| {
        Question::simulation(registry, experiment, (spec, costs))
    })
}

/// The test that is written as `TEST` or `TEST@STATISTIC`, with parameters of the recipe in brackets behind it.
fn test_question<'a>(
    registry: &'a Registry,
    text: &str,
    (experiment, costs): (&Experiment, Option<&Costs>),
) -> Result<Question<'a>, QuestionError> {
    let (asked, changes) =
        Changes::split(text).map_err(|pair| refused(experiment, format!("`{pair}`")))?;
    let (name, statistic) = match asked.split_once('@') {
        None => (asked, None),
        Some((name, statistic)) => (name, Some(statistic)),
    };
    let test = find(registry, name, text.to_owned())?;
    let mut question = TestQuestion::from(test);
    if let Some(statistic) = statistic {
        let mechanism = experiment.mechanism.as_deref();
        let overheads = overheads(registry, test, (statistic, mechanism, costs));
        question.overheads = Some(overheads.map_err(QuestionError::Overheads)?);
    }
    changed(experiment, changes, |_| Ok(Question::Test(question)))
}

/// The overheads with which a test is asked.
fn overheads(
    registry: &Registry,
    test: &Test,
    (statistic, mechanism, costs): (&str, Option<&str>, Option<&Costs>),
) -> Result<(Statistic, Overheads), CostsError> {
    let refused = |why: String, help: &str| CostsError {
        why,
        help: help.to_owned(),
    };
    let mut known = Statistic::ALL.into_iter();
    let Some((_, statistic)) = known.find(|(name, _)| *name == statistic) else {
        let why =
            format!("`{test}@{statistic}` is asked with no figure of overheads that there is");
        let names = Statistic::ALL.map(|(name, _)| name).join(", ");
        return Err(refused(why, &format!("this version knows: {names}")));
    };
    let Some(costs) = costs else {
        let why = format!("there are no overheads with which {test} could be asked");
        return Err(refused(why, "name a file of `overheads`"));
    };
    if let Some(name) = mechanism {
        costs.mechanism(name)?;
    }
    let found = costs.of_test(registry, test, (statistic, mechanism))?;
    let (_, taken) = found.ok_or_else(|| {
        let why = format!("none of the mechanisms of `overheads` carries the policy of {test} out");
        refused(why, "leave the test out, or choose another `mechanism`")
    })?;
    Ok((statistic, taken))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::{Answer, Evaluator, Found};
    use vestal_workload::Source;

    const TABLE_1: &str = include_str!("../../../examples/overheads/sigrist2015-table-1.json");

    /// What is asked by such tests, in the words of results or of the refusal.
    fn asked(tests: &str, mechanism: &str, with_costs: bool) -> Vec<String> {
        let text = format!(
            "format = \"vestal-experiment/1\"\nname = \"x\"\nrecipe = \"sigrist2015\"\nsets = 1\n\
             overheads = \"x.json\"\nmechanism = \"{mechanism}\"\ntests = [{tests}]\n"
        );
        let experiment = Experiment::parse(&Source::new("x", &text)).unwrap();
        let costs = Costs::from_json(TABLE_1).unwrap();
        let registry = Registry::default();
        let costs = with_costs.then_some(&costs);
        let all = questions(&registry, &experiment, costs).into_iter();
        all.map(|one| match one {
            Ok(question) => {
                let asked = question.asked();
                format!("{} {}", asked.label, asked.taken.unwrap_or_default())
            }
            Err(error) => error.to_string(),
        })
        .collect()
    }

    #[test]
    fn a_name_with_a_figure_is_a_test_with_what_its_mechanism_costs() {
        let found = asked("\"ftts\", \"ftts@mean\", \"ftts@max\"", "ftts/16", true);
        assert_eq!(found[0], "ftts ");
        let frame = |millis: &str| format!("frame: {millis}00000ns");
        for (found, name, frame) in [
            (&found[1], "ftts@mean Overheads", frame("32")),
            (&found[2], "ftts@max Overheads", frame("1430")),
        ] {
            assert!(found.starts_with(name) && found.contains(&frame), "{found}");
        }
    }

    #[test]
    fn what_cannot_be_asked_says_why_and_the_rest_is_asked() {
        let tests = "\"ftts@median\", \"nothing@max\", \"pedf-vd@max\", \"ftts\"";
        let found = asked(tests, "ftts/4", true);
        assert!(
            found[0].starts_with("`ftts@median` is asked with no figure"),
            "{found:?}"
        );
        assert_eq!(found[1], "no test is called `nothing`");
        assert!(found[2].starts_with("none of the mechanisms"), "{found:?}");
        assert_eq!(found[3], "ftts ");
        let unknown = asked("\"ftts@max\"", "ftts/5", true);
        assert_eq!(unknown, ["there are no costs of a mechanism `ftts/5`"]);
        let without = asked("\"ftts@max\"", "ftts/4", false);
        assert_eq!(
            without,
            ["there are no overheads with which ftts could be asked"]
        );
    }

    fn experiment(rest: &str) -> Experiment {
        let text = format!(
            "format = \"vestal-experiment/1\"\nname = \"x\"\nrecipe = \"missimer\"\nsets = 1\n{rest}"
        );
        Experiment::parse(&Source::new("x", &text)).unwrap()
    }

    fn why(rest: &str) -> String {
        let (registry, experiment) = (Registry::default(), experiment(rest));
        let mut found = questions(&registry, &experiment, None).into_iter();
        let error = found.find_map(Result::err).unwrap();
        error.to_string()
    }

    #[test]
    fn what_stands_in_brackets_belongs_to_the_recipe() {
        let split = |text| Changes::split(text).map(|(name, changes)| (name, changes.0));
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        assert_eq!(split("ss-rta").unwrap(), ("ss-rta", vec![]));
        assert_eq!(
            split("smc@max[io=sporadic, map=any]").unwrap(),
            ("smc@max", vec![pair("io", "sporadic"), pair("map", "any")])
        );
        assert_eq!(split("ss-rta[io]").unwrap_err(), "io");
        assert_eq!(split("ss-rta[]").unwrap_err(), "");
        for (asked, says) in [
            ("tests = [\"ss-rta[io]\"]", "`io`"),
            ("tests = [\"ss-rta[io=both]\"]", "pibs or sporadic"),
            ("tests = [\"ss-rta[oi=pibs]\"]", "no parameter `oi`"),
            (
                "tests = [\"ss-rta[io=pibs]\"]\n[vary]\nio = [\"pibs\", \"sporadic\"]",
                "`io` varies",
            ),
            (
                "[[simulate]]\npolicy = \"io-amc\"\nfor = \"1s\"\ndraw = [\"map=some\"]",
                "known or any",
            ),
        ] {
            let why = why(asked);
            assert!(why.contains(says), "{asked}: {why}");
        }
    }

    /// Each answer is that about the set which a recipe with these parameters draws from the seed; that of the set itself stays what it
    /// is without the others.
    #[test]
    fn such_questions_are_asked_of_what_the_seed_gives_with_their_parameters() {
        let registry = Registry::default();
        let asked = |tests: &str, fixed: &str| {
            let experiment = experiment(&format!(
                "tests = [{tests}]\n[fixed]\nlevels = 1\n{fixed}\n[vary]\nutilization = [0.85, 0.95]\n\
                 [[simulate]]\npolicy = \"io-amc\"\nfor = \"20ms\"\ndraw = [\"events=burst\"]\n\
                 [[simulate]]\npolicy = \"io-amc\"\nfor = \"20ms\"\n"
            ));
            let questions = questions(&registry, &experiment, None).into_iter();
            let questions: Vec<Question<'_>> = questions.map(Result::unwrap).collect();
            let labels: Vec<String> = questions.iter().map(Question::label).collect();
            let mut found: Vec<Vec<Answer>> = Vec::new();
            for (number, point) in (0..).zip(experiment.points()) {
                for seed in 0..40 {
                    let set = point.recipe.draw(seed).unwrap();
                    let answers = Evaluator::default().answers(&set, (number, seed), &questions);
                    let Found { answers, .. } = answers.unwrap();
                    found.push(answers);
                }
            }
            (labels, found)
        };
        let tests = "\"ss-rta[io=sporadic]\", \"ss-pibs-rta\", \"ss-pibs-rta[map=any]\", \"ss-pibs-rta:any\"";
        let (labels, found) = asked(tests, "");
        assert_eq!(
            labels[..4],
            [
                "ss-rta[io=sporadic]",
                "ss-pibs-rta",
                "ss-pibs-rta[map=any]",
                "ss-pibs-rta:any"
            ]
        );
        assert_eq!(labels[4], "sim:io-amc/lo[events=burst]");
        let column = |found: &[Vec<Answer>], at: usize| -> Vec<Answer> {
            found.iter().map(|answers| answers[at]).collect()
        };
        for (at, fixed) in [
            (0, "io = \"sporadic\""),
            (1, ""),
            (2, "map = \"any\""),
            (3, ""),
        ] {
            let test = ["ss-rta", "ss-pibs-rta", "ss-pibs-rta", "ss-pibs-rta:any"][at];
            let (_, alone) = asked(&format!("\"{test}\""), fixed);
            assert_eq!(column(&found, at), column(&alone, 0), "{test} {fixed}");
        }
        // Whom a PIBS serves is unknown where the file does not say, and where the test takes it so.
        assert_eq!(column(&found, 2), column(&found, 3));
        // The parameters matter: neither column is the one without them.
        assert_ne!(column(&found, 1), column(&found, 2));
        assert_ne!(column(&found, 0), column(&found, 1));
    }
}
