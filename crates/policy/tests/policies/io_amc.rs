//! What `io-amc` makes of servers, options and what its test finds.

use vestal_analysis::{Parameters, Scratch};
use vestal_core::{Modes, ServerKind};
use vestal_policy::{
    Analysis, Configuration, Options, Precision, Proof, Refusal, Registry, Servers, System, Terms,
    assemble, parameters,
};
use vestal_workload::{Source, TaskSet, codes};

const HEAD: &str = "format = \"vestal/1\"\nlevels = [\"LO\", \"HI\"]\nunit = \"ms\"\n";

/// By periods `h` would be late when the mode rises, with 16 and 5 of `l`; above `l` it needs 16 of 20, and `l` 9 of 10.
const ORDER_MATTERS: &str = r#"
[[task]]
name = "l"
criticality = "LO"
period = 10
wcet = { LO = 5 }

[[task]]
name = "h"
criticality = "HI"
period = 20
wcet = { LO = 4, HI = 16 }
"#;

fn set(text: &str) -> TaskSet {
    let text = format!("{HEAD}{text}");
    TaskSet::from_source(&Source::new("set.toml", &text))
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn system_of(
    set: &TaskSet,
    options: &[(&str, &str)],
    given: &Parameters,
) -> Result<System, Refusal> {
    let registry = Registry::default();
    let policy = registry.policy("io-amc").unwrap();
    let pairs = options.iter();
    let pairs = pairs.map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    let options: Options = registry.options(policy, &pairs.collect::<Vec<_>>())?;
    assemble(&registry, (policy, &options), set, given, Analysis::Ask)
}

fn system(text: &str, options: &[(&str, &str)]) -> System {
    system_of(&set(text), options, &Parameters::default()).unwrap()
}

fn servers(system: &System) -> &Servers {
    let configuration = &system.clusters[0].configuration;
    let Configuration::Servers(servers) = configuration else {
        panic!("{configuration:?}");
    };
    // What is not refused can be built.
    configuration.engine(Precision::EXACT).unwrap();
    servers
}

/// The names of the servers, most urgent first.
fn order(system: &System) -> Vec<&str> {
    let servers = servers(system);
    let mut order: Vec<_> = servers.servers.iter().zip(&servers.names).collect();
    order.sort_by_key(|(server, _)| std::cmp::Reverse(server.priority));
    order.into_iter().map(|(_, name)| name.as_str()).collect()
}

#[test]
fn the_mode_rises_by_jobs_and_by_pibs_if_asked_for() {
    let of = |options: &[(&str, &str)]| servers(&system(ORDER_MATTERS, options)).modes;
    assert_eq!(of(&[]), Modes::Adaptive { pibs_raise: false });
    let raises = [("pibs-raises", "yes")];
    assert_eq!(of(&raises), Modes::Adaptive { pibs_raise: true });
    let system = system(ORDER_MATTERS, &[]);
    let cluster = &system.clusters[0];
    assert_eq!(cluster.domains[0].guarantee.terms, Terms::Servers);
    assert_eq!(cluster.guaranteed_servers(), Some(servers(&system)));
    assert_eq!(cluster.limits(), None);
    assert!(system.only_simulated().is_none());
}

#[test]
fn the_order_is_the_one_that_the_test_finds_or_the_rate_monotonic_one() {
    let found = system(ORDER_MATTERS, &[]);
    assert_eq!(order(&found), ["h", "l"]);
    assert_eq!(found.proved_by(), Some("io-amc-rtb"));
    assert!(
        found.origin.contains("found by io-amc-rtb"),
        "{}",
        found.origin
    );
    let by_period = system(ORDER_MATTERS, &[("priorities", "rm")]);
    assert_eq!(order(&by_period), ["l", "h"]);
    assert_eq!(by_period.proved_by(), None);
    assert!(
        by_period.origin.contains("rate-monotonic"),
        "{}",
        by_period.origin
    );
    // Priorities of the file stay what they are.
    let mut given = String::new();
    for (part, priority) in ORDER_MATTERS.split("[[task]]").skip(1).zip([2, 1]) {
        given += &format!("[[task]]{part}priority = {priority}\n");
    }
    let given = system(&given, &[]);
    assert_eq!((order(&given), given.proved_by()), (vec!["l", "h"], None));
}

#[test]
fn budgets_and_priorities_of_parameters_take_the_place_of_the_files() {
    let set = set(ORDER_MATTERS);
    let with = |text: &str| {
        let read = parameters::read(&Source::new("p.json", text), &set);
        system_of(&set, &[], &read.unwrap_or_else(|error| panic!("{error}")))
    };
    let text = r#"{ "format": "vestal-parameters/1", "servers": {
        "l": { "period": "5ms", "capacity": { "LO": "5ms" }, "priority": 1 },
        "h": { "period": "20ms", "capacity": { "LO": "4ms", "HI": "17ms" }, "priority": 9 } } }"#;
    let system = with(text).unwrap();
    assert_eq!(order(&system), ["h", "l"]);
    assert!(
        system.origin.contains("of --parameters"),
        "{}",
        system.origin
    );
    let period = |place: usize| servers(&system).servers[place].kind.period().unwrap();
    assert_eq!(
        [period(0).as_nanos(), period(1).as_nanos()],
        [5_000_000, 20_000_000]
    );
    let capacity = servers(&system).servers[1].kind.capacity().unwrap();
    assert_eq!(
        capacity.iter().map(|one| one.as_nanos()).max(),
        Some(17_000_000)
    );
    // What is proved is proved of them: `l` has all of the CPU there.
    assert_eq!(system.proved_by(), None);
}

#[test]
fn a_capacity_below_an_execution_time_is_the_tests_business() {
    let text = ORDER_MATTERS.to_owned()
        + "[[server]]\nname = \"s\"\nkind = \"sporadic\"\nperiod = 10\ncapacity = 4\ntasks = [\"l\"]\n";
    let system = system(&text, &[]);
    assert_eq!(servers(&system).names, ["s", "h"]);
    let proof = &system.clusters[0].domains[0].guarantee.proof;
    let Proof::Unproved { why: Some(why), .. } = proof else {
        panic!("{proof:?}");
    };
    assert!(why.contains("capacity of server s"), "{why}");
}

#[test]
fn bottom_halves_in_a_pibs_or_in_a_sporadic_server_are_proved_by_the_same_test() {
    let text = ORDER_MATTERS
        .replace("LO = 5", "LO = 3")
        .replace("HI = 16", "HI = 8")
        + "[[server]]\nname = \"irq\"\nkind = \"pibs\"\nutilization = { LO = 0.1, HI = 0.1 }\ncriticality = \"HI\"\nserves = [\"app\"]\n\
           [[server]]\nname = \"app\"\nkind = \"sporadic\"\nperiod = 20\ncapacity = { LO = 4, HI = 8 }\ncriticality = \"HI\"\ntasks = [\"h\"]\n\
           [[device]]\nname = \"net\"\nserver = \"irq\"\ncost = 1\narrival = \"sporadic\"\nperiod = 10\n";
    let kinds = |system: &System| servers(system).servers[0].kind;
    let with = system(&text, &[]);
    assert!(matches!(kinds(&with), ServerKind::Pibs { .. }));
    assert_eq!(with.proved_by(), Some("io-amc-rtb"));
    let without = system(&text, &[("bottom-halves", "sporadic")]);
    let ServerKind::Sporadic { period, .. } = kinds(&without) else {
        panic!("{:?}", kinds(&without));
    };
    assert_eq!(period.as_nanos(), 20_000_000);
    assert_eq!(without.proved_by(), Some("io-amc-rtb"));
    // What it cannot use it refuses.
    let other = text.replace("\"sporadic\"\nperiod = 20", "\"polling\"\nperiod = 20");
    let refused = system_of(&set(&other), &[], &Parameters::default()).unwrap_err();
    let found = refused.found.unwrap();
    assert_eq!(found.list()[0].code, codes::SERVER_KIND);
}

/// What `test` says of a set.
fn accepts(test: &str, set: &TaskSet) -> bool {
    let registry = Registry::default();
    let test = registry.test(test).unwrap();
    let problem = vestal_policy::problem(set, test, &vestal_policy::Given::default());
    test.accepts(&problem.unwrap(), &mut Scratch::default())
}

/// Each task in a server of its own: as `amc-rtb` says of the tasks alone.
#[test]
fn tasks_in_servers_of_their_own_are_to_amc_rtb_what_they_are_alone() {
    // Below `h`, `l` needs C(LO) more than its own 5 of 10.
    for (wcet, holds) in [(5, true), (6, false)] {
        let set = set(&ORDER_MATTERS.replace("LO = 4", &format!("LO = {wcet}")));
        for test in ["amc-rtb", "amc-rtb:servers", "io-amc-rtb"] {
            assert_eq!(accepts(test, &set), holds, "{test}: {wcet}");
        }
    }
}

/// Figure 8 in small: AMC, with a sporadic server instead of each PIBS, accepts no fewer of the same draws than IO-AMC, and
/// each upper bound no fewer than its test.
#[test]
fn amc_without_pibs_accepts_more_than_io_amc_with_them() {
    let counts = |io: &str, tests: [&str; 2]| {
        let mut recipe = vestal_workload::generate::Recipe::named("missimer").unwrap();
        recipe.set("utilization", "0.7").unwrap();
        recipe.set("io", io).unwrap();
        let sets: Vec<TaskSet> = (0..200).map(|seed| recipe.draw(seed).unwrap()).collect();
        tests.map(|test| sets.iter().filter(|set| accepts(test, set)).count())
    };
    let [amc, amc_ub] = counts("sporadic", ["amc-rtb:servers", "amc-ub:servers"]);
    let [io, io_ub] = counts("pibs", ["io-amc-rtb", "io-amc-ub"]);
    assert!(io <= amc && amc <= amc_ub && io <= io_ub && io_ub <= amc_ub);
    assert!(io > 10 && amc_ub < 190, "{io} {amc} {io_ub} {amc_ub}");
}

/// What a proof says of servers goes with the system, for whoever judges runs; what is not proved has no bounds.
#[test]
fn a_proved_system_has_the_bounds_of_its_proof() {
    let text = ORDER_MATTERS
        .replace("LO = 5", "LO = 3")
        .replace("HI = 16", "HI = 8")
        + "[[server]]\nname = \"irq\"\nkind = \"pibs\"\nutilization = { LO = 0.1, HI = 0.1 }\ncriticality = \"HI\"\nserves = [\"app\"]\n\
           [[server]]\nname = \"app\"\nkind = \"sporadic\"\nperiod = 20\ncapacity = { LO = 4, HI = 8 }\ncriticality = \"HI\"\ntasks = [\"h\"]\n\
           [[device]]\nname = \"net\"\nserver = \"irq\"\ncost = 1\narrival = \"sporadic\"\nperiod = 10\n";
    let registry = Registry::default();
    let bounds = |text: &str, given: &Parameters| {
        let system = system_of(&set(text), &[], given).unwrap();
        let proved = system.proved_by().map(str::to_owned);
        (proved, system.clusters[0].server_bounds().to_vec(), system)
    };
    let (proved, found, with) = bounds(&text, &Parameters::default());
    assert_eq!(proved.as_deref(), Some("io-amc-rtb"));
    let test = registry.test("io-amc-rtb").unwrap();
    let problem = vestal_policy::problem(&set(&text), test, &vestal_policy::Given::default());
    let outcome = test.analyse(&problem.unwrap());
    let expected: Vec<_> = outcome
        .servers
        .iter()
        .map(|one| one.responses.clone())
        .collect();
    // Of the PIBS, the server, and that of the task in none.
    assert_eq!(found, expected);
    assert_eq!(found.len(), 3);
    assert!(
        found[..2]
            .iter()
            .all(|one| one.len() == 2 && one.iter().all(Option::is_some))
    );
    // The same where its parameters are given, as by a file.
    assert_eq!(bounds(&text, &with.parameters).1, expected);
    let late = text.replace(
        "capacity = { LO = 4, HI = 8 }",
        "capacity = { LO = 4, HI = 20 }",
    );
    let (proved, found, _) = bounds(&late, &Parameters::default());
    assert_eq!((proved, found), (None, Vec::new()));
    let policy = registry.policy("io-amc").unwrap();
    let by = (policy, &Options::default());
    let skipped = assemble(&registry, by, &set(&text), &with.parameters, Analysis::Skip);
    assert!(skipped.unwrap().clusters[0].server_bounds().is_empty());
}
