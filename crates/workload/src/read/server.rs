//! `[[server]]`.

use super::fields::{Fields, Reader};
use super::platform::cpu;
use super::task::{degraded, priority, services};
use super::{Names, keys, reference, tables, written_names};
use crate::codes;
use crate::diagnostic::quote;
use crate::model::{
    LocalScheduler, MergeAt, PerLevel, Platform, ServerKind, ServerRule, ServerSpec,
};
use crate::number::Ratio;
use crate::quantity::time_text;
use crate::source::{Place, Span};
use std::collections::BTreeMap;
use vestal_core::{Duration, Level};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Polling,
    IdlingPeriodic,
    Deferrable,
    Sporadic,
    Pibs,
}

const KINDS: [(&str, Kind); 5] = [
    ("polling", Kind::Polling),
    ("idling-periodic", Kind::IdlingPeriodic),
    ("deferrable", Kind::Deferrable),
    ("sporadic", Kind::Sporadic),
    ("pibs", Kind::Pibs),
];

/// The longest replenishment list that may be asked for.
const REPLENISHMENTS_MAX: u64 = 4096;

pub(super) fn servers(
    top: &Fields<'_>,
    platform: &Platform,
    reader: &mut Reader<'_>,
) -> Vec<ServerSpec> {
    let context = Context {
        platform,
        tasks: written_names(top, "task"),
        servers: written_names(top, "server"),
        pibs: pibs(top),
    };
    let mut names: Vec<(String, Span)> = Vec::new();
    let mut owners: BTreeMap<usize, String> = BTreeMap::new();
    let mut specs = Vec::new();
    for (path, node) in tables(top, "server", reader) {
        let Some(fields) = Fields::open(node, path, keys::SERVER, reader) else {
            continue;
        };
        let name = fields
            .require("name", "name = \"app\"", reader)
            .and_then(|node| Some((reader.name(node, &fields.field("name"))?, node.span)));
        names.extend(name.clone());
        let owner = name
            .as_ref()
            .map_or_else(String::new, |(name, _)| name.clone());
        let tasks = tasks_of(&fields, &context, &owner, &mut owners, reader);
        specs.extend(server(&fields, name, tasks, &context, reader));
    }
    reader.unique("server", &names);
    specs
}

struct Context<'p> {
    platform: &'p Platform,
    tasks: Names,
    servers: Names,
    /// Which servers say that they are PIBS.
    pibs: Vec<bool>,
}

fn pibs(top: &Fields<'_>) -> Vec<bool> {
    use crate::tree::{Node, Value};
    let Some(Node {
        value: Value::List(items),
        ..
    }) = top.get("server")
    else {
        return Vec::new();
    };
    let is_pibs = |item: &Node| {
        let Value::Table(entries) = &item.value else {
            return false;
        };
        let kind = entries.iter().find(|entry| entry.key == "kind");
        kind.is_some_and(|entry| matches!(&entry.node.value, Value::Text(text) if text == "pibs"))
    };
    items.iter().map(is_pibs).collect()
}

fn server(
    fields: &Fields<'_>,
    name: Option<(String, Span)>,
    tasks: Vec<usize>,
    context: &Context<'_>,
    reader: &mut Reader<'_>,
) -> Option<ServerSpec> {
    let kind = fields
        .require("kind", "kind = \"deferrable\"", reader)
        .and_then(|node| reader.word(node, &fields.field("kind"), &KINDS));
    let criticality = match fields.get("criticality") {
        Some(node) => reader.level(node, &fields.field("criticality")),
        None => Some(Level::LOWEST),
    };
    let priority = priority(fields, reader);
    let cpu = fields
        .get("cpu")
        .and_then(|n| cpu(n, &fields.field("cpu"), context.platform.cpus, reader));
    let degraded = degraded(fields, criticality, reader);
    let orders = [
        ("fixed-priority", LocalScheduler::FixedPriority),
        ("edf", LocalScheduler::Edf),
    ];
    let scheduler = fields
        .get("scheduler")
        .and_then(|n| reader.word(n, &fields.field("scheduler"), &orders));
    let kind = kind.and_then(|kind| {
        only_its_own_keys(fields, kind, reader);
        if kind == Kind::Pibs {
            pibs_kind(fields, context, reader)
        } else {
            periodic_kind(fields, kind, criticality, reader)
        }
    });
    let (name, span) = name?;
    Some(ServerSpec {
        name,
        kind: kind?,
        criticality: criticality?,
        priority,
        cpu,
        degraded: services(degraded),
        scheduler: scheduler.unwrap_or(LocalScheduler::FixedPriority),
        tasks,
        place: Place(span),
    })
}

/// Keys that only some kinds have are errors on the others: they would silently mean nothing.
fn only_its_own_keys(fields: &Fields<'_>, kind: Kind, reader: &mut Reader<'_>) {
    let rules: [(&str, bool, &str); 6] = [
        (
            "period",
            kind != Kind::Pibs,
            "a server that inherits its period has none of its own",
        ),
        (
            "capacity",
            kind != Kind::Pibs,
            "the capacity follows from `utilization` and the inherited period",
        ),
        (
            "utilization",
            kind == Kind::Pibs,
            "servers with a period have a `capacity` instead",
        ),
        (
            "serves",
            kind == Kind::Pibs,
            "only a `pibs` runs on behalf of other servers",
        ),
        (
            "replenishments",
            kind == Kind::Sporadic,
            "only a `sporadic` server has a replenishment list",
        ),
        (
            "full",
            kind == Kind::Sporadic,
            "only a `sporadic` server has a replenishment list",
        ),
    ];
    let kind_name = KINDS
        .iter()
        .find(|(_, k)| *k == kind)
        .map_or("", |(name, _)| name);
    for (key, allowed, why) in rules {
        if let (Some(entry), false) = (fields.entry(key), allowed) {
            reader.sink.error(
                codes::CONFLICT,
                entry.key_span,
                &fields.field(key),
                format!("{} on a {} server", quote(key), quote(kind_name)),
                "only keys that this kind of server has",
                format!("remove it: {why}"),
            );
        }
    }
}

fn periodic_kind(
    fields: &Fields<'_>,
    kind: Kind,
    criticality: Option<Level>,
    reader: &mut Reader<'_>,
) -> Option<ServerKind> {
    let period = fields
        .require("period", "period = \"25ms\"", reader)
        .and_then(|node| reader.positive_time(node, &fields.field("period")));
    let field = fields.field("capacity");
    let node = fields.require("capacity", "capacity = \"10ms\"", reader);
    let capacity = node.map(|node| reader.one_or_per_level(node, &field, Reader::positive_time));
    if let (Some(node), Some(values)) = (node, &capacity) {
        reader.not_falling(values, node, &field, true);
        capacity_at_own_level(node, &field, values, criticality, reader);
        if let (Some(period), Some(largest)) = (period, values.iter().flatten().max())
            && *largest > period
        {
            reader.sink.error(
                codes::CAPACITY_ABOVE_PERIOD,
                node.span,
                &field,
                time_text(*largest),
                format!("at most the period, {}", time_text(period)),
                "lower the capacity or raise the period",
            );
        }
    }
    let replenishments = fields
        .get("replenishments")
        .and_then(|n| reader.whole(n, &fields.field("replenishments"), 2, REPLENISHMENTS_MAX))
        .and_then(|count| u32::try_from(count).ok());
    let ends = [("head", MergeAt::Head), ("tail", MergeAt::Tail)];
    let full = fields
        .get("full")
        .and_then(|node| reader.word(node, &fields.field("full"), &ends));
    let rule = match kind {
        Kind::Polling => ServerRule::Polling,
        Kind::IdlingPeriodic => ServerRule::IdlingPeriodic,
        Kind::Deferrable => ServerRule::Deferrable,
        Kind::Sporadic | Kind::Pibs => ServerRule::Sporadic {
            replenishments,
            full,
        },
    };
    Some(ServerKind::Periodic {
        rule,
        period: Duration::from_nanos(period?),
        capacity: services(capacity?),
    })
}

fn capacity_at_own_level<T>(
    node: &crate::tree::Node,
    field: &str,
    values: &[Option<T>],
    criticality: Option<Level>,
    reader: &mut Reader<'_>,
) {
    let Some(own) = criticality else { return };
    if values.get(own.index()).is_none_or(Option::is_none) && !values.is_empty() {
        let name = reader.levels.get(own.index()).cloned().unwrap_or_default();
        reader.sink.error(
            codes::MISSING_KEY,
            node.span,
            &super::fields::join(field, &name),
            "no such key",
            format!("a value for {}, the server's own level", quote(&name)),
            format!("add `{name} = ...`"),
        );
    }
}

fn pibs_kind(
    fields: &Fields<'_>,
    context: &Context<'_>,
    reader: &mut Reader<'_>,
) -> Option<ServerKind> {
    let node = fields.require(
        "utilization",
        "utilization = { LO = 0.01, HI = 0.02 }",
        reader,
    );
    let utilization: Option<PerLevel<Ratio>> = node
        .map(|node| reader.one_or_per_level(node, &fields.field("utilization"), Reader::fraction));
    let mut serves = Vec::new();
    if let Some(node) = fields.get("serves") {
        let field = fields.field("serves");
        for (index, item) in reader
            .list(node, &field)
            .unwrap_or_default()
            .iter()
            .enumerate()
        {
            let path = format!("{field}[{index}]");
            let found = reference(
                codes::UNKNOWN_SERVER,
                "server",
                item,
                &path,
                &context.servers,
                reader,
            );
            let Some(at) = found else { continue };
            if context.pibs.get(at) == Some(&true) {
                reader.sink.error(
                    codes::SERVES_PIBS,
                    item.span,
                    &path,
                    context.servers.get(at).map(|name| quote(name)).unwrap_or_default(),
                    "a server with a period of its own",
                    "name the server whose tasks wait for the device; serving one another in a circle would leave no period to inherit",
                );
            } else if !serves.contains(&at) {
                serves.push(at);
            }
        }
    }
    Some(ServerKind::Pibs {
        utilization: utilization?,
        serves,
    })
}

fn tasks_of(
    fields: &Fields<'_>,
    context: &Context<'_>,
    owner: &str,
    owners: &mut BTreeMap<usize, String>,
    reader: &mut Reader<'_>,
) -> Vec<usize> {
    let Some(node) = fields.get("tasks") else {
        return Vec::new();
    };
    let field = fields.field("tasks");
    let mut tasks = Vec::new();
    for (index, item) in reader
        .list(node, &field)
        .unwrap_or_default()
        .iter()
        .enumerate()
    {
        let path = format!("{field}[{index}]");
        let found = reference(
            codes::UNKNOWN_TASK,
            "task",
            item,
            &path,
            &context.tasks,
            reader,
        );
        let Some(at) = found else { continue };
        if let Some(first) = owners.get(&at) {
            reader.sink.error(
                codes::TASK_IN_TWO_SERVERS,
                item.span,
                &path,
                format!(
                    "{}, which is in server {}",
                    context.tasks.get(at).map(|n| quote(n)).unwrap_or_default(),
                    quote(first)
                ),
                "a task that no server has yet",
                "remove it from one of the two",
            );
            continue;
        }
        owners.insert(at, owner.to_owned());
        tasks.push(at);
    }
    tasks
}
