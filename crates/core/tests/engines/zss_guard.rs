//! Zero slack for a guard, step by step: what permits say, when it wants to be called, and what it makes
//! of facts in any order. That it gives the schedule of the engine is shown by the simulator's tests.

use vestal_core::*;
use vestal_testkit::short::{self, at, job};

const CPU: CpuId = CpuId(0);

fn task(criticality: u8, span: u64, wcet: &[u64], after: Option<u64>) -> TaskConfiguration {
    TaskConfiguration {
        zero_slack: after.map(Duration::from_nanos),
        ..TaskConfiguration::new(short::task(criticality, span, wcet), 1)
    }
}

fn guard(tasks: &[TaskConfiguration]) -> Guard {
    Guard::new(&Configuration {
        tasks,
        levels: LevelSet::new(3).unwrap(),
        enforcement: Enforcement::ZeroSlack,
        exhaustion: Exhaustion::Background,
        granularity: Service::ZERO,
        wake_granularity: Duration::ZERO,
    })
    .unwrap()
}

fn released(task: u16, sequence: u64) -> Fact {
    let job = job(task, sequence);
    Fact::Released { job }
}

fn completed(task: u16, sequence: u64) -> Fact {
    let (cpu, job) = (CPU, job(task, sequence));
    Fact::Completed { cpu, job }
}

fn below(limit: u64) -> Permit {
    let limit = Some(Service::from_nanos(limit));
    Permit::Below { limit }
}

fn full(limit: u64) -> Permit {
    Permit::Run {
        limit: Some(Service::from_nanos(limit)),
    }
}

fn wake(guard: &mut Guard, now: u64) -> Option<(u64, WakeReason)> {
    let next = guard.decide(at(now)).unwrap().next;
    next.map(|wake| (wake.at.as_nanos(), wake.why))
}

/// Table I of Huang, Gill and Lu: tau_l has C 2/3 and T 5, tau_h C 4/6, T 10 and the instant 6.
fn table_one() -> [TaskConfiguration; 2] {
    [task(0, 5, &[3], None), task(1, 10, &[4, 6], Some(6))]
}

#[test]
fn table_one_costs_two_calls_for_a_job_that_reaches_its_instant() {
    let mut guard = guard(&table_one());
    assert_eq!(guard.permit(TaskId(0)), full(3));
    // At 6 tau_h is incomplete; its world says so then and not before.
    guard.apply(at(0), released(1, 0)).unwrap();
    let deadline = Some((10, WakeReason::Deadline(job(1, 0))));
    assert_eq!(wake(&mut guard, 6), deadline);
    assert_eq!(
        guard.permit(TaskId(0)),
        Permit::Suspended {
            until: Until::Event
        }
    );
    assert_eq!(
        guard.permit_for(job(0, 1)),
        Permit::Suspended {
            until: Until::Event
        }
    );
    assert_eq!(guard.permit_for(job(1, 0)), full(6));
    guard.apply(at(9), completed(1, 0)).unwrap();
    assert_eq!(wake(&mut guard, 9), None);
    assert_eq!(guard.permit_for(job(0, 1)), full(3));
}

#[test]
fn a_job_told_before_its_instant_suspends_nobody_and_the_guard_asks_to_be_called_then() {
    let mut guard = guard(&table_one());
    guard.apply(at(10), released(1, 1)).unwrap();
    let critical = Some((16, WakeReason::ZeroSlack(job(1, 1))));
    assert_eq!(wake(&mut guard, 12), critical);
    // Early calls change nothing.
    let before = guard.clone();
    guard.apply(at(12), Fact::Timer).unwrap();
    assert_eq!(wake(&mut guard, 12), critical);
    assert_eq!(guard, before);
    assert_eq!(guard.permit(TaskId(0)), full(3));
    assert!(wake(&mut guard, 16).is_some());
    assert_eq!(
        guard.permit(TaskId(0)),
        Permit::Suspended {
            until: Until::Event
        }
    );
}

#[test]
fn of_late_jobs_of_the_suspension_level_the_first_released_goes_on_below_everybody() {
    let tasks = [
        task(1, 10, &[1, 2], Some(8)),
        task(1, 20, &[1, 2], Some(15)),
        task(0, 50, &[5], None),
        task(2, 100, &[5, 6, 7], Some(90)),
    ];
    let mut guard = guard(&tasks);
    guard.apply(at(5), released(0, 0)).unwrap();
    guard.apply(at(0), released(1, 0)).unwrap();
    guard.decide(at(20)).unwrap();
    let permits = |guard: &Guard| {
        let permit = |number| guard.permit(TaskId(number));
        [permit(0), permit(1), permit(2), permit(3)]
    };
    let (waits, last) = (
        Permit::Suspended {
            until: Until::Event,
        },
        below(2),
    );
    assert_eq!(permits(&guard), [waits, last, waits, full(7)]);
    // The successor of the late job is not the one that may go on.
    assert_eq!(guard.permit_for(job(1, 1)), waits);
    // A critical job of the highest level suspends as far as its own level minus one: the same level.
    guard.apply(at(0), released(3, 0)).unwrap();
    guard.decide(at(95)).unwrap();
    assert_eq!(permits(&guard), [waits, last, waits, full(7)]);
    guard.decide(at(100)).unwrap();
    assert_eq!(permits(&guard), [waits, waits, waits, below(7)]);
    guard.apply(at(101), completed(3, 0)).unwrap();
    guard.apply(at(101), completed(1, 0)).unwrap();
    guard.decide(at(101)).unwrap();
    assert_eq!(permits(&guard), [last, waits, waits, full(7)]);
    guard.apply(at(102), completed(0, 0)).unwrap();
    guard.decide(at(102)).unwrap();
    assert_eq!(permits(&guard), [full(2), full(2), full(5), full(7)]);
}

#[test]
fn a_job_that_used_up_its_own_limit_stands_for_nothing() {
    let mut guard = guard(&table_one());
    guard.apply(at(0), released(1, 0)).unwrap();
    guard.decide(at(6)).unwrap();
    assert_eq!(
        guard.permit(TaskId(0)),
        Permit::Suspended {
            until: Until::Event
        }
    );
    let (cpu, amount) = (CPU, Service::from_nanos(6));
    let job = job(1, 0);
    guard
        .apply(at(9), Fact::Charged { cpu, job, amount })
        .unwrap();
    assert_eq!(wake(&mut guard, 9), None);
    assert_eq!(guard.permit(TaskId(0)), full(3));
    assert_eq!(guard.permit_for(job), Permit::Demoted);
}

#[test]
fn a_task_that_withdraws_late_jobs_suspends_nobody_with_them() {
    let mut tasks = table_one();
    tasks[1].on_miss = OnMiss::Abort;
    let mut guard = guard(&tasks);
    guard.apply(at(0), released(1, 0)).unwrap();
    guard.apply(at(10), released(1, 1)).unwrap();
    guard.decide(at(9)).unwrap();
    assert_eq!(
        guard.permit(TaskId(0)),
        Permit::Suspended {
            until: Until::Event
        }
    );
    let next = Some((16, WakeReason::ZeroSlack(job(1, 1))));
    assert_eq!(
        wake(&mut guard, 10),
        next,
        "its successor counts from now on"
    );
    assert_eq!(guard.permit(TaskId(0)), full(3));
}

/// C3: facts of one instant in any order, and C1: what is refused changes nothing.
#[test]
fn no_order_of_the_facts_of_one_instant_changes_what_is_allowed() {
    let tasks = [
        task(0, 10, &[3], None),
        task(1, 10, &[2, 4], Some(5)),
        task(2, 20, &[2, 4, 6], Some(0)),
    ];
    let facts = [
        (at(0), released(1, 0)),
        (at(10), released(1, 1)),
        (at(12), completed(1, 0)),
        (at(0), released(2, 0)),
        (at(12), completed(2, 0)),
        (at(0), released(0, 0)),
        (at(12), Fact::Timer),
    ];
    let reported = |order: &[usize]| {
        let mut guard = guard(&tasks);
        for &position in order {
            let (instant, fact) = facts[position];
            guard.apply(instant, fact).unwrap();
        }
        let next = wake(&mut guard, 12);
        (next, guard)
    };
    let straight: Vec<usize> = (0..facts.len()).collect();
    let (next, guard) = reported(&straight);
    assert_eq!(next, Some((15, WakeReason::ZeroSlack(job(1, 1)))));
    assert_eq!(guard.permit(TaskId(0)), below(3), "it is late");
    let mut order = straight.clone();
    let mut count = 0;
    permutations(&mut order, facts.len(), &mut |order| {
        count += 1;
        let (other, permuted) = reported(order);
        assert_eq!(other, next, "{order:?}");
        for number in 0..3 {
            let task = TaskId(number);
            assert_eq!(permuted.permit(task), guard.permit(task), "{order:?}");
            for sequence in 0..3 {
                let job = job(number, sequence);
                assert_eq!(permuted.permit_for(job), guard.permit_for(job));
            }
        }
    });
    assert_eq!(count, 5040);
}

/// Heap's algorithm.
fn permutations(order: &mut [usize], length: usize, see: &mut impl FnMut(&[usize])) {
    if length <= 1 {
        return see(order);
    }
    for position in 0..length {
        permutations(order, length - 1, see);
        let other = if length.is_multiple_of(2) {
            position
        } else {
            0
        };
        order.swap(other, length - 1);
    }
}

#[test]
fn one_job_may_wait_behind_another_and_a_third_is_refused_without_a_trace() {
    let mut guard = guard(&table_one());
    guard.apply(at(0), released(1, 0)).unwrap();
    guard.apply(at(10), released(1, 1)).unwrap();
    let before = guard.clone();
    let refused = ContractViolation::TooManyFacts { capacity: 2 };
    assert_eq!(guard.apply(at(20), released(1, 2)), Err(refused));
    let stranger = released(7, 0);
    let unknown = ContractViolation::UnknownTask(TaskId(7));
    assert_eq!(guard.apply(at(20), stranger), Err(unknown));
    assert_eq!(guard, before);
    // What is known already, or over, takes no room.
    guard.apply(at(10), released(1, 1)).unwrap();
    guard.apply(at(12), completed(1, 0)).unwrap();
    guard.apply(at(0), released(1, 0)).unwrap();
    guard.apply(at(20), released(1, 2)).unwrap();
    let next = Some((20, WakeReason::Deadline(job(1, 1))));
    assert_eq!(wake(&mut guard, 18), next);
}
