//! Columns of tables of measurements, each described once: for files, for pages and for a terminal.

use std::fmt::Write as _;

/// What stands in a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// As it is.
    Word(String),
    /// A number.
    Number(f64),
    /// Nanoseconds: in a file as they are, on a page in microseconds, at a terminal with a unit that fits.
    Time(f64),
    /// There is none: nothing in a file, a dash for people.
    Missing,
}

impl Value {
    /// As text, with so many digits after the point; `time` writes nanoseconds.
    fn text(self, digits: usize, time: impl Fn(f64) -> String, missing: &str) -> String {
        match self {
            Self::Word(word) => word,
            Self::Number(number) => format!("{number:.digits$}"),
            Self::Time(nanos) => time(nanos),
            Self::Missing => missing.to_owned(),
        }
    }
}

/// A column where it is shown.
#[derive(Clone, Copy, Debug)]
struct Place {
    name: &'static str,
    digits: usize,
}

/// A column of a table with such rows.
#[derive(Clone, Copy, Debug)]
pub struct Column<R> {
    value: fn(&R) -> Value,
    csv: Option<Place>,
    page: Option<Place>,
    terminal: Option<Place>,
    is_text: bool,
}

impl<R> Column<R> {
    /// A column of numbers that is shown nowhere yet.
    #[must_use]
    pub const fn new(value: fn(&R) -> Value) -> Self {
        Self {
            value,
            csv: None,
            page: None,
            terminal: None,
            is_text: false,
        }
    }
    /// A column of words, which is aligned to the left.
    #[must_use]
    pub const fn text(value: fn(&R) -> Value) -> Self {
        let is_text = true;
        Self {
            is_text,
            ..Self::new(value)
        }
    }
    /// In files too, under this name, with so many digits after the point.
    #[must_use]
    pub const fn csv(self, name: &'static str, digits: usize) -> Self {
        let csv = Some(Place { name, digits });
        Self { csv, ..self }
    }
    /// On pages too.
    #[must_use]
    pub const fn page(self, name: &'static str, digits: usize) -> Self {
        let page = Some(Place { name, digits });
        Self { page, ..self }
    }
    /// At a terminal too.
    #[must_use]
    pub const fn terminal(self, name: &'static str, digits: usize) -> Self {
        let terminal = Some(Place { name, digits });
        Self { terminal, ..self }
    }

    /// The name at a terminal, if it is shown there, and whether the cells are words.
    #[must_use]
    pub fn terminal_name(&self) -> Option<(&'static str, bool)> {
        Some((self.terminal?.name, self.is_text))
    }
    /// The cell of a row at a terminal, if it is shown there; `time` writes times.
    pub fn terminal_cell(&self, row: &R, time: fn(u64) -> String) -> Option<String> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a time; rounded for display"
        )]
        let nanos = |nanos: f64| time(nanos.round().max(0.0) as u64);
        Some((self.value)(row).text(self.terminal?.digits, nanos, "-"))
    }
}

/// A file: a line of names, and a line for each row.
#[must_use]
pub fn csv<R>(columns: &[Column<R>], rows: &[R]) -> String {
    let columns = columns.iter();
    let columns: Vec<_> = columns.filter_map(|c| Some((c.value, c.csv?))).collect();
    let names: Vec<&str> = columns.iter().map(|(_, place)| place.name).collect();
    let mut text = names.join(",") + "\n";
    for row in rows {
        let cells = columns.iter().map(|(value, Place { digits, .. })| {
            value(row).text(*digits, |nanos| format!("{nanos:.digits$}"), "")
        });
        text.push_str(&cells.collect::<Vec<_>>().join(","));
        text.push('\n');
    }
    text
}

/// The same as a table of a Markdown page.
#[must_use]
pub fn markdown<R>(columns: &[Column<R>], rows: &[R]) -> String {
    let columns = columns.iter();
    let columns: Vec<_> = columns.filter_map(|c| Some((c.value, c.page?))).collect();
    let names: Vec<&str> = columns.iter().map(|(_, place)| place.name).collect();
    let line = "---|".repeat(names.len());
    let mut text = format!("| {} |\n|{line}\n", names.join(" | "));
    for row in rows {
        let cells = columns.iter().map(|(value, Place { digits, .. })| {
            value(row).text(*digits, |nanos| format!("{:.digits$}", nanos / 1000.0), "-")
        });
        // Writing into a string cannot fail.
        let _ = writeln!(text, "| {} |", cells.collect::<Vec<_>>().join(" | "));
    }
    text
}
