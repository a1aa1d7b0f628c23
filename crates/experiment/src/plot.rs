//! Charts of what was found: those of `vestal-figure`, with shares as points.

use crate::summary::Share;
pub use vestal_figure::{Chart, Curve, Frame, Layout, Point, YAxis};

impl Share {
    /// A point of a curve: this share over `x`.
    #[must_use]
    pub fn at(self, x: f64) -> Point {
        let Self { value, low, high } = self;
        Point {
            x,
            value,
            low,
            high,
        }
    }
}
