//! A chart in letters.

use crate::curve::{Curve, Layout};
use crate::scale::Scale;
use std::fmt::Write as _;

/// How many columns and rows there are, those of both ends included.
const COLUMNS: usize = 61;
const ROWS: usize = 16;
/// The letters of the curves; further curves begin again.
const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz";
/// Where several curves are.
const SEVERAL: char = '*';

/// The chart with a letter at each point; which curve that is follows below.
pub(crate) fn plot(
    curves: &[Curve],
    (x_label, y_label): (&str, &str),
    (x, y): (&Scale, &Scale),
) -> String {
    let mut signs = vec![[' '; COLUMNS]; ROWS];
    let mut meet = false;
    for (number, curve) in curves.iter().enumerate() {
        let letter = letter(number);
        let shown = curve.points.iter();
        for point in shown.filter(|point| x.has(point.x) && y.has(point.value)) {
            let row = ROWS - 1 - cell(y, point.value, ROWS);
            let Some(sign) = signs
                .get_mut(row)
                .and_then(|row| row.get_mut(cell(x, point.x, COLUMNS)))
            else {
                continue;
            };
            let is_free = *sign == ' ' || *sign == letter;
            meet |= !is_free;
            *sign = if is_free { letter } else { SEVERAL };
        }
    }
    let ticks: Vec<(usize, String)> = y
        .ticks(Layout::Whole)
        .into_iter()
        .map(|(tick, words)| (ROWS - 1 - cell(y, tick, ROWS), words))
        .collect();
    let room = ticks
        .iter()
        .map(|(_, words)| words.len())
        .max()
        .unwrap_or(0)
        + 2;
    let mut text = format!("{y_label}\n");
    for (number, row) in signs.iter().enumerate() {
        let tick = ticks.iter().find(|(at, _)| *at == number);
        let words = tick.map_or("", |(_, words)| words.as_str());
        let row: String = row.iter().collect();
        // Writing into a string cannot fail.
        let _ = writeln!(text, "{words:>room$} |{}", row.trim_end());
    }
    let _ = writeln!(text, "{:room$} +{}", "", "-".repeat(COLUMNS));
    let mut below = String::new();
    for (tick, words) in x.ticks(Layout::Whole) {
        let at = room + 2 + cell(x, tick, COLUMNS);
        // Numbers that would touch the one before are left out.
        if below.is_empty() || at > below.len() {
            let _ = write!(below, "{:1$}{words}", "", at - below.len());
        }
    }
    let _ = writeln!(text, "{below}  {x_label}");
    let names = curves.iter().enumerate();
    let names = names.map(|(number, curve)| format!("{} {}", letter(number), curve.name));
    let several = meet.then(|| format!("{SEVERAL} several"));
    let names: Vec<String> = names.chain(several).collect();
    let _ = writeln!(text, "{}", names.join("   "));
    text
}

fn letter(curve: usize) -> char {
    char::from(LETTERS[curve % LETTERS.len()])
}

/// Which of so many cells a value of the axis is in.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "between 0 and the number of cells"
)]
fn cell(scale: &Scale, value: f64, cells: usize) -> usize {
    let share = (value - scale.low) / (scale.high - scale.low);
    (share.clamp(0.0, 1.0) * (cells - 1) as f64).round() as usize
}
