//! Reading typed values out of the tree, one diagnostic per thing that is wrong.

use super::names::Written;
use crate::codes;
use crate::diagnostic::{Sink, did_you_mean, is_unseen, one_of, quote};
use crate::number::{Decimal, NumberError, Ratio};
use crate::quantity::{TimeError, Unit, time_from_number, time_from_text};
use crate::source::{Place, Span};
use crate::tree::{Entry, Node, Value};
use crate::work::Work;
use std::collections::BTreeSet;
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
    /// How many CPUs there are.
    pub(crate) cpus: u16,
    /// What other tables may be referred to.
    pub(crate) names: Written,
}

/// A table being read: which keys it may have, and where it stands in the file.
pub struct Fields<'n> {
    entries: &'n [Entry<'n>],
    /// The table as messages name it, such as `task[2]`.
    pub path: String,
    /// Where to point when something is missing.
    pub span: Span,
}

impl<'n> Fields<'n> {
    /// Starts on a table; every key that is not in `known` is an error right away.
    pub fn open(
        node: &'n Node<'n>,
        path: String,
        known: &[impl AsRef<str>],
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
        let known = || known.iter().map(AsRef::as_ref);
        for entry in entries {
            if reader.sink.is_full() {
                break;
            }
            if !known().any(|key| key == entry.key) {
                let field = join(&path, &entry.key);
                let otherwise = "remove it; unknown keys are not ignored";
                let help = did_you_mean(&entry.key, known(), otherwise);
                let expected = format!("one of {}", one_of(known()));
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
    pub fn entry(&self, key: &str) -> Option<&'n Entry<'n>> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&'n Node<'n>> {
        self.entry(key).map(|entry| &entry.node)
    }

    /// Where the value of a key stands, and what diagnostics call it.
    pub(crate) fn value(&self, key: &str) -> (Span, String) {
        let span = self.get(key).map_or(self.span, |node| node.span);
        (span, self.field(key))
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.entry(key).is_some()
    }

    /// Where the table stands.
    pub(crate) fn place(&self) -> Place {
        Place(self.span)
    }

    /// Where its name stands; the table itself if it has none.
    pub(crate) fn name_place(&self) -> Place {
        Place(self.get("name").map_or(self.span, |node| node.span))
    }

    pub(crate) fn field(&self, key: &str) -> String {
        join(&self.path, key)
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = (&'n str, Span)> {
        self.entries
            .iter()
            .map(|entry| (&*entry.key, entry.key_span))
    }

    /// The value of a key that must be there.
    pub(crate) fn require(
        &self,
        key: &str,
        example: &str,
        reader: &mut Reader<'_>,
    ) -> Option<&'n Node<'n>> {
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

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.trim() == text
        && !text.chars().any(is_unseen)
        && text.chars().nth(NAME_CHARS_MAX).is_none()
}

pub(crate) fn join(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}

impl<'a> Reader<'a> {
    /// Reads what goes with a task set of this unit and these levels.
    #[must_use]
    pub fn new(sink: &'a mut Sink, unit: Option<Unit>, levels: Vec<String>) -> Self {
        Self {
            sink,
            unit,
            levels,
            cpus: 1,
            names: Written::default(),
        }
    }

    /// Says that a value is not of the type that is expected.
    pub fn wrong_type(&mut self, node: &Node<'_>, field: &str, expected: &str, help: &str) {
        self.sink.error(
            codes::WRONG_TYPE,
            node.span,
            field,
            node.kind(),
            expected,
            help,
        );
    }

    /// Notes an error at a place with its name.
    pub(crate) fn error(
        &mut self,
        code: codes::Code,
        (span, field): (Span, String),
        found: impl Into<String>,
        expected: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.sink.error(code, span, &field, found, expected, help);
    }

    /// The name of a level; empty for one that there is not.
    pub(crate) fn level_name(&self, at: usize) -> String {
        self.levels.get(at).cloned().unwrap_or_default()
    }

    /// A string.
    pub fn text<'n>(&mut self, node: &'n Node<'_>, field: &str) -> Option<&'n str> {
        if let Value::Text(text) = &node.value {
            return Some(text);
        }
        self.wrong_type(node, field, "a string", "put the value in double quotes");
        None
    }

    /// A list.
    pub fn list<'n>(&mut self, node: &'n Node<'n>, field: &str) -> Option<&'n [Node<'n>]> {
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

    /// A name: not empty, without characters that are not seen, not too long, not padded with blanks.
    pub(crate) fn name(&mut self, node: &Node<'_>, field: &str) -> Option<String> {
        let text = self.text(node, field)?;
        if is_name(text) {
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
        node: &Node<'_>,
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
    pub fn time(&mut self, node: &Node<'_>, field: &str) -> Option<u64> {
        let (Value::Text(shown) | Value::Number(shown)) = &node.value else {
            self.wrong_type(
                node,
                field,
                "a time",
                "write a number, or a string such as \"1.45ms\"",
            );
            return None;
        };
        match self.time_of(node) {
            Ok(nanos) => Some(nanos),
            Err(error) => {
                let (code, expected, help) = time_trouble(&error);
                self.sink
                    .error(code, node.span, field, quote(shown), expected, help);
                None
            }
        }
    }

    /// The same without a word about what is wrong.
    pub(crate) fn time_of(&self, node: &Node<'_>) -> Result<u64, TimeError> {
        match &node.value {
            Value::Text(text) => time_from_text(text, None),
            Value::Number(text) => time_from_number(text, self.unit.ok_or(TimeError::NoUnit)?),
            Value::Null | Value::Bool | Value::List(_) | Value::Table(_) | Value::Date => {
                Err(TimeError::Number(NumberError::Malformed))
            }
        }
    }

    /// A time above zero.
    pub fn positive_time(&mut self, node: &Node<'_>, field: &str) -> Option<u64> {
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
    pub fn whole(&mut self, node: &Node<'_>, field: &str, least: u64, most: u64) -> Option<u64> {
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
    pub fn fraction(&mut self, node: &Node<'_>, field: &str) -> Option<Ratio> {
        let ratio = self.share(node, field)?;
        if ratio.numerator() == 0 {
            let (found, expected) = ("0", "a decimal above 0");
            let help = "write it as a decimal, 0.25 for a quarter";
            let code = codes::BAD_FRACTION;
            self.sink
                .error(code, node.span, field, found, expected, help);
            return None;
        }
        Some(ratio)
    }

    /// An exact fraction from 0 to 1.
    pub(crate) fn share(&mut self, node: &Node<'_>, field: &str) -> Option<Ratio> {
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
        let ratio = ratio.filter(|ratio| ratio.is_at_most_one());
        if ratio.is_none() {
            self.sink.error(
                codes::BAD_FRACTION,
                node.span,
                field,
                quote(text),
                "a decimal from 0 to 1, with at most 18 places",
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

    pub(crate) fn level(&mut self, node: &Node<'_>, field: &str) -> Option<Level> {
        let text = self.text(node, field)?;
        self.level_of(text, node.span, field)
    }

    /// A table with one value per level; levels that are not given stay `None`.
    pub(crate) fn per_level<T>(
        &mut self,
        node: &Node<'_>,
        field: &str,
        mut one: impl FnMut(&mut Self, &Node<'_>, &str) -> Option<T>,
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

    /// Values must not fall with the level.
    pub(crate) fn not_falling<T: Copy + Ord>(
        &mut self,
        values: &[Option<T>],
        (node, field): (&Node<'_>, &str),
        show: impl Fn(T) -> String,
    ) {
        let mut before: Option<(usize, T)> = None;
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

    /// Every name once: reports each repetition at its own place. What is no name has its own error.
    pub(crate) fn unique(&mut self, what: &str, items: &[Node<'_>]) {
        let mut known = BTreeSet::new();
        for node in items.iter().filter_map(|item| item.get("name")) {
            let Some(name) = node.as_text().filter(|text| is_name(text)) else {
                continue;
            };
            if !known.insert(name) {
                self.sink.error(
                    codes::DUPLICATE_NAME,
                    node.span,
                    &format!("{what}.name"),
                    format!("{} a second time", quote(name)),
                    format!("a name that no other {what} has"),
                    format!("rename this {what}"),
                );
            }
        }
    }

    /// What a job does in `run`.
    pub(crate) fn work(&mut self, node: &Node<'_>, field: &str) -> Option<Work> {
        let text = self.text(node, field)?;
        let work = Work::parse(text);
        if work.is_none() {
            self.sink.error(
                codes::BAD_WORK,
                node.span,
                field,
                quote(text),
                "`spin`, `array:SIZE` or `alloc:COUNTxSIZE@PROBABILITY`",
                "for instance \"array:32KiB\" or \"alloc:10x1MiB@0.5\"; sizes end in B, KiB, MiB or GiB",
            );
        }
        work
    }

    /// Whether a file says that it has this format.
    pub fn format(
        &mut self,
        node: &Node<'_>,
        field: &str,
        format: &str,
        help: impl Into<String>,
    ) -> bool {
        let Some(text) = self.text(node, field) else {
            return false;
        };
        if text != format {
            self.sink.error(
                codes::WRONG_FORMAT,
                node.span,
                field,
                quote(text),
                quote(format),
                help,
            );
        }
        text == format
    }
}

/// Where the value of `key` in a table stands; the table itself if it has none.
pub(crate) fn value_span(node: &Node<'_>, key: &str) -> Span {
    node.get(key).unwrap_or(node).span
}

/// Code, expectation and help for a time that cannot be read.
pub(crate) fn time_trouble(error: &TimeError) -> (codes::Code, String, String) {
    match error {
        TimeError::Number(NumberError::NotFinite) => (
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
