//! The types of all documents, listed once, and their schema.

use crate::{advice, analysis, bench, cameras, check, doctor, failure, files, replay, run, shares};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

macro_rules! documents {
    ($($module:ident::$name:ident),* $(,)?) => {
        fn references(generator: &mut SchemaGenerator) -> Vec<Value> {
            vec![$(generator.subschema_for::<$module::$name>().to_value()),*]
        }

        /// As what a text can be read, and how it is written again: the name of each such type with its text. Of what
        /// a command prints one gives the same bytes, or its type lacks something.
        #[must_use]
        pub fn read_as(text: &str) -> Vec<(&'static str, String)> {
            let all = [$((stringify!($name), again::<$module::$name>(text))),*];
            all.into_iter().filter_map(|(name, text)| Some((name, text?))).collect()
        }
    };
}

documents! {
    failure::Failure,
    check::Check,
    advice::Advice,
    analysis::Analyses,
    run::Run,
    run::Demo,
    replay::Replay,
    replay::Comparison,
    doctor::Examination,
    bench::Primitives,
    bench::Barriers,
    bench::Sleeps,
    bench::ZeroSlackTrace,
    bench::Overhead,
    shares::Shares,
    cameras::Cameras,
    files::Generated,
    files::Swept,
    files::Plotted,
    files::Regenerated,
    files::Page,
    files::Reproduced,
    files::Figures,
    files::Explanation,
    files::Topics,
}

/// The schema of what a command prints: any of the documents, each with the keys that are written.
#[must_use]
pub fn documents() -> Value {
    let mut generator = generator();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A result of Vestal",
        "anyOf": references(&mut generator),
        "$defs": generator.take_definitions(true),
    })
}

/// The schema of what `doctor` prints.
#[must_use]
pub fn examination() -> Schema {
    generator().into_root_schema_for::<doctor::Examination>()
}

/// What is always written is required.
fn generator() -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12();
    settings.for_serialize().into_generator()
}

fn again<T: JsonSchema + Serialize + DeserializeOwned>(text: &str) -> Option<String> {
    let document: T = serde_json::from_str(text).ok()?;
    serde_json::to_string_pretty(&document).ok()
}
