//! A value for some of the tasks: `partition` and `tardiness`.

use crate::parameters::names;
use crate::parameters::read::File;
use serde_json::{Map, Value as Json};
use vestal_analysis::parameters::Row;
use vestal_core::{CpuId, Duration};
use vestal_workload::TaskSet;
use vestal_workload::codes;
use vestal_workload::document::Node;
use vestal_workload::quantity::time_text;

pub(super) fn read_cpus(
    file: &mut File<'_>,
    row: &Row,
    node: &Node<'_>,
) -> Option<Vec<Option<CpuId>>> {
    read(file, row, node, |file, node, field| {
        let number = file.reader.whole(node, field, 0, u64::from(u16::MAX))?;
        let number = u16::try_from(number).ok()?;
        let cpus = file.set.platform.cpus;
        if number < cpus {
            return Some(CpuId(number));
        }
        let found = format!("CPU {number}");
        let expected = format!("a CPU from 0 to {}", cpus.saturating_sub(1));
        let help = "CPUs count from 0; use the parameters of this task set";
        let sink = &mut file.reader.sink;
        sink.error(codes::NO_SUCH_CPU, node.span, field, found, expected, help);
        None
    })
}

pub(super) fn read_times(
    file: &mut File<'_>,
    row: &Row,
    node: &Node<'_>,
) -> Option<Vec<Option<Duration>>> {
    read(file, row, node, |file, node, field| {
        file.reader.time(node, field).map(Duration::from_nanos)
    })
}

/// The values in the order of the tasks (or jobs).
fn read<T: Copy>(
    file: &mut File<'_>,
    row: &Row,
    node: &Node<'_>,
    mut value: impl FnMut(&mut File<'_>, &Node<'_>, &str) -> Option<T>,
) -> Option<Vec<Option<T>>> {
    let entries = file.table(row, node, "task name")?;
    file.check_known(row, entries);
    let mut given: Vec<(&str, Option<T>)> = Vec::with_capacity(entries.len());
    for entry in entries {
        let field = format!("{}.{}", row.name, entry.key);
        given.push((&entry.key, value(file, &entry.node, &field)));
    }
    let of = |name: &str| given.iter().find(|(key, _)| *key == name);
    let values = names(file.set).map(|name| of(name).and_then(|(_, value)| *value));
    Some(values.collect())
}

pub(super) fn write_cpus(cpus: &[Option<CpuId>], set: &TaskSet) -> Json {
    write(cpus, set, |cpu| cpu.0.into())
}

pub(super) fn write_times(times: &[Option<Duration>], set: &TaskSet) -> Json {
    write(times, set, |time| time_text(time.as_nanos()).into())
}

fn write<T: Copy>(values: &[Option<T>], set: &TaskSet, show: impl Fn(T) -> Json) -> Json {
    let named = names(set).zip(values);
    let given = named.filter_map(|(name, value)| Some((name.to_owned(), show((*value)?))));
    Json::Object(given.collect::<Map<String, Json>>())
}
