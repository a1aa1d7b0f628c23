//! What a test says about servers.

use crate::output::{Output, Style};
use crate::quantity::exact;
use crate::table::{Grid, styled};
use std::cmp::Reverse;
use vestal_analysis::{Outcome, Problem, Server, ServerOutcome};
use vestal_core::Level;
use vestal_policy::server_names;
use vestal_result::analysis::ServerBound;
use vestal_workload::TaskSet;

/// The servers of the problem with what was found out about each; none without an answer about them.
pub(super) fn bounds(set: &TaskSet, problem: &Problem, found: &Outcome) -> Vec<ServerBound> {
    let servers = problem.servers().iter().zip(&found.servers);
    let servers = servers.zip(server_names(set));
    servers
        .map(|((server, outcome), name)| bound(set, name, server, outcome))
        .collect()
}

fn bound(set: &TaskSet, name: String, server: &Server, outcome: &ServerOutcome) -> ServerBound {
    let configuration = &server.configuration;
    // Up to its own level, and as far above it as the test has an answer.
    let levels = (configuration.criticality.index() + 1).max(outcome.responses.len());
    let response = |level: Level| outcome.responses.get(level.index()).copied().flatten();
    let levels = set.levels.iter().zip((0..).map(Level)).take(levels);
    ServerBound {
        name,
        criticality: set.level_name(configuration.criticality).to_owned(),
        priority: outcome.priority,
        period_ns: configuration.kind.period().map(|period| period.as_nanos()),
        response_ns: levels
            .map(|(name, level)| (name.clone(), response(level).map(|bound| bound.as_nanos())))
            .collect(),
    }
}

/// The table of servers, most urgent first; empty without any.
pub(super) fn table(servers: &[ServerBound], levels: &[String], output: &Output) -> String {
    if servers.is_empty() {
        return String::new();
    }
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
    format!("\n{}", grid.render())
}
