//! What `hsf` makes of servers and devices.

use vestal_analysis::Parameters;
use vestal_core::{
    Level, LocalOrder, ServerId, ServerKind, Service, TaskId, Utilization, WhenFull,
};
use vestal_policy::{
    Analysis, Options, Precision, REPLENISHMENTS, Refusal, Registry, Servers, Terms, assemble,
};
use vestal_workload::{Source, TaskSet, codes};

const HEAD: &str = "format = \"vestal/1\"\nlevels = [\"LO\", \"HI\"]\nunit = \"ms\"\n";

fn task(name: &str, criticality: &str, period: u64, more: &str) -> String {
    format!(
        "[[task]]\nname = \"{name}\"\ncriticality = \"{criticality}\"\nperiod = {period}\nwcet = {{ LO = 2, HI = 3 }}\n{more}\n"
    )
}

fn server(name: &str, kind: &str, more: &str) -> String {
    format!("[[server]]\nname = \"{name}\"\nkind = \"{kind}\"\n{more}\n")
}

fn device(name: &str, home: &str, more: &str) -> String {
    format!("[[device]]\nname = \"{name}\"\nserver = \"{home}\"\ncost = 1\n{more}\n")
}

fn servers(text: &str) -> Result<Servers, Refusal> {
    let text = format!("{HEAD}{text}");
    let set = TaskSet::from_source(&Source::new("set.toml", &text))
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
    let registry = Registry::default();
    let by = (registry.policy("hsf").unwrap(), &Options::default());
    let system = assemble(&registry, by, &set, &Parameters::default(), Analysis::Ask)?;
    let [cluster] = system.clusters.as_slice() else {
        panic!("one cluster");
    };
    assert_eq!(cluster.domains[0].guarantee.terms, Terms::Nothing);
    assert_eq!(cluster.tasks.len(), cluster.configuration.tasks().len());
    // What is not refused can be built.
    cluster.configuration.engine(Precision::EXACT).unwrap();
    Ok(cluster.configuration.servers().unwrap().clone())
}

fn priorities(servers: &Servers) -> Vec<u32> {
    servers
        .servers
        .iter()
        .map(|server| server.priority)
        .collect()
}

fn ms(amount: u64) -> Service {
    Service::from_millis(amount)
}

#[test]
fn who_has_no_priority_goes_rate_monotonically_and_equal_ones_as_they_stand_in_the_file() {
    let periods = |more: [&str; 3]| {
        let line = |period: u64, tasks: &str, more: &str| {
            format!("period = {period}\ncapacity = 1\ntasks = [{tasks}]\n{more}")
        };
        [
            task("a", "LO", 30, ""),
            task("b", "LO", 20, ""),
            task("c", "LO", 30, ""),
            server("long", "polling", &line(20, "", more[0])),
            server(
                "short",
                "deferrable",
                &line(10, "\"c\", \"a\", \"b\"", more[1]),
            ),
            server("other", "idling-periodic", &line(20, "", more[2])),
        ]
        .concat()
    };
    let found = servers(&periods(["", "", ""])).unwrap();
    assert_eq!(priorities(&found), [2, 3, 1]);
    let inside: Vec<u32> = found.served.iter().map(|task| task.priority).collect();
    assert!(inside[1] > inside[0] && inside[0] > inside[2], "{inside:?}");
    // People see of a task how urgent its server is.
    assert!(found.tasks.iter().all(|entry| entry.priority == 3));
    let given = servers(&periods(["priority = 7", "priority = 0", "priority = 7"])).unwrap();
    assert_eq!(priorities(&given), [3, 1, 2]);
    let partly = servers(&periods(["priority = 7", "", ""])).unwrap_err();
    let found = partly.found.unwrap();
    assert_eq!(found.list()[0].code, codes::PRIORITIES_PARTIAL);
    assert!(found.list()[0].found.contains("`short`, `other`"));
    // Of tasks the file's priorities count as well, and partly given ones are refused.
    let text = periods(["", "", ""]).replace("period = 30\n", "period = 30\npriority = 9\n");
    assert!(servers(&text).is_err());
    let text = text.replace("name = \"b\"\n", "name = \"b\"\npriority = 4\n");
    let inside: Vec<u32> = servers(&text)
        .unwrap()
        .served
        .iter()
        .map(|task| task.priority)
        .collect();
    assert_eq!(inside, [3, 1, 2]);
}

#[test]
fn kinds_and_capacities_are_those_of_the_file() {
    let own = task("a", "HI", 40, "");
    let text = [
        own.clone(),
        server(
            "s",
            "sporadic",
            "period = 8\ncriticality = \"HI\"\ncapacity = { LO = 2, HI = 3 }\ntasks = [\"a\"]\n\
            replenishments = 5\nfull = \"tail\"\nscheduler = \"edf\"",
        ),
        server(
            "t",
            "sporadic",
            "period = 9\ncapacity = 4\ndegraded = { HI = 1 }",
        ),
        server("p", "polling", "period = 10\ncapacity = 4"),
        server("q", "pibs", "utilization = { LO = 0.25 }"),
    ]
    .concat();
    let found = servers(&text).unwrap();
    let kinds: Vec<ServerKind> = found.servers.iter().map(|server| server.kind).collect();
    let at = |kind: &ServerKind| {
        let capacity = kind.capacity().unwrap();
        [capacity.at(Level(0)), capacity.at(Level(1))]
    };
    assert_eq!(at(&kinds[0]), [ms(2), ms(3)]);
    assert_eq!(found.servers[0].order, LocalOrder::EarliestDeadline);
    assert!(matches!(
        kinds[0],
        ServerKind::Sporadic {
            replenishments: 5,
            full: WhenFull::MergeTail,
            ..
        }
    ));
    assert_eq!(
        at(&kinds[1]),
        [ms(4), ms(1)],
        "above its level what is left"
    );
    assert!(matches!(
        kinds[1],
        ServerKind::Sporadic {
            replenishments: REPLENISHMENTS,
            full: WhenFull::MergeHead,
            ..
        }
    ));
    assert_eq!(at(&kinds[2]), [ms(4), ms(0)], "above its level nothing");
    let ServerKind::Pibs { utilization } = kinds[3] else {
        panic!("{:?}", kinds[3]);
    };
    let quarter = Utilization::new(1, 4).unwrap();
    assert_eq!(
        [utilization.at(Level(0)), utilization.at(Level(1))],
        [quarter, Utilization::ZERO],
        "at a level without one none"
    );
    assert_eq!(found.names, ["s", "t", "p", "q"]);
}

#[test]
fn bottom_halves_go_first_in_their_server_and_run_on_behalf_of_who_waits() {
    let io = "io = [{ after = 1, device = \"disk\", events = 1 }]";
    let text = [
        task("a", "LO", 40, ""),
        task("b", "LO", 50, io),
        server(
            "fast",
            "deferrable",
            "period = 10\ncapacity = 4\ntasks = [\"a\"]",
        ),
        server(
            "slow",
            "deferrable",
            "period = 20\ncapacity = 4\ntasks = [\"b\"]",
        ),
        server("irq", "pibs", "utilization = 0.25"),
        device("net", "irq", ""),
        device("disk", "irq", ""),
        device("timer", "slow", "arrival = \"periodic\"\nperiod = 7"),
    ]
    .concat();
    let found = servers(&text).unwrap();
    let halves: Vec<TaskId> = found
        .devices
        .iter()
        .map(|device| device.bottom_half)
        .collect();
    assert_eq!(halves, [TaskId(2), TaskId(3), TaskId(4)]);
    let [net, disk, timer] = &found.served[2..] else {
        panic!("three devices");
    };
    // Nobody waits for `net`: the most urgent server. For `disk`, a task of `slow` does.
    assert_eq!(
        (net.server, net.on_behalf_of),
        (ServerId(2), Some(ServerId(0)))
    );
    assert_eq!(
        (disk.server, disk.on_behalf_of),
        (ServerId(2), Some(ServerId(1)))
    );
    assert_eq!((timer.server, timer.on_behalf_of), (ServerId(1), None));
    let due = |task: &vestal_core::ServedTask| task.task.deadline.as_nanos() / 1_000_000;
    assert_eq!([due(net), due(disk), due(timer)], [10, 20, 7]);
    assert!(net.priority > disk.priority && disk.priority > timer.priority);
    assert!(timer.priority > found.served[1].priority);
    assert_eq!(found.tasks[4].task.wcet.at(Level(0)), ms(1));
}

#[test]
fn a_set_without_servers_gets_one_for_each_task() {
    let text = [
        task("slow", "LO", 40, "degraded = { HI = 9 }"),
        task("fast", "HI", 10, ""),
        task("long", "LO", 2, "degraded = { HI = 1 }"),
    ]
    .concat();
    let found = servers(&text).unwrap();
    assert_eq!(found.names, ["slow", "fast", "long"]);
    assert_eq!(priorities(&found), [1, 2, 3]);
    let at = |place: usize| {
        let kind = found.servers[place].kind;
        assert!(matches!(kind, ServerKind::Deferrable { .. }));
        [0, 1].map(|level| kind.capacity().unwrap().at(Level(level)))
    };
    assert_eq!(
        [at(0), at(1), at(2)],
        [[ms(2), ms(2)], [ms(3), ms(3)], [ms(2), ms(1)]]
    );
}

/// All kinds beside each other, with capacities from tiny to the whole period, in which something may be missing: what
/// the file says is refused with its place, or the core builds it.
#[test]
fn whatever_a_file_says_is_refused_with_its_place_or_can_be_built() {
    let kinds = [
        "polling",
        "idling-periodic",
        "deferrable",
        "sporadic",
        "pibs",
    ];
    let shares = [
        "LO = 1.0",
        "LO = 0.5, HI = 0.000000000001",
        "LO = 0.0000001",
        "LO = 0.000000000001",
    ];
    let (mut built, mut refused) = (0, 0);
    for (first, second) in kinds
        .iter()
        .flat_map(|first| kinds.map(|second| (*first, second)))
    {
        for (share, criticality, priority, serves, home) in shares.iter().flat_map(|share| {
            let all = [
                ("LO", "", "", "y"),
                ("HI", "priority = 1", "serves = [\"x\"]", "y"),
                ("HI", "", "serves = [\"y\"]", "x"),
            ];
            all.map(|(criticality, priority, serves, home)| {
                (*share, criticality, priority, serves, home)
            })
        }) {
            let line = |kind: &str, more: &str| match kind {
                "pibs" => format!("utilization = {{ {share} }}\n{serves}\n{more}"),
                _ => format!("period = 10\ncapacity = {{ {criticality} = 5 }}\n{priority}\n{more}"),
            };
            let io = "io = [{ after = 1, device = \"d\", events = 2 }]";
            let text = [
                task("a", "LO", 40, io),
                server(
                    "x",
                    first,
                    &format!(
                        "criticality = \"{criticality}\"\n{}",
                        line(first, "tasks = [\"a\"]")
                    ),
                ),
                server("y", second, &line(second, "")),
                device("d", home, ""),
            ]
            .concat();
            // Some are no files at all: a PIBS that serves a PIBS.
            let whole = format!("{HEAD}{text}");
            if TaskSet::from_source(&Source::new("set.toml", &whole)).is_err() {
                continue;
            }
            match servers(&text) {
                Ok(_) => built += 1,
                Err(refusal) => {
                    let found = refusal
                        .found
                        .unwrap_or_else(|| panic!("{}\n{text}", refusal.why));
                    assert!(found.list().iter().all(|found| found.line > 4), "{found}");
                    refused += 1;
                }
            }
        }
    }
    assert!(built > 60 && refused > 20, "{built} {refused}");
}
