//! JSON into the tree.
//!
//! serde_json knows no places, but a borrowed [`RawValue`] is a slice of the input: its address
//! tells where it stands. Each level is split into the raw texts of its parts, and those again.

use super::{DEPTH_MAX, Entry, Node, Value, key_twice, too_deep};
use crate::codes;
use crate::diagnostic::{Sink, quote};
use crate::source::{Source, Span};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

pub(super) fn parse(source: &Source, sink: &mut Sink) -> Option<Node> {
    let text = source.text.trim_start_matches('\u{feff}');
    match serde_json::from_str::<&RawValue>(text) {
        Ok(raw) => Splitter { source, sink }.node(raw.get(), 1),
        Err(error) => {
            syntax(source, &error, sink);
            None
        }
    }
}

fn syntax(source: &Source, error: &serde_json::Error, sink: &mut Sink) {
    // serde_json counts columns in bytes from 1, and 0 for the end of the line before.
    let line_start: usize = source
        .text
        .split_inclusive('\n')
        .take(error.line().saturating_sub(1))
        .map(str::len)
        .sum();
    let at = line_start + error.column().saturating_sub(1);
    let rest = source.text.get(at..).unwrap_or_default();
    let found = rest.chars().next().map_or_else(
        || "the end of the text".to_owned(),
        |c| quote(&c.to_string()),
    );
    sink.error(
        codes::SYNTAX,
        Span::new(at, at),
        "",
        found,
        valid_json(error),
        "JSON needs quotes around keys, commas between elements, and no comments",
    );
}

/// What was expected, without the place.
fn valid_json(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let expected = message.split(" at line ").next().unwrap_or_default();
    format!("valid JSON ({expected})")
}

struct Splitter<'s, 'k> {
    source: &'s Source,
    sink: &'k mut Sink,
}

/// An object as the raw texts of its keys and values, in order, duplicates included.
struct Parts<'a>(Vec<(&'a RawValue, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Parts<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PartsVisitor;
        impl<'de> Visitor<'de> for PartsVisitor {
            type Value = Parts<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut parts = Vec::new();
                while let Some(part) = map.next_entry()? {
                    parts.push(part);
                }
                Ok(Parts(parts))
            }
        }
        deserializer.deserialize_map(PartsVisitor)
    }
}

impl Splitter<'_, '_> {
    /// Where a part of the source's text stands in it.
    fn span(&self, part: &str) -> Span {
        let start = (part.as_ptr() as usize).saturating_sub(self.source.text.as_ptr() as usize);
        Span::new(start, start + part.len())
    }

    fn node(&mut self, text: &str, depth: usize) -> Option<Node> {
        let span = self.span(text);
        if depth > DEPTH_MAX {
            too_deep(Span::new(span.start, span.start + 1), self.sink);
            return None;
        }
        let value = match text.bytes().next() {
            Some(b'{') => self.table(text, depth)?,
            Some(b'[') => {
                let items: Vec<&RawValue> = self.reparse(text)?;
                let items = items
                    .into_iter()
                    .map(|item| self.node(item.get(), depth + 1));
                Value::List(items.collect::<Option<_>>()?)
            }
            Some(b'"') => Value::Text(self.reparse(text)?),
            Some(b't') => Value::Bool,
            Some(b'f') => Value::Bool,
            Some(b'n') => Value::Null,
            Some(_) | None => Value::Number(text.to_owned()),
        };
        Some(Node { span, value })
    }

    fn table(&mut self, text: &str, depth: usize) -> Option<Value> {
        let Parts(parts) = self.reparse(text)?;
        let mut entries: Vec<Entry> = Vec::with_capacity(parts.len());
        let mut known = std::collections::BTreeSet::new();
        for (key, value) in parts {
            let key_span = self.span(key.get());
            let key: String = self.reparse(key.get())?;
            if !known.insert(key.clone()) {
                key_twice(key_span, &quote(&key), self.sink);
                continue;
            }
            let node = self.node(value.get(), depth + 1)?;
            entries.push(Entry {
                key,
                key_span,
                node,
            });
        }
        Some(Value::Table(entries))
    }

    /// Parses a part again, one level deeper. The whole was valid, so only what serde_json checks
    /// late can fail here: escapes in strings that do not give Unicode.
    fn reparse<'t, T: Deserialize<'t>>(&mut self, text: &'t str) -> Option<T> {
        match serde_json::from_str(text) {
            Ok(value) => Some(value),
            Err(error) => {
                self.sink.error(
                    codes::SYNTAX,
                    self.span(text),
                    "",
                    quote(text),
                    valid_json(&error),
                    "write the character itself instead of an escape",
                );
                None
            }
        }
    }
}
