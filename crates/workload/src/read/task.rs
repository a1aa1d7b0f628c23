//! `[[task]]`.

use super::fields::{Fields, Reader, join, value_span};
use super::platform::cpu;
use super::{Names, keys, reference, tables, written_names};
use crate::codes;
use crate::diagnostic::quote;
use crate::model::{Arrival, IoSpec, OnMiss, PerLevel, Platform, TaskPlaces, TaskSpec, Work};
use crate::number::Decimal;
use crate::quantity::{size_from_text, time_text, whole_from_text};
use crate::source::{Place, Span};
use crate::tree::Node;
use vestal_core::{Duration, Level, Service};

pub(super) fn tasks(
    top: &Fields<'_>,
    platform: &Platform,
    reader: &mut Reader<'_>,
) -> Vec<TaskSpec> {
    let devices = written_names(top, "device");
    let mut names: Vec<(String, Span)> = Vec::new();
    let mut specs = Vec::new();
    for (path, node) in tables(top, "task", reader) {
        let Some(fields) = Fields::open(node, path, keys::TASK, reader) else {
            continue;
        };
        let name = fields
            .require("name", "name = \"sensor\"", reader)
            .and_then(|node| Some((reader.name(node, &fields.field("name"))?, node.span)));
        names.extend(name.clone());
        specs.extend(task(&fields, name, platform, &devices, reader));
    }
    reader.unique("task", &names);
    specs
}

fn task(
    fields: &Fields<'_>,
    name: Option<(String, Span)>,
    platform: &Platform,
    devices: &Names,
    reader: &mut Reader<'_>,
) -> Option<TaskSpec> {
    let criticality = fields
        .require("criticality", "criticality = \"HI\"", reader)
        .and_then(|node| reader.level(node, &fields.field("criticality")));
    let period = fields
        .require("period", "period = \"10ms\"", reader)
        .and_then(|node| reader.positive_time(node, &fields.field("period")));
    let deadline = deadline(fields, period, reader);
    let offset = fields
        .get("offset")
        .map(|node| reader.time(node, &fields.field("offset")));
    let arrivals = [
        ("periodic", Arrival::Periodic),
        ("sporadic", Arrival::Sporadic),
    ];
    let arrival = fields
        .get("arrival")
        .and_then(|n| reader.word(n, &fields.field("arrival"), &arrivals));
    let wcet = fields
        .require("wcet", "wcet = { LO = 1 }", reader)
        .map(|node| wcet(fields, node, criticality, reader));
    let degraded = degraded(fields, criticality, reader);
    let priority = priority(fields, reader);
    let cpu = fields
        .get("cpu")
        .and_then(|node| cpu(node, &fields.field("cpu"), platform.cpus, reader));
    let accesses = accesses(fields, reader);
    let misses = [("continue", OnMiss::Continue), ("abort", OnMiss::Abort)];
    let on_miss = fields
        .get("on_miss")
        .and_then(|n| reader.word(n, &fields.field("on_miss"), &misses));
    let io = io(fields, devices, wcet.as_deref(), reader);
    let work = fields
        .get("work")
        .and_then(|node| work(node, &fields.field("work"), reader));
    let places = places(fields, name.as_ref().map_or(fields.span, |(_, span)| *span));
    let period = Duration::from_nanos(period?);
    Some(TaskSpec {
        name: name?.0,
        criticality: criticality?,
        period,
        deadline: deadline.map_or(period, Duration::from_nanos),
        offset: Duration::from_nanos(offset.flatten().unwrap_or(0)),
        arrival: arrival.unwrap_or(Arrival::Periodic),
        wcet: services(wcet?),
        degraded: services(degraded),
        priority,
        cpu,
        accesses,
        on_miss,
        io,
        work,
        places,
    })
}

fn places(fields: &Fields<'_>, name: Span) -> TaskPlaces {
    let value = |key: &str| Place(fields.get(key).map_or(name, |node| node.span));
    TaskPlaces {
        name: Place(name),
        wcet: value("wcet"),
        degraded: value("degraded"),
        keys: fields
            .keys()
            .map(|(key, span)| (key.to_owned(), Place(span)))
            .collect(),
    }
}

pub(super) fn services(values: Vec<Option<u64>>) -> PerLevel<Service> {
    values
        .into_iter()
        .map(|value| value.map(Service::from_nanos))
        .collect()
}

pub(super) fn priority(fields: &Fields<'_>, reader: &mut Reader<'_>) -> Option<u32> {
    let node = fields.get("priority")?;
    let value = reader.whole(node, &fields.field("priority"), 0, u64::from(u32::MAX))?;
    u32::try_from(value).ok()
}

fn deadline(fields: &Fields<'_>, period: Option<u64>, reader: &mut Reader<'_>) -> Option<u64> {
    let node = fields.get("deadline")?;
    let field = fields.field("deadline");
    let deadline = reader.positive_time(node, &field)?;
    if let Some(period) = period
        && deadline > period
    {
        reader.sink.error(
            codes::DEADLINE_AFTER_PERIOD,
            node.span,
            &field,
            time_text(deadline),
            format!("at most the period, {}", time_text(period)),
            "lower the deadline or raise the period; a job must be due before the next one may come",
        );
    }
    Some(deadline)
}

/// C(l), with a positive value at the own level if it has one there.
pub(super) fn wcet(
    fields: &Fields<'_>,
    node: &Node,
    criticality: Option<Level>,
    reader: &mut Reader<'_>,
) -> Vec<Option<u64>> {
    let field = fields.field("wcet");
    let values = reader.per_level(node, &field, Reader::time);
    reader.not_falling(&values, node, &field, true);
    let own = criticality.and_then(|level| values.get(level.index()).copied().flatten());
    if let (Some(level), Some(0)) = (criticality, own) {
        let name = reader
            .levels
            .get(level.index())
            .cloned()
            .unwrap_or_default();
        reader.sink.error(
            codes::NOT_POSITIVE,
            value_span(node, &name),
            &join(&field, &name),
            "zero",
            "a time above zero at the own level",
            "give the worst-case execution time, or remove the task",
        );
    }
    values
}

/// The budget in modes above the own level; a value that can never take effect is only a warning.
pub(super) fn degraded(
    fields: &Fields<'_>,
    criticality: Option<Level>,
    reader: &mut Reader<'_>,
) -> Vec<Option<u64>> {
    let Some(node) = fields.get("degraded") else {
        return reader.levels.iter().map(|_| None).collect();
    };
    let field = fields.field("degraded");
    let values = reader.per_level(node, &field, Reader::positive_time);
    let Some(own) = criticality else {
        return values;
    };
    let without_effect = values
        .iter()
        .enumerate()
        .filter(|(at, value)| *at <= own.index() && value.is_some());
    for (at, _) in without_effect {
        let name = reader.levels.get(at).cloned().unwrap_or_default();
        let own_name = reader.levels.get(own.index()).cloned().unwrap_or_default();
        reader.sink.warning(
            codes::DEGRADED_WITHOUT_EFFECT,
            value_span(node, &name),
            &join(&field, &name),
            format!("a budget for mode {}", quote(&name)),
            format!(
                "budgets for modes above {}, the own level",
                quote(&own_name)
            ),
            "remove it: up to its own level a task always has its `wcet`",
        );
    }
    values
}

fn accesses(fields: &Fields<'_>, reader: &mut Reader<'_>) -> PerLevel<u64> {
    let Some(node) = fields.get("accesses") else {
        return reader.levels.iter().map(|_| None).collect();
    };
    let field = fields.field("accesses");
    let values = reader.one_or_per_level(node, &field, |reader, node, field| {
        reader.whole(node, field, 0, u64::from(u32::MAX))
    });
    reader.not_falling(&values, node, &field, false);
    values
}

fn io(
    fields: &Fields<'_>,
    devices: &Names,
    wcet: Option<&[Option<u64>]>,
    reader: &mut Reader<'_>,
) -> Vec<IoSpec> {
    let Some(node) = fields.get("io") else {
        return Vec::new();
    };
    let field = fields.field("io");
    let Some(items) = reader.list(node, &field) else {
        return Vec::new();
    };
    let longest = wcet.and_then(|values| values.iter().flatten().copied().max());
    let mut before = 0;
    let mut specs = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let path = format!("{field}[{index}]");
        let Some(fields) = Fields::open(item, path, keys::IO, reader) else {
            continue;
        };
        let after_node = fields.require("after", "after = \"1ms\"", reader);
        let after = after_node.and_then(|node| reader.time(node, &fields.field("after")));
        let device = fields
            .require("device", "device = \"camera\"", reader)
            .and_then(|node| {
                reference(
                    codes::UNKNOWN_DEVICE,
                    "device",
                    node,
                    &fields.field("device"),
                    devices,
                    reader,
                )
            });
        let events = fields
            .require("events", "events = 1", reader)
            .and_then(|node| reader.whole(node, &fields.field("events"), 1, u64::from(u32::MAX)));
        if let (Some(node), Some(after)) = (after_node, after) {
            if after < before || longest.is_some_and(|longest| after > longest) {
                reader.sink.error(
                    codes::IO_ORDER,
                    node.span,
                    &fields.field("after"),
                    time_text(after),
                    longest.map_or_else(
                        || format!("at least {}", time_text(before)),
                        |longest| format!("from {} to {}", time_text(before), time_text(longest)),
                    ),
                    "list the operations in the order of execution, none after the job's end (its largest `wcet`)",
                );
            }
            before = after;
        }
        let device = device.and_then(|at| devices.get(at).cloned());
        if let (Some(after), Some(device), Some(events)) = (after, device, events) {
            specs.push(IoSpec {
                after: Service::from_nanos(after),
                device,
                events,
            });
        }
    }
    specs
}

fn work(node: &Node, field: &str, reader: &mut Reader<'_>) -> Option<Work> {
    let text = reader.text(node, field)?;
    let work = parse_work(text);
    if work.is_none() {
        reader.sink.error(
            codes::BAD_WORK,
            node.span,
            field,
            quote(text),
            "`spin`, `array:SIZE` or `alloc:COUNTxSIZE@PROBABILITY`",
            "for instance \"array:32KiB\" or \"alloc:10x1MiB@0.5\"; sizes end in B, KiB, MiB or GiB",
        );
    }
    work
}

fn parse_work(text: &str) -> Option<Work> {
    if text == "spin" {
        return Some(Work::Spin);
    }
    if let Some(size) = text.strip_prefix("array:") {
        return Some(Work::Array {
            bytes: size_from_text(size)?,
        });
    }
    let (blocks, rest) = text.strip_prefix("alloc:")?.split_once('x')?;
    let (size, probability) = rest.split_once('@')?;
    let blocks = whole_from_text(blocks).filter(|&blocks| (1..=1_000_000).contains(&blocks))?;
    let probability = Decimal::parse(probability)
        .ok()
        .filter(|p| !p.negative)?
        .ratio()?;
    probability.is_at_most_one().then_some(())?;
    Some(Work::Alloc {
        blocks,
        bytes: size_from_text(size)?,
        probability,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Ratio;

    #[test]
    fn work_is_spin_an_array_or_allocations() {
        assert_eq!(parse_work("spin"), Some(Work::Spin));
        assert_eq!(
            parse_work("array:32KiB"),
            Some(Work::Array { bytes: 32 << 10 })
        );
        let half = Ratio::new(1, 2).unwrap();
        let work = Work::Alloc {
            blocks: 10,
            bytes: 1 << 20,
            probability: half,
        };
        assert_eq!(parse_work("alloc:10x1MiB@0.5"), Some(work));
        for text in [
            "",
            "array",
            "array:32",
            "alloc:0x1MiB@0.5",
            "alloc:1x1MiB@1.5",
            "alloc:1x1MiB@-1",
        ] {
            assert_eq!(parse_work(text), None, "{text}");
        }
    }
}
