//! The part `zero_slack`: from when on a job suspends less critical tasks (ZSS).

use super::{Parameters, in_task_order, named_by_all, unknown_names};
use crate::codes;
use crate::diagnostic::quote;
use crate::model::TaskSet;
use crate::quantity::time_text;
use crate::read::fields::Reader;
use crate::tree::{Node, Value};
use vestal_core::Duration;

impl Parameters {
    /// The same with these zero-slack instants for the tasks of `set`, in the order of its tasks.
    #[must_use]
    pub fn and_zero_slack(mut self, set: &TaskSet, instants: &[Duration]) -> Self {
        let named = set.tasks.iter().zip(instants);
        let named = named.map(|(task, &after)| (task.name.clone(), after));
        self.zero_slack = Some(named.collect());
        self
    }

    /// The zero-slack instants in the order of the tasks of `set`; `None` without them, or if a task
    /// has none.
    #[must_use]
    pub fn zero_slack_of(&self, set: &TaskSet) -> Option<Vec<Duration>> {
        let named = self.zero_slack.as_ref()?;
        let of = |name: &str| Some(named.iter().find(|(known, _)| known == name)?.1);
        set.tasks.iter().map(|task| of(&task.name)).collect()
    }
}

/// A zero-slack instant for each task: at most the task's deadline.
pub(super) fn zero_slack(
    node: &Node,
    set: &TaskSet,
    reader: &mut Reader<'_>,
) -> Vec<(String, Duration)> {
    const FIELD: &str = "zero_slack";
    let Value::Table(entries) = &node.value else {
        let help = "write `{ \"task\": \"6ms\" }`";
        reader.wrong_type(node, FIELD, "a table from task name to time", help);
        return Vec::new();
    };
    unknown_names(entries, FIELD, set, reader);
    let expected = "a zero-slack instant for every task of the set";
    let help = "add the tasks; one that suspends nobody has its deadline as its instant";
    named_by_all(node, entries, (FIELD, expected, help), set, reader);
    let mut given = Vec::with_capacity(set.tasks.len());
    for entry in entries {
        let field = format!("{FIELD}.{}", entry.key);
        let Some(nanos) = reader.time(&entry.node, &field) else {
            continue;
        };
        let Some(task) = set.tasks.iter().find(|task| task.name == entry.key) else {
            continue;
        };
        if nanos > task.deadline.as_nanos() {
            reader.sink.error(
                codes::ZERO_SLACK_TOO_LATE,
                entry.node.span,
                &field,
                time_text(nanos),
                format!(
                    "at most {}, the deadline of {}",
                    time_text(task.deadline.as_nanos()),
                    quote(&task.name)
                ),
                "give the time from the release; a job without slack suspends others before its \
                 deadline",
            );
        }
        given.push((entry.key.clone(), Duration::from_nanos(nanos)));
    }
    in_task_order(set, &given)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes::SCENARIO_SET;
    use crate::source::Source;

    fn codes_of(text: &str) -> Vec<codes::Code> {
        let set = TaskSet::parse("a.toml", SCENARIO_SET).unwrap();
        match Parameters::parse(&Source::new("p.json", text), &set) {
            Ok(_) => Vec::new(),
            Err(error) => error.list().iter().map(|found| found.code).collect(),
        }
    }

    #[test]
    fn zero_slack_instants_are_names_with_times_up_to_the_deadline() {
        let set = TaskSet::parse("a.toml", SCENARIO_SET).unwrap();
        let text = r#"{ "zero_slack": { "display": "20ms", "control": 0 } }"#;
        let parameters = Parameters::parse(&Source::new("p.json", text), &set).unwrap();
        let again = Source::new("p.json", &parameters.to_file());
        assert_eq!(Parameters::parse(&again, &set).unwrap(), parameters);
        let instants = parameters.zero_slack_of(&set).unwrap();
        let nanos: Vec<u64> = instants.into_iter().map(Duration::as_nanos).collect();
        assert_eq!(nanos, [0, 20_000_000]);
        let part = |text: &str| codes_of(&format!("{{ \"zero_slack\": {text} }}"));
        assert_eq!(
            part(r#"{ "control": "10.000001ms", "display": 20 }"#),
            [codes::ZERO_SLACK_TOO_LATE]
        );
        assert_eq!(part(r#"{ "control": 3 }"#), [codes::PARAMETER_TASK_MISSING]);
        assert_eq!(
            part(r#"{ "contol": 3, "control": 3, "display": 3 }"#),
            [codes::PARAMETER_UNKNOWN_TASK]
        );
        assert_eq!(
            part(r#"{ "control": -1, "display": 3 }"#),
            [codes::NEGATIVE_TIME]
        );
        assert_eq!(part("3"), [codes::WRONG_TYPE]);
    }
}
