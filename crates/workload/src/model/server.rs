//! `[[server]]`.

use super::rules::{degraded, service_text};
use super::{LocalScheduler, MergeAt, PerLevel, ServerKind, ServerPlaces, ServerRule, ServerSpec};
use crate::codes;
use crate::diagnostic::quote;
use crate::number::Ratio;
use crate::quantity::time_text;
use crate::table::fields::{Fields, Reader, join, value_span};
use crate::table::kinds::{
    Count, Cpu, LevelName, List, Name, OneOrPerLevel, PerLevelOf, PositiveTime, Reference, Share,
    Whole, Word, Words, words,
};
use crate::table::names::{AServer, ATask};
use crate::table::{Table, table};
use crate::tree::{Node, items};
use std::collections::BTreeMap;
use vestal_core::{Duration, Level, Service};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Polling,
    IdlingPeriodic,
    Deferrable,
    Sporadic,
    Pibs,
}

words! {
    Kind "KindWord" {
        Polling "polling", IdlingPeriodic "idling-periodic", Deferrable "deferrable", Sporadic "sporadic", Pibs "pibs"
    }
}

table! {
    pub(crate) struct ServerTable {
        /// The name, unique among the servers.
        name: String = Name, required "name = \"app\"";
        /// The replenishment and idle rules.
        kind: Kind = Words<Kind>, required "kind = \"deferrable\"";
        /// The replenishment period; not for pibs; default: required but for pibs.
        period: Option<Duration> = PositiveTime, optional;
        /// The capacity, at most the period; not for pibs; default: required but for pibs.
        capacity: Option<PerLevel<Service>> = OneOrPerLevel<PositiveTime>, optional;
        /// The longest replenishment list; only for sporadic; default: the policy's choice.
        replenishments: Option<u32> = Whole<u32, 2, 4096>, optional;
        /// Which entries merge when the list is full; only for sporadic; default: head.
        full: Option<MergeAt> = Words<MergeAt>, optional;
        /// The utilisation, read exactly, none where it is 0 or left out; only for pibs; default: required for pibs.
        utilization: Option<PerLevel<Ratio>> = OneOrPerLevel<Share>, optional;
        /// The servers with periods of their own on whose behalf it runs; only for pibs; default: any of them.
        serves: Vec<usize> = List<Reference<AServer>>, empty;
        /// One of the levels; default: the lowest.
        criticality: Option<Level> = LevelName, optional;
        /// Larger is more urgent; default: the policy assigns it.
        priority: Option<u32> = Count<0>, optional;
        /// The CPU, counted from 0; default: the policy partitions.
        cpu: Option<u16> = Cpu, optional;
        /// The capacity while the mode is above the server's own level; default: none.
        degraded: PerLevel<Service> = PerLevelOf<PositiveTime>, empty;
        /// The order inside the server; default: fixed-priority.
        scheduler: Option<LocalScheduler> = Words<LocalScheduler>, optional;
        /// The names of the tasks it serves; each task in one server at most; default: none.
        tasks: Vec<usize> = List<Reference<ATask>>, empty;
    }
}

impl Table for ServerTable {
    type Spec = ServerSpec;

    fn resolve(mut self, fields: &Fields<'_>, reader: &mut Reader<'_>) -> Option<ServerSpec> {
        let own = if fields.has("criticality") {
            self.criticality
        } else {
            Some(Level::LOWEST)
        };
        degraded(self.degraded.as_ref(), own, fields, reader);
        if let Some(kind) = self.kind {
            only_its_own_keys(kind, fields, reader);
            match kind {
                Kind::Pibs => {
                    let example = "utilization = { LO = 0.01, HI = 0.02 }";
                    fields.require("utilization", example, reader);
                }
                Kind::Polling | Kind::IdlingPeriodic | Kind::Deferrable | Kind::Sporadic => {
                    fields.require("period", "period = \"25ms\"", reader);
                    fields.require("capacity", "capacity = \"10ms\"", reader);
                    self.capacity(own, fields, reader);
                }
            }
        }
        let (replenishments, full) = (self.replenishments, self.full);
        let periodic = |rule, table: &mut Self| {
            Some(ServerKind::Periodic {
                rule,
                period: table.period?,
                capacity: table.capacity.take()?,
            })
        };
        let sporadic = ServerRule::Sporadic {
            replenishments,
            full,
        };
        let kind = match self.kind? {
            Kind::Polling => periodic(ServerRule::Polling, &mut self)?,
            Kind::IdlingPeriodic => periodic(ServerRule::IdlingPeriodic, &mut self)?,
            Kind::Deferrable => periodic(ServerRule::Deferrable, &mut self)?,
            Kind::Sporadic => periodic(sporadic, &mut self)?,
            Kind::Pibs => ServerKind::Pibs {
                utilization: self.utilization?,
                serves: once(self.serves?),
            },
        };
        Some(ServerSpec {
            name: self.name?,
            kind,
            criticality: own?,
            priority: self.priority,
            cpu: self.cpu,
            degraded: self.degraded?,
            scheduler: self.scheduler.unwrap_or(LocalScheduler::FixedPriority),
            tasks: self.tasks?,
            place: fields.name_place(),
            places: ServerPlaces::of(fields),
        })
    }

    fn of(spec: &ServerSpec) -> Self {
        let mut table = Self {
            name: Some(spec.name.clone()),
            criticality: Some(spec.criticality),
            priority: spec.priority,
            cpu: spec.cpu,
            degraded: Some(spec.degraded.clone()),
            scheduler: Some(spec.scheduler),
            tasks: Some(spec.tasks.clone()),
            ..Self::default()
        };
        match &spec.kind {
            ServerKind::Periodic {
                rule,
                period,
                capacity,
            } => {
                table.kind = Some(match *rule {
                    ServerRule::Polling => Kind::Polling,
                    ServerRule::IdlingPeriodic => Kind::IdlingPeriodic,
                    ServerRule::Deferrable => Kind::Deferrable,
                    ServerRule::Sporadic {
                        replenishments,
                        full,
                    } => {
                        (table.replenishments, table.full) = (replenishments, full);
                        Kind::Sporadic
                    }
                });
                table.period = Some(*period);
                table.capacity = Some(capacity.clone());
            }
            ServerKind::Pibs {
                utilization,
                serves,
            } => {
                table.kind = Some(Kind::Pibs);
                table.utilization = Some(utilization.clone());
                table.serves = Some(serves.clone());
            }
        }
        table
    }
}

fn once(mut places: Vec<usize>) -> Vec<usize> {
    let mut known = std::collections::BTreeSet::new();
    places.retain(|place| known.insert(*place));
    places
}

/// Keys that only some kinds have are errors on the others: they would silently mean nothing.
fn only_its_own_keys(kind: Kind, fields: &Fields<'_>, reader: &mut Reader<'_>) {
    let (is_pibs, is_sporadic) = (kind == Kind::Pibs, kind == Kind::Sporadic);
    let list = "only a `sporadic` server has a replenishment list";
    for (key, allowed, why) in [
        (
            "period",
            !is_pibs,
            "a server that inherits its period has none of its own",
        ),
        (
            "capacity",
            !is_pibs,
            "the capacity follows from `utilization` and the inherited period",
        ),
        (
            "utilization",
            is_pibs,
            "servers with a period have a `capacity` instead",
        ),
        (
            "serves",
            is_pibs,
            "only a `pibs` runs on behalf of other servers",
        ),
        ("replenishments", is_sporadic, list),
        ("full", is_sporadic, list),
    ] {
        if let (Some(entry), false) = (fields.entry(key), allowed) {
            reader.error(
                codes::CONFLICT,
                (entry.key_span, fields.field(key)),
                format!("{} on a {} server", quote(key), quote(kind.word())),
                "only keys that this kind of server has",
                format!("remove it: {why}"),
            );
        }
    }
}

impl ServerTable {
    /// A capacity does not fall, has a value at the own level, and is no longer than the period.
    fn capacity(&self, own: Option<Level>, fields: &Fields<'_>, reader: &mut Reader<'_>) {
        let (Some(values), Some(node)) = (&self.capacity, fields.get("capacity")) else {
            return;
        };
        let field = fields.field("capacity");
        reader.not_falling(values, (node, &field), service_text);
        if let Some(own) = own
            && values.get(own.index()).is_none_or(Option::is_none)
            && !values.is_empty()
        {
            let name = reader.level_name(own.index());
            reader.error(
                codes::MISSING_KEY,
                (node.span, join(&field, &name)),
                "no such key",
                format!("a value for {}, the server's own level", quote(&name)),
                format!("add `{name} = ...`"),
            );
        }
        self.at_most_the_period(values, (node, field), reader);
        if let (Some(values), Some(node)) = (&self.degraded, fields.get("degraded")) {
            self.at_most_the_period(values, (node, fields.field("degraded")), reader);
            self.at_most_the_capacity(own, values, (node, fields.field("degraded")), reader);
        }
    }

    /// Above its own level a server gets less, or as much.
    fn at_most_the_capacity(
        &self,
        own: Option<Level>,
        degraded: &PerLevel<Service>,
        (node, field): (&Node<'_>, String),
        reader: &mut Reader<'_>,
    ) {
        let capacity = self.capacity.as_ref();
        let of_own = own.and_then(|own| *capacity?.get(own.index())?);
        let (Some(own), Some(capacity)) = (own, of_own) else {
            return;
        };
        let above = degraded.iter().enumerate().skip(own.index() + 1);
        for (at, value) in above.filter_map(|(at, value)| Some((at, (*value)?))) {
            if value <= capacity {
                continue;
            }
            let name = reader.level_name(at);
            reader.error(
                codes::DEGRADED_ABOVE_CAPACITY,
                (value_span(node, &name), join(&field, &name)),
                service_text(value),
                format!("at most the capacity at its own level, {}", service_text(capacity)),
                "lower it: while the mode is above its level, a server gets less than it has otherwise",
            );
        }
    }

    fn at_most_the_period(
        &self,
        values: &PerLevel<Service>,
        (node, field): (&Node<'_>, String),
        reader: &mut Reader<'_>,
    ) {
        if let (Some(period), Some(largest)) = (self.period, values.iter().flatten().max())
            && largest.as_nanos() > period.as_nanos()
        {
            reader.error(
                codes::CAPACITY_ABOVE_PERIOD,
                (node.span, field),
                service_text(*largest),
                format!("at most the period, {}", time_text(period.as_nanos())),
                "lower the capacity or raise the period",
            );
        }
    }
}

/// What several servers together must fulfil. Looks at the file itself, so that a server with another error
/// counts too.
pub(super) fn together(top: &Fields<'_>, reader: &mut Reader<'_>) {
    let servers = items(top.get("server"));
    let text =
        |node: &Node<'_>, key: &str| node.get(key).and_then(Node::as_text).map(str::to_owned);
    let is_pibs = |node: &Node<'_>| text(node, "kind").as_deref() == Some("pibs");
    let mut owners: BTreeMap<usize, String> = BTreeMap::new();
    for (at, server) in servers.iter().enumerate() {
        let own_name = text(server, "name").unwrap_or_default();
        for (index, item) in items(server.get("tasks")).iter().enumerate() {
            let known = |task: &str| reader.names.place::<ATask>(task);
            let Some((task, place)) = item.as_text().and_then(|t| Some((t, known(t)?))) else {
                continue;
            };
            if let Some(first) = owners.get(&place) {
                reader.error(
                    codes::TASK_IN_TWO_SERVERS,
                    (item.span, format!("server[{at}].tasks[{index}]")),
                    format!("{}, which is in server {}", quote(task), quote(first)),
                    "a task that no server has yet",
                    "remove it from one of the two",
                );
            } else {
                owners.insert(place, own_name.clone());
            }
        }
        if !is_pibs(server) {
            continue;
        }
        for (index, item) in items(server.get("serves")).iter().enumerate() {
            let known = |name: &str| servers.get(reader.names.place::<AServer>(name)?);
            let Some(name) = item
                .as_text()
                .filter(|name| known(name).is_some_and(is_pibs))
            else {
                continue;
            };
            reader.error(
                codes::SERVES_PIBS,
                (item.span, format!("server[{at}].serves[{index}]")),
                quote(name),
                "a server with a period of its own",
                "name the server whose tasks wait for the device; serving one another in a circle would leave no period to inherit",
            );
        }
    }
}
