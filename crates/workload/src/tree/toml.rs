//! TOML into the tree.
//!
//! The words of the language, and which of them may follow which, are known to `toml_parser`. What they make is built here instead of by
//! `toml`, whose tables take a thousand bytes each, however short: a set is read in a twentieth of the memory, one statement after the other.

use super::memory::{self, Room};
use super::statements::{Next, Statements};
use super::tables::{At, Key, Tables, Trouble, in_order};
use super::{DEPTH_MAX, Entry, Node, Value, key_twice, too_deep};
use crate::codes;
use crate::diagnostic::{Sink, quote};
use crate::source::{Source, Span};
use std::borrow::Cow;
use toml_parser::decoder::{Encoding, ScalarKind};
use toml_parser::lexer::Token;
use toml_parser::parser::{EventReceiver, parse_document};
use toml_parser::{ErrorSink, Expected, ParseError, Raw};

/// A place as the parser has it.
type Place = toml_parser::Span;

pub(super) fn parse<'s>(source: &'s Source, sink: &mut Sink) -> Option<Node<'s>> {
    let mut builder = Builder::new(&source.text);
    let most = Room::words(&source.text, size_of::<Token>());
    let mut statements = Statements::new(&source.text, most);
    loop {
        let words = match statements.next() {
            Next::Statement(words) => words,
            Next::TooLong(first) => {
                memory::too_much(span(first.span()), false, sink);
                return None;
            }
            Next::End => break,
        };
        let mut error: Option<ParseError> = None;
        parse_document(words, &mut builder, &mut error);
        if builder.trouble.is_none() && error.is_none() && !builder.open.is_empty() {
            error = Some(ParseError::new("a value that does not end"));
        }
        match (builder.trouble, error) {
            // Then not all was looked at.
            (Some(trouble @ (Trouble::Deep(_) | Trouble::Much(_))), _) | (Some(trouble), None) => {
                say(source, &trouble, sink);
                return None;
            }
            (_, Some(error)) => {
                syntax(source, &error, sink);
                return None;
            }
            (None, None) => {}
        }
    }
    let mut root = Node {
        span: Span::default(),
        value: Value::Table(builder.root),
    };
    in_order(&mut root);
    Some(root)
}

fn syntax(source: &Source, error: &ParseError, sink: &mut Sink) {
    let at = error.unexpected().map_or_else(Span::default, span);
    let excerpt = source.slice(at);
    let found = if excerpt.trim().is_empty() {
        "something else".to_owned()
    } else {
        quote(excerpt)
    };
    let expected = format!("valid TOML ({})", message(error));
    sink.error(
        codes::SYNTAX,
        at,
        "",
        found,
        expected,
        "strings need quotes, tables `[...]`, list elements commas; see https://toml.io",
    );
}

/// What is wrong, and what might stand there.
fn message(error: &ParseError) -> String {
    let mut message = error.description().to_owned();
    let Some(expected) = error.expected() else {
        return message;
    };
    let words = expected.iter().map(|one| match one {
        Expected::Literal("\n") => "newline".to_owned(),
        Expected::Literal("`") => "'`'".to_owned(),
        Expected::Literal(text) if text.chars().all(|c| c.is_ascii_control()) => {
            format!("`{}`", text.escape_debug())
        }
        Expected::Literal(text) => format!("`{text}`"),
        Expected::Description(text) => (*text).to_owned(),
        _ => "something else".to_owned(),
    });
    let words: Vec<String> = words.collect();
    message.push_str(", expected ");
    message.push_str(&if words.is_empty() {
        "nothing".to_owned()
    } else {
        words.join(", ")
    });
    message
}

fn say(source: &Source, trouble: &Trouble, sink: &mut Sink) {
    match *trouble {
        Trouble::Twice(at) => key_twice(at, &quote(source.slice(at)), sink),
        Trouble::Deep(at) => too_deep(at, sink),
        Trouble::Much(at) => memory::too_much(at, false, sink),
        Trouble::Extended(at, kind) => sink.error(
            codes::SYNTAX,
            at,
            "",
            quote(source.slice(at)),
            format!("valid TOML (cannot extend {kind} with a dotted key)"),
            "give all keys of a table in one place",
        ),
    }
}

/// A list or an inline table that is not at its end.
struct Open<'s> {
    begin: Place,
    /// The keys before the value that comes next; of an inline table.
    keys: Vec<Key<'s>>,
    value: Value<'s>,
}

/// Builds the tree of what the parser finds.
struct Builder<'s> {
    text: &'s str,
    root: Vec<Entry<'s>>,
    tables: Tables,
    /// The keys of the last header.
    header: Vec<Key<'s>>,
    /// How deep its table stands; the text's own is at 1.
    header_depth: usize,
    /// The keys of the header or of the value that is being read, outside of lists and inline tables.
    keys: Vec<Key<'s>>,
    /// Where the header that is being read begins.
    begins: Option<Place>,
    open: Vec<Open<'s>>,
    /// After the first nothing is built any more.
    trouble: Option<Trouble>,
}

impl<'s> Builder<'s> {
    fn new(text: &'s str) -> Self {
        Self {
            text,
            root: Vec::new(),
            tables: Tables::new(Room::of_tree(text)),
            header: Vec::new(),
            header_depth: 1,
            keys: Vec::new(),
            begins: None,
            open: Vec::new(),
            trouble: None,
        }
    }

    fn raw(&self, at: Place, encoding: Option<Encoding>) -> Raw<'s> {
        let text = self.text.get(at.start()..at.end()).unwrap_or_default();
        Raw::new_unchecked(text, encoding, at)
    }

    fn note(&mut self, result: Result<(), Trouble>) {
        if let Err(trouble) = result {
            self.trouble.get_or_insert(trouble);
        }
    }

    /// Whether a value that stands here is not too deep.
    fn is_shallow(&mut self, at: Place) -> bool {
        let inside = self.open.iter().map(|open| match open.value {
            Value::Table(_) => open.keys.len(),
            Value::List(_)
            | Value::Null
            | Value::Bool
            | Value::Number(_)
            | Value::Text(_)
            | Value::Date => 1,
        });
        let depth = self.header_depth + self.keys.len() + inside.sum::<usize>();
        if depth > DEPTH_MAX {
            self.trouble = Some(Trouble::Deep(span(at)));
        }
        depth <= DEPTH_MAX
    }

    fn begin(&mut self, begin: Place, value: Value<'s>) -> bool {
        if self.trouble.is_some() || !self.is_shallow(begin) {
            return false;
        }
        let keys = Vec::new();
        self.open.push(Open { begin, keys, value });
        true
    }

    fn end(&mut self, end: Place) {
        if self.trouble.is_some() {
            return;
        }
        if let Some(open) = self.open.pop() {
            let span = span(open.begin.append(end));
            let value = open.value;
            self.value(Node { span, value });
        }
    }

    /// Puts a value where it belongs.
    fn value(&mut self, node: Node<'s>) {
        let result = match self.open.last_mut() {
            None => self.value_of_key(node),
            Some(Open {
                value: Value::List(items),
                ..
            }) => {
                let span = node.span;
                if self.tables.room.push(items, node) {
                    Ok(())
                } else {
                    Err(Trouble::Much(span))
                }
            }
            Some(Open {
                begin,
                keys,
                value: Value::Table(entries),
            }) => {
                let table = At {
                    entries,
                    begin: Some(begin.start()),
                    depth: 1,
                };
                self.tables.insert(table, std::mem::take(keys), node)
            }
            Some(_) => Ok(()),
        };
        self.note(result);
    }

    /// One of the text's own table, or of the last header's.
    fn value_of_key(&mut self, node: Node<'s>) -> Result<(), Trouble> {
        let keys = std::mem::take(&mut self.keys);
        let root = At {
            entries: &mut self.root,
            begin: None,
            depth: 1,
        };
        let table = self.tables.descend(root, &self.header, false)?;
        self.tables.insert(table, keys, node)
    }

    /// Opens the table of a header.
    fn open_table(&mut self, end: Place, is_list: bool) {
        let keys = std::mem::take(&mut self.keys);
        let Some(begin) = self.begins.take() else {
            return;
        };
        if self.trouble.is_some() {
            return;
        }
        let root = At {
            entries: &mut self.root,
            begin: None,
            depth: 1,
        };
        let span = span(begin.append(end));
        match self.tables.open(root, &keys, is_list, span) {
            Ok(depth) => self.header_depth = depth,
            Err(trouble) => self.trouble = Some(trouble),
        }
        self.header = keys;
    }
}

impl EventReceiver for Builder<'_> {
    fn std_table_open(&mut self, at: Place, _: &mut dyn ErrorSink) {
        self.begins = Some(at);
    }
    fn std_table_close(&mut self, at: Place, _: &mut dyn ErrorSink) {
        self.open_table(at, false);
    }
    fn array_table_open(&mut self, at: Place, _: &mut dyn ErrorSink) {
        self.begins = Some(at);
    }
    fn array_table_close(&mut self, at: Place, _: &mut dyn ErrorSink) {
        self.open_table(at, true);
    }
    fn inline_table_open(&mut self, at: Place, _: &mut dyn ErrorSink) -> bool {
        self.begin(at, Value::Table(Vec::new()))
    }
    fn inline_table_close(&mut self, at: Place, _: &mut dyn ErrorSink) {
        self.end(at);
    }
    fn array_open(&mut self, at: Place, _: &mut dyn ErrorSink) -> bool {
        self.begin(at, Value::List(Vec::new()))
    }
    fn array_close(&mut self, at: Place, _: &mut dyn ErrorSink) {
        self.end(at);
    }

    fn simple_key(&mut self, at: Place, encoding: Option<Encoding>, error: &mut dyn ErrorSink) {
        let raw = self.raw(at, encoding);
        let mut text = Cow::Borrowed("");
        raw.decode_key(&mut text, error);
        if self.trouble.is_some() {
            return;
        }
        if !self.tables.room.take_text(&text) {
            self.trouble = Some(Trouble::Much(span(at)));
            return;
        }
        let keys = match self.open.last_mut() {
            Some(open) => &mut open.keys,
            None => &mut self.keys,
        };
        if keys.len() > DEPTH_MAX {
            self.trouble = Some(Trouble::Deep(span(at)));
            return;
        }
        keys.push(Key {
            text,
            span: span(at),
        });
    }

    fn scalar(&mut self, at: Place, encoding: Option<Encoding>, error: &mut dyn ErrorSink) {
        let raw = self.raw(at, encoding);
        let mut text = Cow::Borrowed("");
        let kind = raw.decode_scalar(&mut text, error);
        if self.trouble.is_some() || !self.is_shallow(at) {
            return;
        }
        let value = match kind {
            ScalarKind::String => Value::Text(text),
            ScalarKind::Boolean(_) => Value::Bool,
            ScalarKind::DateTime => Value::Date,
            ScalarKind::Float => Value::Number(text),
            ScalarKind::Integer(radix) => Value::Number(decimal_text(text, radix.value())),
        };
        if let Value::Text(text) | Value::Number(text) = &value
            && !self.tables.room.take_text(text)
        {
            self.trouble = Some(Trouble::Much(span(at)));
            return;
        }
        let span = span(at);
        self.value(Node { span, value });
    }

    fn comment(&mut self, at: Place, error: &mut dyn ErrorSink) {
        self.raw(at, None).decode_comment(error);
    }
    fn newline(&mut self, at: Place, error: &mut dyn ErrorSink) {
        self.raw(at, None).decode_newline(error);
    }
}

/// The digits in base ten; what does not fit is no number, and refused as that later: some digits of base 16 are one of base 10.
fn decimal_text(digits: Cow<'_, str>, radix: u32) -> Cow<'_, str> {
    if radix == 10 {
        return digits;
    }
    match u128::from_str_radix(&digits, radix) {
        Ok(number) => Cow::Owned(number.to_string()),
        Err(_) => Cow::Owned(format!("in base {radix}: {digits}")),
    }
}

fn span(place: Place) -> Span {
    Span::new(place.start(), place.end())
}

#[cfg(test)]
#[path = "toml_tests.rs"]
mod tests;
