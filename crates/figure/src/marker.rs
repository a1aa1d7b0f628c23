//! What tells curves apart: colours (Okabe and Ito's palette, which colour-blind readers can tell apart), dashes
//! and markers, by the number of the curve.

use crate::shape::{Colour, Place, Shape, Stroke};

const COLOURS: [Colour; 8] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#7f7f7f",
];
const DASHES: [&[f64]; 8] = [
    &[],
    &[5.0, 2.0],
    &[1.5, 1.5],
    &[6.0, 2.0, 1.5, 2.0],
    &[3.0, 1.5],
    &[8.0, 2.0],
    &[5.0, 1.5, 1.5, 1.5, 1.5, 1.5],
    &[1.0, 2.0],
];

pub(crate) fn colour(style: usize) -> Colour {
    COLOURS[style % COLOURS.len()]
}

/// The line of a curve.
pub(crate) fn line(points: Vec<Place>, style: usize) -> Shape {
    let stroke = Stroke {
        colour: colour(style),
        width: 1.0,
        dashes: DASHES[style % DASHES.len()],
    };
    Shape::Polyline { points, stroke }
}

/// Filled markers and open ones take turns.
pub(crate) fn marker((x, y): Place, style: usize) -> Shape {
    let colour = colour(style);
    let fill = match style.is_multiple_of(2) {
        true => colour,
        false => "#fff",
    };
    let stroke = Stroke::solid(colour, 0.8);
    let polygon = |offsets: &[Place]| Shape::Polygon {
        corners: offsets.iter().map(|(dx, dy)| (x + dx, y + dy)).collect(),
        fill,
        stroke,
    };
    let cross = |lines: [[Place; 2]; 2]| Shape::Cross {
        lines: lines.map(|ends| ends.map(|(dx, dy)| (x + dx, y + dy))),
        stroke: Stroke::solid(colour, 1.0),
    };
    let circle = |radius, fill| Shape::Circle {
        at: (x, y),
        radius,
        fill,
        stroke,
    };
    match style % 8 {
        0 => circle(1.9, fill),
        1 => polygon(&[(-1.8, -1.8), (1.8, -1.8), (1.8, 1.8), (-1.8, 1.8)]),
        2 => polygon(&[(0.0, -2.4), (2.2, 1.6), (-2.2, 1.6)]),
        3 => polygon(&[(0.0, -2.5), (2.5, 0.0), (0.0, 2.5), (-2.5, 0.0)]),
        4 => polygon(&[(0.0, 2.4), (2.2, -1.6), (-2.2, -1.6)]),
        5 => cross([[(-2.0, -2.0), (2.0, 2.0)], [(-2.0, 2.0), (2.0, -2.0)]]),
        6 => cross([[(-2.4, 0.0), (2.4, 0.0)], [(0.0, -2.4), (0.0, 2.4)]]),
        _ => circle(2.0, "#fff"),
    }
}
