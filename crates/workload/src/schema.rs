//! The shape of a task-set file as Rust types, from which the JSON Schema is generated.
//!
//! The reader works on a tree with places and does not use these types; tests compare their keys
//! with the reader's and check the examples against the schema.
#![expect(
    dead_code,
    reason = "only the shape of these types is used, by the schema generator"
)]

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A Vestal task set: mixed-criticality tasks, servers and devices, or a finite job set.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
struct TaskSetFile {
    /// The version of the format.
    format: Format,
    /// The name of the set.
    name: Option<Name>,
    /// The names of the criticality levels, lowest first.
    #[schemars(length(min = 1, max = 8))]
    levels: Vec<Name>,
    /// The unit of bare numbers.
    unit: Option<TimeUnit>,
    /// The machine the set is meant for.
    platform: Option<PlatformTable>,
    /// The recurrent tasks.
    #[schemars(length(min = 1, max = 65535))]
    task: Option<Vec<TaskTable>>,
    /// Servers: hierarchical scheduling and I/O.
    server: Option<Vec<ServerTable>>,
    /// Devices whose bottom halves run in servers.
    device: Option<Vec<DeviceTable>>,
    /// A finite job set, instead of tasks.
    #[schemars(length(min = 1, max = 65535))]
    job: Option<Vec<JobTable>>,
}

#[derive(JsonSchema)]
enum Format {
    #[serde(rename = "vestal/1")]
    Vestal1,
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
enum TimeUnit {
    Ns,
    Us,
    Ms,
    S,
}

#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
struct PlatformTable {
    /// How many CPUs.
    #[schemars(range(min = 1, max = 1024))]
    cpus: Option<u16>,
    /// The tick of a tick-driven world; default: exact time.
    tick: Option<Time>,
    /// The CPU that takes all interrupts (mc2).
    interrupt_master: Option<u16>,
    /// The shared memory bus (ftts).
    bus: Option<BusTable>,
}

#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
struct BusTable {
    /// Who goes next.
    arbitration: ArbitrationWord,
    /// How long one access takes.
    access: Time,
}

#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum ArbitrationWord {
    RoundRobin,
    Fcfs,
}

#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
struct TaskTable {
    /// The name, unique among the tasks.
    name: Name,
    /// One of the levels.
    criticality: Name,
    /// Period, or the minimum inter-arrival time of a sporadic task.
    period: Time,
    /// Relative deadline, at most the period; default: the period.
    deadline: Option<Time>,
    /// The release of the first job; default: 0.
    offset: Option<Time>,
    /// How jobs arrive; default: periodic.
    arrival: Option<ArrivalWord>,
    /// Worst-case execution times per level, never decreasing with the level.
    wcet: PerLevel<Time>,
    /// The budget of a job while the mode is above the task's own level; default: not admitted.
    degraded: Option<PerLevel<Time>>,
    /// Larger is more urgent; default: the policy assigns it.
    priority: Option<u32>,
    /// The CPU; default: the policy partitions.
    cpu: Option<u16>,
    /// Memory accesses per job.
    accesses: Option<OneOrPerLevel<u32>>,
    /// What happens to a job past its deadline; default: continue.
    on_miss: Option<OnMissWord>,
    /// Where a job blocks on a device.
    io: Option<Vec<IoTable>>,
    /// What a job does in `run`: spin, array:SIZE or alloc:COUNTxSIZE@PROBABILITY.
    work: Option<WorkText>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ArrivalWord {
    Periodic,
    Sporadic,
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
enum OnMissWord {
    Continue,
    Abort,
}

#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
struct IoTable {
    /// How much of the job's execution comes before.
    after: Time,
    /// The name of a device.
    device: Name,
    /// How many events must be served before the job goes on.
    #[schemars(range(min = 1))]
    events: u32,
}

#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
struct ServerTable {
    /// The name, unique among the servers.
    name: Name,
    /// The replenishment and idle rules.
    kind: KindWord,
    /// The period; not for pibs.
    period: Option<Time>,
    /// The capacity, at most the period; not for pibs.
    capacity: Option<OneOrPerLevel<Time>>,
    /// The utilisation; only for pibs.
    utilization: Option<OneOrPerLevel<Fraction>>,
    /// One of the levels; default: the lowest.
    criticality: Option<Name>,
    /// Larger is more urgent; default: the policy assigns it.
    priority: Option<u32>,
    /// The CPU; default: the policy partitions.
    cpu: Option<u16>,
    /// The capacity while the mode is above the server's own level.
    degraded: Option<PerLevel<Time>>,
    /// The order inside the server; default: fixed-priority.
    scheduler: Option<SchedulerWord>,
    /// The names of the tasks it serves; each task in one server at most.
    tasks: Option<Vec<Name>>,
    /// The longest replenishment list; only for sporadic.
    #[schemars(range(min = 2, max = 4096))]
    replenishments: Option<u32>,
    /// Which entries merge when the list is full; only for sporadic.
    full: Option<FullWord>,
    /// The servers on whose behalf it runs; only for pibs; default: any.
    serves: Option<Vec<Name>>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum KindWord {
    Polling,
    IdlingPeriodic,
    Deferrable,
    Sporadic,
    Pibs,
}

#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum SchedulerWord {
    FixedPriority,
    Edf,
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
enum FullWord {
    Head,
    Tail,
}

#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
struct DeviceTable {
    /// The name, unique among the devices.
    name: Name,
    /// The server in which its bottom half runs.
    server: Name,
    /// The execution time of one bottom half.
    cost: Time,
    /// When its events arrive; default: requested.
    arrival: Option<DeviceArrivalWord>,
    /// The period of the events; not with requested.
    period: Option<Time>,
    /// How many events at once; only with burst.
    #[schemars(range(min = 1))]
    burst: Option<u32>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
enum DeviceArrivalWord {
    Requested,
    Periodic,
    Sporadic,
    Burst,
}

#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
struct JobTable {
    /// The name, unique among the jobs.
    name: Name,
    /// When it is released.
    release: Time,
    /// The instant by which it must be done, after its release.
    deadline: Time,
    /// One of the levels.
    criticality: Name,
    /// Execution times per level, never decreasing with the level.
    wcet: PerLevel<Time>,
}

type PerLevel<T> = BTreeMap<String, T>;

#[derive(JsonSchema)]
#[serde(untagged)]
enum OneOrPerLevel<T> {
    One(T),
    PerLevel(PerLevel<T>),
}

/// A scalar with a schema of its own.
macro_rules! scalar {
    ($name:ident, $schema:tt) => {
        struct $name;
        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    };
}

scalar!(Time, {
    "description": "A number in `unit`s, or a string with its own unit such as \"1.45ms\". Exact: a whole number of nanoseconds, at most 2^62.",
    "anyOf": [
        { "type": "number", "minimum": 0 },
        { "type": "string", "pattern": "^\\s*\\+?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][-+]?[0-9]+)?\\s*(ns|us|µs|μs|ms|s)\\s*$" }
    ]
});
scalar!(Name, {
    "description": "1 to 128 visible characters without leading or trailing blanks.",
    "type": "string", "minLength": 1, "maxLength": 128
});
scalar!(Fraction, {
    "description": "A decimal above 0 and at most 1.",
    "type": "number", "exclusiveMinimum": 0, "maximum": 1
});
scalar!(WorkText, {
    "type": "string",
    "pattern": "^(spin|array:[0-9]+([KMG]i)?B|alloc:[0-9]+x[0-9]+([KMG]i)?B@[0-9.eE+-]+)$"
});

/// The JSON Schema (draft 2020-12) of task-set files.
#[must_use]
pub fn schema() -> serde_json::Value {
    let generator = schemars::generate::SchemaSettings::draft2020_12().into_generator();
    let mut value = generator.into_root_schema_for::<TaskSetFile>().to_value();
    if let serde_json::Value::Object(object) = &mut value {
        object.insert(
            "title".to_owned(),
            "Vestal task set, format vestal/1".into(),
        );
    }
    value
}

/// The schema as the text of `docs/schema/vestal-1.schema.json`.
#[must_use]
pub fn schema_text() -> String {
    format!("{:#}\n", schema())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::keys;

    fn properties(of: &str) -> Vec<String> {
        let schema = schema();
        let table = if of.is_empty() {
            &schema
        } else {
            &schema["$defs"][of]
        };
        let mut names: Vec<String> = table["properties"]
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect();
        assert_eq!(
            table["additionalProperties"], false,
            "{of} accepts unknown keys"
        );
        names.sort();
        names
    }

    #[test]
    fn the_schema_has_exactly_the_keys_that_the_reader_knows() {
        for (of, known) in [
            ("", keys::FILE),
            ("PlatformTable", keys::PLATFORM),
            ("BusTable", keys::BUS),
            ("TaskTable", keys::TASK),
            ("IoTable", keys::IO),
            ("ServerTable", keys::SERVER),
            ("DeviceTable", keys::DEVICE),
            ("JobTable", keys::JOB),
        ] {
            let mut known: Vec<String> = known.iter().map(ToString::to_string).collect();
            known.sort();
            assert_eq!(properties(of), known, "{of}");
        }
    }
}
