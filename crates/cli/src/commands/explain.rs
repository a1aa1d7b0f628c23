//! `vestal explain POLICY|TEST|CODE`: pages for people, from `docs/explain` and from the table of
//! diagnostic codes.

use crate::args::ExplainArgs;
use crate::failure::Failure;
use crate::failure::{Exit, Outcome};
use crate::markdown;
use crate::names;
use crate::output::Output;
use crate::registry::registry;
use crate::table::Grid;
use vestal_result::Format;
use vestal_result::files::{Explanation, Topic, Topics};
use vestal_workload::codes;
use vestal_workload::generate::Recipe;

/// All pages by name, embedded when the program is built.
const PAGES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));

pub(crate) fn explain(args: &ExplainArgs, output: &Output) -> Outcome {
    let Some(topic) = &args.topic else {
        return list(output);
    };
    if let Some(text) = vestal_workload::explain(topic) {
        return print(topic, "code", &text, output);
    }
    let wanted = topic.to_lowercase();
    if let Some(text) = registry().page(&wanted) {
        return print(&wanted, "page", &text, output);
    }
    if let Some(text) = recipe_page(&wanted) {
        return print(&wanted, "page", &text, output);
    }
    // A variant is explained on the page of its test.
    let page = wanted.split(':').next().unwrap_or_default();
    match PAGES
        .iter()
        .find(|(name, _)| *name == page && is_known(&wanted))
    {
        Some((name, text)) => print(name, "page", text, output),
        None => Err(unknown(topic)),
    }
}

fn print(topic: &str, kind: &'static str, text: &str, output: &Output) -> Outcome {
    output.json(&Explanation {
        format: Format::V1,
        topic: topic.to_owned(),
        kind: kind.to_owned(),
        text: text.to_owned(),
    })?;
    if output.is_terminal() {
        output.human(&markdown::render(text, output.painter(), output.width()));
    } else {
        output.human(text);
    }
    Ok(Exit::Holds)
}

/// Whether the name, with its variant, is a policy or a test of this version.
fn is_known(name: &str) -> bool {
    entries().iter().any(|entry| entry.topic == name)
}

fn unknown(topic: &str) -> Failure {
    let mut known: Vec<String> = Vec::new();
    for entry in entries() {
        // Some names are those of a policy and of a test.
        if !known.contains(&entry.topic) {
            known.push(entry.topic);
        }
    }
    let what = format!("explain `{topic}`");
    names::unknown(&what, "policy, test, recipe, subject or code", topic, known)
        .with_help("`vestal explain` without a name lists all of them, diagnostic codes included")
}

fn entry(topic: String, kind: &str, summary: &str) -> Topic {
    Topic {
        topic,
        kind: kind.to_owned(),
        summary: summary.to_owned(),
    }
}

fn entries() -> Vec<Topic> {
    let policies = registry().policies().map(|policy| policy.about());
    let policies = policies.map(|about| entry(about.name.to_owned(), "policy", about.summary));
    let tests = registry().tests().iter();
    let tests = tests.map(|test| entry(test.to_string(), "test", test.summary));
    let subjects = SUBJECTS.iter();
    let subjects = subjects.map(|(name, summary)| entry((*name).to_owned(), "subject", summary));
    let recipes = Recipe::NAMES.into_iter().filter_map(Recipe::named);
    let recipes = recipes.map(|recipe| entry(recipe.name().to_owned(), RECIPE, recipe.summary()));
    let all = policies.chain(tests).chain(recipes).chain(subjects);
    all.collect()
}

/// The kind of entries about recipes.
const RECIPE: &str = "recipe";

/// What there is to know of a recipe: all of it is said where it is drawn.
fn recipe_page(name: &str) -> Option<String> {
    let recipe = Recipe::named(name)?;
    let mut text = format!(
        "# {name}: random task sets\n\n{}.\n\n| parameter | default | meaning |\n|---|---|---|\n",
        recipe.summary()
    );
    for parameter in recipe.parameters() {
        let (name, default, meaning) = (parameter.name, parameter.default, parameter.meaning);
        text.push_str(&format!("| `{name}` | `{default}` | {meaning} |\n"));
    }
    text.push_str(&format!(
        "\n`vestal generate --recipe {name} -o DIR` writes such sets as files, and `--set KEY=VALUE` gives a parameter another value.\n\
         An experiment has them with `recipe = \"{name}\"`, and parameters under `[fixed]` and `[vary]`: see `docs/experiments.md`.\n"
    ));
    Some(text)
}

/// What has a page and is neither a policy nor a test.
const SUBJECTS: [(&str, &str); 3] = [
    (
        "advise",
        "which policies and mechanisms keep a set schedulable on a machine",
    ),
    (
        "analyze",
        "what all tests say of a set, and which proof is the strongest",
    ),
    (
        "overheads",
        "what carrying a policy out costs, and how tests take it into account",
    ),
];

fn list(output: &Output) -> Outcome {
    let mut topics = entries();
    topics.extend(codes::all().map(|info| entry(info.code.to_string(), "code", info.title)));
    let grid = Grid::of(&topics, output)
        .text("topic", |entry| &entry.topic)
        .text("kind", |entry| &entry.kind)
        .text("what", |entry| &entry.summary);
    output.human(&grid.render());
    output.json(&Topics {
        format: Format::V1,
        topics,
    })?;
    Ok(Exit::Holds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_policy_and_every_test_has_a_page() {
        for entry in entries().into_iter().filter(|entry| entry.kind != RECIPE) {
            let name = entry.topic.split(':').next().unwrap();
            assert!(
                PAGES.iter().any(|(page, _)| *page == name),
                "docs/explain/{name}.md is missing"
            );
        }
    }

    #[test]
    fn every_recipe_has_a_page_with_its_parameters() {
        let recipes = entries().into_iter().filter(|entry| entry.kind == RECIPE);
        let names: Vec<String> = recipes.map(|entry| entry.topic).collect();
        assert_eq!(names, Recipe::NAMES);
        for name in &names {
            let text = recipe_page(name).unwrap();
            assert!(text.starts_with(&format!("# {name}: ")), "{text}");
            for parameter in Recipe::named(name).unwrap().parameters() {
                assert!(
                    text.contains(&format!(
                        "| `{}` | `{}` |",
                        parameter.name, parameter.default
                    )),
                    "{text}"
                );
            }
        }
        assert!(recipe_page("standart").is_none());
    }

    #[test]
    fn no_page_explains_what_does_not_exist() {
        for (page, text) in PAGES {
            assert!(
                is_known(page),
                "docs/explain/{page}.md explains no policy or test"
            );
            assert!(
                text.starts_with(&format!("# {page}: ")),
                "{page} starts with its name"
            );
        }
    }

    #[test]
    fn every_code_explains_itself() {
        for info in codes::all() {
            assert!(
                vestal_workload::explain(&info.code.to_string()).is_some(),
                "{}",
                info.code
            );
        }
    }
}
