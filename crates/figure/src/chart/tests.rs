//! What charts show.

use super::*;

fn point(x: f64, value: f64, half: f64) -> Point {
    Point {
        x,
        value,
        low: value - half,
        high: value + half,
    }
}

/// Curves of 40 points each, with whiskers.
fn many() -> Chart {
    let curve = |number: i32| Curve {
        name: format!("c{number}"),
        points: (0..40)
            .map(|i| {
                let value = f64::from(number) / 20.0 + f64::from(i) / 80.0;
                point(f64::from(i), value, 0.1)
            })
            .collect(),
    };
    Chart::new(
        "a < b & c",
        ("x", "y"),
        YAxis::Shares,
        (0..9).map(curve).collect(),
    )
}

/// How many markers and whiskers each curve of a drawing has.
fn counted(drawing: &Drawing) -> Vec<(usize, usize)> {
    let groups = drawing.shapes.iter().filter_map(|shape| match shape {
        Shape::Group { shapes, .. } => Some(shapes),
        Shape::Line { .. }
        | Shape::Polyline { .. }
        | Shape::Polygon { .. }
        | Shape::Circle { .. }
        | Shape::Cross { .. }
        | Shape::Frame { .. }
        | Shape::Text { .. } => None,
    });
    let count = |shapes: &Vec<Shape>| {
        let whiskers = shapes
            .iter()
            .filter(|shape| matches!(shape, Shape::Line { .. }));
        let whiskers = whiskers.count();
        // The lines of the curve are neither.
        let lines = shapes
            .iter()
            .filter(|shape| matches!(shape, Shape::Polyline { .. }));
        (shapes.len() - lines.count() - whiskers, whiskers)
    };
    groups.map(count).collect()
}

#[test]
fn every_point_has_its_marker_and_its_whisker_unless_the_chart_is_thinned() {
    assert_eq!(counted(&many().whole().drawing()), [(40, 40); 9]);
    // The control: the other layout leaves some out, and the count sees it.
    let thinned = counted(&many().drawing());
    assert!(
        thinned
            .iter()
            .all(|(markers, whiskers)| *markers <= 16 && markers == whiskers)
    );
}

#[test]
fn a_chart_is_well_formed_and_does_not_change() {
    let chart = many();
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
        for drawn in [empty.to_svg(), empty.to_text()] {
            assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
        }
    }
}

#[test]
fn numbers_above_one_and_below_zero_have_their_place() {
    let curves = vec![Curve {
        name: "c".to_owned(),
        points: vec![point(4.0, -0.5, 0.0), point(8.0, 12.0, 0.0)],
    }];
    let chart = Chart::new("t", ("x", "y"), YAxis::Numbers, curves);
    let scale = chart.y_scale();
    assert!(scale.low < -0.5 && scale.high > 12.0);
    assert!(scale.at(-0.5) < scale.ends.0 && scale.at(12.0) > scale.ends.1);
    assert!(chart.to_svg().contains(">12</text>"));
}

#[test]
fn a_range_cuts_points_and_a_chart_without_a_title_has_none() {
    let chart = Chart {
        x_range: Some((10.0, 19.0)),
        y_range: Some((0.19, 0.61)),
        title: None,
        ..many().whole()
    };
    // c0 has i/80, in the range from i = 16 on; c8 has 0.4 more, up to i = 16.
    let counted = counted(&chart.drawing());
    assert_eq!((counted[0].0, counted[8].0), (4, 7));
    let frame = chart.frame();
    assert_eq!((frame.x, frame.y), ((10.0, 19.0), (0.19, 0.61)));
    assert!(!chart.to_svg().contains("<title>a &lt;"), "no title");
    assert_eq!(chart.to_svg().matches("font-size=\"8.5\"").count(), 0);
}

/// By hand: 61 columns from 0 to 4 and 16 rows from 0 to 1; a at both ends of the diagonal, b in the middle.
#[test]
fn in_letters_each_curve_has_one() {
    let curves = vec![
        Curve {
            name: "first".to_owned(),
            points: vec![point(0.0, 0.0, 0.0), point(4.0, 1.0, 0.0)],
        },
        Curve {
            name: "second".to_owned(),
            points: vec![point(2.0, 0.5, 0.0), point(4.0, 1.0, 0.0)],
        },
    ];
    let text = Chart::new("t", ("load", "share"), YAxis::Shares, curves).to_text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "share");
    let row = |line: &str| line.split_once('|').map(|(_, row)| row.to_owned());
    let rows: Vec<String> = lines.iter().filter_map(|line| row(line)).collect();
    assert_eq!(rows.len(), 16, "{text}");
    let letters = |row: &str| -> Vec<(usize, char)> {
        let letters = row.chars().enumerate();
        letters.filter(|(_, letter)| *letter != ' ').collect()
    };
    // Where two curves meet neither is seen, and the legend says so.
    assert_eq!(letters(&rows[0]), [(60, '*')], "{text}");
    assert_eq!(letters(&rows[15]), [(0, 'a')], "{text}");
    assert_eq!(letters(&rows[7]), [(30, 'b')], "{text}");
    assert!(
        lines.iter().any(|line| line.starts_with("    1 |")),
        "{text}"
    );
    assert!(text.contains("a first   b second   * several\n"), "{text}");
}

/// By hand, in a frame from 0 to 10 on both axes, of which the second grows downwards as in drawings.
#[test]
fn lines_are_cut_where_they_leave_the_frame_and_not_joined_beyond_it() {
    let cut = |places: &[Place]| inside(places, (0.0, 10.0), (10.0, 0.0));
    // Inside, out over the top, inside again: two runs, each to the border.
    assert_eq!(
        cut(&[(0.0, 5.0), (5.0, -5.0), (10.0, 5.0)]),
        [vec![(0.0, 5.0), (2.5, 0.0)], vec![(7.5, 0.0), (10.0, 5.0)]]
    );
    // Outside, inside, outside: one run with the place in the middle.
    assert_eq!(
        cut(&[(-5.0, 5.0), (5.0, 5.0), (5.0, 15.0)]),
        [vec![(0.0, 5.0), (5.0, 5.0), (5.0, 10.0)]]
    );
    // Across it, and past it.
    assert_eq!(
        cut(&[(-5.0, 5.0), (15.0, 5.0)]),
        [vec![(0.0, 5.0), (10.0, 5.0)]]
    );
    assert!(cut(&[(-5.0, 5.0), (5.0, -6.0)]).is_empty());
    assert!(cut(&[(-5.0, 12.0), (15.0, 12.0)]).is_empty());
    assert_eq!(
        cut(&[(1.0, 1.0), (2.0, 2.0), (3.0, 1.0)]),
        [vec![(1.0, 1.0), (2.0, 2.0), (3.0, 1.0)]]
    );
}
