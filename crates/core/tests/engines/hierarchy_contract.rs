//! The contract between the hierarchical engine and its world: wake-ups, blocking, confirmations,
//! violations, granularity, modes.

use vestal_core::store::Inline;
use vestal_core::*;
use vestal_testkit::hierarchies::*;
use vestal_testkit::short::{CPU, at, ns, span};

fn job(task: u16, sequence: u64) -> JobId {
    JobId {
        task: TaskId(task),
        sequence,
    }
}

fn idling(capacity: u64, period: u64) -> ServerKind {
    ServerKind::IdlingPeriodic {
        period: span(period),
        capacity: ByLevel::constant(ns(capacity)),
    }
}

fn deferrable(capacity: u64, period: u64) -> ServerKind {
    ServerKind::Deferrable {
        period: span(period),
        capacity: ByLevel::constant(ns(capacity)),
    }
}

/// One task of 100 units in one server.
fn alone(kind: ServerKind) -> World<'static> {
    let configuration_of = [server(kind, 1)];
    let tasks = [task(0, 1, 100)];
    world(
        &configuration(&configuration_of, &tasks, &[]),
        vec![vec![100]],
    )
}

#[test]
fn c6_a_late_call_gives_the_plan_of_the_true_time_and_a_notice() {
    let mut world = alone(idling(4, 10));
    let wake = |at_: u64, why| Some(Wake { at: at(at_), why });
    let plan = world.engine.decide(at(0)).unwrap();
    assert_eq!(plan.next, wake(4, WakeReason::Consumption));
    assert_eq!(world.engine.idling(), Some(ServerId(0)));
    // It idled its 4 units away by 4, although no call came then.
    let plan = world.engine.decide(at(7)).unwrap();
    assert_eq!(plan.next, wake(10, WakeReason::Replenishment));
    assert_eq!(world.engine.idling(), None);
    let late = Event::Late { by: span(3) };
    let depleted = Event::Depleted {
        server: ServerId(0),
    };
    assert_eq!(world.events(), [(7, late), (7, depleted)]);
}

/// A polling server asks for no call while it has no work. So on a machine the decision about a release at a replenishment
/// comes some time after it: the work was there when the budget came, unless it came later.
#[test]
fn c6_work_that_came_with_a_budget_has_it_however_late_the_call_is() {
    let polling = ServerKind::Polling {
        period: span(10),
        capacity: ByLevel::constant(ns(4)),
    };
    for (came, call, served) in [
        (20, 20, true),
        (20, 21, true),
        (19, 21, true),
        (21, 22, false),
    ] {
        let mut world = alone(polling);
        assert_eq!(world.engine.decide(at(0)).unwrap().slot(CPU), None);
        let job = job(0, 0);
        world
            .engine
            .apply(at(came), Fact::Released { job })
            .unwrap();
        let plan = world.engine.decide(at(call)).unwrap();
        let slot = plan.slot(CPU).map(|slot| slot.job);
        assert_eq!(slot, served.then_some(job), "came {came}, called {call}");
    }
}

#[test]
fn c6_calls_and_facts_that_mean_nothing_change_nothing() {
    let mut world = alone(sporadic(4, 10, 3));
    let release = world.release(0);
    world.decide(&[release]);
    let before = world.engine.clone();
    let nothing = [
        Fact::Timer,
        Fact::Idle { cpu: CPU },
        // The task is not blocked.
        Fact::Woken {
            task: TaskId(0),
            on_behalf_of: None,
        },
    ];
    for fact in nothing {
        world.engine.apply(at(0), fact).unwrap();
        world.engine.decide(at(0)).unwrap();
        assert_eq!(world.engine, before, "{fact:?}");
    }
}

#[test]
fn a_wake_up_before_the_job_blocked_is_not_the_one_it_waits_for() {
    let blocked_at = |woken: u64| {
        let mut world = alone(sporadic(4, 10, 3));
        let release = world.release(0);
        world.step(&[release]);
        let stopped = Fact::Stopped {
            cpu: CPU,
            job: job(0, 0),
            why: StopReason::Blocked,
        };
        let wake_up = Fact::Woken {
            task: TaskId(0),
            on_behalf_of: None,
        };
        world.engine.apply(at(woken), wake_up).unwrap();
        world.engine.apply(at(2), stopped).unwrap();
        let plan = world.engine.decide(at(3)).unwrap();
        plan.slot(CPU).map(|slot| slot.job)
    };
    assert_eq!(blocked_at(1), None);
    assert_eq!(blocked_at(2), Some(job(0, 0)));
}

#[test]
fn c2_a_remainder_below_the_granularity_counts_as_exhausted() {
    for kind in [sporadic(10, 50, 3), deferrable(10, 50)] {
        let servers = [server(kind, 1)];
        let tasks = [task(0, 1, 100)];
        let mut configuration = configuration(&servers, &tasks, &[]);
        configuration.granularity = ns(3);
        let mut engine = Hierarchy::new(&configuration).unwrap();
        engine
            .apply(at(0), Fact::Released { job: job(0, 0) })
            .unwrap();
        engine.decide(at(0)).unwrap();
        let started = Fact::Started {
            cpu: CPU,
            job: job(0, 0),
        };
        engine.apply(at(0), started).unwrap();
        let mut charge = |amount, now| {
            let charged = Fact::Charged {
                cpu: CPU,
                job: job(0, 0),
                amount: ns(amount),
            };
            engine.apply(at(now), charged).unwrap();
            let budget = engine.decide(at(now)).unwrap().slot(CPU);
            budget.map(|slot| slot.budget.unwrap().remaining)
        };
        assert_eq!(charge(7, 7), Some(ns(3)));
        assert_eq!(charge(1, 8), None);
        assert_eq!(
            engine.permit(TaskId(0)),
            Permit::Suspended {
                until: Until::Event
            }
        );
        let budget = engine.decide(at(50)).unwrap().slot(CPU).unwrap().budget;
        let expected = Budget {
            remaining: ns(10),
            owner: BudgetOwner::Server(ServerId(0)),
            on_exhaustion: OnExhaustion::Suspend,
        };
        assert_eq!(budget, Some(expected));
        assert_eq!(engine.permit(TaskId(0)), Permit::Run { limit: None });
    }
}

#[test]
fn e_an_interrupt_at_the_instant_a_burst_runs_out_of_work_extends_it() {
    let servers = [server(pibs(1, 4), 1), server(sporadic(1, 16, 2), 0)];
    let mut bottom_half = task(0, 1, 16);
    bottom_half.on_behalf_of = Some(ServerId(1));
    let devices = [DeviceConfiguration {
        bottom_half: TaskId(0),
    }];
    let trace = |second: u64| {
        let configuration = configuration(&servers, std::slice::from_ref(&bottom_half), &devices);
        let mut world = world(&configuration, vec![vec![1]]);
        while world.now < 12 {
            let count = u32::from(world.now == 0) + u32::from(world.now == second);
            let device = DeviceId(0);
            world.step(&[Fact::Interrupt { device, count }]);
        }
        world.rows.remove(0)
    };
    assert_eq!(trace(1), "00..........");
    assert_eq!(trace(2), "0...0.......");
}

#[test]
fn interrupts_queue_without_end_and_become_jobs_one_by_one() {
    let servers = [server(deferrable(3, 10), 1)];
    let tasks = [task(0, 1, 10)];
    let devices = [DeviceConfiguration {
        bottom_half: TaskId(0),
    }];
    let mut world = world(&configuration(&servers, &tasks, &devices), vec![vec![1]]);
    let pending = |world: &World| world.engine.interrupts_pending(DeviceId(0));
    world.step(&[Fact::Interrupt {
        device: DeviceId(0),
        count: 50,
    }]);
    assert_eq!(pending(&world), Some(50));
    while world.now < 21 {
        world.step(&[]);
    }
    assert_eq!(pending(&world), Some(44));
    let slot = world.decide(&[]).unwrap();
    assert_eq!(slot.job, job(0, 7), "6 are done, one has just run");
    assert_eq!(
        world
            .engine
            .apply(at(21), Fact::Released { job: job(0, 60) }),
        Err(ContractViolation::NotOfThisPolicy)
    );
}

fn by_mode(low: u64, high: u64) -> ServerKind {
    ServerKind::Deferrable {
        period: span(10),
        capacity: ByLevel::new(&[ns(low), ns(high)]).unwrap(),
    }
}

#[test]
fn a_requested_mode_changes_capacities_at_once_and_ends_when_nothing_is_pending() {
    let servers = [server(by_mode(2, 0), 2), server(by_mode(3, 6), 1)];
    let tasks = [task(0, 1, 100), task(1, 1, 100)];
    let programs = vec![vec![100], vec![7]];
    let mut world = world(&configuration(&servers, &tasks, &[]), programs);
    let releases = [world.release(0), world.release(1)];
    world.step(&releases);
    while world.now < 5 {
        world.step(&[]);
    }
    world.step(&[Fact::ModeRequested { level: Level(7) }]);
    assert_eq!(world.engine.mode(), Level(1), "the highest there is");
    assert_eq!(
        world.engine.permit(TaskId(0)),
        Permit::Suspended {
            until: Until::Event
        }
    );
    while world.now < 16 {
        world.step(&[]);
    }
    // The job of server 1 is complete at 11: back to mode 0, with 2 more units for server 0 at once.
    assert_eq!(world.rows[0], "00111111..100...");
    assert_eq!(world.engine.mode(), Level(0));
}

#[test]
fn a_backlog_is_bounded_and_what_does_not_fit_is_dropped_with_a_notice() {
    let mut world = alone(deferrable(1, 10));
    for _ in 0..6 {
        let release = world.release(0);
        world.step(&[release]);
    }
    let dropped = Event::Dropped {
        job: job(0, 5),
        why: DropReason::BacklogFull,
    };
    assert!(world.events().contains(&(5, dropped)));
}

#[test]
fn what_breaks_the_contract_is_refused() {
    let mut world = alone(sporadic(4, 10, 3));
    let release = world.release(0);
    world.decide(&[release]);
    let cpu = CPU;
    let stranger = job(3, 0);
    let refused = [
        (
            Fact::Released { job: job(0, 0) },
            ContractViolation::ReleaseOutOfOrder(job(0, 0)),
        ),
        (
            Fact::Released { job: stranger },
            ContractViolation::UnknownTask(TaskId(3)),
        ),
        (
            Fact::Started {
                cpu,
                job: job(0, 4),
            },
            ContractViolation::UnknownJob(job(0, 4)),
        ),
        (
            Fact::Completed {
                cpu,
                job: job(0, 0),
            },
            ContractViolation::UnknownJob(job(0, 0)),
        ),
        (
            Fact::Charged {
                cpu,
                job: job(0, 0),
                amount: ns(1),
            },
            ContractViolation::ChargedWhileNotRunning(job(0, 0)),
        ),
        (
            Fact::Idle { cpu: CpuId(1) },
            ContractViolation::UnknownCpu(CpuId(1)),
        ),
        (
            Fact::Interrupt {
                device: DeviceId(0),
                count: 1,
            },
            ContractViolation::UnknownDevice(DeviceId(0)),
        ),
        (
            Fact::Woken {
                task: TaskId(0),
                on_behalf_of: Some(ServerId(9)),
            },
            ContractViolation::UnknownServer(ServerId(9)),
        ),
        (
            Fact::BarrierReached {
                cpu,
                barrier: BarrierId(0),
            },
            ContractViolation::NotOfThisPolicy,
        ),
    ];
    let before = world.engine.clone();
    for (fact, violation) in refused {
        assert_eq!(world.engine.apply(at(0), fact), Err(violation), "{fact:?}");
        assert_eq!(world.engine, before);
    }
}

#[test]
fn a_configuration_that_cannot_work_is_refused_with_its_place() {
    let good = [server(sporadic(4, 16, 2), 1), server(pibs(1, 4), 0)];
    let tasks = [task(0, 1, 10), task(1, 1, 10)];
    let build = |servers: &[ServerConfiguration], tasks: &[ServedTask], bottom_half: &[u16]| {
        let device = |&task: &u16| DeviceConfiguration {
            bottom_half: TaskId(task),
        };
        let devices: Vec<_> = bottom_half.iter().map(device).collect();
        Hierarchy::new(&configuration(servers, tasks, &devices)).map(|_| ())
    };
    let serving = |server: u16| {
        let mut tasks = tasks;
        tasks[1].on_behalf_of = Some(ServerId(server));
        tasks
    };
    let with = |kind: ServerKind| [server(kind, 1), good[1]];
    let mut high = good;
    high[1].criticality = Level(2);
    let level = Level(2);
    let nothing = HierarchyError::NothingToInherit { task: 1 };
    let only = |index: usize| &tasks[index..=index];
    assert_eq!(build(&good, &serving(0), &[1]), Ok(()));
    assert_eq!(build(&[], &tasks, &[]), Err(HierarchyError::NoServers));
    assert_eq!(build(&good, &[], &[]), Err(HierarchyError::NoTasks));
    assert_eq!(build(&good, &tasks, &[]), Err(nothing), "no task named");
    assert_eq!(build(&good, &serving(1), &[]), Err(nothing), "a PIBS named");
    let short = with(sporadic(1, 3, 2));
    assert_eq!(
        build(&short, &serving(0), &[]),
        Err(nothing),
        "3/4 of a unit"
    );
    let capacity = Err(HierarchyError::Capacity { server: 0 });
    assert_eq!(build(&with(sporadic(0, 16, 2)), only(0), &[]), capacity);
    assert_eq!(build(&with(deferrable(17, 16)), only(0), &[]), capacity);
    let no_period = Err(HierarchyError::NoPeriod { server: 0 });
    assert_eq!(build(&with(idling(0, 0)), only(0), &[]), no_period);
    let list = Err(HierarchyError::ShortList { server: 0 });
    assert_eq!(build(&with(sporadic(4, 16, 1)), only(0), &[]), list);
    let unknown = HierarchyError::UnknownServer {
        task: 0,
        server: ServerId(1),
    };
    assert_eq!(build(&good[..1], only(1), &[]), Err(unknown));
    let level = HierarchyError::UnknownLevel { server: 1, level };
    assert_eq!(build(&high, only(0), &[]), Err(level));
    for (devices, device) in [(&[7_u16][..], 0), (&[0, 0], 1)] {
        let bottom_half = Err(HierarchyError::BottomHalf { device });
        assert_eq!(build(&good, only(0), devices), bottom_half);
    }
}

/// Budgets of raised modes that the world cannot enforce would leave jobs pending for ever, and with them the mode.
#[test]
fn budgets_of_all_modes_are_none_or_can_be_enforced() {
    let build = |high: u64, share: (u64, u64), period: u64| {
        let capacity = ByLevel::new(&[ns(4), ns(high)]).unwrap();
        let period = span(period);
        let shares = [(1, 4), share].map(|(n, d)| Utilization::new(n, d).unwrap());
        let utilization = ByLevel::new(&shares).unwrap();
        let servers = [
            server(ServerKind::Deferrable { period, capacity }, 1),
            server(ServerKind::Pibs { utilization }, 0),
        ];
        let mut tasks = [task(0, 1, 16), task(1, 1, 16)];
        tasks[1].on_behalf_of = Some(ServerId(0));
        let mut configuration = configuration(&servers, &tasks, &[]);
        configuration.granularity = ns(3);
        Hierarchy::new(&configuration).map(|_| ())
    };
    assert_eq!(build(3, (3, 16), 16), Ok(()));
    assert_eq!(build(0, (0, 1), 16), Ok(()));
    let capacity = Err(HierarchyError::Capacity { server: 0 });
    assert_eq!(build(2, (0, 1), 16), capacity);
    let nothing = Err(HierarchyError::NothingToInherit { task: 1 });
    assert_eq!(build(0, (2, 16), 16), nothing);
    assert_eq!(build(0, (0, 1), 8), nothing, "2 in mode 0");
}

/// Under modes that rise by jobs: what judging them relies on. Bottom halves are not judged.
#[test]
fn servers_whose_jobs_raise_the_mode_can_hold_them_below_their_own_level() {
    let build = |capacity: &[u64], level: u8, wcet: &[u64], devices: &[DeviceConfiguration]| {
        let servers = [ServerConfiguration {
            criticality: Level(1),
            ..server(sporadic_by_mode(capacity, 16), 1)
        }];
        let tasks = [ServedTask {
            task: vestal_testkit::short::task(level, 16, wcet),
            ..task(0, 1, 16)
        }];
        let configuration = configuration(&servers, &tasks, devices);
        let built = |modes| {
            Hierarchy::new(&HierarchyConfiguration {
                modes,
                ..configuration
            })
        };
        assert!(built(Modes::Requested).is_ok());
        built(Modes::Adaptive { pibs_raise: false }).map(|_| ())
    };
    assert_eq!(build(&[4, 8], 1, &[4, 8], &[]), Ok(()));
    let nothing = Err(HierarchyError::NoCapacity { server: 0 });
    assert_eq!(build(&[4, 0], 1, &[4, 8], &[]), nothing);
    let other = Err(HierarchyError::OtherCriticality { task: 0 });
    assert_eq!(build(&[4, 8], 0, &[4], &[]), other);
    let above = Err(HierarchyError::AboveCapacity { task: 0 });
    assert_eq!(build(&[4, 8], 1, &[5, 8], &[]), above);
    // What it takes at its own level raises nothing.
    assert_eq!(build(&[4, 8], 1, &[4, 9], &[]), Ok(()));
    let device = DeviceConfiguration {
        bottom_half: TaskId(0),
    };
    assert_eq!(build(&[4, 8], 0, &[9], &[device]), Ok(()));
}

/// A PIBS without a share in mode 0 would never handle anything.
#[test]
fn a_pibs_has_a_share_in_mode_0() {
    let shares = [Utilization::ZERO, Utilization::new(1, 4).unwrap()];
    let utilization = ByLevel::new(&shares).unwrap();
    let servers = [
        server(sporadic(1, 16, 2), 2),
        server(ServerKind::Pibs { utilization }, 0),
    ];
    // Nor without a task of which that could be said.
    let built = Hierarchy::new(&configuration(&servers, &[task(0, 1, 16)], &[])).map(|_| ());
    assert_eq!(built, Err(HierarchyError::Capacity { server: 1 }));
}

/// The host that a wake-up names has to be one that the configuration could name; else the work is for the one that it names.
#[test]
fn a_host_that_gives_no_capacity_in_a_raised_mode_is_not_inherited_from() {
    let shares = [(1, 4), (1, 16)].map(|(n, d)| Utilization::new(n, d).unwrap());
    let utilization = ByLevel::new(&shares).unwrap();
    let servers = [
        server(sporadic(1, 16, 2), 2),
        server(sporadic(1, 8, 2), 1),
        server(ServerKind::Pibs { utilization }, 0),
    ];
    let mut tasks = [task(0, 1, 16), task(2, 1, 16)];
    tasks[1].on_behalf_of = Some(ServerId(0));
    let mut engine = Hierarchy::new(&configuration(&servers, &tasks, &[])).unwrap();
    engine
        .apply(at(0), Fact::Released { job: job(1, 0) })
        .unwrap();
    for (server, known) in [(1, true), (2, true), (3, false)] {
        let woken = Fact::Woken {
            task: TaskId(1),
            on_behalf_of: Some(ServerId(server)),
        };
        let violation = Err(ContractViolation::UnknownServer(ServerId(server)));
        let expected = if known { Ok(()) } else { violation };
        assert_eq!(engine.apply(at(0), woken), expected);
    }
    let slot = engine.decide(at(0)).unwrap().slot(CPU).unwrap();
    assert_eq!(slot.job, job(1, 0));
    // 1/4 of the 16 of server 0, and not of the 8 of server 1.
    let budget = slot.budget.unwrap();
    assert_eq!(budget.remaining.as_nanos(), 4);
}

#[test]
fn an_engine_can_live_without_an_allocator_and_says_what_does_not_fit() {
    let servers = [server(sporadic(4, 16, 3), 1), server(deferrable(4, 16), 2)];
    let tasks = [task(0, 1, 10), task(1, 1, 10)];
    let configuration = configuration(&servers, &tasks, &[]);
    let mut inside = Hierarchy::<Inline<3>>::with_store(&configuration).unwrap();
    inside
        .apply(at(0), Fact::Released { job: job(0, 0) })
        .unwrap();
    let slot = inside.decide(at(0)).unwrap().slot(CPU).unwrap();
    assert_eq!(slot.job, job(0, 0));
    let too_small = Hierarchy::<Inline<2>>::with_store(&configuration);
    assert_eq!(
        too_small.map(|_| ()),
        Err(HierarchyError::TooMany { found: 3 })
    );
}
