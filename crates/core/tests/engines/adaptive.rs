//! What the one-CPU engine does, stepped by hand: one line per instant.
use vestal_core::*;
use vestal_testkit::short::{self, configuration, job};

const CPU: CpuId = CpuId(0);

/// A task of criticality 0 or 1 with equal period and deadline; times in ns.
fn task(criticality: u8, period: u64, wcet: &[u64], priority: u32) -> TaskConfiguration {
    TaskConfiguration::new(short::task(criticality, period, wcet), priority)
}

fn engine(
    enforcement: Enforcement,
    exhaustion: Exhaustion,
    tasks: &[TaskConfiguration],
) -> Stepped {
    let configuration = Configuration {
        tasks,
        levels: LevelSet::new(2).unwrap(),
        enforcement,
        exhaustion,
        granularity: Service::ZERO,
        wake_granularity: Duration::ZERO,
    };
    Stepped {
        engine: Uniprocessor::new(&configuration).unwrap(),
        now: 0,
    }
}

/// An engine and a clock that a test moves by hand.
struct Stepped {
    engine: Uniprocessor,
    now: u64,
}

impl Stepped {
    fn fact(&mut self, fact: Fact) {
        self.engine
            .apply(Instant::from_nanos(self.now), fact)
            .unwrap();
    }

    fn release(&mut self, task: u16, sequence: u64) {
        self.fact(Fact::Released {
            job: JobId {
                task: TaskId(task),
                sequence,
            },
        });
    }

    /// Decides, and lets the world follow the plan: returns task and remaining budget.
    fn decide(&mut self) -> Option<(u16, u64, Option<u64>)> {
        let now = Instant::from_nanos(self.now);
        let slot = self.engine.decide(now).unwrap().slot(CPU);
        assert!(self.engine.check_invariants());
        let running = self.engine.running();
        if running != slot.map(|slot| slot.job) {
            if let Some(job) = running {
                self.fact(Fact::Stopped {
                    cpu: CPU,
                    job,
                    why: StopReason::Preempted,
                });
            }
            if let Some(slot) = slot {
                self.fact(Fact::Started {
                    cpu: CPU,
                    job: slot.job,
                });
            }
        }
        slot.map(|slot| {
            let budget = slot.budget.map(|budget| budget.remaining.as_nanos());
            (slot.job.task.0, slot.job.sequence, budget)
        })
    }

    /// Lets the running job execute for `span`.
    fn run(&mut self, span: u64) {
        self.now += span;
        let job = self.engine.running().unwrap();
        self.fact(Fact::Charged {
            cpu: CPU,
            job,
            amount: Service::from_nanos(span),
        });
    }

    fn complete(&mut self) {
        let job = self.engine.running().unwrap();
        self.fact(Fact::Completed { cpu: CPU, job });
    }

    fn events(&mut self) -> Vec<Event> {
        std::iter::from_fn(|| self.engine.take_notice())
            .map(|notice| notice.what)
            .collect()
    }
}

#[test]
fn a_hi_job_that_overruns_raises_the_mode_and_lo_jobs_stop_until_idle() {
    let tasks = [task(0, 10, &[3], 2), task(1, 20, &[4, 9], 1)];
    let mut world = engine(Enforcement::Adaptive, Exhaustion::Background, &tasks);
    world.release(0, 0);
    world.release(1, 0);
    assert_eq!(world.decide(), Some((0, 0, Some(3))));
    world.run(3);
    world.complete();
    assert_eq!(world.decide(), Some((1, 0, Some(4))));
    world.run(4);
    assert_eq!(
        world.decide(),
        Some((1, 0, Some(5))),
        "C(HI) - C(LO) is left after the switch"
    );
    world.run(3);
    world.release(0, 1);
    assert_eq!(
        world.decide(),
        Some((1, 0, Some(2))),
        "LO is not admitted in HI mode"
    );
    world.run(2);
    world.complete();
    assert_eq!(world.decide(), None);
    world.now = 20;
    world.release(0, 2);
    assert_eq!(
        world.decide(),
        Some((0, 2, Some(3))),
        "LO service resumes after the idle instant"
    );
    assert_eq!(
        world.events(),
        [
            Event::Overrun {
                job: job(1, 0),
                level: Level(0),
                executed: Service::from_nanos(4)
            },
            Event::ModeChanged {
                from: Level(0),
                to: Level(1),
                cause: Some(job(1, 0))
            },
            Event::Dropped {
                job: job(0, 1),
                why: DropReason::Mode
            },
            Event::ModeChanged {
                from: Level(1),
                to: Level(0),
                cause: None
            },
        ]
    );
}

#[test]
fn a_job_that_completes_exactly_at_its_budget_has_not_overrun() {
    let tasks = [task(1, 20, &[4, 9], 1)];
    let mut world = engine(Enforcement::Adaptive, Exhaustion::Background, &tasks);
    world.release(0, 0);
    world.decide();
    world.run(4);
    world.complete();
    assert_eq!(world.decide(), None);
    assert_eq!(world.events(), []);
}

#[test]
fn a_release_at_the_idle_instant_is_admitted_in_mode_0() {
    let tasks = [task(0, 10, &[3], 2), task(1, 20, &[4, 9], 1)];
    let mut world = engine(Enforcement::Adaptive, Exhaustion::Background, &tasks);
    world.release(1, 0);
    world.decide();
    world.run(4);
    world.decide();
    world.run(5);
    // Completion, idle instant and release in one instant, in the order that is worst for a
    // scheduler which draws consequences too early.
    world.release(0, 0);
    world.complete();
    assert_eq!(world.decide(), Some((0, 0, Some(3))));
}

#[test]
fn backlog_keeps_the_mode_up() {
    let tasks = [task(0, 10, &[3], 2), task(1, 10, &[4, 9], 1)];
    let mut world = engine(Enforcement::Adaptive, Exhaustion::Continue, &tasks);
    world.release(1, 0);
    world.decide();
    world.run(4);
    world.decide();
    world.run(6);
    world.release(1, 1);
    assert_eq!(
        world.decide().map(|slot| slot.1),
        Some(0),
        "job 0 is late, job 1 waits"
    );
    world.run(2);
    world.complete();
    world.release(0, 0);
    assert_eq!(world.decide().map(|slot| (slot.0, slot.1)), Some((1, 1)));
    assert_eq!(
        world.engine.mode(),
        Level(1),
        "the waiting job is pending: no idle instant"
    );
}

#[test]
fn an_exhausted_lo_job_runs_behind_every_admitted_one_until_its_successor_comes() {
    let tasks = [task(0, 10, &[3], 2), task(1, 20, &[4, 9], 1)];
    let mut world = engine(Enforcement::Adaptive, Exhaustion::Background, &tasks);
    world.release(0, 0);
    world.release(1, 0);
    world.decide();
    world.run(3);
    assert_eq!(world.decide(), Some((1, 0, Some(4))));
    world.run(2);
    world.complete();
    assert_eq!(
        world.decide(),
        Some((0, 0, None)),
        "no other job wants the CPU"
    );
    world.run(5);
    world.release(0, 1);
    assert_eq!(world.decide(), Some((0, 1, Some(3))));
    assert_eq!(
        world.events().last(),
        Some(&Event::Dropped {
            job: job(0, 0),
            why: DropReason::Superseded
        })
    );
}

#[test]
fn a_job_that_is_aborted_at_its_deadline_asks_to_be_woken_then() {
    let mut late = task(0, 10, &[8], 1);
    late.on_miss = OnMiss::Abort;
    let tasks = [late, task(1, 20, &[6, 6], 2)];
    let mut world = engine(Enforcement::Static, Exhaustion::Background, &tasks);
    world.release(0, 0);
    world.release(1, 0);
    world.decide();
    world.run(6);
    world.complete();
    assert_eq!(world.decide(), Some((0, 0, Some(8))));
    world.run(4);
    assert_eq!(world.decide(), None);
    assert_eq!(
        world.events(),
        [Event::Dropped {
            job: job(0, 0),
            why: DropReason::Deadline
        }]
    );
}

#[test]
fn a_violation_leaves_the_state_as_it_was() {
    let tasks = [task(0, 10, &[3], 2), task(1, 20, &[4, 9], 1)];
    let mut world = engine(Enforcement::Adaptive, Exhaustion::Background, &tasks);
    world.release(0, 3);
    world.decide();
    world.run(1);
    let before = world.engine.clone();
    let at = Instant::from_nanos(5);
    let wrong = [
        Fact::Released { job: job(0, 3) },
        Fact::Released { job: job(7, 0) },
        Fact::Charged {
            cpu: CPU,
            job: job(1, 0),
            amount: Service::from_nanos(1),
        },
        Fact::Charged {
            cpu: CPU,
            job: job(0, 3),
            amount: Service::from_nanos(u64::MAX),
        },
        Fact::Started {
            cpu: CPU,
            job: job(1, 0),
        },
        Fact::Completed {
            cpu: CpuId(1),
            job: job(0, 3),
        },
        Fact::Completed {
            cpu: CPU,
            job: job(0, 2),
        },
        Fact::Stopped {
            cpu: CPU,
            job: job(1, 0),
            why: StopReason::Preempted,
        },
    ];
    for fact in wrong {
        assert!(world.engine.apply(at, fact).is_err(), "{fact:?}");
        assert_eq!(world.engine, before, "{fact:?}");
    }
    world.engine.decide(Instant::from_nanos(5)).unwrap();
    let before = world.engine.clone();
    assert!(world.engine.decide(Instant::from_nanos(4)).is_err());
    assert_eq!(world.engine, before);
}

#[test]
fn a_guard_fed_with_exceptions_only_gives_the_permits_of_the_engine() {
    let tasks = [task(0, 10, &[3], 2), task(1, 20, &[4, 9], 1)];
    let configuration = configuration(&tasks, 2, Enforcement::Adaptive);
    let mut guard = Guard::new(&configuration).unwrap();
    let at = Instant::from_nanos;
    let full = |ns| Permit::Run {
        limit: Some(Service::from_nanos(ns)),
    };
    assert_eq!(guard.permit_for(job(0, 0)), full(3));
    // The HI job exhausts C(LO) while LO job 0 is preempted.
    guard
        .apply(at(7), Fact::Released { job: job(0, 0) })
        .unwrap();
    let amount = Service::from_nanos(4);
    guard
        .apply(
            at(7),
            Fact::Charged {
                cpu: CPU,
                job: job(1, 0),
                amount,
            },
        )
        .unwrap();
    assert_eq!(guard.decide(at(7)).unwrap().mode, Level(1));
    assert_eq!(guard.permit_for(job(1, 0)), full(9));
    assert_eq!(
        guard.permit_for(job(0, 0)),
        Permit::Dropped {
            why: DropReason::Mode
        }
    );
    assert_eq!(guard.permit_for(job(0, 1)), Permit::NotAdmitted);
    guard.apply(at(12), Fact::Idle { cpu: CPU }).unwrap();
    assert_eq!(guard.decide(at(12)).unwrap().mode, Level(0));
    assert_eq!(
        guard.permit_for(job(0, 0)),
        Permit::Dropped {
            why: DropReason::Mode
        },
        "a stale job stays stopped"
    );
    assert_eq!(guard.permit_for(job(0, 2)), full(3));
    // A LO job that runs away is dropped, its successor is not.
    let amount = Service::from_nanos(3);
    guard
        .apply(
            at(30),
            Fact::Charged {
                cpu: CPU,
                job: job(0, 2),
                amount,
            },
        )
        .unwrap();
    guard.decide(at(30)).unwrap();
    assert_eq!(guard.permit_for(job(0, 2)), Permit::Demoted);
    assert_eq!(guard.permit_for(job(0, 3)), full(3));
}

#[test]
fn a_guard_is_charged_for_the_jobs_of_a_task_in_their_order() {
    let tasks = [task(0, 10, &[3], 2), task(1, 20, &[4, 9], 1)];
    let configuration = configuration(&tasks, 2, Enforcement::Adaptive);
    let mut guard = Guard::new(&configuration).unwrap();
    let at = Instant::from_nanos;
    let charge = |task, sequence, amount| Fact::Charged {
        cpu: CPU,
        job: job(task, sequence),
        amount: Service::from_nanos(amount),
    };
    // A job that is charged beyond C(LO), and completes; then the next one, which does neither. With
    // one place for both, the overrun would be forgotten and the mode stay.
    guard.apply(at(30), charge(1, 0, 5)).unwrap();
    let completed = Fact::Completed {
        cpu: CPU,
        job: job(1, 0),
    };
    guard.apply(at(30), completed).unwrap();
    let before = guard.clone();
    let full = ContractViolation::TooManyFacts { capacity: 1 };
    assert_eq!(guard.apply(at(30), charge(1, 1, 1)), Err(full));
    assert_eq!(guard, before, "what is refused changes nothing");
    // Other tasks' jobs are not concerned.
    guard.apply(at(30), charge(0, 2, 1)).unwrap();
    assert_eq!(guard.decide(at(30)).unwrap().mode, Level(1));
    guard.apply(at(31), charge(1, 1, 1)).unwrap();
    guard.decide(at(31)).unwrap();
    // Too late: the guard would have to judge a job whose successor has begun.
    let before = guard.clone();
    let late = ContractViolation::ChargedWhileNotRunning(job(1, 0));
    assert_eq!(guard.apply(at(32), charge(1, 0, 4)), Err(late));
    assert_eq!(guard, before);
}

#[test]
fn edf_vd_orders_hi_jobs_by_virtual_deadlines_until_the_mode_rises() {
    // Periods 10 (LO) and 12 (HI); the HI task is due virtually after 6.
    let tasks = [
        task(0, 10, &[4], 0),
        task(1, 12, &[3, 6], 0),
        task(1, 11, &[2, 2], 0),
    ];
    let span = Duration::from_nanos;
    let order = TaskOrder::EarliestDeadline {
        virtual_deadlines: vec![span(10), span(6), span(11)].into(),
        queues: DeadlineQueues::One,
    };
    let configuration = configuration(&tasks, 2, Enforcement::Adaptive);
    let engine = Uniprocessor::with_order(&configuration, &order).unwrap();
    let mut world = Stepped { engine, now: 0 };
    for number in 0..3 {
        world.release(number, 0);
    }
    assert_eq!(
        world.decide(),
        Some((1, 0, Some(3))),
        "virtual deadline 6 before 10 and 11"
    );
    world.run(3);
    assert_eq!(
        world.decide(),
        Some((2, 0, Some(2))),
        "real deadline 11 before 12, LO is gone"
    );
    world.run(2);
    world.complete();
    assert_eq!(world.decide(), Some((1, 0, Some(3))));
    let bad = TaskOrder::EarliestDeadline {
        virtual_deadlines: vec![span(10), span(13), span(11)].into(),
        queues: DeadlineQueues::One,
    };
    assert_eq!(
        Uniprocessor::with_order(&configuration, &bad).err(),
        Some(ConfigurationError::Parameter {
            task: 1,
            what: "virtual deadline",
            fault: "is missing, zero or after its deadline",
        })
    );
}

/// Jobs that used up their limits go by the deadlines that counted when they did, which no change of the
/// mode replaces; of equal ones the task that stands first goes first.
#[test]
fn edf_vd_orders_background_jobs_by_the_deadlines_in_force_when_they_went_there() {
    let tasks = [
        task(1, 20, &[1, 2], 0),
        task(0, 15, &[2], 0),
        task(0, 15, &[1], 0),
    ];
    let span = Duration::from_nanos;
    let order = TaskOrder::EarliestDeadline {
        virtual_deadlines: vec![span(10), span(15), span(15)].into(),
        queues: DeadlineQueues::One,
    };
    let configuration = configuration(&tasks, 2, Enforcement::Adaptive);
    let engine = Uniprocessor::with_order(&configuration, &order).unwrap();
    let mut world = Stepped { engine, now: 0 };
    world.release(0, 0);
    assert_eq!(world.decide(), Some((0, 0, Some(1))));
    world.run(1);
    assert_eq!(world.decide(), Some((0, 0, Some(1))), "in HI mode");
    world.run(1);
    assert_eq!(world.decide(), Some((0, 0, None)), "in the background");
    // No admitted job is left, so the mode is LO again, and both of these are due at 17.
    world.release(2, 0);
    world.release(1, 0);
    for (number, limit) in [(1, 2), (2, 1)] {
        assert_eq!(world.decide(), Some((number, 0, Some(limit))));
        world.run(limit);
    }
    for number in [1, 2, 0] {
        let what = "17 and 17 before the real deadline 20; the virtual one was 10";
        assert_eq!(world.decide(), Some((number, 0, None)), "{what}");
        world.run(1);
        world.complete();
    }
}
