//! Sweeps of MC²: what its test accepts is judged, level C by its bounds, and none is broken; a test with wrong bounds is found.

use super::*;
use vestal_analysis::{Kind, Outcome, Parameter, find};
use vestal_core::Duration;
use vestal_policy::{About, Fields, Native, Options, Refusal, Setup, System};
use vestal_workload::Source;
use vestal_workload::generate::Recipe;

const TEXT: &str = r#"
format = "vestal-experiment/1"
name   = "levels"
recipe = "herman2012"
sets   = 1
tests  = ["mc2", "mc2-in-time"]

[fixed]
cpus  = 2
tasks = 8

[[simulate]]
policy   = "mc2"
scenario = "lo"
for      = "1s"

[[simulate]]
policy   = "hasty"
scenario = "lo"
for      = "1s"
"#;

/// Shares of both CPUs that A and B have each: one CPU has all of them, and is full at 0.25.
const HIGH: [&str; 5] = ["0.15", "0.2", "0.24", "0.248", "0.26"];
/// And those of level C, which is to have what is left: 0.7 at first, and 0.48 last.
const LOW: [&str; 4] = ["0.4", "0.48", "0.55", "0.65"];

/// The mistake: level C is said to be in time.
const IN_TIME: Test = Test::own(
    "mc2-in-time",
    Kind::Sufficient,
    None,
    &[
        Parameter::Partition,
        Parameter::Tables,
        Parameter::Tardiness,
    ],
    "mc2 without tardiness",
    in_time,
)
.on_several_cpus();

fn in_time(problem: &Problem) -> Outcome {
    let mut found = find("mc2", None).unwrap().analyse(problem);
    for late in found.parameters.tardiness.iter_mut().flatten().flatten() {
        *late = Duration::ZERO;
    }
    found
}

static ABOUT: About = About {
    name: "hasty",
    summary: "mc2 with that test",
    page: "",
    parameters: &[
        Parameter::Partition,
        Parameter::Tables,
        Parameter::Tardiness,
    ],
    options: &[],
    tests: &["mc2-in-time"],
    native: Native::No("it has levels"),
};

struct InTime(Registry);

impl Policy for InTime {
    fn about(&self) -> &About {
        &ABOUT
    }
    fn fields(&self) -> Fields {
        self.0.policy("mc2").unwrap().fields()
    }
    fn test(&self, _: &Options) -> Result<Option<&str>, Refusal> {
        Ok(Some(IN_TIME.name))
    }
    fn build(&self, setup: &Setup<'_>) -> Result<System, Refusal> {
        self.0.policy("mc2").unwrap().build(setup)
    }
}

#[test]
fn sweeps_judge_mc2_by_its_bounds_and_find_wrong_ones() {
    let registry = Registry::default().with_test(IN_TIME, "").unwrap();
    let registry = registry.with_policy(InTime(Registry::default())).unwrap();
    let experiment = Experiment::parse(&Source::new("levels", TEXT)).unwrap();
    let questions = crate::questions(&registry, &experiment, None);
    let questions: Result<Vec<_>, _> = questions.into_iter().collect();
    let questions = questions.unwrap();
    let mut recipe: Recipe = experiment.recipe.clone();
    let (mut accepted, mut refuted) = (0, 0);
    const SETS: u64 = 60;
    for (seed, share) in (0..SETS).zip(HIGH.into_iter().cycle()) {
        recipe.set("capacity_a", share).unwrap();
        recipe.set("capacity_b", share).unwrap();
        let low = LOW[seed as usize / HIGH.len() % LOW.len()];
        recipe.set("capacity_c", low).unwrap();
        let set = recipe.draw(seed).unwrap();
        let found = Evaluator::default().answers(&set, (0, seed), &questions);
        let [test, same, runs, wrong] = found.unwrap().answers[..] else {
            panic!("four answers");
        };
        // Both accept the same, and only one of them is right.
        assert_eq!(test, same);
        if test == Answer::Yes {
            accepted += 1;
            assert_eq!(runs, Answer::Yes, "{}", set.to_toml());
            refuted += u64::from(wrong == Answer::No);
        }
    }
    assert!(
        accepted * 20 > SETS && accepted * 20 < 19 * SETS,
        "{accepted}"
    );
    assert!(refuted > 2, "{refuted} of {accepted}");
}
