//! Line charts, of the width of a column (3.5 inches), told apart without colour.
//!
//! A [`Chart`] has curves with 95 % intervals; it becomes a [`Drawing`], a list of shapes in points of 1/72 inch, and that becomes SVG or PGF.
//! At a terminal it is drawn with letters. The same chart gives the same bytes: nothing depends on time, on a map's
//! order or on the fonts of a machine.
//!
//! It knows nothing of what is drawn, and reads and writes no files.
#![forbid(unsafe_code)]

mod chart;
mod curve;
mod legend;
mod marker;
mod pgf;
mod scale;
pub mod shape;
mod svg;
mod text;

pub use chart::{Chart, Frame, YAxis};
pub use curve::{Curve, Layout, Point};
pub use shape::Drawing;
