//! Tables of a file, each described once: a row of [`table!`] for every key gives the field of the resolved
//! model, what the reader accepts, the JSON Schema, what is written back and the page that documents the format.

pub(crate) mod fields;
pub(crate) mod kinds;
pub(crate) mod names;
mod shape;

use crate::tree::Node;
use fields::{Fields, Reader};
use names::Written;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::Map;
use std::fmt::Write as _;

/// A key of a table, as its row describes it.
#[derive(Clone, Copy)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    /// What it means, in one sentence; what holds if it is not given follows after `; default: `.
    pub(crate) text: &'static str,
    pub(crate) need: Need,
}

impl AsRef<str> for Key {
    fn as_ref(&self) -> &str {
        self.name
    }
}

/// Whether a table must have a key.
#[derive(Clone, Copy)]
pub(crate) enum Need {
    /// It must; the example is what a diagnostic says to add.
    Required(&'static str),
    /// It must, and its kind says so itself.
    Own,
    /// It may.
    Optional,
}

/// The shape of a value, for the JSON Schema.
pub(crate) trait Shape {
    type Schema: JsonSchema;
}

/// A kind of value: how it is read out of a file, and how it is written.
pub(crate) trait Kind<T>: Shape {
    /// The value; `None` if a diagnostic was given instead.
    fn read(node: &Node<'_>, field: &str, reader: &mut Reader<'_>) -> Option<T>;
    /// What a key that is not given stands for, where that does not depend on other keys.
    fn absent(_reader: &mut Reader<'_>) -> Option<T> {
        None
    }
    /// The value in a file; `None` if it need not be written.
    fn show(value: &T, names: &Written) -> Option<Shown>;
}

/// A value as TOML.
pub(crate) enum Shown {
    /// What stands behind the key.
    Value(String),
    /// A table under its own header.
    Section(Lines),
    /// Tables, each under a header of its own.
    Sections(Vec<Lines>),
}

/// The lines of a table.
pub(crate) type Lines = Vec<(&'static str, Shown)>;

impl Shown {
    /// Inside a list or an inline table, where only values stand.
    fn inline(self) -> String {
        match self {
            Self::Value(value) => value,
            Self::Section(_) | Self::Sections(_) => String::new(),
        }
    }
}

/// The keys of a table with what a file gives for each.
pub(crate) trait Keys: Sized {
    const KEYS: &'static [Key];
    /// All values, in the order of the rows; rules about several of them come after that.
    fn read(fields: &Fields<'_>, reader: &mut Reader<'_>) -> Self;
    /// The values that are to be written.
    fn shown(&self, names: &Written) -> Lines;
}

/// A table that resolves to a value of the model.
pub(crate) trait Table: Keys + JsonSchema {
    type Spec;
    /// Checks what several keys together must fulfil, and fills in defaults; `None` after an error.
    fn resolve(self, fields: &Fields<'_>, reader: &mut Reader<'_>) -> Option<Self::Spec>;
    /// The table that resolves to this value.
    fn of(spec: &Self::Spec) -> Self;
}

/// Reads a table and resolves it.
pub(crate) fn read<T: Table>(
    node: &Node<'_>,
    path: String,
    reader: &mut Reader<'_>,
) -> Option<T::Spec> {
    let fields = Fields::open(node, path, T::KEYS, reader)?;
    T::read(&fields, reader).resolve(&fields, reader)
}

/// The value of a key, of which the table says whether it must be there.
pub(crate) fn value<T, K: Kind<T>>(
    key: &Key,
    fields: &Fields<'_>,
    reader: &mut Reader<'_>,
) -> Option<T> {
    let node = match key.need {
        Need::Required(example) => fields.require(key.name, example, reader),
        Need::Own | Need::Optional => fields.get(key.name),
    };
    match node {
        Some(node) => K::read(node, &fields.field(key.name), reader),
        None => K::absent(reader),
    }
}

/// The schema of a table whose keys have these schemas.
pub(crate) fn schema(properties: impl IntoIterator<Item = (Key, Schema)>) -> Schema {
    let mut all = Map::new();
    let mut required = Vec::new();
    for (key, mut schema) in properties {
        schema.insert("description".to_owned(), key.text.trim().into());
        all.insert(key.name.to_owned(), schema.to_value());
        if !matches!(key.need, Need::Optional) {
            required.push(key.name);
        }
    }
    let mut schema =
        json_schema!({ "type": "object", "properties": all, "additionalProperties": false });
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    schema
}

/// The schema of a key's value.
pub(crate) fn property<K: Shape>(key: Key, generator: &mut SchemaGenerator) -> (Key, Schema) {
    let schema = match key.need {
        Need::Optional => generator.subschema_for::<Option<K::Schema>>(),
        Need::Required(_) | Need::Own => generator.subschema_for::<K::Schema>(),
    };
    (key, schema)
}

/// Of a table in which no key depends on another.
pub(crate) fn no_rules<T>(_: &T, _: &Fields<'_>, _: &mut Reader<'_>) {}

/// A table as TOML: its values first, then the tables inside it.
pub(crate) fn write(lines: &Lines, text: &mut String) {
    // Writing into a string cannot fail.
    for (key, shown) in lines {
        if let Shown::Value(value) = shown {
            let _ = writeln!(text, "{key} = {value}");
        }
    }
    for (key, shown) in lines {
        match shown {
            Shown::Value(_) => {}
            Shown::Section(lines) => {
                let _ = writeln!(text, "\n[{key}]");
                write(lines, text);
            }
            Shown::Sections(tables) => {
                for lines in tables {
                    let _ = writeln!(text, "\n[[{key}]]");
                    write(lines, text);
                }
            }
        }
    }
}

/// A string as a TOML basic string, with the escapes it needs.
pub(crate) fn toml_string(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// A key, in quotes only where TOML wants them.
pub(crate) fn toml_key(text: &str) -> String {
    let bare = text
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
    if bare && !text.is_empty() {
        text.to_owned()
    } else {
        toml_string(text)
    }
}

/// A table of a file: a row for each key.
///
/// `key: Type = Kind, need;` where `need` is `required "example"`; `own`, if the kind itself says that the key is
/// missing; `optional`, and the type is an option; `or value` with what stands for a missing key, in which the keys
/// before it may occur; or `empty`, if the kind knows that. The comment of a row describes it everywhere.
///
/// With `pub struct Spec from Table, rules` before the rows, the resolved type too is made of them: `rules` checks
/// what several keys together must fulfil. What follows after the rows are fields that say where things stand.
macro_rules! table {
    (
        $(#[$attribute:meta])*
        pub struct $spec:ident from $table:ident, $rules:path {
            $($(#[doc = $text:literal])+ $key:ident: $type:ty = $kind:ty, $need:ident $($value:expr)?;)+
        }
        $($(#[doc = $place_text:literal])+ $place:ident: $place_type:ty = $place_of:path)?
    ) => {
        $(#[$attribute])*
        pub struct $spec {
            $($(#[doc = $text])+ pub $key: $type,)+
            $($(#[doc = $place_text])+ pub $place: $place_type,)?
        }

        $crate::table::table! {
            pub(crate) struct $table {
                $($(#[doc = $text])+ $key: $type = $kind, $need $($value)?;)+
            }
        }

        impl $crate::table::Table for $table {
            type Spec = $spec;
            fn resolve(
                self,
                fields: &$crate::table::fields::Fields<'_>,
                reader: &mut $crate::table::fields::Reader<'_>,
            ) -> Option<$spec> {
                $rules(&self, fields, reader);
                $(let $key = $crate::table::table!(@resolved (self.$key) $need $($value)?);)+
                $(let $place = $place_of(fields);)?
                Some($spec { $($key,)+ $($place,)? })
            }
            fn of(spec: &$spec) -> Self {
                Self { $($key: $crate::table::table!(@given (spec.$key.clone()) $need),)+ }
            }
        }
    };
    (
        pub(crate) struct $table:ident {
            $($(#[doc = $text:literal])+ $key:ident: $type:ty = $kind:ty, $need:ident $($value:expr)?;)+
        }
    ) => {
        #[derive(Default)]
        pub(crate) struct $table {
            $(pub(crate) $key: $crate::table::table!(@type ($type) $need),)+
        }

        impl $crate::table::Keys for $table {
            const KEYS: &'static [$crate::table::Key] =
                &[$($crate::table::table!(@key $key [$($text),+] $need $($value)?)),+];
            fn read(
                fields: &$crate::table::fields::Fields<'_>,
                reader: &mut $crate::table::fields::Reader<'_>,
            ) -> Self {
                Self {
                    $($key: $crate::table::value::<_, $kind>(
                        &$crate::table::table!(@key $key [$($text),+] $need $($value)?), fields, reader,
                    ),)+
                }
            }
            fn shown(&self, names: &$crate::table::names::Written) -> $crate::table::Lines {
                let all = [
                    $(self.$key.as_ref().and_then(|value| {
                        Some((stringify!($key), <$kind as $crate::table::Kind<_>>::show(value, names)?))
                    })),+
                ];
                all.into_iter().flatten().collect()
            }
        }

        impl schemars::JsonSchema for $table {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($table).into()
            }
            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $crate::table::schema([
                    $($crate::table::property::<$kind>(
                        $crate::table::table!(@key $key [$($text),+] $need $($value)?), generator,
                    )),+
                ])
            }
        }
    };
    (@key $key:ident [$($text:literal),+] $need:ident $($value:expr)?) => {
        $crate::table::Key {
            name: stringify!($key),
            text: concat!($($text),+),
            need: $crate::table::table!(@need $need $($value)?),
        }
    };
    (@need required $example:expr) => { $crate::table::Need::Required($example) };
    (@need own) => { $crate::table::Need::Own };
    (@need $other:ident $($value:expr)?) => { $crate::table::Need::Optional };
    (@type ($type:ty) optional) => { $type };
    (@type ($type:ty) $other:ident) => { Option<$type> };
    (@given ($value:expr) optional) => { $value };
    (@given ($value:expr) $other:ident) => { Some($value) };
    (@resolved ($value:expr) optional) => { $value };
    (@resolved ($value:expr) or $default:expr) => { $value.unwrap_or($default) };
    (@resolved ($value:expr) $other:ident $($example:expr)?) => { $value? };
}
pub(crate) use table;
