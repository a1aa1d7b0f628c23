//! JSON into the tree.
//!
//! serde_json knows no places, but a borrowed [`RawValue`] is a slice of the input: its address
//! tells where it stands. Each level is split into the raw texts of its parts, and those again.

use super::memory::{self, Room};
use super::tables::Places;
use super::{DEPTH_MAX, Entry, Node, Value, key_twice, too_deep};
use crate::codes;
use crate::diagnostic::{Sink, quote};
use crate::source::{Source, Span};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

pub(super) fn parse<'s>(source: &'s Source, sink: &mut Sink) -> Option<Node<'s>> {
    let text = source.text.trim_start_matches('\u{feff}');
    match serde_json::from_str::<&RawValue>(text) {
        Ok(raw) => {
            let room = Room::of_tree(&source.text);
            Splitter { source, sink, room }.node(raw.get(), 1)
        }
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
    room: Room,
}

/// Text as it stands in the source where it has no escapes.
struct Shown<'s>(Cow<'s, str>);

impl<'de> Deserialize<'de> for Shown<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfString;
        impl<'de> Visitor<'de> for OfString {
            type Value = Shown<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Shown(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Shown(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(OfString)
    }
}

/// Makes nodes of the parts of a list or of a table, one after the other, so that these are never all there as raw texts.
struct Parts<'p, 's, 'k> {
    splitter: &'p mut Splitter<'s, 'k>,
    depth: usize,
}

impl<'s> Visitor<'s> for Parts<'_, 's, '_> {
    /// Nothing if something was said to the sink.
    type Value = Option<Value<'s>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list or a table")
    }

    fn visit_seq<A: SeqAccess<'s>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        let mut is_right = true;
        while let Some(raw) = list.next_element::<&'s RawValue>()? {
            // What is left is read over.
            is_right = is_right && self.splitter.item(&mut items, raw, self.depth).is_some();
        }
        Ok(is_right.then_some(Value::List(items)))
    }

    fn visit_map<A: MapAccess<'s>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut table = Table::default();
        let mut is_right = true;
        while let Some((key, value)) = map.next_entry::<&'s RawValue, &'s RawValue>()? {
            let mut entry = || self.splitter.entry(&mut table, key, value, self.depth);
            is_right = is_right && entry().is_some();
        }
        Ok(is_right.then_some(Value::Table(table.entries)))
    }
}

/// A table that grows.
#[derive(Default)]
struct Table<'s> {
    entries: Vec<Entry<'s>>,
    places: Places,
}

impl<'s> Splitter<'s, '_> {
    /// Where a part of the source's text stands in it.
    fn span(&self, part: &str) -> Span {
        let start = (part.as_ptr() as usize).saturating_sub(self.source.text.as_ptr() as usize);
        Span::new(start, start + part.len())
    }

    /// Says that there is no room, if there is none.
    fn fits(&mut self, is_room: bool, span: Span) -> Option<()> {
        if !is_room {
            memory::too_much(span, true, self.sink);
        }
        is_room.then_some(())
    }

    fn node(&mut self, text: &'s str, depth: usize) -> Option<Node<'s>> {
        let span = self.span(text);
        if depth > DEPTH_MAX {
            too_deep(Span::new(span.start(), span.start() + 1), self.sink);
            return None;
        }
        let value = match text.bytes().next() {
            Some(b'{' | b'[') => self.parts(text, depth)?,
            Some(b'"') => Value::Text(self.text(text)?),
            Some(b't' | b'f') => Value::Bool,
            Some(b'n') => Value::Null,
            Some(_) | None => Value::Number(Cow::Borrowed(text)),
        };
        Some(Node { span, value })
    }

    fn parts(&mut self, text: &'s str, depth: usize) -> Option<Value<'s>> {
        let splitter = &mut *self;
        let parts = Parts { splitter, depth };
        match (&mut serde_json::Deserializer::from_str(text)).deserialize_any(parts) {
            Ok(value) => value,
            Err(error) => self.wrong(text, &error),
        }
    }

    fn item(&mut self, items: &mut Vec<Node<'s>>, raw: &'s RawValue, depth: usize) -> Option<()> {
        let node = self.node(raw.get(), depth + 1)?;
        let span = node.span;
        let is_room = self.room.push(items, node);
        self.fits(is_room, span)
    }

    fn entry(
        &mut self,
        table: &mut Table<'s>,
        key: &'s RawValue,
        value: &'s RawValue,
        depth: usize,
    ) -> Option<()> {
        let key_span = self.span(key.get());
        let key = self.text(key.get())?;
        if table.places.find(&table.entries, &key).is_some() {
            key_twice(key_span, &quote(&key), self.sink);
            return Some(());
        }
        let node = self.node(value.get(), depth + 1)?;
        let beside = Places::bytes(table.entries.len());
        let entry = Entry {
            key,
            key_span,
            node,
        };
        let is_room = self.room.take(beside) && self.room.push(&mut table.entries, entry);
        self.fits(is_room, key_span)
    }

    fn text(&mut self, text: &'s str) -> Option<Cow<'s, str>> {
        match serde_json::from_str(text) {
            Ok(Shown(shown)) => {
                let is_room = self.room.take_text(&shown);
                self.fits(is_room, self.span(text))?;
                Some(shown)
            }
            Err(error) => self.wrong(text, &error),
        }
    }

    /// The whole was valid, so only what serde_json checks late can fail in a part: escapes in strings that do not give Unicode.
    fn wrong<T>(&mut self, text: &str, error: &serde_json::Error) -> Option<T> {
        self.sink.error(
            codes::SYNTAX,
            self.span(text),
            "",
            quote(text),
            valid_json(error),
            "write the character itself instead of an escape",
        );
        None
    }
}
