//! Line charts as SVG, of the width of a column (3.5 inches), told apart without colour.
//!
//! Coordinates are points of 1/72 inch. Every curve has its colour (Okabe and Ito's palette, which
//! colour-blind readers can tell apart), its marker and its dashes; 95 % intervals are whiskers. Text
//! stays text. The same chart gives the same bytes: numbers have two decimals, nothing depends on time
//! or on a map's order.

use crate::summary::Share;
use std::fmt::Write as _;

/// A chart.
#[derive(Clone, Debug)]
pub struct Chart {
    /// The line above it.
    pub title: String,
    /// What the horizontal axis counts.
    pub x_label: String,
    /// What the vertical axis counts.
    pub y_label: String,
    /// What it can show.
    pub y_axis: YAxis,
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

/// A curve.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Its name in the legend.
    pub name: String,
    /// x, and y with its interval; x ascends.
    pub points: Vec<(f64, Share)>,
}

const WIDTH: f64 = 252.0;
const PLOT_HEIGHT: f64 = 150.0;
const LEFT: f64 = 36.0;
const RIGHT: f64 = 8.0;
const TOP: f64 = 20.0;
/// Room for the numbers and the label of the horizontal axis.
const UNDER: f64 = 30.0;
const LEGEND_ROW: f64 = 11.0;
const LEGEND_COLUMNS: usize = 3;
/// More markers than this on a curve hide the line.
const MARKERS_MAX: usize = 16;

const COLOURS: [&str; 8] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#7f7f7f",
];
const DASHES: [&str; 8] = [
    "",
    "5 2",
    "1.5 1.5",
    "6 2 1.5 2",
    "3 1.5",
    "8 2",
    "5 1.5 1.5 1.5 1.5 1.5",
    "1 2",
];

/// An axis from data to points.
struct Scale {
    low: f64,
    high: f64,
    /// Where `low` and `high` are drawn.
    ends: (f64, f64),
}

impl Scale {
    fn at(&self, value: f64) -> f64 {
        let share = (value - self.low) / (self.high - self.low);
        self.ends.0 + share * (self.ends.1 - self.ends.0)
    }

    /// Round numbers from one end to the other, at most seven.
    fn ticks(&self) -> Vec<f64> {
        let span = self.high - self.low;
        let steps = [
            0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1.0, 2.0, 4.0, 5.0, 10.0, 20.0, 50.0, 100.0,
            200.0, 500.0, 1000.0,
        ];
        let step = steps
            .into_iter()
            .find(|step| span / step <= 6.001)
            .unwrap_or(span);
        let mut ticks = Vec::new();
        let mut tick = (self.low / step - 1e-9).ceil() * step;
        while tick <= self.high + step * 1e-6 {
            ticks.push(tick);
            tick += step;
        }
        ticks
    }
}

impl Chart {
    /// The chart as an SVG document.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let rows = self.curves.len().div_ceil(LEGEND_COLUMNS);
        let legend_top = TOP + PLOT_HEIGHT + UNDER;
        #[expect(clippy::cast_precision_loss, reason = "a legend of some rows")]
        let height = legend_top + rows as f64 * LEGEND_ROW + 4.0;
        let (x, y) = (self.x_scale(), self.y_scale());
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"3.5in\" height=\"{:.4}in\" viewBox=\"0 0 {WIDTH} {height:.2}\" \
             font-family=\"Helvetica, Arial, sans-serif\" font-size=\"8\" fill=\"#000\">\n\
             <title>{}</title>\n<rect width=\"{WIDTH}\" height=\"{height:.2}\" fill=\"#fff\"/>\n",
            height / 72.0,
            escaped(&self.title)
        );
        let middle = f64::midpoint(x.ends.0, x.ends.1);
        text(
            &mut svg,
            (middle, 11.0),
            "middle",
            &self.title,
            " font-size=\"8.5\"",
        );
        self.axes(&mut svg, &x, &y);
        for (style, curve) in self.curves.iter().enumerate() {
            draw(&mut svg, curve, style, &x, &y);
        }
        self.legend(&mut svg, legend_top);
        svg.push_str("</svg>\n");
        svg
    }

    fn x_scale(&self) -> Scale {
        let values = || {
            self.curves
                .iter()
                .flat_map(|curve| curve.points.iter().map(|(x, _)| *x))
        };
        let (low, high) = (
            values().fold(f64::INFINITY, f64::min),
            values().fold(f64::NEG_INFINITY, f64::max),
        );
        let (low, high) = match low < high {
            true => (low, high),
            false if low.is_finite() => (low - 0.5, low + 0.5),
            false => (0.0, 1.0),
        };
        Scale {
            low,
            high,
            ends: (LEFT, WIDTH - RIGHT),
        }
    }

    /// For shares from 0 to 1, or the tenths around the data if they need much less; for numbers over the values
    /// and zero, or over the values alone. Intervals that go beyond are cut.
    fn y_scale(&self) -> Scale {
        let values = || {
            let points = self.curves.iter().flat_map(|curve| &curve.points);
            points.map(|(_, y)| y.value)
        };
        let (low, high) = match self.y_axis {
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
        Scale {
            low,
            high,
            ends: (TOP + PLOT_HEIGHT, TOP),
        }
    }

    fn axes(&self, svg: &mut String, x: &Scale, y: &Scale) {
        let (left, right) = x.ends;
        let (bottom, top) = y.ends;
        for tick in y.ticks() {
            let at = y.at(tick);
            line(svg, (left, at), (right, at), "#ddd", 0.4);
            text(svg, (left - 3.0, at + 2.8), "end", &number(tick), "");
        }
        for tick in x.ticks() {
            let at = x.at(tick);
            line(svg, (at, bottom), (at, bottom + 3.0), "#000", 0.6);
            text(svg, (at, bottom + 11.0), "middle", &number(tick), "");
        }
        let _ = writeln!(
            svg,
            "<rect x=\"{left:.2}\" y=\"{top:.2}\" width=\"{:.2}\" height=\"{:.2}\" fill=\"none\" stroke=\"#000\" stroke-width=\"0.6\"/>",
            right - left,
            bottom - top
        );
        text(
            svg,
            (f64::midpoint(left, right), bottom + 21.5),
            "middle",
            &self.x_label,
            "",
        );
        let middle = f64::midpoint(bottom, top);
        let turned = format!(" transform=\"rotate(-90 9 {middle:.2})\"");
        text(svg, (9.0, middle), "middle", &self.y_label, &turned);
    }

    fn legend(&self, svg: &mut String, top: f64) {
        let column = (WIDTH - 24.0) / 3.0;
        for (style, curve) in self.curves.iter().enumerate() {
            #[expect(clippy::cast_precision_loss, reason = "a legend of some rows")]
            let (left, at) = (
                18.0 + (style % LEGEND_COLUMNS) as f64 * column,
                top + 5.0 + (style / LEGEND_COLUMNS) as f64 * LEGEND_ROW,
            );
            polyline(svg, &[(left, at), (left + 22.0, at)], style);
            marker(svg, (left + 11.0, at), style);
            text(svg, (left + 26.0, at + 2.8), "start", &curve.name, "");
        }
    }
}

fn draw(svg: &mut String, curve: &Curve, style: usize, x: &Scale, y: &Scale) {
    let points: Vec<(f64, f64)> = curve
        .points
        .iter()
        .map(|(at, share)| (x.at(*at), y.at(share.value.clamp(y.low, y.high))))
        .collect();
    let _ = writeln!(svg, "<g><title>{}</title>", escaped(&curve.name));
    polyline(svg, &points, style);
    let every = points.len().div_ceil(MARKERS_MAX).max(1);
    // Curves that share an interval put their markers at different places.
    let first = style % every;
    for (point, (_, share)) in points.iter().zip(&curve.points).skip(first).step_by(every) {
        let (low, high) = (y.at(share.low.max(y.low)), y.at(share.high.min(y.high)));
        if low - high > 0.5 {
            line(
                svg,
                (point.0, low),
                (point.0, high),
                COLOURS[style % COLOURS.len()],
                0.5,
            );
        }
        marker(svg, *point, style);
    }
    svg.push_str("</g>\n");
}

fn polyline(svg: &mut String, points: &[(f64, f64)], style: usize) {
    let points: Vec<String> = points
        .iter()
        .map(|(x, y)| format!("{x:.2},{y:.2}"))
        .collect();
    let dashes = DASHES[style % DASHES.len()];
    let dashes = match dashes {
        "" => String::new(),
        dashes => format!(" stroke-dasharray=\"{dashes}\""),
    };
    let _ = writeln!(
        svg,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1\"{dashes}/>",
        points.join(" "),
        COLOURS[style % COLOURS.len()]
    );
}

/// Filled markers and open ones take turns.
fn marker(svg: &mut String, (x, y): (f64, f64), style: usize) {
    let colour = COLOURS[style % COLOURS.len()];
    let fill = if style.is_multiple_of(2) {
        colour
    } else {
        "#fff"
    };
    let paint = format!("fill=\"{fill}\" stroke=\"{colour}\" stroke-width=\"0.8\"");
    let polygon = |offsets: &[(f64, f64)]| {
        let corners = offsets
            .iter()
            .map(|(dx, dy)| format!("{:.2},{:.2}", x + dx, y + dy));
        format!(
            "<polygon points=\"{}\" {paint}/>",
            corners.collect::<Vec<_>>().join(" ")
        )
    };
    let strokes = |lines: [[(f64, f64); 2]; 2]| {
        let path = lines.map(|[from, to]| {
            let (from, to) = ((x + from.0, y + from.1), (x + to.0, y + to.1));
            format!("M{:.2} {:.2}L{:.2} {:.2}", from.0, from.1, to.0, to.1)
        });
        let path = path.concat();
        format!("<path d=\"{path}\" stroke=\"{colour}\" stroke-width=\"1\" fill=\"none\"/>")
    };
    let shape = match style % 8 {
        0 => format!("<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"1.9\" {paint}/>"),
        1 => polygon(&[(-1.8, -1.8), (1.8, -1.8), (1.8, 1.8), (-1.8, 1.8)]),
        2 => polygon(&[(0.0, -2.4), (2.2, 1.6), (-2.2, 1.6)]),
        3 => polygon(&[(0.0, -2.5), (2.5, 0.0), (0.0, 2.5), (-2.5, 0.0)]),
        4 => polygon(&[(0.0, 2.4), (2.2, -1.6), (-2.2, -1.6)]),
        5 => strokes([[(-2.0, -2.0), (2.0, 2.0)], [(-2.0, 2.0), (2.0, -2.0)]]),
        6 => strokes([[(-2.4, 0.0), (2.4, 0.0)], [(0.0, -2.4), (0.0, 2.4)]]),
        _ => format!(
            "<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"2\" fill=\"#fff\" stroke=\"{colour}\" stroke-width=\"0.8\"/>"
        ),
    };
    svg.push_str(&shape);
    svg.push('\n');
}

fn line(svg: &mut String, from: (f64, f64), to: (f64, f64), colour: &str, width: f64) {
    let _ = writeln!(
        svg,
        "<line x1=\"{:.2}\" y1=\"{:.2}\" x2=\"{:.2}\" y2=\"{:.2}\" stroke=\"{colour}\" stroke-width=\"{width}\"/>",
        from.0, from.1, to.0, to.1
    );
}

fn text(svg: &mut String, (x, y): (f64, f64), anchor: &str, words: &str, more: &str) {
    let _ = writeln!(
        svg,
        "<text x=\"{x:.2}\" y=\"{y:.2}\" text-anchor=\"{anchor}\"{more}>{}</text>",
        escaped(words)
    );
}

/// Without decimals that say nothing.
fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" {
        "0".to_owned()
    } else {
        text.to_owned()
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_reach_both_ends() {
        let ticks = |low, high| {
            Scale {
                low,
                high,
                ends: (0.0, 1.0),
            }
            .ticks()
        };
        let shown = |low, high| {
            ticks(low, high)
                .into_iter()
                .map(number)
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(shown(0.0, 1.0), "0 0.2 0.4 0.6 0.8 1");
        assert_eq!(shown(0.55, 0.88), "0.6 0.7 0.8");
        assert_eq!(shown(0.5, 0.8), "0.5 0.55 0.6 0.65 0.7 0.75 0.8");
        assert_eq!(shown(4.0, 32.0), "5 10 15 20 25 30");
        assert_eq!(shown(2.0, 6.0), "2 3 4 5 6");
    }

    #[test]
    fn a_chart_is_well_formed_and_does_not_change() {
        let share = |value: f64| Share {
            value,
            low: value - 0.1,
            high: value + 0.1,
        };
        let curve = |name: &str, shift: f64| Curve {
            name: name.to_owned(),
            points: (0..40)
                .map(|i| (f64::from(i), share(shift + f64::from(i) / 80.0)))
                .collect(),
        };
        let chart = Chart {
            title: "a < b & c".to_owned(),
            x_label: "x".to_owned(),
            y_label: "y".to_owned(),
            y_axis: YAxis::Shares,
            curves: (0..9)
                .map(|i| curve(&format!("c{i}"), f64::from(i) / 20.0))
                .collect(),
        };
        let svg = chart.to_svg();
        assert_eq!(svg, chart.to_svg());
        assert!(svg.contains("a &lt; b &amp; c") && !svg.contains("NaN"));
        assert_eq!(svg.matches("<g>").count(), svg.matches("</g>").count());
        for y_axis in [YAxis::Shares, YAxis::Numbers, YAxis::Near] {
            let empty = Chart {
                curves: Vec::new(),
                y_axis,
                ..chart.clone()
            };
            assert!(!empty.to_svg().contains("NaN") && !empty.to_svg().contains("inf"));
        }
    }

    #[test]
    fn numbers_above_one_and_below_zero_have_their_place() {
        let point = |value: f64| Share {
            value,
            low: value,
            high: value,
        };
        let chart = Chart {
            title: "t".to_owned(),
            x_label: "x".to_owned(),
            y_label: "y".to_owned(),
            y_axis: YAxis::Numbers,
            curves: vec![Curve {
                name: "c".to_owned(),
                points: vec![(4.0, point(-0.5)), (8.0, point(12.0))],
            }],
        };
        let scale = chart.y_scale();
        assert!(scale.low < -0.5 && scale.high > 12.0);
        assert!(scale.at(-0.5) < scale.ends.0 && scale.at(12.0) > scale.ends.1);
        assert!(chart.to_svg().contains(">12</text>"));
    }
}
