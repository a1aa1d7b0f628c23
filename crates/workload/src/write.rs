//! The resolved task set back as a file. Reading it again gives an equal set.

use crate::diagnostic::Sink;
use crate::model::{FileTable, TaskSet};
use crate::source::Source;
use crate::table::{self, Keys, Table};
use crate::tree::{self, Entry, Node, Value};

/// A value that fits a line of this length stands in one.
const LINE_MAX: usize = 100;

impl TaskSet {
    /// The set as a TOML file. Comments and the spelling of numbers are not kept; every time is
    /// written exactly, with its own unit.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        table::write(&FileTable::of(self).shown(&self.names()), &mut text);
        text
    }

    /// The set as a JSON file with the same keys in the same order. Numbers and times are written as in
    /// [`TaskSet::to_toml`].
    #[must_use]
    pub fn to_json(&self) -> String {
        let source = Source::new("set.toml", &self.to_toml());
        let Some(root) = tree::parse(&source, &mut Sink::new(source.clone())) else {
            unreachable!("what `to_toml` wrote is TOML: {}", source.text);
        };
        let mut text = json(&root, 0);
        text.push('\n');
        text
    }
}

/// A value as JSON that begins behind so many spaces: in one line where that is short.
fn json(node: &Node<'_>, indent: usize) -> String {
    let (open, close, parts) = match &node.value {
        Value::Number(number) => return number.to_string(),
        Value::Text(text) => return json_string(text),
        Value::Null | Value::Bool | Value::Date => {
            unreachable!("no key of a task set takes {}", node.kind())
        }
        Value::List(items) => {
            let parts = items.iter().map(|item| json(item, indent + 2));
            ('[', ']', parts.collect::<Vec<_>>())
        }
        Value::Table(entries) => {
            let entry = |entry: &Entry<'_>| {
                let key = json_string(&entry.key);
                format!("{key}: {}", json(&entry.node, indent + 2))
            };
            ('{', '}', entries.iter().map(entry).collect())
        }
    };
    let line = parts.join(", ");
    if parts.is_empty() {
        return format!("{open}{close}");
    }
    if indent > 0 && !line.contains('\n') && indent + line.len() <= LINE_MAX {
        return format!("{open} {line} {close}");
    }
    let (inner, outer) = (" ".repeat(indent + 2), " ".repeat(indent));
    let lines = parts.join(&format!(",\n{inner}"));
    format!("{open}\n{inner}{lines}\n{outer}{close}")
}

fn json_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
