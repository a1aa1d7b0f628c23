//! From the names of an experiment file to questions.

use crate::costs::{Costs, CostsError, Statistic};
use crate::evaluate::{Question, TestQuestion, check_label};
use crate::file::Experiment;
use crate::simulation::QuestionError;
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
    let simulated = simulated.map(|spec| Question::simulation(registry, experiment, (spec, costs)));
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

/// The test that is written as `TEST` or `TEST@STATISTIC`.
fn test_question<'a>(
    registry: &'a Registry,
    text: &str,
    (experiment, costs): (&Experiment, Option<&Costs>),
) -> Result<Question<'a>, QuestionError> {
    let (name, statistic) = match text.split_once('@') {
        None => (text, None),
        Some((name, statistic)) => (name, Some(statistic)),
    };
    let test = find(registry, name, text.to_owned())?;
    let mut question = TestQuestion::from(test);
    if let Some(statistic) = statistic {
        let mechanism = experiment.mechanism.as_deref();
        let overheads = overheads(registry, test, (statistic, mechanism, costs));
        question.overheads = Some(overheads.map_err(QuestionError::Overheads)?);
    }
    Ok(Question::Test(question))
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
}
