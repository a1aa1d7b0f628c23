//! `servers`: period, capacity or utilisation, and priority of each server; of a task in none, those of a server of its
//! own, which has the task's name. A PIBS may have a period and a capacity: those of the server in its place.

use super::by_name;
use crate::parameters::read::File;
use crate::parameters::virtual_deadlines::factor;
use crate::servers::with_own;
use serde_json::{Value as Json, json};
use vestal_analysis::Ratio;
use vestal_analysis::parameters::{ServerBudget, ServerParameters};
use vestal_core::Duration;
use vestal_workload::TaskSet;
use vestal_workload::codes;
use vestal_workload::diagnostic::{did_you_mean, one_of, quote};
use vestal_workload::document::{Fields, Node};
use vestal_workload::model::{ServerKind, ServerSpec};
use vestal_workload::quantity::time_text;

pub(super) fn read(file: &mut File<'_>, node: &Node<'_>) -> Option<Vec<ServerParameters>> {
    let example = "{ \"server\": { \"period\": \"10ms\", \"capacity\": { \"LO\": \"2ms\" }, \"priority\": 1 } }";
    let entries = file.entries(node, "servers", "a table from server name", example)?;
    let all = with_own(file.set);
    let names = || all.servers.iter().map(|server| server.name.as_str());
    for entry in entries {
        if !names().any(|name| name == entry.key) {
            let field = format!("servers.{}", entry.key);
            let help = did_you_mean(&entry.key, names(), "use the parameters of this task set");
            let expected = format!("a server of the set: {}", one_of(names()));
            let (code, found) = (codes::UNKNOWN_SERVER, quote(&entry.key));
            let sink = &mut file.reader.sink;
            sink.error(code, entry.key_span, &field, found, expected, help);
        }
    }
    let of = |name: &str| entries.iter().find(|entry| entry.key == name);
    // Who gives none to tasks has a policy that gives them no servers.
    let in_file = file.set.servers.len();
    let are_own_given = names().skip(in_file).any(|name| of(name).is_some());
    let count = match are_own_given {
        true => all.servers.len(),
        false => in_file,
    };
    let missing: Vec<&str> = names()
        .take(count)
        .filter(|name| of(name).is_none())
        .collect();
    if !missing.is_empty() {
        let found = format!("nothing for {}", one_of(missing));
        file.misfit(
            node.span,
            "servers",
            found,
            "parameters of each server of the set",
        );
    }
    let servers: Vec<Option<ServerParameters>> = all
        .servers
        .iter()
        .take(count)
        .map(|server| read_one(file, server, &of(&server.name)?.node))
        .collect();
    servers.into_iter().collect()
}

fn read_one(file: &mut File<'_>, server: &ServerSpec, node: &Node<'_>) -> Option<ServerParameters> {
    let path = format!("servers.{}", server.name);
    let is_pibs = match server.kind {
        // In its place a policy may have put a server with a period.
        ServerKind::Pibs { .. } => node.get("capacity").is_none(),
        ServerKind::Periodic { .. } => false,
    };
    let known: &[&str] = match is_pibs {
        false => &["period", "capacity", "priority"],
        true => &["utilization", "priority"],
    };
    let fields = Fields::open(node, path.clone(), known, &mut file.reader)?;
    let priority = file.require(&fields, "priority").and_then(|node| {
        let field = format!("{path}.priority");
        file.reader.whole(node, &field, 0, u64::from(u32::MAX))
    });
    let levels = server.criticality.index() + 1;
    let budget = match is_pibs {
        false => read_capacity(file, &fields, levels),
        true => read_utilization(file, &fields, levels),
    };
    Some(ServerParameters {
        budget: budget?,
        priority: u32::try_from(priority?).ok()?,
    })
}

fn read_capacity(file: &mut File<'_>, fields: &Fields<'_>, levels: usize) -> Option<ServerBudget> {
    let period = file.require(fields, "period").and_then(|node| {
        let nanos = file
            .reader
            .positive_time(node, &format!("{}.period", fields.path));
        nanos.map(Duration::from_nanos)
    });
    let node = file.require(fields, "capacity")?;
    let field = format!("{}.capacity", fields.path);
    let by_level = file.each_level((node, &field), levels, |file, _, (node, field)| {
        let nanos = file.reader.positive_time(node, field);
        nanos.map(Duration::from_nanos)
    });
    let (period, by_level) = (period?, by_level?);
    let budget = ServerBudget::Capacity { period, by_level };
    sound(
        file,
        (node, &field),
        budget,
        "capacities that do not fall with the level, at most the period",
    )
}

fn read_utilization(
    file: &mut File<'_>,
    fields: &Fields<'_>,
    levels: usize,
) -> Option<ServerBudget> {
    let node = file.require(fields, "utilization")?;
    let field = format!("{}.utilization", fields.path);
    let by_level = file.each_level((node, &field), levels, |file, _, (node, field)| {
        factor(node, field, &mut file.reader)
    })?;
    let budget = ServerBudget::Utilization { by_level };
    sound(
        file,
        (node, &field),
        budget,
        "utilisations that do not fall with the level",
    )
}

fn sound(
    file: &mut File<'_>,
    (node, field): (&Node<'_>, &str),
    budget: ServerBudget,
    expected: &str,
) -> Option<ServerBudget> {
    if budget.is_sound() {
        return Some(budget);
    }
    file.misfit(node.span, field, "a budget that is none", expected);
    None
}

pub(super) fn write(servers: &[ServerParameters], set: &TaskSet) -> Json {
    let one = |server: &ServerParameters| match &server.budget {
        ServerBudget::Capacity { period, by_level } => {
            let times = by_level
                .iter()
                .map(|time| time_text(time.as_nanos()).into());
            json!({
                "period": time_text(period.as_nanos()),
                "capacity": by_name(set.levels.iter(), times),
                "priority": server.priority,
            })
        }
        ServerBudget::Utilization { by_level } => {
            let shares = by_level
                .iter()
                .map(|share: &Ratio| format!("{}/{}", share.numerator, share.denominator).into());
            json!({
                "utilization": by_name(set.levels.iter(), shares),
                "priority": server.priority,
            })
        }
    };
    let all = with_own(set);
    let names = all.servers.iter().map(|server| &server.name);
    by_name(names, servers.iter().map(one))
}
