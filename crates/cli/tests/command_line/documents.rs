//! Each type of document is what some command prints. Those of `bench` and `demo` are looked at in `tests/real.rs`, that
//! of `reproduce` in `tests/experiments`.

use crate::foreign::{RECORDED, SET};
use crate::support::{Done, Scratch, shape, vestal};

const EXPERIMENT: &str = r#"format = "vestal-experiment/1"
name   = "few"
recipe = "huang2014"
sets   = 1
tests  = ["smc"]

[vary]
utilization = [0.5]
"#;

fn printed(line: &str) -> Done {
    let words: Vec<&str> = line.split_whitespace().collect();
    let done = vestal(&[&["--format", "json"], &words[..]].concat());
    let _holds_against_the_schema = done.json();
    done
}

#[test]
fn every_type_is_printed_by_the_command_it_is_for() {
    let scratch = Scratch::new("documents");
    let file = |name: &str| scratch.0.join(name).display().to_string();
    let (trace, result) = (file("a.vtrace"), file("sweep"));
    let experiment = file("e.toml");
    std::fs::write(&experiment, EXPERIMENT).unwrap();
    let (set, broken) = (file("threads.toml"), file("broken.toml"));
    std::fs::write(&set, SET).unwrap();
    std::fs::write(&broken, SET.replace("10ms", "ten")).unwrap();
    std::fs::write(
        file("proof.json"),
        printed("analyze examples/fms.toml").stdout,
    )
    .unwrap();
    let lines = [
        ("analyze nowhere.toml", "Failure"),
        (&format!("check {broken}"), "Check"),
        ("check examples/fms.toml", "Check"),
        (&format!("check {set} --policy amc"), "Check"),
        ("analyze examples/fms.toml --all", "Analyses"),
        (
            &format!(
                "simulate examples/fms.toml --policy amc --for 1s --scenario overrun=0.5 --trace {trace}"
            ),
            "Run",
        ),
        (&format!("replay {trace}"), "Replay"),
        (
            &format!("replay {} {set} --policy rms", RECORDED[0]),
            "Comparison",
        ),
        ("doctor --no-probes", "Examination"),
        (
            &format!("generate --recipe huang2014 --count 1 -o {}", file("sets")),
            "Generated",
        ),
        (&format!("sweep {experiment} -o {result}"), "Swept"),
        (&format!("plot {result} --x utilization"), "Plotted"),
        (
            &format!(
                "regenerate {result} --point 0 --index 0 -o {}",
                file("set.toml")
            ),
            "Regenerated",
        ),
        (
            &format!("report {} -o {}", file("proof.json"), file("page.html")),
            "Page",
        ),
        ("reproduce --list", "Figures"),
        ("explain amc", "Explanation"),
        ("explain", "Topics"),
    ];
    for (line, name) in lines {
        let done = printed(line);
        assert_eq!(
            shape::kind(&done.stdout),
            Some(name),
            "{line}: {}{}",
            done.stdout,
            done.stderr
        );
    }
}
