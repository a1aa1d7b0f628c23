//! A drawing as raw PGF, for `\input` in a TeX document with `\usepackage{pgf}`: text has the document's own font.

use crate::shape::{Anchor, Drawing, Place, Shape, Stroke};
use std::fmt::Write as _;

/// Writes PGF, in which y grows upwards.
struct Writer {
    text: String,
    height: f64,
}

pub(crate) fn picture(drawing: &Drawing) -> String {
    let (width, height) = (drawing.width, drawing.height);
    let mut writer = Writer {
        text: String::new(),
        height,
    };
    writer.line("% \\usepackage{pgf} in the preamble, then \\input this file.");
    if let Some(title) = &drawing.title {
        writer.line(&format!("% {}", comment(title)));
    }
    writer.line("\\begingroup");
    writer.line("\\begin{pgfpicture}");
    let size = point((width, height));
    writer.line(&format!(
        "\\pgfpathrectangle{{\\pgfpointorigin}}{{{size}}}\\pgfusepath{{use as bounding box}}"
    ));
    drawing.shapes.iter().for_each(|shape| writer.shape(shape));
    writer.line("\\end{pgfpicture}");
    writer.line("\\endgroup");
    writer.text
}

impl Writer {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn at(&self, (x, y): Place) -> String {
        point((x, self.height - y))
    }

    /// What is drawn with a stroke of its own, and filled if it has a colour.
    fn drawn(&mut self, path: &str, fill: Option<&str>, stroke: &Stroke) {
        self.line("\\begin{pgfscope}");
        let (width, dashes) = (stroke.width, stroke.dashes);
        self.line(&format!("\\pgfsetlinewidth{{{width}bp}}"));
        self.colour("stroke", stroke.colour);
        if !dashes.is_empty() {
            let dashes = dashes.iter().map(|dash| format!("{{{dash}bp}}"));
            let dashes: String = dashes.collect();
            self.line(&format!("\\pgfsetdash{{{dashes}}}{{0bp}}"));
        }
        let used = match fill {
            Some(colour) => {
                self.colour("fill", colour);
                "fill,stroke"
            }
            None => "stroke",
        };
        self.line(&format!("{path}\\pgfusepath{{{used}}}"));
        self.line("\\end{pgfscope}");
    }

    fn colour(&mut self, of: &str, colour: &str) {
        let digits = colour.trim_start_matches('#');
        // #abc stands for #aabbcc.
        let digits: String = match digits.len() {
            3 => digits.chars().flat_map(|digit| [digit, digit]).collect(),
            _ => digits.to_owned(),
        };
        let digits = digits.to_uppercase();
        self.line(&format!(
            "\\definecolor{{vestalcolour}}{{HTML}}{{{digits}}}\\pgfset{of}color{{vestalcolour}}"
        ));
    }

    /// Lines from place to place.
    fn path(&self, places: &[Place]) -> String {
        let mut path = String::new();
        for (number, place) in places.iter().enumerate() {
            let how = if number == 0 { "move" } else { "line" };
            // Writing into a string cannot fail.
            let _ = writeln!(path, "\\pgfpath{how}to{{{}}}", self.at(*place));
        }
        path
    }

    fn shape(&mut self, shape: &Shape) {
        match shape {
            Shape::Line { from, to, stroke } => {
                let path = self.path(&[*from, *to]);
                self.drawn(&path, None, stroke);
            }
            // A line from a place to itself is none.
            Shape::Polyline { points, .. } if points.len() < 2 => {}
            Shape::Polyline { points, stroke } => {
                let path = self.path(points);
                self.drawn(&path, None, stroke);
            }
            Shape::Polygon {
                corners,
                fill,
                stroke,
            } => {
                let path = format!("{}\\pgfpathclose\n", self.path(corners));
                self.drawn(&path, Some(*fill), stroke);
            }
            Shape::Circle {
                at,
                radius,
                fill,
                stroke,
            } => {
                let path = format!("\\pgfpathcircle{{{}}}{{{radius}bp}}\n", self.at(*at));
                self.drawn(&path, Some(*fill), stroke);
            }
            Shape::Cross { lines, stroke } => {
                let path: String = lines.iter().map(|ends| self.path(ends)).collect();
                self.drawn(&path, None, stroke);
            }
            Shape::Frame {
                corner: (x, y),
                size: (width, height),
                stroke,
            } => {
                let (corner, size) = (self.at((*x, y + height)), point((*width, *height)));
                let path = format!("\\pgfpathrectangle{{{corner}}}{{{size}}}\n");
                self.drawn(&path, None, stroke);
            }
            Shape::Text {
                at: (x, y),
                anchor,
                words,
                size,
                turned,
            } => {
                let anchor = match anchor {
                    Anchor::Start => ",left",
                    Anchor::Middle => "",
                    Anchor::End => ",right",
                };
                let turned = if *turned { ",rotate=90" } else { "" };
                let (y, skip, words) = (self.height - y, size * 1.2, escaped(words));
                self.line(&format!(
                    "\\pgftext[x={x:.2}bp,y={y:.2}bp,base{anchor}{turned}]{{\\fontsize{{{size}}}{{{skip:.2}}}\\selectfont {words}}}"
                ));
            }
            Shape::Group { name, shapes } => {
                self.line(&format!("% {}", comment(name)));
                shapes.iter().for_each(|shape| self.shape(shape));
            }
        }
    }
}

fn point((x, y): Place) -> String {
    format!("\\pgfpoint{{{x:.2}bp}}{{{y:.2}bp}}")
}

/// A text that ends no comment.
fn comment(text: &str) -> String {
    let letter = |letter: char| if letter.is_control() { ' ' } else { letter };
    text.chars().map(letter).collect()
}

/// Text as TeX prints it, in whatever encoding the document's font has.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\\' => escaped.push_str("\\textbackslash{}"),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '<' | '>' | '|' => {
                let _ = write!(escaped, "\\ensuremath{{{letter}}}");
            }
            // No encoding has a straight one in its place.
            '"' => escaped.push_str("''"),
            '{' | '}' | '$' | '&' | '#' | '_' | '%' => {
                escaped.push('\\');
                escaped.push(letter);
            }
            control if control.is_control() => escaped.push(' '),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_is_there_upside_up_and_no_name_breaks_the_markup() {
        let stroke = Stroke {
            colour: "#ddd",
            width: 0.5,
            dashes: &[5.0, 2.0],
        };
        let shapes = vec![
            Shape::Line {
                from: (1.0, 2.0),
                to: (3.0, 2.0),
                stroke,
            },
            Shape::Frame {
                corner: (10.0, 20.0),
                size: (30.0, 40.0),
                stroke,
            },
            Shape::Group {
                name: "a\n\\end{pgfpicture}".to_owned(),
                shapes: vec![Shape::Text {
                    at: (4.0, 5.0),
                    anchor: Anchor::End,
                    words: "50% of {x}_1\\".to_owned(),
                    size: 8.0,
                    turned: true,
                }],
            },
        ];
        let text = picture(&Drawing {
            width: 100.0,
            height: 90.0,
            title: None,
            shapes,
        });
        for part in [
            "\\pgfpathmoveto{\\pgfpoint{1.00bp}{88.00bp}}\n\\pgfpathlineto{\\pgfpoint{3.00bp}{88.00bp}}\n\\pgfusepath{stroke}",
            "{HTML}{DDDDDD}\\pgfsetstrokecolor{vestalcolour}",
            "\\pgfsetdash{{5bp}{2bp}}{0bp}",
            // From the lower left corner.
            "\\pgfpathrectangle{\\pgfpoint{10.00bp}{30.00bp}}{\\pgfpoint{30.00bp}{40.00bp}}",
            "\n% a \\end{pgfpicture}\n",
            "[x=4.00bp,y=85.00bp,base,right,rotate=90]{\\fontsize{8}{9.60}\\selectfont 50\\% of \\{x\\}\\_1\\textbackslash{}}",
        ] {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('%')).collect();
        let count = |part: &str| lines.iter().filter(|line| line.contains(part)).count();
        assert_eq!(count("\\begin{pgfscope}"), count("\\end{pgfscope}"));
        assert_eq!(
            (count("\\begin{pgfpicture}"), count("\\end{pgfpicture}")),
            (1, 1)
        );
    }
}
