//! Which curve is which, below a chart.

use crate::curve::{Curve, Layout};
use crate::marker::{line, marker};
use crate::shape::{Anchor, FONT_SIZE, Shape};

const ROW: f64 = 11.0;
/// Left of the first column, and right of the last one.
const SIDE: f64 = 12.0;
/// From the left end of a column to its name, and from that to the next column.
const SAMPLE: f64 = 26.0;
const SPACE: f64 = 4.0;
const COLUMNS_MAX: usize = 3;

/// How wide signs from the space to the tilde are in Helvetica, in thousandths of the font's size (Adobe's metrics of it).
const WIDTHS: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];
/// Another sign is taken for a wide one.
const WIDTH_MAX: u16 = 1015;

/// How wide a text is.
fn width(text: &str) -> f64 {
    let of = |letter: char| {
        let index = u32::from(letter).checked_sub(32);
        let index = index.and_then(|index| usize::try_from(index).ok());
        index
            .and_then(|index| WIDTHS.get(index))
            .unwrap_or(&WIDTH_MAX)
    };
    let thousandths: f64 = text.chars().map(|letter| f64::from(*of(letter))).sum();
    thousandths / 1000.0 * FONT_SIZE
}

/// A legend for these curves.
pub(crate) struct Legend<'a> {
    curves: &'a [Curve],
    columns: usize,
    /// How wide the chart is.
    width: f64,
}

impl<'a> Legend<'a> {
    /// With as many columns as have room for every name; those that are kept have three, whatever their names are.
    pub(crate) fn of(curves: &'a [Curve], layout: Layout, width: f64) -> Self {
        let longest = curves.iter().map(|curve| self::width(&curve.name));
        let longest = longest.fold(0.0, f64::max);
        let fits = |columns: &usize| SAMPLE + longest + SPACE <= pitch(width, *columns);
        let columns = match layout {
            Layout::Thinned => COLUMNS_MAX,
            Layout::Whole => (2..=COLUMNS_MAX).rev().find(fits).unwrap_or(1),
        };
        Self {
            curves,
            columns,
            width,
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a legend of some rows")]
    pub(crate) fn height(&self) -> f64 {
        self.curves.len().div_ceil(self.columns) as f64 * ROW
    }

    pub(crate) fn draw(&self, shapes: &mut Vec<Shape>, top: f64) {
        for (style, curve) in self.curves.iter().enumerate() {
            #[expect(clippy::cast_precision_loss, reason = "a legend of some rows")]
            let (left, at) = (
                SIDE + 6.0 + (style % self.columns) as f64 * pitch(self.width, self.columns),
                top + 5.0 + (style / self.columns) as f64 * ROW,
            );
            shapes.push(line(vec![(left, at), (left + 22.0, at)], style));
            shapes.push(marker((left + 11.0, at), style));
            shapes.push(Shape::Text {
                at: (left + SAMPLE, at + 2.8),
                anchor: Anchor::Start,
                words: curve.name.clone(),
                size: FONT_SIZE,
                turned: false,
            });
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "three columns at most")]
fn pitch(width: f64, columns: usize) -> f64 {
    (width - 2.0 * SIDE) / columns as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_many_as_names_have_room_for() {
        let columns = |longest: &str, layout| {
            let curve = |name: &str| Curve {
                name: name.to_owned(),
                points: Vec::new(),
            };
            Legend::of(&[curve("a"), curve(longest)], layout, 252.0).columns
        };
        assert_eq!(columns("amc-rtb", Layout::Whole), 3);
        assert_eq!(columns("sim:amc/overrun=0.1", Layout::Whole), 2);
        assert_eq!(
            columns("drop-ratio:edf-vd/overrun={p}:all", Layout::Whole),
            1
        );
        assert_eq!(
            columns("drop-ratio:edf-vd/overrun={p}:all", Layout::Thinned),
            3
        );
        // In Helvetica of 8 points: 0.278 + 0.944 + 0.222 of them.
        assert!((width(" Wi") - 8.0 * 1.444).abs() < 1e-9);
        assert!((width("~\u{e4}") - 8.0 * 1.599).abs() < 1e-9);
    }
}
