//! Tables without frames: columns of text under a rule.

use crate::output::{Output, Painter, Style};
use comfy_table::{
    Cell, CellAlignment, Color, ColumnConstraint, ContentArrangement, Table, TableComponent,
};

/// Which way a column's text is aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    Text(&'static str),
    Number(&'static str),
}

/// A table under construction.
#[derive(Debug)]
pub(crate) struct Grid {
    columns: Vec<(String, CellAlignment)>,
    table: Table,
    painter: Painter,
}

impl Grid {
    pub(crate) fn new(output: &Output, columns: &[Column]) -> Self {
        let mut grid = Self::empty(output);
        for column in columns {
            match *column {
                Column::Text(name) => grid.add_column(name, CellAlignment::Left),
                Column::Number(name) => grid.add_column(name, CellAlignment::Right),
            }
        }
        grid
    }

    fn empty(output: &Output) -> Self {
        let painter = output.painter();
        let mut table = Table::new();
        table.load_preset(comfy_table::presets::NOTHING);
        table.set_style(TableComponent::HeaderLines, '-');
        table.set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(u16::try_from(output.width()).unwrap_or(u16::MAX));
        if painter.colour {
            table.enforce_styling();
        } else {
            table.force_no_tty();
        }
        Self {
            columns: Vec::new(),
            table,
            painter,
        }
    }

    fn add_column(&mut self, name: &str, alignment: CellAlignment) {
        self.columns.push((name.to_owned(), alignment));
    }

    /// A further column of numbers, with a name known at run time only.
    pub(crate) fn number(&mut self, name: &str) {
        self.add_column(name, CellAlignment::Right);
    }

    /// A further column of text.
    pub(crate) fn text(&mut self, name: &str) {
        self.add_column(name, CellAlignment::Left);
    }

    /// A row; cells beyond the last column are not shown.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.styled_row(cells.into_iter().map(|text| (text, None)).collect());
    }

    /// A row of which some cells stand out.
    pub(crate) fn styled_row(&mut self, cells: Vec<(String, Option<Style>)>) {
        let cells = cells
            .into_iter()
            .zip(&self.columns)
            .map(|((text, style), (_, alignment))| {
                let cell = Cell::new(text).set_alignment(*alignment);
                match style {
                    Some(Style::Good) => cell.fg(Color::Green),
                    Some(Style::Bad) => cell.fg(Color::Red),
                    Some(Style::Caution) => cell.fg(Color::Yellow),
                    Some(Style::Name | Style::Bold) | None => cell,
                }
            });
        self.table.add_row(cells.collect::<Vec<Cell>>());
    }

    /// The table as text, each line ended.
    pub(crate) fn render(mut self) -> String {
        let header = self
            .columns
            .iter()
            .map(|(name, alignment)| Cell::new(name).set_alignment(*alignment))
            .collect::<Vec<Cell>>();
        self.table.set_header(header);
        for column in self.table.column_iter_mut() {
            column.set_padding((0, 2));
        }
        // Names are read as a whole; whatever has to give way is another column.
        if let Some(first) = self.table.column_mut(0) {
            first.set_constraint(ColumnConstraint::ContentWidth);
        }
        let mut text = String::new();
        for (index, line) in self.table.lines().enumerate() {
            let line = line.trim_end();
            // The first line holds the names of the columns, if none of them is too wide for it.
            if index == 0 {
                text.push_str(&self.painter.paint(Style::Bold, line));
            } else {
                text.push_str(line);
            }
            text.push('\n');
        }
        text
    }
}
