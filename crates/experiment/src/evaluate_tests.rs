//! What is asked of one set, and what comes of it.

use super::*;
use vestal_core::{Duration, Level, Service, Wcet};

/// z, T = D, and C(0), ..., C(z) in nanoseconds.
fn problem(rows: &[(u8, u64, &[u64])]) -> Problem {
    let tasks = rows.iter().map(|&(criticality, period, wcet)| {
        let values: Vec<Service> = wcet.iter().map(|c| Service::from_nanos(*c)).collect();
        let (span, wcet) = (Duration::from_nanos(period), Wcet::new(&values).unwrap());
        Task::new(Level(criticality), span, span, wcet).unwrap()
    });
    Problem::new(tasks.collect(), LevelSet::new(2).unwrap()).unwrap()
}

fn checked(name: &str, problem: &Problem) -> Answer {
    let registry = Registry::default();
    let test = registry.test(name).unwrap();
    let Question::Check(check) = Question::check(&registry, test).unwrap() else {
        unreachable!("it is a check")
    };
    let set = misses::tests::set(problem);
    Evaluator::default()
        .check(&check, (&set, problem), 1)
        .unwrap()
}

#[test]
fn an_acceptance_is_proved_shown_to_be_wrong_or_open() {
    let easy = problem(&[(0, 10, &[2]), (1, 20, &[2, 4])]);
    assert_eq!(checked("amc-ia", &easy), Answer::Yes);
    assert_eq!(checked("fjp-ija", &easy), Answer::Yes);
    // What is not accepted is not looked at, whatever would be found.
    let overloaded = problem(&[(0, 10, &[7]), (1, 20, &[8, 19])]);
    let ordered = overloaded.with_priorities(vec![2, 1]).unwrap();
    assert_eq!(checked("amc-ia", &ordered), Answer::Undecided);
    let wrong = problem(&[
        (1, 5, &[1, 2]),
        (1, 14, &[2, 5]),
        (0, 4, &[1]),
        (1, 14, &[1, 5]),
    ]);
    assert_eq!(checked("fjp-ija", &wrong), Answer::No);
}

/// As `vestal analyze` does, which is told of the set's servers; without them no such test accepts anything.
#[test]
fn tests_of_servers_are_asked_about_the_servers_of_the_set() {
    let registry = Registry::default();
    let named = |name: &str| registry.test(name).unwrap();
    let (rtb, ub) = (named("io-amc-rtb"), named("io-amc-ub"));
    let questions = [
        Question::Test(rtb.into()),
        Question::Test(ub.into()),
        Question::check(&registry, rtb).unwrap(),
        Question::check(&registry, ub).unwrap(),
    ];
    let mut seen = [0, 0];
    for utilization in ["0.3", "0.9"] {
        let mut recipe = vestal_workload::generate::Recipe::named("missimer").unwrap();
        recipe.set("utilization", utilization).unwrap();
        recipe.set("events", "sporadic").unwrap();
        for seed in 0..8 {
            let set = recipe.draw(seed).unwrap();
            let found = Evaluator::default().answers(&set, (0, seed), &questions);
            let accepted = [rtb, ub].map(|test| {
                let problem = vestal_policy::problem(&set, test, &Given::default());
                test.accepts(&problem.unwrap(), &mut Scratch::default())
            });
            let answers = accepted.map(|yes| if yes { Answer::Yes } else { Answer::No });
            // What the sound one accepts it proves, of the claim of the other, too; nothing else is shown.
            let proved = match accepted[0] {
                true => Answer::Yes,
                false => Answer::Undecided,
            };
            let expected = [answers.to_vec(), vec![proved; 2]].concat();
            assert_eq!(found.unwrap().answers, expected, "{utilization}, {seed}");
            seen[usize::from(accepted[0])] += 1;
        }
    }
    assert!(seen[0] > 0 && seen[1] > 0, "{seen:?}");
}

/// `vestal analyze` leaves them out, or says what is wrong.
#[test]
fn tests_of_servers_are_not_asked_about_others() {
    let text = "format = \"vestal/1\"\nlevels = [\"LO\"]\nunit = \"ms\"\n[[task]]\nname = \"a\"\n\
                criticality = \"LO\"\nperiod = 10\nwcet = { LO = 1 }\n[[server]]\nname = \"app\"\n\
                kind = \"deferrable\"\nperiod = 10\ncapacity = 6\ntasks = [\"a\"]\n";
    let registry = Registry::default();
    let named = |name: &str| registry.test(name).unwrap();
    let questions = [
        Question::Test(named("hsf").into()),
        Question::Test(named("ss-rta").into()),
        Question::check(&registry, named("io-amc-ub")).unwrap(),
    ];
    let asked = |text: &str| {
        let source = vestal_workload::Source::new("set.toml", text);
        let set = TaskSet::from_source(&source).unwrap();
        let found = Evaluator::default().answers(&set, (0, 1), &questions);
        found.unwrap().answers
    };
    let refused = [Answer::Yes, Answer::Refused, Answer::Refused];
    assert_eq!(asked(text), refused);
    let sporadic = text.replace("deferrable", "sporadic");
    let found = asked(&sporadic);
    assert_eq!(found[1..], [Answer::Yes, Answer::Yes]);
}

#[test]
fn only_what_no_sound_test_bounds_is_looked_at() {
    let problem = problem(&[(0, 4, &[1]), (1, 10, &[3, 3]), (1, 10, &[2, 8])]);
    let names = ["amc-rtb", "amc-max"];
    let sound = || {
        names
            .into_iter()
            .filter_map(|name| vestal_analysis::find(name, None))
    };
    assert_eq!(
        weak_tasks(&problem, Some(&[3, 2, 1]), sound().collect()),
        [2]
    );
    assert_eq!(weak_tasks(&problem, None, sound().collect()), [0, 1, 2]);
    assert_eq!(
        weak_tasks(&problem, Some(&[3, 2, 1]), Vec::new()),
        [0, 1, 2]
    );
}

/// Whatever the test says of it, and whatever proves it: nothing is asked about a set that the policy does not take.
#[test]
fn a_check_is_not_asked_about_what_its_policy_refuses() {
    let text = |cpus: u32, wcet: u32| {
        format!(
            "format = \"vestal/1\"\nlevels = [\"LO\", \"HI\"]\nunit = \"ms\"\n[platform]\ncpus = {cpus}\n\
             [[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 10\nwcet = {{ LO = {wcet} }}\n\
             [[task]]\nname = \"b\"\ncriticality = \"HI\"\nperiod = 20\nwcet = {{ LO = 4, HI = 8 }}\n"
        )
    };
    let registry = Registry::default();
    let named = |name: &str| registry.test(name).unwrap();
    let questions = [
        Question::check(&registry, named("amc-ia")).unwrap(),
        Question::check(&registry, named("pedf-vd")).unwrap(),
    ];
    let asked = |cpus, wcet| {
        let source = vestal_workload::Source::new("set.toml", &text(cpus, wcet));
        let set = TaskSet::from_source(&source).unwrap();
        let found = Evaluator::default().answers(&set, (0, 1), &questions);
        found.unwrap().answers
    };
    // One that is accepted and proved, and one that is not accepted.
    assert_eq!(asked(1, 2), [Answer::Yes, Answer::Yes]);
    assert_eq!(asked(1, 9), [Answer::Undecided, Answer::Undecided]);
    assert_eq!(asked(2, 2), [Answer::Refused, Answer::Yes]);
    assert_eq!(asked(2, 9)[0], Answer::Refused);
}

/// Of whom runs judge anything follows from the sets: bottom halves have no deadlines, and those in PIBS end in time.
#[test]
fn runs_in_servers_say_whom_they_judge() {
    let text = "format = \"vestal-experiment/1\"\nname = \"x\"\nrecipe = \"missimer\"\nsets = 1\n\
                tests = [\"io-amc-rtb\"]\n[vary]\ntasks = [6, 15]\n\
                [[simulate]]\npolicy = \"io-amc\"\nfor = \"20ms\"\n\
                [[simulate]]\npolicy = \"io-amc\"\nfor = \"20ms\"\ndraw = [\"events=burst\"]\n\
                [[simulate]]\npolicy = \"io-amc\"\nfor = \"20ms\"\ndraw = [\"io=sporadic\"]\n\
                [[simulate]]\npolicy = \"io-amc\"\nfor = \"20ms\"\ndraw = [\"io=sporadic\", \"events=burst\"]\n";
    let experiment = Experiment::parse(&vestal_workload::Source::new("x", text)).unwrap();
    let registry = Registry::default();
    let questions = crate::questions(&registry, &experiment, None).into_iter();
    let judged = questions.map(|question| {
        let judged = question.unwrap().judged(&experiment);
        let words: Vec<String> = judged.iter().map(ToString::to_string).collect();
        words.join(", ")
    });
    let judged: Vec<String> = judged.collect();
    let of = |[few, many]: [&str; 2]| format!("the deadlines of {few}, the deadlines of {many}");
    assert_eq!(judged[0], "");
    assert_eq!(
        judged[2],
        of([
            "6 of 11 tasks and the ends of bursts of 5 PIBS",
            "15 of 20 tasks and the ends of bursts of 5 PIBS"
        ])
    );
    assert_eq!(judged[3], of(["11 of 11 tasks", "20 of 20 tasks"]));
    assert_eq!(judged[4], of(["6 of 11 tasks", "15 of 20 tasks"]));
}

/// Bottom halves have no deadline that could be missed.
#[test]
fn a_burst_that_takes_too_long_is_no_run_in_which_guarantees_are_kept() {
    let ran = |bursts_broken| {
        let outcome = Outcome {
            figures: vestal_sim::Figures::default(),
            frames: None,
            bursts_broken,
        };
        [
            Ran::Whole(Box::new(outcome.clone())),
            Ran::Cut(Box::new(outcome)),
        ]
    };
    assert_eq!(
        ran(0).map(|ran| is_kept(&ran)),
        [Answer::Yes, Answer::Undecided]
    );
    assert_eq!(ran(1).map(|ran| is_kept(&ran)), [Answer::No; 2]);
}

/// A sweep that asks about tasks alone draws no names; its answers are those about the set, of accepted and refused ones.
#[test]
fn answers_about_tasks_alone_are_those_about_the_set() {
    let registry = Registry::default();
    let asked = |name: &str| Question::Test(registry.test(name).unwrap().into());
    let questions = ["rms", "smc", "pt", "amc-rtb", "amc-max", "zss", "edf"].map(asked);
    assert!(asks_about_tasks(&questions));
    let mut recipe = vestal_workload::generate::Recipe::named("standard").unwrap();
    recipe.set("utilization", "0.75").unwrap();
    let mut evaluator = Evaluator::default();
    let mut seen = [[0; 2]; 7];
    for seed in 0..100 {
        let tasks = recipe.draw_tasks(seed).unwrap().unwrap();
        let alone = evaluator.answers_about_tasks(tasks, &questions).unwrap();
        let set = recipe.draw(seed).unwrap();
        let whole = evaluator.answers(&set, (0, seed), &questions).unwrap();
        assert_eq!(alone, whole, "{seed}");
        for (seen, answer) in seen.iter_mut().zip(&alone.answers) {
            seen[usize::from(*answer == Answer::Yes)] += 1;
        }
    }
    let both = seen
        .iter()
        .filter(|seen| seen.iter().all(|&count| count > 5));
    assert!(both.count() >= 4, "{seen:?}");
    // Whatever is about more than tasks is not asked so.
    let check = Question::check(&registry, registry.test("amc-ia").unwrap()).unwrap();
    assert!(!asks_about_tasks(std::slice::from_ref(&check)));
    assert!(!asks_about_tasks(&[asked("pedf-vd")]) && !asks_about_tasks(&[asked("ss-rta")]));
    let tasks = recipe.draw_tasks(1).unwrap().unwrap();
    for more in [check, asked("pedf-vd"), asked("ss-rta")] {
        let found = evaluator.answers_about_tasks(tasks.clone(), &[more]);
        assert!(found.is_err());
    }
}
