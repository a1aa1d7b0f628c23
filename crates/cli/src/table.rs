//! Tables without frames: columns of text under a rule.

use crate::output::{Output, Style};
use comfy_table::{
    Cell, CellAlignment, Color, ColumnConstraint, ContentArrangement, Table, TableComponent,
};

/// A table about rows, to which each column adds its cell.
pub(crate) struct Grid<'a, R> {
    output: &'a Output,
    rows: &'a [R],
    header: Vec<Cell>,
    /// By row.
    cells: Vec<Vec<Cell>>,
}

impl<'a, R> Grid<'a, R> {
    /// A table about these rows, without a column yet.
    pub(crate) fn of(rows: &'a [R], output: &'a Output) -> Self {
        Self {
            output,
            rows,
            header: Vec::new(),
            cells: rows.iter().map(|_| Vec::new()).collect(),
        }
    }

    /// A further column of text.
    pub(crate) fn text<C: Into<Cell>>(self, name: &str, cell: impl Fn(&'a R) -> C) -> Self {
        self.column(name, CellAlignment::Left, cell)
    }

    /// A further column of numbers.
    pub(crate) fn number<C: Into<Cell>>(self, name: &str, cell: impl Fn(&'a R) -> C) -> Self {
        self.column(name, CellAlignment::Right, cell)
    }

    fn column<C: Into<Cell>>(
        mut self,
        name: &str,
        alignment: CellAlignment,
        cell: impl Fn(&'a R) -> C,
    ) -> Self {
        self.header.push(Cell::new(name).set_alignment(alignment));
        for (row, cells) in self.rows.iter().zip(&mut self.cells) {
            cells.push(cell(row).into().set_alignment(alignment));
        }
        self
    }

    /// The table as text, each line ended.
    pub(crate) fn render(self) -> String {
        let painter = self.output.painter();
        let mut table = Table::new();
        table.load_preset(comfy_table::presets::NOTHING);
        table.set_style(TableComponent::HeaderLines, '-');
        match self.output.table_width() {
            Some(width) => {
                table.set_content_arrangement(ContentArrangement::Dynamic);
                table.set_width(u16::try_from(width).unwrap_or(u16::MAX));
            }
            None => {
                table.set_content_arrangement(ContentArrangement::Disabled);
            }
        }
        if painter.colour {
            table.enforce_styling();
        } else {
            table.force_no_tty();
        }
        table.set_header(self.header).add_rows(self.cells);
        for column in table.column_iter_mut() {
            column.set_padding((0, 2));
        }
        // Names are read as a whole; whatever has to give way is another column.
        if let Some(first) = table.column_mut(0) {
            first.set_constraint(ColumnConstraint::ContentWidth);
        }
        let mut text = String::new();
        for (index, line) in table.lines().enumerate() {
            let line = line.trim_end();
            // The first line holds the names of the columns, if none of them is too wide for it.
            if index == 0 {
                text.push_str(&painter.paint(Style::Bold, line));
            } else {
                text.push_str(line);
            }
            text.push('\n');
        }
        text
    }
}

/// A cell that stands out, if it has a style.
pub(crate) fn styled(text: impl ToString, style: Option<Style>) -> Cell {
    let cell = Cell::new(text);
    match style {
        Some(Style::Good) => cell.fg(Color::Green),
        Some(Style::Bad) => cell.fg(Color::Red),
        Some(Style::Caution) => cell.fg(Color::Yellow),
        Some(Style::Name | Style::Bold) | None => cell,
    }
}
