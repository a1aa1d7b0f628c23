//! `[[device]]` and `[[job]]`.

use super::fields::{Fields, Reader};
use super::task::{services, wcet};
use super::{Names, keys, reference, tables, written_names};
use crate::codes;
use crate::diagnostic::quote;
use crate::model::{DeviceArrival, DeviceSpec, JobSpec};
use crate::quantity::time_text;
use crate::source::{Place, Span};
use vestal_core::{Duration, Instant, Service};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Arrives {
    Requested,
    Periodic,
    Sporadic,
    Burst,
}

const ARRIVALS: [(&str, Arrives); 4] = [
    ("requested", Arrives::Requested),
    ("periodic", Arrives::Periodic),
    ("sporadic", Arrives::Sporadic),
    ("burst", Arrives::Burst),
];

pub(super) fn devices(top: &Fields<'_>, reader: &mut Reader<'_>) -> Vec<DeviceSpec> {
    let servers = written_names(top, "server");
    let mut names: Vec<(String, Span)> = Vec::new();
    let mut specs = Vec::new();
    for (path, node) in tables(top, "device", reader) {
        let Some(fields) = Fields::open(node, path, keys::DEVICE, reader) else {
            continue;
        };
        let name = fields
            .require("name", "name = \"camera\"", reader)
            .and_then(|node| Some((reader.name(node, &fields.field("name"))?, node.span)));
        names.extend(name.clone());
        specs.extend(device(&fields, name, &servers, reader));
    }
    reader.unique("device", &names);
    specs
}

fn device(
    fields: &Fields<'_>,
    name: Option<(String, Span)>,
    servers: &Names,
    reader: &mut Reader<'_>,
) -> Option<DeviceSpec> {
    let server = fields
        .require("server", "server = \"camera-bh\"", reader)
        .and_then(|node| {
            reference(
                codes::UNKNOWN_SERVER,
                "server",
                node,
                &fields.field("server"),
                servers,
                reader,
            )
        });
    let cost = fields
        .require("cost", "cost = \"1ms\"", reader)
        .and_then(|node| reader.positive_time(node, &fields.field("cost")));
    let arrival = match fields.get("arrival") {
        Some(node) => reader.word(node, &fields.field("arrival"), &ARRIVALS),
        None => Some(Arrives::Requested),
    };
    let arrival = arrival.and_then(|arrival| device_arrival(fields, arrival, reader));
    let (name, span) = name?;
    Some(DeviceSpec {
        name,
        server: server?,
        cost: Service::from_nanos(cost?),
        arrival: arrival?,
        place: Place(span),
    })
}

fn device_arrival(
    fields: &Fields<'_>,
    arrival: Arrives,
    reader: &mut Reader<'_>,
) -> Option<DeviceArrival> {
    let word = ARRIVALS
        .iter()
        .find(|(_, a)| *a == arrival)
        .map_or("", |(word, _)| word);
    let allowed = [
        ("period", arrival != Arrives::Requested),
        ("burst", arrival == Arrives::Burst),
    ];
    for (key, allowed) in allowed {
        if let (Some(entry), false) = (fields.entry(key), allowed) {
            reader.sink.error(
                codes::CONFLICT,
                entry.key_span,
                &fields.field(key),
                format!("{} with arrival {}", quote(key), quote(word)),
                "only keys that this kind of arrival has",
                "remove it, or choose arrival `periodic`, `sporadic` (both with `period`) or `burst` (with `period` and `burst`)",
            );
        }
    }
    if arrival == Arrives::Requested {
        return Some(DeviceArrival::Requested);
    }
    let period = fields
        .require("period", "period = \"10ms\"", reader)
        .and_then(|node| reader.positive_time(node, &fields.field("period")));
    let burst = if arrival == Arrives::Burst {
        let node = fields.require("burst", "burst = 4", reader);
        node.and_then(|node| reader.whole(node, &fields.field("burst"), 1, u64::from(u32::MAX)))
    } else {
        Some(1)
    };
    let period = Duration::from_nanos(period?);
    Some(match arrival {
        Arrives::Requested => DeviceArrival::Requested,
        Arrives::Periodic => DeviceArrival::Periodic { period },
        Arrives::Sporadic => DeviceArrival::Sporadic { period },
        Arrives::Burst => DeviceArrival::Burst {
            period,
            burst: burst?,
        },
    })
}

pub(super) fn jobs(top: &Fields<'_>, reader: &mut Reader<'_>) -> Vec<JobSpec> {
    let mut names: Vec<(String, Span)> = Vec::new();
    let mut specs = Vec::new();
    for (path, node) in tables(top, "job", reader) {
        let Some(fields) = Fields::open(node, path, keys::JOB, reader) else {
            continue;
        };
        let name = fields
            .require("name", "name = \"first\"", reader)
            .and_then(|node| Some((reader.name(node, &fields.field("name"))?, node.span)));
        names.extend(name.clone());
        specs.extend(job(&fields, name, reader));
    }
    reader.unique("job", &names);
    specs
}

fn job(
    fields: &Fields<'_>,
    name: Option<(String, Span)>,
    reader: &mut Reader<'_>,
) -> Option<JobSpec> {
    let release = fields
        .require("release", "release = 0", reader)
        .and_then(|node| reader.time(node, &fields.field("release")));
    let deadline_node = fields.require("deadline", "deadline = \"10ms\"", reader);
    let deadline =
        deadline_node.and_then(|node| reader.positive_time(node, &fields.field("deadline")));
    let criticality = fields
        .require("criticality", "criticality = \"HI\"", reader)
        .and_then(|node| reader.level(node, &fields.field("criticality")));
    let wcet = fields
        .require("wcet", "wcet = { LO = 1 }", reader)
        .map(|node| wcet(fields, node, criticality, reader));
    if let (Some(node), Some(release), Some(deadline)) = (deadline_node, release, deadline)
        && deadline <= release
    {
        reader.sink.error(
            codes::DEADLINE_BEFORE_RELEASE,
            node.span,
            &fields.field("deadline"),
            time_text(deadline),
            format!("an instant after the release, {}", time_text(release)),
            "the deadline of a job is an instant on the same clock as its release, not a distance",
        );
    }
    let (name, span) = name?;
    Some(JobSpec {
        name,
        release: Instant::from_nanos(release?),
        deadline: Instant::from_nanos(deadline?),
        criticality: criticality?,
        wcet: services(wcet?),
        place: Place(span),
    })
}
