//! `vestal reproduce`: the smallest figure from beginning to end.

use crate::support::{Scratch, command, vestal};
use std::fs;

#[test]
fn every_figure_is_listed() {
    let listed = vestal(&["reproduce", "--list", "--format", "json"]).json();
    let figures = listed["figures"].as_array().unwrap();
    assert_eq!(figures[0]["figure"], "huang2014/fig1");
    let of = |paper: &str| {
        let names = figures.iter().map(|figure| figure["figure"].as_str());
        names
            .filter(|name| name.unwrap().starts_with(paper))
            .count()
    };
    let papers = [
        "huang2014/",
        "sigrist2015/",
        "missimer/",
        "holenderski2010/",
        "herman2012/",
    ];
    assert_eq!(papers.map(of), [8, 9, 9, 3, 2]);
    assert!(
        figures
            .iter()
            .all(|figure| figure["missing"] == serde_json::json!([]))
    );
    // Each has a line, in a pipe and at a terminal of this width, and no column is empty.
    for columns in [None, Some("180")] {
        let mut list = command(&["reproduce", "--list"]);
        if let Some(columns) = columns {
            list.env("COLUMNS", columns);
        }
        let page = String::from_utf8(list.output().unwrap().stdout).unwrap();
        assert_eq!(page.lines().count(), figures.len() + 2, "{page}");
        let lists = |figure: &serde_json::Value| !figure["missing"].as_array().unwrap().is_empty();
        let has_column = page.lines().next().unwrap().contains("not in this version");
        assert_eq!(has_column, figures.iter().any(lists), "{page}");
    }
}

#[test]
fn figure_1_in_one_command() {
    let scratch = Scratch::new("reproduce");
    let (one, two) = (scratch.0.join("one"), scratch.0.join("two"));
    let run = |folder: &std::path::Path| {
        let folder = folder.to_str().unwrap();
        let done = vestal(&[
            "reproduce",
            "huang2014/fig1",
            "--quick",
            "-o",
            folder,
            "--format",
            "json",
        ]);
        assert_eq!(done.exit, 0, "{}", done.stderr);
        done.json()
    };
    let document = run(&one);
    run(&two);
    let claims = document["figures"][0]["claims"].as_array().unwrap();
    let found = |at: usize| claims[at]["found"].as_str().unwrap();
    // A theorem, and a large difference: 100 sets a point are enough.
    assert_eq!((found(0), found(1)), ("confirmed", "confirmed"));
    // They are too few to say that differences are small, or shares 0 or 1 beyond the paper's axis.
    assert_eq!((found(4), found(5)), ("not decided", "not decided"));
    // A gain is decided by a search in each set, which the page counts.
    let page = fs::read_to_string(one.join("huang2014/fig1/claims.md")).unwrap();
    assert!(
        page.contains("are shown to miss a guaranteed deadline ("),
        "{page}"
    );
    for name in [
        "huang2014/fig1/claims.md",
        "huang2014/fig1/plot-literal.svg",
        "huang2014/fig1/plot-level0-plain.svg",
        "huang2014/fig1/results.parquet",
        "huang2014/fig1/summary.csv",
        "index.md",
    ] {
        let read = |folder: &std::path::Path| fs::read(folder.join(name)).unwrap();
        assert_eq!(read(&one), read(&two), "{name}");
    }
    // A second run finds everything done, and changes nothing.
    let before = fs::read(one.join("huang2014/fig1/claims.md")).unwrap();
    run(&one);
    assert_eq!(
        fs::read(one.join("huang2014/fig1/claims.md")).unwrap(),
        before
    );
}

/// Theory, overheads and simulated runs in one page: the figure has its costs in it, and needs no file.
#[test]
fn partitioned_edf_vd_with_what_it_costs_in_one_command() {
    let scratch = Scratch::new("reproduce-costs");
    let folder = scratch.0.join("one");
    let name = "sigrist2015/pedf-vd";
    let to = folder.to_str().unwrap();
    let done = vestal(&["reproduce", name, "--quick", "-o", to, "--format", "json"]);
    assert_eq!(done.exit, 0, "{}", done.stderr);
    let read = |file: &str| fs::read_to_string(folder.join(name).join(file)).unwrap();
    let page = read("claims.md");
    for words in [
        "The curve `sim:pedf-vd/overrun=0.5@drawn` is a simulation of 10 s",
        "| 1 | Every set that theory accepts runs well. | **",
        "sim:pedf-vd/overrun=0.5@drawn accepts ",
    ] {
        assert!(page.contains(words), "{words} is not in {page}");
    }
    // The costs are part of what was asked.
    assert!(read("manifest.json").contains("managed/manager"));
    assert!(read("plot.svg").contains("paper: U/m, m = 4"));
}

const OF_ONE_RUN: [&str; 4] = [
    "missimer/fig3",
    "missimer/fig4",
    "missimer/fig5",
    "missimer/fig6",
];

/// Runs of one set: the same bytes each time, with data, drawings and findings.
#[test]
fn figures_of_one_run_in_one_command() {
    let scratch = Scratch::new("reproduce-run");
    let [one, two] = ["one", "two"].map(|name| scratch.0.join(name));
    for folder in [&one, &two] {
        let to = folder.to_str().unwrap();
        for figure in OF_ONE_RUN {
            let done = vestal(&["reproduce", figure, "-o", to, "--format", "json"]);
            assert_eq!(done.exit, 0, "{}", done.stderr);
            let found = &done.json()["figures"][0];
            assert_eq!(
                (&found["figure"], &found["sets"]),
                (&figure.into(), &1.into())
            );
            for claim in found["claims"].as_array().unwrap() {
                assert_eq!(claim["found"], "confirmed", "{claim:#}");
            }
        }
    }
    for figure in OF_ONE_RUN {
        for file in [
            "claims.md",
            "executed.csv",
            "plot.svg",
            "scenario.csv",
            "set.toml",
            "trace.csv",
            "trace.txt",
        ] {
            let path = format!("{figure}/{file}");
            let read = |folder: &std::path::Path| fs::read(folder.join(&path)).unwrap();
            assert_eq!(read(&one), read(&two), "{path}");
        }
    }
    let data = fs::read_to_string(one.join("missimer/fig5/executed.csv")).unwrap();
    assert!(
        data.contains("device,25000000,26000000\ntask1,26000000,34000000\n"),
        "{data}"
    );
    let drawn = fs::read_to_string(one.join("missimer/fig6/trace.txt")).unwrap();
    let row = "device LO ..................##......######........................................";
    assert!(drawn.contains(row), "{drawn}");
}

/// Counted instructions: the same bytes each time, with what was counted, plots and findings.
#[test]
fn figures_of_counted_instructions_in_one_command() {
    let scratch = Scratch::new("reproduce-counted");
    let [one, two] = ["one", "two"].map(|name| scratch.0.join(name));
    let plots = ["a", "b", "c", "d", "e", "f"].map(|letter| format!("{letter}.svg"));
    for folder in [&one, &two] {
        let to = folder.to_str().unwrap();
        let done = vestal(&["reproduce", "holenderski2010", "-o", to, "--format", "json"]);
        assert_eq!(done.exit, 0, "{}", done.stderr);
        let document = done.json();
        let figures = document["figures"].as_array().unwrap();
        let names = figures
            .iter()
            .map(|figure| figure["figure"].as_str().unwrap());
        let names: Vec<&str> = names.collect();
        assert_eq!(
            names,
            [
                "holenderski2010/fig15",
                "holenderski2010/fig16",
                "holenderski2010/parts"
            ]
        );
        assert_eq!(figures[0]["plots"], serde_json::json!(plots));
        for claim in figures
            .iter()
            .flat_map(|figure| figure["claims"].as_array().unwrap())
        {
            let found = claim["found"].as_str().unwrap();
            assert!(["confirmed", "refuted"].contains(&found), "{claim:#}");
        }
    }
    let read = |folder: &std::path::Path, file: &str| {
        let path = folder.join("holenderski2010").join(file);
        fs::read_to_string(path).unwrap()
    };
    for file in [
        "fig15/claims.md",
        "fig15/counts.txt",
        "fig15/f.svg",
        "fig16/d.svg",
        "parts/plot.svg",
    ] {
        assert_eq!(read(&one, file), read(&two, file), "{file}");
    }
    let counts = read(&one, "fig16/counts.txt");
    assert!(
        counts.starts_with("vestal-kernel-counts/1\nrustc "),
        "{counts}"
    );
    assert!(read(&one, "fig15/claims.md").contains("Counted with rustc "));
}

/// Computations about one set: the same bytes each time, with data, plot and findings.
#[test]
fn what_monitoring_costs_one_set_in_one_command() {
    let scratch = Scratch::new("reproduce-grid");
    let (one, two) = (scratch.0.join("one"), scratch.0.join("two"));
    let run = |folder: &std::path::Path| {
        let to = folder.to_str().unwrap();
        let done = vestal(&[
            "reproduce",
            "sigrist2015/fig2",
            "-o",
            to,
            "--format",
            "json",
        ]);
        assert_eq!(done.exit, 0, "{}", done.stderr);
        done.json()
    };
    let document = run(&one);
    run(&two);
    let figures = document["figures"].as_array().unwrap();
    let names: Vec<&str> = figures
        .iter()
        .map(|figure| figure["figure"].as_str().unwrap())
        .collect();
    let expected = ["a", "b", "c", "d"].map(|part| format!("sigrist2015/fig2{part}"));
    assert_eq!(names, expected);
    for figure in figures {
        assert_eq!(figure["sets"], 1);
        for claim in figure["claims"].as_array().unwrap() {
            assert_eq!(claim["found"], "confirmed", "{claim:#}");
        }
        for file in ["grid.csv", "plot.svg", "claims.md"] {
            let path = format!("{}/{file}", figure["figure"].as_str().unwrap());
            let read = |folder: &std::path::Path| fs::read(folder.join(&path)).unwrap();
            assert_eq!(read(&one), read(&two), "{path}");
        }
    }
    let data = fs::read_to_string(one.join("sigrist2015/fig2d/grid.csv")).unwrap();
    // By hand: C_K = 4.1 ms; 285 ms, 1604 ms and 1338 ms are the periods, and 6.1 ms is added to each execution time.
    // a = 81.942997 / 285, b = 202.002265 / 1604 + 373.666065 / 1338, c = 467.19736 / 1604 + 691.86891 / 1338, U_M = 0.02.
    assert!(
        data.contains("1000,20,4100,0.712728,0.999954,1\n"),
        "{data}"
    );
    assert!(data.contains("\n1000,20,4150,"), "{data}");
    let index = fs::read_to_string(one.join("index.md")).unwrap();
    assert!(index.contains("[sigrist2015/fig2c](sigrist2015/fig2c/claims.md)"));
    assert!(!index.contains("1 sets"), "{index}");
}

#[test]
fn what_cannot_be_reproduced_says_why() {
    for (arguments, says) in [
        (
            &["reproduce", "huang2014/fig9", "-o", "x"][..],
            "this version knows",
        ),
        (&["reproduce", "-o", "x"], "--list shows all"),
        (&["reproduce", "huang2014/fig1"], "-o DIR"),
    ] {
        let done = vestal(arguments);
        assert_eq!(done.exit, 2);
        assert!(done.stderr.contains(says), "{}", done.stderr);
    }
}
