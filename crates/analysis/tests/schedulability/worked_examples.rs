//! Examples with printed numbers, from the papers.

use crate::common;

use common::{problem, task};
use vestal_analysis::{Kind, Parameter, Reason, Scratch, Test, Verdict, find};
use vestal_core::{Duration, Level, TaskId};

fn ns(values: &[u64]) -> Vec<Option<Duration>> {
    values
        .iter()
        .map(|&value| Some(Duration::from_nanos(value)))
        .collect()
}

/// The tests for tasks that may be released at any time: neither for finite job sets nor for frames, servers or levels of MC².
fn for_tasks() -> impl Iterator<Item = &'static Test> {
    let tests = vestal_analysis::tests().iter();
    let tests = tests.filter(|test| !test.is_for_job_sets && !test.is_for_servers);
    tests.filter(|test| {
        let not_those = [Parameter::Frames, Parameter::Tables];
        !not_those.iter().any(|which| test.takes.contains(which))
    })
}

/// Huang, Gill and Lu (TECS 2014, section 3.1): tau_1 (LO, 1, T 2), tau_2 (HI, 1/5, T 10),
/// tau_3 (HI, 20/20, T 100), in this order of urgency.
#[test]
fn the_three_task_example_gives_50_at_lo_and_90_for_amc_rtb() {
    let set = problem(
        2,
        vec![
            task(0, 2, 2, &[1]),
            task(1, 10, 10, &[1, 5]),
            task(1, 100, 100, &[20, 20]),
        ],
    );
    let given = set.clone().with_priorities(vec![3, 2, 1]).unwrap();
    for problem in [&given, &set] {
        let outcome = find("amc-rtb", None).unwrap().analyse(problem);
        assert_eq!(outcome.verdict, Verdict::Schedulable);
        assert_eq!(outcome.kind, Kind::Sufficient);
        assert_eq!(outcome.why, None);
        assert_eq!(outcome.parameters.priorities, Some(vec![3, 2, 1]));
        assert_eq!(outcome.tasks[0].responses, ns(&[1]));
        // tau_2 at HI: 5 + ceil(2/2) * 1, because tau_1 interferes only until R_2(LO) = 2.
        assert_eq!(outcome.tasks[1].responses, ns(&[2, 6]));
        assert_eq!(outcome.tasks[2].responses, ns(&[50, 90]));
    }
    // Static enforcement lets tau_1 interfere to the end: tau_2 needs 5 + ceil(10/2) = 10, and for
    // tau_3 the two more urgent tasks take the whole CPU.
    let outcome = find("smc", None).unwrap().analyse(&given);
    assert_eq!(outcome.verdict, Verdict::Unschedulable);
    assert_eq!(outcome.tasks[1].responses, ns(&[2, 10]));
    assert_eq!(outcome.tasks[2].responses, [ns(&[50]), vec![None]].concat());
    let Some(Reason::ResponseExceedsDeadline {
        task,
        level,
        at_least,
        deadline,
    }) = outcome.why
    else {
        panic!("{:?}", outcome.why)
    };
    assert_eq!((task, level), (TaskId(2), Level(1)));
    assert!(at_least > deadline && deadline == Duration::from_nanos(100));
}

/// The same set under the orders that need no assignment: criticality order serves the HI tasks and
/// starves tau_1; by rate, tau_1 and tau_2 leave nothing for tau_3 in HI runs, unless tau_1 is suspended
/// when tau_3 has had as long as it may take in LO runs.
#[test]
fn the_three_task_example_passes_only_where_less_critical_tasks_give_way() {
    let set = problem(
        2,
        vec![
            task(0, 2, 2, &[1]),
            task(1, 10, 10, &[1, 5]),
            task(1, 100, 100, &[20, 20]),
        ],
    );
    for test in for_tasks() {
        let schedulable = test.analyse(&set).verdict == Verdict::Schedulable;
        let adaptive = ["amc-rtb", "amc-max", "edf-vd", "fjp-mode"].contains(&test.name);
        let suspends = test.name == "zss" && [None, Some("tightened")].contains(&test.variant);
        let by_edf_vd = test.name == "pedf-vd" && test.variant == Some("edf-vd");
        assert_eq!(schedulable, adaptive || suspends || by_edf_vd, "{test}");
    }
    let responses = |name| {
        let outcome = find(name, None).unwrap().analyse(&set);
        let tasks = outcome.tasks.into_iter();
        tasks.map(|task| task.responses).collect::<Vec<_>>()
    };
    let by_rate = vec![ns(&[1]), ns(&[2, 10]), [ns(&[50]), vec![None]].concat()];
    assert_eq!(responses("rms"), by_rate);
    assert_eq!(responses("dms"), by_rate);
    assert_eq!(
        responses("cms"),
        vec![vec![None], ns(&[1, 5]), ns(&[23, 40])]
    );
}

/// Accepted, and safe only if dropped jobs are discarded: a run that resumes them at the idle
/// instant misses with this set (`docs/explain/amc.md`).
#[test]
fn the_set_that_resumed_jobs_break_is_schedulable_when_they_are_discarded() {
    let set = problem(
        2,
        vec![
            task(1, 3, 2, &[1, 2]),
            task(0, 3, 3, &[1]),
            task(0, 6, 6, &[2]),
        ],
    );
    let outcome = find("amc-rtb", None).unwrap().analyse(&set);
    assert_eq!(outcome.verdict, Verdict::Schedulable);
    assert_eq!(outcome.parameters.priorities, Some(vec![3, 2, 1]));
}

/// The classic exact test on one level: C = 3, 3, 5 with T = 7, 12, 20 gives 3, 6, 20 (Burns and
/// Wellings, Real-Time Systems and Programming Languages, the chapter on response-time analysis).
#[test]
fn a_single_level_set_gets_the_textbook_response_times() {
    let set = problem(
        1,
        vec![
            task(0, 7, 7, &[3]),
            task(0, 12, 12, &[3]),
            task(0, 20, 20, &[5]),
        ],
    );
    for name in ["rms", "dms", "cms", "smc", "amc-rtb"] {
        let outcome = find(name, None).unwrap().analyse(&set);
        assert_eq!(outcome.verdict, Verdict::Schedulable, "{name}");
        let responses: Vec<_> = outcome
            .tasks
            .iter()
            .flat_map(|t| t.responses.clone())
            .collect();
        assert_eq!(responses, ns(&[3, 6, 20]), "{name}");
    }
}

/// Why criticality order wastes capacity: a critical task with a long period starves a task with a
/// short one.
#[test]
fn criticality_order_fails_where_rate_order_passes() {
    let set = problem(2, vec![task(0, 4, 4, &[1]), task(1, 20, 20, &[6, 8])]);
    assert_eq!(
        find("rms", None).unwrap().analyse(&set).verdict,
        Verdict::Schedulable
    );
    let outcome = find("cms", None).unwrap().analyse(&set);
    assert_eq!(outcome.verdict, Verdict::Unschedulable);
    assert_eq!(outcome.tasks[1].responses, ns(&[6, 8]));
    assert_eq!(outcome.tasks[0].responses, vec![None]);
}

/// Where a set gives values above a task's own level, running to completion costs more than being
/// stopped.
#[test]
fn only_enforcement_protects_a_critical_task_from_a_careless_one() {
    let set = problem(2, vec![task(0, 10, 10, &[2, 7]), task(1, 20, 20, &[5, 8])]);
    let given = set.with_priorities(vec![2, 1]).unwrap();
    let rms = find("rms", None).unwrap().analyse(&given);
    // Not unschedulable: the policy stops jobs at their own level's value unless configured otherwise.
    assert_eq!(
        (rms.kind, rms.verdict),
        (Kind::Sufficient, Verdict::NotProven)
    );
    assert_eq!(rms.tasks[1].responses, [ns(&[7]), vec![None]].concat());
    let smc = find("smc", None).unwrap().analyse(&given);
    assert_eq!(smc.verdict, Verdict::Schedulable);
    assert_eq!(smc.tasks[1].responses, ns(&[7, 10]));
}

/// The printed form of SMC charges a HI job's own value even in LO runs.
#[test]
fn the_printed_form_of_smc_refuses_what_smc_proves() {
    let set = problem(2, vec![task(1, 10, 10, &[1, 6]), task(0, 12, 12, &[6])]);
    let given = set.with_priorities(vec![2, 1]).unwrap();
    assert_eq!(
        find("smc", None).unwrap().analyse(&given).verdict,
        Verdict::Schedulable
    );
    let printed = find("smc", Some("printed")).unwrap().analyse(&given);
    assert_eq!(printed.verdict, Verdict::NotProven);
    assert_eq!(printed.kind, Kind::Sufficient);
}

#[test]
fn a_task_that_needs_more_than_its_deadline_is_refused_by_every_test() {
    let set = problem(2, vec![task(1, 10, 5, &[2, 6]), task(0, 100, 100, &[1])]);
    let given = set.clone().with_priorities(vec![2, 1]).unwrap();
    let mut scratch = Scratch::default();
    for test in for_tasks() {
        for problem in [&set, &given] {
            let outcome = test.analyse(problem);
            // D < T is outside of EDF-VD's assumptions, which are looked at first.
            let why = if ["edf-vd", "edf-vd-util", "pedf-vd"].contains(&test.name) {
                Reason::ConstrainedDeadline { task: TaskId(0) }
            } else {
                Reason::WcetExceedsDeadline { task: TaskId(0) }
            };
            assert_eq!(outcome.why, Some(why));
            assert_ne!(outcome.verdict, Verdict::Schedulable);
            assert!(!test.accepts(problem, &mut scratch));
        }
    }
}

#[test]
fn an_exact_test_is_only_sufficient_where_phases_are_restricted() {
    use vestal_analysis::Phasing;
    let set = problem(1, vec![task(0, 4, 2, &[2]), task(0, 4, 2, &[2])]);
    let outcome = find("rms", None).unwrap().analyse(&set);
    assert_eq!(
        (outcome.kind, outcome.verdict),
        (Kind::Exact, Verdict::Unschedulable)
    );
    // With offsets 0 and 2 the two never meet, so unschedulable would be wrong.
    let outcome = find("rms", None)
        .unwrap()
        .analyse(&set.with_phasing(Phasing::Restricted));
    assert_eq!(
        (outcome.kind, outcome.verdict),
        (Kind::Sufficient, Verdict::NotProven)
    );
}

#[test]
fn a_failed_assignment_says_who_was_left() {
    let set = problem(
        1,
        vec![
            task(0, 10, 10, &[6]),
            task(0, 10, 10, &[6]),
            task(0, 100, 100, &[1]),
        ],
    );
    let outcome = find("amc-rtb", None).unwrap().analyse(&set);
    assert_eq!(outcome.verdict, Verdict::NotProven);
    let left = vec![TaskId(0), TaskId(1), TaskId(2)];
    assert_eq!(outcome.why, Some(Reason::NobodyFits { priority: 1, left }));
    assert_eq!(outcome.parameters.priorities, None);
    assert_eq!(outcome.tasks[0].responses, vec![None]);
}

#[test]
fn the_largest_times_neither_overflow_nor_pass() {
    let huge = 1 << 62;
    let hungry = problem(
        2,
        vec![task(0, huge, huge, &[huge]), task(0, huge, huge, &[huge])],
    );
    let modest = problem(
        2,
        vec![task(0, huge, huge, &[1]), task(0, huge, huge, &[huge - 1])],
    );
    for test in for_tasks() {
        assert_ne!(
            test.analyse(&hungry).verdict,
            Verdict::Schedulable,
            "{test}"
        );
        // A full CPU is beyond the 3/4 rule, has no busy period in closed form, and no room for a job
        // under way.
        let holds = test.analyse(&modest).why.is_none();
        // Small servers lose two of their periods.
        let carries_in = test.name == "zss" && test.variant == Some("form");
        let three_quarters =
            test.name == "edf-vd-util" || test.name == "pedf-vd" && test.variant != Some("edf-vd");
        let full = test.name != "fjp-lb"
            && !three_quarters
            && test.variant != Some("servers")
            && !carries_in;
        assert_eq!(holds, full, "{test}");
    }
}

/// The third task needs nothing in runs of level 0, and one tick at its own. The others leave it the CPU never:
/// the mode stays 0, and its job misses (drawn in the simulator's tests). Equations that take such a job for
/// complete at once, or for over its C(0) as soon as no other task has work left, accept the set.
#[test]
fn a_job_that_needs_nothing_below_its_level_waits_for_the_cpu_all_the_same() {
    let full = problem(
        2,
        vec![
            task(0, 2, 1, &[1]),
            task(1, 4, 4, &[2, 2]),
            task(1, 20, 20, &[0, 1]),
        ],
    );
    let given = full.clone().with_priorities(vec![3, 2, 1]).unwrap();
    let mut scratch = Scratch::default();
    for name in ["smc", "amc-rtb", "amc-max", "amc-ia", "fjp-mode", "fjp-own"] {
        let test = find(name, None).unwrap();
        for set in [&full, &given] {
            assert!(!test.accepts(set, &mut scratch), "{name}");
            assert!(test.analyse(set).why.is_some(), "{name}");
        }
    }
    // With one tick in four to spare for it at level 0 it gets the CPU, and the mode rises.
    let spare = problem(
        2,
        vec![
            task(0, 4, 2, &[1]),
            task(1, 4, 4, &[2, 2]),
            task(1, 20, 20, &[0, 1]),
        ],
    );
    for name in ["amc-rtb", "amc-max", "fjp-mode"] {
        let test = find(name, None).unwrap();
        assert!(test.accepts(&spare, &mut scratch), "{name}");
    }
}
