//! What a test says about servers.

use crate::output::{Output, Style};
use crate::quantity::exact;
use crate::registry::registry;
use crate::table::{Grid, styled};
use std::cmp::Reverse;
use std::fmt::Write as _;
use vestal_analysis::parameters::ServerBudget;
use vestal_analysis::{Outcome, Parameters, Problem, Server, ServerOutcome, Test};
use vestal_core::Level;
use vestal_policy::{LooseTasks, Options, Policy, said_of_servers, server_names, server_rules};
use vestal_result::analysis::{EquationBound, ServerBound};
use vestal_workload::diagnostic::Severity;
use vestal_workload::{Diagnostics, TaskSet};

/// Says which tests ignore the servers of a set, what the policies that the others are about warn of in them, or which ones tests
/// are asked about where the file has none. What policies refuse, tests say.
pub(super) fn warn(tests: &[&Test], set: &TaskSet, output: &Output) {
    let without = tests.iter().filter(|test| !test.is_for_servers);
    let without: Vec<String> = without.map(|test| test.to_string()).collect();
    if !set.servers.is_empty() && !without.is_empty() {
        let what = match set.devices.is_empty() {
            true => "servers",
            false => "servers and devices",
        };
        let without = without.join(", ");
        output.note(&format!("the {what} of the file are ignored by {without}"));
    }
    let for_servers = tests.iter().filter(|test| test.is_for_servers);
    for test in for_servers.filter(|_| set.servers.is_empty()) {
        let which = match server_rules(test).loose {
            LooseTasks::Refused => "deferrable",
            LooseTasks::OwnSporadic => "sporadic",
        };
        output.note(&format!(
            "the file has no servers: {test} is asked about a {which} one for each task, with its period and its execution time; above \
             the task's level that has what `degraded` says, else nothing"
        ));
    }
    let registry = registry();
    let is_of = |policy: &dyn Policy, test: &Test| {
        let mut names = policy.about().tests.iter();
        test.is_for_servers && names.any(|name| test.is_called(name))
    };
    for policy in registry.policies() {
        if !tests.iter().any(|test| is_of(policy, test)) {
            continue;
        }
        let said = said_of_servers(policy, &Options::default(), set);
        let is_usable = |said: &Diagnostics| {
            let mut all = said.list().iter();
            all.all(|one| one.severity != Severity::Error)
        };
        if let Some(warnings) = said.filter(is_usable) {
            output.diagnostics(&warnings);
        }
    }
}

/// The servers of the problem with what was found out about each; none without an answer about them.
pub(super) fn bounds(set: &TaskSet, problem: &Problem, found: &Outcome) -> Vec<ServerBound> {
    let names = server_names(set);
    let servers = problem.servers().iter().zip(&found.servers).zip(&names);
    servers
        .map(|((server, outcome), name)| bound(set, (name, &names), server, outcome))
        .collect()
}

fn bound(
    set: &TaskSet,
    (name, names): (&str, &[String]),
    server: &Server,
    outcome: &ServerOutcome,
) -> ServerBound {
    let configuration = &server.configuration;
    // Up to its own level, and as far above it as the test has an answer.
    let levels = (configuration.criticality.index() + 1).max(outcome.responses.len());
    let response = |level: Level| outcome.responses.get(level.index()).copied().flatten();
    let levels = set.levels.iter().zip((0..).map(Level)).take(levels);
    ServerBound {
        name: name.to_owned(),
        criticality: set.level_name(configuration.criticality).to_owned(),
        priority: outcome.priority,
        period_ns: configuration.kind.period().map(|period| period.as_nanos()),
        response_ns: levels
            .map(|(name, level)| (name.clone(), response(level).map(|bound| bound.as_nanos())))
            .collect(),
        equations: outcome
            .equations
            .iter()
            .map(|found| EquationBound {
                equation: found.equation,
                on_behalf_of: found
                    .on_behalf_of
                    .and_then(|host| names.get(host.index()).cloned()),
                bound_ns: found.bound.map(|bound| bound.as_nanos()),
            })
            .collect(),
    }
}

/// Bounds by equations for people: a line for each server, and for each server that a PIBS serves.
fn equations(servers: &[ServerBound]) -> String {
    let mut text = String::new();
    for server in servers {
        let mut last = None;
        for found in &server.equations {
            let end = match &last {
                Some(host) if *host == &found.on_behalf_of => ", ",
                Some(_) | None => {
                    let behalf = found.on_behalf_of.as_ref();
                    let behalf = behalf.map_or_else(String::new, |host| format!(" for {host}"));
                    let start = if last.is_some() { "\n" } else { "" };
                    let _ = write!(text, "{start}  {}{behalf}: ", server.name);
                    ""
                }
            };
            last = Some(&found.on_behalf_of);
            let bound = found.bound_ns.map_or_else(|| "-".to_owned(), exact);
            let _ = write!(text, "{end}({}) {bound}", found.equation);
        }
        if last.is_some() {
            text.push('\n');
        }
    }
    match text.is_empty() {
        true => text,
        false => format!("\nby equation:\n{text}"),
    }
}

/// The table of servers, most urgent first; empty without any.
pub(super) fn table(servers: &[ServerBound], levels: &[String], output: &Output) -> String {
    if servers.is_empty() {
        return String::new();
    }
    let by_equation = equations(servers);
    let mut servers: Vec<&ServerBound> = servers.iter().collect();
    servers.sort_by_key(|server| Reverse(server.priority));
    let dash = || "-".to_owned();
    let mut grid = Grid::of(&servers, output)
        .text("server", |server| &server.name)
        .text("criticality", |server| &server.criticality)
        .number("priority", |server| {
            server
                .priority
                .map_or_else(dash, |priority| priority.to_string())
        })
        .number("period", |server| server.period_ns.map_or_else(dash, exact));
    for level in levels {
        grid = grid.number(&format!("response {level}"), |server| {
            match server.response_ns.get(level) {
                None => styled("", None),
                Some(None) => styled("-", Some(Style::Bad)),
                Some(Some(bound)) => {
                    let late = server.period_ns.is_some_and(|period| *bound > period);
                    styled(exact(*bound), late.then_some(Style::Bad))
                }
            }
        });
    }
    format!("\n{}{by_equation}", grid.render())
}

/// The capacities that a test chose, by server.
pub(super) fn capacities(chosen: &Parameters, servers: &[ServerBound]) -> String {
    let chosen = chosen.servers.iter().flatten().zip(servers);
    let each = chosen.filter_map(|(server, bound)| match &server.budget {
        ServerBudget::Capacity { by_level, .. } => {
            let capacity = exact(by_level.first()?.as_nanos());
            Some(format!("{} {capacity}", bound.name))
        }
        ServerBudget::Utilization { .. } => None,
    });
    each.collect::<Vec<_>>().join(", ")
}
