//! `.tex`: a drawing for the LaTeX package `rtsched` (G. Lipari).
//!
//! The commands are those of version 2.0 of the package. A document of its own that a paper can take the `RTGrid` environment from. Numbers are in the unit
//! that the caption names; one grid line is one step of it. Several domains and several CPUs have rows below the tasks.

use crate::chart::{Chart, Mark, Row, tick_step};
use std::fmt::Write as _;
use vestal_core::{Instant, Level};

/// The most grid lines.
const LINES_MAX: u64 = 40;

macro_rules! put {
    ($text:expr, $($format:tt)*) => {
        // Writing to a string does not fail.
        let _ = writeln!($text, $($format)*);
    };
}

/// Instants in steps of the grid.
struct Grid {
    from: u64,
    step: u64,
}

impl Grid {
    /// Three digits after the point: a picture shows no more.
    fn at(&self, at: Instant) -> String {
        let since = at.as_nanos().saturating_sub(self.from);
        let (whole, rest) = (since / self.step, since % self.step);
        let thousandths = u128::from(rest) * 1000 / u128::from(self.step);
        if thousandths == 0 {
            return whole.to_string();
        }
        let fraction = format!("{thousandths:03}");
        format!("{whole}.{}", fraction.trim_end_matches('0'))
    }
}

pub(super) fn draw(chart: Chart) -> String {
    let span = chart.window.length();
    let grid = Grid {
        from: chart.window.from.as_nanos(),
        step: tick_step(span, LINES_MAX),
    };
    let lines = span.as_nanos().div_ceil(grid.step);
    let cpus = chart.cpus();
    let modes = if chart.has_domains() {
        chart.header.domain_count()
    } else {
        0
    };
    let rows = chart.rows.len() + modes + cpus.len();
    let mut text = String::new();
    put!(text, "% {} of {} ns each", "Time in grid steps", grid.step);
    put!(text, "\\documentclass{{standalone}}");
    put!(text, "\\usepackage{{xcolor}}");
    put!(text, "\\usepackage{{rtsched}}");
    put!(text, "\\definecolor{{vestalLO}}{{HTML}}{{2166AC}}");
    put!(text, "\\definecolor{{vestalHI}}{{HTML}}{{B2182B}}");
    put!(text, "\\begin{{document}}");
    put!(
        text,
        "\\begin{{RTGrid}}[width=16cm,nosymbols=1]{{{rows}}}{{{lines}}}"
    );
    // One mode shades the whole picture; several have rows of their own.
    for band in chart.bands.iter().filter(|_| modes == 0) {
        put!(
            text,
            "\\RTBox{{{}}}{{{}}} % mode {}",
            grid.at(band.from),
            grid.at(band.to),
            comment(&chart.header.level_name(band.mode))
        );
    }
    for (row, task) in (1..).zip(&chart.rows) {
        draw_row(&mut text, row, task, &grid);
    }
    let first = chart.rows.len() + 1;
    for (row, domain) in (first..).zip(chart.header.domain_ids().take(modes)) {
        let name = escape(&chart.header.domain_name(domain));
        put!(text, "\\RowLabel{{{row}}}{{mode {name}}}");
        for band in chart.bands.iter().filter(|band| band.domain == domain) {
            let mode = comment(&chart.header.level_name(band.mode));
            let (from, to) = (grid.at(band.from), grid.at(band.to));
            put!(
                text,
                "\\TaskExecution[color=lightgray]{{{row}}}{{{from}}}{{{to}}} % mode {mode}"
            );
        }
    }
    for (row, &cpu) in (first + modes..).zip(&cpus) {
        put!(text, "\\RowLabel{{{row}}}{{CPU {}}}", cpu.0);
        for (place, slice) in chart.lane(cpu) {
            let task = chart.rows.get(place).map(|row| &row.task);
            let (from, to) = (grid.at(slice.from), grid.at(slice.to));
            put!(
                text,
                "\\TaskExecution[color={}]{{{row}}}{{{from}}}{{{to}}} % {}",
                task.map_or("vestalLO", |task| colour(task.criticality)),
                task.map_or_else(String::new, |task| comment(&task.name))
            );
        }
    }
    put!(text, "\\end{{RTGrid}}");
    put!(text, "\\end{{document}}");
    text
}

fn draw_row(text: &mut String, row: usize, task: &Row, grid: &Grid) {
    // Labels count thirds of rows.
    let third = 3 * row;
    put!(text, "\\RowLabel{{{row}}}{{{}}}", escape(&task.task.name));
    for (at, mark) in &task.marks {
        let (at_ns, at) = (at.as_nanos(), grid.at(*at));
        let label = |text: &mut String, word| {
            put!(text, "\\Label{{{third}}}{{{at}}}{{\\tiny {word}}}");
        };
        match mark {
            Mark::Release => {
                put!(text, "\\TaskArrival{{{row}}}{{{at}}}");
            }
            Mark::Deadline { at_release } => {
                // Where the next job arrives at the deadline, the arrow stands a fifth of a step
                // before it.
                let aside = if *at_release { grid.step / 5 } else { 0 };
                let words = match aside {
                    0 => String::new(),
                    _ => format!(" % deadline at {at}, drawn a fifth of a step before it"),
                };
                let at = grid.at(Instant::from_nanos(at_ns.saturating_sub(aside)));
                put!(text, "\\TaskDeadline{{{row}}}{{{at}}}{words}");
            }
            Mark::Overrun => label(text, "overrun"),
            Mark::Miss => label(text, "miss"),
            Mark::Drop => label(text, "drop"),
        }
    }
    let colour = colour(task.task.criticality);
    for slice in &task.slices {
        put!(
            text,
            "\\TaskExecution[color={colour}]{{{row}}}{{{}}}{{{}}}",
            grid.at(slice.from),
            grid.at(slice.to)
        );
    }
}

fn colour(level: Level) -> &'static str {
    if level > Level::LOWEST {
        "vestalHI"
    } else {
        "vestalLO"
    }
}

/// Text for LaTeX.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        match letter {
            '#' | '$' | '%' | '&' | '_' | '{' | '}' => {
                escaped.push('\\');
                escaped.push(letter);
            }
            '\\' => escaped.push_str("\\textbackslash{}"),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            control if control.is_control() => escaped.push(' '),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Text behind a `%`.
fn comment(text: &str) -> String {
    text.chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_break_the_document() {
        assert_eq!(escape("a_b\\{%}\n"), "a\\_b\\textbackslash{}\\{\\%\\} ");
    }

    #[test]
    fn instants_are_steps_of_the_grid_from_the_window_on() {
        let grid = Grid {
            from: 100,
            step: 1000,
        };
        assert_eq!(grid.at(Instant::from_nanos(100)), "0");
        assert_eq!(grid.at(Instant::from_nanos(2350)), "2.25");
    }
}
