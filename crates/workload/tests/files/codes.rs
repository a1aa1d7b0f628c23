//! Every code keeps its guarantee: its wrong example produces it, its right example does not.

use crate::common;

use vestal_policy::{
    About, Analysis, Fields, Native, Options, Policy, Refusal, Registry, ServerRules, Setup,
    System, Use, assemble, parameters, said_of_servers,
};
use vestal_workload::codes::{self, Code, SCENARIO_SET, Sample};
use vestal_workload::diagnostic::{RenderOptions, Severity};
use vestal_workload::{Diagnostic, Diagnostics, Scenario, ScenarioSpec, Source, TaskSet};

/// Everything that is said about a sample.
fn said(code: Code, sample: Sample) -> Vec<Diagnostic> {
    let set = TaskSet::parse("set.toml", SCENARIO_SET).unwrap();
    let errors = match sample {
        Sample::None => return Vec::new(),
        Sample::File(_) | Sample::Part(_) => {
            let text = common::file_text(sample).unwrap();
            match TaskSet::parse("sample.toml", &text) {
                // From there on they are about the use of a set: of servers by `hsf`, or where modes rise by
                // themselves, of levels by `mc2`, else by `amc-rtb`.
                Ok(set) if (410..415).contains(&code.number()) => under("hsf", &set, ""),
                Ok(set)
                    if (415..420).contains(&code.number()) || code == codes::TASK_ABOVE_SERVER =>
                {
                    said_of_servers(&Rising, &Options::default(), &set)
                }
                Ok(set) if of_mc2(code) => under("mc2", &set, ""),
                Ok(set) if code.number() >= 400 => set
                    .to_tasks("amc-rtb")
                    .err()
                    .or(set.file_priorities().err())
                    .or(set.on_one_cpu("rms").err()),
                Ok(set) => set.warnings(),
                Err(errors) => Some(errors),
            }
        }
        Sample::Spec(spec) => match Scenario::parse(spec) {
            Ok(ScenarioSpec::Level(name)) => Scenario::at_level(&name, &set).err(),
            Ok(ScenarioSpec::Named(_) | ScenarioSpec::File(_)) => None,
            Err(errors) => Some(errors),
        },
        Sample::Scenario(csv) => match Scenario::from_source(&Source::new("s.csv", csv), &set) {
            Ok(Scenario::File(file)) => return file.notes,
            Ok(_) => None,
            Err(errors) => Some(errors),
        },
        Sample::Parameters(text) if of_mc2(code) => under("mc2", &set, text),
        Sample::Parameters(text) => parameters::read(&Source::new("p.json", text), &set).err(),
    };
    errors
        .map(|errors| errors.list().to_vec())
        .unwrap_or_default()
}

/// Those that only this policy says.
fn of_mc2(code: Code) -> bool {
    (420..425).contains(&code.number())
}

/// A policy under which the mode rises by itself.
struct Rising;

impl Policy for Rising {
    fn about(&self) -> &About {
        static ABOUT: About = About {
            name: "rising",
            summary: "",
            page: "",
            parameters: &[],
            options: &[],
            tests: &[],
            native: Native::No("it is for tests"),
        };
        &ABOUT
    }

    fn fields(&self) -> Fields {
        Fields {
            servers: Use::Reads,
            ..Fields::ONE_CPU
        }
    }

    fn server_rules(&self, _: &Options) -> ServerRules {
        ServerRules::ADAPTIVE
    }

    fn build(&self, _: &Setup<'_>) -> Result<System, Refusal> {
        Err(Refusal::input("it is for tests"))
    }
}

/// What a policy has against a set, with these parameters.
fn under(policy: &str, set: &TaskSet, given: &str) -> Option<Diagnostics> {
    let given = parameters::read(&Source::new("p.json", given), set).unwrap();
    let registry = Registry::default();
    let by = (registry.policy(policy).unwrap(), &Options::default());
    let refusal = assemble(&registry, by, set, &given, Analysis::Ask).err()?;
    Some(*refusal.found.unwrap())
}

#[test]
fn wrong_examples_are_refused_with_their_code_and_right_ones_are_accepted() {
    let mut tried = 0;
    for info in codes::all() {
        let wrong = said(info.code, info.wrong);
        if !matches!(info.wrong, Sample::None) {
            tried += 1;
            assert!(
                wrong.iter().any(|found| found.code == info.code),
                "{}: {wrong:?}",
                info.code
            );
        }
        let right = said(info.code, info.right);
        assert_eq!(right, Vec::new(), "{}", info.code);
    }
    assert!(tried >= 50, "{tried}");
}

#[test]
fn numbers_are_unique_and_in_order_and_explained() {
    let numbers: Vec<u16> = codes::all().map(|info| info.code.number()).collect();
    assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
    for info in codes::all() {
        let text = codes::explain(&info.code.to_string()).unwrap();
        let (heading, rest) = text.split_once("\n\n").unwrap();
        assert_eq!(heading, format!("{}: {}", info.code, info.title));
        assert!(rest.len() > 20, "{text}");
        for (label, sample) in [("Wrong", info.wrong), ("Right", info.right)] {
            let shown = text.contains(&format!("\n{label}:\n\n"));
            assert_eq!(shown, !matches!(sample, Sample::None), "{text}");
        }
    }
    let page = std::fs::read_to_string(common::root().join("docs/diagnostics.md")).unwrap();
    let headings = page.lines().filter(|line| line.starts_with("## "));
    assert_eq!(headings.count(), numbers.len(), "each section has its code");
    assert_eq!(Code::from_text("v0204"), Some(codes::DUPLICATE_NAME));
    for unknown in ["V9999", "0204", "V204", "V02O4", ""] {
        assert!(codes::explain(unknown).is_none(), "{unknown}");
    }
}

#[test]
fn a_diagnostic_reads_well_in_text_and_as_data() {
    let text = common::with_prelude(
        "[[task]]\nname = \"sensor\"\ncriticality = \"HI\"\nperiod = 10\ndeadlin = 5\nwcet = { LO = 2, HI = 1 }\n",
    );
    let errors = TaskSet::parse("sensor.toml", &text).unwrap_err();
    assert_eq!(errors.list().len(), 2);
    for colour in [false, true] {
        let shown = errors.render(RenderOptions { colour, width: 80 });
        for part in [
            "V0100",
            "sensor.toml",
            "deadlin = 5",
            "did you mean `deadline`?",
            "V0202",
            "HI = 1",
        ] {
            assert!(shown.contains(part), "{part} is missing:\n{shown}");
        }
        assert_eq!(shown.contains('\u{1b}'), colour);
    }
    let [first, second, ..] = errors.list() else {
        panic!("too few")
    };
    assert_eq!(first.code.to_string(), "V0100");
    assert_eq!((first.line, first.column), (9 - 1, 1));
    assert_eq!(second.field, "task[0].wcet.HI");
    assert_eq!(second.severity.to_string(), "error");
    assert_eq!(first.severity, Severity::Error);
}

#[test]
fn long_lines_and_control_characters_are_not_thrown_at_the_reader() {
    let long = format!(
        "{{\"format\": \"vestal/1\", \"levels\": [{}]}}",
        "1,".repeat(5000) + "1"
    );
    let shown = TaskSet::parse("long.json", &long)
        .unwrap_err()
        .render(RenderOptions::default());
    assert!(
        shown.len() < 2000 && shown.contains("long.json:1:"),
        "{} bytes",
        shown.len()
    );
    let binary = Source::from_bytes("a.out", b"\x7fELF\x1b[31m\x00\n\xff\xfe").unwrap_err();
    let shown = binary.render(RenderOptions::default());
    assert!(
        shown.contains("a.out:2:1") && !shown.contains(['\u{1b}', '\0']),
        "{shown}"
    );
}
