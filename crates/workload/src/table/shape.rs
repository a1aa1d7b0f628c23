//! The JSON Schemas of values, of which those of tables are made.

use super::kinds::Word;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::marker::PhantomData;
use vestal_core::model::LEVELS_MAX;

#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only the shape of this type is used")]
pub(crate) enum OneOrPerLevel<T> {
    One(T),
    PerLevel(BTreeMap<String, T>),
}

/// A scalar with a schema of its own.
macro_rules! scalar {
    ($name:ident, $schema:tt) => {
        pub(crate) struct $name;
        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    };
}

scalar!(Time, {
    "description": "A number in `unit`s, or a string with its own unit such as \"1.45ms\". Exact: a whole number of nanoseconds, at most 2^62.",
    "anyOf": [
        { "type": "number", "minimum": 0 },
        { "type": "string", "pattern": "^\\s*\\+?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][-+]?[0-9]+)?\\s*(ns|us|µs|μs|ms|s)\\s*$" }
    ]
});
scalar!(Name, {
    "description": "1 to 128 visible characters without leading or trailing blanks.",
    "type": "string", "minLength": 1, "maxLength": 128
});
scalar!(Share, {
    "description": "A decimal from 0 to 1.",
    "type": "number", "minimum": 0, "maximum": 1
});
scalar!(WorkText, {
    "type": "string",
    "pattern": "^(spin|array:[0-9]+([KMG]i)?B|alloc:[0-9]+x[0-9]+([KMG]i)?B@[0-9.eE+-]+)$"
});

/// One of the words of a type.
pub(crate) struct WordsOf<T>(PhantomData<T>);

impl<T: Word> JsonSchema for WordsOf<T> {
    fn schema_name() -> Cow<'static, str> {
        T::SCHEMA.into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words: Vec<&str> = T::WORDS.iter().map(|(word, _)| *word).collect();
        json_schema!({ "type": "string", "enum": words })
    }
}

/// A whole number within bounds, of the type `T`, whose own bounds need not be said.
pub(crate) struct Whole<T, const LEAST: u64, const MOST: u64>(PhantomData<T>);

impl<T: JsonSchema, const LEAST: u64, const MOST: u64> JsonSchema for Whole<T, LEAST, MOST> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Whole".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = T::json_schema(generator);
        schema.insert("minimum".to_owned(), LEAST.into());
        if MOST < u64::from(u32::MAX) {
            schema.insert("maximum".to_owned(), MOST.into());
        }
        schema
    }
}

/// A list within bounds.
pub(crate) struct ListOf<T, const LEAST: usize, const MOST: usize>(PhantomData<T>);

impl<T: JsonSchema, const LEAST: usize, const MOST: usize> JsonSchema for ListOf<T, LEAST, MOST> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "ListOf".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = Vec::<T>::json_schema(generator);
        if LEAST > 0 {
            schema.insert("minItems".to_owned(), LEAST.into());
            schema.insert("maxItems".to_owned(), MOST.into());
        }
        schema
    }
}

pub(crate) type Levels = ListOf<Name, 1, LEVELS_MAX>;
