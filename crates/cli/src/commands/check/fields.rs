//! What policies make of the fields that a file gives, in their own words.

use crate::output::{Output, Style};
use std::borrow::Cow;
use std::fmt::Write as _;
use vestal_policy::{Field, Policy, Use};
use vestal_result::check::{FieldUses, PolicyUse, Unused};
use vestal_workload::TaskSet;

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
                policy: policy.about().name.to_owned(),
                word: str::to_owned(word),
                why: why.map(str::to_owned),
            }
        });
        Some(FieldUses {
            field: name.into_owned(),
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

/// If none of the policies makes any use of a field: so, with the reason of the first one.
pub(super) fn unused(uses: &FieldUses) -> Option<Unused> {
    let all = uses.policies.iter().all(|one| one.word == "ignored");
    let first = uses.policies.first();
    all.then(|| Unused {
        field: uses.field.clone(),
        count: uses.count,
        first: uses.first.clone(),
        why: first.and_then(|one| one.why.clone()).unwrap_or_default(),
    })
}

/// One sentence for each thing that policies make of a field, if the file gives it.
pub(super) fn sentences_of(all: &[FieldUses], field: Field) -> Vec<String> {
    let given = all.iter().find(|one| one.field == field.name());
    let sentences = given.into_iter().flat_map(|one| {
        let (name, first) = (one.field.trim_start_matches("task."), &one.first);
        let said = sentences(one).into_iter();
        said.map(move |sentence| format!("{name} (first given by task {first}) {sentence}"))
    });
    sentences.collect()
}

fn sentences(uses: &FieldUses) -> Vec<String> {
    let grouped = grouped(uses).into_iter();
    grouped
        .map(|(says, policies)| format!("under {policies}: {says}"))
        .collect()
}

/// What is made of it, and by which policies.
fn grouped(uses: &FieldUses) -> Vec<(String, String)> {
    let mut groups: Vec<(&PolicyUse, Vec<&str>)> = Vec::new();
    for one in &uses.policies {
        let known = groups
            .iter_mut()
            .find(|(other, _)| (&other.word, &other.why) == (&one.word, &one.why));
        match known {
            Some((_, policies)) => policies.push(&one.policy),
            None => groups.push((one, vec![&one.policy])),
        }
    }
    let said = groups.into_iter().map(|(one, policies)| {
        let says = match (one.word.as_str(), &one.why) {
            ("ignored", Some(why)) => format!("ignored: {why}"),
            (_, Some(rule)) => rule.to_owned(),
            (_, None) => "read".to_owned(),
        };
        (says, policies.join(", "))
    });
    said.collect()
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
    let without: Vec<Unused> = fields.iter().filter_map(unused).collect();
    if !without.is_empty() {
        text.push_str("\nAccepted, but no command of this version uses:\n");
    }
    for one in &without {
        let heading = heading(&one.field, one.count, &one.first, output);
        let _ = writeln!(text, "{heading}: {}", one.why);
    }
    let used = || fields.iter().filter(|field| unused(field).is_none());
    if used().next().is_some() {
        text.push_str("\nPolicies make different things of (--policy NAME: one of them alone):\n");
    }
    for field in used() {
        let _ = writeln!(
            text,
            "{}",
            heading(&field.field, field.count, &field.first, output)
        );
        for sentence in sentences(field) {
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
        for (says, _) in grouped(field) {
            let _ = writeln!(
                text,
                "{}: {says}",
                heading(&field.field, field.count, &field.first, output)
            );
        }
    }
    text
}
