//! Small cases by hand: what each cost takes, and when a used-up budget is noticed.
//!
//! A row has one sign for each tick: the number of the task for a body, its letter (a is task 0) for a job's own part, R
//! for a release, S a switch, C a completion, E an exhausted job, M a change of mode, W a wake-up, H a look; a dot if
//! the CPU is idle.

use super::twin;
use super::witness::Witness;
use super::{Run, row, simulate_system};
use crate::common::system::{configuration, tasks_of};
use crate::drawings::{amc, task};
use crate::reference::{AtLimit, Limits, Reason, ReferenceTask, System};
use vestal_core::Duration;
use vestal_sim::costs::Heartbeat;
use vestal_sim::{Costs, Statistics};
use vestal_testkit::short::span;

/// What world and twin agree on; what the CPU was taken for is as long as statistics say.
fn run(system: &System, costs: &Costs) -> Run {
    let configured = tasks_of(system);
    let statistics = Statistics::of(&configuration(system, &configured), 1);
    let mut observers = (Witness::new(system.end), statistics);
    simulate_system(system, Some(costs), &mut observers);
    let run = observers.0.run;
    assert_eq!(run, twin::run(system, costs, None));
    let signs = row(&run.ticks);
    let overhead = signs.chars().filter(|sign| sign.is_alphabetic()).count();
    let counted = observers.1.cpus()[0].overhead;
    assert_eq!(overhead as u64, counted.as_nanos());
    run
}

fn modes(run: &Run) -> String {
    run.modes.iter().map(u8::to_string).collect()
}

/// Tasks of the lowest level with these priorities; each has one job, with its release and what it needs.
fn once(jobs: &[(u32, u64, u64)], end: u64) -> System {
    let tasks = jobs
        .iter()
        .map(|&(priority, _, need)| task(0, 20, 20, &[need], priority));
    let releases: Vec<Vec<u64>> = jobs.iter().map(|&(_, at, _)| vec![at]).collect();
    let needs: Vec<Vec<u64>> = jobs.iter().map(|&(.., need)| vec![need]).collect();
    with(tasks.collect(), &releases, &needs, end)
}

fn with(tasks: Vec<ReferenceTask>, releases: &[Vec<u64>], needs: &[Vec<u64>], end: u64) -> System {
    let lists = |lists: &[Vec<u64>]| lists.to_vec();
    System {
        releases: lists(releases),
        demand: lists(needs),
        ..amc(tasks, &[], &[], end)
    }
}

/// T0 is HI with 2 and 5 and needs so much; T1 is LO, less urgent, and needs 1. Both arrive at 0.
fn overrun(need: u64, end: u64) -> System {
    let tasks = vec![task(1, 20, 20, &[2, 5], 2), task(0, 20, 20, &[1], 1)];
    with(tasks, &[vec![0], vec![0]], &[vec![need], vec![1]], end)
}

fn drawn(system: &System, costs: &Costs) -> String {
    row(&run(system, costs).ticks)
}

const FREE: Costs = Costs {
    release: Duration::ZERO,
    job: Duration::ZERO,
    switch: Duration::ZERO,
    completion: Duration::ZERO,
    detection: Duration::ZERO,
    exhaustion: Duration::ZERO,
    change: Duration::ZERO,
    termination: Duration::ZERO,
    wake: Duration::ZERO,
    frame: Duration::ZERO,
    sub_frame: Duration::ZERO,
    heartbeat: None,
};

#[test]
fn a_release_is_paid_at_once_whatever_executes() {
    let costs = Costs {
        release: span(2),
        ..FREE
    };
    // The less urgent job arrives at 3.
    let system = once(&[(2, 0, 4), (1, 3, 1)], 10);
    assert_eq!(drawn(&system, &costs), "RR0RR0001.");
}

#[test]
fn a_jobs_own_part_comes_before_its_body_and_can_be_preempted() {
    let costs = Costs {
        job: span(2),
        ..FREE
    };
    let system = once(&[(2, 1, 1), (1, 0, 2)], 8);
    assert_eq!(drawn(&system, &costs), "baa0b11.");
}

#[test]
fn a_switch_is_paid_by_whoever_comes_and_comes_back() {
    let costs = Costs {
        switch: span(1),
        ..FREE
    };
    let system = once(&[(2, 1, 1), (1, 0, 2)], 8);
    assert_eq!(drawn(&system, &costs), "SS0S11..");
}

#[test]
fn a_completion_is_paid_behind_the_job() {
    let costs = Costs {
        completion: span(2),
        ..FREE
    };
    let system = once(&[(2, 0, 1), (1, 0, 1)], 8);
    let run = run(&system, &costs);
    assert_eq!(row(&run.ticks), "0CC1CC..");
    assert_eq!(run.completed, [(1, 0, 0), (4, 1, 0)]);
}

#[test]
fn a_budget_is_noticed_after_the_detection() {
    let costs = Costs {
        detection: span(2),
        ..FREE
    };
    let run = run(&overrun(5, 7), &costs);
    assert_eq!((&*row(&run.ticks), &*modes(&run)), ("00000..", "0000100"));
    assert_eq!(run.dropped, [(4, 1, 0, Reason::Mode)]);
}

#[test]
fn a_budget_is_noticed_at_a_look() {
    let beat = |period, cost| {
        Some(Heartbeat {
            period: span(period),
            cost: span(cost),
        })
    };
    let look = |heartbeat, detection| {
        let costs = Costs {
            heartbeat,
            detection: span(detection),
            ..FREE
        };
        let run = run(&overrun(5, 9), &costs);
        (row(&run.ticks), modes(&run))
    };
    let both = |row: &str, modes: &str| (row.to_owned(), modes.to_owned());
    // Used up at 3 and at a look; with a detection of 1 it is so at 5, and the look is at 6.
    assert_eq!(look(beat(3, 1), 0), both("H00H00H0.", "000111110"));
    assert_eq!(look(beat(3, 1), 1), both("H00H00H0.", "000000110"));
    // Used up at 2, the look is at 4.
    assert_eq!(look(beat(4, 0), 0), both("00000....", "000010000"));
}

#[test]
fn a_used_up_budget_is_looked_at_while_the_cpu_is_taken() {
    // T0 has used up its budget at 5. At 6 the release of T1 takes the CPU, and the look is at 8.
    let tasks = vec![task(1, 20, 20, &[2, 6], 2), task(0, 20, 20, &[1], 1)];
    let system = with(tasks, &[vec![0], vec![6]], &[vec![6], vec![1]], 10);
    let costs = Costs {
        release: span(3),
        heartbeat: Some(Heartbeat {
            period: span(8),
            cost: Duration::ZERO,
        }),
        ..FREE
    };
    let run = run(&system, &costs);
    assert_eq!(row(&run.ticks), "RRR000RRR0");
    assert_eq!(modes(&run), "0000000011");
    assert_eq!(run.dropped, [(8, 1, 0, Reason::Mode)]);
}

#[test]
fn a_budget_is_noticed_at_the_completion() {
    let costs = Costs {
        detection: span(3),
        change: span(1),
        exhaustion: span(1),
        ..FREE
    };
    // The mode rises at 4 and returns there, because nothing is left.
    let beyond = run(&overrun(4, 8), &costs);
    assert_eq!(row(&beyond.ticks), "0000MM..");
    assert_eq!(modes(&beyond), "00000000");
    assert_eq!(beyond.dropped, [(4, 1, 0, Reason::Mode)]);
    // To complete exactly at a budget is no overrun.
    let exactly = run(&overrun(2, 8), &costs);
    assert_eq!(row(&exactly.ticks), "001.....");
}

#[test]
fn a_budget_is_noticed_when_the_job_would_lose_the_cpu() {
    // T1 is HI and has used up its budget when the more urgent T0 arrives at 4.
    let arrives = |level: u8| {
        let tasks = vec![
            task(level, 20, 20, &[1, 1][..=usize::from(level)], 2),
            task(1, 20, 20, &[2, 6], 1),
        ];
        let costs = Costs {
            switch: span(1),
            detection: span(3),
            change: span(1),
            termination: span(1),
            ..FREE
        };
        run(
            &with(tasks, &[vec![4], vec![0]], &[vec![1], vec![6]], 12),
            &costs,
        )
    };
    // The mode does not admit it, and T1 keeps the CPU. Nothing has to be terminated.
    let lost = arrives(0);
    assert_eq!(row(&lost.ticks), "S111M111M...");
    assert_eq!(modes(&lost), "000011110000");
    assert_eq!(lost.dropped, [(4, 0, 0, Reason::Mode)]);
    // It is HI and goes first.
    let admitted = arrives(1);
    assert_eq!(row(&admitted.ticks), "S111MS0S111M");
    assert_eq!(modes(&admitted), "000011111110");
}

#[test]
fn a_job_that_used_up_its_own_level_is_paid_for_once() {
    let tasks = || vec![task(0, 20, 20, &[2], 2), task(0, 20, 20, &[1], 1)];
    let costs = Costs {
        exhaustion: span(2),
        ..FREE
    };
    let at_limit = |at_limit| {
        let system = with(tasks(), &[vec![0], vec![0]], &[vec![4], vec![1]], 8);
        System {
            at_limit,
            limits: Limits::Static,
            ..system
        }
    };
    assert_eq!(drawn(&at_limit(AtLimit::Abort), &costs), "00EE1...");
    assert_eq!(drawn(&at_limit(AtLimit::Background), &costs), "00EE100.");
}

#[test]
fn a_change_of_mode_is_paid_up_and_back() {
    let costs = Costs {
        change: span(1),
        ..FREE
    };
    let run = run(&overrun(5, 8), &costs);
    assert_eq!((&*row(&run.ticks), &*modes(&run)), ("00M000M.", "00111100"));
    assert_eq!(run.dropped, [(2, 1, 0, Reason::Mode)]);
}

#[test]
fn every_job_that_a_change_of_mode_drops_is_paid_for() {
    let tasks = vec![
        task(1, 20, 20, &[2, 5], 3),
        task(0, 20, 20, &[1], 2),
        task(0, 20, 20, &[1], 1),
    ];
    // Two are dropped at 2. Another one that arrives at 7 is not admitted: that costs its release.
    let system = with(
        tasks,
        &[vec![0], vec![0], vec![0, 7]],
        &[vec![5], vec![1], vec![1, 1]],
        12,
    );
    let costs = Costs {
        termination: span(2),
        ..FREE
    };
    assert_eq!(drawn(&system, &costs), "00MMMM000...");
    let costs = Costs {
        release: span(1),
        ..FREE
    };
    let mut system = overrun(5, 8);
    system.releases[1] = vec![4];
    let run = run(&system, &costs);
    assert_eq!(row(&run.ticks), "R000R00.");
    assert_eq!(run.dropped, [(4, 1, 0, Reason::Mode)]);
}

#[test]
fn a_wake_up_is_paid_for() {
    let costs = Costs {
        wake: span(1),
        ..FREE
    };
    // At the deadline the job is dropped.
    let mut late = once(&[(1, 0, 5)], 8);
    late.tasks[0] = ReferenceTask {
        abort_when_late: true,
        ..task(0, 20, 3, &[5], 1)
    };
    assert_eq!(drawn(&late, &costs), "000W....");
    // Two slices, of which the second one begins at 5.
    let mut sliced = once(&[(1, 0, 4)], 10);
    sliced.limits = Limits::Static;
    sliced.tasks[0] = ReferenceTask {
        slices: 2,
        ..task(0, 10, 10, &[4], 1)
    };
    assert_eq!(drawn(&sliced, &costs), "00...W00..");
    // A job that is complete before has nobody woken.
    sliced.demand[0] = vec![1];
    assert_eq!(drawn(&sliced, &costs), "0.........");
}

#[test]
fn costs_of_one_instant_are_paid_one_after_the_other() {
    let costs = Costs {
        release: span(1),
        switch: span(1),
        completion: span(1),
        ..FREE
    };
    // Release and switch at 0, a release in between.
    let system = once(&[(2, 0, 1), (1, 1, 1)], 8);
    assert_eq!(drawn(&system, &costs), "RSR0CS1C");
    // A completion and a release at 3.
    let system = once(&[(2, 0, 1), (1, 3, 1)], 8);
    assert_eq!(drawn(&system, &costs), "RS0CRS1C");
}

#[test]
fn every_cost_at_one_instant() {
    // At 9 T1 completes and T2 is late; T3 arrives; it is a look.
    let mut system = once(&[(2, 0, 1), (2, 0, 1), (1, 0, 9), (1, 9, 1)], 18);
    system.tasks[2] = ReferenceTask {
        abort_when_late: true,
        ..task(0, 20, 9, &[9], 1)
    };
    let costs = Costs {
        release: span(1),
        switch: span(1),
        completion: span(1),
        wake: span(1),
        heartbeat: Some(Heartbeat {
            period: span(9),
            cost: span(1),
        }),
        ..FREE
    };
    assert_eq!(drawn(&system, &costs), "RRRHS0CS1CWRHS3C..");
}

#[test]
fn a_job_that_is_dropped_while_the_cpu_is_taken_has_executed_nothing() {
    let late = |costs: &Costs| {
        let mut system = once(&[(1, 0, 3)], 7);
        system.tasks[0] = ReferenceTask {
            abort_when_late: true,
            ..task(0, 20, 2, &[3], 1)
        };
        let run = run(&system, costs);
        assert_eq!(run.dropped, [(2, 0, 0, Reason::Deadline)]);
        row(&run.ticks)
    };
    let wake = span(1);
    let release = span(2);
    assert_eq!(
        late(&Costs {
            release,
            wake,
            ..FREE
        }),
        "RRW...."
    );
    // What was begun is paid all the same.
    let switch = span(4);
    assert_eq!(
        late(&Costs {
            switch,
            wake,
            ..FREE
        }),
        "SSSSW.."
    );
    // Its own part is not.
    let job = span(4);
    assert_eq!(late(&Costs { job, wake, ..FREE }), "aaW....");
}

#[test]
fn a_run_ends_in_the_middle_of_what_it_pays() {
    let system = once(&[(1, 0, 3)], 3);
    let costs = Costs {
        release: span(5),
        switch: span(1),
        ..FREE
    };
    assert_eq!(drawn(&system, &costs), "RRR");
    let costs = Costs {
        release: span(2),
        job: span(2),
        ..FREE
    };
    assert_eq!(drawn(&system, &costs), "RRa");
}
