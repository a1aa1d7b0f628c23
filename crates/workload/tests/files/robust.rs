//! Whatever is fed in: no panic, and every diagnostic has a place inside the text.

use crate::common;

use proptest::prelude::*;
use std::sync::{Arc, LazyLock};
use vestal_policy::parameters;
use vestal_workload::codes::{self, SCENARIO_SET, Sample};
use vestal_workload::diagnostic::RenderOptions;
use vestal_workload::{Diagnostics, Scenario, Source, TaskSet};

/// Task-set texts to mutate: the examples, and the samples of all codes.
static SEEDS: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    let mut seeds = common::examples();
    for info in codes::all() {
        for sample in [info.wrong, info.right] {
            seeds.extend(common::file_text(sample).map(|text| ("sample.toml".to_owned(), text)));
        }
    }
    seeds
});

static SCENARIOS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut seeds = Vec::new();
    for info in codes::all() {
        for sample in [info.wrong, info.right] {
            if let Sample::Scenario(text) | Sample::Parameters(text) | Sample::Spec(text) = sample {
                seeds.push(text.to_owned());
            }
        }
    }
    seeds
});

fn assert_placed(errors: &Diagnostics) {
    assert!(!errors.list().is_empty(), "an error without a diagnostic");
    let text = &errors.source_text().text;
    let lines: Vec<&str> = text.split('\n').collect();
    for found in errors.list() {
        assert!(found.line >= 1 && found.line <= lines.len(), "{found:?}");
        let width = lines[found.line - 1].chars().count();
        assert!(found.column >= 1 && found.column <= width + 1, "{found:?}");
        assert!(
            found.span.start() <= found.span.end() && found.span.end() <= text.len(),
            "{found:?}"
        );
        assert!(
            text.get(found.span.start()..found.span.end()).is_some(),
            "{found:?}"
        );
        for part in [&found.message, &found.found, &found.expected, &found.help] {
            assert!(!part.is_empty(), "{found:?}");
        }
        assert!(codes::explain(&found.code.to_string()).is_some());
    }
    assert!(!errors.render(RenderOptions::default()).is_empty());
}

fn feed_task_set(name: &str, text: &str) {
    match TaskSet::parse(name, text) {
        Err(errors) => assert_placed(&errors),
        Ok(set) => {
            for user in ["rms", "amc-rtb"] {
                if let Err(errors) = set.to_tasks(user) {
                    assert_placed(&errors);
                }
            }
            let _ = (
                set.default_duration(),
                set.utilisation(vestal_core::Level(0)),
            );
            let again = TaskSet::parse("again.toml", &set.to_toml());
            assert_eq!(
                again.unwrap_or_else(|errors| panic!("{errors}\n{}", set.to_toml())),
                set
            );
            let json = TaskSet::parse("again.json", &set.to_json());
            assert_eq!(
                json.unwrap_or_else(|errors| panic!("{errors}\n{}", set.to_json())),
                set
            );
        }
    }
}

fn feed_others(text: &str) {
    let set = TaskSet::parse("set.toml", SCENARIO_SET).unwrap();
    for name in ["s.csv", "s.toml", "s.json"] {
        let source: Arc<Source> = Source::new(name, text);
        if let Err(errors) = Scenario::from_source(&source, &set) {
            assert_placed(&errors);
        }
        if let Err(errors) = parameters::read(&source, &set) {
            assert_placed(&errors);
        }
    }
    if let Err(errors) = Scenario::parse(text) {
        assert_placed(&errors);
    }
}

/// One edit of a text: where (as a share of its length), how much, and what goes in.
#[derive(Clone, Debug)]
struct Edit {
    at: f64,
    length: usize,
    insert: String,
}

fn snippet() -> impl Strategy<Value = String> {
    let words = vec![
        "",
        "\"",
        "'",
        "[",
        "]",
        "{",
        "}",
        "=",
        ",",
        "\n",
        "#",
        ".",
        "-",
        "0",
        "-1",
        "1e400",
        "1e-400",
        "nan",
        "-inf",
        "9999999999999999999999",
        "0.1",
        "1.0000001",
        "\"5ms\"",
        "\"1e9s\"",
        "\"-1us\"",
        "true",
        "null",
        "1979-05-27",
        "0xFF",
        "1_000",
        "\"HI\"",
        "\"LO\"",
        "HI",
        "\u{0}",
        "\u{feff}",
        "µ",
        "\\u",
        "\\ud800",
        "[[task]]",
        "[[server]]\nname=\"x\"\nkind=\"pibs\"\n",
        "\r",
        "[[job]]",
        "period",
        "wcet",
        "a.b.c",
        "4611686018427387904",
    ];
    prop_oneof![
        8 => proptest::sample::select(words).prop_map(str::to_owned),
        1 => "\\PC{0,12}",
        1 => ".{0,4}",
    ]
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let edit = (0.0..1.0f64, 0usize..24, snippet()).prop_map(|(at, length, insert)| Edit {
        at,
        length,
        insert,
    });
    proptest::collection::vec(edit, 1..5)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a place in a short text"
)]
fn apply(text: &str, edits: &[Edit]) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for edit in edits {
        let start = ((chars.len() as f64) * edit.at) as usize;
        let end = (start + edit.length).min(chars.len());
        chars.splice(start..end, edit.insert.chars());
    }
    chars.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutated_task_sets_never_panic_and_have_placed_errors(seed in 0usize..1000, edits in edits()) {
        let (name, text) = &SEEDS[seed % SEEDS.len()];
        feed_task_set(name, &apply(text, &edits));
    }

    #[test]
    fn mutated_scenarios_and_parameters_never_panic(seed in 0usize..1000, edits in edits()) {
        feed_others(&apply(&SCENARIOS[seed % SCENARIOS.len()], &edits));
    }

    #[test]
    fn arbitrary_text_never_panics(text in ".{0,80}") {
        feed_task_set("a.toml", &text);
        feed_task_set("a.json", &text);
        feed_others(&text);
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        match Source::from_bytes("a.toml", &bytes) {
            Ok(source) => feed_task_set("a.toml", &source.text),
            Err(errors) => assert_placed(&errors),
        }
    }
}

#[test]
fn every_prefix_of_an_example_is_read_or_diagnosed() {
    for name in ["starter.toml", "starter.json"] {
        let (_, text) = common::examples()
            .into_iter()
            .find(|(known, _)| known == name)
            .unwrap();
        for (end, _) in text.char_indices() {
            feed_task_set(name, &text[..end]);
        }
    }
}

#[test]
fn every_single_line_can_be_missing_or_doubled() {
    for (name, text) in common::examples() {
        let lines: Vec<&str> = text.lines().collect();
        for index in 0..lines.len() {
            let mut without = lines.clone();
            without.remove(index);
            feed_task_set(&name, &without.join("\n"));
            let mut doubled = lines.clone();
            doubled.insert(index, lines[index]);
            feed_task_set(&name, &doubled.join("\n"));
        }
    }
}

/// Beyond what any number holds, digits of base 16 would else be a small number of base 10 with an exponent.
#[test]
fn digits_of_another_base_that_are_too_many_are_no_number() {
    let text = |period: &str| {
        format!(
            "format = \"vestal/1\"\nname = \"x\"\nlevels = [\"LO\"]\nunit = \"ms\"\n\
             [[task]]\nname = \"one\"\ncriticality = \"LO\"\nperiod = {period}\nwcet = {{ LO = 1 }}\n"
        )
    };
    assert!(TaskSet::parse("x.toml", &text("0x1e")).is_ok());
    for period in [
        "0x1e0000000000000000000000000000001",
        "0b1111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111",
        "0o7777777777777777777777777777777777777777777",
    ] {
        let errors = TaskSet::parse("x.toml", &text(period)).unwrap_err();
        assert_placed(&errors);
    }
}
