//! What a test for servers is asked is what the file says, and what `hsf` runs.

use vestal_analysis::{
    Device, DeviceArrival, Kind, Outcome, Parameter, Parameters, Problem, Reason, Server, Test,
    Verdict, Wait,
};
use vestal_core::{
    ByLevel, DeviceId, Level, LocalOrder, ServerId, ServerKind, Service, TaskId, Utilization,
    WhenFull,
};
use vestal_policy::{
    Analysis, Configuration, Options, REPLENISHMENTS, Refusal, Registry, Servers, assemble, given,
    parameters, problem, server_names,
};
use vestal_workload::{Source, TaskSet, codes};

const TEST: Test = Test::own(
    "about-servers",
    Kind::Sufficient,
    None,
    &[Parameter::Servers],
    "knows nothing",
    |problem| {
        let why = Reason::Own("it knows nothing".to_owned());
        Outcome::outside(Kind::Sufficient, why, problem.tasks().len())
    },
)
.for_servers();

fn set(text: &str) -> TaskSet {
    let source = Source::new("set.toml", text);
    TaskSet::from_source(&source).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn asked_with(set: &TaskSet, test: &Test, parameters: &Parameters) -> Result<Problem, Refusal> {
    problem(set, test, &given(set, parameters).unwrap())
}

fn asked(set: &TaskSet) -> Result<Problem, Refusal> {
    asked_with(set, &TEST, &Parameters::default())
}

fn run_by_hsf(set: &TaskSet) -> Servers {
    let registry = Registry::default();
    let by = (registry.policy("hsf").unwrap(), &Options::default());
    let system = assemble(&registry, by, set, &Parameters::default(), Analysis::Ask).unwrap();
    let configuration = &system.clusters[0].configuration;
    let Configuration::Servers(servers) = configuration else {
        panic!("{configuration:?}");
    };
    servers.clone()
}

/// Every kind of server, order and arrival.
const ALL: &str = r#"
format = "vestal/1"
levels = ["LO", "HI"]
unit = "ms"

[[task]]
name = "a"
criticality = "HI"
period = 40
priority = 3
wcet = { LO = 2, HI = 3 }
io = [{ after = 1, device = "net", events = 2 }, { after = 1, device = "disk", events = 1 }]

[[task]]
name = "b"
criticality = "LO"
period = 60
priority = 9
wcet = { LO = 2 }

[[task]]
name = "c"
criticality = "LO"
period = 20
priority = 4
wcet = { LO = 2 }

[[server]]
name = "slow"
kind = "polling"
period = 30
priority = 1
capacity = 4
degraded = { HI = 1 }
scheduler = "edf"
tasks = ["c", "b"]

[[server]]
name = "halves"
kind = "pibs"
utilization = { LO = 0.25, HI = 0.125 }
serves = ["quick", "slow"]

[[server]]
name = "quick"
kind = "sporadic"
criticality = "HI"
period = 10
priority = 8
capacity = { LO = 2, HI = 3 }
full = "tail"
tasks = ["a"]

[[server]]
name = "kept"
kind = "deferrable"
period = 50
priority = 6
capacity = 5

[[server]]
name = "idle"
kind = "idling-periodic"
period = 50
priority = 6
capacity = 6

[[device]]
name = "disk"
server = "halves"
cost = 1

[[device]]
name = "net"
server = "kept"
cost = 2
arrival = "burst"
period = 25
burst = 3

[[device]]
name = "clock"
server = "idle"
cost = 3
arrival = "periodic"
period = 70

[[device]]
name = "key"
server = "idle"
cost = 4
arrival = "sporadic"
period = 80
"#;

fn work(amounts: [u64; 2]) -> ByLevel<Service> {
    ByLevel::new(&amounts.map(Service::from_millis)).unwrap()
}

fn ms(amount: u64) -> vestal_core::Duration {
    vestal_core::Duration::from_millis(amount)
}

fn kinds(problem: &Problem) -> Vec<ServerKind> {
    let servers = problem.servers().iter();
    servers.map(|server| server.configuration.kind).collect()
}

#[test]
fn what_the_file_says_of_servers_is_what_the_test_sees_in_the_order_of_the_file() {
    let problem = asked(&set(ALL)).unwrap();
    let share = |numerator| Utilization::new(numerator, 8).unwrap();
    let found = kinds(&problem);
    let ServerKind::Pibs { utilization } = found[1] else {
        panic!("{found:?}");
    };
    // The same shares, in lowest terms or not.
    for (level, eighths) in [(0, 2), (1, 1)] {
        let (found, share) = (utilization.at(Level(level)), share(eighths));
        assert_eq!(
            found.numerator() * share.denominator(),
            share.numerator() * found.denominator()
        );
    }
    assert_eq!(
        [found[0], found[2], found[3], found[4]],
        [
            ServerKind::Polling {
                period: ms(30),
                capacity: work([4, 1])
            },
            ServerKind::Sporadic {
                period: ms(10),
                capacity: work([2, 3]),
                replenishments: REPLENISHMENTS,
                full: WhenFull::MergeTail
            },
            ServerKind::Deferrable {
                period: ms(50),
                capacity: work([5, 0])
            },
            ServerKind::IdlingPeriodic {
                period: ms(50),
                capacity: work([6, 0])
            },
        ]
    );
    let all = problem.servers();
    // 8, 6, 6 and 1 in the file; of equal ones the first goes first, and a PIBS has none.
    let rank = |place: usize| all[place].configuration.priority;
    assert!(rank(2) > rank(3) && rank(3) > rank(4) && rank(4) > rank(0));
    let of = |place: usize| {
        let configuration = &all[place].configuration;
        (configuration.criticality, configuration.order)
    };
    assert_eq!(of(0), (Level(0), LocalOrder::EarliestDeadline));
    assert_eq!(of(2), (Level(1), LocalOrder::FixedPriority));
    let tasks = |server: &Server| {
        let members = server.tasks.iter();
        members.map(|member| member.task.0).collect::<Vec<u16>>()
    };
    let members: Vec<Vec<u16>> = all.iter().map(tasks).collect();
    assert_eq!(members, [vec![1, 2], vec![], vec![0], vec![], vec![]]);
    // 9 before 4, whatever the test takes of priorities.
    assert!(all[0].tasks[0].priority > all[0].tasks[1].priority);
    assert_eq!(all[1].serves, [ServerId(0), ServerId(2)]);
    assert!(
        [0, 2, 3, 4]
            .iter()
            .all(|&place| all[place].serves.is_empty())
    );
}

#[test]
fn what_the_file_says_of_devices_and_waits_is_what_the_test_sees_too() {
    let problem = asked(&set(ALL)).unwrap();
    let device = |server, cost, arrival| Device {
        server: ServerId(server),
        cost: Service::from_millis(cost),
        arrival,
        on_behalf_of: None,
    };
    let burst = DeviceArrival::Burst {
        period: ms(25),
        burst: 3,
    };
    // The job that waits for the disk is in `quick`.
    let disk = Device {
        on_behalf_of: Some(ServerId(2)),
        ..device(1, 1, DeviceArrival::Requested)
    };
    let (clock, key) = (
        DeviceArrival::Periodic { period: ms(70) },
        DeviceArrival::Sporadic { period: ms(80) },
    );
    assert_eq!(
        problem.devices(),
        [
            disk,
            device(3, 2, burst),
            device(4, 3, clock),
            device(4, 4, key)
        ]
    );
    let wait = |device, events| Wait {
        after: Service::from_millis(1),
        device: DeviceId(device),
        events,
    };
    assert_eq!(problem.waits(TaskId(0)), [wait(1, 2), wait(0, 1)]);
    assert!(problem.waits(TaskId(1)).is_empty());
}

#[test]
fn the_test_sees_what_hsf_runs() {
    let examples = ["hsf-figure-14", "missimer-figure-5", "missimer-figure-6"];
    let read = |name| {
        let path = format!("{}/../../examples/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(path).unwrap()
    };
    let mut texts: Vec<String> = examples.into_iter().map(read).collect();
    // Without servers each task has one of its own.
    let tasks_alone = ALL.split("[[server]]").next().unwrap();
    let io = tasks_alone.find("io = ").unwrap();
    let end = io + tasks_alone[io..].find('\n').unwrap();
    texts.push([&tasks_alone[..io], &tasks_alone[end..]].concat());
    texts.push(ALL.to_owned());
    for text in texts {
        let set = set(&text);
        let (problem, hsf) = (asked(&set).unwrap(), run_by_hsf(&set));
        let servers = problem.servers().iter();
        let configured: Vec<_> = servers.map(|server| server.configuration).collect();
        assert_eq!(configured, hsf.servers, "{text}");
        assert_eq!(server_names(&set), hsf.names);
        let (tasks, halves) = hsf.served.split_at(set.tasks.len());
        for (task, number) in tasks.iter().zip(0..) {
            let home = &problem.servers()[task.server.index()];
            let mut members = home.tasks.iter();
            let member = members.find(|member| member.task == TaskId(number));
            let member = member.unwrap_or_else(|| panic!("{number} is elsewhere: {text}"));
            assert_eq!(
                (member.priority, member.on_behalf_of),
                (task.priority, task.on_behalf_of)
            );
        }
        let members = problem.servers().iter().map(|server| server.tasks.len());
        assert_eq!(members.sum::<usize>(), tasks.len());
        assert_eq!(problem.devices().len(), halves.len());
        for (device, half) in problem.devices().iter().zip(halves) {
            assert_eq!(
                (device.server, device.on_behalf_of, device.cost),
                (half.server, half.on_behalf_of, half.task.own_wcet())
            );
        }
    }
}

#[test]
fn tests_of_tasks_alone_see_no_servers_of_a_file() {
    let set = set(ALL);
    for test in vestal_analysis::tests() {
        if test.is_for_servers || test.is_for_job_sets {
            continue;
        }
        let problem = asked_with(&set, test, &Parameters::default()).unwrap();
        assert!(
            problem.servers().is_empty() && problem.devices().is_empty(),
            "{test}"
        );
        let why = test.analyse(&problem).why;
        assert_ne!(why, Some(Reason::HasServers), "{test}");
    }
    let found = TEST.analyse(&asked(&set).unwrap());
    assert_eq!(found.verdict, Verdict::NotProven);
    assert_eq!(found.why.unwrap().to_string(), "it knows nothing");
}

#[test]
fn what_servers_cannot_do_with_a_file_is_said_to_who_asks_a_test_about_them() {
    let text = ALL.replace("tasks = [\"c\", \"b\"]", "tasks = [\"c\"]");
    let set = set(&text);
    let found = asked(&set).unwrap_err().found.unwrap();
    let codes: Vec<_> = found.list().iter().map(|one| one.code).collect();
    assert_eq!(codes, [codes::TASK_WITHOUT_SERVER]);
    // Nobody else minds.
    let smc = vestal_analysis::find("smc", None).unwrap();
    assert!(asked_with(&set, smc, &Parameters::default()).is_ok());
}

#[test]
fn given_budgets_override_the_file() {
    let set = set(ALL);
    let text = r#"{ "format": "vestal-parameters/1", "servers": {
        "slow": { "period": "20ms", "capacity": { "LO": "3ms" }, "priority": 5 },
        "halves": { "utilization": { "LO": "1/3" }, "priority": 0 },
        "quick": { "period": "9ms", "capacity": { "LO": "1ms", "HI": "2ms" }, "priority": 4 },
        "kept": { "period": "50ms", "capacity": { "LO": "5ms" }, "priority": 3 },
        "idle": { "period": "50ms", "capacity": { "LO": "6ms" }, "priority": 2 } } }"#;
    let source = Source::new("parameters.json", text);
    let new = parameters::read(&source, &set).unwrap_or_else(|error| panic!("{error}"));
    let found = asked_with(&set, &TEST, &new).unwrap();
    let priorities = found.servers().iter();
    let priorities: Vec<u32> = priorities
        .map(|server| server.configuration.priority)
        .collect();
    assert_eq!(priorities, [5, 0, 4, 3, 2]);
    let kinds = kinds(&found);
    let (third, eighth) = (Utilization::new(1, 3), Utilization::new(1, 8));
    let utilization = ByLevel::new(&[third.unwrap(), eighth.unwrap()]).unwrap();
    assert_eq!(kinds[1], ServerKind::Pibs { utilization });
    assert_eq!(
        kinds[0],
        ServerKind::Polling {
            period: ms(20),
            capacity: work([3, 1])
        }
    );
    // A test that does not take them sees the file's.
    let mut other = TEST;
    other.takes = &[];
    let found = asked_with(&set, &other, &new).unwrap();
    assert_eq!(
        found.servers(),
        asked_with(&set, &other, &Parameters::default())
            .unwrap()
            .servers()
    );
}
