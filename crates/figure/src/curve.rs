//! Curves, and how much of them is shown.

/// How much is shown of many points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// As in a paper: at most 16 markers and whiskers a curve, and three columns of names.
    Thinned,
    /// A marker and a whisker at each point, and columns as wide as their names.
    Whole,
}

/// A curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Its name in the legend.
    pub name: String,
    /// Its points; x ascends.
    pub points: Vec<Point>,
}

/// A point of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Where it is on the horizontal axis.
    pub x: f64,
    /// Its value.
    pub value: f64,
    /// The lower end of the value's interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}
