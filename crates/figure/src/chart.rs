//! Charts, and how they become drawings.

use crate::curve::{Curve, Layout, Point};
use crate::legend::Legend;
use crate::marker::{colour, line, marker};
use crate::scale::Scale;
use crate::shape::{Anchor, Drawing, FONT_SIZE, Place, Shape, Stroke};
use crate::{pgf, svg, text};

/// A chart.
#[derive(Clone, Debug)]
pub struct Chart {
    /// The line above it, if there is to be one.
    pub title: Option<String>,
    /// What the horizontal axis counts.
    pub x_label: String,
    /// What the vertical axis counts.
    pub y_label: String,
    /// What it can show.
    pub y_axis: YAxis,
    /// The ends of the horizontal axis; without them those of the data. Points outside are not drawn.
    pub x_range: Option<(f64, f64)>,
    /// The same of the vertical axis.
    pub y_range: Option<(f64, f64)>,
    /// Whether everything is shown.
    pub layout: Layout,
    /// The curves, in the order of the legend.
    pub curves: Vec<Curve>,
}

/// The values of a vertical axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum YAxis {
    /// Shares, from 0 to 1.
    Shares,
    /// Any numbers; zero is on it.
    Numbers,
    /// Numbers that are compared with each other; zero need not be on it.
    Near,
}

/// Where the axes of a drawing are, and what their ends stand for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// The left and the right end of the horizontal axis, in points of the drawing.
    pub across: (f64, f64),
    /// The lower and the upper end of the vertical axis.
    pub up: (f64, f64),
    /// What the ends of the horizontal axis stand for.
    pub x: (f64, f64),
    /// What the ends of the vertical axis stand for.
    pub y: (f64, f64),
}

const WIDTH: f64 = 252.0;
const PLOT_HEIGHT: f64 = 150.0;
const LEFT: f64 = 36.0;
const RIGHT: f64 = 8.0;
const TOP: f64 = 20.0;
/// Room for the numbers and the label of the horizontal axis.
const UNDER: f64 = 30.0;
/// More markers than this on a curve hide the line.
const MARKERS_MAX: usize = 16;
/// A shorter whisker is hidden by its marker.
const WHISKER_MIN: f64 = 0.5;

impl Chart {
    /// A chart as in a paper.
    #[must_use]
    pub fn new(title: &str, labels: (&str, &str), y_axis: YAxis, curves: Vec<Curve>) -> Self {
        Self {
            title: Some(title.to_owned()),
            x_label: labels.0.to_owned(),
            y_label: labels.1.to_owned(),
            y_axis,
            x_range: None,
            y_range: None,
            layout: Layout::Thinned,
            curves,
        }
    }

    /// The same with everything that is known of its points.
    #[must_use]
    pub fn whole(self) -> Self {
        Self {
            layout: Layout::Whole,
            ..self
        }
    }

    /// The chart as an SVG document.
    #[must_use]
    pub fn to_svg(&self) -> String {
        svg::document(&self.drawing())
    }

    /// The chart as PGF, for a TeX document with `\usepackage{pgf}`.
    #[must_use]
    pub fn to_pgf(&self) -> String {
        pgf::picture(&self.drawing())
    }

    /// The chart in letters, for a terminal: a letter a curve, and the legend below.
    #[must_use]
    pub fn to_text(&self) -> String {
        let labels = (self.x_label.as_str(), self.y_label.as_str());
        text::plot(&self.curves, labels, (&self.x_scale(), &self.y_scale()))
    }

    /// Where the axes are.
    #[must_use]
    pub fn frame(&self) -> Frame {
        let (x, y) = (self.x_scale(), self.y_scale());
        Frame {
            across: x.ends,
            up: y.ends,
            x: (x.low, x.high),
            y: (y.low, y.high),
        }
    }

    /// The chart as shapes. O(points).
    #[must_use]
    pub fn drawing(&self) -> Drawing {
        let legend = Legend::of(&self.curves, self.layout, WIDTH);
        let legend_top = TOP + PLOT_HEIGHT + UNDER;
        let (x, y) = (self.x_scale(), self.y_scale());
        let mut shapes = Vec::new();
        if let Some(title) = &self.title {
            let middle = f64::midpoint(x.ends.0, x.ends.1);
            shapes.push(Shape::Text {
                at: (middle, 11.0),
                anchor: Anchor::Middle,
                words: title.clone(),
                size: 8.5,
                turned: false,
            });
        }
        self.axes(&mut shapes, &x, &y);
        let curves = self.curves.iter().enumerate();
        shapes.extend(curves.map(|(style, curve)| self.curve(curve, style, &x, &y)));
        legend.draw(&mut shapes, legend_top);
        Drawing {
            width: WIDTH,
            height: legend_top + legend.height() + 4.0,
            title: self.title.clone(),
            shapes,
        }
    }

    fn points(&self) -> impl Iterator<Item = &Point> {
        self.curves.iter().flat_map(|curve| &curve.points)
    }

    fn x_scale(&self) -> Scale {
        let values = || self.points().map(|point| point.x);
        let (low, high) = (
            values().fold(f64::INFINITY, f64::min),
            values().fold(f64::NEG_INFINITY, f64::max),
        );
        let usual = match low < high {
            true => (low, high),
            false if low.is_finite() => (low - 0.5, low + 0.5),
            false => (0.0, 1.0),
        };
        let (low, high) = self.x_range.unwrap_or(usual);
        Scale {
            low,
            high,
            ends: (LEFT, WIDTH - RIGHT),
        }
    }

    /// For shares from 0 to 1, or the tenths around the data if they need much less; for numbers over the values
    /// and zero, or over the values alone. Intervals that go beyond are cut.
    fn y_scale(&self) -> Scale {
        let values = || self.points().map(|point| point.value);
        let usual = match self.y_axis {
            YAxis::Shares => {
                let low = (values().fold(1.0, f64::min) * 10.0).floor() / 10.0;
                let high = (values().fold(0.0, f64::max) * 10.0).ceil() / 10.0;
                match high - low > 0.65 || high <= low {
                    true => (0.0, 1.0),
                    false => (low, high),
                }
            }
            YAxis::Numbers => {
                let (low, high) = (values().fold(0.0, f64::min), values().fold(0.0, f64::max));
                let room = if high > low { (high - low) * 0.05 } else { 1.0 };
                (if low < 0.0 { low - room } else { 0.0 }, high + room)
            }
            YAxis::Near => {
                let low = values().fold(f64::INFINITY, f64::min);
                let high = values().fold(f64::NEG_INFINITY, f64::max);
                match low < high {
                    true => {
                        let room = (high - low) * 0.05;
                        (low - room, high + room)
                    }
                    false if low.is_finite() => (low - 0.5, low + 0.5),
                    false => (0.0, 1.0),
                }
            }
        };
        let (low, high) = self.y_range.unwrap_or(usual);
        Scale {
            low,
            high,
            ends: (TOP + PLOT_HEIGHT, TOP),
        }
    }

    fn axes(&self, shapes: &mut Vec<Shape>, x: &Scale, y: &Scale) {
        let (left, right) = x.ends;
        let (bottom, top) = y.ends;
        let text = |at: Place, anchor, words: &str| Shape::Text {
            at,
            anchor,
            words: words.to_owned(),
            size: FONT_SIZE,
            turned: false,
        };
        for (tick, words) in y.ticks(self.layout) {
            let at = y.at(tick);
            shapes.push(Shape::Line {
                from: (left, at),
                to: (right, at),
                stroke: Stroke::solid("#ddd", 0.4),
            });
            shapes.push(text((left - 3.0, at + 2.8), Anchor::End, &words));
        }
        for (tick, words) in x.ticks(self.layout) {
            let at = x.at(tick);
            shapes.push(Shape::Line {
                from: (at, bottom),
                to: (at, bottom + 3.0),
                stroke: Stroke::solid("#000", 0.6),
            });
            shapes.push(text((at, bottom + 11.0), Anchor::Middle, &words));
        }
        shapes.push(Shape::Frame {
            corner: (left, top),
            size: (right - left, bottom - top),
            stroke: Stroke::solid("#000", 0.6),
        });
        let middle = (f64::midpoint(left, right), bottom + 21.5);
        shapes.push(text(middle, Anchor::Middle, &self.x_label));
        shapes.push(Shape::Text {
            at: (9.0, f64::midpoint(bottom, top)),
            anchor: Anchor::Middle,
            words: self.y_label.clone(),
            size: FONT_SIZE,
            turned: true,
        });
    }

    /// The line of a curve, then its whiskers and markers.
    fn curve(&self, curve: &Curve, style: usize, x: &Scale, y: &Scale) -> Shape {
        let is_shown = |point: &&Point| x.has(point.x) && y.has(point.value);
        let shown: Vec<&Point> = curve.points.iter().filter(is_shown).collect();
        let places: Vec<Place> = shown
            .iter()
            .map(|point| (x.at(point.x), y.at(point.value)))
            .collect();
        // Curves that share an interval put their markers at different places.
        let (first, every) = match self.layout {
            Layout::Whole => (0, 1),
            Layout::Thinned => {
                let every = places.len().div_ceil(MARKERS_MAX).max(1);
                (style % every, every)
            }
        };
        let mut shapes = match shown.len() == curve.points.len() {
            true => vec![line(places.clone(), style)],
            false => {
                let all = curve.points.iter();
                let all = all.map(|point| (x.at(point.x), y.at(point.value)));
                let runs = inside(&all.collect::<Vec<_>>(), x.ends, y.ends).into_iter();
                runs.map(|run| line(run, style)).collect()
            }
        };
        for (place, point) in places.iter().zip(&shown).skip(first).step_by(every) {
            let (low, high) = (y.at(point.low.max(y.low)), y.at(point.high.min(y.high)));
            if low - high > WHISKER_MIN {
                shapes.push(Shape::Line {
                    from: (place.0, low),
                    to: (place.0, high),
                    stroke: Stroke::solid(colour(style), 0.5),
                });
            }
            shapes.push(marker(*place, style));
        }
        Shape::Group {
            name: curve.name.clone(),
            shapes,
        }
    }
}

/// What lies inside a frame of lines from place to place: where they leave it, they are cut at its border. O(places).
fn inside(places: &[Place], across: (f64, f64), up: (f64, f64)) -> Vec<Vec<Place>> {
    let mut runs: Vec<Vec<Place>> = Vec::new();
    for ends in places.windows(2) {
        let [from, to] = [ends[0], ends[1]];
        // How much of the segment is inside (Liang and Barsky 1984): from the first share of it to the second.
        let (mut first, mut last) = (0.0_f64, 1.0_f64);
        let low_high = |(a, b): (f64, f64)| (a.min(b), a.max(b));
        for (begins, step, (low, high)) in [
            (from.0, to.0 - from.0, low_high(across)),
            (from.1, to.1 - from.1, low_high(up)),
        ] {
            for (room, step) in [(begins - low, -step), (high - begins, step)] {
                if step < 0.0 {
                    first = first.max(room / step);
                } else if step > 0.0 {
                    last = last.min(room / step);
                } else if room < 0.0 {
                    // It runs beside the frame.
                    last = -1.0;
                }
            }
        }
        if first > last {
            continue;
        }
        let at = |share: f64| {
            let (dx, dy) = (to.0 - from.0, to.1 - from.1);
            (from.0 + share * dx, from.1 + share * dy)
        };
        match runs.last_mut() {
            Some(run) if first == 0.0 && run.last() == Some(&from) => run.push(at(last)),
            Some(_) | None => runs.push(vec![at(first), at(last)]),
        }
        // Where it goes on inside, it goes on from the place itself.
        if last == 1.0
            && let Some(end) = runs.last_mut().and_then(|run| run.last_mut())
        {
            *end = to;
        }
    }
    runs
}

#[cfg(test)]
mod tests;
