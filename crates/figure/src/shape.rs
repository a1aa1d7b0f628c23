//! What a drawing consists of, in points of 1/72 inch from its upper left corner.

/// A place: to the right, and down.
pub type Place = (f64, f64);

/// A colour, as CSS writes it.
pub type Colour = &'static str;

/// Shapes on white paper.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    /// How wide it is.
    pub width: f64,
    /// How high it is.
    pub height: f64,
    /// What it is called, if it is called anything.
    pub title: Option<String>,
    /// The shapes; later ones cover earlier ones.
    pub shapes: Vec<Shape>,
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stroke {
    /// Its colour.
    pub colour: Colour,
    /// Its width.
    pub width: f64,
    /// Lengths of its dashes and of the gaps between them, by turns; none of a solid line.
    pub dashes: &'static [f64],
}

impl Stroke {
    /// A solid line.
    #[must_use]
    pub const fn solid(colour: Colour, width: f64) -> Self {
        Self {
            colour,
            width,
            dashes: &[],
        }
    }
}

/// Which end of a text its place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The first.
    Start,
    /// Neither.
    Middle,
    /// The last.
    End,
}

/// The size of text that says nothing else.
pub const FONT_SIZE: f64 = 8.0;

/// A shape.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A straight line.
    Line {
        /// Where it begins.
        from: Place,
        /// Where it ends.
        to: Place,
        /// How it is drawn.
        stroke: Stroke,
    },
    /// Straight lines from place to place.
    Polyline {
        /// The places.
        points: Vec<Place>,
        /// How it is drawn.
        stroke: Stroke,
    },
    /// A filled polygon.
    Polygon {
        /// Its corners.
        corners: Vec<Place>,
        /// What it is filled with.
        fill: Colour,
        /// Its border.
        stroke: Stroke,
    },
    /// A filled circle.
    Circle {
        /// Its centre.
        at: Place,
        /// Its radius.
        radius: f64,
        /// What it is filled with.
        fill: Colour,
        /// Its border.
        stroke: Stroke,
    },
    /// Several straight lines that belong together.
    Cross {
        /// Their ends.
        lines: [[Place; 2]; 2],
        /// How they are drawn.
        stroke: Stroke,
    },
    /// An empty rectangle.
    Frame {
        /// Its upper left corner.
        corner: Place,
        /// How wide and how high it is.
        size: Place,
        /// Its border.
        stroke: Stroke,
    },
    /// A line of text.
    Text {
        /// Where its anchor is, on the base line.
        at: Place,
        /// Which end that is.
        anchor: Anchor,
        /// What it says.
        words: String,
        /// How large it is.
        size: f64,
        /// Whether it is read from below, turned around `at`.
        turned: bool,
    },
    /// Shapes that belong together.
    Group {
        /// What they are.
        name: String,
        /// The shapes.
        shapes: Vec<Shape>,
    },
}
