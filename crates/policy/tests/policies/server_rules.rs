//! What a policy with rules of its own makes of the servers of a file: whose mode rises by itself.

use vestal_analysis::{Kind, Outcome, Parameter, Parameters, Problem, Reason, Test};
use vestal_core::{ByLevel, Duration, Level, ServerId, ServerKind, Service, Utilization, WhenFull};
use vestal_policy::{
    About, BottomHalves, Fields, Native, Options, Policy, REPLENISHMENTS, Refusal, ServerRules,
    Setup, System, Use, given, parameters, problem_under, said_of_servers, server_names,
};
use vestal_workload::diagnostic::Severity;
use vestal_workload::{Code, Diagnostic, Source, TaskSet, codes};

const TEST: Test = Test::own(
    "about-rules",
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

static ABOUT: About = About {
    name: "rising",
    summary: "",
    page: "",
    parameters: &[],
    options: &[],
    tests: &[],
    native: Native::No("it is for tests"),
};

struct Rising(ServerRules);

impl Policy for Rising {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn fields(&self) -> Fields {
        Fields {
            servers: Use::Reads,
            ..Fields::ONE_CPU
        }
    }

    fn server_rules(&self, _: &Options) -> ServerRules {
        self.0
    }

    fn build(&self, _: &Setup<'_>) -> Result<System, Refusal> {
        Err(Refusal::input("it is for tests"))
    }
}

const SPORADIC: ServerRules = ServerRules {
    bottom_halves: BottomHalves::Sporadic,
    ..ServerRules::ADAPTIVE
};

const HEAD: &str = "format = \"vestal/1\"\nlevels = [\"LO\", \"HI\"]\nunit = \"ms\"\n";

fn set(text: &str) -> TaskSet {
    let text = format!("{HEAD}{text}");
    TaskSet::from_source(&Source::new("set.toml", &text))
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn asked(rules: ServerRules, text: &str) -> Result<Problem, Refusal> {
    let set = set(text);
    let given = given(&set, &Parameters::default()).unwrap();
    problem_under(&Rising(rules), &set, &TEST, &given)
}

/// The codes of what is said, and whether they are errors.
fn said(text: &str) -> Vec<(Code, bool)> {
    let found = said_of_servers(
        &Rising(ServerRules::ADAPTIVE),
        &Options::default(),
        &set(text),
    );
    let list = found.map_or(Vec::new(), |found| found.list().to_vec());
    let all = list.iter();
    all.map(|one| (one.code, one.severity == Severity::Error))
        .collect()
}

fn sporadic(period: u64, capacity: [u64; 2]) -> ServerKind {
    ServerKind::Sporadic {
        period: Duration::from_millis(period),
        capacity: ByLevel::new(&capacity.map(Service::from_millis)).unwrap(),
        replenishments: REPLENISHMENTS,
        full: WhenFull::MergeHead,
    }
}

fn kind(problem: &Problem, server: usize) -> ServerKind {
    problem.servers()[server].configuration.kind
}

/// The servers, most urgent first; of equal ones the first goes first.
fn order(problem: &Problem) -> Vec<usize> {
    let servers = problem.servers();
    let mut order: Vec<usize> = (0..servers.len()).collect();
    order.sort_by_key(|&place| std::cmp::Reverse(servers[place].configuration.priority));
    order
}

/// A LO and a HI task with servers, a task without, and a PIBS whose device `high` waits for.
const SET: &str = r#"
[[task]]
name = "low"
criticality = "LO"
period = 20
wcet = { LO = 2 }
degraded = { HI = 1 }

[[task]]
name = "high"
criticality = "HI"
period = 40
wcet = { LO = 4, HI = 8 }
io = [{ after = 1, device = "net", events = 4 }]

[[task]]
name = "second"
criticality = "HI"
period = 30
wcet = { LO = 3, HI = 5 }

[[server]]
name = "app"
kind = "sporadic"
criticality = "HI"
period = 40
capacity = { LO = 4, HI = 8 }
tasks = ["high"]

[[server]]
name = "halves"
kind = "pibs"
criticality = "HI"
utilization = { LO = 0.1, HI = 0.2 }

[[device]]
name = "net"
server = "halves"
cost = 1
"#;

#[test]
fn tasks_in_no_server_get_one_of_their_own_behind_those_of_the_file() {
    let problem = asked(ServerRules::ADAPTIVE, SET).unwrap();
    assert_eq!(problem.servers().len(), 4);
    assert_eq!(kind(&problem, 0), sporadic(40, [4, 8]));
    assert_eq!(kind(&problem, 2), sporadic(20, [2, 1]));
    assert_eq!(kind(&problem, 3), sporadic(30, [3, 5]));
    let levels = problem.servers().iter();
    let levels: Vec<u8> = levels.map(|one| one.configuration.criticality.0).collect();
    assert_eq!(levels, [1, 1, 0, 1]);
    let tasks = |server: usize| {
        let members = problem.servers()[server].tasks.iter();
        members.map(|member| member.task.0).collect::<Vec<u16>>()
    };
    assert_eq!(
        [tasks(0), tasks(1), tasks(2), tasks(3)],
        [vec![1], vec![], vec![0], vec![2]]
    );
    // By their periods, with those of the file: 20, 30, 40. A PIBS has no place among them.
    let with_period = order(&problem).into_iter().filter(|&place| place != 1);
    assert_eq!(with_period.collect::<Vec<_>>(), [2, 3, 0]);
    // Whom it may serve: everybody with a period, also those.
    let serves = [ServerId(0), ServerId(2), ServerId(3)];
    assert_eq!(problem.servers()[1].serves, serves);
    assert_eq!(problem.devices()[0].on_behalf_of, Some(ServerId(0)));
    assert_eq!(server_names(&set(SET)), ["app", "halves", "low", "second"]);
    // Others refuse them.
    let found = asked(ServerRules::EVERY_KIND, SET)
        .unwrap_err()
        .found
        .unwrap();
    let codes: Vec<Code> = found.list().iter().map(|one| one.code).collect();
    assert_eq!(codes, [codes::TASK_WITHOUT_SERVER; 2]);
}

#[test]
fn a_file_without_servers_gets_a_sporadic_one_for_each_task_by_the_priorities_of_the_tasks() {
    let tasks = SET.split("[[server]]").next().unwrap();
    let tasks = tasks.replace("io = [{ after = 1, device = \"net\", events = 4 }]\n", "");
    let problem = asked(ServerRules::ADAPTIVE, &tasks).unwrap();
    let kinds: Vec<ServerKind> = (0..3).map(|place| kind(&problem, place)).collect();
    assert_eq!(
        kinds,
        [
            sporadic(20, [2, 1]),
            sporadic(40, [4, 8]),
            sporadic(30, [3, 5])
        ]
    );
    assert_eq!(order(&problem), [0, 2, 1]);
    let mut given = String::new();
    for (part, priority) in tasks.split("[[task]]").skip(1).zip([2, 9, 5]) {
        given += &format!("[[task]]{part}priority = {priority}\n");
    }
    assert_eq!(
        order(&asked(ServerRules::ADAPTIVE, &given).unwrap()),
        [1, 2, 0]
    );
}

#[test]
fn a_task_takes_its_priority_to_a_server_of_its_own_where_servers_have_them() {
    let with = |app: &str, low: &str, second: &str| {
        let text = SET.replace(
            "period = 40\ncapacity",
            &format!("period = 40\n{app}capacity"),
        );
        let text = text.replace("name = \"low\"\n", &format!("name = \"low\"\n{low}"));
        let text = text.replace("name = \"high\"\n", &format!("name = \"high\"\n{second}"));
        text.replace(
            "name = \"second\"\n",
            &format!("name = \"second\"\n{second}"),
        )
    };
    let given = with("priority = 7\n", "priority = 3\n", "priority = 8\n");
    let problem = asked(ServerRules::ADAPTIVE, &given).unwrap();
    let with_period = order(&problem).into_iter().filter(|&place| place != 1);
    assert_eq!(with_period.collect::<Vec<_>>(), [3, 0, 2]);
    // Servers without priorities go by periods, whatever tasks have.
    let problem = asked(
        ServerRules::ADAPTIVE,
        &with("", "priority = 3\n", "priority = 8\n"),
    );
    let order = order(&problem.unwrap());
    assert_eq!(
        order
            .into_iter()
            .filter(|&place| place != 1)
            .collect::<Vec<_>>(),
        [2, 3, 0]
    );
    // A server has one and the tasks have none.
    let found = said(&with("priority = 7\n", "", ""));
    assert_eq!(found, [(codes::PRIORITIES_PARTIAL, true)]);
}

#[test]
fn a_sporadic_server_stands_in_the_place_of_a_pibs_right_behind_whom_it_serves() {
    let problem = asked(SPORADIC, SET).unwrap();
    // 0.1 and 0.2 of the 40 ms of `app`, whose task waits for the device.
    assert_eq!(kind(&problem, 1), sporadic(40, [4, 8]));
    assert!(
        problem
            .servers()
            .iter()
            .all(|server| server.serves.is_empty())
    );
    let device = problem.devices()[0];
    assert_eq!((device.server, device.on_behalf_of), (ServerId(1), None));
    assert_eq!(order(&problem), [2, 3, 0, 1]);
    // Nobody waits: the most urgent of all is served.
    let text = SET.replace("io = [{ after = 1, device = \"net\", events = 4 }]\n", "");
    let problem = asked(SPORADIC, &text).unwrap();
    assert_eq!(kind(&problem, 1), sporadic(20, [2, 4]));
    assert_eq!(order(&problem), [2, 1, 3, 0]);
    // A fraction of a nanosecond is not there; a level without a share has no capacity.
    let text = SET.replace(
        "period = 40\ncapacity",
        "period = \"39.999999ms\"\ncapacity",
    );
    let text = text.replace(
        "criticality = \"HI\"\nutilization = { LO = 0.1, HI = 0.2 }",
        "utilization = { LO = 0.1 }",
    );
    let text = text.replace("io = [{", "#");
    let problem = asked(
        SPORADIC,
        &text.replace("kind = \"pibs\"", "kind = \"pibs\"\nserves = [\"app\"]"),
    );
    let ServerKind::Sporadic { capacity, .. } = kind(&problem.unwrap(), 1) else {
        panic!();
    };
    assert_eq!(capacity.at(Level(0)), Service::from_nanos(3_999_999));
    assert!(capacity.at(Level(1)).is_zero());
}

#[test]
fn a_pibs_has_no_share_at_a_level_that_is_left_out_or_has_none() {
    let third = Utilization::new(1, 8).unwrap();
    for text in [
        "{ LO = 0.125 }",
        "{ LO = 0.125, HI = 0 }",
        "{ LO = 0.125, HI = 0.0 }",
    ] {
        let pibs = SET.replace(
            "criticality = \"HI\"\nutilization = { LO = 0.1, HI = 0.2 }",
            &format!("utilization = {text}"),
        );
        let pibs = pibs.replace("io = [{", "#");
        for rules in [ServerRules::ADAPTIVE, ServerRules::EVERY_KIND] {
            let in_file = pibs.replace(
                "tasks = [\"high\"]",
                "tasks = [\"high\", \"low\", \"second\"]",
            );
            let text = match rules == ServerRules::ADAPTIVE {
                true => &pibs,
                false => &in_file,
            };
            let ServerKind::Pibs { utilization } = kind(&asked(rules, text).unwrap(), 1) else {
                panic!();
            };
            assert!(utilization.at(Level(1)).is_zero(), "{text}");
            let found = utilization.at(Level(0));
            assert!(!found.exceeds(third) && !third.exceeds(found));
        }
    }
    // In the lowest mode it would never run at all.
    let none = SET.replace("LO = 0.1,", "LO = 0,");
    assert!(said(&none).contains(&(codes::NOTHING_TO_INHERIT, true)));
}

/// Whether or not something runs in it.
#[test]
fn a_pibs_without_tasks_and_devices_has_to_have_somebody_to_inherit_from() {
    let idle = |utilization: &str| {
        let pibs = format!("[[server]]\nname = \"idle\"\nkind = \"pibs\"\n{utilization}\n");
        let text = format!("{SET}\n{pibs}");
        let refused = asked(ServerRules::ADAPTIVE, &text).err();
        assert_eq!(refused.is_none(), said(&text).is_empty(), "{text}");
        let without = refused.filter(|refused| refused.found.is_none());
        assert!(without.is_none(), "{without:?}");
        said(&text)
    };
    let nothing = [(codes::NOTHING_TO_INHERIT, true)];
    assert_eq!(idle("utilization = { LO = 0.1 }"), []);
    assert_eq!(idle("utilization = { LO = 0 }"), nothing);
    assert_eq!(idle("utilization = { LO = 0.000000001 }"), nothing);
    // 1 ns of 40 ms, which only the longest period has.
    assert_eq!(idle("utilization = { LO = 0.000000025 }"), []);
    let of_another = "utilization = { LO = 0.000000025 }\nserves = [\"low\"]";
    let low = "[[server]]\nname = \"low\"\nkind = \"sporadic\"\nperiod = 20\ncapacity = { LO = 2 }\ntasks = [\"low\"]\n";
    let text = format!("{of_another}\n{low}");
    assert_eq!(idle(&text), nothing);
    assert_eq!(
        idle("criticality = \"HI\"\nutilization = { HI = 0.1 }"),
        [(codes::CAPACITY_MISSING, true)]
    );
}

#[test]
fn a_task_fits_its_server_below_its_own_level() {
    let replaced = |from: &str, to: &str| {
        assert!(SET.contains(from), "{from}");
        SET.replacen(from, to, 1)
    };
    let less = replaced(
        "capacity = { LO = 4, HI = 8 }",
        "capacity = { LO = 3, HI = 8 }",
    );
    assert_eq!(said(&less), [(codes::TASK_ABOVE_SERVER, true)]);
    let found = asked(ServerRules::ADAPTIVE, &less).unwrap_err().to_string();
    for part in [
        "V0425",
        "`high`",
        "4000000 ns",
        "`app`",
        "3000000 ns",
        "`LO`",
    ] {
        assert!(found.contains(part), "{part}: {found}");
    }
    assert!(asked(SPORADIC, &less).is_err());
    // At its own level it raises nothing.
    assert_eq!(
        said(&replaced(
            "capacity = { LO = 4, HI = 8 }",
            "capacity = { LO = 4, HI = 5 }"
        )),
        []
    );
    // Where modes are requested, jobs raise none.
    let all = less.replace(
        "tasks = [\"high\"]",
        "tasks = [\"high\", \"low\", \"second\"]",
    );
    assert!(asked(ServerRules::EVERY_KIND, &all).is_ok());
}

#[test]
fn what_a_rising_mode_cannot_do_with_servers_has_its_codes() {
    assert_eq!(said(SET), []);
    let error = |code| vec![(code, true)];
    let replaced = |from: &str, to: &str| {
        assert!(SET.contains(from), "{from}");
        said(&SET.replacen(from, to, 1))
    };
    for other in ["polling", "idling-periodic", "deferrable"] {
        assert_eq!(
            replaced("\"sporadic\"", &format!("\"{other}\"")),
            error(codes::SERVER_KIND)
        );
    }
    let moved = replaced("tasks = [\"high\"]", "tasks = [\"high\", \"low\"]");
    assert_eq!(moved, error(codes::SERVER_LEVEL));
    // Equal shares are allowed, and so is less above the own level.
    let share = |level: &str, text: &str| {
        replaced(
            "criticality = \"HI\"\nutilization = { LO = 0.1, HI = 0.2 }",
            &format!("criticality = \"{level}\"\nutilization = {text}"),
        )
    };
    assert_eq!(share("HI", "{ LO = 0.1, HI = 0.1 }"), []);
    assert_eq!(
        share("HI", "{ LO = 0.2, HI = 0.1 }"),
        error(codes::UTILIZATION_BY_LEVEL)
    );
    assert_eq!(share("LO", "{ LO = 0.2, HI = 0.1 }"), []);
    assert_eq!(share("LO", "{ LO = 0.2, HI = 0.2 }"), []);
    assert_eq!(
        share("LO", "{ LO = 0.1, HI = 0.2 }"),
        error(codes::UTILIZATION_BY_LEVEL)
    );
    // A HI task waits in HI too.
    assert_eq!(share("LO", "{ LO = 0.2 }"), error(codes::WAITS_FOR_NOTHING));
    let polled = replaced(
        "kind = \"pibs\"\ncriticality = \"HI\"\nutilization = { LO = 0.1, HI = 0.2 }",
        "kind = \"sporadic\"\nperiod = 40\ncapacity = 8",
    );
    assert_eq!(polled, error(codes::WAITS_FOR_NOTHING));
    // A server of its own has the execution times for its capacity.
    let nothing = replaced("wcet = { LO = 3, HI = 5 }", "wcet = { LO = 0, HI = 5 }");
    assert_eq!(nothing, error(codes::CAPACITY_MISSING));
}

/// The value that is wrong, not the name of whose it is; of a value that the file leaves out the name.
#[test]
fn what_a_rising_mode_cannot_do_with_servers_is_shown_where_it_stands() {
    let shown = |from: &str, to: &str| {
        assert!(SET.contains(from), "{from}");
        let text = format!("{HEAD}{}", SET.replacen(from, to, 1));
        let set = TaskSet::from_source(&Source::new("set.toml", &text)).unwrap();
        let policy = Rising(ServerRules::ADAPTIVE);
        let found = said_of_servers(&policy, &Options::default(), &set).unwrap();
        // A share that falls is too little for whoever waits as well.
        let is_error = |one: &&Diagnostic| one.severity == Severity::Error;
        let all = found.list();
        let one = all.iter().find(is_error).unwrap_or(&all[0]);
        let line = text.lines().nth(one.line - 1).unwrap();
        (one.code, line.to_owned(), line[one.column - 1..].to_owned())
    };
    let of = |code, line: &str, value: &str| (code, line.to_owned(), value.to_owned());
    assert_eq!(
        shown("\"sporadic\"", "\"polling\""),
        of(codes::SERVER_KIND, "kind = \"polling\"", "\"polling\"")
    );
    let both = "tasks = [\"high\", \"low\"]";
    assert_eq!(
        shown("tasks = [\"high\"]", both),
        of(codes::SERVER_LEVEL, "criticality = \"HI\"", "\"HI\"")
    );
    let app = "criticality = \"HI\"\nperiod = 40\ncapacity = { LO = 4, HI = 8 }";
    assert_eq!(
        shown(app, "period = 40\ncapacity = 4"),
        of(codes::SERVER_LEVEL, "name = \"app\"", "\"app\"")
    );
    assert_eq!(
        shown("HI = 0.2 }", "HI = 0.05 }"),
        of(
            codes::UTILIZATION_BY_LEVEL,
            "utilization = { LO = 0.1, HI = 0.05 }",
            "{ LO = 0.1, HI = 0.05 }"
        )
    );
    let (io, rest) = (
        "io = [{ after = 1, device = \"net\", events = 4 }]",
        "\"net\", events = 4 }]",
    );
    let low = "criticality = \"LO\"\nutilization = { LO = 0.2 }";
    assert_eq!(
        shown(
            "criticality = \"HI\"\nutilization = { LO = 0.1, HI = 0.2 }",
            low
        ),
        of(codes::WAITS_FOR_NOTHING, io, rest)
    );
    // The second of two.
    let io = "io = [{ after = 1, device = \"net\", events = 1 }, { after = 2, device = \"net\", events = 5 }]";
    assert_eq!(
        shown("io = [{ after = 1, device = \"net\", events = 4 }]", io),
        of(codes::WAITS_LONG, io, "5 }]")
    );
}

#[test]
fn a_wait_beyond_the_next_replenishment_is_warned_of() {
    let warned = [(codes::WAITS_LONG, false)];
    let events = |events: u64, arrival: &str| {
        let text = SET.replace("events = 4", &format!("events = {events}"));
        said(&text.replace("cost = 1\n", &format!("cost = 1\n{arrival}\n")))
    };
    // 0.1 of 40 ms is four of them.
    assert_eq!(events(4, ""), []);
    assert_eq!(events(5, ""), warned);
    let periodic = "arrival = \"periodic\"\nperiod = 10";
    assert_eq!(events(4, periodic), []);
    assert_eq!(
        events(4, "arrival = \"sporadic\"\nperiod = \"10000001ns\""),
        warned
    );
    assert_eq!(events(4, "arrival = \"burst\"\nperiod = 20\nburst = 2"), []);
    assert_eq!(
        events(4, "arrival = \"burst\"\nperiod = 20\nburst = 1"),
        warned
    );
    // In a sporadic server: twice its capacity comes within 40 ms.
    let sporadic = |capacity: u64| {
        let pibs = "kind = \"pibs\"\ncriticality = \"HI\"\nutilization = { LO = 0.1, HI = 0.2 }";
        let own = format!(
            "kind = \"sporadic\"\ncriticality = \"HI\"\nperiod = 20\ncapacity = {capacity}"
        );
        said(&SET.replace(pibs, &own))
    };
    assert_eq!(sporadic(2), []);
    assert_eq!(sporadic(1), warned);
    // It is used all the same.
    assert!(
        asked(
            ServerRules::ADAPTIVE,
            &SET.replace("events = 4", "events = 5")
        )
        .is_ok()
    );
}

#[test]
fn servers_of_their_own_have_names_and_parameters_like_those_of_the_file() {
    let set = set(&SET
        .replace("name = \"halves\"", "name = \"low\"")
        .replace("server = \"halves\"", "server = \"low\""));
    assert_eq!(server_names(&set), ["app", "low", "low'", "second"]);
    let text = r#"{ "format": "vestal-parameters/1", "servers": {
        "app": { "period": "40ms", "capacity": { "LO": "4ms", "HI": "8ms" }, "priority": 1 },
        "low": { "period": "40ms", "capacity": { "LO": "4ms", "HI": "8ms" }, "priority": 2 },
        "low'": { "period": "20ms", "capacity": { "LO": "2ms" }, "priority": 3 },
        "second": { "period": "30ms", "capacity": { "LO": "3ms", "HI": "5ms" }, "priority": 4 } } }"#;
    let read = |text: &str| parameters::read(&Source::new("p.json", text), &set);
    let all = read(text).unwrap_or_else(|error| panic!("{error}"));
    // Written and read again they are the same.
    assert_eq!(read(&parameters::to_file(&all, &set)).unwrap(), all);
    let problem = problem_under(&Rising(SPORADIC), &set, &TEST, &given(&set, &all).unwrap());
    assert_eq!(order(&problem.unwrap()), [3, 2, 1, 0]);
    // Those of the file alone are for policies in which tasks get none.
    let (in_file, _) = text.split_once(",\n        \"low'\"").unwrap();
    assert_eq!(
        read(&format!("{in_file} }} }}"))
            .unwrap()
            .servers
            .unwrap()
            .len(),
        2
    );
    let (some, _) = text.split_once(",\n        \"second\"").unwrap();
    let found = read(&format!("{some} }} }}")).unwrap_err();
    assert_eq!(found.list()[0].code, codes::PARAMETER_PART);
}
