//! Reading typed values out of the tree, one diagnostic per thing that is wrong.

use crate::codes;
use crate::diagnostic::{Sink, did_you_mean, one_of, quote};
use crate::number::{Decimal, Ratio};
use crate::quantity::{TimeError, Unit, time_from_number, time_from_text, time_text};
use crate::source::Span;
use crate::tree::{Entry, Node, Value};
use std::collections::BTreeMap;
use vestal_core::Level;
use vestal_core::time::HORIZON_NANOS;

/// The longest name of anything, in characters.
pub(crate) const NAME_CHARS_MAX: usize = 128;

/// What a value inside a file may refer to.
pub struct Reader<'a> {
    /// Where what is wrong goes.
    pub sink: &'a mut Sink,
    /// The unit of numbers without one.
    pub unit: Option<Unit>,
    /// The names of the levels, lowest first.
    pub levels: Vec<String>,
}

/// A table being read: which keys it may have, and where it stands in the file.
pub struct Fields<'n> {
    entries: &'n [Entry],
    /// The table as messages name it, such as `task[2]`.
    pub path: String,
    /// Where to point when something is missing.
    pub span: Span,
}

impl<'n> Fields<'n> {
    /// Starts on a table; every key that is not in `known` is an error right away.
    pub fn open(
        node: &'n Node,
        path: String,
        known: &[&str],
        reader: &mut Reader<'_>,
    ) -> Option<Self> {
        let Value::Table(entries) = &node.value else {
            reader.wrong_type(
                node,
                &path,
                "a table",
                "write `{ key = value }` or a `[table]`",
            );
            return None;
        };
        for entry in entries {
            if reader.sink.is_full() {
                break;
            }
            if !known.contains(&entry.key.as_str()) {
                let field = join(&path, &entry.key);
                let otherwise = "remove it; unknown keys are not ignored";
                let help = did_you_mean(&entry.key, known.iter().copied(), otherwise);
                let expected = format!("one of {}", one_of(known.iter().copied()));
                let found = quote(&entry.key);
                reader.sink.error(
                    codes::UNKNOWN_KEY,
                    entry.key_span,
                    &field,
                    found,
                    expected,
                    help,
                );
            }
        }
        Some(Self {
            entries,
            path,
            span: node.span,
        })
    }

    /// The entry of a key.
    #[must_use]
    pub fn entry(&self, key: &str) -> Option<&'n Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&'n Node> {
        self.entry(key).map(|entry| &entry.node)
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.entry(key).is_some()
    }

    pub(crate) fn field(&self, key: &str) -> String {
        join(&self.path, key)
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = (&'n str, Span)> {
        self.entries
            .iter()
            .map(|entry| (entry.key.as_str(), entry.key_span))
    }

    /// The value of a key that must be there.
    pub(crate) fn require(
        &self,
        key: &str,
        example: &str,
        reader: &mut Reader<'_>,
    ) -> Option<&'n Node> {
        let node = self.get(key);
        if node.is_none() {
            reader.sink.error(
                codes::MISSING_KEY,
                self.span,
                &self.field(key),
                "no such key",
                format!("`{key}`"),
                format!("add `{example}`"),
            );
        }
        node
    }
}

pub(crate) fn join(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}

impl Reader<'_> {
    /// Says that a value is not of the type that is expected.
    pub fn wrong_type(&mut self, node: &Node, field: &str, expected: &str, help: &str) {
        self.sink.error(
            codes::WRONG_TYPE,
            node.span,
            field,
            node.kind(),
            expected,
            help,
        );
    }

    /// A string.
    pub fn text<'n>(&mut self, node: &'n Node, field: &str) -> Option<&'n str> {
        if let Value::Text(text) = &node.value {
            return Some(text);
        }
        self.wrong_type(node, field, "a string", "put the value in double quotes");
        None
    }

    /// A list.
    pub fn list<'n>(&mut self, node: &'n Node, field: &str) -> Option<&'n [Node]> {
        if let Value::List(items) = &node.value {
            return Some(items);
        }
        self.wrong_type(
            node,
            field,
            "a list",
            "write `[ ..., ... ]`, or `[[...]]` above a table",
        );
        None
    }

    /// A name: not empty, without control characters, not too long, not padded with blanks.
    pub(crate) fn name(&mut self, node: &Node, field: &str) -> Option<String> {
        let text = self.text(node, field)?;
        let fine = !text.is_empty()
            && text.trim() == text
            && !text.chars().any(char::is_control)
            && text.chars().nth(NAME_CHARS_MAX).is_none();
        if fine {
            return Some(text.to_owned());
        }
        self.sink.error(
            codes::BAD_NAME,
            node.span,
            field,
            quote(text),
            format!("1 to {NAME_CHARS_MAX} visible characters"),
            "choose a short name without leading or trailing blanks",
        );
        None
    }

    /// One of a fixed list of words.
    pub(crate) fn word<T: Copy>(
        &mut self,
        node: &Node,
        field: &str,
        words: &[(&str, T)],
    ) -> Option<T> {
        let text = self.text(node, field)?;
        if let Some(&(_, value)) = words.iter().find(|(word, _)| *word == text) {
            return Some(value);
        }
        let known = || words.iter().map(|(word, _)| *word);
        let help = did_you_mean(text, known(), "use one of the expected words");
        let expected = format!("one of {}", one_of(known()));
        self.sink.error(
            codes::UNKNOWN_WORD,
            node.span,
            field,
            quote(text),
            expected,
            help,
        );
        None
    }

    /// A time in nanoseconds, zero allowed.
    pub fn time(&mut self, node: &Node, field: &str) -> Option<u64> {
        let result = match &node.value {
            Value::Text(text) => time_from_text(text, None),
            Value::Number(text) => match self.unit {
                Some(unit) => time_from_number(text, unit),
                None => Err(TimeError::NoUnit),
            },
            Value::Null | Value::Bool | Value::List(_) | Value::Table(_) | Value::Date => {
                self.wrong_type(
                    node,
                    field,
                    "a time",
                    "write a number, or a string such as \"1.45ms\"",
                );
                return None;
            }
        };
        let shown = match &node.value {
            Value::Text(text) | Value::Number(text) => quote(text),
            Value::Null | Value::Bool | Value::List(_) | Value::Table(_) | Value::Date => {
                String::new()
            }
        };
        match result {
            Ok(nanos) => Some(nanos),
            Err(error) => {
                let (code, expected, help) = time_trouble(&error);
                self.sink
                    .error(code, node.span, field, shown, expected, help);
                None
            }
        }
    }

    /// A time above zero.
    pub fn positive_time(&mut self, node: &Node, field: &str) -> Option<u64> {
        let nanos = self.time(node, field)?;
        if nanos > 0 {
            return Some(nanos);
        }
        self.sink.error(
            codes::NOT_POSITIVE,
            node.span,
            field,
            "zero",
            "a time above zero",
            "give the time in `unit`s, or with its own unit such as \"1ms\"",
        );
        None
    }

    /// A whole number between two bounds, both included.
    pub fn whole(&mut self, node: &Node, field: &str, least: u64, most: u64) -> Option<u64> {
        let Value::Number(text) = &node.value else {
            self.wrong_type(node, field, "a whole number", "write digits without quotes");
            return None;
        };
        let value = Decimal::parse(text)
            .ok()
            .and_then(|decimal| match decimal.scaled(0) {
                crate::number::Scaled::Whole(0) => Some(0),
                crate::number::Scaled::Whole(value) if !decimal.negative => {
                    u64::try_from(value).ok()
                }
                crate::number::Scaled::Whole(_)
                | crate::number::Scaled::Between(_)
                | crate::number::Scaled::TooLarge => None,
            });
        let value = value.filter(|value| (least..=most).contains(value));
        if value.is_none() {
            self.sink.error(
                codes::OUT_OF_RANGE,
                node.span,
                field,
                quote(text),
                format!("a whole number from {least} to {most}"),
                "choose a number in that range",
            );
        }
        value
    }

    /// An exact fraction from 0 (excluded) to 1 (included).
    pub fn fraction(&mut self, node: &Node, field: &str) -> Option<Ratio> {
        let Value::Number(text) = &node.value else {
            self.wrong_type(
                node,
                field,
                "a number",
                "write a decimal such as 0.25 without quotes",
            );
            return None;
        };
        let ratio = Decimal::parse(text)
            .ok()
            .filter(|decimal| !decimal.negative)
            .and_then(Decimal::ratio);
        let ratio = ratio.filter(|ratio| ratio.numerator() > 0 && ratio.is_at_most_one());
        if ratio.is_none() {
            self.sink.error(
                codes::BAD_FRACTION,
                node.span,
                field,
                quote(text),
                "a decimal above 0 and at most 1, with at most 18 places",
                "write it as a decimal, 0.25 for a quarter",
            );
        }
        ratio
    }

    /// The level of a name.
    pub fn level_of(&mut self, text: &str, span: Span, field: &str) -> Option<Level> {
        if let Some(at) = self.levels.iter().position(|known| known == text) {
            return u8::try_from(at).ok().map(Level);
        }
        if self.levels.is_empty() {
            // The list of levels itself is wrong, which was said already.
            return None;
        }
        let known = || self.levels.iter().map(String::as_str);
        let help = did_you_mean(text, known(), "add it to `levels`, or use one of them");
        let expected = format!("a level of this file: {}", one_of(known()));
        self.sink.error(
            codes::UNKNOWN_LEVEL,
            span,
            field,
            quote(text),
            expected,
            help,
        );
        None
    }

    pub(crate) fn level(&mut self, node: &Node, field: &str) -> Option<Level> {
        let text = self.text(node, field)?;
        self.level_of(text, node.span, field)
    }

    /// A table with one value per level; levels that are not given stay `None`.
    pub(crate) fn per_level<T>(
        &mut self,
        node: &Node,
        field: &str,
        mut one: impl FnMut(&mut Self, &Node, &str) -> Option<T>,
    ) -> Vec<Option<T>> {
        let mut values: Vec<Option<T>> = self.levels.iter().map(|_| None).collect();
        let Value::Table(entries) = &node.value else {
            let example = self.levels.first().map_or("LO", String::as_str);
            let help = format!("write `{{ {example} = ... }}` with a value for each level");
            self.wrong_type(node, field, "a table with one value per level", &help);
            return values;
        };
        if entries.is_empty() {
            self.sink.error(
                codes::MISSING_KEY,
                node.span,
                field,
                "an empty table",
                "at least one level with its value",
                "give the value of at least the own level",
            );
        }
        for entry in entries {
            let path = join(field, &entry.key);
            let level = self.level_of(&entry.key, entry.key_span, &path);
            let value = one(self, &entry.node, &path);
            if let Some(slot) = level.and_then(|level| values.get_mut(level.index())) {
                *slot = value;
            }
        }
        values
    }

    /// One value for every level, or a table with one value per level.
    pub(crate) fn one_or_per_level<T: Copy>(
        &mut self,
        node: &Node,
        field: &str,
        mut one: impl FnMut(&mut Self, &Node, &str) -> Option<T>,
    ) -> Vec<Option<T>> {
        if matches!(node.value, Value::Table(_)) {
            return self.per_level(node, field, one);
        }
        let value = one(self, node, field);
        self.levels.iter().map(|_| value).collect()
    }

    /// Values must not fall with the level.
    pub(crate) fn not_falling(
        &mut self,
        values: &[Option<u64>],
        node: &Node,
        field: &str,
        is_time: bool,
    ) {
        let show = |value: u64| {
            if is_time {
                time_text(value)
            } else {
                value.to_string()
            }
        };
        let mut before: Option<(usize, u64)> = None;
        for (at, value) in values.iter().enumerate() {
            let Some(value) = *value else { continue };
            if let Some((lower, least)) = before
                && value < least
            {
                let name = |at: usize| self.levels.get(at).map_or("", String::as_str);
                let (low, high) = (name(lower), name(at));
                let path = join(field, high);
                let found = format!("{} at {}", show(value), quote(high));
                let expected = format!("at least {}, the value at {}", show(least), quote(low));
                let span = value_span(node, high);
                let help = "a higher level of assurance never allows less; raise the value, or leave the level out if the task is not admitted there";
                self.sink
                    .error(codes::FALLS_WITH_LEVEL, span, &path, found, expected, help);
            }
            if before.is_none_or(|(_, least)| value > least) {
                before = Some((at, value));
            }
        }
    }

    /// Every name once: reports each repetition at its own place.
    pub(crate) fn unique(&mut self, what: &str, names: &[(String, Span)]) {
        let mut first: BTreeMap<&str, Span> = BTreeMap::new();
        for (name, span) in names {
            if first.contains_key(name.as_str()) {
                self.sink.error(
                    codes::DUPLICATE_NAME,
                    *span,
                    &format!("{what}.name"),
                    format!("{} a second time", quote(name)),
                    format!("a name that no other {what} has"),
                    format!("rename this {what}"),
                );
            } else {
                first.insert(name, *span);
            }
        }
    }
}

/// Where the value of `key` in a table stands; the table itself if it has none.
pub(crate) fn value_span(node: &Node, key: &str) -> Span {
    let Value::Table(entries) = &node.value else {
        return node.span;
    };
    entries
        .iter()
        .find(|entry| entry.key == key)
        .map_or(node.span, |entry| entry.node.span)
}

/// Code, expectation and help for a time that cannot be read.
pub(crate) fn time_trouble(error: &TimeError) -> (codes::Code, String, String) {
    match error {
        TimeError::Number(crate::number::NumberError::NotFinite) => (
            codes::NOT_A_NUMBER,
            "a finite number".to_owned(),
            "every time of the model is finite; leave the field out if there is no bound"
                .to_owned(),
        ),
        TimeError::Number(_) => (
            codes::BAD_TIME,
            "a number with a unit, such as \"1.45ms\"".to_owned(),
            "use digits with a decimal point, and one of ns, us, ms, s".to_owned(),
        ),
        TimeError::NoUnit => (
            codes::NO_UNIT,
            "a time with a unit".to_owned(),
            "add `unit = \"ms\"` at the top of the file, or write a string such as \"5ms\""
                .to_owned(),
        ),
        TimeError::UnknownUnit(unit) => (
            codes::BAD_TIME,
            format!("one of {}", one_of(Unit::NAMES)),
            did_you_mean(unit, Unit::NAMES, "use ns, us, ms or s"),
        ),
        TimeError::Negative => (
            codes::NEGATIVE_TIME,
            "a time of at least zero".to_owned(),
            "remove the sign".to_owned(),
        ),
        TimeError::NotWhole(below) => (
            codes::NOT_WHOLE,
            "a whole number of nanoseconds".to_owned(),
            format!(
                "nothing is rounded silently: write \"{below}ns\" or \"{}ns\"",
                below.saturating_add(1)
            ),
        ),
        TimeError::TooLarge => (
            codes::TIME_TOO_LARGE,
            format!("at most 2^62 ns ({HORIZON_NANOS} ns, about 146 years)"),
            "check the unit".to_owned(),
        ),
    }
}
