//! TOML into the tree.

use super::{DEPTH_MAX, Entry, Node, Value, key_twice, too_deep};
use crate::codes;
use crate::diagnostic::{Sink, quote};
use crate::source::{Source, Span};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Error};
use vestal_core::model::TASKS_MAX;

/// So many headers of tables in lists are read: twice what any list may have. What a parser makes of more takes memory
/// out of all proportion to the file.
const HEADERS_MAX: usize = 2 * TASKS_MAX;

pub(super) fn parse(source: &Source, sink: &mut Sink) -> Option<Node> {
    if let Some((at, _)) = source.text.match_indices("[[").nth(HEADERS_MAX) {
        sink.error(
            codes::TOO_MANY,
            Span::new(at, at + 2),
            "",
            format!("more than {HEADERS_MAX} headers of tables in lists, `[[...]]`"),
            format!("lists of at most {TASKS_MAX} tables"),
            "split the file",
        );
        return None;
    }
    match DeTable::parse(&source.text) {
        Ok(table) => {
            let span = span(&table.span());
            let value = table_value(table.get_ref(), 1, sink)?;
            Some(Node { span, value })
        }
        Err(error) => {
            syntax(source, &error, sink);
            None
        }
    }
}

fn syntax(source: &Source, error: &Error, sink: &mut Sink) {
    let span = error
        .span()
        .map_or_else(Span::default, |range| span(&range));
    let message = error.message();
    if message.contains("recursion limit") || message.contains("recurse") {
        too_deep(span, sink);
    } else if message.contains("duplicate key") {
        key_twice(span, &quote(source.slice(span)), sink);
    } else {
        let excerpt = source.slice(span);
        let found = if excerpt.trim().is_empty() {
            "something else".to_owned()
        } else {
            quote(excerpt)
        };
        let expected = message.lines().collect::<Vec<_>>().join("; ");
        sink.error(
            codes::SYNTAX,
            span,
            "",
            found,
            format!("valid TOML ({expected})"),
            "strings need quotes, tables `[...]`, list elements commas; see https://toml.io",
        );
    }
}

fn table_value(table: &DeTable<'_>, depth: usize, sink: &mut Sink) -> Option<Value> {
    let mut entries = Vec::with_capacity(table.len());
    for (key, node) in table {
        entries.push(Entry {
            key: key.get_ref().to_string(),
            key_span: span(&key.span()),
            node: convert(node, depth + 1, sink)?,
        });
    }
    // The parser sorts by name; people read from top to bottom.
    entries.sort_by_key(|entry| entry.key_span.start);
    Some(Value::Table(entries))
}

fn convert(node: &Spanned<DeValue<'_>>, depth: usize, sink: &mut Sink) -> Option<Node> {
    let span = span(&node.span());
    if depth > DEPTH_MAX {
        too_deep(span, sink);
        return None;
    }
    let value = match node.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(number) => Value::Number(decimal_text(number.as_str(), number.radix())),
        DeValue::Float(number) => Value::Number(number.as_str().to_owned()),
        DeValue::Boolean(_) => Value::Bool,
        DeValue::Datetime(_) => Value::Date,
        DeValue::Array(items) => Value::List(
            items
                .iter()
                .map(|item| convert(item, depth + 1, sink))
                .collect::<Option<_>>()?,
        ),
        DeValue::Table(table) => table_value(table, depth, sink)?,
    };
    Some(Node { span, value })
}

/// The digits in base ten; what does not fit stays as it is and is refused as a number later.
fn decimal_text(digits: &str, radix: u32) -> String {
    if radix == 10 {
        return digits.to_owned();
    }
    u128::from_str_radix(digits, radix)
        .map_or_else(|_| digits.to_owned(), |number| number.to_string())
}

fn span(range: &Range<usize>) -> Span {
    Span::new(range.start, range.end)
}
