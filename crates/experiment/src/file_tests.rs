//! Experiment files: what is read, and what is refused.

use super::*;

const HEAD: &str = "format = \"vestal-experiment/1\"\nname = \"x\"\nrecipe = \"huang2014\"\nsets = 3\ntests = [\"smc\"]\n";

fn parse(rest: &str) -> Result<Experiment, Diagnostics> {
    Experiment::parse(&Source::new("x.toml", &format!("{HEAD}{rest}")))
}

#[test]
fn axes_keep_the_order_of_the_file_and_steps_are_exact() {
    let found = parse(
        "[vary]\nutilization = { from = 0.55, to = 0.88, step = 0.01 }\ninflate_level0 = [true, false]\nlevels = [2, 3]\n",
    )
    .unwrap();
    let names: Vec<&str> = found.axes.iter().map(|axis| axis.name.as_str()).collect();
    assert_eq!(names, ["utilization", "inflate_level0", "levels"]);
    assert_eq!(found.axes[0].values.len(), 34);
    assert_eq!(found.axes[0].values[3], "0.58");
    assert_eq!(found.axes[0].values[33], "0.88");
    let points = found.points();
    assert_eq!(points.len(), 34 * 4);
    assert_eq!(points[1].values, ["0.55", "true", "3"]);
    assert_eq!((found.chunk, found.chunks_per_point()), (100, 1));
}

#[test]
fn the_example_of_the_page_is_an_experiment() {
    let page = include_str!("../../../docs/experiments.md");
    let text = page
        .split("```toml\n")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    let found = Experiment::parse(&Source::new("page", text)).unwrap();
    assert_eq!(found.points().len(), 3 * 19);
    assert_eq!((found.tests.len(), found.simulations.len()), (3, 1));
}

#[test]
fn what_is_wrong_has_a_place() {
    let cases = [
        ("[vary]\nutilization = [0.5, 1.5]\n", 7, "utilization"),
        ("[vary]\nutilisation = [0.5]\n", 7, "utilisation"),
        ("[fixed]\nlevels = 9\n", 7, "levels"),
        ("[vary]\nlevels = 3\n", 7, "levels"),
        ("weight_by = \"levels\"\n", 6, "weight_by"),
        (
            "weight_by = \"inflate_level0\"\n[vary]\ninflate_level0 = [true, false]\n",
            6,
            "which has the value `true`",
        ),
        ("chunk = 0\n", 6, "chunk"),
        ("sed = 3\n", 6, "sed"),
    ];
    for (rest, line, part) in cases {
        let error = parse(rest).unwrap_err();
        let first = &error.list()[0];
        assert_eq!(first.line, line, "{rest}: {first}");
        assert!(first.to_string().contains(part), "{rest}: {first}");
        assert_eq!(first.code.to_string(), "V0700");
    }
}

#[test]
fn what_cannot_be_counted_or_kept_is_refused() {
    let raw = |questions: usize| {
        let tests = vec!["\"smc\""; questions].join(", ");
        let text = HEAD.replace("\"smc\"", &tests);
        read(&Source::new("x.toml", &text)).unwrap()
    };
    let axes = |lengths: &[usize]| -> Vec<Axis> {
        let axis = |&length: &usize| Axis {
            name: "x".to_owned(),
            values: vec![String::new(); length],
        };
        lengths.iter().map(axis).collect()
    };
    // The product of these is a multiple of 2^64.
    assert!(check_size(&raw(1), 3, &axes(&[1 << 16; 4])).is_err());
    assert!(check_size(&raw(7), 3, &axes(&[100_000])).is_ok());
    assert!(check_size(&raw(8), 3, &axes(&[100_000])).is_err());
    assert!(check_size(&raw(20_000), 3, &[]).is_err());
    assert!(check_size(&raw(1), 0, &[]).is_err());
}

#[test]
fn a_file_of_which_a_parser_makes_too_much_is_refused_before() {
    let long = HEAD.to_owned() + &"a.b.c.d = 1\n".repeat(WORDS_MAX / 8);
    let error = read(&Source::new("x.toml", &long)).err().unwrap();
    assert!(
        error.to_string().contains("more than 65536 words"),
        "{error}"
    );
    let tests = vec!["\"smc\""; 50_000].join(", ");
    let often = HEAD.replace("\"smc\"", &tests);
    let error = read(&Source::new("x.toml", &often)).err().unwrap();
    assert!(error.to_string().contains("name each test once"), "{error}");
    let short = HEAD.to_owned() + &"a.b.c.d = 1\n".repeat(WORDS_MAX / 16);
    let error = read(&Source::new("x.toml", &short)).err().unwrap();
    assert!(!error.to_string().contains("words"), "{error}");
}

#[test]
fn a_result_is_weighted_by_numbers_only() {
    let parse = |vary: &str| {
        let weight = vary.split(' ').next().unwrap();
        let text = format!(
            "format = \"vestal-experiment/1\"\nname = \"x\"\nrecipe = \"standard\"\nsets = 3\n\
             tests = [\"smc\"]\nweight_by = \"{weight}\"\n[vary]\n{vary}\n"
        );
        Experiment::parse(&Source::new("x.toml", &text))
    };
    assert!(parse("utilization = [0.2, 0.5]").is_ok());
    assert!(parse("utilization_high = [0, 0.5]").is_ok());
    for vary in [
        "deadlines = [\"implicit\", \"constrained\"]",
        "period_max = [\"50ms\", \"1s\"]",
        "utilization_high = [0]",
    ] {
        let error = parse(vary).unwrap_err();
        let first = &error.list()[0];
        assert_eq!(
            (first.code.to_string().as_str(), first.line),
            ("V0700", 6),
            "{first}"
        );
    }
}
