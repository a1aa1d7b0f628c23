//! Jobs in slices, step by step: what a permit says, when a suspended job comes back, and what late,
//! early and coarse worlds do to that.

use vestal_core::*;

const CPU: CpuId = CpuId(0);
const JOB: JobId = JobId {
    task: TaskId(0),
    sequence: 0,
};

fn at(now: u64) -> Instant {
    Instant::from_nanos(now)
}

fn ns(amount: u64) -> Service {
    Service::from_nanos(amount)
}

/// T 15, C 3.
fn task() -> TaskConfiguration {
    let span = Duration::from_nanos(15);
    let task = Task::new(Level(0), span, span, Wcet::constant(ns(3))).unwrap();
    TaskConfiguration {
        slices: SliceCount::new(3, &task).unwrap(),
        ..TaskConfiguration::new(task, 1)
    }
}

fn configuration(tasks: &[TaskConfiguration]) -> Configuration<'_> {
    Configuration {
        tasks,
        levels: LevelSet::new(2).unwrap(),
        enforcement: Enforcement::Slices,
        exhaustion: Exhaustion::Background,
        granularity: Service::ZERO,
        wake_granularity: Duration::ZERO,
    }
}

/// The only job is released and runs from 0 on, one unit long, all that its first slice grants.
fn after_the_first_slice(granularity: Service) -> Uniprocessor {
    let tasks = [task()];
    let configuration = Configuration {
        granularity,
        ..configuration(&tasks)
    };
    let mut engine = Uniprocessor::new(&configuration).unwrap();
    engine.apply(at(0), Fact::Released { job: JOB }).unwrap();
    let slot = engine.decide(at(0)).unwrap().slot(CPU).unwrap();
    let budget = Budget {
        remaining: ns(1),
        owner: BudgetOwner::Job,
        on_exhaustion: OnExhaustion::Suspend,
    };
    assert_eq!((slot.job, slot.budget), (JOB, Some(budget)));
    engine
        .apply(at(0), Fact::Started { cpu: CPU, job: JOB })
        .unwrap();
    charge(&mut engine, 1, 1);
    engine
}

fn charge(engine: &mut Uniprocessor, now: u64, amount: u64) {
    let amount = ns(amount);
    let (cpu, job) = (CPU, JOB);
    engine
        .apply(at(now), Fact::Charged { cpu, job, amount })
        .unwrap();
}

fn stop(engine: &mut Uniprocessor, now: u64) {
    let (cpu, job, why) = (CPU, JOB, StopReason::Preempted);
    engine
        .apply(at(now), Fact::Stopped { cpu, job, why })
        .unwrap();
}

fn run_up_to(limit: u64) -> Permit {
    Permit::Run {
        limit: Some(ns(limit)),
    }
}

#[test]
fn a_job_that_used_up_its_slice_waits_for_the_next_one_and_is_pending_meanwhile() {
    let mut engine = after_the_first_slice(Service::ZERO);
    assert_eq!(engine.permit(TaskId(0)), run_up_to(1));
    let plan = engine.decide(at(1)).unwrap();
    let wake = plan.next.unwrap();
    assert_eq!((wake.at, wake.why), (at(5), WakeReason::Replenishment));
    assert_eq!(plan.slot(CPU), None);
    assert_eq!(
        engine.permit(TaskId(0)),
        Permit::Suspended {
            until: Until::At(at(5))
        }
    );
    stop(&mut engine, 1);
    // No wake-up is needed for a boundary that no job waits for.
    assert_eq!(engine.decide(at(4)).unwrap().slot(CPU), None);
    let plan = engine.decide(at(5)).unwrap();
    assert_eq!((plan.slot(CPU).unwrap().job, plan.next), (JOB, None));
    assert_eq!(engine.permit(TaskId(0)), run_up_to(2));
    assert!(engine.check_invariants() && engine.take_notice().is_none());
}

#[test]
fn a_late_world_gets_the_budget_of_the_true_time_and_a_notice() {
    let mut engine = after_the_first_slice(Service::ZERO);
    engine.decide(at(1)).unwrap();
    stop(&mut engine, 1);
    let slot = engine.decide(at(11)).unwrap().slot(CPU).unwrap();
    // The last slice has begun too: what is left is the static limit.
    let budget = slot.budget.unwrap();
    assert_eq!(
        (budget.remaining, budget.on_exhaustion),
        (ns(2), OnExhaustion::Demote)
    );
    let late = Event::Late {
        by: Duration::from_nanos(6),
    };
    assert_eq!(engine.take_notice().unwrap().what, late);
}

#[test]
fn what_a_job_executes_after_it_had_to_stop_comes_out_of_its_next_slices() {
    let mut engine = after_the_first_slice(Service::ZERO);
    engine.decide(at(1)).unwrap();
    charge(&mut engine, 2, 1);
    stop(&mut engine, 2);
    let plan = engine.decide(at(5)).unwrap();
    assert_eq!((plan.slot(CPU), plan.next.unwrap().at), (None, at(10)));
    assert!(engine.check_invariants());
}

#[test]
fn a_suspended_job_may_complete_before_its_stop_is_confirmed() {
    let mut engine = after_the_first_slice(Service::ZERO);
    engine.decide(at(1)).unwrap();
    engine
        .apply(at(2), Fact::Completed { cpu: CPU, job: JOB })
        .unwrap();
    let plan = engine.decide(at(2)).unwrap();
    assert_eq!((plan.slot(CPU), plan.next), (None, None));
    assert!(engine.check_invariants());
}

#[test]
fn a_slice_that_the_world_cannot_enforce_is_granted_together_with_the_next() {
    let mut engine = after_the_first_slice(ns(2));
    let plan = engine.decide(at(1)).unwrap();
    assert_eq!(plan.next.unwrap().at, at(10));
}

#[test]
fn slices_are_made_for_their_task_and_go_with_fixed_priorities() {
    let long = task();
    let mut short = long;
    short.task.period = Duration::from_nanos(2);
    let refused = |tasks: &[TaskConfiguration]| {
        let error = Guard::new(&configuration(tasks)).err();
        assert_eq!(error, Uniprocessor::new(&configuration(tasks)).err());
        error
    };
    assert_eq!(refused(&[long]), None);
    let error = ConfigurationError::Parameter {
        task: 1,
        what: "number of slices",
        fault: "is too large",
    };
    assert_eq!(refused(&[long, short]), Some(error));
    assert_eq!(
        error.to_string(),
        "the number of slices of task 1 is too large"
    );
    let by_deadline = TaskOrder::EarliestDeadline {
        virtual_deadlines: vec![long.task.deadline].into(),
        queues: DeadlineQueues::One,
    };
    let engine = Uniprocessor::with_order(&configuration(&[long]), &by_deadline);
    assert_eq!(engine.err(), Some(ConfigurationError::Order));
}
