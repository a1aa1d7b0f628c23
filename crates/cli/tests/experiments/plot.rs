//! `vestal plot`: a chart of a sweep, and what a sweep shows at its end.

use super::sweep::Bench;
use crate::support::{Done, Scratch, repository, vestal};
use std::fs;
use std::path::Path;

fn plot(folder: &Path, more: &[&str]) -> Done {
    let fixed = ["plot", folder.to_str().unwrap(), "--x", "utilization"];
    vestal(&[&fixed[..], more].concat())
}

#[test]
fn a_sweep_ends_with_its_numbers_and_a_chart_in_letters() {
    let bench = Bench::new("plot-end");
    let (folder, part) = (bench.folder("out"), bench.folder("part"));
    let file = bench.scratch.0.join("small.toml");
    let sweep = |folder: &Path, more: &[&str]| {
        let fixed = [
            "sweep",
            file.to_str().unwrap(),
            "-o",
            folder.to_str().unwrap(),
        ];
        vestal(&[&fixed[..], more].concat())
    };
    let done = sweep(&folder, &[]);
    assert_eq!(done.exit, 0, "{}", done.stderr);
    let page = &done.stdout;
    assert!(page.contains("small: inflate_level0 = true\n"), "{page}");
    // A row for each utilization, with each question's share as summary.csv has it.
    let summary = fs::read_to_string(folder.join("summary.csv")).unwrap();
    for utilization in ["0.5", "0.6", "0.7", "0.8", "0.9"] {
        let row = page
            .lines()
            .find(|line| line.trim_start().starts_with(&format!("{utilization}  ")));
        let row = row.unwrap_or_else(|| panic!("{utilization} in {page}"));
        let shares: Vec<&str> = row.split_whitespace().skip(1).step_by(2).collect();
        let rows = summary
            .lines()
            .map(|line| line.split(',').collect::<Vec<_>>());
        let rows = rows.filter(|cells| cells[1] == "true" && cells[2] == utilization);
        let expected: Vec<String> = rows
            .map(|cells| format!("{:.2}", cells[7].parse::<f64>().unwrap()))
            .collect();
        assert_eq!(shares, expected, "{page}");
    }
    assert!(page.contains("a rms   b smc   c amc-rtb"), "{page}");
    assert!(
        page.contains("1 more chart, for instance: vestal plot "),
        "{page}"
    );
    // A part of a sweep has none, nor has its JSON.
    let done = sweep(&part, &["--shard", "1/2"]);
    assert!(
        done.exit == 0 && !done.stdout.contains("a rms"),
        "{}",
        done.stdout
    );
    let refused = plot(&part, &[]);
    assert_eq!(refused.exit, 2);
    assert!(
        refused.stderr.contains("--resume goes on with it"),
        "{}",
        refused.stderr
    );
}

#[test]
fn a_chart_has_a_marker_at_each_point_and_a_whisker_where_there_is_room() {
    let bench = Bench::new("plot-file");
    let folder = bench.folder("out");
    bench.sweep(&folder, &[]);
    let file = bench.folder("a.svg");
    let file = file.to_str().unwrap();
    let done = plot(
        &folder,
        &[
            "--where",
            "inflate_level0=false",
            "-o",
            file,
            "--format",
            "json",
        ],
    );
    assert_eq!(done.exit, 0, "{}", done.stderr);
    let document = done.json();
    let curves = document["curves"].as_array().unwrap();
    let names: Vec<&str> = curves
        .iter()
        .map(|curve| curve["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        ["rms", "smc", "amc-rtb", "amc-max", "edf-vd", "sim:amc/hi"]
    );
    let svg = fs::read_to_string(file).unwrap();
    let groups: Vec<&str> = svg.split("<g>").skip(1).collect();
    assert_eq!(groups.len(), curves.len());
    for (group, curve) in groups.iter().zip(curves) {
        let group = group.split("</g>").next().unwrap();
        let points = curve["points"].as_array().unwrap();
        assert_eq!(points.len(), 5);
        // The title, the line, then a marker for each point, and whiskers.
        let whiskers = group.matches("<line ").count();
        let marks = group.lines().count() - 2 - whiskers;
        assert_eq!(marks, points.len(), "{group}");
        let frame = &document["frame"];
        let up = [0, 1].map(|end| frame["up"][end].as_f64().unwrap());
        let y = [0, 1].map(|end| frame["y"][end].as_f64().unwrap());
        let at = |value: f64| up[0] + (value - y[0]) / (y[1] - y[0]) * (up[1] - up[0]);
        let long = points.iter().filter(|point| {
            let end = |which: &str| at(point[which].as_f64().unwrap().clamp(y[0], y[1]));
            end("low") - end("high") > 0.5
        });
        assert_eq!(whiskers, long.count(), "{group}");
    }
    assert!(
        svg.contains("<title>small: inflate_level0=false</title>"),
        "{svg}"
    );
}

#[test]
fn a_chart_has_the_words_and_ranges_that_were_asked_for_also_for_tex() {
    let bench = Bench::new("plot-words");
    let folder = bench.folder("out");
    bench.sweep(&folder, &[]);
    let file = bench.folder("a.svg");
    let file = file.to_str().unwrap();
    let other = [
        "--where",
        "inflate_level0=false",
        "--tests",
        "smc,rms",
        "--names",
        "smc=static",
        "--no-title",
        "--x-label",
        "U",
        "--y-range",
        "-0.5:1.5",
        "--range",
        "0.5:0.7",
        "-o",
        file,
    ];
    let done = plot(&folder, &other);
    assert_eq!(done.exit, 0, "{}", done.stderr);
    let svg = fs::read_to_string(file).unwrap();
    assert_eq!(svg.matches("<g>").count(), 2);
    assert!(
        svg.contains(">static</text>") && svg.contains(">U</text>"),
        "{svg}"
    );
    // The same as PGF: a path for each line, marker and whisker of SVG.
    let pgf = bench.folder("a.PGF");
    let again = [&other[..other.len() - 1], &[pgf.to_str().unwrap()]].concat();
    assert_eq!(plot(&folder, &again).exit, 0);
    let pgf = fs::read_to_string(pgf).unwrap();
    let drawn = [
        "<line ",
        "<polyline ",
        "<circle ",
        "<polygon ",
        "<path ",
        "<rect x=",
    ];
    let drawn: usize = drawn.iter().map(|shape| svg.matches(shape).count()).sum();
    assert_eq!(
        pgf.matches("\\pgfusepath{").count(),
        drawn + 1,
        "with the bounding box"
    );
    assert_eq!(
        pgf.matches("\\pgftext[").count(),
        svg.matches("<text ").count()
    );
    assert!(
        !svg.contains("<title>small") && !svg.contains("font-size=\"8.5\""),
        "{svg}"
    );
}

#[test]
fn names_are_exchanged_at_once() {
    let bench = Bench::new("plot-names");
    let folder = bench.folder("out");
    bench.sweep(&folder, &[]);
    let swap = [
        "--where",
        "inflate_level0=true",
        "--names",
        "smc=rms",
        "--names",
        "rms=smc",
        "--format",
        "json",
    ];
    let swapped = plot(&folder, &swap).json();
    assert_eq!(
        (&swapped["curves"][0]["name"], &swapped["curves"][1]["name"]),
        (&"smc".into(), &"rms".into())
    );
}

#[test]
fn without_a_file_it_is_shown_and_what_is_not_there_is_refused() {
    let bench = Bench::new("plot-shown");
    let folder = bench.folder("out");
    bench.sweep(&folder, &[]);
    let done = plot(&folder, &["--y", "fraction", "--tests", "smc"]);
    assert_eq!(done.exit, 0, "{}", done.stderr);
    assert!(
        done.stdout
            .contains("a inflate_level0 = true   b inflate_level0 = false"),
        "{}",
        done.stdout
    );
    for (more, says) in [
        (&["--tests", "smd"][..], "did you mean `smc`?"),
        (&["--y", "drop-ratio"], "it has no measures"),
        (&["--tests", "smc", "--y-range", "1:0"], "is not LOW:HIGH"),
        (
            &["--tests", "smc", "--names", "x=y"],
            "no curve is called `x`",
        ),
        (
            &[
                "--tests",
                "smc,rms",
                "--where",
                "inflate_level0=true",
                "--names",
                "smc=rms",
            ],
            "two curves would be called `rms`",
        ),
        (&["-o", "a.jpeg"], "neither in .svg nor in .pgf"),
        // Six questions for each of two values.
        (&[], "give each of inflate_level0 a value with --where"),
    ] {
        let done = plot(&folder, more);
        assert_eq!(done.exit, 2, "{more:?}");
        assert!(done.stderr.contains(says), "{more:?}: {}", done.stderr);
    }
    let weighted = vestal(&["plot", folder.to_str().unwrap(), "--x", "utilisation"]);
    assert!(
        weighted.stderr.contains("did you mean `utilization`?"),
        "{}",
        weighted.stderr
    );
}

/// `VESTAL_BLESS=1` draws the committed plot anew.
#[test]
fn the_committed_plot_of_dropped_jobs_is_what_its_experiment_gives() {
    const EXPERIMENT: &str = "experiments/drops.toml";
    let text = fs::read_to_string(repository().join(EXPERIMENT)).unwrap();
    assert!(text.lines().count() <= 12, "{text}");
    let scratch = Scratch::new("plot-drops");
    let (result, drawn) = (scratch.0.join("result"), scratch.0.join("drops.svg"));
    let (result, drawn) = (result.to_str().unwrap(), drawn.to_str().unwrap());
    let done = vestal(&["sweep", EXPERIMENT, "-o", result]);
    assert_eq!(done.exit, 0, "{}", done.stderr);
    // Both policies run all sets, so that their curves are about the same.
    let measures = fs::read_to_string(Path::new(result).join("measures.csv")).unwrap();
    let mut rows = measures
        .lines()
        .map(|line| line.split(',').collect::<Vec<_>>());
    let header = rows.next().unwrap();
    let column = |name: &str| header.iter().position(|known| *known == name).unwrap();
    let (without, cut) = (column("without"), column("cut"));
    assert!(
        rows.all(|row| row[without] == "0" && row[cut] == "0"),
        "{measures}"
    );
    let plot = [
        "plot",
        result,
        "--x",
        "p",
        "--y",
        "drop-ratio",
        "--level",
        "LO",
        "--names",
        "amc/overrun={p}=amc",
        "--names",
        "edf-vd/overrun={p}=edf-vd",
        "--x-label",
        "probability of an overrun",
        "--no-title",
        "-o",
        drawn,
    ];
    let done = vestal(&plot);
    assert_eq!(done.exit, 0, "{}", done.stderr);
    let drawn = fs::read_to_string(drawn).unwrap();
    let kept = repository().join("docs/pictures/drops.svg");
    if std::env::var_os("VESTAL_BLESS").is_some() {
        fs::write(&kept, &drawn).unwrap();
    }
    assert!(
        fs::read_to_string(kept).is_ok_and(|kept| kept == drawn),
        "{drawn}"
    );
}
