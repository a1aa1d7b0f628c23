//! What of the levels of MC² was guaranteed, rule by rule.

use crate::guarantee::{Ending, Guarantee, Verdict};
use crate::observer::{JobState, Observer, Segment};
use vestal_core::{
    Budgets, Container, CpuId, CpuTable, DropReason, Duration, LevelB, LevelledConfiguration,
    LevelledTask, Service,
};
use vestal_testkit::short::{at, job, ns, span, task};

const MISSED: Verdict = Verdict::Missed { guaranteed: true };
const EXCUSED: Verdict = Verdict::Missed { guaranteed: false };

/// The tasks, in their order: two on each CPU, and three on all.
const A: u16 = 0;
const B: u16 = 1;
const OTHER_B: u16 = 2;
const FAR_A: u16 = 3;
const FAR_B: u16 = 4;
const C: u16 = 5;
const OTHER_C: u16 = 6;
const D: u16 = 7;
const WITHOUT_BOUND: u16 = 8;

/// T = D = 20 for all. C is 1, 2, 4, 8 at the levels D to A, as far as the task has them. Theta is 5.
const THETA: u64 = 5;

fn tasks() -> Vec<LevelledTask> {
    let entry = |container, level: u8| LevelledTask {
        task: task(level, 20, &[1, 2, 4, 8][..=usize::from(level)]),
        container,
    };
    vec![
        entry(Container::Table(CpuId(0)), 3),
        entry(Container::Local(CpuId(0)), 2),
        entry(Container::Local(CpuId(0)), 2),
        entry(Container::Table(CpuId(1)), 3),
        entry(Container::Local(CpuId(1)), 2),
        entry(Container::Global, 1),
        entry(Container::Global, 1),
        entry(Container::BestEffort, 0),
        entry(Container::Global, 1),
    ]
}

fn guarantee(budgets: Budgets) -> Guarantee {
    let tasks = tasks();
    let table = CpuTable {
        cycle: Duration::ZERO,
        slots: &[],
    };
    let configuration = LevelledConfiguration {
        tasks: &tasks,
        tables: &[table, table],
        backlog: 8,
        budgets,
        level_b: LevelB::EarliestDeadline,
        granularity: Service::ZERO,
        wake_granularity: Duration::ZERO,
    };
    let late = |index: usize| (index != usize::from(WITHOUT_BOUND)).then(|| span(THETA));
    let tardiness: Vec<Option<Duration>> = (0..tasks.len()).map(late).collect();
    Guarantee::of_levels(&configuration, &tardiness)
}

/// A job that is released at 20 times its number and has executed so much of what it needs.
fn state(task: u16, sequence: u64, executed: u64, demand: u64) -> JobState {
    JobState {
        id: job(task, sequence),
        released: at(20 * sequence),
        deadline: at(20 * sequence + 20),
        demand: ns(demand),
        executed: ns(executed),
        demoted: None,
        last_cpu: None,
    }
}

/// A run in which the first job of `task` has executed so much by `end`, without a break.
fn after(budgets: Budgets, task: u16, executed: u64, end: u64) -> Guarantee {
    let mut guarantee = guarantee(budgets);
    ran(&mut guarantee, &state(task, 0, executed, 20), executed, end);
    guarantee
}

fn ran(guarantee: &mut Guarantee, job: &JobState, so_much: u64, end: u64) {
    let segment = Segment {
        cpu: CpuId(0),
        start: at(end - so_much),
        end: at(end),
    };
    guarantee.executed(segment, job);
}

/// What is said of the job of `task` that is due at 40, which completes too late; it has executed too little for any bound.
fn late(guarantee: &Guarantee, task: u16) -> Option<Verdict> {
    guarantee.judge(&state(task, 1, 1, 1), at(46), Ending::Completed)
}

const ENFORCED: Budgets = Budgets::Enforced;
const IGNORED: Budgets = Budgets::Ignored;

#[test]
fn a_late_job_was_guaranteed_its_deadline_where_nothing_exceeds_anything() {
    for budgets in [ENFORCED, IGNORED] {
        let calm = guarantee(budgets);
        for task in [A, B, OTHER_B, FAR_A, FAR_B, C, OTHER_C] {
            assert_eq!(late(&calm, task), Some(MISSED), "{task}");
        }
        for task in [D, WITHOUT_BOUND, 9] {
            assert_eq!(late(&calm, task), Some(EXCUSED), "{task}");
        }
    }
}

/// Who excuses whom once it has executed one more than its bound of the other's level; the same with as much as that bound.
#[test]
fn who_exceeds_its_bound_excuses_its_own_task_and_the_levels_below_it() {
    // The bound of the level, and the tasks that it excuses.
    let cases: [(u16, u64, &[u16]); 13] = [
        (A, 8, &[A, B, OTHER_B, C, OTHER_C]),
        (A, 4, &[B, OTHER_B, C, OTHER_C]),
        (A, 2, &[C, OTHER_C]),
        (A, 1, &[]),
        (B, 4, &[B, C, OTHER_C]),
        (B, 2, &[C, OTHER_C]),
        (FAR_A, 8, &[FAR_A, FAR_B, C, OTHER_C]),
        (FAR_A, 4, &[FAR_B, C, OTHER_C]),
        (FAR_A, 2, &[C, OTHER_C]),
        (FAR_B, 4, &[FAR_B, C, OTHER_C]),
        (FAR_B, 2, &[C, OTHER_C]),
        (C, 2, &[C]),
        (D, 1, &[]),
    ];
    for (task, bound, excused) in cases {
        let beyond = after(ENFORCED, task, bound + 1, 20);
        let up_to = after(ENFORCED, task, bound, 20);
        for other in [A, B, OTHER_B, FAR_A, FAR_B, C, OTHER_C] {
            let expected = if excused.contains(&other) {
                EXCUSED
            } else {
                MISSED
            };
            let shown = format!("{task} beyond {bound}, {other}");
            assert_eq!(late(&beyond, other), Some(expected), "{shown}");
            let fewer = cases
                .iter()
                .any(|&(same, less, whom)| same == task && less < bound && whom.contains(&other));
            let expected = if fewer { EXCUSED } else { MISSED };
            assert_eq!(late(&up_to, other), Some(expected), "{shown}, up to that");
        }
    }
}

/// Without budgets a task of level B delays those of its CPU, and one of level C all others; a table keeps its tasks apart.
#[test]
fn without_budgets_all_tasks_of_a_level_count_as_the_own_one() {
    let cases: [(u16, u64, &[u16]); 4] = [
        (A, 8, &[A, B, OTHER_B, C, OTHER_C]),
        (B, 4, &[B, OTHER_B, C, OTHER_C]),
        (FAR_B, 4, &[FAR_B, C, OTHER_C]),
        (C, 2, &[C, OTHER_C]),
    ];
    for (task, bound, excused) in cases {
        let beyond = after(IGNORED, task, bound + 1, 20);
        for other in [A, B, OTHER_B, FAR_A, FAR_B, C, OTHER_C] {
            let expected = if excused.contains(&other) {
                EXCUSED
            } else {
                MISSED
            };
            assert_eq!(late(&beyond, other), Some(expected), "{task}, {other}");
        }
    }
}

#[test]
fn what_is_exceeded_when_the_job_is_to_be_complete_or_later_excuses_nothing() {
    // One more than C(A), C(B) or C(C), in the last unit before `end`.
    for (task, bound, due) in [(A, 8, 40), (B, 4, 40), (C, 2, 40 + THETA)] {
        for (end, verdict) in [(due, EXCUSED), (due + 1, MISSED)] {
            let beyond = after(ENFORCED, task, bound + 1, end);
            let job = state(task, 1, 1, 1);
            let judged = beyond.judge(&job, at(60), Ending::Completed);
            assert_eq!(judged, Some(verdict), "{task} {end}");
        }
    }
    // The first instant counts, whoever was told of later.
    let mut early = after(ENFORCED, B, 5, 39);
    ran(&mut early, &state(B, 0, 9, 20), 1, 60);
    assert_eq!(late(&early, B), Some(EXCUSED));
}

#[test]
fn no_idle_instant_and_no_other_job_brings_a_guarantee_back() {
    for (task, bound) in [(A, 8), (B, 4), (C, 2)] {
        let mut beyond = after(ENFORCED, task, bound + 1, 15);
        beyond.completed(at(15), &state(task, 0, bound + 1, bound + 1));
        beyond.idle(at(15));
        beyond.idle(at(20));
        ran(&mut beyond, &state(task, 1, 1, 1), 1, 21);
        assert_eq!(late(&beyond, task), Some(EXCUSED), "{task}");
    }
}

#[test]
fn a_job_of_level_c_is_guaranteed_to_be_complete_so_much_after_its_deadline() {
    let calm = guarantee(ENFORCED);
    let ends = |task, end, how| calm.judge(&state(task, 1, 1, 1), at(end), how);
    for (end, verdict) in [
        (40, Verdict::Met),
        (41, EXCUSED),
        (45, EXCUSED),
        (46, MISSED),
    ] {
        assert_eq!(ends(C, end, Ending::Completed), Some(verdict), "{end}");
    }
    for (end, verdict) in [
        (39, None),
        (40, Some(EXCUSED)),
        (44, Some(EXCUSED)),
        (45, Some(MISSED)),
    ] {
        assert_eq!(ends(C, end, Ending::Unfinished), verdict, "{end}");
    }
    // The others are late from their deadlines on.
    for task in [A, B] {
        assert_eq!(ends(task, 40, Ending::Completed), Some(Verdict::Met));
        assert_eq!(ends(task, 41, Ending::Completed), Some(MISSED));
        assert_eq!(ends(task, 40, Ending::Unfinished), Some(MISSED));
        assert_eq!(ends(task, 39, Ending::Unfinished), None);
    }
}

#[test]
fn a_job_for_which_there_was_no_room_was_guaranteed_what_it_lost() {
    let dropped = |guarantee: &Guarantee, task| {
        let full = Ending::Dropped(DropReason::BacklogFull);
        guarantee.judge(&state(task, 1, 0, 1), at(20), full)
    };
    let calm = guarantee(ENFORCED);
    for task in [A, B, C] {
        assert_eq!(dropped(&calm, task), Some(MISSED), "{task}");
    }
    assert_eq!(dropped(&calm, WITHOUT_BOUND), Some(EXCUSED));
    assert_eq!(dropped(&calm, D), Some(EXCUSED));
    let exceeded = after(ENFORCED, C, 3, 10);
    assert_eq!(dropped(&exceeded, C), Some(EXCUSED));
    assert_eq!(dropped(&exceeded, OTHER_C), Some(MISSED));
}

/// A job has C, and stands there: it was guaranteed nothing, and the next one of its task was.
#[test]
fn a_job_that_has_executed_all_that_it_was_guaranteed_and_wants_more_was_guaranteed_no_more() {
    for (task, own, due) in [(A, 8, 20), (B, 4, 20), (C, 2, 20 + THETA)] {
        let stands = |end| after(ENFORCED, task, own, end);
        let first = |guarantee: &Guarantee, needs| {
            guarantee.judge(&state(task, 0, own, needs), at(70), Ending::Completed)
        };
        assert_eq!(first(&stands(due), own + 1), Some(EXCUSED), "{task}");
        assert_eq!(first(&stands(due + 1), own + 1), Some(MISSED), "{task}");
        assert_eq!(late(&stands(due), task), Some(MISSED), "{task}: the next");
        // One that needs no more than that is complete there.
        let mut done = guarantee(ENFORCED);
        ran(&mut done, &state(task, 0, own, own), own, due);
        assert_eq!(first(&done, own), Some(MISSED), "{task}: told too late");
        // It goes on after it was to be complete: that is the instant of the next one's excuse, not of its own.
        let mut goes_on = stands(due);
        ran(&mut goes_on, &state(task, 0, own + 1, own + 1), 1, 30);
        assert_eq!(first(&goes_on, own + 1), Some(EXCUSED), "{task}");
        assert_eq!(late(&goes_on, task), Some(EXCUSED), "{task}: the next");
    }
}

/// A job of level A that does not come at a multiple of its period is guaranteed nothing, and when it executes that bears on the levels
/// below: on its CPU, and on all of level C.
#[test]
fn a_job_of_level_a_that_comes_out_of_step_is_guaranteed_nothing() {
    let out_of_step = JobState {
        released: at(27),
        deadline: at(47),
        ..state(A, 1, 1, 1)
    };
    let calm = guarantee(ENFORCED);
    let late =
        |guarantee: &Guarantee, job: &JobState| guarantee.judge(job, at(60), Ending::Completed);
    assert_eq!(late(&calm, &out_of_step), Some(EXCUSED));
    assert_eq!(late(&calm, &state(A, 1, 1, 1)), Some(MISSED));
    let mut after = guarantee(ENFORCED);
    ran(&mut after, &out_of_step, 1, 29);
    for (task, verdict) in [
        (A, EXCUSED),
        (B, EXCUSED),
        (C, EXCUSED),
        (FAR_A, MISSED),
        (FAR_B, MISSED),
    ] {
        let job = state(task, 1, 1, 1);
        assert_eq!(late(&after, &job), Some(verdict), "{task}");
    }
}
