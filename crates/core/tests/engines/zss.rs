//! Zero-slack scheduling, step by step: who is suspended, why the engine wants to be woken, and what
//! the heap of levels of Huang, Gill and Lu (2014, section 5.1) gets wrong.

use vestal_core::*;

const CPU: CpuId = CpuId(0);

fn task(
    criticality: u8,
    span: u64,
    wcet: &[u64],
    priority: u32,
    after: Option<u64>,
) -> TaskConfiguration {
    let values: Vec<Service> = wcet.iter().copied().map(Service::from_nanos).collect();
    let period = Duration::from_nanos(span);
    let wcet = Wcet::new(&values).unwrap();
    TaskConfiguration {
        zero_slack: after.map(Duration::from_nanos),
        ..TaskConfiguration::new(
            Task::new(Level(criticality), period, period, wcet).unwrap(),
            priority,
        )
    }
}

fn configuration(tasks: &[TaskConfiguration], exhaustion: Exhaustion) -> Configuration<'_> {
    Configuration {
        tasks,
        levels: LevelSet::new(3).unwrap(),
        enforcement: Enforcement::ZeroSlack,
        exhaustion,
        granularity: Service::ZERO,
        wake_granularity: Duration::ZERO,
    }
}

/// Drives an engine by hand: what runs, runs until it is stopped.
struct World {
    engine: Uniprocessor,
    now: u64,
    running: Option<JobId>,
    next: Option<Wake>,
}

impl World {
    fn new(tasks: &[TaskConfiguration]) -> Self {
        Self {
            engine: Uniprocessor::new(&configuration(tasks, Exhaustion::Continue)).unwrap(),
            now: 0,
            running: None,
            next: None,
        }
    }

    fn tell(&mut self, fact: Fact) {
        self.engine
            .apply(Instant::from_nanos(self.now), fact)
            .unwrap();
    }

    fn release(&mut self, task: u16, sequence: u64) {
        let task = TaskId(task);
        self.tell(Fact::Released {
            job: JobId { task, sequence },
        });
    }

    /// Lets time pass until `now` without a decision.
    fn pass_until(&mut self, now: u64) {
        let amount = Service::from_nanos(now - self.now);
        self.now = now;
        if let Some(job) = self.running {
            self.tell(Fact::Charged {
                cpu: CPU,
                job,
                amount,
            });
        }
    }

    fn complete(&mut self) {
        let job = self.running.take().unwrap();
        self.tell(Fact::Completed { cpu: CPU, job });
    }

    /// Decides and follows the plan; the task that runs now.
    fn decide(&mut self) -> Option<u16> {
        let plan = self.engine.decide(Instant::from_nanos(self.now)).unwrap();
        self.next = plan.next;
        let wanted = plan.slot(CPU).map(|slot| slot.job);
        assert!(self.engine.check_invariants(), "at {}", self.now);
        if wanted != self.running {
            if let Some(job) = self.running {
                let why = StopReason::Preempted;
                self.tell(Fact::Stopped { cpu: CPU, job, why });
            }
            if let Some(job) = wanted {
                self.tell(Fact::Started { cpu: CPU, job });
            }
            self.running = wanted;
        }
        wanted.map(|job| job.task.0)
    }

    fn wakes_at(&self, at: u64, why: fn(JobId) -> WakeReason, task: u16, sequence: u64) -> bool {
        let task = TaskId(task);
        self.next
            == Some(Wake {
                at: Instant::from_nanos(at),
                why: why(JobId { task, sequence }),
            })
    }
}

/// Table I of Huang, Gill and Lu: tau_l has C 2/3, T 5 and the higher priority, tau_h C 4/6, T 10 and
/// the zero-slack instant 6. Both need their overload values.
#[test]
fn table_one_wakes_at_the_zero_slack_instant_and_at_deadlines() {
    let tasks = [task(0, 5, &[3], 2, None), task(1, 10, &[4, 6], 1, Some(6))];
    let mut world = World::new(&tasks);
    world.release(0, 0);
    world.release(1, 0);
    assert_eq!(world.decide(), Some(0));
    assert!(world.wakes_at(5, WakeReason::Deadline, 0, 0));
    world.pass_until(3);
    world.complete();
    assert_eq!(world.decide(), Some(1));
    assert!(world.wakes_at(6, WakeReason::ZeroSlack, 1, 0));
    world.pass_until(5);
    world.release(0, 1);
    assert_eq!(world.decide(), Some(0));
    world.pass_until(6);
    assert_eq!(world.decide(), Some(1), "tau_h has no slack left");
    assert_eq!(world.engine.suspension_level(), Some(Level(0)));
    assert_eq!(
        world.engine.permit(TaskId(0)),
        Permit::Suspended {
            until: Until::Event
        }
    );
    assert_eq!(world.engine.permit(TaskId(1)), Permit::Run { limit: None });
    assert!(world.wakes_at(10, WakeReason::Deadline, 0, 1));
    world.pass_until(10);
    world.complete();
    world.release(0, 2);
    world.release(1, 1);
    assert_eq!(world.decide(), Some(1), "tau_l is late: below all others");
    assert_eq!(
        world.engine.permit(TaskId(0)),
        Permit::Below { limit: None }
    );
    assert_eq!(world.engine.suspension_level(), Some(Level(0)));
    world.pass_until(14);
    world.complete();
    assert_eq!(world.decide(), Some(0));
    world.pass_until(16);
    world.complete();
    assert_eq!(world.decide(), Some(0), "its third job, late since 15");
    assert_eq!(
        world.engine.permit(TaskId(0)),
        Permit::Below { limit: None }
    );
    world.pass_until(19);
    world.complete();
    assert_eq!(world.decide(), None);
    assert_eq!(world.engine.suspension_level(), None);
    assert_eq!(world.engine.permit(TaskId(0)), Permit::Run { limit: None });
}

/// The heap of levels pops one of the two values that a job which was critical and then late has
/// pushed, and keeps the less critical tasks suspended for ever.
#[test]
fn a_job_that_was_critical_and_late_leaves_nothing_behind() {
    let tasks = [task(0, 30, &[5], 3, None), task(1, 10, &[2, 8], 2, Some(4))];
    let mut world = World::new(&tasks);
    world.release(0, 0);
    world.release(1, 0);
    assert_eq!(world.decide(), Some(0));
    world.pass_until(4);
    assert_eq!(world.decide(), Some(1));
    world.pass_until(10);
    assert_eq!(world.decide(), Some(1), "late, and no other job may run");
    assert_eq!(world.engine.suspension_level(), Some(Level(1)));
    world.pass_until(12);
    world.complete();
    assert_eq!(world.decide(), Some(0));
    assert_eq!(world.engine.suspension_level(), None);
}

/// Of two late jobs of one level the heap never wakes the second. Here both run, the one that was
/// released first before the other, whatever their priorities.
#[test]
fn several_late_jobs_of_one_level_all_finish_in_the_order_of_their_releases() {
    let tasks = [
        task(1, 6, &[2, 4], 3, None),
        task(1, 5, &[2, 4], 2, None),
        task(2, 20, &[6, 6, 12], 1, Some(0)),
    ];
    let mut world = World::new(&tasks);
    world.release(1, 0);
    world.release(2, 0);
    assert_eq!(world.decide(), Some(2), "no slack from the beginning");
    assert!(world.wakes_at(5, WakeReason::Deadline, 1, 0));
    world.pass_until(1);
    world.release(0, 0);
    assert_eq!(world.decide(), Some(2));
    world.pass_until(12);
    world.complete();
    assert_eq!(world.decide(), Some(1), "released first, at 0");
    assert_eq!(world.engine.suspension_level(), Some(Level(1)));
    assert_eq!(
        world.engine.permit(TaskId(0)),
        Permit::Suspended {
            until: Until::Event
        }
    );
    world.pass_until(16);
    world.complete();
    assert_eq!(world.decide(), Some(0));
    world.pass_until(20);
    world.complete();
    assert_eq!(world.decide(), None);
    assert_eq!(world.engine.suspension_level(), None);
}

/// A finishing job takes away what it stands for, not the highest level (the heap's top).
#[test]
fn a_finishing_job_takes_away_only_its_own_level() {
    let tasks = [
        task(0, 40, &[9], 4, None),
        task(1, 20, &[2, 8], 3, Some(0)),
        task(2, 30, &[4, 4, 9], 2, Some(3)),
    ];
    let mut world = World::new(&tasks);
    for number in 0..3 {
        world.release(number, 0);
    }
    assert_eq!(world.decide(), Some(1));
    assert_eq!(world.engine.suspension_level(), Some(Level(0)));
    world.pass_until(3);
    assert_eq!(world.decide(), Some(2), "critical: suspends levels 0 and 1");
    assert_eq!(world.engine.suspension_level(), Some(Level(1)));
    world.pass_until(12);
    world.complete();
    assert_eq!(world.decide(), Some(1), "still critical itself");
    assert_eq!(world.engine.suspension_level(), Some(Level(0)));
    assert_eq!(
        world.engine.permit(TaskId(0)),
        Permit::Suspended {
            until: Until::Event
        }
    );
}

/// A late wake-up gives the plan of the true time, and a notice (C6).
#[test]
fn a_wake_up_that_comes_late_gives_the_plan_of_the_true_time() {
    let tasks = [
        task(0, 40, &[20], 2, None),
        task(1, 10, &[4, 6], 1, Some(6)),
    ];
    for (now, level) in [(6, 0), (9, 0), (10, 1), (13, 1)] {
        let mut world = World::new(&tasks);
        world.release(0, 0);
        world.release(1, 0);
        assert_eq!(world.decide(), Some(0));
        assert!(world.wakes_at(6, WakeReason::ZeroSlack, 1, 0));
        world.pass_until(now);
        assert_eq!(world.decide(), Some(1));
        assert_eq!(world.engine.suspension_level(), Some(Level(level)));
        let notice = world.engine.take_notice().map(|notice| notice.what);
        let late = (now > 6).then(|| Event::Late {
            by: Duration::from_nanos(now - 6),
        });
        assert_eq!(notice, late);
    }
}

/// Late jobs of the suspension level go by their releases, whatever the priorities; of those released
/// together the task that stands first goes first.
#[test]
fn late_jobs_go_by_release_and_then_by_the_order_of_the_tasks() {
    let tasks = [
        task(0, 12, &[3], 1, None),
        task(0, 12, &[3], 3, None),
        task(0, 10, &[3], 2, None),
        task(1, 20, &[14], 4, Some(0)),
    ];
    let mut world = World::new(&tasks);
    world.release(2, 0);
    world.release(3, 0);
    assert_eq!(world.decide(), Some(3), "critical from its release on");
    world.pass_until(1);
    world.release(1, 0);
    world.release(0, 0);
    assert_eq!(world.decide(), Some(3));
    world.pass_until(14);
    assert_eq!(world.engine.suspension_level(), Some(Level(0)));
    world.complete();
    assert_eq!(world.decide(), Some(2), "released at 0, the others at 1");
    for (end, next) in [(17, Some(0)), (20, Some(1)), (23, None)] {
        world.pass_until(end);
        world.complete();
        assert_eq!(world.decide(), next, "task 1 has the highest priority");
    }
}

/// A job that has used up C_i(z_i) suspends no task any more: nothing is guaranteed to it.
#[test]
fn a_job_beyond_its_own_limit_suspends_nobody() {
    let tasks = [task(0, 40, &[9], 2, None), task(1, 10, &[2, 4], 1, Some(0))];
    let mut world = World::new(&tasks);
    world.engine = Uniprocessor::new(&configuration(&tasks, Exhaustion::Background)).unwrap();
    world.release(0, 0);
    world.release(1, 0);
    assert_eq!(world.decide(), Some(1));
    world.pass_until(4);
    assert_eq!(world.decide(), Some(0));
    assert_eq!(world.engine.suspension_level(), None);
    assert_eq!(world.engine.permit(TaskId(1)), Permit::Demoted);
}

#[test]
fn instants_after_the_deadline_and_other_orders_are_refused() {
    let late = [task(1, 10, &[4, 6], 1, Some(11))];
    assert_eq!(
        Uniprocessor::new(&configuration(&late, Exhaustion::Background)).err(),
        Some(ConfigurationError::Parameter {
            task: 0,
            what: "zero-slack instant",
            fault: "is after its deadline",
        })
    );
    let fine = [task(1, 10, &[4, 6], 1, Some(10))];
    let order = TaskOrder::EarliestDeadline {
        virtual_deadlines: vec![Duration::from_nanos(10)].into(),
        queues: DeadlineQueues::One,
    };
    let configuration = configuration(&fine, Exhaustion::Background);
    assert_eq!(
        Uniprocessor::with_order(&configuration, &order).err(),
        Some(ConfigurationError::Order)
    );
}
