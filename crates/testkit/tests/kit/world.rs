//! The world of whole ticks: what it draws, in which order it tells, and which schedulers it refuses.

use vestal_core::*;
use vestal_testkit::Random;
use vestal_testkit::short::{CPU, at, job, ns, task};
use vestal_testkit::world::{Calls, Program, Told, World, drawn};

/// Fixed priorities, the first task the most urgent one.
fn engine(tasks: &[Task]) -> Uniprocessor {
    let entries = tasks.iter().zip((0..100).rev());
    let entries: Vec<TaskConfiguration> = entries
        .map(|(task, priority)| TaskConfiguration::new(*task, priority))
        .collect();
    Uniprocessor::new(&vestal_testkit::short::configuration(
        &entries,
        1,
        Enforcement::Static,
    ))
    .unwrap()
}

/// T0 takes 2 of 5, T1 3 of 10.
fn two() -> [Task; 2] {
    [task(0, 5, &[2]), task(0, 10, &[3])]
}

fn world(tasks: &[Task]) -> World<'_, Uniprocessor> {
    let program = |job: JobId| vec![tasks[job.task.index()].own_wcet().as_nanos()];
    World::new(engine(tasks), 1, tasks.len(), program)
}

fn run<S: Scheduler>(world: &mut World<'_, S>, tasks: &[Task], ticks: u64) {
    for _ in 0..ticks {
        let arrivals = world.periodic(tasks);
        world.step(&arrivals);
    }
}

#[test]
fn the_more_urgent_task_goes_first_and_the_other_goes_on_after_it() {
    let tasks = two();
    let mut world = world(&tasks);
    run(&mut world, &tasks, 12);
    assert_eq!(world.rows, ["00111".to_owned() + "00..." + "00"]);
    assert_eq!(world.completed, [3, 1]);
    assert_eq!((world.now, world.decisions), (12, 12));
}

#[test]
fn called_only_when_due_a_scheduler_draws_the_same_with_fewer_decisions() {
    let tasks = two();
    let (mut always, mut due) = (world(&tasks), world(&tasks));
    due.calls = Calls::WhenDue;
    run(&mut always, &tasks, 50);
    run(&mut due, &tasks, 50);
    assert_eq!(always.rows, due.rows);
    assert!(due.decisions < 30, "{}", due.decisions);
}

#[test]
fn the_order_in_which_facts_are_told_does_not_matter_to_a_scheduler_that_stages_them() {
    let tasks = two();
    let mut expected = world(&tasks);
    run(&mut expected, &tasks, 50);
    for told in [Told::Reversed, Told::Shuffled(Random::new(1))] {
        let mut other = world(&tasks);
        other.told = told;
        run(&mut other, &tasks, 50);
        assert_eq!(other.rows, expected.rows);
    }
}

#[test]
fn what_a_tick_came_to_is_told_with_the_execution_before_the_end() {
    let tasks = [task(0, 5, &[1])];
    let mut world = world(&tasks);
    run(&mut world, &tasks, 1);
    assert!(world.completes_now(0) && !world.completes_now(1) && !world.blocks_now(0));
    let (job, amount) = (job(0, 0), ns(1));
    let told = [
        Fact::Charged {
            cpu: CPU,
            job,
            amount,
        },
        Fact::Completed { cpu: CPU, job },
    ];
    assert_eq!(world.running, [Some(job)]);
    assert_eq!(world.facts(), told);
    assert_eq!(world.running, [None]);
    assert_eq!(world.facts(), []);
}

#[test]
fn a_program_of_several_segments_blocks_between_them() {
    let tasks = [task(0, 9, &[5])];
    let mut world = World::new(engine(&tasks), 1, 1, |_| vec![2, 3]);
    run(&mut world, &tasks, 2);
    assert!(world.blocks_now(0) && !world.completes_now(0));
    assert!(matches!(
        world.facts()[..],
        [
            Fact::Charged { .. },
            Fact::Stopped {
                why: StopReason::Blocked,
                ..
            }
        ]
    ));
}

#[test]
fn a_program_that_is_set_holds_for_the_jobs_that_start_from_then_on() {
    let tasks = [task(0, 4, &[2])];
    let mut world = world(&tasks);
    run(&mut world, &tasks, 1);
    let shorter: Program = vec![1];
    world.set_program(0, shorter);
    run(&mut world, &tasks, 7);
    assert_eq!(world.rows, ["00..0..."]);
}

#[test]
fn jobs_are_numbered_by_task_and_arrive_at_multiples_of_periods() {
    let tasks = two();
    let mut world = world(&tasks);
    let of = |arrivals: Vec<Fact>| -> Vec<JobId> {
        let job = |fact| {
            let Fact::Released { job } = fact else {
                return None;
            };
            Some(job)
        };
        arrivals.into_iter().filter_map(job).collect()
    };
    let mut arrived = Vec::new();
    for now in 0..11 {
        world.now = now;
        arrived.extend(of(world.periodic(&tasks)).into_iter().map(|job| (now, job)));
    }
    let expected = [
        (0, job(0, 0)),
        (0, job(1, 0)),
        (5, job(0, 1)),
        (10, job(0, 2)),
        (10, job(1, 1)),
    ];
    assert_eq!(arrived, expected);
}

#[test]
fn tasks_are_drawn_by_digits_then_capitals_counted_from_where_one_likes() {
    let tasks = [task(0, 20, &[1]); 11];
    let mut from_0 = world(&tasks);
    run(&mut from_0, &tasks, 12);
    assert_eq!(from_0.rows, ["0123456789A."]);
    assert_eq!(from_0.ran(0), None);
    let mut from_1 = world(&tasks);
    from_1.first = 1;
    run(&mut from_1, &tasks, 11);
    assert_eq!(from_1.rows, ["123456789AB"]);
    assert_eq!(from_1.ran(0), Some(TaskId(10)));
}

#[test]
fn a_row_is_drawn_of_intervals() {
    assert_eq!(drawn(&[('0', 1, 3), ('a', 4, 5)], 6), ".00.a.");
}

#[test]
fn who_looks_sees_every_decision_and_events_come_with_their_instants() {
    let tasks = [task(0, 9, &[2])];
    let mut world = World::new(engine(&tasks), 1, 1, |_| vec![3]);
    world.look = |engine, now| assert!(engine.decide(now).is_ok());
    run(&mut world, &tasks, 4);
    let overruns = world.events().into_iter();
    let overruns = overruns.filter(|(_, event)| matches!(event, Event::Overrun { .. }));
    assert_eq!(overruns.map(|(at, _)| at).collect::<Vec<_>>(), [2]);
}

#[test]
#[should_panic(expected = "tick 0")]
fn a_plan_other_than_the_expected_one_is_found() {
    let tasks = two();
    let mut world = world(&tasks);
    world.expect = Box::new(|_, _| Some(vec![None]));
    run(&mut world, &tasks, 1);
}

/// Plans as written down, one after the other.
struct Planned(Vec<[Option<Slot>; 2]>, usize);

fn slot(task: u16) -> Option<Slot> {
    let (job, budget) = (job(task, 0), None);
    Some(Slot { job, budget })
}

impl Scheduler for Planned {
    fn apply(&mut self, _: Instant, _: Fact) -> Result<(), ContractViolation> {
        Ok(())
    }
    fn decide(&mut self, _: Instant) -> Result<Plan<'_>, ContractViolation> {
        let slots = &self.0[self.1 % self.0.len()];
        self.1 += 1;
        let sequences = Sequences {
            jobs: &[],
            spans: &[],
        };
        let (next, mode) = (None, Level::LOWEST);
        Ok(Plan {
            slots,
            sequences,
            next,
            mode,
        })
    }
    fn permit(&self, _: TaskId) -> Permit {
        Permit::NotAdmitted
    }
    fn take_notice(&mut self) -> Option<Notice> {
        None
    }
    fn lost_notices(&self) -> u64 {
        0
    }
}

#[test]
fn several_cpus_have_a_row_each_and_are_asked_until_the_plan_stands() {
    let plans = vec![[slot(0), slot(1)]];
    let mut world = World::new(Planned(plans, 0), 2, 2, |job| {
        vec![1 + u64::from(job.task.0)]
    });
    world.step(&[]);
    assert_eq!(world.rows, ["0", "1"]);
    assert_eq!(world.decisions, 2);
    assert_eq!((world.completed[0], world.completed[1]), (1, 0));
}

#[test]
#[should_panic(expected = "is offered twice")]
fn a_scheduler_that_offers_a_job_to_two_cpus_is_found() {
    let mut world = World::new(Planned(vec![[slot(0); 2]], 0), 2, 1, |_| vec![1]);
    world.step(&[]);
}

#[test]
#[should_panic(expected = "no plan is ever reached")]
fn a_scheduler_that_never_settles_is_found() {
    let plans = vec![[slot(0), slot(1)], [slot(1), slot(0)]];
    let mut world = World::new(Planned(plans, 0), 2, 2, |_| vec![5]);
    world.step(&[]);
}

#[test]
#[should_panic(expected = "ClockWentBack")]
fn a_scheduler_that_refuses_what_it_is_told_is_found() {
    let tasks = two();
    let mut world = world(&tasks);
    run(&mut world, &tasks, 1);
    world.engine.decide(at(9)).unwrap();
    run(&mut world, &tasks, 1);
}
