//! The kinds of values that keys have.

use super::fields::Reader;
use super::names::{Named, Written};
use super::{Kind, Shape, Shown, Table, shape, toml_key, toml_string};
use crate::codes;
use crate::diagnostic::{did_you_mean, one_of, quote};
use crate::number::Ratio;
use crate::quantity::{Unit, time_text};
use crate::source::Span;
use crate::tree::{Node, Value};
use crate::work::Work;
use std::collections::BTreeMap;
use std::marker::PhantomData;
use vestal_core::model::{LEVELS_MAX, TASKS_MAX};
use vestal_core::{Duration, Instant, Level, OnMiss, Service};

/// The version of the format that this crate reads and writes.
pub const FORMAT: &str = "vestal/1";

/// One value per level, lowest first; `None` where the file gives none.
pub type PerLevel<T> = Vec<Option<T>>;

/// The largest number of CPUs of a platform.
pub const CPUS_MAX: u16 = 1024;

/// Kinds that are no more than a method of the reader and a text.
macro_rules! scalars {
    ($($kind:ident, $schema:ty, $type:ty: $read:path, |$value:ident, $names:pat_param| $show:expr;)+) => {$(
        pub(crate) struct $kind;
        impl Shape for $kind {
            type Schema = $schema;
        }
        impl Kind<$type> for $kind {
            fn read(node: &Node<'_>, field: &str, reader: &mut Reader<'_>) -> Option<$type> {
                $read(reader, node, field)
            }
            fn show($value: &$type, $names: &Written) -> Option<Shown> {
                Some(Shown::Value($show))
            }
        }
    )+};
}

scalars! {
    Name, shape::Name, String: Reader::name, |name, _| toml_string(name);
    LevelName, shape::Name, Level: Reader::level, |level, names| toml_string(names.level(*level));
    Share, shape::Share, Ratio: Reader::share, |share, _| share.to_string();
    WorkText, shape::WorkText, Work: Reader::work, |work, _| toml_string(&work.to_string());
    Levels, shape::Levels, Vec<String>: levels, |names, _| format!("[{}]", joined(names));
    BareUnit, shape::WordsOf<Unit>, Unit: bare_unit, |unit, _| toml_string(unit.name());
    Cpus, shape::Whole<u16, 1, { CPUS_MAX as u64 }>, u16: cpus, |count, _| count.to_string();
    Cpu, u16, u16: cpu, |number, _| number.to_string();
}

fn joined(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| toml_string(name)).collect();
    names.join(", ")
}

/// The levels, which all that comes after them may name.
fn levels(reader: &mut Reader<'_>, node: &Node<'_>, field: &str) -> Option<Vec<String>> {
    let items = reader.list(node, field)?;
    if items.is_empty() || items.len() > LEVELS_MAX {
        reader.sink.error(
            codes::LEVEL_COUNT,
            node.span,
            field,
            format!("{} levels", items.len()),
            format!("1 to {LEVELS_MAX} levels, lowest first"),
            "merge levels that are treated alike",
        );
        return None;
    }
    let mut names: Vec<String> = Vec::new();
    let mut complete = true;
    for (index, item) in items.iter().enumerate() {
        let field = format!("{field}[{index}]");
        match reader.name(item, &field) {
            Some(name) if names.contains(&name) => {
                reader.sink.error(
                    codes::DUPLICATE_NAME,
                    item.span,
                    &field,
                    format!("{} a second time", quote(&name)),
                    "each level once",
                    "rename or remove the level",
                );
            }
            Some(name) => names.push(name),
            None => complete = false,
        }
    }
    let names = complete.then_some(names)?;
    reader.levels.clone_from(&names);
    Some(names)
}

/// The unit of all bare numbers after it.
fn bare_unit(reader: &mut Reader<'_>, node: &Node<'_>, field: &str) -> Option<Unit> {
    let unit = reader.word(node, field, Unit::WORDS);
    // One wrong unit is one error; without this every number of the file would be another.
    reader.unit = unit.or(Some(Unit::Milliseconds));
    unit
}

/// How many CPUs there are; of a wrong number, any may be named.
fn cpus(reader: &mut Reader<'_>, node: &Node<'_>, field: &str) -> Option<u16> {
    let count = reader.whole(node, field, 1, u64::from(CPUS_MAX));
    let count = count.and_then(|count| u16::try_from(count).ok());
    reader.cpus = count.unwrap_or(CPUS_MAX);
    count
}

/// The number of a CPU that the platform has.
fn cpu(reader: &mut Reader<'_>, node: &Node<'_>, field: &str) -> Option<u16> {
    let number = reader.whole(node, field, 0, u64::from(u16::MAX))?;
    let number = u16::try_from(number).ok()?;
    if number < reader.cpus {
        return Some(number);
    }
    reader.sink.error(
        codes::NO_SUCH_CPU,
        node.span,
        field,
        format!("CPU {number}"),
        format!("a CPU from 0 to {}", reader.cpus.saturating_sub(1)),
        "CPUs count from 0; raise `platform.cpus` (1 if the file does not say), or choose another CPU",
    );
    None
}

/// The version of the format.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Format;

impl Shape for Format {
    type Schema = shape::WordsOf<Self>;
}
impl Kind<Self> for Format {
    fn read(node: &Node<'_>, field: &str, reader: &mut Reader<'_>) -> Option<Self> {
        let help = format!("write `format = \"{FORMAT}\"`; this version reads no other format");
        let is_ours = reader.format(node, field, FORMAT, help);
        is_ours.then_some(Self)
    }
    fn absent(reader: &mut Reader<'_>) -> Option<Self> {
        reader.sink.error(
            codes::WRONG_FORMAT,
            Span::default(),
            "format",
            "no such key",
            quote(FORMAT),
            format!("start the file with `format = \"{FORMAT}\"`"),
        );
        None
    }
    fn show(_: &Self, _: &Written) -> Option<Shown> {
        Some(Shown::Value(toml_string(FORMAT)))
    }
}

/// One of a few words.
pub(crate) trait Word: Copy + PartialEq + 'static {
    /// What the JSON Schema calls the list.
    const SCHEMA: &'static str;
    /// Every word with its value.
    const WORDS: &'static [(&'static str, Self)];

    /// The word for a value.
    fn word(self) -> &'static str {
        let found = Self::WORDS.iter().find(|(_, value)| *value == self);
        found.map_or("", |(word, _)| word)
    }
}

/// The words of a type: `Type "SchemaName" { Variant "word", ... }`.
macro_rules! words {
    ($($type:ident $schema:literal { $($variant:ident $word:expr),+ })+) => {$(
        impl $crate::table::kinds::Word for $type {
            const SCHEMA: &'static str = $schema;
            const WORDS: &'static [(&'static str, Self)] = &[$(($word, Self::$variant)),+];
        }
    )+};
}
pub(crate) use words;

impl Word for Format {
    const SCHEMA: &'static str = "Format";
    const WORDS: &'static [(&'static str, Self)] = &[(FORMAT, Self)];
}

words! {
    Unit "TimeUnit" { Nanoseconds "ns", Microseconds "us", Milliseconds "ms", Seconds "s" }
    OnMiss "OnMissWord" { Continue "continue", Abort "abort" }
}

pub(crate) struct Words<T>(PhantomData<T>);

impl<T: Word> Shape for Words<T> {
    type Schema = shape::WordsOf<T>;
}
impl<T: Word> Kind<T> for Words<T> {
    fn read(node: &Node<'_>, field: &str, reader: &mut Reader<'_>) -> Option<T> {
        reader.word(node, field, T::WORDS)
    }
    fn show(value: &T, _: &Written) -> Option<Shown> {
        Some(Shown::Value(toml_string(value.word())))
    }
}

/// What is counted in nanoseconds.
pub(crate) trait Nanos: Copy {
    fn new(nanos: u64) -> Self;
    fn nanos(self) -> u64;
}

macro_rules! nanos {
    ($($type:ident),+) => {$(
        impl Nanos for $type {
            fn new(nanos: u64) -> Self {
                Self::from_nanos(nanos)
            }
            fn nanos(self) -> u64 {
                self.as_nanos()
            }
        }
    )+};
}
nanos!(Duration, Instant, Service);

/// A time, which may be zero or not.
pub(crate) struct TimeFrom<const ABOVE_ZERO: bool>;
pub(crate) type Time = TimeFrom<false>;
pub(crate) type PositiveTime = TimeFrom<true>;

impl<const ABOVE_ZERO: bool> Shape for TimeFrom<ABOVE_ZERO> {
    type Schema = shape::Time;
}
impl<T: Nanos, const ABOVE_ZERO: bool> Kind<T> for TimeFrom<ABOVE_ZERO> {
    fn read(node: &Node<'_>, field: &str, reader: &mut Reader<'_>) -> Option<T> {
        let nanos = match ABOVE_ZERO {
            true => reader.positive_time(node, field),
            false => reader.time(node, field),
        };
        nanos.map(T::new)
    }
    fn show(value: &T, _: &Written) -> Option<Shown> {
        Some(Shown::Value(format!("\"{}\"", time_text(value.nanos()))))
    }
}

/// A whole number, for the schema of type `S`.
pub(crate) struct Whole<S, const LEAST: u64, const MOST: u64>(PhantomData<S>);

/// A count that fits into 32 bits.
pub(crate) type Count<const LEAST: u64> = Whole<u32, LEAST, { u32::MAX as u64 }>;

impl<S: schemars::JsonSchema, const LEAST: u64, const MOST: u64> Shape for Whole<S, LEAST, MOST> {
    type Schema = shape::Whole<S, LEAST, MOST>;
}
impl<S: schemars::JsonSchema, const LEAST: u64, const MOST: u64, T> Kind<T>
    for Whole<S, LEAST, MOST>
where
    T: TryFrom<u64> + ToString,
{
    fn read(node: &Node<'_>, field: &str, reader: &mut Reader<'_>) -> Option<T> {
        let value = reader.whole(node, field, LEAST, MOST)?;
        T::try_from(value).ok()
    }
    fn show(value: &T, _: &Written) -> Option<Shown> {
        Some(Shown::Value(value.to_string()))
    }
}

/// A table with a value for each level; levels that are not given stay `None`.
pub(crate) struct PerLevelOf<K>(PhantomData<K>);

impl<K: Shape> Shape for PerLevelOf<K> {
    type Schema = BTreeMap<String, K::Schema>;
}
impl<T: Clone, K: Kind<T>> Kind<PerLevel<T>> for PerLevelOf<K> {
    fn read(node: &Node<'_>, field: &str, reader: &mut Reader<'_>) -> Option<PerLevel<T>> {
        Some(reader.per_level(node, field, |reader, node, field| {
            K::read(node, field, reader)
        }))
    }
    fn absent(reader: &mut Reader<'_>) -> Option<PerLevel<T>> {
        Some(vec![None; reader.levels.len()])
    }
    fn show(values: &PerLevel<T>, names: &Written) -> Option<Shown> {
        let given = values
            .iter()
            .zip(&names.levels)
            .filter_map(|(value, name)| {
                let value = K::show(value.as_ref()?, names)?.inline();
                Some(format!("{} = {value}", toml_key(name)))
            });
        let given: Vec<String> = given.collect();
        (!given.is_empty()).then(|| Shown::Value(format!("{{ {} }}", given.join(", "))))
    }
}

/// One value for every level, or a table with a value for each.
pub(crate) struct OneOrPerLevel<K>(PhantomData<K>);

impl<K: Shape> Shape for OneOrPerLevel<K> {
    type Schema = shape::OneOrPerLevel<K::Schema>;
}
impl<T: Clone, K: Kind<T>> Kind<PerLevel<T>> for OneOrPerLevel<K> {
    fn read(node: &Node<'_>, field: &str, reader: &mut Reader<'_>) -> Option<PerLevel<T>> {
        if matches!(node.value, Value::Table(_)) {
            return PerLevelOf::<K>::read(node, field, reader);
        }
        let value = K::read(node, field, reader);
        Some(vec![value; reader.levels.len()])
    }
    fn absent(reader: &mut Reader<'_>) -> Option<PerLevel<T>> {
        PerLevelOf::<K>::absent(reader)
    }
    fn show(values: &PerLevel<T>, names: &Written) -> Option<Shown> {
        PerLevelOf::<K>::show(values, names)
    }
}

/// The name of something in another table of the file.
pub(crate) struct Reference<W>(PhantomData<W>);

impl<W> Shape for Reference<W> {
    type Schema = shape::Name;
}
impl<W: Named> Kind<usize> for Reference<W> {
    fn read(node: &Node<'_>, field: &str, reader: &mut Reader<'_>) -> Option<usize> {
        let text = reader.text(node, field)?;
        let names = W::list(&reader.names);
        let found = names.place(text);
        if found.is_none() {
            let known = || names.iter();
            let what = W::KEY;
            let (whose, otherwise) = match W::IS_OF_SET {
                true => (
                    format!("a {what} of the task set"),
                    "use a name of the task set".to_owned(),
                ),
                false => (
                    format!("the name of a {what}"),
                    format!("add a `[[{what}]]` of that name"),
                ),
            };
            let help = did_you_mean(text, known(), &otherwise);
            let expected = format!("{whose}: {}", one_of(known()));
            reader
                .sink
                .error(W::UNKNOWN, node.span, field, quote(text), expected, help);
        }
        found
    }
    fn show(place: &usize, names: &Written) -> Option<Shown> {
        Some(Shown::Value(toml_string(W::list(names).get(*place)?)))
    }
}
impl<W: Named> Kind<String> for Reference<W> {
    fn read(node: &Node<'_>, field: &str, reader: &mut Reader<'_>) -> Option<String> {
        let place: usize = Self::read(node, field, reader)?;
        W::list(&reader.names).get(place).map(str::to_owned)
    }
    fn show(name: &String, _: &Written) -> Option<Shown> {
        Some(Shown::Value(toml_string(name)))
    }
}

/// The elements of a list.
fn each<T, K: Kind<T>>(items: &[Node<'_>], field: &str, reader: &mut Reader<'_>) -> Vec<T> {
    let items = items.iter().enumerate();
    items
        .filter_map(|(at, item)| K::read(item, &format!("{field}[{at}]"), reader))
        .collect()
}

/// A list.
pub(crate) struct List<K>(PhantomData<K>);

impl<K: Shape> Shape for List<K> {
    type Schema = Vec<K::Schema>;
}
impl<T, K: Kind<T>> Kind<Vec<T>> for List<K> {
    fn read(node: &Node<'_>, field: &str, reader: &mut Reader<'_>) -> Option<Vec<T>> {
        let items = reader.list(node, field)?;
        Some(each::<T, K>(items, field, reader))
    }
    fn absent(_: &mut Reader<'_>) -> Option<Vec<T>> {
        Some(Vec::new())
    }
    fn show(values: &Vec<T>, names: &Written) -> Option<Shown> {
        let shown = values.iter().filter_map(|value| K::show(value, names));
        let shown: Vec<String> = shown.map(Shown::inline).collect();
        (!shown.is_empty()).then(|| Shown::Value(format!("[{}]", shown.join(", "))))
    }
}

/// A table that is written inline: `{ key = value }`.
pub(crate) struct Inline<T>(PhantomData<T>);

impl<T: Table> Shape for Inline<T> {
    type Schema = T;
}
impl<T: Table> Kind<T::Spec> for Inline<T> {
    fn read(node: &Node<'_>, field: &str, reader: &mut Reader<'_>) -> Option<T::Spec> {
        super::read::<T>(node, field.to_owned(), reader)
    }
    fn show(spec: &T::Spec, names: &Written) -> Option<Shown> {
        let lines = T::of(spec).shown(names).into_iter();
        let lines: Vec<String> = lines
            .map(|(key, shown)| format!("{key} = {}", shown.inline()))
            .collect();
        Some(Shown::Value(format!("{{ {} }}", lines.join(", "))))
    }
}

/// A table that is written under its own header: `[key]`.
pub(crate) struct Section<T>(PhantomData<T>);

impl<T: Table> Shape for Section<T> {
    type Schema = T;
}
impl<T: Table> Kind<T::Spec> for Section<T> {
    fn read(node: &Node<'_>, field: &str, reader: &mut Reader<'_>) -> Option<T::Spec> {
        super::read::<T>(node, field.to_owned(), reader)
    }
    fn show(spec: &T::Spec, names: &Written) -> Option<Shown> {
        Some(Shown::Section(T::of(spec).shown(names)))
    }
}

/// A list of tables, each under a header of its own: `[[key]]`; every name is there once.
pub(crate) struct Sections<T, const LEAST: usize>(PhantomData<T>);

impl<T: Table, const LEAST: usize> Shape for Sections<T, LEAST> {
    type Schema = shape::ListOf<T, LEAST, TASKS_MAX>;
}
impl<T: Table, const LEAST: usize> Kind<Vec<T::Spec>> for Sections<T, LEAST> {
    fn read(node: &Node<'_>, key: &str, reader: &mut Reader<'_>) -> Option<Vec<T::Spec>> {
        let mut items = reader.list(node, key)?;
        if items.len() > TASKS_MAX {
            reader.sink.error(
                codes::TOO_MANY,
                node.span,
                key,
                format!("{} of them", items.len()),
                format!("at most {TASKS_MAX}"),
                "split the file",
            );
            items = items.get(..TASKS_MAX).unwrap_or_default();
        } else if items.len() < LEAST {
            reader.sink.error(
                codes::NOTHING_TO_SCHEDULE,
                node.span,
                key,
                "an empty list",
                format!("at least one {key}"),
                format!("add a `[[{key}]]`"),
            );
        }
        let specs = each::<T::Spec, Inline<T>>(items, key, reader);
        reader.unique(key, items);
        Some(specs)
    }
    fn absent(_: &mut Reader<'_>) -> Option<Vec<T::Spec>> {
        Some(Vec::new())
    }
    fn show(specs: &Vec<T::Spec>, names: &Written) -> Option<Shown> {
        let tables = specs.iter().map(|spec| T::of(spec).shown(names));
        Some(Shown::Sections(tables.collect()))
    }
}
