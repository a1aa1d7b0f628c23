//! A drawing as an SVG document. Text stays text; places have two decimals.

use crate::shape::{Anchor, Drawing, FONT_SIZE, Place, Shape, Stroke};

pub(crate) fn document(drawing: &Drawing) -> String {
    let (width, height) = (drawing.width, drawing.height);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}in\" height=\"{:.4}in\" viewBox=\"0 0 {width} {height:.2}\" \
         font-family=\"Helvetica, Arial, sans-serif\" font-size=\"{FONT_SIZE}\" fill=\"#000\">\n",
        width / 72.0,
        height / 72.0,
    );
    if let Some(title) = &drawing.title {
        svg.push_str(&format!("<title>{}</title>\n", escaped(title)));
    }
    svg.push_str(&format!(
        "<rect width=\"{width}\" height=\"{height:.2}\" fill=\"#fff\"/>\n"
    ));
    for shape in &drawing.shapes {
        write(&mut svg, shape);
    }
    svg.push_str("</svg>\n");
    svg
}

fn write(svg: &mut String, shape: &Shape) {
    let element = match shape {
        Shape::Group { name, shapes } => {
            svg.push_str(&format!("<g><title>{}</title>\n", escaped(name)));
            shapes.iter().for_each(|shape| write(svg, shape));
            "</g>".to_owned()
        }
        Shape::Text {
            at,
            anchor,
            words,
            size,
            turned,
        } => text(*at, *anchor, words, (*size, *turned)),
        Shape::Line { from, to, stroke } => format!(
            "<line x1=\"{:.2}\" y1=\"{:.2}\" x2=\"{:.2}\" y2=\"{:.2}\"{}/>",
            from.0,
            from.1,
            to.0,
            to.1,
            border(stroke)
        ),
        Shape::Polyline { points, stroke } => {
            let (points, border) = (places(points), border(stroke));
            format!("<polyline points=\"{points}\" fill=\"none\"{border}/>")
        }
        Shape::Polygon {
            corners,
            fill,
            stroke,
        } => {
            let (corners, border) = (places(corners), border(stroke));
            format!("<polygon points=\"{corners}\" fill=\"{fill}\"{border}/>")
        }
        Shape::Circle {
            at: (x, y),
            radius,
            fill,
            stroke,
        } => {
            let border = border(stroke);
            format!("<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"{radius}\" fill=\"{fill}\"{border}/>")
        }
        Shape::Cross { lines, stroke } => {
            let path = lines
                .map(|[from, to]| format!("M{:.2} {:.2}L{:.2} {:.2}", from.0, from.1, to.0, to.1));
            let (path, border) = (path.concat(), border(stroke));
            format!("<path d=\"{path}\"{border} fill=\"none\"/>")
        }
        Shape::Frame {
            corner: (x, y),
            size: (width, height),
            stroke,
        } => {
            let border = border(stroke);
            format!(
                "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" fill=\"none\"{border}/>"
            )
        }
    };
    svg.push_str(&element);
    svg.push('\n');
}

fn text((x, y): Place, anchor: Anchor, words: &str, (size, turned): (f64, bool)) -> String {
    let anchor = match anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    let mut more = String::new();
    if (size - FONT_SIZE).abs() > 0.0 {
        more.push_str(&format!(" font-size=\"{size}\""));
    }
    if turned {
        more.push_str(&format!(" transform=\"rotate(-90 {x} {y:.2})\""));
    }
    let words = escaped(words);
    format!("<text x=\"{x:.2}\" y=\"{y:.2}\" text-anchor=\"{anchor}\"{more}>{words}</text>")
}

fn places(places: &[Place]) -> String {
    let each = places.iter().map(|(x, y)| format!("{x:.2},{y:.2}"));
    each.collect::<Vec<_>>().join(" ")
}

fn border(stroke: &Stroke) -> String {
    let (colour, width) = (stroke.colour, stroke.width);
    let mut text = format!(" stroke=\"{colour}\" stroke-width=\"{width}\"");
    if !stroke.dashes.is_empty() {
        let dashes: Vec<String> = stroke.dashes.iter().map(f64::to_string).collect();
        text.push_str(&format!(" stroke-dasharray=\"{}\"", dashes.join(" ")));
    }
    text
}

/// Text inside XML, in which control characters cannot stand at all.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            control if control.is_control() => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_break_the_markup() {
        let drawing = Drawing {
            width: 10.0,
            height: 10.0,
            title: Some("</svg>\u{1b}".to_owned()),
            shapes: vec![Shape::Group {
                name: "a < b & \"c\"".to_owned(),
                shapes: Vec::new(),
            }],
        };
        let svg = document(&drawing);
        assert!(svg.contains("<title>&lt;/svg&gt;\u{fffd}</title>"), "{svg}");
        assert!(
            svg.contains("<g><title>a &lt; b &amp; &quot;c&quot;</title>\n</g>"),
            "{svg}"
        );
        assert_eq!(svg.matches("</svg>").count(), 1);
    }
}
