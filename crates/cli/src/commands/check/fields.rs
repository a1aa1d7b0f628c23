//! What policies make of the fields that a file gives, in their own words.

use crate::output::{Output, Style};
use serde::Serialize;
use std::borrow::Cow;
use std::fmt::Write as _;
use vestal_policy::{Field, Policy, Use};
use vestal_workload::TaskSet;

/// A field that the file gives, and what each policy makes of it.
#[derive(Serialize)]
pub(super) struct FieldUses {
    field: Cow<'static, str>,
    count: usize,
    /// The task that gives it first; empty where it belongs to no task.
    first: String,
    policies: Vec<PolicyUse>,
}

#[derive(Clone, Copy, Serialize)]
struct PolicyUse {
    policy: &'static str,
    /// `reads`, `rule` or `ignored`.
    #[serde(rename = "use")]
    word: &'static str,
    /// The rule, or why it has no effect.
    why: Option<&'static str>,
}

/// A field of which no policy makes any use.
#[derive(Serialize)]
pub(super) struct Unused {
    field: Cow<'static, str>,
    count: usize,
    first: String,
    why: &'static str,
}

/// What these policies make of each field that the file gives.
pub(super) fn uses<'a>(
    set: &TaskSet,
    policies: impl Iterator<Item = &'a dyn Policy> + Clone,
) -> Vec<FieldUses> {
    let one = |(name, field): (Cow<'static, str>, Option<Field>)| {
        let given = set.given_field(&name)?;
        let policies = policies.clone().map(|policy| {
            let made = field.map_or(Use::OF_OTHERS, |field| policy.fields().of(field));
            let (word, why) = match made {
                Use::Reads => ("reads", None),
                Use::Rule(rule) => ("rule", Some(rule)),
                Use::Ignored(why) => ("ignored", Some(why)),
            };
            PolicyUse {
                policy: policy.about().name,
                word,
                why,
            }
        });
        Some(FieldUses {
            field: name,
            count: given.count,
            first: given.first,
            policies: policies.collect(),
        })
    };
    let known = Field::ALL.map(|field| (Cow::from(field.name()), Some(field)));
    let others = TaskSet::optional_fields().filter(|name| {
        let of_policies = Field::ALL.map(Field::name).into_iter();
        of_policies
            .chain(Field::READ_BY_ALL)
            .all(|known| known != name)
    });
    let others = others.map(|name| (Cow::from(name), None));
    known.into_iter().chain(others).filter_map(one).collect()
}

impl FieldUses {
    /// If none of the policies makes any use of it: so, with the reason of the first one.
    pub(super) fn unused(&self) -> Option<Unused> {
        let all = self.policies.iter().all(|one| one.word == "ignored");
        all.then(|| Unused {
            field: self.field.clone(),
            count: self.count,
            first: self.first.clone(),
            why: self
                .policies
                .first()
                .and_then(|one| one.why)
                .unwrap_or_default(),
        })
    }

    /// One sentence for each thing that policies make of a field, if the file gives it.
    pub(super) fn of(all: &[Self], field: Field) -> Vec<String> {
        let given = all.iter().find(|one| one.field == field.name());
        let sentences = given.into_iter().flat_map(|one| {
            let (name, first) = (one.field.trim_start_matches("task."), &one.first);
            let said = one.sentences().into_iter();
            said.map(move |sentence| format!("{name} (first given by task {first}) {sentence}"))
        });
        sentences.collect()
    }

    fn sentences(&self) -> Vec<String> {
        let grouped = self.grouped().into_iter();
        grouped
            .map(|(says, policies)| format!("under {policies}: {says}"))
            .collect()
    }

    /// What is made of it, and by which policies.
    fn grouped(&self) -> Vec<(String, String)> {
        let mut groups: Vec<(PolicyUse, Vec<&str>)> = Vec::new();
        for one in &self.policies {
            let known = groups
                .iter_mut()
                .find(|(other, _)| (other.word, other.why) == (one.word, one.why));
            match known {
                Some((_, policies)) => policies.push(one.policy),
                None => groups.push((*one, vec![one.policy])),
            }
        }
        let said = groups.into_iter().map(|(one, policies)| {
            let says = match (one.word, one.why) {
                ("ignored", Some(why)) => format!("ignored: {why}"),
                (_, Some(rule)) => rule.to_owned(),
                (_, None) => "read".to_owned(),
            };
            (says, policies.join(", "))
        });
        said.collect()
    }

    /// The field, and where it is given.
    fn heading(&self, output: &Output) -> String {
        heading(&self.field, self.count, &self.first, output)
    }
}

fn heading(field: &str, count: usize, first: &str, output: &Output) -> String {
    let times = match (count, first) {
        (_, "") => String::new(),
        (1, first) => format!(" (in {first})"),
        (times, first) => format!(" ({times} times, first in {first})"),
    };
    format!("- {}{times}", output.painter().paint(Style::Name, field))
}

/// For people: what no policy uses, and what the policies make of the rest.
pub(super) fn of_all(fields: &[FieldUses], output: &Output) -> String {
    let mut text = String::new();
    let unused: Vec<Unused> = fields.iter().filter_map(FieldUses::unused).collect();
    if !unused.is_empty() {
        text.push_str("\nAccepted, but no command of this version uses:\n");
    }
    for one in &unused {
        let heading = heading(&one.field, one.count, &one.first, output);
        let _ = writeln!(text, "{heading}: {}", one.why);
    }
    let used = || fields.iter().filter(|field| field.unused().is_none());
    if used().next().is_some() {
        text.push_str("\nPolicies make different things of (--policy NAME: one of them alone):\n");
    }
    for field in used() {
        let _ = writeln!(text, "{}", field.heading(output));
        for sentence in field.sentences() {
            let _ = writeln!(text, "  - {sentence}");
        }
    }
    text
}

/// For people: what one policy makes of them.
pub(super) fn of_one(fields: &[FieldUses], policy: &str, output: &Output) -> String {
    let mut text = format!("\nUnder {policy}:\n");
    if fields.is_empty() {
        text.push_str("every field that the file gives means what it says\n");
    }
    for field in fields {
        for (says, _) in field.grouped() {
            let _ = writeln!(text, "{}: {says}", field.heading(output));
        }
    }
    text
}
