//! Problems with servers and devices: what makes one up, what is refused, and which tests speak of them.

use vestal_analysis::parameters::{Parameter, ParameterError, ServerBudget, ServerParameters};
use vestal_analysis::served::{DeviceFault, ServerFault};
use vestal_analysis::{
    Device, DeviceArrival, Kind, Member, Outcome, Parameters, Problem, ProblemError, Ratio, Reason,
    Scratch, ServedError, Server, ServerOutcome, TaskOutcome, Test, Verdict, Wait,
};
use vestal_core::{
    ByLevel, DeviceId, Duration, Level, LevelSet, LocalOrder, ServerConfiguration, ServerId,
    ServerKind, Service, Task, TaskId, Utilization, Wcet, WhenFull,
};

fn ms(amount: u64) -> Duration {
    Duration::from_millis(amount)
}

fn work(amounts: &[u64]) -> ByLevel<Service> {
    let values: Vec<Service> = amounts.iter().copied().map(Service::from_millis).collect();
    ByLevel::new(&values).unwrap()
}

fn server(kind: ServerKind, criticality: u8, task: Option<u16>) -> Server {
    let member = |task| Member {
        task: TaskId(task),
        priority: 1,
        on_behalf_of: None,
    };
    Server {
        configuration: ServerConfiguration {
            kind,
            priority: 5,
            criticality: Level(criticality),
            order: LocalOrder::FixedPriority,
        },
        tasks: task.map(member).into_iter().collect(),
        serves: Vec::new(),
    }
}

fn deferrable(period: u64, capacity: &[u64]) -> ServerKind {
    ServerKind::Deferrable {
        period: ms(period),
        capacity: work(capacity),
    }
}

/// Two levels, two tasks, one in each of the servers 0 and 1; the PIBS 2 serves the former, and a device has its
/// bottom halves in it.
fn parts() -> (Vec<Server>, Vec<Device>) {
    let share = |numerator| Utilization::new(numerator, 4).unwrap();
    let pibs = ServerKind::Pibs {
        utilization: ByLevel::new(&[share(2), share(1)]).unwrap(),
    };
    let pibs = Server {
        serves: vec![ServerId(0)],
        ..server(pibs, 0, None)
    };
    let device = Device {
        server: ServerId(2),
        cost: Service::from_millis(1),
        arrival: DeviceArrival::Burst {
            period: ms(20),
            burst: 2,
        },
        on_behalf_of: Some(ServerId(0)),
    };
    let servers = vec![
        server(deferrable(10, &[2, 3]), 1, Some(0)),
        // Less above its own level.
        server(deferrable(20, &[4, 1]), 0, Some(1)),
        pibs,
    ];
    (servers, vec![device])
}

fn plain() -> Problem {
    let task = |criticality| {
        let wcet = Wcet::constant(Service::from_millis(1));
        Task::new(Level(criticality), ms(40), ms(40), wcet).unwrap()
    };
    Problem::new(vec![task(1), task(0)], LevelSet::new(2).unwrap()).unwrap()
}

fn made() -> Problem {
    let (servers, devices) = parts();
    plain().with_servers(servers, devices).unwrap()
}

#[test]
fn a_problem_has_the_servers_devices_and_waits_that_it_was_given() {
    let (servers, devices) = parts();
    let wait = Wait {
        after: Service::ZERO,
        device: DeviceId(0),
        events: 2,
    };
    let problem = made().with_waits(vec![vec![wait], Vec::new()]).unwrap();
    assert_eq!(problem.servers(), servers);
    assert_eq!(problem.devices(), devices);
    assert_eq!(problem.waits(TaskId(0)), [wait]);
    assert_eq!(problem.waits(TaskId(1)), []);
    assert_eq!(made().waits(TaskId(0)), []);
    // Servers of which those that wait no longer fit.
    let gone = problem.with_servers(servers[..2].to_vec(), Vec::new());
    let unknown = ServedError::UnknownDevice {
        task: TaskId(0),
        device: DeviceId(0),
    };
    assert_eq!(gone.unwrap_err(), ProblemError::Served(unknown));
}

/// What is wrong after `spoil`.
fn refused(spoil: impl FnOnce(&mut Vec<Server>, &mut Vec<Device>)) -> ServedError {
    let (mut servers, mut devices) = parts();
    spoil(&mut servers, &mut devices);
    match plain().with_servers(servers, devices) {
        Err(ProblemError::Served(error)) => error,
        other => panic!("{other:?}"),
    }
}

fn fault(server: u16, spoil: impl FnOnce(&mut [Server])) -> ServerFault {
    let error = refused(|servers, _| spoil(servers));
    let ServedError::Server {
        server: found,
        fault,
    } = error
    else {
        panic!("{error:?}");
    };
    assert_eq!(found, ServerId(server));
    fault
}

#[test]
fn servers_without_a_sound_budget_are_refused() {
    let with = |kind: ServerKind| fault(1, move |all| all[1].configuration.kind = kind);
    let of = |period: u64, capacity: &[u64]| with(deferrable(period, capacity));
    assert_eq!(of(0, &[0]), ServerFault::NoPeriod);
    assert_eq!(
        of(1 << 50, &[1]),
        ServerFault::PeriodBeyondHorizon,
        "in ms, which saturates"
    );
    assert_eq!(of(20, &[0]), ServerFault::NoBudget(Level(0)));
    assert_eq!(of(20, &[21]), ServerFault::CapacityAbovePeriod(Level(0)));
    // Also above its own level.
    assert_eq!(of(20, &[4, 21]), ServerFault::CapacityAbovePeriod(Level(1)));
    assert_eq!(
        of(20, &[4, 5]),
        ServerFault::DegradedAboveCapacity(Level(1))
    );
    let own = |capacity: &[u64]| {
        let kind = deferrable(10, capacity);
        fault(0, move |all| all[0].configuration.kind = kind)
    };
    assert_eq!(own(&[3, 2]), ServerFault::CapacityFalls(Level(1)));
    assert_eq!(own(&[3, 0]), ServerFault::NoBudget(Level(1)));
    let short = ServerKind::Sporadic {
        period: ms(20),
        capacity: work(&[4]),
        replenishments: 1,
        full: WhenFull::MergeHead,
    };
    assert_eq!(with(short), ServerFault::ShortList);
    let nothing = ServerKind::Pibs {
        utilization: ByLevel::constant(Utilization::ZERO),
    };
    assert_eq!(
        fault(2, move |all| all[2].configuration.kind = nothing),
        ServerFault::NoBudget(Level(0))
    );
    assert_eq!(
        fault(1, |all| all[1].configuration.criticality = Level(2)),
        ServerFault::UnknownLevel(Level(2))
    );
}

#[test]
fn whom_servers_serve_exists_and_is_served_once() {
    let task = |task| ServerFault::UnknownTask(TaskId(task));
    assert_eq!(fault(1, |all| all[1].tasks[0].task = TaskId(2)), task(2));
    assert_eq!(
        fault(1, |all| all[1].tasks[0].task = TaskId(0)),
        ServerFault::TaskServedTwice(TaskId(0))
    );
    assert_eq!(
        fault(0, |all| all[0].serves = vec![ServerId(1)]),
        ServerFault::ServesWithPeriod
    );
    // Nobody that there is, a PIBS, the same one twice.
    for serves in [vec![3], vec![2], vec![0, 0]] {
        let last = ServerId(*serves.last().unwrap());
        let serves = serves.into_iter().map(ServerId).collect();
        assert_eq!(
            fault(2, |all| all[2].serves = serves),
            ServerFault::NothingToInherit(last)
        );
    }
    assert_eq!(
        fault(2, |all| all[2].serves.clear()),
        ServerFault::ServesNobody
    );
    // floor(U * 10 ms) is nothing.
    let tiny = Utilization::new(1, 20_000_000).unwrap();
    let tiny = ServerKind::Pibs {
        utilization: ByLevel::constant(tiny),
    };
    assert_eq!(
        fault(2, move |all| all[2].configuration.kind = tiny),
        ServerFault::ServesNobody
    );
    // A task moves into the PIBS, which serves server 0 only.
    for behalf in [None, Some(ServerId(1))] {
        let moved = |all: &mut [Server]| {
            let mut member = all[1].tasks.remove(0);
            member.on_behalf_of = behalf;
            all[2].tasks.push(member);
        };
        assert_eq!(fault(2, moved), ServerFault::NotOnBehalf(TaskId(1)));
    }
    assert_eq!(
        fault(1, |all| all[1].tasks[0].on_behalf_of = Some(ServerId(0))),
        ServerFault::NotOnBehalf(TaskId(1))
    );
}

#[test]
fn devices_that_mean_nothing_are_refused() {
    let device = |spoil: fn(&mut Device)| {
        let error = refused(|_, devices| spoil(&mut devices[0]));
        let ServedError::Device { device, fault } = error else {
            panic!("{error:?}");
        };
        assert_eq!(device, DeviceId(0));
        fault
    };
    assert_eq!(
        device(|device| device.server = ServerId(3)),
        DeviceFault::UnknownServer(ServerId(3))
    );
    assert_eq!(
        device(|device| device.cost = Service::ZERO),
        DeviceFault::NoCost
    );
    assert_eq!(
        device(|device| device.arrival = DeviceArrival::Periodic { period: ms(0) }),
        DeviceFault::NoPeriod
    );
    let long = |device: &mut Device| {
        device.arrival = DeviceArrival::Sporadic {
            period: ms(1 << 50),
        }
    };
    assert_eq!(device(long), DeviceFault::PeriodBeyondHorizon);
    let no_event = |device: &mut Device| {
        device.arrival = DeviceArrival::Burst {
            period: ms(1),
            burst: 0,
        }
    };
    assert_eq!(device(no_event), DeviceFault::NoBurst);
    assert_eq!(
        device(|device| device.on_behalf_of = None),
        DeviceFault::NotOnBehalf
    );
    assert_eq!(
        device(|device| device.server = ServerId(0)),
        DeviceFault::NotOnBehalf
    );
    let many = refused(|_, devices| *devices = vec![devices[0]; usize::from(u16::MAX) - 2]);
    assert_eq!(many, ServedError::TooMany { found: 65_535 });
}

#[test]
fn waits_that_mean_nothing_are_refused() {
    let waits = |waits: Vec<Vec<Wait>>| match made().with_waits(waits) {
        Err(ProblemError::Served(error)) => error,
        other => panic!("{other:?}"),
    };
    let wait = |device, events| Wait {
        after: Service::ZERO,
        device: DeviceId(device),
        events,
    };
    assert_eq!(
        waits(vec![Vec::new()]),
        ServedError::WaitLists { found: 1, tasks: 2 }
    );
    assert_eq!(
        waits(vec![Vec::new(), vec![wait(1, 1)]]),
        ServedError::UnknownDevice {
            task: TaskId(1),
            device: DeviceId(1)
        }
    );
    assert_eq!(
        waits(vec![Vec::new(), vec![wait(0, 0)]]),
        ServedError::NoEvents {
            task: TaskId(1),
            device: DeviceId(0)
        }
    );
    // People are told which one.
    let text = ProblemError::Served(waits(vec![Vec::new(), vec![wait(0, 0)]]));
    assert_eq!(text.to_string(), "task 1 waits for no event of device 0");
}

fn capacity(period: u64, by_level: &[u64], priority: u32) -> ServerParameters {
    ServerParameters {
        budget: ServerBudget::Capacity {
            period: ms(period),
            by_level: by_level.iter().copied().map(ms).collect(),
        },
        priority,
    }
}

fn share(numerator: u64, denominator: u64) -> ServerParameters {
    let by_level = vec![Ratio {
        numerator,
        denominator,
    }];
    ServerParameters {
        budget: ServerBudget::Utilization { by_level },
        priority: 1,
    }
}

fn given(servers: Vec<ServerParameters>) -> Parameters {
    Parameters {
        servers: Some(servers),
        ..Parameters::default()
    }
}

#[test]
fn given_budgets_take_the_place_of_those_of_the_servers_up_to_their_levels() {
    let new = || {
        given(vec![
            capacity(8, &[1, 2], 7),
            capacity(30, &[6], 9),
            share(1, 8),
        ])
    };
    let (servers, devices) = parts();
    // Whatever comes first.
    let first = plain().with(&new()).unwrap();
    let first = first.with_servers(servers.clone(), devices).unwrap();
    let last = made().with(&new()).unwrap();
    assert_eq!(first.servers(), last.servers());
    let found: Vec<ServerConfiguration> = last
        .servers()
        .iter()
        .map(|server| server.configuration)
        .collect();
    assert_eq!(found[0].kind, deferrable(8, &[1, 2]));
    assert_eq!(
        found[1].kind,
        deferrable(30, &[6, 1]),
        "above its level as before"
    );
    let shares = [(1, 8), (1, 4)].map(|(n, d)| Utilization::new(n, d).unwrap());
    let utilization = ByLevel::new(&shares).unwrap();
    assert_eq!(found[2].kind, ServerKind::Pibs { utilization });
    let priorities: Vec<u32> = found.iter().map(|server| server.priority).collect();
    assert_eq!(priorities, [7, 9, 1]);
    // Nothing else changed.
    for (old, new) in servers.iter().zip(last.servers()) {
        assert_eq!((&old.tasks, &old.serves), (&new.tasks, &new.serves));
    }
    // Without servers they are nobody's.
    assert_eq!(plain().with(&new()).unwrap().servers(), []);
}

#[test]
fn given_budgets_of_other_servers_are_refused() {
    let refused = |servers: Vec<ServerParameters>| made().with(&given(servers)).unwrap_err();
    let (a, b, c) = (capacity(8, &[1, 2], 7), capacity(30, &[6], 9), share(1, 8));
    for (servers, wrong) in [
        (vec![a.clone(), b.clone()], 2),
        (vec![a.clone(), b.clone(), c.clone(), c.clone()], 3),
        (vec![b.clone(), b.clone(), c.clone()], 0),
        (vec![a.clone(), c.clone(), c.clone()], 1),
        (vec![a.clone(), b.clone(), b.clone()], 2),
    ] {
        let error = refused(servers);
        let ProblemError::Parameter(ParameterError::Part {
            parameter,
            position,
            ..
        }) = error
        else {
            panic!("{error:?}");
        };
        assert_eq!((parameter, position), (Parameter::Servers, wrong));
    }
    // The period no longer holds what the server has above its level: 1 ms.
    let mut short = capacity(1, &[1], 9);
    if let ServerBudget::Capacity { period, by_level } = &mut short.budget {
        *period = Duration::from_micros(500);
        by_level[0] = *period;
    }
    let error = ServedError::Server {
        server: ServerId(1),
        fault: ServerFault::CapacityAbovePeriod(Level(1)),
    };
    assert_eq!(refused(vec![a, short, c]), ProblemError::Served(error));
}

fn accepted(problem: &Problem) -> Outcome {
    let tasks = vec![TaskOutcome::default(); problem.tasks().len()];
    let bounds = problem.servers().iter().map(|server| ServerOutcome {
        priority: Some(server.configuration.priority),
        responses: Vec::new(),
        equations: Vec::new(),
    });
    Outcome::decided(Kind::Sufficient, None, tasks).with_servers(bounds.collect())
}

#[test]
fn only_tests_for_servers_say_something_about_them_and_those_about_nothing_else() {
    let own = Test::own("own", Kind::Sufficient, None, &[], "accepts", accepted).for_servers();
    let mut scratch = Scratch::default();
    let found = own.analyse(&made());
    assert_eq!(
        (found.verdict, found.servers.len()),
        (Verdict::Schedulable, 3)
    );
    assert!(own.accepts(&made(), &mut scratch));
    let nothing = own.analyse(&plain());
    assert_eq!(
        (nothing.verdict, nothing.why),
        (Verdict::NotProven, Some(Reason::NoServers))
    );
    assert!(nothing.servers.is_empty() && !own.accepts(&plain(), &mut scratch));
    let for_tasks = vestal_analysis::tests().iter();
    for test in for_tasks.filter(|test| !test.is_for_servers && !test.is_for_job_sets) {
        let found = test.analyse(&made());
        assert_eq!(
            (found.verdict, found.why),
            (Verdict::NotProven, Some(Reason::HasServers)),
            "{test}"
        );
        assert!(!test.accepts(&made(), &mut scratch), "{test}");
        assert_eq!(
            found.tasks.len(),
            2,
            "one entry for each task, as where it applies"
        );
    }
    // Tests for one CPU among them.
    let two = made().with_cpus(core::num::NonZeroU16::new(2).unwrap());
    assert_eq!(
        own.analyse(&two.unwrap()).why,
        Some(Reason::SeveralCpus { cpus: 2 })
    );
}
