//! What people and programs see of a test about servers.

use super::{TestResult, ask, one, section, wanted_tests};
use crate::args::{AnalyzeArgs, Format, OverheadArgs};
use crate::failure::Exit;
use crate::output::Output;
use serde_json::{Value, json};
use std::path::Path;
use vestal_analysis::{
    Kind, Outcome, Parameter, Problem, Reason, Server, ServerOutcome, TaskOutcome, Test,
};
use vestal_core::{Duration, Level, ServerKind};
use vestal_policy::{Given, Registry};
use vestal_workload::{Source, TaskSet};

/// Deferrable and idling servers of one task each: Davis and Burns (RTSS 2005) for the servers, and for the tasks
/// the whole blackout of the periodic resource model of Shin and Lee (RTSS 2003) before all of their work.
const TEST: Test = Test::own(
    "one-each",
    Kind::Sufficient,
    None,
    &[Parameter::Servers],
    "servers of one task each",
    analyse,
)
.for_servers();

/// Period and capacity of a server, in ns.
fn budget(server: &Server, level: Level) -> Option<(u64, u64)> {
    match &server.configuration.kind {
        ServerKind::IdlingPeriodic { period, capacity }
        | ServerKind::Deferrable { period, capacity } => {
            Some((period.as_nanos(), capacity.at(level).as_nanos()))
        }
        ServerKind::Polling { .. } | ServerKind::Sporadic { .. } | ServerKind::Pibs { .. } => None,
    }
}

/// The least R = Theta + sum ceil((R + J_j) / Pi_j) Theta_j over more urgent servers, up to the period; of a
/// deferrable one J = Pi - Theta.
fn response(problem: &Problem, place: usize, level: Level) -> Option<u64> {
    let all = problem.servers();
    let own = &all[place];
    let (period, capacity) = budget(own, level)?;
    let above = |server: &&Server| server.configuration.priority > own.configuration.priority;
    let mut response = capacity;
    while response <= period {
        let mut demand = capacity;
        for server in all.iter().filter(above) {
            let (period, capacity) = budget(server, level)?;
            let keeps = matches!(server.configuration.kind, ServerKind::Deferrable { .. });
            let jitter = if keeps { period - capacity } else { 0 };
            demand += (response + jitter).div_ceil(period) * capacity;
        }
        if demand == response {
            return Some(response);
        }
        response = demand;
    }
    None
}

fn analyse(problem: &Problem) -> Outcome {
    let mut tasks = vec![TaskOutcome::default(); problem.tasks().len()];
    let mut servers = Vec::new();
    let mut why = None;
    for (place, server) in problem.servers().iter().enumerate() {
        let levels = server.configuration.criticality.up_to_self();
        let responses: Vec<Option<u64>> = levels
            .map(|level| response(problem, place, level))
            .collect();
        if let [member] = server.tasks.as_slice() {
            let task = problem.tasks()[member.task.index()];
            let bound = |level: Level| {
                let (period, capacity) = budget(server, level)?;
                let work = task.wcet.at(level).as_nanos();
                let bound = 2 * (period - capacity) + work;
                (work <= capacity && bound <= task.deadline.as_nanos()).then_some(bound)
            };
            let levels = task.criticality.up_to_self();
            tasks[member.task.index()].responses = levels
                .map(|level| bound(level).map(Duration::from_nanos))
                .collect();
        }
        if responses.contains(&None) && why.is_none() {
            why = Some(Reason::Own(format!("server {place} may be too late")));
        }
        servers.push(ServerOutcome {
            priority: Some(server.configuration.priority),
            responses: responses
                .into_iter()
                .map(|bound| bound.map(Duration::from_nanos))
                .collect(),
            equations: Vec::new(),
        });
    }
    let bounded = |task: &TaskOutcome| {
        !task.responses.is_empty() && task.responses.iter().all(Option::is_some)
    };
    let late = tasks.iter().position(|task| !bounded(task));
    let why = why.or_else(|| late.map(|task| Reason::Own(format!("task {task} may be too late"))));
    Outcome::decided(Kind::Sufficient, why, tasks).with_servers(servers)
}

/// A deferrable server that is as urgent as can be, and an idling one of this period below it.
fn set(period: u64) -> TaskSet {
    let text = format!(
        r#"
format = "vestal/1"
levels = ["LO", "HI"]
unit = "ms"

[[task]]
name = "a"
criticality = "LO"
period = 100
wcet = {{ LO = 5 }}

[[task]]
name = "b"
criticality = "HI"
period = 120
wcet = {{ LO = 8, HI = 10 }}

[[server]]
name = "back"
kind = "idling-periodic"
criticality = "HI"
period = {period}
capacity = {{ LO = 10, HI = 12 }}
tasks = ["b"]

[[server]]
name = "front"
kind = "deferrable"
period = 25
capacity = 10
degraded = {{ HI = 5 }}
tasks = ["a"]
"#
    );
    let source = Source::new("set.toml", &text);
    TaskSet::from_source(&source).unwrap_or_else(|error| panic!("{error}"))
}

fn result(set: &TaskSet) -> TestResult {
    match one(Path::new("set.toml"), set, &TEST, (&Given::default(), None)) {
        Ok(result) => result,
        Err(failure) => panic!("{}", failure.message()),
    }
}

/// The table as text without colours, whatever terminal this is.
fn plain(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| {
        all + part.split_once('m').map_or("", |(_, rest)| rest)
    })
}

/// By hand: `front` has 10 of 25 and nobody above. `back` needs 10 + ceil((R + 15) / 25) 10 in mode LO: 10, 20, 30,
/// 30; in HI, where `front` has 5 of 25, 12 + ceil((R + 20) / 25) 5: 12, 22, 22.
#[test]
fn bounds_of_servers_stand_below_those_of_tasks_and_in_json() {
    let result = result(&set(50));
    assert!(result.is_proved(), "{:?}", result.said.why);
    let ms = |amount: u64| amount * 1_000_000;
    let said = serde_json::to_value(&result.said).unwrap();
    assert_eq!(
        said["servers"],
        json!([
            { "name": "back", "criticality": "HI", "priority": 1, "period_ns": ms(50),
              "response_ns": { "LO": ms(30), "HI": ms(22) } },
            { "name": "front", "criticality": "LO", "priority": 2, "period_ns": ms(25),
              "response_ns": { "LO": ms(10) } },
        ])
    );
    assert_eq!(
        said["tasks"][1]["response_ns"],
        json!({ "LO": ms(88), "HI": ms(86) })
    );
    let page = plain(&section(&result, &set(50), &Output::new(Format::Human)));
    let row = |name: &str| {
        let lines = page.lines();
        let words = lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
        let line = words.enumerate().find(|(_, line)| line.starts_with(name));
        line.unwrap_or_else(|| panic!("{name} in {page}"))
    };
    let (head, columns) = row("server ");
    assert_eq!(
        columns,
        "server criticality priority period response LO response HI"
    );
    let ((front, first), (back, second)) = (row("front "), row("back "));
    assert_eq!(first, "front LO 2 25ms 10ms");
    assert_eq!(second, "back HI 1 50ms 30ms 22ms");
    // The most urgent one first, below the tasks.
    assert!(
        row("b HI").0 < head && head < front && front < back,
        "{page}"
    );
}

/// In a period of 29 `back` would need 30, as its least fixed point is.
#[test]
fn a_server_without_a_bound_has_none_in_json_and_a_dash_for_people() {
    let result = result(&set(29));
    assert!(!result.is_proved());
    assert_eq!(result.said.why.as_deref(), Some("server 0 may be too late"));
    let said = serde_json::to_value(&result.said).unwrap();
    assert_eq!(said["servers"][0]["response_ns"]["LO"], Value::Null);
    assert_eq!(said["servers"][0]["response_ns"]["HI"], 22_000_000);
    let page = plain(&section(&result, &set(29), &Output::new(Format::Human)));
    let line = page.lines().find(|line| line.starts_with("back")).unwrap();
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(words, ["back", "HI", "1", "29ms", "-", "22ms"]);
}

#[test]
fn without_an_answer_about_servers_there_is_no_trace_of_them() {
    let set = set(50);
    let test = vestal_analysis::find("smc", None).unwrap();
    let Ok(result) = one(Path::new("set.toml"), &set, test, (&Given::default(), None)) else {
        panic!("smc takes no notice of servers");
    };
    let said = serde_json::to_value(&result.said).unwrap();
    assert_eq!(said.get("servers"), None);
    let page = section(&result, &set, &Output::new(Format::Human));
    assert!(!page.contains("server"), "{page}");
}

fn args(tests: &[&str]) -> AnalyzeArgs {
    AnalyzeArgs {
        file: "set.toml".into(),
        tests: tests.iter().map(|&name| name.to_owned()).collect(),
        all: false,
        details: false,
        emit: None,
        parameters: None,
        overheads: OverheadArgs::default(),
    }
}

#[test]
fn tests_for_servers_are_asked_without_names_where_the_file_has_some_that_are_for_them() {
    let registry = Registry::default().with_test(TEST, "").unwrap();
    let output = Output::new(Format::Json);
    let wanted = |set: &TaskSet| {
        let wanted = wanted_tests(&registry, &args(&[]), (set, &[]), &output);
        wanted.into_iter().copied().collect::<Vec<Test>>()
    };
    let has = |tests: &[Test]| tests.iter().any(|test| test.name == TEST.name);
    let served = set(50);
    assert!(has(&wanted(&served)));
    let mut alone = served.clone();
    alone.servers.clear();
    assert!(!has(&wanted(&alone)));
    // By name it is asked about a server for each task.
    let own = result(&alone).said;
    assert_eq!(own.servers.len(), 2);
    assert_eq!(
        (own.servers[0].name.as_str(), own.servers[0].period_ns),
        ("a", Some(100_000_000))
    );
    // A task without a server: the others are asked, and who asks for it by name is told why not.
    let mut partly = served;
    partly.servers[0].tasks.clear();
    let tests = wanted(&partly);
    let tests: Vec<&Test> = tests.iter().collect();
    let path = Path::new("set.toml");
    let others = ask(
        (path, &partly),
        (&tests, &[]),
        (&Given::default(), None),
        &output,
    );
    let Ok(others) = others else {
        panic!("the others are asked");
    };
    let for_servers = tests.iter().filter(|test| test.is_for_servers).count();
    assert!(for_servers > 1, "a built-in one as well");
    assert_eq!(others.len(), tests.len() - for_servers);
    assert!(
        others
            .iter()
            .all(|result| ![TEST.name, "hsf"].contains(&result.said.test.as_str()))
    );
    let named = ask(
        (path, &partly),
        (&tests, &[&TEST]),
        (&Given::default(), None),
        &output,
    );
    let failure = named.err().unwrap();
    assert_eq!(failure.exit, Exit::BadInput);
    assert!(failure.diagnostics.is_some());
}
