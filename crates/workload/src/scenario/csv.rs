//! CSV rows as tables of the same shape as TOML's, so that one reader checks both.

use super::file::{KINDS, Kind};
use crate::codes;
use crate::diagnostic::{Sink, did_you_mean, one_of, quote};
use crate::source::{Source, Span};
use crate::tree::{Entry, Node, Value};
use std::borrow::Cow;

/// A cell: its text without quotation marks, and where it stands.
struct Cell<'s> {
    text: Cow<'s, str>,
    span: Span,
}

/// A row as a table.
pub(super) struct Row<'s> {
    pub(super) kind: Kind,
    pub(super) path: String,
    pub(super) node: Node<'s>,
}

/// The rows of a text, one after the other: a table takes many times the memory of its row.
pub(super) struct Rows<'s> {
    rest: &'s str,
    start: usize,
    line: usize,
    section: Option<Kind>,
}

impl<'s> Rows<'s> {
    pub(super) fn of(source: &'s Source) -> Self {
        Self {
            rest: &source.text,
            start: 0,
            line: 0,
            section: None,
        }
    }

    /// The next row that is one.
    pub(super) fn next(&mut self, sink: &mut Sink) -> Option<Row<'s>> {
        while !self.rest.is_empty() {
            let end = self.rest.find('\n').map_or(self.rest.len(), |at| at + 1);
            let (line, rest) = self.rest.split_at(end);
            let begin = self.start;
            (self.rest, self.start, self.line) = (rest, begin + end, self.line + 1);
            let bare = line.trim_start_matches('\u{feff}');
            let begin = begin + (line.len() - bare.len());
            let visible = bare.trim();
            if visible.is_empty() || visible.starts_with('#') {
                continue;
            }
            let Some(cells) = cells(bare, begin, sink) else {
                continue;
            };
            if let Some(kind) = header(&cells) {
                self.section = Some(kind);
                continue;
            }
            let span = Span::new(begin, begin + bare.trim_end().len());
            if let Some(row) = row(cells, self.section, span, self.line, sink) {
                return Some(row);
            }
        }
        None
    }
}

/// A line such as `task,job,release,execution` names the columns of the rows below it.
fn header(cells: &[Cell<'_>]) -> Option<Kind> {
    let names: Vec<&str> = cells.iter().map(|cell| &*cell.text).collect();
    let is = |first: &[&'static str], kind: Kind| {
        let columns = kind.columns().iter().map(|column| column.name);
        first
            .iter()
            .copied()
            .chain(columns)
            .eq(names.iter().copied())
    };
    KINDS.into_iter().find(|&kind| {
        is(&[], kind) || is(&["kind"], kind) || (kind == Kind::Mode && is(&["mode"], kind))
    })
}

fn row<'s>(
    cells: Vec<Cell<'s>>,
    section: Option<Kind>,
    span: Span,
    line: usize,
    sink: &mut Sink,
) -> Option<Row<'s>> {
    let mut cells = cells;
    let first = cells.first()?;
    let named = KINDS.into_iter().find(|kind| kind.name() == first.text);
    let kind = match (named, section) {
        (Some(kind), _) if cells.len() == kind.columns().len() + 1 => {
            cells.remove(0);
            kind
        }
        // Below a header the kind may be left out.
        (_, Some(kind)) if cells.len() == kind.columns().len() => kind,
        (Some(kind), _) => {
            let columns: Vec<&str> = kind.columns().iter().map(|column| column.name).collect();
            let columns = columns.join(",");
            sink.error(
                codes::ROW_LENGTH,
                span,
                &format!("line {line}"),
                format!("{} columns", cells.len()),
                format!(
                    "{} columns: {},{columns}",
                    kind.columns().len() + 1,
                    kind.name()
                ),
                "leave a cell empty where nothing is to be said, but keep its comma",
            );
            return None;
        }
        (None, _) => {
            let known = || KINDS.into_iter().map(Kind::name);
            let help = did_you_mean(&first.text, known(), "start the row with its kind");
            let expected = format!("one of {}", one_of(known()));
            sink.error(
                codes::UNKNOWN_ROW,
                first.span,
                &format!("line {line}"),
                quote(&first.text),
                expected,
                help,
            );
            return None;
        }
    };
    let entries = kind
        .columns()
        .iter()
        .zip(cells)
        .filter(|(_, cell)| !cell.text.is_empty());
    let entries = entries.map(|(column, cell)| entry(column.name, cell));
    let value = Value::Table(entries.collect());
    Some(Row {
        kind,
        path: format!("line {line}"),
        node: Node { span, value },
    })
}

fn entry<'s>(column: &'static str, cell: Cell<'s>) -> Entry<'s> {
    let is_name = matches!(column, "task" | "device" | "level");
    let is_number = cell
        .text
        .starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'))
        && !cell.text.ends_with(|c: char| c.is_alphabetic());
    let count = matches!(column, "job" | "count");
    let value = if !is_name && (is_number || count) {
        Value::Number(cell.text)
    } else {
        Value::Text(cell.text)
    };
    Entry {
        key: Cow::Borrowed(column),
        key_span: cell.span,
        node: Node {
            span: cell.span,
            value,
        },
    }
}

/// Splits a line at its commas; a cell in double quotes may contain commas and doubled quotes.
fn cells<'s>(line: &'s str, begin: usize, sink: &mut Sink) -> Option<Vec<Cell<'s>>> {
    let mut cells = Vec::new();
    let mut at = 0;
    let line = line.trim_end();
    loop {
        let rest = line.get(at..).unwrap_or_default();
        let blanks = rest.len() - rest.trim_start().len();
        let (start, body) = (at + blanks, rest.trim_start());
        let (text, length) = if let Some(quoted) = body.strip_prefix('"') {
            let Some((text, used)) = quoted_cell(quoted) else {
                let span = Span::new(begin + start, begin + line.len());
                let help =
                    "close the quotation mark, and put a comma or the end of the line after it";
                sink.error(
                    codes::BAD_CELL,
                    span,
                    "",
                    quote(body),
                    "a cell in matching quotation marks",
                    help,
                );
                return None;
            };
            (Cow::Owned(text), used + 1)
        } else {
            let length = body.find(',').unwrap_or(body.len());
            (
                Cow::Borrowed(body.get(..length).unwrap_or_default().trim_end()),
                length,
            )
        };
        let shown = if body.starts_with('"') {
            length
        } else {
            text.len()
        };
        cells.push(Cell {
            text,
            span: Span::new(begin + start, begin + start + shown),
        });
        let after = line.get(start + length..).unwrap_or_default();
        match after.find(',') {
            Some(comma) => at = start + length + comma + 1,
            None => return Some(cells),
        }
    }
}

/// The text of a quoted cell after its opening mark, and how many bytes it took; `None` if it is
/// not closed, or if something other than a comma follows.
fn quoted_cell(body: &str) -> Option<(String, usize)> {
    let mut text = String::new();
    let mut chars = body.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c != '"' {
            text.push(c);
        } else if chars.peek().is_some_and(|(_, next)| *next == '"') {
            chars.next();
            text.push('"');
        } else {
            let after = body.get(at + 1..)?.trim_start();
            return (after.is_empty() || after.starts_with(',')).then_some((text, at + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(line: &str) -> Option<Vec<String>> {
        let mut sink = Sink::new(Source::new("a.csv", line));
        Some(
            cells(line, 0, &mut sink)?
                .into_iter()
                .map(|cell| cell.text.into_owned())
                .collect(),
        )
    }

    #[test]
    fn cells_are_split_at_commas_outside_quotes() {
        assert_eq!(texts("a, b ,,c").unwrap(), ["a", "b", "", "c"]);
        assert_eq!(texts("a,").unwrap(), ["a", ""]);
        assert_eq!(texts("\"a,\"\"b\" , c").unwrap(), ["a,\"b", "c"]);
        assert_eq!(texts("\"a"), None);
        assert_eq!(texts("\"a\"b,c"), None);
    }
}
