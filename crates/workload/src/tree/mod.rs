//! A file as a tree of values that know where they stand: the same for TOML and JSON.
//!
//! Numbers keep their text, so that decimal fractions are read exactly. A tree takes nine times the memory of its text at most: keys and
//! values are cut out of that and not copied, and what would take more is refused ([`memory`]).

mod json;
mod memory;
mod statements;
mod tables;
mod toml;

pub use statements::has_more_words;

use crate::codes;
use crate::diagnostic::Sink;
use crate::source::{Source, Span};
use std::borrow::Cow;

/// How deeply tables and arrays may be nested. The format itself needs four.
pub(crate) const DEPTH_MAX: usize = 32;

/// A value and where it stands.
#[derive(Clone, Debug)]
pub struct Node<'s> {
    /// Where.
    pub span: Span,
    /// The value.
    pub value: Value<'s>,
}

/// A value of either language.
#[derive(Clone, Debug)]
pub enum Value<'s> {
    /// JSON's null.
    Null,
    /// A truth value.
    Bool,
    /// A number as it was written (hexadecimal ones as decimals).
    Number(Cow<'s, str>),
    /// A string.
    Text(Cow<'s, str>),
    /// A list.
    List(Vec<Node<'s>>),
    /// A table, in the order of the file.
    Table(Vec<Entry<'s>>),
    /// A TOML date or time.
    Date,
}

/// An entry of a table.
#[derive(Clone, Debug)]
pub struct Entry<'s> {
    /// Its key.
    pub key: Cow<'s, str>,
    /// Where that stands.
    pub key_span: Span,
    /// Its value.
    pub node: Node<'s>,
}

impl Node<'_> {
    /// The value of a key, if this is a table that has it.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        let Value::Table(entries) = &self.value else {
            return None;
        };
        let entry = entries.iter().find(|entry| entry.key == key)?;
        Some(&entry.node)
    }
    /// The text, if this is one.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        if let Value::Text(text) = &self.value {
            Some(text)
        } else {
            None
        }
    }
    /// What kind of value this is, for "found ...".
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match &self.value {
            Value::Null => "null",
            Value::Bool => "a truth value",
            Value::Number(_) => "a number",
            Value::Text(_) => "a string",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
            Value::Date => "a date",
        }
    }
}

/// Parses `source` as JSON or TOML; `None` if a diagnostic was given instead.
pub fn parse<'s>(source: &'s Source, sink: &mut Sink) -> Option<Node<'s>> {
    let visible = source.text.trim_start_matches('\u{feff}').trim();
    if visible.is_empty() {
        sink.error(
            codes::EMPTY,
            Span::default(),
            "",
            "nothing",
            "a file that starts with its `format`",
            "start from examples/starter.toml",
        );
        return None;
    }
    if source.is_json() {
        json::parse(source, sink)
    } else {
        toml::parse(source, sink)
    }
}

/// The elements of a value that is a list.
pub(crate) fn items<'n, 's>(node: Option<&'n Node<'s>>) -> &'n [Node<'s>] {
    if let Some(Value::List(items)) = node.map(|node| &node.value) {
        items
    } else {
        &[]
    }
}

/// `key` is quoted.
fn key_twice(span: Span, key: &str, sink: &mut Sink) {
    sink.error(
        codes::DUPLICATE_KEY,
        span,
        "",
        format!("{key} a second time"),
        "each key once",
        "remove one of the two",
    );
}

fn too_deep(span: Span, sink: &mut Sink) {
    sink.error(
        codes::TOO_DEEP,
        span,
        "",
        format!("more than {DEPTH_MAX} levels of nesting"),
        "at most four levels, which is all the format has",
        "remove the nesting",
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(toml: &str, json: &str) {
        for (name, text) in [("a.toml", toml), ("a.json", json)] {
            let source = Source::new(name, text);
            let mut sink = Sink::new(source.clone());
            let node = parse(&source, &mut sink).unwrap_or_else(|| panic!("{:?}", sink.finish()));
            let Value::Table(entries) = &node.value else {
                panic!("no table")
            };
            let number = entries.iter().find(|entry| entry.key == "x").unwrap();
            assert!(
                matches!(&number.node.value, Value::Number(text) if text == "1.450"),
                "{node:?}"
            );
            assert_eq!(source.slice(number.node.span), "1.450");
            assert_eq!(source.slice(number.key_span).trim_matches('"'), "x");
            let list = entries.iter().find(|entry| entry.key == "list").unwrap();
            let Value::List(items) = &list.node.value else {
                panic!("no list")
            };
            assert!(matches!(&items[1].value, Value::Text(text) if text == "b\n"));
        }
    }

    #[test]
    fn toml_and_json_give_the_same_tree_with_the_numbers_own_text() {
        both(
            "list = [true, \"b\\n\"]\nx = 1.450",
            "{ \"list\": [true, \"b\\n\"],\n  \"x\": 1.450 }",
        );
    }

    #[test]
    fn nesting_is_bounded_in_both_languages() {
        for (name, text) in [
            (
                "a.toml",
                format!("x = {}{}", "[".repeat(5000), "]".repeat(5000)),
            ),
            (
                "a.toml",
                format!("x = {}{}", "[".repeat(40), "]".repeat(40)),
            ),
            ("a.toml", format!("{}a = 1", "a.".repeat(60))),
            ("a.toml", format!("{}a = 1", "a.".repeat(60_000))),
            (
                "a.json",
                format!("{{\"x\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000)),
            ),
            (
                "a.json",
                format!("{}1{}", "{\"x\":".repeat(100_000), "}".repeat(100_000)),
            ),
        ] {
            let source = Source::new(name, &text);
            let mut sink = Sink::new(source.clone());
            assert!(parse(&source, &mut sink).is_none());
            assert_eq!(sink.finish()[0].code, codes::TOO_DEEP, "{}", &text[..20]);
        }
    }

    #[test]
    fn broken_text_has_a_place() {
        for (name, text, line) in [
            ("a.toml", "a = 1\nb = \n", 2),
            ("a.json", "{\n\"a\": 1,\n\"b\" 2}", 3),
            ("a.json", "{\"a\": 1} x", 1),
            ("a.json", "{\"a\": ", 1),
        ] {
            let source = Source::new(name, text);
            let mut sink = Sink::new(source.clone());
            assert!(parse(&source, &mut sink).is_none());
            let list = sink.finish();
            assert_eq!(
                (list[0].code, list[0].line),
                (codes::SYNTAX, line),
                "{list:?}"
            );
        }
    }

    #[test]
    fn a_key_given_twice_is_named() {
        for (name, text) in [
            ("a.toml", "a = 1\na = 2\n"),
            ("a.json", "{\"a\": 1,\n\"a\": 2}"),
        ] {
            let source = Source::new(name, text);
            let mut sink = Sink::new(source.clone());
            let _ = parse(&source, &mut sink);
            let list = sink.finish();
            assert_eq!(
                (list[0].code, list[0].line),
                (codes::DUPLICATE_KEY, 2),
                "{list:?}"
            );
        }
    }
}
